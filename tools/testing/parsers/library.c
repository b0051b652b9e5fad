// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's wire formats that one call parses.
 */
#include <errno.h>
#include <string.h>

#include "file_internal.h"
#include "nets.h"
#include "krdma_rpma.h"
#include "parsers.h"
#include "simple.h"

#define ACCESS_REMOTE	(KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_WRITE | \
			 KRDMA_ACCESS_REMOTE_ATOMIC)

/* The library and the module accept the same memory descriptors. */
int parser_remote_mr(const uint8_t *data, size_t size)
{
	struct krdma_remote_mr remote = { 0 };
	uint64_t addr, length;
	uint32_t key, rights;
	int err = krdma_remote_mr_from_desc(data, size, &remote);

	EXPECT(err == parser_desc_of_module(data, size, &addr, &length, &key, &rights));
	if (err)
		return 0;
	EXPECT(remote.addr == addr && remote.length == length && remote.key == key);
	EXPECT(remote.access && !(remote.access & ~ACCESS_REMOTE));
	EXPECT(__builtin_popcount(remote.access) == __builtin_popcount(rights));
	return 0;
}

int parser_parts(const uint8_t *data, size_t size)
{
	struct krdma_remote_mr whole = { 0 };
	struct parts *parts = NULL;
	uint64_t reach, offset;
	int err = parts_read(data, size, &whole, &parts);

	if (err) {
		EXPECT(err == -EPROTO && !parts);
		return 0;
	}
	EXPECT(size >= 80 && (size - 16) % 32 == 0);
	EXPECT(whole.addr + whole.length >= whole.addr);
	/* The parts cover the whole, each with the rkey that its descriptor has. */
	for (offset = 0; offset < whole.length; offset += reach) {
		parts_key(parts, offset, &reach);
		EXPECT(reach && reach <= whole.length - offset);
	}
	EXPECT(parts_key(parts, 0, &reach) == whole.key);
	parts_key(parts, whole.length, &reach);
	EXPECT(!reach);
	parts_free(parts);
	return 0;
}

int parser_simple_hello(const uint8_t *data, size_t size)
{
	struct simple_hello hello = { 0 };
	uint8_t again[SIMPLE_HELLO_SIZE];
	int err = simple_hello_read(data, size, &hello);

	if (err) {
		EXPECT(err == -EPROTO && !hello.depth);
		return 0;
	}
	EXPECT(size >= sizeof(again) && hello.depth && hello.depth <= UINT16_MAX);
	EXPECT(hello.message_size && !(hello.remote.access & ~ACCESS_REMOTE));
	EXPECT(!hello.in_parts || (hello.remote.length >= 80 &&
				   hello.remote.length <= 16 + 32 * (uint64_t)PARTS_MAX));
	simple_hello_write(hello.depth, hello.message_size, data + 12, hello.in_parts, again);
	EXPECT(!memcmp(again, data, sizeof(again)));
	return 0;
}

int parser_simple_header(const uint8_t *data, size_t size)
{
	struct simple_header header;
	uint8_t again[SIMPLE_HEADER_SIZE];
	int err = simple_header_read(data, size, &header);

	if (err) {
		EXPECT(err == -EPROTO);
		return 0;
	}
	EXPECT(header.kind >= SIMPLE_KIND_MESSAGE && header.kind <= SIMPLE_KIND_ROOM);
	EXPECT(header.kind != SIMPLE_KIND_NOTICE || header.value < KRDMA_SIMPLE_VALUE_END);
	simple_header_write(&header, again);
	EXPECT(!memcmp(again, data, sizeof(again)));
	return 0;
}

int parser_simple_imm(const uint8_t *data, size_t size)
{
	uint32_t imm, notice, value;

	if (size < sizeof(imm))
		return 0;
	memcpy(&imm, data, sizeof(imm));
	if (simple_imm_read(imm, &notice, &value))
		return 0;
	EXPECT(notice == KRDMA_SIMPLE_WRITTEN || notice == KRDMA_SIMPLE_READ);
	EXPECT(value < KRDMA_SIMPLE_VALUE_END && simple_imm_write(notice, value) == imm);
	return 0;
}

/* What the library does with such memory stays inside it. */
static void check_rpma_memory(const struct krdma_rpma_memory *mr)
{
	struct krdma_conn conn = { 0 };
	struct krdma_remote_mr remote;
	struct krdma_sqe entry;

	EXPECT(mr->usage && mr->usage <= 0xff && mr->addr + mr->size >= mr->addr);
	if (!krdma_rpma_remote(mr, &remote))
		EXPECT(remote.length == mr->size && !(remote.access & ~ACCESS_REMOTE));
	for (uint64_t offset = 0; offset < 2; offset++) {
		if (krdma_rpma_flush_entry(&conn, 1, mr, offset ? mr->size : 0, 0,
					   KRDMA_RPMA_FLUSH_TYPE_VISIBILITY, NULL, &entry))
			continue;
		EXPECT(entry.remote_addr >= mr->addr && entry.remote_addr - mr->addr < mr->size);
	}
}

int parser_rpma_memory(const uint8_t *data, size_t size)
{
	uint8_t again[KRDMA_RPMA_MEMORY_SIZE];
	struct krdma_rpma_memory mr;
	int err = krdma_rpma_memory_read(data, size, &mr);

	if (err) {
		EXPECT(err == -EINVAL);
		return 0;
	}
	check_rpma_memory(&mr);
	EXPECT(!krdma_rpma_memory_write(&mr, again) && !memcmp(again, data, sizeof(again)));
	return 0;
}

int parser_rpma_peer(const uint8_t *data, size_t size)
{
	struct krdma_rpma_peer peer;
	int err = krdma_rpma_peer_read(data, size, &peer);

	EXPECT(err == (size ? 0 : -EINVAL));
	EXPECT(err || peer.direct_write == !!data[0]);
	return 0;
}

int parser_rpma_example(const uint8_t *data, size_t size)
{
	struct krdma_rpma_example example = { 0 }, other = { 0 };
	uint8_t again[KRDMA_RPMA_EXAMPLE_SIZE];
	int err = krdma_rpma_example_read(data, size, &example);

	if (err) {
		EXPECT(err == -EINVAL);
		return 0;
	}
	EXPECT(example.data_offset <= UINT16_MAX);
	if (example.has_memory)
		check_rpma_memory(&example.mr);
	/* The lengths of a peer may be larger than those that the library writes. */
	EXPECT(!krdma_rpma_example_write(&example, again));
	EXPECT(!krdma_rpma_example_read(again, sizeof(again), &other));
	EXPECT(!memcmp(&example, &other, sizeof(other)));
	return 0;
}

int parser_file_message(const uint8_t *data, size_t size)
{
	uint8_t again[FILE_MESSAGE_MAX];
	char *name = malloc(KRDMA_FILE_NAME_MAX + 1);
	struct file_message message;
	int err;

	EXPECT(name);
	*name = '\0';
	err = file_message_decode(data, size, &message, name);
	if (err) {
		EXPECT(err == -EPROTO);
		free(name);
		return 0;
	}
	EXPECT(message.type && message.type < FILE_MESSAGE_TYPES);
	EXPECT(message.offset <= FILE_LENGTH_MAX);
	EXPECT(message.length <= FILE_LENGTH_MAX - message.offset);
	EXPECT(message.mtime_ns < 1000000000 && message.mode <= 0777);
	EXPECT(message.slot_count <= FILE_SLOTS_MAX && message.slot_size <= FILE_SLOT_MAX);
	EXPECT(strlen(name) == message.name_length);
	EXPECT(file_message_encode(&message, name, again) == size && !memcmp(again, data, size));
	EXPECT(file_code_error(message.code) < 0);
	free(name);
	return 0;
}

static void check_file_list(const uint8_t *data, size_t size)
{
	struct krdma_file_entry *entries;
	size_t count;

	if (file_list_decode(data, size, false, &entries, &count))
		return;
	for (size_t i = 0; i < count; i++)
		EXPECT(!strchr(entries[i].name, '/'));
	krdma_file_list_free(entries);
}

/* Every name stays in its folder, and the entries together are as long as the list. */
int parser_file_list(const uint8_t *data, size_t size)
{
	struct krdma_file_entry *entries = NULL;
	size_t count = 0, length = 0;
	int err = file_list_decode(data, size, true, &entries, &count);

	check_file_list(data, size);

	if (err) {
		EXPECT(err == -EPROTO && !entries && !count);
		return 0;
	}
	for (size_t i = 0; i < count; i++) {
		const struct krdma_file_entry *entry = &entries[i];
		char *name = strdup(entry->name), *each, *rest = name;

		EXPECT(name && *name && *name != '/' && strlen(name) <= KRDMA_FILE_NAME_MAX);
		length += strlen(name) + 28;
		while ((each = strsep(&rest, "/")))
			EXPECT(file_last_is_plain(each) && strlen(each) <= KRDMA_FILE_LAST_MAX);
		free(name);
		EXPECT(entry->type && entry->type <= KRDMA_FILE_TYPE_UNREADABLE);
		EXPECT(entry->mode <= 0777 && entry->mtime_ns < 1000000000);
		EXPECT(entry->error <= 0 &&
		       !entry->error == (entry->type != KRDMA_FILE_TYPE_UNREADABLE));
		EXPECT(entry->length <= FILE_LENGTH_MAX);
	}
	EXPECT(length == size);
	krdma_file_list_free(entries);
	return 0;
}

int parser_file_hello(const uint8_t *data, size_t size)
{
	uint8_t again[FILE_HELLO_SIZE];
	struct file_hello hello;
	int err = file_hello_decode(data, size, &hello);

	if (err) {
		EXPECT(err == -EPROTO || err == -EPROTONOSUPPORT);
		return 0;
	}
	EXPECT(!(hello.flags & ~FILE_HELLO_FLAGS) && file_code_error(hello.code) < 0);
	EXPECT(hello.has_token == (size >= FILE_HELLO_SIZE));
	EXPECT(hello.has_token || !(hello.flags & FILE_HELLO_JOIN));
	EXPECT(file_hello_encode(again, &hello) ==
	       (hello.has_token ? FILE_HELLO_SIZE : FILE_HELLO_SHORT));
	EXPECT(!memcmp(again, data, FILE_HELLO_SHORT));
	EXPECT(!hello.has_token || !memcmp(again, data, FILE_HELLO_SIZE));
	return 0;
}

/* Whatever a peer calls a file, its last component is one name in one folder. */
int parser_file_name(const uint8_t *data, size_t size)
{
	char last[KRDMA_FILE_LAST_MAX + 1], *name = text_of(data, size);
	bool harmless = file_name_is_harmless(name);

	EXPECT(!harmless || (*name && *name != '.' && !strchr(name, '/')));
	EXPECT(!harmless || (text_is_shown(name, true) && file_last_is_plain(name)));
	EXPECT(!file_last_is_plain(name) || (*name && !strchr(name, '/')));
	memset(last, 1, sizeof(last));
	file_last_name(name, last);
	EXPECT(memchr(last, '\0', sizeof(last)) && !strchr(last, '/'));
	file_part_is_name(last);
	file_part_is_name(name);
	free(name);
	return 0;
}

/* The first sixteen bytes are a client's address. */
int parser_file_nets(const uint8_t *data, size_t size)
{
	struct sockaddr_storage address = { .ss_family = AF_INET6 };
	struct nets *nets = malloc(sizeof(*nets));
	char *text;
	int err;

	EXPECT(nets);
	if (size < 16) {
		free(nets);
		return 0;
	}
	memcpy((uint8_t *)&address + 8, data, 16);
	if (data[0] & 1)
		address.ss_family = AF_INET;
	text = text_of(data + 16, size - 16);
	err = nets_parse(text, nets);
	EXPECT(!err || err == -EINVAL);
	EXPECT(nets->count <= NETS_MAX && (err || nets->count));
	for (unsigned int i = 0; !err && i < nets->count; i++)
		EXPECT(nets->of[i].bits <= (nets->of[i].family == AF_INET ? 32 : 128));
	if (!err)
		nets_have(nets, &address);
	EXPECT(nets_same_peer(&address, &address));
	free(text);
	free(nets);
	return 0;
}
