// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Completions that a shell can offer for the last word of a command line.
 *
 * The scripts for the shells (krdma.bash, krdma.zsh, krdma.fish) pass the words of the command line
 * and offer the words returned.  The scripts know no command and no option: these come from the
 * tables with which the tool parses its command line, so that both are always the same.
 */
#include <dirent.h>
#include <string.h>

#include "bench.h"
#include "completion.h"
#include "objects.h"

#define DISKS		"/dev"
#define DISK_PREFIX	"krdmab"

/**
 * struct request - a command line to complete
 * @commands: the commands of the tool
 * @command: the command on the command line, or NULL if there is none yet
 * @own: the options of @command, or NULL
 * @arguments: number of arguments of @command before the current word
 * @first: the first of these arguments
 * @value_of: the option whose value the current word is, or NULL
 * @only_arguments: "--" was given, so no option follows
 * @current: the word being typed
 */
struct request {
	const struct command *commands;
	const struct command *command;
	const struct own_option *own;
	unsigned int arguments;
	const char *first;
	const struct own_option *value_of;
	bool only_arguments;
	const char *current;
};

static void offer(const struct request *request, const char *word)
{
	if (!strncmp(word, request->current, strlen(request->current)))
		puts(word);
}

/*
 * Options
 */

static void offer_options(const struct request *request)
{
	const struct own_option *own = request->own;
	char word[64];

	for (; own && own->name; own++) {
		if (own->key < OWN_OPTION) {
			snprintf(word, sizeof(word), "-%c", own->key);
			offer(request, word);
		}
		snprintf(word, sizeof(word), "--%s", own->name);
		offer(request, word);
	}
	for (size_t i = 0; options_common(i, request->own, word, sizeof(word)); i++) {
		if (*word)
			offer(request, word);
	}
}

/* Find a long option, which may be shortened as getopt_long() accepts it. */
static const struct own_option *find_long(const struct own_option *own, const char *name,
					  size_t length)
{
	const struct own_option *begun = NULL;

	for (; own && own->name; own++) {
		if (strncmp(own->name, name, length))
			continue;
		if (!own->name[length])
			return own;
		begun = own;
	}
	return begun;
}

static const struct own_option *find_letter(const struct own_option *own, char letter)
{
	for (; own && own->name; own++) {
		if (own->key == letter)
			return own;
	}
	return NULL;
}

/* Returns the option in @word whose value is the next word, or NULL. */
static const struct own_option *wants_next(const struct own_option *own, const char *word)
{
	const struct own_option *option;

	if (!strncmp(word, "--", 2)) {
		if (strchr(word, '='))
			return NULL;
		option = find_long(own, word + 2, strlen(word + 2));
		return option && option->takes_value ? option : NULL;
	}
	for (word++; *word; word++) {
		option = find_letter(own, *word);
		/* If more characters follow in this word, they are the value. */
		if (option && option->takes_value)
			return word[1] ? NULL : option;
	}
	return NULL;
}

/*
 * Arguments
 */

static void offer_first(const struct request *request, const char *word)
{
	if (!request->arguments)
		offer(request, word);
}

static void offer_help(const struct request *request)
{
	offer_first(request, "help");
}

static void offer_files(const struct request *request)
{
	(void)request;
	puts("files");
}

/* Without the module, print no error: it would disturb the line that the user types. */
static void offer_devices(const struct request *request)
{
	struct krdma_device_query_args device = { 0 };
	char name[sizeof(device.name) + 1];
	struct krdma *session;

	if (krdma_open(&session))
		return;
	while (!krdma_device_next(session, device.id, &device, sizeof(device))) {
		size_t length = printable(name, sizeof(name), device.name, sizeof(device.name));

		/* A name that printable() changed cannot be typed either. */
		if (!memcmp(name, device.name, length))
			offer(request, name);
	}
	krdma_close(session);
}

static void offer_disks(const struct request *request)
{
	DIR *folder = opendir(DISKS);
	char path[sizeof(DISKS) + sizeof(((struct dirent *)NULL)->d_name) + 1];
	const char *number;
	struct dirent *entry;

	if (!folder)
		return;
	while ((entry = readdir(folder))) {
		if (strncmp(entry->d_name, DISK_PREFIX, strlen(DISK_PREFIX)))
			continue;
		number = entry->d_name + strlen(DISK_PREFIX);
		/* Offer whole devices, not partitions. */
		if (!*number || number[strspn(number, "0123456789")])
			continue;
		snprintf(path, sizeof(path), "%s/%s", DISKS, entry->d_name);
		offer(request, path);
	}
	closedir(folder);
}

static void offer_dev(const struct request *request)
{
	if (!request->arguments) {
		offer(request, "show");
		offer(request, "help");
	} else if (request->arguments == 1 && !is_help(request->first)) {
		offer_devices(request);
	}
}

static void offer_bench(const struct request *request)
{
	if (!request->arguments)
		return;
	for (int operation = 0; operation < BENCH_OPERATIONS; operation++)
		offer(request, bench_operation_names[operation]);
}

static void offer_stat(const struct request *request)
{
	for (int kind = 0; kind < OBJECT_KINDS; kind++)
		offer_first(request, object_kind_names((enum object_kind)kind));
	offer_first(request, "ports");
	offer_help(request);
}

static void offer_blk(const struct request *request)
{
	static const char * const verbs[] = {
		"serve", "end", "clients", "evict", "grow", "attach", "detach", "list", "help",
	};

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		offer_first(request, verbs[i]);
	if (request->arguments == 1 && request->first[0] == 'd')
		offer_disks(request);
}

static void offer_selftest(const struct request *request)
{
	if (request->arguments)
		return;
	offer_devices(request);
	offer_help(request);
}

static void offer_commands(const struct request *request, bool help)
{
	for (const struct command *command = request->commands; command->name; command++) {
		if (help || !is_help(command->name))
			offer(request, command->name);
	}
}

static void offer_help_of(const struct request *request)
{
	if (!request->arguments)
		offer_commands(request, false);
}

/* For a command that is not in this table, only options are offered. */
static const struct {
	const char *command;
	void (*offer)(const struct request *request);
} arguments[] = {
	{ "dev", offer_dev },
	{ "info", offer_help },
	{ "bench", offer_bench },
	{ "stat", offer_stat },
	{ "top", offer_help },
	{ "serve", offer_files },
	{ "get", offer_files },
	{ "put", offer_files },
	{ "ls", offer_help },
	{ "monitor", offer_help },
	{ "doctor", offer_help },
	{ "blk", offer_blk },
	{ "selftest", offer_selftest },
	{ "trunk", offer_help },
	{ "help", offer_help_of },
};

static void offer_arguments(const struct request *request)
{
	for (size_t i = 0; i < ARRAY_SIZE(arguments); i++) {
		if (strcmp(arguments[i].command, request->command->name))
			continue;
		if (arguments[i].offer != offer_files)
			puts("words");
		arguments[i].offer(request);
	}
}

/*
 * The words before the current one
 */

/* bash splits words before and after ":" and "=". */
static bool joins(const char *word)
{
	return *word && !word[strspn(word, ":=")];
}

/* Get the option table of a command.  With @probe set, the command does nothing else. */
static const struct own_option *options_of(const struct command *command)
{
	char name[] = "completion", *argv[] = { name, NULL };
	const struct own_option *own = NULL;
	struct options options = { .probe = &own };

	/* "help" has no options and does not parse any. */
	if (is_help(command->name))
		return NULL;
	command->run(1, argv, &options);
	return own;
}

/* Returns false if nothing can be offered. */
static bool read_word(struct request *request, const char *word)
{
	if (request->value_of) {
		request->value_of = NULL;
	} else if (!request->only_arguments && !strcmp(word, "--")) {
		request->only_arguments = true;
	} else if (!request->only_arguments && word[0] == '-' && word[1]) {
		request->value_of = wants_next(request->own, word);
	} else if (!request->command) {
		request->command = command_find(request->commands, word);
		if (!request->command)
			return false;
		request->own = options_of(request->command);
		request->only_arguments = false;
	} else {
		if (!request->arguments++)
			request->first = word;
	}
	return true;
}

static bool read_words(struct request *request, int count, char **words)
{
	const struct own_option *option;

	for (int i = 0; i < count - 1; i++) {
		if (!joins(words[i])) {
			if (!read_word(request, words[i]))
				return false;
			continue;
		}
		/* Skip the rest of a split word.  If it is the current one, it is the value. */
		option = request->value_of;
		request->value_of = NULL;
		if (++i < count - 1)
			continue;
		request->value_of = option;
		return option;
	}
	request->current = words[count - 1];
	if (joins(request->current)) {
		request->current = "";
		return request->value_of;
	}
	return true;
}

/* The option of a current word such as "--report=FILE", or NULL. */
static const struct own_option *begun_value(const struct request *request)
{
	const char *word = request->current, *end = strchr(word, '=');

	if (request->only_arguments || strncmp(word, "--", 2) || !end)
		return NULL;
	return find_long(request->own, word + 2, (size_t)(end - word) - 2);
}

int cmd_completion(int argc, char **argv, const struct command *commands)
{
	struct request request = { .commands = commands, .current = "" };

	if (argc < 3 || strcmp(argv[1], "--"))
		return usage_error("'krdma completion' is for scripts of shells: -- WORD...");
	if (!read_words(&request, argc - 2, argv + 2))
		return EXIT_OK;
	if (!request.value_of)
		request.value_of = begun_value(&request);
	if (request.value_of) {
		if (request.value_of->takes_value == FILE_VALUE)
			puts("files");
	} else if (request.current[0] == '-' && !request.only_arguments) {
		puts("words");
		offer_options(&request);
	} else if (!request.command) {
		puts("words");
		offer_commands(&request, true);
	} else {
		offer_arguments(&request);
	}
	return EXIT_OK;
}
