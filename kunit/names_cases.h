/* SPDX-License-Identifier: GPL-2.0 */
/* The names that krdma/core/names.c must return. */
#ifndef _KRDMA_KUNIT_NAMES_CASES_H
#define _KRDMA_KUNIT_NAMES_CASES_H

#include "core/names.h"

#include "cases.h"

/*
 * The values that have a name.  No default case: the compiler warns of a new value that is missing
 * here.
 */

static inline bool names_knows_opcode(u32 value)
{
	switch ((enum krdma_opcode)value) {
	case KRDMA_OP_SEND:
	case KRDMA_OP_SEND_IMM:
	case KRDMA_OP_SEND_INVALIDATE:
	case KRDMA_OP_RECV:
	case KRDMA_OP_WRITE:
	case KRDMA_OP_WRITE_IMM:
	case KRDMA_OP_READ:
	case KRDMA_OP_COMPARE_SWAP:
	case KRDMA_OP_FETCH_ADD:
	case KRDMA_OP_ATOMIC_WRITE:
	case KRDMA_OP_FLUSH:
	case KRDMA_OP_LOCAL_INV:
	case KRDMA_OP_REG_MR:
	case KRDMA_OP_EVENT:
		return true;
	}
	return false;
}

static inline const char *names_opcode(u32 value)
{
	return krdma_opcode_name((enum krdma_opcode)value);
}

static inline bool names_knows_status(u32 value)
{
	switch ((enum krdma_wc_status)value) {
	case KRDMA_WC_SUCCESS:
	case KRDMA_WC_LOC_LEN_ERR:
	case KRDMA_WC_LOC_QP_OP_ERR:
	case KRDMA_WC_LOC_PROT_ERR:
	case KRDMA_WC_WR_FLUSH_ERR:
	case KRDMA_WC_MW_BIND_ERR:
	case KRDMA_WC_BAD_RESP_ERR:
	case KRDMA_WC_LOC_ACCESS_ERR:
	case KRDMA_WC_REM_INV_REQ_ERR:
	case KRDMA_WC_REM_ACCESS_ERR:
	case KRDMA_WC_REM_OP_ERR:
	case KRDMA_WC_RETRY_EXC_ERR:
	case KRDMA_WC_RNR_RETRY_EXC_ERR:
	case KRDMA_WC_GENERAL_ERR:
		return true;
	}
	return false;
}

static inline const char *names_status(u32 value)
{
	return krdma_wc_status_name((enum krdma_wc_status)value);
}

static inline bool names_knows_conn_state(u32 value)
{
	switch ((enum krdma_conn_state)value) {
	case KRDMA_CONN_NEW:
	case KRDMA_CONN_RESOLVING_ADDRESS:
	case KRDMA_CONN_RESOLVING_ROUTE:
	case KRDMA_CONN_RESOLVED:
	case KRDMA_CONN_REQUESTED:
	case KRDMA_CONN_CONNECTING:
	case KRDMA_CONN_ACCEPTING:
	case KRDMA_CONN_CONNECTED:
	case KRDMA_CONN_DISCONNECTING:
	case KRDMA_CONN_CLOSING:
	case KRDMA_CONN_CLOSED:
		return true;
	}
	return false;
}

static inline const char *names_conn_state(u32 value)
{
	return krdma_conn_state_name((enum krdma_conn_state)value);
}

static inline bool names_knows_event(u32 value)
{
	switch ((enum krdma_event_type)value) {
	case KRDMA_EVENT_ADDR_RESOLVED:
	case KRDMA_EVENT_ADDR_ERROR:
	case KRDMA_EVENT_ROUTE_RESOLVED:
	case KRDMA_EVENT_ROUTE_ERROR:
	case KRDMA_EVENT_ESTABLISHED:
	case KRDMA_EVENT_CONNECT_ERROR:
	case KRDMA_EVENT_UNREACHABLE:
	case KRDMA_EVENT_REJECTED:
	case KRDMA_EVENT_DISCONNECTED:
	case KRDMA_EVENT_LOST:
	case KRDMA_EVENT_DEVICE_REMOVAL:
	case KRDMA_EVENT_ADDR_CHANGE:
	case KRDMA_EVENT_CLOSED:
		return true;
	}
	return false;
}

static inline const char *names_event(u32 value)
{
	return krdma_event_name((enum krdma_event_type)value);
}

static inline bool names_knows_device_event(u32 value)
{
	switch ((enum krdma_device_event_type)value) {
	case KRDMA_DEVICE_EVENT_ADDED:
	case KRDMA_DEVICE_EVENT_REMOVED:
	case KRDMA_DEVICE_EVENT_PORT_ACTIVE:
	case KRDMA_DEVICE_EVENT_PORT_ERROR:
	case KRDMA_DEVICE_EVENT_ADDRESS_CHANGED:
	case KRDMA_DEVICE_EVENT_FATAL:
	case KRDMA_DEVICE_EVENT_MISSED:
		return true;
	}
	return false;
}

static inline const char *names_device_event(u32 value)
{
	return krdma_device_event_name((enum krdma_device_event_type)value);
}

static const struct {
	const char *what;
	bool (*knows)(u32 value);
	const char *(*name)(u32 value);
} names_kinds[] = {
	{ "name of opcode", names_knows_opcode, names_opcode },
	{ "name of status", names_knows_status, names_status },
	{ "name of state", names_knows_conn_state, names_conn_state },
	{ "name of event", names_knows_event, names_event },
	{ "name of device event", names_knows_device_event, names_device_event },
};

/* Far above every enumeration, and the ends of 32 bits. */
#define NAMES_CODES	0x10000
static const u32 names_far_codes[] = {
	0x10000, 0x10001, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff,
};

/* Proves: D14, E8 */
static inline void names_check_known(struct case_report *report)
{
	for (u32 kind = 0; kind < CASES(names_kinds); kind++) {
		for (u32 value = 0; value < NAMES_CODES; value++)
			check_expect(report, names_kinds[kind].what, value,
				     names_kinds[kind].knows(value),
				     strcmp(names_kinds[kind].name(value), "unknown") != 0);
		for (u32 i = 0; i < CASES(names_far_codes); i++)
			check_expect(report, names_kinds[kind].what, names_far_codes[i], 0,
				     strcmp(names_kinds[kind].name(names_far_codes[i]),
					    "unknown") != 0);
	}
}

/* No name occurs twice in an enumeration: of two values, the second is reported. */
/* Proves: D14 */
static inline void names_check_distinct(struct case_report *report)
{
	for (u32 kind = 0; kind < CASES(names_kinds); kind++) {
		for (u32 value = 0; value < NAMES_CODES; value++) {
			if (!names_kinds[kind].knows(value))
				continue;
			for (u32 other = 0; other < value; other++)
				if (names_kinds[kind].knows(other))
					check_expect(report, names_kinds[kind].what, value, 1,
						     strcmp(names_kinds[kind].name(value),
							    names_kinds[kind].name(other)) != 0);
		}
	}
}

/* Lower-case words with one space between them. */
static inline bool names_is_plain(const char *name)
{
	char before = ' ';

	for (; *name; name++) {
		if (*name == ' ' ? before == ' ' : *name < 'a' || *name > 'z')
			return false;
		before = *name;
	}
	return before != ' ';
}

static inline void names_check_words(struct case_report *report)
{
	for (u32 kind = 0; kind < CASES(names_kinds); kind++)
		for (u32 value = 0; value < NAMES_CODES; value++)
			if (names_kinds[kind].knows(value))
				check_expect(report, names_kinds[kind].what, value, 1,
					     names_is_plain(names_kinds[kind].name(value)));
}

#endif /* _KRDMA_KUNIT_NAMES_CASES_H */
