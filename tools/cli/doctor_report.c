// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma doctor: report results.
 */
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <json-c/json.h>

#include "doctor.h"

#define TEXT_MAX 512
/* Where texts and commands begin, and the least that a terminal must have for words to be kept. */
#define INDENT 17
#define COLUMNS_MIN (INDENT + 23)

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

/* Columns of the terminal; 0: it is none, or so narrow that lines break anywhere. */
static size_t columns(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col < COLUMNS_MIN)
		return 0;
	return size.ws_col;
}

/* Between words, as far as they fit.  In a file or a pipe, a text is one line. */
static void print_wrapped(const char *text)
{
	size_t room = columns() ? columns() - INDENT : TEXT_MAX, length, end;

	for (;;) {
		length = strlen(text);
		if (length <= room)
			break;
		for (end = room; end && text[end] != ' '; end--)
			;
		/* A word that is longer than a line. */
		if (!end)
			break;
		printf("%.*s\n%*s", (int)end, text, INDENT, "");
		text += end + 1;
	}
	puts(text);
}

/* Names of devices, interfaces and hosts may control a terminal, or be no UTF-8. */
ATTRIBUTE(format(printf, 2, 0))
static void format_text(char text[TEXT_MAX], const char *format, va_list arguments)
{
	/* With room for what is left of the last character, which printable() leaves out. */
	char raw[TEXT_MAX + 8];

	vsnprintf(raw, sizeof(raw), format, arguments);
	printable(text, TEXT_MAX, raw, strlen(raw));
}

void doctor_say(struct doctor *doctor, const char *check, enum verdict verdict,
		const char *format, ...)
{
	va_list arguments;
	char text[TEXT_MAX];

	va_start(arguments, format);
	format_text(text, format, arguments);
	va_end(arguments);
	doctor->warned += verdict == VERDICT_WARN;
	doctor->failed += verdict == VERDICT_FAIL;
	if (doctor->checks) {
		say_json(doctor, check, verdict, text);
		return;
	}
	printf("%s%-4s%s  %-9s  ", color_begin(verdict_colors[verdict]),
	       verdict_words[verdict], color_end(), check);
	print_wrapped(text);
	/* The next check may take a while. */
	fflush(stdout);
}

void doctor_mend(struct doctor *doctor, const char *note, const char *format, ...)
{
	va_list arguments;
	char command[TEXT_MAX];

	va_start(arguments, format);
	format_text(command, format, arguments);
	va_end(arguments);
	if (doctor->checks) {
		json_put_text(doctor->last, "remedy", command);
		if (note)
			json_put_text(doctor->last, "note", note);
		return;
	}
	/* A command stays in one line, so that it can be copied. */
	printf("%*s%s", INDENT, "", command);
	if (note && columns() && INDENT + strlen(command) + strlen(note) + 5 > columns()) {
		printf("\n%*s", INDENT, "");
		snprintf(command, sizeof(command), "(%s)", note);
		print_wrapped(command);
	} else if (note) {
		printf("   (%s)\n", note);
	} else {
		putchar('\n');
	}
	fflush(stdout);
}

const char *doctor_name(const char *name, const char *placeholder)
{
	return name_is_plain(name) ? name : placeholder;
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
