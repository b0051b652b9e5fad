/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The names of opcodes, states and events, for the module (core/names.c), its tracepoints (trace.h)
 * and libkrdma (tools/lib/names.c): hence the licence of the library.  Programs parse them, so a
 * name must never change.  The tests (kunit/names_cases.h) do not compile if an enumerator has
 * none.
 *
 *	NAME(value, name)
 *	LAST(value, name)	the last one of a list
 */
#ifndef _KRDMA_NAME_LIST_H
#define _KRDMA_NAME_LIST_H

/* &enum krdma_opcode */
#define KRDMA_OPCODE_NAMES(NAME, LAST) \
	NAME(KRDMA_OP_SEND, "send") \
	NAME(KRDMA_OP_SEND_IMM, "send with immediate") \
	NAME(KRDMA_OP_SEND_INVALIDATE, "send with invalidate") \
	NAME(KRDMA_OP_RECV, "receive") \
	NAME(KRDMA_OP_WRITE, "write") \
	NAME(KRDMA_OP_WRITE_IMM, "write with immediate") \
	NAME(KRDMA_OP_READ, "read") \
	NAME(KRDMA_OP_COMPARE_SWAP, "compare and swap") \
	NAME(KRDMA_OP_FETCH_ADD, "fetch and add") \
	NAME(KRDMA_OP_ATOMIC_WRITE, "atomic write") \
	NAME(KRDMA_OP_FLUSH, "flush") \
	LAST(KRDMA_OP_EVENT, "event")

/* &enum krdma_wc_status */
#define KRDMA_WC_STATUS_NAMES(NAME, LAST) \
	NAME(KRDMA_WC_SUCCESS, "success") \
	NAME(KRDMA_WC_LOC_LEN_ERR, "local length error") \
	NAME(KRDMA_WC_LOC_QP_OP_ERR, "local operation error") \
	NAME(KRDMA_WC_LOC_PROT_ERR, "local protection error") \
	NAME(KRDMA_WC_WR_FLUSH_ERR, "flushed") \
	NAME(KRDMA_WC_MW_BIND_ERR, "memory window error") \
	NAME(KRDMA_WC_BAD_RESP_ERR, "bad response") \
	NAME(KRDMA_WC_LOC_ACCESS_ERR, "local access error") \
	NAME(KRDMA_WC_REM_INV_REQ_ERR, "remote invalid request") \
	NAME(KRDMA_WC_REM_ACCESS_ERR, "remote access error") \
	NAME(KRDMA_WC_REM_OP_ERR, "remote operation error") \
	NAME(KRDMA_WC_RETRY_EXC_ERR, "retry exceeded") \
	NAME(KRDMA_WC_RNR_RETRY_EXC_ERR, "rnr retry exceeded") \
	LAST(KRDMA_WC_GENERAL_ERR, "other error")

/* &enum krdma_conn_state */
#define KRDMA_CONN_STATE_NAMES(NAME, LAST) \
	NAME(KRDMA_CONN_NEW, "new") \
	NAME(KRDMA_CONN_RESOLVING_ADDRESS, "resolving address") \
	NAME(KRDMA_CONN_RESOLVING_ROUTE, "resolving route") \
	NAME(KRDMA_CONN_RESOLVED, "resolved") \
	NAME(KRDMA_CONN_REQUESTED, "requested") \
	NAME(KRDMA_CONN_CONNECTING, "connecting") \
	NAME(KRDMA_CONN_ACCEPTING, "accepting") \
	NAME(KRDMA_CONN_CONNECTED, "connected") \
	NAME(KRDMA_CONN_DISCONNECTING, "disconnecting") \
	NAME(KRDMA_CONN_CLOSING, "closing") \
	LAST(KRDMA_CONN_CLOSED, "closed")

/* &enum krdma_event_type */
#define KRDMA_EVENT_NAMES(NAME, LAST) \
	NAME(KRDMA_EVENT_ADDR_RESOLVED, "address resolved") \
	NAME(KRDMA_EVENT_ADDR_ERROR, "address error") \
	NAME(KRDMA_EVENT_ROUTE_RESOLVED, "route resolved") \
	NAME(KRDMA_EVENT_ROUTE_ERROR, "route error") \
	NAME(KRDMA_EVENT_ESTABLISHED, "established") \
	NAME(KRDMA_EVENT_CONNECT_ERROR, "connect error") \
	NAME(KRDMA_EVENT_UNREACHABLE, "unreachable") \
	NAME(KRDMA_EVENT_REJECTED, "rejected") \
	NAME(KRDMA_EVENT_DISCONNECTED, "disconnected") \
	NAME(KRDMA_EVENT_LOST, "lost") \
	NAME(KRDMA_EVENT_DEVICE_REMOVAL, "device removed") \
	NAME(KRDMA_EVENT_ADDR_CHANGE, "address changed") \
	LAST(KRDMA_EVENT_CLOSED, "closed")

/* &enum krdma_device_event_type */
#define KRDMA_DEVICE_EVENT_NAMES(NAME, LAST) \
	NAME(KRDMA_DEVICE_EVENT_ADDED, "added") \
	NAME(KRDMA_DEVICE_EVENT_REMOVED, "removed") \
	NAME(KRDMA_DEVICE_EVENT_PORT_ACTIVE, "port active") \
	NAME(KRDMA_DEVICE_EVENT_PORT_ERROR, "port error") \
	NAME(KRDMA_DEVICE_EVENT_ADDRESS_CHANGED, "address changed") \
	NAME(KRDMA_DEVICE_EVENT_FATAL, "fatal error") \
	LAST(KRDMA_DEVICE_EVENT_MISSED, "events missed")

#endif /* _KRDMA_NAME_LIST_H */
