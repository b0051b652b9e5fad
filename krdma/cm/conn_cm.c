// SPDX-License-Identifier: GPL-2.0
/*
 * Handlers of the connection manager's events.
 *
 * The connection manager calls a handler with a lock of its own held, one at a time for an ID.
 * The handlers save the data of an event, pass the event to krdma_conn_advance(), and do nothing
 * else: actions that may sleep run from the connection's work item.  They return 0, because
 * anything else would destroy the ID behind the back of the work item.
 */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/in6.h>
#include <linux/minmax.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/ipv6.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "cm/conn.h"
#include "cm/conn_cm.h"
#include "core/link.h"
#include "cm/private_data.h"

/**
 * krdma_address_is_bound() - Check that a link-local address names its interface
 * @address: IPv4 or IPv6
 *
 * A link-local address is only valid on a link, and has to name it.
 *
 * Context: any.
 * Return: false if the address is link-local and names no interface.
 */
bool krdma_address_is_bound(const struct sockaddr *address)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;

	return address->sa_family != AF_INET6 || in6->sin6_scope_id ||
	       !(ipv6_addr_type(&in6->sin6_addr) & IPV6_ADDR_LINKLOCAL);
}

/**
 * krdma_cm_error() - Convert an errno of the connection manager
 * @error: the errno, negative
 *
 * The errno may come from a provider, which can return any value.
 *
 * Context: any.
 * Return: a negative errno with the same meaning as elsewhere in krdma.
 */
int krdma_cm_error(int error)
{
	switch (error) {
	case -EACCES:
	case -EADDRINUSE:
	case -EADDRNOTAVAIL:
	case -EAFNOSUPPORT:
	case -ECONNREFUSED:
	case -ECONNRESET:
	case -EHOSTUNREACH:
	case -ENOMEM:
	case -ETIMEDOUT:
		return error;
	/* From a security module, or a policy of the network stack. */
	case -EPERM:
		return -EACCES;
	/* From the network stack: no memory for the neighbour entry, or for a packet. */
	case -ENOBUFS:
		return -ENOMEM;
	/* Here -ENODEV means an address without a device or an interface, not a removed device. */
	case -ENODEV:
	case -ENETUNREACH:
		return -EHOSTUNREACH;
	case -EINTR:
	case -ERESTARTSYS:
		return -EINTR;
	default:
		return -EIO;
	}
}

/**
 * krdma_cm_pads() - Check whether private data arrives padded
 * @cm_id: the rdma_cm ID, bound to a device
 *
 * Context: any.
 * Return: true if the transport has messages of a fixed length.
 */
bool krdma_cm_pads(const struct rdma_cm_id *cm_id)
{
	return !rdma_protocol_iwarp(cm_id->device, cm_id->port_num);
}

static void krdma_conn_save_addresses(struct krdma_conn *conn, const struct rdma_cm_id *cm_id)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->state_lock, flags);
	memcpy(&conn->local, &cm_id->route.addr.src_addr, sizeof(conn->local));
	memcpy(&conn->remote, &cm_id->route.addr.dst_addr, sizeof(conn->remote));
	spin_unlock_irqrestore(&conn->state_lock, flags);
}

static void krdma_address_copy_out(struct sockaddr_storage *to, const struct sockaddr_in6 *from)
{
	memset(to, 0, sizeof(*to));
	memcpy(to, from, sizeof(*from));
}

/**
 * krdma_conn_addresses() - Get the addresses of both ends
 * @conn: the connection
 * @local: filled in with the local address and port, unless NULL
 * @remote: filled in with the peer's address and port, unless NULL
 *
 * The remote port of a lane from a peer is what the peer says, and is at least 1024.
 *
 * Context: any but NMI.
 * Return: 0, or -ENOTCONN: not known before the event ADDR_RESOLVED.
 */
int krdma_conn_addresses(struct krdma_conn *conn, struct sockaddr_storage *local,
			 struct sockaddr_storage *remote)
{
	unsigned long flags;
	int ret = -ENOTCONN;

	spin_lock_irqsave(&conn->state_lock, flags);
	if (conn->local.sin6_family) {
		if (local)
			krdma_address_copy_out(local, &conn->local);
		if (remote)
			krdma_address_copy_out(remote, &conn->remote);
		ret = 0;
	}
	spin_unlock_irqrestore(&conn->state_lock, flags);

	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_addresses, "KRDMA");

static void krdma_conn_save_mtu(struct krdma_conn *conn, const struct rdma_cm_id *cm_id)
{
	unsigned long flags;
	int mtu;

	if (!cm_id->route.path_rec)
		return;
	mtu = ib_mtu_enum_to_int(cm_id->route.path_rec->mtu);

	spin_lock_irqsave(&conn->state_lock, flags);
	conn->path_mtu = max(mtu, 0);
	spin_unlock_irqrestore(&conn->state_lock, flags);
}

/* Once: there is memory for them, which is given back if there are none, as mostly. */
static void krdma_conn_set_peer_data(struct krdma_conn *conn, const void *data, u8 length,
				     bool is_krdma)
{
	unsigned long flags;
	u8 *unused = NULL;

	spin_lock_irqsave(&conn->state_lock, flags);
	if (length)
		memcpy(conn->peer_data, data, length);
	else
		swap(conn->peer_data, unused);
	conn->peer_data_len = length;
	conn->peer_is_krdma = is_krdma;
	spin_unlock_irqrestore(&conn->state_lock, flags);
	kfree(unused);
}

static void krdma_conn_save_data(struct krdma_conn *conn, const struct rdma_cm_id *cm_id,
				 enum krdma_private_data_kind kind, const void *data, u8 length)
{
	bool is_krdma;

	length = krdma_private_data_decode(kind, krdma_cm_pads(cm_id), data, length, &is_krdma);
	krdma_conn_set_peer_data(conn, data, length, is_krdma);
}

/**
 * krdma_conn_save_answer() - Save the private data of an answer to a lower half
 * @conn: the connection, before the state that implies the answer
 * @data: the private data
 * @length: bytes of @data
 *
 * Context: any but NMI.
 */
void krdma_conn_save_answer(struct krdma_conn *conn, const void *data, u8 length)
{
	krdma_conn_set_peer_data(conn, data, length, true);
	WRITE_ONCE(conn->confirmed, true);
}

/**
 * krdma_conn_save_reject() - Save the reason of a reject of a lower half
 * @conn: the connection, before the state that implies the reject
 * @reason: the connection manager's code for it
 *
 * Context: any but NMI.
 */
void krdma_conn_save_reject(struct krdma_conn *conn, int reason)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->state_lock, flags);
	conn->reject_reason = reason;
	spin_unlock_irqrestore(&conn->state_lock, flags);
}

/**
 * krdma_conn_limit_depths() - Lower the depths to what the peer's answer allows
 * @conn: the connection
 * @read_depth: reads and atomics that the peer serves at a time
 * @read_depth_in: reads and atomics that the peer issues at a time
 *
 * Context: any but NMI.
 */
void krdma_conn_limit_depths(struct krdma_conn *conn, u8 read_depth, u8 read_depth_in)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->state_lock, flags);
	conn->read_depth = min(conn->read_depth, read_depth);
	conn->read_depth_in = min(conn->read_depth_in, read_depth_in);
	spin_unlock_irqrestore(&conn->state_lock, flags);
}

/*
 * Lowers the depths to what the peer's answer allows.  InfiniBand reports both depths from the
 * receiver's point of view.  iWARP providers report them the other way round in an answer, and 0
 * if they do not know them.
 */
static void krdma_conn_save_depths(struct krdma_conn *conn, const struct rdma_cm_id *cm_id,
				   const struct rdma_conn_param *param)
{
	u8 read_depth = param->initiator_depth;
	u8 read_depth_in = param->responder_resources;

	if (!krdma_cm_pads(cm_id)) {
		read_depth = param->responder_resources ?: U8_MAX;
		read_depth_in = param->initiator_depth ?: U8_MAX;
	}

	krdma_conn_limit_depths(conn, read_depth, read_depth_in);
}

/*
 * Sets the ACK timeout when the device is known.  On Ethernet, rdma_cm makes the path record from
 * it; on InfiniBand, a subnet manager knows the path.
 */
static int krdma_conn_set_ack_timeout(struct krdma_conn *conn, struct rdma_cm_id *cm_id)
{
	bool routed = conn->patient || cm_id->route.addr.dev_addr.network != RDMA_NETWORK_IB;
	u8 timeout = conn->plain->ack_timeout;

	if (!timeout && rdma_cap_ib_sa(cm_id->device, cm_id->port_num))
		return 0;
	return rdma_set_ack_timeout(cm_id, timeout ?: krdma_link_ack_timeout(routed));
}

/* On InfiniBand the path record contains a lifetime, which may be too short. */
static int krdma_conn_raise_ack_timeout(struct krdma_conn *conn, struct rdma_cm_id *cm_id)
{
	const struct sa_path_rec *path = cm_id->route.path_rec;

	if (conn->plain->ack_timeout ||
	    !rdma_cap_ib_sa(cm_id->device, cm_id->port_num) || !path ||
	    krdma_link_knows_timeout(path->packet_life_time))
		return 0;
	return rdma_set_ack_timeout(cm_id, KRDMA_ACK_TIMEOUT);
}

static void krdma_conn_route_resolved(struct krdma_conn *conn, struct rdma_cm_id *cm_id)
{
	int ret;

	krdma_conn_save_mtu(conn, cm_id);
	ret = krdma_conn_raise_ack_timeout(conn, cm_id);
	if (ret)
		krdma_conn_advance(conn, KRDMA_INPUT_FATAL, krdma_cm_error(ret));
	else if (conn->lower)
		conn->lower->ops->resolved(conn->lower);
	else
		krdma_conn_advance(conn, KRDMA_INPUT_CM_ROUTE_RESOLVED, 0);
}

/* The device must be set before the consumer gets the event. */
static void krdma_conn_address_resolved(struct krdma_conn *conn, struct rdma_cm_id *cm_id)
{
	int ret;

	ret = krdma_conn_take_device(conn, cm_id);
	if (ret) {
		krdma_conn_advance(conn, KRDMA_INPUT_FATAL, ret);
		return;
	}
	krdma_conn_save_addresses(conn, cm_id);
	krdma_conn_advance(conn, KRDMA_INPUT_CM_ADDR_RESOLVED, 0);
	if (READ_ONCE(conn->state) != KRDMA_CONN_RESOLVING_ROUTE)
		return;

	/*
	 * Without cm_lock, because the handlers' own lock is inside it.  The connection may have
	 * ended by now, but destroying the ID waits for this handler.
	 */
	ret = krdma_conn_set_ack_timeout(conn, cm_id) ?:
	      rdma_resolve_route(cm_id, conn->plain->timeout_ms);
	if (ret)
		krdma_conn_advance(conn, KRDMA_INPUT_FATAL, krdma_cm_error(ret));
}

static void krdma_conn_established(struct krdma_conn *conn, struct rdma_cm_id *cm_id,
				   const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *param = &event->param.conn;

	if (!conn->passive && !conn->replied) {
		WRITE_ONCE(conn->replied, true);
		krdma_conn_answered(conn);
		/* Only now is the local port of an iWARP connection known. */
		krdma_conn_save_addresses(conn, cm_id);
		krdma_conn_save_data(conn, cm_id, KRDMA_PRIVATE_DATA_REPLY, param->private_data,
				     param->private_data_len);
		krdma_conn_save_depths(conn, cm_id, param);
	}
	WRITE_ONCE(conn->confirmed, true);
	krdma_conn_advance(conn, KRDMA_INPUT_CM_ESTABLISHED, 0);
}

/*
 * The private data of a reject.  InfiniBand always delivers bytes, which are valid only if the
 * peer's consumer rejected.  iWARP delivers them only in that case, whatever the provider's code
 * for it is.
 */
static const void *krdma_cm_reject_data(struct rdma_cm_id *cm_id, struct rdma_cm_event *event,
					u8 *length)
{
	if (krdma_cm_pads(cm_id))
		return rdma_consumer_reject_data(cm_id, event, length);

	*length = event->param.conn.private_data_len;
	return event->param.conn.private_data;
}

static void krdma_conn_rejected(struct krdma_conn *conn, struct rdma_cm_id *cm_id,
				struct rdma_cm_event *event)
{
	unsigned long flags;
	const void *data;
	u8 length;

	if (!conn->replied) {
		WRITE_ONCE(conn->replied, true);
		spin_lock_irqsave(&conn->state_lock, flags);
		conn->reject_reason = event->status;
		spin_unlock_irqrestore(&conn->state_lock, flags);

		data = krdma_cm_reject_data(cm_id, event, &length);
		if (data && !conn->passive)
			krdma_conn_save_data(conn, cm_id, KRDMA_PRIVATE_DATA_REJECT, data, length);
	}
	krdma_conn_advance(conn, KRDMA_INPUT_CM_REJECTED, 0);
}

/* Newer kernels have events that older ones do not define. */
static enum krdma_conn_input krdma_cm_input(enum rdma_cm_event_type type)
{
	switch (type) {
	case RDMA_CM_EVENT_ADDR_ERROR:
		return KRDMA_INPUT_CM_ADDR_ERROR;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return KRDMA_INPUT_CM_ROUTE_ERROR;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return KRDMA_INPUT_CM_CONNECT_REQUEST;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		return KRDMA_INPUT_CM_CONNECT_RESPONSE;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		return KRDMA_INPUT_CM_CONNECT_ERROR;
	case RDMA_CM_EVENT_UNREACHABLE:
		return KRDMA_INPUT_CM_UNREACHABLE;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return KRDMA_INPUT_CM_DEVICE_REMOVAL;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		return KRDMA_INPUT_CM_ADDR_CHANGE;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return KRDMA_INPUT_CM_TIMEWAIT_EXIT;
	default:
		return KRDMA_INPUT_CM_OTHER;
	}
}

/*
 * InfiniBand's connection manager raises this event when it has received the peer's disconnect
 * request.  An iWARP provider raises it when the TCP connection has ended for any reason.
 */
static int krdma_cm_end_cause(const struct rdma_cm_id *cm_id, const struct rdma_cm_event *event)
{
	return event->status || !krdma_cm_pads(cm_id) ? -ECONNRESET : -EPIPE;
}

/**
 * krdma_conn_cm_handler() - Handle an event of the connection manager
 * @cm_id: the connection's rdma_cm ID
 * @event: the event
 *
 * Context: process context, with the ID's handler mutex held.
 * Return: 0: the ID stays.
 */
int krdma_conn_cm_handler(struct rdma_cm_id *cm_id, struct rdma_cm_event *event)
{
	struct krdma_conn *conn = cm_id->context;
	/* Memory reclaim may wait for the connection, see krdma_session_set_reclaim(). */
	unsigned int noio = memalloc_noio_save();

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		krdma_conn_address_resolved(conn, cm_id);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		krdma_conn_route_resolved(conn, cm_id);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		krdma_conn_established(conn, cm_id, event);
		break;
	case RDMA_CM_EVENT_REJECTED:
		krdma_conn_rejected(conn, cm_id, event);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		krdma_conn_advance(conn, KRDMA_INPUT_CM_DISCONNECTED,
				   krdma_cm_end_cause(cm_id, event));
		break;
	default:
		krdma_conn_advance(conn, krdma_cm_input(event->event), 0);
		break;
	}
	memalloc_noio_restore(noio);
	return 0;
}

/*
 * Saves the depths that the peer's request allows.  InfiniBand reports both from the receiver's
 * point of view, and a peer that reports 0 is given 1, like any other.  iWARP providers do not
 * agree on the point of view: the lower of the two is always correct, and 0 means that they do
 * not know.
 */
static void krdma_conn_save_peer_depths(struct krdma_conn *conn, const struct rdma_cm_id *cm_id,
					const struct rdma_conn_param *param)
{
	if (krdma_cm_pads(cm_id)) {
		conn->peer_serves = max_t(u8, param->initiator_depth, 1);
		conn->peer_reads = max_t(u8, param->responder_resources, 1);
	} else {
		conn->peer_serves = min(param->initiator_depth, param->responder_resources);
		conn->peer_reads = conn->peer_serves;
	}
}

/**
 * krdma_conn_from_request() - Make a connection of a connection request
 * @listener: the listener where the request arrived
 * @session: session of the listener
 * @cm_id: the rdma_cm ID of the connection, in its handler; owned by the connection if this
 *	succeeds
 * @event: the request
 *
 * The connection may already have ended when this returns, because the device is being removed.
 *
 * Context: process context, with the ID's handler mutex held; may sleep.
 * Return: the connection, with a reference for the listener, or an ERR_PTR.
 */
struct krdma_conn *krdma_conn_from_request(struct krdma_listener *listener,
					   struct krdma_session *session,
					   struct rdma_cm_id *cm_id,
					   const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *param = &event->param.conn;
	struct krdma_conn *conn;
	int ret;

	conn = krdma_conn_alloc(session, NULL, NULL, KRDMA_GFP_OTHERS);
	if (!conn)
		return ERR_PTR(-ENOMEM);
	conn->peer_data = kmalloc(KRDMA_PRIVATE_DATA_MAX, KRDMA_GFP_OTHERS);
	if (!conn->peer_data || krdma_conn_make_plain(conn, KRDMA_GFP_OTHERS)) {
		krdma_conn_put_sync(conn);
		return ERR_PTR(-ENOMEM);
	}

	conn->passive = true;
	conn->state = KRDMA_CONN_REQUESTED;
	conn->requested = jiffies;
	conn->listener = listener;
	conn->cm_id = cm_id;
	krdma_conn_save_addresses(conn, cm_id);
	krdma_conn_save_mtu(conn, cm_id);
	krdma_conn_save_data(conn, cm_id, KRDMA_PRIVATE_DATA_REQUEST, param->private_data,
			     param->private_data_len);
	krdma_conn_save_peer_depths(conn, cm_id, param);

	/* The connection's own reference.  The connection may end as soon as the device is set. */
	krdma_conn_get(conn);
	ret = krdma_conn_take_device(conn, cm_id);
	if (ret) {
		krdma_conn_put(conn);
		krdma_conn_put(conn);
		return ERR_PTR(ret);
	}
	cm_id->context = conn;
	cm_id->event_handler = krdma_conn_cm_handler;

	return conn;
}
