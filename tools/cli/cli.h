/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma, the tool: declarations that its files share.
 *
 * Each subcommand has a file cmd_NAME.c and a line in the table of main.c.
 */
#ifndef KRDMA_CLI_H
#define KRDMA_CLI_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "krdma.h"

struct json_object;

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* Exit codes, documented in krdma(8).  Their meaning never changes. */
enum {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
};

/* options.c: the options common to all subcommands. */
struct own_option;

/*
 * @probe: for completion.c: instead of parsing, store the command's own options here and fail, so
 * that the command does nothing.  NULL otherwise.
 */
struct options {
	bool details;
	bool json;
	bool pretty;
	bool help;
	const struct own_option **probe;
};

enum options_place {
	BEFORE_COMMAND,		/* another word of the command follows */
	WITH_ARGUMENTS,		/* anywhere among the arguments of the command */
};

#define OPTIONS_HELP						\
	"Options, before the command or after it:\n"		\
	"  -d, --details  say more\n"				\
	"  -j, --json     JSON instead of text\n"		\
	"      --pretty   JSON with line breaks and indents\n"	\
	"      --color[=WHEN]  never, always, or auto: at a terminal\n" \
	"  -h, --help     this help\n"

/* Returns the index of the first argument that is not an option, or -1 after an error message. */
int options_parse(int argc, char **argv, struct options *options, enum options_place place);

/*
 * An option of one command.  @key is its letter, which replaces a common option with the same
 * letter; or, without a letter, a number from OWN_OPTION on.  A table has at most 48 options and
 * ends with a NULL name.
 */
#define OWN_OPTION 256

/* The value of an option: none, any text, or the name of a file. */
enum option_value {
	NO_VALUE = false,
	ANY_VALUE = true,
	FILE_VALUE,
};

struct own_option {
	const char *name;
	int key;
	enum option_value takes_value;
};

/*
 * The same, with options of the command: @set is called for each of them, and returns nonzero after
 * an error message.
 */
int options_parse_own(int argc, char **argv, struct options *options,
		      const struct own_option *own,
		      int (*set)(int key, const char *value, void *to), void *to);

/*
 * Get the common option number @index, from 0 on, as it is typed; "" if an option of @own has its
 * letter.  Returns false after the last one.
 */
bool options_common(size_t index, const struct own_option *own, char *word, size_t size);

/* command.c: words of the command line that may be shortened. */
struct command {
	const char *name;
	int (*run)(int argc, char **argv, struct options *options);
};

/* Returns the first command in the table whose name begins with @word, or NULL. */
const struct command *command_find(const struct command *table, const char *word);
bool is_help(const char *word);

/* errors.c: messages on standard error: what failed, why, and what to do. */
#define ATTRIBUTE(what) __attribute__((what))

ATTRIBUTE(format(printf, 1, 2)) void complain(const char *format, ...);
ATTRIBUTE(format(printf, 1, 2)) int usage_error(const char *format, ...);
int open_session(struct krdma **session);
/* For commands that open no session.  Returns 0, or -ENOENT after an error message. */
int require_module(void);
void complain_request(const char *what, int err);
/* Half of a table or of JSON is useless, so this exits. */
ATTRIBUTE(noreturn) void output_out_of_memory(void);

/* -EDQUOT without a session; with one, cause_of_quota() tells which limit it is. */
#define QUOTA_REACHED	"a limit for this user or its control group is reached"
#define QUOTA_SHOWN	"To see which one: krdma info"

/* output.c: text and JSON on standard output. */
#define SIZE_TEXT_MAX 32
#define GUID_TEXT_MAX 20
#define FLAG_TEXT_MAX 24

void reserve_standard_streams(void);
int close_standard_output(int status);
/*
 * color.c: colors of standard output.  Without --color they are used at a terminal, unless NO_COLOR
 * is set.
 */
enum color {
	COLOR_GOOD,
	COLOR_DOUBTFUL,
	COLOR_BAD,
};

/* @when: the value of --color; NULL: always.  Returns 0, or -EINVAL after an error message. */
int color_choose(const char *when);
/* Sequences for the terminal; empty without colors. */
const char *color_begin(enum color color);
const char *color_end(void);

/* Seconds since 1970 as a decimal number.  Nanoseconds count up from @seconds, also before 1970. */
#define SECONDS_TEXT_MAX 40

void seconds_text(char text[SECONDS_TEXT_MAX], int64_t seconds, uint32_t nanoseconds);

/* From now on printable() keeps UTF-8, whatever the locale is. */
void output_is_utf8(void);
size_t printable(char *to, size_t to_size, const char *from, size_t from_size);
size_t name_text(char *to, size_t to_size, const char *from);
bool name_is_plain(const char *name);
size_t name_json(char *to, size_t to_size, const char *from);
ATTRIBUTE(format(printf, 1, 0)) char *message_text(const char *format, va_list arguments);
const char *size_text(char text[SIZE_TEXT_MAX], uint64_t bytes);
const char *guid_text(char text[GUID_TEXT_MAX], uint64_t guid);
const char *flag_text(char text[FLAG_TEXT_MAX], uint64_t flag, const char *(*name)(uint64_t));
void print_flags(uint64_t flags, const char *(*name)(uint64_t));

/*
 * new_file.c: a file that appears only when it is complete.  It is created in the folder of the
 * file that it replaces, with a random name.  A link to a file is replaced, too.  A pipe, a device
 * and a standard stream such as /dev/stdout are written in place; a link to another device is
 * refused with -ELOOP.  open returns 0 or a negative errno.  close without @keep removes the new
 * file.
 */
struct new_file {
	FILE *stream;
	/* NULL: written in place. */
	char *path;
};

int new_file_open(struct new_file *file, const char *path);
int new_file_close(struct new_file *file, const char *path, bool keep);

/* secret.c: opens a file that other users cannot read.  -EINVAL after an error message. */
int secret_open(const char *path);

/* json.c: objects that know how to run out of memory. */
struct json_object *json_checked(struct json_object *value);
void json_put(struct json_object *object, const char *key, struct json_object *value);
void json_put_number(struct json_object *object, const char *key, uint64_t value);
void json_put_text(struct json_object *object, const char *key, const char *value);
void json_put_flags(struct json_object *object, const char *key, uint64_t flags,
		    const char *(*name)(uint64_t));
void json_put_rate(struct json_object *object, const char *key, double value);
void json_append(struct json_object *array, struct json_object *value);
void json_print(struct json_object *value, const struct options *options);

int cmd_dev(int argc, char **argv, struct options *options);
int cmd_info(int argc, char **argv, struct options *options);
int cmd_ping(int argc, char **argv, struct options *options);
int cmd_bench(int argc, char **argv, struct options *options);
int cmd_stat(int argc, char **argv, struct options *options);
int cmd_top(int argc, char **argv, struct options *options);
int cmd_serve(int argc, char **argv, struct options *options);
int cmd_get(int argc, char **argv, struct options *options);
int cmd_put(int argc, char **argv, struct options *options);
int cmd_ls(int argc, char **argv, struct options *options);
int cmd_monitor(int argc, char **argv, struct options *options);
int cmd_doctor(int argc, char **argv, struct options *options);
int cmd_blk(int argc, char **argv, struct options *options);
int cmd_selftest(int argc, char **argv, struct options *options);
int cmd_trunk(int argc, char **argv, struct options *options);

#endif /* KRDMA_CLI_H */
