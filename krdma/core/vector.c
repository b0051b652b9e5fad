// SPDX-License-Identifier: GPL-2.0
/*
 * Choice of the completion vector of a CQ.
 *
 * Drivers bind vectors to CPUs in order, as far as there are enough CPUs.  The first candidate
 * is therefore the vector of the CPU that creates the CQ, as in nvme-rdma and svcrdma.  If
 * another vector has fewer CQs, that one is used: a server that accepts all its connections in
 * one thread does not get all their CQs on one CPU.
 */
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "core/vector.h"

/**
 * struct krdma_vectors - the completion vectors of a device
 * @lock: protects @uses
 * @count: number of vectors
 * @uses: number of CQs of each vector
 */
struct krdma_vectors {
	spinlock_t lock;		/* see above; process context */
	u32 count;
	u32 uses[] __counted_by(count);
};

/**
 * krdma_vectors_alloc() - Allocate the table of a device's completion vectors
 * @ibdev: the device
 *
 * Context: process context; may sleep.
 * Return: the vectors, to be released by kfree(), or NULL.
 */
struct krdma_vectors *krdma_vectors_alloc(struct ib_device *ibdev)
{
	u32 count = max(ibdev->num_comp_vectors, 1);
	struct krdma_vectors *vectors;

	vectors = kzalloc(struct_size(vectors, uses, count), GFP_KERNEL);
	if (!vectors)
		return NULL;
	vectors->count = count;
	spin_lock_init(&vectors->lock);
	return vectors;
}

/**
 * krdma_vector_get() - Choose the completion vector of a new CQ
 * @vectors: the vectors of the device
 * @wanted: the vector, taken modulo the number of vectors; negative: the vector with the fewest
 *	CQs, and among several the one of this CPU, or the next after it
 *
 * Context: process context.
 * Return: the vector, to be released by krdma_vector_put().
 */
u32 krdma_vector_get(struct krdma_vectors *vectors, int wanted)
{
	u32 here = raw_smp_processor_id() % vectors->count;
	u32 vector = here;

	spin_lock(&vectors->lock);
	for (u32 i = 1; wanted < 0 && i < vectors->count; i++) {
		u32 next = (here + i) % vectors->count;

		if (vectors->uses[next] < vectors->uses[vector])
			vector = next;
	}
	if (wanted >= 0)
		vector = (u32)wanted % vectors->count;
	vectors->uses[vector]++;
	spin_unlock(&vectors->lock);
	return vector;
}

/**
 * krdma_vector_put() - Release the completion vector of a destroyed CQ
 * @vectors: the vectors of the device
 * @vector: the vector of the CQ
 *
 * Context: process context.
 */
void krdma_vector_put(struct krdma_vectors *vectors, u32 vector)
{
	spin_lock(&vectors->lock);
	vectors->uses[vector]--;
	spin_unlock(&vectors->lock);
}
