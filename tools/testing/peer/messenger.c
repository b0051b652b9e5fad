// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's long messages: a server that sends each message back, to several clients at a time,
 * and a client that checks what comes back.
 *
 *	messenger serve HOST PORT
 *	messenger ask HOST PORT MESSAGES
 *
 * Bytes behind the server's receive buffer must not change.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <krdma.h>
#include <krdma_message.h>

#include "plan.h"

#define ROOM		65536
#define BEHIND		4096
#define EMPTY		0xee
/* Time limit of the honest client; time after which the server disconnects a silent client. */
#define PATIENCE_MS	60000
#define SILENCE_MS	5000

struct guest {
	struct krdma *session;
	struct krdma_conn *conn;
};

static void must(const char *what, int err)
{
	if (!err)
		return;
	printf("FOUND: %s: %s\n", what, krdma_error_name(err));
	exit(1);
}

static struct sockaddr_in address_of(char **argv)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[3])),
	};

	inet_pton(AF_INET, argv[2], &address.sin_addr);
	return address;
}

static void echo(struct krdma_messenger *messenger)
{
	unsigned char *room = malloc(ROOM + BEHIND);
	size_t length;
	int err = room ? 0 : -ENOMEM;

	while (!err) {
		memset(room + ROOM, EMPTY, BEHIND);
		err = krdma_message_recv(messenger, room, ROOM, &length,
					 krdma_deadline(SILENCE_MS));
		for (unsigned int i = 0; i < BEHIND; i++) {
			if (room[ROOM + i] == EMPTY)
				continue;
			printf("FOUND: something is behind the room\n");
			break;
		}
		if (!err && length > ROOM)
			printf("FOUND: a message of %zu bytes\n", length);
		if (!err)
			err = krdma_message_send(messenger, room, length,
						 krdma_deadline(SILENCE_MS));
		/* A message that is too long is refused, but the next one may be right. */
		if (err == -EMSGSIZE || err == -ECANCELED)
			err = 0;
	}
	free(room);
}

static void *guest_thread(void *arg)
{
	struct krdma_messenger *messenger = NULL;
	struct guest *guest = arg;
	int err;

	err = krdma_messenger_create(guest->session, guest->conn, NULL, &messenger);
	if (!err)
		err = krdma_conn_accept(guest->conn, NULL, NULL, 0);
	if (!err)
		err = krdma_conn_wait(guest->conn, krdma_deadline(SILENCE_MS), NULL);
	if (!err)
		echo(messenger);
	krdma_conn_disconnect(guest->conn, KRDMA_DISCONNECT_ABORT);
	krdma_conn_close(guest->conn);
	krdma_messenger_destroy(messenger);
	free(guest);
	return NULL;
}

static void serve(struct krdma *session, char **argv)
{
	struct sockaddr_in address = address_of(argv);
	struct krdma_listener *listener;
	pthread_attr_t detached;

	must("listen", krdma_listen(session, (struct sockaddr *)&address, 0, 0, &listener));
	printf("listening at %s:%s\n", argv[2], argv[3]);
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	for (;;) {
		struct guest *guest = calloc(1, sizeof(*guest));
		pthread_t thread;

		if (!guest)
			must("guest", -ENOMEM);
		guest->session = session;
		must("next", krdma_listener_next(listener, KRDMA_FOREVER, &guest->conn));
		must("thread", -pthread_create(&thread, &detached, guest_thread, guest));
	}
}

static void ask(struct krdma *session, char **argv)
{
	static unsigned char there[ROOM], back[ROOM];
	struct sockaddr_in address = address_of(argv);
	uint64_t deadline = krdma_deadline(PATIENCE_MS);
	struct krdma_messenger *messenger;
	struct krdma_conn *conn;
	int messages = atoi(argv[4]);
	size_t length;

	must("connection", krdma_conn_create(session, &conn));
	must("resolve", krdma_conn_resolve(conn, (struct sockaddr *)&address, NULL));
	must("resolve", krdma_conn_wait(conn, deadline, NULL));
	must("messenger", krdma_messenger_create(session, conn, NULL, &messenger));
	must("connect", krdma_conn_connect(conn, NULL, NULL, 0));
	must("connect", krdma_conn_wait(conn, deadline, NULL));
	for (int i = 0; i < messages; i++) {
		size_t size = draw(1, (uint64_t)i, 0, 0) % (ROOM + 1);

		pattern_fill(there, size, (uint64_t)i, 0);
		deadline = krdma_deadline(PATIENCE_MS);
		must("send", krdma_message_send(messenger, there, size, deadline));
		must("receive", krdma_message_recv(messenger, back, ROOM, &length, deadline));
		if (length != size || memcmp(there, back, size))
			printf("FOUND: message %d is another one\n", i);
	}
	printf("%d messages came back\n", messages);
	krdma_conn_close(conn);
	krdma_messenger_destroy(messenger);
}

int main(int argc, char **argv)
{
	struct krdma *session;

	setvbuf(stdout, NULL, _IOLBF, 0);
	must("session", krdma_open(&session));
	if (argc == 4 && !strcmp(argv[1], "serve"))
		serve(session, argv);
	else if (argc == 5 && !strcmp(argv[1], "ask"))
		ask(session, argv);
	else
		return 2;
	return krdma_close(session);
}
