/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma: what librpma and its programs send to their peers, for programs that must
 * talk to them, or take their place; and their flush, over a connection of the thin
 * layer.
 *
 * Functions return 0 or a negative errno; what they give through a pointer is untouched
 * after an error.  Nothing is kept: any thread may call them at any time.
 */
#ifndef KRDMA_RPMA_H
#define KRDMA_RPMA_H

#include <krdma.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum krdma_rpma_usage_flags - what librpma registers memory for
 * @KRDMA_RPMA_READ_SOURCE: the peer reads it
 * @KRDMA_RPMA_READ_DESTINATION: reads of one's own go there
 * @KRDMA_RPMA_WRITE_SOURCE: writes of one's own come from there
 * @KRDMA_RPMA_WRITE_DESTINATION: the peer writes it
 * @KRDMA_RPMA_FLUSH_VISIBILITY: the peer may flush it to where all can see it
 * @KRDMA_RPMA_FLUSH_PERSISTENT: the peer may flush it to where it outlasts a power cut
 * @KRDMA_RPMA_SEND: messages come from there
 * @KRDMA_RPMA_RECV: messages go there
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

/* Bytes of a descriptor of memory, and of one of a peer's configuration. */
#define KRDMA_RPMA_MEMORY_SIZE	21
#define KRDMA_RPMA_PEER_SIZE	1
/* Bytes of the private data of librpma's example programs. */
#define KRDMA_RPMA_EXAMPLE_SIZE	28

/**
 * struct krdma_rpma_memory - memory of librpma's
 * @addr: its first address
 * @size: bytes
 * @key: its key
 * @usage: bits of &enum krdma_rpma_usage_flags, at least one
 */
struct krdma_rpma_memory {
	uint64_t addr;
	uint64_t size;
	uint32_t key;
	uint32_t usage;
};

/**
 * struct krdma_rpma_peer - how a peer is configured
 * @direct_write: what is written to its persistent memory by RDMA does not stay in its
 *	processor's caches
 */
struct krdma_rpma_peer {
	uint32_t direct_write;
};

/**
 * struct krdma_rpma_example - what librpma's example programs tell each other
 * @data_offset: where in @mr the data begin
 * @has_memory: @mr is told
 * @has_peer: @peer is told
 * @mr: memory
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
 * krdma_rpma_memory_write() - write a descriptor of memory
 * @mr: the memory
 * @wire: KRDMA_RPMA_MEMORY_SIZE bytes, at any address
 *
 * Errors: EINVAL (no usage, or one that librpma does not know).
 */
int krdma_rpma_memory_write(const struct krdma_rpma_memory *mr, void *wire);

/**
 * krdma_rpma_memory_read() - read a descriptor of memory
 * @wire: what a peer has sent; anything may be there
 * @length: how much; what follows the descriptor is not looked at
 * @mr: the memory
 *
 * Errors: EINVAL (too short, no usage, or beyond the end of all addresses).
 */
int krdma_rpma_memory_read(const void *wire, size_t length, struct krdma_rpma_memory *mr);

/**
 * krdma_rpma_peer_write() - write a descriptor of a configuration
 * @peer: one's own
 * @wire: KRDMA_RPMA_PEER_SIZE bytes
 *
 * Errors: EINVAL (no pointer).
 */
int krdma_rpma_peer_write(const struct krdma_rpma_peer *peer, void *wire);

/**
 * krdma_rpma_peer_read() - read a descriptor of a configuration
 * @wire: what a peer has sent
 * @length: how much; what follows the descriptor is not looked at
 * @peer: the peer's
 *
 * Errors: EINVAL (too short).
 */
int krdma_rpma_peer_read(const void *wire, size_t length, struct krdma_rpma_peer *peer);

/**
 * krdma_rpma_example_write() - write the private data of librpma's examples
 * @example: what to tell
 * @wire: KRDMA_RPMA_EXAMPLE_SIZE bytes, at any address
 *
 * They carry a number in the order of the sender's processor; here it is little-endian.
 *
 * Errors: EINVAL (an offset above 65535, or as of krdma_rpma_memory_write()).
 */
int krdma_rpma_example_write(const struct krdma_rpma_example *example, void *wire);

/**
 * krdma_rpma_example_read() - read the private data of librpma's examples
 * @wire: what a peer has sent; anything may be there
 * @length: how much; more than KRDMA_RPMA_EXAMPLE_SIZE is padding
 * @example: what it says
 *
 * Errors: EINVAL (too short, lengths that make no sense, or as of
 * krdma_rpma_memory_read()).
 */
int krdma_rpma_example_read(const void *wire, size_t length, struct krdma_rpma_example *example);

/**
 * krdma_rpma_access() - the rights that a usage needs
 * @usage: bits of &enum krdma_rpma_usage_flags
 * @transport: &enum krdma_transport of the device: iWARP needs more for reading
 * @access: &enum krdma_access, for krdma_mr_register()
 *
 * Flushing needs the right to read: it is a read behind the writes.  A peer whose device
 * has a flush of its own may want to use that, and is refused by the device here.
 *
 * Errors: EINVAL (no usage, or one that librpma does not know).
 */
int krdma_rpma_access(uint32_t usage, uint32_t transport, uint32_t *access);

/**
 * krdma_rpma_usage() - what memory with these rights can be used for
 * @access: &enum krdma_access
 * @usage: bits of &enum krdma_rpma_usage_flags
 *
 * Without flushing, which is for the owner of the memory to promise.
 *
 * Errors: EINVAL (unknown rights).
 */
int krdma_rpma_usage(uint32_t access, uint32_t *usage);

/**
 * krdma_rpma_describe() - tell a peer of registered memory
 * @mr: registered with remote rights
 * @offset: the part that is meant
 * @length: its length; 0: to the end
 * @usage: bits of &enum krdma_rpma_usage_flags: what it is offered for
 * @wire: KRDMA_RPMA_MEMORY_SIZE bytes
 *
 * Errors: EINVAL (no usage, or one that librpma does not know); ERANGE (not in the
 * memory); EACCES (it has not the remote rights that the usage needs); EMSGSIZE (it has
 * several keys, and a descriptor has one: krdma_mr_rkey_at() says how far each reaches,
 * and each such part is described by itself).
 */
int krdma_rpma_describe(struct krdma_mr *mr, size_t offset, size_t length, uint32_t usage,
			void *wire);

/**
 * krdma_rpma_remote() - a peer's memory, for <krdma_entry.h>
 * @mr: what the peer has told
 * @remote: the same
 *
 * Errors: EINVAL (no usage); EACCES (it is not offered for reading, writing or flushing).
 */
int krdma_rpma_remote(const struct krdma_rpma_memory *mr, struct krdma_remote_mr *remote);

/**
 * enum krdma_rpma_flush_type - how far what was written is to come
 * @KRDMA_RPMA_FLUSH_TYPE_PERSISTENT: to where it outlasts a power cut
 * @KRDMA_RPMA_FLUSH_TYPE_VISIBILITY: to where all can see it
 */
enum krdma_rpma_flush_type {
	KRDMA_RPMA_FLUSH_TYPE_PERSISTENT = 0,
	KRDMA_RPMA_FLUSH_TYPE_VISIBILITY = 1,
};

/**
 * krdma_rpma_flush_entry() - an entry that flushes
 * @conn: the connection
 * @wr_id: comes back with the completion
 * @mr: the peer's memory
 * @offset: what was written, in @mr
 * @length: how much
 * @type: &enum krdma_rpma_flush_type
 * @peer: the peer's configuration; NULL: it has told none
 * @entry: the entry, to be posted behind writes; its flags can be set
 *
 * Errors: EOPNOTSUPP (the peer does not offer the memory for that, or would not keep
 * the promise: persistence needs its direct write); ERANGE (not in the memory); EINVAL
 * (no such type, no memory at all).
 */
int krdma_rpma_flush_entry(const struct krdma_conn *conn, uint64_t wr_id,
			   const struct krdma_rpma_memory *mr, uint64_t offset,
			   uint64_t length, uint32_t type, const struct krdma_rpma_peer *peer,
			   struct krdma_sqe *entry);

/**
 * krdma_rpma_flush() - flush what was written
 * @ring: where the connection's operations are asked for
 * @conn, @wr_id, @mr, @offset, @length, @type, @peer: as of krdma_rpma_flush_entry()
 *
 * Only begins: when its completion has come and says success, what was posted before on
 * this connection is where it was to come.
 *
 * Errors: those of krdma_rpma_flush_entry() and of krdma_ring_post().
 */
int krdma_rpma_flush(struct krdma_ring *ring, const struct krdma_conn *conn, uint64_t wr_id,
		     const struct krdma_rpma_memory *mr, uint64_t offset, uint64_t length,
		     uint32_t type, const struct krdma_rpma_peer *peer);

#ifdef __cplusplus
}
#endif

#endif /* KRDMA_RPMA_H */
