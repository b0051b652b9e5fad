/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What programs of verbs and the one at krdma's side have agreed upon.
 */
#ifndef INTEROP_VERBS_H
#define INTEROP_VERBS_H

#include <endian.h>
#include <stdint.h>

/*
 * Memory that is offered, in the private data of who accepts.  Its first half holds what its
 * owner has put there, the other half is to be written.
 */
struct offer {
	uint64_t addr;
	uint32_t key;
	uint32_t size;
};

static inline struct offer offer_of(const void *data, uint32_t key, uint32_t size)
{
	return (struct offer){
		.addr = htobe64((uintptr_t)data), .key = htobe32(key), .size = htobe32(size),
	};
}

/* Not a multiple of anything that packets and pages are made of. */
#define HALF		50001
#define OFFERED		(2 * HALF)
#define SEED_OF_OWNER	7
#define SEED_OF_WRITER	11

/* Room for one message. */
#define ROOM		64

/* What a request for a connection can bring. */
#define REQUEST_MAX	56
/* What a refusal brings back: how much was seen, and what. */
#define MIRROR_SIZE	(1 + REQUEST_MAX)

#endif
