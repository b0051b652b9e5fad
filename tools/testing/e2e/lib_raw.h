/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One end of a connection for libkrdma's file transfers that sends arbitrary messages: tests
 * build them by hand, as tools/lib/file_wire.c describes them.
 */
#ifndef KRDMA_E2E_LIB_RAW_H
#define KRDMA_E2E_LIB_RAW_H

#include "lib_files.h"

enum {
	GET = 1, FILE_IS = 2, FETCH = 3, BEGIN = 4, PUT = 5, HAVE = 6, OFFER = 7, DATA = 8,
	HOLE = 9, CREDIT = 10, END = 11, DONE = 12, ERROR = 13, ALIVE = 14, NEXT = 15,
	CHALLENGE = 16, PROOF = 17, REFUSE = 18, SKIP = 19, FOLDER = 20,
	COMPARE = 21, DIGEST = 22,
};

/* Bit of the code of PUT: only if length or content differ. */
#define PUT_COMPARE	128

/* Bytes of a message before its name, and room for all of it. */
#define FIXED		88
#define ROOM		8192
#define RECEIVES	48
#define WINDOW		65536

/* One end of a connection that sends arbitrary messages. */
struct raw {
	struct krdma *session;
	struct krdma_conn *conn;
	struct krdma_ring *ring;
	/* MRs of messages, and of the offered window. */
	struct krdma_mr *mr;
	struct krdma_mr *window;
	/* Completions that arrived during a wait for another; each receive completes once. */
	struct krdma_cqe early[RECEIVES];
	unsigned int early_count;
	unsigned int early_taken;
	/* The offset in the last ALIVE. */
	uint64_t examined;
};

struct message {
	unsigned char bytes[ROOM];
	uint32_t length;
};

void raw_set(struct message *message, unsigned int offset, uint64_t value, unsigned int bytes);
struct message raw_make(uint8_t type, const char *name);
struct message raw_piece(uint8_t type, uint64_t offset, uint64_t length, uint32_t slot);
/* Put the offered window into @message: the memory descriptor of raw->window, @size and @count. */
void raw_set_window(struct raw *raw, struct message *message, uint32_t size, uint32_t count);
/* The version of the protocol that the library has. */
#define RAW_VERSION	2

/* Bytes of a hello without a token, of a token, and of a hello with one. */
#define HELLO_SHORT	16
#define TOKEN		32
#define HELLO		(HELLO_SHORT + TOKEN)

void raw_hello(unsigned char bytes[HELLO_SHORT], uint16_t version, uint32_t code);
/* The hello of this library with FILE_HELLO_* and a token, of or for the connection @number. */
void raw_hello_join(unsigned char bytes[HELLO], uint16_t flags, uint32_t number,
		    const unsigned char token[TOKEN]);
int raw_connect(struct raw *raw, struct files *files, const void *data, size_t length);
int raw_accept(struct raw *raw, struct krdma *session, struct krdma_listener *listener,
	       const void *data, size_t length);
/* The same for a connection that the listener has returned; @raw owns it. */
int raw_take(struct raw *raw, struct krdma *session, struct krdma_conn *conn, const void *data,
	     size_t length);
void raw_close(struct raw *raw);
/*
 * leave: close the connection only.  connect_again, take_again: connect what was left, or is all
 * zero.  To register the memory takes longer than to connect.
 */
void raw_leave(struct raw *raw);
int raw_connect_again(struct raw *raw, struct files *files, const void *data, size_t length);
int raw_take_again(struct raw *raw, struct krdma *session, struct krdma_conn *conn,
		   const void *data, size_t length);
int raw_send(struct raw *raw, const struct message *message);
/*
 * Put "evil" of @length bytes with @slots of a page, and send the first page of it.  Returns
 * CREDIT when that is stored, or what was received instead.
 */
int raw_offer(struct raw *raw, uint64_t length, uint32_t slots);
/* An RDMA operation between raw->window and memory of the peer; waits for its end. */
int raw_transfer(struct raw *raw, uint8_t opcode, size_t offset, uint32_t length,
		 const struct krdma_remote_mr *remote, uint64_t remote_offset);
/* Receive the next message that is not ALIVE.  Returns its type, or -errno. */
int raw_next(struct raw *raw, struct message *message);
/* The same without credit. */
int raw_receive(struct raw *raw, struct message *message);

#endif
