/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_USER_DEVICE_H
#define _KRDMA_USER_DEVICE_H

struct krdma_ucmd;

int krdma_user_info(struct krdma_ucmd *ucmd);
int krdma_user_device_query(struct krdma_ucmd *ucmd);
int krdma_user_port_query(struct krdma_ucmd *ucmd);
int krdma_user_device_find(struct krdma_ucmd *ucmd);

#endif /* _KRDMA_USER_DEVICE_H */
