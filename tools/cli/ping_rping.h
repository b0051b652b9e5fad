/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Protocol of rping(1) and compatible programs.  Each message has RPING_MESSAGE bytes: address,
 * rkey and length of memory of the client, in network byte order.  A round:
 *
 *	client				server
 *	message: its source	->
 *				<-	reads the data, as many bytes as the message says
 *				<-	message, its content is ignored
 *	message: its sink	->
 *				<-	writes the text and the zero behind it
 *				<-	message, its content is ignored
 *
 * The data are a text, "rdma-ping-0: ABC", with a zero at its end.  There are no private data, and
 * both sides must be started with the same length.
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

/* Build the text of round @number, from 0: @length bytes with its zero. */
void rping_text(char *text, size_t length, uint64_t number);

#endif /* KRDMA_CLI_PING_RPING_H */
