// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma bench --compare: two saved results, side by side.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <json-c/json.h>

#include "bench.h"

/* A result has less than 1 KiB, and a run at most some thousand results. */
#define FILE_MAX (UINT32_C(16) << 20)

/* What both files must have in common for a pair of results. */
static const char * const keys[] = { "operation", "size", "depth", "batch" };

static double number_of(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? json_object_get_double(value) : 0;
}

/* The median in microseconds; 0 if the result has no times. */
static double median_of(struct json_object *result)
{
	struct json_object *times;

	if (!json_object_object_get_ex(result, "time_ns", &times) ||
	    !json_object_is_type(times, json_type_object))
		return 0;
	return number_of(times, "p50") / 1e3;
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

/* Returns the results in a file, and in @whole what is to be put; NULL after an error message. */
static struct json_object *read_results(const char *path, struct json_object **whole)
{
	struct json_object *results;
	struct stat status;
	size_t i, count;
	int err;

	*whole = NULL;
	err = stat(path, &status) ? errno : status.st_size > FILE_MAX ? EFBIG : 0;
	if (err) {
		complain("cannot read '%s': %s\nGive a file that 'krdma bench -j HOST' has written",
			 path, strerror(err));
		return NULL;
	}
	*whole = json_object_from_file(path);
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
	struct json_object *operation;
	char name[32];

	json_object_object_get_ex(result, "operation", &operation);
	printable(name, sizeof(name), json_object_get_string(operation),
		  strlen(json_object_get_string(operation)));
	printf("%-7s %8.0f %5.0f", name, number_of(result, "size"), number_of(result, "depth"));
}

static void print_row(struct json_object *old, struct json_object *new, enum bench_unit unit)
{
	print_name(old);
	print_pair(median_of(old), median_of(new), 2);
	print_pair(bench_in_unit(unit, number_of(old, "bytes_per_second")),
		   bench_in_unit(unit, number_of(new, "bytes_per_second")), 2);
	print_pair(number_of(old, "per_second"), number_of(new, "per_second"), 0);
	putchar('\n');
}

static size_t print_rows(struct json_object *old, struct json_object *new, enum bench_unit unit)
{
	size_t i, count = json_object_array_length(old), pairs = 0;

	printf("%-22s %17s %7s %17s %7s %17s\n", "", "p50 us", "", bench_unit_names[unit], "",
	       "per s");
	printf("%-7s %8s %5s", "", "size", "depth");
	for (i = 0; i < 3; i++)
		printf(" %8s %8s %7s", "old", "new", "change");
	putchar('\n');
	for (i = 0; i < count; i++) {
		struct json_object *result = json_object_array_get_idx(old, i);
		struct json_object *its = find(new, result);

		if (its) {
			print_row(result, its, unit);
			pairs++;
		}
	}
	return pairs;
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

int bench_compare(const struct bench_settings *settings, const char *old, const char *new)
{
	struct json_object *old_whole, *new_whole = NULL, *old_results, *new_results = NULL;
	int code = EXIT_FAILED;

	old_results = read_results(old, &old_whole);
	if (old_results)
		new_results = read_results(new, &new_whole);
	if (old_results && new_results) {
		if (print_rows(old_results, new_results, settings->unit))
			code = EXIT_OK;
		else
			complain("'%s' and '%s' have no measurement in common\n"
				 "Measure the same operations, sizes and depths", old, new);
		print_alone(old_results, new_results, "old");
		print_alone(new_results, old_results, "new");
	}
	json_object_put(old_whole);
	json_object_put(new_whole);
	return code;
}
