/* SPDX-License-Identifier: GPL-2.0 */
/* Port attributes that connections need. */
#ifndef _KRDMA_PORT_H
#define _KRDMA_PORT_H

#include <linux/types.h>

struct ib_device;
struct krdma_ports;

struct krdma_ports *krdma_ports_alloc(struct ib_device *ibdev);
void krdma_ports_changed(struct krdma_ports *ports, u32 port);
int krdma_ports_max_message(struct krdma_ports *ports, struct ib_device *ibdev, u32 port,
			    bool reclaim, u32 *bytes);

#endif /* _KRDMA_PORT_H */
