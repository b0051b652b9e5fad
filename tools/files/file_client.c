// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The client: gets files from a server and puts them there, over one connection.
 */
#include "file_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/**
 * struct krdma_file_client - a client
 * @session: the session
 * @maker: the process that owns it
 * @options: options with the defaults filled in
 * @server: address of the server
 * @secret: the shared secret; or NULL
 * @link: the connection, made by the first request
 * @flow: the data of the current request
 * @flags: flags of the current request
 * @result: its result
 * @begin: its start time, in ns
 * @asked: the server has the request and has not finished with it
 * @refused: error with which the server refused the request
 */
struct krdma_file_client {
	struct krdma *session;
	pid_t maker;
	struct krdma_file_options options;
	struct __kernel_sockaddr_storage server;
	struct secret *secret;
	struct file_link link;
	struct file_flow flow;
	uint32_t flags;
	struct krdma_file_result result;
	uint64_t begin;
	bool asked;
	int refused;
};

static int report_progress(void *context)
{
	struct krdma_file_client *client = context;
	struct krdma_file_progress progress = {
		.done = client->flow.offset,
		.length = client->flow.length,
		.resumed_from = client->flow.resumed_from,
	};

	if (!client->options.progress)
		return 0;
	return client->options.progress(client->options.context, &progress) ? -ECANCELED : 0;
}

/* KRDMA_FILE_RECURSIVE is of lists alone. */
#define TRANSFER_FLAGS	(KRDMA_FILE_CONTINUE | KRDMA_FILE_EXACT_MODE | KRDMA_FILE_NO_SYNC |	\
			 KRDMA_FILE_TIMES | KRDMA_FILE_UPDATE | KRDMA_FILE_NEW |		\
			 KRDMA_FILE_PARENTS | KRDMA_FILE_NO_FOLLOW | KRDMA_FILE_CHECKSUM)

static int check_options(const struct krdma_file_options *options)
{
	if (options->flags & ~(uint32_t)TRANSFER_FLAGS || options->reserved2)
		return -EOPNOTSUPP;
	if ((options->buffer_size &&
	     (options->buffer_size < FILE_SLOT_MIN || options->buffer_size > FILE_SLOT_MAX)) ||
	    options->buffer_count > FILE_SLOTS_MAX || options->streams > FILE_STREAMS_MAX)
		return -EINVAL;
	return 0;
}

/* Disconnects; the next request connects again. @err is sent to the server, unless it is 0. */
static void disconnect(struct krdma_file_client *client, int err)
{
	file_link_close(&client->link, err);
	file_window_destroy(&client->flow.window);
	memset(&client->link, 0, sizeof(client->link));
	client->asked = false;
}

/*
 * The structure is several pages long. It is allocated, because the stack of the calling thread
 * may be small.
 */
KRDMA_PUBLIC int krdma_file_client_create(struct krdma *session, const struct sockaddr *server,
					  const struct krdma_file_options *options,
					  struct krdma_file_client **client)
{
	struct krdma_file_client *new;
	int err;

	if (!session || !client)
		return -EINVAL;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	err = request_address(&new->server, server);
	if (!err)
		err = request_options(&new->options, sizeof(new->options), options);
	if (!err)
		err = check_options(&new->options);
	if (!err)
		err = secret_set(&new->secret, new->options.secret, new->options.secret_length);
	if (err) {
		free(new);
		return err;
	}
	/* The pointer is valid only during this call. */
	new->options.secret = NULL;
	new->session = session;
	new->maker = getpid();
	*client = new;
	return 0;
}

KRDMA_PUBLIC void krdma_file_client_destroy(struct krdma_file_client *client)
{
	if (!client)
		return;
	/* The connection of a child's copy is the parent's. */
	if (client->maker == getpid())
		file_link_close(&client->link, 0);
	else
		file_link_release(&client->link);
	file_window_destroy(&client->flow.window);
	secret_free(client->secret);
	free(client);
}

/* Checks the arguments of a request, and makes everything ready for it. */
static int begin(struct krdma_file_client *client, uint32_t flags,
		 struct krdma_file_result *result, size_t size)
{
	int err;

	if (result) {
		err = request_prepare(result, size, FILE_RESULT_MIN_SIZE);
		if (err)
			return err;
		result->side = KRDMA_FILE_SIDE_HERE;
	}
	if (!client)
		return -EINVAL;
	if (flags & ~(uint32_t)TRANSFER_FLAGS)
		return -EOPNOTSUPP;
	client->begin = file_now();
	client->flags = client->options.flags | flags;
	client->refused = 0;
	client->result = (struct krdma_file_result){ .size = (uint32_t)size };
	client->flow = (struct file_flow){
		.link = &client->link, .window = client->flow.window,
	};
	return 0;
}

static int check_name(const char *name)
{
	if (!name)
		return -EINVAL;
	return strlen(name) > KRDMA_FILE_NAME_MAX ? -ENAMETOOLONG : 0;
}

static uint32_t side_of(const struct krdma_file_client *client, int err)
{
	if (!err)
		return KRDMA_FILE_SIDE_NONE;
	if (client->link.error)
		return client->link.side;
	return err == client->refused ? KRDMA_FILE_SIDE_PEER : KRDMA_FILE_SIDE_HERE;
}

/*
 * Ends a request, and fills in the result. An error in the middle of it ends the connection,
 * because the server expects something else than the next request.
 */
static int finish(struct krdma_file_client *client, int err, struct krdma_file_result *result,
		  size_t size)
{
	struct krdma_file_result *is = &client->result;
	struct file_flow *flow = &client->flow;

	file_link_rest(&client->link);
	if (!err)
		report_progress(client);
	if (err && client->asked)
		err = file_link_fail(&client->link, err, KRDMA_FILE_SIDE_HERE);
	is->side = side_of(client, err);
	is->crc32c = err ? 0 : flow->crc;
	is->length = flow->length;
	is->resumed_from = flow->resumed_from;
	is->transferred = flow->transferred;
	is->streams = client->link.stream_count;
	client->asked = false;
	if (client->link.error)
		disconnect(client, err);
	is->nanoseconds = file_now() - client->begin;
	if (result)
		memcpy(result, is, size < sizeof(*is) ? size : sizeof(*is));
	return err;
}

static int window_create(struct krdma_file_client *client, uint32_t access,
			 const struct file_message *limits)
{
	const struct krdma_file_options *options = &client->options;
	uint32_t size = options->buffer_size ? options->buffer_size : FILE_SLOT_DEFAULT;
	uint32_t count = file_window_slots(options->buffer_count, client->link.stream_count);
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
 * Requests
 */

/* Connects, unless there is a connection that works. @used: it was there before. */
static int ready(struct krdma_file_client *client, bool *used)
{
	const struct krdma_file_options *options = &client->options;
	struct file_link *link = &client->link;

	/* Notices that the server has disconnected. */
	*used = link->streams->conn && !file_link_tick(link);
	if (link->error == -ECANCELED)
		return link->error;
	if (*used)
		return 0;
	disconnect(client, 0);
	link->session = client->session;
	link->on_tick = report_progress;
	link->tick_context = client;
	link->patience_ms = options->patience_ms ? options->patience_ms : FILE_PATIENCE_MS;
	link->secret = client->secret;
	link->streams_wanted = options->streams;
	return file_link_connect(link, (const struct sockaddr *)&client->server);
}

/* Checks an answer, which must be of @type; or a SKIP if @can_skip; or a REFUSE. */
static int judge_answer(struct krdma_file_client *client, const struct file_message *answer,
			uint8_t type, bool can_skip)
{
	if (answer->type == type)
		return 0;
	client->asked = false;
	if (answer->type == FILE_MESSAGE_SKIP && can_skip) {
		client->result.skipped = 1;
		return 0;
	}
	if (answer->type != FILE_MESSAGE_REFUSE)
		return file_link_fail(&client->link, -EPROTO, KRDMA_FILE_SIDE_BETWEEN);
	client->refused = file_code_error(answer->code);
	return client->refused;
}

/*
 * Sends a request, and receives the first answer. If the server disconnected an idle client just
 * when the request was sent, sends it again.
 */
static int request(struct krdma_file_client *client, const struct file_message *message,
		   const char *name, struct file_message *answer)
{
	struct file_link *link = &client->link;
	bool used;
	int err;

	for (;;) {
		err = ready(client, &used);
		if (err)
			return err;
		client->asked = true;
		err = file_link_send(link, message, name);
		if (!err)
			err = file_link_await(link, answer);
		if (!err)
			return 0;
		if (!used || err != -ECONNRESET || link->side != KRDMA_FILE_SIDE_BETWEEN)
			return err;
		disconnect(client, 0);
	}
}

/* Tells the server that the file that it offers is not wanted. */
static int decline(struct krdma_file_client *client)
{
	const struct file_message message = { .type = FILE_MESSAGE_SKIP };
	int err = file_link_send(&client->link, &message, NULL);

	if (!err)
		client->asked = false;
	return err;
}

/* The data are complete here, so it does not matter whether the server gets this message. */
static void thank(struct krdma_file_client *client)
{
	file_flow_done(&client->flow);
	client->asked = false;
}

/*
 * Get
 */

/* Sends GET, and receives the attributes of the file. */
static int ask(struct krdma_file_client *client, const char *name, uint32_t code,
	       struct file_message *file)
{
	struct file_message get = { .type = FILE_MESSAGE_GET, .code = code };
	int err = request(client, &get, name, file);

	if (!err)
		err = judge_answer(client, file, FILE_MESSAGE_FILE, false);
	if (err)
		return err;
	/* The server sends the name of the one file that it offers. */
	file_last_name(*name ? name : client->link.name, client->result.last);
	if (!code && !file_last_is_plain(client->result.last))
		return file_link_fail(&client->link, -EPROTO, KRDMA_FILE_SIDE_BETWEEN);
	client->flow.length = file->length;
	client->result.mode = file->mode;
	client->result.mtime_s = file->mtime_s;
	client->result.mtime_ns = file->mtime_ns;
	return 0;
}

/*
 * Sends the position to start at, receives the position at which the server starts, and
 * receives the data.
 */
static int fetch(struct krdma_file_client *client, const struct file_message *file,
		 const struct file_sink *sink)
{
	struct file_message message = { .type = FILE_MESSAGE_FETCH };
	struct file_part *part = sink->part;
	struct file_flow *flow = &client->flow;
	int err;

	if (part) {
		message.offset = part->offset;
		message.crc = part->crc;
	}
	err = window_create(client, KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_WRITE, file);
	if (!err)
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
		file_link_leave(&client->link);
		err = file_part_begin(part, message.offset);
		file_link_enter(&client->link);
		if (err)
			return err;
		flow->crc = part->crc;
	}
	flow->offset = message.offset;
	flow->resumed_from = message.offset;
	return file_flow_receive(flow, sink);
}

/* Takes over the folder of the destination. */
static int get_part(struct krdma_file_client *client, const struct file_destination *to,
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
	int err = 0;

	file_part_open(&part, to->folder, to->last, &identity);
	part.no_replace = to->no_replace;
	part.exact_mode = client->flags & KRDMA_FILE_EXACT_MODE;
	part.keep_times = client->flags & KRDMA_FILE_TIMES;
	part.sync = !(client->flags & KRDMA_FILE_NO_SYNC);
	if (client->flags & KRDMA_FILE_CONTINUE)
		err = file_part_continue(&part, &client->link);
	if (!err)
		err = fetch(client, file, &sink);
	if (!err)
		err = file_part_finish(&part, &client->link);
	file_link_leave(&client->link);
	file_part_close(&part, err);
	file_link_enter(&client->link);
	return err;
}

/* Returns 1 if the destination has the content that the server offers, 0 if not, or an error. */
static int is_same(struct krdma_file_client *client, const struct file_destination *to)
{
	const struct file_message compare = { .type = FILE_MESSAGE_COMPARE };
	struct file_source own;
	int err;

	if (!file_compare_open(&own, to->folder, to->last, client->flow.length))
		return 0;
	err = file_link_send(&client->link, &compare, NULL);
	if (!err)
		return file_compare_receive(&own, &client->link);
	file_source_close(&own);
	return err;
}

/* Returns 0 if the file is wanted, 1 if the destination is up to date, or an error. */
static int judge(struct krdma_file_client *client, const struct file_destination *to,
		 const struct file_message *file)
{
	bool update = client->flags & KRDMA_FILE_UPDATE;
	int err;

	if (client->flags & KRDMA_FILE_CHECKSUM) {
		err = is_same(client, to);
		if (err)
			return err;
		update = false;
	}
	return file_destination_judge(to, update, file->length, file->mtime_s, file->mtime_ns);
}

static int get(struct krdma_file_client *client, const char *name, int folder, const char *path)
{
	struct file_destination to;
	struct file_message file;
	int err, declined;

	err = ask(client, name, 0, &file);
	if (err)
		return err;
	file_link_leave(&client->link);
	err = file_destination_open(&to, folder, path, client->result.last, !*name,
				    client->flags & KRDMA_FILE_NEW);
	file_link_enter(&client->link);
	if (!err) {
		err = judge(client, &to, &file);
		if (err)
			close(to.folder);
	}
	if (err) {
		client->result.skipped = err == 1;
		declined = decline(client);
		return err < 0 ? err : declined;
	}
	err = get_part(client, &to, &file);
	if (!err)
		thank(client);
	return err;
}

KRDMA_PUBLIC int krdma_file_client_get(struct krdma_file_client *client, const char *name,
				       int folder, const char *path, uint32_t flags,
				       struct krdma_file_result *result, size_t size)
{
	int err = begin(client, flags, result, size);

	if (err)
		return err;
	err = check_name(name);
	if (!err && !path)
		err = -EINVAL;
	if (!err)
		err = get(client, name, folder, path);
	return finish(client, err, result, size);
}

/* @code: of the request. */
static int get_stream(struct krdma_file_client *client, const char *name, uint32_t code, int fd)
{
	struct file_sink sink = { .fd = fd };
	struct file_message file;
	int err;

	err = ask(client, name, code, &file);
	if (!err && code & FILE_GET_LIST && file.length > FILE_LIST_MAX)
		err = file_link_fail(&client->link, -EPROTO, KRDMA_FILE_SIDE_BETWEEN);
	if (!err)
		err = fetch(client, &file, &sink);
	if (!err)
		thank(client);
	return err;
}

/* poll() says nothing of a negative descriptor, and write() of another one only after the data. */
static int check_writable(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	return flags & O_PATH || (flags & O_ACCMODE) == O_RDONLY ? -EBADF : 0;
}

KRDMA_PUBLIC int krdma_file_client_get_fd(struct krdma_file_client *client, const char *name,
					  int fd, struct krdma_file_result *result, size_t size)
{
	int err = begin(client, 0, result, size);

	if (err)
		return err;
	err = check_name(name);
	if (!err && client->flags & KRDMA_FILE_CONTINUE)
		err = -EINVAL;
	if (!err)
		err = check_writable(fd);
	if (!err)
		err = get_stream(client, name, 0, fd);
	return finish(client, err, result, size);
}

/*
 * Lists
 */

static int read_list(int fd, size_t length, bool recursive, struct krdma_file_entry **entries,
		     size_t *count)
{
	char *list = malloc(length + 1);
	ssize_t got;
	int err;

	if (!list)
		return -ENOMEM;
	got = pread(fd, list, length, 0);
	if (got < 0)
		err = -errno;
	else if ((size_t)got != length)
		err = -EIO;
	else
		err = file_list_decode(list, length, recursive, entries, count);
	free(list);
	return err;
}

static int list(struct krdma_file_client *client, const char *name, bool recursive,
		struct krdma_file_entry **entries, size_t *count)
{
	uint32_t code = FILE_GET_LIST | (recursive ? FILE_GET_RECURSIVE : 0);
	int fd = memfd_create("krdma-entries", MFD_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = get_stream(client, name, code, fd);
	if (!err)
		err = read_list(fd, client->flow.length, recursive, entries, count);
	if (err == -EPROTO)
		err = file_link_fail(&client->link, err, KRDMA_FILE_SIDE_BETWEEN);
	close(fd);
	return err;
}

KRDMA_PUBLIC int krdma_file_client_list(struct krdma_file_client *client, const char *name,
					uint32_t flags, struct krdma_file_entry **entries,
					size_t *count, struct krdma_file_result *result,
					size_t size)
{
	bool recursive = flags & KRDMA_FILE_RECURSIVE;
	int err = begin(client, flags & ~(uint32_t)KRDMA_FILE_RECURSIVE, result, size);

	if (err)
		return err;
	err = check_name(name);
	if (!err && (!entries || !count))
		err = -EINVAL;
	if (!err)
		err = list(client, name, recursive, entries, count);
	return finish(client, err, result, size);
}

/*
 * Put
 */

/* The bits of a request's code for the flags. */
static uint32_t code_of(uint32_t flags)
{
	static const struct {
		uint32_t flag;
		uint32_t code;
	} codes[] = {
		{ KRDMA_FILE_CONTINUE, FILE_PUT_CONTINUE },
		{ KRDMA_FILE_EXACT_MODE, FILE_PUT_EXACT_MODE },
		{ KRDMA_FILE_NO_SYNC, FILE_PUT_NO_SYNC },
		{ KRDMA_FILE_PARENTS, FILE_PUT_PARENTS },
		{ KRDMA_FILE_TIMES, FILE_PUT_TIMES },
		{ KRDMA_FILE_UPDATE, FILE_PUT_UPDATE },
		{ KRDMA_FILE_NEW, FILE_PUT_NEW },
		{ KRDMA_FILE_CHECKSUM, FILE_PUT_COMPARE },
	};
	uint32_t code = 0;

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		code |= flags & codes[i].flag ? codes[i].code : 0;
	return code;
}

/* Sends PUT with the attributes of the file. The server's HAVE describes its part file. */
static int announce(struct krdma_file_client *client, const char *name,
		    struct file_source *source, struct file_message *have)
{
	struct file_message message = {
		.type = FILE_MESSAGE_PUT,
		.code = code_of(client->flags),
		.length = source->length,
		.mtime_s = source->mtime.tv_sec,
		.mtime_ns = (uint32_t)source->mtime.tv_nsec,
		.mode = source->mode,
	};
	const uint32_t skips = KRDMA_FILE_UPDATE | KRDMA_FILE_CHECKSUM;
	int err = request(client, &message, name, have);

	if (!err && have->type == FILE_MESSAGE_COMPARE && client->flags & KRDMA_FILE_CHECKSUM) {
		err = file_compare_send(source, &client->link);
		if (!err)
			err = file_link_await(&client->link, have);
	}
	if (!err)
		err = judge_answer(client, have, FILE_MESSAGE_HAVE, client->flags & skips);
	if (err || client->result.skipped)
		return err;
	return window_create(client, KRDMA_ACCESS_REMOTE_READ, have);
}

/*
 * Continues from the server's part file if its checksum matches the source. Otherwise asks for
 * the next one, because other clients may have left part files for that name too.
 */
static int compare(struct krdma_file_client *client, struct file_source *source,
		   struct file_message *have)
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

static int offer(struct krdma_file_client *client)
{
	struct file_message message = {
		.type = FILE_MESSAGE_OFFER, .offset = client->flow.offset,
	};
	int err = file_flow_offer(&client->flow, &message);

	return err ? err : file_link_send(&client->link, &message, NULL);
}

static int put_source(struct krdma_file_client *client, struct file_source *source,
		      const char *name)
{
	struct file_message have;
	int err = announce(client, name, source, &have);

	if (err || client->result.skipped)
		return err;
	err = compare(client, source, &have);
	if (!err)
		err = offer(client);
	if (!err)
		err = file_flow_send(&client->flow, source);
	if (!err)
		client->asked = false;
	return err;
}

static int put(struct krdma_file_client *client, int folder, const char *path, const char *name)
{
	struct file_source source;
	int fd, err;

	fd = file_open_regular(folder, path, !(client->flags & KRDMA_FILE_NO_FOLLOW));
	if (fd < 0)
		return fd;
	err = file_source_open(&source, fd);
	if (err)
		return err;
	client->flow.length = source.length;
	client->result.mode = source.mode;
	client->result.mtime_s = source.mtime.tv_sec;
	client->result.mtime_ns = (uint32_t)source.mtime.tv_nsec;
	file_last_name(*name ? name : path, client->result.last);
	err = put_source(client, &source, name);
	file_source_close(&source);
	return err;
}

KRDMA_PUBLIC int krdma_file_client_put(struct krdma_file_client *client, int folder,
				       const char *path, const char *name, uint32_t flags,
				       struct krdma_file_result *result, size_t size)
{
	int err = begin(client, flags, result, size);

	if (err)
		return err;
	err = check_name(name);
	if (!err && !path)
		err = -EINVAL;
	if (!err)
		err = put(client, folder, path, name);
	return finish(client, err, result, size);
}

KRDMA_PUBLIC int krdma_file_client_make_folder(struct krdma_file_client *client, const char *name,
					       const struct stat *status, uint32_t flags,
					       struct krdma_file_result *result, size_t size)
{
	struct file_message message = { .type = FILE_MESSAGE_FOLDER }, answer;
	int err = begin(client, flags, result, size);

	if (err)
		return err;
	err = check_name(name);
	message.code = code_of(client->flags) & FILE_PUT_NO_SYNC;
	if (status && client->flags & KRDMA_FILE_NEW) {
		message.mode = (status->st_mode & 0777) | 0700;
	} else if (status) {
		message.code |= code_of(client->flags) & FILE_FOLDER_CODES;
		message.mode = status->st_mode & 0777;
		message.mtime_s = status->st_mtim.tv_sec;
		message.mtime_ns = (uint32_t)status->st_mtim.tv_nsec;
	}
	if (!err)
		err = request(client, &message, name, &answer);
	if (!err)
		err = judge_answer(client, &answer, FILE_MESSAGE_DONE, false);
	if (!err)
		client->asked = false;
	return finish(client, err, result, size);
}

/*
 * One file over a connection of its own
 */

static int create(struct krdma *session, const struct sockaddr *server,
		  const struct krdma_file_options *options, struct krdma_file_result *result,
		  size_t size, struct krdma_file_client **client)
{
	int err = 0;

	if (result) {
		err = request_prepare(result, size, FILE_RESULT_MIN_SIZE);
		if (err)
			return err;
		result->side = KRDMA_FILE_SIDE_HERE;
	}
	return krdma_file_client_create(session, server, options, client);
}

KRDMA_PUBLIC int krdma_file_get(struct krdma *session, const struct sockaddr *server,
				const char *name, const char *path,
				const struct krdma_file_options *options,
				struct krdma_file_result *result, size_t size)
{
	struct krdma_file_client *client;
	int err = create(session, server, options, result, size, &client);

	if (err)
		return err;
	err = krdma_file_client_get(client, name, AT_FDCWD, path, 0, result, size);
	krdma_file_client_destroy(client);
	return err;
}

KRDMA_PUBLIC int krdma_file_get_fd(struct krdma *session, const struct sockaddr *server,
				   const char *name, int fd,
				   const struct krdma_file_options *options,
				   struct krdma_file_result *result, size_t size)
{
	struct krdma_file_client *client;
	int err = create(session, server, options, result, size, &client);

	if (err)
		return err;
	err = krdma_file_client_get_fd(client, name, fd, result, size);
	krdma_file_client_destroy(client);
	return err;
}

KRDMA_PUBLIC int krdma_file_put(struct krdma *session, const struct sockaddr *server,
				const char *path, const char *name,
				const struct krdma_file_options *options,
				struct krdma_file_result *result, size_t size)
{
	struct krdma_file_client *client;
	int err = create(session, server, options, result, size, &client);

	if (err)
		return err;
	err = krdma_file_client_put(client, AT_FDCWD, path, name, 0, result, size);
	krdma_file_client_destroy(client);
	return err;
}
