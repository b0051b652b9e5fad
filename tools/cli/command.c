// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Find the command that a word, which may be shortened, stands for.
 */
#include <string.h>

#include "cli.h"

const struct command *command_find(const struct command *table, const char *word)
{
	const struct command *command;
	size_t length = strlen(word);

	if (!length)
		return NULL;
	for (command = table; command->name; command++)
		if (!strncmp(command->name, word, length))
			return command;
	return NULL;
}

bool is_help(const char *word)
{
	return *word && !strncmp("help", word, strlen(word));
}
