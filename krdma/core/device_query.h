/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_CORE_DEVICE_QUERY_H
#define _KRDMA_CORE_DEVICE_QUERY_H

int krdma_provider_error(int error);

#endif /* _KRDMA_CORE_DEVICE_QUERY_H */
