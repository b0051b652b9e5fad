// SPDX-License-Identifier: GPL-2.0
/*
 * Many connections at a time, without descriptors: KRDMA_CONNS_OPEN and its relatives.
 *
 * The calls work in groups, so that what lanes of one trunk send goes together, and the memory of
 * a call does not depend on its number of entries.  A connection gets its number in the session as
 * the last step, after its entry was written, as a descriptor is installed last: before that no
 * other call finds it.  From then on the session's list has a reference, and whichever call, or the
 * release of the session's file, removes it from the list ends it; KRDMA_CONNS_FD has the
 * connection's file end it.
 */
#include <linux/errno.h>
#include <linux/file.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <krdma/krdma.h>

#include "cm/conn_event.h"
#include "user/conn.h"
#include "user/conn_call.h"
#include "user/event.h"
#include "user/file.h"
#include "user/id.h"
#include "user/ioctl.h"
#include "user/limits.h"
#include "user/listener.h"
#include "user/many.h"
#include "user/user.h"
#include "user/ring.h"

/* Connections of a group: as many records fit in a frame of a trunk. */
#define KRDMA_USER_GROUP	64

/**
 * struct krdma_user_group - some of the entries of a call
 * @is_charged: the session's account is charged for it
 * @count: their number
 * @entries: copies of the entries
 * @conns: their connections, with a reference; NULL: the entry has failed
 * @cores: the core's connections of @conns, where they are to end
 * @many: what is to be connected or accepted
 * @index: entry of each of @many
 * @data: private data of each of @many
 */
struct krdma_user_group {
	bool is_charged;
	u32 count;
	struct krdma_conns_entry entries[KRDMA_USER_GROUP];
	struct krdma_user_conn *conns[KRDMA_USER_GROUP];
	struct krdma_conn *cores[KRDMA_USER_GROUP];
	struct krdma_conn_many many[KRDMA_USER_GROUP];
	u32 index[KRDMA_USER_GROUP];
	u8 data[KRDMA_USER_GROUP][KRDMA_PRIVATE_DATA_MAX];
};

/**
 * struct krdma_user_many - a call
 * @args: its arguments
 * @session: the session
 * @deadline_ns: the deadline, converted
 * @qp: attributes of the queues
 * @listener: where requests are taken
 * @group: the current group
 */
struct krdma_user_many {
	struct krdma_conns_args *args;
	struct krdma_user_session *session;
	u64 deadline_ns;
	struct krdma_conn_create_qp_args qp;
	struct krdma_user_listener *listener;
	struct krdma_user_group *group;
};

/*
 * Groups
 */

/* What kmalloc() takes for a group. */
static u64 krdma_user_group_bytes(void)
{
	return roundup_pow_of_two(sizeof(struct krdma_user_group));
}

static void krdma_user_group_free(struct krdma_user_session *session,
				  struct krdma_user_group *group)
{
	if (group && group->is_charged)
		krdma_user_account_uncharge(session->account, KRDMA_ACCOUNT_MEMORY,
					    krdma_user_group_bytes());
	kvfree(group);
}

/* The session keeps the memory of one call, if its account can have it. */
static void krdma_user_group_keep(struct krdma_user_session *session,
				  struct krdma_user_group *group)
{
	if (!group->is_charged)
		group->is_charged = krdma_user_account_try(session->account, KRDMA_ACCOUNT_MEMORY,
							   krdma_user_group_bytes());
	if (!group->is_charged || cmpxchg(&session->group, NULL, group))
		krdma_user_group_free(session, group);
}

/* Every call has memory for a group, also at a limit: it may be one that closes. */
static struct krdma_user_group *krdma_user_group_get(struct krdma_user_session *session)
{
	struct krdma_user_group *group = xchg(&session->group, NULL);

	if (group)
		return group;
	group = kvmalloc_objs(*group, 1, GFP_KERNEL_ACCOUNT);
	if (group)
		group->is_charged = false;
	return group;
}

/*
 * Numbers
 */

static void krdma_user_many_number(struct krdma_user_conn *conn)
{
	struct krdma_user_session *session = conn->session;

	spin_lock(&session->conns_lock);
	conn->numbered = true;
	list_add_tail(&conn->session_node, &session->conns);
	WRITE_ONCE(session->conn_count, session->conn_count + 1);
	spin_unlock(&session->conns_lock);
}

static void krdma_user_many_unlist(struct krdma_user_conn *conn)
{
	struct krdma_user_session *session = conn->session;

	lockdep_assert_held(&session->conns_lock);
	conn->numbered = false;
	list_del_init(&conn->session_node);
	WRITE_ONCE(session->conn_count, session->conn_count - 1);
}

/*
 * The connection with a number, with a reference; NULL: there is none.  @remove: the number ends,
 * and the reference is that of the list.
 */
static struct krdma_user_conn *krdma_user_many_find(struct krdma_user_session *session, u32 id,
						    bool remove)
{
	struct krdma_user_conn *conn = NULL;
	struct krdma_user_dest *dest;

	spin_lock(&session->conns_lock);
	rcu_read_lock();
	dest = xa_load(&krdma_user_dests, id);
	if (dest && dest->kind == KRDMA_USER_DEST_CONN) {
		conn = container_of(dest, struct krdma_user_conn, dest);
		if (conn->session != session || !conn->numbered)
			conn = NULL;
		else if (remove)
			krdma_user_many_unlist(conn);
		else
			refcount_inc(&conn->refs);
	}
	rcu_read_unlock();
	spin_unlock(&session->conns_lock);

	return conn;
}

/* Ends the connections of a group, and drops the references to them. */
static void krdma_user_group_end(struct krdma_user_group *group)
{
	for (u32 i = 0; i < group->count; i++) {
		struct krdma_user_conn *conn = group->conns[i];

		group->cores[i] = conn ? conn->core : NULL;
		if (conn)
			krdma_user_event_end(conn);
	}
	krdma_conn_end_many(group->cores, group->count);
	for (u32 i = 0; i < group->count; i++) {
		if (group->conns[i])
			krdma_user_conn_put(group->conns[i]);
		group->conns[i] = NULL;
	}
}

/* Without memory: the release of a file does not fail. */
static void krdma_user_many_end_some(struct krdma_user_session *session)
{
	struct krdma_user_conn *conns[8];
	struct krdma_conn *cores[ARRAY_SIZE(conns)];
	u32 count = 0;

	spin_lock(&session->conns_lock);
	while (count < ARRAY_SIZE(conns) && !list_empty(&session->conns)) {
		conns[count] = list_first_entry(&session->conns, struct krdma_user_conn,
						session_node);
		krdma_user_many_unlist(conns[count++]);
	}
	spin_unlock(&session->conns_lock);

	for (u32 i = 0; i < count; i++) {
		krdma_user_event_end(conns[i]);
		cores[i] = conns[i]->core;
	}
	krdma_conn_end_many(cores, count);
	for (u32 i = 0; i < count; i++)
		krdma_user_conn_put(conns[i]);
}

/**
 * krdma_user_many_end() - End all connections without a descriptor
 * @session: the session, of which the file is released: no call is in progress
 *
 * Context: process context; may sleep.
 */
void krdma_user_many_end(struct krdma_user_session *session)
{
	while (!list_empty(&session->conns)) {
		krdma_user_many_end_some(session);
		cond_resched();
	}
	krdma_user_group_free(session, session->group);
}

/*
 * Calls
 */

static bool krdma_user_many_has_queues(const struct krdma_conns_args *args)
{
	return args->send_depth || args->recv_depth || args->max_send_sge || args->max_recv_sge ||
	       args->max_inline || args->keepalive_ms;
}

static int krdma_user_many_check(const struct krdma_conns_args *args, u32 flags)
{
	if ((args->flags & ~flags) || args->reserved)
		return -EOPNOTSUPP;
	if (args->srq_fd && !(args->flags & KRDMA_CONNS_SRQ))
		return -EINVAL;
	/* As for KRDMA_CONN_CREATE_QP. */
	if ((args->flags & KRDMA_CONNS_SRQ) && args->recv_depth)
		return -EINVAL;
	return !args->count || args->count > KRDMA_CONNS_MAX ? -EINVAL : 0;
}

static int krdma_user_many_begin(struct krdma_user_many *many, struct krdma_ucmd *ucmd)
{
	struct krdma_conns_args *args = &ucmd->buffer->conns;

	*many = (struct krdma_user_many) {
		.args = args,
		.session = ucmd->session,
		.deadline_ns = krdma_deadline_of_caller(args->deadline_ns),
		.qp = {
			.flags = args->flags & KRDMA_CONNS_SRQ ? KRDMA_CREATE_QP_SRQ : 0,
			.ring_fd = args->fd,
			.srq_fd = args->srq_fd,
			.send_depth = args->send_depth,
			.recv_depth = args->recv_depth,
			.max_send_sge = args->max_send_sge,
			.max_recv_sge = args->max_recv_sge,
			.max_inline = args->max_inline,
			.keepalive_ms = args->keepalive_ms,
		},
	};
	args->done = 0;
	args->error = 0;
	many->group = krdma_user_group_get(ucmd->session);
	return many->group ? 0 : -ENOMEM;
}

static struct krdma_conns_entry __user *krdma_user_many_entry(const struct krdma_user_many *many,
							      u32 index)
{
	struct krdma_conns_entry __user *user = u64_to_user_ptr(many->args->entries);

	return user + index;
}

/* Copies the next entries, which have to be writable, too. */
static int krdma_user_group_read(struct krdma_user_many *many, u32 first, u32 count)
{
	struct krdma_user_group *group = many->group;
	void __user *user = krdma_user_many_entry(many, first);
	size_t size = count * sizeof(group->entries[0]);

	if (copy_from_user(group->entries, user, size) || copy_to_user(user, group->entries, size))
		return -EFAULT;
	group->count = count;
	for (u32 i = 0; i < count; i++) {
		group->entries[i].error = group->entries[i].reserved ? -EOPNOTSUPP : 0;
		group->conns[i] = NULL;
	}
	return 0;
}

static int krdma_user_group_write(const struct krdma_user_many *many, u32 first)
{
	const struct krdma_user_group *group = many->group;

	return copy_to_user(krdma_user_many_entry(many, first), group->entries,
			    group->count * sizeof(group->entries[0])) ? -EFAULT : 0;
}

/* Counts the entries of a group that succeeded, and notes the first error. */
static void krdma_user_group_count(struct krdma_user_many *many)
{
	const struct krdma_user_group *group = many->group;

	for (u32 i = 0; i < group->count; i++) {
		if (!group->entries[i].error)
			many->args->done++;
		else if (!many->args->error)
			many->args->error = group->entries[i].error;
	}
}

/*
 * Handles all entries in groups.  @handle returns 0, or a negative errno that ends the call, with
 * nothing done in this group.  Returns 0, or the errno if nothing was done at all.
 */
static int krdma_user_many_run(struct krdma_user_many *many,
			       int (*handle)(struct krdma_user_many *many, u32 first))
{
	struct krdma_conns_args *args = many->args;
	u32 count;
	int ret;

	for (u32 first = 0; first < args->count; first += count) {
		/* Nobody will see the results. */
		if (first && fatal_signal_pending(current))
			break;
		count = min_t(u32, args->count - first, KRDMA_USER_GROUP);
		ret = krdma_user_group_read(many, first, count) ?: handle(many, first);
		if (ret && !first)
			return ret;
		if (ret) {
			args->error = args->error ?: ret;
			break;
		}
		cond_resched();
	}
	return 0;
}

/* A call that a signal has ended before any entry succeeded can be repeated. */
static int krdma_user_many_finish(struct krdma_user_many *many, struct krdma_ucmd *ucmd, int ret)
{
	krdma_user_group_keep(many->session, many->group);
	if (ret)
		return ret;
	if (!many->args->done && many->args->error == -EINTR && signal_pending(current))
		return -ERESTARTSYS;
	return krdma_ucmd_inform(ucmd);
}

/* The errno of an entry: the call itself does not end. */
static int krdma_user_many_error(int error)
{
	switch (error) {
	case -ERESTARTSYS:
		return -EINTR;
	case -EINPROGRESS:
		return -ETIMEDOUT;
	default:
		return error;
	}
}

/*
 * KRDMA_CONNS_OPEN
 */

static int krdma_user_open_begin(struct krdma_user_many *many, u32 i)
{
	struct krdma_conns_entry *entry = &many->group->entries[i];
	struct sockaddr_storage remote;
	struct krdma_route route = { .remote = (struct sockaddr *)&remote };
	struct krdma_user_conn *conn;
	int ret;

	ret = krdma_address_from_user(&entry->remote, &remote);
	if (ret)
		return ret;
	conn = krdma_user_conn_alloc(many->session);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	ret = krdma_user_conn_create_core(conn, many->args->flags & KRDMA_CONNS_LANES);
	if (ret) {
		krdma_user_conn_put(conn);
		return ret;
	}
	many->group->conns[i] = conn;
	return krdma_conn_resolve(conn->core, &route);
}

/* Adds a connection to those that are to be connected or accepted. */
static int krdma_user_group_add(struct krdma_user_group *group, u32 i, u32 *added)
{
	const struct krdma_conns_entry *entry = &group->entries[i];
	u8 *data = group->data[*added];
	int ret;

	ret = krdma_user_private_data(entry->private_data, entry->private_data_len, data);
	if (ret)
		return ret;
	group->many[*added] = (struct krdma_conn_many) {
		.conn = group->conns[i]->core,
		.param = { .private_data = data, .private_data_len = entry->private_data_len },
	};
	group->index[(*added)++] = i;
	return 0;
}

static void krdma_user_group_note(struct krdma_user_group *group, u32 added)
{
	for (u32 i = 0; i < added; i++)
		group->entries[group->index[i]].error = group->many[i].error;
}

/* Why a call that opens connections asks for no further one; or 0. */
static int krdma_user_many_late(const struct krdma_user_many *many)
{
	if (signal_pending(current))
		return -EINTR;
	return krdma_deadline_ms(many->deadline_ns) ? 0 : -ETIMEDOUT;
}

/* How many of them, from the first on, are lanes? */
static u32 krdma_user_count_lanes(const struct krdma_conn_many *many, u32 count)
{
	struct krdma_conn_info info;
	u32 lanes;

	for (lanes = 0; lanes < count; lanes++) {
		krdma_conn_peek_state(many[lanes].conn, &info);
		if (!info.lane)
			break;
	}
	return lanes;
}

/*
 * Sends the requests.  Those of lanes go together and take no time.  Some iWARP devices set up a
 * connection of TCP in the call, so others go one at a time.
 */
static void krdma_user_open_ask(struct krdma_user_many *many, u32 added)
{
	struct krdma_user_group *group = many->group;
	u32 count, i;
	int late = 0;

	for (i = 0; i < added; i += count) {
		late = krdma_user_many_late(many);
		if (late)
			break;
		count = krdma_user_count_lanes(&group->many[i], added - i) ?: 1;
		krdma_conn_connect_many(&group->many[i], count);
	}
	for (; i < added; i++)
		group->many[i].error = late;
}

static void krdma_user_open_connect(struct krdma_user_many *many)
{
	struct krdma_user_group *group = many->group;
	u32 added = 0;
	u32 state;
	int ret;

	for (u32 i = 0; i < group->count; i++) {
		struct krdma_conns_entry *entry = &group->entries[i];
		struct krdma_user_conn *conn = group->conns[i];

		if (entry->error)
			continue;
		ret = krdma_user_conn_wait_until(conn->core, many->deadline_ns, &state) ?:
		      krdma_user_conn_create_queues(conn, &many->qp) ?:
		      krdma_user_group_add(group, i, &added);
		entry->error = krdma_user_many_error(ret);
	}
	krdma_user_open_ask(many, added);
	krdma_user_group_note(group, added);
	for (u32 i = 0; i < group->count; i++) {
		struct krdma_conns_entry *entry = &group->entries[i];

		if (entry->error)
			continue;
		ret = krdma_user_conn_wait_until(group->conns[i]->core, many->deadline_ns, &state);
		entry->error = krdma_user_many_error(ret);
	}
}

/* Separates the connections that are open from those that have failed, which end. */
static void krdma_user_open_divide(struct krdma_user_group *group,
				   struct krdma_user_conn **open)
{
	for (u32 i = 0; i < group->count; i++) {
		struct krdma_conns_entry *entry = &group->entries[i];

		open[i] = entry->error ? NULL : group->conns[i];
		entry->id = open[i] ? open[i]->dest.id : 0;
		if (open[i])
			group->conns[i] = NULL;
	}
	krdma_user_group_end(group);
}

static int krdma_user_open_group(struct krdma_user_many *many, u32 first)
{
	struct krdma_user_conn *open[KRDMA_USER_GROUP];
	struct krdma_user_group *group = many->group;
	/* Then nothing can be connected any more. */
	int late = krdma_user_many_late(many);

	for (u32 i = 0; i < group->count; i++) {
		struct krdma_conns_entry *entry = &group->entries[i];

		entry->error = entry->error ?: late ?: krdma_user_open_begin(many, i);
	}
	krdma_user_open_connect(many);
	krdma_user_open_divide(group, open);

	memcpy(group->conns, open, group->count * sizeof(*open));
	/* Nobody would know the numbers. */
	if (krdma_user_group_write(many, first)) {
		krdma_user_group_end(group);
		return -EFAULT;
	}
	krdma_user_group_count(many);
	for (u32 i = 0; i < group->count; i++) {
		struct krdma_user_conn *conn = group->conns[i];

		if (!conn)
			continue;
		/* Before another thread can find it, and end it. */
		krdma_user_event_reported(conn);
		krdma_user_event_begin(conn, conn->ring, group->entries[i].wr_id);
		krdma_user_many_number(conn);
	}
	return 0;
}

/* Errors of the descriptor are those of the call. */
static int krdma_user_many_check_ring(const struct krdma_user_many *many)
{
	struct krdma_user_ring *ring;
	struct file *file;
	int ret = 0;

	ring = krdma_user_fd_get(many->args->fd, &krdma_user_ring_fops, &file);
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	if (krdma_user_ring_session(ring) != many->session)
		ret = -EXDEV;
	fput(file);
	return ret;
}

/**
 * krdma_user_conns_open() - Handle KRDMA_CONNS_OPEN
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; sleeps, until a signal.
 * Return: 0 or a negative errno, as documented in <linux/krdma_conn.h>.
 */
int krdma_user_conns_open(struct krdma_ucmd *ucmd)
{
	struct krdma_user_many many;
	int ret;

	ret = krdma_user_many_check(&ucmd->buffer->conns, KRDMA_CONNS_LANES | KRDMA_CONNS_SRQ) ?:
	      krdma_user_many_begin(&many, ucmd);
	if (ret)
		return ret;
	ret = krdma_user_many_check_ring(&many) ?:
	      krdma_user_many_run(&many, krdma_user_open_group);
	return krdma_user_many_finish(&many, ucmd, ret);
}

/*
 * KRDMA_CONNS_TAKE
 */

static void krdma_user_take_describe(struct krdma_conns_entry *entry, struct krdma_conn *core)
{
	u8 room = min_t(u32, entry->private_data_len, KRDMA_PRIVATE_DATA_MAX);
	struct sockaddr_storage local = {}, remote = {};
	u8 data[KRDMA_PRIVATE_DATA_MAX];
	int length;

	length = krdma_conn_private_data(core, data, room);
	if (copy_to_user(u64_to_user_ptr(entry->private_data), data, min_t(int, length, room)))
		entry->error = -EFAULT;
	entry->private_data_len = length;
	krdma_conn_addresses(core, &local, &remote);
	krdma_address_to_user(&remote, &entry->remote);
}

/* Only the first request of the call is waited for. */
static int krdma_user_take_one(struct krdma_user_many *many, u32 i, bool wait)
{
	struct krdma_conns_entry *entry = &many->group->entries[i];
	u64 deadline_ns = wait ? many->deadline_ns : 0;
	struct krdma_user_conn *conn;
	int ret;

	if (entry->error)
		return entry->error;
	if (!krdma_deadline_ms(deadline_ns)) {
		ret = krdma_user_listener_pending(many->listener);
		if (ret <= 0)
			return ret ?: deadline_ns ? -ETIMEDOUT : -EAGAIN;
	}
	conn = krdma_user_conn_alloc(many->session);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	ret = krdma_user_listener_wait(many->listener, conn, deadline_ns);
	if (ret) {
		krdma_user_conn_put(conn);
		return ret;
	}
	many->group->conns[i] = conn;
	entry->id = conn->dest.id;
	krdma_user_take_describe(entry, conn->core);
	return 0;
}

/* Returns the number of requests that were taken, or a negative errno. */
static int krdma_user_take_group(struct krdma_user_many *many, u32 first)
{
	struct krdma_user_group *group = many->group;
	u32 taken;
	int ret = 0;

	for (taken = 0; taken < group->count; taken++) {
		ret = krdma_user_take_one(many, taken, !first && !taken);
		if (ret)
			break;
	}
	if (!taken)
		return ret;
	group->count = taken;
	/* Nobody would know the numbers. */
	if (krdma_user_group_write(many, first)) {
		krdma_user_group_end(group);
		return -EFAULT;
	}
	for (u32 i = 0; i < taken; i++) {
		krdma_user_many_number(group->conns[i]);
		if (group->entries[i].error && !many->args->error)
			many->args->error = group->entries[i].error;
	}
	many->args->done += taken;
	if (ret && ret != -EAGAIN && !many->args->error)
		many->args->error = krdma_user_many_error(ret);
	return taken;
}

static int krdma_user_take_all(struct krdma_user_many *many)
{
	struct krdma_conns_args *args = many->args;
	u32 count;
	int ret;

	do {
		count = min_t(u32, args->count - args->done, KRDMA_USER_GROUP);
		ret = krdma_user_group_read(many, args->done, count) ?:
		      krdma_user_take_group(many, args->done);
		cond_resched();
	} while (ret == count && args->done < args->count);

	if (ret >= 0 || ret == -EAGAIN)
		return args->done ? 0 : ret;
	if (!args->done)
		return ret;
	args->error = args->error ?: krdma_user_many_error(ret);
	return 0;
}

/**
 * krdma_user_conns_take() - Handle KRDMA_CONNS_TAKE
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; sleeps, until a signal.
 * Return: 0 or a negative errno, as documented in <linux/krdma_conn.h>.
 */
int krdma_user_conns_take(struct krdma_ucmd *ucmd)
{
	struct krdma_user_listener *listener;
	struct krdma_user_many many;
	struct file *file;
	int ret;

	ret = krdma_user_many_check(&ucmd->buffer->conns, 0);
	if (ret)
		return ret;
	if (krdma_user_many_has_queues(&ucmd->buffer->conns))
		return -EINVAL;
	listener = krdma_user_fd_get(ucmd->buffer->conns.fd, &krdma_user_listener_fops, &file);
	if (IS_ERR(listener))
		return PTR_ERR(listener);
	ret = krdma_user_listener_session(listener) == ucmd->session ? 0 : -EXDEV;
	if (!ret)
		ret = krdma_user_many_begin(&many, ucmd);
	if (!ret) {
		many.listener = listener;
		ret = krdma_user_take_all(&many);
		ret = krdma_user_many_finish(&many, ucmd, ret);
	}
	fput(file);
	return ret;
}

/*
 * KRDMA_CONNS_ACCEPT
 */

static int krdma_user_accept_begin(struct krdma_user_many *many, u32 i)
{
	struct krdma_user_group *group = many->group;
	struct krdma_conns_entry *entry = &group->entries[i];
	struct krdma_user_conn *conn;
	int ret;

	conn = krdma_user_many_find(many->session, entry->id, false);
	if (!conn)
		return -ENOENT;
	group->conns[i] = conn;
	/* Pairs with the release in krdma_user_conn_create_qp_with(). */
	if (!smp_load_acquire(&conn->ring)) {
		ret = krdma_user_conn_create_queues(conn, &many->qp);
		if (ret && !READ_ONCE(conn->ring))
			return ret;
	}
	krdma_user_event_begin(conn, conn->ring, entry->wr_id);
	return 0;
}

static int krdma_user_accept_group(struct krdma_user_many *many, u32 first)
{
	struct krdma_user_group *group = many->group;
	u32 added = 0;
	int ret;

	for (u32 i = 0; i < group->count; i++) {
		struct krdma_conns_entry *entry = &group->entries[i];

		if (entry->error)
			continue;
		ret = krdma_user_accept_begin(many, i) ?: krdma_user_group_add(group, i, &added);
		entry->error = krdma_user_many_error(ret);
	}
	krdma_conn_accept_many(group->many, added);
	krdma_user_group_note(group, added);
	for (u32 i = 0; i < group->count; i++) {
		if (group->conns[i])
			krdma_user_conn_put(group->conns[i]);
	}
	krdma_user_group_count(many);
	/* There is no other way to report the failure. */
	(void)krdma_user_group_write(many, first);
	return 0;
}

/**
 * krdma_user_conns_accept() - Handle KRDMA_CONNS_ACCEPT
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma_conn.h>.
 */
int krdma_user_conns_accept(struct krdma_ucmd *ucmd)
{
	struct krdma_user_many many;
	int ret;

	ret = krdma_user_many_check(&ucmd->buffer->conns, KRDMA_CONNS_SRQ);
	if (ret)
		return ret;
	if (ucmd->buffer->conns.deadline_ns)
		return -EINVAL;
	ret = krdma_user_many_begin(&many, ucmd);
	if (ret)
		return ret;
	ret = krdma_user_many_check_ring(&many) ?:
	      krdma_user_many_run(&many, krdma_user_accept_group);
	return krdma_user_many_finish(&many, ucmd, ret);
}

/*
 * KRDMA_CONNS_CLOSE
 */

static int krdma_user_close_group(struct krdma_user_many *many, u32 first)
{
	struct krdma_user_group *group = many->group;

	for (u32 i = 0; i < group->count; i++) {
		struct krdma_conns_entry *entry = &group->entries[i];

		if (entry->error)
			continue;
		group->conns[i] = krdma_user_many_find(many->session, entry->id, true);
		if (!group->conns[i])
			entry->error = -ENOENT;
	}
	krdma_user_group_end(group);
	krdma_user_group_count(many);
	/* There is no other way to report the failure. */
	(void)krdma_user_group_write(many, first);
	return 0;
}

/**
 * krdma_user_conns_close() - Handle KRDMA_CONNS_CLOSE
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma_conn.h>.
 */
int krdma_user_conns_close(struct krdma_ucmd *ucmd)
{
	struct krdma_user_many many;
	int ret;

	ret = krdma_user_many_check(&ucmd->buffer->conns, 0);
	if (ret)
		return ret;
	if (ucmd->buffer->conns.fd || ucmd->buffer->conns.deadline_ns ||
	    krdma_user_many_has_queues(&ucmd->buffer->conns))
		return -EINVAL;
	ret = krdma_user_many_begin(&many, ucmd);
	if (ret)
		return ret;
	ret = krdma_user_many_run(&many, krdma_user_close_group);
	return krdma_user_many_finish(&many, ucmd, ret);
}

/*
 * KRDMA_CONNS_FD
 */

/* From here on the connection ends with its file.  False: its number has ended meanwhile. */
static bool krdma_user_many_file(struct krdma_user_conn *conn)
{
	struct krdma_user_session *session = conn->session;
	bool numbered;

	spin_lock(&session->conns_lock);
	numbered = conn->numbered;
	if (numbered)
		krdma_user_many_unlist(conn);
	spin_unlock(&session->conns_lock);

	return numbered;
}

/**
 * krdma_user_conns_fd() - Handle KRDMA_CONNS_FD
 * @ucmd: the ioctl
 *
 * A file ends its connection.  One that is discarded here must not: the connection has its number
 * still, or another thread has given it a descriptor.  So it forgets the connection first.
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma_conn.h>.
 */
int krdma_user_conns_fd(struct krdma_ucmd *ucmd)
{
	struct krdma_conns_fd_args *args = &ucmd->buffer->conns_fd;
	struct krdma_user_conn *conn;
	struct krdma_user_fd ufd;
	int ret;

	if (args->flags)
		return -EOPNOTSUPP;
	conn = krdma_user_many_find(ucmd->session, args->id, false);
	if (!conn)
		return -ENOENT;
	ret = krdma_user_fd_reserve(&ufd, "[krdma-conn]", &krdma_user_conn_fops, conn, O_RDWR);
	if (ret) {
		krdma_user_conn_put(conn);
		return ret;
	}

	args->fd = ufd.fd;
	ret = krdma_ucmd_respond(ucmd);
	if (!ret && !krdma_user_many_file(conn))
		ret = -ENOENT;
	if (ret) {
		ufd.file->private_data = NULL;
		krdma_user_fd_cancel(&ufd);
		krdma_user_conn_put(conn);
		return ret;
	}
	krdma_user_event_end(conn);
	/* The list's reference; the file has another one. */
	krdma_user_conn_put(conn);
	krdma_user_fd_install(&ufd);
	return 0;
}
