/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma: the data formats that librpma and its programs send to their peers, for programs
 * that communicate with them or replace them; and librpma's flush, over a connection of the
 * thin layer.
 *
 * Functions return 0 or a negative errno. Output pointers are not written after an error. The
 * functions keep no state: any thread may call them at any time.
 */
#ifndef KRDMA_RPMA_H
#define KRDMA_RPMA_H

#include <krdma.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum krdma_rpma_usage_flags - purposes for which librpma registers memory
 * @KRDMA_RPMA_READ_SOURCE: the peer reads it
 * @KRDMA_RPMA_READ_DESTINATION: local reads store data in it
 * @KRDMA_RPMA_WRITE_SOURCE: local writes take data from it
 * @KRDMA_RPMA_WRITE_DESTINATION: the peer writes it
 * @KRDMA_RPMA_FLUSH_VISIBILITY: the peer may flush it to global visibility
 * @KRDMA_RPMA_FLUSH_PERSISTENT: the peer may flush it to persistence
 * @KRDMA_RPMA_SEND: sends take messages from it
 * @KRDMA_RPMA_RECV: receives store messages in it
 */
enum krdma_rpma_usage_flags {
	KRDMA_RPMA_READ_SOURCE = 1 << 0,
	KRDMA_RPMA_READ_DESTINATION = 1 << 1,
	KRDMA_RPMA_WRITE_SOURCE = 1 << 2,
	KRDMA_RPMA_WRITE_DESTINATION = 1 << 3,
	KRDMA_RPMA_FLUSH_VISIBILITY = 1 << 4,
	KRDMA_RPMA_FLUSH_PERSISTENT = 1 << 5,
	KRDMA_RPMA_SEND = 1 << 6,
	KRDMA_RPMA_RECV = 1 << 7,
};

/* Sizes in bytes of a memory descriptor and of a peer configuration descriptor. */
#define KRDMA_RPMA_MEMORY_SIZE	21
#define KRDMA_RPMA_PEER_SIZE	1
/* Size in bytes of the private data of librpma's example programs. */
#define KRDMA_RPMA_EXAMPLE_SIZE	28

/**
 * struct krdma_rpma_memory - memory that librpma describes
 * @addr: start address
 * @size: length in bytes
 * @key: the rkey
 * @usage: bits of &enum krdma_rpma_usage_flags, at least one
 */
struct krdma_rpma_memory {
	uint64_t addr;
	uint64_t size;
	uint32_t key;
	uint32_t usage;
};

/**
 * struct krdma_rpma_peer - configuration of a peer
 * @direct_write: data that RDMA writes to the peer's persistent memory do not stay in the
 *	caches of its processor
 */
struct krdma_rpma_peer {
	uint32_t direct_write;
};

/**
 * struct krdma_rpma_example - private data that librpma's example programs exchange
 * @data_offset: offset of the data in @mr, in bytes
 * @has_memory: @mr is valid
 * @has_peer: @peer is valid
 * @mr: the memory
 * @peer: the configuration
 */
struct krdma_rpma_example {
	uint32_t data_offset;
	uint32_t has_memory;
	uint32_t has_peer;
	struct krdma_rpma_memory mr;
	struct krdma_rpma_peer peer;
};

/**
 * krdma_rpma_memory_write() - Encode a memory descriptor
 * @mr: the memory
 * @wire: KRDMA_RPMA_MEMORY_SIZE bytes, of any alignment
 *
 * Errors: EINVAL (no usage, or one that librpma does not know).
 */
int krdma_rpma_memory_write(const struct krdma_rpma_memory *mr, void *wire);

/**
 * krdma_rpma_memory_read() - Decode a memory descriptor
 * @wire: the received bytes; they need not be valid
 * @length: number of received bytes; those after the descriptor are ignored
 * @mr: receives the memory
 *
 * Errors: EINVAL (too short, no usage, or past the end of the address space).
 */
int krdma_rpma_memory_read(const void *wire, size_t length, struct krdma_rpma_memory *mr);

/**
 * krdma_rpma_peer_write() - Encode a peer configuration descriptor
 * @peer: the local configuration
 * @wire: KRDMA_RPMA_PEER_SIZE bytes
 *
 * Errors: EINVAL (a NULL pointer).
 */
int krdma_rpma_peer_write(const struct krdma_rpma_peer *peer, void *wire);

/**
 * krdma_rpma_peer_read() - Decode a peer configuration descriptor
 * @wire: the received bytes
 * @length: number of received bytes; those after the descriptor are ignored
 * @peer: receives the peer's configuration
 *
 * Errors: EINVAL (too short).
 */
int krdma_rpma_peer_read(const void *wire, size_t length, struct krdma_rpma_peer *peer);

/**
 * krdma_rpma_example_write() - Encode the private data of librpma's examples
 * @example: the data
 * @wire: KRDMA_RPMA_EXAMPLE_SIZE bytes, of any alignment
 *
 * The format contains a number in the byte order of the sender's processor; this function
 * writes it as little-endian.
 *
 * Errors: EINVAL (an offset above 65535, or as for krdma_rpma_memory_write()).
 */
int krdma_rpma_example_write(const struct krdma_rpma_example *example, void *wire);

/**
 * krdma_rpma_example_read() - Decode the private data of librpma's examples
 * @wire: the received bytes; they need not be valid
 * @length: number of received bytes; those after KRDMA_RPMA_EXAMPLE_SIZE are padding
 * @example: receives the data
 *
 * Errors: EINVAL (too short, inconsistent lengths, or as for krdma_rpma_memory_read()).
 */
int krdma_rpma_example_read(const void *wire, size_t length, struct krdma_rpma_example *example);

/**
 * krdma_rpma_access() - Get the access rights that a usage needs
 * @usage: bits of &enum krdma_rpma_usage_flags
 * @transport: &enum krdma_transport of the device: reads need more rights on iWARP
 * @access: receives &enum krdma_access, for krdma_mr_register()
 *
 * A flush needs the right to read: it is a read posted after the writes. If the peer's device
 * has a flush operation of its own and the peer uses it, the local device refuses that
 * operation.
 *
 * Errors: EINVAL (no usage, or one that librpma does not know).
 */
int krdma_rpma_access(uint32_t usage, uint32_t transport, uint32_t *access);

/**
 * krdma_rpma_usage() - Get the usages that access rights allow
 * @access: &enum krdma_access
 * @usage: receives bits of &enum krdma_rpma_usage_flags
 *
 * The result does not include flushing, which only the owner of the memory can offer.
 *
 * Errors: EINVAL (unknown rights).
 */
int krdma_rpma_usage(uint32_t access, uint32_t *usage);

/**
 * krdma_rpma_describe() - Encode a memory descriptor for part of a memory region
 * @mr: a memory region with remote access rights
 * @offset: start of the described range, in bytes
 * @length: its length in bytes; 0: to the end
 * @usage: bits of &enum krdma_rpma_usage_flags that are offered to the peer
 * @wire: KRDMA_RPMA_MEMORY_SIZE bytes
 *
 * Errors: EINVAL (no usage, or one that librpma does not know); ERANGE (outside the memory
 * region); EACCES (it lacks the remote access rights that the usage needs); EMSGSIZE (the range
 * has several rkeys, but a descriptor holds one: krdma_mr_rkey_at() returns the reach of each;
 * describe each such range separately).
 */
int krdma_rpma_describe(struct krdma_mr *mr, size_t offset, size_t length, uint32_t usage,
			void *wire);

/**
 * krdma_rpma_remote() - Convert a peer's memory for use with <krdma_entry.h>
 * @mr: the memory that the peer described
 * @remote: receives the same memory
 *
 * Errors: EINVAL (no usage); EACCES (not offered for reading, writing or flushing).
 */
int krdma_rpma_remote(const struct krdma_rpma_memory *mr, struct krdma_remote_mr *remote);

/**
 * enum krdma_rpma_flush_type - how far a flush takes written data
 * @KRDMA_RPMA_FLUSH_TYPE_PERSISTENT: to persistence
 * @KRDMA_RPMA_FLUSH_TYPE_VISIBILITY: to global visibility
 */
enum krdma_rpma_flush_type {
	KRDMA_RPMA_FLUSH_TYPE_PERSISTENT = 0,
	KRDMA_RPMA_FLUSH_TYPE_VISIBILITY = 1,
};

/**
 * krdma_rpma_flush_entry() - Make an entry that flushes
 * @conn: the connection
 * @wr_id: returned in the completion
 * @mr: the peer's memory
 * @offset: start of the written range in @mr, in bytes
 * @length: its length in bytes
 * @type: &enum krdma_rpma_flush_type
 * @peer: the peer's configuration; NULL: the peer sent none
 * @entry: receives the entry, to be posted after the writes; the caller can set its flags
 *
 * Errors: EOPNOTSUPP (the peer does not offer the memory for that, or cannot guarantee it:
 * persistence needs its direct write); ERANGE (outside the memory); EINVAL (unknown type, or
 * empty memory).
 */
int krdma_rpma_flush_entry(const struct krdma_conn *conn, uint64_t wr_id,
			   const struct krdma_rpma_memory *mr, uint64_t offset,
			   uint64_t length, uint32_t type, const struct krdma_rpma_peer *peer,
			   struct krdma_sqe *entry);

/**
 * krdma_rpma_flush() - Post a flush of written data
 * @ring: the ring to which the connection's work requests are posted
 * @conn: the connection
 * @wr_id: returned in the completion
 * @mr: the peer's memory
 * @offset: start of the written range in @mr, in bytes
 * @length: its length in bytes
 * @type: &enum krdma_rpma_flush_type
 * @peer: the peer's configuration; NULL: the peer sent none
 *
 * The function only posts the work request. When it completes with success, the data of all
 * work requests that were posted before it on this connection are flushed.
 *
 * Errors: those of krdma_rpma_flush_entry() and krdma_ring_post().
 */
int krdma_rpma_flush(struct krdma_ring *ring, const struct krdma_conn *conn, uint64_t wr_id,
		     const struct krdma_rpma_memory *mr, uint64_t offset, uint64_t length,
		     uint32_t type, const struct krdma_rpma_peer *peer);

#ifdef __cplusplus
}
#endif

#endif /* KRDMA_RPMA_H */
