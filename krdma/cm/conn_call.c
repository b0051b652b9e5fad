// SPDX-License-Identifier: GPL-2.0
/*
 * What the consumer of a connection can ask of it.
 *
 * A call asks the state first, by krdma_conn_advance(), and then the connection
 * manager, both under cm_lock, so that the end waits until the call is over.
 */
#include <linux/errno.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/wait.h>
#include <net/ipv6.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "cm/conn.h"
#include "core/link.h"
#include "cm/private_data.h"
#include "io/qp.h"
#include "core/session.h"

/* rdma_cm has no default of its own for either step. */
#define KRDMA_CONN_TIMEOUT_MS	2000

#define KRDMA_ACK_TIMEOUT_MAX	31
/* The longest that a peer can ask for: 4.3 s; seven tries then last a minute at most. */
#define KRDMA_ACK_TIMEOUT_ASKED	20

/*
 * 0.64 ms: when a peer's message finds no receive, it comes again that much later.
 * The connection manager's default, 0, is a code for 655 ms.
 */
#define KRDMA_RNR_TIMER		12

/* Not 7, the most: to rxe that is for ever, as it is for rnr_retry_count to everyone. */
#define KRDMA_RETRY_COUNT	6
#define KRDMA_RNR_RETRY_COUNT	7
#define KRDMA_RETRY_MAX		7
#define KRDMA_READ_DEPTH	16

/* How long what the connection manager knows may take until its handler says it. */
#define KRDMA_GIVEN_UP_MS	1000

/*
 * The way to the peer
 */

static bool krdma_remote_is_whole(const struct sockaddr *addr)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;

	if (addr->sa_family == AF_INET)
		return in->sin_port && in->sin_addr.s_addr != htonl(INADDR_ANY);
	return in6->sin6_port && !ipv6_addr_any(&in6->sin6_addr);
}

static int krdma_route_check(const struct krdma_route *route)
{
	const struct sockaddr *remote = route->remote;
	const struct sockaddr *local = route->local;

	if (!remote || route->ack_timeout > KRDMA_ACK_TIMEOUT_MAX)
		return -EINVAL;
	if (remote->sa_family != AF_INET && remote->sa_family != AF_INET6)
		return -EAFNOSUPPORT;
	if (local && local->sa_family != remote->sa_family)
		return -EINVAL;
	if (!krdma_address_is_bound(remote) || (local && !krdma_address_is_bound(local)))
		return -EINVAL;
	/* Without an address, rdma_cm would take any device. */
	return krdma_remote_is_whole(remote) ? 0 : -EINVAL;
}

static int krdma_conn_start(struct krdma_conn *conn, const struct krdma_route *route)
{
	struct sockaddr_storage local;
	struct rdma_cm_id *cm_id;
	int ret;

	lockdep_assert_held(&conn->cm_lock);

	cm_id = rdma_create_id(conn->session->net, krdma_conn_cm_handler, conn, RDMA_PS_TCP,
			       IB_QPT_RC);
	if (IS_ERR(cm_id))
		return krdma_cm_error(PTR_ERR(cm_id));
	conn->cm_id = cm_id;
	conn->timeout_ms = route->timeout_ms ?: KRDMA_CONN_TIMEOUT_MS;

	if (route->tos)
		rdma_set_service_type(cm_id, route->tos);
	conn->ack_timeout = route->ack_timeout;
	ret = rdma_set_min_rnr_timer(cm_id, KRDMA_RNR_TIMER);
	if (ret)
		return krdma_cm_error(ret);

	if (route->local)
		memcpy(&local, route->local, rdma_addr_size(route->local));
	ret = rdma_resolve_addr(cm_id, route->local ? (struct sockaddr *)&local : NULL,
				route->remote, conn->timeout_ms);
	/* To rdma_cm, an address that is not on a device is no device. */
	if (ret == -ENODEV && route->local)
		return -EADDRNOTAVAIL;
	return ret ? krdma_cm_error(ret) : 0;
}

/* One that has been resolved before has its port, and is refused for that. */
static int krdma_conn_begin_resolve(struct krdma_conn *conn)
{
	bool has_port = conn->port.session;
	int ret;

	lockdep_assert_held(&conn->cm_lock);

	if (!has_port) {
		ret = krdma_port_charge(&conn->port, conn->session);
		if (ret)
			return ret;
	}
	ret = krdma_conn_advance(conn, KRDMA_INPUT_RESOLVE, 0);
	if (ret && !has_port)
		krdma_port_uncharge(&conn->port);
	return ret;
}

/**
 * krdma_conn_resolve - look for the way to the peer
 * @conn: the connection
 * @route: where it is to go; not looked at any more after the call
 *
 * The call only begins the search.  Events tell of its steps, ADDRESS_RESOLVED and
 * ROUTE_RESOLVED, or of its failure; krdma_conn_wait() waits for it.
 *
 * Context: process context; may sleep.
 * Return: 0; -EINVAL or -EAFNOSUPPORT: @route makes no sense, and nothing has
 * happened; -EALREADY, -EISCONN, -ENOTCONN: not in this state; an errno of the account's, such
 * as -EDQUOT: no port is to be had, and nothing has happened.  After another
 * error, such as -EADDRNOTAVAIL (@route->local is not on an RDMA device) or
 * -ENOMEM, the connection is over.
 */
int krdma_conn_resolve(struct krdma_conn *conn, const struct krdma_route *route)
{
	int ret;

	ret = krdma_route_check(route);
	if (ret)
		return ret;

	mutex_lock(&conn->cm_lock);
	ret = krdma_conn_begin_resolve(conn);
	if (!ret) {
		ret = krdma_conn_start(conn, route);
		if (ret)
			krdma_conn_advance(conn, KRDMA_INPUT_FATAL, ret);
	}
	mutex_unlock(&conn->cm_lock);

	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_resolve, "KRDMA");

/*
 * The queue pair
 */

/*
 * The connection has its queue pair.  The end may have begun meanwhile, without
 * it: then it must not be open to anybody.
 */
static void krdma_conn_set_qp(struct krdma_conn *conn, struct krdma_qp *qp)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->state_lock, flags);
	/* Pairs with those who post: they look at it without a lock. */
	smp_store_release(&conn->qp, qp);
	if (conn->state >= KRDMA_CONN_CLOSING)
		krdma_qp_close(qp);
	spin_unlock_irqrestore(&conn->state_lock, flags);
}

/* The domain of its queue pair is this session's, and keeps no reference to it. */
static void krdma_conn_join(struct krdma_conn *conn, struct krdma_session *session)
{
	struct krdma_session *old = conn->session;

	lockdep_assert_held(&conn->cm_lock);
	krdma_session_get(session);
	conn->session = session;
	krdma_session_put(old);
}

static int krdma_conn_create_qp_locked(struct krdma_conn *conn, const struct krdma_conn_attr *attr)
{
	struct krdma_pd *pd;
	struct krdma_qp *qp;
	int ret;

	lockdep_assert_held(&conn->cm_lock);

	ret = krdma_conn_advance(conn, KRDMA_INPUT_CREATE_QP, 0);
	if (ret)
		return ret;
	if (conn->qp)
		return -EALREADY;

	if (attr->session && attr->session->net != conn->session->net)
		return -EXDEV;

	pd = krdma_pd_get(attr->session ?: conn->session, conn->dev);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	qp = krdma_qp_create(conn, conn->cm_id, pd, attr);
	if (IS_ERR(qp)) {
		krdma_pd_put(pd);
		return PTR_ERR(qp);
	}

	if (attr->session)
		krdma_conn_join(conn, attr->session);

	conn->pd = pd;
	conn->lkey = pd->ib->local_dma_lkey;
	krdma_conn_set_qp(conn, qp);
	return 0;
}

/**
 * krdma_conn_create_qp - make the queues of a connection
 * @conn: the connection, resolved or requested
 * @attr: what they are to be
 *
 * From here on receives can be posted.  krdma_conn_connect() and
 * krdma_conn_accept() do it with a zeroed @attr if it was not done before.
 *
 * Context: process context; may sleep.
 * Return: 0; -EBUSY: not resolved yet; -EALREADY, -EISCONN, -ENOTCONN: not in this
 * state, or done before; -EINVAL: more than the device can, or a queue for receives
 * beside a shared receive queue, which has its own, or a @attr->keepalive_ms beyond its
 * bounds; -EOPNOTSUPP: there is no such thing on this device; -EXDEV: something of
 * another device, or a session of another network namespace; -ENOMEM; -ENODEV;
 * -EIO: the device failed.  The connection stays as it was after an error.
 */
int krdma_conn_create_qp(struct krdma_conn *conn, const struct krdma_conn_attr *attr)
{
	int ret;

	mutex_lock(&conn->cm_lock);
	ret = krdma_conn_create_qp_locked(conn, attr);
	mutex_unlock(&conn->cm_lock);

	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_create_qp, "KRDMA");

static int krdma_conn_need_qp(struct krdma_conn *conn)
{
	static const struct krdma_conn_attr defaults;

	lockdep_assert_held(&conn->cm_lock);
	return conn->qp ? 0 : krdma_conn_create_qp_locked(conn, &defaults);
}

/*
 * What is agreed with the peer
 */

/*
 * Never 0, as @limit is not: the connection manager lets a peer read and do atomics
 * only if it may have at least one under way, and a flush of the peer's is a read.
 */
static int krdma_read_depth(u32 wanted, u32 limit, u8 *depth)
{
	if (wanted > limit)
		return -EINVAL;
	*depth = wanted ?: min_t(u32, limit, KRDMA_READ_DEPTH);
	return 0;
}

/* What the consumer wants, in the connection manager's words, without private data. */
static int krdma_conn_param_fill(struct krdma_conn *conn, const struct krdma_conn_param *want,
				 struct rdma_conn_param *param)
{
	const struct krdma_limits *limits = krdma_device_limits(conn->dev);
	int ret;

	if (want->retry_count > KRDMA_RETRY_MAX || want->rnr_retry_count > KRDMA_RETRY_MAX)
		return -EINVAL;

	memset(param, 0, sizeof(*param));
	ret = krdma_read_depth(want->read_depth, limits->max_read_depth,
			       &param->initiator_depth);
	if (ret)
		return ret;
	ret = krdma_read_depth(want->read_depth_in, limits->max_read_depth_in,
			       &param->responder_resources);
	if (ret)
		return ret;

	param->flow_control = 1;
	param->retry_count = want->retry_count ?: KRDMA_RETRY_COUNT;
	if (!want->no_rnr_retry)
		param->rnr_retry_count = want->rnr_retry_count ?: KRDMA_RNR_RETRY_COUNT;
	return 0;
}

/* @message has room for KRDMA_PRIVATE_DATA_BUFFER, and is part of @param from here on. */
static int krdma_conn_param_data(struct krdma_conn *conn, enum krdma_private_data_kind kind,
				 const struct krdma_conn_param *want,
				 struct rdma_conn_param *param, u8 *message)
{
	u32 length;
	int ret;

	ret = krdma_private_data_encode(kind, krdma_cm_pads(conn->cm_id), want->plain,
					want->private_data, want->private_data_len, message,
					&length);
	if (ret)
		return ret;
	param->private_data = message;
	param->private_data_len = length;
	return 0;
}

/* The peer's answer may lower these. */
static void krdma_conn_set_depths(struct krdma_conn *conn, const struct rdma_conn_param *param)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->state_lock, flags);
	conn->read_depth = param->initiator_depth;
	conn->read_depth_in = param->responder_resources;
	spin_unlock_irqrestore(&conn->state_lock, flags);
}

static int krdma_conn_connect_locked(struct krdma_conn *conn,
				     const struct krdma_conn_param *want)
{
	u8 message[KRDMA_PRIVATE_DATA_BUFFER];
	struct rdma_conn_param param;
	int ret;

	lockdep_assert_held(&conn->cm_lock);

	/* Everything that can be refused comes first: later the connection is over. */
	ret = krdma_conn_advance(conn, KRDMA_INPUT_CREATE_QP, 0);
	if (ret)
		return ret;
	if (conn->passive)
		return -EINVAL;
	ret = krdma_conn_param_fill(conn, want, &param);
	if (ret)
		return ret;
	ret = krdma_conn_param_data(conn, KRDMA_PRIVATE_DATA_REQUEST, want, &param, message);
	if (ret)
		return ret;
	ret = krdma_conn_need_qp(conn);
	if (ret)
		return ret;

	krdma_conn_set_depths(conn, &param);
	ret = krdma_conn_advance(conn, KRDMA_INPUT_CONNECT, 0);
	if (ret)
		return ret;
	ret = rdma_connect(conn->cm_id, &param);
	if (ret) {
		ret = krdma_cm_error(ret);
		krdma_conn_advance(conn, KRDMA_INPUT_FATAL, ret);
	}
	return ret;
}

/**
 * krdma_conn_connect - ask the peer
 * @conn: the connection, resolved
 * @param: what is to be agreed; not looked at any more after the call
 *
 * The call only asks.  The answer is an event: ESTABLISHED, REJECTED, UNREACHABLE
 * or CONNECT_ERROR; krdma_conn_wait() waits for it.  Some iWARP devices make the
 * connection of their lower layer inside the call.
 *
 * Context: process context; may sleep.
 * Return: 0; -EMSGSIZE: more private data than the transport takes; -EINVAL: more
 * than the device can, or a connection that is to be accepted; -EBUSY: not
 * resolved yet; -EALREADY, -EISCONN, -ENOTCONN: not in this state; an error of
 * krdma_conn_create_qp().  The connection is as it was after these; after another
 * error, it is over.
 */
int krdma_conn_connect(struct krdma_conn *conn, const struct krdma_conn_param *param)
{
	int ret;

	mutex_lock(&conn->cm_lock);
	ret = krdma_conn_connect_locked(conn, param);
	mutex_unlock(&conn->cm_lock);

	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_connect, "KRDMA");

/* No more than the peer serves or does, as far as it has said so. */
static u8 krdma_read_depth_with(u8 depth, u8 of_peer)
{
	return of_peer ? min(depth, of_peer) : depth;
}

/*
 * How long an answer may take is the connecting end's choice, for both: it knows the way.
 * But no peer can have us wait without end (0 is that), or flood the network.
 */
static u8 krdma_conn_asked_timeout(struct krdma_conn *conn)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS };
	int mask;

	if (!rdma_cap_ib_cm(conn->cm_id->device, conn->cm_id->port_num) ||
	    rdma_init_qp_attr(conn->cm_id, &attr, &mask) || !(mask & IB_QP_TIMEOUT))
		return KRDMA_ACK_TIMEOUT;
	return clamp_t(u8, attr.timeout ?: KRDMA_ACK_TIMEOUT_ASKED, KRDMA_ACK_TIMEOUT,
		       KRDMA_ACK_TIMEOUT_ASKED);
}

/*
 * The connection manager refuses to accept what the peer has just given up in the same way as
 * a device does what it cannot.  But then its handler is about to say so, and needs no lock of
 * ours for that.
 */
static bool krdma_conn_is_given_up(struct krdma_conn *conn)
{
	return wait_event_timeout(conn->wait,
				  READ_ONCE(conn->state) >= KRDMA_CONN_CLOSING,
				  msecs_to_jiffies(KRDMA_GIVEN_UP_MS));
}

static int krdma_conn_accept_locked(struct krdma_conn *conn,
				    const struct krdma_conn_param *want)
{
	u8 message[KRDMA_PRIVATE_DATA_BUFFER];
	struct rdma_conn_param param;
	int ret;

	lockdep_assert_held(&conn->cm_lock);

	ret = conn->passive ? krdma_conn_advance(conn, KRDMA_INPUT_CREATE_QP, 0) : -EINVAL;
	if (ret)
		return ret;
	ret = krdma_conn_param_fill(conn, want, &param);
	if (ret)
		return ret;
	param.initiator_depth = krdma_read_depth_with(param.initiator_depth, conn->peer_serves);
	param.responder_resources = krdma_read_depth_with(param.responder_resources,
							  conn->peer_reads);
	ret = krdma_conn_param_data(conn, KRDMA_PRIVATE_DATA_REPLY, want, &param, message);
	if (ret)
		return ret;
	ret = krdma_conn_need_qp(conn);
	if (ret)
		return ret;

	krdma_conn_set_depths(conn, &param);
	ret = krdma_conn_advance(conn, KRDMA_INPUT_ACCEPT, 0);
	if (ret)
		return ret;
	rdma_lock_handler(conn->cm_id);
	ret = rdma_set_ack_timeout(conn->cm_id, krdma_conn_asked_timeout(conn)) ?:
	      rdma_set_min_rnr_timer(conn->cm_id, KRDMA_RNR_TIMER);
	if (!ret)
		ret = rdma_accept(conn->cm_id, &param);
	rdma_unlock_handler(conn->cm_id);
	if (ret == -EINVAL && krdma_conn_is_given_up(conn))
		return -ENOTCONN;
	if (ret) {
		ret = krdma_cm_error(ret);
		krdma_conn_advance(conn, KRDMA_INPUT_FATAL, ret);
	}
	return ret;
}

/**
 * krdma_conn_accept - take a connection that a peer has asked for
 * @conn: the connection, of krdma_listener_next()
 * @param: what is to be agreed; not looked at any more after the call.  Depths are
 *	lowered to what the peer can, see krdma_conn_query().
 *
 * The event ESTABLISHED comes when the peer has confirmed, or its first message
 * has come.  If several accept at a time, one wins.
 *
 * Context: process context; may sleep.
 * Return: 0; -EMSGSIZE: more private data than the transport takes; -EINVAL: more
 * than the device can, or nobody has asked for this connection; -EALREADY,
 * -EISCONN, -ENOTCONN: not in this state, such as accepted before, or given up by
 * the peer; an error of krdma_conn_create_qp().  The connection is as it was after
 * these; after another error, it is over.
 */
int krdma_conn_accept(struct krdma_conn *conn, const struct krdma_conn_param *param)
{
	int ret;

	mutex_lock(&conn->cm_lock);
	ret = krdma_conn_accept_locked(conn, param);
	mutex_unlock(&conn->cm_lock);

	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_accept, "KRDMA");

/**
 * krdma_conn_reject - refuse a connection that a peer has asked for
 * @conn: the connection, of krdma_listener_next()
 * @private_data: given to the peer
 * @private_data_len: its length
 *
 * The connection is over then, and still to be closed.  One that is closed, or
 * put, without having been accepted is rejected too, without data.
 *
 * Context: process context; may sleep.
 * Return: 0; -EMSGSIZE: more data than the transport takes, and nothing has
 * happened; -EINVAL: nobody has asked for this connection; -EALREADY, -EISCONN,
 * -ENOTCONN: not in this state.
 */
int krdma_conn_reject(struct krdma_conn *conn, const void *private_data, u8 private_data_len)
{
	u8 message[KRDMA_PRIVATE_DATA_BUFFER];
	u32 length;
	int ret;

	mutex_lock(&conn->cm_lock);
	if (!conn->passive) {
		ret = -EINVAL;
		goto out;
	}
	if (!conn->cm_id) {
		ret = -ENOTCONN;
		goto out;
	}
	ret = krdma_private_data_encode(KRDMA_PRIVATE_DATA_REJECT, krdma_cm_pads(conn->cm_id),
					false, private_data, private_data_len, message, &length);
	if (ret)
		goto out;
	ret = krdma_conn_advance(conn, KRDMA_INPUT_REJECT, 0);
	/* If it fails, the end of the id rejects, without data. */
	if (!ret)
		rdma_reject(conn->cm_id, message, length, IB_CM_REJ_CONSUMER_DEFINED);
out:
	mutex_unlock(&conn->cm_lock);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_reject, "KRDMA");

/*
 * The end
 */

/**
 * krdma_conn_disconnect - end a connection
 * @conn: the connection, connected
 *
 * Nothing can be posted any more, and what is under way is flushed: whoever wants
 * it done waits for its completions first.  The peer is told.  The events
 * DISCONNECTED and CLOSED follow; krdma_conn_wait() waits for them.
 *
 * Context: any but NMI.
 * Return: 0; -EALREADY: it was done before; -ENOTCONN: not in this state.
 */
int krdma_conn_disconnect(struct krdma_conn *conn)
{
	return krdma_conn_advance(conn, KRDMA_INPUT_DISCONNECT, 0);
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_disconnect, "KRDMA");

/**
 * krdma_conn_abort - end a connection at once
 * @conn: the connection, in any state
 *
 * Like krdma_conn_disconnect(), but without waiting for the peer's answer.  A
 * search or a request that is under way is given up, and a peer that waits for
 * krdma_conn_accept() is rejected.
 *
 * Context: any but NMI.
 */
void krdma_conn_abort(struct krdma_conn *conn)
{
	krdma_conn_advance(conn, KRDMA_INPUT_ABORT, 0);
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_abort, "KRDMA");

/**
 * krdma_conn_close - end a connection, and wait until nothing is left of it
 * @conn: the connection, in any state
 *
 * When this returns, the consumer has been told of everything and is not called
 * any more.  Any number of times, by any number of threads at a time; not from a
 * function of the connection's &struct krdma_conn_ops, which it would wait for.
 *
 * Context: process context; sleeps, uninterruptibly, until the peer has answered
 * or a second is over, and the device has given back all operations.  While a
 * connection is being established, iWARP providers may take their own time.
 */
void krdma_conn_close(struct krdma_conn *conn)
{
	int ret;

	might_sleep();

	ret = krdma_conn_advance(conn, KRDMA_INPUT_DISCONNECT, 0);
	if (ret && ret != -EALREADY)
		krdma_conn_abort(conn);

	/* To wait here for oneself would be for ever.  The end comes all the same. */
	if (WARN_ON_ONCE(current_work() == &conn->event_work))
		return;
	wait_for_completion(&conn->closed);
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_close, "KRDMA");

static bool krdma_conn_settled(struct krdma_conn *conn, int *error)
{
	unsigned long flags;
	bool settled;

	spin_lock_irqsave(&conn->state_lock, flags);
	switch (conn->state) {
	case KRDMA_CONN_NEW:
	case KRDMA_CONN_RESOLVED:
	case KRDMA_CONN_REQUESTED:
	case KRDMA_CONN_CONNECTED:
	case KRDMA_CONN_CLOSED:
		settled = true;
		break;
	default:
		settled = false;
		break;
	}
	*error = conn->error;
	spin_unlock_irqrestore(&conn->state_lock, flags);

	return settled;
}

/**
 * krdma_conn_wait - wait until what was begun is done
 * @conn: the connection
 * @timeout_ms: how long at most, in milliseconds; 0: not at all; KRDMA_FOREVER_MS:
 *	without limit
 *
 * Waits while the connection is on its way from one state to another: for the end
 * of krdma_conn_resolve(), krdma_conn_connect(), krdma_conn_accept() and
 * krdma_conn_disconnect(), and if one of them fails, until nothing is left.
 *
 * Context: process context; sleeps, until a signal.
 * Return: 0 if there is nothing to wait for: the connection is new, resolved,
 * requested or connected.  -ETIMEDOUT: it is on its way, and the time is over, or the
 * peer does not answer; -EINTR: a signal.  If it is closed, why:
 * -EHOSTUNREACH: there is no device, or no way, to the peer;
 * -ECONNREFUSED: rejected by the peer, or nobody listens there;
 * -EPIPE: the peer has said goodbye;
 * -ECONNRESET: ended by the peer without one, as far as the transport can tell, or
 * given up by it before it was connected;
 * -ENOTCONN: ended by krdma_conn_disconnect();
 * -ECONNABORTED: by krdma_conn_abort(), or rejected here;
 * -ENODEV: the device has been removed;
 * -EIO and others: it broke, or the call failed that returned the same.
 */
int krdma_conn_wait(struct krdma_conn *conn, u32 timeout_ms)
{
	int error = 0;
	long ret;

	ret = wait_event_interruptible_timeout(conn->wait, krdma_conn_settled(conn, &error),
					       krdma_timeout_jiffies(timeout_ms));
	if (ret < 0)
		return -EINTR;
	return ret ? error : -ETIMEDOUT;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_wait, "KRDMA");

/*
 * Questions
 */

/**
 * krdma_conn_context - what the consumer has given
 * @conn: the connection
 *
 * Context: any.
 * Return: the context of krdma_conn_create() or krdma_listener_next().
 */
void *krdma_conn_context(struct krdma_conn *conn)
{
	return conn->context;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_context, "KRDMA");

/**
 * krdma_conn_device - the device of a connection
 * @conn: the connection
 *
 * Context: any but NMI.
 * Return: the device, kept as long as @conn is, without a reference for the
 * caller; NULL before the event ADDRESS_RESOLVED.
 */
struct krdma_device *krdma_conn_device(struct krdma_conn *conn)
{
	struct krdma_device *dev;
	unsigned long flags;

	spin_lock_irqsave(&conn->state_lock, flags);
	dev = conn->dev;
	spin_unlock_irqrestore(&conn->state_lock, flags);

	return dev;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_device, "KRDMA");

/**
 * krdma_conn_lkey - the key for memory that the caller has mapped for DMA
 * @conn: the connection, prepared
 *
 * On devices without KRDMA_DEVICE_CAP_READ_LOCAL, no read goes to such memory: a region, or a
 * registration of krdma_frmr_get(), with KRDMA_ACCESS_REMOTE_WRITE does.
 *
 * Context: any.
 * Return: the key, for &struct krdma_sge.key; undefined before
 * krdma_conn_create_qp().
 */
u32 krdma_conn_lkey(struct krdma_conn *conn)
{
	return conn->lkey;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_lkey, "KRDMA");

/**
 * krdma_conn_query - how a connection is
 * @conn: the connection
 * @info: filled in
 *
 * Context: any but NMI.
 */
void krdma_conn_query(struct krdma_conn *conn, struct krdma_conn_info *info)
{
	struct krdma_qp *qp;
	unsigned long flags;

	memset(info, 0, sizeof(*info));

	spin_lock_irqsave(&conn->state_lock, flags);
	info->state = conn->state;
	info->error = conn->error;
	info->device_id = conn->dev ? krdma_device_id(conn->dev) : 0;
	info->read_depth = conn->read_depth;
	info->read_depth_in = conn->read_depth_in;
	info->path_mtu = conn->path_mtu;
	info->peer_is_krdma = conn->peer_is_krdma;
	qp = conn->qp;
	spin_unlock_irqrestore(&conn->state_lock, flags);

	if (qp)
		krdma_qp_query(qp, info);
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_query, "KRDMA");

/**
 * krdma_conn_private_data - what the peer has sent along
 * @conn: the connection
 * @buffer: filled in with as much as there is room for
 * @room: how much; KRDMA_PRIVATE_DATA_MAX is always enough
 *
 * The data of the request where it was accepted, those of the answer where the
 * request was made.
 *
 * Context: any but NMI.
 * Return: the length of all data, 0 if there are none, or none yet.
 */
int krdma_conn_private_data(struct krdma_conn *conn, void *buffer, u8 room)
{
	unsigned long flags;
	u8 length;

	spin_lock_irqsave(&conn->state_lock, flags);
	length = conn->peer_data_len;
	memcpy(buffer, conn->peer_data, min(length, room));
	spin_unlock_irqrestore(&conn->state_lock, flags);

	return length;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_private_data, "KRDMA");
