// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes: a peer that speaks the protocol of trunks by itself.
 *
 * A stranger is one that connects, and a host is one that accepts.  Each sees the frames that krdma
 * sends, and counts them.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/in.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "fixture.h"
#include "lanes.h"

/* From where strangers open lanes, and a port for which a program needs a right. */
#define LANE_OWN_PORT	50000
#define LANE_RIGHT_PORT	700

const u8 lane_hello[24] = {
	'K', 'R', 'L', 'N', 1, 1, 0, 0, 0, 16, LANE_FRAMES,
};

void lane_stranger_close(struct lane_stranger *stranger)
{
	core_end_close(&stranger->end);
	core_buffer_free(stranger->end.test, &stranger->from);
	core_buffer_free(stranger->end.test, &stranger->to);
	if (!IS_ERR_OR_NULL(stranger->session))
		krdma_session_put(stranger->session);
	core_end_free(&stranger->end);
	kfree(stranger);
}

/* Receives for the frames that it may get. */
static bool lane_stranger_prepare(struct lane_stranger *stranger)
{
	struct krdma_conn_attr attr = { .recv_depth = LANE_FRAMES };
	struct core_test *test = stranger->end.test;

	if (!CORE_EQ(test, 0, krdma_conn_create_qp(stranger->end.conn, &attr)))
		return false;
	for (int i = 0; i < LANE_FRAMES; i++)
		CORE_EQ(test, 1, core_receive(&stranger->end, i, &stranger->to, i * LANE_FRAME,
					      LANE_FRAME));
	return true;
}

static bool lane_stranger_connect(struct lane_stranger *stranger, const u8 *hello, u8 length)
{
	struct core_test *test = stranger->end.test;
	struct krdma_conn_param param = { .private_data = hello, .private_data_len = length };
	struct sockaddr_storage remote = test->address;
	struct krdma_route route = { .remote = (struct sockaddr *)&remote };

	((struct sockaddr_in *)&remote)->sin_port = htons(LANE_PORT);
	stranger->end.conn = krdma_conn_create(stranger->session, &core_ops, &stranger->end);
	return CORE_OK_PTR(test, stranger->end.conn) &&
	       CORE_EQ(test, 0, krdma_conn_resolve(stranger->end.conn, &route)) &&
	       CORE_EQ(test, 0, krdma_conn_wait(stranger->end.conn, CORE_TIMEOUT_MS)) &&
	       lane_stranger_prepare(stranger) &&
	       CORE_EQ(test, 0, krdma_conn_connect(stranger->end.conn, &param));
}

static struct lane_stranger *lane_stranger_alloc(struct core_test *test)
{
	struct lane_stranger *stranger = kzalloc_obj(*stranger, GFP_KERNEL);

	if (!CORE_TRUE(test, stranger))
		return NULL;
	stranger->session = krdma_session_create(test->net);
	if (core_end_init(&stranger->end, test, NULL) &&
	    CORE_OK_PTR(test, stranger->session) &&
	    core_buffer_make(test, &stranger->from, stranger->session, 2 * LANE_FRAME, 0) &&
	    core_buffer_make(test, &stranger->to, stranger->session, LANE_FRAMES * LANE_FRAME,
			     KRDMA_ACCESS_LOCAL_WRITE))
		return stranger;
	lane_stranger_close(stranger);
	return NULL;
}

struct lane_stranger *lane_stranger_open(struct core_test *test, const u8 *hello, u8 length)
{
	struct lane_stranger *stranger = lane_stranger_alloc(test);

	if (!stranger || lane_stranger_connect(stranger, hello, length))
		return stranger;
	lane_stranger_close(stranger);
	return NULL;
}

void lane_put(u8 *to, u32 value)
{
	for (int i = 0; i < 4; i++)
		to[i] = value >> 8 * i & 0xff;
}

/* Adds a record without data to the frame, and returns its length. */
/* Of an OPEN, which ends at @end. */
static void lane_set_port(u8 *end, u16 port)
{
	end[-8] = port & 0xff;
	end[-7] = port >> 8;
}

u32 lane_add(struct lane_stranger *stranger, u32 used, u8 type, u8 flags, u32 lane, u32 value)
{
	u8 *frame = stranger->from.data;
	u8 body = type == OPEN || type == ACCEPT ? 8 : 0;

	memset(frame + used, 0, 16 + body);
	frame[used] = type;
	frame[used + 1] = flags;
	frame[used + 2] = body;
	lane_put(frame + used + 4, lane);
	lane_put(frame + used + 12, value);
	if (type == OPEN)
		lane_set_port(frame + used + 16 + body, LANE_OWN_PORT);
	frame[2]++;
	return used + 16 + body;
}

u32 lane_begin(struct lane_stranger *stranger)
{
	memset(stranger->from.data, 0, 16);
	stranger->from.data[0] = 1;
	return 16;
}

static void lane_set(struct lane_stranger *stranger, u32 length, u32 grant)
{
	stranger->from.data[4] = length & 0xff;
	stranger->from.data[5] = length >> 8;
	lane_put(stranger->from.data + 8, grant);
}

void lane_post(struct lane_stranger *stranger, u32 length, u32 grant)
{
	lane_set(stranger, length, grant);
	CORE_EQ(stranger->end.test, 1,
		core_send(&stranger->end, 99, &stranger->from, 0, length, 0));
	core_expect_send(&stranger->end, 99, KRDMA_WC_SUCCESS);
}

void lane_post_violation(struct lane_stranger *stranger, u32 length, u32 grant)
{
	struct krdma_wc wc;

	lane_set(stranger, length, grant);
	CORE_EQ(stranger->end.test, 1,
		core_send(&stranger->end, 99, &stranger->from, 0, length, 0));
	CORE_TRUE(stranger->end.test, core_await_send(&stranger->end, &wc, CORE_TIMEOUT_MS));
}

void lane_expect_alive(struct core_pair *pair)
{
	CORE_EQ(pair->test, 1, core_receive_empty(&pair->server, 1));
	CORE_EQ(pair->test, 1, core_send(&pair->client, 2, &(struct core_buffer) {}, 0, 0, 0));
	core_expect_receive(&pair->server, 1, KRDMA_WC_SUCCESS, 0, NULL);
	core_expect_send(&pair->client, 2, KRDMA_WC_SUCCESS);
}

/* One violation for each number; returns false behind the last. */
static bool lane_violate(struct lane_stranger *stranger, u16 port, int number)
{
	u32 used = lane_begin(stranger);
	u32 grant = LANE_FRAMES;

	switch (number) {
	case 0:
		/* A lane that was not opened. */
		used = lane_add(stranger, used, DATA, 3, 1, 0);
		break;
	case 1:
		/* Not the next number. */
		used = lane_add(stranger, used, OPEN, 0, 2, port);
		break;
	case 2:
		/* The other side's records. */
		used = lane_add(stranger, used, FOUND, 0, 1, 1);
		break;
	case 3:
		used = lane_add(stranger, used, OPEN, 0, 1, port);
		used = lane_add(stranger, used, ACCEPT, 0, 1, 0);
		break;
	case 4:
		/* A message before the lane is accepted. */
		used = lane_add(stranger, used, OPEN, 0, 1, port);
		used = lane_add(stranger, used, DATA, 3, 1, 0);
		break;
	case 5:
		/* A frame that is taken back. */
		grant--;
		break;
	case 6:
		/* A record that is cut off. */
		used = lane_add(stranger, used, FIND, 0, 1, port) - 8;
		break;
	case 7:
		/* An unknown type. */
		used = lane_add(stranger, used, 77, 0, 1, 0);
		break;
	default:
		return false;
	}
	lane_post_violation(stranger, used, grant);
	return true;
}

/* What the other end answers to a question, and to a lane that no listener takes. */
static void lane_ask(struct core_test *test, u16 port)
{
	struct lane_stranger *stranger;
	u8 *answer;
	u32 used;

	stranger = lane_stranger_open(test, lane_hello, sizeof(lane_hello));
	if (!stranger)
		return;
	CORE_EQ(test, 0, krdma_conn_wait(stranger->end.conn, CORE_TIMEOUT_MS));
	used = lane_begin(stranger);
	used = lane_add(stranger, used, FIND, 0, 5, port);
	used = lane_add(stranger, used, 200, 0, 1, 2);
	used = lane_add(stranger, used, FIND, 0, 6, port ^ 1);
	used = lane_add(stranger, used, OPEN, 0, 1, port ^ 1);
	/* It was rejected, so this is late. */
	used = lane_add(stranger, used, CLOSE, 0, 1, 0);
	lane_post(stranger, used, LANE_FRAMES);
	if (core_expect_receive(&stranger->end, 0, KRDMA_WC_SUCCESS, 64, NULL)) {
		answer = stranger->to.data + 16;
		CORE_EQ(test, FOUND, answer[0]);
		CORE_EQ(test, 5, answer[4]);
		CORE_EQ(test, 1, answer[12]);
		CORE_EQ(test, FOUND, answer[16]);
		CORE_EQ(test, 6, answer[20]);
		CORE_EQ(test, 0, answer[28]);
		CORE_EQ(test, REJECT, answer[32]);
		CORE_EQ(test, 1, answer[36]);
		CORE_EQ(test, 1, answer[44]);
	}
	lane_stranger_close(stranger);
}

/* Closes what was asked for and given up. */
void lane_drop_requests(struct krdma_listener *listener)
{
	struct krdma_conn *conn;

	do {
		conn = krdma_listener_next(listener, NULL, NULL, 0);
		if (!IS_ERR(conn)) {
			krdma_conn_close(conn);
			krdma_conn_put(conn);
		}
	} while (!IS_ERR(conn));
}

u16 lane_port_of(struct core_pair *pair)
{
	return ntohs(((struct sockaddr_in *)&pair->listen_address)->sin_port);
}

/* What follows an OPEN waits until the listener has the lane, also if it is in the next frame. */
/* Proves: F14 */
static void lane_opens_in_order(struct core_test *test)
{
	struct core_pair *pair = lane_open(test);
	struct lane_stranger *stranger;
	u32 opens, used;
	u16 port;

	if (!pair)
		return;
	port = lane_port_of(pair);
	stranger = lane_stranger_open(test, lane_hello, sizeof(lane_hello));
	if (!stranger)
		goto out;
	CORE_EQ(test, 0, krdma_conn_wait(stranger->end.conn, CORE_TIMEOUT_MS));
	used = lane_begin(stranger);
	for (int i = 1; i <= LANE_OPENS; i++)
		used = lane_add(stranger, used, OPEN, 0, i, port);
	lane_set(stranger, used, LANE_FRAMES);
	memcpy(stranger->from.data + LANE_FRAME, stranger->from.data, used);
	opens = used;
	used = lane_begin(stranger);
	for (int i = 1; i <= LANE_OPENS; i++)
		used = lane_add(stranger, used, CLOSE, 0, i, 0);
	used = lane_add(stranger, used, FIND, 0, 7, port);
	/* One behind the other: the second one arrives while the first one is carried out. */
	CORE_EQ(test, 1, core_send(&stranger->end, 98, &stranger->from, LANE_FRAME, opens, 0));
	lane_set(stranger, used, LANE_FRAMES);
	CORE_EQ(test, 1, core_send(&stranger->end, 99, &stranger->from, 0, used, 0));
	core_expect_send(&stranger->end, 98, KRDMA_WC_SUCCESS);
	core_expect_send(&stranger->end, 99, KRDMA_WC_SUCCESS);
	if (core_expect_receive(&stranger->end, 0, KRDMA_WC_SUCCESS, 32, NULL))
		CORE_EQ(test, FOUND, stranger->to.data[16]);
	lane_stranger_close(stranger);
out:
	lane_drop_requests(pair->listener);
	core_pair_close(pair);
}

/* A peer that violates the protocol loses its trunk, and no other lane notices. */
/* Proves: F14 */
static void lane_violations(struct core_test *test)
{
	struct core_pair *pair = lane_open(test);
	struct lane_stranger *stranger;
	bool more = true;
	u16 port;

	if (!pair)
		return;
	port = lane_port_of(pair);
	lane_ask(test, port);
	for (int i = 0; more && !test->failures; i++) {
		stranger = lane_stranger_open(test, lane_hello, sizeof(lane_hello));
		if (!stranger)
			break;
		CORE_EQ(test, 0, krdma_conn_wait(stranger->end.conn, CORE_TIMEOUT_MS));
		more = lane_violate(stranger, port, i);
		if (more)
			core_check(test, core_await_event(&stranger->end, KRDMA_EVENT_CLOSED,
							  CORE_TIMEOUT_MS),
				   __func__, __LINE__, "violation %d is none", i);
		lane_stranger_close(stranger);
	}
	lane_drop_requests(pair->listener);

	/* No greeting. */
	stranger = lane_stranger_open(test, lane_hello + 1, sizeof(lane_hello) - 1);
	if (stranger) {
		CORE_EQ(test, -ECONNREFUSED,
			krdma_conn_wait(stranger->end.conn, CORE_TIMEOUT_MS));
		lane_stranger_close(stranger);
	}

	lane_expect_alive(pair);
	core_pair_close(pair);
}

/*
 * Many at a time
 */

/* Bytes of a record of OPEN or ACCEPT without private data. */
#define LANE_OPEN_SIZE	24

/* One frame brings @count records of @type, each of @size bytes and for the next lane. */
static void lane_expect_frame(struct lane_stranger *stranger, u32 index, u8 type, u32 size,
			      u32 first, u32 count)
{
	struct core_test *test = stranger->end.test;
	const u8 *record = stranger->to.data + index * LANE_FRAME + LANE_HEADER;

	if (!core_expect_receive(&stranger->end, index, KRDMA_WC_SUCCESS,
				 LANE_HEADER + count * size, NULL))
		return;
	for (u32 i = 0; i < count; i++, record += size) {
		CORE_EQ(test, type, record[0]);
		CORE_EQ(test, first + i, record[4] | record[5] << 8);
	}
}

/* So do several frames, if @several; otherwise one has all.  Returns the number of frames. */
static u32 lane_expect_frames(struct lane_stranger *stranger, u32 index, u8 type, u32 size,
			      u32 first, u32 count, bool several)
{
	struct core_test *test = stranger->end.test;
	struct krdma_wc wc;
	u32 frames = 0;
	u32 records;

	while (count && CORE_TRUE(test, core_await_receive(&stranger->end, &wc, CORE_TIMEOUT_MS)) &&
	       CORE_EQ(test, index + frames, wc.wr_id)) {
		const u8 *record = stranger->to.data + wc.wr_id * LANE_FRAME + LANE_HEADER;

		records = (wc.length - LANE_HEADER) / size;
		if (!CORE_TRUE(test, records && records <= count && (several || records == count)))
			break;
		for (u32 i = 0; i < records; i++, record += size) {
			CORE_EQ(test, type, record[0]);
			CORE_EQ(test, first + i, record[4] | record[5] << 8);
		}
		first += records;
		count -= records;
		frames++;
	}
	return frames;
}

/* What a crowd of one side consists of. */
struct lane_side {
	struct krdma_conn *conns[LANE_OPENS];
	struct krdma_conn_many many[LANE_OPENS];
};

static void lane_close_many(struct krdma_conn *const *conns, unsigned int count)
{
	krdma_conn_end_many(conns, count);
	for (unsigned int i = 0; i < count; i++) {
		if (conns[i])
			krdma_conn_close(conns[i]);
	}
}

static void lane_side_free(struct lane_side *side)
{
	if (!side)
		return;
	lane_close_many(side->conns, LANE_OPENS);
	for (int i = 0; i < LANE_OPENS; i++)
		krdma_conn_put(side->conns[i]);
	kfree(side);
}

const struct krdma_conn_attr lane_small = { .send_depth = 2, .recv_depth = 2 };

/*
 * The answers to many requests are one frame, and so are their ends.  Those that cannot be accepted
 * keep no other one from that.
 */
/* Proves: F14 */
static void lane_accepts_many(struct core_test *test)
{
	struct lane_side *side = kzalloc_obj(*side, GFP_KERNEL);
	struct core_pair *pair = lane_open(test);
	struct lane_stranger *stranger = NULL;
	unsigned long begun;
	u32 used, frames;
	bool late;

	if (!pair || !CORE_TRUE(test, side))
		goto out;
	stranger = lane_stranger_open(test, lane_hello, sizeof(lane_hello));
	if (!stranger)
		goto out;
	CORE_EQ(test, 0, krdma_conn_wait(stranger->end.conn, CORE_TIMEOUT_MS));
	used = lane_begin(stranger);
	for (int i = 1; i <= LANE_OPENS; i++)
		used = lane_add(stranger, used, OPEN, 0, i, lane_port_of(pair));
	lane_post(stranger, used, LANE_FRAMES);
	for (int i = 0; i < LANE_OPENS; i++) {
		side->conns[i] = krdma_listener_next(pair->listener, NULL, NULL, CORE_TIMEOUT_MS);
		if (!CORE_OK_PTR(test, side->conns[i])) {
			side->conns[i] = NULL;
			goto out;
		}
		side->many[i].conn = side->conns[i];
		CORE_EQ(test, 0, krdma_conn_create_qp(side->conns[i], &lane_small));
	}
	/* Too much private data, a limit of the device, and one that is there twice. */
	side->many[0].param.private_data = stranger->to.data;
	side->many[0].param.private_data_len = 252;
	side->many[1].param.retry_count = 8;
	side->many[2].conn = side->conns[3];
	CORE_EQ(test, LANE_OPENS - 3, krdma_conn_accept_many(side->many, LANE_OPENS));
	CORE_EQ(test, -EMSGSIZE, side->many[0].error);
	CORE_EQ(test, -EINVAL, side->many[1].error);
	CORE_EQ(test, 0, side->many[2].error);
	CORE_EQ(test, -EISCONN, side->many[3].error);
	for (int i = 4; i < LANE_OPENS; i++)
		CORE_EQ(test, 0, side->many[i].error);
	lane_expect_frame(stranger, 0, ACCEPT, LANE_OPEN_SIZE, 4, LANE_OPENS - 3);
	for (int i = 3; i < LANE_OPENS; i++)
		CORE_EQ(test, 0, krdma_conn_wait(side->conns[i], CORE_TIMEOUT_MS));

	begun = jiffies;
	lane_close_many(side->conns + 3, LANE_OPENS - 3);
	/* An end does not wait for others for longer than a tick. */
	late = time_after(jiffies, begun);
	for (int i = 3; i < LANE_OPENS; i++)
		CORE_EQ(test, -ENOTCONN, krdma_conn_wait(side->conns[i], 0));
	frames = 1 + lane_expect_frames(stranger, 1, CLOSE, LANE_HEADER, 4, LANE_OPENS - 3, late);
	/* Those that were not accepted are rejected. */
	begun = jiffies;
	lane_close_many(side->conns, 3);
	late = time_after(jiffies, begun);
	lane_expect_frames(stranger, frames, REJECT, LANE_HEADER, 1, 3, late);
	core_expect_nothing(&stranger->end);
out:
	lane_side_free(side);
	if (stranger)
		lane_stranger_close(stranger);
	core_pair_close(pair);
}

void lane_drop(struct krdma_conn *conn)
{
	if (!conn)
		return;
	krdma_conn_close(conn);
	krdma_conn_put(conn);
}

/* Takes the next request. */
static struct krdma_conn *lane_take(struct core_pair *pair)
{
	struct krdma_conn *conn = krdma_listener_next(pair->listener, NULL, NULL,
						      CORE_TIMEOUT_MS);

	if (!CORE_OK_PTR(pair->test, conn))
		return NULL;
	CORE_EQ(pair->test, 0, krdma_conn_create_qp(conn, &lane_small));
	return conn;
}

/* Does the end of a first lane go with the answer to a second one? */
static bool lane_end_with_answer(struct core_pair *pair, struct lane_stranger *stranger)
{
	struct krdma_conn *first, *second = NULL;
	struct krdma_wc wc = {};
	u32 used;

	used = lane_begin(stranger);
	used = lane_add(stranger, used, OPEN, 0, 1, lane_port_of(pair));
	used = lane_add(stranger, used, OPEN, 0, 2, lane_port_of(pair));
	lane_post(stranger, used, LANE_FRAMES);
	first = lane_take(pair);
	if (first)
		second = lane_take(pair);
	if (second) {
		CORE_EQ(pair->test, 0, krdma_conn_accept(first, &(struct krdma_conn_param) {}));
		lane_expect_frame(stranger, 0, ACCEPT, LANE_OPEN_SIZE, 1, 1);
		krdma_conn_close(first);
		/* A work item that was queued runs now. */
		usleep_range(200, 400);
		CORE_EQ(pair->test, 0, krdma_conn_accept(second, &(struct krdma_conn_param) {}));
		CORE_TRUE(pair->test,
			  core_await_receive(&stranger->end, &wc, CORE_TIMEOUT_MS));
	}
	lane_drop(first);
	lane_drop(second);
	if (wc.length != LANE_HEADER + LANE_HEADER + LANE_OPEN_SIZE)
		return false;
	/* The end of the second one finds nothing to go with. */
	lane_expect_frame(stranger, 2, CLOSE, LANE_HEADER, 2, 1);
	return true;
}

#define LANE_END_TRIES	5

/*
 * The end of a lane waits for a tick of the clock, and goes with what is sent until then.  A busy
 * machine can take longer.
 */
/* Proves: F14 */
static void lane_end_goes_along(struct core_test *test)
{
	struct core_pair *pair = lane_open(test);
	bool along = false;

	if (!pair)
		return;
	for (int i = 0; i < LANE_END_TRIES && !along && !test->failures; i++) {
		struct lane_stranger *stranger;

		stranger = lane_stranger_open(test, lane_hello, sizeof(lane_hello));
		if (!stranger)
			break;
		CORE_EQ(test, 0, krdma_conn_wait(stranger->end.conn, CORE_TIMEOUT_MS));
		along = lane_end_with_answer(pair, stranger);
		lane_stranger_close(stranger);
	}
	CORE_TRUE(test, along);
	core_pair_close(pair);
}

/*
 * A host: its listener at the port of trunks is not krdma's, so no listener here takes lanes.
 */

static const u8 lane_host_hello[24] = {
	'K', 'R', 'L', 'N', 1, 1, 0, 0, 0, 16, LANE_FRAMES, 0, 200, 0, 0, 0,
};

/* Longer than a trunk remembers a listener. */
#define LANE_KNOWN_MS	1100
/* Longer than a host counts as one without lanes, and than an idle trunk stays. */
#define LANE_HOST_ABSENT_MS	11000
/* How long a question may take, and how often it may fail to come. */
#define LANE_HOST_ASKS_MS	5000
#define LANE_HOST_TRIES		3

struct krdma_conn *lane_host_resolve(struct lane_stranger *host, u16 port,
				     const struct sockaddr *local)
{
	struct core_test *test = host->end.test;
	struct sockaddr_storage remote = test->address;
	struct krdma_route route = { .remote = (struct sockaddr *)&remote, .local = local };
	struct krdma_conn *conn;

	((struct sockaddr_in *)&remote)->sin_port = htons(port);
	conn = krdma_conn_create_lane(host->session, NULL, NULL);
	if (!CORE_OK_PTR(test, conn))
		return NULL;
	CORE_EQ(test, 0, krdma_conn_resolve(conn, &route));
	return conn;
}

static bool lane_host_accept(struct lane_stranger *host, struct krdma_listener *listener)
{
	struct krdma_conn_param param = {
		.private_data = lane_host_hello,
		.private_data_len = sizeof(lane_host_hello),
	};
	struct core_test *test = host->end.test;

	host->end.conn = krdma_listener_next(listener, &core_ops, &host->end, CORE_TIMEOUT_MS);
	return CORE_OK_PTR(test, host->end.conn) && lane_stranger_prepare(host) &&
	       CORE_EQ(test, 0, krdma_conn_accept(host->end.conn, &param)) &&
	       CORE_EQ(test, 0, krdma_conn_wait(host->end.conn, CORE_TIMEOUT_MS));
}

/* The next frame asks for the port.  Returns the number of the question. */
static u32 lane_host_asked(struct lane_stranger *host, u32 index, u16 port)
{
	const u8 *record = host->to.data + index * LANE_FRAME + LANE_HEADER;
	struct core_test *test = host->end.test;

	if (!core_expect_receive(&host->end, index, KRDMA_WC_SUCCESS, 2 * LANE_HEADER, NULL))
		return 0;
	CORE_EQ(test, FIND, record[0]);
	CORE_EQ(test, port, record[12] | record[13] << 8);
	return record[4];
}

static void lane_host_answer(struct lane_stranger *host, u8 type, u32 number, u32 value)
{
	u32 used = lane_begin(host);

	used = lane_add(host, used, type, 0, number, value);
	lane_post(host, used, LANE_FRAMES);
}

/* Is it a lane once it is resolved? */
bool lane_host_resolved(struct lane_stranger *host, struct krdma_conn *conn)
{
	struct krdma_conn_info info;

	CORE_EQ(host->end.test, 0, krdma_conn_wait(conn, CORE_TIMEOUT_MS));
	krdma_conn_query(conn, &info);
	CORE_EQ(host->end.test, KRDMA_CONN_RESOLVED, info.state);
	return info.lane;
}

/* Has a client ask the host.  Its question is frame number 0. */
static struct krdma_conn *lane_host_find(struct lane_stranger *host)
{
	struct sockaddr_storage local = host->end.test->address;
	struct krdma_listen_attr attr = { .local = (struct sockaddr *)&local };
	struct krdma_listener *listener;
	struct krdma_conn *conn;

	((struct sockaddr_in *)&local)->sin_port = htons(LANE_PORT);
	listener = krdma_listen(host->session, &attr);
	if (!CORE_OK_PTR(host->end.test, listener))
		return NULL;
	conn = lane_host_resolve(host, LANE_HOST_PORT, NULL);
	if (conn && (!lane_host_accept(host, listener) ||
		     !core_await_told(&host->end, 1, LANE_HOST_ASKS_MS))) {
		lane_drop(conn);
		conn = NULL;
	}
	krdma_listener_close(listener);
	krdma_listener_put(listener);
	return conn;
}

/*
 * The host, after a first question to which the answer is yes.  In the debug kernel the trunk can
 * take longer than the client waits for it, and then there is no question.
 */
struct lane_stranger *lane_host_open(struct core_test *test)
{
	struct lane_stranger *host = NULL;
	struct krdma_conn *conn = NULL;

	for (int i = 0; i < LANE_HOST_TRIES && !conn; i++) {
		if (host)
			lane_stranger_close(host);
		host = lane_stranger_alloc(test);
		if (!host)
			return NULL;
		/* What other cases have left of trunks, or of hosts without them, must be gone. */
		msleep(LANE_HOST_ABSENT_MS);
		conn = lane_host_find(host);
	}
	if (CORE_TRUE(test, conn)) {
		lane_host_answer(host, FOUND, lane_host_asked(host, 0, LANE_HOST_PORT), 1);
		CORE_TRUE(test, lane_host_resolved(host, conn));
		lane_drop(conn);
	}
	if (!test->failures)
		return host;
	lane_stranger_close(host);
	return NULL;
}

/*
 * Where a listener has just taken a lane, the next one is not resolved and not asked for.
 * Elsewhere, or later, it is.
 */
/* Proves: F14 */
static void lane_to_a_known_listener(struct core_test *test)
{
	struct sockaddr_storage local = test->address, of_conn[2];
	struct lane_stranger *host = lane_host_open(test);
	struct krdma_conn *conn;

	if (!host)
		return;
	conn = lane_host_resolve(host, LANE_HOST_PORT, NULL);
	CORE_EQ(test, 0, krdma_conn_wait(conn, 0));
	CORE_TRUE(test, lane_host_resolved(host, conn));
	CORE_TRUE(test, krdma_conn_device(conn) == test->dev);
	CORE_EQ(test, 0, krdma_conn_addresses(conn, &of_conn[0], &of_conn[1]));
	CORE_EQ(test, LANE_HOST_PORT, ntohs(((struct sockaddr_in *)&of_conn[1])->sin_port));
	CORE_TRUE(test, ntohs(((struct sockaddr_in *)&of_conn[0])->sin_port) >= 49152);
	((struct sockaddr_in *)&of_conn[0])->sin_port = 0;
	((struct sockaddr_in *)&local)->sin_port = 0;
	CORE_TRUE(test, !memcmp(&of_conn[0], &local, 24));
	lane_drop(conn);

	/* The same local address, but chosen by the consumer. */
	conn = lane_host_resolve(host, LANE_HOST_PORT, (struct sockaddr *)&local);
	CORE_EQ(test, 0, krdma_conn_wait(conn, 0));
	lane_drop(conn);
	core_expect_nothing(&host->end);

	/* A local port is the connection manager's. */
	((struct sockaddr_in *)&local)->sin_port = htons(LANE_HOST_PORT + 1);
	conn = lane_host_resolve(host, LANE_HOST_PORT, (struct sockaddr *)&local);
	lane_host_answer(host, FOUND, lane_host_asked(host, 1, LANE_HOST_PORT), 1);
	CORE_TRUE(test, lane_host_resolved(host, conn));
	lane_drop(conn);

	/* The peer would have to believe that this side has a right to the port. */
	((struct sockaddr_in *)&local)->sin_port = htons(LANE_RIGHT_PORT);
	conn = lane_host_resolve(host, LANE_HOST_PORT, (struct sockaddr *)&local);
	CORE_TRUE(test, !lane_host_resolved(host, conn));
	lane_drop(conn);

	/* Another port is asked for, and is not known to take lanes afterwards. */
	for (int i = 2; i < 4; i++) {
		conn = lane_host_resolve(host, LANE_HOST_PORT + 2, NULL);
		lane_host_answer(host, FOUND, lane_host_asked(host, i, LANE_HOST_PORT + 2), 0);
		CORE_TRUE(test, !lane_host_resolved(host, conn));
		lane_drop(conn);
	}

	/* After some time nothing is known. */
	msleep(LANE_KNOWN_MS);
	conn = lane_host_resolve(host, LANE_HOST_PORT, NULL);
	lane_host_answer(host, FOUND, lane_host_asked(host, 4, LANE_HOST_PORT), 1);
	CORE_TRUE(test, lane_host_resolved(host, conn));

	/* A reject says that the listener has gone. */
	CORE_EQ(test, 0, krdma_conn_create_qp(conn, &lane_small));
	CORE_EQ(test, 0, krdma_conn_connect(conn, &(struct krdma_conn_param) {}));
	lane_expect_frame(host, 5, OPEN, LANE_OPEN_SIZE, 1, 1);
	lane_host_answer(host, REJECT, 1, 1);
	CORE_EQ(test, -ECONNREFUSED, krdma_conn_wait(conn, CORE_TIMEOUT_MS));
	lane_drop(conn);
	conn = lane_host_resolve(host, LANE_HOST_PORT, NULL);
	lane_host_answer(host, FOUND, lane_host_asked(host, 6, LANE_HOST_PORT), 1);
	CORE_TRUE(test, lane_host_resolved(host, conn));
	lane_drop(conn);
	core_expect_nothing(&host->end);
	lane_stranger_close(host);
}

/* A peer says which port it has, and is not believed if a program needs a right for it. */
/* Proves: F14 */
static void lane_from_a_port(struct core_test *test)
{
	struct core_pair *pair = lane_open(test);
	struct sockaddr_storage remote;
	struct lane_stranger *stranger;
	struct krdma_conn *conn;
	u8 *frame;
	u32 used;

	stranger = pair ? lane_stranger_open(test, lane_hello, sizeof(lane_hello)) : NULL;
	if (!stranger)
		goto out;
	CORE_EQ(test, 0, krdma_conn_wait(stranger->end.conn, CORE_TIMEOUT_MS));
	frame = stranger->from.data;
	used = lane_begin(stranger);
	used = lane_add(stranger, used, OPEN, 0, 1, lane_port_of(pair));
	lane_set_port(frame + used, LANE_RIGHT_PORT);
	used = lane_add(stranger, used, OPEN, 0, 2, lane_port_of(pair));
	lane_set_port(frame + used, 0);
	used = lane_add(stranger, used, OPEN, 0, 3, lane_port_of(pair));
	lane_set_port(frame + used, 1024);
	lane_post(stranger, used, LANE_FRAMES);
	lane_expect_frame(stranger, 0, REJECT, LANE_HEADER, 1, 2);
	conn = lane_take(pair);
	if (conn) {
		CORE_EQ(test, 0, krdma_conn_addresses(conn, NULL, &remote));
		CORE_EQ(test, 1024, ntohs(((struct sockaddr_in *)&remote)->sin_port));
		CORE_EQ(test, 0, krdma_listener_pending(pair->listener));
		lane_drop(conn);
	}
	lane_expect_alive(pair);
	lane_stranger_close(stranger);
out:
	if (pair)
		core_pair_close(pair);
}

/* Many requests are one frame, and so are their ends. */
/* Proves: F14 */
static void lane_connects_many(struct core_test *test)
{
	struct lane_side *side = kzalloc_obj(*side, GFP_KERNEL);
	struct lane_stranger *host = lane_host_open(test);
	unsigned long begun;
	u32 used;

	if (!host || !CORE_TRUE(test, side))
		goto out;
	for (int i = 0; i < LANE_OPENS; i++) {
		side->conns[i] = lane_host_resolve(host, LANE_HOST_PORT, NULL);
		if (!side->conns[i])
			goto out;
		side->many[i].conn = side->conns[i];
		CORE_EQ(test, 0, krdma_conn_create_qp(side->conns[i], &lane_small));
	}
	side->many[0].param.private_data = host->to.data;
	side->many[0].param.private_data_len = 252;
	side->many[1].param.retry_count = 8;
	side->many[2].conn = side->conns[3];
	CORE_EQ(test, LANE_OPENS - 3, krdma_conn_connect_many(side->many, LANE_OPENS));
	CORE_EQ(test, -EMSGSIZE, side->many[0].error);
	CORE_EQ(test, -EINVAL, side->many[1].error);
	CORE_EQ(test, 0, side->many[2].error);
	CORE_EQ(test, -EALREADY, side->many[3].error);
	lane_expect_frame(host, 1, OPEN, LANE_OPEN_SIZE, 1, LANE_OPENS - 3);

	used = lane_begin(host);
	for (int i = 1; i <= LANE_OPENS - 3; i++)
		used = lane_add(host, used, ACCEPT, 0, i, 0);
	lane_post(host, used, LANE_FRAMES);
	for (int i = 3; i < LANE_OPENS; i++)
		CORE_EQ(test, 0, krdma_conn_wait(side->conns[i], CORE_TIMEOUT_MS));
	begun = jiffies;
	lane_close_many(side->conns, LANE_OPENS);
	lane_expect_frames(host, 2, CLOSE, LANE_HEADER, 1, LANE_OPENS - 3,
			   time_after(jiffies, begun));
	core_expect_nothing(&host->end);
out:
	lane_side_free(side);
	if (host)
		lane_stranger_close(host);
}

/* n of 4.096 us * 2^n, if the transport has such a time. */
static void lane_expect_timeout(struct core_end *end, int low, int high)
{
	int timeout = core_ack_timeout(end);

	if (timeout == -EOPNOTSUPP)
		return;
	CORE_TRUE(end->test, timeout >= low);
	CORE_TRUE(end->test, timeout <= high);
}

/*
 * Many lanes end with their link, so it bridges longer pauses than a plain connection on the same
 * path.  Both ends that are looked at are this test's: the accepting one takes over what krdma has
 * chosen for its link, and the connecting one has the default.
 */
/* Proves: F14 */
static void lane_link_is_patient(struct core_test *test)
{
	struct lane_stranger *host = lane_host_open(test), *stranger;
	struct core_pair *pair;

	if (!host)
		return;
	lane_expect_timeout(&host->end, 17, 19);
	lane_stranger_close(host);

	pair = lane_open(test);
	stranger = pair ? lane_stranger_open(test, lane_hello, sizeof(lane_hello)) : NULL;
	if (stranger) {
		CORE_EQ(test, 0, krdma_conn_wait(stranger->end.conn, CORE_TIMEOUT_MS));
		lane_expect_timeout(&stranger->end, 14, 16);
		lane_stranger_close(stranger);
	}
	if (pair)
		core_pair_close(pair);
}

const struct core_case core_lane_peer_cases[] = {
	CORE_CASE(lane_opens_in_order),
	CORE_CASE(lane_violations),
	CORE_CASE(lane_accepts_many),
	CORE_CASE(lane_end_goes_along),
	CORE_CASE(lane_to_a_known_listener),
	CORE_CASE(lane_from_a_port),
	CORE_CASE(lane_connects_many),
	CORE_CASE(lane_link_is_patient),
	{}
};
