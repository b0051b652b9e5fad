/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * krdma: memory descriptors.  A header of its own, for programs that read and write memory
 * descriptors and use nothing else of krdma.
 */
#ifndef _UAPI_LINUX_KRDMA_MR_DESC_H
#define _UAPI_LINUX_KRDMA_MR_DESC_H

#include <linux/types.h>

/**
 * DOC: Memory descriptors
 *
 * &struct krdma_mr_desc travels in messages from the owner of a memory region to the peer that
 * is to read or write it: 32 bytes at any address, all numbers little-endian.  A reader must
 * refuse a descriptor with another magic; another version, which a newer krdma has written; a
 * @reserved that is not 0; a length of 0 or beyond the end of the address space; no rights, or
 * rights that version 1 does not have.  A new right comes with a new version.  A descriptor has
 * no checksum: the transport protects the message, and the owner's device verifies each access.
 */

/* "KRDm" in a message. */
#define KRDMA_MR_DESC_MAGIC	0x6d44524b
#define KRDMA_MR_DESC_VERSION	1

/* The length of a memory descriptor in bytes. */
#define KRDMA_MR_DESC_SIZE	32

/**
 * enum krdma_mr_desc_rights - bits of &struct krdma_mr_desc.rights
 * @KRDMA_MR_DESC_READ: the receiver of the descriptor may read the memory
 * @KRDMA_MR_DESC_WRITE: the receiver may write it
 * @KRDMA_MR_DESC_ATOMIC: the receiver may do atomics on it
 */
enum krdma_mr_desc_rights {
	KRDMA_MR_DESC_READ = 1 << 0,
	KRDMA_MR_DESC_WRITE = 1 << 1,
	KRDMA_MR_DESC_ATOMIC = 1 << 2,
};

/**
 * struct krdma_mr_desc - memory descriptor
 * @magic: KRDMA_MR_DESC_MAGIC
 * @version: KRDMA_MR_DESC_VERSION
 * @reserved: 0
 * @addr: the remote address of the first byte
 * @length: bytes
 * @key: the rkey
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
