/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What a shell may offer where a command line ends.
 */
#ifndef KRDMA_COMPLETION_H
#define KRDMA_COMPLETION_H

#include "cli.h"

/*
 * krdma completion -- WORD...: @argv[0] is "completion", and the last word is the one that
 * is being typed.  It is not a command for people, and not listed with the others.
 *
 * The first line of the answer is "words", and the words to offer follow, one a line; or it
 * is "files", and the shell offers names of files as it does for any command.
 */
int cmd_completion(int argc, char **argv, const struct command *commands);

#endif /* KRDMA_COMPLETION_H */
