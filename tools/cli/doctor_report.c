// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma doctor: report results.
 */
#include <stdarg.h>

#include <json-c/json.h>

#include "doctor.h"

#define TEXT_MAX 512

static const char * const verdict_names[] = {
	[VERDICT_OK] = "ok",
	[VERDICT_WARN] = "warn",
	[VERDICT_FAIL] = "fail",
};

static const char * const verdict_words[] = {
	[VERDICT_OK] = "OK",
	[VERDICT_WARN] = "WARN",
	[VERDICT_FAIL] = "FAIL",
};

static const enum color verdict_colors[] = {
	[VERDICT_OK] = COLOR_GOOD,
	[VERDICT_WARN] = COLOR_DOUBTFUL,
	[VERDICT_FAIL] = COLOR_BAD,
};

static void say_json(struct doctor *doctor, const char *check, enum verdict verdict,
		     const char *text)
{
	struct json_object *object = json_checked(json_object_new_object());

	json_put_text(object, "check", check);
	json_put_text(object, "verdict", verdict_names[verdict]);
	json_put_text(object, "text", text);
	json_append(doctor->checks, object);
	doctor->last = object;
}

void doctor_say(struct doctor *doctor, const char *check, enum verdict verdict,
		const char *format, ...)
{
	va_list arguments;
	char text[TEXT_MAX];

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	doctor->warned += verdict == VERDICT_WARN;
	doctor->failed += verdict == VERDICT_FAIL;
	if (doctor->checks) {
		say_json(doctor, check, verdict, text);
		return;
	}
	printf("%s%-4s%s  %-9s  %s\n", color_begin(verdict_colors[verdict]),
	       verdict_words[verdict], color_end(), check, text);
	/* The next check may take a while. */
	fflush(stdout);
}

void doctor_mend(struct doctor *doctor, const char *note, const char *format, ...)
{
	va_list arguments;
	char command[TEXT_MAX];

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	if (doctor->checks) {
		json_put_text(doctor->last, "remedy", command);
		if (note)
			json_put_text(doctor->last, "note", note);
		return;
	}
	printf("                 %s", command);
	if (note)
		printf("   (%s)", note);
	putchar('\n');
	fflush(stdout);
}

int doctor_conclude(struct doctor *doctor)
{
	struct json_object *object;

	if (doctor->checks) {
		object = json_checked(json_object_new_object());
		json_put(object, "checks", doctor->checks);
		json_put_number(object, "warned", doctor->warned);
		json_put_number(object, "failed", doctor->failed);
		json_print(object, doctor->options);
	}
	return doctor->failed ? EXIT_FAILED : EXIT_OK;
}
