/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_USER_FILE_H
#define _KRDMA_USER_FILE_H

#include <linux/types.h>

struct file;
struct file_operations;
struct krdma_user_fd;
struct krdma_user_session;
struct workqueue_struct;

int krdma_user_init(void);

/* shut: no more files can be opened; exit: after all connections have ended. */
void krdma_user_shut(void);
void krdma_user_exit(void);

/* Frees what closed files leave, after an RCU grace period. */
extern struct workqueue_struct *krdma_user_workqueue;

/*
 * reserve: a close-on-exec descriptor with a file for @object; from here on the release of the
 * file drops the reference to the object.  If it fails, the reference is still the caller's.
 * install: makes the descriptor visible; the last step of an ioctl, after krdma_ucmd_respond().
 * cancel: releases the file instead.
 */
int krdma_user_fd_reserve(struct krdma_user_fd *ufd, const char *name,
			  const struct file_operations *fops, void *object, int mode);
void krdma_user_fd_install(struct krdma_user_fd *ufd);
void krdma_user_fd_cancel(struct krdma_user_fd *ufd);
u32 krdma_user_number(void);

/* The object behind a program's descriptor, or -EBADF, -EPROTOTYPE.  The caller puts the file. */
void *krdma_user_fd_get(int fd, const struct file_operations *fops, struct file **file);
void krdma_user_session_get(struct krdma_user_session *session);
void krdma_user_session_put(struct krdma_user_session *session);

#endif /* _KRDMA_USER_FILE_H */
