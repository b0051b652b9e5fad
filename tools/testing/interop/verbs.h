/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Definitions that the verbs programs and krdma's side share.
 */
#ifndef INTEROP_VERBS_H
#define INTEROP_VERBS_H

#include <endian.h>
#include <stdint.h>

/*
 * Memory that the accepting side offers in its private data.  Its first half contains data of its
 * owner to read, the other half is for the peer to write.
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

/* Not a multiple of the size of a packet or of a page. */
#define HALF		50001
#define OFFERED		(2 * HALF)
#define SEED_OF_OWNER	7
#define SEED_OF_WRITER	11

/* Bytes of a message. */
#define ROOM		64

/* Maximum length of private data in a connection request. */
#define REQUEST_MAX	56
/* A reject returns the length of the private data that it saw, and the data. */
#define MIRROR_SIZE	(1 + REQUEST_MAX)

#endif
