/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_MR_MEM_USER_H
#define _KRDMA_MR_MEM_USER_H

#include <linux/types.h>

struct krdma_mem;

int krdma_mem_map_user(struct krdma_mem *mem, unsigned long start, bool copied);
void krdma_mem_release_user(struct krdma_mem *mem);

#endif /* _KRDMA_MR_MEM_USER_H */
