// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Hubs: the wire protocol. All numbers are little-endian.
 *
 * A greeting, in the private data of	A rejection:
 * a request and of its acceptance:
 *	 0  magic, 32 bits			 0  magic, 32 bits
 *	 4  version, 16 bits			 4  version, 16 bits
 *	 6  depth, 16 bits			 6  zero, 16 bits
 *	 8  eager, 32 bits			 8  code, 32 bits
 *	12  length of hello, 8 bits		12  words
 *	13  flags, 8 bits: 1: secret
 *	14  zero, 16 bits
 *	16  longest, 64 bits
 *	24  hello
 *
 * A frame, one SEND each:
 *	 0  kind, 8 bits
 *	 1  flags, 8 bits: 1: long
 *	 2  ticket, 16 bits
 *	 4  taken, 32 bits
 *	 8  call, 32 bits
 *	12  code, 32 bits
 *	16  tag, 64 bits
 *	24  the bytes of the message; or a memory descriptor; a name; words; a nonce or a proof
 *
 * Fields that a kind does not use are 0. Private data may be followed by padding, frames may
 * not.
 *
 * A hub without a secret has no flags, and neither sends nor accepts HUB_CHALLENGE and HUB_PROOF:
 * hub_secret.c.
 */
#include <errno.h>
#include <string.h>

#include "hub_wire.h"
#include "wire.h"

/* "KRDh" */
#define MAGIC		0x6844524bu
/* And the version. */
#define MAGIC_SIZE	6u

#define FLAG_SECRET	1

#define FLAG_LONG	1

#define RIGHTS		(KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_WRITE)

/*
 * Errors
 */

static const int errors[] = {
	0, EIO, EPROTO, EACCES, EPERM, ENOENT, ENOMEM, EINVAL, EMSGSIZE, ETIMEDOUT, ECANCELED,
	EBUSY, EEXIST, ENOSPC, EDQUOT, EUSERS, ESTALE, ENOBUFS, ESHUTDOWN, ENODEV, ECONNREFUSED,
	EAGAIN, ERANGE, EOPNOTSUPP, EPROTONOSUPPORT, ENOKEY, EKEYREJECTED,
};

uint32_t hub_code_of(int error)
{
	for (uint32_t code = 0; code < sizeof(errors) / sizeof(*errors); code++) {
		if (errors[code] == -error)
			return code;
	}
	return 1;
}

int hub_code_error(uint32_t code)
{
	return code < sizeof(errors) / sizeof(*errors) ? -errors[code] : -EIO;
}

/*
 * Text
 */

void hub_words_read(const unsigned char *data, size_t length, char words[KRDMA_WHY_MAX + 1])
{
	size_t at;

	for (at = 0; at < length && at < KRDMA_WHY_MAX; at++)
		words[at] = data[at] >= ' ' && data[at] <= '~' ? (char)data[at] : '?';
	words[at] = '\0';
}

bool hub_name_is_valid(const unsigned char *name, size_t length)
{
	if (!length || length > KRDMA_SHARE_NAME_MAX)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (name[i] < '!' || name[i] > '~')
			return false;
	}
	return true;
}

/*
 * Private data
 */

static void put_magic(unsigned char *byte)
{
	wire_put32(byte, MAGIC);
	wire_put16(byte + 4, HUB_VERSION);
}

static int check_magic(const unsigned char *byte, size_t length, size_t least)
{
	if (length < MAGIC_SIZE || wire_get32(byte) != MAGIC)
		return -EPROTO;
	if (wire_get16(byte + 4) != HUB_VERSION)
		return -EPROTONOSUPPORT;
	return length < least ? -EPROTO : 0;
}

uint16_t hub_version_read(const void *wire, size_t length)
{
	return length < MAGIC_SIZE ? 0 : wire_get16((const unsigned char *)wire + 4);
}

size_t hub_greeting_write(const struct hub_greeting *greeting, void *wire)
{
	unsigned char *byte = wire;

	memset(byte, 0, HUB_GREETING_SIZE);
	put_magic(byte);
	wire_put16(byte + 6, (uint16_t)greeting->depth);
	wire_put32(byte + 8, greeting->eager);
	byte[12] = (unsigned char)greeting->hello_length;
	byte[13] = greeting->has_secret ? FLAG_SECRET : 0;
	wire_put64(byte + 16, greeting->longest);
	if (greeting->hello_length)
		memcpy(byte + HUB_GREETING_SIZE, greeting->hello, greeting->hello_length);
	return HUB_GREETING_SIZE + greeting->hello_length;
}

int hub_greeting_read(const void *wire, size_t length, struct hub_greeting *greeting)
{
	const unsigned char *byte = wire;
	struct hub_greeting read;
	int err = check_magic(byte, length, HUB_GREETING_SIZE);

	if (err)
		return err;
	read = (struct hub_greeting) {
		.depth = wire_get16(byte + 6),
		.eager = wire_get32(byte + 8),
		.longest = wire_get64(byte + 16),
		.has_secret = byte[13] & FLAG_SECRET,
		.hello = byte + HUB_GREETING_SIZE,
		.hello_length = byte[12],
	};
	if (!read.depth || read.depth > HUB_DEPTH_MAX ||
	    read.eager < HUB_EAGER_MIN || read.eager > HUB_EAGER_MAX ||
	    read.longest < read.eager || read.longest > HUB_LONGEST_MAX ||
	    byte[13] > FLAG_SECRET || byte[14] || byte[15] || read.hello_length > KRDMA_HELLO_MAX ||
	    length - HUB_GREETING_SIZE < read.hello_length)
		return -EPROTO;
	*greeting = read;
	return 0;
}

size_t hub_refusal_write(int error, const char *words, void *wire)
{
	size_t length = words ? strnlen(words, KRDMA_WHY_MAX) : 0;
	unsigned char *byte = wire;

	put_magic(byte);
	wire_put16(byte + 6, 0);
	wire_put32(byte + 8, hub_code_of(error));
	if (length)
		memcpy(byte + HUB_REFUSAL_SIZE, words, length);
	return HUB_REFUSAL_SIZE + length;
}

int hub_refusal_read(const void *wire, size_t length, int *error, char words[KRDMA_WHY_MAX + 1])
{
	const unsigned char *byte = wire;
	int err = check_magic(byte, length, HUB_REFUSAL_SIZE);
	size_t end;

	if (err)
		return err;
	if (wire_get16(byte + 6))
		return -EPROTO;
	*error = hub_code_error(wire_get32(byte + 8));
	if (!*error)
		return -EPROTO;
	/* Padding is no part of the words. */
	end = strnlen((const char *)byte + HUB_REFUSAL_SIZE, length - HUB_REFUSAL_SIZE);
	hub_words_read(byte + HUB_REFUSAL_SIZE, end, words);
	return 0;
}

/*
 * Frames
 */

/**
 * struct shape - what frames of a kind have
 * @call, @code, @tag, @ticket: the field may be other than 0; @call must be
 * @may_be_long: with the flag, the data are a memory descriptor
 * @least, @most: number of bytes after the header, without that flag
 */
struct shape {
	bool call;
	bool code;
	bool tag;
	bool ticket;
	bool may_be_long;
	size_t least;
	size_t most;
};

static const struct shape shapes[HUB_KINDS] = {
	[HUB_MESSAGE] = { .tag = true, .may_be_long = true, .most = HUB_EAGER_MAX },
	[HUB_CALL] = { .call = true, .tag = true, .may_be_long = true, .most = HUB_EAGER_MAX },
	[HUB_ANSWER] = { .call = true, .tag = true, .may_be_long = true, .most = HUB_EAGER_MAX },
	[HUB_ROOM] = { .most = 0 },
	[HUB_DONE] = { .ticket = true },
	[HUB_ASK] = { .call = true, .code = true, .least = 1, .most = KRDMA_SHARE_NAME_MAX },
	[HUB_GRANT] = { .call = true, .code = true, .tag = true, .most = KRDMA_MR_DESC_SIZE },
	[HUB_REVOKE] = { .tag = true },
	[HUB_REVOKED] = { .tag = true },
	[HUB_BYE] = { .code = true, .most = KRDMA_WHY_MAX },
	[HUB_CHALLENGE] = { .least = HUB_PROOF_SIZE, .most = HUB_PROOF_SIZE },
	[HUB_PROOF] = { .least = HUB_PROOF_SIZE, .most = HUB_PROOF_SIZE },
};

void hub_frame_write(const struct hub_frame *frame, void *wire)
{
	unsigned char *byte = wire;

	byte[0] = frame->kind;
	byte[1] = frame->is_long ? FLAG_LONG : 0;
	wire_put16(byte + 2, frame->ticket);
	wire_put32(byte + 4, frame->taken);
	wire_put32(byte + 8, frame->call);
	wire_put32(byte + 12, frame->code);
	wire_put64(byte + 16, frame->tag);
}

void hub_frame_set_taken(void *wire, uint32_t taken)
{
	wire_put32((unsigned char *)wire + 4, taken);
}

/* A long message that would fit into a frame is allowed. One without data is not. */
static int read_long(struct hub_frame *frame)
{
	if (frame->length != KRDMA_MR_DESC_SIZE || frame->ticket >= HUB_TICKETS ||
	    krdma_remote_mr_from_desc(frame->data, frame->length, &frame->remote) ||
	    !(frame->remote.access & KRDMA_ACCESS_REMOTE_READ) ||
	    !frame->remote.length || frame->remote.length > HUB_LONGEST_MAX)
		return -EPROTO;
	frame->data = NULL;
	frame->length = 0;
	return 0;
}

static int read_grant(struct hub_frame *frame)
{
	if (frame->code)
		return frame->length || frame->tag ? -EPROTO : 0;
	if (frame->length != KRDMA_MR_DESC_SIZE ||
	    krdma_remote_mr_from_desc(frame->data, frame->length, &frame->remote))
		return -EPROTO;
	frame->data = NULL;
	frame->length = 0;
	return 0;
}

int hub_frame_read(const void *wire, size_t length, struct hub_frame *frame)
{
	const unsigned char *byte = wire;
	const struct shape *shape;
	struct hub_frame read;
	int err = 0;

	if (length < HUB_HEADER_SIZE || !byte[0] || byte[0] >= HUB_KINDS || byte[1] > FLAG_LONG)
		return -EPROTO;
	shape = &shapes[byte[0]];
	read = (struct hub_frame) {
		.kind = byte[0],
		.is_long = byte[1] & FLAG_LONG,
		.ticket = wire_get16(byte + 2),
		.taken = wire_get32(byte + 4),
		.call = wire_get32(byte + 8),
		.code = wire_get32(byte + 12),
		.tag = wire_get64(byte + 16),
		.data = byte + HUB_HEADER_SIZE,
		.length = length - HUB_HEADER_SIZE,
	};
	if (shape->call != !!read.call || (!shape->code && read.code) ||
	    (!shape->tag && read.tag) || (!shape->ticket && !read.is_long && read.ticket) ||
	    (read.is_long && !shape->may_be_long) || read.ticket >= HUB_TICKETS ||
	    read.length < shape->least || read.length > shape->most)
		return -EPROTO;
	if (read.is_long)
		err = read_long(&read);
	else if (read.kind == HUB_GRANT)
		err = read_grant(&read);
	else if (read.kind == HUB_ASK && (read.code & ~RIGHTS || !read.code ||
					  !hub_name_is_valid(read.data, read.length)))
		err = -EPROTO;
	if (!err)
		*frame = read;
	return err;
}
