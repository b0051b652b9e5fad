/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_CORE_DEVICE_H
#define _KRDMA_CORE_DEVICE_H

#include <linux/types.h>

struct ib_device;
struct ib_pd;
struct krdma_device;
struct krdma_limits;
struct krdma_use;
struct krdma_vectors;

int krdma_devices_init(void);
void krdma_devices_exit(void);
struct ib_device *krdma_device_get_ibdev(struct krdma_device *dev);
void krdma_device_put_ibdev(struct krdma_device *dev);
void krdma_device_get(struct krdma_device *dev);
struct krdma_device *krdma_device_of(const struct ib_device *ibdev);
void krdma_device_copy_name(struct krdma_device *dev, char *name);
u32 krdma_device_id(const struct krdma_device *dev);
int krdma_device_use(struct krdma_device *dev, struct krdma_use *use,
		     void (*gone)(struct krdma_use *use));
void krdma_device_unuse(struct krdma_device *dev, struct krdma_use *use);

/* These require a use of the device. */
struct ib_device *krdma_device_ib(struct krdma_device *dev);
const struct krdma_limits *krdma_device_limits(const struct krdma_device *dev);
u64 krdma_device_caps(const struct krdma_device *dev);
bool krdma_device_serves_atomics(const struct krdma_device *dev);
void krdma_device_keep_pd(struct krdma_device *dev, struct ib_pd *ib);
int krdma_device_node(const struct krdma_device *dev);
struct krdma_vectors *krdma_device_vectors(struct krdma_device *dev);
int krdma_device_max_message(struct krdma_device *dev, u32 port, bool reclaim, u32 *bytes);

#endif /* _KRDMA_CORE_DEVICE_H */
