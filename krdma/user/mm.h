/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_USER_MM_H
#define _KRDMA_USER_MM_H

#include <linux/types.h>

struct krdma_user_mr;
struct krdma_user_session;

/*
 * join: makes the calling process the owner of @umr, which is not visible yet; returns 0 or a
 * negative errno.  leave: undoes join.
 */
int krdma_user_mm_join(struct krdma_user_mr *umr);
void krdma_user_mm_leave(struct krdma_user_mr *umr);

/* Drops the owner that the session keeps. */
void krdma_user_mm_forget(struct krdma_user_session *session);

/* The core's MR has ended. */
void krdma_user_mm_ended(struct krdma_user_mr *umr);

/*
 * number: makes the MR visible at its ID, which was reserved in the table.  take: removes it; the
 * caller deregisters or drops the core's MR and puts @umr.  take fails with -ENOENT if there is
 * none, or another caller was first, and with -EBUSY if the MR cannot be closed and @later is not
 * set.  *@closed: the MR has been closed.
 */
void krdma_user_mm_number(struct krdma_user_mr *umr);
struct krdma_user_mr *krdma_user_mm_take(struct krdma_user_session *session, u32 id,
					 bool later, bool *closed);
void krdma_user_mm_exit(void);

#endif /* _KRDMA_USER_MM_H */
