/* SPDX-License-Identifier: GPL-2.0 */
/* What krdma/core/names.c makes of the lists of names. */
#ifndef _KRDMA_KUNIT_NAMES_CASES_H
#define _KRDMA_KUNIT_NAMES_CASES_H

#include "core/name_list.h"
#include "core/names.h"

#include "cases.h"

/*
 * The values that have a name.  No default case: the compiler warns of an enumerator that is not in
 * the list, and of one in the list of another enumeration.
 */
#define NAMES_CASE(value, ...)	case value:

static inline bool names_knows_opcode(u32 value)
{
	switch ((enum krdma_opcode)value) {
	KRDMA_OPCODE_NAMES(NAMES_CASE, NAMES_CASE)
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
	KRDMA_WC_STATUS_NAMES(NAMES_CASE, NAMES_CASE)
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
	KRDMA_CONN_STATE_NAMES(NAMES_CASE, NAMES_CASE)
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
	KRDMA_EVENT_NAMES(NAMES_CASE, NAMES_CASE)
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
	KRDMA_DEVICE_EVENT_NAMES(NAMES_CASE, NAMES_CASE)
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
