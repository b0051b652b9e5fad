/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints: /sys/kernel/tracing/events/krdma/.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM krdma

#if !defined(_KRDMA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _KRDMA_TRACE_H

#include <linux/krdma.h>
#include <linux/krdma_conn.h>
#include <linux/krdma_limit.h>
#include <linux/krdma_ring.h>
#include <linux/tracepoint.h>

#include "core/conn_input.h"
#include "core/name_list.h"

DECLARE_EVENT_CLASS(krdma_device_class,
		    TP_PROTO(u32 id, const char *name),
		    TP_ARGS(id, name),
		    TP_STRUCT__entry(__field(u32, id)
				     __array(char, name, KRDMA_NAME_MAX)),
		    TP_fast_assign(__entry->id = id;
				   strscpy_pad(__entry->name, name, KRDMA_NAME_MAX);),
		    TP_printk("id=%u name=%s", __entry->id, __entry->name)
);

/* A device was added: it can be found and used. */
DEFINE_EVENT(krdma_device_class, krdma_device_add,
	     TP_PROTO(u32 id, const char *name),
	     TP_ARGS(id, name)
);

/* A device was removed, and has no users any more. */
DEFINE_EVENT(krdma_device_class, krdma_device_remove,
	     TP_PROTO(u32 id, const char *name),
	     TP_ARGS(id, name)
);

/* As in core/name_list.h: the names of &enum krdma_conn_input. */
#define KRDMA_INPUT_NAMES(NAME, LAST) \
	NAME(KRDMA_INPUT_RESOLVE, "resolve") \
	NAME(KRDMA_INPUT_CREATE_QP, "create qp") \
	NAME(KRDMA_INPUT_CONNECT, "connect") \
	NAME(KRDMA_INPUT_ACCEPT, "accept") \
	NAME(KRDMA_INPUT_REJECT, "reject") \
	NAME(KRDMA_INPUT_DISCONNECT, "disconnect") \
	NAME(KRDMA_INPUT_ABORT, "abort") \
	NAME(KRDMA_INPUT_CM_ADDR_RESOLVED, "cm address resolved") \
	NAME(KRDMA_INPUT_CM_ADDR_ERROR, "cm address error") \
	NAME(KRDMA_INPUT_CM_ROUTE_RESOLVED, "cm route resolved") \
	NAME(KRDMA_INPUT_CM_ROUTE_ERROR, "cm route error") \
	NAME(KRDMA_INPUT_CM_CONNECT_REQUEST, "cm connect request") \
	NAME(KRDMA_INPUT_CM_CONNECT_RESPONSE, "cm connect response") \
	NAME(KRDMA_INPUT_CM_CONNECT_ERROR, "cm connect error") \
	NAME(KRDMA_INPUT_CM_UNREACHABLE, "cm unreachable") \
	NAME(KRDMA_INPUT_CM_REJECTED, "cm rejected") \
	NAME(KRDMA_INPUT_CM_ESTABLISHED, "cm established") \
	NAME(KRDMA_INPUT_CM_DISCONNECTED, "cm disconnected") \
	NAME(KRDMA_INPUT_CM_DEVICE_REMOVAL, "cm device removal") \
	NAME(KRDMA_INPUT_CM_ADDR_CHANGE, "cm address change") \
	NAME(KRDMA_INPUT_CM_TIMEWAIT_EXIT, "cm timewait exit") \
	NAME(KRDMA_INPUT_CM_OTHER, "cm other") \
	NAME(KRDMA_INPUT_TRAFFIC, "traffic") \
	NAME(KRDMA_INPUT_FATAL, "fatal") \
	NAME(KRDMA_INPUT_DEVICE_GONE, "device gone") \
	NAME(KRDMA_INPUT_UNANSWERED, "unanswered") \
	NAME(KRDMA_INPUT_GRACE_EXPIRED, "grace expired") \
	LAST(KRDMA_INPUT_TORN_DOWN, "torn down")

/* Trace tools know no enumerators: TRACE_DEFINE_ENUM() puts the values into the format. */
#define KRDMA_DEFINE(value, ...)	TRACE_DEFINE_ENUM(value);

KRDMA_CONN_STATE_NAMES(KRDMA_DEFINE, KRDMA_DEFINE)
KRDMA_INPUT_NAMES(KRDMA_DEFINE, KRDMA_DEFINE)
KRDMA_EVENT_NAMES(KRDMA_DEFINE, KRDMA_DEFINE)

#define KRDMA_SYMBOL(value, name)	{ value, name },
#define KRDMA_LAST_SYMBOL(value, name)	{ value, name }

#define krdma_show_state(x) \
	__print_symbolic(x, KRDMA_CONN_STATE_NAMES(KRDMA_SYMBOL, KRDMA_LAST_SYMBOL))

#define krdma_show_input(x) \
	__print_symbolic(x, KRDMA_INPUT_NAMES(KRDMA_SYMBOL, KRDMA_LAST_SYMBOL))

#define krdma_show_event(x) \
	__print_symbolic(x, KRDMA_EVENT_NAMES(KRDMA_SYMBOL, KRDMA_LAST_SYMBOL))

/* A connection's state machine has processed an input, with this result. */
TRACE_EVENT(krdma_conn_step,
	    TP_PROTO(const void *conn, u8 input, u8 from, u8 to, u8 event, int error),
	    TP_ARGS(conn, input, from, to, event, error),
	    TP_STRUCT__entry(__field(const void *, conn)
			     __field(u8, input)
			     __field(u8, from)
			     __field(u8, to)
			     __field(u8, event)
			     __field(int, error)),
	    TP_fast_assign(__entry->conn = conn;
			   __entry->input = input;
			   __entry->from = from;
			   __entry->to = to;
			   __entry->event = event;
			   __entry->error = error;),
	    TP_printk("conn=%p input=%s from=%s to=%s event=%s error=%d", __entry->conn,
		      krdma_show_input(__entry->input), krdma_show_state(__entry->from),
		      krdma_show_state(__entry->to),
		      __entry->event ? krdma_show_event(__entry->event) : "none",
		      __entry->error)
);

/* Whether a connection that asked for a lane is one, or a peer has opened one.  0: no trunk. */
TRACE_EVENT(krdma_conn_kind,
	    TP_PROTO(const void *conn, bool lane, u64 trunk),
	    TP_ARGS(conn, lane, trunk),
	    TP_STRUCT__entry(__field(const void *, conn)
			     __field(bool, lane)
			     __field(u64, trunk)),
	    TP_fast_assign(__entry->conn = conn;
			   __entry->lane = lane;
			   __entry->trunk = trunk;),
	    TP_printk("conn=%p kind=%s trunk=%llu", __entry->conn,
		      __entry->lane ? "lane" : "plain", __entry->trunk)
);

/* A trunk carries lanes from now on, or has ended, for this reason. */
TRACE_EVENT(krdma_trunk,
	    TP_PROTO(u64 trunk, bool passive, bool up, int error),
	    TP_ARGS(trunk, passive, up, error),
	    TP_STRUCT__entry(__field(u64, trunk)
			     __field(bool, passive)
			     __field(bool, up)
			     __field(int, error)),
	    TP_fast_assign(__entry->trunk = trunk;
			   __entry->passive = passive;
			   __entry->up = up;
			   __entry->error = error;),
	    TP_printk("trunk=%llu %s %s error=%d", __entry->trunk,
		      __entry->passive ? "passive" : "active",
		      __entry->up ? "up" : "ended", __entry->error)
);

#define krdma_show_request(x) \
	__print_symbolic(x, \
			 { KRDMA_INFO, "INFO" }, \
			 { KRDMA_DEVICE_QUERY, "DEVICE_QUERY" }, \
			 { KRDMA_PORT_QUERY, "PORT_QUERY" }, \
			 { KRDMA_DEVICE_FIND, "DEVICE_FIND" }, \
			 { KRDMA_DEVICE_NOTIFY, "DEVICE_NOTIFY" }, \
			 { KRDMA_LISTEN, "LISTEN" }, \
			 { KRDMA_CONN_CREATE, "CONN_CREATE" }, \
			 { KRDMA_RING_CREATE, "RING_CREATE" }, \
			 { KRDMA_SRQ_CREATE, "SRQ_CREATE" }, \
			 { KRDMA_MR_REGISTER, "MR_REGISTER" }, \
			 { KRDMA_MR_DEREGISTER, "MR_DEREGISTER" }, \
			 { KRDMA_MR_QUERY, "MR_QUERY" }, \
			 { KRDMA_MR_ADVISE, "MR_ADVISE" }, \
			 { KRDMA_LIMIT_QUERY, "LIMIT_QUERY" }, \
			 { KRDMA_CONNS_OPEN, "CONNS_OPEN" }, \
			 { KRDMA_CONNS_TAKE, "CONNS_TAKE" }, \
			 { KRDMA_CONNS_ACCEPT, "CONNS_ACCEPT" }, \
			 { KRDMA_CONNS_CLOSE, "CONNS_CLOSE" }, \
			 { KRDMA_CONNS_FD, "CONNS_FD" }, \
			 { KRDMA_MR_SET_NAME, "MR_SET_NAME" }, \
			 { KRDMA_LISTENER_QUERY, "LISTENER_QUERY" }, \
			 { KRDMA_LISTENER_NEXT, "LISTENER_NEXT" }, \
			 { KRDMA_CONN_RESOLVE, "CONN_RESOLVE" }, \
			 { KRDMA_CONN_CREATE_QP, "CONN_CREATE_QP" }, \
			 { KRDMA_CONN_CONNECT, "CONN_CONNECT" }, \
			 { KRDMA_CONN_ACCEPT, "CONN_ACCEPT" }, \
			 { KRDMA_CONN_REJECT, "CONN_REJECT" }, \
			 { KRDMA_CONN_DISCONNECT, "CONN_DISCONNECT" }, \
			 { KRDMA_CONN_WAIT, "CONN_WAIT" }, \
			 { KRDMA_CONN_QUERY, "CONN_QUERY" }, \
			 { KRDMA_CONN_FIND_MR, "CONN_FIND_MR" }, \
			 { KRDMA_RING_ENTER, "RING_ENTER" }, \
			 { KRDMA_RING_POST, "RING_POST" }, \
			 { KRDMA_RING_REAP, "RING_REAP" }, \
			 { KRDMA_RING_QUERY, "RING_QUERY" }, \
			 { KRDMA_RING_CONFINE, "RING_CONFINE" }, \
			 { KRDMA_SRQ_QUERY, "SRQ_QUERY" }, \
			 { KRDMA_SRQ_POST, "SRQ_POST" })

/* An ioctl has returned. */
TRACE_EVENT(krdma_ioctl,
	    TP_PROTO(unsigned int cmd, long ret),
	    TP_ARGS(cmd, ret),
	    TP_STRUCT__entry(__field(unsigned int, cmd)
			     __field(long, ret)),
	    TP_fast_assign(__entry->cmd = cmd;
			   __entry->ret = ret;),
	    TP_printk("cmd=%#x (%s) ret=%ld", __entry->cmd,
		      krdma_show_request(__entry->cmd),
		      __entry->ret)
);

#endif /* _KRDMA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace

#include <trace/define_trace.h>
