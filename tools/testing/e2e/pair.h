/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Listeners, connections, and pairs of connections that are connected to each
 * other within one process, over the device that the machine was booted with.
 * Calls return 0 or a negative errno.
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

/* The ID of the boot device. */
int boot_device(int session, uint32_t *id);

/*
 * Listeners
 */

/* Listen at @text; port 0: a free port.  *@address (may be NULL) is set to the address. */
int listener_open(int session, const char *text, uint16_t port, uint32_t backlog, int *fd,
		  struct __kernel_sockaddr_storage *address);
/* The same with &enum krdma_listen_flags. */
int listener_open_with(int session, const char *text, uint16_t port, uint32_t backlog,
		       uint32_t flags, int *fd, struct __kernel_sockaddr_storage *address);
int listener_next(int listener, uint64_t deadline_ns, int *fd, uint32_t *id);

/*
 * Connections
 */

int conn_create(int session, int *fd, uint32_t *id);
/* The same with &enum krdma_conn_create_flags. */
int conn_create_with(int session, uint32_t flags, int *fd, uint32_t *id);
int conn_resolve(int conn, const struct __kernel_sockaddr_storage *remote);
/* KRDMA_CONN_WAIT; *@state (may be NULL) is set in any case. */
int conn_wait(int conn, uint64_t deadline_ns, uint32_t *state);
int conn_reject(int conn, const void *data, uint32_t length);
int conn_disconnect(int conn, uint32_t flags);
/* @data has @room bytes for private data; *@query is the complete result. */
int conn_query(int conn, void *data, uint32_t room, struct krdma_conn_query_args *query);

/* Is it a lane?  The number of the trunk, 0 for a plain connection; UINT64_MAX: no connection. */
uint64_t trunk_of(int conn);

/* The state that KRDMA_CONN_QUERY returns; UINT32_MAX if it fails. */
uint32_t conn_state(int conn);

/* Wait until @conn is closed: 0, whatever the reason was, or -ETIMEDOUT. */
int conn_await_closed(int conn, unsigned int ms);

/* Wait for one record: 0, -ENODATA at the end, or -ETIMEDOUT. */
int conn_event(int conn, struct krdma_event_record *record, unsigned int ms);

/* For a closed connection with unread records: do they contain the connected event? */
bool conn_was_connected(int conn);

/*
 * Ends and pairs
 */

/**
 * struct end_options - options of one end; all zero means the defaults
 * @send_depth, @recv_depth, @max_send_sge, @max_recv_sge, @max_inline, @keepalive_ms: of
 *	&struct krdma_conn_create_qp_args
 * @ring: ring to use instead of creating one
 * @recv_ring: ring in which receives complete
 * @separate: create a separate ring for receives
 * @ring_options: options of the rings that are created
 * @srq: file descriptor of an SRQ; 0 means none
 * @ack_timeout: of &struct krdma_conn_resolve_args
 * @create_flags: of &struct krdma_conn_create_args
 * @param: of &struct krdma_conn_param_args; .size need not be set
 */
struct end_options {
	uint32_t send_depth;
	uint32_t recv_depth;
	uint32_t max_send_sge;
	uint32_t max_recv_sge;
	uint32_t max_inline;
	uint32_t keepalive_ms;
	struct ring *ring;
	struct ring *recv_ring;
	bool separate;
	struct ring_options ring_options;
	int srq;
	uint32_t ack_timeout;
	uint32_t create_flags;
	struct krdma_conn_param_args param;
};

/**
 * struct end - one end of a connection
 * @session: session of the connection; not owned
 * @conn: file descriptor of the connection
 * @id: ID of the connection: the destination of entries
 * @ring: ring where sends are posted and complete
 * @recv_ring: ring where receives are posted and complete; often the same
 * @own: rings that belong to this end, if any
 */
struct end {
	int session;
	int conn;
	uint32_t id;
	struct ring *ring;
	struct ring *recv_ring;
	struct ring own[2];
};

/*
 * For ends that are set up step by step; @end must not move.  end_rings_create() creates a ring
 * of the end, to be named in the options of end_create_qp(), before the session is closed.
 */
void end_init(struct end *end, int session);
int end_rings_create(struct end *end);
int end_create_qp(struct end *end, const struct end_options *options);
/* KRDMA_CONN_CONNECT or KRDMA_CONN_ACCEPT. */
int end_connect(struct end *end, const struct end_options *options);
int end_accept(struct end *end, const struct end_options *options);
/* All steps of a client but the last: it sends the request and does not wait for the reply. */
int end_ask(struct end *end, int session, const struct __kernel_sockaddr_storage *address,
	    const struct end_options *options);
void end_close(struct end *end);

/*
 * An ACK timeout of a second, with seven tries.  A software device is sometimes late on a busy
 * machine with a debug kernel, although no packet is lost.  end_ask() uses it too, unless its
 * options set another one.
 */
#define PAIR_ACK_TIMEOUT	18

/**
 * struct pair_options - options of a pair; all zero, or NULL, means the defaults
 * @sessions: file descriptors to use; 0: opened, and closed with the pair
 * @two_sessions: A and B belong to different sessions
 * @no_listener: create no listener, for a pair that only uses pair_begin()
 * @address: address of the listener; NULL means BOOT_ADDRESS
 * @listen_flags: of &struct krdma_listen_args
 * @a: the end that connects
 * @b: the end that accepts
 */
struct pair_options {
	int sessions[2];
	bool two_sessions;
	bool no_listener;
	const char *address;
	uint32_t listen_flags;
	struct end_options a;
	struct end_options b;
};

/**
 * struct pair - two connected ends
 * @sessions: of A and of B; may be the same
 * @owned: were opened by pair_open()
 * @device: ID of the device
 * @create_flags: of the options of A
 * @listener: file descriptor of the listener, open until pair_close()
 * @address: address of the listener
 * @a: the end that connects
 * @b: the end that accepts
 */
struct pair {
	int sessions[2];
	bool owned[2];
	uint32_t device;
	uint32_t create_flags;
	int listener;
	struct __kernel_sockaddr_storage address;
	struct end a;
	struct end b;
};

/*
 * open: create and connect both ends.  Its steps: begin opens the sessions and creates the
 * listener.  resolve creates and resolves A.  meet creates the QP of A, starts to connect A, and
 * takes B from the listener.  If any of them fails, call pair_close().  @pair must not move.
 */
int pair_open(struct pair *pair, const struct pair_options *options);
int pair_begin(struct pair *pair, const struct pair_options *options);
int pair_resolve(struct pair *pair);
int pair_meet(struct pair *pair, const struct pair_options *options);
void pair_close(struct pair *pair);

/* All steps of pair_open() after pair_begin(). */
int pair_connect(struct pair *pair, const struct pair_options *options);

/* Both ends wait until they are connected. */
int pair_established(struct pair *pair);

/* Post one work request at A and wait for it.  Returns its status, or -errno. */
int pair_operate(struct pair *pair, struct krdma_sqe entry);

/* The same: A writes all of its @local to B's @remote, or reads it. */
int pair_write(struct pair *pair, const struct mr *local, const struct mr *remote);
int pair_read(struct pair *pair, const struct mr *local, const struct mr *remote);

#endif
