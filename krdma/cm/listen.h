/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Listeners, as connections and tests see them.
 */
#ifndef _KRDMA_LISTEN_H
#define _KRDMA_LISTEN_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "core/private.h"
#include "core/resource.h"
#include "core/session.h"

struct mem_cgroup;
struct rdma_cm_id;
struct krdma_conn_offer;
struct krdma_lane_hooks;

/**
 * struct krdma_listener - a listener for connection requests
 * @refs: references: one of the consumer, one from the start of the listener to its end, one for
 *	each queued work item, and one for each connection that arrived and has not ended
 * @session: session of the consumer
 * @memcg: memory control group of the process that listens; connections that wait to be taken are
 *	charged to it; with a reference
 * @ready: callback to the consumer that may sleep, or NULL
 * @notify: callback to the consumer that must not sleep, instead of @ready; or NULL
 * @context: context of the consumer
 * @backlog: number of requests that may wait
 * @keepalive_ms: keepalive interval of connections that arrive here and ask for none; 0: that of
 *	the module's parameter
 * @request_timeout: how long a request may wait, in jiffies; 0: without limit
 * @lock: protects the members from here to @wait.  Any context.
 * @requests: connections that wait to be taken; each with a reference
 * @expired: number of requests that were rejected because they had waited too long
 * @waiting: number of connections in @requests and of those that are just being created
 * @creating: number of those that are just being created, whose consumer may be called
 * @dead: the device has been, or is being, removed
 * @moved: the address is on another interface or device than that of @cm_id
 * @closing: the consumer has closed the listener
 * @ended: the listener has been closed, and no more requests arrive
 * @wait: woken when any of these changes
 * @cm_lock: held around calls that use @cm_id, and while it is set or cleared.  Never taken in a
 *	handler of the connection manager, whose own lock is inside it.
 * @cm_id: the rdma_cm ID; NULL after the end
 * @port: the port that @cm_id holds; uncharged at the end, by @work
 * @dev: the device that the address is bound to; NULL: all devices
 * @use: registration as a user of @dev
 * @in_use: @use is registered
 * @local: the address
 * @v6only: leave IPv4 to other listeners if the address is the IPv6 wildcard
 * @lanes: it takes lanes
 * @lane_node: entry of the list of listeners that do, of krdma/lane/
 * @work: ends the listener, or restarts it where the address is now
 * @ready_work: calls the consumer
 * @expire_work: rejects requests that have waited too long; queued with a reference whenever one
 *	waits and @request_timeout is not 0
 * @completed: @closed has been completed; for @ready_work alone
 * @closed: completed when the listener has ended and the consumer is not called any more
 */
struct krdma_listener {
	refcount_t refs;
	struct krdma_session *session;
	struct mem_cgroup *memcg;
	void (*ready)(struct krdma_listener *listener);
	void (*notify)(struct krdma_listener *listener);
	void *context;
	u32 backlog;
	u32 keepalive_ms;
	unsigned long request_timeout;

	spinlock_t lock;		/* see above */
	struct list_head requests;
	u64 expired;
	u32 waiting;
	u32 creating;
	bool dead;
	bool moved;
	bool closing;
	bool ended;
	wait_queue_head_t wait;

	struct mutex cm_lock;		/* see above */
	struct rdma_cm_id *cm_id;
	struct krdma_charged_port port;
	struct krdma_device *dev;
	struct krdma_use use;
	bool in_use;
	struct sockaddr_storage local;
	bool v6only;
	bool lanes;
	struct list_head lane_node;

	struct work_struct work;
	struct work_struct ready_work;
	struct delayed_work expire_work;
	bool completed;
	struct completion closed;
};

/*
 * Detaches a connection that ends from its listener, if it has one, and from the list of waiting
 * connections.  Called after its ID is destroyed, so that the handler that created it has
 * returned.  Process context.
 */
void krdma_listener_forget(struct krdma_conn *conn);

int krdma_listener_offer(struct krdma_listener *listener, const struct krdma_conn_offer *offer);

/* Called once, before there is a listener. */
void krdma_listener_set_lane_hooks(const struct krdma_lane_hooks *hooks);

#endif /* _KRDMA_LISTEN_H */
