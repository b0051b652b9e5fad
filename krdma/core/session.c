// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions, and their protection domains (PDs).
 *
 * A PD exists as long as it contains objects, and in a session that keeps its PDs as long as the
 * session.  All objects of a session on a device share one PD, so a peer of one session cannot use
 * an rkey of another session.
 */
#include <linux/err.h>
#include <linux/init.h>
#include <linux/memcontrol.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>

#include "core/device.h"
#include "core/device_query.h"
#include "core/objects.h"
#include "core/resource.h"
#include "core/session.h"

/**
 * krdma_session_create() - Create a session
 * @net: the network namespace of the session; the session keeps it
 *
 * Context: process context; may sleep.
 * Return: the session, to be released by krdma_session_put(), or ERR_PTR(-ENOMEM).
 */
struct krdma_session *krdma_session_create(struct net *net)
{
	struct krdma_session *session;

	session = krdma_object_count(KRDMA_OBJECT_SESSION,
				     kzalloc_obj(*session, GFP_KERNEL_ACCOUNT));
	if (!session)
		return ERR_PTR(-ENOMEM);

	refcount_set(&session->refs, 1);
	session->net = get_net(net);
	session->memcg = get_mem_cgroup_from_mm(current->mm);
	mutex_init(&session->lock);
	xa_init_flags(&session->pds, XA_FLAGS_ACCOUNT);
	krdma_turns_init(&session->own_turns);
	session->turns = &session->own_turns;
	for (unsigned int kind = 0; kind < KRDMA_TURN_KINDS; kind++)
		INIT_LIST_HEAD(&session->turn_lists[kind].items);

	return session;
}
EXPORT_SYMBOL_NS_GPL(krdma_session_create, "KRDMA");

/**
 * krdma_session_set_reclaim() - Declare that memory reclaim waits for the session
 * @session: the session, which has no objects yet
 *
 * For a consumer that writeback depends on.  The work items that end the session's connections,
 * their own CQs and its MRs run on a workqueue with a rescuer, and allocate with GFP_NOIO.  The
 * consumer must do the following:
 *
 *  - It calls krdma in a scope of memalloc_noio_save(), from the first object on: the end of one
 *    such session may wait for locks of another one.
 *  - &struct krdma_conn_ops has notify(), not event(), because consumers may sleep in event(),
 *    and completions are delivered in softirq or polled, for the same reason.
 *  - It releases connections by krdma_conn_put_sync().
 *
 * Control groups are not charged for such a session's objects.
 *
 * ib_cm and the address resolution of ib_core have no rescuer, and rxe has none from Linux 6.12
 * on.  They need a thread that exists already.
 *
 * Context: any.
 */
void krdma_session_set_reclaim(struct krdma_session *session)
{
	session->reclaim = true;
}
EXPORT_SYMBOL_NS_GPL(krdma_session_set_reclaim, "KRDMA");

/**
 * krdma_session_set_account() - Set the account for the memory of the session's queues and for
 * ports
 * @session: the session, which has no objects yet
 * @ops: callbacks of the account; must stay valid
 * @account: argument of @ops, until @ops' put() is called
 *
 * Context: any.
 */
void krdma_session_set_account(struct krdma_session *session,
			       const struct krdma_account_ops *ops, void *account)
{
	session->account_ops = ops;
	session->account = account;
}
EXPORT_SYMBOL_NS_GPL(krdma_session_set_account, "KRDMA");

/**
 * krdma_session_charge() - Charge memory to the session's account before it is allocated
 * @session: the session; the caller keeps it until krdma_session_uncharge()
 * @bytes: bytes to charge
 *
 * Context: process context, of the call that needs the memory, or of a thread of the kernel if a
 * peer needs it; may sleep.
 * Return: 0, or a negative errno: the memory must not be allocated.
 */
int krdma_session_charge(struct krdma_session *session, u64 bytes)
{
	if (!session->account_ops)
		return 0;
	return session->account_ops->charge(session->account, bytes);
}

/**
 * krdma_session_uncharge() - Uncharge memory after it was freed
 * @session: the session
 * @bytes: the bytes that krdma_session_charge() has charged; or 0
 *
 * Context: process context.
 */
void krdma_session_uncharge(struct krdma_session *session, u64 bytes)
{
	if (session->account_ops && bytes)
		session->account_ops->uncharge(session->account, bytes);
}

/**
 * krdma_session_refused() - Notify the account that the control group refuses a charge
 * @session: the session
 *
 * The control group of the caller does not allow what the session needs.
 *
 * Context: process context, of the call that fails; may sleep.
 */
void krdma_session_refused(struct krdma_session *session)
{
	if (session->account_ops && session->account_ops->refused)
		session->account_ops->refused(session->account);
}

/**
 * krdma_port_charge() - Charge a port before a cm_id gets one
 * @charge: the charge of the cm_id, not charged yet
 * @session: the session to charge; the caller has a reference
 *
 * Listeners hold a port, and so does the active side of a connection.  The passive side holds
 * none.
 *
 * Context: process context, of the call that needs the port; may sleep.
 * Return: 0, or a negative errno: the cm_id must not get a port.
 */
int krdma_port_charge(struct krdma_charged_port *charge, struct krdma_session *session)
{
	int ret;

	if (!session->account_ops || !session->account_ops->charge_port)
		return 0;
	ret = session->account_ops->charge_port(session->account);
	if (ret)
		return ret;
	krdma_session_get(session);
	charge->session = session;
	return 0;
}

/**
 * krdma_port_uncharge() - Uncharge a port after the cm_id was destroyed, or gets no port
 * @charge: the charge of the cm_id; nothing happens if it is not charged
 *
 * Context: process context.
 */
void krdma_port_uncharge(struct krdma_charged_port *charge)
{
	struct krdma_session *session = charge->session;

	if (!session)
		return;
	charge->session = NULL;
	session->account_ops->uncharge_port(session->account);
	krdma_session_put(session);
}

/**
 * krdma_session_charge_trunk() - Charge a trunk that a lane of a session needs
 * @session: the session; the caller keeps it until krdma_session_uncharge_trunk()
 *
 * Context: process context; may sleep.
 * Return: 0, or a negative errno: the trunk must not be made.
 */
int krdma_session_charge_trunk(struct krdma_session *session)
{
	if (!session->account_ops || !session->account_ops->charge_trunk)
		return 0;
	return session->account_ops->charge_trunk(session->account);
}

/**
 * krdma_session_uncharge_trunk() - Uncharge a trunk that has ended
 * @session: the session that krdma_session_charge_trunk() has charged
 *
 * Context: process context.
 */
void krdma_session_uncharge_trunk(struct krdma_session *session)
{
	if (session->account_ops && session->account_ops->charge_trunk)
		session->account_ops->uncharge_trunk(session->account);
}

/**
 * krdma_session_get() - Get another reference to a session
 * @session: the session; the caller holds a reference
 *
 * Context: any.
 */
void krdma_session_get(struct krdma_session *session)
{
	refcount_inc(&session->refs);
}

/**
 * krdma_session_put() - Put a reference to a session
 * @session: the session
 *
 * The session's objects stay until they are closed themselves.
 *
 * Context: any but NMI.
 */
void krdma_session_put(struct krdma_session *session)
{
	if (!refcount_dec_and_test(&session->refs))
		return;

	/* Objects in a PD keep the PD and the session, so no PD is left. */
	WARN_ON(!xa_empty(&session->pds));
	put_net(session->net);
	mem_cgroup_put(session->memcg);
	if (session->account_ops)
		session->account_ops->put(session->account);
	kfree(krdma_object_uncount(KRDMA_OBJECT_SESSION, session));
}
EXPORT_SYMBOL_NS_GPL(krdma_session_put, "KRDMA");

static const struct krdma_pd_ops *krdma_pd_ops __ro_after_init;

void __init krdma_pd_set_ops(const struct krdma_pd_ops *ops)
{
	krdma_pd_ops = ops;
}

static void krdma_pd_uncharge(struct krdma_pd *pd, struct ib_device *ibdev)
{
	krdma_uncharge_object(&pd->pd_charge, ibdev);
	krdma_uncharge_handle(&pd->handle_charge, ibdev);
}

static void krdma_pd_unkeep_work(struct work_struct *work);

static struct krdma_pd *krdma_pd_create(struct krdma_session *session,
					struct krdma_device *dev)
{
	struct ib_device *ibdev = krdma_device_ib(dev);
	struct krdma_pd *pd;
	int ret;

	lockdep_assert_held(&session->lock);

	pd = krdma_object_count(KRDMA_OBJECT_PD, kzalloc_obj(*pd, GFP_KERNEL_ACCOUNT));
	if (!pd)
		return ERR_PTR(-ENOMEM);

	pd->session = session;
	pd->dev = dev;
	refcount_set(&pd->refs, 1);
	mutex_init(&pd->frwr_lock);
	init_rwsem(&pd->connect_lock);
	INIT_WORK(&pd->end_users, krdma_pd_ops->end_users);
	INIT_WORK(&pd->unkeep, krdma_pd_unkeep_work);
	spin_lock_init(&pd->reach_lock);
	pd->reaches = RB_ROOT;
	pd->names = RB_ROOT;
	spin_lock_init(&pd->lock);
	INIT_LIST_HEAD(&pd->qps);
	INIT_LIST_HEAD(&pd->srqs);
	INIT_LIST_HEAD(&pd->users);
	INIT_LIST_HEAD(&pd->retired);

	ret = krdma_charge_handle(&pd->handle_charge, session, ibdev);
	if (ret)
		goto err_free;
	ret = krdma_charge_object(&pd->pd_charge, session, ibdev);
	if (ret)
		goto err_uncharge;

	/* Without an rkey to all memory: see ib_alloc_pd(). */
	pd->ib = ib_alloc_pd(ibdev, 0);
	if (IS_ERR(pd->ib)) {
		ret = krdma_provider_error(PTR_ERR(pd->ib));
		goto err_uncharge;
	}

	ret = xa_err(xa_store(&session->pds, krdma_device_id(dev), pd, GFP_KERNEL_ACCOUNT));
	if (ret)
		goto err_pd;

	return pd;

err_pd:
	ib_dealloc_pd(pd->ib);
err_uncharge:
	krdma_pd_uncharge(pd, ibdev);
err_free:
	kfree(krdma_object_uncount(KRDMA_OBJECT_PD, pd));
	return ERR_PTR(ret);
}

/**
 * krdma_pd_get() - Get the protection domain of a session on a device
 * @session: the session; the caller holds a reference as long as the PD's
 * @dev: the device; the caller has a use of it as long as the PD's reference
 *
 * Context: process context; may sleep.
 * Return: the PD, to be released by krdma_pd_put(), or ERR_PTR of -EDQUOT: the control group
 * has reached its limit, -ENOMEM, or the provider's errno after krdma_provider_error().
 */
struct krdma_pd *krdma_pd_get(struct krdma_session *session, struct krdma_device *dev)
{
	struct krdma_pd *pd;

	mutex_lock(&session->lock);
	pd = xa_load(&session->pds, krdma_device_id(dev));
	/* A PD in the table has references: it is removed under the same lock. */
	if (pd)
		refcount_inc(&pd->refs);
	else
		pd = krdma_pd_create(session, dev);
	mutex_unlock(&session->lock);

	return pd;
}

/**
 * krdma_pd_put() - Put a reference to a protection domain
 * @pd: the PD; it contains no object of the caller any more
 *
 * Context: process context; may sleep.
 */
void krdma_pd_put(struct krdma_pd *pd)
{
	struct krdma_session *session = pd->session;
	struct ib_device *ibdev = pd->ib->device;

	might_sleep();

	if (!refcount_dec_and_mutex_lock(&pd->refs, &session->lock))
		return;
	xa_erase(&session->pds, krdma_device_id(pd->dev));
	mutex_unlock(&session->lock);

	/* The PD contains nothing that this work could find, but it may be running. */
	cancel_work_sync(&pd->end_users);
	/* The session, and the use of the caller or of the PD, stay until the PD is gone. */
	krdma_pd_ops->destroy(pd);
	WARN_ON(!list_empty(&pd->qps) || !list_empty(&pd->srqs) ||
		!list_empty(&pd->retired));
	/* Its number would go to another PD: the peers of that could use an rkey that is left. */
	if (test_bit(KRDMA_PD_STUCK, &pd->flags))
		krdma_device_keep_pd(pd->dev, pd->ib);
	else
		ib_dealloc_pd(pd->ib);
	krdma_pd_uncharge(pd, ibdev);
	mutex_destroy(&pd->frwr_lock);
	if (test_bit(KRDMA_PD_USES, &pd->flags)) {
		krdma_device_unuse(pd->dev, &pd->use);
		krdma_device_put(pd->dev);
		krdma_session_put(session);
	}
	kfree(krdma_object_uncount(KRDMA_OBJECT_PD, pd));
}

/*
 * PDs that are kept
 */

static void krdma_pd_unkeep_work(struct work_struct *work)
{
	krdma_pd_put(container_of(work, struct krdma_pd, unkeep));
}

/* Under uses_lock: the reference is put by a work item. */
static void krdma_pd_gone(struct krdma_use *use)
{
	struct krdma_pd *pd = container_of(use, struct krdma_pd, use);

	if (test_and_clear_bit(KRDMA_PD_KEPT, &pd->flags))
		queue_work(krdma_workqueue, &pd->unkeep);
}

/* Once in the life of a PD. */
static void krdma_pd_keep_locked(struct krdma_pd *pd)
{
	lockdep_assert_held(&pd->session->lock);

	if (!pd->session->keeps_pds || test_and_set_bit(KRDMA_PD_TRIED, &pd->flags))
		return;
	/* All of it before the use, which may end at once. */
	refcount_inc(&pd->refs);
	set_bit(KRDMA_PD_KEPT, &pd->flags);
	set_bit(KRDMA_PD_USES, &pd->flags);
	krdma_session_get(pd->session);
	krdma_device_get(pd->dev);
	if (!krdma_device_use(pd->dev, &pd->use, krdma_pd_gone))
		return;
	krdma_device_put(pd->dev);
	krdma_session_put(pd->session);
	clear_bit(KRDMA_PD_USES, &pd->flags);
	/* krdma_pd_unkeep() needs no lock.  The caller has a reference. */
	if (test_and_clear_bit(KRDMA_PD_KEPT, &pd->flags))
		WARN_ON(refcount_dec_and_test(&pd->refs));
}

/**
 * krdma_pd_keep() - Keep a PD without objects, if its session keeps its PDs
 * @pd: the PD; the caller has a reference, and has created an object in it
 *
 * Called when the object is complete: what fails leaves no PD, nor its charges, behind.  A PD with
 * a QP for registrations is not kept: such a QP lives no longer than what it has registered.
 *
 * Context: process context; may sleep.
 */
void krdma_pd_keep(struct krdma_pd *pd)
{
	if (test_bit(KRDMA_PD_TRIED, &pd->flags) || !READ_ONCE(pd->session->keeps_pds))
		return;
	mutex_lock(&pd->session->lock);
	krdma_pd_keep_locked(pd);
	mutex_unlock(&pd->session->lock);
	/* Either this sees such a QP of another thread, or krdma_pd_unkeep() sees the bit. */
	smp_mb();
	if (READ_ONCE(pd->frwr))
		krdma_pd_unkeep(pd);
}

/**
 * krdma_pd_unkeep() - Do not keep a PD any more
 * @pd: the PD; the caller has a reference, and has set @pd->frwr
 *
 * Context: process context; may sleep.
 */
void krdma_pd_unkeep(struct krdma_pd *pd)
{
	set_bit(KRDMA_PD_TRIED, &pd->flags);
	/* Fully ordered behind the write of @pd->frwr. */
	if (test_and_clear_bit(KRDMA_PD_KEPT, &pd->flags))
		krdma_pd_put(pd);
}

/**
 * krdma_session_keep_pds() - Keep the PDs of a session until krdma_session_drop_pds()
 * @session: the session, which has no objects yet
 *
 * A consumer that registers memory again and again does not create a PD each time.
 *
 * Context: any.
 */
void krdma_session_keep_pds(struct krdma_session *session)
{
	session->keeps_pds = true;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_session_keep_pds);

/* The next PD that the session keeps, with the session's reference; NULL: there is none. */
static struct krdma_pd *krdma_session_kept_pd(struct krdma_session *session)
{
	struct krdma_pd *pd;
	unsigned long id;

	lockdep_assert_held(&session->lock);

	xa_for_each(&session->pds, id, pd) {
		if (test_and_clear_bit(KRDMA_PD_KEPT, &pd->flags))
			return pd;
	}
	return NULL;
}

/**
 * krdma_session_drop_pds() - Keep no PDs any more
 * @session: the session; PDs with objects stay as long as these
 *
 * A PD that is kept has a reference to its session.  Without this call, both stay until the device
 * is removed.
 *
 * Context: process context; may sleep.
 */
void krdma_session_drop_pds(struct krdma_session *session)
{
	struct krdma_pd *pd;

	do {
		mutex_lock(&session->lock);
		WRITE_ONCE(session->keeps_pds, false);
		pd = krdma_session_kept_pd(session);
		mutex_unlock(&session->lock);
		if (pd)
			krdma_pd_put(pd);
	} while (pd);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_session_drop_pds);

/**
 * krdma_pd_add_user() - Add a user of a PD that is no QP
 * @pd: the PD
 * @user: the user, with its operations
 *
 * Context: process context.
 */
void krdma_pd_add_user(struct krdma_pd *pd, struct krdma_pd_user *user)
{
	spin_lock(&pd->lock);
	list_add(&user->node, &pd->users);
	spin_unlock(&pd->lock);
}

/**
 * krdma_pd_remove_user() - Remove a user of a PD
 * @pd: the PD
 * @user: the user, added
 *
 * Context: process context.
 */
void krdma_pd_remove_user(struct krdma_pd *pd, struct krdma_pd_user *user)
{
	spin_lock(&pd->lock);
	list_del_init(&user->node);
	spin_unlock(&pd->lock);
}
