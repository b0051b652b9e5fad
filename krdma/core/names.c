// SPDX-License-Identifier: GPL-2.0
/* Names of opcodes, states and events.  Pure functions. */
#include "core/name_list.h"
#include "core/names.h"

#define NAME_COUNT(names)	(sizeof(names) / sizeof((names)[0]))

static const char *krdma_name_of(const char * const *names, size_t count, u32 value)
{
	return value < count && names[value] ? names[value] : "unknown";
}

#define KRDMA_NAMED(value, name) \
	[value] = name,

static const char * const krdma_opcode_names[] = {
	KRDMA_OPCODE_NAMES(KRDMA_NAMED, KRDMA_NAMED)
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
	KRDMA_WC_STATUS_NAMES(KRDMA_NAMED, KRDMA_NAMED)
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
	KRDMA_CONN_STATE_NAMES(KRDMA_NAMED, KRDMA_NAMED)
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
	KRDMA_EVENT_NAMES(KRDMA_NAMED, KRDMA_NAMED)
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
	KRDMA_DEVICE_EVENT_NAMES(KRDMA_NAMED, KRDMA_NAMED)
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
