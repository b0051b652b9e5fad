// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Names that the server chose: it could plant a file that a program reads unasked.
 */
#include <errno.h>

#include "cli.h"
#include "copy.h"

bool copy_name_is_fine(struct copying *copying, const char *last, bool hidden, const char *place)
{
	int err = krdma_file_name_check(last, hidden ? KRDMA_FILE_NAME_HIDDEN : 0);

	if (!err)
		return true;
	copying->total->failed++;
	if (err == -EPERM) {
		complain("'%s' in '%s' was not copied: its name begins with '%c'\n"
			 "Copy such files too: --hidden",
			 last, place, *last);
		return false;
	}
	complain("'%s' in '%s' was not copied: its name has control or invisible characters\n"
		 "Copy it by its name, and give it another one", last, place);
	return false;
}
