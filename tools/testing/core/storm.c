// SPDX-License-Identifier: GPL-2.0
/*
 * Everything at the same time: ends connect, accept, post, close and abort, on devices that the
 * runner removes and adds meanwhile, and, if the runner asks for it, on processors that stall, as
 * those of a virtual machine do.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/interrupt.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>

#include "fixture.h"

#define STORM_CLIENTS	3
#define STORM_SERVERS	2
#define STORM_DEPTH	16
#define STORM_SLOT	64
/* How long a processor stalls at most, and how long until the next one does. */
#define STORM_STILL_MS	15
#define STORM_GOES_MS	8

/**
 * struct storm_run - a run of the case
 * @test: the case
 * @end: its end, in jiffies
 * @address: address of the servers' listener
 * @connected: connections that were established
 * @messages: messages that were received in order
 * @failed: connections that were not established, or broke
 * @accesses: successful reads, writes and atomics
 * @given_lock: protects @given
 * @given: memory that some server has given to peers, and may have taken back
 * @added: devices that were added
 * @removed: devices that were removed
 * @stalls: processors that were to stall
 */
struct storm_run {
	struct core_test *test;
	unsigned long end;
	struct sockaddr_storage address;
	atomic_t connected;
	atomic_t messages;
	atomic_t failed;
	atomic_t accesses;
	spinlock_t given_lock;		/* see above */
	struct krdma_mr_info given;
	atomic_t added;
	atomic_t removed;
	atomic_t stalls;
};

/**
 * struct storm_end - one end of a connection
 * @storm: the run
 * @conn: the connection
 * @mr: MR of @memory
 * @memory: STORM_DEPTH slots to receive into, and one for reads and writes
 * @next: number of the next message to be received
 * @sent: completions of sends
 * @received: completions of receives
 * @closed: number of CLOSED events
 */
struct storm_end {
	struct storm_run *storm;
	struct krdma_conn *conn;
	struct krdma_mr *mr;
	u8 *memory;
	u32 next;
	atomic64_t sent;
	atomic64_t received;
	atomic_t closed;
};

static void storm_event(struct krdma_conn *conn, const struct krdma_event *event)
{
	struct storm_end *end = krdma_conn_context(conn);
	struct core_test *test = end->storm->test;

	CORE_EQ(test, 0, atomic_read(&end->closed));
	if (event->type == KRDMA_EVENT_CLOSED)
		atomic_inc(&end->closed);
}

static int storm_receive(struct storm_end *end, u64 wqe)
{
	struct krdma_sge sge = {
		.mr = end->mr,
		.addr = (u64)end->memory + wqe * STORM_SLOT,
		.length = STORM_SLOT,
	};
	struct krdma_recv_wr recv_wr = { .wr_id = wqe, .sges = &sge, .sge_count = 1 };

	return krdma_conn_post_recv(end->conn, &recv_wr, 1);
}

static void storm_complete(const struct krdma_wc *wc)
{
	struct storm_end *end = wc->context;
	struct core_test *test = end->storm->test;
	u32 *message;

	CORE_EQ(test, 0, atomic_read(&end->closed));
	if (wc->opcode != KRDMA_OP_RECV) {
		atomic64_inc(&end->sent);
		if (wc->opcode != KRDMA_OP_SEND && !wc->status)
			atomic_inc(&end->storm->accesses);
		return;
	}
	atomic64_inc(&end->received);
	if (wc->status)
		return;
	message = (u32 *)(end->memory + wc->wr_id * STORM_SLOT);
	CORE_EQ(test, 4, wc->length);
	CORE_EQ(test, end->next++, *message);
	atomic_inc(&end->storm->messages);
	/* The connection may end at any time. */
	storm_receive(end, wc->wr_id);
}

static const struct krdma_conn_ops storm_ops = {
	.event = storm_event,
	.complete = storm_complete,
};

/* Memory for peers, until it ends. */
static void storm_give(struct storm_end *end)
{
	struct krdma_mr_info info;

	krdma_mr_query(end->mr, &info);
	spin_lock_bh(&end->storm->given_lock);
	end->storm->given = info;
	spin_unlock_bh(&end->storm->given_lock);
}

/* Its memory, and the attributes of its QP. */
static bool storm_prepare(struct storm_end *end, struct krdma_session *session, bool softirq,
			  bool gives)
{
	struct krdma_conn_attr attr = {
		.send_depth = STORM_DEPTH,
		.recv_depth = STORM_DEPTH,
		.max_inline = 4,
		.where = softirq ? KRDMA_CONTEXT_SOFTIRQ : KRDMA_CONTEXT_WORKQUEUE,
	};

	end->mr = krdma_mr_register(session, krdma_conn_device(end->conn), end->memory,
				    (STORM_DEPTH + 1) * STORM_SLOT,
				    KRDMA_ACCESS_LOCAL_WRITE |
				    (gives ? KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_WRITE :
					     0));
	if (IS_ERR(end->mr))
		return false;
	if (gives)
		storm_give(end);
	if (krdma_conn_create_qp(end->conn, &attr))
		return false;
	/* The last receive is kept in reserve: credits return only after the callback. */
	for (u64 wqe = 0; wqe < STORM_DEPTH - 1; wqe++)
		if (storm_receive(end, wqe) != 1)
			return false;
	return true;
}

/*
 * Reads or writes memory of some server, which may be another one than its own, or may have gone:
 * then the connection ends.
 */
static int storm_access(struct storm_end *end)
{
	struct krdma_sge sge = {
		.mr = end->mr,
		.addr = (u64)end->memory + STORM_DEPTH * STORM_SLOT,
		.length = STORM_SLOT,
	};
	struct krdma_send_wr wr = {
		.opcode = get_random_u32() % 2 ? KRDMA_OP_READ : KRDMA_OP_WRITE,
		.flags = get_random_u32() % 2 ? KRDMA_POST_FENCE : 0,
		.sges = &sge, .sge_count = 1,
	};

	spin_lock_bh(&end->storm->given_lock);
	wr.rkey = end->storm->given.rkey;
	wr.remote_addr = end->storm->given.remote_addr + STORM_DEPTH * STORM_SLOT;
	spin_unlock_bh(&end->storm->given_lock);
	return krdma_conn_post_send(end->conn, &wr, 1);
}

/* Sends messages, some of them while the connection ends, and now and then accesses memory. */
static void storm_talk(struct storm_end *end, bool accesses)
{
	u32 count = get_random_u32() % 200;
	u32 number = 0;
	struct krdma_sge sge = { .addr = (u64)&number, .length = sizeof(number) };
	struct krdma_send_wr wr = {
		.opcode = KRDMA_OP_SEND, .flags = KRDMA_POST_INLINE, .sges = &sge, .sge_count = 1,
	};
	int ret;

	for (int tries = 0; number < count && tries < 2000; tries++) {
		wr.flags = KRDMA_POST_INLINE | (number % 3 ? KRDMA_POST_UNSIGNALED : 0);
		if (accesses && number % 8 == 7)
			storm_access(end);
		ret = krdma_conn_post_send(end->conn, &wr, 1);
		if (ret == 1)
			number++;
		else if (ret == -EAGAIN)
			usleep_range(50, 200);
		else
			break;
	}
	if (get_random_u32() % 4 == 0)
		krdma_conn_abort(end->conn);
	else if (get_random_u32() % 4 == 0)
		krdma_conn_disconnect(end->conn);
}

/* Nothing completes after this, and no completion is missing. */
static void storm_end_close(struct storm_end *end)
{
	struct core_test *test = end->storm->test;
	struct krdma_conn_info info;

	krdma_conn_close(end->conn);
	krdma_conn_query(end->conn, &info);
	CORE_EQ(test, KRDMA_CONN_CLOSED, info.state);
	CORE_EQ(test, 1, atomic_read(&end->closed));
	CORE_EQ(test, info.sends_posted, info.sends_completed);
	CORE_EQ(test, info.receives_posted, info.receives_completed);
	CORE_EQ(test, info.receives_posted, atomic64_read(&end->received));
	CORE_TRUE(test, atomic64_read(&end->sent) <= info.sends_posted);
	if (!IS_ERR_OR_NULL(end->mr))
		CORE_EQ(test, 0, krdma_mr_deregister(end->mr));
	krdma_conn_put(end->conn);
	kfree(end->memory);
	kfree(end);
}

static struct storm_end *storm_end_alloc(struct storm_run *storm)
{
	struct storm_end *end = kzalloc_obj(*end, GFP_KERNEL);

	if (!end)
		return NULL;
	end->storm = storm;
	end->memory = kzalloc((STORM_DEPTH + 1) * STORM_SLOT, GFP_KERNEL);
	if (end->memory)
		return end;
	kfree(end);
	return NULL;
}

static bool storm_goes_on(struct storm_run *storm)
{
	return time_before(jiffies, storm->end) && !storm->test->failures;
}

struct storm_party {
	struct work_struct work;
	struct storm_run *storm;
	struct krdma_session *session;
	struct krdma_listener *listener;
	u32 number;
};

static void storm_connect(struct storm_party *party, struct storm_end *end)
{
	struct storm_run *storm = party->storm;
	struct krdma_route route = { .remote = (struct sockaddr *)&storm->address };
	int ret;

	ret = krdma_conn_resolve(end->conn, &route) ?: krdma_conn_wait(end->conn, 5000);
	if (!ret && !storm_prepare(end, party->session, party->number & 1, false))
		ret = -EIO;
	ret = ret ?: krdma_conn_connect(end->conn, &(struct krdma_conn_param) {});
	/* Some do not wait for the reply. */
	if (!ret && get_random_u32() % 8)
		ret = krdma_conn_wait(end->conn, 5000);
	if (ret) {
		atomic_inc(&storm->failed);
		return;
	}
	atomic_inc(&storm->connected);
	storm_talk(end, get_random_u32() % 2);
}

static void storm_client(struct work_struct *work)
{
	struct storm_party *party = container_of(work, struct storm_party, work);
	struct storm_end *end;

	while (storm_goes_on(party->storm)) {
		end = storm_end_alloc(party->storm);
		if (!CORE_TRUE(party->storm->test, end))
			return;
		end->conn = party->number & 2 ?
			krdma_conn_create_lane(party->session, &storm_ops, end) :
			krdma_conn_create(party->session, &storm_ops, end);
		if (!CORE_OK_PTR(party->storm->test, end->conn)) {
			kfree(end->memory);
			kfree(end);
			return;
		}
		storm_connect(party, end);
		storm_end_close(end);
		usleep_range(100, 1000);
	}
}

static void storm_server(struct work_struct *work)
{
	struct storm_party *party = container_of(work, struct storm_party, work);
	struct storm_end *end;

	while (storm_goes_on(party->storm)) {
		end = storm_end_alloc(party->storm);
		if (!CORE_TRUE(party->storm->test, end))
			return;
		end->conn = krdma_listener_next(party->listener, &storm_ops, end, 100);
		if (IS_ERR(end->conn)) {
			kfree(end->memory);
			kfree(end);
			continue;
		}
		if (get_random_u32() % 16 == 0)
			krdma_conn_reject(end->conn, NULL, 0);
		else if (storm_prepare(end, party->session, party->number & 1, true) &&
			 !krdma_conn_accept(end->conn, &(struct krdma_conn_param) {}) &&
			 !krdma_conn_wait(end->conn, 5000))
			storm_talk(end, false);
		storm_end_close(end);
	}
}

/*
 * The processor stalls in its softirq; other processors meanwhile finish what its softirqs leave
 * undone.
 */
static void storm_stand_still(struct tasklet_struct *stall)
{
	mdelay(get_random_u32() % STORM_STILL_MS);
}

static DEFINE_PER_CPU(struct tasklet_struct, storm_stalls);

static void storm_stall_here(void *unused)
{
	tasklet_hi_schedule(this_cpu_ptr(&storm_stalls));
}

static void storm_stall(struct work_struct *work)
{
	struct storm_party *party = container_of(work, struct storm_party, work);
	unsigned int cpu;

	if (!core_storm_stalls)
		return;
	for_each_possible_cpu(cpu)
		tasklet_setup(per_cpu_ptr(&storm_stalls, cpu), storm_stand_still);
	while (storm_goes_on(party->storm))
		for_each_online_cpu(cpu) {
			if (!smp_call_function_single(cpu, storm_stall_here, NULL, true))
				atomic_inc(&party->storm->stalls);
			usleep_range(1000, 1000 * STORM_GOES_MS);
		}
	for_each_possible_cpu(cpu)
		tasklet_kill(per_cpu_ptr(&storm_stalls, cpu));
}

struct storm_watch {
	struct krdma_device_notifier watch;
	struct storm_run *storm;
};

static void storm_watched(struct krdma_device_notifier *watch,
			  const struct krdma_device_event *event)
{
	struct storm_run *storm = container_of(watch, struct storm_watch, watch)->storm;

	if (event->type == KRDMA_DEVICE_EVENT_ADDED)
		atomic_inc(&storm->added);
	if (event->type == KRDMA_DEVICE_EVENT_REMOVED)
		atomic_inc(&storm->removed);
}

/* The clients, the servers, and the work item that stalls processors. */
static struct storm_party parties[STORM_CLIENTS + STORM_SERVERS + 1];

static work_func_t storm_role(u32 number)
{
	if (number < STORM_CLIENTS)
		return storm_client;
	return number < STORM_CLIENTS + STORM_SERVERS ? storm_server : storm_stall;
}

/*
 * The listener has no specific address, so that it outlives the devices.  The harness puts the
 * device of the case when everything is over.
 */
/* Proves: A1, A2, A3, A4, A9, A12, A13, A17 (core-debug), A18 (core-debug), B5, B8, F5 */
static void storm(struct core_test *test)
{
	struct sockaddr_storage any = { .ss_family = test->address.ss_family };
	struct krdma_listen_attr attr = { .local = (struct sockaddr *)&any, .lanes = true };
	struct workqueue_struct *workqueue = alloc_workqueue("krdma_core_test", WQ_UNBOUND, 0);
	struct krdma_session *session = krdma_session_create(&init_net);
	struct storm_run storm = { .test = test, .address = test->address };
	struct storm_watch watch = { .watch.event = storm_watched, .storm = &storm };
	struct krdma_listener *listener;

	if (!CORE_TRUE(test, workqueue) || !CORE_OK_PTR(test, session))
		return;
	listener = krdma_listen(session, &attr);
	if (!CORE_OK_PTR(test, listener))
		goto out;
	krdma_listener_address(listener, &any);
	((struct sockaddr_in *)&storm.address)->sin_port = ((struct sockaddr_in *)&any)->sin_port;
	if (!CORE_EQ(test, 0, krdma_device_notifier_register(&watch.watch, &init_net)))
		goto out_listener;
	spin_lock_init(&storm.given_lock);
	storm.end = jiffies + core_storm_seconds * HZ;
	for (u32 i = 0; i < ARRAY_SIZE(parties); i++) {
		parties[i] = (struct storm_party) {
			.storm = &storm, .session = session, .listener = listener, .number = i,
		};
		INIT_WORK(&parties[i].work, storm_role(i));
		queue_work(workqueue, &parties[i].work);
	}
	for (u32 i = 0; i < ARRAY_SIZE(parties); i++)
		flush_work(&parties[i].work);
	krdma_device_notifier_unregister(&watch.watch);
	CORE_TRUE(test, atomic_read(&storm.connected) > 0);
	CORE_TRUE(test, atomic_read(&storm.messages) > 0);
	CORE_TRUE(test, atomic_read(&storm.accesses) > 0);
	CORE_TRUE(test, atomic_read(&storm.added) > 0);
	CORE_EQ(test, core_storm_stalls, atomic_read(&storm.stalls) > 0);
	core_note(test,
		  "%d connected, %d not, %d messages, %d accesses, devices: %d came, %d went, %d stalls",
		  atomic_read(&storm.connected), atomic_read(&storm.failed),
		  atomic_read(&storm.messages), atomic_read(&storm.accesses),
		  atomic_read(&storm.added), atomic_read(&storm.removed),
		  atomic_read(&storm.stalls));
out_listener:
	krdma_listener_close(listener);
	krdma_listener_put(listener);
out:
	destroy_workqueue(workqueue);
	krdma_session_put(session);
}

const struct core_case core_storm_cases[] = {
	CORE_CASE(storm),
	{},
};
