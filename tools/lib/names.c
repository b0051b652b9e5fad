// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The names of values. Programs parse them, so a name must never change.
 */
#include <string.h>

#include "internal.h"

#define UNKNOWN "unknown"

KRDMA_PUBLIC const char *krdma_transport_name(uint32_t transport)
{
	switch (transport) {
	case KRDMA_TRANSPORT_OTHER:
		return "other";
	case KRDMA_TRANSPORT_IB:
		return "ib";
	case KRDMA_TRANSPORT_IWARP:
		return "iwarp";
	default:
		return UNKNOWN;
	}
}

KRDMA_PUBLIC const char *krdma_port_state_name(uint32_t state)
{
	switch (state) {
	case KRDMA_PORT_DOWN:
		return "down";
	case KRDMA_PORT_INIT:
		return "init";
	case KRDMA_PORT_ARMED:
		return "armed";
	case KRDMA_PORT_ACTIVE:
		return "active";
	default:
		return UNKNOWN;
	}
}

KRDMA_PUBLIC const char *krdma_link_layer_name(uint32_t link_layer)
{
	switch (link_layer) {
	case KRDMA_LINK_OTHER:
		return "other";
	case KRDMA_LINK_INFINIBAND:
		return "infiniband";
	case KRDMA_LINK_ETHERNET:
		return "ethernet";
	default:
		return UNKNOWN;
	}
}

KRDMA_PUBLIC const char *krdma_device_cap_name(uint64_t cap)
{
	switch (cap) {
	case KRDMA_DEVICE_CAP_ATOMIC:
		return "atomic";
	case KRDMA_DEVICE_CAP_IMM:
		return "imm";
	case KRDMA_DEVICE_CAP_SRQ:
		return "srq";
	case KRDMA_DEVICE_CAP_FAST_REG:
		return "fast_reg";
	case KRDMA_DEVICE_CAP_ODP:
		return "odp";
	case KRDMA_DEVICE_CAP_READ_LOCAL:
		return "read_local";
	case KRDMA_DEVICE_CAP_ATOMIC_WRITE:
		return "atomic_write";
	case KRDMA_DEVICE_CAP_FLUSH_GLOBAL:
		return "flush_global";
	case KRDMA_DEVICE_CAP_FLUSH_PERSISTENT:
		return "flush_persistent";
	default:
		return UNKNOWN;
	}
}

KRDMA_PUBLIC const char *krdma_feature_name(uint64_t feature)
{
	switch (feature) {
	case KRDMA_FEATURE_DEVICES:
		return "devices";
	case KRDMA_FEATURE_TRANSFERS:
		return "transfers";
	default:
		return UNKNOWN;
	}
}

KRDMA_PUBLIC const char *krdma_limit_name(uint32_t limit)
{
	switch (limit) {
	case KRDMA_LIMIT_SESSIONS:
		return "sessions";
	case KRDMA_LIMIT_OBJECTS:
		return "objects";
	case KRDMA_LIMIT_MEMORY:
		return "memory";
	case KRDMA_LIMIT_PORTS:
		return "ports";
	case KRDMA_LIMIT_DEVICE:
		return "device";
	default:
		return UNKNOWN;
	}
}

KRDMA_PUBLIC const char *krdma_limit_scope_name(uint32_t scope)
{
	switch (scope) {
	case KRDMA_LIMIT_SCOPE_NONE:
		return "none";
	case KRDMA_LIMIT_SCOPE_USER:
		return "user";
	case KRDMA_LIMIT_SCOPE_OWNER:
		return "owner";
	case KRDMA_LIMIT_SCOPE_GROUP:
		return "group";
	default:
		return UNKNOWN;
	}
}

KRDMA_PUBLIC const char *krdma_access_name(uint32_t access)
{
	switch (access) {
	case KRDMA_ACCESS_LOCAL_WRITE:
		return "local_write";
	case KRDMA_ACCESS_REMOTE_READ:
		return "remote_read";
	case KRDMA_ACCESS_REMOTE_WRITE:
		return "remote_write";
	case KRDMA_ACCESS_REMOTE_ATOMIC:
		return "remote_atomic";
	default:
		return UNKNOWN;
	}
}

/*
 * The names in the tables below are the same as in the kernel's tracepoints.
 */

static const char *name_of(const char * const *names, size_t count, uint32_t value)
{
	return value < count && names[value] ? names[value] : UNKNOWN;
}

#define NAME_OF(names, value) name_of(names, sizeof(names) / sizeof((names)[0]), value)

static const char * const opcode_names[] = {
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

KRDMA_PUBLIC const char *krdma_opcode_name(uint32_t opcode)
{
	return NAME_OF(opcode_names, opcode);
}

static const char * const status_names[] = {
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

KRDMA_PUBLIC const char *krdma_wc_status_name(uint32_t status)
{
	return NAME_OF(status_names, status);
}

static const char * const conn_state_names[] = {
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

KRDMA_PUBLIC const char *krdma_conn_state_name(uint32_t state)
{
	return NAME_OF(conn_state_names, state);
}

static const char * const event_names[] = {
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

KRDMA_PUBLIC const char *krdma_event_name(uint32_t type)
{
	return NAME_OF(event_names, type);
}

static const char * const device_event_names[] = {
	[KRDMA_DEVICE_EVENT_ADDED] = "added",
	[KRDMA_DEVICE_EVENT_REMOVED] = "removed",
	[KRDMA_DEVICE_EVENT_PORT_ACTIVE] = "port active",
	[KRDMA_DEVICE_EVENT_PORT_ERROR] = "port error",
	[KRDMA_DEVICE_EVENT_ADDRESS_CHANGED] = "address changed",
	[KRDMA_DEVICE_EVENT_FATAL] = "fatal error",
	[KRDMA_DEVICE_EVENT_MISSED] = "events missed",
};

KRDMA_PUBLIC const char *krdma_device_event_name(uint32_t type)
{
	return NAME_OF(device_event_names, type);
}

KRDMA_PUBLIC const char *krdma_error_name(int error)
{
	const char *name = NULL;

#ifdef __GLIBC__
	if (error <= 0)
		name = strerrorname_np(-error);
#else
	if (error <= 0)
		name = strerror(-error);
#endif
	return name ? name : UNKNOWN;
}
