// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The client: gets a file from a server or puts it there, with one connection for each file.
 */
#include "file_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/**
 * struct client - one transfer
 * @options: options with the defaults filled in
 * @link: the connection
 * @flow: the data
 * @result: the result
 * @begin: start time, in ns
 */
struct client {
	struct krdma_file_options options;
	struct file_link link;
	struct file_flow flow;
	struct krdma_file_result result;
	uint64_t begin;
};

static int tell_progress(void *context)
{
	struct client *client = context;
	struct krdma_file_progress progress = {
		.done = client->flow.offset,
		.length = client->flow.length,
		.resumed_from = client->flow.resumed_from,
	};

	if (!client->options.progress)
		return 0;
	return client->options.progress(client->options.context, &progress) ? -ECANCELED : 0;
}

static int check_options(const struct krdma_file_options *options)
{
	const uint32_t known = KRDMA_FILE_CONTINUE | KRDMA_FILE_EXACT_MODE | KRDMA_FILE_NO_SYNC;

	if (options->flags & ~known || options->reserved || options->reserved2)
		return -EOPNOTSUPP;
	if ((options->buffer_size &&
	     (options->buffer_size < FILE_SLOT_MIN || options->buffer_size > FILE_SLOT_MAX)) ||
	    options->buffer_count > FILE_SLOTS_MAX)
		return -EINVAL;
	return 0;
}

/*
 * The structure is several pages long. It is allocated, because the stack of the calling thread
 * may be small.
 */
static int client_create(struct krdma *session, const struct krdma_file_options *options,
			 struct client **client)
{
	struct client *new = calloc(1, sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	err = request_options(&new->options, sizeof(new->options), options);
	if (!err)
		err = check_options(&new->options);
	if (!err)
		err = file_secret_set(&new->link.secret, new->options.secret,
				      new->options.secret_length);
	if (err) {
		free(new);
		return err;
	}
	new->begin = file_now();
	new->link.session = session;
	new->link.watch = tell_progress;
	new->link.watch_context = new;
	new->link.patience_ms = new->options.patience_ms ? new->options.patience_ms :
							    FILE_PATIENCE_MS;
	new->flow.link = &new->link;
	*client = new;
	return 0;
}

/*
 * Closes the link and fills in the result. @err is used only if the link has no error of its
 * own.
 */
static int client_finish(struct client *client, int err, struct krdma_file_result *result,
			 size_t size)
{
	struct krdma_file_result *is = &client->result;
	struct file_flow *flow = &client->flow;

	if (err)
		err = file_link_fail(&client->link, err, KRDMA_FILE_SIDE_HERE);
	else
		tell_progress(client);
	file_link_close(&client->link, err);
	file_secret_free(client->link.secret);
	file_window_destroy(&flow->window);
	is->size = (uint32_t)size;
	is->side = err ? client->link.side : KRDMA_FILE_SIDE_NONE;
	is->crc32c = err ? 0 : flow->crc;
	is->length = flow->length;
	is->resumed_from = flow->resumed_from;
	is->transferred = flow->transferred;
	is->nanoseconds = file_now() - client->begin;
	if (result)
		memcpy(result, is, size < sizeof(*is) ? size : sizeof(*is));
	free(client);
	return err;
}

/* Checks the arguments of krdma_file_get(), _get_fd() and _put(), and allocates the client. */
static int begin(struct krdma *session, const struct sockaddr *server, const char *name,
		 const struct krdma_file_options *options, struct krdma_file_result *result,
		 size_t size, struct client **client)
{
	int err;

	if (result) {
		err = request_prepare(result, size, FILE_RESULT_MIN_SIZE);
		if (err)
			return err;
		result->side = KRDMA_FILE_SIDE_HERE;
	}
	if (!session || !server || !name)
		return -EINVAL;
	if (strlen(name) > KRDMA_FILE_NAME_MAX)
		return -ENAMETOOLONG;
	return client_create(session, options, client);
}

static int window_create(struct client *client, uint32_t access,
			 const struct file_message *limits)
{
	const struct krdma_file_options *options = &client->options;
	uint32_t size = options->buffer_size ? options->buffer_size : FILE_SLOT_DEFAULT;
	uint32_t count = options->buffer_count ? options->buffer_count : FILE_SLOTS_DEFAULT;
	int err;

	size = (size + FILE_SLOT_MIN - 1) / FILE_SLOT_MIN * FILE_SLOT_MIN;
	if (size > limits->slot_size)
		size = limits->slot_size / FILE_SLOT_MIN * FILE_SLOT_MIN;
	if (count > limits->slot_count)
		count = limits->slot_count;
	err = file_window_create(&client->flow.window, client->link.session, client->link.device,
				 access, size, count, client->flow.length);
	return err ? file_link_fail(&client->link, err, KRDMA_FILE_SIDE_HERE) : 0;
}

/*
 * Get
 */

/* Sends GET, and receives the attributes of the file. */
static int ask(struct client *client, const char *name, struct file_message *file)
{
	struct file_message get = { .type = FILE_MESSAGE_GET };
	int err;

	err = file_link_send(&client->link, &get, name);
	if (!err)
		err = file_link_receive(&client->link, FILE_MESSAGE_FILE, file);
	if (err)
		return err;
	/* The server sends the name of the one file that it offers. */
	file_last_name(*name ? name : client->link.name, client->result.last);
	if (!file_last_is_plain(client->result.last))
		return file_link_fail(&client->link, -EPROTO, KRDMA_FILE_SIDE_BETWEEN);
	client->flow.length = file->length;
	client->result.mode = file->mode;
	return window_create(client, KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_WRITE, file);
}

/*
 * Sends the position to start at, receives the position at which the server starts, and
 * receives the data.
 */
static int fetch(struct client *client, const struct file_sink *sink)
{
	struct file_message message = { .type = FILE_MESSAGE_FETCH };
	struct file_part *part = sink->part;
	struct file_flow *flow = &client->flow;
	int err;

	if (part) {
		message.offset = part->offset;
		message.crc = part->crc;
	}
	err = file_flow_offer(flow, &message);
	if (!err)
		err = file_link_send(&client->link, &message, NULL);
	if (!err)
		err = file_link_receive(&client->link, FILE_MESSAGE_BEGIN, &message);
	if (err)
		return err;
	if (message.offset && (!part || message.offset != part->offset))
		return file_link_fail(&client->link, -EPROTO, KRDMA_FILE_SIDE_BETWEEN);
	if (part) {
		err = file_part_begin(part, message.offset);
		if (err)
			return err;
		flow->crc = part->crc;
	}
	flow->offset = message.offset;
	flow->resumed_from = message.offset;
	return file_flow_receive(flow, sink);
}

/*
 * Opens the parent folder of @path and returns the last component of @path, which does not exist
 * or is not a folder.
 */
static int open_parent(const char *path, char *last, int *folder)
{
	char *copy = strdup(path), *slash;
	int err = 0;

	if (!copy)
		return -ENOMEM;
	slash = strrchr(copy, '/');
	if (strlen(slash ? slash + 1 : copy) > KRDMA_FILE_LAST_MAX) {
		free(copy);
		return -ENAMETOOLONG;
	}
	file_last_name(path, last);
	if (slash)
		slash[slash == copy] = '\0';
	*folder = open(slash ? copy : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*folder < 0)
		err = -errno;
	free(copy);
	return err;
}

/*
 * The path of the file that a symbolic link refers to; NULL sets errno. realpath() follows every
 * link, but the kernel refuses one that another user has created in a sticky folder. Another user
 * may also have created or changed the link just now. So the path counts only if the kernel
 * follows the link to the same file.
 */
static char *follow(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	struct stat status, named;
	char *real;

	if (fd < 0)
		return NULL;
	real = realpath(path, NULL);
	if (real && (fstat(fd, &status) || lstat(real, &named) ||
		     status.st_dev != named.st_dev || status.st_ino != named.st_ino)) {
		free(real);
		real = NULL;
		errno = ESTALE;
	}
	close(fd);
	return real;
}

/*
 * Opens the destination folder. If @path is not a folder, @last replaces the name from the
 * server, and @named is set.
 */
static int open_folder(const char *path, char *last, int *folder, bool *named)
{
	struct stat status;
	char *real;
	int err;

	*folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	*named = *folder < 0;
	if (*folder >= 0)
		return 0;
	if (errno != ENOENT && errno != ENOTDIR)
		return -errno;
	/* A name with a trailing slash must be a folder. */
	if (!*path || path[strlen(path) - 1] == '/')
		return -errno;
	if (lstat(path, &status) || !S_ISLNK(status.st_mode))
		return open_parent(path, last, folder);
	/* Replace the file that a symbolic link refers to, not the link. */
	real = follow(path);
	if (!real)
		return -errno;
	err = open_parent(real, last, folder);
	free(real);
	return err;
}

/*
 * Checks a name that the server chose: without this check, it could be that of a shell start-up
 * file, look like an option, or replace any file.
 */
static int judge_chosen_name(int folder, const char *last)
{
	struct stat status;

	if (!file_name_is_harmless(last))
		return -EILSEQ;
	if (!fstatat(folder, last, &status, AT_SYMLINK_NOFOLLOW))
		return -EEXIST;
	return errno == ENOENT ? 0 : -errno;
}

/* @chosen: the server chose the name. It is not used if @path is not a folder. */
static int get_part(struct client *client, const char *path, bool chosen,
		    const struct file_message *file)
{
	struct file_identity identity = {
		.length = file->length,
		.mtime_s = file->mtime_s,
		.mtime_ns = file->mtime_ns,
		.mode = file->mode,
	};
	struct file_part part;
	struct file_sink sink = { .part = &part, .fd = -1 };
	char last[KRDMA_FILE_LAST_MAX + 1];
	int folder, err;
	bool named;

	memcpy(last, client->result.last, sizeof(last));
	err = open_folder(path, last, &folder, &named);
	if (err)
		return err;
	chosen = chosen && !named;
	err = chosen ? judge_chosen_name(folder, last) : file_can_replace(folder, last);
	if (err) {
		close(folder);
		return err;
	}
	file_part_open(&part, folder, last, &identity);
	part.no_replace = chosen;
	part.exact_mode = client->options.flags & KRDMA_FILE_EXACT_MODE;
	part.sync = !(client->options.flags & KRDMA_FILE_NO_SYNC);
	/*
	 * After getting the new version, the client does not need part files of older ones. A
	 * server keeps them, because other clients may be putting those versions.
	 */
	part.any_version = true;
	if (client->options.flags & KRDMA_FILE_CONTINUE)
		err = file_part_continue(&part, &client->link);
	if (!err)
		err = fetch(client, &sink);
	if (!err)
		err = file_part_finish(&part, &client->link);
	file_part_close(&part, err);
	return err;
}

static int get_stream(struct client *client, int fd)
{
	struct file_sink sink = { .fd = fd };

	return fetch(client, &sink);
}

/* Writes to @path, or to @fd if @path is NULL. */
static int get(struct client *client, const struct sockaddr *server, const char *name,
	       const char *path, int fd)
{
	struct file_message file;
	int err;

	err = file_link_connect(&client->link, server);
	if (!err)
		err = ask(client, name, &file);
	if (err)
		return err;
	err = path ? get_part(client, path, !*name, &file) : get_stream(client, fd);
	/* The file is complete, so it does not matter whether the server gets this message. */
	if (!err)
		file_flow_done(&client->flow);
	return err;
}

KRDMA_PUBLIC int krdma_file_get(struct krdma *session, const struct sockaddr *server,
				const char *name, const char *path,
				const struct krdma_file_options *options,
				struct krdma_file_result *result, size_t size)
{
	struct client *client;
	int err = begin(session, server, name, options, result, size, &client);

	if (err)
		return err;
	err = path ? get(client, server, name, path, -1) : -EINVAL;
	return client_finish(client, err, result, size);
}

KRDMA_PUBLIC int krdma_file_get_fd(struct krdma *session, const struct sockaddr *server,
				   const char *name, int fd,
				   const struct krdma_file_options *options,
				   struct krdma_file_result *result, size_t size)
{
	struct client *client;
	int err = begin(session, server, name, options, result, size, &client);

	if (err)
		return err;
	err = client->options.flags & KRDMA_FILE_CONTINUE ? -EINVAL :
							    get(client, server, name, NULL, fd);
	return client_finish(client, err, result, size);
}

/*
 * Put
 */

/* Sends PUT with the attributes of the file. The server's HAVE describes its part file. */
static int announce(struct client *client, const char *name, const struct file_source *source,
		    struct file_message *have)
{
	struct file_message message = {
		.type = FILE_MESSAGE_PUT,
		.length = source->length,
		.mtime_s = source->mtime.tv_sec,
		.mtime_ns = (uint32_t)source->mtime.tv_nsec,
		.mode = source->mode,
	};
	int err;

	if (client->options.flags & KRDMA_FILE_CONTINUE)
		message.code |= FILE_PUT_CONTINUE;
	if (client->options.flags & KRDMA_FILE_EXACT_MODE)
		message.code |= FILE_PUT_EXACT_MODE;
	if (client->options.flags & KRDMA_FILE_NO_SYNC)
		message.code |= FILE_PUT_NO_SYNC;
	err = file_link_send(&client->link, &message, name);
	if (!err)
		err = file_link_receive(&client->link, FILE_MESSAGE_HAVE, have);
	if (err)
		return err;
	return window_create(client, KRDMA_ACCESS_REMOTE_READ, have);
}

/*
 * Continues from the server's part file if its checksum matches the source. Otherwise asks for
 * the next one, because other clients may have left part files for that name too.
 */
static int compare(struct client *client, struct file_source *source, struct file_message *have)
{
	const struct file_message next = { .type = FILE_MESSAGE_NEXT };
	uint32_t crc = 0;
	int err;

	for (;;) {
		if (have->offset > source->length)
			return file_link_fail(&client->link, -EPROTO, KRDMA_FILE_SIDE_BETWEEN);
		err = file_source_crc(source, have->offset, &client->link, &crc);
		if (err)
			return err;
		if (!have->offset || crc == have->crc)
			break;
		err = file_link_send(&client->link, &next, NULL);
		if (!err)
			err = file_link_receive(&client->link, FILE_MESSAGE_HAVE, have);
		if (err)
			return err;
	}
	client->flow.offset = have->offset;
	client->flow.resumed_from = have->offset;
	client->flow.crc = crc;
	return 0;
}

static int offer(struct client *client)
{
	struct file_message message = {
		.type = FILE_MESSAGE_OFFER, .offset = client->flow.offset,
	};
	int err = file_flow_offer(&client->flow, &message);

	return err ? err : file_link_send(&client->link, &message, NULL);
}

static int put(struct client *client, const struct sockaddr *server, const char *path,
	       const char *name)
{
	struct file_source source;
	struct file_message have;
	int fd, err;

	fd = file_open_regular(AT_FDCWD, path, true);
	if (fd < 0)
		return fd;
	err = file_source_open(&source, fd);
	if (err)
		return err;
	client->flow.length = source.length;
	client->result.mode = source.mode;
	file_last_name(*name ? name : path, client->result.last);
	err = file_link_connect(&client->link, server);
	if (!err)
		err = announce(client, name, &source, &have);
	if (!err)
		err = compare(client, &source, &have);
	if (!err)
		err = offer(client);
	if (!err)
		err = file_flow_send(&client->flow, &source);
	file_source_close(&source);
	return err;
}

KRDMA_PUBLIC int krdma_file_put(struct krdma *session, const struct sockaddr *server,
				const char *path, const char *name,
				const struct krdma_file_options *options,
				struct krdma_file_result *result, size_t size)
{
	struct client *client;
	int err = begin(session, server, name, options, result, size, &client);

	if (err)
		return err;
	err = path ? put(client, server, path, name) : -EINVAL;
	return client_finish(client, err, result, size);
}
