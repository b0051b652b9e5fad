// SPDX-License-Identifier: GPL-2.0
/*
 * Connections that memory reclaim waits for.
 */
#include <linux/delay.h>
#include <linux/dma-direction.h>
#include <linux/err.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "fixture.h"

/* Longer than a device may take to flush. */
#define RECLAIM_MS	10000

static bool reclaim_closes(struct core_test *test, struct krdma_conn *conn)
{
	struct krdma_conn_info info = {};

	for (int i = 0; i < RECLAIM_MS && info.state != KRDMA_CONN_CLOSED; i += 20) {
		msleep(20);
		krdma_conn_query(conn, &info);
	}
	return CORE_EQ(test, KRDMA_CONN_CLOSED, info.state);
}

/* A client of the same session as before connects to the same listener, and disconnects. */
static void reclaim_connect_again(struct core_pair *pair, struct core_end *end)
{
	struct core_test *test = pair->test;
	struct krdma_route route = { .remote = (struct sockaddr *)&pair->listen_address };
	struct krdma_conn *server;

	end->conn = krdma_conn_create(pair->client_session, &core_ops, end);
	if (!CORE_OK_PTR(test, end->conn) ||
	    !CORE_EQ(test, 0, krdma_conn_resolve(end->conn, &route)) ||
	    !CORE_EQ(test, 0, krdma_conn_wait(end->conn, RECLAIM_MS)) ||
	    !CORE_EQ(test, 0, krdma_conn_create_qp(end->conn, &pair->client_attr)) ||
	    !CORE_EQ(test, 0, krdma_conn_connect(end->conn, &pair->wr)))
		return;
	server = krdma_listener_next(pair->listener, NULL, NULL, RECLAIM_MS);
	if (!CORE_OK_PTR(test, server))
		return;
	/* Before the peer ends it. */
	if (CORE_EQ(test, 0, krdma_conn_accept(server, &pair->answer)) &&
	    CORE_EQ(test, 0, krdma_conn_wait(end->conn, RECLAIM_MS)))
		CORE_EQ(test, 0, krdma_conn_disconnect(end->conn));
	krdma_conn_abort(server);
	krdma_conn_put(server);
}

/*
 * When no thread can be started, connections of a session that memory reclaim depends on still end,
 * and others can be created.
 */
static void reclaim_without_threads(struct core_test *test)
{
	struct core_pair *pair = core_pair_alloc(test);
	struct core_starve *starve = NULL;
	struct core_end again = {};

	if (!pair)
		return;
	krdma_session_set_reclaim(pair->client_session);
	if (!core_pair_listen(pair, 0) || !core_pair_resolve(pair) || !core_pair_connect(pair) ||
	    !core_end_init(&again, test, NULL))
		goto out;
	/* krdma's pool: rxe has its threads in the other one. */
	starve = core_starve_begin(test, WQ_UNBOUND | WQ_HIGHPRI);
	if (!starve)
		goto out;
	krdma_conn_abort(pair->client.conn);
	if (!reclaim_closes(test, pair->client.conn))
		goto out;
	reclaim_connect_again(pair, &again);
	if (!IS_ERR_OR_NULL(again.conn))
		reclaim_closes(test, again.conn);
out:
	core_starve_end(starve);
	core_end_close(&again);
	core_end_free(&again);
	core_pair_close(pair);
}

/*
 * The end of a connection whose consumer still has pages mapped keeps no thread from ending others.
 * The consumer may need the end of those before it unmaps.
 */
static void reclaim_with_mapped_pages(struct core_test *test)
{
	struct core_pair *pair = core_pair_alloc(test);
	struct core_starve *starve = NULL;
	struct krdma_conn_info info = {};
	struct core_end again = {};
	struct scatterlist sg;
	void *page;
	int mapped = 0;

	if (!pair)
		return;
	krdma_session_set_reclaim(pair->client_session);
	page = kzalloc(PAGE_SIZE, GFP_KERNEL);
	if (!CORE_TRUE(test, page) || !core_pair_listen(pair, 0) || !core_pair_resolve(pair) ||
	    !core_pair_connect(pair) || !core_end_init(&again, test, NULL))
		goto out;
	sg_init_one(&sg, page, PAGE_SIZE);
	mapped = krdma_conn_map_sg(pair->client.conn, &sg, 1, DMA_TO_DEVICE);
	if (!CORE_EQ(test, 1, mapped))
		goto out;
	starve = core_starve_begin(test, WQ_UNBOUND | WQ_HIGHPRI);
	if (!starve)
		goto out;
	krdma_conn_abort(pair->client.conn);
	reclaim_connect_again(pair, &again);
	if (!IS_ERR_OR_NULL(again.conn))
		reclaim_closes(test, again.conn);
	krdma_conn_query(pair->client.conn, &info);
	CORE_EQ(test, KRDMA_CONN_CLOSING, info.state);
out:
	if (mapped > 0)
		krdma_conn_unmap_sg(pair->client.conn, &sg, 1, DMA_TO_DEVICE);
	if (starve)
		reclaim_closes(test, pair->client.conn);
	core_starve_end(starve);
	core_end_close(&again);
	core_end_free(&again);
	core_pair_close(pair);
	kfree(page);
}

const struct core_case core_reclaim_cases[] = {
	CORE_CASE_CONTEXTS(reclaim_without_threads),
	CORE_CASE(reclaim_with_mapped_pages),
	{},
};
