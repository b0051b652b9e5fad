/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Listeners, connections, and pairs of connections that are connected to each
 * other within one process, over the device that the machine was booted with.
 * Calls answer 0 or a negative errno.
 */
#ifndef KRDMA_E2E_PAIR_H
#define KRDMA_E2E_PAIR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "rings.h"

/* Addresses of the device that the machine was booted with. */
#define BOOT_ADDRESS	"10.77.0.1"
#define BOOT_ADDRESS_6	"fd77::1"

/* IPv4 or IPv6, as text. */
int address_set(struct __kernel_sockaddr_storage *address, const char *text, uint16_t port);
uint16_t address_port(const struct __kernel_sockaddr_storage *address);
bool address_same(const struct __kernel_sockaddr_storage *one,
		  const struct __kernel_sockaddr_storage *other);

/* The number of the boot device. */
int boot_device(int session, uint32_t *id);

/*
 * Listeners
 */

/* At @text, port 0: a free one; *@address (may be NULL) says where it is. */
int listener_open(int session, const char *text, uint16_t port, uint32_t backlog, int *fd,
		  struct __kernel_sockaddr_storage *address);
int listener_next(int listener, uint64_t deadline_ns, int *fd, uint32_t *id);

/*
 * Connections
 */

int conn_create(int session, int *fd, uint32_t *id);
int conn_resolve(int conn, const struct __kernel_sockaddr_storage *remote);
/* KRDMA_CONN_WAIT; *@state (may be NULL) is set in any case. */
int conn_wait(int conn, uint64_t deadline_ns, uint32_t *state);
int conn_reject(int conn, const void *data, uint32_t length);
int conn_disconnect(int conn, uint32_t flags);
/* @room bytes of private data may be taken; *@query has the whole answer. */
int conn_query(int conn, void *data, uint32_t room, struct krdma_conn_query_args *query);

/* KRDMA_CONN_QUERY's; UINT32_MAX if it fails. */
uint32_t conn_state(int conn);

/* Waits until it is closed; -ETIMEDOUT, otherwise 0 whatever the reason was. */
int conn_await_closed(int conn, unsigned int ms);

/* One record, waiting for it; -ENODATA at the end, -ETIMEDOUT. */
int conn_event(int conn, struct krdma_event_record *record, unsigned int ms);

/* Of one that is closed, and whose records nobody has read: was it told that it is connected? */
bool conn_was_connected(int conn);

/*
 * Ends and pairs
 */

/**
 * struct end_options - what one end is to be; all zero: the defaults
 * @send_depth, @recv_depth, @max_send_sge, @max_recv_sge, @max_inline, @keepalive_ms: of
 *	&struct krdma_conn_create_qp_args
 * @ring: used instead of one of its own
 * @recv_ring: receives complete there
 * @separate: a receive queue of its own
 * @queue_options: of the queues that are made for it
 * @srq: descriptor of a shared receive queue; 0: none
 * @ack_timeout: of &struct krdma_conn_resolve_args
 * @terms: of &struct krdma_conn_param_args; .size need not be set
 */
struct end_options {
	uint32_t send_depth;
	uint32_t recv_depth;
	uint32_t max_send_sge;
	uint32_t max_recv_sge;
	uint32_t max_inline;
	uint32_t keepalive_ms;
	struct queue *ring;
	struct queue *recv_ring;
	bool separate;
	struct queue_options queue_options;
	int srq;
	uint32_t ack_timeout;
	struct krdma_conn_param_args terms;
};

/**
 * struct end - one end of a connection
 * @session: in which it was made; not owned
 * @conn: its descriptor
 * @id: its number: the target of entries
 * @ring: where it posts sends and they complete
 * @recv_ring: likewise for receives; often the same
 * @own: its own queues, if it has any
 */
struct end {
	int session;
	int conn;
	uint32_t id;
	struct queue *ring;
	struct queue *recv_ring;
	struct queue own[2];
};

/*
 * For ends that are made step by step; @end must stay where it is.  queues_create:
 * one of its own, to be named in the options of end_prepare(), before the session is
 * closed.
 */
void end_init(struct end *end, int session);
int end_queues_create(struct end *end);
int end_prepare(struct end *end, const struct end_options *options);
/* KRDMA_CONN_CONNECT or KRDMA_CONN_ACCEPT. */
int end_connect(struct end *end, const struct end_options *options);
int end_accept(struct end *end, const struct end_options *options);
/* All steps of a client but the last: it has asked, and does not wait for the answer. */
int end_ask(struct end *end, int session, const struct __kernel_sockaddr_storage *address,
	    const struct end_options *options);
void end_close(struct end *end);

/*
 * A second for an answer, and seven tries: a device that is a program, on a busy machine and in
 * a kernel that checks everything, is late now and then, and nothing is lost here.  For
 * end_ask() too, if its options do not say otherwise.
 */
#define PAIR_ACK_TIMEOUT	18

/**
 * struct pair_options - what a pair is to be; all zero, or NULL: the defaults
 * @sessions: descriptors to be used; 0: opened, and closed with the pair
 * @two_sessions: A and B are of different sessions
 * @no_listener: for what is only begun
 * @address: where the listener is; NULL: BOOT_ADDRESS
 * @a: the end that connects
 * @b: the end that accepts
 */
struct pair_options {
	int sessions[2];
	bool two_sessions;
	bool no_listener;
	const char *address;
	struct end_options a;
	struct end_options b;
};

/**
 * struct pair - two connected ends
 * @sessions: of A and of B; may be the same
 * @owned: were opened by pair_open()
 * @device: the number of the device
 * @listener: the descriptor, open as long as the pair is
 * @address: where it listens
 * @a: the end that connects
 * @b: the end that accepts
 */
struct pair {
	int sessions[2];
	bool owned[2];
	uint32_t device;
	int listener;
	struct __kernel_sockaddr_storage address;
	struct end a;
	struct end b;
};

/*
 * open: both ends connected.  begin, resolve, meet: its parts: sessions and the
 * listener; A created and resolved; (A prepared and connecting) B taken from the
 * listener.  After a failure of any, pair_close() tidies up.  Its memory must not
 * move.
 */
int pair_open(struct pair *pair, const struct pair_options *options);
int pair_begin(struct pair *pair, const struct pair_options *options);
int pair_resolve(struct pair *pair);
int pair_meet(struct pair *pair, const struct pair_options *options);
void pair_close(struct pair *pair);

/* All of pair_open() but its pair_begin(). */
int pair_connect(struct pair *pair, const struct pair_options *options);

/* Both ends wait until they are connected. */
int pair_established(struct pair *pair);

/* One operation of A's, from its beginning to its end: its status, or -errno. */
int pair_operate(struct pair *pair, struct krdma_sqe entry);

/* The same: A writes all of its @local to B's @remote, or reads it. */
int pair_write(struct pair *pair, const struct memory *local, const struct memory *remote);
int pair_read(struct pair *pair, const struct memory *local, const struct memory *remote);

#endif
