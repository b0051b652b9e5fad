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

/**
 * struct krdma_listener - where requests come in
 * @refs: the consumer's, one of the RDMA part's from its making to its end, one for
 *	each of the works that is queued, one for each connection that came in and
 *	has not ended
 * @session: whose
 * @memcg: the memory control group of the one who listens, which connections that wait to
 *	be taken are charged to; with a reference
 * @ready: the consumer's, or NULL
 * @notify: likewise; instead of @ready
 * @context: the consumer's
 * @backlog: how many requests may wait
 * @lock: protects what follows up to @wait.  Any context.
 * @wrs: connections that wait to be taken; each with a reference
 * @waiting: how many, and those that are just being made
 * @dead: the device is gone, or going
 * @moved: the address is on another interface or device than @cm_id knows
 * @closing: the consumer wants no more
 * @ended: and there is no more
 * @wait: for changes of any of these
 * @cm_lock: held around calls that use @cm_id, and while it is set or taken away.
 *	Never taken in a handler of the connection manager, whose own lock is
 *	inside it.
 * @cm_id: the connection manager's part; NULL after the end
 * @port: the port that @cm_id holds; uncharged at the end, by @work
 * @dev: the device that the address is bound to; NULL: all of them
 * @use: of @dev
 * @in_use: @use is registered
 * @local: the address
 * @v6only: IPv4 is left to others, if the address is any IPv6 one
 * @work: ends the RDMA part, or makes it anew where the address is now
 * @ready_work: tells the consumer
 * @told: it has told that all is over; for @ready_work alone
 * @closed: likewise
 */
struct krdma_listener {
	refcount_t refs;
	struct krdma_session *session;
	struct mem_cgroup *memcg;
	void (*ready)(struct krdma_listener *listener);
	void (*notify)(struct krdma_listener *listener);
	void *context;
	u32 backlog;

	spinlock_t lock;		/* see above */
	struct list_head wrs;
	u32 waiting;
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

	struct work_struct work;
	struct work_struct ready_work;
	bool told;
	struct completion closed;
};

/*
 * A connection comes to its end: it does not wait at its listener any more, if it
 * has one and still did.  After the end of its id, so that the handler that has
 * brought it is over.  Process context.
 */
void krdma_listener_forget(struct krdma_conn *conn);

#endif /* _KRDMA_LISTEN_H */
