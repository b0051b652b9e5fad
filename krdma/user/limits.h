/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_USER_LIMITS_H
#define _KRDMA_USER_LIMITS_H

#include <linux/types.h>

#include "user/user.h"

struct krdma_session;
struct krdma_ucmd;
struct krdma_user_account;

/* get: for a new session of the calling process's user; NULL: no memory.  charge: 0 or -EDQUOT. */
struct krdma_user_account *krdma_user_account_create(void);
void krdma_user_account_get(struct krdma_user_account *account);
void krdma_user_account_put(struct krdma_user_account *account);
int krdma_user_account_charge(struct krdma_user_account *account, enum krdma_account_kind kind,
			      u64 amount);

/* For what is not needed: a refusal is not recorded.  Returns whether it is charged. */
bool krdma_user_account_try(struct krdma_user_account *account, enum krdma_account_kind kind,
			    u64 amount);
void krdma_user_account_uncharge(struct krdma_user_account *account,
				 enum krdma_account_kind kind, u64 amount);

/* Charge an object, and @bytes of memory for it. */
int krdma_user_account_charge_object(struct krdma_user_account *account, u64 bytes);
void krdma_user_account_uncharge_object(struct krdma_user_account *account, u64 bytes);

/* Charges the account for what the core allocates for queues of the session, and for its ports. */
void krdma_user_account_pays(struct krdma_user_account *account, struct krdma_session *core);
int krdma_user_limit_query(struct krdma_ucmd *ucmd);

#endif /* _KRDMA_USER_LIMITS_H */
