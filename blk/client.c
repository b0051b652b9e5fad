// SPDX-License-Identifier: GPL-2.0
/*
 * The clients of an export: admission and return.
 *
 * A client holds its writes when it loses the server, and repeats them when it is connected
 * again.  So the server must know whether that is still allowed.  It keeps a record of each
 * client that may return; a client without a record is refused permanently, and its device is
 * dead.  A record is removed
 *
 * - when the client sends that it leaves;
 * - when another client is accepted that writes, or that is exclusive;
 * - when an administrator evicts the client;
 * - when the export is disabled;
 * - when there are too many records: then that of the client that has been disconnected longest.
 *
 * A client that has been admitted need not be accepted: memory or the device can be missing.  So it
 * replaces no other one before nothing but the acceptance itself can fail: see
 * krdma_blk_client_settle().  A client that it would have replaced can return until then.
 *
 * A record that is removed too early makes a client's device unusable, but loses no data of
 * others.
 *
 * Connections of forgotten clients are taken down, and none of a client that was forgotten before
 * a connection, or for it, is left when that is accepted: see krdma_blk_conn_fence().
 */
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/wait.h>

#include <krdma/krdma.h>

#include "blk.h"
#include "client.h"
#include "export.h"

/* With one line each, they fit into one page of configfs. */
#define KRDMA_BLK_CLIENTS_MAX		48

/* Maximum for one address, and for one IPv6 network, so that some are left for others. */
#define KRDMA_BLK_CLIENTS_EACH		8
#define KRDMA_BLK_CLIENTS_LINK		36

/**
 * krdma_blk_client_find() - Find the record of a client
 * @export: the export; the caller holds its clients_lock
 * @id: the client's number
 *
 * Context: process context.
 * Return: the record, or NULL.
 */
struct krdma_blk_client *krdma_blk_client_find(struct krdma_blk_export *export, u64 id)
{
	struct krdma_blk_client *client;

	lockdep_assert_held(&export->clients_lock);
	list_for_each_entry(client, &export->clients, node) {
		if (client->id == id)
			return client;
	}
	return NULL;
}

/**
 * krdma_blk_client_put() - Drop a reference to a client
 * @client: the client; the caller holds its export's clients_lock
 *
 * Context: process context.
 */
void krdma_blk_client_put(struct krdma_blk_client *client)
{
	if (!--client->refs)
		kfree(krdma_blk_uncount(KRDMA_OBJECT_BLK_CLIENT, client));
}

/* Begins to end a client's connections. */
static void krdma_blk_client_disconnect(struct krdma_blk_export *export,
					const struct krdma_blk_client *client)
{
	struct krdma_blk_export_conn *conn;

	lockdep_assert_held(&export->clients_lock);
	list_for_each_entry(conn, &export->conns, node) {
		if (conn->client == client)
			/* Abort, in order not to wait for a peer that is gone. */
			krdma_conn_abort(conn->conn);
	}
}

/**
 * krdma_blk_client_forget() - Remove the record of a client, so that it cannot return
 * @export: the export; the caller holds its clients_lock
 * @client: the client, with a record
 *
 * Its connections begin to end.
 *
 * Context: process context.
 */
void krdma_blk_client_forget(struct krdma_blk_export *export, struct krdma_blk_client *client)
{
	lockdep_assert_held(&export->clients_lock);
	krdma_blk_client_disconnect(export, client);
	list_del_init(&client->node);
	client->forgotten = ++export->forgets;
	export->client_count--;
	krdma_blk_client_put(client);
	/* Its connections that wait for others need not any more. */
	wake_up_all(&export->idle);
}

/**
 * krdma_blk_client_forgets() - Get the number of clients that have been forgotten
 * @export: the export
 *
 * Context: process context; may sleep.
 * Return: the number.
 */
u64 krdma_blk_client_forgets(struct krdma_blk_export *export)
{
	u64 forgets;

	mutex_lock(&export->clients_lock);
	forgets = export->forgets;
	mutex_unlock(&export->clients_lock);
	return forgets;
}

/**
 * krdma_blk_client_abort_forgotten() - Abort the connections of a client that must not return
 * @export: the export
 * @id: the client's number
 * @until: connections of one with that number that was forgotten later do not count
 *
 * &struct krdma_blk_export.idle is woken when there is one less.
 *
 * Context: process context; may sleep.
 * Return: true if there are any.
 */
bool krdma_blk_client_abort_forgotten(struct krdma_blk_export *export, u64 id, u64 until)
{
	struct krdma_blk_export_conn *conn;
	bool any = false;

	mutex_lock(&export->clients_lock);
	list_for_each_entry(conn, &export->conns, node) {
		if (conn->client->id == id && list_empty(&conn->client->node) &&
		    conn->client->forgotten <= until) {
			krdma_conn_abort(conn->conn);
			any = true;
		}
	}
	mutex_unlock(&export->clients_lock);
	return any;
}

/* Is the client connected, or will it be, after a pause? */
static bool krdma_blk_client_is_here(const struct krdma_blk_export *export,
				     const struct krdma_blk_client *client)
{
	return client->conn_count || time_before64(get_jiffies_64(), export->reserved_until);
}

/*
 * Can a client with this role be admitted together with those that are connected, except @self?
 */
static bool krdma_blk_client_fits(struct krdma_blk_export *export, enum krdma_blk_role role,
				  const struct krdma_blk_client *self)
{
	struct krdma_blk_client *other;

	list_for_each_entry(other, &export->clients, node) {
		if (other == self || !krdma_blk_client_is_here(export, other))
			continue;
		if (export->exclusive)
			return false;
		if (!export->shared && role == KRDMA_BLK_WRITES && other->role == KRDMA_BLK_WRITES)
			return false;
	}
	return true;
}

/* Forgets disconnected clients whose writes must not arrive after the new one's. */
static void krdma_blk_clients_fence(struct krdma_blk_export *export,
				    const struct krdma_blk_client *self)
{
	struct krdma_blk_client *other, *next;

	list_for_each_entry_safe(other, next, &export->clients, node) {
		bool both = self->role == KRDMA_BLK_WRITES && other->role == KRDMA_BLK_WRITES;

		if (other != self && (export->exclusive || (!export->shared && both)))
			krdma_blk_client_forget(export, other);
	}
}

/*
 * Frees a record for a new client that has one: an address, or an IPv6 network, that has used its
 * share loses one of its own.
 */
static bool krdma_blk_clients_free_record(struct krdma_blk_export *export,
					  const struct krdma_blk_client *self)
{
	struct krdma_blk_client *client, *own = NULL, *near = NULL, *oldest = NULL;
	unsigned int count = 0, near_count = 0;
	struct krdma_blk_net net, other;

	krdma_blk_net_of(&self->from, &net);
	list_for_each_entry(client, &export->clients, node) {
		bool is_own, is_near;

		if (client == self)
			continue;
		krdma_blk_net_of(&client->from, &other);
		is_own = krdma_blk_same_net(&net, &other);
		is_near = krdma_blk_same_link(&net, &other);
		count += is_own;
		near_count += is_near;
		if (krdma_blk_client_is_here(export, client))
			continue;
		if (!oldest || time_before(client->seen, oldest->seen))
			oldest = client;
		if (is_own && (!own || time_before(client->seen, own->seen)))
			own = client;
		if (is_near && (!near || time_before(client->seen, near->seen)))
			near = client;
	}
	if (count >= KRDMA_BLK_CLIENTS_EACH)
		oldest = own;
	else if (near_count >= KRDMA_BLK_CLIENTS_LINK)
		oldest = near;
	else if (export->client_count <= KRDMA_BLK_CLIENTS_MAX)
		return true;
	if (!oldest)
		return false;
	krdma_blk_client_forget(export, oldest);
	return true;
}

static int krdma_blk_client_new(struct krdma_blk_export *export, u64 id, enum krdma_blk_role role,
				struct krdma_blk_client **result)
{
	struct krdma_blk_client *client;

	if (!krdma_blk_client_fits(export, role, NULL))
		return KRDMA_BLK_BUSY;
	client = krdma_blk_count(KRDMA_OBJECT_BLK_CLIENT, kzalloc_obj(*client, GFP_KERNEL));
	if (!client)
		return KRDMA_BLK_NO_MEMORY;
	client->refs = 1;
	client->id = id;
	client->role = role;
	list_add_tail(&client->node, &export->clients);
	export->client_count++;
	*result = client;
	return 0;
}

/**
 * krdma_blk_client_admit() - Admit a client, or find its record
 * @export: the export; the caller holds its clients_lock
 * @hello: hello of the peer, which may use the export
 * @from: address of the peer
 * @client: set, unless it is refused, with a reference for a connection
 *
 * No other client is forgotten for it before krdma_blk_client_settle().
 *
 * Context: process context; may sleep.
 * Return: the reason to refuse it, or 0.
 */
int krdma_blk_client_admit(struct krdma_blk_export *export, const struct krdma_blk_hello *hello,
			   const struct sockaddr_storage *from, struct krdma_blk_client **client)
{
	enum krdma_blk_role role = KRDMA_BLK_WRITES;
	u64 id = le64_to_cpu(hello->client);
	int reason;

	lockdep_assert_held(&export->clients_lock);

	if (export->read_only || (hello->flags & KRDMA_BLK_READER))
		role = KRDMA_BLK_READS;
	*client = krdma_blk_client_find(export, id);
	if (*client && (*client)->role != role)
		return KRDMA_BLK_NOT_UNDERSTOOD;
	if (!*client && (hello->flags & KRDMA_BLK_RETURN))
		return KRDMA_BLK_FENCED;
	if (!*client) {
		reason = krdma_blk_client_new(export, id, role, client);
		if (reason)
			return reason;
	}
	(*client)->refs++;
	(*client)->conn_count++;
	(*client)->from = *from;
	(*client)->seen = jiffies;
	return 0;
}

/**
 * krdma_blk_client_settle() - Forget the clients that an admitted one replaces
 * @export: the export; the caller holds its clients_lock
 * @client: the client, with a connection that is about to be accepted
 *
 * Context: process context.
 * Return: the reason to refuse it, or 0; 0 also if that was done for an earlier connection.
 */
int krdma_blk_client_settle(struct krdma_blk_export *export, struct krdma_blk_client *client)
{
	lockdep_assert_held(&export->clients_lock);

	/* It was forgotten meanwhile, and its connections are ending. */
	if (list_empty(&client->node))
		return KRDMA_BLK_REFUSED;
	if (client->settled)
		return 0;
	/* One that was disconnected may have returned meanwhile. */
	if (!krdma_blk_client_fits(export, client->role, client))
		return KRDMA_BLK_BUSY;
	if (!krdma_blk_clients_free_record(export, client))
		return KRDMA_BLK_FULL;
	krdma_blk_clients_fence(export, client);
	client->settled = true;
	return 0;
}

/**
 * krdma_blk_clients_show() - Show all clients of an export
 * @export: the export
 * @page: filled in with number, role, connections and address, one line for each client
 *
 * Context: process context; may sleep.
 * Return: number of bytes.
 */
ssize_t krdma_blk_clients_show(struct krdma_blk_export *export, char *page)
{
	struct krdma_blk_client *client;
	ssize_t length = 0;

	mutex_lock(&export->clients_lock);
	/* The others are beyond the number that fits. */
	list_for_each_entry(client, &export->clients, node) {
		if (!client->settled)
			continue;
		length += sysfs_emit_at(page, length, "%016llx %s %u %pISc\n", client->id,
					client->role == KRDMA_BLK_WRITES ? "writer" : "reader",
					client->conn_count, &client->from);
	}
	mutex_unlock(&export->clients_lock);
	return length;
}

/**
 * krdma_blk_clients_evict() - End a client's connections, and do not let it return
 * @export: the export
 * @id: the client's number
 *
 * When this returns, the client has no QP any more, and nothing that it has sent can reach the
 * memory or the store, also if it has left, or was forgotten, before.  Its host may attach the
 * export again, as another client.
 *
 * Context: process context; sleeps, uninterruptibly, until the devices have destroyed the QPs, and
 * a store has ended what it had begun.
 * Return: 0; -ENOENT: there is no such client.
 */
int krdma_blk_clients_evict(struct krdma_blk_export *export, u64 id)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct krdma_blk_client *client;
	u64 until;

	mutex_lock(&export->clients_lock);
	client = krdma_blk_client_find(export, id);
	if (client)
		krdma_blk_client_forget(export, client);
	until = export->forgets;
	mutex_unlock(&export->clients_lock);

	add_wait_queue(&export->idle, &wait);
	while (krdma_blk_client_abort_forgotten(export, id, until))
		wait_woken(&wait, TASK_UNINTERRUPTIBLE, HZ);
	remove_wait_queue(&export->idle, &wait);
	return client ? 0 : -ENOENT;
}
