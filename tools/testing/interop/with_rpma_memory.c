// SPDX-License-Identifier: GPL-2.0
/*
 * krdma's side of rpma_memory: the other side reads, writes and flushes the memory that this side
 * describes to it; then this side does the same.
 *
 *	with_rpma_memory listen|connect HOST PORT
 */
#include <stdio.h>
#include <string.h>

#include "pattern.h"
#include "rpma.h"
#include "side_rpma.h"

#define USAGE	(KRDMA_RPMA_READ_SOURCE | KRDMA_RPMA_READ_DESTINATION | \
		 KRDMA_RPMA_WRITE_SOURCE | KRDMA_RPMA_WRITE_DESTINATION | \
		 KRDMA_RPMA_FLUSH_VISIBILITY | KRDMA_RPMA_FLUSH_PERSISTENT)

static struct krdma_mr *make_memory(struct side_rpma *all, struct krdma_conn *conn)
{
	struct krdma_mr *mr;
	uint32_t access;

	side_check("rights", krdma_rpma_access(USAGE, KRDMA_TRANSPORT_IB, &access));
	mr = side_memory(all->side.session, conn, MEMORY_SIZE, access);
	pattern_fill((char *)krdma_mr_data(mr) + DATA_OFFSET + OWN_AT, LENGTH,
		     SEED_OF_KRDMA);
	return mr;
}

static void act(struct side_rpma *all, struct krdma_conn *conn, struct krdma_mr *mr,
		const struct krdma_rpma_example *theirs)
{
	const char *data = (char *)krdma_mr_data(mr) + DATA_OFFSET;
	const struct krdma_rpma_memory *to = &theirs->mr;
	struct krdma_ring *ring = all->side.ring;
	uint64_t at = theirs->data_offset, value;
	struct krdma_remote_mr remote;
	struct krdma_sqe entry;

	side_check("their memory", krdma_rpma_remote(to, &remote));
	side_post(ring, krdma_entry_read(conn, 1, mr, DATA_OFFSET + READ_AT, LENGTH,
					 &remote, at + OWN_AT));
	side_done(ring);
	printf("read: %s\n", pattern_verdict(data + READ_AT, LENGTH, SEED_OF_RPMA));
	entry = krdma_entry_write(conn, 2, mr, DATA_OFFSET + OWN_AT, LENGTH, &remote,
				  at + WRITTEN_AT);
	entry.flags = KRDMA_SQE_UNSIGNALED;
	side_post(ring, entry);
	side_check("flush", krdma_rpma_flush(ring, conn, 3, to, at + WRITTEN_AT, LENGTH,
					     KRDMA_RPMA_FLUSH_TYPE_VISIBILITY, &theirs->peer));
	side_done(ring);
	printf("flush: done\n");
	memcpy(&value, ATOMIC_VALUE, sizeof(value));
	side_post(ring, krdma_entry_atomic_write(conn, 4, &remote, at + ATOMIC_AT, value));
	side_done(ring);
	printf("persistent flush: %s\n",
	       krdma_error_name(krdma_rpma_flush(ring, conn, 5, to, at, LENGTH,
						 KRDMA_RPMA_FLUSH_TYPE_PERSISTENT,
						 &theirs->peer)));
}

int main(int argc, char **argv)
{
	struct krdma_rpma_example theirs;
	struct krdma_mr *mr;
	struct krdma_conn *conn;
	struct side_rpma all;
	const char *data;

	side_rpma_open(&all, argc, argv);
	conn = side_rpma_next(&all);
	mr = make_memory(&all, conn);
	data = (char *)krdma_mr_data(mr) + DATA_OFFSET;
	side_prepare(&all.side, conn, 8, 1);
	side_post(all.side.ring, krdma_entry_recv(conn, 6, NULL, 0, 0));
	side_rpma_connect(&all, conn, mr, DATA_OFFSET, USAGE, &theirs);

	/* The peer's message says that this side may begin. */
	side_done(all.side.ring);
	printf("what came by writes: %s\n",
	       pattern_verdict(data + WRITTEN_AT, LENGTH, SEED_OF_RPMA));
	printf("what came at once: %.8s\n", data + ATOMIC_AT);
	act(&all, conn, mr, &theirs);
	side_post(all.side.ring, krdma_entry_send(conn, 7, NULL, 0, 0));
	side_done(all.side.ring);

	side_check("disconnect", krdma_conn_disconnect(conn, 0));
	side_ended(conn);
	krdma_conn_close(conn);
	krdma_mr_deregister(mr, 0);
	side_close(&all.side);
	return 0;
}
