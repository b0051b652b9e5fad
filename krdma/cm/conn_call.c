// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that the consumer of a connection calls.
 *
 * A call first asks the state, by krdma_conn_advance(), and then calls the connection manager,
 * both under cm_lock, so that the teardown comes after the call.
 */
#include <linux/errno.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <net/ipv6.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "cm/conn.h"
#include "cm/conn_cm.h"
#include "cm/conn_post.h"
#include "cm/conn_turn.h"
#include "core/cm_id.h"
#include "core/device.h"
#include "core/link.h"
#include "cm/private_data.h"
#include "io/qp.h"
#include "core/session.h"

/* For each of the two steps; rdma_cm has no default. */
#define KRDMA_CONN_TIMEOUT_MS	2000

#define KRDMA_ACK_TIMEOUT_MAX	31
/* The longest timeout that a peer can ask for: 4.3 s, so seven tries last a minute at most. */
#define KRDMA_ACK_TIMEOUT_ASKED	20

/*
 * 0.64 ms: when a message of the peer finds no receive posted, the peer sends it again after that
 * time.  The connection manager's default, 0, is the code for 655 ms.
 */
#define KRDMA_RNR_TIMER		12

/* Not 7, the maximum: rxe takes 7 as infinite, as every device does for rnr_retry_count. */
#define KRDMA_RETRY_COUNT	6
#define KRDMA_RNR_RETRY_COUNT	7
#define KRDMA_RETRY_MAX		7
#define KRDMA_READ_DEPTH	16

/* How long the handler may take to report what the connection manager already knows. */
#define KRDMA_GIVEN_UP_MS	1000

/*
 * Resolving address and route
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
	struct krdma_conn_plain *plain;
	struct sockaddr_storage local;
	struct rdma_cm_id *cm_id;
	int ret;

	lockdep_assert_held(&conn->cm_lock);

	ret = krdma_conn_make_plain(conn, GFP_KERNEL_ACCOUNT);
	if (ret)
		return ret;
	plain = conn->plain;
	plain->timeout_ms = route->timeout_ms ?: KRDMA_CONN_TIMEOUT_MS;
	plain->ack_timeout = route->ack_timeout;
	cm_id = rdma_create_id(conn->session->net, krdma_conn_cm_handler, conn, RDMA_PS_TCP,
			       IB_QPT_RC);
	if (IS_ERR(cm_id))
		return krdma_cm_error(PTR_ERR(cm_id));
	conn->cm_id = cm_id;

	if (route->tos)
		rdma_set_service_type(cm_id, route->tos);
	ret = rdma_set_min_rnr_timer(cm_id, KRDMA_RNR_TIMER);
	if (ret)
		return krdma_cm_error(ret);

	if (route->local)
		memcpy(&local, route->local, rdma_addr_size(route->local));
	ret = krdma_cm_id_resolve(cm_id, route->local ? (struct sockaddr *)&local : NULL,
				  route->remote, plain->timeout_ms);
	/* rdma_cm returns -ENODEV for an address that is not on an RDMA device. */
	if (ret == -ENODEV && route->local)
		return -EADDRNOTAVAIL;
	return ret ? krdma_cm_error(ret) : 0;
}

/* A call that the state refuses charges no port: only a new connection has none. */
static int krdma_conn_begin_resolve(struct krdma_conn *conn)
{
	int ret;

	lockdep_assert_held(&conn->cm_lock);

	ret = krdma_conn_call_refusal(READ_ONCE(conn->state), KRDMA_INPUT_RESOLVE);
	if (ret)
		return ret;
	ret = krdma_port_charge(&conn->port, conn->session);
	if (ret)
		return ret;
	/* The connection may have ended meanwhile. */
	ret = krdma_conn_advance(conn, KRDMA_INPUT_RESOLVE, 0);
	if (ret)
		krdma_port_uncharge(&conn->port);
	return ret;
}

/* Does the lower half know the way? */
static bool krdma_conn_is_known(struct krdma_conn *conn, const struct krdma_route *route)
{
	lockdep_assert_held(&conn->cm_lock);
	return conn->lower && conn->lower->ops->resolve(conn->lower, route);
}

/**
 * krdma_conn_resolve() - Resolve address and route of the peer
 * @conn: the connection
 * @route: addresses and options; not used after the call
 *
 * The call only starts the resolution.  The events ADDR_RESOLVED and ROUTE_RESOLVED report its
 * steps, other events its failure; krdma_conn_wait() waits for its end.
 *
 * Context: process context; may sleep.
 * Return: 0; -EINVAL or -EAFNOSUPPORT: @route is invalid, and nothing has happened; -EALREADY,
 * -EISCONN, -ENOTCONN: not possible in this state; -EINTR: a fatal signal; an errno of the charge,
 * such as -EDQUOT: no port is available, and nothing has happened.  After another error, such as
 * -EADDRNOTAVAIL (@route->local is not on an RDMA device, or a listener at all addresses has its
 * port), -EADDRINUSE or -EACCES (its port is used, or is privileged) or -ENOMEM, the connection has
 * ended.
 */
int krdma_conn_resolve(struct krdma_conn *conn, const struct krdma_route *route)
{
	int ret;

	ret = krdma_route_check(route);
	if (ret)
		return ret;

	if (mutex_lock_killable(&conn->cm_lock))
		return -EINTR;
	ret = krdma_conn_begin_resolve(conn);
	if (!ret && !krdma_conn_is_known(conn, route)) {
		ret = krdma_conn_start(conn, route);
		if (ret)
			krdma_conn_advance(conn, KRDMA_INPUT_FATAL, ret);
	}
	krdma_conn_unlock(conn);

	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_resolve, "KRDMA");

/*
 * The QP
 */

/*
 * Publishes the QP.  The connection may have ended meanwhile, without a QP to close; then the QP
 * must not be open.
 */
static void krdma_conn_set_qp(struct krdma_conn *conn, struct krdma_qp *qp)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->state_lock, flags);
	/* Pairs with the acquire of the functions that post: they read it without a lock. */
	smp_store_release(&conn->qp, qp);
	if (conn->state >= KRDMA_CONN_CLOSING)
		krdma_qp_close(qp);
	spin_unlock_irqrestore(&conn->state_lock, flags);
}

/*
 * Moves the connection to @session.  The PD of its QP belongs to @session, and holds no reference
 * to it.
 */
static void krdma_conn_join(struct krdma_conn *conn, struct krdma_session *session)
{
	struct krdma_session *old = conn->session;

	lockdep_assert_held(&conn->cm_lock);
	krdma_session_get(session);
	conn->session = session;
	krdma_conn_turn_join(conn);
	krdma_session_put(old);
}

/* A lane has queues without a QP.  The MRs that it uses are those of its PD. */
static int krdma_conn_create_lower(struct krdma_conn *conn, struct krdma_pd *pd,
				   const struct krdma_conn_attr *attr)
{
	int ret;

	lockdep_assert_held(&conn->cm_lock);

	conn->pd = pd;
	ret = conn->lower->ops->create(conn->lower, attr);
	if (ret) {
		conn->pd = NULL;
		krdma_pd_put(pd);
		return ret;
	}
	conn->lkey = pd->ib->local_dma_lkey;
	krdma_pd_keep(pd);
	if (attr->session)
		krdma_conn_join(conn, attr->session);
	return 0;
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
	if (conn->qp || conn->pd)
		return -EALREADY;

	if (attr->session && attr->session->net != conn->session->net)
		return -EXDEV;

	pd = krdma_pd_get(attr->session ?: conn->session, conn->dev);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	if (krdma_conn_uses_lower(conn))
		return krdma_conn_create_lower(conn, pd, attr);
	qp = krdma_qp_create(krdma_conn_own_qp(conn), conn->cm_id, pd, attr);
	if (IS_ERR(qp)) {
		krdma_pd_put(pd);
		return PTR_ERR(qp);
	}

	if (attr->session)
		krdma_conn_join(conn, attr->session);

	conn->pd = pd;
	conn->lkey = pd->ib->local_dma_lkey;
	krdma_conn_set_qp(conn, qp);
	krdma_pd_keep(pd);
	return 0;
}

/**
 * krdma_conn_create_qp() - Create the QP of a connection
 * @conn: the connection, resolved or requested
 * @attr: attributes of the queues
 *
 * Receives can be posted when this returns.  krdma_conn_connect() and krdma_conn_accept() create
 * the QP with a zeroed @attr if there is none.
 *
 * Context: process context; may sleep.
 * Return: 0; -EBUSY: not resolved yet; -EALREADY, -EISCONN, -ENOTCONN: not possible in this
 * state, or there is a QP; -EINVAL: beyond a limit of the device, or a CQ for receives together
 * with an SRQ, which has its own, or @attr->keepalive_ms is out of range; -EOPNOTSUPP: the device
 * does not support it; -EXDEV: an object of another device, or a session of another network
 * namespace;
 * -EINTR: a fatal signal; -ENOMEM; -ENODEV; -EIO: the device failed.  After an error the connection
 * is unchanged.
 */
int krdma_conn_create_qp(struct krdma_conn *conn, const struct krdma_conn_attr *attr)
{
	int ret;

	if (mutex_lock_killable(&conn->cm_lock))
		return -EINTR;
	ret = krdma_conn_create_qp_locked(conn, attr);
	krdma_conn_unlock(conn);

	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_create_qp, "KRDMA");

static int krdma_conn_need_qp(struct krdma_conn *conn)
{
	static const struct krdma_conn_attr defaults;

	lockdep_assert_held(&conn->cm_lock);
	return conn->pd ? 0 : krdma_conn_create_qp_locked(conn, &defaults);
}

/*
 * Connection parameters
 */

/*
 * Never 0, as @limit is not 0: the connection manager enables reads and atomics of a peer only if
 * at least one may be in flight, and a flush of the peer is a read.
 */
static int krdma_read_depth(u32 wanted, u32 limit, u8 *depth)
{
	if (wanted > limit)
		return -EINVAL;
	*depth = wanted ?: min_t(u32, limit, KRDMA_READ_DEPTH);
	return 0;
}

/* Converts the consumer's parameters to those of the connection manager, without private data. */
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

/* A lane carries the private data that a connection over its transport can carry. */
static int krdma_conn_check_lower(struct krdma_conn *conn, enum krdma_private_data_kind kind,
				  const void *data, u8 length)
{
	if (length && !data)
		return -EINVAL;
	return length > krdma_private_data_max(kind, conn->lower->pads) ? -EMSGSIZE : 0;
}

/* @message has KRDMA_PRIVATE_DATA_BUFFER bytes; @param points to it afterwards. */
static int krdma_conn_param_data(struct krdma_conn *conn, enum krdma_private_data_kind kind,
				 const struct krdma_conn_param *want,
				 struct rdma_conn_param *param, u8 *message)
{
	u32 length;
	int ret;

	if (krdma_conn_uses_lower(conn))
		return krdma_conn_check_lower(conn, kind, want->private_data,
					      want->private_data_len);
	ret = krdma_private_data_encode(kind, krdma_cm_pads(conn->cm_id), want->plain,
					want->private_data, want->private_data_len, message,
					&length);
	if (ret)
		return ret;
	param->private_data = message;
	param->private_data_len = length;
	return 0;
}

/* From now on the device waits for the peer, and on iWARP also the end of the connection does. */
static void krdma_conn_ask(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->cm_lock);
	if (!krdma_conn_uses_lower(conn))
		WRITE_ONCE(conn->asked, !krdma_cm_pads(conn->cm_id));
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

/*
 * Ends a connection that the connection manager could not ask for, or accept.  Returns what the
 * caller gets, which is the cause of the end, too: a call that a signal has interrupted cannot be
 * repeated, because there is no connection any more.
 */
static int krdma_conn_fail(struct krdma_conn *conn, int error)
{
	error = krdma_cm_error(error);
	if (error == -EINTR)
		error = -ECONNABORTED;
	krdma_conn_advance(conn, KRDMA_INPUT_FATAL, error);
	return error;
}

/* The answer may come where nothing can be allocated. */
static int krdma_conn_expect_data(struct krdma_conn *conn)
{
	if (!conn->peer_data)
		conn->peer_data = kmalloc(KRDMA_PRIVATE_DATA_MAX, GFP_KERNEL_ACCOUNT);
	return conn->peer_data ? 0 : -ENOMEM;
}

static int krdma_conn_connect_locked(struct krdma_conn *conn,
				     const struct krdma_conn_param *want, bool more)
{
	u8 message[KRDMA_PRIVATE_DATA_BUFFER];
	struct rdma_conn_param param;
	int ret;

	lockdep_assert_held(&conn->cm_lock);

	/* Everything that can be refused comes first: a later failure ends the connection. */
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
	ret = krdma_conn_need_qp(conn) ?: krdma_conn_expect_data(conn);
	if (ret)
		return ret;

	krdma_conn_set_depths(conn, &param);
	krdma_conn_ask(conn);
	ret = krdma_conn_advance(conn, KRDMA_INPUT_CONNECT, 0);
	if (ret)
		return ret;
	if (krdma_conn_uses_lower(conn)) {
		ret = conn->lower->ops->connect(conn->lower, want, more);
	} else {
		ret = rdma_connect(conn->cm_id, &param);
		if (!ret)
			krdma_conn_await_answer(conn);
	}
	return ret ? krdma_conn_fail(conn, ret) : 0;
}

/**
 * krdma_conn_connect() - Send a connection request to the peer
 * @conn: the connection, resolved
 * @param: connection parameters; not used after the call
 *
 * The call only sends the request.  The answer is an event: ESTABLISHED, REJECTED, UNREACHABLE or
 * CONNECT_ERROR; krdma_conn_wait() waits for it.  Without an answer it is UNREACHABLE, after 90
 * seconds at most.  Some iWARP devices set up the TCP connection inside the call.
 *
 * On a lane, with &struct krdma_conn_param.early, send work requests can be posted when this has
 * returned.  If the first one is a message of at most 992 bytes, it goes with the request, and the
 * peer receives it when it has accepted.  What follows, and a longer message, goes then.  A message
 * completes when the peer has accepted; a consumer with an event callback may get the completion
 * before the event ESTABLISHED.  If the peer does not accept, all are flushed.
 *
 * Context: process context; may sleep.
 * Return: 0; -EMSGSIZE: more private data than the transport carries; -EINVAL: beyond a limit of
 * the device, or a connection that is to be accepted; -EBUSY: not resolved yet; -EALREADY,
 * -EISCONN, -ENOTCONN: not possible in this state; -EINTR: a fatal signal; an error of
 * krdma_conn_create_qp().  The connection is unchanged after these; after another error, such as
 * -ECONNREFUSED, or -ECONNABORTED for a signal while TCP was being connected, it has ended.
 */
int krdma_conn_connect(struct krdma_conn *conn, const struct krdma_conn_param *param)
{
	int ret;

	if (mutex_lock_killable(&conn->cm_lock))
		return -EINTR;
	ret = krdma_conn_connect_locked(conn, param, false);
	krdma_conn_unlock(conn);

	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_connect, "KRDMA");

/* At most what the peer serves or issues, if it has reported that. */
static u8 krdma_read_depth_with(u8 depth, u8 of_peer)
{
	return of_peer ? min(depth, of_peer) : depth;
}

/*
 * The connecting side chooses the ACK timeout for both sides, because it knows the path.  But a
 * peer must not make this side wait forever (code 0), or flood the network.
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
 * If the peer has just given up, rdma_accept() fails with the same errno as for parameters that
 * the device refuses.  But then the connection manager's handler is about to report that, and
 * needs no lock that is held here.
 */
static bool krdma_conn_is_given_up(struct krdma_conn *conn)
{
	return wait_event_timeout(conn->wait,
				  READ_ONCE(conn->state) >= KRDMA_CONN_CLOSING,
				  msecs_to_jiffies(KRDMA_GIVEN_UP_MS));
}

static int krdma_conn_accept_locked(struct krdma_conn *conn,
				    const struct krdma_conn_param *want, bool more)
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
	krdma_conn_ask(conn);
	ret = krdma_conn_advance(conn, KRDMA_INPUT_ACCEPT, 0);
	if (ret)
		return ret;
	if (krdma_conn_uses_lower(conn)) {
		WRITE_ONCE(conn->confirmed, true);
		ret = conn->lower->ops->accept(conn->lower, want->private_data,
					       want->private_data_len, more);
		return ret && ret != -ENOTCONN ? krdma_conn_fail(conn, ret) : ret;
	}
	rdma_lock_handler(conn->cm_id);
	ret = rdma_set_ack_timeout(conn->cm_id, krdma_conn_asked_timeout(conn)) ?:
	      rdma_set_min_rnr_timer(conn->cm_id, KRDMA_RNR_TIMER);
	if (!ret)
		ret = rdma_accept(conn->cm_id, &param);
	rdma_unlock_handler(conn->cm_id);
	if (ret == -EINVAL && krdma_conn_is_given_up(conn))
		return -ENOTCONN;
	return ret ? krdma_conn_fail(conn, ret) : 0;
}

/**
 * krdma_conn_accept() - Accept a connection request of a peer
 * @conn: the connection, from krdma_listener_next()
 * @param: connection parameters; not used after the call.  Depths are lowered to what the peer
 *	supports, see krdma_conn_query().
 *
 * The event ESTABLISHED comes when the peer has confirmed, or when its first message has arrived.
 * If several threads accept at the same time, one succeeds.
 *
 * Context: process context; may sleep.
 * Return: 0; -EMSGSIZE: more private data than the transport carries; -EINVAL: beyond a limit of
 * the device, or no peer has asked for this connection; -EALREADY, -EISCONN, -ENOTCONN: not
 * possible in this state, for example accepted before, or given up by the peer; -EINTR: a fatal
 * signal; an error of krdma_conn_create_qp().  The connection is unchanged after these; after
 * another error, it has ended.
 */
int krdma_conn_accept(struct krdma_conn *conn, const struct krdma_conn_param *param)
{
	int ret;

	if (mutex_lock_killable(&conn->cm_lock))
		return -EINTR;
	ret = krdma_conn_accept_locked(conn, param, false);
	krdma_conn_unlock(conn);

	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_accept, "KRDMA");

/*
 * Many at a time
 */

static void krdma_conn_send_lower(struct krdma_conn *conn)
{
	if (krdma_conn_uses_lower(conn))
		conn->lower->ops->send(conn->lower);
}

/* Has the lower halves send what they have left for this. */
static unsigned int krdma_conn_send_many(struct krdma_conn_many *many, unsigned int count)
{
	unsigned int done = 0;

	for (unsigned int i = 0; i < count; i++) {
		if (many[i].error)
			continue;
		krdma_conn_send_lower(many[i].conn);
		done++;
	}
	return done;
}

/**
 * krdma_conn_connect_many() - Send the connection requests of many connections
 * @many: the connections, which may be lanes or not, and their parameters; @many->error is filled
 *	in with what krdma_conn_connect() would return
 * @count: number of connections
 *
 * Requests of lanes of one trunk go together, as many in a message of the trunk as fit.
 *
 * Context: process context; may sleep.
 * Return: the number of connections whose request is sent.
 */
unsigned int krdma_conn_connect_many(struct krdma_conn_many *many, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		struct krdma_conn *conn = many[i].conn;

		many[i].error = -EINTR;
		if (mutex_lock_killable(&conn->cm_lock))
			continue;
		many[i].error = krdma_conn_connect_locked(conn, &many[i].param, true);
		krdma_conn_unlock(conn);
	}
	return krdma_conn_send_many(many, count);
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_connect_many, "KRDMA");

/**
 * krdma_conn_accept_many() - Accept many connection requests
 * @many: the connections, from krdma_listener_next(), and their parameters; @many->error is filled
 *	in with what krdma_conn_accept() would return
 * @count: number of connections
 *
 * Answers to lanes of one trunk go together, as many in a message of the trunk as fit.
 *
 * Context: process context; may sleep.
 * Return: the number of connections that are accepted.
 */
unsigned int krdma_conn_accept_many(struct krdma_conn_many *many, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		struct krdma_conn *conn = many[i].conn;

		many[i].error = -EINTR;
		if (mutex_lock_killable(&conn->cm_lock))
			continue;
		many[i].error = krdma_conn_accept_locked(conn, &many[i].param, true);
		krdma_conn_unlock(conn);
	}
	return krdma_conn_send_many(many, count);
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_accept_many, "KRDMA");

/*
 * Rejecting
 */

/* The lower half has the data before the connection ends, which sends them. */
static int krdma_conn_reject_lower(struct krdma_conn *conn, const void *data, u8 length)
{
	lockdep_assert_held(&conn->cm_lock);

	if (READ_ONCE(conn->state) == KRDMA_CONN_REQUESTED)
		conn->lower->ops->reject(conn->lower, data, length);
	return krdma_conn_advance(conn, KRDMA_INPUT_REJECT, 0);
}

/**
 * krdma_conn_reject() - Reject a connection request of a peer
 * @conn: the connection, from krdma_listener_next()
 * @private_data: private data for the peer
 * @private_data_len: bytes of @private_data
 *
 * The connection has ended then, and must still be closed.  A connection that is closed without
 * having been accepted is rejected too, without data.
 *
 * Context: process context; may sleep.
 * Return: 0; -EMSGSIZE: more data than the transport carries, and nothing has happened; -EINVAL:
 * no peer has asked for this connection; -EALREADY, -EISCONN, -ENOTCONN: not possible in this
 * state; -EINTR: a fatal signal.
 */
int krdma_conn_reject(struct krdma_conn *conn, const void *private_data, u8 private_data_len)
{
	u8 message[KRDMA_PRIVATE_DATA_BUFFER];
	u32 length;
	int ret;

	if (mutex_lock_killable(&conn->cm_lock))
		return -EINTR;
	if (!conn->passive) {
		ret = -EINVAL;
		goto out;
	}
	if (krdma_conn_uses_lower(conn)) {
		ret = krdma_conn_check_lower(conn, KRDMA_PRIVATE_DATA_REJECT, private_data,
					     private_data_len) ?:
		      krdma_conn_reject_lower(conn, private_data, private_data_len);
		goto out;
	}
	if (!krdma_conn_cm_id(conn)) {
		ret = -ENOTCONN;
		goto out;
	}
	ret = krdma_private_data_encode(KRDMA_PRIVATE_DATA_REJECT, krdma_cm_pads(conn->cm_id),
					false, private_data, private_data_len, message, &length);
	if (ret)
		goto out;
	ret = krdma_conn_advance(conn, KRDMA_INPUT_REJECT, 0);
	/* If this fails, destroying the ID rejects, without data. */
	if (!ret)
		rdma_reject(conn->cm_id, message, length, IB_CM_REJ_CONSUMER_DEFINED);
out:
	krdma_conn_unlock(conn);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_reject, "KRDMA");

/*
 * The end
 */

/**
 * krdma_conn_disconnect() - Disconnect from the peer
 * @conn: the connection, connected
 *
 * Nothing can be posted any more, and work requests in flight are flushed: wait for their
 * completions first if they have to succeed.  The peer gets a disconnect.  The events
 * DISCONNECTED and CLOSED follow; krdma_conn_wait() waits for them.
 *
 * Context: any but NMI.
 * Return: 0; -EALREADY: disconnected before; -ENOTCONN: not possible in this state.
 */
int krdma_conn_disconnect(struct krdma_conn *conn)
{
	return krdma_conn_advance(conn, KRDMA_INPUT_DISCONNECT, 0);
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_disconnect, "KRDMA");

/**
 * krdma_conn_abort() - End a connection at once
 * @conn: the connection, in any state
 *
 * Like krdma_conn_disconnect(), but without waiting for the peer's answer.  A resolution or a
 * connection request in progress is given up, and a peer that waits for krdma_conn_accept() is
 * rejected.
 *
 * Context: any but NMI.
 */
void krdma_conn_abort(struct krdma_conn *conn)
{
	krdma_conn_advance(conn, KRDMA_INPUT_ABORT, 0);
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_abort, "KRDMA");

/* A callback that waits for itself would wait forever.  The connection ends nevertheless. */
static void krdma_conn_await_end(struct krdma_conn *conn)
{
	if (WARN_ON_ONCE(current_work() == &conn->event_work))
		return;
	/* Pairs with krdma_conn_closed(). */
	wait_event(conn->wait, smp_load_acquire(&conn->closed));
}

/**
 * krdma_conn_close() - End a connection, and wait until its end is complete
 * @conn: the connection, in any state
 *
 * When this returns, the consumer has got all events and is not called any more.  Any number of
 * threads may call it, any number of times; but not from a callback of the connection's &struct
 * krdma_conn_ops, for which it would wait.
 *
 * Context: process context; sleeps, uninterruptibly, until the peer has answered or a second has
 * passed, and the device has returned all work requests: of a lane, after some five seconds at
 * most.  While a connection is being established, iWARP providers may take longer.
 */
void krdma_conn_close(struct krdma_conn *conn)
{
	might_sleep();

	krdma_conn_end(conn);
	krdma_conn_await_end(conn);
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_close, "KRDMA");

/**
 * krdma_conn_end_many() - End many connections, without waiting for their peers
 * @conns: the connections, in any state; entries may be NULL
 * @count: number of connections
 *
 * Like krdma_conn_end() of each.  The ends of lanes of one trunk go together, as many in a message
 * of the trunk as fit.
 *
 * Context: process context; may sleep.
 */
void krdma_conn_end_many(struct krdma_conn *const *conns, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		if (!conns[i])
			continue;
		WRITE_ONCE(conns[i]->ends_with_others, true);
		krdma_conn_end(conns[i]);
	}
	for (unsigned int i = 0; i < count; i++) {
		if (conns[i])
			krdma_conn_send_lower(conns[i]);
	}
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_end_many, "KRDMA");

/**
 * krdma_conn_find_mr() - Find an MR of the peer by its name
 * @conn: the connection, a lane, and connected
 * @name: the name, 1 to 63 bytes
 * @offset: a byte of the MR, counted from its first one
 * @found: filled in on success
 * @timeout_ms: timeout in milliseconds; 0: the peer is not asked; KRDMA_FOREVER_MS: no limit
 *
 * The peer has named the MR by krdma_mr_set_name(), or its program has, in the session of its end
 * of the lane.  The peer's kernel answers.  If the MR has several rkeys, the next one begins
 * &struct krdma_found_mr.reach bytes behind @offset.
 *
 * The answer describes the MR at the moment of the question.  Its rkey may be refused when it is
 * used, as any rkey.
 *
 * Context: process context; sleeps, until a signal.
 * Return: 0, or
 * -ENOENT: no MR has the name;
 * -ERANGE: the MR ends before @offset;
 * -EINVAL: no such name is possible;
 * -EPROTONOSUPPORT: the connection is not a lane;
 * -ENOTCONN: it is not connected, or has ended meanwhile;
 * -EAGAIN: the peer has no memory for the answer now;
 * -ETIMEDOUT: the timeout has expired; -EINTR: a signal.
 */
int krdma_conn_find_mr(struct krdma_conn *conn, const char *name, u64 offset,
		       struct krdma_found_mr *found, u32 timeout_ms)
{
	size_t length = strnlen(name, KRDMA_NAME_MAX);

	might_sleep();

	if (!length || length == KRDMA_NAME_MAX)
		return -EINVAL;
	if (READ_ONCE(conn->state) != KRDMA_CONN_CONNECTED)
		return -ENOTCONN;
	if (!krdma_conn_uses_lower(conn))
		return -EPROTONOSUPPORT;
	if (!timeout_ms)
		return -ETIMEDOUT;
	return conn->lower->ops->find_mr(conn->lower, name, offset, found, timeout_ms);
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_find_mr, "KRDMA");

static bool krdma_conn_settled(struct krdma_conn *conn, int *error)
{
	unsigned long flags;
	bool settled;

	spin_lock_irqsave(&conn->state_lock, flags);
	settled = krdma_conn_is_settled(conn->state);
	*error = conn->error;
	spin_unlock_irqrestore(&conn->state_lock, flags);

	return settled;
}

/**
 * krdma_conn_wait() - Wait until the current transition of a connection is complete
 * @conn: the connection
 * @timeout_ms: timeout in milliseconds; 0: do not wait; KRDMA_FOREVER_MS: no limit
 *
 * Waits while the connection changes from one stable state to another: for the end of
 * krdma_conn_resolve(), krdma_conn_connect(), krdma_conn_accept() and krdma_conn_disconnect(),
 * and if one of them fails, until the connection is closed.
 *
 * Context: process context; sleeps, until a signal.
 * Return: 0 if there is nothing to wait for: the connection is new, resolved, requested or
 * connected.  -ETIMEDOUT: the timeout has expired, or the peer does not answer; -EINTR: a signal.
 * If the connection is closed, the reason:
 * -EHOSTUNREACH: there is no device, or no route, to the peer;
 * -ECONNREFUSED: rejected by the peer, or there is no listener;
 * -EPIPE: the peer has disconnected;
 * -ECONNRESET: ended by the peer without a disconnect, as far as the transport can tell, or given
 * up by the peer before it was connected;
 * -ENOTCONN: ended by krdma_conn_disconnect();
 * -ECONNABORTED: ended by krdma_conn_abort(), or rejected here;
 * -ENODEV: the device has been removed;
 * -EIO and others: the connection failed, or the call failed that returned the same errno.
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
 * Queries
 */

/**
 * krdma_conn_context() - Get the consumer's context of a connection
 * @conn: the connection
 *
 * Context: any.
 * Return: the context that was given to krdma_conn_create() or krdma_listener_next().
 */
void *krdma_conn_context(struct krdma_conn *conn)
{
	return conn->context;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_context, "KRDMA");

/**
 * krdma_conn_device() - Get the device of a connection
 * @conn: the connection
 *
 * Context: any but NMI.
 * Return: the device, valid as long as @conn is, without a reference for the caller; NULL before
 * the event ADDR_RESOLVED.
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
 * krdma_conn_lkey() - Get the lkey for memory that the caller has mapped for DMA
 * @conn: the connection, with a QP
 *
 * On devices without KRDMA_DEVICE_CAP_READ_LOCAL, a read cannot fill such memory: it needs an MR
 * with KRDMA_ACCESS_REMOTE_WRITE.
 *
 * Context: any.
 * Return: the lkey, for &struct krdma_sge.key; undefined before krdma_conn_create_qp().
 */
u32 krdma_conn_lkey(struct krdma_conn *conn)
{
	return conn->lkey;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_lkey, "KRDMA");

/**
 * krdma_conn_query() - Query state, parameters and counters of a connection
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
	info->settled = krdma_conn_is_settled(conn->state);
	info->open = conn->state == KRDMA_CONN_CONNECTED;
	info->device_id = conn->dev ? krdma_device_id(conn->dev) : 0;
	info->read_depth = conn->read_depth;
	info->read_depth_in = conn->read_depth_in;
	info->path_mtu = conn->path_mtu;
	info->peer_is_krdma = conn->peer_is_krdma;
	info->events = conn->event_count;
	if (conn->state == KRDMA_CONN_REQUESTED)
		info->request_age_ms = jiffies_to_msecs(jiffies - conn->requested);
	qp = conn->qp;
	spin_unlock_irqrestore(&conn->state_lock, flags);

	if (qp)
		krdma_qp_query(qp, info);
	else if (krdma_conn_uses_lower(conn))
		conn->lower->ops->query(conn->lower, info);
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_query, "KRDMA");

/**
 * krdma_conn_private_data() - Get the private data of the peer
 * @conn: the connection
 * @buffer: filled in with as many bytes as fit
 * @size: size of @buffer in bytes; KRDMA_PRIVATE_DATA_MAX is always enough
 *
 * The accepting side gets the data of the connection request, the connecting side those of the
 * answer.
 *
 * Context: any but NMI.
 * Return: the length of all data, 0 if there are none, or none yet.
 */
int krdma_conn_private_data(struct krdma_conn *conn, void *buffer, u8 size)
{
	unsigned long flags;
	u8 length;

	spin_lock_irqsave(&conn->state_lock, flags);
	length = conn->peer_data_len;
	if (length)
		memcpy(buffer, conn->peer_data, min(length, size));
	spin_unlock_irqrestore(&conn->state_lock, flags);

	return length;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_private_data, "KRDMA");
