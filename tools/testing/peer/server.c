// SPDX-License-Identifier: GPL-2.0
/*
 * A krdma server that hostile peers visit.  It posts receives of different sizes to RQs and to an
 * SRQ, and offers MRs with different access rights.  plan.h describes the peers.  Violations are
 * printed as "FOUND: ...".
 *
 *	server HOST PORT SEED VISITS
 *
 * VISITS is a file that the peers map too.  The server ends after SIGTERM, when all guests have
 * ended.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"

/* The ids of connections that exist at the same time differ modulo GUESTS. */
#define GUESTS		65536
#define EVENTS		64
#define CQES		64
/* No end takes longer than this, even on a busy machine. */
#define PATIENCE_S	180
/* Completions of two hundred guests and of peers that flood. */
#define COMPLETIONS	16384

static volatile sig_atomic_t stop;
static struct guest *guests[GUESTS];
static unsigned int alive;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

static void must(const char *what, int err)
{
	if (!err)
		return;
	printf("FOUND: %s: %s\n", what, krdma_error_name(err));
	exit(1);
}

static void watch(int epoll, int fd, void *whom)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = whom };

	must("epoll", epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0);
}

static void server_open(struct server *server, char **argv)
{
	struct krdma_ring_create_args options = {
		.size = sizeof(options), .cq_entries = COMPLETIONS,
	};
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[2])),
	};
	int fd = open(argv[4], O_RDONLY | O_CLOEXEC);

	server->seed = strtoull(argv[3], NULL, 0);
	must(argv[4], fd < 0 ? -errno : 0);
	server->visits = mmap(NULL, sizeof(*server->visits), PROT_READ, MAP_SHARED, fd, 0);
	must(argv[4], server->visits == MAP_FAILED ? -errno : 0);
	close(fd);
	must("session", krdma_open(&server->session));
	must("queue", krdma_ring_create(server->session, &options, &server->ring));
	options.cq_entries = SHARED_SLOTS * 2;
	must("queue", krdma_ring_create(server->session, &options, &server->shared_queue));
	inet_pton(AF_INET, argv[1], &address.sin_addr);
	must("listen", krdma_listen(server->session, (struct sockaddr *)&address, 0, 0,
				    &server->listener));
}

static void take_queue(struct server *server, struct krdma_ring *ring, bool shared)
{
	struct krdma_cqe cqes[CQES];
	size_t taken;

	while (!krdma_ring_poll(ring, cqes, CQES, &taken)) {
		for (size_t i = 0; i < taken; i++) {
			const struct krdma_cqe *cqe = &cqes[i];
			struct guest *guest = guests[cqe->dest % GUESTS];

			if (guest && krdma_conn_id(guest->conn) == cqe->dest)
				guest_completed(guest, cqe, cqe->wr_id %
						(shared ? SHARED_SLOTS : SLOTS));
			else if (!stop)
				finding(server, NULL, "a completion of %u, which is none",
					cqe->dest);
			if (shared && cqe->opcode == KRDMA_OP_RECV && !stop)
				server_share_slot(server, cqe->wr_id);
		}
	}
}

static void take_all(struct server *server)
{
	take_queue(server, server->ring, false);
	take_queue(server, server->shared_queue, true);
}

static void forget(struct guest *guest)
{
	/* A connection's end is reported after all its work requests have completed. */
	take_all(guest->server);
	guests[krdma_conn_id(guest->conn) % GUESTS] = NULL;
	alive--;
	guest_free(guest);
}

static void welcome(struct server *server, int epoll)
{
	struct krdma_conn *conn;
	struct guest *guest;
	int err;

	while (!(err = krdma_listener_next(server->listener, 0, &conn))) {
		guest = guest_new(server, conn);
		if (!guest) {
			server->strangers++;
			krdma_conn_close(conn);
			continue;
		}
		if (!server->srq)
			server_share(server);
		alive++;
		guests[krdma_conn_id(conn) % GUESTS] = guest;
		if (guest_answer(guest))
			watch(epoll, krdma_conn_fd(conn), guest);
		else
			forget(guest);
	}
	if (err != -EAGAIN)
		finding(server, NULL, "next: %s", krdma_error_name(err));
}

/* Handle the events of the guest's connection, up to its end. */
static void hear(struct guest *guest)
{
	struct krdma_event_record record;
	int err;

	while (!(err = krdma_conn_next_event(guest->conn, 0, &record, sizeof(record)))) {
		if (record.type == KRDMA_EVENT_ESTABLISHED)
			guest_established(guest);
	}
	if (err == -ENODATA)
		forget(guest);
	else if (err != -EAGAIN)
		finding(guest->server, guest, "event: %s", krdma_error_name(err));
}

static void serve_once(struct server *server, int epoll)
{
	struct epoll_event events[EVENTS];
	int count = epoll_wait(epoll, events, EVENTS, 1000);

	take_all(server);
	/* An event frees no guest but its own, so the other pointers in @events stay valid. */
	for (int i = 0; i < count; i++) {
		if (!events[i].data.ptr)
			continue;
		if (events[i].data.ptr != server)
			hear(events[i].data.ptr);
		else if (!stop)
			welcome(server, epoll);
	}
}

/* Disconnect all guests, and handle their events up to the end. */
static void server_close(struct server *server, int epoll)
{
	time_t limit = time(NULL) + PATIENCE_S;

	take_all(server);
	for (unsigned int i = 0; i < GUESTS; i++) {
		if (guests[i])
			krdma_conn_disconnect(guests[i]->conn, KRDMA_DISCONNECT_ABORT);
	}
	while (alive && time(NULL) < limit)
		serve_once(server, epoll);
	if (alive)
		finding(server, NULL, "%u connections do not end", alive);
	krdma_listener_close(server->listener);
	krdma_srq_close(server->srq);
	krdma_mr_deregister(server->shared, KRDMA_DEREGISTER_LATER);
	krdma_ring_close(server->ring);
	krdma_ring_close(server->shared_queue);
	krdma_close(server->session);
}

int main(int argc, char **argv)
{
	struct server server = { .seed = 0 };
	struct sigaction action = { .sa_handler = on_signal };
	int epoll;

	if (argc != 5) {
		fprintf(stderr, "usage: server HOST PORT SEED VISITS\n");
		return 2;
	}
	/* Scripts wait for lines of the output, also when it is a file. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGTERM, &action, NULL);
	server_open(&server, argv);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	must("epoll", epoll < 0 ? -errno : 0);
	watch(epoll, krdma_listener_fd(server.listener), &server);
	watch(epoll, krdma_ring_fd(server.ring), NULL);
	watch(epoll, krdma_ring_fd(server.shared_queue), NULL);
	printf("listening at %s:%s\n", argv[1], argv[2]);
	while (!stop)
		serve_once(&server, epoll);
	server_close(&server, epoll);
	printf("%lu guests, %lu of them honest; %lu strangers; %lu messages right, %lu broken; "
	       "%lu answers; %lu findings\n", server.guests, server.honest, server.strangers,
	       server.messages, server.broken, server.answers, server.findings);
	return !!server.findings;
}
