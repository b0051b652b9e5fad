// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions, and their protection domains.
 *
 * A domain is there as long as something is in it, and is shared by all that the
 * session has on the device: so a key of one session means nothing to the peers
 * of another.
 */
#include <linux/err.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>

#include "mr/frwr.h"
#include "core/objects.h"
#include "mr/mr.h"
#include "core/resource.h"
#include "core/session.h"

/**
 * krdma_session_create - begin to use krdma
 * @net: the network namespace in which the session lives; kept
 *
 * Context: process context; may sleep.
 * Return: the session, for krdma_session_put(), or ERR_PTR(-ENOMEM).
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
	mutex_init(&session->lock);
	xa_init_flags(&session->domains, XA_FLAGS_ACCOUNT);

	return session;
}
EXPORT_SYMBOL_NS_GPL(krdma_session_create, "KRDMA");

/**
 * krdma_session_set_reclaim - memory reclaim waits for what the session does
 * @session: the session, in which nothing has been made yet
 *
 * For a consumer that memory is written back to.  The work items that end the session's
 * connections, their own completion queues and its memory regions run on a workqueue with a
 * rescuer, and allocate with GFP_NOIO.  The consumer's part:
 *
 *  - it calls krdma in a scope of memalloc_noio_save() from when memory can depend on it;
 *  - &struct krdma_conn_ops has notify(), not event(), because consumers may sleep in
 *    event(), and completions are told in softirq or polled, for the same reason;
 *  - it gives up connections by krdma_conn_put_sync().
 *
 * ib_cm and the address resolution of ib_core have no rescuer, nor has rxe from Linux 6.12
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
 * krdma_session_set_account - who pays for the memory of the session's queues, and for ports
 * @session: the session, in which nothing has been made yet
 * @ops: how that is asked; must stay
 * @account: given to @ops, until its put() is called
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
 * krdma_session_charge - somebody has to pay for memory that is about to be allocated
 * @session: the session; the caller keeps it until krdma_session_uncharge()
 * @bytes: how much
 *
 * Context: process context, of the call that needs it; may sleep.
 * Return: 0, or a negative errno: it must not be allocated.
 */
int krdma_session_charge(struct krdma_session *session, u64 bytes)
{
	if (!session->account_ops)
		return 0;
	return session->account_ops->charge(session->account, bytes);
}

/**
 * krdma_session_uncharge - memory has been freed
 * @session: the session
 * @bytes: as many as krdma_session_charge() was told; or 0
 *
 * Context: process context.
 */
void krdma_session_uncharge(struct krdma_session *session, u64 bytes)
{
	if (session->account_ops && bytes)
		session->account_ops->uncharge(session->account, bytes);
}

/**
 * krdma_session_refused - the caller's control group does not allow what a session needs
 * @session: the session
 *
 * Context: process context, of the call that fails; may sleep.
 */
void krdma_session_refused(struct krdma_session *session)
{
	if (session->account_ops && session->account_ops->refused)
		session->account_ops->refused(session->account);
}

/**
 * krdma_port_charge - an id of the connection manager's is about to get a port
 * @charge: of the id, not charged
 * @session: the session that it counts for; the caller has a reference
 *
 * Listeners hold a port, and so does the side that asks for a connection.  Connections that
 * a peer has asked for hold none.
 *
 * Context: process context, of the call that needs the port; may sleep.
 * Return: 0, or a negative errno: the id must not get one.
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
 * krdma_port_uncharge - the id has been destroyed, or will get no port
 * @charge: of the id; nothing happens if it is not charged
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
 * krdma_session_get - one more reference to a session
 * @session: the session; the caller holds one
 *
 * Context: any.
 */
void krdma_session_get(struct krdma_session *session)
{
	refcount_inc(&session->refs);
}

/**
 * krdma_session_put - give back a reference to a session
 * @session: the session
 *
 * What was made in it stays until it is closed itself.
 *
 * Context: any but NMI.
 */
void krdma_session_put(struct krdma_session *session)
{
	if (!refcount_dec_and_test(&session->refs))
		return;

	/* Domains are kept by what is in them, and that keeps the session. */
	WARN_ON(!xa_empty(&session->domains));
	put_net(session->net);
	if (session->account_ops)
		session->account_ops->put(session->account);
	kfree(krdma_object_uncount(KRDMA_OBJECT_SESSION, session));
}
EXPORT_SYMBOL_NS_GPL(krdma_session_put, "KRDMA");

static void krdma_pd_uncharge(struct krdma_pd *pd, struct ib_device *ibdev)
{
	krdma_uncharge_object(&pd->pd_charge, ibdev);
	krdma_uncharge_handle(&pd->handle_charge, ibdev);
}

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
	INIT_WORK(&pd->end_users, krdma_pd_end_users);
	spin_lock_init(&pd->lock);
	INIT_LIST_HEAD(&pd->connections);
	INIT_LIST_HEAD(&pd->srqs);
	INIT_LIST_HEAD(&pd->retired);

	ret = krdma_charge_handle(&pd->handle_charge, session, ibdev);
	if (ret)
		goto err_free;
	ret = krdma_charge_object(&pd->pd_charge, session, ibdev);
	if (ret)
		goto err_uncharge;

	/* Without a key to all memory: see ib_alloc_pd(). */
	pd->ib = ib_alloc_pd(ibdev, 0);
	if (IS_ERR(pd->ib)) {
		ret = krdma_provider_error(PTR_ERR(pd->ib));
		goto err_uncharge;
	}

	ret = xa_err(xa_store(&session->domains, krdma_device_id(dev), pd, GFP_KERNEL_ACCOUNT));
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
 * krdma_pd_get - the protection domain of a session on a device
 * @session: the session; the caller holds a reference as long as the domain's
 * @dev: the device; the caller has a use of it as long as the domain's
 *
 * Context: process context; may sleep.
 * Return: the domain, for krdma_pd_put(), or ERR_PTR of -EDQUOT: the control
 * group has as many as it may, -ENOMEM, or what krdma_provider_error() makes of the
 * provider's.
 */
struct krdma_pd *krdma_pd_get(struct krdma_session *session, struct krdma_device *dev)
{
	struct krdma_pd *pd;

	mutex_lock(&session->lock);
	pd = xa_load(&session->domains, krdma_device_id(dev));
	/* One that is in the table is alive: it is taken out under the same lock. */
	if (pd)
		refcount_inc(&pd->refs);
	else
		pd = krdma_pd_create(session, dev);
	mutex_unlock(&session->lock);

	return pd;
}

/**
 * krdma_pd_put - give back a reference to a domain
 * @pd: the domain; nothing of the caller's is in it any more
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
	xa_erase(&session->domains, krdma_device_id(pd->dev));
	mutex_unlock(&session->lock);

	/* Nothing is left in the domain that it could find, but it may be running. */
	cancel_work_sync(&pd->end_users);
	/* The caller's session and use keep both until it is gone. */
	krdma_frwr_destroy(pd);
	WARN_ON(!list_empty(&pd->connections) || !list_empty(&pd->srqs) ||
		!list_empty(&pd->retired));
	ib_dealloc_pd(pd->ib);
	krdma_pd_uncharge(pd, ibdev);
	mutex_destroy(&pd->frwr_lock);
	kfree(krdma_object_uncount(KRDMA_OBJECT_PD, pd));
}
