/* SPDX-License-Identifier: GPL-2.0 */
/* The file through which a program lets a connection use its memory. */
#ifndef _KRDMA_CORE_USER_MEMORY_H
#define _KRDMA_CORE_USER_MEMORY_H

#include <linux/fs.h>

extern const struct file_operations core_user_memory_fops;

#endif /* _KRDMA_CORE_USER_MEMORY_H */
