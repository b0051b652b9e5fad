// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Names that a peer chooses.
 */
#include "file_internal.h"

#include "utf8.h"

bool file_name_is_harmless(const char *last)
{
	size_t length;

	if (*last == '.' || *last == '-')
		return false;
	for (const char *at = last; *at; at += length) {
		length = utf8_shown(at);
		if (!length)
			return false;
	}
	return file_last_is_plain(last);
}
