/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_IO_MAP_H
#define _KRDMA_IO_MAP_H

#include <linux/dma-direction.h>

struct krdma_qp;
struct scatterlist;

/* Mappings of the consumer's memory. */
int krdma_qp_map_sg(struct krdma_qp *qp, struct scatterlist *sg, unsigned int entries,
		    enum dma_data_direction direction);
void krdma_qp_unmap_sg(struct krdma_qp *qp, struct scatterlist *sg, unsigned int entries,
		       enum dma_data_direction direction);

/* Mappings of the consumer's memory. */
void krdma_qp_unmapped(struct krdma_qp *qp);

#endif /* _KRDMA_IO_MAP_H */
