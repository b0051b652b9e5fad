// SPDX-License-Identifier: GPL-2.0
/*
 * The table of rkeys, which a client reads from the server's memory by each of its connections.
 *
 * The table is read in parts into a buffer that the device keeps, because connections may have to
 * be made again when no other memory is available.
 */
#include <linux/completion.h>
#include <linux/dma-direction.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "device.h"
#include "poll.h"
#include "table.h"

#define KRDMA_BLK_READ_TIMEOUT	(20 * HZ)

/* Bytes of the table that are read at a time. */
#define KRDMA_BLK_READ_BYTES	SZ_64K

/* Chunks of an export for whose table the reserves of memory may be used. */
#define KRDMA_BLK_RESERVED_CHUNKS	(SZ_1M / sizeof(struct krdma_blk_chunk))

/* Allocates the buffers for a geometry; existing ones are kept if they are large enough. */
static int krdma_blk_table_alloc(struct krdma_blk_queue *queue,
				 const struct krdma_blk_geometry *geometry)
{
	struct krdma_blk_device *device = queue->device;
	struct krdma_blk_chunk *chunks;
	unsigned int reserves;

	if (!device->table)
		device->table = kmalloc(KRDMA_BLK_READ_BYTES, GFP_KERNEL);
	if (!device->table)
		return -ENOMEM;
	if (queue->chunk_max >= geometry->chunks)
		return 0;

	/*
	 * A device that reconnects may use the reserves, but a server must not be able to use them
	 * up by saying that the export has grown.
	 */
	reserves = current->flags & PF_MEMALLOC;
	if (geometry->chunks > KRDMA_BLK_RESERVED_CHUNKS)
		current->flags &= ~PF_MEMALLOC;
	chunks = kvmalloc_objs(*chunks, geometry->chunks, GFP_KERNEL);
	current->flags |= reserves;
	if (!chunks)
		return -ENOMEM;
	kvfree(queue->chunks);
	queue->chunks = chunks;
	queue->chunk_max = geometry->chunks;
	return 0;
}

static int krdma_blk_table_check(const struct krdma_blk_entry *table, u32 count, u32 chunk_size,
				 struct krdma_blk_chunk *chunks)
{
	for (u32 i = 0; i < count; i++) {
		u64 addr = le64_to_cpu(table[i].addr);

		if (table[i].reserved || addr + chunk_size < addr)
			return -EPROTO;
		chunks[i] = (struct krdma_blk_chunk) {
			.addr = addr, .key = le32_to_cpu(table[i].key),
		};
	}
	return 0;
}

/* Reads a part that fits in the buffer.  krdma_blk_table_read_done() unmaps the buffer. */
static int krdma_blk_table_fetch(struct krdma_blk_queue *queue, u64 addr, u32 key, u32 length)
{
	struct krdma_conn *conn = queue->conn;
	struct krdma_sge sge = { .length = length, .key = krdma_conn_lkey(conn) };
	struct krdma_send_wr read = {
		.opcode = KRDMA_OP_READ, .sges = &sge, .sge_count = 1,
		.remote_addr = addr, .rkey = key,
	};
	int ret;

	sg_init_one(&queue->read_sg, queue->device->table, length);
	reinit_completion(&queue->read_end);
	ret = krdma_conn_map_sg(conn, &queue->read_sg, 1, DMA_FROM_DEVICE);
	if (ret < 0)
		return ret;
	sge.addr = sg_dma_address(&queue->read_sg);
	ret = krdma_conn_post_send(conn, &read, 1);
	if (ret != 1) {
		krdma_conn_unmap_sg(conn, &queue->read_sg, 1, DMA_FROM_DEVICE);
		return ret;
	}
	if (!krdma_blk_poll_wait(queue, &queue->read_end, KRDMA_BLK_READ_TIMEOUT))
		return -ETIMEDOUT;
	return queue->read_status ? -EIO : 0;
}

/**
 * krdma_blk_table_read_done() - Handle the completion of a read of the table
 * @queue: the queue; its connection has read the table
 * @completion: the completion
 *
 * Context: that of completions.
 */
void krdma_blk_table_read_done(struct krdma_blk_queue *queue,
			       const struct krdma_wc *completion)
{
	krdma_conn_unmap_sg(completion->conn, &queue->read_sg, 1, DMA_FROM_DEVICE);
	queue->read_status = completion->status;
	complete(&queue->read_end);
}

/**
 * krdma_blk_table_read() - Read the table by a queue's connection
 * @queue: the queue, not open for requests; its connection is established
 * @geometry: geometry that the server has sent by the connection
 *
 * After an error a read may still be in flight, until the caller has closed the connection.
 *
 * Context: process context; sleeps.
 * Return: 0, or a negative errno.
 */
int krdma_blk_table_read(struct krdma_blk_queue *queue, const struct krdma_blk_geometry *geometry)
{
	const u32 entries = KRDMA_BLK_READ_BYTES / sizeof(struct krdma_blk_entry);
	u32 part = geometry->table_part / sizeof(struct krdma_blk_entry);
	u32 count;
	int ret;

	ret = krdma_blk_table_alloc(queue, geometry);
	for (u32 at = 0; at < geometry->chunks && !ret; at += count) {
		/* Only what one key covers. */
		count = min3(geometry->chunks - at, entries, part - at % part);
		ret = krdma_blk_table_fetch(queue, geometry->table_addr +
					    (u64)at * sizeof(struct krdma_blk_entry),
					    geometry->table_keys[at / part],
					    count * sizeof(struct krdma_blk_entry)) ?:
		      krdma_blk_table_check(queue->device->table, count, geometry->chunk_size,
					    &queue->chunks[at]);
	}
	queue->chunk_shift = ilog2(geometry->chunk_size);
	return ret;
}
