/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lower half of a connection that has no QP of its own, such as a lane; and what it uses of
 * connections and listeners.
 */
#ifndef _KRDMA_LOWER_H
#define _KRDMA_LOWER_H

#include <linux/in6.h>

#include "core/private.h"

struct krdma_conn_lower;

/**
 * struct krdma_conn_lower_ops - what a connection calls instead of its QP and its cm_id
 * @resolve: the consumer asks for the resolution; under cm_lock, in state RESOLVING_ADDRESS.  If
 *	address and route are known already, sets &struct krdma_conn_lower.used, calls
 *	krdma_conn_set_path(), passes the input CM_ROUTE_RESOLVED, and returns true.  Otherwise
 *	returns false and changes nothing, and the connection manager resolves.  May sleep.
 * @resolved: address and route of the peer are resolved.  Decides whether the connection uses
 *	this lower half, sets &struct krdma_conn_lower.used if so, and then passes the input
 *	CM_ROUTE_RESOLVED, at once or later.  In a handler of the connection manager.
 * @create: create the queues; under cm_lock, in state RESOLVED or REQUESTED, once
 * @connect: send the request, and limit the time to its answer, with the input UNANSWERED; under
 *	cm_lock, in state CONNECTING.  With &struct krdma_conn_param.early, send work requests can
 *	be posted from then on.
 * @accept: send the answer; under cm_lock, in state ACCEPTING
 * @send: send what @connect and @accept have left, with @more, and @end, with
 *	&struct krdma_conn.ends_with_others; process context
 * @reject: send the answer; under cm_lock, in state CLOSING; it must copy the data
 * @open: send work requests can be posted; under state_lock
 * @close: nothing can be posted any more; under state_lock; also before @create
 * @end: the lower half begins to end, and tells the peer, without waiting for it.  Also if the
 *	connection does not use it.  By the thread or work item that ends the connection; may sleep.
 * @ended: after @end: completes everything that was posted, unless something still uses its
 *	memory.  Then it returns false, has krdma_conn_queue() called when that is over, and is
 *	called again by the work item.  Afterwards the lower half is not used any more.  By the
 *	same; may sleep.
 * @post_send: as krdma_conn_post_send(); -ENOTCONN: not open; -ENOMEM: see @prepare_post
 * @post_recv: as krdma_conn_post_recv(); -ENOTCONN: closed; -ENOMEM: see @prepare_post
 * @prepare_post: as krdma_conn_prepare_post(); may sleep
 * @find_mr: as krdma_conn_find_mr(), with a name that can be one; process context; sleeps
 * @query: fills in what describes the queues; any context
 * @free: frees the lower half, after @ended or if the connection never began; may sleep
 *
 * All but @resolve, @resolved, @end, @ended and @free are called only if the connection uses the
 * lower half.
 * Private data, at @data or of @param, are not longer than the transport carries.  @more: the
 * caller calls @send soon, so that what it asks for now goes together with what follows.
 */
struct krdma_conn_lower_ops {
	bool (*resolve)(struct krdma_conn_lower *lower, const struct krdma_route *route);
	void (*resolved)(struct krdma_conn_lower *lower);
	int (*create)(struct krdma_conn_lower *lower, const struct krdma_conn_attr *attr);
	int (*connect)(struct krdma_conn_lower *lower, const struct krdma_conn_param *param,
		       bool more);
	int (*accept)(struct krdma_conn_lower *lower, const void *data, u8 length, bool more);
	void (*send)(struct krdma_conn_lower *lower);
	int (*reject)(struct krdma_conn_lower *lower, const void *data, u8 length);
	void (*open)(struct krdma_conn_lower *lower);
	void (*close)(struct krdma_conn_lower *lower);
	void (*end)(struct krdma_conn_lower *lower);
	bool (*ended)(struct krdma_conn_lower *lower);
	int (*post_send)(struct krdma_conn_lower *lower, const struct krdma_send_wr *wrs,
			 int count);
	int (*post_recv)(struct krdma_conn_lower *lower, const struct krdma_recv_wr *wrs,
			 int count);
	int (*prepare_post)(struct krdma_conn_lower *lower);
	int (*find_mr)(struct krdma_conn_lower *lower, const char *name, u64 offset,
		       struct krdma_found_mr *found, u32 timeout_ms);
	void (*query)(struct krdma_conn_lower *lower, struct krdma_conn_info *info);
	void (*free)(struct krdma_conn_lower *lower);
};

/**
 * struct krdma_conn_lower - the lower half of a connection
 * @ops: what the connection calls
 * @used: the connection uses it, and has no QP; set once, before the state RESOLVED or REQUESTED
 * @pads: the transport pads private data; set before @used
 */
struct krdma_conn_lower {
	const struct krdma_conn_lower_ops *ops;
	bool used;
	bool pads;
};

struct krdma_conn;
struct krdma_pd;

/**
 * struct krdma_conn_path - what the resolution of address and route finds
 * @dev: the device
 * @local: the local address and port
 * @remote: the peer's address and port
 * @path_mtu: as in &struct krdma_conn
 */
struct krdma_conn_path {
	struct krdma_device *dev;
	struct sockaddr_in6 local;
	struct sockaddr_in6 remote;
	u32 path_mtu;
};

/**
 * struct krdma_conn_offer - a connection request that did not come by the connection manager
 * @dev: the device; the caller has a reference, or a use of it
 * @lower: lower half of the connection; it is its owner if krdma_listener_offer() succeeds
 * @attach: called when the connection exists and before any other code can know it
 * @local: address and port where the request arrived
 * @remote: address and port of the peer
 * @data: private data of the peer
 * @data_len: bytes of @data
 * @peer_serves: as in &struct krdma_conn
 * @peer_reads: as in &struct krdma_conn
 * @path_mtu: as in &struct krdma_conn
 */
struct krdma_conn_offer {
	struct krdma_device *dev;
	struct krdma_conn_lower *lower;
	void (*attach)(struct krdma_conn_lower *lower, struct krdma_conn *conn);
	struct sockaddr_in6 local;
	struct sockaddr_in6 remote;
	const void *data;
	u8 data_len;
	u8 peer_serves;
	u8 peer_reads;
	u32 path_mtu;
};

/**
 * struct krdma_lane_hooks - what listeners need of the room above
 * @listen: the listener takes lanes from now on; process context; may sleep
 * @unlisten: it does not any more; also if @listen has failed, and any number of times
 */
struct krdma_lane_hooks {
	int (*listen)(struct krdma_listener *listener);
	void (*unlisten)(struct krdma_listener *listener);
};

#endif /* _KRDMA_LOWER_H */
