// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma selftest: run the checks one after another.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "peer_stop.h"
#include "selftest.h"

/* If this check fails, all others would fail for the same reason, so they are not run. */
#define CONNECT_CHECK	"connect"

static const struct check * const tables[] = {
	selftest_message_checks,
	selftest_rdma_checks,
	selftest_atomic_checks,
	selftest_limit_checks,
	selftest_memory_checks,
	selftest_end_checks,
};

int selftest_list(void)
{
	const struct check *check;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tables); i++)
		for (check = tables[i]; check->name; check++)
			puts(check->name);
	return EXIT_OK;
}

static bool is_wanted(const struct selftest *test, const struct check *check)
{
	const char *only = test->settings->only;

	return !only || !strncmp(check->name, only, strlen(only));
}

/* Return CHECK_PASSED if the check is to run, else the result to report for it. */
static enum check_result is_to_run(struct selftest *test, const struct check *check)
{
	uint64_t missing = check->caps & ~test->device.caps;
	char text[FLAG_TEXT_MAX];

	if (!strcmp(check->name, SELFTEST_UNPLUG) && !test->settings->unplug) {
		snprintf(test->text, sizeof(test->text), "it takes the device away: --unplug");
		return CHECK_NOT_ASKED;
	}
	if (missing) {
		snprintf(test->text, sizeof(test->text), "the device does not have '%s'",
			 flag_text(text, missing, krdma_device_cap_name));
		return CHECK_NOT_OFFERED;
	}
	if (check->not_transport && check->not_transport == test->device.transport) {
		snprintf(test->text, sizeof(test->text), "%s does not have it",
			 krdma_transport_name(test->device.transport));
		return CHECK_NOT_OFFERED;
	}
	if (clock_ns() > test->ends) {
		snprintf(test->text, sizeof(test->text), "the time for all checks is over: -t");
		return CHECK_NOT_RUN;
	}
	return CHECK_PASSED;
}

/* The capabilities of the far end's device are known only after near_begin(). */
static int run_one(struct selftest *test, const struct check *check)
{
	uint64_t missing;
	char text[FLAG_TEXT_MAX];
	int err = near_begin(test);

	missing = check->caps & ~test->far_caps;
	if (!err && missing)
		return check_not_offered(test, "the far end's device does not have '%s'",
					 flag_text(text, missing, krdma_device_cap_name));
	return err ? err : check->run(test);
}

/* Returns -EINTR if a stop is requested; -EHOSTDOWN if no further check can pass. */
static int run_check(struct selftest *test, const struct check *check)
{
	enum check_result result;
	uint64_t begun = clock_ns();
	int err;

	test->check = check;
	test->failed = false;
	test->left_out = false;
	test->not_offered = false;
	test->text[0] = '\0';
	test->figures = json_checked(json_object_new_object());
	result = is_to_run(test, check);
	if (result == CHECK_PASSED) {
		err = run_one(test, check);
		near_end(test);
		if (err == -EINTR && !test->failed) {
			json_object_put(test->figures);
			test->figures = NULL;
			return err;
		}
		/* A recorded failure counts even if the function of the check returned 0. */
		result = err && test->left_out ? CHECK_NOT_RUN :
			 err && test->not_offered ? CHECK_NOT_OFFERED :
			 err || test->failed ? CHECK_FAILED : CHECK_PASSED;
	}
	report_check(test, result, clock_ns() - begun);
	if (result == CHECK_FAILED && !strcmp(check->name, CONNECT_CHECK))
		return -EHOSTDOWN;
	return stop_wanted() ? -EINTR : 0;
}

static int run_table(struct selftest *test, const struct check *table)
{
	const struct check *check;

	for (check = table; check->name; check++)
		if (is_wanted(test, check))
			try(run_check(test, check));
	return 0;
}

static int run_all(struct selftest *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tables); i++)
		try(run_table(test, tables[i]));
	return 0;
}

/* Find the device once; each check opens its own sessions. */
static int create_qp(struct selftest *test)
{
	int err = open_session(&test->session);

	if (err)
		return err;
	err = device_find(test);
	krdma_close(test->session);
	test->session = NULL;
	if (err)
		return err;
	if (test->settings->unplug && geteuid()) {
		complain("cannot remove the device: only root may\n"
			 "Run it as root, or without --unplug");
		return -EPERM;
	}
	return far_start(test);
}

int selftest_run(const struct selftest_settings *settings)
{
	struct selftest test = { .settings = settings, .channel = -1 };
	int err, status;

	stop_catch();
	err = create_qp(&test);
	if (err) {
		far_stop(&test);
		return EXIT_FAILED;
	}
	test.ends = clock_ns() + settings->time;
	test.checks = json_checked(json_object_new_array());
	report_begin(&test);
	err = run_all(&test);
	if (err == -EHOSTDOWN && !settings->common->json)
		complain("cannot go on: without a connection there is nothing to test\n"
			 "See what is missing with: krdma doctor");
	far_stop(&test);
	if (!test.counts[CHECK_PASSED] && !test.counts[CHECK_FAILED] && settings->only && !err)
		complain("cannot run '%s': no check of that name was run\n"
			 "See their names with: krdma selftest --list", settings->only);
	status = report_end(&test, !err);
	json_object_put(test.checks);
	return status;
}
