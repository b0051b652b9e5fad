/* SPDX-License-Identifier: GPL-2.0 */
/* Choice of the completion vector of a CQ. */
#ifndef _KRDMA_VECTOR_H
#define _KRDMA_VECTOR_H

#include <linux/types.h>

struct ib_device;
struct krdma_vectors;

struct krdma_vectors *krdma_vectors_alloc(struct ib_device *ibdev);
u32 krdma_vector_get(struct krdma_vectors *vectors, int wanted);
void krdma_vector_put(struct krdma_vectors *vectors, u32 vector);

#endif /* _KRDMA_VECTOR_H */
