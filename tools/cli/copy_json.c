// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Results of copied files as JSON.
 */
#include <json-c/json.h>

#include "cli.h"
#include "copy.h"

void copy_json(struct json_object *object, const struct copy_figures *figures)
{
	double seconds = (double)figures->nanoseconds / 1e9;
	char text[32];

	json_put_number(object, "bytes", figures->length);
	json_put_number(object, "transferred", figures->transferred);
	json_put_number(object, "resumed_from", figures->resumed_from);
	/* json-c would print all digits of the double. */
	snprintf(text, sizeof(text), "%.6f", seconds);
	json_put(object, "seconds", json_object_new_double_s(seconds, text));
	json_put_number(object, "bytes_per_second",
			seconds > 0 ? (uint64_t)((double)figures->transferred / seconds) : 0);
	if (figures->error) {
		json_put_text(object, "error", krdma_error_name(figures->error));
		return;
	}
	snprintf(text, sizeof(text), "%08x", figures->crc32c);
	json_put_text(object, "crc32c", text);
}
