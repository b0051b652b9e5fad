/* SPDX-License-Identifier: GPL-2.0 */
/*
 * In place of the library's functions that call the kernel.
 */
#ifndef KRDMA_PARSERS_STUB_H
#define KRDMA_PARSERS_STUB_H

#include "krdma.h"

/* A memory region with memory of its own, which nobody has registered. */
struct krdma_mr *krdma_stub_mr(size_t length);
void krdma_stub_mr_free(struct krdma_mr *mr);

/* Where work requests may have their data; the SGEs of what is posted are checked against it. */
void krdma_stub_reach(const void *from, size_t length);

void absent(void);

#endif
