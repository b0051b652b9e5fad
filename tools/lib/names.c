// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The names of values. Programs parse them, so a name must never change.
 */
#include <string.h>

#include "../../krdma/core/name_list.h"
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
 * The module has the names below, too.
 */

static const char *name_of(const char * const *names, size_t count, uint32_t value)
{
	return value < count && names[value] ? names[value] : UNKNOWN;
}

#define NAME_OF(names, value) name_of(names, sizeof(names) / sizeof((names)[0]), value)

#define NAMED(value, name) \
	[value] = name,

static const char * const opcode_names[] = { KRDMA_OPCODE_NAMES(NAMED, NAMED) };

KRDMA_PUBLIC const char *krdma_opcode_name(uint32_t opcode)
{
	return NAME_OF(opcode_names, opcode);
}

static const char * const status_names[] = { KRDMA_WC_STATUS_NAMES(NAMED, NAMED) };

KRDMA_PUBLIC const char *krdma_wc_status_name(uint32_t status)
{
	return NAME_OF(status_names, status);
}

static const char * const conn_state_names[] = { KRDMA_CONN_STATE_NAMES(NAMED, NAMED) };

KRDMA_PUBLIC const char *krdma_conn_state_name(uint32_t state)
{
	return NAME_OF(conn_state_names, state);
}

static const char * const event_names[] = { KRDMA_EVENT_NAMES(NAMED, NAMED) };

KRDMA_PUBLIC const char *krdma_event_name(uint32_t type)
{
	return NAME_OF(event_names, type);
}

static const char * const device_event_names[] = { KRDMA_DEVICE_EVENT_NAMES(NAMED, NAMED) };

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
