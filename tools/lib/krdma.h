/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma: RDMA through /dev/krdma, with nothing else linked in.
 *
 * A thin layer over the interface in <linux/krdma.h>, whose structures it
 * fills in as they are.
 *
 * Unless a function says otherwise:
 *  - it returns 0, or a negative errno that means what <linux/krdma.h> says;
 *  - any thread may call it at any time, also for the same object;
 *  - a signal does not interrupt it, unless it has a deadline: then it is EINTR
 *    after a handler without SA_RESTART, and can be repeated as it is;
 *  - a structure that is filled in comes with the size that the caller was
 *    compiled with.  The library clears the whole of it first, so that what an
 *    older module or library does not know reads as zero.  What it holds after an
 *    error is undefined;
 *  - a structure that is handed in begins with its own size, which the caller
 *    sets, and is cleared otherwise; NULL stands for one that is all zero.  A size
 *    above 512, as of one that was not set, is E2BIG;
 *  - what it gives through a pointer is untouched after an error.
 *
 * What is made must be closed or released, in any order but that memory is
 * released before its session is closed.  That must not happen while another thread
 * is in a call with it: krdma_conn_disconnect() and the like bring such calls back.
 *
 * fork(): a child has its parent's descriptors, and copies of these handles.  To close or to
 * release one in the child takes back what the child has of it: registrations,
 * connections and mappings of the parent's are as they were.  The ring of a queue is not
 * mapped in the child, so a queue can be used there only as krdma_ring_open_fd() gives
 * it, of a copy of the descriptor.
 *
 * Cancellation: calls wait in system calls that are cancellation points, some with a lock,
 * and give back nothing when a thread ends there.  A thread that may be cancelled disables
 * that while it is in a call (pthread_setcancelstate()), and is brought back by a signal, by a
 * deadline or by krdma_conn_disconnect().  Nothing here may be called by a handler of a
 * signal but krdma_deadline().
 *
 * A deadline is a moment of CLOCK_MONOTONIC in nanoseconds: krdma_deadline() makes
 * one; 0 does not wait, KRDMA_FOREVER waits for ever.
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

/* The device whose every opening is a session. */
#define KRDMA_DEVICE_PATH "/dev/krdma"

/* A session: one opening of the device, and what is made through it. */
struct krdma;
/* A listener, at which peers ask for connections. */
struct krdma_listener;
/* A connection, of any state. */
struct krdma_conn;
/* A queue: where operations are asked for and complete, for any number of connections. */
struct krdma_ring;
/* A shared receive queue: receives for any number of connections. */
struct krdma_srq;
/* Registered memory. */
struct krdma_mr;
/* Registrations that are kept for the next time. */
struct krdma_mr_cache;

/**
 * krdma_deadline() - a moment in the future
 * @ms: how far away
 *
 * Return: the deadline, never 0.
 */
uint64_t krdma_deadline(unsigned int ms);

/**
 * krdma_open() - open a session
 * @session: where to put it; untouched on an error
 *
 * The session's file descriptor is closed on exec.
 *
 * Errors: those of open(2) for KRDMA_DEVICE_PATH, above all ENOENT (the module
 * is not loaded) and EACCES (the caller may not use it); ENOTTY (what was
 * opened is not krdma); EPROTONOSUPPORT (the module speaks another version of
 * the interface); ENOMEM.
 */
int krdma_open(struct krdma **session);

/**
 * krdma_open_fd() - make a session of a file descriptor of the device
 * @fd: the descriptor, for example received from another process through a
 *	socket
 * @session: where to put the session; untouched on an error
 *
 * From then on @fd belongs to the session and krdma_close() closes it; after an
 * error it still belongs to the caller.  Its close-on-exec flag stays as it is.
 *
 * Errors: EBADF; ENOTTY (the descriptor is not krdma's); EPROTONOSUPPORT;
 * ENOMEM.
 */
int krdma_open_fd(int fd, struct krdma **session);

/**
 * krdma_close() - close a session and release everything made through it
 * @session: the session, or NULL, which does nothing
 *
 * The session must not be in use by another thread, or used ever again.  Other
 * copies of its descriptor (after a fork or a transfer) are not affected.
 *
 * Errors: none today; whatever it returns, the session is gone.
 */
int krdma_close(struct krdma *session);

/**
 * krdma_fd() - the file descriptor of a session
 * @session: the session
 *
 * It remains the session's: do not close it.
 *
 * Return: the descriptor, or -EINVAL if @session is NULL.
 */
int krdma_fd(const struct krdma *session);

/**
 * krdma_info_query() - what the module is and can do
 * @session: the session
 * @info: filled in
 * @size: sizeof(*info)
 */
int krdma_info_query(struct krdma *session, struct krdma_info_args *info, size_t size);

/**
 * krdma_limit_query() - a limit, and what counts against it
 * @session: the session
 * @limit: enum krdma_limit: from 0 on, until ENOENT
 * @query: filled in
 * @size: sizeof(*query)
 *
 * Errors: ENOENT (there is no such limit); ENOTTY (the module is too old).
 */
int krdma_limit_query(struct krdma *session, uint32_t limit, struct krdma_limit_query_args *query,
		      size_t size);

/**
 * krdma_limit_refused() - the limit that the last EDQUOT was about
 * @session: the session whose request was answered so
 * @query: filled in: the limit, and who had reached it
 * @size: sizeof(*query).  Errors: ENOENT (no request of the session was refused); ENOTTY.
 */
int krdma_limit_refused(struct krdma *session, struct krdma_limit_query_args *query, size_t size);

/**
 * krdma_device_query() - one RDMA device by its number
 * @session: the session
 * @id: the number, never 0
 * @device: filled in
 * @size: sizeof(*device)
 *
 * Errors: ENOENT (the session can see no such device).
 */
int krdma_device_query(struct krdma *session, uint32_t id, struct krdma_device_query_args *device,
		       size_t size);

/**
 * krdma_device_find() - one RDMA device by its name
 * @session: the session
 * @name: the name
 * @device: filled in
 * @size: sizeof(*device)
 *
 * Errors: ENOENT (the session can see no such device); EINVAL (an empty name);
 * ENAMETOOLONG (no device can have this name).
 */
int krdma_device_find(struct krdma *session, const char *name,
		      struct krdma_device_query_args *device,
		      size_t size);

/**
 * krdma_device_next() - walk through the RDMA devices
 * @session: the session
 * @after: the number of the device before; 0 to begin
 * @device: filled in with the device that has the next higher number
 * @size: sizeof(*device)
 *
 * Devices may come and go during the walk; each that stays is met once.
 *
 * Errors: ENOENT (there are no more).
 */
int krdma_device_next(struct krdma *session, uint32_t after, struct krdma_device_query_args *device,
		      size_t size);

/**
 * krdma_port_query() - one port of an RDMA device
 * @session: the session
 * @device_id: the device's number
 * @number: the port's number, from 1 to the device's port_count
 * @port: filled in
 * @size: sizeof(*port)
 *
 * Errors: ENOENT (no such device, or it has no such port).
 */
int krdma_port_query(struct krdma *session, uint32_t device_id, uint32_t number,
		     struct krdma_port_query_args *port, size_t size);

/**
 * krdma_device_by_address() - the RDMA device for an address
 * @session: the session
 * @local: one's own address, or NULL
 * @remote: the peer's, or NULL; not both
 * @deadline: how long to look for the way to @remote
 * @id: the device's number
 *
 * Errors: ENOENT (no device has the local address); EHOSTUNREACH (no way to the
 * remote one); EAFNOSUPPORT; EINVAL; ETIMEDOUT.
 */
int krdma_device_by_address(struct krdma *session, const struct sockaddr *local,
			    const struct sockaddr *remote, uint64_t deadline, uint32_t *id);

/**
 * krdma_device_notify() - be told of devices from now on
 * @session: the session, whose descriptor is readable when there is something
 *
 * First come those that are there.
 *
 * Errors: EALREADY (it was asked for before).
 */
int krdma_device_notify(struct krdma *session);

/**
 * krdma_device_next_event() - what has happened to a device
 * @session: the session, after krdma_device_notify()
 * @deadline: how long to wait for something
 * @record: what it was
 * @size: sizeof(*@record), so that it can grow
 *
 * Of several threads, one gets it.
 *
 * Errors: EINVAL (no room for the first version of it); EAGAIN (nothing, and @deadline
 * is 0); ETIMEDOUT.
 */
int krdma_device_next_event(struct krdma *session, uint64_t deadline,
			    struct krdma_device_record *record, size_t size);

/*
 * Listeners
 */

/**
 * krdma_listen() - wait for peers that want to connect
 * @session: the session
 * @address: where: an unspecified address: everywhere, port 0: at a free one
 * @flags: &enum krdma_listen_flags
 * @backlog: requests that may wait; 0: 128
 * @listener: where to put it
 *
 * Errors: those of KRDMA_LISTEN, above all EADDRINUSE, EADDRNOTAVAIL (not an
 * address of an RDMA device), EACCES (a privileged port).
 */
int krdma_listen(struct krdma *session, const struct sockaddr *address, uint32_t flags,
		 uint32_t backlog, struct krdma_listener **listener);

/**
 * krdma_listener_address() - where it listens, with the port that it got
 * @listener: the listener
 * @address: the address
 */
int krdma_listener_address(struct krdma_listener *listener, struct sockaddr_storage *address);

/**
 * krdma_listener_next() - the next peer that wants to connect
 * @listener: the listener
 * @deadline: how long to wait for one
 * @conn: the connection, to be prepared and accepted, or rejected, or closed.
 *	krdma_conn_query() and krdma_conn_private_data() tell of the peer.
 *
 * Of several threads, one gets it.
 *
 * Errors: EAGAIN (none, and @deadline is 0); ETIMEDOUT; ENODEV (the device is gone).
 */
int krdma_listener_next(struct krdma_listener *listener, uint64_t deadline,
			struct krdma_conn **conn);

/*
 * Connections
 */

/**
 * krdma_conn_create() - a connection to be made
 * @session: the session
 * @conn: where to put it
 */
int krdma_conn_create(struct krdma *session, struct krdma_conn **conn);

/**
 * krdma_conn_resolve() - begin to look for the way to a peer
 * @conn: the connection
 * @remote: the peer's address and port
 * @options: &struct krdma_conn_resolve_args, or NULL; its @remote is not looked at
 *
 * krdma_conn_wait() tells how it ended.
 */
int krdma_conn_resolve(struct krdma_conn *conn, const struct sockaddr *remote,
		       const struct krdma_conn_resolve_args *options);

/**
 * krdma_conn_create_qp() - what a connection works with
 * @conn: resolved, or asked for by a peer
 * @ring: where operations are asked for and complete
 * @recv_ring: where receives are and do; NULL: likewise
 * @srq: where receives come from; NULL: it has its own
 * @options: &struct krdma_conn_create_qp_args, or NULL; its descriptors and the flags for
 *	them are not looked at
 *
 * From here on receives can be posted; do so before it is connected.
 * krdma_conn_query() tells what was granted.
 *
 * Errors: those of KRDMA_CONN_CREATE_QP, above all ENOSPC (the queue has no room
 * left) and EINVAL (more than the device can).
 */
int krdma_conn_create_qp(struct krdma_conn *conn, struct krdma_ring *ring,
			 struct krdma_ring *recv_ring, struct krdma_srq *srq,
			 const struct krdma_conn_create_qp_args *options);

/**
 * krdma_conn_connect() - ask the peer
 * @conn: resolved and prepared
 * @terms: &struct krdma_conn_param_args, or NULL; its private data are not looked at
 * @data: private data for the peer
 * @length: of @data
 *
 * krdma_conn_wait() tells what it answered.
 *
 * Errors: EMSGSIZE (more private data than the transport takes); EINVAL.
 */
int krdma_conn_connect(struct krdma_conn *conn, const struct krdma_conn_param_args *terms,
		       const void *data, size_t length);

/**
 * krdma_conn_accept() - let the peer in
 * @conn: asked for by a peer, and prepared
 * @terms, @data, @length: as of krdma_conn_connect()
 *
 * krdma_conn_wait() tells when it is connected.  Of several threads, one wins.
 */
int krdma_conn_accept(struct krdma_conn *conn, const struct krdma_conn_param_args *terms,
		      const void *data, size_t length);

/**
 * krdma_conn_reject() - do not let the peer in
 * @conn: asked for by a peer
 * @data: private data for the peer
 * @length: of @data
 */
int krdma_conn_reject(struct krdma_conn *conn, const void *data, size_t length);

/**
 * krdma_conn_disconnect() - end it
 * @conn: the connection
 * @flags: &enum krdma_disconnect_flags
 *
 * Errors: EALREADY (done before); ENOTCONN (it is not, or no longer, connected).
 */
int krdma_conn_disconnect(struct krdma_conn *conn, uint32_t flags);

/**
 * krdma_conn_wait() - until what was begun is done
 * @conn: the connection
 * @deadline: how long
 * @state: &enum krdma_conn_state, or NULL
 *
 * Succeeds when it is new, resolved, requested or connected.
 *
 * Errors: EINPROGRESS (not yet, and @deadline is 0); ETIMEDOUT; and if it is closed,
 * why: those of KRDMA_CONN_WAIT, above all ECONNREFUSED, EHOSTUNREACH, EPIPE, ECONNRESET.
 */
int krdma_conn_wait(struct krdma_conn *conn, uint64_t deadline, uint32_t *state);

/**
 * krdma_conn_await_closed() - until nothing is left of it
 * @conn: the connection
 * @deadline: how long
 *
 * Succeeds whatever the reason was.
 *
 * Errors: ETIMEDOUT (it is not closed); EINPROGRESS (likewise, @deadline is 0).
 */
int krdma_conn_await_closed(struct krdma_conn *conn, uint64_t deadline);

/**
 * krdma_conn_query() - how it is
 * @conn: the connection
 * @query: filled in, but for the private data
 * @size: sizeof(*query)
 */
int krdma_conn_query(struct krdma_conn *conn, struct krdma_conn_query_args *query, size_t size);

/**
 * krdma_conn_private_data() - what the peer has given with its request or answer
 * @conn: the connection
 * @data: where to put it
 * @length: how much room there is; then how much there are, which may be more
 */
int krdma_conn_private_data(struct krdma_conn *conn, void *data, size_t *length);

/**
 * krdma_conn_next_event() - what has happened to it
 * @conn: the connection, whose descriptor is readable when there is something
 * @deadline: how long to wait for something
 * @record: what it was
 * @size: sizeof(*@record), so that it can grow
 *
 * Of several threads, one gets it.
 *
 * Errors: EINVAL (no room for the first version of it); EAGAIN (nothing, and @deadline
 * is 0); ETIMEDOUT; ENODATA (the last one has been taken).
 */
int krdma_conn_next_event(struct krdma_conn *conn, uint64_t deadline,
			  struct krdma_event_record *record, size_t size);

/**
 * krdma_conn_id() - its number: what entries name it by
 * @conn: the connection
 *
 * Return: the number, 0 if @conn is NULL.
 */
uint32_t krdma_conn_id(const struct krdma_conn *conn);

/*
 * Queues.  <krdma_entry.h> makes entries.
 */

/**
 * krdma_ring_create() - where operations are asked for and complete
 * @session: the session
 * @options: &struct krdma_ring_create_args, or NULL
 * @ring: where to put it
 *
 * It takes part in one device: the one named, or that of its first connection.
 */
int krdma_ring_create(struct krdma *session, const struct krdma_ring_create_args *options,
		      struct krdma_ring **ring);

/**
 * krdma_ring_post() - ask for operations
 * @ring: the queue
 * @entries: what is to be done, in this order
 * @count: how many, one at least
 * @accepted: how many were accepted, also after an error; or NULL
 *
 * An array is a batch: one call, and as far as can be one word to the device.
 *
 * Errors: why the next one was refused, as <linux/krdma_ring.h> says, above all
 * EAGAIN (the connection's depth is used up: take completions) and ENOTCONN.
 *
 * On a queue that is polled nothing ends unless somebody asks, not even silent
 * operations: krdma_ring_poll() now and then gives their places back.
 */
int krdma_ring_post(struct krdma_ring *ring, const struct krdma_sqe *entries, size_t count,
		    size_t *accepted);

/**
 * krdma_ring_poll() - completions that are there
 * @ring: the queue
 * @cqes: room for them
 * @room: for how many, one at least
 * @taken: how many came, one at least
 *
 * Without a call of the kernel, unless completions wait in there.  Of several
 * threads, each completion comes to one.
 *
 * Errors: EAGAIN (none); ENODEV (none, and none will come: the device is gone).
 */
int krdma_ring_poll(struct krdma_ring *ring, struct krdma_cqe *cqes, size_t room,
		    size_t *taken);

/**
 * krdma_ring_wait() - completions, waiting for them
 * @ring: the queue
 * @cqes, @room: as of krdma_ring_poll()
 * @least: wait until so many have come, at most @room; 0 is as 1
 * @deadline: how long to wait
 * @taken: how many came, fewer than @least if the time is over or a signal came
 *
 * Errors: ETIMEDOUT, EINTR (none came); EAGAIN (none, and @deadline is 0); ENODEV.
 */
int krdma_ring_wait(struct krdma_ring *ring, struct krdma_cqe *cqes, size_t room,
		    size_t least, uint64_t deadline, size_t *taken);

/* So many queues at a time. */
#define KRDMA_WAIT_ANY_MAX	64

/**
 * krdma_ring_wait_any() - wait until one of several queues has completions
 * @rings: them
 * @count: how many, to KRDMA_WAIT_ANY_MAX
 * @deadline: how long to wait
 * @which: the place in @rings of the first one that has
 *
 * For a connection with a queue for receives, say: see krdma_conn_create_qp().  Takes
 * nothing; another thread may have when krdma_ring_poll() comes.  If one of them is
 * polled, so are all: the thread asks until the time is over or a signal has come, and
 * handlers of signals run a few rounds later.
 *
 * Errors: ETIMEDOUT; EINTR; EAGAIN (none has, and @deadline is 0); ENODEV (the device of
 * *@which is gone, and nothing is left or will come there).
 */
int krdma_ring_wait_any(struct krdma_ring *const *rings, size_t count, uint64_t deadline,
			size_t *which);

/**
 * krdma_ring_enter() - ask for operations and wait for completions, in one call
 * @ring: the queue
 * @entries, @count: as of krdma_ring_post()
 * @accepted: as of krdma_ring_post(), not NULL
 * @cqes, @room, @least, @deadline, @taken: as of krdma_ring_wait()
 *
 * Errors: as of krdma_ring_post(), then nothing was waited for or taken; with
 * *@accepted = @count, as of krdma_ring_wait(): go on with that.
 */
int krdma_ring_enter(struct krdma_ring *ring, const struct krdma_sqe *entries, size_t count,
		     size_t *accepted, struct krdma_cqe *cqes, size_t room, size_t least,
		     uint64_t deadline, size_t *taken);

/**
 * krdma_ring_query() - how it is
 * @ring: the queue
 * @query: filled in
 * @size: sizeof(*query)
 */
int krdma_ring_query(struct krdma_ring *ring, struct krdma_ring_query_args *query, size_t size);

/**
 * krdma_ring_confine() - which memory entries may name from here on
 * @ring: the queue
 * @ids: the numbers of the memory, as of krdma_mr_id(); NULL if @count is 0
 * @count: how many, to KRDMA_CONFINE_MAX; 0: none
 *
 * For a queue that is to be handed to another process: otherwise its entries may name
 * all memory of the session.  It cannot be undone; a further call can only take numbers
 * away.
 *
 * Errors: -E2BIG: too many; -ENOENT: one is no memory of the queue's session; -EPERM: the
 * queue is confined already, and not to all of these.
 */
int krdma_ring_confine(struct krdma_ring *ring, const uint32_t *ids, size_t count);

/*
 * Shared receive queues
 */

/**
 * krdma_srq_create() - receives for many connections
 * @session: the session
 * @ring: where they are asked for and complete
 * @options: &struct krdma_srq_create_args with the depth; its descriptors are not looked at
 * @srq: where to put it
 */
int krdma_srq_create(struct krdma *session, struct krdma_ring *ring,
		     const struct krdma_srq_create_args *options, struct krdma_srq **srq);

/**
 * krdma_srq_post() - ask for receives
 * @srq: the shared receive queue
 * @entries: KRDMA_OP_RECV with its number
 * @count, @accepted: as of krdma_ring_post()
 */
int krdma_srq_post(struct krdma_srq *srq, const struct krdma_sqe *entries, size_t count,
		   size_t *accepted);

/**
 * krdma_srq_query() - how it is
 * @srq: the shared receive queue
 * @query: filled in
 * @size: sizeof(*query)
 */
int krdma_srq_query(struct krdma_srq *srq, struct krdma_srq_query_args *query, size_t size);

/**
 * krdma_srq_id() - its number: what entries name it by
 * @srq: the shared receive queue
 *
 * Return: the number, 0 if @srq is NULL.
 */
uint32_t krdma_srq_id(const struct krdma_srq *srq);

/*
 * Descriptors of the kernel's.  fd: it remains the object's; -EINVAL if there is no
 * object.  open_fd: of one that was received from another process, from then on the
 * object's; ENOTTY: it is of something else.  close: also of NULL.
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
 * Memory
 */

/**
 * krdma_mr_register() - memory for a device to use
 * @session: the session
 * @device_id: which device
 * @data: where it begins
 * @length: bytes
 * @access: &enum krdma_access
 * @mr: where to put it
 *
 * Errors: those of KRDMA_MR_REGISTER, above all ENOMEM and EPERM (more than
 * RLIMIT_MEMLOCK), EDQUOT (more than the user's limit).
 */
int krdma_mr_register(struct krdma *session, uint32_t device_id, void *data, size_t length,
		      uint32_t access, struct krdma_mr **mr);

/**
 * krdma_mr_alloc() - new memory, zeroed and registered
 * @session, @device_id, @length, @access, @mr: as of krdma_mr_register()
 *
 * In transparent huge pages, where the system has them and it fills one.  Those that an
 * administrator has set aside are not taken: map some (MAP_HUGETLB) and register them.
 * krdma_mr_deregister() unmaps it.
 */
int krdma_mr_alloc(struct krdma *session, uint32_t device_id, size_t length,
		   uint32_t access, struct krdma_mr **mr);

/**
 * krdma_mr_deregister() - take it back
 * @mr: the memory, or NULL
 * @flags: &enum krdma_mr_deregister_flags
 *
 * Without KRDMA_DEREGISTER_LATER nobody reaches it any more.
 *
 * Errors: EBUSY (operations with it are under way): then @mr is what it was.
 */
int krdma_mr_deregister(struct krdma_mr *mr, uint32_t flags);

/*
 * What was registered, its number for entries, its key for peers (0: none, or several: see
 * krdma_mr_rkey_at()).
 */
void *krdma_mr_data(const struct krdma_mr *mr);
size_t krdma_mr_length(const struct krdma_mr *mr);
uint32_t krdma_mr_id(const struct krdma_mr *mr);
uint32_t krdma_mr_rkey(const struct krdma_mr *mr);

/**
 * krdma_mr_rkey_at() - the key that lets peers reach a place in it
 * @mr: registered with remote rights
 * @offset: the place, in bytes from its beginning
 * @key: the key
 * @reach: how many bytes it covers from there on
 *
 * There is one key for all of the memory, unless the kernel registers it itself, for a
 * device whose driver it cannot leave that to, and it is longer than one registration can
 * span there (max_fast_reg_pages).  Then it has several, each for a part of it.
 *
 * Errors: ERANGE (not in the memory); EACCES (without remote rights).
 */
int krdma_mr_rkey_at(struct krdma_mr *mr, size_t offset, uint32_t *key,
		     size_t *reach);

/**
 * krdma_mr_advise() - what it is needed for
 * @mr: the memory
 * @advice: &enum krdma_advice
 * @offset: where in it
 * @length: how much of it
 */
int krdma_mr_advise(struct krdma_mr *mr, uint32_t advice, size_t offset,
		    size_t length);

/**
 * krdma_mr_describe() - what to tell a peer of it
 * @mr: registered with remote rights
 * @offset: the part that is meant
 * @length: its length; 0: to the end, or as far as one key covers it
 * @descriptor: KRDMA_MR_DESC_SIZE bytes, for a message or private data
 *
 * The key in it lets the peer reach all of the memory, or all that it covers if there are
 * several: see krdma_mr_rkey_at().
 *
 * Errors: ERANGE (not in the memory); EACCES (without remote rights); EMSGSIZE (one key
 * does not cover it).
 */
int krdma_mr_describe(struct krdma_mr *mr, size_t offset, size_t length,
		      void *descriptor);

/**
 * struct krdma_remote_mr - memory of a peer's
 * @addr: its first address
 * @length: bytes
 * @key: its key
 * @access: &enum krdma_access, the remote rights
 */
struct krdma_remote_mr {
	uint64_t addr;
	uint64_t length;
	uint32_t key;
	uint32_t access;
};

/**
 * krdma_remote_mr_from_desc() - read a descriptor that a peer has sent
 * @descriptor: what it sent; anything may be there
 * @length: how much
 * @remote: what it says
 *
 * Errors: EINVAL (not a descriptor); EPROTONOSUPPORT (one of a later version).
 */
int krdma_remote_mr_from_desc(const void *descriptor, size_t length,
			      struct krdma_remote_mr *remote);

/**
 * krdma_mr_cache_create() - keep registrations for the next time
 * @session: the session
 * @device_id: on which device
 * @access: &enum krdma_access of all of them
 * @limit: bytes that may stay registered without being in use
 * @cache: where to put it
 *
 * Without remote rights, whole pages are registered, so that buffers next to each
 * other share a registration.
 */
int krdma_mr_cache_create(struct krdma *session, uint32_t device_id, uint32_t access, size_t limit,
			  struct krdma_mr_cache **cache);

/**
 * krdma_mr_cache_get() - registered memory that contains this
 * @cache: the cache
 * @data: where it begins
 * @length: bytes
 * @mr: the memory, not to be released but put back
 *
 * Errors: as of krdma_mr_register().
 */
int krdma_mr_cache_get(struct krdma_mr_cache *cache, void *data, size_t length,
		       struct krdma_mr **mr);

/**
 * krdma_mr_cache_put() - it is not needed now
 * @cache: the cache
 * @mr: of krdma_mr_cache_get(), or NULL
 */
void krdma_mr_cache_put(struct krdma_mr_cache *cache, struct krdma_mr *mr);

/**
 * krdma_mr_cache_forget() - these addresses will mean something else
 * @cache: the cache
 * @data: where they begin
 * @length: bytes
 *
 * To be called before memory that may be in the cache is unmapped or given back:
 * what stays registered are the pages, not the addresses.  What is in use there ends
 * when it is put back.
 */
void krdma_mr_cache_forget(struct krdma_mr_cache *cache, const void *data, size_t length);

/**
 * krdma_mr_cache_destroy() - release all of it
 * @cache: the cache, of which nothing is in use, or NULL
 */
void krdma_mr_cache_destroy(struct krdma_mr_cache *cache);

/*
 * Values as short lower-case names: "ib", "active", "ethernet", "atomic",
 * "devices".  They take one value, for capabilities and features one bit, and
 * answer "unknown" to what this version of the library does not know, never
 * NULL.  The text is constant.
 */
const char *krdma_transport_name(uint32_t transport);
const char *krdma_port_state_name(uint32_t state);
const char *krdma_link_layer_name(uint32_t link_layer);
const char *krdma_device_cap_name(uint64_t cap);
const char *krdma_feature_name(uint64_t feature);
const char *krdma_limit_name(uint32_t limit);
const char *krdma_limit_scope_name(uint32_t scope);
const char *krdma_access_name(uint32_t access);

/* Likewise, in words: "send with immediate", "remote access error", "connected". */
const char *krdma_opcode_name(uint32_t opcode);
const char *krdma_wc_status_name(uint32_t status);
const char *krdma_conn_state_name(uint32_t state);
const char *krdma_event_name(uint32_t type);
const char *krdma_device_event_name(uint32_t type);

/**
 * krdma_error_name() - a result as its symbol: "ECONNREFUSED"; 0 is "0"
 * @error: a negative errno, or 0
 *
 * Return: constant text, "unknown" if it is none.  In words, where the C library has
 * no symbols.
 */
const char *krdma_error_name(int error);

/**
 * krdma_version() - the version of the library, such as "0.1.0"
 */
const char *krdma_version(void);

#ifdef __cplusplus
}
#endif

#endif /* KRDMA_H */
