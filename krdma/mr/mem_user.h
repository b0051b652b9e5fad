/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_MR_MEM_USER_H
#define _KRDMA_MR_MEM_USER_H

#include <linux/types.h>

struct krdma_device;
struct krdma_mem;
struct mm_struct;
struct page;

/**
 * struct krdma_user_pages - pages of a process that are going to be registered
 * @by_provider: the provider pins them; otherwise krdma has
 * @copied: the processor copies them, too
 * @pins_writable: the provider pins those for writing that the process may write to
 * @pages: the pages; NULL: none, or the memory has the list
 * @count: number of pages that are pinned, and not taken over
 * @mm: the process's mm, if pages are charged and not taken over
 * @charged: number of charged pages
 */
struct krdma_user_pages {
	bool by_provider;
	bool copied;
	bool pins_writable;
	struct page **pages;
	unsigned int count;
	struct mm_struct *mm;
	unsigned long charged;
};

int krdma_user_pages_get(struct krdma_user_pages *user, struct krdma_device *dev,
			 unsigned long start, u64 length, u32 access, bool copied);
void krdma_user_pages_put(struct krdma_user_pages *user);
int krdma_mem_map_user(struct krdma_mem *mem, unsigned long start, struct krdma_user_pages *user);
void krdma_mem_release_user(struct krdma_mem *mem);

#endif /* _KRDMA_MR_MEM_USER_H */
