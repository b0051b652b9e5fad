// SPDX-License-Identifier: GPL-2.0
/*
 * A peer of krdma_blk that is none: as a client it says hello in every wrong way, as a
 * server it welcomes with what cannot be.  The formats are written down once more here,
 * so that a change of them is noticed.
 *
 *	stranger ask HOST EXPORT SECRET
 *
 * asks with the right hello, with the first bytes of it, and with each byte of it changed,
 * and prints a line for each.
 *
 *	stranger give FAULT...
 *
 * listens, and welcomes one client after the other with the next of those faults, all
 * further ones with the last; see faults[].  Prints a line for each, until it is killed.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "krdma.h"

#define SERVER_PORT	7475
#define PORT		8003
#define PATIENCE_MS	60000

#define MAGIC		0x62646b72
#define VERSION		1
#define PAGE		4096
#define CHUNKS		4

struct hello {
	uint32_t magic;
	uint8_t version;
	uint8_t flags;
	uint16_t queue;
	uint64_t client;
	char name[24];
	char secret[16];
};

struct welcome {
	uint32_t magic;
	uint8_t version;
	uint8_t flags;
	uint16_t reserved;
	uint64_t generation;
	uint64_t size;
	uint64_t table_addr;
	uint32_t table_key;
	uint32_t block_size;
	uint32_t chunk_size;
	uint32_t reserved2;
};

struct entry {
	uint64_t addr;
	uint32_t key;
	uint32_t reserved;
};

struct refusal {
	uint32_t magic;
	uint8_t version;
	uint8_t reason;
	uint16_t reserved;
};

static void check(const char *what, int err)
{
	if (!err)
		return;
	printf("%s: %s\n", what, strerror(-err));
	exit(1);
}

/*
 * As a client
 */

static void print_answer(struct krdma_conn *conn, int err)
{
	struct refusal refusal = { 0 };
	size_t length = sizeof(refusal);

	krdma_conn_private_data(conn, &refusal, &length);
	if (!err)
		puts("welcome");
	else if (err != -ECONNREFUSED)
		puts(strerror(-err));
	else if (refusal.magic != htole32(MAGIC))
		puts("refused by somebody else");
	else
		printf("refused, reason %u\n", refusal.reason);
	fflush(stdout);
}

static void ask(struct krdma *session, const struct sockaddr *address, const void *hello,
		size_t length)
{
	struct krdma_conn_prepare depths = { .size = sizeof(depths) };
	struct krdma_queue *queue;
	struct krdma_conn *conn;
	int err;

	check("queue", krdma_queue_create(session, NULL, &queue));
	check("connection", krdma_conn_create(session, &conn));
	check("resolve", krdma_conn_resolve(conn, address, NULL));
	check("resolve", krdma_conn_wait(conn, krdma_deadline(PATIENCE_MS), NULL));
	check("prepare", krdma_conn_prepare(conn, queue, NULL, NULL, &depths));
	check("connect", krdma_conn_connect(conn, NULL, hello, length));
	err = krdma_conn_wait(conn, krdma_deadline(PATIENCE_MS), NULL);
	print_answer(conn, err);
	krdma_conn_close(conn);
	krdma_queue_close(queue);
}

static void ask_all(struct krdma *session, const char *host, const char *name, const char *secret)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(SERVER_PORT) };
	struct hello hello = {
		.magic = htole32(MAGIC), .version = VERSION, .client = htole64(7),
	};

	memcpy(hello.name, name, strnlen(name, sizeof(hello.name)));
	memcpy(hello.secret, secret, strnlen(secret, sizeof(hello.secret)));
	inet_pton(AF_INET, host, &address.sin_addr);

	for (size_t length = 0; length <= sizeof(hello); length++) {
		printf("length %zu: ", length);
		ask(session, (struct sockaddr *)&address, &hello, length);
	}
	for (size_t at = 0; at < sizeof(hello); at++) {
		printf("byte %zu: ", at);
		((unsigned char *)&hello)[at] ^= 0xff;
		ask(session, (struct sockaddr *)&address, &hello, sizeof(hello));
		((unsigned char *)&hello)[at] ^= 0xff;
	}
}

/*
 * As a server
 */

struct server {
	struct krdma *session;
	struct krdma_listener *listener;
	struct krdma_memory *chunks;	/* CHUNKS pages */
	struct krdma_memory *table;
};

/* What each fault makes of a right welcome, and of its table. */
struct fault {
	const char *name;
	void (*make)(struct welcome *welcome, struct entry *table);
	size_t missing;
};

static void no_fault(struct welcome *welcome, struct entry *table)
{
	(void)welcome;
	(void)table;
}

#define FAULT(function, statement)							\
	static void function(struct welcome *welcome, struct entry *table)		\
	{										\
		(void)welcome;								\
		(void)table;								\
		statement;								\
	}

FAULT(bad_magic, welcome->magic ^= htole32(1))
FAULT(bad_version, welcome->version = VERSION + 1)
FAULT(bad_flags, welcome->flags = 0x80)
FAULT(bad_reserved, welcome->reserved = htole16(1))
FAULT(bad_reserved2, welcome->reserved2 = htole32(1))
FAULT(half, welcome->size = htole64(CHUNKS / 2 * PAGE))
FAULT(no_size, welcome->size = 0)
FAULT(odd_size, welcome->size = htole64(PAGE + 1))
FAULT(huge_size, welcome->size = htole64(UINT64_MAX & ~(PAGE - 1ULL)))
FAULT(no_block, welcome->block_size = 0)
FAULT(odd_block, welcome->block_size = htole32(1024))
FAULT(no_chunk, welcome->chunk_size = 0)
FAULT(odd_chunk, welcome->chunk_size = htole32(3 * PAGE))
FAULT(small_chunk, welcome->chunk_size = htole32(512))
FAULT(huge_chunk, welcome->chunk_size = htole32(1U << 31))
FAULT(table_wraps, welcome->table_addr = htole64(UINT64_MAX - 8))
FAULT(table_key, welcome->table_key ^= htole32(0xffffff00))
FAULT(table_elsewhere, welcome->table_addr = htole64(le64toh(welcome->table_addr) + (1 << 24)))
FAULT(entry_wraps, table[CHUNKS - 1].addr = htole64(UINT64_MAX - 8))
FAULT(entry_reserved, table[1].reserved = htole32(1))
FAULT(entry_key, table[0].key ^= htole32(0xffffff00))

static const struct fault faults[] = {
	{ "none", no_fault, 0 },
	{ "half", half, 0 },
	{ "short", no_fault, 1 },
	{ "empty", no_fault, sizeof(struct welcome) },
	{ "magic", bad_magic, 0 },
	{ "version", bad_version, 0 },
	{ "flags", bad_flags, 0 },
	{ "reserved", bad_reserved, 0 },
	{ "reserved2", bad_reserved2, 0 },
	{ "no-size", no_size, 0 },
	{ "odd-size", odd_size, 0 },
	{ "huge-size", huge_size, 0 },
	{ "no-block", no_block, 0 },
	{ "odd-block", odd_block, 0 },
	{ "no-chunk", no_chunk, 0 },
	{ "odd-chunk", odd_chunk, 0 },
	{ "small-chunk", small_chunk, 0 },
	{ "huge-chunk", huge_chunk, 0 },
	{ "table-wraps", table_wraps, 0 },
	{ "table-key", table_key, 0 },
	{ "table-elsewhere", table_elsewhere, 0 },
	{ "entry-wraps", entry_wraps, 0 },
	{ "entry-reserved", entry_reserved, 0 },
	{ "entry-key", entry_key, 0 },
	{ NULL, NULL, 0 },
};

static const struct fault *find_fault(const char *name)
{
	const struct fault *fault;

	for (fault = faults; fault->name; fault++) {
		if (!strcmp(fault->name, name))
			return fault;
	}
	printf("there is no fault '%s'\n", name);
	exit(2);
}

static struct krdma_memory *memory(struct server *server, struct krdma_conn *conn, size_t length)
{
	struct krdma_memory *memory;
	struct krdma_conn_query query;

	check("query", krdma_conn_get(conn, &query, sizeof(query)));
	check("memory", krdma_memory_create(server->session, query.device_id, length,
					    KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ |
					    KRDMA_ACCESS_REMOTE_WRITE, &memory));
	return memory;
}

/* Where a peer finds it. */
static uint64_t remote_addr(struct krdma_memory *memory)
{
	unsigned char descriptor[KRDMA_DESCRIPTOR_SIZE];
	struct krdma_remote remote;

	check("describe", krdma_memory_describe(memory, 0, 0, descriptor));
	check("descriptor", krdma_remote_read(descriptor, sizeof(descriptor), &remote));
	return remote.addr;
}

static void welcome(struct server *server, struct krdma_conn *conn, const struct fault *fault)
{
	struct krdma_conn_prepare depths = { .size = sizeof(depths) };
	struct krdma_queue *queue;
	struct welcome welcome;
	struct entry *table;
	int err;

	if (!server->chunks) {
		server->chunks = memory(server, conn, CHUNKS * PAGE);
		server->table = memory(server, conn, PAGE);
	}
	table = krdma_memory_data(server->table);
	for (unsigned int i = 0; i < CHUNKS; i++) {
		table[i] = (struct entry) {
			.addr = htole64(remote_addr(server->chunks) + i * PAGE),
			.key = htole32(krdma_memory_key(server->chunks)),
		};
	}
	welcome = (struct welcome) {
		.magic = htole32(MAGIC), .version = VERSION, .generation = htole64(1),
		.size = htole64(CHUNKS * PAGE), .table_addr = htole64(remote_addr(server->table)),
		.table_key = htole32(krdma_memory_key(server->table)),
		.block_size = htole32(PAGE), .chunk_size = htole32(PAGE),
	};
	fault->make(&welcome, table);

	check("queue", krdma_queue_create(server->session, NULL, &queue));
	check("prepare", krdma_conn_prepare(conn, queue, NULL, NULL, &depths));
	err = krdma_conn_accept(conn, NULL, &welcome, sizeof(welcome) - fault->missing);
	if (!err)
		err = krdma_conn_await_closed(conn, krdma_deadline(PATIENCE_MS));
	printf("%s: %s\n", fault->name, err ? strerror(-err) : "the client has left");
	fflush(stdout);
	krdma_conn_close(conn);
	krdma_queue_close(queue);
}

static void give(struct krdma *session, char **names)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = INADDR_ANY,
	};
	struct server server = { .session = session };
	struct krdma_conn *conn;

	check("listen", krdma_listen(session, (struct sockaddr *)&address, 0, 0,
				     &server.listener));
	puts("listening");
	fflush(stdout);
	for (;;) {
		check("client", krdma_listener_next(server.listener, KRDMA_FOREVER, &conn));
		welcome(&server, conn, find_fault(*names));
		if (names[1])
			names++;
	}
}

int main(int argc, char **argv)
{
	struct krdma *session;

	check("/dev/krdma", krdma_open(&session));
	if (argc == 5 && !strcmp(argv[1], "ask"))
		ask_all(session, argv[2], argv[3], argv[4]);
	else if (argc > 2 && !strcmp(argv[1], "give"))
		give(session, argv + 2);
	else
		return 2;
	return krdma_close(session);
}
