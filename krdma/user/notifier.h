/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_USER_NOTIFIER_H
#define _KRDMA_USER_NOTIFIER_H

struct file;
struct iov_iter;
struct kiocb;
struct krdma_ucmd;
struct krdma_user_session;
struct poll_table_struct;

int krdma_user_device_notify(struct krdma_ucmd *ucmd);

/* read() and poll() of a session, for KRDMA_DEVICE_NOTIFY. */
ssize_t krdma_user_notifier_read(struct krdma_user_session *session, struct kiocb *iocb,
				 struct iov_iter *to);
__poll_t krdma_user_notifier_poll(struct krdma_user_session *session, struct file *file,
				  struct poll_table_struct *table);
void krdma_user_notifier_end(struct krdma_user_session *session);

#endif /* _KRDMA_USER_NOTIFIER_H */
