/* SPDX-License-Identifier: GPL-2.0 */
/* Cases, their results, and their runner. */
#ifndef _KRDMA_CORE_TEST_H
#define _KRDMA_CORE_TEST_H

#include <linux/socket.h>
#include <linux/types.h>

#include <krdma/krdma.h>

/**
 * struct core_test - a run of a case
 * @name: of the case
 * @where: context of completions
 * @net: network namespace of the runner
 * @address: an address of the device, without a port
 * @dev: the device
 * @attr: attributes of the device
 * @iwarp: the device uses iWARP: no immediate data, no atomics, private data of exact length
 * @failures: checks that failed
 * @skipped: why the case does not apply to this device
 */
struct core_test {
	const char *name;
	enum krdma_context where;
	struct net *net;
	struct sockaddr_storage address;
	struct krdma_device *dev;
	struct krdma_device_attr attr;
	bool iwarp;
	unsigned int failures;
	const char *skipped;
};

/**
 * struct core_case - a case
 * @name: its name
 * @run: runs the case
 * @contexts: run once for each context of completions
 * @addresses: run for IPv6 addresses too
 * @stranger: the device is in the initial namespace, and the runner in another one
 */
struct core_case {
	const char *name;
	void (*run)(struct core_test *test);
	bool contexts;
	bool addresses;
	bool stranger;
};

#define CORE_CASE(function)		{ .name = #function, .run = function }
#define CORE_CASE_CONTEXTS(function)	{ .name = #function, .run = function, .contexts = true }
#define CORE_CASE_ADDRESSES(function)	{ .name = #function, .run = function, .addresses = true }
#define CORE_CASE_STRANGER(function)	{ .name = #function, .run = function, .stranger = true }

/* Tables of cases, each ended by an empty one. */
extern const struct core_case core_conn_cases[];
extern const struct core_case core_end_cases[];
extern const struct core_case core_transfer_cases[];
extern const struct core_case core_right_cases[];
extern const struct core_case core_template_cases[];
extern const struct core_case core_flow_cases[];
extern const struct core_case core_shared_cases[];
extern const struct core_case core_lane_cases[];
extern const struct core_case core_lane_peer_cases[];
extern const struct core_case core_lane_grant_cases[];
extern const struct core_case core_lane_memory_cases[];
extern const struct core_case core_lane_share_cases[];
extern const struct core_case core_lane_window_cases[];
extern const struct core_case core_lane_giver_cases[];
extern const struct core_case core_lane_early_cases[];
extern const struct core_case core_memory_cases[];
extern const struct core_case core_account_cases[];
extern const struct core_case core_reclaim_cases[];
extern const struct core_case core_storm_cases[];
/* For a runner in a namespace other than the initial one, so these are not in the common list. */
extern const struct core_case core_netns_cases[];

/* Settings of cases: see the module's parameters. */
extern unsigned int core_storm_seconds;
extern bool core_storm_stalls;

__printf(5, 6)
bool core_check(struct core_test *test, bool good, const char *function, int line,
		const char *format, ...);
__printf(2, 3)
void core_note(struct core_test *test, const char *format, ...);

/* Each returns whether the check succeeded; the case continues in any case. */
#define CORE_TRUE(test, condition) \
	core_check(test, condition, __func__, __LINE__, "not so: %s", #condition)

#define CORE_EQ(test, expected, actual) ({					\
	long long __expected = (long long)(expected);				\
	long long __actual = (long long)(actual);				\
										\
	core_check(test, __expected == __actual, __func__, __LINE__,		\
		   "%s is %lld, not %lld", #actual, __actual, __expected);	\
})

/* A pointer, or an ERR_PTR. */
#define CORE_OK_PTR(test, pointer) ({						\
	const void *__pointer = pointer;					\
										\
	core_check(test, !IS_ERR_OR_NULL(__pointer), __func__, __LINE__,	\
		   "%s is error %ld", #pointer, PTR_ERR(__pointer));		\
})

#define CORE_ERR_PTR(test, expected, pointer) ({				\
	long __error = PTR_ERR_OR_ZERO(pointer);				\
	long __expected = (expected);						\
										\
	core_check(test, __error == __expected, __func__, __LINE__,		\
		   "%s is %ld, not %ld", #pointer, __error, __expected);	\
})

#endif /* _KRDMA_CORE_TEST_H */
