// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma ping --listen: send each message back unchanged.
 */
#include <errno.h>

#include "peer_echo.h"
#include "ping.h"

static int check(struct client *client, const struct hello *hello)
{
	uint64_t most = client_server(client)->max_length;

	if (hello->operation != OPERATION_ECHO) {
		client_refuse(client, VERDICT_SERVICE, 0);
		return -EPROTO;
	}
	if (hello->length > most) {
		client_refuse(client, VERDICT_LENGTH, (uint32_t)most);
		return -EMSGSIZE;
	}
	if (hello->depth < 1 || hello->depth > PING_WINDOW) {
		client_refuse(client, VERDICT_DEPTH, PING_WINDOW);
		return -EMSGSIZE;
	}
	return 0;
}

static int attend(struct client *client)
{
	struct hello hello;
	struct echo echo;
	int err;

	err = client_hello(client, SERVICE_PING, &hello);
	if (!err)
		err = check(client, &hello);
	if (err)
		return err;
	err = echo_begin(&echo, client, hello.length, hello.depth);
	if (!err)
		err = client_welcome(client, NULL);
	if (!err)
		err = echo_run(&echo);
	echo_end(&echo);
	return err;
}

int ping_listen(const struct ping_settings *settings)
{
	const struct server_options options = {
		.common = settings->common,
		.command = "krdma ping --listen",
		.purpose = "answering krdma ping",
		.source = settings->source,
		.family = settings->family,
		.port = settings->port,
		.quiet = settings->quiet,
		.lane = settings->lane,
		.max_clients = settings->max_clients,
		.max_memory = settings->max_memory,
		.max_length = settings->max_length,
		.attend = attend,
	};

	return serve(&options);
}
