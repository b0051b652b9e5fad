// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma get, krdma put: copy files from and to a machine where krdma serve runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>

#include "cli.h"
#include "copy.h"
#include "value.h"

#define COPY_OPTIONS						\
	"  -r, --recursive  copy folders with all that is in them\n"	\
	"  -p, --preserve  keep times, and exactly the permission bits\n"	\
	"  -u, --update    only what differs in length or time; keeps times\n"	\
	"      --checksum  only what differs in length or content (SHA-256)\n"	\
	"  -C, --continue  continue an interrupted copy\n"	\
	"  -q, --quiet     no progress\n"				\
	"      --progress  show progress also without a terminal\n"	\
	"      --streams N  use N connections: for the data of a file, or with -r for N\n" \
	"                  files at a time (1)\n"			\
	"      --exact-mode  exactly the source's permission bits, whatever the umask\n" \
	"      --no-sync   do not wait for the disk\n"		\
	"  -k, --secret FILE  only with a server that knows this secret\n"

static const char get_usage[] =
	"Usage: krdma get [OPTION]... HOST:PATH [DEST]\n"
	"       krdma get [OPTION]... HOST:PATH... DIR\n"
	"\n"
	"Copies files from a machine where 'krdma serve' runs to DEST: a file, a folder,\n"
	"or - for standard output; by default to this folder.  PATH may have the\n"
	"wildcards *, ? and [...].  Also: HOST[:PORT]/PATH, rdma://HOST[:PORT]/PATH.\n"
	"\n"
	COPY_OPTIONS
	"      --hidden    take also names that begin with a dot or a hyphen\n"
	"\n"
	OPTIONS_HELP
	"\n"
	"Manual: krdma-get(1)\n";

static const char put_usage[] =
	"Usage: krdma put [OPTION]... FILE HOST:[PATH]\n"
	"       krdma put [OPTION]... FILE... HOST:[DIR]\n"
	"\n"
	"Copies files to a machine where 'krdma serve --write' runs.  FILE - is standard\n"
	"input.  Also: HOST[:PORT]/[PATH], rdma://HOST[:PORT]/[PATH].\n"
	"\n"
	COPY_OPTIONS
	"\n"
	OPTIONS_HELP
	"\n"
	"Manual: krdma-get(1)\n";

enum {
	OPTION_PROGRESS = OWN_OPTION,
	OPTION_EXACT_MODE,
	OPTION_NO_SYNC,
	OPTION_STREAMS,
	OPTION_HIDDEN,
	OPTION_CHECKSUM,
};

#define STREAMS_MAX	16

static const struct own_option own_options[] = {
	{ "recursive", 'r', false },
	{ "preserve", 'p', false },
	{ "update", 'u', false },
	{ "checksum", OPTION_CHECKSUM, false },
	{ "streams", OPTION_STREAMS, true },
	{ "hidden", OPTION_HIDDEN, false },
	{ "continue", 'C', false },
	{ "quiet", 'q', false },
	{ "progress", OPTION_PROGRESS, false },
	{ "exact-mode", OPTION_EXACT_MODE, false },
	{ "no-sync", OPTION_NO_SYNC, false },
	{ "secret", 'k', FILE_VALUE },
	{ NULL, 0, false },
};

static void interrupt(int number)
{
	copy_interrupted = number;
}

/* Handle each signal once: a second one ends the process without an orderly end. */
static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND };
	struct sigaction before;

	sigemptyset(&action.sa_mask);
	/* Also if it is ignored, as a shell sets it for background jobs. */
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* If nohup(1) has set SIGHUP to be ignored, keep that. */
	if (!sigaction(SIGHUP, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
	/* A closed pipe is an error of write(), like others. */
	signal(SIGPIPE, SIG_IGN);
}

static int set_option(int key, const char *value, void *to)
{
	struct copying *copying = to;
	uint64_t number;

	switch (key) {
	case 'r':
		copying->recursive = true;
		break;
	case 'p':
		copying->flags |= KRDMA_FILE_TIMES | KRDMA_FILE_EXACT_MODE;
		break;
	case 'u':
		/* Without its time, a copy would never be up to date. */
		copying->flags |= KRDMA_FILE_UPDATE | KRDMA_FILE_TIMES;
		break;
	case OPTION_CHECKSUM:
		copying->flags |= KRDMA_FILE_CHECKSUM;
		break;
	case OPTION_STREAMS:
		if (value_number("--streams", value, 1, STREAMS_MAX, &number))
			return -EINVAL;
		copying->streams = (unsigned int)number;
		break;
	case OPTION_HIDDEN:
		copying->hidden = true;
		break;
	case 'C':
		copying->flags |= KRDMA_FILE_CONTINUE;
		break;
	case 'q':
		copying->when = PROGRESS_NEVER;
		break;
	case OPTION_EXACT_MODE:
		copying->flags |= KRDMA_FILE_EXACT_MODE;
		break;
	case 'k':
		return secret_read(value, &copying->secret);
	case OPTION_NO_SYNC:
		copying->flags |= KRDMA_FILE_NO_SYNC;
		break;
	default:
		copying->when = PROGRESS_ALWAYS;
		break;
	}
	return 0;
}

/* The part of @path after the last slash. */
static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Whether a file or folder can have this name, or it only means one that has another. */
static bool is_file_name(const char *last)
{
	return *last && strcmp(last, ".") && strcmp(last, "..");
}

static bool is_folder(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISDIR(status.st_mode);
}

/*
 * A destination that is neither a regular file nor a folder is written to, not replaced.  Returns
 * false after an error message.
 */
static bool open_stream(struct copying *copying, const char *to)
{
	struct stat status;

	if (!strcmp(to, "-")) {
		copying->stream = STDOUT_FILENO;
	} else if (!stat(to, &status) && !S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode)) {
		copying->stream = open(to, O_WRONLY | O_NOCTTY | O_CLOEXEC);
		if (copying->stream < 0) {
			complain("cannot write to '%s': %s", to, strerror(errno));
			return false;
		}
	}
	return true;
}

/* Sync a device, and report errors that only fsync() or close() returns. */
static int close_stream(struct copying *copying, const char *to, int status)
{
	int err = 0;

	if (copying->stream < 0 || copying->stream == STDOUT_FILENO)
		return status;
	if (!(copying->flags & KRDMA_FILE_NO_SYNC) && fsync(copying->stream) && errno != EINVAL &&
	    errno != EROFS && errno != EOPNOTSUPP)
		err = errno;
	if (close(copying->stream) && errno != EINTR && !err)
		err = errno;
	if (!err)
		return status;
	complain("cannot write to '%s': %s\nThe data were not saved", to, strerror(err));
	return EXIT_FAILED;
}

/* Check the arguments without a server.  Returns 0, or an exit code. */
static int check_get(const struct copying *copying, int count, char **words, const char *to)
{
	struct url url;

	if (!strcmp(to, "-") && copying->options->json)
		return usage_error("-j cannot be used if the file goes to standard output");
	if (copying->stream >= 0 && copying->flags & KRDMA_FILE_CONTINUE)
		return usage_error("-C continues a file, and '%s' is not a file", to);
	if (copying->stream >= 0 && copying->recursive)
		return usage_error("-r needs a folder, and '%s' is not a folder", to);
	for (int i = 0; i < count; i++) {
		if (url_parse(words[i], KRDMA_FILE_PORT, &url))
			return EXIT_USAGE;
		if (!url.slash)
			return usage_error("'%s' names no file: HOST:PATH or HOST[:PORT]/PATH",
					   words[i]);
		if ((count > 1 || copy_glob_is(url.path)) && copying->stream < 0 && !is_folder(to))
			return usage_error("'%s' is not a folder here, as several files need",
					   to);
	}
	return EXIT_OK;
}

static int check_put(const struct copying *copying, int count, char **words, const char *to)
{
	struct url url;
	const char *last;

	if (url_parse(to, KRDMA_FILE_PORT, &url))
		return EXIT_USAGE;
	last = last_name(url.path);
	for (int i = 0; i < count; i++) {
		if (!strcmp(words[i], "-")) {
			if (count > 1 || !*last)
				return usage_error("standard input needs a name: HOST:PATH");
			if (copying->flags & (KRDMA_FILE_CONTINUE | COPY_SYNC))
				return usage_error("-C, -u and --checksum cannot be used with '-'");
		} else if (!copying->recursive && !*last_name(words[i])) {
			return usage_error("'%s' is not the name of a file", words[i]);
		}
	}
	return EXIT_OK;
}

/*
 * Get
 */

/*
 * Opens the folder @to, which the user has named, for something that is to be in it as @last.  What
 * is there is found from this descriptor: no symbolic link by that name may be followed.  @path: it
 * in words, for free().  Returns the descriptor, or -1 after an error message.
 */
static int open_folder(struct copying *copying, const char *name, const char *to,
		       const char *last, char **path)
{
	int folder = open(to, O_PATH | O_DIRECTORY | O_CLOEXEC), err = folder < 0 ? errno : 0;

	if (!err && asprintf(path, "%s%s%s", to, to[strlen(to) - 1] == '/' ? "" : "/", last) < 0) {
		close(folder);
		err = ENOMEM;
	}
	if (!err)
		return folder;
	complain("cannot get '%s' into '%s': %s", name, to, strerror(err));
	copying->total->failed++;
	return -1;
}

/* Returns -ENOTDIR if it is none. */
static int get_folder(struct copying *copying, const struct url *url, const char *name,
		      const char *to)
{
	const char *last = last_name(name);
	int folder, err;
	char *path;

	/* With a slash at its end, it means what is in the folder. */
	if (!is_file_name(last) || !is_folder(to))
		return copy_tree_get(copying, url, name, AT_FDCWD, to, to);
	folder = open_folder(copying, name, to, last, &path);
	if (folder < 0)
		return -EIO;
	err = copy_tree_get(copying, url, name, folder, last, path);
	close(folder);
	free(path);
	return err;
}

/* Gets a file whose name the user has not given in full: it replaces none, unless told to. */
static void get_found(struct copying *copying, const struct copy *copy, const char *last)
{
	struct copy found = *copy;
	char *path;

	found.folder = open_folder(copying, copy->name, copy->path, last, &path);
	if (found.folder < 0)
		return;
	if (!(copying->flags & COPY_SYNC))
		found.flags |= KRDMA_FILE_NEW;
	found.path = last;
	found.local = path;
	copy_one(copying, &found, 0);
	close(found.folder);
	free(path);
}

/* Gets what a word of the command names. */
static void get_name(struct copying *copying, const struct url *url, const char *name,
		     enum copy_naming naming, bool folder, void *context)
{
	const char *last = last_name(name), *to = context;
	const struct copy copy = {
		.url = url, .name = name, .folder = AT_FDCWD, .path = to, .local = to,
		.secret = copying->secret.length,
	};

	/* A pattern has to begin with the dot, too. */
	if (naming == COPY_FOUND && copying->stream < 0 &&
	    !copy_name_is_fine(copying, last, copying->hidden || *last == '.', to))
		return;
	if (copying->recursive && get_folder(copying, url, name, to) != -ENOTDIR)
		return;
	if (folder) {
		complain("'%s' was not copied: it is a folder\nGet all that is in it: -r", name);
		copying->total->failed++;
	} else if (naming == COPY_TYPED || copying->stream >= 0 || !is_file_name(last)) {
		copy_one(copying, &copy, 0);
	} else {
		get_found(copying, &copy, last);
	}
}

static void get_all(struct copying *copying, int count, char **words, char *to)
{
	struct url url;

	for (int i = 0; i < count && !copy_interrupted; i++) {
		url_parse(words[i], KRDMA_FILE_PORT, &url);
		if (copy_glob_is(url.path))
			copy_glob(copying, &url, url.path, get_name, to);
		else
			get_name(copying, &url, url.path, COPY_TYPED, false, to);
	}
}

/*
 * Put
 */

/* PATH names a folder if it ends with a slash, or if the server returns -EISDIR for it. */
static void put_one(struct copying *copying, const struct url *url, const char *file, bool folder)
{
	struct copy copy = {
		.put = true, .url = url, .folder = AT_FDCWD, .path = file, .local = file,
		.secret = copying->secret.length,
	};
	size_t length = strlen(url->path);
	bool open = length && url->path[length - 1] != '/';
	char *name;

	if (!folder && open) {
		copy.name = url->path;
		if (copy_one(copying, &copy, -EISDIR) != -EISDIR)
			return;
	}
	if (asprintf(&name, "%s%s%s", url->path, open ? "/" : "", last_name(file)) < 0) {
		complain("cannot put %s: out of memory", file);
		copying->total->failed++;
		return;
	}
	copy.name = name;
	copy_one(copying, &copy, 0);
	free(name);
}

/* Whether there is a folder of this name at the server. */
static bool is_folder_there(struct copying *copying, const struct url *url)
{
	struct krdma_file_entry *entries;
	size_t count;
	char *name;
	int err;

	if (asprintf(&name, "%s/", url->path) < 0)
		return false;
	err = copy_list(copying, url, name, 0, 1, &entries, &count, NULL);
	free(name);
	if (!err)
		krdma_file_list_free(entries);
	/* One that may not be listed is there too. */
	return !err || err == -EACCES || err == -EFBIG;
}

static void put_folder(struct copying *copying, const struct url *url, const char *from)
{
	const char *last = last_name(from);
	size_t length = strlen(url->path);
	char *name;

	/* With a slash at its end, it means what is in the folder. */
	if (!is_file_name(last)) {
		copy_tree_put(copying, from, url, url->path);
		return;
	}
	if (length && url->path[length - 1] != '/' && !is_folder_there(copying, url)) {
		if (!copying->lost)
			copy_tree_put(copying, from, url, url->path);
		return;
	}
	if (asprintf(&name, "%s%s%s", url->path,
		     length && url->path[length - 1] != '/' ? "/" : "", last) < 0) {
		complain("cannot put %s: out of memory", from);
		copying->total->failed++;
		return;
	}
	copy_tree_put(copying, from, url, name);
	free(name);
}

static void put_all(struct copying *copying, int count, char **words, const char *to)
{
	struct url url;

	url_parse(to, KRDMA_FILE_PORT, &url);
	for (int i = 0; i < count && !copy_interrupted; i++) {
		if (!strcmp(words[i], "-"))
			copy_input(copying, &url);
		else if (copying->recursive && is_folder(words[i]))
			put_folder(copying, &url, words[i]);
		else
			put_one(copying, &url, words[i], count > 1);
	}
}

/* All files of folders are shown together. */
static void begin_total(struct copying *copying, const char *what)
{
	if (!copying->recursive)
		return;
	copying->total->shown = true;
	progress_begin(&copying->total->progress, copying->when, what);
}

static void end_total(struct copying *copying)
{
	struct total *total = copying->total;
	size_t size = sizeof(total->progress.name);

	if (!total->shown || !(total->files + total->skipped))
		return;
	snprintf(total->progress.name, size, "%llu file%s",
		 (unsigned long long)(total->files + total->skipped),
		 total->files + total->skipped == 1 ? "" : "s");
	if (total->skipped)
		snprintf(total->progress.name, size, "%llu files, %llu up to date",
			 (unsigned long long)(total->files + total->skipped),
			 (unsigned long long)total->skipped);
	progress_end(&total->progress, total->done - total->transferred, total->done,
		     total->length);
}

/* @words: @count files, then their destination. */
static int copy_words(struct copying *copying, int count, char **words, char *to)
{
	struct total total = { .lock = PTHREAD_MUTEX_INITIALIZER };
	int status;

	if (!copying->put && !open_stream(copying, to))
		return EXIT_FAILED;
	status = copying->put ? check_put(copying, count, words, to) :
				check_get(copying, count, words, to);
	if (status)
		return status;
	if (open_session(&copying->session))
		return EXIT_FAILED;
	if (copying->options->json)
		copying->array = json_checked(json_object_new_array());
	catch_signals();
	copying->total = &total;
	copying->connections = copying->recursive ? 1 : copying->streams;
	begin_total(copying, count == 1 ? words[0] : to);
	if (copying->put)
		put_all(copying, count, words, to);
	else
		get_all(copying, count, words, to);
	end_total(copying);
	copy_disconnect(copying);
	krdma_close(copying->session);
	status = total.failed ? EXIT_FAILED : EXIT_OK;
	if (!copying->put)
		status = close_stream(copying, to, status);
	if (copying->array)
		json_print(copying->array, copying->options);
	return status;
}

static int copy_files(int argc, char **argv, struct options *options, bool put)
{
	struct copying copying = {
		.options = options, .put = put, .streams = 1, .stream = -1,
	};
	char here[] = ".";
	int first = options_parse_own(argc, argv, options, own_options, set_option, &copying);
	int count = argc - first, number, status;

	if (first < 0)
		return EXIT_USAGE;
	if (options->help || (count == 1 && is_help(argv[first]))) {
		fputs(put ? put_usage : get_usage, stdout);
		return EXIT_OK;
	}
	if (put && count < 2)
		return usage_error("'krdma put' needs FILE... and HOST:[PATH]; "
				   "see 'krdma put help'");
	if (!count)
		return usage_error("'krdma get' needs HOST:PATH; see 'krdma get help'");
	if (count == 1)
		status = copy_words(&copying, 1, argv + first, here);
	else
		status = copy_words(&copying, count - 1, argv + first, argv[argc - 1]);
	number = atomic_load(&copy_interrupted);
	if (number) {
		/* Raise the signal again, so that the parent process sees why this one ended. */
		close_standard_output(status);
		signal(number, SIG_DFL);
		raise(number);
	}
	return status;
}

int cmd_get(int argc, char **argv, struct options *options)
{
	return copy_files(argc, argv, options, false);
}

int cmd_put(int argc, char **argv, struct options *options)
{
	return copy_files(argc, argv, options, true);
}
