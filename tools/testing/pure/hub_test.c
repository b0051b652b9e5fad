// SPDX-License-Identifier: GPL-2.0
/*
 * Hubs of libkrdma without a connection: the wire protocol.
 */
#include <errno.h>
#include <string.h>

#include <linux/krdma_mr_desc.h>

#include "hub_wire.h"
#include "secret.h"
#include "tap.h"
#include "wire.h"

/* A memory descriptor, as in <linux/krdma_mr_desc.h>. */
static void describe(unsigned char *wire, uint64_t addr, uint64_t length, uint32_t rights)
{
	memset(wire, 0, KRDMA_MR_DESC_SIZE);
	wire_put32(wire, KRDMA_MR_DESC_MAGIC);
	wire_put16(wire + 4, KRDMA_MR_DESC_VERSION);
	wire_put64(wire + 8, addr);
	wire_put64(wire + 16, length);
	wire_put32(wire + 24, 77);
	wire_put32(wire + 28, rights);
}

/*
 * Greetings
 */

static const struct hub_greeting usual = {
	.depth = 16, .eager = 4096, .longest = 1 << 24, .hello = "hello", .hello_length = 5,
};

static bool greetings_arrive(void)
{
	unsigned char wire[HUB_GREETING_MAX + 8] = { 0 };
	size_t length = hub_greeting_write(&usual, wire);
	struct hub_greeting read;

	if (length != HUB_GREETING_SIZE + 5 || hub_greeting_read(wire, length, &read))
		return false;
	/* Padding changes nothing. */
	if (hub_greeting_read(wire, sizeof(wire), &read))
		return false;
	return read.depth == 16 && read.eager == 4096 && read.longest == 1 << 24 &&
	       read.hello_length == 5 && !memcmp(read.hello, "hello", 5) && !read.has_secret;
}

/* The flag is the only difference. */
static bool secrets_are_announced(void)
{
	unsigned char wire[HUB_GREETING_MAX] = { 0 }, plain[HUB_GREETING_MAX] = { 0 };
	struct hub_greeting greeting = usual, read;
	size_t length;

	hub_greeting_write(&usual, plain);
	greeting.has_secret = true;
	length = hub_greeting_write(&greeting, wire);
	if (hub_greeting_read(wire, length, &read) || !read.has_secret || read.hello_length != 5)
		return false;
	wire[13] ^= 1;
	return !memcmp(wire, plain, sizeof(wire));
}

static bool wrong_greetings_are_refused(void)
{
	static const struct {
		size_t at;
		unsigned int bytes;
		uint64_t value;
		int error;
	} changes[] = {
		{ 0, 4, 0x12345678, -EPROTO },		/* not a hub */
		{ 4, 2, 2, -EPROTONOSUPPORT },
		{ 6, 2, 0, -EPROTO },			/* no receives */
		{ 6, 2, HUB_DEPTH_MAX + 1, -EPROTO },
		{ 8, 4, HUB_EAGER_MIN - 1, -EPROTO },
		{ 8, 4, HUB_EAGER_MAX + 1, -EPROTO },
		{ 12, 1, 6, -EPROTO },			/* hello beyond the end */
		{ 12, 1, KRDMA_HELLO_MAX + 1, -EPROTO },
		{ 13, 1, 2, -EPROTO },			/* an unknown flag */
		{ 13, 1, 3, -EPROTO },
		{ 14, 2, 1, -EPROTO },
		{ 14, 2, 0x100, -EPROTO },
		{ 16, 8, 4095, -EPROTO },		/* longest below eager */
		{ 16, 8, HUB_LONGEST_MAX + 1, -EPROTO },
	};
	bool all = true;

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		unsigned char wire[HUB_GREETING_MAX] = { 0 };
		size_t length = hub_greeting_write(&usual, wire);
		struct hub_greeting read;
		int err;

		for (unsigned int byte = 0; byte < changes[i].bytes; byte++)
			wire[changes[i].at + byte] = (unsigned char)(changes[i].value >> 8 * byte);
		err = hub_greeting_read(wire, length, &read);
		if (err != changes[i].error) {
			printf("# change %zu: %d\n", i, err);
			all = false;
		}
		/* And so is every shorter one. */
		all = all && hub_greeting_read(wire, HUB_GREETING_SIZE - 1, &read);
	}
	return all;
}

static bool refusals_arrive(void)
{
	unsigned char wire[HUB_REFUSAL_MAX + 8] = { 0 };
	char words[KRDMA_WHY_MAX + 1], many[2 * KRDMA_WHY_MAX];
	size_t length = hub_refusal_write(-EACCES, "not \033you", wire);
	int error = 0;

	if (hub_refusal_read(wire, length + 4, &error, words) || error != -EACCES ||
	    strcmp(words, "not ?you"))
		return false;
	memset(many, 'x', sizeof(many));
	many[sizeof(many) - 1] = '\0';
	length = hub_refusal_write(-ENXIO, many, wire);
	if (length != HUB_REFUSAL_MAX || hub_refusal_read(wire, length, &error, words))
		return false;
	/* An error without a number on the wire. */
	if (error != -EIO || strlen(words) != KRDMA_WHY_MAX)
		return false;
	wire_put32(wire + 8, 0);
	return hub_refusal_read(wire, length, &error, words) == -EPROTO;
}

/* Whatever else another version has, its number is at the same place. */
static bool versions_are_read(void)
{
	unsigned char wire[HUB_GREETING_MAX] = { 0 };
	char words[KRDMA_WHY_MAX + 1];
	struct hub_greeting read;
	int error = 0;

	hub_refusal_write(-EPROTONOSUPPORT, NULL, wire);
	if (hub_refusal_read(wire, HUB_REFUSAL_SIZE, &error, words) ||
	    error != -EPROTONOSUPPORT || hub_version_read(wire, HUB_REFUSAL_SIZE) != HUB_VERSION)
		return false;
	wire_put16(wire + 4, HUB_VERSION + 1);
	wire_put32(wire + 8, 4711);
	if (hub_refusal_read(wire, 6, &error, words) != -EPROTONOSUPPORT ||
	    hub_greeting_read(wire, 6, &read) != -EPROTONOSUPPORT ||
	    hub_version_read(wire, 6) != HUB_VERSION + 1)
		return false;
	if (hub_refusal_read(wire, 5, &error, words) != -EPROTO)
		return false;
	wire[0] ^= 1;
	return hub_refusal_read(wire, sizeof(wire), &error, words) == -EPROTO;
}

/*
 * Frames
 */

static const struct hub_frame frames[] = {
	{ .kind = HUB_MESSAGE, .taken = 9, .tag = UINT64_MAX },
	{ .kind = HUB_MESSAGE, .is_long = true, .ticket = 3, .tag = 1 },
	{ .kind = HUB_CALL, .call = 5, .tag = 2 },
	{ .kind = HUB_ANSWER, .call = 5, .taken = UINT32_MAX },
	{ .kind = HUB_ROOM, .taken = 1 },
	{ .kind = HUB_DONE, .ticket = 2 },
	{ .kind = HUB_ASK, .call = 1, .code = KRDMA_ACCESS_REMOTE_READ, .length = 4 },
	{ .kind = HUB_GRANT, .call = 1, .tag = 3, .length = KRDMA_MR_DESC_SIZE },
	{ .kind = HUB_GRANT, .call = 1, .code = 5 },
	{ .kind = HUB_REVOKE, .tag = 3 },
	{ .kind = HUB_REVOKED, .tag = 3 },
	{ .kind = HUB_BYE, .code = 2, .length = 7 },
	{ .kind = HUB_CHALLENGE, .length = HUB_PROOF_SIZE },
	{ .kind = HUB_PROOF, .length = HUB_PROOF_SIZE },
};

/* HUB_GRANT has a memory descriptor, and others have as many bytes that are none. */
static bool has_memory(const struct hub_frame *frame)
{
	return frame->is_long || (frame->kind == HUB_GRANT && frame->length);
}

/* Writes a frame with what belongs to it, and returns its length. */
static size_t write_frame(const struct hub_frame *frame, unsigned char *wire)
{
	hub_frame_write(frame, wire);
	memset(wire + HUB_HEADER_SIZE, 'a', KRDMA_MR_DESC_SIZE);
	if (has_memory(frame)) {
		describe(wire + HUB_HEADER_SIZE, 4096, 100, KRDMA_MR_DESC_READ);
		return HUB_HEADER_SIZE + KRDMA_MR_DESC_SIZE;
	}
	return HUB_HEADER_SIZE + frame->length;
}

static bool frames_arrive(void)
{
	bool all = true;

	for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++) {
		unsigned char wire[HUB_HEADER_SIZE + KRDMA_MR_DESC_SIZE];
		size_t length = write_frame(&frames[i], wire);
		struct hub_frame read = { 0 };
		int err = hub_frame_read(wire, length, &read);
		bool same = !err && read.kind == frames[i].kind && read.tag == frames[i].tag &&
			    read.is_long == frames[i].is_long && read.call == frames[i].call &&
			    read.ticket == frames[i].ticket && read.code == frames[i].code &&
			    read.taken == frames[i].taken;

		if (same && read.remote.key)
			same = read.remote.addr == 4096 && read.remote.length == 100 &&
			       read.remote.key == 77 && !read.length;
		else if (same)
			same = read.length == frames[i].length;
		if (!same)
			printf("# frame %zu: %d\n", i, err);
		all = all && same;
	}
	return all;
}

/* Every field that a kind does not have must be 0, and no frame may be shorter than it is. */
static bool wrong_frames_are_refused(void)
{
	bool all = true;

	for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++) {
		bool has_call = frames[i].call, has_code = frames[i].code, has_tag;
		struct hub_frame changed[4] = { frames[i], frames[i], frames[i], frames[i] };
		struct hub_frame read;

		has_tag = frames[i].kind <= HUB_ANSWER || frames[i].tag;
		has_code = has_code || frames[i].kind == HUB_GRANT;
		changed[0].call = has_call ? 0 : 1;
		changed[1].code = has_code ? frames[i].code : 1;
		changed[2].tag = has_tag ? frames[i].tag : 1;
		changed[3].ticket = HUB_TICKETS;
		for (unsigned int k = 0; k < 4; k++) {
			unsigned char wire[HUB_HEADER_SIZE + KRDMA_MR_DESC_SIZE];
			size_t length = write_frame(&changed[k], wire);
			bool wrong = k == 0 || k == 3 || (k == 1 && !has_code) ||
				     (k == 2 && !has_tag);

			if (wrong != !!hub_frame_read(wire, length, &read)) {
				printf("# frame %zu, change %u\n", i, k);
				all = false;
			}
			all = all && hub_frame_read(wire, HUB_HEADER_SIZE - 1, &read);
		}
	}
	return all;
}

static bool proofs_have_their_length(void)
{
	static const uint8_t kinds[] = { HUB_CHALLENGE, HUB_PROOF };
	unsigned char wire[HUB_HEADER_SIZE + HUB_PROOF_SIZE + 1] = { 0 };
	struct hub_frame read = { 0 };
	bool all = true;

	for (size_t i = 0; i < sizeof(kinds); i++) {
		wire[0] = kinds[i];
		wire[1] = 0;
		for (size_t length = 0; length <= sizeof(wire); length++) {
			bool wrong = length != HUB_HEADER_SIZE + HUB_PROOF_SIZE;

			all = all && wrong == !!hub_frame_read(wire, length, &read);
		}
		all = all && read.data == wire + HUB_HEADER_SIZE && read.length == HUB_PROOF_SIZE;
		/* They are never in the memory of the peer. */
		wire[1] = 1;
		all = all && hub_frame_read(wire, HUB_HEADER_SIZE + HUB_PROOF_SIZE, &read);
	}
	return all;
}

static bool memory_is_checked(void)
{
	unsigned char wire[HUB_HEADER_SIZE + KRDMA_MR_DESC_SIZE];
	struct hub_frame frame = { .kind = HUB_MESSAGE, .is_long = true }, read;
	size_t length = write_frame(&frame, wire);

	if (hub_frame_read(wire, length, &read) || !hub_frame_read(wire, length - 1, &read))
		return false;
	/* Memory that cannot be read, no memory, and memory beyond the end of addresses. */
	describe(wire + HUB_HEADER_SIZE, 4096, 100, KRDMA_MR_DESC_WRITE);
	if (!hub_frame_read(wire, length, &read))
		return false;
	describe(wire + HUB_HEADER_SIZE, 4096, 0, KRDMA_MR_DESC_READ);
	if (!hub_frame_read(wire, length, &read))
		return false;
	describe(wire + HUB_HEADER_SIZE, UINT64_MAX - 10, 100, KRDMA_MR_DESC_READ);
	return hub_frame_read(wire, length, &read);
}

static bool names_are_checked(void)
{
	unsigned char name[KRDMA_SHARE_NAME_MAX + 1];

	memset(name, 'n', sizeof(name));
	return hub_name_is_valid(name, 1) && hub_name_is_valid(name, KRDMA_SHARE_NAME_MAX) &&
	       !hub_name_is_valid(name, KRDMA_SHARE_NAME_MAX + 1) && !hub_name_is_valid(name, 0) &&
	       !hub_name_is_valid((const unsigned char *)"a b", 3) &&
	       !hub_name_is_valid((const unsigned char *)"\x80", 1);
}

/* A proof is for one protocol, one side, and one pair of nonces in their order. */
static bool proofs_are_for_one_thing(void)
{
	static const struct {
		const char *label;
		char side;
		unsigned char server;
		unsigned char client;
	} of[] = {
		{ "krdma-hub-1", 'c', 1, 2 }, { "krdma-file-1", 'c', 1, 2 },
		{ "krdma-hub-1", 's', 1, 2 }, { "krdma-hub-1", 'c', 2, 1 },
		{ "krdma-hub-1", 'c', 1, 3 }, { "krdma-hub-1", 'c', 3, 2 },
		{ "krdma-hub-1", 'c', 1, 1 }, { "krdma-hub-", '1', 1, 2 },
	};
	unsigned char proofs[sizeof(of) / sizeof(*of)][SECRET_PROOF];
	struct secret *secret, *other;
	bool all = true;

	if (secret_set(&secret, "0123456789abcdef", 16) ||
	    secret_set(&other, "0123456789abcdeF", 16))
		return false;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		unsigned char server[SECRET_NONCE], client[SECRET_NONCE], again[SECRET_PROOF];

		memset(server, of[i].server, sizeof(server));
		memset(client, of[i].client, sizeof(client));
		secret_proof(secret, of[i].label, of[i].side, server, client, proofs[i]);
		secret_proof(secret, of[i].label, of[i].side, server, client, again);
		all = all && secret_same(proofs[i], again);
		for (size_t k = 0; k < i; k++)
			all = all && !secret_same(proofs[i], proofs[k]);
		secret_proof(other, of[i].label, of[i].side, server, client, again);
		all = all && !secret_same(proofs[i], again);
	}
	secret_free(secret);
	secret_free(other);
	return all;
}

/* Each byte counts, and nonces are new. */
static bool proofs_are_compared(void)
{
	unsigned char one[SECRET_PROOF], other[SECRET_PROOF];

	if (secret_nonce(one) || secret_nonce(other) || secret_same(one, other))
		return false;
	memcpy(other, one, sizeof(one));
	for (size_t i = 0; i < sizeof(one); i++) {
		other[i] ^= 0x80;
		if (secret_same(one, other))
			return false;
		other[i] ^= 0x80;
	}
	return secret_same(one, other);
}

static bool secrets_have_their_length(void)
{
	static const unsigned char bytes[KRDMA_HUB_SECRET_MAX + 1];
	struct secret *secret;
	bool all = true;

	for (size_t length = 0; length <= sizeof(bytes); length++) {
		bool wrong = length < KRDMA_HUB_SECRET_MIN || length > KRDMA_HUB_SECRET_MAX;

		all = all && secret_set(&secret, bytes, length) == (wrong ? -EINVAL : 0) &&
		      wrong == !secret;
		secret_free(secret);
	}
	return all && !secret_set(&secret, NULL, 0) && !secret;
}

static bool errors_come_back(void)
{
	static const int errors[] = {
		0, -EIO, -EACCES, -ENOENT, -ETIMEDOUT, -EUSERS, -EPROTONOSUPPORT, -ENOKEY,
		-EKEYREJECTED,
	};
	bool all = hub_code_error(4711) == -EIO && hub_code_error(hub_code_of(-ELOOP)) == -EIO;

	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		all = all && hub_code_error(hub_code_of(errors[i])) == errors[i];
	return all;
}

#define RESULT(test) tap_result(test(), #test)

int main(void)
{
	RESULT(greetings_arrive);
	RESULT(secrets_are_announced);
	RESULT(wrong_greetings_are_refused);
	RESULT(refusals_arrive);
	RESULT(versions_are_read);
	RESULT(frames_arrive);
	RESULT(wrong_frames_are_refused);
	RESULT(proofs_have_their_length);
	RESULT(memory_is_checked);
	RESULT(names_are_checked);
	RESULT(proofs_are_for_one_thing);
	RESULT(proofs_are_compared);
	RESULT(secrets_have_their_length);
	RESULT(errors_come_back);
	return tap_end();
}
