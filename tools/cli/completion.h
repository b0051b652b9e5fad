/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Completions that a shell can offer for the last word of a command line.
 */
#ifndef KRDMA_COMPLETION_H
#define KRDMA_COMPLETION_H

#include "cli.h"

/*
 * krdma completion -- WORD...: @argv[0] is "completion", and the last word is the one being typed.
 * The command is for the scripts of the shells only, and is not listed with the others.
 *
 * If the first line of the answer is "words", the words to offer follow, one per line.  If it is
 * "files", the shell offers names of files as it does for any command.
 */
int cmd_completion(int argc, char **argv, const struct command *commands);

#endif /* KRDMA_COMPLETION_H */
