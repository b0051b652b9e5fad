// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Writes a line to the buffer of simple_server, and checks the reply. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <krdma_simple.h>

static void check(const char *what, int err)
{
	if (!err)
		return;
	fprintf(stderr, "simple_client: %s: %s\n", what, strerror(-err));
	exit(1);
}

int main(int argc, char **argv)
{
	uint16_t port = argc > 2 ? (uint16_t)atoi(argv[2]) : 7471;
	const char *line = argc > 3 ? argv[3] : "hello, world";
	size_t size = strlen(line), length;
	struct krdma_simple *simple;
	char *buffer;

	if (argc < 2)
		return fprintf(stderr, "usage: simple_client HOST [PORT [LINE]]\n"), 2;
	check("no way to the server", krdma_simple_client(argv[1], port, NULL, &simple));
	check("not connected", krdma_simple_connect(simple));
	check("too long a line", size > krdma_simple_message_max(simple) ? -EMSGSIZE : 0);
	buffer = memcpy(krdma_simple_buffer(simple), line, size);
	check("not written", krdma_simple_write(simple, 0, 0, size));
	check("no notice sent", krdma_simple_notify_write(simple, (uint32_t)size));
	check("no answer", krdma_simple_recv(simple, 0, size, &length));
	printf("the server has answered: %.*s\n", (int)length, buffer);
	check("the answer is wrong", length != size || strncasecmp(buffer, line, size) ? -EIO : 0);
	return krdma_simple_close(simple);
}
