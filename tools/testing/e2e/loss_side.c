// SPDX-License-Identifier: GPL-2.0
/*
 * One machine's half of a test in which something is lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "loss_side.h"
#include "session.h"

/* The listeners' ports: see enum loss_state for what happens to a request at each. */
#define PORT_MAIN	0
#define PORT_WAITING	1
#define PORT_TAKEN	2
#define PORT_ALONE	3
#define FIRST_PORT	7480

#define ROOM		65536
#define BYTES		16384
#define FLYING		4
#define RECEIVES	32
#define RETRY_MS	200

/* Private data of a request and of its answer: the state, and the memory of the sender. */
struct offer {
	uint32_t state;
	uint32_t rkey;
	uint64_t addr;
};

static const char * const state_names[LOSS_STATES] = {
	[LOSS_RESOLVING] = "resolving",
	[LOSS_CONNECTING] = "connecting, no request at the peer",
	[LOSS_ASKING] = "connecting, request waits at the peer",
	[LOSS_ASKED] = "connecting, request taken by the peer",
	[LOSS_IDLE] = "connected, idle",
	[LOSS_WRITING] = "connected, writes in flight",
	[LOSS_READING] = "connected, reads in flight",
	[LOSS_SENDING] = "connected, sends in flight",
	[LOSS_LEAVING] = "disconnecting",
	[LOSS_WAITING] = "listener with a request",
	[LOSS_ACCEPTING] = "accepting",
	[LOSS_IDLE_TOO] = "accepted, idle",
	[LOSS_WRITTEN] = "accepted, the peer writes",
	[LOSS_READ] = "accepted, the peer reads",
	[LOSS_SENT] = "accepted, the peer sends",
	[LOSS_LEFT] = "accepted, the peer disconnects",
	[LOSS_ALONE] = "listener alone",
};

const char *loss_state_name(enum loss_state state)
{
	return state < LOSS_STATES ? state_names[state] : "?";
}

const char *loss_news_name(uint32_t news)
{
	static const char * const events[] = {
		[LOSS_NOTHING] = "nothing",
		[KRDMA_EVENT_ADDR_RESOLVED] = "ADDR_RESOLVED",
		[KRDMA_EVENT_ADDR_ERROR] = "ADDR_ERROR",
		[KRDMA_EVENT_ROUTE_RESOLVED] = "ROUTE_RESOLVED",
		[KRDMA_EVENT_ROUTE_ERROR] = "ROUTE_ERROR",
		[KRDMA_EVENT_ESTABLISHED] = "ESTABLISHED",
		[KRDMA_EVENT_CONNECT_ERROR] = "CONNECT_ERROR",
		[KRDMA_EVENT_UNREACHABLE] = "UNREACHABLE",
		[KRDMA_EVENT_REJECTED] = "REJECTED",
		[KRDMA_EVENT_DISCONNECTED] = "DISCONNECTED",
		[KRDMA_EVENT_LOST] = "LOST",
		[KRDMA_EVENT_DEVICE_REMOVAL] = "DEVICE_REMOVAL",
		[KRDMA_EVENT_ADDR_CHANGE] = "ADDR_CHANGE",
		[KRDMA_EVENT_CLOSED] = "CLOSED",
	};

	switch (news) {
	case LOSS_EXPIRED:
		return "expired";
	case LOSS_WITHDRAWN:
		return "withdrawn";
	case LOSS_GONE:
		return "EPOLLERR";
	default:
		return news < sizeof(events) / sizeof(*events) ? events[news] : "?";
	}
}

/*
 * What a program is told
 */

/* Events of a connection's way up: of interest only after the loss, and if no end follows. */
static bool is_progress(uint32_t event)
{
	return event == KRDMA_EVENT_ADDR_RESOLVED || event == KRDMA_EVENT_ROUTE_RESOLVED ||
	       event == KRDMA_EVENT_ESTABLISHED || event == KRDMA_EVENT_ADDR_CHANGE;
}

static void tell(struct loss_side *side, struct loss_cell *cell, uint32_t news, int error)
{
	if (!side->lost || cell->over)
		return;
	cell->told.news = news;
	cell->told.error = error;
	cell->told.ms = now_ms() - cell->since;
	cell->over = !is_progress(news);
}

static void read_events(struct loss_side *side, struct loss_cell *cell)
{
	struct krdma_event_record record;

	while (cell->end.conn >= 0 && !conn_event(cell->end.conn, &record, 0))
		if (record.type != KRDMA_EVENT_CLOSED)
			tell(side, cell, record.type, record.error);
}

static void saw_status(struct loss_side *side, struct loss_cell *cell, uint32_t status)
{
	if (status == KRDMA_WC_SUCCESS || !side->lost || cell->told.status)
		return;
	cell->told.status = status;
	cell->told.status_ms = now_ms() - cell->since;
}

/*
 * The connecting side
 */

static uint16_t port_of(enum loss_state state)
{
	switch (state) {
	case LOSS_ASKING:
		return FIRST_PORT + PORT_WAITING;
	case LOSS_ASKED:
		return FIRST_PORT + PORT_TAKEN;
	default:
		return FIRST_PORT + PORT_MAIN;
	}
}

static int begin(struct loss_side *side, struct loss_cell *cell, const char *host)
{
	enum loss_state state = cell - side->cells;
	struct __kernel_sockaddr_storage address;
	int ret;

	end_close(&cell->end);
	end_init(&cell->end, side->session);
	cell->begun = true;
	cell->connects = false;
	cell->ready = false;
	cell->flying = 0;
	ret = address_set(&address, host, port_of(state));
	if (!ret)
		ret = conn_create(side->session, &cell->end.conn, &cell->end.id);
	return ret ? ret : conn_resolve(cell->end.conn, &address);
}

static struct offer own_offer(const struct loss_side *side, enum loss_state state)
{
	return (struct offer) {
		.state = state, .rkey = side->local.rkey, .addr = side->local.remote_addr,
	};
}

static int connect_now(struct loss_side *side, struct loss_cell *cell)
{
	const struct offer offer = own_offer(side, cell - side->cells);
	const struct end_options options = {
		.param.private_data = (uintptr_t)&offer,
		.param.private_data_len = sizeof(offer),
	};

	cell->connects = true;
	return end_connect(&cell->end, &options);
}

static void learn(struct loss_cell *cell, const struct offer *offer)
{
	cell->remote.remote_addr = offer->addr;
	cell->remote.rkey = offer->rkey;
}

/* The connection is resolved, or connected. */
static int proceed(struct loss_side *side, struct loss_cell *cell)
{
	enum loss_state state = cell - side->cells;
	struct krdma_conn_query_args query;
	struct offer offer = {};
	int ret;

	if (!cell->connects) {
		ret = end_create_qp(&cell->end, NULL);
		if (!ret && state != LOSS_CONNECTING)
			return connect_now(side, cell);
		cell->ready = !ret;
		return ret;
	}
	ret = conn_query(cell->end.conn, &offer, sizeof(offer), &query);
	learn(cell, &offer);
	cell->ready = !ret;
	cell->since = now_ms();
	return ret;
}

/*
 * Before the loss, a failure is none: the peer may not listen yet, or may still have the previous
 * test's connection with this one's number.
 */
static void step_active(struct loss_side *side, struct loss_cell *cell)
{
	enum loss_state state = cell - side->cells;
	int ret;

	if (side->lost || now_ms() < cell->retry)
		return;
	if (!cell->begun) {
		ret = begin(side, cell, side->peer);
	} else {
		ret = conn_wait(cell->end.conn, 0, NULL);
		if (ret == -EINPROGRESS) {
			cell->ready = cell->connects &&
				      (state == LOSS_ASKING || state == LOSS_ASKED);
			return;
		}
		if (!ret && !cell->ready)
			ret = proceed(side, cell);
	}
	if (!ret)
		return;
	cell->begun = false;
	cell->ready = false;
	cell->retry = now_ms() + RETRY_MS;
}

/* Keep some operations in flight. */
static void pump(struct loss_side *side, struct loss_cell *cell)
{
	enum loss_state state = cell - side->cells;
	struct krdma_sqe entry;
	struct krdma_cqe cqe;

	if (!cell->ready)
		return;
	while (!ring_take(cell->end.ring, &cqe)) {
		saw_status(side, cell, cqe.status);
		cell->flying--;
	}
	if (cell->over || cell->told.status)
		return;
	if (state == LOSS_SENDING)
		entry = sqe_send(cell->end.id, 1, &side->local, 0, 64);
	else
		entry = sqe_remote(state == LOSS_WRITING ? KRDMA_OP_WRITE : KRDMA_OP_READ,
				   cell->end.id, 1, &side->local, 0, BYTES, &cell->remote, 0);
	while (cell->flying < FLYING && !ring_submit(cell->end.ring, &entry, 1, NULL))
		cell->flying++;
}

/*
 * The accepting side
 */

static enum loss_state accepted_state(uint32_t asked)
{
	switch (asked) {
	case LOSS_IDLE:
		return LOSS_IDLE_TOO;
	case LOSS_WRITING:
		return LOSS_WRITTEN;
	case LOSS_READING:
		return LOSS_READ;
	case LOSS_SENDING:
		return LOSS_SENT;
	case LOSS_LEAVING:
		return LOSS_LEFT;
	default:
		return LOSS_STATES;
	}
}

static void post_receive(struct loss_side *side, struct loss_cell *cell)
{
	struct krdma_sqe entry = sqe_receive(cell->end.id, 2, &side->local, BYTES, 64);

	ring_submit(cell->end.recv_ring, &entry, 1, NULL);
}

static int accept_now(struct loss_side *side, struct end *end)
{
	const struct offer offer = own_offer(side, 0);
	const struct end_options options = {
		.param.private_data = (uintptr_t)&offer,
		.param.private_data_len = sizeof(offer),
	};

	return end_accept(end, &options);
}

static int take_main(struct loss_side *side, int conn, uint32_t id)
{
	struct krdma_conn_query_args query;
	struct loss_cell *cell = NULL;
	struct offer offer = {};
	enum loss_state state;
	struct end *end;
	int ret;

	ret = conn_query(conn, &offer, sizeof(offer), &query);
	state = accepted_state(offer.state);
	if (!ret && state < LOSS_STATES && !side->lost)
		cell = &side->cells[state];
	end = cell ? &cell->end : &side->late;
	end_close(end);
	end_init(end, side->session);
	end->conn = conn;
	end->id = id;
	ret = ret ?: end_create_qp(end, NULL);
	if (cell) {
		cell->begun = true;
		cell->ready = false;
		learn(cell, &offer);
	}
	for (unsigned int i = 0; !ret && state == LOSS_SENT && i < RECEIVES; i++)
		post_receive(side, cell);
	return ret ?: accept_now(side, end);
}

static void step_main(struct loss_side *side)
{
	uint32_t id;
	int conn;

	if (!listener_next(side->listeners[PORT_MAIN], 0, &conn, &id))
		take_main(side, conn, id);
}

static void step_passive(struct loss_side *side, struct loss_cell *cell)
{
	if (side->lost || !cell->begun || cell->ready ||
	    conn_state(cell->end.conn) != KRDMA_CONN_CONNECTED)
		return;
	cell->ready = true;
	cell->since = now_ms();
}

static void serve_sends(struct loss_side *side, struct loss_cell *cell)
{
	struct krdma_cqe cqe;

	if (!cell->end.recv_ring)
		return;
	while (!ring_take(cell->end.recv_ring, &cqe)) {
		saw_status(side, cell, cqe.status);
		if (!cqe.status)
			post_receive(side, cell);
	}
}

static void step_accepting(struct loss_side *side, struct loss_cell *cell)
{
	uint32_t id;
	int conn;

	if (side->lost || listener_next(side->listeners[PORT_TAKEN], 0, &conn, &id))
		return;
	end_close(&cell->end);
	end_init(&cell->end, side->session);
	cell->end.conn = conn;
	cell->end.id = id;
	cell->begun = true;
	cell->ready = !end_create_qp(&cell->end, NULL);
}

/*
 * Listeners
 */

static bool listener_is_gone(struct loss_side *side, struct loss_cell *cell, int listener)
{
	int mask = poll_mask(listener, POLLIN, 0), conn;

	if (mask <= 0 || !(mask & (POLLERR | POLLHUP)))
		return false;
	tell(side, cell, LOSS_GONE, listener_next(listener, 0, &conn, NULL));
	return true;
}

static void step_waiting(struct loss_side *side, struct loss_cell *cell)
{
	struct krdma_listener_query_args query = { .size = sizeof(query) };
	int listener = side->listeners[PORT_WAITING];

	if (listener_is_gone(side, cell, listener) ||
	    session_request(listener, KRDMA_LISTENER_QUERY, &query))
		return;
	cell->ready = query.waiting;
	if (query.expired)
		tell(side, cell, LOSS_EXPIRED, 0);
	else if (!query.waiting)
		tell(side, cell, LOSS_WITHDRAWN, 0);
}

/*
 * All of it
 */

int loss_side_open(struct loss_side *side, unsigned int node)
{
	int ret;

	memset(side, 0, sizeof(*side));
	for (int i = 0; i < LOSS_LISTENERS; i++)
		side->listeners[i] = -1;
	for (int i = 0; i < LOSS_STATES; i++)
		end_init(&side->cells[i].end, -1);
	end_init(&side->late, -1);
	snprintf(side->own, sizeof(side->own), "10.77.0.%u", node);
	snprintf(side->peer, sizeof(side->peer), "10.77.0.%u", 3 - node);
	snprintf(side->other, sizeof(side->other), "10.77.0.%u", 103 - node);

	side->session = session_open(O_CLOEXEC);
	if (side->session < 0)
		return side->session;
	ret = boot_device(side->session, &side->device);
	if (!ret)
		ret = mr_create(side->session, side->device, ROOM, ACCESS_ALL, &side->local);
	for (int i = 0; i < LOSS_LISTENERS && !ret; i++)
		ret = listener_open(side->session, side->own, FIRST_PORT + i, 0,
				    &side->listeners[i], NULL);
	return ret;
}

void loss_side_close(struct loss_side *side)
{
	for (int i = 0; i < LOSS_STATES; i++)
		end_close(&side->cells[i].end);
	end_close(&side->late);
	for (int i = 0; i < LOSS_LISTENERS; i++)
		if (side->listeners[i] >= 0)
			close(side->listeners[i]);
	mr_destroy(&side->local);
	if (side->session >= 0)
		close(side->session);
	side->session = -1;
}

void loss_side_step(struct loss_side *side)
{
	struct loss_cell *cells = side->cells;

	for (int i = LOSS_CONNECTING; i <= LOSS_LEAVING; i++)
		step_active(side, &cells[i]);
	for (int i = LOSS_WRITING; i <= LOSS_SENDING; i++)
		pump(side, &cells[i]);
	step_main(side);
	for (int i = LOSS_IDLE_TOO; i <= LOSS_LEFT; i++)
		step_passive(side, &cells[i]);
	serve_sends(side, &cells[LOSS_SENT]);
	step_accepting(side, &cells[LOSS_ACCEPTING]);
	step_waiting(side, &cells[LOSS_WAITING]);
	listener_is_gone(side, &cells[LOSS_ALONE], side->listeners[PORT_ALONE]);
	for (int i = 0; i < LOSS_STATES; i++)
		read_events(side, &cells[i]);
}

bool loss_side_ready(const struct loss_side *side)
{
	for (int i = LOSS_CONNECTING; i < LOSS_ALONE; i++)
		if (!side->cells[i].ready)
			return false;
	return true;
}

unsigned int loss_side_quiet(const struct loss_side *side, unsigned int interval)
{
	unsigned int least = interval;

	for (int i = LOSS_IDLE; i <= LOSS_LEFT; i++) {
		uint64_t age = now_ms() - side->cells[i].since;

		/* Those that are busy are not probed, and three are not connected. */
		if (side->cells[i].since && interval - age % interval < least)
			least = interval - age % interval;
	}
	return least;
}

void loss_side_resolve(struct loss_side *side)
{
	struct loss_cell *cell = &side->cells[LOSS_RESOLVING];

	cell->since = now_ms();
	cell->told.call = begin(side, cell, side->other);
	cell->ready = true;
}

void loss_side_mark(struct loss_side *side)
{
	/* What has happened before is no news. */
	for (int i = 0; i < LOSS_STATES; i++) {
		read_events(side, &side->cells[i]);
		side->cells[i].since = now_ms();
	}
	side->lost = now_ms();
}

void loss_side_strike(struct loss_side *side)
{
	struct loss_cell *cells = side->cells;

	cells[LOSS_CONNECTING].since = now_ms();
	cells[LOSS_CONNECTING].told.call = connect_now(side, &cells[LOSS_CONNECTING]);
	cells[LOSS_ACCEPTING].since = now_ms();
	cells[LOSS_ACCEPTING].told.call = accept_now(side, &cells[LOSS_ACCEPTING].end);
	cells[LOSS_LEAVING].since = now_ms();
	cells[LOSS_LEAVING].told.call = conn_disconnect(cells[LOSS_LEAVING].end.conn, 0);
}
