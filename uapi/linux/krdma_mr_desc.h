/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * krdma: what a peer is told of memory.  Alone, for those who read and write descriptors
 * and nothing else of krdma.
 */
#ifndef _UAPI_LINUX_KRDMA_MR_DESC_H
#define _UAPI_LINUX_KRDMA_MR_DESC_H

#include <linux/types.h>

/**
 * DOC: What a peer is told of memory
 *
 * &struct krdma_mr_desc is what travels in messages from the one who has memory to the
 * one who is to write or read it there: 32 bytes at any address, all numbers
 * little-endian.  Whoever reads one refuses another magic, another version (that is a
 * krdma which is newer), a @reserved that is not 0, a length of 0 or beyond the end of
 * all addresses, and rights that version 1 does not have or none at all: a new right
 * comes with a new version.  It has no check of its own: the transport protects the
 * message, and the device of the one who has the memory verifies what it says.
 */

/* "KRDm" in a message. */
#define KRDMA_MR_DESC_MAGIC	0x6d44524b
#define KRDMA_MR_DESC_VERSION	1

/* The length of a descriptor. */
#define KRDMA_MR_DESC_SIZE	32

/**
 * enum krdma_mr_desc_rights - bits of &struct krdma_mr_desc.rights
 * @KRDMA_MR_DESC_READ: the reader of the descriptor may read the memory
 * @KRDMA_MR_DESC_WRITE: may write it
 * @KRDMA_MR_DESC_ATOMIC: may do atomics on it
 */
enum krdma_mr_desc_rights {
	KRDMA_MR_DESC_READ = 1 << 0,
	KRDMA_MR_DESC_WRITE = 1 << 1,
	KRDMA_MR_DESC_ATOMIC = 1 << 2,
};

/**
 * struct krdma_mr_desc - what a peer is told of memory
 * @magic: KRDMA_MR_DESC_MAGIC
 * @version: KRDMA_MR_DESC_VERSION
 * @reserved: 0
 * @addr: the remote address of its first byte
 * @length: its length in bytes
 * @key: the remote key
 * @rights: &enum krdma_mr_desc_rights
 */
struct krdma_mr_desc {
	__le32 magic;
	__le16 version;
	__le16 reserved;
	__aligned_le64 addr;
	__aligned_le64 length;
	__le32 key;
	__le32 rights;
};

#endif /* _UAPI_LINUX_KRDMA_MR_DESC_H */
