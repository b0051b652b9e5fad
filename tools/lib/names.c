// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The names of values.  Programs parse them: a name is never changed.
 */
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
	default:
		return UNKNOWN;
	}
}

KRDMA_PUBLIC const char *krdma_feature_name(uint64_t feature)
{
	switch (feature) {
	case KRDMA_FEATURE_DEVICES:
		return "devices";
	default:
		return UNKNOWN;
	}
}
