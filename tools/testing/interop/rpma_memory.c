// SPDX-License-Identifier: GPL-2.0
/*
 * A librpma program that reads the other side's memory, writes to it, flushes it and makes an
 * atomic write of eight bytes; then the other side does the same to this program's memory.
 *
 *	rpma_memory listen|connect HOST PORT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pattern.h"
#include "rpma.h"
#include "rpma_far.h"

#define USAGE	(RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC | \
		 RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY)

static void act(struct rpma_conn *conn, struct rpma_cq *cq, struct rpma_mr_local *mr,
		char *data, const struct rpma_theirs *theirs)
{
	size_t at = theirs->data_offset;
	int err;

	rpma_check("read", rpma_read(conn, mr, DATA_OFFSET + READ_AT, theirs->mr,
				     at + OWN_AT, LENGTH, RPMA_F_COMPLETION_ALWAYS, NULL));
	rpma_done(cq);
	printf("read: %s\n", pattern_verdict(data + READ_AT, LENGTH, SEED_OF_KRDMA));
	/* An unsignaled write has arrived when the flush after it completes. */
	rpma_check("write", rpma_write(conn, theirs->mr, at + WRITTEN_AT, mr,
				       DATA_OFFSET + OWN_AT, LENGTH, RPMA_F_COMPLETION_ON_ERROR,
				       NULL));
	rpma_check("flush", rpma_flush(conn, theirs->mr, at + WRITTEN_AT, LENGTH,
				       RPMA_FLUSH_TYPE_VISIBILITY, RPMA_F_COMPLETION_ALWAYS,
				       NULL));
	rpma_done(cq);
	printf("flush: done\n");
	rpma_check("atomic write", rpma_atomic_write(conn, theirs->mr, at + ATOMIC_AT,
						     ATOMIC_VALUE, RPMA_F_COMPLETION_ALWAYS,
						     NULL));
	rpma_done(cq);
	err = rpma_flush(conn, theirs->mr, at + ATOMIC_AT, 8, RPMA_FLUSH_TYPE_PERSISTENT,
			 RPMA_F_COMPLETION_ALWAYS, NULL);
	if (!err)
		rpma_done(cq);
	printf("persistent flush, direct write %d: %s\n", theirs->direct_write,
	       err ? rpma_err_2str(err) : "done");
}

int main(int argc, char **argv)
{
	static char mr[MEMORY_SIZE] __attribute__((aligned(4096)));
	static char message[MESSAGE_SIZE] __attribute__((aligned(4096)));
	struct rpma_mr_local *registered, *messages;
	char *data = mr + DATA_OFFSET;
	struct rpma_theirs theirs;
	struct rpma_told told;
	struct rpma_conn *conn;
	struct rpma_far far;
	struct rpma_cq *cq;

	rpma_far_open(&far, argc, argv);
	rpma_check("memory", rpma_mr_reg(far.peer, mr, sizeof(mr), USAGE, &registered));
	rpma_check("messages", rpma_mr_reg(far.peer, message, sizeof(message),
					   RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &messages));
	pattern_fill(data + OWN_AT, LENGTH, SEED_OF_RPMA);
	rpma_tell(&told, DATA_OFFSET, registered, false);
	conn = rpma_far_next(&far, messages, &told, &theirs);
	rpma_check("completions", rpma_conn_get_cq(conn, &cq));

	act(conn, cq, registered, data, &theirs);
	/* An empty message lets the other side begin; then wait for its message. */
	rpma_check("send", rpma_send(conn, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS, NULL));
	rpma_done(cq);
	rpma_done(cq);
	printf("what came by writes: %s\n",
	       pattern_verdict(data + WRITTEN_AT, LENGTH, SEED_OF_KRDMA));
	printf("what came at once: %.8s\n", data + ATOMIC_AT);

	rpma_left(conn);
	rpma_check("their memory", rpma_mr_remote_delete(&theirs.mr));
	rpma_check("messages", rpma_mr_dereg(&messages));
	rpma_check("memory", rpma_mr_dereg(&registered));
	rpma_far_close(&far);
	return 0;
}
