// SPDX-License-Identifier: GPL-2.0
/*
 * krdma's side of a connection with a librpma program.
 */
#include <stdio.h>
#include <string.h>

#include "side_rpma.h"

void side_rpma_open(struct side_rpma *all, int argc, char **argv)
{
	all->listens = argc == 4 && !strcmp(argv[1], "listen");
	if (argc != 4 || (!all->listens && strcmp(argv[1], "connect")))
		side_usage("... listen|connect HOST PORT");
	all->host = argv[2];
	all->port = argv[3];
	side_open(&all->side, 0);
	if (all->listens)
		side_listen(&all->side, all->host, all->port);
}

struct krdma_conn *side_rpma_next(struct side_rpma *all)
{
	return all->listens ? side_next(&all->side) :
			      side_resolve(all->side.session, all->host, all->port);
}

static void side_rpma_hear(struct krdma_conn *conn, struct krdma_rpma_example *theirs)
{
	unsigned char data[256];
	size_t length = sizeof(data);

	side_check("private data", krdma_conn_private_data(conn, data, &length));
	side_check("their example", krdma_rpma_example_read(data, length, theirs));
	printf("told: offset %u, memory of %llu bytes, usage %x, direct write %u\n",
	       theirs->data_offset, (unsigned long long)theirs->mr.size,
	       theirs->mr.usage, theirs->peer.direct_write);
}

void side_rpma_connect(struct side_rpma *all, struct krdma_conn *conn,
		       struct krdma_mr *mr, uint32_t offset, uint32_t usage,
		       struct krdma_rpma_example *theirs)
{
	/* The side that listens promises direct write. */
	struct krdma_rpma_example own = {
		.data_offset = offset, .has_memory = 1, .has_peer = 1,
		.peer.direct_write = all->listens,
	};
	unsigned char descriptor[KRDMA_RPMA_MEMORY_SIZE], told[KRDMA_RPMA_EXAMPLE_SIZE];

	side_check("describe", krdma_rpma_describe(mr, 0, 0, usage, descriptor));
	side_check("describe", krdma_rpma_memory_read(descriptor, sizeof(descriptor),
						      &own.mr));
	side_check("describe", krdma_rpma_example_write(&own, told));
	if (all->listens) {
		side_rpma_hear(conn, theirs);
		side_check("accept", krdma_conn_accept(conn, &side_plain, told, sizeof(told)));
		side_connected(conn);
	} else {
		side_check("connect", krdma_conn_connect(conn, &side_plain, told, sizeof(told)));
		side_connected(conn);
		side_rpma_hear(conn, theirs);
	}
}
