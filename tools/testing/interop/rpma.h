/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Definitions that a librpma program and krdma's side share: the layout of the memory that each
 * side describes to the other, and its content.
 */
#ifndef INTEROP_RPMA_H
#define INTEROP_RPMA_H

/* Sent in the private data; the offsets below count from there. */
#define DATA_OFFSET	64

/* Data of the owner, for the other side to read. */
#define OWN_AT		0
/* Where the other side writes. */
#define WRITTEN_AT	4096
/* Eight bytes that the other side writes with one atomic write. */
#define ATOMIC_AT	8192
/* Destination of the owner's own reads. */
#define READ_AT		8256
#define LENGTH		4096
#define MEMORY_SIZE	(DATA_OFFSET + READ_AT + LENGTH)

#define ATOMIC_VALUE	"together"

/* Seeds of the patterns, by the side that writes them. */
#define SEED_OF_RPMA	3
#define SEED_OF_KRDMA	5

/* Number of connections, messages on each of them, and bytes of a message. */
#define CONNECTIONS	2
#define MESSAGES	3
#define MESSAGE_SIZE	64

/* Immediate data of message @i of connection @c, different in the other byte order. */
#define IMMEDIATE(c, i)	(0x01020300u + (c) * 0x10 + (i))

#endif
