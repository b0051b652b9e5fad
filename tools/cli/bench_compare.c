// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma bench --compare: two saved results, side by side.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "bench.h"
#include "bench_compare.h"

/* A result has less than 1 KiB, and a run at most some thousand results. */
#define FILE_MAX (UINT32_C(16) << 20)

/* What both files must have in common for a pair of results. */
static const char * const keys[] = { "operation", "size", "depth", "batch" };

double compare_number(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? json_object_get_double(value) : 0;
}

const char *compare_operation(struct json_object *result, char name[COMPARE_NAME_MAX])
{
	struct json_object *operation;
	const char *text = "";

	if (json_object_object_get_ex(result, "operation", &operation))
		text = json_object_get_string(operation);
	printable(name, COMPARE_NAME_MAX, text, strlen(text));
	return name;
}

double compare_time(struct json_object *result, const char *key)
{
	struct json_object *times;

	if (!json_object_object_get_ex(result, "time_ns", &times) ||
	    !json_object_is_type(times, json_type_object))
		return 0;
	return compare_number(times, key);
}

static bool is_result(struct json_object *result)
{
	struct json_object *value;
	size_t i;

	if (!json_object_is_type(result, json_type_object))
		return false;
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!json_object_object_get_ex(result, keys[i], &value) ||
		    !json_object_is_type(value, i ? json_type_int : json_type_string))
			return false;
	}
	return true;
}

static bool alike(struct json_object *a, struct json_object *b)
{
	struct json_object *left, *right;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		json_object_object_get_ex(a, keys[i], &left);
		json_object_object_get_ex(b, keys[i], &right);
		if (!json_object_equal(left, right))
			return false;
	}
	return true;
}

/* Returns the text of the file, or NULL and a negative errno in @err. */
static char *read_file(const char *path, size_t *length, int *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char *text = fd < 0 ? NULL : malloc(FILE_MAX + 1);
	ssize_t got = 0;

	*err = fd < 0 ? -errno : text ? 0 : -ENOMEM;
	*length = 0;
	/* A pipe or a device need not tell its size. */
	while (!*err && *length <= FILE_MAX) {
		got = read(fd, text + *length, FILE_MAX + 1 - *length);
		if (got < 0 && errno != EINTR)
			*err = -errno;
		else if (!got)
			break;
		else if (got > 0)
			*length += (size_t)got;
	}
	if (!*err && *length > FILE_MAX)
		*err = -EFBIG;
	if (fd >= 0)
		close(fd);
	if (*err) {
		free(text);
		return NULL;
	}
	return text;
}

static struct json_object *parse(const char *text, size_t length)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *whole = NULL;

	if (tokener && length)
		whole = json_tokener_parse_ex(tokener, text, (int)length);
	if (tokener)
		json_tokener_free(tokener);
	return whole;
}

/* Returns the results in a file, and in @whole what is to be put; NULL after an error message. */
static struct json_object *read_results(const char *path, struct json_object **whole)
{
	struct json_object *results;
	size_t i, count, length;
	char *text;
	int err;

	*whole = NULL;
	text = read_file(path, &length, &err);
	if (!text) {
		complain("cannot read '%s': %s\nGive a file that 'krdma bench -j HOST' has written",
			 path, strerror(-err));
		return NULL;
	}
	*whole = parse(text, length);
	free(text);
	if (!*whole || !json_object_is_type(*whole, json_type_object) ||
	    !json_object_object_get_ex(*whole, "results", &results) ||
	    !json_object_is_type(results, json_type_array))
		goto refuse;
	count = json_object_array_length(results);
	for (i = 0; i < count; i++) {
		if (!is_result(json_object_array_get_idx(results, i)))
			goto refuse;
	}
	return results;
refuse:
	complain("'%s' has no results of krdma bench\nSave them with: krdma bench -j HOST > %s",
		 path, path);
	return NULL;
}

static struct json_object *find(struct json_object *results, struct json_object *wanted)
{
	size_t i, count = json_object_array_length(results);

	for (i = 0; i < count; i++) {
		struct json_object *result = json_object_array_get_idx(results, i);

		if (alike(result, wanted))
			return result;
	}
	return NULL;
}

/* Two values, and by how much the second one is above the first. */
static void print_pair(double old, double new, int decimals)
{
	if (old > 0 && new > 0)
		printf(" %8.*f %8.*f %+6.1f%%", decimals, old, decimals, new,
		       (new - old) * 100 / old);
	else
		printf(" %8s %8s %7s", "-", "-", "-");
}

static void print_name(struct json_object *result)
{
	char name[COMPARE_NAME_MAX];

	printf("%-7s %8.0f %5.0f", compare_operation(result, name), compare_number(result, "size"),
	       compare_number(result, "depth"));
}

static void print_row(const struct pair *pair, const struct bench_settings *settings)
{
	struct json_object *old = pair->old, *new = pair->new;

	print_name(old);
	print_pair(compare_time(old, "p50") / 1e3, compare_time(new, "p50") / 1e3, 2);
	if (settings->common->details)
		print_pair(bench_in_unit(settings->unit, compare_number(old, "bytes_per_second")),
			   bench_in_unit(settings->unit, compare_number(new, "bytes_per_second")),
			   2);
	print_pair(compare_number(old, "per_second"), compare_number(new, "per_second"), 0);
	putchar('\n');
}

/* 80 columns; with -d 100.  Bytes change as the operations do. */
static void print_rows(const struct pairs *pairs, const struct bench_settings *settings)
{
	bool details = settings->common->details;
	size_t i;

	printf("%-22s %17s %7s", "", "p50 us", "");
	if (details)
		printf(" %17s %7s", bench_unit_names[settings->unit], "");
	printf(" %17s\n%-7s %8s %5s", "per s", "", "size", "depth");
	for (i = 0; i < (details ? 3 : 2); i++)
		printf(" %8s %8s %7s", "old", "new", "change");
	putchar('\n');
	for (i = 0; i < pairs->count; i++)
		print_row(&pairs->list[i], settings);
}

static int find_pairs(struct pairs *pairs, struct json_object *old, struct json_object *new)
{
	size_t i, count = json_object_array_length(old);

	pairs->list = calloc(count ? count : 1, sizeof(*pairs->list));
	if (!pairs->list) {
		complain("out of memory");
		return -ENOMEM;
	}
	for (i = 0; i < count; i++) {
		struct json_object *result = json_object_array_get_idx(old, i);
		struct json_object *its = find(new, result);

		if (its)
			pairs->list[pairs->count++] = (struct pair) { result, its };
	}
	return 0;
}

/* An existing file is kept until the new picture is complete. */
static int plot(const struct bench_settings *settings, const struct pairs *pairs)
{
	struct new_file file;
	int err = new_file_open(&file, settings->plot), failed;

	if (!err) {
		err = compare_plot(pairs, settings->unit, file.stream);
		failed = new_file_close(&file, settings->plot, !err);
		err = err ? err : failed;
	}
	if (err)
		complain("cannot write the picture to %s: %s", settings->plot, strerror(-err));
	return err;
}

static void print_alone(struct json_object *some, struct json_object *others, const char *where)
{
	size_t i, count = json_object_array_length(some);

	for (i = 0; i < count; i++) {
		struct json_object *result = json_object_array_get_idx(some, i);

		if (!find(others, result)) {
			print_name(result);
			printf("  only in the %s one\n", where);
		}
	}
}

static int compare(const struct bench_settings *settings, struct json_object *old_results,
		   struct json_object *new_results)
{
	struct pairs pairs = { 0 };
	int err = find_pairs(&pairs, old_results, new_results);

	if (!err) {
		print_rows(&pairs, settings);
		print_alone(old_results, new_results, "old");
		print_alone(new_results, old_results, "new");
	}
	if (!err && pairs.count && settings->plot)
		err = plot(settings, &pairs);
	free(pairs.list);
	return err ? err : pairs.count ? 0 : -ENOENT;
}

int bench_compare(const struct bench_settings *settings, const char *old, const char *new)
{
	struct json_object *old_whole, *new_whole = NULL, *old_results, *new_results = NULL;
	int err = -EINVAL;

	old_results = read_results(old, &old_whole);
	if (old_results)
		new_results = read_results(new, &new_whole);
	if (old_results && new_results)
		err = compare(settings, old_results, new_results);
	if (err == -ENOENT)
		complain("'%s' and '%s' have no measurement in common\n"
			 "Measure the same operations, sizes and depths", old, new);
	json_object_put(old_whole);
	json_object_put(new_whole);
	return err ? EXIT_FAILED : EXIT_OK;
}
