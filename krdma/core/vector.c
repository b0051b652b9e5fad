// SPDX-License-Identifier: GPL-2.0
/*
 * Which completion vector a completion queue has.
 *
 * Drivers bind vectors to processors in their order, as far as there are that many.  So the
 * first that is looked at is that of the processor which makes the queue, as nvme-rdma and
 * svcrdma do; but if others have fewer queues, one of those is taken: a server that accepts
 * all its connections in one thread does not have them all on one processor.
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
 * @count: how many
 * @uses: for each, the completion queues that have it
 */
struct krdma_vectors {
	spinlock_t lock;		/* see above; process context */
	u32 count;
	u32 uses[] __counted_by(count);
};

/**
 * krdma_vectors_alloc - no vector of a device has a queue yet
 * @ibdev: the device
 *
 * Context: process context; may sleep.
 * Return: the vectors, for kfree(), or NULL.
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
 * krdma_vector_get - choose the vector of a new queue
 * @vectors: the device's
 * @wanted: which, of any number of them; negative: the one with the fewest queues, and of
 *	several the one of this processor, or the next after it
 *
 * Context: process context.
 * Return: the vector, for krdma_vector_put().
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
 * krdma_vector_put - a queue is gone
 * @vectors: the device's
 * @vector: of the queue
 *
 * Context: process context.
 */
void krdma_vector_put(struct krdma_vectors *vectors, u32 vector)
{
	spin_lock(&vectors->lock);
	vectors->uses[vector]--;
	spin_unlock(&vectors->lock);
}
