/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who wants to hear of devices: what the table of devices tells this part.
 */
#ifndef _KRDMA_NOTIFIER_H
#define _KRDMA_NOTIFIER_H

#include <linux/types.h>

struct ib_device;
struct krdma_ports;
struct krdma_notifier_device;

/*
 * A device comes in two steps: what can fail is done before others can find the
 * device, and watches hear of it after that.
 */
struct krdma_notifier_device *krdma_notifier_device_prepare(struct ib_device *ibdev,
							    struct krdma_ports *ports);
void krdma_notifier_device_added(struct krdma_notifier_device *notifier_device, u32 id);
void krdma_notifier_device_removed(struct krdma_notifier_device *notifier_device);

#endif /* _KRDMA_NOTIFIER_H */
