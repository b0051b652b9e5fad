// SPDX-License-Identifier: GPL-2.0
/* Names of opcodes, states and events.  Pure functions. */
#include "core/names.h"

#define NAME_COUNT(names)	(sizeof(names) / sizeof((names)[0]))

static const char *krdma_name_of(const char * const *names, size_t count, u32 value)
{
	return value < count && names[value] ? names[value] : "unknown";
}

static const char * const krdma_opcode_names[] = {
	[KRDMA_OP_SEND] = "send",
	[KRDMA_OP_SEND_IMM] = "send with immediate",
	[KRDMA_OP_SEND_INVALIDATE] = "send with invalidate",
	[KRDMA_OP_RECV] = "receive",
	[KRDMA_OP_WRITE] = "write",
	[KRDMA_OP_WRITE_IMM] = "write with immediate",
	[KRDMA_OP_READ] = "read",
	[KRDMA_OP_COMPARE_SWAP] = "compare and swap",
	[KRDMA_OP_FETCH_ADD] = "fetch and add",
	[KRDMA_OP_ATOMIC_WRITE] = "atomic write",
	[KRDMA_OP_FLUSH] = "flush",
	[KRDMA_OP_LOCAL_INV] = "invalidate",
	[KRDMA_OP_REG_MR] = "register",
	[KRDMA_OP_EVENT] = "event",
};

/**
 * krdma_opcode_name() - Get the name of an operation
 * @opcode: the operation; any number
 *
 * Context: any.
 * Return: a few lower-case words, "unknown" for an unknown number; never NULL.
 */
const char *krdma_opcode_name(enum krdma_opcode opcode)
{
	return krdma_name_of(krdma_opcode_names, NAME_COUNT(krdma_opcode_names), opcode);
}
EXPORT_SYMBOL_NS_GPL(krdma_opcode_name, "KRDMA");

static const char * const krdma_status_names[] = {
	[KRDMA_WC_SUCCESS] = "success",
	[KRDMA_WC_LOC_LEN_ERR] = "local length error",
	[KRDMA_WC_LOC_QP_OP_ERR] = "local operation error",
	[KRDMA_WC_LOC_PROT_ERR] = "local protection error",
	[KRDMA_WC_WR_FLUSH_ERR] = "flushed",
	[KRDMA_WC_MW_BIND_ERR] = "memory window error",
	[KRDMA_WC_BAD_RESP_ERR] = "bad response",
	[KRDMA_WC_LOC_ACCESS_ERR] = "local access error",
	[KRDMA_WC_REM_INV_REQ_ERR] = "remote invalid request",
	[KRDMA_WC_REM_ACCESS_ERR] = "remote access error",
	[KRDMA_WC_REM_OP_ERR] = "remote operation error",
	[KRDMA_WC_RETRY_EXC_ERR] = "retry exceeded",
	[KRDMA_WC_RNR_RETRY_EXC_ERR] = "rnr retry exceeded",
	[KRDMA_WC_GENERAL_ERR] = "other error",
};

/**
 * krdma_wc_status_name() - Get the name of a completion status
 * @status: the status; any number
 *
 * Context: any.
 * Return: a few lower-case words, "unknown" for an unknown number; never NULL.
 */
const char *krdma_wc_status_name(enum krdma_wc_status status)
{
	return krdma_name_of(krdma_status_names, NAME_COUNT(krdma_status_names), status);
}
EXPORT_SYMBOL_NS_GPL(krdma_wc_status_name, "KRDMA");

static const char * const krdma_conn_state_names[] = {
	[KRDMA_CONN_NEW] = "new",
	[KRDMA_CONN_RESOLVING_ADDRESS] = "resolving address",
	[KRDMA_CONN_RESOLVING_ROUTE] = "resolving route",
	[KRDMA_CONN_RESOLVED] = "resolved",
	[KRDMA_CONN_REQUESTED] = "requested",
	[KRDMA_CONN_CONNECTING] = "connecting",
	[KRDMA_CONN_ACCEPTING] = "accepting",
	[KRDMA_CONN_CONNECTED] = "connected",
	[KRDMA_CONN_DISCONNECTING] = "disconnecting",
	[KRDMA_CONN_CLOSING] = "closing",
	[KRDMA_CONN_CLOSED] = "closed",
};

/**
 * krdma_conn_state_name() - Get the name of a connection state
 * @state: the state; any number
 *
 * Context: any.
 * Return: a few lower-case words, "unknown" for an unknown number; never NULL.
 */
const char *krdma_conn_state_name(enum krdma_conn_state state)
{
	return krdma_name_of(krdma_conn_state_names, NAME_COUNT(krdma_conn_state_names), state);
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_state_name, "KRDMA");

static const char * const krdma_event_names[] = {
	[KRDMA_EVENT_ADDR_RESOLVED] = "address resolved",
	[KRDMA_EVENT_ADDR_ERROR] = "address error",
	[KRDMA_EVENT_ROUTE_RESOLVED] = "route resolved",
	[KRDMA_EVENT_ROUTE_ERROR] = "route error",
	[KRDMA_EVENT_ESTABLISHED] = "established",
	[KRDMA_EVENT_CONNECT_ERROR] = "connect error",
	[KRDMA_EVENT_UNREACHABLE] = "unreachable",
	[KRDMA_EVENT_REJECTED] = "rejected",
	[KRDMA_EVENT_DISCONNECTED] = "disconnected",
	[KRDMA_EVENT_LOST] = "lost",
	[KRDMA_EVENT_DEVICE_REMOVAL] = "device removed",
	[KRDMA_EVENT_ADDR_CHANGE] = "address changed",
	[KRDMA_EVENT_CLOSED] = "closed",
};

/**
 * krdma_event_name() - Get the name of a connection event
 * @type: the event; any number
 *
 * Context: any.
 * Return: a few lower-case words, "unknown" for an unknown number; never NULL.
 */
const char *krdma_event_name(enum krdma_event_type type)
{
	return krdma_name_of(krdma_event_names, NAME_COUNT(krdma_event_names), type);
}
EXPORT_SYMBOL_NS_GPL(krdma_event_name, "KRDMA");

static const char * const krdma_device_event_names[] = {
	[KRDMA_DEVICE_EVENT_ADDED] = "added",
	[KRDMA_DEVICE_EVENT_REMOVED] = "removed",
	[KRDMA_DEVICE_EVENT_PORT_ACTIVE] = "port active",
	[KRDMA_DEVICE_EVENT_PORT_ERROR] = "port error",
	[KRDMA_DEVICE_EVENT_ADDRESS_CHANGED] = "address changed",
	[KRDMA_DEVICE_EVENT_FATAL] = "fatal error",
	[KRDMA_DEVICE_EVENT_MISSED] = "events missed",
};

/**
 * krdma_device_event_name() - Get the name of a device event
 * @type: the event; any number
 *
 * Context: any.
 * Return: a few lower-case words, "unknown" for an unknown number; never NULL.
 */
const char *krdma_device_event_name(enum krdma_device_event_type type)
{
	return krdma_name_of(krdma_device_event_names, NAME_COUNT(krdma_device_event_names), type);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_device_event_name);
