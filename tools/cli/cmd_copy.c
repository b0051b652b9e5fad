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

#define COPY_OPTIONS						\
	"  -c, --continue  go on from what an earlier try has left\n"	\
	"  -q, --quiet     no progress\n"				\
	"      --progress  progress, also if it is no terminal\n"	\
	"      --exact-mode  exactly the permission bits of the source, whatever the umask\n" \
	"      --no-sync   do not wait for the disk\n"		\
	"      --secret FILE  of a server that knows this secret too\n"	\
	"\n"

static const char get_usage[] =
	"Usage: krdma get [OPTION]... HOST[:PORT]/PATH [DEST]\n"
	"       krdma get [OPTION]... HOST[:PORT]/PATH... DIR\n"
	"\n"
	"Gets files from a machine where 'krdma serve' runs: to DEST, a name or a folder, into\n"
	"this folder without it; or to standard output with -.\n"
	"\n"
	COPY_OPTIONS
	OPTIONS_HELP
	"\n"
	"Manual: krdma-get(1)\n";

static const char put_usage[] =
	"Usage: krdma put [OPTION]... FILE HOST[:PORT]/[PATH]\n"
	"       krdma put [OPTION]... FILE... HOST[:PORT]/[DIR]\n"
	"\n"
	"Puts files onto a machine where 'krdma serve -w' runs.\n"
	"\n"
	COPY_OPTIONS
	OPTIONS_HELP
	"\n"
	"Manual: krdma-get(1)\n";

enum {
	OPTION_PROGRESS = OWN_OPTION,
	OPTION_EXACT_MODE,
	OPTION_NO_SYNC,
	OPTION_SECRET,
};

static const struct own_option own_options[] = {
	{ "continue", 'c', false },
	{ "quiet", 'q', false },
	{ "progress", OPTION_PROGRESS, false },
	{ "exact-mode", OPTION_EXACT_MODE, false },
	{ "no-sync", OPTION_NO_SYNC, false },
	{ "secret", OPTION_SECRET, true },
	{ NULL, 0, false },
};

/**
 * struct copying - state of one command
 * @options: the common options
 * @put: the command is krdma put, not krdma get
 * @continues: --continue was given
 * @flags: flags for the library, except the one for --continue
 * @secret: secret of --secret
 * @when: when progress is shown
 * @session: the session
 * @progress: progress of the current file
 * @stream: destination that is not a regular file: standard output, a device or a pipe; or -1
 * @array: results for JSON, or NULL for text
 */
struct copying {
	const struct options *options;
	bool put;
	bool continues;
	uint32_t flags;
	struct secret secret;
	enum progress_when when;
	struct krdma *session;
	struct progress progress;
	int stream;
	struct json_object *array;
};

/* Number of the signal that asks the command to end, or 0. */
static atomic_int interrupted;

static void interrupt(int number)
{
	interrupted = number;
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

	switch (key) {
	case 'c':
		copying->continues = true;
		break;
	case 'q':
		copying->when = PROGRESS_NEVER;
		break;
	case OPTION_EXACT_MODE:
		copying->flags |= KRDMA_FILE_EXACT_MODE;
		break;
	case OPTION_SECRET:
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

static int show(void *context, const struct krdma_file_progress *progress)
{
	struct copying *copying = context;

	/* The length is not known before there is a connection. */
	if (progress->length)
		progress_show(&copying->progress, progress->done, progress->length);
	return interrupted;
}

static int copy_with(struct copying *copying, const struct copy *copy,
		     const struct sockaddr_storage *address, struct krdma_file_result *result)
{
	const struct sockaddr *server = (const struct sockaddr *)address;
	struct krdma_file_options options = {
		.size = sizeof(options),
		.flags = copying->flags | (copy->continues ? KRDMA_FILE_CONTINUE : 0),
		.progress = show,
		.context = copying,
		.secret = copying->secret.length ? copying->secret.bytes : NULL,
		.secret_length = copying->secret.length,
	};

	if (copy->put)
		return krdma_file_put(copying->session, server, copy->local, copy->name, &options,
				      result, sizeof(*result));
	if (copying->stream >= 0)
		return krdma_file_get_fd(copying->session, server, copy->name, copying->stream,
					 &options, result, sizeof(*result));
	return krdma_file_get(copying->session, server, copy->name, copy->local, &options, result,
			      sizeof(*result));
}

/* Use the first address of the host that can be connected to. */
static int copy_any(struct copying *copying, const struct copy *copy,
		    struct krdma_file_result *result)
{
	struct sockaddr_storage addresses[URL_ADDRESSES];
	size_t count = url_addresses(copy->url, addresses);
	int err = -ENXIO;

	for (size_t i = 0; i < count; i++) {
		err = copy_with(copying, copy, &addresses[i], result);
		if (!err || result->side != KRDMA_FILE_SIDE_BETWEEN || result->transferred)
			break;
	}
	return err;
}

static void add_result(struct copying *copying, const struct copy *copy,
		       const struct krdma_file_result *result, int err)
{
	struct json_object *object = json_checked(json_object_new_object());
	static const char * const sides[] = { "none", "here", "peer", "between" };
	struct copy_figures figures = {
		.error = err,
		.crc32c = result->crc32c,
		.length = result->length,
		.transferred = result->transferred,
		.resumed_from = result->resumed_from,
		.nanoseconds = result->nanoseconds,
	};
	char text[4 * KRDMA_FILE_NAME_MAX + 1];

	json_put_text(object, "operation", copy->put ? "put" : "get");
	json_put_text(object, "host", copy->url->host);
	json_put_number(object, "port", copy->url->port);
	name_json(text, sizeof(text), copy->name);
	json_put_text(object, "name", text);
	name_json(text, sizeof(text), copy->local);
	json_put_text(object, "local", text);
	copy_json(object, &figures);
	snprintf(text, sizeof(text), "%04o", result->mode);
	if (err)
		json_put_text(object, "side", sides[result->side % 4]);
	else
		json_put_text(object, "mode", text);
	json_append(copying->array, object);
}

/* If @folder_is_fine, -EISDIR is returned without an error message. */
static int copy_one(struct copying *copying, const struct copy *copy, bool folder_is_fine)
{
	struct krdma_file_result result = { .size = sizeof(result) };
	int err;

	progress_begin(&copying->progress, copying->when, copy->put ? copy->local : copy->name);
	err = copy_any(copying, copy, &result);
	if (err == -EISDIR && folder_is_fine && result.side == KRDMA_FILE_SIDE_PEER)
		return err;
	if (result.length || !err)
		progress_end(&copying->progress, result.resumed_from,
			     err ? result.resumed_from + result.transferred : result.length,
			     result.length);
	/* For -ENXIO, an error message about the host has been printed already. */
	if (err && err != -ENXIO)
		copy_explain(copy, &result, err);
	if (copying->array)
		add_result(copying, copy, &result, err);
	return err;
}

/* The part of @path after the last slash. */
static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
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
	complain("cannot write to '%s': %s\nWhat was got is not there", to, strerror(err));
	return EXIT_FAILED;
}

/* Check the arguments without a server.  Returns 0, or an exit code. */
static int check_get(const struct copying *copying, int count, char **words, const char *to)
{
	struct url url;

	if (!strcmp(to, "-") && copying->options->json)
		return usage_error("to standard output goes the file alone: without -j");
	if (copying->stream >= 0 && copying->continues)
		return usage_error("-c goes on with a file, and '%s' is none", to);
	if (count > 1 && copying->stream < 0 && !is_folder(to))
		return usage_error("'%s', the last argument, is no folder here for several files",
				   to);
	for (int i = 0; i < count; i++) {
		if (url_parse(words[i], KRDMA_FILE_PORT, &url))
			return EXIT_USAGE;
		if (!url.slash)
			return usage_error("'%s' names no file: HOST[:PORT]/PATH", words[i]);
	}
	return EXIT_OK;
}

static int check_put(int count, char **words, const char *to)
{
	struct url url;

	if (url_parse(to, KRDMA_FILE_PORT, &url))
		return EXIT_USAGE;
	for (int i = 0; i < count; i++) {
		if (!*last_name(words[i]))
			return usage_error("'%s' is not the name of a file", words[i]);
	}
	return EXIT_OK;
}

static int get_all(struct copying *copying, int count, char **words, const char *to)
{
	struct copy copy = {
		.local = to, .continues = copying->continues, .secret = copying->secret.length,
	};
	int status = EXIT_OK;
	struct url url;

	for (int i = 0; i < count && !interrupted; i++) {
		url_parse(words[i], KRDMA_FILE_PORT, &url);
		copy.url = &url;
		copy.name = url.path;
		if (copy_one(copying, &copy, false))
			status = EXIT_FAILED;
	}
	return status;
}

/* PATH names a folder if it ends with a slash, or if the server returns -EISDIR for it. */
static int put_one(struct copying *copying, const struct url *url, const char *file, bool folder)
{
	struct copy copy = {
		.put = true, .url = url, .local = file, .continues = copying->continues,
		.secret = copying->secret.length,
	};
	size_t length = strlen(url->path);
	bool open = length && url->path[length - 1] != '/';
	char *name;
	int err = -EISDIR;

	if (!folder && open) {
		copy.name = url->path;
		err = copy_one(copying, &copy, true);
	}
	if (err != -EISDIR)
		return err;
	if (asprintf(&name, "%s%s%s", url->path, open ? "/" : "", last_name(file)) < 0) {
		complain("cannot put %s: out of memory", file);
		return -ENOMEM;
	}
	copy.name = name;
	err = copy_one(copying, &copy, false);
	free(name);
	return err;
}

static int put_all(struct copying *copying, int count, char **words, const char *to)
{
	int status = EXIT_OK;
	struct url url;

	url_parse(to, KRDMA_FILE_PORT, &url);
	for (int i = 0; i < count && !interrupted; i++) {
		if (put_one(copying, &url, words[i], count > 1))
			status = EXIT_FAILED;
	}
	return status;
}

/* @words: @count files, then their destination. */
static int copy_words(struct copying *copying, int count, char **words, const char *to)
{
	int status;

	if (!copying->put && !open_stream(copying, to))
		return EXIT_FAILED;
	status = copying->put ? check_put(count, words, to) :
				check_get(copying, count, words, to);
	if (status)
		return status;
	if (open_session(&copying->session))
		return EXIT_FAILED;
	if (copying->options->json)
		copying->array = json_checked(json_object_new_array());
	catch_signals();
	if (copying->put)
		status = put_all(copying, count, words, to);
	else
		status = close_stream(copying, to, get_all(copying, count, words, to));
	krdma_close(copying->session);
	if (copying->array)
		json_print(copying->array, copying->options);
	return status;
}

static int copy(int argc, char **argv, struct options *options, bool put)
{
	struct copying copying = { .options = options, .put = put, .stream = -1 };
	int first = options_parse_own(argc, argv, options, own_options, set_option, &copying);
	int count = argc - first, number, status;

	if (first < 0)
		return EXIT_USAGE;
	if (options->help || (count == 1 && is_help(argv[first]))) {
		fputs(put ? put_usage : get_usage, stdout);
		return EXIT_OK;
	}
	if (put && count < 2)
		return usage_error("'krdma put' wants FILE... and HOST[:PORT]/[PATH]; "
				   "see 'krdma put help'");
	if (!count)
		return usage_error("'krdma get' wants HOST[:PORT]/PATH; see 'krdma get help'");
	if (count == 1)
		status = copy_words(&copying, 1, argv + first, ".");
	else
		status = copy_words(&copying, count - 1, argv + first, argv[argc - 1]);
	number = atomic_load(&interrupted);
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
	return copy(argc, argv, options, false);
}

int cmd_put(int argc, char **argv, struct options *options)
{
	return copy(argc, argv, options, true);
}
