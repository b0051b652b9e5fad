/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma: RDMA through /dev/krdma, without any other library.
 *
 * The library is a thin layer over the interface in <linux/krdma.h> and uses the structures of
 * that interface unchanged.
 *
 * Unless a function says otherwise:
 *  - It returns 0 or a negative errno with the meaning given in <linux/krdma.h>.
 *  - Any thread may call it at any time, also for the same object.
 *  - A signal does not interrupt it unless it takes a deadline. A function with a deadline
 *    fails with EINTR after a handler without SA_RESTART, and the same call can be repeated.
 *    krdma_conn_await_closed(), krdma_conn_next_event(), krdma_device_next_event() and
 *    krdma_ring_wait_any() do so after any handler. krdma_conns_accept() can fail with EINTR, too.
 *  - For a structure that the function fills in, the caller passes the size it was compiled
 *    with. The library first clears the whole structure, so fields that an older module or
 *    library does not know read as zero. After an error its content is undefined.
 *  - A structure that the caller passes in begins with its own size. The caller sets the size
 *    and clears the rest. NULL stands for an all-zero structure. A size above 512, for example
 *    one that was not set, is E2BIG.
 *  - Output pointers are not written after an error.
 *
 * The caller must close or release every object. The order is free, except that memory regions
 * must be deregistered before their session is closed. No other thread may be in a call with
 * the object at that time: krdma_conn_disconnect() and similar functions make such calls
 * return.
 *
 * fork(): a child inherits the parent's descriptors and gets copies of these handles. Closing
 * or releasing an object in the child releases only the child's copies: the parent's memory
 * regions, connections and mappings stay as they are. The shared memory of a ring is not mapped
 * in the child. To use a ring there, the child opens a copy of the descriptor with
 * krdma_ring_open_fd().
 *
 * Cancellation: functions wait in system calls that are cancellation points, some of them with
 * a lock held, and release nothing when the thread is canceled there. A thread that may be
 * canceled must disable cancellation during a call (pthread_setcancelstate()). A signal, a
 * deadline or krdma_conn_disconnect() ends the call instead. A signal handler may call only
 * krdma_deadline().
 *
 * A deadline is a point in time of CLOCK_MONOTONIC in nanoseconds, as krdma_deadline() returns
 * it. 0 does not wait; KRDMA_FOREVER waits without limit.
 */
#ifndef KRDMA_H
#define KRDMA_H

#include <stddef.h>
#include <stdint.h>

#include <sys/socket.h>

#include <linux/krdma.h>
#include <linux/krdma_conn.h>
#include <linux/krdma_limit.h>
#include <linux/krdma_ring.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The path of the device. Each open() of it is a session. */
#define KRDMA_DEVICE_PATH "/dev/krdma"

/* A session: one open file of the device, and the memory regions registered through it. */
struct krdma;
/* A listener: accepts connection requests from peers. */
struct krdma_listener;
/* A connection, in any state. */
struct krdma_conn;
/* A ring: an SQ and a CQ shared with the kernel, for any number of connections. */
struct krdma_ring;
/* A shared receive queue (SRQ): receives for any number of connections. */
struct krdma_srq;
/* A memory region (MR). */
struct krdma_mr;
/* A cache of memory regions that stay registered for reuse. */
struct krdma_mr_cache;

/**
 * krdma_deadline() - Compute a deadline relative to now
 * @ms: time from now, in milliseconds
 *
 * Return: the deadline, never 0.
 */
uint64_t krdma_deadline(unsigned int ms);

/**
 * krdma_open() - Open a session
 * @session: receives the session; not written on an error
 *
 * The session's file descriptor is close-on-exec.
 *
 * Errors: those of open(2) for KRDMA_DEVICE_PATH, in particular ENOENT (the module is not
 * loaded) and EACCES (the caller has no permission); EDQUOT (the user has reached the limit of
 * sessions or of memory); ENOTTY (the opened file is not a krdma device); EPROTONOSUPPORT (the
 * module implements another version of the interface); ENOMEM.
 */
int krdma_open(struct krdma **session);

/**
 * krdma_open_fd() - Make a session from a file descriptor of the device
 * @fd: the descriptor, for example received from another process through a socket
 * @session: receives the session; not written on an error
 *
 * On success the session owns @fd and krdma_close() closes it. After an error the caller still
 * owns it. The close-on-exec flag is not changed.
 *
 * Errors: EBADF; ENOTTY (not a descriptor of krdma); EPROTONOSUPPORT; ENOMEM.
 */
int krdma_open_fd(int fd, struct krdma **session);

/**
 * krdma_close() - Close a session
 * @session: the session; NULL does nothing
 *
 * No other thread may be using the session, and it must not be used again. Other copies of its
 * descriptor (after a fork or a transfer) are not affected. Listeners, connections, rings and
 * SRQs of the session remain until each is closed. When the last copy of the descriptor is
 * closed, connections without descriptors end: see krdma_conns_open().
 *
 * Errors: none at present; the session is gone whatever the function returns.
 */
int krdma_close(struct krdma *session);

/**
 * krdma_fd() - Get the file descriptor of a session
 * @session: the session
 *
 * The session still owns the descriptor: do not close it.
 *
 * Return: the descriptor, or -EINVAL if @session is NULL.
 */
int krdma_fd(const struct krdma *session);

/**
 * krdma_info_query() - Query the version and features of the module
 * @session: the session
 * @info: filled in
 * @size: sizeof(*info)
 *
 * Errors: EINVAL (a NULL pointer, or @size is smaller than the first version of the structure).
 */
int krdma_info_query(struct krdma *session, struct krdma_info_args *info, size_t size);

/**
 * krdma_limit_query() - Query a limit and its current usage
 * @session: the session
 * @limit: &enum krdma_limit; to list all limits, count up from 0 until ENOENT
 * @query: filled in
 * @size: sizeof(*query)
 *
 * Errors: ENOENT (there is no such limit); ENOTTY (the module is too old).
 */
int krdma_limit_query(struct krdma *session, uint32_t limit, struct krdma_limit_query_args *query,
		      size_t size);

/**
 * krdma_limit_refused() - Query the limit that caused the last EDQUOT
 * @session: the session in which a call failed with EDQUOT
 * @query: filled in: the limit and the scope in which it was reached
 * @size: sizeof(*query)
 *
 * Errors: ENOENT (no call of the session was refused); ENOTTY (the module is too old).
 */
int krdma_limit_refused(struct krdma *session, struct krdma_limit_query_args *query, size_t size);

/**
 * krdma_device_query() - Query an RDMA device by its number
 * @session: the session
 * @id: the device number, never 0
 * @device: filled in
 * @size: sizeof(*device)
 *
 * Errors: ENOENT (the session sees no such device).
 */
int krdma_device_query(struct krdma *session, uint32_t id, struct krdma_device_query_args *device,
		       size_t size);

/**
 * krdma_device_find() - Query an RDMA device by its name
 * @session: the session
 * @name: the device name
 * @device: filled in
 * @size: sizeof(*device)
 *
 * Errors: ENOENT (the session sees no such device); EINVAL (an empty name); ENAMETOOLONG
 * (longer than any device name).
 */
int krdma_device_find(struct krdma *session, const char *name,
		      struct krdma_device_query_args *device,
		      size_t size);

/**
 * krdma_device_next() - Iterate over the RDMA devices
 * @session: the session
 * @after: the number of the previous device; 0 to start
 * @device: filled in with the device that has the next higher number
 * @size: sizeof(*device)
 *
 * Devices may appear and disappear during the iteration. Each device that stays is returned
 * once.
 *
 * Errors: ENOENT (there are no more devices).
 */
int krdma_device_next(struct krdma *session, uint32_t after, struct krdma_device_query_args *device,
		      size_t size);

/**
 * krdma_port_query() - Query a port of an RDMA device
 * @session: the session
 * @device_id: the device number
 * @number: the port number, from 1 to the device's port_count
 * @port: filled in
 * @size: sizeof(*port)
 *
 * Errors: ENOENT (there is no such device, or it has no such port).
 */
int krdma_port_query(struct krdma *session, uint32_t device_id, uint32_t number,
		     struct krdma_port_query_args *port, size_t size);

/**
 * krdma_device_by_address() - Find the RDMA device for an address
 * @session: the session
 * @local: a local address: of the device, or the start of the route to @remote; or NULL
 * @remote: the peer's address, or NULL; at least one of @local and @remote is given
 * @deadline: how long to resolve the route to @remote
 * @id: receives the device number
 *
 * Errors: ENOENT (no device has the local address); EHOSTUNREACH (no route to the remote
 * address); EAFNOSUPPORT (neither IPv4 nor IPv6); EINVAL (no address, an invalid one, or
 * addresses of two families); ETIMEDOUT (also if @remote is given and @deadline is 0); EDQUOT (the
 * search takes a port: see krdma_limit_refused()).
 */
int krdma_device_by_address(struct krdma *session, const struct sockaddr *local,
			    const struct sockaddr *remote, uint64_t deadline, uint32_t *id);

/**
 * krdma_device_notify() - Enable device events for a session
 * @session: the session; its descriptor is readable while an event is pending
 *
 * The first events report the devices that are already present. They can be taken without
 * waiting.
 *
 * Errors: EALREADY (already enabled).
 */
int krdma_device_notify(struct krdma *session);

/**
 * krdma_device_next_event() - Take the next device event
 * @session: the session, after krdma_device_notify()
 * @deadline: how long to wait for an event
 * @record: receives the event
 * @size: sizeof(*record), which allows the structure to grow
 *
 * If several threads wait, one of them gets the event.
 *
 * Errors: EINVAL (@size is smaller than the first version of the structure); EAGAIN (no event,
 * and @deadline is 0); ETIMEDOUT.
 */
int krdma_device_next_event(struct krdma *session, uint64_t deadline,
			    struct krdma_device_record *record, size_t size);

/*
 * Listeners
 */

/**
 * krdma_listen() - Listen for connection requests
 * @session: the session
 * @address: the local address; the unspecified address stands for all addresses, port 0 for any
 *	free port
 * @flags: &enum krdma_listen_flags
 * @backlog: number of connection requests that may be pending; 0: 128
 * @listener: receives the listener
 *
 * Errors: those of KRDMA_LISTEN, in particular EADDRINUSE, EADDRNOTAVAIL (not an address of an
 * RDMA device, or a listener at all addresses has the port), EACCES (a privileged port),
 * EOPNOTSUPP (a flag that the module does not have), EAFNOSUPPORT (neither IPv4 nor IPv6), EDQUOT
 * (a limit of the user, see krdma_limit_refused()).
 */
int krdma_listen(struct krdma *session, const struct sockaddr *address, uint32_t flags,
		 uint32_t backlog, struct krdma_listener **listener);

/**
 * krdma_listen_options() - Listen for connection requests, with more options
 * @session: the session
 * @address: as of krdma_listen()
 * @options: &struct krdma_listen_args, or NULL; its @address is ignored
 * @listener: receives the listener
 *
 * Errors: those of krdma_listen(); EINVAL (a time that is out of range).
 */
int krdma_listen_options(struct krdma *session, const struct sockaddr *address,
			 const struct krdma_listen_args *options,
			 struct krdma_listener **listener);

/**
 * krdma_listener_query() - Query the connection requests of a listener
 * @listener: the listener
 * @query: receives the attributes
 * @size: sizeof(*query), which allows the structure to grow
 *
 * Errors: EINVAL (@size is smaller than the first version of the structure).
 */
int krdma_listener_query(struct krdma_listener *listener, struct krdma_listener_query_args *query,
			 size_t size);

/**
 * krdma_listener_address() - Get the address of a listener, with the assigned port
 * @listener: the listener
 * @address: receives the address
 *
 * Errors: EINVAL (a NULL pointer).
 */
int krdma_listener_address(struct krdma_listener *listener, struct sockaddr_storage *address);

/**
 * krdma_listener_flags() - Get the flags of a listener
 * @listener: the listener
 * @flags: receives &enum krdma_listen_flags, as given to krdma_listen(); 0 with a module that is
 *	older than lanes
 *
 * Errors: EINVAL (a NULL pointer).
 */
int krdma_listener_flags(struct krdma_listener *listener, uint32_t *flags);

/**
 * krdma_listener_next() - Take the next connection request
 * @listener: the listener
 * @deadline: how long to wait for a request
 * @conn: receives the connection. The caller creates its QP and accepts it, rejects it, or
 *	closes it. krdma_conn_query() and krdma_conn_private_data() describe the peer.
 *
 * If several threads wait, one of them gets the request.
 *
 * Errors: EAGAIN (no request, and @deadline is 0); ETIMEDOUT; ENODEV (the device is gone); those
 * of krdma_conn_create().
 */
int krdma_listener_next(struct krdma_listener *listener, uint64_t deadline,
			struct krdma_conn **conn);

/*
 * Connections
 */

/**
 * krdma_conn_create() - Create a connection in the state new
 * @session: the session
 * @conn: receives the connection
 *
 * Errors: EDQUOT (a limit of the user, see krdma_limit_refused()); EMFILE, ENFILE (no free
 * descriptor); ENOMEM.
 */
int krdma_conn_create(struct krdma *session, struct krdma_conn **conn);

/**
 * krdma_conn_create_lane() - Create a connection that is a lane if the peer takes lanes
 * @session: the session
 * @conn: receives the connection
 *
 * A lane shares a QP with other lanes between the same two hosts, and carries messages. If the
 * peer's listener takes no lanes, it is a plain connection. From the end of krdma_conn_resolve()
 * on, krdma_conn_trunk() says which. The memory of its messages is registered by
 * krdma_mr_register_for_lanes().
 *
 * Errors: EOPNOTSUPP (the module has no lanes); those of krdma_conn_create().
 */
int krdma_conn_create_lane(struct krdma *session, struct krdma_conn **conn);

/*
 * Many connections at a time, without descriptors. Each has a number: the member id of its entry,
 * for krdma_entry() and for these functions. Its events are completions of its ring with the opcode
 * KRDMA_OP_EVENT; <linux/krdma_conn.h> describes them. The connections end with
 * krdma_conns_close(), or when the last process that has the session closes it.
 *
 * Each function tries all entries, sets the member error of each, and *@done (may be NULL) to the
 * number of those that succeeded. It returns the error of the first entry that failed, or an error
 * of the whole call, for which *@done is 0 and nothing has happened.
 */

/**
 * krdma_conns_open() - Connect many connections
 * @session: the session
 * @ring: ring of the connections, for work requests, completions and events
 * @entries: the members wr_id, private_data, private_data_len and remote are used, the other ones
 *	must be 0; receives the numbers, 0 where it failed
 * @count: number of entries, up to KRDMA_CONNS_MAX
 * @options: the flags, and the members from @send_depth to @srq_fd, as for
 *	krdma_conn_create_qp(); NULL: the defaults. The other members are ignored.
 * @deadline: deadline
 * @done: receives the number of connections that are connected
 *
 * Waits until each connection is connected or has failed.
 *
 * Errors: EOPNOTSUPP (the module does not have it, or an unknown flag); EINVAL (@count); EINTR (a
 * signal; connections that are connected stay); EFAULT; ENOMEM. Of an entry also: those of
 * krdma_conn_create(), krdma_conn_resolve(), krdma_conn_create_qp() and krdma_conn_connect(), but
 * for those of descriptors; those of krdma_conn_wait().
 */
int krdma_conns_open(struct krdma *session, struct krdma_ring *ring,
		     struct krdma_conns_entry *entries, uint32_t count,
		     const struct krdma_conns_args *options, uint64_t deadline, uint32_t *done);

/**
 * krdma_conns_take() - Take many connection requests
 * @session: the session of the listener
 * @listener: the listener
 * @entries: the members private_data and private_data_len are used, reserved must be 0; receives
 *	the numbers, private data and addresses of the peers
 * @count: number of entries, up to KRDMA_CONNS_MAX
 * @deadline: deadline of the wait for the first request
 * @done: receives the number of requests that were taken; must not be NULL
 *
 * Waits for the first request, and takes those that are there: fewer than @count are no error.
 * krdma_conns_accept() accepts them; krdma_conns_close() rejects them. With an error, the first
 * *@done entries were taken nevertheless, for example as many as the limits of the user allow.
 *
 * Errors: EAGAIN (none waits, and @deadline is 0); ETIMEDOUT; EINTR; EDQUOT; ENODEV; EOPNOTSUPP;
 * EINVAL; EXDEV (the listener is of another session); EFAULT; ENOMEM.
 */
int krdma_conns_take(struct krdma *session, struct krdma_listener *listener,
		     struct krdma_conns_entry *entries, uint32_t count, uint64_t deadline,
		     uint32_t *done);

/**
 * krdma_conns_accept() - Accept many connection requests
 * @session: the session
 * @ring: as for krdma_conns_open()
 * @entries: the members id, wr_id, private_data and private_data_len are used, reserved must be 0.
 *	After krdma_conns_take(), private_data_len is that of the peer: set it.
 * @count: number of entries, up to KRDMA_CONNS_MAX
 * @options: as for krdma_conns_open(), without flags
 * @done: receives the number of connections that are accepted
 *
 * Errors: EOPNOTSUPP; EINVAL; EINTR (a signal, while another thread creates the queues of the same
 * connection); EFAULT; ENOMEM. Of an entry also: ENOENT (the session has no such number); those of
 * krdma_conn_create_qp() and krdma_conn_accept(), but for those of descriptors.
 */
int krdma_conns_accept(struct krdma *session, struct krdma_ring *ring,
		       struct krdma_conns_entry *entries, uint32_t count,
		       const struct krdma_conns_args *options, uint32_t *done);

/**
 * krdma_conns_close() - Close many connections
 * @session: the session
 * @entries: the member id is used, reserved must be 0
 * @count: number of entries, up to KRDMA_CONNS_MAX
 * @done: receives the number of connections that were closed
 *
 * A request that was not accepted is rejected.
 *
 * Errors: EOPNOTSUPP; EINVAL; EFAULT; ENOMEM (nothing is closed, and the call can be repeated). Of
 * an entry also: ENOENT (the session has no such number).
 */
int krdma_conns_close(struct krdma *session, struct krdma_conns_entry *entries, uint32_t count,
		      uint32_t *done);

/**
 * krdma_conns_fd() - Give one of many connections a descriptor
 * @session: the session
 * @id: its number
 * @conn: receives the connection, to be closed with krdma_conn_close()
 *
 * From then on its events are read from @conn, and krdma_conns_close() does not find it. If it
 * fails, the number remains.
 *
 * Errors: EOPNOTSUPP (the module does not have it); EINVAL; ENOENT (the session has no such
 * number); EMFILE; ENFILE; ENOMEM.
 */
int krdma_conns_fd(struct krdma *session, uint32_t id, struct krdma_conn **conn);

/**
 * krdma_conn_trunk() - Get the trunk that carries a lane
 * @conn: the connection
 * @trunk: receives the number of the trunk; 0: a plain connection, or one that is not resolved
 *	yet
 *
 * Lanes with the same number share a QP.
 *
 * Errors: EINVAL (a NULL pointer).
 */
int krdma_conn_trunk(struct krdma_conn *conn, uint64_t *trunk);

/**
 * krdma_conn_resolve() - Start to resolve the address and route of a peer
 * @conn: the connection
 * @remote: the peer's address and port
 * @options: &struct krdma_conn_resolve_args, or NULL; its @remote is ignored
 *
 * krdma_conn_wait() reports the result.
 *
 * Errors: EAFNOSUPPORT (neither IPv4 nor IPv6); EINVAL (invalid addresses); EALREADY, EISCONN,
 * ENOTCONN (not possible in this state); EDQUOT (a limit of the user, see krdma_limit_refused()).
 * After another error, such as EADDRNOTAVAIL (the local address is not on an RDMA device,
 * or a listener at all addresses has its port), EADDRINUSE or EACCES (its port is used, or is
 * privileged) or EHOSTUNREACH (no route from there), the connection is closed.
 */
int krdma_conn_resolve(struct krdma_conn *conn, const struct sockaddr *remote,
		       const struct krdma_conn_resolve_args *options);

/**
 * krdma_conn_create_qp() - Create the QP of a connection
 * @conn: the connection, resolved or requested by a peer
 * @ring: the ring to which operations are posted and in which they complete
 * @recv_ring: the ring for receives; NULL: @ring
 * @srq: the SRQ that supplies the receives; NULL: the connection has its own RQ
 * @options: &struct krdma_conn_create_qp_args, or NULL; its descriptors and the flags for them
 *	are ignored
 *
 * From now on receives can be posted; post them before the connection is established.
 * krdma_conn_query() reports the granted values.
 *
 * Errors: those of KRDMA_CONN_CREATE_QP, in particular EBUSY (not resolved yet), ENOSPC (the ring
 * has too few free entries), EINVAL (more than the device supports), EDQUOT (a limit of the user,
 * see krdma_limit_refused()).
 */
int krdma_conn_create_qp(struct krdma_conn *conn, struct krdma_ring *ring,
			 struct krdma_ring *recv_ring, struct krdma_srq *srq,
			 const struct krdma_conn_create_qp_args *options);

/**
 * krdma_conn_connect() - Send a connection request to the peer
 * @conn: the connection, resolved and with a QP
 * @param: connection parameters, &struct krdma_conn_param_args, or NULL; its private data are
 *	ignored
 * @data: private data for the peer
 * @length: length of @data in bytes
 *
 * krdma_conn_wait() reports the peer's reply.
 *
 * Errors: EMSGSIZE (more private data than the transport can carry); EINVAL (more than the device
 * supports, or the connection is a request of a peer); EBUSY (not resolved yet, or no QP);
 * EALREADY, EISCONN, ENOTCONN (not possible in this state).
 */
int krdma_conn_connect(struct krdma_conn *conn, const struct krdma_conn_param_args *param,
		       const void *data, size_t length);

/**
 * krdma_conn_accept() - Accept a connection request
 * @conn: the connection, requested by a peer and with a QP
 * @param: connection parameters, as for krdma_conn_connect()
 * @data: private data for the peer
 * @length: length of @data in bytes
 *
 * krdma_conn_wait() reports when the connection is established. If several threads accept, one
 * of them succeeds.
 *
 * Errors: EMSGSIZE (more private data than the transport can carry); EINVAL (more than the device
 * supports, or the connection is not a request of a peer); EBUSY (it has no QP yet); EALREADY,
 * EISCONN, ENOTCONN (not possible in this state).
 */
int krdma_conn_accept(struct krdma_conn *conn, const struct krdma_conn_param_args *param,
		      const void *data, size_t length);

/**
 * krdma_conn_reject() - Reject a connection request
 * @conn: the connection, requested by a peer
 * @data: private data for the peer
 * @length: length of @data in bytes
 *
 * Errors: EMSGSIZE (more private data than the transport can carry); EINVAL (the connection
 * does not come from a request); EALREADY, EISCONN, ENOTCONN (not possible in this state).
 */
int krdma_conn_reject(struct krdma_conn *conn, const void *data, size_t length);

/**
 * krdma_conn_disconnect() - Disconnect a connection
 * @conn: the connection
 * @flags: &enum krdma_disconnect_flags
 *
 * With KRDMA_DISCONNECT_ABORT it succeeds in any state.
 *
 * Errors: EALREADY (already called); ENOTCONN (the connection is not connected, or no longer).
 */
int krdma_conn_disconnect(struct krdma_conn *conn, uint32_t flags);

/**
 * krdma_conn_wait() - Wait for the end of the current state transition
 * @conn: the connection
 * @deadline: how long to wait
 * @state: receives &enum krdma_conn_state, or NULL
 *
 * Succeeds when the connection is new, resolved, requested or connected.
 *
 * Errors: EINPROGRESS (the transition has not ended, and @deadline is 0); ETIMEDOUT; EINTR. If
 * the connection is closed, the error is the reason: those of KRDMA_CONN_WAIT, in particular
 * ECONNREFUSED, EHOSTUNREACH, EPIPE, ECONNRESET. ETIMEDOUT can be the reason, too:
 * krdma_conn_query() distinguishes the two.
 */
int krdma_conn_wait(struct krdma_conn *conn, uint64_t deadline, uint32_t *state);

/**
 * krdma_conn_await_closed() - Wait until a connection is closed
 * @conn: the connection
 * @deadline: how long to wait
 *
 * Succeeds whatever the reason for the close.
 *
 * Errors: ETIMEDOUT (not closed by @deadline); EINPROGRESS (not closed, and @deadline is 0).
 */
int krdma_conn_await_closed(struct krdma_conn *conn, uint64_t deadline);

/**
 * krdma_conn_query() - Query the state and attributes of a connection
 * @conn: the connection
 * @query: filled in, except for the private data
 * @size: sizeof(*query)
 *
 * Errors: EINVAL (a NULL pointer, or @size is smaller than the first version of the structure).
 */
int krdma_conn_query(struct krdma_conn *conn, struct krdma_conn_query_args *query, size_t size);

/**
 * krdma_conn_private_data() - Get the private data of the peer's request or reply
 * @conn: the connection
 * @data: receives the private data
 * @length: in: size of @data in bytes; out: length of the private data, which may exceed it
 *
 * Errors: EINVAL (a NULL pointer).
 */
int krdma_conn_private_data(struct krdma_conn *conn, void *data, size_t *length);

/**
 * krdma_conn_next_event() - Take the next event of a connection
 * @conn: the connection; its descriptor is readable while an event is pending
 * @deadline: how long to wait for an event
 * @record: receives the event
 * @size: sizeof(*record), which allows the structure to grow
 *
 * If several threads wait, one of them gets the event.
 *
 * Errors: EINVAL (@size is smaller than the first version of the structure); EAGAIN (no event,
 * and @deadline is 0); ETIMEDOUT; ENODATA (the last event has been taken).
 */
int krdma_conn_next_event(struct krdma_conn *conn, uint64_t deadline,
			  struct krdma_event_record *record, size_t size);

/**
 * krdma_conn_id() - Get the number of a connection, the destination of entries
 * @conn: the connection
 *
 * Return: the number, 0 if @conn is NULL.
 */
uint32_t krdma_conn_id(const struct krdma_conn *conn);

/*
 * Rings. <krdma_entry.h> makes entries.
 */

/**
 * krdma_ring_create() - Create a ring
 * @session: the session
 * @options: &struct krdma_ring_create_args, or NULL
 * @ring: receives the ring
 *
 * A ring belongs to one device: the one given in @options, or that of its first connection.
 *
 * Errors: EINVAL (more entries than KRDMA_RING_ENTRIES_MAX, or than the device supports, or a
 * vector without its flag); ENODEV (no such device); EDQUOT (a limit of the user, see
 * krdma_limit_refused()); ENOMEM.
 */
int krdma_ring_create(struct krdma *session, const struct krdma_ring_create_args *options,
		      struct krdma_ring **ring);

/**
 * krdma_ring_post() - Post work requests
 * @ring: the ring
 * @entries: the work requests, in posting order
 * @count: number of entries, at least 1
 * @accepted: receives the number of accepted entries, also after an error; or NULL
 *
 * An array is a batch: it takes one system call and, as far as possible, one post to the
 * device.
 *
 * Errors: the reason why the entry after the accepted ones was refused, as listed in
 * <linux/krdma_ring.h>, in particular EAGAIN (the connection's depth is used up: take
 * completions) and ENOTCONN.
 *
 * In a polled ring nothing completes until the program polls, not even unsignaled work
 * requests. Call krdma_ring_poll() from time to time to free their places.
 */
int krdma_ring_post(struct krdma_ring *ring, const struct krdma_sqe *entries, size_t count,
		    size_t *accepted);

/**
 * krdma_ring_poll() - Take the available completions
 * @ring: the ring
 * @cqes: array for the completions
 * @room: number of elements of @cqes, at least 1
 * @taken: receives the number of completions, at least 1
 *
 * Makes a system call only if the mapped CQ is empty and either the ring is polled or
 * completions are pending in the kernel. If several threads poll, each completion goes to one
 * of them.
 *
 * Errors: EAGAIN (none available); ENODEV (none available, and none will follow: the device is
 * gone).
 */
int krdma_ring_poll(struct krdma_ring *ring, struct krdma_cqe *cqes, size_t room,
		    size_t *taken);

/**
 * krdma_ring_wait() - Wait for completions and take them
 * @ring: the ring
 * @cqes: array for the completions
 * @room: number of elements of @cqes, at least 1
 * @least: number of completions to wait for, at most @room; 0 stands for 1
 * @deadline: how long to wait
 * @taken: receives the number of completions, fewer than @least if the deadline passes or a
 *	signal arrives
 *
 * Errors: ETIMEDOUT, EINTR (no completion arrived); EAGAIN (none available, and @deadline is
 * 0); ENODEV.
 */
int krdma_ring_wait(struct krdma_ring *ring, struct krdma_cqe *cqes, size_t room,
		    size_t least, uint64_t deadline, size_t *taken);

/* Maximum number of rings in one call of krdma_ring_wait_any(). */
#define KRDMA_WAIT_ANY_MAX	64

/**
 * krdma_ring_wait_any() - Wait until one of several rings has completions
 * @rings: the rings
 * @count: number of rings, at most KRDMA_WAIT_ANY_MAX
 * @deadline: how long to wait
 * @which: receives the index in @rings of the first ring that has completions
 *
 * Useful for a connection with a separate ring for receives: see krdma_conn_create_qp(). The
 * function takes no completions; another thread may take them before krdma_ring_poll() does. If
 * one of the rings is polled, all of them are: the thread polls until the deadline passes or a
 * signal arrives, and signal handlers run a few rounds later.
 *
 * Errors: ETIMEDOUT; EINTR; EAGAIN (no ring has completions, and @deadline is 0); ENODEV (the
 * device of *@which is gone; its ring has no completions and gets no more).
 */
int krdma_ring_wait_any(struct krdma_ring *const *rings, size_t count, uint64_t deadline,
			size_t *which);

/**
 * krdma_ring_enter() - Post work requests and wait for completions, in one call
 * @ring: the ring
 * @entries: the work requests, as for krdma_ring_post()
 * @count: number of entries, as for krdma_ring_post()
 * @accepted: receives the number of accepted entries; not NULL
 * @cqes: array for the completions, as for krdma_ring_wait()
 * @room: number of elements of @cqes, as for krdma_ring_wait()
 * @least: number of completions to wait for, as for krdma_ring_wait()
 * @deadline: how long to wait
 * @taken: receives the number of completions, as for krdma_ring_wait()
 *
 * Errors: as for krdma_ring_post(), in which case the function neither waits nor takes
 * completions. If *@accepted equals @count, the error is that of krdma_ring_wait(): continue
 * with that function.
 */
int krdma_ring_enter(struct krdma_ring *ring, const struct krdma_sqe *entries, size_t count,
		     size_t *accepted, struct krdma_cqe *cqes, size_t room, size_t least,
		     uint64_t deadline, size_t *taken);

/**
 * krdma_ring_query() - Query the attributes of a ring
 * @ring: the ring
 * @query: filled in
 * @size: sizeof(*query)
 *
 * Errors: EINVAL (a NULL pointer, or @size is smaller than the first version of the structure).
 */
int krdma_ring_query(struct krdma_ring *ring, struct krdma_ring_query_args *query, size_t size);

/**
 * krdma_ring_confine() - Restrict the memory regions that entries of a ring may name
 * @ring: the ring
 * @ids: the numbers of the memory regions, as from krdma_mr_id(); NULL if @count is 0
 * @count: number of @ids, at most KRDMA_CONFINE_MAX; 0: no memory region
 *
 * Use it for a ring that is passed to another process: otherwise its entries may name all
 * memory regions of the session. The restriction cannot be undone; a further call can only
 * remove numbers.
 *
 * Errors: E2BIG (too many numbers); ENOENT (a number is not a memory region of the ring's
 * session); EPERM (the ring is already confined, and not to all of these); EDQUOT (a memory
 * limit).
 */
int krdma_ring_confine(struct krdma_ring *ring, const uint32_t *ids, size_t count);

/*
 * Shared receive queues
 */

/**
 * krdma_srq_create() - Create a shared receive queue
 * @session: the session
 * @ring: the ring to which its receives are posted and in which they complete
 * @options: &struct krdma_srq_create_args with the depth; its descriptors are ignored
 * @srq: receives the SRQ
 *
 * Errors: EOPNOTSUPP (the device has no SRQs); EINVAL (no depth, more than the device supports,
 * or neither the ring nor @options name a device); ENOSPC (more completions than the ring has
 * free); EXDEV (a ring of another session or device); ENODEV (no such device); EDQUOT (a limit
 * of the user, see krdma_limit_refused()).
 */
int krdma_srq_create(struct krdma *session, struct krdma_ring *ring,
		     const struct krdma_srq_create_args *options, struct krdma_srq **srq);

/**
 * krdma_srq_post() - Post receives to a shared receive queue
 * @srq: the SRQ
 * @entries: entries with KRDMA_OP_RECV and the number of the SRQ
 * @count: number of entries, as for krdma_ring_post()
 * @accepted: receives the number of accepted entries, as for krdma_ring_post()
 *
 * Errors: as for krdma_ring_post().
 */
int krdma_srq_post(struct krdma_srq *srq, const struct krdma_sqe *entries, size_t count,
		   size_t *accepted);

/**
 * krdma_srq_query() - Query the attributes of a shared receive queue
 * @srq: the SRQ
 * @query: filled in
 * @size: sizeof(*query)
 *
 * Errors: EINVAL (a NULL pointer, or @size is smaller than the first version of the structure).
 */
int krdma_srq_query(struct krdma_srq *srq, struct krdma_srq_query_args *query, size_t size);

/**
 * krdma_srq_id() - Get the number of a shared receive queue, the destination of entries
 * @srq: the SRQ
 *
 * Return: the number, 0 if @srq is NULL.
 */
uint32_t krdma_srq_id(const struct krdma_srq *srq);

/*
 * File descriptors of the objects.
 *  - fd: the object still owns the descriptor; -EINVAL if the object is NULL.
 *  - open_fd: makes an object from a descriptor received from another process. On success the
 *    object owns the descriptor. ENOTTY: the descriptor is of another kind.
 *  - close: accepts NULL.
 */
int krdma_listener_fd(const struct krdma_listener *listener);
int krdma_listener_open_fd(int fd, struct krdma_listener **listener);
int krdma_listener_close(struct krdma_listener *listener);
int krdma_conn_fd(const struct krdma_conn *conn);
int krdma_conn_open_fd(int fd, struct krdma_conn **conn);
int krdma_conn_close(struct krdma_conn *conn);
int krdma_ring_fd(const struct krdma_ring *ring);
int krdma_ring_open_fd(int fd, struct krdma_ring **ring);
int krdma_ring_close(struct krdma_ring *ring);
int krdma_srq_fd(const struct krdma_srq *srq);
int krdma_srq_open_fd(int fd, struct krdma_srq **srq);
int krdma_srq_close(struct krdma_srq *srq);

/*
 * Memory regions
 */

/**
 * krdma_mr_register() - Register memory with a device
 * @session: the session
 * @device_id: the device number
 * @data: start of the memory
 * @length: length in bytes
 * @access: &enum krdma_access
 * @mr: receives the memory region
 *
 * Errors: those of KRDMA_MR_REGISTER, in particular ENOMEM and EPERM (more than
 * RLIMIT_MEMLOCK), EDQUOT (more than the user's limit), EACCES and EFAULT (not mapped, or not with
 * these rights), EINVAL (length 0, or a right to remote writes or atomics without
 * KRDMA_ACCESS_LOCAL_WRITE), ENODEV (no such device).
 */
int krdma_mr_register(struct krdma *session, uint32_t device_id, void *data, size_t length,
		      uint32_t access, struct krdma_mr **mr);

/**
 * krdma_mr_register_for_lanes() - Register memory that lanes can use, too
 * @session: the session
 * @device_id: the device number
 * @data: start of the memory
 * @length: length in bytes
 * @access: &enum krdma_access
 * @flags: 0 or KRDMA_MR_REGISTER_WINDOWS
 * @mr: receives the memory region
 *
 * It serves lanes and plain connections. krdma pins it itself, so it can have several rkeys: see
 * krdma_mr_rkey_at().
 *
 * With KRDMA_MR_REGISTER_WINDOWS, the devices of peers' hosts may write and read the memory over
 * lanes, which is as fast as over plain connections. Without it, the processors of both hosts do
 * that, and no other host gets a key of the device. With it, the kernel of the peer's host checks
 * what its programs access, and krdma_mr_deregister() waits until that host says that nothing is in
 * flight, for five seconds at most: then its lanes end. The end of a lane does not end the access:
 * deregister the memory before it is used for anything else.
 *
 * Errors: EOPNOTSUPP (the module has no lanes, or the device no fast registration; unknown flags);
 * those of krdma_mr_register().
 */
int krdma_mr_register_for_lanes(struct krdma *session, uint32_t device_id, void *data,
				size_t length, uint32_t access, uint32_t flags,
				struct krdma_mr **mr);

/**
 * krdma_mr_alloc() - Allocate zeroed memory and register it
 * @session: the session
 * @device_id: the device number
 * @length: length in bytes
 * @access: &enum krdma_access
 * @mr: receives the memory region
 *
 * The memory is backed by transparent huge pages if the system has them and the length fills at
 * least one. The function does not use the huge pages that an administrator reserved: to use
 * those, map them (MAP_HUGETLB) and register them. krdma_mr_deregister() unmaps the memory.
 *
 * Errors: ENOMEM (no address space or memory); those of krdma_mr_register().
 */
int krdma_mr_alloc(struct krdma *session, uint32_t device_id, size_t length,
		   uint32_t access, struct krdma_mr **mr);

/**
 * krdma_mr_alloc_for_lanes() - Allocate zeroed memory and register it for lanes, too
 * @session: the session
 * @device_id: the device number
 * @length: length in bytes
 * @access: &enum krdma_access
 * @flags: 0 or KRDMA_MR_REGISTER_WINDOWS
 * @mr: receives the memory region
 *
 * As krdma_mr_alloc(), registered by krdma_mr_register_for_lanes().
 *
 * Errors: ENOMEM (no address space or memory); those of krdma_mr_register_for_lanes().
 */
int krdma_mr_alloc_for_lanes(struct krdma *session, uint32_t device_id, size_t length,
			     uint32_t access, uint32_t flags, struct krdma_mr **mr);

/**
 * krdma_mr_deregister() - Deregister a memory region
 * @mr: the memory region, or NULL
 * @flags: &enum krdma_mr_deregister_flags
 *
 * When it has succeeded without KRDMA_DEREGISTER_LATER, no device and no peer can access the
 * memory.
 *
 * Errors: EBUSY (work requests that use it are in flight): @mr stays registered.
 */
int krdma_mr_deregister(struct krdma_mr *mr, uint32_t flags);

/*
 * Start and length of the registered memory; the number of the memory region for entries; the
 * rkey for peers (0: none or several, see krdma_mr_rkey_at()).
 */
void *krdma_mr_data(const struct krdma_mr *mr);
size_t krdma_mr_length(const struct krdma_mr *mr);
uint32_t krdma_mr_id(const struct krdma_mr *mr);
uint32_t krdma_mr_rkey(const struct krdma_mr *mr);

/**
 * krdma_mr_rkey_at() - Get the rkey that covers a position in a memory region
 * @mr: a memory region with remote access rights
 * @offset: the position, in bytes from the start
 * @key: receives the rkey
 * @reach: receives the number of bytes from @offset that the rkey covers
 *
 * A memory region usually has one rkey. It has several, each for a part of it, if krdma registers
 * it itself, for lanes or because the device's driver cannot be used for that, and if it is longer
 * than one fast registration of that device can cover (max_fast_reg_pages).
 *
 * Errors: ERANGE (outside the memory region); EACCES (no remote access rights).
 */
int krdma_mr_rkey_at(struct krdma_mr *mr, size_t offset, uint32_t *key,
		     size_t *reach);

/**
 * krdma_mr_advise() - Advise the kernel about the use of a memory region
 * @mr: the memory region
 * @advice: &enum krdma_advice
 * @offset: start of the range, in bytes
 * @length: length of the range, in bytes
 *
 * Errors: ERANGE (outside the memory region); EACCES (it lacks the right); EINVAL (unknown
 * advice).
 */
int krdma_mr_advise(struct krdma_mr *mr, uint32_t advice, size_t offset,
		    size_t length);

/**
 * krdma_mr_describe() - Write a memory descriptor for a peer
 * @mr: a memory region with remote access rights
 * @offset: start of the described range, in bytes
 * @length: its length in bytes; 0: to the end, or as far as one rkey covers
 * @descriptor: KRDMA_MR_DESC_SIZE bytes, to be sent in a message or as private data
 *
 * The rkey in the descriptor gives the peer access to the whole memory region, or to all that
 * this rkey covers if there are several: see krdma_mr_rkey_at().
 *
 * Errors: ERANGE (outside the memory region); EACCES (no remote access rights); EMSGSIZE (one
 * rkey does not cover the range).
 */
int krdma_mr_describe(struct krdma_mr *mr, size_t offset, size_t length,
		      void *descriptor);

/**
 * krdma_mr_set_name() - Give a memory region a name, by which peers of lanes find it
 * @mr: a memory region for lanes, with remote access rights
 * @name: at most KRDMA_NAME_MAX - 1 bytes; NULL or an empty string takes the name away
 *
 * The name is an offer to the peers of all lanes of the session, also of later ones: each of them
 * can access the memory, with the rights of the memory region. A new name replaces the last one.
 * The name ends with the memory region. Taking it away does not end the access of a peer that has
 * found the memory: krdma_mr_deregister() does.
 *
 * Errors: EINVAL (@mr is NULL, or @name is too long); EEXIST (another memory region of the session
 * and the device has the name); EACCES (not registered by krdma_mr_register_for_lanes() or
 * krdma_mr_alloc_for_lanes(), or no remote access rights); ENOENT (it is not registered any more);
 * ENODEV (its device is gone); ENOTTY (the module has no names); ENOMEM.
 */
int krdma_mr_set_name(struct krdma_mr *mr, const char *name);

/**
 * struct krdma_remote_mr - memory of a peer
 * @addr: start address in the peer's address space
 * @length: length in bytes
 * @key: the rkey
 * @access: &enum krdma_access, the remote access rights
 */
struct krdma_remote_mr {
	uint64_t addr;
	uint64_t length;
	uint32_t key;
	uint32_t access;
};

/**
 * krdma_remote_mr_from_desc() - Parse a memory descriptor from a peer
 * @descriptor: the received bytes; they need not be valid
 * @length: number of received bytes
 * @remote: receives the parsed descriptor
 *
 * Errors: EINVAL (not a memory descriptor); EPROTONOSUPPORT (another version).
 */
int krdma_remote_mr_from_desc(const void *descriptor, size_t length,
			      struct krdma_remote_mr *remote);

/**
 * krdma_conn_find_mr() - Find a memory region of the peer of a lane by its name
 * @conn: a lane that is connected
 * @name: the name from the peer's krdma_mr_set_name()
 * @offset: a position in the memory region, in bytes from its start
 * @deadline: how long to wait for the answer of the peer's kernel
 * @remote: receives address and rkey for @offset, and the number of bytes that the rkey covers
 *	from there
 * @length: receives the length of the whole memory region, or NULL
 *
 * The peer's kernel answers, and its program takes no part. If a memory region has several rkeys,
 * each takes a call: the next one covers the bytes from @offset plus the length in @remote on.
 *
 * Errors: EINVAL (a NULL pointer, or @name is empty or too long); ENOENT (no memory region has the
 * name in the session of the peer's end); ERANGE (the memory region ends before @offset);
 * EPROTONOSUPPORT (a plain connection); ENOTCONN (not connected, or no longer); EAGAIN (the peer
 * has no memory for the answer now); ETIMEDOUT (no answer by @deadline, or @deadline is 0); EINTR;
 * ENOTTY (the module has no names); ENOMEM.
 */
int krdma_conn_find_mr(struct krdma_conn *conn, const char *name, uint64_t offset,
		       uint64_t deadline, struct krdma_remote_mr *remote, uint64_t *length);

/**
 * krdma_mr_cache_create() - Create a cache of memory regions
 * @session: the session
 * @device_id: the device number
 * @access: &enum krdma_access of all memory regions in the cache
 * @limit: bytes that may stay registered while unused
 * @cache: receives the cache
 *
 * Without remote access rights the cache registers whole pages, so that adjacent buffers share
 * a memory region.
 *
 * Errors: EINVAL (a NULL pointer); ENOMEM.
 */
int krdma_mr_cache_create(struct krdma *session, uint32_t device_id, uint32_t access, size_t limit,
			  struct krdma_mr_cache **cache);

/**
 * krdma_mr_cache_get() - Get a memory region that contains a buffer
 * @cache: the cache
 * @data: start of the buffer
 * @length: length in bytes
 * @mr: receives the memory region; return it with krdma_mr_cache_put(), do not deregister it
 *
 * Errors: as for krdma_mr_register().
 */
int krdma_mr_cache_get(struct krdma_mr_cache *cache, void *data, size_t length,
		       struct krdma_mr **mr);

/**
 * krdma_mr_cache_put() - Return a memory region to the cache
 * @cache: the cache
 * @mr: from krdma_mr_cache_get(), or NULL
 */
void krdma_mr_cache_put(struct krdma_mr_cache *cache, struct krdma_mr *mr);

/**
 * krdma_mr_cache_forget() - Drop the memory regions of an address range
 * @cache: the cache
 * @data: start of the range
 * @length: length in bytes
 *
 * Call it before memory that may be in the cache is unmapped or freed: a memory region refers
 * to the pages, not to the addresses. A memory region that is in use is dropped when it is put
 * back.
 */
void krdma_mr_cache_forget(struct krdma_mr_cache *cache, const void *data, size_t length);

/**
 * krdma_mr_cache_destroy() - Destroy a cache and deregister its memory regions
 * @cache: the cache, with no memory region in use; or NULL
 */
void krdma_mr_cache_destroy(struct krdma_mr_cache *cache);

/*
 * Values as short lower-case names: "ib", "active", "ethernet", "atomic", "devices". Each
 * function takes one value, for capabilities and features one bit. For a value that this
 * version of the library does not know it returns "unknown", never NULL. The string is
 * constant.
 */
const char *krdma_transport_name(uint32_t transport);
const char *krdma_port_state_name(uint32_t state);
const char *krdma_link_layer_name(uint32_t link_layer);
const char *krdma_device_cap_name(uint64_t cap);
const char *krdma_feature_name(uint64_t feature);
const char *krdma_limit_name(uint32_t limit);
const char *krdma_limit_scope_name(uint32_t scope);
const char *krdma_access_name(uint32_t access);

/* The same, as phrases: "send with immediate", "remote access error", "connected". */
const char *krdma_opcode_name(uint32_t opcode);
const char *krdma_wc_status_name(uint32_t status);
const char *krdma_conn_state_name(uint32_t state);
const char *krdma_event_name(uint32_t type);
const char *krdma_device_event_name(uint32_t type);

/**
 * krdma_error_name() - Get the symbol of an error, such as "ECONNREFUSED"; "0" for 0
 * @error: a negative errno, or 0
 *
 * Return: a constant string; "unknown" if @error is not an errno. If the C library has no
 * symbols, its description of the error.
 */
const char *krdma_error_name(int error);

/**
 * krdma_version() - Get the version of the library, such as "0.2.0"
 */
const char *krdma_version(void);

#ifdef __cplusplus
}
#endif

#endif /* KRDMA_H */
