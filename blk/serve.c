// SPDX-License-Identifier: GPL-2.0
/*
 * The connections of an export's clients.
 *
 * The server does nothing for a read or write of memory: clients do that by RDMA.  It executes
 * commands, see command.c.  Otherwise it only has to know which clients are connected, because an
 * rkey is valid as long as its connection exists:
 *
 * - A client that connects again may repeat a write whose outcome it does not know.  The first
 *   one could still be in flight and arrive last.  So the connection that is replaced is taken
 *   down first, and so are those of clients that must not return: see krdma_blk_conn_fence().  A
 *   connection that has left the export's list has no QP, nothing can arrive through it, and none
 *   of its commands is executed any more.
 * - A client that has died sends nothing.  So each connection is checked periodically, by a write
 *   of 0 bytes, and ends if there is no answer.  A client that has lost the server relies on
 *   that: it reports an error of a write when the write cannot arrive any more.  So no lock is
 *   taken for the check.
 *
 * Each connection request is answered by its own work item, so an answer that takes long delays
 * no other.  The number that is answered at a time is limited, with a lower limit for one address
 * and for one IPv6 network, so that no host takes the places of all.  An answer waits for the ends
 * of connections that were there before, and for no client that stays.
 *
 * Locks: exports_lock, then an export's clients_lock.  take_lock, then answers_lock.  An export's
 * windows_lock, then its clients_lock.  The end of a connection is a work item, too, which waits
 * for that of its answer.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/wait.h>
#include <linux/wait_bit.h>

#include <krdma/krdma.h>

#include "blk.h"
#include "client.h"
#include "command.h"
#include "export.h"
#include "listen.h"
#include "root.h"
#include "serve.h"

/* Each connection takes a QP and its queues, for any peer. */
#define KRDMA_BLK_CONNS_MAX		256
/* The most of these from one IPv6 network. */
#define KRDMA_BLK_CONNS_LINK		192

/*
 * Connection requests that are answered at a time.  Others wait in the listener's backlog.  More of
 * one address, or of one IPv6 network, are refused.
 */
#define KRDMA_BLK_ANSWERS_MAX		64
#define KRDMA_BLK_ANSWERS_EACH		16
#define KRDMA_BLK_ANSWERS_LINK		48

/* One interval until the next check, and one for its answer. */
#define KRDMA_BLK_LEASE_INTERVAL	msecs_to_jiffies(KRDMA_BLK_LEASE_MS / 2)

#define KRDMA_BLK_BUSY_WAIT		HZ

/* How long an answer waits for the ends of connections.  A client that returns waits longer. */
#define KRDMA_BLK_ENDS_WAIT		(8 * HZ)
/* For those that it replaces as a writer: as long as a client waits that attaches. */
#define KRDMA_BLK_REPLACED_WAIT		(60 * HZ)

/* After a pause: clients try again after up to 7 seconds. */
#define KRDMA_BLK_RETURN_WAIT		(20 * HZ)

/* Protects the list of exports. */
static DEFINE_MUTEX(exports_lock);
static LIST_HEAD(exports);

/* Held from taking a connection request until its work item is queued. */
static DEFINE_MUTEX(take_lock);

/* Protects the list of connections whose requests are being answered, and its length. */
static DEFINE_SPINLOCK(answers_lock);
static LIST_HEAD(answers);
static unsigned int answer_count;

/* Number of connections that have not been freed; woken when it becomes 0. */
static atomic_t conn_count = ATOMIC_INIT(0);

/*
 * Looking up an export
 */

static struct krdma_blk_export *krdma_blk_export_get(const char *name)
{
	struct krdma_blk_export *export, *found = NULL;

	mutex_lock(&exports_lock);
	list_for_each_entry(export, &exports, node) {
		if (!memcmp(export->name, name, KRDMA_BLK_NAME_MAX)) {
			found = export;
			WRITE_ONCE(found->users, found->users + 1);
			break;
		}
	}
	mutex_unlock(&exports_lock);
	return found;
}

static void krdma_blk_export_put(struct krdma_blk_export *export)
{
	if (!export)
		return;
	mutex_lock(&exports_lock);
	WRITE_ONCE(export->users, export->users - 1);
	wake_up_all(&export->idle);
	mutex_unlock(&exports_lock);
}

/*
 * Connections
 */

static void krdma_blk_conn_leave(struct krdma_blk_export_conn *conn)
{
	struct krdma_blk_export *export = conn->export;
	struct krdma_blk_client *client = conn->client;

	mutex_lock(&export->clients_lock);
	list_del(&conn->node);
	WRITE_ONCE(client->conn_count, client->conn_count - 1);
	client->seen = jiffies;
	krdma_blk_client_put(client);
	if (conn->window)
		WRITE_ONCE(conn->window->users, conn->window->users - 1);
	WRITE_ONCE(export->conn_count, export->conn_count - 1);
	wake_up_all(&export->idle);
	mutex_unlock(&export->clients_lock);
}

static void krdma_blk_conn_free(struct krdma_blk_export_conn *conn)
{
	bool stored = conn->commands.jobs && conn->commands.opcodes & 1 << KRDMA_BLK_WRITE;

	/* Before it leaves: nothing of the client may happen after that. */
	krdma_blk_commands_close(&conn->commands);
	if (conn->export)
		krdma_blk_conn_leave(conn);
	/* A client that has left believes that its data are stable; no other waits for that. */
	if (conn->left && stored)
		krdma_blk_store_flush(&conn->export->store);
	krdma_conn_put(conn->conn);
	kfree(krdma_blk_uncount(KRDMA_OBJECT_BLK_CONN, conn));
	if (atomic_dec_and_test(&conn_count))
		wake_up_var(&conn_count);
}

static void krdma_blk_conn_drain(struct work_struct *work)
{
	krdma_blk_conn_free(container_of(work, struct krdma_blk_export_conn, drain));
}

static void krdma_blk_conn_end(struct work_struct *work)
{
	struct krdma_blk_export_conn *conn = container_of(work, struct krdma_blk_export_conn, end);

	/* The context that took the request may not have queued @answer, nor set @conn, yet. */
	mutex_lock(&take_lock);
	mutex_unlock(&take_lock);
	flush_work(&conn->answer);
	cancel_delayed_work_sync(&conn->lease);
	/* The last event has been raised, so this only waits for that callback to return. */
	krdma_conn_close(conn->conn);
	/* A store that does not answer must not take the workers that answer other clients. */
	if (krdma_blk_commands_end(&conn->commands))
		queue_work(conn->export->drains, &conn->drain);
	else
		krdma_blk_conn_free(conn);
}

static void krdma_blk_conn_event(struct krdma_conn *krdma_conn, const struct krdma_event *event)
{
	struct krdma_blk_export_conn *conn = krdma_conn_context(krdma_conn);

	if (event->type == KRDMA_EVENT_CLOSED)
		queue_work(krdma_blk_export_workqueue, &conn->end);
}

/* The client leaves: it does not return, and does not keep others out. */
static void krdma_blk_conn_left(struct krdma_blk_export_conn *conn)
{
	WRITE_ONCE(conn->left, true);
	mutex_lock(&conn->export->clients_lock);
	if (!list_empty(&conn->client->node))
		krdma_blk_client_forget(conn->export, conn->client);
	mutex_unlock(&conn->export->clients_lock);
}

/* Windows are registered anew, and clients of the device return; 0: of every device. */
static void krdma_blk_export_spoil(struct krdma_blk_export *export, u32 device_id)
{
	struct krdma_blk_export_conn *conn;
	struct krdma_conn_info info;

	mutex_lock(&export->clients_lock);
	WRITE_ONCE(export->epoch, export->epoch + 1);
	list_for_each_entry(conn, &export->conns, node) {
		krdma_conn_query(conn->conn, &info);
		if (!device_id || info.device_id == device_id)
			krdma_conn_abort(conn->conn);
	}
	mutex_unlock(&export->clients_lock);
}

/*
 * A peer has sent a message that invalidates an rkey, and the device has done so.  It is not known
 * which rkeys a peer can name: rxe does not compare the PD, so it may be one of any export.
 */
static void krdma_blk_exports_spoil(u32 device_id)
{
	struct krdma_blk_export *export;

	mutex_lock(&exports_lock);
	/* One that is not in the list has no windows, or is about to close them. */
	list_for_each_entry(export, &exports, node)
		krdma_blk_export_spoil(export, device_id);
	mutex_unlock(&exports_lock);
}

static void krdma_blk_spoiled_work(struct work_struct *work)
{
	krdma_blk_exports_spoil(0);
}

static DECLARE_WORK(spoiled_work, krdma_blk_spoiled_work);

/**
 * krdma_blk_serve_spoiled() - Register the memory of all exports anew
 *
 * A server to which this host is connected may have invalidated any rkey.
 *
 * Context: any but NMI.
 */
void krdma_blk_serve_spoiled(void)
{
	pr_warn_ratelimited("krdma_blk: cannot keep export rkeys: a server has invalidated some\n");
	queue_work(krdma_blk_export_workqueue, &spoiled_work);
}

/* The client is not among those that return. */
static void krdma_blk_conn_spoils(struct krdma_blk_export_conn *conn)
{
	struct krdma_blk_export *export = conn->export;
	struct krdma_conn_info info;

	mutex_lock(&export->clients_lock);
	pr_warn_ratelimited("krdma_blk: cannot keep client %pISc of '%s': it invalidated memory\n",
			    &conn->client->from, config_item_name(&export->item));
	if (!list_empty(&conn->client->node))
		krdma_blk_client_forget(export, conn->client);
	krdma_conn_abort(conn->conn);
	mutex_unlock(&export->clients_lock);
	krdma_conn_query(conn->conn, &info);
	krdma_blk_exports_spoil(info.device_id);
}

/* The client had the connection when the check was posted, or later. */
static void krdma_blk_conn_checked(struct krdma_blk_export_conn *conn)
{
	WRITE_ONCE(conn->commands.expires, READ_ONCE(conn->asked_at) + KRDMA_BLK_LEASE_MS);
	WRITE_ONCE(conn->asked, false);
}

/* The end of the connection reports if a check or a reply has failed. */
static void krdma_blk_conn_complete(const struct krdma_wc *completion)
{
	struct krdma_blk_export_conn *conn = completion->context;

	if (completion->status)
		return;
	switch (completion->opcode) {
	case KRDMA_OP_RECV:
		/* A write to the export with immediate data: it is no message. */
		if (completion->flags & KRDMA_WC_WRITTEN)
			krdma_conn_abort(completion->conn);
		else if (completion->flags & KRDMA_WC_WITH_INVALIDATE)
			krdma_blk_conn_spoils(conn);
		else if (completion->length)
			krdma_blk_commands_arrived(&conn->commands, completion);
		else
			krdma_blk_conn_left(conn);
		break;
	case KRDMA_OP_WRITE:
		krdma_blk_conn_checked(conn);
		break;
	default:
		krdma_blk_commands_replied(&conn->commands);
		break;
	}
}

static const struct krdma_conn_ops krdma_blk_conn_ops = {
	.event = krdma_blk_conn_event,
	.complete = krdma_blk_conn_complete,
};

static void krdma_blk_conn_lease(struct work_struct *work)
{
	struct krdma_blk_export_conn *conn = container_of(to_delayed_work(work),
							  struct krdma_blk_export_conn, lease);
	static const struct krdma_send_wr nothing = { .opcode = KRDMA_OP_WRITE };
	unsigned long last = conn->asked_at;

	if (READ_ONCE(conn->asked)) {
		krdma_conn_abort(conn->conn);
		return;
	}
	WRITE_ONCE(conn->asked_at, krdma_blk_now());
	WRITE_ONCE(conn->asked, true);
	/*
	 * A connection that refuses the post is ending, or not established yet, because the
	 * client's last message was lost.  The client can write nevertheless, and go.
	 */
	if (krdma_conn_post_send(conn->conn, &nothing, 1) != 1) {
		WRITE_ONCE(conn->asked, false);
		conn->asked_at = last;
		if (time_after_eq(krdma_blk_now(), last + KRDMA_BLK_LEASE_MS)) {
			krdma_conn_abort(conn->conn);
			return;
		}
	}
	queue_delayed_work(krdma_blk_lease_workqueue, &conn->lease, KRDMA_BLK_LEASE_INTERVAL);
}

/*
 * Admission
 */

/*
 * Does @other have to be gone before @conn is accepted?  @is_older: it is behind @conn in the list.
 * One of a forgotten client can be newer: the client had returned, and was evicted then.  @until:
 * whose clients are forgotten after that number need not be gone, nor need those that only read.
 */
static bool krdma_blk_conn_replaces(const struct krdma_blk_export_conn *conn,
				    const struct krdma_blk_export_conn *other, bool is_older,
				    u64 until)
{
	if (other->client == conn->client)
		return is_older && other->queue == conn->queue;
	return list_empty(&other->client->node) && other->client->role == KRDMA_BLK_WRITES &&
	       other->client->forgotten <= until;
}

/*
 * Aborts these connections, and returns true if there are any.  A connection that has itself to be
 * gone waits for no other one, because that may be waiting for it.
 */
static bool krdma_blk_conn_abort_others(struct krdma_blk_export_conn *conn, u64 until)
{
	struct krdma_blk_export *export = conn->export;
	bool any = false, is_older = false;
	struct krdma_blk_export_conn *other;

	mutex_lock(&export->clients_lock);
	list_for_each_entry(other, &export->conns, node) {
		if (list_empty(&conn->client->node))
			break;
		if (krdma_blk_conn_replaces(conn, other, is_older, until)) {
			krdma_conn_abort(other->conn);
			any = true;
		}
		is_older |= other == conn;
	}
	mutex_unlock(&export->clients_lock);
	return any;
}

/*
 * Waits until they are gone, or @conn has ended.  Not for clients that are forgotten meanwhile, of
 * which a host could have one after the other: those that @conn replaces are forgotten before.  Nor
 * for a store longer than @patience: it can take any time, and the places of answers are those of
 * all exports.  The condition takes a mutex, so wait_event() cannot be used.  Returns the reason to
 * refuse @conn, or 0.
 */
static int krdma_blk_conn_fence(struct krdma_blk_export_conn *conn, unsigned long patience)
{
	u64 until = krdma_blk_client_forgets(conn->export);
	unsigned long deadline = jiffies + patience;
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct krdma_conn_info info = {};
	int reason = 0;

	add_wait_queue(&conn->export->idle, &wait);
	while (!reason && krdma_blk_conn_abort_others(conn, until)) {
		if (conn->export->store.file && time_after(jiffies, deadline)) {
			reason = KRDMA_BLK_BUSY;
			break;
		}
		/* The end of @conn wakes no thread. */
		wait_woken(&wait, TASK_UNINTERRUPTIBLE, HZ);
		krdma_conn_query(conn->conn, &info);
		/* As if it could not be accepted. */
		if (info.state > KRDMA_CONN_CONNECTED)
			reason = KRDMA_BLK_NO_MEMORY;
	}
	remove_wait_queue(&conn->export->idle, &wait);
	return reason;
}

/*
 * A client that is refused permanently fails its writes, so none of them may arrive after that.  It
 * was forgotten before it asked: another client may use its id from then on.  Returns the reason to
 * refuse it: if a store takes too long, one with which it asks again.
 */
static int krdma_blk_export_fence_client(struct krdma_blk_export *export, u64 id)
{
	u64 until = krdma_blk_client_forgets(export);
	unsigned long deadline = jiffies + KRDMA_BLK_ENDS_WAIT;
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int reason = KRDMA_BLK_FENCED;

	add_wait_queue(&export->idle, &wait);
	while (krdma_blk_client_abort_forgotten(export, id, until)) {
		if (export->store.file && time_after(jiffies, deadline)) {
			reason = KRDMA_BLK_BUSY;
			break;
		}
		wait_woken(&wait, TASK_UNINTERRUPTIBLE, HZ);
	}
	remove_wait_queue(&export->idle, &wait);
	return reason;
}

static struct krdma_blk_window *krdma_blk_find_window(struct krdma_blk_export *export,
						      enum krdma_blk_role role, u32 device_id)
{
	/* Before it is opened. */
	u32 epoch = READ_ONCE(export->epoch);
	struct krdma_blk_window *window, *next;

	lockdep_assert_held(&export->windows_lock);
	list_for_each_entry_safe(window, next, &export->windows[role], node) {
		if (window->epoch == epoch && window->device_id == device_id)
			return window;
		if (!READ_ONCE(window->users) &&
		    (window->epoch != epoch || krdma_blk_window_is_gone(window))) {
			list_del(&window->node);
			krdma_blk_window_close(window);
		}
	}
	window = krdma_blk_window_open(&export->memory, export->sessions[role], device_id,
				       role == KRDMA_BLK_READS);
	if (!IS_ERR(window)) {
		window->epoch = epoch;
		list_add(&window->node, &export->windows[role]);
	}
	return window;
}

/* Returns false if the window has to be registered anew. */
static bool krdma_blk_conn_use_window(struct krdma_blk_export_conn *conn,
				      struct krdma_blk_window *window)
{
	struct krdma_blk_export *export = conn->export;
	bool valid;

	mutex_lock(&export->clients_lock);
	valid = window->epoch == export->epoch;
	if (valid) {
		WRITE_ONCE(window->users, window->users + 1);
		conn->window = window;
	}
	mutex_unlock(&export->clients_lock);
	return valid;
}

static void krdma_blk_welcome_window(struct krdma_blk_welcome *welcome,
				     const struct krdma_blk_window *window)
{
	struct krdma_mr *table = window->chunks.table_mr;
	struct krdma_mr_rkey_range key = {};
	struct krdma_mr_info info;
	u64 part;

	welcome->chunk_size = cpu_to_le32(window->chunk_size);
	krdma_mr_query(table, &info);
	welcome->table_addr = cpu_to_le64(info.remote_addr);
	krdma_mr_rkey_at(table, 0, &key);
	welcome->table_key = cpu_to_le32(key.rkey);
	if (info.key_count == 1)
		return;
	/* The table begins with a page, so each of its keys but the last one covers as much. */
	part = key.length;
	welcome->more = cpu_to_le16(info.key_count - 1);
	welcome->table_part = cpu_to_le32(part);
	for (unsigned int i = 1; i < info.key_count; i++) {
		krdma_mr_rkey_at(table, i * part, &key);
		welcome->more_keys[i - 1] = cpu_to_le32(key.rkey);
	}
}

/* Returns the reason to refuse a client whose memory could not be registered. */
static int krdma_blk_window_reason(int error)
{
	return error == -EOPNOTSUPP ? KRDMA_BLK_NO_FABRIC : KRDMA_BLK_NO_MEMORY;
}

/* Sets address and rkey of the table.  Returns the reason to refuse the client, or 0. */
static int krdma_blk_conn_open_window(struct krdma_blk_export_conn *conn,
				      struct krdma_blk_welcome *welcome)
{
	struct krdma_blk_export *export = conn->export;
	struct krdma_blk_window *window;
	struct krdma_conn_info info;
	int reason = 0;

	/* Its slots have one of their own. */
	if (export->store.file)
		return 0;
	krdma_conn_query(conn->conn, &info);
	mutex_lock(&export->windows_lock);
	do {
		window = krdma_blk_find_window(export, conn->client->role, info.device_id);
	} while (!IS_ERR(window) && !krdma_blk_conn_use_window(conn, window));
	if (!IS_ERR(window))
		krdma_blk_welcome_window(welcome, window);
	else
		reason = krdma_blk_window_reason(PTR_ERR(window));
	mutex_unlock(&export->windows_lock);
	return reason;
}

/*
 * Offers commands to a client that knows them and may write; or, for a store, to all.  Returns the
 * reason to refuse the client, or 0.
 */
static int krdma_blk_conn_offer(struct krdma_blk_export_conn *conn, struct krdma_conn_attr *attr,
				struct krdma_blk_welcome *welcome)
{
	bool stored = conn->export->store.file;
	bool writes = conn->client->role == KRDMA_BLK_WRITES;
	int ret;

	if (!conn->wants_commands && stored)
		return KRDMA_BLK_OTHER_VERSION;
	if (!conn->wants_commands || (!writes && !stored))
		return 0;
	attr->send_depth += KRDMA_BLK_COMMANDS_MAX;
	attr->recv_depth = KRDMA_BLK_COMMAND_SLOTS;
	if (writes)
		welcome->flags |= KRDMA_BLK_OFFERS;
	ret = krdma_blk_commands_open(&conn->commands, conn->export, conn->client->role,
				      conn->conn);
	if (ret)
		return krdma_blk_window_reason(ret);
	if (stored) {
		welcome->flags |= KRDMA_BLK_STORED;
		welcome->slot_size = cpu_to_le32(KRDMA_BLK_SLOT_SIZE);
		krdma_blk_welcome_window(welcome, conn->commands.window);
	}
	return 0;
}

/* Posts the receives: all for commands, or one for the message with which the client leaves. */
static int krdma_blk_conn_post_recv(struct krdma_blk_export_conn *conn)
{
	static const struct krdma_recv_wr leave = {};

	if (conn->commands.messages)
		return krdma_blk_commands_start(&conn->commands);
	return krdma_conn_post_recv(conn->conn, &leave, 1) == 1 ? 0 : -ENOTCONN;
}

/* Waits until those that the client replaces are gone.  Returns the reason to refuse it, or 0. */
static int krdma_blk_conn_settle(struct krdma_blk_export_conn *conn)
{
	int reason;

	mutex_lock(&conn->export->clients_lock);
	reason = krdma_blk_client_settle(conn->export, conn->client);
	mutex_unlock(&conn->export->clients_lock);
	/* They have lost their places to it. */
	return reason ?: krdma_blk_conn_fence(conn, KRDMA_BLK_REPLACED_WAIT);
}

static int krdma_blk_conn_accept(struct krdma_blk_export_conn *conn,
				 const struct krdma_blk_nonces *nonces)
{
	struct krdma_blk_export *export = conn->export;
	struct krdma_conn_attr attr = {
		.send_depth = 4, .recv_depth = 1, .max_send_sge = 1,
		.session = export->sessions[conn->client->role],
	};
	struct krdma_blk_welcome welcome = {
		.magic = cpu_to_le32(KRDMA_BLK_MAGIC),
		.version = KRDMA_BLK_VERSION,
		.flags = conn->client->role == KRDMA_BLK_READS ? KRDMA_BLK_READ_ONLY : 0,
		.generation = cpu_to_le64(export->generation),
		.size = cpu_to_le64(export->size),
		.block_size = cpu_to_le32(export->block_size),
	};
	struct krdma_conn_param param = { .private_data = &welcome };
	int reason;

	reason = krdma_blk_conn_open_window(conn, &welcome) ?:
		 krdma_blk_conn_offer(conn, &attr, &welcome);
	if (reason)
		return reason;
	/* Clients of before there were several rkeys for the table know the short one. */
	param.private_data_len = welcome.more ? sizeof(welcome) : KRDMA_BLK_WELCOME_SHORT;
	if (export->secret.length)
		krdma_blk_prove_server(&export->secret, nonces, &welcome);
	if (krdma_conn_create_qp(conn->conn, &attr) || krdma_blk_conn_post_recv(conn))
		return KRDMA_BLK_NO_MEMORY;
	/* From here on what fails is the connection. */
	reason = krdma_blk_conn_settle(conn);
	if (reason)
		return reason;
	/* The client has nothing before it is accepted, which may have taken long. */
	conn->asked_at = krdma_blk_now();
	krdma_blk_commands_begin(&conn->commands, conn->asked_at + KRDMA_BLK_LEASE_MS);
	if (krdma_conn_accept(conn->conn, &param))
		return KRDMA_BLK_NO_MEMORY;
	atomic64_inc(&export->accepted);
	queue_delayed_work(krdma_blk_lease_workqueue, &conn->lease, KRDMA_BLK_LEASE_INTERVAL);
	return 0;
}

/* Is an obstacle about to go: a pause, or a connection that is ending? */
static bool krdma_blk_export_settles(struct krdma_blk_export *export)
{
	struct krdma_blk_export_conn *conn;
	struct krdma_conn_info info;

	lockdep_assert_held(&export->clients_lock);
	list_for_each_entry(conn, &export->conns, node) {
		krdma_conn_query(conn->conn, &info);
		if (info.state > KRDMA_CONN_CONNECTED)
			return true;
	}
	return export->paused;
}

static bool krdma_blk_export_is_full(struct krdma_blk_export *export,
				     const struct krdma_blk_export_conn *conn)
{
	struct krdma_blk_export_conn *other;
	unsigned int count = 0;

	lockdep_assert_held(&export->clients_lock);
	list_for_each_entry(other, &export->conns, node)
		count += krdma_blk_same_link(&other->from, &conn->from);
	return export->conn_count >= KRDMA_BLK_CONNS_MAX || count >= KRDMA_BLK_CONNS_LINK;
}

/*
 * Adds the connection to the export, or returns the reason to refuse it.  Sets @again if it is
 * worth trying again soon.
 */
static int krdma_blk_conn_try_join(struct krdma_blk_export_conn *conn,
				   struct krdma_blk_export *export,
				   const struct krdma_blk_hello *hello,
				   const struct sockaddr_storage *from, bool *again)
{
	int reason;

	mutex_lock(&export->clients_lock);
	if (export->closing)
		reason = KRDMA_BLK_REFUSED;
	else if (export->paused)
		reason = KRDMA_BLK_BUSY;
	else if (krdma_blk_export_is_full(export, conn))
		reason = KRDMA_BLK_FULL;
	else
		reason = krdma_blk_client_admit(export, hello, from, &conn->client);
	if (!reason) {
		conn->export = export;
		conn->queue = le16_to_cpu(hello->queue);
		conn->wants_commands = hello->flags & KRDMA_BLK_COMMANDS;
		list_add(&conn->node, &export->conns);
		WRITE_ONCE(export->conn_count, export->conn_count + 1);
	}
	*again = reason == KRDMA_BLK_BUSY && krdma_blk_export_settles(export);
	mutex_unlock(&export->clients_lock);
	return reason;
}

/* Waits for a client that has just disconnected, and for a pause, but for no client that stays. */
static int krdma_blk_conn_join(struct krdma_blk_export_conn *conn, struct krdma_blk_export *export,
			       const struct krdma_blk_hello *hello,
			       const struct sockaddr_storage *from)
{
	unsigned long deadline = jiffies + KRDMA_BLK_BUSY_WAIT;
	bool again;
	int reason;

	for (;;) {
		reason = krdma_blk_conn_try_join(conn, export, hello, from, &again);
		if (!again || time_after(jiffies, deadline))
			return reason;
		schedule_timeout_uninterruptible(KRDMA_BLK_BUSY_WAIT / 20);
	}
}

/*
 * Answering connection requests
 */

static bool krdma_blk_export_allows(const struct krdma_blk_export *export,
				    const struct sockaddr_storage *from)
{
	if (!export->allow.any && !export->allow.count)
		return export->secret.length;
	return krdma_blk_nets_have(&export->allow, from);
}

/* Returns the answer to a hello without a proof; 0: the export is open to this peer. */
static int krdma_blk_check_address(struct krdma_blk_export *export,
				   const struct krdma_blk_hello *hello,
				   const struct sockaddr_storage *from,
				   struct krdma_blk_refusal *refusal)
{
	bool allowed = export && krdma_blk_export_allows(export, from);

	if (allowed && !export->secret.length)
		return 0;
	if (export && !allowed)
		atomic64_inc(&export->refused_address);
	krdma_blk_challenge_create(hello, from, refusal->challenge);
	return KRDMA_BLK_CHALLENGE;
}

/*
 * An export that does not exist takes as much time, so that an unauthorized peer sees no
 * difference.
 */
static int krdma_blk_check_proof(struct krdma_blk_export *export,
				 const struct krdma_blk_hello *hello,
				 const struct sockaddr_storage *from,
				 struct krdma_blk_nonces *nonces)
{
	static const struct krdma_blk_secret none;
	bool challenged, knows, right;
	int reason;

	reason = krdma_blk_try_begin(from);
	if (reason) {
		if (export)
			atomic64_inc(&export->refused_other);
		return reason;
	}
	challenged = krdma_blk_challenged(hello, from, nonces);
	knows = krdma_blk_client_knows(export ? &export->secret : &none, nonces, hello);
	right = export && challenged && knows;
	krdma_blk_try_end(from, right);
	if (!right) {
		if (export)
			atomic64_inc(&export->refused_secret);
		return KRDMA_BLK_REFUSED;
	}
	if (!krdma_blk_export_allows(export, from)) {
		atomic64_inc(&export->refused_address);
		return KRDMA_BLK_REFUSED;
	}
	return 0;
}

static int krdma_blk_conn_check(struct krdma_blk_export *export,
				const struct krdma_blk_hello *hello,
				const struct sockaddr_storage *from,
				struct krdma_blk_nonces *nonces,
				struct krdma_blk_refusal *refusal)
{
	if (hello->flags & KRDMA_BLK_ANSWER)
		return krdma_blk_check_proof(export, hello, from, nonces);
	return krdma_blk_check_address(export, hello, from, refusal);
}

/* For clients that may use the export; unauthorized peers have been counted already. */
static void krdma_blk_count_refusal(struct krdma_blk_export *export, int reason)
{
	switch (reason) {
	case KRDMA_BLK_BUSY:
		atomic64_inc(&export->refused_busy);
		break;
	case KRDMA_BLK_FENCED:
		atomic64_inc(&export->refused_fenced);
		break;
	default:
		atomic64_inc(&export->refused_other);
		break;
	}
}

static void krdma_blk_conn_reject(struct krdma_blk_export_conn *conn,
				  const struct krdma_blk_refusal *refusal)
{
	if (krdma_conn_reject(conn->conn, refusal, sizeof(*refusal)))
		krdma_conn_abort(conn->conn);
}

/* A client of which no connection was accepted need not be able to return. */
static void krdma_blk_conn_undo(struct krdma_blk_export_conn *conn)
{
	struct krdma_blk_export *export = conn->export;

	mutex_lock(&export->clients_lock);
	if (!list_empty(&conn->client->node) && conn->client->conn_count == 1)
		krdma_blk_client_forget(export, conn->client);
	mutex_unlock(&export->clients_lock);
}

static int krdma_blk_read_hello(struct krdma_conn *conn, struct krdma_blk_hello *hello)
{
	if (krdma_conn_private_data(conn, hello, sizeof(*hello)) < (int)sizeof(*hello) ||
	    hello->magic != cpu_to_le32(KRDMA_BLK_MAGIC))
		return KRDMA_BLK_NOT_UNDERSTOOD;
	if (hello->version != KRDMA_BLK_VERSION || (hello->flags & ~KRDMA_BLK_HELLO_FLAGS))
		return KRDMA_BLK_OTHER_VERSION;
	return le16_to_cpu(hello->queue) < KRDMA_BLK_QUEUES_MAX ? 0 : KRDMA_BLK_NOT_UNDERSTOOD;
}

/* Whatever happens to the connection, its last event frees it. */
static void krdma_blk_conn_greet(struct krdma_blk_export_conn *conn)
{
	struct krdma_blk_refusal refusal = {
		.magic = cpu_to_le32(KRDMA_BLK_MAGIC), .version = KRDMA_BLK_VERSION,
	};
	struct krdma_blk_export *export = NULL;
	struct krdma_blk_nonces nonces = {};
	struct sockaddr_storage from;
	struct krdma_blk_hello hello;

	if (krdma_conn_addresses(conn->conn, NULL, &from)) {
		krdma_conn_abort(conn->conn);
		return;
	}
	refusal.reason = krdma_blk_read_hello(conn->conn, &hello);
	if (refusal.reason)
		goto reject;
	export = krdma_blk_export_get(hello.name);
	refusal.reason = krdma_blk_conn_check(export, &hello, &from, &nonces, &refusal);
	if (refusal.reason)
		goto reject;

	refusal.reason = krdma_blk_conn_join(conn, export, &hello, &from);
	if (!refusal.reason)
		refusal.reason = krdma_blk_conn_fence(conn, KRDMA_BLK_ENDS_WAIT) ?:
				 krdma_blk_conn_accept(conn, &nonces);
	if (!refusal.reason)
		goto out;
	if (refusal.reason == KRDMA_BLK_FENCED)
		refusal.reason = krdma_blk_export_fence_client(export, le64_to_cpu(hello.client));
	krdma_blk_count_refusal(export, refusal.reason);
reject:
	krdma_blk_conn_reject(conn, &refusal);
	if (conn->export && !(hello.flags & KRDMA_BLK_RETURN))
		krdma_blk_conn_undo(conn);
out:
	krdma_blk_export_put(export);
}

/* One host must not take the places of others, whether it may use an export or not. */
static void krdma_blk_conn_refuse(struct krdma_blk_export_conn *conn)
{
	static const struct krdma_blk_refusal refusal = {
		.magic = cpu_to_le32(KRDMA_BLK_MAGIC), .version = KRDMA_BLK_VERSION,
		.reason = KRDMA_BLK_FULL,
	};

	krdma_blk_conn_reject(conn, &refusal);
}

static void krdma_blk_conn_answer(struct work_struct *work)
{
	struct krdma_blk_export_conn *conn = container_of(work, struct krdma_blk_export_conn,
							  answer);
	bool was_full;

	if (conn->exceeds)
		krdma_blk_conn_refuse(conn);
	else
		krdma_blk_conn_greet(conn);
	spin_lock(&answers_lock);
	list_del(&conn->answering);
	was_full = answer_count-- == KRDMA_BLK_ANSWERS_MAX;
	spin_unlock(&answers_lock);
	if (was_full)
		krdma_blk_listen_schedule();
}

/* Adds it to those that are being answered. */
static void krdma_blk_conn_count_answer(struct krdma_blk_export_conn *conn)
{
	struct krdma_blk_export_conn *other;
	struct sockaddr_storage from = {};
	unsigned int own = 0, near = 0;

	krdma_conn_addresses(conn->conn, NULL, &from);
	krdma_blk_net_of(&from, &conn->from);
	spin_lock(&answers_lock);
	list_for_each_entry(other, &answers, answering) {
		own += krdma_blk_same_net(&other->from, &conn->from);
		near += krdma_blk_same_link(&other->from, &conn->from);
	}
	conn->exceeds = own >= KRDMA_BLK_ANSWERS_EACH || near >= KRDMA_BLK_ANSWERS_LINK;
	list_add(&conn->answering, &answers);
	answer_count++;
	spin_unlock(&answers_lock);
}

static int krdma_blk_serve_take(struct krdma_listener *listener)
{
	struct krdma_blk_export_conn *conn;

	lockdep_assert_held(&take_lock);

	if (READ_ONCE(answer_count) >= KRDMA_BLK_ANSWERS_MAX)
		return -EAGAIN;
	conn = krdma_blk_count(KRDMA_OBJECT_BLK_CONN, kzalloc_obj(*conn, GFP_KERNEL));
	if (!conn)
		return -ENOMEM;
	krdma_blk_commands_init(&conn->commands);
	INIT_DELAYED_WORK(&conn->lease, krdma_blk_conn_lease);
	INIT_WORK(&conn->answer, krdma_blk_conn_answer);
	INIT_WORK(&conn->end, krdma_blk_conn_end);
	INIT_WORK(&conn->drain, krdma_blk_conn_drain);
	/* The last event may come at once; its work item waits for this function. */
	conn->conn = krdma_listener_next(listener, &krdma_blk_conn_ops, conn, 0);
	if (IS_ERR(conn->conn)) {
		int ret = PTR_ERR(conn->conn);

		kfree(krdma_blk_uncount(KRDMA_OBJECT_BLK_CONN, conn));
		return ret;
	}
	atomic_inc(&conn_count);
	krdma_blk_conn_count_answer(conn);
	queue_work(krdma_blk_export_workqueue, &conn->answer);
	return 0;
}

static int krdma_blk_serve_requested(struct krdma_listener *listener)
{
	int ret;

	do {
		mutex_lock(&take_lock);
		ret = krdma_blk_serve_take(listener);
		mutex_unlock(&take_lock);
	} while (!ret);
	return ret;
}

static void krdma_blk_serve_wait(void)
{
	wait_var_event(&conn_count, !atomic_read(&conn_count));
}

static const struct krdma_blk_listen_ops krdma_blk_serve_ops = {
	.requested = krdma_blk_serve_requested,
	.wait = krdma_blk_serve_wait,
};

/*
 * Exports
 */

/**
 * krdma_blk_serve_init() - Initialize an export for krdma_blk_serve_begin()
 * @export: the export, new
 *
 * Context: any.
 */
void krdma_blk_serve_init(struct krdma_blk_export *export)
{
	INIT_LIST_HEAD(&export->node);
	mutex_init(&export->windows_lock);
	for (unsigned int role = 0; role < KRDMA_BLK_ROLES; role++)
		INIT_LIST_HEAD(&export->windows[role]);
	mutex_init(&export->clients_lock);
	INIT_LIST_HEAD(&export->clients);
	INIT_LIST_HEAD(&export->conns);
	init_waitqueue_head(&export->idle);
	spin_lock_init(&export->drain_lock);
	INIT_LIST_HEAD(&export->writing);
	INIT_LIST_HEAD(&export->draining);
}

/**
 * krdma_blk_serve_open() - Listen for clients of an export
 * @export: the export; the caller holds its lock
 *
 * All clients are refused until krdma_blk_serve_begin().
 *
 * Context: process context; may sleep.
 * Return: 0, and krdma_blk_serve_close() is to be called once; or an error of krdma_listen().
 */
int krdma_blk_serve_open(struct krdma_blk_export *export)
{
	lockdep_assert_held(&export->lock);
	return krdma_blk_listen_begin(&krdma_blk_serve_ops);
}

/**
 * krdma_blk_serve_begin() - Begin to admit clients
 * @export: the export, open, with its memory; the caller holds its lock
 *
 * Context: process context; may sleep.
 */
void krdma_blk_serve_begin(struct krdma_blk_export *export)
{
	mutex_lock(&exports_lock);
	export->closing = false;
	export->reserved_until = 0;
	list_add(&export->node, &exports);
	mutex_unlock(&exports_lock);
}

/* No client is connected. */
static void krdma_blk_export_close_windows(struct krdma_blk_export *export)
{
	struct krdma_blk_window *window, *next;

	mutex_lock(&export->windows_lock);
	for (unsigned int role = 0; role < KRDMA_BLK_ROLES; role++) {
		list_for_each_entry_safe(window, next, &export->windows[role], node) {
			list_del(&window->node);
			krdma_blk_window_close(window);
		}
	}
	mutex_unlock(&export->windows_lock);
}

/**
 * krdma_blk_serve_pause() - End all connections, so that the memory can change
 * @export: the export, enabled; the caller holds its lock
 *
 * The clients keep their records, and return after krdma_blk_serve_resume(): for them it is a lost
 * connection.  No peer can access the memory when this returns.
 *
 * Context: process context; sleeps, uninterruptibly, until the devices have destroyed the QPs, and
 * a store has ended what it had begun.
 */
void krdma_blk_serve_pause(struct krdma_blk_export *export)
{
	struct krdma_blk_export_conn *conn;

	mutex_lock(&export->clients_lock);
	export->paused = true;
	list_for_each_entry(conn, &export->conns, node)
		krdma_conn_abort(conn->conn);
	mutex_unlock(&export->clients_lock);
	while (!wait_event_timeout(export->idle, !READ_ONCE(export->conn_count),
				   KRDMA_BLK_LONG_WAIT))
		;
}

/**
 * krdma_blk_serve_resume() - Admit clients again
 * @export: the export, paused; the caller holds its lock
 *
 * For some time no other client can take the place of one that was connected.
 *
 * Context: process context.
 */
void krdma_blk_serve_resume(struct krdma_blk_export *export)
{
	mutex_lock(&export->clients_lock);
	export->paused = false;
	export->reserved_until = get_jiffies_64() + KRDMA_BLK_RETURN_WAIT;
	mutex_unlock(&export->clients_lock);
}

/* Stops admission, and begins to end the connections. */
static int krdma_blk_serve_stop(struct krdma_blk_export *export, bool force)
{
	struct krdma_blk_client *client, *next;
	int ret = 0;

	mutex_lock(&exports_lock);
	mutex_lock(&export->clients_lock);
	if (list_empty(&export->clients) || force) {
		list_del_init(&export->node);
		export->closing = true;
		list_for_each_entry_safe(client, next, &export->clients, node)
			krdma_blk_client_forget(export, client);
	} else {
		ret = -EBUSY;
	}
	mutex_unlock(&export->clients_lock);
	mutex_unlock(&exports_lock);
	return ret;
}

/**
 * krdma_blk_serve_end() - Stop admission, and end all connections
 * @export: the export; the caller holds its lock
 * @force: also if there are clients, connected or not, which lose their data
 *
 * No peer can access the memory when this has returned 0.  krdma_blk_serve_begin() can follow, or
 * krdma_blk_serve_close().
 *
 * Context: process context; sleeps, uninterruptibly, until the devices have destroyed the QPs, and
 * a store has ended what it had begun.
 * Return: 0; -EBUSY: there are clients, and nothing has changed.
 */
int krdma_blk_serve_end(struct krdma_blk_export *export, bool force)
{
	int ret;

	ret = krdma_blk_serve_stop(export, force);
	if (ret)
		return ret;
	while (!wait_event_timeout(export->idle, !READ_ONCE(export->users) &&
				   !READ_ONCE(export->conn_count), KRDMA_BLK_LONG_WAIT))
		;
	/* The last contexts may still be about to wake us. */
	mutex_lock(&exports_lock);
	mutex_lock(&export->clients_lock);
	mutex_unlock(&export->clients_lock);
	mutex_unlock(&exports_lock);
	krdma_blk_export_close_windows(export);
	return 0;
}

/**
 * krdma_blk_serve_close() - Stop listening for clients of an export
 * @export: the export, open, which admits no client; the caller holds its lock
 *
 * Context: process context; sleeps, uninterruptibly.
 */
void krdma_blk_serve_close(struct krdma_blk_export *export)
{
	lockdep_assert_held(&export->lock);
	krdma_blk_listen_end();
}
