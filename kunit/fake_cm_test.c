// SPDX-License-Identifier: GPL-2.0
/* The fake device's connections, as a consumer of rdma_cm sees them. */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/in.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <rdma/rdma_cm.h>

#include "device_fixture.h"
#include "objects.h"

#define NAME		"kfake"
#define PORT		7471
#define LONG_WHILE	(60 * HZ)
#define LONG_WHILE_MS	60000
#define EVENTS		8

/**
 * struct heard - an event of rdma_cm
 * @event: its type
 * @status: its status
 * @data: its private data
 * @length: bytes of @data
 */
struct heard {
	enum rdma_cm_event_type event;
	int status;
	char data[32];
	u8 length;
};

/**
 * struct end - an id of rdma_cm, and what it needs
 * @id: the id
 * @child: id of the last request that a listener got
 * @pd: its PD
 * @cq: its CQ
 * @heard: events, in order
 * @count: entries of @heard
 * @read: entries of @heard that the test has checked
 * @more: completed for each event
 * @refuse: the handler returns an error, so that the id is destroyed
 */
struct end {
	struct rdma_cm_id *id;
	struct rdma_cm_id *child;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct heard heard[EVENTS];
	unsigned int count;
	unsigned int read;
	struct completion more;
	int refuse;
};

/* What every test has. */
struct scene {
	struct fake_device *fake;
	struct end listener;
	struct end active;
	struct end passive;
};

static int end_hears(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct end *end = id->context;
	struct heard *heard = &end->heard[end->count++ % EVENTS];

	heard->event = event->event;
	heard->status = event->status;
	heard->length = min_t(u8, event->param.conn.private_data_len, sizeof(heard->data));
	if (heard->length)
		memcpy(heard->data, event->param.conn.private_data, heard->length);
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		end->child = id;
	complete(&end->more);
	return end->refuse;
}

/* The next event must be this one, with these private data. */
static void hears(struct kunit *test, struct end *end, enum rdma_cm_event_type event, int status,
		  const char *words)
{
	struct heard *heard;

	KUNIT_ASSERT_NE(test, 0, wait_for_completion_timeout(&end->more, LONG_WHILE));
	heard = &end->heard[end->read++ % EVENTS];
	KUNIT_EXPECT_EQ(test, event, heard->event);
	KUNIT_EXPECT_EQ(test, status, heard->status);
	KUNIT_EXPECT_EQ(test, strlen(words), heard->length);
	KUNIT_EXPECT_MEMEQ(test, words, heard->data, strlen(words));
}

static void hears_nothing(struct kunit *test, struct scene *scene, struct end *end)
{
	fake_cm_flush(scene->fake);
	KUNIT_EXPECT_EQ(test, end->read, end->count);
}

static void end_open(struct kunit *test, struct end *end)
{
	*end = (struct end) {};
	init_completion(&end->more);
	end->id = rdma_create_id(&init_net, end_hears, end, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, end->id);
}

static void end_create_qp(struct kunit *test, struct end *end)
{
	struct ib_qp_init_attr attr = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};

	end->pd = ib_alloc_pd(end->id->device, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, end->pd);
	end->cq = ib_alloc_cq(end->id->device, NULL, 16, 0, IB_POLL_WORKQUEUE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, end->cq);
	attr.send_cq = end->cq;
	attr.recv_cq = end->cq;
	KUNIT_ASSERT_EQ(test, 0, rdma_create_qp(end->id, end->pd, &attr));
}

/* Destroys the objects; the events stay. */
static void end_close(struct end *end)
{
	if (end->id && end->id->qp) {
		ib_drain_qp(end->id->qp);
		rdma_destroy_qp(end->id);
	}
	if (end->cq)
		ib_free_cq(end->cq);
	if (end->pd)
		ib_dealloc_pd(end->pd);
	if (end->id)
		rdma_destroy_id(end->id);
	end->cq = NULL;
	end->pd = NULL;
	end->id = NULL;
}

/* Runs also if the test is aborted. */
static void scene_release(void *context)
{
	struct scene *scene = context;

	fake_device_let_go(scene->fake);
	end_close(&scene->active);
	end_close(&scene->passive);
	end_close(&scene->listener);
}

static struct scene *scene_new(struct kunit *test)
{
	struct scene *scene = kunit_kzalloc(test, sizeof(*scene), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, scene);
	scene->fake = test_device_new(test, NAME)->fake;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, scene_release, scene));
	return scene;
}

static void scene_listen(struct kunit *test, struct scene *scene)
{
	struct sockaddr_in at = fake_address(PORT);

	end_open(test, &scene->listener);
	KUNIT_ASSERT_EQ(test, 0, rdma_bind_addr(scene->listener.id, (struct sockaddr *)&at));
	KUNIT_ASSERT_PTR_EQ(test, &scene->fake->ib, scene->listener.id->device);
	KUNIT_ASSERT_EQ(test, 0, rdma_listen(scene->listener.id, 4));
}

/* Takes the active id up to connecting. */
static void scene_resolve(struct kunit *test, struct scene *scene)
{
	struct sockaddr_in to = fake_address(PORT);
	struct end *active = &scene->active;

	end_open(test, active);
	KUNIT_ASSERT_EQ(test, 0, rdma_resolve_addr(active->id, NULL, (struct sockaddr *)&to, 1000));
	hears(test, active, RDMA_CM_EVENT_ADDR_RESOLVED, 0, "");
	KUNIT_ASSERT_PTR_EQ(test, &scene->fake->ib, active->id->device);
	KUNIT_ASSERT_EQ(test, 0, rdma_resolve_route(active->id, 1000));
	hears(test, active, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, "");
	end_create_qp(test, active);
}

static int scene_connect(struct scene *scene, const char *words)
{
	struct rdma_conn_param param = {
		.private_data = words,
		.private_data_len = strlen(words),
		.responder_resources = 2,
		.initiator_depth = 3,
	};

	return rdma_connect(scene->active.id, &param);
}

/* The request arrives, and its id becomes the passive end. */
static void scene_is_asked(struct kunit *test, struct scene *scene, const char *words)
{
	struct end *passive = &scene->passive;

	hears(test, &scene->listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0, words);
	*passive = (struct end) {};
	init_completion(&passive->more);
	passive->id = scene->listener.child;
	passive->id->context = passive;
	KUNIT_EXPECT_PTR_EQ(test, &scene->fake->ib, passive->id->device);
}

static int scene_accept(struct kunit *test, struct scene *scene, const char *words)
{
	struct rdma_conn_param param = {
		.private_data = words,
		.private_data_len = strlen(words),
	};
	int ret;

	end_create_qp(test, &scene->passive);
	rdma_lock_handler(scene->passive.id);
	ret = rdma_accept(scene->passive.id, &param);
	rdma_unlock_handler(scene->passive.id);
	return ret;
}

static void scene_end(struct kunit *test, struct scene *scene)
{
	scene_release(scene);
	fake_cm_flush(scene->fake);
	KUNIT_EXPECT_TRUE(test, list_empty(&scene->fake->endpoints));
}

/* All steps up to a connection. */
static void scene_begin(struct kunit *test, struct scene *scene)
{
	scene_listen(test, scene);
	scene_resolve(test, scene);
	KUNIT_ASSERT_EQ(test, 0, scene_connect(scene, "please"));
	scene_is_asked(test, scene, "please");
	KUNIT_ASSERT_EQ(test, 0, scene_accept(test, scene, "welcome"));
	hears(test, &scene->passive, RDMA_CM_EVENT_ESTABLISHED, 0, "");
	hears(test, &scene->active, RDMA_CM_EVENT_ESTABLISHED, 0, "welcome");
}

static struct scene *scene_connected(struct kunit *test)
{
	struct scene *scene = scene_new(test);

	scene_begin(test, scene);
	return scene;
}

/*
 * Without interference
 */

/* One message from one end to the other. */
struct message {
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
	char bytes[16];
};

static void message_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct message *message = container_of(wc->wr_cqe, struct message, cqe);

	message->status = wc->status;
	complete(&message->done);
}

static struct message *message_new(struct kunit *test, struct end *end, struct ib_sge *sge,
				   const char *bytes)
{
	struct message *message = kunit_kzalloc(test, sizeof(*message), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, message);
	message->cqe.done = message_done;
	init_completion(&message->done);
	strscpy(message->bytes, bytes, sizeof(message->bytes));
	*sge = (struct ib_sge) {
		.addr = (uintptr_t)message->bytes,
		.length = sizeof(message->bytes),
		.lkey = end->pd->local_dma_lkey,
	};
	return message;
}

static void sends(struct kunit *test, struct end *from, struct end *to)
{
	struct ib_sge sge;
	struct message *in = message_new(test, to, &sge, "");
	struct ib_recv_wr recv = { .wr_cqe = &in->cqe, .sg_list = &sge, .num_sge = 1 };
	struct ib_send_wr send = { .opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED };
	struct message *out;

	KUNIT_ASSERT_EQ(test, 0, ib_post_recv(to->id->qp, &recv, NULL));
	out = message_new(test, from, &sge, "hello");
	send.wr_cqe = &out->cqe;
	send.sg_list = &sge;
	send.num_sge = 1;
	KUNIT_ASSERT_EQ(test, 0, ib_post_send(from->id->qp, &send, NULL));
	KUNIT_ASSERT_NE(test, 0, wait_for_completion_timeout(&in->done, LONG_WHILE));
	KUNIT_ASSERT_NE(test, 0, wait_for_completion_timeout(&out->done, LONG_WHILE));
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, in->status);
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, out->status);
	KUNIT_EXPECT_STREQ(test, "hello", in->bytes);
}

static void test_connect(struct kunit *test)
{
	struct scene *scene = scene_connected(test);

	sends(test, &scene->active, &scene->passive);
	sends(test, &scene->passive, &scene->active);
	KUNIT_EXPECT_EQ(test, 0, rdma_disconnect(scene->active.id));
	hears(test, &scene->active, RDMA_CM_EVENT_DISCONNECTED, 0, "");
	hears(test, &scene->passive, RDMA_CM_EVENT_DISCONNECTED, 0, "");
	KUNIT_EXPECT_EQ(test, IB_QPS_ERR, fake_qp_state(scene->active.id->qp));
	KUNIT_EXPECT_EQ(test, IB_QPS_ERR, fake_qp_state(scene->passive.id->qp));
	scene_end(test, scene);
}

/* Whatever ends the connection, the other side gets an event, exactly one. */
static void test_ends_of_connections(struct kunit *test)
{
	struct ib_qp_attr error = { .qp_state = IB_QPS_ERR };
	struct scene *scene = scene_new(test);
	int way;

	for (way = 0; way < 4; way++) {
		scene_begin(test, scene);
		if (way == 0)
			KUNIT_EXPECT_EQ(test, 0, ib_modify_qp(scene->active.id->qp, &error,
							      IB_QP_STATE));
		else if (way == 1)
			fake_qp_fail(scene->active.id->qp);
		else if (way == 2)
			end_close(&scene->active);
		else
			KUNIT_EXPECT_EQ(test, 0, rdma_disconnect(scene->passive.id));
		hears(test, &scene->passive, RDMA_CM_EVENT_DISCONNECTED, 0, "");
		hears_nothing(test, scene, &scene->passive);
		scene_end(test, scene);
	}
}

static void test_reject(struct kunit *test)
{
	struct scene *scene = scene_new(test);

	scene_listen(test, scene);
	scene_resolve(test, scene);
	KUNIT_ASSERT_EQ(test, 0, scene_connect(scene, ""));
	scene_is_asked(test, scene, "");
	KUNIT_EXPECT_EQ(test, 0, rdma_reject(scene->passive.id, "no", 2, 0));
	hears(test, &scene->active, RDMA_CM_EVENT_REJECTED, -ECONNREFUSED, "no");
	scene_end(test, scene);
}

static void test_nobody_listens(struct kunit *test)
{
	struct scene *scene = scene_new(test);

	scene_resolve(test, scene);
	KUNIT_ASSERT_EQ(test, 0, scene_connect(scene, ""));
	hears(test, &scene->active, RDMA_CM_EVENT_REJECTED, -ECONNREFUSED, "");
	scene_end(test, scene);
}

/* Destroying an id that was not accepted rejects the request. */
static void test_nobody_answers(struct kunit *test)
{
	struct scene *scene = scene_new(test);

	scene_listen(test, scene);
	scene_resolve(test, scene);
	KUNIT_ASSERT_EQ(test, 0, scene_connect(scene, ""));
	scene_is_asked(test, scene, "");
	end_close(&scene->passive);
	hears(test, &scene->active, RDMA_CM_EVENT_REJECTED, -ECONNREFUSED, "");
	scene_end(test, scene);
}

/* Whatever the listener has got when it is destroyed, the connecting side gets an event. */
static void test_listeners_go(struct kunit *test)
{
	struct scene *scene = scene_new(test);
	int i;

	for (i = 0; i < 20; i++) {
		scene_listen(test, scene);
		scene->listener.refuse = -ECONNABORTED;
		scene_resolve(test, scene);
		KUNIT_ASSERT_EQ(test, 0, scene_connect(scene, ""));
		if (i % 2)
			fsleep(50 * i);
		end_close(&scene->listener);
		KUNIT_ASSERT_NE(test, 0, wait_for_completion_timeout(&scene->active.more,
								     LONG_WHILE));
		KUNIT_EXPECT_EQ(test, RDMA_CM_EVENT_REJECTED,
				scene->active.heard[scene->active.read++].event);
		scene_end(test, scene);
	}
}

/*
 * Scripts
 */

static void test_scripts_fail_calls(struct kunit *test)
{
	struct scene *scene = scene_new(test);
	struct sockaddr_in at = fake_address(PORT);
	struct end *listener = &scene->listener;

	fake_device_fail(scene->fake, FAKE_IW_LISTEN, 1, -EREMOTEIO);
	end_open(test, listener);
	KUNIT_ASSERT_EQ(test, 0, rdma_bind_addr(listener->id, (struct sockaddr *)&at));
	KUNIT_EXPECT_EQ(test, -EREMOTEIO, rdma_listen(listener->id, 4));
	end_close(listener);

	scene_listen(test, scene);
	scene_resolve(test, scene);
	fake_device_fail(scene->fake, FAKE_IW_CONNECT, 1, -EREMOTEIO);
	KUNIT_EXPECT_EQ(test, -EREMOTEIO, scene_connect(scene, ""));
	end_close(&scene->active);

	scene_resolve(test, scene);
	fake_device_fail(scene->fake, FAKE_IW_ACCEPT, 1, -EREMOTEIO);
	KUNIT_ASSERT_EQ(test, 0, scene_connect(scene, ""));
	scene_is_asked(test, scene, "");
	KUNIT_EXPECT_EQ(test, -EREMOTEIO, scene_accept(test, scene, ""));
	hears(test, &scene->active, RDMA_CM_EVENT_REJECTED, -ECONNRESET, "");
	end_close(&scene->active);
	end_close(&scene->passive);

	scene_resolve(test, scene);
	fake_device_fail(scene->fake, FAKE_IW_REJECT, 1, -EREMOTEIO);
	KUNIT_ASSERT_EQ(test, 0, scene_connect(scene, ""));
	scene_is_asked(test, scene, "");
	KUNIT_EXPECT_EQ(test, -EREMOTEIO, rdma_reject(scene->passive.id, "", 0, 0));
	hears(test, &scene->active, RDMA_CM_EVENT_REJECTED, -ECONNRESET, "");
	scene_end(test, scene);
}

static void test_replies(struct kunit *test)
{
	static const struct {
		int status;
		enum rdma_cm_event_type event;
	} cases[] = {
		{ 0, RDMA_CM_EVENT_ESTABLISHED },
		{ -ECONNREFUSED, RDMA_CM_EVENT_REJECTED },
		{ -ECONNRESET, RDMA_CM_EVENT_REJECTED },
		{ -ETIMEDOUT, RDMA_CM_EVENT_UNREACHABLE },
		{ -EHOSTUNREACH, RDMA_CM_EVENT_CONNECT_ERROR },
	};
	struct scene *scene = scene_new(test);
	struct end *active = &scene->active;
	struct fake_endpoint *endpoint;
	unsigned int i;
	u16 length;

	scene->fake->cm_manual = FAKE_MANUAL_CONNECT;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		scene_resolve(test, scene);
		KUNIT_ASSERT_EQ(test, 0, scene_connect(scene, "please"));
		endpoint = fake_cm_await(scene->fake, FAKE_CM_CONNECTING, LONG_WHILE_MS);
		KUNIT_ASSERT_NOT_NULL(test, endpoint);
		KUNIT_EXPECT_EQ(test, 0, strncmp("please",
						 fake_cm_private_data(endpoint, &length), 6));
		KUNIT_EXPECT_EQ(test, 6, length);
		hears_nothing(test, scene, active);
		KUNIT_EXPECT_EQ(test, 0, fake_cm_reply(endpoint, cases[i].status, "so", 2));
		hears(test, active, cases[i].event, cases[i].status, "so");
		KUNIT_EXPECT_EQ(test, -EINVAL, fake_cm_reply(endpoint, 0, NULL, 0));
		fake_cm_put(endpoint);
		end_close(active);
	}
	scene_end(test, scene);
}

static void test_connections_end_by_hand(struct kunit *test)
{
	struct scene *scene = scene_connected(test);
	struct end *active = &scene->active;
	struct fake_endpoint *endpoint = fake_cm_of_qp(active->id->qp);

	KUNIT_ASSERT_NOT_NULL(test, endpoint);
	KUNIT_EXPECT_EQ(test, FAKE_CM_CONNECTED, fake_cm_state_of(endpoint));
	scene->fake->cm_manual = FAKE_MANUAL_CLOSE;
	KUNIT_EXPECT_EQ(test, 0, rdma_disconnect(active->id));
	hears_nothing(test, scene, active);
	KUNIT_EXPECT_EQ(test, 0, fake_cm_disconnect(endpoint));
	KUNIT_EXPECT_EQ(test, 0, fake_cm_disconnect(endpoint));
	hears_nothing(test, scene, active);
	KUNIT_EXPECT_EQ(test, 0, fake_cm_close(endpoint));
	hears(test, active, RDMA_CM_EVENT_DISCONNECTED, 0, "");
	KUNIT_EXPECT_TRUE(test, fake_cm_reaches(endpoint, FAKE_CM_CLOSED, LONG_WHILE_MS));
	KUNIT_EXPECT_EQ(test, 0, fake_cm_close_again(endpoint));
	hears(test, active, RDMA_CM_EVENT_DISCONNECTED, 0, "");
	KUNIT_EXPECT_EQ(test, -EINVAL, fake_cm_close(endpoint));
	fake_cm_put(endpoint);

	hears_nothing(test, scene, &scene->passive);
	KUNIT_EXPECT_EQ(test, IB_QPS_RTS, fake_qp_state(scene->passive.id->qp));
	scene_end(test, scene);
}

static void test_imagined_peers_ask(struct kunit *test)
{
	struct scene *scene = scene_new(test);
	struct fake_endpoint *endpoint;
	u16 length;

	KUNIT_EXPECT_EQ(test, -ECONNREFUSED,
			PTR_ERR_OR_ZERO(fake_cm_request(scene->fake, PORT, "", 0)));
	scene_listen(test, scene);
	endpoint = fake_cm_request(scene->fake, PORT, "hear me", 7);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, endpoint);
	scene_is_asked(test, scene, "hear me");
	KUNIT_EXPECT_EQ(test, 0, rdma_reject(scene->passive.id, "no", 2, 0));
	KUNIT_EXPECT_EQ(test, FAKE_CM_REJECTED, fake_cm_state_of(endpoint));
	KUNIT_EXPECT_EQ(test, 0, strncmp("no", fake_cm_private_data(endpoint, &length), 2));
	KUNIT_EXPECT_EQ(test, 2, length);
	fake_cm_put(endpoint);
	end_close(&scene->passive);

	scene->fake->cm_manual = FAKE_MANUAL_ACCEPT;
	endpoint = fake_cm_request(scene->fake, PORT, "", 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, endpoint);
	scene_is_asked(test, scene, "");
	KUNIT_ASSERT_EQ(test, 0, scene_accept(test, scene, "yes"));
	KUNIT_EXPECT_EQ(test, FAKE_CM_ACCEPTED, fake_cm_state_of(endpoint));
	hears_nothing(test, scene, &scene->passive);
	KUNIT_EXPECT_EQ(test, 0, fake_cm_establish(endpoint));
	hears(test, &scene->passive, RDMA_CM_EVENT_ESTABLISHED, 0, "");
	KUNIT_EXPECT_EQ(test, 0, fake_cm_close(endpoint));
	hears(test, &scene->passive, RDMA_CM_EVENT_DISCONNECTED, 0, "");
	fake_cm_put(endpoint);
	scene_end(test, scene);
}

/* The passive side accepts a request of a peer that is gone, and gets the event afterwards. */
static void test_accept_fails_late(struct kunit *test)
{
	struct scene *scene = scene_new(test);
	struct fake_endpoint *endpoint;

	scene->fake->cm_manual = FAKE_MANUAL_ACCEPT;
	scene_listen(test, scene);
	scene_resolve(test, scene);
	KUNIT_ASSERT_EQ(test, 0, scene_connect(scene, ""));
	scene_is_asked(test, scene, "");
	KUNIT_ASSERT_EQ(test, 0, scene_accept(test, scene, ""));
	endpoint = fake_cm_await(scene->fake, FAKE_CM_CONNECTING, LONG_WHILE_MS);
	KUNIT_ASSERT_NOT_NULL(test, endpoint);
	KUNIT_EXPECT_EQ(test, 0, fake_cm_reply(endpoint, -ETIMEDOUT, NULL, 0));
	hears(test, &scene->active, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, "");
	fake_cm_put(endpoint);
	endpoint = fake_cm_of_qp(scene->passive.id->qp);
	KUNIT_ASSERT_NOT_NULL(test, endpoint);
	KUNIT_EXPECT_EQ(test, 0, fake_cm_establish(endpoint));
	hears(test, &scene->passive, RDMA_CM_EVENT_ESTABLISHED, 0, "");
	hears(test, &scene->passive, RDMA_CM_EVENT_DISCONNECTED, 0, "");
	fake_cm_put(endpoint);
	scene_end(test, scene);
}

/* The device is removed while a test holds all events back. */
static void test_devices_go(struct kunit *test)
{
	struct scene *scene = scene_new(test);

	scene->fake->cm_manual = FAKE_MANUAL_CONNECT;
	scene_resolve(test, scene);
	KUNIT_ASSERT_EQ(test, 0, scene_connect(scene, ""));
	fake_device_let_go(scene->fake);
	hears(test, &scene->active, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, "");
	scene_end(test, scene);
}

static struct kunit_case fake_cm_cases[] = {
	KUNIT_CASE(test_connect),
	KUNIT_CASE(test_ends_of_connections),
	KUNIT_CASE(test_reject),
	KUNIT_CASE(test_nobody_listens),
	KUNIT_CASE(test_nobody_answers),
	KUNIT_CASE(test_listeners_go),
	KUNIT_CASE(test_scripts_fail_calls),
	KUNIT_CASE(test_replies),
	KUNIT_CASE(test_connections_end_by_hand),
	KUNIT_CASE(test_imagined_peers_ask),
	KUNIT_CASE(test_accept_fails_late),
	KUNIT_CASE(test_devices_go),
	{}
};

static struct kunit_suite fake_cm_suite = {
	.name = "krdma_fake_cm",
	.init = test_objects_init,
	.test_cases = fake_cm_cases,
};

kunit_test_suite(fake_cm_suite);
