// SPDX-License-Identifier: GPL-2.0
/*
 * The peer's side of one visit.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "visit_far.h"

/* No visit takes longer than this, even on a busy machine. */
#define PATIENCE_S	120
#define RETRY_US	20000
#define REJECT_TRAILER	8
#define CALLS		8
/* Reason of a reject by the connection manager itself: there is no listener. */
#define NOBODY_THERE	8

struct host *host_new(const struct sockaddr_in *server, struct diary *diary)
{
	struct host *host = calloc(1, sizeof(*host));

	if (host) {
		host->server = *server;
		host->diary = diary;
	}
	return host;
}

static bool is_zero(const unsigned char *bytes, unsigned int from, unsigned int to)
{
	for (; from < to; from++) {
		if (bytes[from])
			return false;
	}
	return true;
}

/* A reject carries the plan's private data or none, and nothing else of the server's. */
static void check_refusal(struct far *far, const struct far_event *event)
{
	unsigned int length = far->visit->data_length;

	if (!event->length || is_zero(event->data, 0, event->length))
		return;
	if (memcmp(event->data, far->visit->data, length) ||
	    !is_zero(event->data, length, event->length - REJECT_TRAILER))
		far_finding(far, "a refusal brought other data");
}

/* Wait for the response.  Returns 0, or -1 if the server does not accept the connection. */
static int answer(struct far *far)
{
	struct far_event event = far_next_event(far);

	if (event.type == RDMA_CM_EVENT_CONNECT_RESPONSE) {
		memcpy(&far->offer, event.data, sizeof(far->offer));
		if (event.length < sizeof(far->offer) ||
		    !is_zero(event.data, sizeof(far->offer), event.length))
			far_finding(far, "it was offered more than memory");
		if (far->visit->server == SERVER_REJECTS || far->visit->server == SERVER_CLOSES)
			far_finding(far, "it was let in");
		return 0;
	}
	if (event.type == RDMA_CM_EVENT_REJECTED && event.status == NOBODY_THERE) {
		/* A peer that retries until the server has room would wait for a dead server. */
		far_finding(far, "the server is gone");
		exit(1);
	}
	if (event.type == RDMA_CM_EVENT_REJECTED)
		check_refusal(far, &event);
	else if (far->visit->honest)
		far_finding(far, "%s, status %d", rdma_event_str(event.type), event.status);
	far->host->diary->turned_away++;
	return -1;
}

static void talk(struct far *far)
{
	/* During a flood the listener's backlog may be full: an honest peer tries again. */
	for (;;) {
		far->id = far_way(far, far->port);
		far_pair(far);
		if (!far_connect(far, far->id, far->pair->qp_num) && !answer(far))
			break;
		far_close(far, false);
		if (!far->visit->honest)
			return;
		usleep(RETRY_US);
	}
	far->where = "talks";
	if (!far_establish(far))
		far_talk(far);
	else if (far->visit->honest)
		far_finding(far, "it cannot be established: %s", strerror(errno));
	far->host->last = far->offer;
	far->host->diary->actions++;
	far->where = "leaves";
	if (far->visit->end == PEER_DISCONNECTS)
		far_disconnect(far);
	far_close(far, far->visit->end == PEER_DESTROYS_PAIR);
}

static void ask(struct far *far)
{
	far->id = far_way(far, far->port);
	if (far->visit->peer != PEER_HAS_NO_PAIR)
		far_pair(far);
	if (far_connect(far, far->id, far->pair ? far->pair->qp_num :
			(uint32_t)draw(far->visit->seed, far->visit->number, 0, ~0ULL) >> 8))
		far_finding(far, "no request: %s", strerror(errno));
	if (far->visit->peer == PEER_ASKS_AND_DIES)
		raise(SIGKILL);
	if (far->visit->peer != PEER_ASKS_AND_GOES && !answer(far) &&
	    far->visit->peer == PEER_HAS_NO_PAIR) {
		far->host->diary->actions += 2;
		rdma_establish(far->id);
		if (far->visit->end == PEER_DISCONNECTS)
			rdma_disconnect(far->id);
	}
	far_close(far, false);
}

/*
 * Make calls that are invalid in this state, and then send a connection request without waiting
 * for the response.  The request comes last: after it, some of the calls stop the peer's own
 * connection manager for a minute, and nothing of them reaches the server.
 */
static void confuse(struct far *far)
{
	struct rdma_conn_param none = { .qp_num = 17 };

	far->id = far_way(far, far->port);
	for (unsigned int i = 0; i < CALLS; i++) {
		far->host->diary->actions++;
		switch (draw(far->visit->seed, far->visit->number, i, ~1ULL) % 5) {
		case 0:
			rdma_disconnect(far->id);
			break;
		case 1:
			rdma_establish(far->id);
			break;
		case 2:
			rdma_accept(far->id, &none);
			break;
		case 3:
			rdma_reject(far->id, far->visit->data,
				    (uint8_t)far->visit->data_length);
			break;
		default:
			rdma_notify(far->id, IBV_EVENT_COMM_EST);
		}
	}
	if (far_connect(far, far->id, 17))
		far_finding(far, "it cannot ask: %s", strerror(errno));
	if (far->visit->end == PEER_DISCONNECTS)
		usleep(RETRY_US);
	far_close(far, false);
}

/* Send many connection requests at a time; about half of the visits wait for the responses. */
static void flood(struct far *far)
{
	struct rdma_cm_id *ids[FLOOD_MAX];
	unsigned int count = far->visit->flood, asked = 0;

	for (unsigned int i = 0; i < count; i++)
		ids[i] = far_way(far, 0);
	for (unsigned int i = 0; i < count; i++)
		asked += !far_connect(far, ids[i], 17 + i);
	for (unsigned int i = 0; i < asked && far->visit->end == PEER_DISCONNECTS; i++)
		far_next_event(far);
	for (unsigned int i = 0; i < count; i++)
		rdma_destroy_id(ids[i]);
}

static struct far far;

static void on_alarm(int number)
{
	char line[160];
	int length = snprintf(line, sizeof(line),
			      "FOUND: visit %llu: it hangs while it %s; %u posted, %u ended\n",
			      (unsigned long long)far.visit->number, far.where, far.posted,
			      far.ended);

	(void)number;
	far.host->diary->findings++;
	_exit(write(STDOUT_FILENO, line, (size_t)length) < 0 ? 3 : 1);
}

void visit_make(struct host *host, const struct visit *visit, unsigned int port)
{
	memset(&far, 0, sizeof(far));
	far.host = host;
	far.visit = visit;
	far.port = port;
	far.events = rdma_create_event_channel();
	if (!far.events) {
		far_finding(&far, "events: %s", strerror(errno));
		exit(1);
	}
	far.where = "connects";
	signal(SIGALRM, on_alarm);
	alarm(PATIENCE_S);
	switch (visit->peer) {
	case PEER_TALKS:
		talk(&far);
		break;
	case PEER_IS_CONFUSED:
		confuse(&far);
		break;
	case PEER_FLOODS:
		flood(&far);
		break;
	default:
		ask(&far);
	}
	alarm(0);
	rdma_destroy_event_channel(far.events);
	host->diary->honest += visit->honest;
}
