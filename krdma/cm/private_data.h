/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The exact length of the private data of a connection request, its acceptance and its rejection.
 * Pure.
 */
#ifndef _KRDMA_PRIVATE_DATA_H
#define _KRDMA_PRIVATE_DATA_H

#include "core/pure.h"

/* The message that carries the data. */
enum krdma_private_data_kind {
	KRDMA_PRIVATE_DATA_REQUEST,
	KRDMA_PRIVATE_DATA_REPLY,
	KRDMA_PRIVATE_DATA_REJECT,
};

/*
 * Size of the area of a transport that pads: the fields of the InfiniBand connection messages, of
 * which the RDMA CM uses 36 bytes of a request for the addresses of both ends.
 */
#define KRDMA_PRIVATE_DATA_REQUEST_AREA	56
#define KRDMA_PRIVATE_DATA_REPLY_AREA	196
#define KRDMA_PRIVATE_DATA_REJECT_AREA	148

/*
 * Maximum for a transport with exact lengths.  The RDMA CM could pass on 255 bytes, but fewer
 * arrive: providers put 4 bytes of their own before the data of an MPA message, and siw stores
 * the sum in eight bits.
 */
#define KRDMA_PRIVATE_DATA_EXACT_MAX	251

/* The longest message that krdma_private_data_encode() makes. */
#define KRDMA_PRIVATE_DATA_BUFFER	KRDMA_PRIVATE_DATA_EXACT_MAX

/* The end of a padded area, which contains the length of the data. */
#define KRDMA_PRIVATE_DATA_TRAILER	8

u32 krdma_private_data_max(enum krdma_private_data_kind kind, bool padded);
int krdma_private_data_encode(enum krdma_private_data_kind kind, bool padded, bool plain,
			      const void *data, u32 length, u8 *message, u32 *message_length);
u32 krdma_private_data_decode(enum krdma_private_data_kind kind, bool padded,
			      const void *message, u32 message_length, bool *peer_is_krdma);

#endif /* _KRDMA_PRIVATE_DATA_H */
