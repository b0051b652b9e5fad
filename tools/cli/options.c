// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The options that every subcommand knows.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define SHORT_OPTIONS "djphV"

static const struct option long_options[] = {
	{ "details", no_argument, NULL, 'd' },
	{ "json", no_argument, NULL, 'j' },
	{ "pretty", no_argument, NULL, 'p' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static void complain_unknown(char **argv)
{
	/* A word with two dashes, unknown or with a value that it does not take. */
	if (!optopt || strchr(SHORT_OPTIONS, optopt))
		complain("unknown option '%s'; 'krdma help' lists the options", argv[optind - 1]);
	else
		complain("unknown option '-%c'; 'krdma help' lists the options", optopt);
}

int options_parse(int argc, char **argv, struct options *options, enum options_place place)
{
	const char *letters = place == BEFORE_COMMAND ? "+" SHORT_OPTIONS : SHORT_OPTIONS;
	int option;

	/* Each word of the command parses on its own: 0 makes getopt start over. */
	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, letters, long_options, NULL)) != -1) {
		switch (option) {
		case 'd':
			options->details = true;
			break;
		case 'p':
			options->pretty = true;
			options->json = true;
			break;
		case 'j':
			options->json = true;
			break;
		case 'h':
			options->help = true;
			break;
		case 'V':
			printf("krdma %s\n", krdma_version());
			exit(close_standard_output(EXIT_OK));
		default:
			complain_unknown(argv);
			return -1;
		}
	}
	return optind;
}
