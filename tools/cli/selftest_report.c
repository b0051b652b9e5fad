// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma selftest: output of results: a line for each check, the summary, and the report.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "peer_stop.h"
#include "selftest.h"

static const char * const result_words[CHECK_RESULTS] = {
	[CHECK_PASSED] = "PASS",
	[CHECK_FAILED] = "FAIL",
	[CHECK_NOT_OFFERED] = "NOT OFFERED",
	[CHECK_NOT_RUN] = "NOT RUN",
	[CHECK_NOT_ASKED] = "NOT ASKED",
};

static const char * const result_names[CHECK_RESULTS] = {
	[CHECK_PASSED] = "passed",
	[CHECK_FAILED] = "failed",
	[CHECK_NOT_OFFERED] = "not_offered",
	[CHECK_NOT_RUN] = "not_run",
	[CHECK_NOT_ASKED] = "not_asked",
};

ATTRIBUTE(format(printf, 2, 0))
static void set_text(struct selftest *test, const char *format, va_list arguments)
{
	vsnprintf(test->text, sizeof(test->text), format, arguments);
}

int check_fail(struct selftest *test, const char *format, ...)
{
	va_list arguments;

	if (!test->failed) {
		va_start(arguments, format);
		set_text(test, format, arguments);
		va_end(arguments);
	}
	test->failed = true;
	return -EPROTO;
}

int check_errno(struct selftest *test, const char *what, int err)
{
	if (err == -EINTR)
		return err;
	check_fail(test, "cannot %s: %s (%s)", what,
		   err == -EDQUOT ? QUOTA_REACHED "; see: krdma info" : strerror(-err),
		   krdma_error_name(err));
	return err;
}

void check_say(struct selftest *test, const char *format, ...)
{
	va_list arguments;

	if (test->failed)
		return;
	va_start(arguments, format);
	set_text(test, format, arguments);
	va_end(arguments);
}

int check_leave_out(struct selftest *test, const char *format, ...)
{
	va_list arguments;

	if (test->failed)
		return -EPROTO;
	va_start(arguments, format);
	set_text(test, format, arguments);
	va_end(arguments);
	test->left_out = true;
	return -ECANCELED;
}

int check_not_offered(struct selftest *test, const char *format, ...)
{
	va_list arguments;

	if (test->failed)
		return -EPROTO;
	va_start(arguments, format);
	set_text(test, format, arguments);
	va_end(arguments);
	test->not_offered = true;
	return -EOPNOTSUPP;
}

int check_refused(struct selftest *test, const char *what, int expected, int got)
{
	if (got == expected)
		return 0;
	if (got == -EINTR && stop_wanted())
		return got;
	if (!got)
		return check_fail(test, "%s succeeds instead of %s", what,
				  krdma_error_name(expected));
	return check_fail(test, "%s: %s instead of %s", what, krdma_error_name(got),
			  krdma_error_name(expected));
}

void check_figure(struct selftest *test, const char *name, uint64_t value)
{
	json_put_number(test->figures, name, value);
}

void check_figure_text(struct selftest *test, const char *name, const char *value)
{
	json_put_text(test->figures, name, value);
}

void report_begin(const struct selftest *test)
{
	const struct selftest_settings *settings = test->settings;

	if (settings->common->json || settings->quiet)
		return;
	printf("testing %s with %s%s\n", settings->device,
	       settings->peer ? settings->peer : "itself",
	       test->port.state == KRDMA_PORT_ACTIVE ? "" : ", though its port is not active");
	fflush(stdout);
}

void report_check(struct selftest *test, enum check_result result, uint64_t ns)
{
	const struct selftest_settings *settings = test->settings;
	struct json_object *object = json_checked(json_object_new_object());

	test->counts[result]++;
	json_put_text(object, "check", test->check->name);
	json_put_text(object, "result", result_names[result]);
	json_put_text(object, "text", test->text);
	json_put_number(object, "elapsed_ns", ns);
	json_put(object, "figures", test->figures);
	test->figures = NULL;
	json_append(test->checks, object);
	if (settings->common->json || (settings->quiet && result != CHECK_FAILED &&
				       result != CHECK_NOT_RUN))
		return;
	printf("%-11s  %-20s  %s", result_words[result], test->check->name, test->text);
	if (settings->common->details)
		printf("  (%.3f s)", (double)ns / 1e9);
	putchar('\n');
	/* The next check may take a while. */
	fflush(stdout);
	/* Standard output has no reader any more. */
	if (ferror(stdout))
		stop_now();
}

/* Build the report.  It has nothing that identifies the host, unless asked for. */
static struct json_object *report_json(const struct selftest *test, bool complete)
{
	struct json_object *object = json_checked(json_object_new_object());
	char address[PEER_TEXT];
	int result;

	json_put_text(object, "about",
		      test->settings->addresses ?
		      "krdma selftest; with names of interfaces, addresses and GUIDs" :
		      "krdma selftest; no host names, addresses, GUIDs or user data");
	device_json(test, object);
	json_put_text(object, "mode", test->settings->peer ? "peer" : "itself");
	if (test->settings->peer && *test->far_version) {
		json_put_text(object, "peer_version", test->far_version);
		json_put_flags(object, "peer_caps", test->far_caps, krdma_device_cap_name);
		if (test->settings->addresses) {
			address_text(&test->far_address, false, address);
			json_put_text(object, "peer_address", address);
		}
	}
	json_put_number(object, "seed", test->settings->seed);
	json_put(object, "complete", json_object_new_boolean(complete));
	for (result = 0; result < CHECK_RESULTS; result++)
		json_put_number(object, result_names[result], test->counts[result]);
	json_put(object, "checks", json_object_get(test->checks));
	return object;
}

/* An earlier report stays in place until the new one is complete. */
static int write_report(const struct selftest *test, struct json_object *object)
{
	const char *path = test->settings->report, *text;
	struct new_file file;
	int err, failed;

	text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_NOSLASHESCAPE |
						      JSON_C_TO_STRING_PRETTY |
						      JSON_C_TO_STRING_SPACED);
	if (!text) {
		complain("cannot write the report to %s: out of memory", path);
		return -ENOMEM;
	}
	err = new_file_open(&file, path);
	if (!err) {
		failed = fprintf(file.stream, "%s\n", text) < 0;
		err = new_file_close(&file, path, !failed);
		if (!err && failed)
			err = -EIO;
	}
	if (err)
		complain("cannot write the report to %s: %s\n"
			 "Give the name of a file in a folder that you may write to",
			 path, strerror(-err));
	return err;
}

static void print_summary(const struct selftest *test, bool complete, bool written)
{
	const unsigned int *counts = test->counts;

	printf("%u passed, %u failed, %u not offered, %u not run%s\n", counts[CHECK_PASSED],
	       counts[CHECK_FAILED], counts[CHECK_NOT_OFFERED], counts[CHECK_NOT_RUN],
	       complete ? "" : "; not complete");
	if (written)
		printf("The report is in %s: kernel, krdma, device, driver, limits, results;\n"
		       "%s\n", test->settings->report, test->settings->addresses ?
		       "and, as was asked for, names of interfaces, addresses and GUIDs" :
		       "no host names, addresses, GUIDs or data");
}

int report_end(struct selftest *test, bool complete)
{
	struct json_object *object = report_json(test, complete);
	int err = 0;

	if (test->settings->report)
		err = write_report(test, object);
	if (test->settings->common->json) {
		json_print(object, test->settings->common);
	} else {
		json_object_put(object);
		print_summary(test, complete, test->settings->report && !err);
	}
	if (test->unplugged)
		fprintf(stderr, "krdma: %s has been removed; this brings it back, as root:\n%s\n",
			test->settings->device, test->next_command);
	return err || !complete || test->counts[CHECK_FAILED] || test->counts[CHECK_NOT_RUN] ||
	       !test->counts[CHECK_PASSED] ? EXIT_FAILED : EXIT_OK;
}
