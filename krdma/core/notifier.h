/* SPDX-License-Identifier: GPL-2.0 */
/* Device notifiers: the interface to the table of devices. */
#ifndef _KRDMA_NOTIFIER_H
#define _KRDMA_NOTIFIER_H

#include <linux/types.h>

struct ib_device;
struct krdma_device_notifier;
struct krdma_ports;
struct krdma_notifier_device;

/*
 * A device is added in two steps: the steps that can fail run before the device can be found,
 * and device notifiers hear of the device after that.
 */
struct krdma_notifier_device *krdma_notifier_device_create(struct ib_device *ibdev,
							   struct krdma_ports *ports);
void krdma_notifier_device_added(struct krdma_notifier_device *notifier_device, u32 id);
void krdma_notifier_device_removed(struct krdma_notifier_device *notifier_device);

void krdma_device_notifier_flush(struct krdma_device_notifier *notifier);

#endif /* _KRDMA_NOTIFIER_H */
