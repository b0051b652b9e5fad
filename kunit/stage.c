// SPDX-License-Identifier: GPL-2.0
/*
 * A client and a server on a fake device.
 */
#include <linux/cred.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/user_namespace.h>
#include <rdma/rdma_cm.h>

#include "cm/conn.h"
#include "stage.h"
#include "user/limits.h"
#include "user/user.h"

static void actor_note(struct actor *actor, const struct krdma_event *event, bool asleep)
{
	unsigned long flags;
	size_t length;

	spin_lock_irqsave(&actor->lock, flags);
	length = strlen(actor->story);
	scnprintf(actor->story + length, sizeof(actor->story) - length, "%s%s",
		  length ? ", " : "", krdma_event_name(event->type));
	length = strlen(actor->story);
	if (event->error)
		scnprintf(actor->story + length, sizeof(actor->story) - length, " %d",
			  event->error);
	if (event->type == KRDMA_EVENT_REJECTED)
		actor->reason = event->reason;
	actor->heard |= BIT(event->type);
	actor->asleep = asleep;
	spin_unlock_irqrestore(&actor->lock, flags);
	wake_up_all(&actor->wait);
}

static void actor_event(struct krdma_conn *conn, const struct krdma_event *event)
{
	struct actor *actor = krdma_conn_context(conn);
	bool sleeps = event->type == actor->sleep_at;

	actor_note(actor, event, sleeps);
	if (event->type == actor->abort_at)
		krdma_conn_abort(conn);
	if (sleeps)
		wait_for_completion(&actor->wake);
}

static void actor_notify(struct krdma_conn *conn, const struct krdma_event *event)
{
	struct actor *actor = krdma_conn_context(conn);

	if (irqs_disabled())
		actor->atomic |= BIT(event->type);
	actor_note(actor, event, false);
}

static void actor_complete(const struct krdma_wc *wc)
{
	struct actor *actor = wc->context;

	if (wc->status)
		actor->flushed++;
	WRITE_ONCE(actor->completed, actor->completed + 1);
	wake_up_all(&actor->wait);
}

const struct krdma_conn_ops actor_ops = {
	.event = actor_event,
	.complete = actor_complete,
};

const struct krdma_conn_ops actor_notified_ops = {
	.notify = actor_notify,
	.complete = actor_complete,
};

/* No event has happened yet. */
void actor_begin(struct actor *actor)
{
	memset(actor, 0, sizeof(*actor));
	spin_lock_init(&actor->lock);
	init_waitqueue_head(&actor->wait);
	init_completion(&actor->wake);
}

void actor_close(struct actor *actor)
{
	complete_all(&actor->wake);
	if (!IS_ERR_OR_NULL(actor->conn)) {
		krdma_conn_close(actor->conn);
		krdma_conn_put(actor->conn);
	}
	actor->conn = NULL;
}

const char *actor_end(struct actor *actor)
{
	actor_close(actor);
	return actor->story;
}

void stage_close(struct stage *stage)
{
	fake_device_let_go(stage->fake);
	actor_close(&stage->client);
	actor_close(&stage->server);
	if (!IS_ERR_OR_NULL(stage->listener)) {
		krdma_listener_close(stage->listener);
		krdma_listener_put(stage->listener);
	}
	stage->listener = NULL;
}

/* Runs also if the test is aborted. */
static void stage_release(void *context)
{
	struct stage *stage = context;

	stage_close(stage);
	krdma_session_put(stage->session);
	destroy_workqueue(stage->works);
}

struct stage *stage_new(struct kunit *test, void (*tune)(struct fake_device *fake))
{
	struct stage *stage = kunit_kzalloc(test, sizeof(*stage), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, stage);
	stage->test = test;
	stage->device = test_device_alloc(test, 1);
	stage->fake = stage->device->fake;
	if (tune)
		tune(stage->fake);
	KUNIT_ASSERT_EQ(test, 0, test_device_register(stage->device, STAGE_DEVICE));
	actor_begin(&stage->client);
	actor_begin(&stage->server);
	stage->session = krdma_session_create(&init_net);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, stage->session);
	stage->works = alloc_workqueue("stage", WQ_UNBOUND, 0);
	KUNIT_ASSERT_NOT_NULL(test, stage->works);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stage_release, stage));
	return stage;
}

void stage_listen(struct stage *stage)
{
	struct sockaddr_in at = fake_address(STAGE_PORT);
	struct krdma_listen_attr attr = { .local = (struct sockaddr *)&at };

	stage->listener = krdma_listen(stage->session, &attr);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(stage->test, stage->listener);
}

void stage_create(struct stage *stage)
{
	actor_begin(&stage->client);
	stage->client.conn = krdma_conn_create(stage->session, &actor_ops, &stage->client);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(stage->test, stage->client.conn);
}

int actor_resolve(struct actor *actor)
{
	struct sockaddr_in to = fake_address(STAGE_PORT);
	struct krdma_route route = { .remote = (struct sockaddr *)&to };

	return krdma_conn_resolve(actor->conn, &route);
}

int actor_connect(struct actor *actor, const char *words)
{
	struct krdma_conn_param param = {
		.private_data = words,
		.private_data_len = strlen(words),
	};

	return krdma_conn_connect(actor->conn, &param);
}

int actor_accept(struct actor *actor, const char *words)
{
	struct krdma_conn_param param = {
		.private_data = words,
		.private_data_len = strlen(words),
	};

	return krdma_conn_accept(actor->conn, &param);
}

/* A write of no bytes needs no memory of the peer. */
int actor_post(struct actor *actor)
{
	struct krdma_send_wr wr = { .opcode = KRDMA_OP_WRITE };

	return krdma_conn_post_send(actor->conn, &wr, 1);
}

/* Posts a receive for a message without data. */
int actor_receive(struct actor *actor)
{
	struct krdma_recv_wr recv_wr = {};

	return krdma_conn_post_recv(actor->conn, &recv_wr, 1);
}

void stage_resolve(struct stage *stage)
{
	stage_create(stage);
	KUNIT_ASSERT_EQ(stage->test, 0, actor_resolve(&stage->client));
	KUNIT_ASSERT_EQ(stage->test, 0, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	KUNIT_ASSERT_EQ(stage->test, KRDMA_CONN_RESOLVED, actor_state(&stage->client));
}

void stage_ask(struct stage *stage, const char *words)
{
	stage_resolve(stage);
	KUNIT_ASSERT_EQ(stage->test, 0, actor_connect(&stage->client, words));
}

void stage_take(struct stage *stage)
{
	actor_begin(&stage->server);
	stage->server.conn = krdma_listener_next(stage->listener, &actor_ops, &stage->server,
						 STAGE_LONG_MS);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(stage->test, stage->server.conn);
	KUNIT_ASSERT_EQ(stage->test, KRDMA_CONN_REQUESTED, actor_state(&stage->server));
}

void stage_connect(struct stage *stage)
{
	stage_ask(stage, "please");
	stage_take(stage);
	KUNIT_ASSERT_EQ(stage->test, 0, actor_accept(&stage->server, "welcome"));
	KUNIT_ASSERT_EQ(stage->test, 0, krdma_conn_wait(stage->server.conn, STAGE_LONG_MS));
	KUNIT_ASSERT_EQ(stage->test, 0, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	KUNIT_ASSERT_EQ(stage->test, KRDMA_CONN_CONNECTED, actor_state(&stage->server));
	KUNIT_ASSERT_EQ(stage->test, KRDMA_CONN_CONNECTED, actor_state(&stage->client));
}

/*
 * States
 */

void stage_reach_new(struct stage *stage)
{
	stage_create(stage);
}

void stage_reach_connecting(struct stage *stage)
{
	stage->fake->cm_manual = FAKE_MANUAL_CONNECT;
	stage_ask(stage, "");
}

void stage_reach_requested(struct stage *stage)
{
	stage_ask(stage, "");
	stage_take(stage);
}

void stage_reach_accepting(struct stage *stage)
{
	stage->fake->cm_manual = FAKE_MANUAL_ACCEPT;
	stage_reach_requested(stage);
	KUNIT_ASSERT_EQ(stage->test, 0, actor_accept(&stage->server, ""));
}

void stage_reach_disconnecting(struct stage *stage)
{
	stage_connect(stage);
	stage->fake->cm_manual = FAKE_MANUAL_CLOSE;
	KUNIT_ASSERT_EQ(stage->test, 0, krdma_conn_disconnect(stage->client.conn));
}

/* Work requests that the device has not completed delay the end. */
void stage_reach_closing(struct stage *stage)
{
	stage_connect(stage);
	KUNIT_ASSERT_EQ(stage->test, 1, actor_receive(&stage->client));
	fake_hold(stage->fake, NULL);
	krdma_conn_abort(stage->client.conn);
}

void stage_reach_closed(struct stage *stage)
{
	stage_connect(stage);
	krdma_conn_close(stage->client.conn);
}

void stage_reach_closed_server(struct stage *stage)
{
	stage_connect(stage);
	krdma_conn_close(stage->server.conn);
}

struct stage *stage_connected(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);

	stage_listen(stage);
	stage_connect(stage);
	return stage;
}

enum krdma_conn_state actor_state(struct actor *actor)
{
	struct krdma_conn_info info;

	krdma_conn_query(actor->conn, &info);
	return info.state;
}

/* The device's QP; the connection has not begun to end. */
struct ib_qp *actor_qp(struct actor *actor)
{
	return actor->conn->cm_id->qp;
}

static bool actor_heard(struct actor *actor, enum krdma_event_type type)
{
	unsigned long flags;
	bool heard;

	spin_lock_irqsave(&actor->lock, flags);
	heard = actor->heard & BIT(type);
	spin_unlock_irqrestore(&actor->lock, flags);
	return heard;
}

bool actor_hears(struct actor *actor, enum krdma_event_type type)
{
	return wait_event_timeout(actor->wait, actor_heard(actor, type), STAGE_LONG);
}

bool actor_completes(struct actor *actor, unsigned int count)
{
	return wait_event_timeout(actor->wait, READ_ONCE(actor->completed) >= count, STAGE_LONG);
}

struct krdma_user_account *stage_account(struct kunit *test, unsigned int user,
					 unsigned int owner)
{
	static struct user_namespace ns = { .parent = &init_user_ns, .level = 1 };
	struct krdma_user_account *account;
	struct user_namespace *saved_ns;
	const struct cred *saved;
	struct cred *cred;

	cred = prepare_creds();
	KUNIT_ASSERT_NOT_NULL(test, cred);
	cred->uid = KUIDT_INIT(user);
	saved_ns = cred->user_ns;
	if (owner) {
		ns.owner = KUIDT_INIT(owner);
		cred->user_ns = &ns;
	}
	saved = override_creds(cred);
	account = krdma_user_account_create();
	revert_creds(saved);
	cred->user_ns = saved_ns;
	put_cred(cred);
	KUNIT_ASSERT_NOT_NULL(test, account);
	return account;
}
