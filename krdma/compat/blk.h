/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Adapts older kernels' block layer to the interface of the newest one.  krdma_blk includes
 * this instead of <linux/blk-mq.h>.
 */
#ifndef _KRDMA_COMPAT_BLK_H
#define _KRDMA_COMPAT_BLK_H

#include <linux/blk-mq.h>
#include <linux/version.h>

/* The newest block layer merges requests by default. */
#ifdef KC_BLK_SHOULD_MERGE
#define KRDMA_BLK_MQ_FLAGS	BLK_MQ_F_SHOULD_MERGE
#else
#define KRDMA_BLK_MQ_FLAGS	0
#endif

/* The type of the NUMA node for a request's memory; it may be NUMA_NO_NODE. */
#ifdef KC_BLK_UNSIGNED_NODE
#define krdma_blk_node_t	unsigned int
#else
#define krdma_blk_node_t	int
#endif

/* The queue is not an argument any more, because the request refers to it. */
#ifdef KC_BLK_MAP_SG_QUEUE
static inline int krdma_compat_blk_rq_map_sg(struct request *rq, struct scatterlist *sg)
{
	return blk_rq_map_sg(rq->q, rq, sg);
}

#define blk_rq_map_sg		krdma_compat_blk_rq_map_sg
#endif

/* The requests that are to be issued together, of which rq_list_pop() takes the first one. */
#ifdef KC_BLK_RQ_POINTER
#define krdma_blk_rqs_t		struct request *
#define krdma_blk_rqs_unpop	rq_list_add
#else
#define krdma_blk_rqs_t		struct rq_list
#define krdma_blk_rqs_unpop	rq_list_add_head
#endif

/*
 * Enter a request that came in a list in the table by which the block layer finds it, for timeouts
 * and counts.  blk_mq_start_request() does so in newer kernels.
 */
static inline void krdma_compat_blk_enter(struct request *rq)
{
#if KERNEL_VERSION(6, 7, 0) > LINUX_VERSION_CODE
	rq->mq_hctx->tags->rqs[rq->tag] = rq;
#endif
}

/* open and release get the disk, not the block device. */
#ifdef KC_BLK_OPEN_BDEV
#define blk_mode_t		fmode_t

#define KRDMA_BLK_OPEN(function)						\
static int function##_bdev(struct block_device *bdev, fmode_t mode)		\
{										\
	return function(bdev->bd_disk, mode);					\
}

#define KRDMA_BLK_RELEASE(function)						\
static void function##_mode(struct gendisk *disk, fmode_t mode)		\
{										\
	function(disk);								\
}

#define KRDMA_BLK_OPEN_OP(function)	function##_bdev
#define KRDMA_BLK_RELEASE_OP(function)	function##_mode
#else
#define KRDMA_BLK_OPEN(function)
#define KRDMA_BLK_RELEASE(function)
#define KRDMA_BLK_OPEN_OP(function)	function
#define KRDMA_BLK_RELEASE_OP(function)	function
#endif

/* The queue limits are an argument of the allocation of a disk. */
#ifdef KC_BLK_LIMITS_LATER
static inline struct gendisk *krdma_compat_blk_alloc_disk(struct blk_mq_tag_set *set,
							  const struct queue_limits *limits,
							  void *data)
{
	struct gendisk *disk = blk_mq_alloc_disk(set, data);

	if (IS_ERR(disk))
		return disk;
	blk_queue_logical_block_size(disk->queue, limits->logical_block_size);
	blk_queue_physical_block_size(disk->queue, limits->physical_block_size);
	blk_queue_chunk_sectors(disk->queue, limits->chunk_sectors);
	blk_queue_max_hw_sectors(disk->queue, limits->max_hw_sectors);
	blk_queue_max_segments(disk->queue, limits->max_segments);
	blk_queue_max_segment_size(disk->queue, limits->max_segment_size);
	blk_queue_io_opt(disk->queue, limits->io_opt);
	/* This sets both limits, that of the hardware and that in use. */
	blk_queue_max_discard_sectors(disk->queue, limits->max_hw_discard_sectors);
	disk->queue->limits.discard_granularity = limits->discard_granularity;
	blk_queue_max_write_zeroes_sectors(disk->queue, limits->max_write_zeroes_sectors);
	blk_queue_flag_set(QUEUE_FLAG_NONROT, disk->queue);
	blk_queue_flag_clear(QUEUE_FLAG_ADD_RANDOM, disk->queue);
	return disk;
}

#undef blk_mq_alloc_disk
#define blk_mq_alloc_disk	krdma_compat_blk_alloc_disk
#endif

/*
 * Says of a disk that has not been added that what it has written is stable after a flush, or with
 * FUA.
 */
static inline int krdma_blk_set_write_cache(struct gendisk *disk)
{
#ifdef KC_BLK_LIMITS_LATER
	blk_queue_write_cache(disk->queue, true, true);
	return 0;
#else
	struct queue_limits limits = queue_limits_start_update(disk->queue);

	limits.features |= BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA;
	return queue_limits_commit_update(disk->queue, &limits);
#endif
}

#endif /* _KRDMA_COMPAT_BLK_H */
