/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma, hubs: the wire protocol. Pure: no function here allocates, waits or has state.
 */
#ifndef KRDMA_HUB_WIRE_H
#define KRDMA_HUB_WIRE_H

#include <stdbool.h>

#include "krdma_hub.h"

/*
 * Greetings: the private data of a connection request, its acceptance and its rejection. RoCE
 * carries 48 bytes with their exact length.
 */
#define HUB_GREETING_SIZE	24
#define HUB_GREETING_MAX	(HUB_GREETING_SIZE + KRDMA_HELLO_MAX)
#define HUB_REFUSAL_SIZE	12
#define HUB_REFUSAL_MAX		(HUB_REFUSAL_SIZE + KRDMA_WHY_MAX)

/*
 * The version that both sides must have. In private data of any version its number is at the same
 * place; only after -EPROTONOSUPPORT is there certainly one.
 */
#define HUB_VERSION		1u
uint16_t hub_version_read(const void *wire, size_t length);

/* Largest values that a side may announce. */
#define HUB_DEPTH_MAX		256u
#define HUB_EAGER_MIN		64u
#define HUB_EAGER_MAX		1048576u
#define HUB_LONGEST_MAX		(UINT64_C(1) << 62)

/* Long messages that a side may have announced and that the peer has not fetched. */
#define HUB_TICKETS		4u

/* Named memory that a side offers at a time. */
#define HUB_SHARES		64u

/**
 * struct hub_greeting - what a side announces when it connects
 * @depth: number of messages and, apart from them, of answers that it has receives for
 * @eager: bytes of the longest message that is sent as a whole
 * @longest: bytes of the longest message
 * @has_secret: it has a secret, so that proofs come before everything else
 * @hello: the program's bytes, inside the buffer that was parsed
 * @hello_length: number of them
 */
struct hub_greeting {
	uint32_t depth;
	uint32_t eager;
	uint64_t longest;
	bool has_secret;
	const void *hello;
	uint32_t hello_length;
};

/* Returns the number of bytes, at most HUB_GREETING_MAX. */
size_t hub_greeting_write(const struct hub_greeting *greeting, void *wire);
/*
 * -EPROTO: the peer has no hub; -EPROTONOSUPPORT: it has one of another version,
 * hub_version_read().
 */
int hub_greeting_read(const void *wire, size_t length, struct hub_greeting *greeting);

/* A rejection: an errno and words. */
size_t hub_refusal_write(int error, const char *words, void *wire);
/*
 * *@error is negative, @words is text for a terminal. -EPROTO: the rejection says nothing;
 * -EPROTONOSUPPORT: it is of a hub of another version, hub_version_read().
 */
int hub_refusal_read(const void *wire, size_t length, int *error,
		     char words[KRDMA_WHY_MAX + 1]);

/**
 * enum hub_kind - kinds of frames
 * @HUB_MESSAGE: a message of the program
 * @HUB_CALL: a message for which the sender expects an answer
 * @HUB_ANSWER: that answer
 * @HUB_ROOM: has only the count of taken messages
 * @HUB_DONE: the data of a long message were fetched, or are not wanted
 * @HUB_ASK: asks for named memory
 * @HUB_GRANT: the reply to HUB_ASK
 * @HUB_REVOKE: named memory goes away
 * @HUB_REVOKED: the peer no longer accesses it
 * @HUB_BYE: the sender leaves
 * @HUB_CHALLENGE: the nonce of the sender, before the endpoint is up
 * @HUB_PROOF: the proof to know the secret
 */
enum hub_kind {
	HUB_MESSAGE = 1,
	HUB_CALL = 2,
	HUB_ANSWER = 3,
	HUB_ROOM = 4,
	HUB_DONE = 5,
	HUB_ASK = 6,
	HUB_GRANT = 7,
	HUB_REVOKE = 8,
	HUB_REVOKED = 9,
	HUB_BYE = 10,
	HUB_CHALLENGE = 11,
	HUB_PROOF = 12,
};

#define HUB_KINDS		13

/* Bytes of a nonce, and of a proof. */
#define HUB_PROOF_SIZE		32

#define HUB_HEADER_SIZE		24

/**
 * struct hub_frame - one frame
 * @kind: &enum hub_kind
 * @is_long: HUB_MESSAGE, HUB_CALL, HUB_ANSWER: the data are in @remote
 * @ticket: @is_long, HUB_DONE: which of the sender's long messages
 * @taken: number of messages and calls that the sender of the frame has taken, modulo 2^32
 * @call: HUB_CALL, HUB_ANSWER, HUB_ASK, HUB_GRANT: number of the call, not 0
 * @code: HUB_ASK: the wanted rights; HUB_GRANT, HUB_BYE: 0 or an errno, a positive number
 * @tag: HUB_MESSAGE, HUB_CALL, HUB_ANSWER: the program's number; HUB_GRANT, HUB_REVOKE,
 *	HUB_REVOKED: number of the memory
 * @remote: @is_long: the data; HUB_GRANT with @code 0: the memory
 * @data: the bytes after the header, inside the buffer that was parsed: a message; the name of
 *	HUB_ASK; the words of HUB_BYE; HUB_PROOF_SIZE bytes of HUB_CHALLENGE and HUB_PROOF
 * @length: number of them
 */
struct hub_frame {
	uint8_t kind;
	bool is_long;
	uint16_t ticket;
	uint32_t taken;
	uint32_t call;
	uint32_t code;
	uint64_t tag;
	struct krdma_remote_mr remote;
	const unsigned char *data;
	size_t length;
};

/* Writes the header of HUB_HEADER_SIZE bytes. The caller writes what follows. */
void hub_frame_write(const struct hub_frame *frame, void *wire);
/* Changes one field of it. */
void hub_frame_set_taken(void *wire, uint32_t taken);

/*
 * Parses a frame of a peer, which need not be valid: -EPROTO. Each field of *@frame that the
 * kind does not use is 0.
 */
int hub_frame_read(const void *wire, size_t length, struct hub_frame *frame);

/*
 * Copies words of a peer: bytes other than printable ASCII become "?", and what is longer than
 * KRDMA_WHY_MAX is cut.
 */
void hub_words_read(const unsigned char *data, size_t length, char words[KRDMA_WHY_MAX + 1]);

/* Whether it can be the name of memory: 1 to KRDMA_SHARE_NAME_MAX printable ASCII characters. */
bool hub_name_is_valid(const unsigned char *name, size_t length);

/*
 * Errors on the wire have numbers of their own, because those of errno depend on the
 * architecture. An error without a number becomes EIO.
 */
uint32_t hub_code_of(int error);
int hub_code_error(uint32_t code);

#endif /* KRDMA_HUB_WIRE_H */
