// SPDX-License-Identifier: GPL-2.0
/*
 * A client and a server with lanes, on a fake device.
 */
#include "cm/conn.h"
#include "lane/lane.h"
#include "lane_stage.h"

struct krdma_lane *lane_of(struct actor *actor)
{
	return krdma_lane_of(actor->conn->lower);
}

void lane_listen(struct stage *stage)
{
	struct sockaddr_in at = fake_address(STAGE_PORT);
	struct krdma_listen_attr attr = { .local = (struct sockaddr *)&at, .lanes = true };

	stage->listener = krdma_listen(stage->session, &attr);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(stage->test, stage->listener);
}

void lane_begin(struct stage *stage, struct actor *actor, u16 port)
{
	struct sockaddr_in to = fake_address(port);
	struct krdma_route route = { .remote = (struct sockaddr *)&to };

	actor_begin(actor);
	actor->conn = krdma_conn_create_lane(stage->session, &actor_ops, actor);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(stage->test, actor->conn);
	KUNIT_ASSERT_EQ(stage->test, 0, krdma_conn_resolve(actor->conn, &route));
}

void lane_resolve(struct stage *stage, struct actor *actor)
{
	lane_begin(stage, actor, STAGE_PORT);
	KUNIT_ASSERT_EQ(stage->test, 0, krdma_conn_wait(actor->conn, STAGE_LONG_MS));
	KUNIT_ASSERT_TRUE(stage->test, actor->conn->lower->used);
}

void lane_ask(struct stage *stage, struct actor *client, struct krdma_conn_attr *attr)
{
	lane_resolve(stage, client);
	KUNIT_ASSERT_EQ(stage->test, 0, krdma_conn_create_qp(client->conn, attr));
	KUNIT_ASSERT_EQ(stage->test, 0, actor_connect(client, ""));
}

void lane_join(struct stage *stage, struct actor *client, struct actor *server, u32 depth)
{
	struct krdma_conn_attr attr = { .send_depth = depth, .recv_depth = depth };
	struct kunit *test = stage->test;

	lane_ask(stage, client, &attr);
	actor_begin(server);
	server->conn = krdma_listener_next(stage->listener, &actor_ops, server, STAGE_LONG_MS);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, server->conn);
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_create_qp(server->conn, &attr));
	KUNIT_ASSERT_EQ(test, 0, actor_accept(server, ""));
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(server->conn, STAGE_LONG_MS));
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(client->conn, STAGE_LONG_MS));
}

void lane_connect(struct stage *stage, u32 depth)
{
	lane_join(stage, &stage->client, &stage->server, depth);
}

struct stage *lane_stage_tuned(struct kunit *test, void (*tune)(struct fake_device *fake))
{
	struct stage *stage = stage_new(test, tune);

	lane_listen(stage);
	return stage;
}

struct stage *lane_stage(struct kunit *test)
{
	return lane_stage_tuned(test, NULL);
}

int actor_message(struct actor *actor)
{
	struct krdma_send_wr wr = { .opcode = KRDMA_OP_SEND };

	return krdma_conn_post_send(actor->conn, &wr, 1);
}
