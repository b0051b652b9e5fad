/* SPDX-License-Identifier: GPL-2.0 */
/* Provider quirks: properties of providers that no attribute reports. */
#ifndef _KRDMA_QUIRKS_H
#define _KRDMA_QUIRKS_H

#include <linux/types.h>

struct ib_device;

bool krdma_quirk_registers_user(const struct ib_device *ibdev);
bool krdma_quirk_pins_writable(const struct ib_device *ibdev);
bool krdma_quirk_registers_right(const struct ib_device *ibdev);
u32 krdma_quirk_fast_reg_pages(const struct ib_device *ibdev);
int krdma_quirk_empty_read(const struct ib_device *ibdev);
bool krdma_quirk_late_dma(const struct ib_device *ibdev);
bool krdma_quirk_raises_last_wqe(const struct ib_device *ibdev);
bool krdma_quirk_reports_missed(const struct ib_device *ibdev);
bool krdma_quirk_posts_atomics(const struct ib_device *ibdev);
bool krdma_quirk_serves_atomics(const struct ib_device *ibdev);
bool krdma_quirk_reads_by_key(const struct ib_device *ibdev);
bool krdma_quirk_completes_in_order(const struct ib_device *ibdev);
bool krdma_quirk_fences_reads(const struct ib_device *ibdev);
bool krdma_quirk_inlines_invalidate(const struct ib_device *ibdev);

#endif /* _KRDMA_QUIRKS_H */
