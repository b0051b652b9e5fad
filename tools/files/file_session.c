// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Serves one client, one request after another.
 */
#include "file_server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Below this size, a further piece costs more than a further connection brings. */
#define SLOT_LEAST	65536u

/**
 * struct serving - a client being served
 * @server: the server
 * @link: the connection
 * @flow: the data of the current request
 * @report: the report about it
 * @name: the name in it, exactly as the client sent it
 * @begin: its start time, in ns
 * @answered: the client has the first answer, so that an error ends the connection
 * @requests: number of requests so far
 */
struct serving {
	struct krdma_file_server *server;
	struct file_link link;
	struct file_flow flow;
	struct krdma_file_report report;
	char name[KRDMA_FILE_NAME_MAX + 1];
	uint64_t begin;
	bool answered;
	unsigned long requests;
};

static int check_stop(void *context)
{
	struct krdma_file_server *server = context;

	return atomic_load(&server->stopping) ? -ESHUTDOWN : 0;
}

static int fail(struct serving *serving, int err)
{
	return err ? file_link_fail(&serving->link, err, KRDMA_FILE_SIDE_HERE) : 0;
}

/* Bytes of a buffer: of a short file, each of several connections gets some, too. */
static uint32_t slot_size(const struct serving *serving)
{
	const unsigned int streams = serving->link.stream_count;
	uint64_t part = serving->flow.length / (2 * streams);

	if (serving->server->options.buffer_size || streams < 2)
		return serving->server->options.buffer_size;
	if (part > FILE_SLOT_DEFAULT)
		return FILE_SLOT_DEFAULT;
	return part < SLOT_LEAST ? SLOT_LEAST : (uint32_t)part;
}

static int window_create(struct serving *serving, uint32_t access)
{
	const struct krdma_file_server_options *options = &serving->server->options;

	return fail(serving, file_window_create(&serving->flow.window, serving->link.session,
						serving->link.device, access,
						slot_size(serving),
						file_window_slots(options->buffer_count,
								  serving->link.stream_count),
						serving->flow.length));
}

/* Receives what the client does with the file that is offered, and lets it compare first. */
static int await_choice(struct serving *serving, struct file_source *source,
			struct file_message *choice)
{
	int err = file_link_await(&serving->link, choice);

	if (err || choice->type != FILE_MESSAGE_COMPARE)
		return err;
	err = file_compare_send(source, &serving->link);
	return err ? err : file_link_await(&serving->link, choice);
}

/* @status: what the client is to know of the file. */
static int give(struct serving *serving, struct file_source *source, const struct stat *status)
{
	struct file_message message = {
		.type = FILE_MESSAGE_FILE,
		.length = source->length,
		.mtime_s = status->st_mtim.tv_sec,
		.mtime_ns = (uint32_t)status->st_mtim.tv_nsec,
		.mode = status->st_mode & 0777,
	};
	struct file_flow *flow = &serving->flow;
	uint32_t crc = 0;
	int err;

	flow->length = source->length;
	err = window_create(serving, 0);
	if (!err)
		err = file_flow_offer(flow, &message);
	if (err)
		return err;
	serving->answered = true;
	err = file_link_send(&serving->link, &message, serving->server->root.only);
	if (!err)
		err = await_choice(serving, source, &message);
	if (!err && message.type == FILE_MESSAGE_SKIP) {
		serving->report.skipped = 1;
		return 0;
	}
	if (!err && message.type != FILE_MESSAGE_FETCH)
		err = file_link_fail(&serving->link, -EPROTO, KRDMA_FILE_SIDE_BETWEEN);
	if (!err)
		err = file_flow_accept(flow, &message);
	if (err)
		return err;

	if (message.offset && message.offset <= source->length) {
		err = fail(serving, file_source_crc(source, message.offset, &serving->link, &crc));
		if (err)
			return err;
		if (crc == message.crc) {
			flow->offset = message.offset;
			flow->resumed_from = message.offset;
			flow->crc = crc;
		}
	}
	message = (struct file_message){ .type = FILE_MESSAGE_BEGIN, .offset = flow->offset };
	err = file_link_send(&serving->link, &message, NULL);
	return err ? err : file_flow_send(flow, source);
}

static int serve_get(struct serving *serving, uint32_t code)
{
	const struct file_root *root = &serving->server->root;
	struct stat status = { 0 };
	struct file_source source;
	int fd = -1, err;

	file_link_leave(&serving->link);
	if (code & FILE_GET_LIST)
		err = file_list_create(root, serving->name, code & FILE_GET_RECURSIVE,
				       &serving->link, &status, &fd);
	else
		err = file_root_read(root, serving->name, &fd);
	if (!err)
		err = file_source_open(&source, fd);
	file_link_enter(&serving->link);
	if (err)
		return err;
	/* What is made up has the time at which it was read. */
	if (!(code & FILE_GET_LIST)) {
		status.st_mtim = source.mtime;
		status.st_mode = source.mode;
	}
	err = give(serving, &source, &status);
	file_source_close(&source);
	return err;
}

/*
 * Offers one part file after another until the client accepts one. If there are no more, offers
 * offset 0.
 */
static int agree(struct serving *serving, struct file_part *part, struct file_message *offer)
{
	struct file_message have;
	int err;

	for (;;) {
		have = (struct file_message){
			.type = FILE_MESSAGE_HAVE, .offset = part->offset, .crc = part->crc,
		};
		err = file_flow_offer(&serving->flow, &have);
		if (err)
			return err;
		serving->answered = true;
		err = file_link_send(&serving->link, &have, NULL);
		if (!err)
			err = file_link_await(&serving->link, offer);
		if (err)
			return err;
		if (offer->type == FILE_MESSAGE_OFFER)
			return 0;
		if (offer->type != FILE_MESSAGE_NEXT || !part->offset)
			return file_link_fail(&serving->link, -EPROTO, KRDMA_FILE_SIDE_BETWEEN);
		err = file_part_continue(part, &serving->link);
		if (err)
			return err;
	}
}

static int take(struct serving *serving, struct file_part *part)
{
	struct file_sink sink = { .part = part, .fd = -1 };
	struct file_flow *flow = &serving->flow;
	struct file_message message;
	int err;

	err = window_create(serving, KRDMA_ACCESS_LOCAL_WRITE);
	if (!err)
		err = agree(serving, part, &message);
	if (!err)
		err = file_flow_accept(flow, &message);
	if (!err && message.offset && message.offset != part->offset)
		err = file_link_fail(&serving->link, -EPROTO, KRDMA_FILE_SIDE_BETWEEN);
	if (err)
		return err;
	file_link_leave(&serving->link);
	err = file_part_begin(part, message.offset);
	file_link_enter(&serving->link);
	if (err)
		return err;
	flow->offset = message.offset;
	flow->resumed_from = message.offset;
	flow->crc = part->crc;
	return file_flow_receive(flow, &sink);
}

/* Whether the client's file is here already, as far as length and time show. */
static bool is_here(int folder, const char *last, const struct file_identity *identity)
{
	struct stat status;

	return !fstatat(folder, last, &status, AT_SYMLINK_NOFOLLOW) && S_ISREG(status.st_mode) &&
	       (uint64_t)status.st_size == identity->length &&
	       file_has_mtime(&status, identity->mtime_s, identity->mtime_ns);
}

/* The same by its content. Returns 1 if it is, 0 if not, or an error of the link. */
static int is_same(struct serving *serving, int folder, const char *last)
{
	const struct file_message compare = { .type = FILE_MESSAGE_COMPARE };
	struct file_source source;
	int err, same;

	if (!file_compare_open(&source, folder, last, serving->flow.length))
		return 0;
	serving->answered = true;
	err = file_link_send(&serving->link, &compare, NULL);
	if (err) {
		file_source_close(&source);
		return err;
	}
	same = file_compare_receive(&source, &serving->link);
	/* The client awaits the answer to its request again. */
	if (same >= 0)
		serving->answered = false;
	return same;
}

/* Whether the client need not put the file. Returns 1 if so, 0 if not, or an error of the link. */
static int is_up_to_date(struct serving *serving, uint32_t code, int folder, const char *last,
			 const struct file_identity *identity)
{
	if (code & FILE_PUT_COMPARE)
		return is_same(serving, folder, last);
	return code & FILE_PUT_UPDATE && is_here(folder, last, identity);
}

static bool exists(int folder, const char *last)
{
	struct stat status;

	return !fstatat(folder, last, &status, AT_SYMLINK_NOFOLLOW);
}

static bool syncs(const struct serving *serving, uint32_t code)
{
	return !(code & FILE_PUT_NO_SYNC) &&
	       !(serving->server->options.flags & KRDMA_FILE_SERVER_NO_SYNC);
}

static int open_parent(struct serving *serving, uint32_t code, int *folder, char *last,
		       bool *no_replace)
{
	const struct file_root *root = &serving->server->root;
	int err = file_root_parent(root, serving->name, folder, last, no_replace);

	if (err != -ENOENT || !(code & FILE_PUT_PARENTS))
		return err;
	err = file_root_make_folders(root, serving->name, 0777,
				     syncs(serving, code) ? &serving->link : NULL);
	return err ? err : file_root_parent(root, serving->name, folder, last, no_replace);
}

static int skip(struct serving *serving)
{
	const struct file_message message = { .type = FILE_MESSAGE_SKIP };

	serving->answered = true;
	serving->report.skipped = 1;
	return file_link_send(&serving->link, &message, NULL);
}

static int serve_put(struct serving *serving, const struct file_message *put)
{
	struct file_identity identity = {
		.length = put->length,
		.mtime_s = put->mtime_s,
		.mtime_ns = put->mtime_ns,
		.mode = put->mode,
	};
	char last[KRDMA_FILE_LAST_MAX + 1];
	struct file_part part;
	bool no_replace;
	int folder, err;

	serving->flow.length = put->length;
	file_link_leave(&serving->link);
	err = open_parent(serving, put->code, &folder, last, &no_replace);
	file_link_enter(&serving->link);
	if (err)
		return err;
	/*
	 * Where the client may not read, it must not learn what a file is like, also if that has
	 * just appeared.
	 */
	if (!no_replace)
		err = is_up_to_date(serving, put->code, folder, last, &identity);
	if (err) {
		close(folder);
		return err < 0 ? err : skip(serving);
	}
	if (put->code & FILE_PUT_NEW && exists(folder, last)) {
		close(folder);
		return -EEXIST;
	}
	file_part_open(&part, folder, last, &identity);
	part.no_replace = no_replace || put->code & FILE_PUT_NEW;
	part.exact_mode = put->code & FILE_PUT_EXACT_MODE;
	part.keep_times = put->code & FILE_PUT_TIMES;
	part.sync = syncs(serving, put->code);
	if (put->code & FILE_PUT_CONTINUE)
		err = file_part_continue(&part, &serving->link);
	if (!err)
		err = take(serving, &part);
	if (!err)
		err = file_part_finish(&part, &serving->link);
	file_link_leave(&serving->link);
	file_part_close(&part, err);
	file_link_enter(&serving->link);
	return err ? err : file_flow_done(&serving->flow);
}

/*
 * The offered folder itself stays as it is.  It has more names than the empty one, "." and "./" for
 * example.
 */
static int settle_folder(const struct file_root *root, int fd, const struct file_message *folder)
{
	struct stat offered, status;

	if (fstat(root->folder, &offered) || fstat(fd, &status))
		return -errno;
	if (offered.st_dev == status.st_dev && offered.st_ino == status.st_ino)
		return 0;
	/* A folder that a group or all users share stays so. */
	if (folder->code & FILE_PUT_EXACT_MODE &&
	    fchmod(fd, (status.st_mode & 07000) | (folder->mode & 0777)) && errno != EPERM &&
	    errno != EOPNOTSUPP)
		return -errno;
	if (folder->code & FILE_PUT_TIMES)
		return file_set_mtime(fd, folder->mtime_s, folder->mtime_ns);
	return 0;
}

/* The time of a folder changes with each entry, so a client makes it first and settles it last. */
static int make_folder(struct serving *serving, const struct file_message *folder)
{
	const bool settles = folder->code & (FILE_PUT_EXACT_MODE | FILE_PUT_TIMES);
	const struct file_root *root = &serving->server->root;
	char path[KRDMA_FILE_NAME_MAX + 1];
	size_t length = strlen(serving->name);
	uint32_t access = KRDMA_FILE_WRITE;
	int fd, err;

	if (length >= KRDMA_FILE_NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(path, serving->name, length);
	if (length)
		path[length++] = '/';
	path[length] = '\0';
	err = file_root_make_folders(root, path, folder->mode ? folder->mode & 0777 : 0777,
				     syncs(serving, folder->code) ? &serving->link : NULL);
	if (err)
		return err;
	/* A client that may not read there may not change what is there. */
	if (settles)
		access |= KRDMA_FILE_READ;
	fd = file_root_open_folder(root, path, O_RDONLY, access);
	if (fd < 0)
		return fd;
	if (settles)
		err = settle_folder(root, fd, folder);
	close(fd);
	return err;
}

static int serve_folder(struct serving *serving, const struct file_message *folder)
{
	int err;

	file_link_leave(&serving->link);
	err = make_folder(serving, folder);
	file_link_enter(&serving->link);
	return err ? err : file_flow_done(&serving->flow);
}

static int carry_out(struct serving *serving, const struct file_message *message)
{
	struct krdma_file_report *report = &serving->report;

	memcpy(serving->name, serving->link.name, sizeof(serving->name));
	switch (message->type) {
	case FILE_MESSAGE_GET:
		report->operation = message->code & FILE_GET_LIST ? KRDMA_FILE_LIST :
								    KRDMA_FILE_GET;
		return serve_get(serving, message->code);
	case FILE_MESSAGE_PUT:
		report->operation = KRDMA_FILE_PUT;
		return serve_put(serving, message);
	case FILE_MESSAGE_FOLDER:
		report->operation = KRDMA_FILE_MAKE_FOLDER;
		return serve_folder(serving, message);
	default:
		return file_link_fail(&serving->link, -EPROTO, KRDMA_FILE_SIDE_BETWEEN);
	}
}

static void report_request(struct serving *serving, int err)
{
	const struct krdma_file_server_options *options = &serving->server->options;
	struct krdma_file_report *report = &serving->report;
	struct file_flow *flow = &serving->flow;

	report->error = err;
	report->side = err ? serving->link.side : KRDMA_FILE_SIDE_NONE;
	if (err && !serving->link.error)
		report->side = KRDMA_FILE_SIDE_HERE;
	report->crc32c = err ? 0 : flow->crc;
	report->length = flow->length;
	report->resumed_from = flow->resumed_from;
	report->transferred = flow->transferred;
	report->streams = serving->link.stream_count;
	report->nanoseconds = file_now() - serving->begin;
	report->name = serving->name;
	if (options->report)
		options->report(options->context, report);
}

/*
 * Waits for the next request. -ENODATA: the client has disconnected, or had no request for too
 * long.
 */
static int next_request(struct serving *serving, struct file_message *message)
{
	struct file_link *link = &serving->link;
	bool first = !serving->requests;
	int err = 0;

	link->deadline = file_now() + serving->server->options.request_ms * 1000000ull;
	link->progress_ms = 0;
	/* A client that has no request need not take messages. */
	link->quiet = !first;
	while (!err && file_link_take(link, message))
		err = file_link_pump(link, true);
	link->quiet = false;
	link->deadline = 0;
	link->progress_ms = serving->server->options.progress_ms;
	if (err && !first && err != -ESHUTDOWN && err != -EPROTO) {
		link->error = 0;
		return -ENODATA;
	}
	return err;
}

/* Makes everything ready for a request. */
static void begin(struct serving *serving)
{
	struct krdma_file_report *report = &serving->report;
	struct file_flow *flow = &serving->flow;

	serving->begin = file_now();
	serving->answered = false;
	serving->name[0] = '\0';
	*report = (struct krdma_file_report){ .peer = report->peer };
	*flow = (struct file_flow){
		.link = &serving->link, .server = true, .window = flow->window,
	};
}

static int refuse(struct serving *serving, int err)
{
	struct file_message message = { .type = FILE_MESSAGE_REFUSE, .code = file_code_of(err) };

	return file_link_send(&serving->link, &message, NULL);
}

/* Accepts the further connections of the client, in the order in which it makes them. */
static int join_all(struct serving *serving, struct file_joining *joining)
{
	struct file_link *link = &serving->link;
	struct krdma_conn *conn;
	int err = 0;

	for (unsigned int i = 1; i < link->stream_count && !err; i++) {
		do {
			conn = file_joining_take(serving->server, joining, i, FILE_TICK_MS);
			err = file_link_tick(link);
			/* A client has no request before all of them are there. */
			if (!err && !conn && file_link_has_more(link))
				err = file_link_fail(link, -EPROTO, KRDMA_FILE_SIDE_BETWEEN);
		} while (!conn && !err);
		if (conn && err)
			krdma_conn_close(conn);
		else if (conn)
			err = file_link_join(link, i, conn);
	}
	return err;
}

/* Connections that the client asks for. */
static uint32_t streams_asked(struct krdma_conn *conn)
{
	unsigned char data[256];
	size_t length = sizeof(data);
	struct file_hello hello;

	if (krdma_conn_private_data(conn, data, &length) ||
	    file_hello_decode(data, length < sizeof(data) ? length : sizeof(data), &hello))
		return 0;
	return hello.streams;
}

/* Serves until the client is gone. Returns the error that ends the connection; 0: none. */
static int serve(struct serving *serving, struct krdma_conn *conn, struct file_joining *joining)
{
	struct file_message message;
	int err, failed = 0;

	serving->link.deadline = file_now() + serving->server->options.request_ms * 1000000ull;
	err = file_link_accept(&serving->link, conn);
	if (!err)
		err = join_all(serving, joining);
	file_joining_close(serving->server, joining);
	while (!err) {
		err = next_request(serving, &message);
		if (err == -ENODATA)
			return 0;
		if (err == -ESHUTDOWN && serving->requests)
			return err;
		begin(serving);
		if (err)
			break;
		serving->requests++;
		failed = carry_out(serving, &message);
		file_link_rest(&serving->link);
		if (failed && !serving->link.error && !serving->answered)
			err = refuse(serving, failed);
		else if (failed)
			err = file_link_fail(&serving->link, failed, KRDMA_FILE_SIDE_HERE);
		report_request(serving, failed);
		if (err)
			return err;
	}
	/* There is no request that the error belongs to. */
	err = file_link_fail(&serving->link, err, KRDMA_FILE_SIDE_HERE);
	report_request(serving, err);
	return err;
}

void file_server_serve(struct krdma_file_server *server, struct krdma_conn *conn)
{
	struct serving *serving = calloc(1, sizeof(*serving));
	struct krdma_conn_query_args query;
	struct file_joining joining;
	int err;

	if (!serving) {
		/* Closing rejects the client. */
		krdma_conn_close(conn);
		return;
	}
	serving->server = server;
	serving->link.session = server->session;
	serving->link.on_tick = check_stop;
	serving->link.tick_context = server;
	serving->link.patience_ms = server->options.patience_ms;
	serving->link.secret = server->secret;
	begin(serving);
	if (!krdma_conn_query(conn, &query, sizeof(query)))
		memcpy(&serving->report.peer, &query.remote, sizeof(serving->report.peer));
	file_joining_init(server, &joining, &serving->report.peer);
	serving->link.streams_wanted = file_joining_grant(server, &joining, streams_asked(conn));
	memcpy(serving->link.ticket, joining.ticket, FILE_TOKEN);
	err = serve(serving, conn, &joining);
	file_link_close(&serving->link, err);
	file_joining_exit(server, &joining);
	file_window_destroy(&serving->flow.window);
	free(serving);
}
