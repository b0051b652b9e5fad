/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What krdma/cm/conn_state.c must do for every input in every state: the whole table once more, in
 * another notation, and the rules that every path through it has to follow.
 */
#ifndef _KRDMA_KUNIT_CONN_STATE_CASES_H
#define _KRDMA_KUNIT_CONN_STATE_CASES_H

#include "cm/conn_state.h"

#include "cases.h"

/*
 * One letter for each state, event and errno, in the order of their numbers.  A cell of the table
 * has three of them: the next state, the event, and the errno.  '=' means the same state, '!' a
 * refusal, and "..." nothing at all.
 */
static const char conn_state_letters[] = "narRQcpCdxz";
static const char conn_event_letters[] = "-AaRrEcujdlvmz";

struct conn_errno {
	char letter;
	int error;
};

static const struct conn_errno conn_errnos[] = {
	{ '-', 0 },
	{ 'a', -EALREADY },
	{ 'b', -EBUSY },
	{ 'f', -ECONNREFUSED },
	{ 'g', -ENODEV },
	{ 'h', -EHOSTUNREACH },
	{ 'i', -EINVAL },
	{ 'n', -ENOTCONN },
	{ 'o', -EIO },
	{ 'r', -ECONNRESET },
	{ 's', -EISCONN },
	{ 't', -ETIMEDOUT },
	{ 'x', -ECONNABORTED },
};

/* By input: the cells of the states in order, four characters each. */
static const char * const conn_state_table[KRDMA_INPUTS] = {
	/*  NEW Addr Rout Rslv reQu conn acpt Cntd dsct clsg clsd */
	[KRDMA_INPUT_RESOLVE] =
		"a--|!-a|!-a|!-a|!-a|!-a|!-a|!-s|!-n|!-n|!-n",
	[KRDMA_INPUT_CREATE_QP] =
		"!-n|!-b|!-b|=--|=--|!-a|!-a|!-s|!-n|!-n|!-n",
	[KRDMA_INPUT_CONNECT] =
		"!-n|!-b|!-b|c--|!-i|!-a|!-a|!-s|!-n|!-n|!-n",
	[KRDMA_INPUT_ACCEPT] =
		"!-i|!-i|!-i|!-i|p--|!-i|!-a|!-s|!-n|!-n|!-n",
	[KRDMA_INPUT_REJECT] =
		"!-i|!-i|!-i|!-i|x-x|!-i|!-a|!-s|!-n|!-n|!-n",
	[KRDMA_INPUT_DISCONNECT] =
		"!-n|!-n|!-n|!-n|!-n|!-n|!-n|d--|!-a|!-n|!-n",
	[KRDMA_INPUT_ABORT] =
		"x-x|x-x|x-x|x-x|x-x|x-x|x-x|xdx|xdx|!-n|!-n",

	[KRDMA_INPUT_CM_ADDR_RESOLVED] =
		"...|rA-|...|...|...|...|...|...|...|...|...",
	[KRDMA_INPUT_CM_ADDR_ERROR] =
		"...|xah|...|...|...|...|...|...|...|...|...",
	[KRDMA_INPUT_CM_ROUTE_RESOLVED] =
		"...|...|RR-|...|...|...|...|...|...|...|...",
	[KRDMA_INPUT_CM_ROUTE_ERROR] =
		"...|...|xrh|...|...|...|...|...|...|...|...",
	[KRDMA_INPUT_CM_CONNECT_REQUEST] =
		"...|...|...|...|...|...|...|...|...|...|...",
	[KRDMA_INPUT_CM_CONNECT_RESPONSE] =
		"...|...|...|...|...|...|...|...|...|...|...",
	[KRDMA_INPUT_CM_CONNECT_ERROR] =
		"...|...|...|...|...|xco|xco|xlo|xdn|...|...",
	[KRDMA_INPUT_CM_UNREACHABLE] =
		"...|...|xut|xut|xut|xut|xut|xlt|xdn|...|...",
	[KRDMA_INPUT_CM_REJECTED] =
		"...|...|...|...|xjr|xjf|xjr|xlr|xdn|...|...",
	[KRDMA_INPUT_CM_ESTABLISHED] =
		"...|...|...|...|...|CE-|CE-|...|=--|...|...",
	[KRDMA_INPUT_CM_DISCONNECTED] =
		"...|...|...|...|xcr|xcr|xcr|xdr|xdn|...|...",
	[KRDMA_INPUT_CM_DEVICE_REMOVAL] =
		"...|xvg|xvg|xvg|xvg|xvg|xvg|xvg|xvg|...|...",
	[KRDMA_INPUT_CM_ADDR_CHANGE] =
		"...|...|=m-|=m-|=m-|=m-|=m-|=m-|...|...|...",
	[KRDMA_INPUT_CM_TIMEWAIT_EXIT] =
		"...|...|...|...|...|...|...|...|xdn|...|...",
	[KRDMA_INPUT_CM_OTHER] =
		"...|...|...|...|...|...|...|...|...|...|...",

	[KRDMA_INPUT_TRAFFIC] =
		"...|...|...|...|...|...|CE-|...|...|...|...",
	[KRDMA_INPUT_FATAL] =
		"...|xao|xro|xco|xco|xco|xco|xlo|xdn|...|...",
	[KRDMA_INPUT_DEVICE_GONE] =
		"...|xvg|xvg|xvg|xvg|xvg|xvg|xvg|xvg|...|...",
	[KRDMA_INPUT_UNANSWERED] =
		"...|...|...|...|...|xut|...|...|...|...|...",
	[KRDMA_INPUT_GRACE_EXPIRED] =
		"...|...|...|...|...|xco|xco|xlo|xdn|...|...",
	[KRDMA_INPUT_TORN_DOWN] =
		"...|...|...|...|...|...|...|...|...|zz-|...",
};

/* Three letters as a number, so that a failure shows the actual cell. */
static inline u32 conn_cell(char next, char event, char error)
{
	return ((u32)(u8)next << 16) | ((u32)(u8)event << 8) | (u8)error;
}

static inline char conn_errno_letter(int error)
{
	for (unsigned int i = 0; i < CASES(conn_errnos); i++) {
		if (conn_errnos[i].error == error)
			return conn_errnos[i].letter;
	}
	return '?';
}

static inline u32 conn_cell_of(const struct krdma_conn_step *step)
{
	char next;

	switch (step->verdict) {
	case KRDMA_STEP_REFUSE:
		next = '!';
		break;
	case KRDMA_STEP_IGNORE:
		return conn_cell('.', '.', '.');
	case KRDMA_STEP_STAY:
		next = '=';
		break;
	case KRDMA_STEP_MOVE:
		next = step->next < KRDMA_CONN_STATES ? conn_state_letters[step->next] : '?';
		break;
	default:
		return 0;
	}
	return conn_cell(next,
			 step->event <= KRDMA_EVENT_CLOSED ? conn_event_letters[step->event] : '?',
			 conn_errno_letter(step->error));
}

/* In reports: input times 100 plus state. */
static inline s64 conn_where(unsigned int input, unsigned int state)
{
	return (s64)input * 100 + state;
}

static inline const struct krdma_conn_step *conn_step(unsigned int state, unsigned int input)
{
	return krdma_conn_find_step((enum krdma_conn_state)state, (enum krdma_conn_input)input);
}

/* Proves: E2 */
static inline void conn_state_check_table(struct case_report *report)
{
	check_expect(report, "a letter for each state", 0, KRDMA_CONN_STATES,
		     sizeof(conn_state_letters) - 1);
	check_expect(report, "a letter for each event", 0, KRDMA_EVENT_CLOSED + 1,
		     sizeof(conn_event_letters) - 1);

	for (unsigned int input = 0; input < KRDMA_INPUTS; input++) {
		const char *row = conn_state_table[input];

		for (unsigned int state = 0; state < KRDMA_CONN_STATES; state++, row += 4) {
			check_expect(report, "the step", conn_where(input, state),
				     conn_cell(row[0], row[1], row[2]),
				     conn_cell_of(conn_step(state, input)));
			check_expect(report, "the row goes on", conn_where(input, state),
				     state < KRDMA_CONN_STATES - 1 ? '|' : 0, (u8)row[3]);
		}
	}
}

static inline bool conn_input_is_call(unsigned int input)
{
	return input <= KRDMA_INPUT_ABORT;
}

/* A refused or ignored input has no effect, and only calls are refused. */
static inline void conn_state_check_verdicts(struct case_report *report)
{
	for (unsigned int input = 0; input < KRDMA_INPUTS; input++) {
		for (unsigned int state = 0; state < KRDMA_CONN_STATES; state++) {
			const struct krdma_conn_step *step = conn_step(state, input);
			s64 where = conn_where(input, state);
			bool refused = step->verdict == KRDMA_STEP_REFUSE;
			bool ignored = step->verdict == KRDMA_STEP_IGNORE;
			bool ends = step->actions & KRDMA_ACTION_END;

			check_expect(report, "a call is answered, all else is not", where, true,
				     conn_input_is_call(input) ? !ignored : !refused);
			check_expect(report, "an errno with a refusal or an end", where,
				     refused || ends, step->error < 0);
			check_expect(report, "it tells and does only if it fits", where, false,
				     (refused || ignored) && (step->event || step->actions));
			check_expect(report, "a move leads to another state", where,
				     step->verdict == KRDMA_STEP_MOVE,
				     step->verdict == KRDMA_STEP_MOVE && step->next != state);
		}
	}
}

/* The actions follow from the states before and after a step. */
static inline u32 conn_actions_expected(unsigned int state, unsigned int input,
					const struct krdma_conn_step *step)
{
	u32 actions = 0;

	if (input == KRDMA_INPUT_CM_ESTABLISHED && state == KRDMA_CONN_DISCONNECTING)
		return KRDMA_ACTION_SCHEDULE;
	if (step->verdict != KRDMA_STEP_MOVE)
		return 0;
	if (state == KRDMA_CONN_NEW)
		actions |= KRDMA_ACTION_KEEP;

	switch (step->next) {
	case KRDMA_CONN_ACCEPTING:
		actions |= KRDMA_ACTION_OWE;
		break;
	case KRDMA_CONN_CONNECTED:
		actions |= KRDMA_ACTION_OWE | KRDMA_ACTION_OPEN;
		break;
	case KRDMA_CONN_DISCONNECTING:
		actions |= KRDMA_ACTION_CLOSE | KRDMA_ACTION_SCHEDULE;
		break;
	case KRDMA_CONN_CLOSING:
		actions |= KRDMA_ACTION_CLOSE | KRDMA_ACTION_SCHEDULE | KRDMA_ACTION_END;
		if (input == KRDMA_INPUT_FATAL && state != KRDMA_CONN_DISCONNECTING)
			actions |= KRDMA_ACTION_REASON;
		if (input == KRDMA_INPUT_CM_DISCONNECTED && state == KRDMA_CONN_CONNECTED)
			actions |= KRDMA_ACTION_REASON;
		break;
	case KRDMA_CONN_CLOSED:
		actions |= KRDMA_ACTION_COMPLETE;
		break;
	}
	return actions;
}

static inline void conn_state_check_actions(struct case_report *report)
{
	for (unsigned int input = 0; input < KRDMA_INPUTS; input++) {
		for (unsigned int state = 0; state < KRDMA_CONN_STATES; state++) {
			const struct krdma_conn_step *step = conn_step(state, input);

			check_expect(report, "actions", conn_where(input, state),
				     conn_actions_expected(state, input, step), step->actions);
		}
	}
}

/* In every state an abort and the work item lead to the end, and nothing leads back. */
static inline void conn_state_check_end(struct case_report *report)
{
	for (unsigned int input = 0; input < KRDMA_INPUTS; input++) {
		check_expect(report, "CLOSED stays", input, true,
			     conn_step(KRDMA_CONN_CLOSED, input)->verdict <= KRDMA_STEP_IGNORE);
		check_expect(report, "CLOSING is left by the work alone", input,
			     input != KRDMA_INPUT_TORN_DOWN,
			     conn_step(KRDMA_CONN_CLOSING, input)->verdict <= KRDMA_STEP_IGNORE);
	}
	for (unsigned int state = 0; state < KRDMA_CONN_CLOSING; state++) {
		const struct krdma_conn_step *step = conn_step(state, KRDMA_INPUT_ABORT);

		check_expect(report, "an abort always leads to CLOSING", state,
			     KRDMA_CONN_CLOSING, step->next);
	}
	check_expect(report, "and that to CLOSED", 0, KRDMA_CONN_CLOSED,
		     conn_step(KRDMA_CONN_CLOSING, KRDMA_INPUT_TORN_DOWN)->next);
}

/* A call of the consumer begins in these states, and is complete when one of them is reached. */
static inline void conn_state_check_settled(struct case_report *report)
{
	static const char settled[] = "n--RQ--C--z";

	for (unsigned int state = 0; state < KRDMA_CONN_STATES; state++)
		check_expect(report, "nothing is in progress", state, settled[state] != '-',
			     krdma_conn_is_settled((enum krdma_conn_state)state));
}

/* The errno of a refusal is that of the table. */
static inline void conn_state_check_refusals(struct case_report *report)
{
	for (unsigned int call = 0; call <= KRDMA_INPUT_ABORT; call++) {
		for (unsigned int state = 0; state < KRDMA_CONN_STATES; state++) {
			const struct krdma_conn_step *step = conn_step(state, call);
			bool refused = step->verdict == KRDMA_STEP_REFUSE;

			check_expect(report, "the errno of the refusal", conn_where(call, state),
				     refused ? step->error : 0,
				     krdma_conn_call_refusal((enum krdma_conn_state)state,
							     (enum krdma_conn_input)call));
		}
	}
}

#define CONN_EVENT(type)	(1U << KRDMA_EVENT_##type)

/* Final events of connections that were established, and of those that were not. */
#define CONN_ENDS	(CONN_EVENT(DISCONNECTED) | CONN_EVENT(LOST) | CONN_EVENT(DEVICE_REMOVAL))
#define CONN_FAILURES	(CONN_EVENT(ADDR_ERROR) | CONN_EVENT(ROUTE_ERROR) | \
			 CONN_EVENT(CONNECT_ERROR) | CONN_EVENT(UNREACHABLE) | \
			 CONN_EVENT(REJECTED) | CONN_EVENT(DEVICE_REMOVAL))

static inline unsigned int conn_count(u32 events)
{
	unsigned int count = 0;

	for (; events; events &= events - 1)
		count++;
	return count;
}

/* The states and events of all paths together. */
struct conn_walk {
	u32 states;
	u32 events;
};

/* The events of a connection that got @events are complete. */
static inline void conn_state_check_story(struct case_report *report, u32 events)
{
	bool connected = events & CONN_EVENT(ESTABLISHED);

	check_expect(report, "CLOSED is told", events, true,
		     !!(events & CONN_EVENT(CLOSED)));
	if (connected)
		check_expect(report, "one end of what was connected", events, 1,
			     conn_count(events & CONN_ENDS));
	check_expect(report, "at most one reason", events, true,
		     conn_count(events & (CONN_ENDS | CONN_FAILURES)) <= 1);
	check_expect(report, "no end without a beginning", events, false,
		     !connected && (events & (CONN_EVENT(DISCONNECTED) | CONN_EVENT(LOST))));
	check_expect(report, "no failure after the beginning", events, false,
		     connected && (events & CONN_FAILURES & ~CONN_ENDS));
}

/* Follows every path from @state.  There is no cycle, so the recursion ends. */
static inline void conn_state_walk(struct case_report *report, struct conn_walk *walk,
				   unsigned int state, u32 events, unsigned int steps)
{
	check_expect(report, "no circle", state, true, steps < KRDMA_CONN_STATES);
	if (steps >= KRDMA_CONN_STATES)
		return;

	walk->states |= 1U << state;
	if (state == KRDMA_CONN_CLOSED) {
		conn_state_check_story(report, events);
		return;
	}
	for (unsigned int input = 0; input < KRDMA_INPUTS; input++) {
		const struct krdma_conn_step *step = conn_step(state, input);
		u32 event = step->event ? 1U << step->event : 0;

		walk->events |= event;
		if (step->verdict != KRDMA_STEP_MOVE)
			continue;
		check_expect(report, "told once", conn_where(input, state), 0, events & event);
		check_expect(report, "nothing after the last", conn_where(input, state), 0,
			     events & CONN_EVENT(CLOSED));
		conn_state_walk(report, walk, step->next, events | event, steps + 1);
	}
}

/* Proves: E2 */
static inline void conn_state_check_walks(struct case_report *report)
{
	struct conn_walk walk = {};

	conn_state_walk(report, &walk, KRDMA_CONN_NEW, 0, 0);
	conn_state_walk(report, &walk, KRDMA_CONN_REQUESTED, 0, 0);

	check_expect(report, "every state is on some way", 0, (1U << KRDMA_CONN_STATES) - 1,
		     walk.states);
	check_expect(report, "every event is told on some way", 0,
		     (2U << KRDMA_EVENT_CLOSED) - 2, walk.events);
}

#endif /* _KRDMA_KUNIT_CONN_STATE_CASES_H */
