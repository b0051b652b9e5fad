// SPDX-License-Identifier: GPL-2.0
/*
 * Who may use an export, and who does.
 *
 * Nothing is done here for a request: clients read and write the memory by
 * themselves.  What has to be done is to know who is connected, because a key is good
 * for as long as its connection is:
 *
 * - A client that connects again may repeat a write that it does not know the end of.
 *   The first one could still be on its way and arrive last.  So the connection that
 *   is replaced is taken down first, and when krdma_conn_close() has returned, nothing
 *   more comes in through it.
 * - A client that has died says nothing.  So each connection is asked from time to
 *   time, by a write of no bytes, and ends if there is no answer.  A client that has lost
 *   the server relies on that: it reports an error of a write when the write cannot come
 *   in any more.  So no lock is taken for it that may be held for long.
 *
 * Locks: listen_lock, then clients_lock.  The end of a connection takes clients_lock
 * only, in a work of its own.
 */
#include <linux/err.h>
#include <linux/in6.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <net/net_namespace.h>

#include <krdma/krdma.h>

#include "blk.h"
#include "export.h"

/* Each takes a queue pair and its queues, whoever the peer is. */
#define KRDMA_BLK_CLIENTS_MAX		256

/* One to the next question, and one for its answer. */
#define KRDMA_BLK_LEASE_INTERVAL	msecs_to_jiffies(KRDMA_BLK_LEASE_MS / 2)

/**
 * struct krdma_blk_client - a connection of a client's, or one that is being refused
 * @node: in its export's list, or empty
 * @export: the export, once it is known; NULL: refused
 * @conn: the connection
 * @id: the client's number
 * @queue: which of its connections
 * @asked: whether it lives, and it has not answered
 * @lease: asks, or ends the connection
 * @end: frees this after the connection's last event
 */
struct krdma_blk_client {
	struct list_head node;
	struct krdma_blk_export *export;
	struct krdma_conn *conn;
	u64 id;
	u16 queue;
	bool asked;
	struct delayed_work lease;
	struct work_struct end;
};

/* Protects the list of exports, and each one's clients and windows. */
static DEFINE_MUTEX(clients_lock);
static LIST_HEAD(exports);

/* Protects what follows. */
static DEFINE_MUTEX(listen_lock);
static unsigned int listen_users;
static struct krdma_session *listen_session;
static struct krdma_listener *listeners[KRDMA_BLK_ADDRESSES];
static struct krdma_blk_addresses listen_addresses;

/* All connections that have not been freed, and who waits for the last of them. */
static atomic_t client_count = ATOMIC_INIT(0);

/*
 * Connections
 */

static void krdma_blk_client_end(struct work_struct *work)
{
	struct krdma_blk_client *client = container_of(work, struct krdma_blk_client, end);

	/* Who has taken the request still works on it, and has perhaps not even its name. */
	mutex_lock(&clients_lock);
	mutex_unlock(&clients_lock);
	cancel_delayed_work_sync(&client->lease);
	/* The last event has been told, so this only waits for that call to return. */
	krdma_conn_close(client->conn);
	if (client->export) {
		mutex_lock(&clients_lock);
		list_del(&client->node);
		WRITE_ONCE(client->export->client_count, client->export->client_count - 1);
		wake_up_all(&client->export->idle);
		mutex_unlock(&clients_lock);
	}
	krdma_conn_put(client->conn);
	kfree(krdma_blk_uncount(KRDMA_OBJECT_BLK_CLIENT, client));
	if (atomic_dec_and_test(&client_count))
		wake_up_var(&client_count);
}

static void krdma_blk_client_event(struct krdma_conn *conn, const struct krdma_event *event)
{
	struct krdma_blk_client *client = krdma_conn_context(conn);

	if (event->type == KRDMA_EVENT_CLOSED)
		queue_work(krdma_blk_export_workqueue, &client->end);
}

/* Of a question: that one failed is told by the connection's end. */
static void krdma_blk_client_complete(const struct krdma_completion *completion)
{
	struct krdma_blk_client *client = completion->context;

	if (!completion->status)
		WRITE_ONCE(client->asked, false);
}

static const struct krdma_conn_ops krdma_blk_client_ops = {
	.event = krdma_blk_client_event,
	.complete = krdma_blk_client_complete,
};

static void krdma_blk_client_lease(struct work_struct *work)
{
	struct krdma_blk_client *client = container_of(to_delayed_work(work),
						       struct krdma_blk_client, lease);
	static const struct krdma_request nothing = { .opcode = KRDMA_OP_WRITE };

	if (READ_ONCE(client->asked)) {
		krdma_conn_abort(client->conn);
		return;
	}
	WRITE_ONCE(client->asked, true);
	/* One that takes none is not connected yet, or at its end. */
	if (krdma_conn_post(client->conn, &nothing, 1) != 1)
		WRITE_ONCE(client->asked, false);
	queue_delayed_work(krdma_blk_export_workqueue, &client->lease, KRDMA_BLK_LEASE_INTERVAL);
}

/*
 * Requests
 */

static struct krdma_blk_export *krdma_blk_find_export(const char *name)
{
	struct krdma_blk_export *export;

	lockdep_assert_held(&clients_lock);
	list_for_each_entry(export, &exports, node) {
		if (!memcmp(export->name, name, KRDMA_BLK_NAME_MAX))
			return export;
	}
	return NULL;
}

static struct krdma_blk_window *krdma_blk_get_window(struct krdma_blk_export *export,
						     struct krdma_conn *conn)
{
	struct krdma_blk_window *window, *next;
	struct krdma_conn_info info;

	lockdep_assert_held(&clients_lock);

	krdma_conn_query(conn, &info);
	list_for_each_entry_safe(window, next, &export->windows, node) {
		if (window->device_id == info.device_id)
			return window;
		if (krdma_blk_window_is_gone(window)) {
			list_del(&window->node);
			krdma_blk_window_close(window);
		}
	}

	window = krdma_blk_window_open(&export->memory, export->session, info.device_id,
				       export->read_only);
	if (!IS_ERR(window))
		list_add(&window->node, &export->windows);
	return window;
}

/* What a hello from this address is refused for, 0: it is not. */
static int krdma_blk_check_client(struct krdma_blk_export *export, struct krdma_conn *conn,
				  const struct krdma_blk_hello *hello)
{
	struct sockaddr_storage remote;
	struct krdma_blk_client *other;

	if (krdma_conn_addresses(conn, NULL, &remote) ||
	    !krdma_blk_nets_have(&export->allow, &remote)) {
		atomic64_inc(&export->refused_address);
		return KRDMA_BLK_BAD_ADDRESS;
	}
	if (!krdma_blk_same_secret(export->secret, hello->secret)) {
		atomic64_inc(&export->refused_secret);
		return KRDMA_BLK_BAD_SECRET;
	}
	list_for_each_entry(other, &export->clients, node) {
		if (export->exclusive && other->id != le64_to_cpu(hello->client)) {
			atomic64_inc(&export->refused_busy);
			return KRDMA_BLK_BUSY;
		}
	}
	return 0;
}

/* Takes down the connection that this one comes to replace, if there is one. */
static void krdma_blk_replace(struct krdma_blk_export *export, struct krdma_blk_client *client)
{
	struct krdma_blk_client *other;

	lockdep_assert_held(&clients_lock);
	list_for_each_entry(other, &export->clients, node) {
		if (other->id == client->id && other->queue == client->queue) {
			/* At once: a peer that has gone is not to be waited for. */
			krdma_conn_abort(other->conn);
			krdma_conn_close(other->conn);
		}
	}
}

static int krdma_blk_admit(struct krdma_blk_export *export, struct krdma_blk_client *client,
			   const struct krdma_blk_window *window)
{
	struct krdma_conn_attr attr = {
		.send_depth = 4, .recv_depth = 1, .max_send_sge = 1, .session = export->session,
	};
	struct krdma_blk_welcome welcome = {
		.magic = cpu_to_le32(KRDMA_BLK_MAGIC),
		.version = KRDMA_BLK_VERSION,
		.flags = export->read_only ? KRDMA_BLK_READ_ONLY : 0,
		.generation = cpu_to_le64(export->generation),
		.size = cpu_to_le64(export->size),
		.block_size = cpu_to_le32(export->block_size),
		.chunk_size = cpu_to_le32(window->chunk_size),
	};
	struct krdma_conn_param param = {
		.private_data = &welcome, .private_data_len = sizeof(welcome),
	};
	struct krdma_region_info table;
	int ret;

	krdma_region_query(window->table_region, &table);
	welcome.table_addr = cpu_to_le64(table.remote_addr);
	welcome.table_key = cpu_to_le32(table.remote_key);
	ret = krdma_conn_prepare(client->conn, &attr);
	return ret ?: krdma_conn_accept(client->conn, &param);
}

/* Answers a request; what it is refused for, 0: it was not. */
static int krdma_blk_answer(struct krdma_blk_client *client)
{
	struct krdma_blk_export *export;
	struct krdma_blk_window *window;
	struct krdma_blk_hello hello;
	int reason;

	lockdep_assert_held(&clients_lock);

	if (krdma_conn_private_data(client->conn, &hello, sizeof(hello)) < sizeof(hello) ||
	    hello.magic != cpu_to_le32(KRDMA_BLK_MAGIC))
		return KRDMA_BLK_NOT_UNDERSTOOD;
	if (hello.version != KRDMA_BLK_VERSION || hello.flags)
		return KRDMA_BLK_OTHER_VERSION;
	export = krdma_blk_find_export(hello.name);
	if (!export)
		return KRDMA_BLK_NO_EXPORT;
	reason = krdma_blk_check_client(export, client->conn, &hello);
	if (reason)
		return reason;

	client->id = le64_to_cpu(hello.client);
	client->queue = le16_to_cpu(hello.queue);
	krdma_blk_replace(export, client);
	reason = KRDMA_BLK_FULL;
	if (export->client_count == KRDMA_BLK_CLIENTS_MAX)
		goto refuse;
	window = krdma_blk_get_window(export, client->conn);
	reason = PTR_ERR_OR_ZERO(window) == -EOPNOTSUPP ? KRDMA_BLK_NO_FABRIC : KRDMA_BLK_NO_MEMORY;
	if (IS_ERR(window) || krdma_blk_admit(export, client, window))
		goto refuse;

	client->export = export;
	list_add(&client->node, &export->clients);
	export->client_count++;
	atomic64_inc(&export->accepted);
	queue_delayed_work(krdma_blk_export_workqueue, &client->lease, KRDMA_BLK_LEASE_INTERVAL);
	return 0;

refuse:
	atomic64_inc(&export->refused_other);
	return reason;
}

/* However it goes on with a connection, its last event frees it. */
static void krdma_blk_requested(struct krdma_listener *listener)
{
	struct krdma_blk_refusal refusal = {
		.magic = cpu_to_le32(KRDMA_BLK_MAGIC), .version = KRDMA_BLK_VERSION,
	};
	struct krdma_blk_client *client;

	for (;;) {
		client = krdma_blk_count(KRDMA_OBJECT_BLK_CLIENT,
					 kzalloc_obj(*client, GFP_KERNEL));
		if (!client)
			return;
		INIT_WORK(&client->end, krdma_blk_client_end);
		INIT_DELAYED_WORK(&client->lease, krdma_blk_client_lease);
		/* The last event may come at once: it finds all but the export. */
		mutex_lock(&clients_lock);
		client->conn = krdma_listener_next(listener, &krdma_blk_client_ops, client, 0);
		if (IS_ERR(client->conn))
			break;
		atomic_inc(&client_count);
		refusal.reason = krdma_blk_answer(client);
		if (refusal.reason &&
		    krdma_conn_reject(client->conn, &refusal, sizeof(refusal)))
			krdma_conn_abort(client->conn);
		mutex_unlock(&clients_lock);
	}
	mutex_unlock(&clients_lock);
	kfree(krdma_blk_uncount(KRDMA_OBJECT_BLK_CLIENT, client));
}

/*
 * Where there is to be listened
 */

static void krdma_blk_listen_end(void)
{
	lockdep_assert_held(&listen_lock);

	if (--listen_users)
		return;
	for (unsigned int i = 0; i < ARRAY_SIZE(listeners); i++) {
		if (!listeners[i])
			continue;
		krdma_listener_close(listeners[i]);
		krdma_listener_put(listeners[i]);
		listeners[i] = NULL;
	}
	/* Those that were refused belong to no export, and nobody else waits for them. */
	wait_var_event(&client_count, !atomic_read(&client_count));
	krdma_session_put(listen_session);
	listen_session = NULL;
}

static void krdma_blk_listen_default(void)
{
	struct sockaddr_in6 *any = (struct sockaddr_in6 *)&listen_addresses.of[0];

	lockdep_assert_held(&listen_lock);
	if (listen_addresses.count)
		return;
	*any = (struct sockaddr_in6) {
		.sin6_family = AF_INET6, .sin6_port = htons(KRDMA_BLK_PORT),
	};
	listen_addresses.count = 1;
}

static int krdma_blk_listen_begin(void)
{
	struct krdma_listen_attr attr = { .ready = krdma_blk_requested };
	struct krdma_listener *listener;

	lockdep_assert_held(&listen_lock);

	if (listen_users++)
		return 0;
	listen_session = krdma_session_create(&init_net);
	if (IS_ERR(listen_session)) {
		listen_users--;
		return PTR_ERR(listen_session);
	}
	krdma_blk_listen_default();
	for (unsigned int i = 0; i < listen_addresses.count; i++) {
		attr.local = (struct sockaddr *)&listen_addresses.of[i];
		listener = krdma_listen(listen_session, &attr);
		if (IS_ERR(listener)) {
			krdma_blk_listen_end();
			return PTR_ERR(listener);
		}
		listeners[i] = listener;
	}
	return 0;
}

/**
 * krdma_blk_listen_show - where there is listened
 * @page: where to write it
 *
 * Context: process context; may sleep.
 * Return: how much was written.
 */
ssize_t krdma_blk_listen_show(char *page)
{
	ssize_t length;

	mutex_lock(&listen_lock);
	krdma_blk_listen_default();
	length = krdma_blk_print_addresses(&listen_addresses, page);
	mutex_unlock(&listen_lock);
	return length;
}

/**
 * krdma_blk_listen_store - listen somewhere else
 * @page: where: addresses, with blanks between them
 * @count: how long that is
 *
 * Context: process context; may sleep.
 * Return: @count; -EINVAL: these are not addresses; -EBUSY: an export is enabled.
 */
ssize_t krdma_blk_listen_store(const char *page, size_t count)
{
	struct krdma_blk_addresses *addresses;
	int ret;

	addresses = kzalloc_obj(*addresses, GFP_KERNEL);
	if (!addresses)
		return -ENOMEM;
	ret = krdma_blk_parse_addresses(page, count, addresses);
	mutex_lock(&listen_lock);
	if (!ret && listen_users)
		ret = -EBUSY;
	if (!ret)
		listen_addresses = *addresses;
	mutex_unlock(&listen_lock);
	kfree(addresses);
	return ret ?: count;
}

/*
 * Exports
 */

/**
 * krdma_blk_serve_init - make an export ready for krdma_blk_serve_begin()
 * @export: the export, new
 *
 * Context: any.
 */
void krdma_blk_serve_init(struct krdma_blk_export *export)
{
	INIT_LIST_HEAD(&export->node);
	INIT_LIST_HEAD(&export->clients);
	INIT_LIST_HEAD(&export->windows);
	init_waitqueue_head(&export->idle);
}

/**
 * krdma_blk_serve_begin - let clients in
 * @export: the export, with its memory; its lock is held
 *
 * Context: process context; may sleep.
 * Return: 0, or an error of krdma_listen(): nobody can be let in.
 */
int krdma_blk_serve_begin(struct krdma_blk_export *export)
{
	int ret;

	mutex_lock(&listen_lock);
	ret = krdma_blk_listen_begin();
	mutex_unlock(&listen_lock);
	if (ret)
		return ret;

	mutex_lock(&clients_lock);
	list_add(&export->node, &exports);
	mutex_unlock(&clients_lock);
	return 0;
}

/**
 * krdma_blk_serve_end - let nobody in any more, and end those who are
 * @export: the export; its lock is held
 *
 * Nobody reaches its memory when this returns.
 *
 * Context: process context; sleeps, uninterruptibly, until the devices have let go.
 */
void krdma_blk_serve_end(struct krdma_blk_export *export)
{
	struct krdma_blk_window *window, *next;
	struct krdma_blk_client *client;

	mutex_lock(&clients_lock);
	list_del_init(&export->node);
	list_for_each_entry(client, &export->clients, node)
		krdma_conn_abort(client->conn);
	mutex_unlock(&clients_lock);

	wait_event(export->idle, !READ_ONCE(export->client_count));
	/* The last one may still be about to wake us. */
	mutex_lock(&clients_lock);
	mutex_unlock(&clients_lock);
	list_for_each_entry_safe(window, next, &export->windows, node) {
		list_del(&window->node);
		krdma_blk_window_close(window);
	}

	mutex_lock(&listen_lock);
	krdma_blk_listen_end();
	mutex_unlock(&listen_lock);
}

/**
 * krdma_blk_serve_count - how many are connected?
 * @export: the export
 *
 * Context: process context; may sleep.
 * Return: how many connections there are.
 */
unsigned int krdma_blk_serve_count(struct krdma_blk_export *export)
{
	unsigned int count;

	mutex_lock(&clients_lock);
	count = export->client_count;
	mutex_unlock(&clients_lock);
	return count;
}
