// SPDX-License-Identifier: GPL-2.0
/*
 * Accounts: what each user has, and may have.
 *
 * Users are told apart by their number in the initial user namespace, so nobody
 * gets more by making namespaces.  What is charged is the opener's of the session,
 * whoever uses it later.
 *
 * krdma_user_accounts_lock
 *	kind:		spinlock, interrupts off
 *	protects:	the table, and what each account has: so of callers who race
 *			for the last of something, one gets it
 *	taken in:	process context; any context, where a core session that
 *			outlives its file is put.  Nothing is called under it.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/errno.h>
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/uidgid.h>

#include "objects.h"
#include "user.h"

/*
 * The limits.  Each can be changed at any time: what a user has beyond a new one
 * stays, and nothing is added to it.
 */

/* What a machine with one user's server of many processes needs. */
static unsigned int max_sessions = 1024;
module_param(max_sessions, uint, 0644);
MODULE_PARM_DESC(max_sessions, "Sessions that a user can have (default 1024)");

static unsigned int max_objects = 65536;
module_param(max_objects, uint, 0644);
MODULE_PARM_DESC(max_objects,
		 "Listeners, connections and queues that a user can have (default 65536)");

/* Beside RLIMIT_MEMLOCK, which is a process's: a user can have many. */
static unsigned int max_memory_mb;
module_param(max_memory_mb, uint, 0644);
MODULE_PARM_DESC(max_memory_mb,
		 "MiB of registered memory and queues that a user can have (default 0: half of the machine's)");

/**
 * struct krdma_user_account - what a user has
 * @node: in the table
 * @uid: who
 * @refs: sessions and memory that refer to it; becomes 0 under the lock
 * @used: how much of each kind
 */
struct krdma_user_account {
	struct hlist_node node;
	kuid_t uid;
	refcount_t refs;
	u64 used[KRDMA_ACCOUNT_KINDS];
};

static DEFINE_SPINLOCK(krdma_user_accounts_lock);	/* see above */
static DEFINE_HASHTABLE(krdma_user_accounts, 6);

static u64 krdma_user_limit(enum krdma_account_kind kind)
{
	unsigned int mb;

	switch (kind) {
	case KRDMA_ACCOUNT_SESSIONS:
		return READ_ONCE(max_sessions);
	case KRDMA_ACCOUNT_OBJECTS:
		return READ_ONCE(max_objects);
	default:
		mb = READ_ONCE(max_memory_mb);
		return mb ? (u64)mb << 20 : (u64)totalram_pages() << (PAGE_SHIFT - 1);
	}
}

/* The account of a user, with one more reference, or NULL. */
static struct krdma_user_account *krdma_user_account_find(kuid_t uid)
{
	struct krdma_user_account *account;

	lockdep_assert_held(&krdma_user_accounts_lock);

	hash_for_each_possible(krdma_user_accounts, account, node, __kuid_val(uid)) {
		if (uid_eq(account->uid, uid)) {
			refcount_inc(&account->refs);
			return account;
		}
	}
	return NULL;
}

/**
 * krdma_user_account_get - the account of the calling process's user
 *
 * Context: process context; may sleep.
 * Return: the account, for krdma_user_account_put(), or NULL: no memory.
 */
struct krdma_user_account *krdma_user_account_get(void)
{
	struct krdma_user_account *account, *made;
	kuid_t uid = current_uid();
	unsigned long flags;

	/* Most users have one already, but whether is not worth a second look. */
	made = krdma_object_count(KRDMA_OBJECT_USER_ACCOUNT,
				  kzalloc_obj(*made, GFP_KERNEL_ACCOUNT));
	if (!made)
		return NULL;
	made->uid = uid;
	refcount_set(&made->refs, 1);

	spin_lock_irqsave(&krdma_user_accounts_lock, flags);
	account = krdma_user_account_find(uid);
	if (!account) {
		hash_add(krdma_user_accounts, &made->node, __kuid_val(uid));
		swap(account, made);
	}
	spin_unlock_irqrestore(&krdma_user_accounts_lock, flags);

	kfree(krdma_object_uncount(KRDMA_OBJECT_USER_ACCOUNT, made));
	return account;
}

/**
 * krdma_user_account_hold - one more reference to an account
 * @account: the account; the caller holds one
 *
 * Context: any.
 */
void krdma_user_account_hold(struct krdma_user_account *account)
{
	refcount_inc(&account->refs);
}

/**
 * krdma_user_account_put - give back a reference to an account
 * @account: the account; what was charged on behalf of the reference is uncharged
 *
 * Context: any but NMI.
 */
void krdma_user_account_put(struct krdma_user_account *account)
{
	unsigned long flags;
	bool last;

	/* Whoever finds it in the table finds it with a reference. */
	spin_lock_irqsave(&krdma_user_accounts_lock, flags);
	last = refcount_dec_and_test(&account->refs);
	if (last)
		hash_del(&account->node);
	spin_unlock_irqrestore(&krdma_user_accounts_lock, flags);
	if (!last)
		return;

	for (int kind = 0; kind < KRDMA_ACCOUNT_KINDS; kind++)
		WARN_ON_ONCE(account->used[kind]);
	kfree(krdma_object_uncount(KRDMA_OBJECT_USER_ACCOUNT, account));
}

static bool krdma_user_account_take(struct krdma_user_account *account,
				    enum krdma_account_kind kind, u64 amount, u64 limit)
{
	unsigned long flags;
	bool fits;
	u64 used;

	spin_lock_irqsave(&krdma_user_accounts_lock, flags);
	used = account->used[kind];
	fits = used <= limit && amount <= limit - used;
	if (fits)
		account->used[kind] = used + amount;
	spin_unlock_irqrestore(&krdma_user_accounts_lock, flags);

	return fits;
}

/**
 * krdma_user_account_charge - a user gets more
 * @account: the user's
 * @kind: of what
 * @amount: how much
 *
 * A caller with CAP_SYS_RESOURCE in the initial user namespace gets it in any case,
 * and it counts.
 *
 * Context: process context, of the caller.
 * Return: 0; -EDQUOT: that is more than the user may have.
 */
int krdma_user_account_charge(struct krdma_user_account *account, enum krdma_account_kind kind,
			      u64 amount)
{
	if (krdma_user_account_take(account, kind, amount, krdma_user_limit(kind)))
		return 0;
	/* Only now, because being asked is recorded as a use of the capability. */
	if (capable(CAP_SYS_RESOURCE) && krdma_user_account_take(account, kind, amount, U64_MAX))
		return 0;
	return -EDQUOT;
}

/**
 * krdma_user_account_uncharge - a user gives something back
 * @account: the user's
 * @kind: of what
 * @amount: as much as was charged
 *
 * Context: process context.
 */
void krdma_user_account_uncharge(struct krdma_user_account *account,
				 enum krdma_account_kind kind, u64 amount)
{
	unsigned long flags;

	spin_lock_irqsave(&krdma_user_accounts_lock, flags);
	WARN_ON_ONCE(account->used[kind] < amount);
	account->used[kind] -= amount;
	spin_unlock_irqrestore(&krdma_user_accounts_lock, flags);
}

/*
 * The core's queues
 */

static int krdma_user_account_charge_queue(void *account, u64 bytes)
{
	return krdma_user_account_charge(account, KRDMA_ACCOUNT_MEMORY, bytes);
}

static void krdma_user_account_uncharge_queue(void *account, u64 bytes)
{
	krdma_user_account_uncharge(account, KRDMA_ACCOUNT_MEMORY, bytes);
}

static void krdma_user_account_put_session(void *account)
{
	krdma_user_account_put(account);
}

static const struct krdma_account_ops krdma_user_account_ops = {
	.charge = krdma_user_account_charge_queue,
	.uncharge = krdma_user_account_uncharge_queue,
	.put = krdma_user_account_put_session,
};

/**
 * krdma_user_account_pays - a user pays for the queues of a core session
 * @account: the user's; the core session gets a reference of its own
 * @core: the session, new
 *
 * Queues stay as long as completions of theirs wait to be polled, which may be longer than
 * their files: so the core charges, and uncharges, where it allocates and frees.
 *
 * Context: process context.
 */
void krdma_user_account_pays(struct krdma_user_account *account, struct krdma_session *core)
{
	krdma_user_account_hold(account);
	krdma_session_set_account(core, &krdma_user_account_ops, account);
}
