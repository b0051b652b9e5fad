/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What rping(1) and its like send each other: every message is RPING_MESSAGE bytes, and
 * says where memory of the client's is, in network order.  A round:
 *
 *	client				server
 *	message: its source	->
 *				<-	reads the data, as many bytes as it was told
 *				<-	message, of which nothing counts
 *	message: its sink	->
 *				<-	writes the text and the zero behind it
 *				<-	message, of which nothing counts
 *
 * The data are a text, "rdma-ping-0: ABC", with a zero at its end.  There are no private
 * data, and both sides must be told the same length.
 */
#ifndef KRDMA_CLI_PING_RPING_H
#define KRDMA_CLI_PING_RPING_H

#include <stddef.h>
#include <stdint.h>

#include "krdma.h"

#define RPING_MESSAGE 16

void rping_message_encode(uint64_t addr, uint32_t key, uint32_t length,
			  uint8_t wire[RPING_MESSAGE]);
void rping_message_decode(const uint8_t wire[RPING_MESSAGE], struct krdma_remote_mr *remote);

/* The text of round @number, from 0, with its zero: @length bytes. */
void rping_text(char *text, size_t length, uint64_t number);

#endif /* KRDMA_CLI_PING_RPING_H */
