// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * JSON on standard output.  json-c does quoting, commas and indentation, and is small enough for a
 * static tool.
 */
#include <stdlib.h>

#include <json-c/json.h>

#include "cli.h"

/* json-c only fails if there is no memory. */
struct json_object *json_checked(struct json_object *value)
{
	if (!value)
		output_out_of_memory();
	return value;
}

void json_put(struct json_object *object, const char *key, struct json_object *value)
{
	if (json_object_object_add(object, key, json_checked(value)))
		output_out_of_memory();
}

void json_put_number(struct json_object *object, const char *key, uint64_t value)
{
	json_put(object, key, json_object_new_uint64(value));
}

void json_put_text(struct json_object *object, const char *key, const char *value)
{
	json_put(object, key, json_object_new_string(value));
}

void json_put_flags(struct json_object *object, const char *key, uint64_t flags,
		    const char *(*name)(uint64_t))
{
	struct json_object *array = json_checked(json_object_new_array());
	char text[FLAG_TEXT_MAX];
	const char *one;
	int bit;

	for (bit = 0; bit < 64; bit++) {
		if (!(flags & UINT64_C(1) << bit))
			continue;
		one = flag_text(text, UINT64_C(1) << bit, name);
		json_append(array, json_object_new_string(one));
	}
	json_put(object, key, array);
}

/* One digit after the point: json-c would print all digits of the double. */
void json_put_rate(struct json_object *object, const char *key, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.1f", value);
	json_put(object, key, json_object_new_double_s(value, text));
}

void json_append(struct json_object *array, struct json_object *value)
{
	if (json_object_array_add(array, json_checked(value)))
		output_out_of_memory();
}

/* Print @value and free it. */
void json_print(struct json_object *value, const struct options *options)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE;
	const char *text;

	if (options->pretty)
		flags |= JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED;
	text = json_object_to_json_string_ext(value, flags);
	if (!text)
		output_out_of_memory();
	puts(text);
	json_object_put(value);
}
