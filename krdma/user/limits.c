// SPDX-License-Identifier: GPL-2.0
/*
 * Accounts: what each user has, and the limits.
 *
 * A session's account charges the user who has opened it, whichever user uses the session later.
 * It also charges the owner of each user namespace that the opener was in, up to the initial one.
 * A user who owns a namespace decides which further users exist in it: without this rule each of
 * them would have the full limits again.  The kernel's own ucounts work alike, but modules cannot
 * use them.
 *
 * Users are identified by their UID in the initial user namespace.  A user that occurs more than
 * once in the chain is charged once.  Namespaces owned by root of the initial namespace charge no
 * owner: root is not limited, and the namespaces of a container manager, which root has created
 * for different users, must not share one limit.
 *
 * krdma_user_accounts_lock
 *	kind:		spinlock, interrupts off
 *	protects:	the table of users, and the usage of each user and of each account.
 *			A charge is taken from all users of an account or from none, and of
 *			callers that compete for the last of something, one succeeds.
 *	taken in:	process context; any context, where a core session that outlives its
 *			file is put.  No function is called under it.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/errno.h>
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "core/objects.h"
#include "core/session.h"
#include "user/ioctl.h"
#include "user/limits.h"
#include "user/user.h"

/* The module's limits, and that of the RDMA control group. */
#define KRDMA_USER_LIMITS	(KRDMA_LIMIT_DEVICE + 1)

static_assert((int)KRDMA_ACCOUNT_SESSIONS == (int)KRDMA_LIMIT_SESSIONS);
static_assert((int)KRDMA_ACCOUNT_OBJECTS == (int)KRDMA_LIMIT_OBJECTS);
static_assert((int)KRDMA_ACCOUNT_MEMORY == (int)KRDMA_LIMIT_MEMORY);
static_assert((int)KRDMA_ACCOUNT_PORTS == (int)KRDMA_LIMIT_PORTS);
static_assert((int)KRDMA_ACCOUNT_KINDS == (int)KRDMA_LIMIT_DEVICE);

/*
 * The limits.  Each can be changed at any time: usage beyond a new limit stays, but cannot grow.
 */

/* Enough for a machine on which one user runs a server with many processes. */
static unsigned int max_sessions = 1024;
module_param(max_sessions, uint, 0644);
MODULE_PARM_DESC(max_sessions, "Sessions that a user can have (default 1024)");

static unsigned int max_objects = 65536;
module_param(max_objects, uint, 0644);
MODULE_PARM_DESC(max_objects,
		 "Listeners, connections, rings and SRQs that a user can have (default 65536)");

/* In addition to RLIMIT_MEMLOCK, which limits a process: a user can have many. */
static unsigned int max_memory_mb;
module_param(max_memory_mb, uint, 0644);
MODULE_PARM_DESC(max_memory_mb,
		 "MiB of registered memory, rings and queues of a user (default 0: half of the machine's)");

/*
 * Ports belong to a network namespace, and all of its users need them.  By default, 28,232 can be
 * assigned to connections and listeners that do not ask for a specific one: six users at their
 * limits leave some to others.
 */
static unsigned int max_ports = 4096;
module_param(max_ports, uint, 0644);
MODULE_PARM_DESC(max_ports,
		 "Listeners, outgoing connections and searches for a device that a user can have (default 4096)");

/* Trunks of lanes that connections of a user have made: an eighth of those of the host. */
#define KRDMA_USER_TRUNKS_MAX	128

/**
 * struct krdma_ucount - usage of a user
 * @node: entry of the table
 * @uid: the user
 * @refs: number of accounts that charge the user; the last one removes it from the table
 * @used: usage of each kind
 * @trunks: trunks that are charged
 * @turns: of the connections and device parts that the user's accounts have
 *
 * Protected by krdma_user_accounts_lock, except @turns.
 */
struct krdma_ucount {
	struct hlist_node node;
	kuid_t uid;
	u32 refs;
	u64 used[KRDMA_ACCOUNT_KINDS];
	u32 trunks;
	struct krdma_turns turns;
};

/**
 * struct krdma_user_refusals - ioctls that were refused by a limit
 * @count: number of refusals
 * @scope: user or group that had reached the limit at the last refusal
 */
struct krdma_user_refusals {
	u64 count;
	enum krdma_limit_scope scope;
};

/**
 * struct krdma_user_account - users that a session charges
 * @refs: references of the session, and of what is charged and outlives it
 * @used: usage of each kind by the session; protected by krdma_user_accounts_lock, like @refusals
 *	and @last_refused
 * @refusals: by &enum krdma_limit
 * @last_refused: limit of the last refusal; valid if its entry of @refusals is not 0
 * @privileged: the opener has CAP_SYS_RESOURCE
 * @turns: those of the last user that is charged, the owner of the outermost namespace, or the
 *	opener: users whom another one decides on take turns as that one
 * @count: number of entries of @ucounts
 * @ucounts: the opener, then the owners of the user namespaces that the opener was in; with a
 *	reference to each.  They never change.
 */
struct krdma_user_account {
	refcount_t refs;
	u64 used[KRDMA_ACCOUNT_KINDS];
	struct krdma_user_refusals refusals[KRDMA_USER_LIMITS];
	enum krdma_limit last_refused;
	bool privileged;
	struct krdma_turns *turns;
	u32 count;
	struct krdma_ucount *ucounts[];
};

static DEFINE_SPINLOCK(krdma_user_accounts_lock);	/* see above */
static DEFINE_HASHTABLE(krdma_ucounts, 6);

static u64 krdma_user_limit(enum krdma_account_kind kind)
{
	unsigned int mb;

	switch (kind) {
	case KRDMA_ACCOUNT_SESSIONS:
		return READ_ONCE(max_sessions);
	case KRDMA_ACCOUNT_OBJECTS:
		return READ_ONCE(max_objects);
	case KRDMA_ACCOUNT_PORTS:
		return READ_ONCE(max_ports);
	default:
		mb = READ_ONCE(max_memory_mb);
		return mb ? (u64)mb << 20 : (u64)totalram_pages() << (PAGE_SHIFT - 1);
	}
}

/* Finds the usage of a user and takes a reference, or returns NULL. */
static struct krdma_ucount *krdma_ucount_find(kuid_t uid)
{
	struct krdma_ucount *ucount;

	lockdep_assert_held(&krdma_user_accounts_lock);

	hash_for_each_possible(krdma_ucounts, ucount, node, __kuid_val(uid)) {
		if (uid_eq(ucount->uid, uid)) {
			ucount->refs++;
			return ucount;
		}
	}
	return NULL;
}

/* May sleep.  Returns NULL if there is no memory. */
static struct krdma_ucount *krdma_ucount_get(kuid_t uid)
{
	struct krdma_ucount *ucount, *made;
	unsigned long flags;

	/* Most users have one already, but a check would not be worth a second lookup. */
	made = krdma_object_count(KRDMA_OBJECT_USER_UCOUNT,
				  kzalloc_obj(*made, GFP_KERNEL_ACCOUNT));
	if (!made)
		return NULL;
	made->uid = uid;
	made->refs = 1;
	krdma_turns_init(&made->turns);

	spin_lock_irqsave(&krdma_user_accounts_lock, flags);
	ucount = krdma_ucount_find(uid);
	if (!ucount) {
		hash_add(krdma_ucounts, &made->node, __kuid_val(uid));
		swap(ucount, made);
	}
	spin_unlock_irqrestore(&krdma_user_accounts_lock, flags);

	kfree(krdma_object_uncount(KRDMA_OBJECT_USER_UCOUNT, made));
	return ucount;
}

static void krdma_ucount_put(struct krdma_ucount *ucount)
{
	unsigned long flags;
	bool last;

	/* An entry that is in the table has references. */
	spin_lock_irqsave(&krdma_user_accounts_lock, flags);
	last = !--ucount->refs;
	if (last)
		hash_del(&ucount->node);
	spin_unlock_irqrestore(&krdma_user_accounts_lock, flags);
	if (!last)
		return;

	for (int kind = 0; kind < KRDMA_ACCOUNT_KINDS; kind++)
		WARN_ON_ONCE(ucount->used[kind]);
	WARN_ON_ONCE(ucount->trunks);
	kfree(krdma_object_uncount(KRDMA_OBJECT_USER_UCOUNT, ucount));
}

static struct krdma_ucount *krdma_user_account_find(const struct krdma_user_account *account,
						    kuid_t uid)
{
	for (u32 i = 0; i < account->count; i++) {
		if (uid_eq(account->ucounts[i]->uid, uid))
			return account->ucounts[i];
	}
	return NULL;
}

static int krdma_user_account_add(struct krdma_user_account *account, kuid_t uid)
{
	struct krdma_ucount *ucount;

	ucount = krdma_user_account_find(account, uid);
	if (!ucount) {
		ucount = krdma_ucount_get(uid);
		if (!ucount)
			return -ENOMEM;
		account->ucounts[account->count++] = ucount;
	}
	account->turns = &ucount->turns;
	return 0;
}

/* Maximum number of owners of the calling process's namespaces. */
static u32 krdma_user_ns_owners(void)
{
	u32 count = 0;

	for (struct user_namespace *ns = current_user_ns(); ns->parent; ns = ns->parent)
		count++;
	return count;
}

/**
 * krdma_user_account_create() - Create an account for the calling process's user
 *
 * Context: process context; may sleep.
 * Return: the account, for krdma_user_account_put(), or NULL: no memory.
 */
struct krdma_user_account *krdma_user_account_create(void)
{
	struct krdma_user_account *account;
	int ret;

	account = krdma_object_count(KRDMA_OBJECT_USER_ACCOUNT,
				     kzalloc(struct_size(account, ucounts,
							 krdma_user_ns_owners() + 1),
					     GFP_KERNEL_ACCOUNT));
	if (!account)
		return NULL;
	refcount_set(&account->refs, 1);
	account->privileged = ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE);

	ret = krdma_user_account_add(account, current_uid());
	/* A namespace keeps its parents, and owners never change. */
	for (struct user_namespace *ns = current_user_ns(); !ret && ns->parent; ns = ns->parent) {
		if (!uid_eq(ns->owner, GLOBAL_ROOT_UID))
			ret = krdma_user_account_add(account, ns->owner);
	}
	if (ret) {
		krdma_user_account_put(account);
		return NULL;
	}
	return account;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_user_account_create);

/**
 * krdma_user_account_get() - Take a reference to an account
 * @account: the account; the caller holds a reference
 *
 * Context: any.
 */
void krdma_user_account_get(struct krdma_user_account *account)
{
	refcount_inc(&account->refs);
}

/**
 * krdma_user_account_put() - Drop a reference to an account
 * @account: the account; what was charged on behalf of the reference is uncharged
 *
 * Context: any but NMI.
 */
void krdma_user_account_put(struct krdma_user_account *account)
{
	if (!refcount_dec_and_test(&account->refs))
		return;

	for (int kind = 0; kind < KRDMA_ACCOUNT_KINDS; kind++)
		WARN_ON_ONCE(account->used[kind]);
	for (u32 i = 0; i < account->count; i++)
		krdma_ucount_put(account->ucounts[i]);
	kfree(krdma_object_uncount(KRDMA_OBJECT_USER_ACCOUNT, account));
}
EXPORT_SYMBOL_IF_KUNIT(krdma_user_account_put);

/* Returns NONE if it has been charged; otherwise the user that has reached the limit. */
static enum krdma_limit_scope krdma_user_account_take(struct krdma_user_account *account,
						      enum krdma_account_kind kind, u64 amount,
						      u64 limit)
{
	enum krdma_limit_scope scope = KRDMA_LIMIT_SCOPE_NONE;
	unsigned long flags;

	spin_lock_irqsave(&krdma_user_accounts_lock, flags);
	for (u32 i = 0; i < account->count && !scope; i++) {
		u64 used = account->ucounts[i]->used[kind];

		if (used > limit || amount > limit - used)
			scope = i ? KRDMA_LIMIT_SCOPE_OWNER : KRDMA_LIMIT_SCOPE_USER;
	}
	if (!scope) {
		for (u32 i = 0; i < account->count; i++)
			account->ucounts[i]->used[kind] += amount;
		account->used[kind] += amount;
	}
	spin_unlock_irqrestore(&krdma_user_accounts_lock, flags);

	return scope;
}

static void krdma_user_account_refuse(struct krdma_user_account *account, enum krdma_limit limit,
				      enum krdma_limit_scope scope)
{
	unsigned long flags;

	spin_lock_irqsave(&krdma_user_accounts_lock, flags);
	account->refusals[limit].count++;
	account->refusals[limit].scope = scope;
	account->last_refused = limit;
	spin_unlock_irqrestore(&krdma_user_accounts_lock, flags);
}

/*
 * May the charge exceed the limits?  A thread of the kernel, which has all capabilities, charges
 * what a peer causes, on behalf of the session's opener.
 */
static bool krdma_user_account_exempt(const struct krdma_user_account *account)
{
	if (current->flags & PF_KTHREAD)
		return account->privileged;
	return capable(CAP_SYS_RESOURCE);
}

/**
 * krdma_user_account_charge() - Charge an account
 * @account: account of the session
 * @kind: what to charge
 * @amount: how much
 *
 * A caller with CAP_SYS_RESOURCE in the initial user namespace is never refused, but the charge
 * counts for all users of the account.  In a thread of the kernel, this is decided by the
 * capability of the session's opener.
 *
 * Context: process context.
 * Return: 0; -EDQUOT: a user of the account would exceed the limit.
 */
int krdma_user_account_charge(struct krdma_user_account *account, enum krdma_account_kind kind,
			      u64 amount)
{
	enum krdma_limit_scope scope;

	scope = krdma_user_account_take(account, kind, amount, krdma_user_limit(kind));
	if (!scope)
		return 0;
	/* Only now, because the check is recorded as a use of the capability. */
	if (krdma_user_account_exempt(account) &&
	    !krdma_user_account_take(account, kind, amount, U64_MAX))
		return 0;
	krdma_user_account_refuse(account, (enum krdma_limit)kind, scope);
	return -EDQUOT;
}

/**
 * krdma_user_account_try() - Charge an account for what the caller can do without
 * @account: account of the session
 * @kind: what to charge
 * @amount: how much
 *
 * A refusal is no error of the caller's, so it is not recorded, and no capability is asked for.
 *
 * Context: process context.
 * Return: whether it is charged.
 */
bool krdma_user_account_try(struct krdma_user_account *account, enum krdma_account_kind kind,
			    u64 amount)
{
	return !krdma_user_account_take(account, kind, amount, krdma_user_limit(kind));
}

/**
 * krdma_user_account_uncharge() - Uncharge an account
 * @account: account of the session
 * @kind: what was charged
 * @amount: how much was charged
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
	for (u32 i = 0; i < account->count; i++)
		account->ucounts[i]->used[kind] -= amount;
	spin_unlock_irqrestore(&krdma_user_accounts_lock, flags);
}

/**
 * krdma_user_account_charge_object() - Charge an account for an object
 * @account: account of the session
 * @bytes: kernel memory of the object
 *
 * Context: process context of the caller.
 * Return: 0; -EDQUOT: a user of the account would exceed the limit of objects or of memory.
 */
int krdma_user_account_charge_object(struct krdma_user_account *account, u64 bytes)
{
	int ret;

	ret = krdma_user_account_charge(account, KRDMA_ACCOUNT_OBJECTS, 1);
	if (ret)
		return ret;
	ret = krdma_user_account_charge(account, KRDMA_ACCOUNT_MEMORY, bytes);
	if (ret)
		krdma_user_account_uncharge(account, KRDMA_ACCOUNT_OBJECTS, 1);
	return ret;
}

/**
 * krdma_user_account_uncharge_object() - Uncharge an account for an object
 * @account: account of the session
 * @bytes: bytes that were charged
 *
 * Context: process context.
 */
void krdma_user_account_uncharge_object(struct krdma_user_account *account, u64 bytes)
{
	krdma_user_account_uncharge(account, KRDMA_ACCOUNT_MEMORY, bytes);
	krdma_user_account_uncharge(account, KRDMA_ACCOUNT_OBJECTS, 1);
}

/*
 * Queues and ports of the core
 */

static int krdma_user_account_charge_ring(void *account, u64 bytes)
{
	return krdma_user_account_charge(account, KRDMA_ACCOUNT_MEMORY, bytes);
}

static void krdma_user_account_uncharge_queue(void *account, u64 bytes)
{
	krdma_user_account_uncharge(account, KRDMA_ACCOUNT_MEMORY, bytes);
}

static int krdma_user_account_charge_port(void *account)
{
	return krdma_user_account_charge(account, KRDMA_ACCOUNT_PORTS, 1);
}

static void krdma_user_account_uncharge_port(void *account)
{
	krdma_user_account_uncharge(account, KRDMA_ACCOUNT_PORTS, 1);
}

/*
 * A refusal is no error: the connection is a plain one.  A thread of the kernel finds trunks, so
 * the opener's privilege counts.
 */
static int krdma_user_account_charge_trunk(void *context)
{
	const struct krdma_user_account *account = context;
	bool full = false;
	unsigned long flags;

	spin_lock_irqsave(&krdma_user_accounts_lock, flags);
	for (u32 i = 0; i < account->count && !account->privileged; i++)
		full |= account->ucounts[i]->trunks >= KRDMA_USER_TRUNKS_MAX;
	for (u32 i = 0; i < account->count && !full; i++)
		account->ucounts[i]->trunks++;
	spin_unlock_irqrestore(&krdma_user_accounts_lock, flags);

	return full ? -EDQUOT : 0;
}

static void krdma_user_account_uncharge_trunk(void *context)
{
	const struct krdma_user_account *account = context;
	unsigned long flags;

	spin_lock_irqsave(&krdma_user_accounts_lock, flags);
	for (u32 i = 0; i < account->count; i++)
		account->ucounts[i]->trunks--;
	spin_unlock_irqrestore(&krdma_user_accounts_lock, flags);
}

static void krdma_user_account_refused(void *account)
{
	krdma_user_account_refuse(account, KRDMA_LIMIT_DEVICE, KRDMA_LIMIT_SCOPE_GROUP);
}

static void krdma_user_account_put_session(void *account)
{
	krdma_user_account_put(account);
}

static const struct krdma_account_ops krdma_user_account_ops = {
	.charge = krdma_user_account_charge_ring,
	.uncharge = krdma_user_account_uncharge_queue,
	.charge_port = krdma_user_account_charge_port,
	.uncharge_port = krdma_user_account_uncharge_port,
	.charge_trunk = krdma_user_account_charge_trunk,
	.uncharge_trunk = krdma_user_account_uncharge_trunk,
	.refused = krdma_user_account_refused,
	.put = krdma_user_account_put_session,
};

/**
 * krdma_user_account_pays() - Make an account pay for the queues of a core session
 * @account: the account; the core session takes its own reference
 * @core: the session, new
 *
 * Queues stay as long as their completions wait to be polled, which may be longer than their
 * files exist.  So the core charges and uncharges where it allocates and frees.  For the same
 * reason ports are charged where the rdma_cm IDs are created and destroyed.
 *
 * The ends of the session's connections and device parts take turns with those of the other
 * sessions of the user.
 *
 * Context: process context.
 */
void krdma_user_account_pays(struct krdma_user_account *account, struct krdma_session *core)
{
	krdma_user_account_get(account);
	krdma_session_set_account(core, &krdma_user_account_ops, account);
	/* The core session puts the account last of all. */
	krdma_session_set_turns(core, account->turns);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_user_account_pays);

/*
 * Queries of limits
 */

/* Selects the limit to report. */
static int krdma_user_limit_find(const struct krdma_user_account *account,
				 const struct krdma_limit_query_args *query)
{
	lockdep_assert_held(&krdma_user_accounts_lock);

	if (!(query->flags & KRDMA_LIMIT_QUERY_REFUSED))
		return query->limit < KRDMA_USER_LIMITS ? (int)query->limit : -ENOENT;
	/* The count is zero if no ioctl was refused. */
	return account->refusals[account->last_refused].count ? (int)account->last_refused :
		-ENOENT;
}

static void krdma_user_limit_used(const struct krdma_user_account *account,
				  struct krdma_limit_query_args *query)
{
	lockdep_assert_held(&krdma_user_accounts_lock);

	query->session_used = account->used[query->limit];
	query->user_used = account->ucounts[0]->used[query->limit];
	for (u32 i = 1; i < account->count; i++)
		query->owner_used = max(query->owner_used, account->ucounts[i]->used[query->limit]);
}

/**
 * krdma_user_limit_query() - Handle KRDMA_LIMIT_QUERY
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma.h>.
 */
int krdma_user_limit_query(struct krdma_ucmd *ucmd)
{
	struct krdma_limit_query_args *query = &ucmd->buffer->limit_query;
	struct krdma_user_account *account = ucmd->session->account;
	unsigned long flags;
	int limit;

	if (query->flags & ~KRDMA_LIMIT_QUERY_REFUSED)
		return -EOPNOTSUPP;
	if ((query->flags & KRDMA_LIMIT_QUERY_REFUSED) && query->limit)
		return -EINVAL;

	query->session_used = 0;
	query->user_used = 0;
	query->owner_used = 0;
	spin_lock_irqsave(&krdma_user_accounts_lock, flags);
	limit = krdma_user_limit_find(account, query);
	if (limit >= 0) {
		query->limit = limit;
		query->scope = account->refusals[limit].scope;
		query->refused = account->refusals[limit].count;
		if (limit != KRDMA_LIMIT_DEVICE)
			krdma_user_limit_used(account, query);
	}
	spin_unlock_irqrestore(&krdma_user_accounts_lock, flags);
	if (limit < 0)
		return limit;

	query->max = limit == KRDMA_LIMIT_DEVICE ? KRDMA_LIMIT_UNKNOWN :
		     krdma_user_limit((enum krdma_account_kind)limit);
	return krdma_ucmd_respond(ucmd);
}
