// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Option parsing, and the options common to all subcommands.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define SHORT_OPTIONS "djhV"

/* Distinguishes a common option from an option of the command with the same letter. */
#define COMMON 0x10000
#define OPTION_PRETTY 1
#define OPTIONS_MAX 48

static const struct option common_options[] = {
	{ "details", no_argument, NULL, COMMON | 'd' },
	{ "json", no_argument, NULL, COMMON | 'j' },
	{ "pretty", no_argument, NULL, COMMON | OPTION_PRETTY },
	{ "color", optional_argument, NULL, COMMON | 'C' },
	{ "help", no_argument, NULL, COMMON | 'h' },
	{ "version", no_argument, NULL, COMMON | 'V' },
};

static const struct own_option *find_own(const struct own_option *own, int key)
{
	for (; own && own->name; own++)
		if (own->key == key)
			return own;
	return NULL;
}

bool options_common(size_t index, const struct own_option *own, char *word, size_t size)
{
	size_t letters = strlen(SHORT_OPTIONS);

	if (index >= letters + ARRAY_SIZE(common_options))
		return false;
	if (index >= letters)
		snprintf(word, size, "--%s", common_options[index - letters].name);
	else if (find_own(own, SHORT_OPTIONS[index]))
		*word = '\0';
	else
		snprintf(word, size, "-%c", SHORT_OPTIONS[index]);
	return true;
}

static void complain_unknown(char **argv, const struct own_option *own)
{
	/* A long option is unknown, or has a value that it does not take. */
	if (!optopt || optopt >= OWN_OPTION || find_own(own, optopt))
		complain("unknown option '%s'; 'krdma help' lists the options", argv[optind - 1]);
	else
		complain("unknown option '-%c'; 'krdma help' lists the options", optopt);
}

static void apply_common(int option, struct options *options)
{
	switch (option) {
	case 'd':
		options->details = true;
		break;
	case OPTION_PRETTY:
		options->pretty = true;
		options->json = true;
		output_is_utf8();
		break;
	case 'j':
		options->json = true;
		output_is_utf8();
		break;
	case 'h':
		options->help = true;
		break;
	case 'V':
		printf("krdma %s\n", krdma_version());
		exit(close_standard_output(EXIT_OK));
	}
}

/* Build the tables for getopt.  Options of the command come first, so they take precedence. */
static void merge(const struct own_option *own, enum options_place place, char *letters,
		  struct option *table)
{
	if (place == BEFORE_COMMAND)
		*letters++ = '+';
	*letters++ = ':';
	for (; own && own->name; own++) {
		*table++ = (struct option) {
			.name = own->name,
			.has_arg = own->takes_value ? required_argument : no_argument,
			.val = own->key,
		};
		if (own->key >= OWN_OPTION)
			continue;
		*letters++ = (char)own->key;
		if (own->takes_value)
			*letters++ = ':';
	}
	memcpy(letters, SHORT_OPTIONS, sizeof(SHORT_OPTIONS));
	memcpy(table, common_options, sizeof(common_options));
	memset(table + ARRAY_SIZE(common_options), 0, sizeof(*table));
}

static int parse(int argc, char **argv, struct options *options, enum options_place place,
		 const struct own_option *own,
		 int (*set)(int key, const char *value, void *to), void *to)
{
	struct option table[OPTIONS_MAX + ARRAY_SIZE(common_options) + 1];
	char letters[2 * OPTIONS_MAX + sizeof(SHORT_OPTIONS) + 2];
	int option;

	if (options->probe) {
		*options->probe = own;
		return -1;
	}
	merge(own, place, letters, table);
	/* Each word of the command parses its own options; 0 makes getopt start again. */
	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, letters, table, NULL)) != -1) {
		if (option == '?') {
			complain_unknown(argv, own);
			return -1;
		}
		if (option == ':') {
			complain("the option '%s' needs a value", argv[optind - 1]);
			return -1;
		}
		if (option == (COMMON | 'C')) {
			if (color_choose(optarg))
				return -1;
		} else if (!set || !find_own(own, option)) {
			apply_common(option & ~COMMON, options);
		} else if (set(option, optarg, to)) {
			return -1;
		}
	}
	return optind;
}

int options_parse(int argc, char **argv, struct options *options, enum options_place place)
{
	return parse(argc, argv, options, place, NULL, NULL, NULL);
}

int options_parse_own(int argc, char **argv, struct options *options,
		      const struct own_option *own,
		      int (*set)(int key, const char *value, void *to), void *to)
{
	return parse(argc, argv, options, WITH_ARGUMENTS, own, set, to);
}
