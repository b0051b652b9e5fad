/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a program of librpma's and the one at krdma's side have agreed upon: where things are
 * in the memory that each tells the other of, and what is in it.
 */
#ifndef INTEROP_RPMA_H
#define INTEROP_RPMA_H

/* In the private data; all that follows is counted from there. */
#define DATA_OFFSET	64

/* What its owner has put there, to be read. */
#define OWN_AT		0
/* What the other side writes. */
#define WRITTEN_AT	4096
/* Eight bytes that the other side writes at once. */
#define ATOMIC_AT	8192
/* Where one's own reads go. */
#define READ_AT		8256
#define LENGTH		4096
#define MEMORY_SIZE	(DATA_OFFSET + READ_AT + LENGTH)

#define ATOMIC_VALUE	"together"

/* What is in it, and who has put it there. */
#define SEED_OF_RPMA	3
#define SEED_OF_KRDMA	5

/* Messages: connections, of each of them messages, and how they look. */
#define CONNECTIONS	2
#define MESSAGES	3
#define MESSAGE_SIZE	64

/* Immediate data of message @i of connection @c; bytes that are not their own mirror. */
#define IMMEDIATE(c, i)	(0x01020300u + (c) * 0x10 + (i))

#endif
