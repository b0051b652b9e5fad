// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma ls: what a machine where krdma serve runs offers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <json-c/json.h>

#include "cli.h"
#include "copy.h"

static const char usage[] =
	"Usage: krdma ls [OPTION]... HOST:[PATH]...\n"
	"\n"
	"Lists the files and folders that 'krdma serve' offers.  PATH may have the\n"
	"wildcards *, ? and [...].  Also: HOST[:PORT]/[PATH], rdma://HOST[:PORT]/[PATH].\n"
	"\n"
	"  -a, --all        list names that begin with a dot, too\n"
	"  -l, --long       print type, permission bits, length and time\n"
	"  -r, --recursive  list folders with all that is in them\n"
	"  -k, --secret FILE  only with a server that knows this secret\n"
	"\n"
	OPTIONS_HELP
	"\n"
	"Manual: krdma-get(1)\n";

static const struct own_option own_options[] = {
	{ "all", 'a', false },
	{ "long", 'l', false },
	{ "recursive", 'r', false },
	{ "secret", 'k', FILE_VALUE },
	{ NULL, 0, false },
};

/**
 * struct listing - state of the command
 * @copying: what it shares with the commands that copy
 * @all: --all was given
 * @longer: --long was given
 * @several: the folder of each list is shown
 */
struct listing {
	struct copying copying;
	bool all;
	bool longer;
	bool several;
};

static int set_option(int key, const char *value, void *to)
{
	struct listing *listing = to;

	switch (key) {
	case 'a':
		listing->all = true;
		break;
	case 'l':
		listing->longer = true;
		break;
	case 'r':
		listing->copying.recursive = true;
		break;
	default:
		return secret_read(value, &listing->copying.secret);
	}
	return 0;
}

static const char *type_name(uint32_t type)
{
	switch (type) {
	case KRDMA_FILE_TYPE_FILE:
		return "file";
	case KRDMA_FILE_TYPE_FOLDER:
		return "folder";
	case KRDMA_FILE_TYPE_LINK:
		return "link";
	default:
		return "other";
	}
}

/* "-rw-r--r--" */
static void mode_text(const struct krdma_file_entry *entry, char text[11])
{
	static const char bits[] = "rwxrwxrwx";

	text[0] = entry->type == KRDMA_FILE_TYPE_FILE ? '-' :
		  entry->type == KRDMA_FILE_TYPE_FOLDER ? 'd' :
		  entry->type == KRDMA_FILE_TYPE_LINK ? 'l' : '?';
	for (int i = 0; i < 9; i++)
		text[1 + i] = entry->mode & 0400 >> i ? bits[i] : '-';
	text[10] = '\0';
}

static void time_text(const struct krdma_file_entry *entry, char text[32])
{
	time_t seconds = (time_t)entry->mtime_s;
	struct tm parts;

	if (!localtime_r(&seconds, &parts) || !strftime(text, 32, "%Y-%m-%d %H:%M", &parts))
		snprintf(text, 32, "?");
}

static void print_text(const struct listing *listing, const struct krdma_file_entry *entry)
{
	bool folder = entry->type == KRDMA_FILE_TYPE_FOLDER || entry->type == KRDMA_FILE_TYPE_LINK;
	char name[4 * KRDMA_FILE_NAME_MAX + 1], mode[11], when[32];

	name_text(name, sizeof(name), entry->name);
	if (listing->longer) {
		mode_text(entry, mode);
		time_text(entry, when);
		printf("%s %14llu %s ", mode, (unsigned long long)entry->length, when);
	}
	printf("%s%s\n", name, folder ? "/" : "");
}

static void add_json(struct listing *listing, const struct url *url, const char *within,
		     const struct krdma_file_entry *entry)
{
	struct json_object *object = json_checked(json_object_new_object());
	char text[4 * KRDMA_FILE_NAME_MAX + 1];

	json_put_text(object, "host", url->host);
	json_put_number(object, "port", url->port);
	name_json(text, sizeof(text), within);
	json_put_text(object, "folder", text);
	name_json(text, sizeof(text), entry->name);
	json_put_text(object, "name", text);
	json_put_text(object, "type", type_name(entry->type));
	json_put_number(object, "bytes", entry->length);
	snprintf(text, sizeof(text), "%04o", entry->mode);
	json_put_text(object, "mode", text);
	seconds_text(text, entry->mtime_s, entry->mtime_ns);
	json_put(object, "modified", json_object_new_double_s((double)entry->mtime_s, text));
	json_append(listing->copying.array, object);
}

/* Whether the name, or one of the folders in it, is hidden. */
static bool is_hidden(const char *name)
{
	return *name == '.' || strstr(name, "/.");
}

static bool is_wanted(const char *entry, const void *context)
{
	const struct listing *listing = context;

	return listing->all || !is_hidden(entry);
}

static void list(struct copying *copying, const struct url *url, const char *name,
		 enum copy_naming naming, bool folder, void *context)
{
	uint32_t flags = copying->recursive ? KRDMA_FILE_RECURSIVE : 0;
	struct listing *listing = context;
	char text[4 * KRDMA_FILE_NAME_MAX + 1];
	struct krdma_file_entry *entries;
	size_t count;

	if (copy_list(copying, url, name, flags, 0, &entries, &count, NULL))
		return;
	count = copy_list_readable(copying, url, name, is_wanted, listing, entries, count);
	if (listing->several && (naming != COPY_FOUND || folder) && !copying->array) {
		name_text(text, sizeof(text), name);
		printf("%s/%s:\n", url->host, text);
	}
	for (size_t i = 0; i < count; i++) {
		if (!is_wanted(entries[i].name, listing))
			continue;
		if (copying->array)
			add_json(listing, url, name, &entries[i]);
		else
			print_text(listing, &entries[i]);
	}
	krdma_file_list_free(entries);
}

static int list_all(struct listing *listing, int count, char **words)
{
	struct copying *copying = &listing->copying;
	struct total total = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct url url;

	for (int i = 0; i < count; i++) {
		if (url_parse(words[i], KRDMA_FILE_PORT, &url))
			return EXIT_USAGE;
		listing->several |= count > 1 || copy_glob_is(url.path);
	}
	if (open_session(&copying->session))
		return EXIT_FAILED;
	if (copying->options->json)
		copying->array = json_checked(json_object_new_array());
	copying->total = &total;
	for (int i = 0; i < count; i++) {
		url_parse(words[i], KRDMA_FILE_PORT, &url);
		if (copy_glob_is(url.path))
			copy_glob(copying, &url, url.path, list, listing);
		else
			list(copying, &url, url.path, COPY_TYPED, true, listing);
	}
	copy_disconnect(copying);
	krdma_close(copying->session);
	if (copying->array)
		json_print(copying->array, copying->options);
	return total.failed ? EXIT_FAILED : EXIT_OK;
}

int cmd_ls(int argc, char **argv, struct options *options)
{
	struct listing listing = {
		.copying = { .options = options, .verb = "ls", .stream = -1 },
	};
	int first = options_parse_own(argc, argv, options, own_options, set_option, &listing);
	int count = argc - first;

	if (first < 0)
		return EXIT_USAGE;
	if (options->help || (count == 1 && is_help(argv[first]))) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	if (!count)
		return usage_error("'krdma ls' needs HOST:[PATH]; see 'krdma ls help'");
	return list_all(&listing, count, argv + first);
}
