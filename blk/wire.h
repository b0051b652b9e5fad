/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The protocol between the two ends of krdma_blk.
 *
 * Messages are private data of the connection manager, a table of rkeys that the client reads,
 * and commands with their replies; everything else is memory that is read and written by RDMA.
 * All numbers are little-endian.
 *
 * The memory is that of the export; or, if its data are in a store of the server, slots of each
 * connection.  Then the data of a request go through the slot whose number is the request's tag:
 * the client writes them there and sends KRDMA_BLK_WRITE, or it sends KRDMA_BLK_READ and reads them
 * there after the reply.
 */
#ifndef _KRDMA_BLK_WIRE_H
#define _KRDMA_BLK_WIRE_H

#include <linux/stddef.h>
#include <linux/types.h>

#define KRDMA_BLK_MAGIC		0x62646b72	/* "rkdb" */
#define KRDMA_BLK_VERSION	2

/* Port where a server listens by default. */
#define KRDMA_BLK_PORT		7475

/*
 * A server ends a connection if its client has not answered for KRDMA_BLK_LEASE_MS.  After
 * KRDMA_BLK_FENCE_MS of silence a client relies on that; the difference allows for delays.
 */
#define KRDMA_BLK_LEASE_MS	4000
#define KRDMA_BLK_FENCE_MS	5000

#define KRDMA_BLK_NAME_MAX	24
#define KRDMA_BLK_PROOF_SIZE	16

/* Maximum number of connections of a client. */
#define KRDMA_BLK_QUEUES_MAX	16

/* Maximum number of commands of a connection without a reply. */
#define KRDMA_BLK_COMMANDS_MAX	64

/* Number of slots of a connection, and bytes of each. */
#define KRDMA_BLK_SLOTS		KRDMA_BLK_COMMANDS_MAX
#define KRDMA_BLK_SLOT_SIZE	0x20000

/* Maximum number of rkeys of the table. */
#define KRDMA_BLK_TABLE_KEYS_MAX	8

/* Maximum number of bytes of a command's range: what a processor zeroes in a moment. */
#define KRDMA_BLK_ZERO_MAX	0x200000

/**
 * enum krdma_blk_hello_flags - bits of &struct krdma_blk_hello.flags
 * @KRDMA_BLK_ANSWER: @proof answers a challenge; without it, @proof is a random number
 * @KRDMA_BLK_RETURN: the server has accepted a connection of this client before
 * @KRDMA_BLK_READER: the client does not write
 * @KRDMA_BLK_COMMANDS: the client knows commands; without it, the welcome offers none, and an
 *	export with a store is refused.  A server that does not know commands refuses a hello with
 *	this flag as one of another version, and the client repeats the hello without it.
 */
enum krdma_blk_hello_flags {
	KRDMA_BLK_ANSWER = 0x01,
	KRDMA_BLK_RETURN = 0x02,
	KRDMA_BLK_READER = 0x04,
	KRDMA_BLK_COMMANDS = 0x08,
};

#define KRDMA_BLK_HELLO_FLAGS	(KRDMA_BLK_ANSWER | KRDMA_BLK_RETURN | KRDMA_BLK_READER | \
				 KRDMA_BLK_COMMANDS)

/**
 * struct krdma_blk_hello - private data of the connection request
 * @magic: KRDMA_BLK_MAGIC
 * @version: KRDMA_BLK_VERSION
 * @flags: &enum krdma_blk_hello_flags
 * @queue: index of this connection among those of the client, from 0 to KRDMA_BLK_QUEUES_MAX - 1
 * @client: a random number: the same for all connections of one attachment, also for those that
 *	replace broken ones
 * @name: name of the export, padded with zeroes
 * @proof: see auth.h
 *
 * A client that leaves sends an empty message, and the server disconnects it.
 *
 * The size is what InfiniBand has space for.
 */
struct krdma_blk_hello {
	__le32 magic;
	u8 version;
	u8 flags;
	__le16 queue;
	__le64 client;
	char name[KRDMA_BLK_NAME_MAX];
	u8 proof[KRDMA_BLK_PROOF_SIZE];
};

static_assert(sizeof(struct krdma_blk_hello) == 56);

/**
 * enum krdma_blk_welcome_flags - bits of &struct krdma_blk_welcome.flags
 * @KRDMA_BLK_READ_ONLY: the client can only read
 * @KRDMA_BLK_OFFERS_ZERO: the server executes KRDMA_BLK_ZERO; only without KRDMA_BLK_READ_ONLY
 * @KRDMA_BLK_OFFERS_DISCARD: the server executes KRDMA_BLK_DISCARD; only without
 *	KRDMA_BLK_READ_ONLY
 * @KRDMA_BLK_STORED: the server has the data in a store, and the memory is the connection's slots.
 *	The server executes KRDMA_BLK_READ; and without KRDMA_BLK_READ_ONLY also KRDMA_BLK_WRITE and
 *	KRDMA_BLK_FLUSH.  What was written is stable after a flush, or with KRDMA_BLK_STABLE.
 *
 * For the same generation the offers are always the same.
 */
enum krdma_blk_welcome_flags {
	KRDMA_BLK_READ_ONLY = 0x01,
	KRDMA_BLK_OFFERS_ZERO = 0x02,
	KRDMA_BLK_OFFERS_DISCARD = 0x04,
	KRDMA_BLK_STORED = 0x08,
};

#define KRDMA_BLK_OFFERS	(KRDMA_BLK_OFFERS_ZERO | KRDMA_BLK_OFFERS_DISCARD)
#define KRDMA_BLK_FLAGS		(KRDMA_BLK_READ_ONLY | KRDMA_BLK_OFFERS | KRDMA_BLK_STORED)

/**
 * struct krdma_blk_welcome - private data of the acceptance
 * @magic: KRDMA_BLK_MAGIC
 * @version: KRDMA_BLK_VERSION
 * @flags: what the client may do with the export
 * @more: number of rkeys of the table in @more_keys
 * @generation: a random number: the same as long as the memory keeps what was written
 * @size: size of the export in bytes
 * @table_addr: remote address of the table of &struct krdma_blk_entry, one for each chunk
 * @table_key: rkey of the table, or of its first part
 * @block_size: in bytes
 * @chunk_size: in bytes, a power of two; the client may use the last chunk only in part
 * @slot_size: with KRDMA_BLK_STORED: bytes of a slot, a power of two; the memory has
 *	KRDMA_BLK_SLOTS of them.  Else 0.
 * @proof: for an export with a secret, see auth.h; else 0
 * @table_part: bytes of the table that each of its rkeys covers, one behind the other; a multiple
 *	of the size of an entry
 * @more_keys: the rkeys after @table_key, and then zeroes
 *
 * The message ends with @proof if @more is 0: if one rkey covers the table.
 */
struct krdma_blk_welcome {
	__le32 magic;
	u8 version;
	u8 flags;
	__le16 more;
	__le64 generation;
	__le64 size;
	__le64 table_addr;
	__le32 table_key;
	__le32 block_size;
	__le32 chunk_size;
	__le32 slot_size;
	u8 proof[KRDMA_BLK_PROOF_SIZE];
	__le32 table_part;
	__le32 more_keys[KRDMA_BLK_TABLE_KEYS_MAX - 1];
};

/* Bytes of a welcome without @table_part and @more_keys. */
#define KRDMA_BLK_WELCOME_SHORT	offsetof(struct krdma_blk_welcome, table_part)

static_assert(KRDMA_BLK_WELCOME_SHORT == 64);
static_assert(sizeof(struct krdma_blk_welcome) == 96);

/* Remote address and rkey of a chunk. */
struct krdma_blk_entry {
	__le64 addr;
	__le32 key;
	__le32 reserved;
};

static_assert(sizeof(struct krdma_blk_entry) == 16);

/**
 * enum krdma_blk_opcode - what a command does with a range of the export
 * @KRDMA_BLK_ZERO: fill it with zeroes
 * @KRDMA_BLK_DISCARD: the client does not need the data any more; the range reads as zeroes
 * @KRDMA_BLK_READ: read it into the slot
 * @KRDMA_BLK_WRITE: write it from the slot
 * @KRDMA_BLK_FLUSH: make all stable that was written before; the range is empty
 */
enum krdma_blk_opcode {
	KRDMA_BLK_ZERO = 1,
	KRDMA_BLK_DISCARD = 2,
	KRDMA_BLK_READ = 3,
	KRDMA_BLK_WRITE = 4,
	KRDMA_BLK_FLUSH = 5,
};

/* Of KRDMA_BLK_WRITE: what it writes is stable before the reply. */
#define KRDMA_BLK_STABLE	0x01

/**
 * struct krdma_blk_command - a message to the server
 * @offset: start of the range in bytes, a multiple of the block size
 * @length: bytes of the range, a multiple of the block size, at most KRDMA_BLK_ZERO_MAX, or the
 *	size of a slot.  The range may cross chunks.
 * @tag: repeated in the reply; the client uses it for one command of a connection at a time.  For
 *	KRDMA_BLK_READ and KRDMA_BLK_WRITE it is the number of the slot.
 * @opcode: &enum krdma_blk_opcode
 * @flags: KRDMA_BLK_STABLE, or 0
 *
 * The server executes a command and then replies with an empty message with immediate data, see
 * KRDMA_BLK_REPLY_TAG().  A client has at most KRDMA_BLK_COMMANDS_MAX commands without a reply on
 * a connection; they are executed in any order.  The server executes no command of a connection any
 * more when it accepts the connection that replaces it, and begins none KRDMA_BLK_FENCE_MS after
 * the client has closed it.
 */
struct krdma_blk_command {
	__le64 offset;
	__le32 length;
	__le16 tag;
	u8 opcode;
	u8 flags;
};

static_assert(sizeof(struct krdma_blk_command) == 16);

/**
 * enum krdma_blk_status - how a command has ended
 * @KRDMA_BLK_DONE: it was executed
 * @KRDMA_BLK_INVALID: it is invalid, and nothing has changed
 * @KRDMA_BLK_FAILED: the store has failed, and any part of the range may have changed
 * @KRDMA_BLK_NO_SPACE: the same, because the store is full
 */
enum krdma_blk_status {
	KRDMA_BLK_DONE = 0,
	KRDMA_BLK_INVALID = 1,
	KRDMA_BLK_FAILED = 2,
	KRDMA_BLK_NO_SPACE = 3,
};

/* The immediate data of a reply: status and tag. */
#define KRDMA_BLK_REPLY(status, tag)	((u32)(status) << 16 | (tag))
#define KRDMA_BLK_REPLY_STATUS(imm)	((imm) >> 16)
#define KRDMA_BLK_REPLY_TAG(imm)	((imm) & 0xffff)

/**
 * enum krdma_blk_reason - why a connection was refused
 * @KRDMA_BLK_NOT_UNDERSTOOD: the private data is not a valid hello
 * @KRDMA_BLK_OTHER_VERSION: the server does not support the version, or the flags, of the hello
 * @KRDMA_BLK_REFUSED: there is no such export, or not for this address, or not with this secret:
 *	an unauthorized peer does not learn which
 * @KRDMA_BLK_CHALLENGE: not refused yet: the client has to ask again, with the answer
 * @KRDMA_BLK_BUSY: another client uses the export exclusively, or writes to it
 * @KRDMA_BLK_FULL: there are too many connections; also any peer gets this from whose address, or
 *	IPv6 network, too many requests are being answered
 * @KRDMA_BLK_NO_MEMORY: the server could not register the memory with its device
 * @KRDMA_BLK_NO_FABRIC: the server's device is not supported
 * @KRDMA_BLK_FENCED: this client must not return: the export was enabled again, or another client
 *	has been admitted as a writer, or this one was evicted
 *
 * Reasons from KRDMA_BLK_BUSY on are for clients that may use the export, except as said with
 * KRDMA_BLK_FULL.
 */
enum krdma_blk_reason {
	KRDMA_BLK_NOT_UNDERSTOOD = 1,
	KRDMA_BLK_OTHER_VERSION = 2,
	KRDMA_BLK_REFUSED = 3,
	KRDMA_BLK_CHALLENGE = 4,
	KRDMA_BLK_BUSY = 6,
	KRDMA_BLK_FULL = 7,
	KRDMA_BLK_NO_MEMORY = 8,
	KRDMA_BLK_NO_FABRIC = 9,
	KRDMA_BLK_FENCED = 10,
};

/**
 * struct krdma_blk_refusal - private data of the rejection
 * @magic: KRDMA_BLK_MAGIC
 * @version: KRDMA_BLK_VERSION of the server
 * @reason: &enum krdma_blk_reason
 * @reserved: 0
 * @challenge: with KRDMA_BLK_CHALLENGE: a random number, else 0
 */
struct krdma_blk_refusal {
	__le32 magic;
	u8 version;
	u8 reason;
	__le16 reserved;
	u8 challenge[KRDMA_BLK_PROOF_SIZE];
};

static_assert(sizeof(struct krdma_blk_refusal) == 24);

/**
 * struct krdma_blk_geometry - a welcome that has been checked
 * @generation: as in &struct krdma_blk_welcome
 * @size: in bytes
 * @table_addr: remote address of the table
 * @table_part: bytes of the table that each rkey covers; the last one covers the rest
 * @table_keys: rkeys of the table
 * @block_size: in bytes
 * @chunk_size: in bytes
 * @slot_size: bytes of a slot; 0: the memory is that of the export
 * @chunks: number of chunks
 * @read_only: the export cannot be written
 * @offers: commands that the server executes, bits of &enum krdma_blk_welcome_flags
 */
struct krdma_blk_geometry {
	u64 generation;
	u64 size;
	u64 table_addr;
	u32 table_part;
	u32 table_keys[KRDMA_BLK_TABLE_KEYS_MAX];
	u32 block_size;
	u32 chunk_size;
	u32 slot_size;
	u32 chunks;
	bool read_only;
	u8 offers;
};

/**
 * struct krdma_blk_bounds - what a command may do
 * @size: size of the export in bytes
 * @block_size: its block size in bytes
 * @opcodes: bits 1 << &enum krdma_blk_opcode
 */
struct krdma_blk_bounds {
	u64 size;
	u32 block_size;
	u8 opcodes;
};

/**
 * struct krdma_blk_range - a command that has been checked
 * @offset: start in bytes
 * @length: in bytes
 * @tag: as in &struct krdma_blk_command
 * @opcode: &enum krdma_blk_opcode
 * @stable: what it writes is stable before the reply
 */
struct krdma_blk_range {
	u64 offset;
	u32 length;
	u16 tag;
	u8 opcode;
	bool stable;
};

/* Maximum number of chunks; their table then has 16 MiB. */
#define KRDMA_BLK_CHUNKS_MAX	0x100000

int krdma_blk_read_welcome(const void *data, size_t length, struct krdma_blk_geometry *geometry);
const char *krdma_blk_read_refusal(const void *data, size_t length,
				   struct krdma_blk_refusal *refusal);
int krdma_blk_read_command(const struct krdma_blk_command *command,
			   const struct krdma_blk_bounds *bounds, struct krdma_blk_range *range);

#endif /* _KRDMA_BLK_WIRE_H */
