// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Names that a peer chooses.
 */
#include "file_internal.h"

#include <errno.h>

#include "utf8.h"

/* Whether it consists of characters that can be shown. */
static bool is_text(const char *name)
{
	size_t length;

	for (; *name; name += length) {
		length = utf8_shown(name);
		if (!length)
			return false;
	}
	return true;
}

bool file_name_is_harmless(const char *last)
{
	return *last != '.' && *last != '-' && file_last_is_plain(last) && is_text(last);
}

KRDMA_PUBLIC int krdma_file_name_check(const char *name, uint32_t flags)
{
	if (!name || flags & ~(uint32_t)KRDMA_FILE_NAME_HIDDEN)
		return -EINVAL;
	if (!file_last_is_plain(name) || !is_text(name))
		return -EILSEQ;
	if (*name == '.' || *name == '-')
		return flags & KRDMA_FILE_NAME_HIDDEN ? 0 : -EPERM;
	return 0;
}
