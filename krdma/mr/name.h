/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_MR_NAME_H
#define _KRDMA_MR_NAME_H

#include <linux/types.h>

struct krdma_found_mr;
struct krdma_mr;
struct krdma_mr_name;
struct krdma_pd;

/* Names for peers. */
struct krdma_mr_name *krdma_mr_name_alloc(const char *name);
int krdma_mr_rename(struct krdma_mr *mr, struct krdma_mr_name *name);
struct krdma_mr_name *krdma_mr_unname(struct krdma_mr *mr);
bool krdma_mr_find_named(struct krdma_pd *pd, const char *name, u64 offset,
			 struct krdma_found_mr *found);

#endif /* _KRDMA_MR_NAME_H */
