/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_USER_IOCTL_H
#define _KRDMA_USER_IOCTL_H

#include <linux/types.h>

struct __kernel_sockaddr_storage;
struct file;
struct krdma_ioctl_table;
struct krdma_ucmd;
struct sockaddr_storage;

long krdma_ioctl_dispatch(const struct file *file, const struct krdma_ioctl_table *table,
			  struct krdma_ucmd *ucmd, unsigned int cmd,
			  unsigned long arg);
int krdma_ucmd_respond(const struct krdma_ucmd *ucmd);
int krdma_ucmd_inform(const struct krdma_ucmd *ucmd);

/* Converts a deadline of an ioctl to the kernel's clock. */
u64 krdma_deadline_of_caller(u64 deadline_ns);

/* Milliseconds until a deadline, rounded up; 0: it has passed; KRDMA_FOREVER_MS: never. */
u32 krdma_deadline_ms(u64 deadline_ns);
bool krdma_user_name_is_whole(const char *name);

/* Convert addresses of programs; -EAFNOSUPPORT if krdma does not support the family. */
int krdma_address_from_user(const struct __kernel_sockaddr_storage *user,
			    struct sockaddr_storage *address);
void krdma_address_to_user(const struct sockaddr_storage *address,
			   struct __kernel_sockaddr_storage *user);

#endif /* _KRDMA_USER_IOCTL_H */
