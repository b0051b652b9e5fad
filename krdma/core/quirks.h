/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is known of providers and cannot be asked of them.
 */
#ifndef _KRDMA_PROVIDER_H
#define _KRDMA_PROVIDER_H

#include <linux/types.h>

struct ib_device;

bool krdma_provider_registers_user(const struct ib_device *ibdev);
bool krdma_provider_lingers(const struct ib_device *ibdev);
bool krdma_provider_raises_last_wqe(const struct ib_device *ibdev);
bool krdma_provider_invalidates(const struct ib_device *ibdev);
bool krdma_provider_takes_inline(const struct ib_device *ibdev);
bool krdma_provider_reports_missed(const struct ib_device *ibdev);
bool krdma_provider_reads_by_key(const struct ib_device *ibdev);

#endif /* _KRDMA_PROVIDER_H */
