// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Serves one client, which writes a line to the buffer: sends it back in capitals. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <krdma_simple.h>

static void check(const char *what, int err)
{
	if (!err)
		return;
	fprintf(stderr, "simple_server: %s: %s\n", what, strerror(-err));
	exit(1);
}

int main(int argc, char **argv)
{
	struct krdma_simple_options options = { .size = sizeof(options), .cq_notify = 1 };
	uint16_t port = argc > 1 ? (uint16_t)atoi(argv[1]) : 7471;
	struct krdma_simple *simple;
	uint32_t length;
	char *buffer;

	options.timeout_ms = KRDMA_SIMPLE_FOREVER;
	check("cannot listen", krdma_simple_server(NULL, &port, &options, &simple));
	printf("waiting for a client at port %u\n", port);
	check("no client", krdma_simple_wait_for_client(simple));
	check("no data", krdma_simple_wait_notice(simple, NULL, &length));
	check("too long a line",
	      length > krdma_simple_message_max(simple) ? -EMSGSIZE : 0);
	buffer = krdma_simple_buffer(simple);
	printf("the client has written: %.*s\n", (int)length, buffer);
	for (uint32_t i = 0; i < length; i++)
		buffer[i] = (char)toupper((unsigned char)buffer[i]);
	check("no answer sent", krdma_simple_send(simple, 0, length));
	return krdma_simple_close(simple);
}
