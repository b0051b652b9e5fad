// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Serves one client.
 */
#include "file_server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/**
 * struct serving - a client being served
 * @server: the server
 * @link: the connection
 * @flow: the data
 * @report: the report
 * @name: the name exactly as the client sent it
 * @begin: start time, in ns
 */
struct serving {
	struct krdma_file_server *server;
	struct file_link link;
	struct file_flow flow;
	struct krdma_file_report report;
	char name[KRDMA_FILE_NAME_MAX + 1];
	uint64_t begin;
};

static int watch(void *context)
{
	struct krdma_file_server *server = context;

	return atomic_load(&server->stopping) ? -ESHUTDOWN : 0;
}

static int fail(struct serving *serving, int err)
{
	return err ? file_link_fail(&serving->link, err, KRDMA_FILE_SIDE_HERE) : 0;
}

static int window_create(struct serving *serving, uint32_t access)
{
	const struct krdma_file_server_options *options = &serving->server->options;

	return fail(serving, file_window_create(&serving->flow.window, serving->link.session,
						serving->link.device, access,
						options->buffer_size, options->buffer_count,
						serving->flow.length));
}

static int give(struct serving *serving, struct file_source *source)
{
	struct file_message message = {
		.type = FILE_MESSAGE_FILE,
		.length = source->length,
		.mtime_s = source->mtime.tv_sec,
		.mtime_ns = (uint32_t)source->mtime.tv_nsec,
		.mode = source->mode,
	};
	struct file_flow *flow = &serving->flow;
	uint32_t crc = 0;
	int err;

	flow->length = source->length;
	err = window_create(serving, 0);
	if (!err)
		err = file_flow_offer(flow, &message);
	if (!err)
		err = file_link_send(&serving->link, &message, serving->server->root.only);
	if (!err)
		err = file_link_receive(&serving->link, FILE_MESSAGE_FETCH, &message);
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

static int serve_get(struct serving *serving)
{
	struct file_source source;
	int fd = -1, err;

	err = file_root_read(&serving->server->root, serving->name, &fd);
	if (!err)
		err = file_source_open(&source, fd);
	if (err)
		return err;
	err = give(serving, &source);
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
		if (!err)
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
	if (!err)
		err = file_part_begin(part, message.offset);
	if (err)
		return err;
	flow->offset = message.offset;
	flow->resumed_from = message.offset;
	flow->crc = part->crc;
	return file_flow_receive(flow, &sink);
}

static int serve_put(struct serving *serving, const struct file_message *put)
{
	struct krdma_file_server *server = serving->server;
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
	err = file_root_parent(&server->root, serving->name, &folder, last, &no_replace);
	if (err)
		return err;
	file_part_open(&part, folder, last, &identity);
	part.no_replace = no_replace;
	part.exact_mode = put->code & FILE_PUT_EXACT_MODE;
	part.sync = !(put->code & FILE_PUT_NO_SYNC) &&
		    !(server->options.flags & KRDMA_FILE_SERVER_NO_SYNC);
	if (put->code & FILE_PUT_CONTINUE)
		err = file_part_continue(&part, &serving->link);
	if (!err)
		err = take(serving, &part);
	if (!err)
		err = file_part_finish(&part, &serving->link);
	file_part_close(&part, err);
	return err ? err : file_flow_done(&serving->flow);
}

/* Handles the one request of a client. */
static int serve(struct serving *serving, struct krdma_conn *conn)
{
	struct file_message message;
	int err;

	serving->link.deadline = file_now() + serving->server->options.request_ms * 1000000ull;
	err = file_link_accept(&serving->link, conn);
	while (!err && file_link_take(&serving->link, &message))
		err = file_link_pump(&serving->link, true);
	if (err)
		return err;
	serving->link.deadline = 0;
	serving->link.progress_ms = serving->server->options.progress_ms;
	memcpy(serving->name, serving->link.name, sizeof(serving->name));
	switch (message.type) {
	case FILE_MESSAGE_GET:
		serving->report.operation = KRDMA_FILE_GET;
		return serve_get(serving);
	case FILE_MESSAGE_PUT:
		serving->report.operation = KRDMA_FILE_PUT;
		return serve_put(serving, &message);
	default:
		return file_link_fail(&serving->link, -EPROTO, KRDMA_FILE_SIDE_BETWEEN);
	}
}

static void finish(struct serving *serving, int err)
{
	const struct krdma_file_server_options *options = &serving->server->options;
	struct krdma_file_report *report = &serving->report;
	struct file_flow *flow = &serving->flow;

	if (err)
		err = file_link_fail(&serving->link, err, KRDMA_FILE_SIDE_HERE);
	file_link_close(&serving->link, err);
	file_window_destroy(&flow->window);
	report->error = err;
	report->side = err ? serving->link.side : KRDMA_FILE_SIDE_NONE;
	report->crc32c = err ? 0 : flow->crc;
	report->length = flow->length;
	report->resumed_from = flow->resumed_from;
	report->transferred = flow->transferred;
	report->nanoseconds = file_now() - serving->begin;
	report->name = serving->name;
	if (options->report)
		options->report(options->context, report);
}

void file_server_serve(struct krdma_file_server *server, struct krdma_conn *conn)
{
	struct serving *serving = calloc(1, sizeof(*serving));
	struct krdma_conn_query_args query;

	if (!serving) {
		/* Closing rejects the client. */
		krdma_conn_close(conn);
		return;
	}
	serving->server = server;
	serving->begin = file_now();
	serving->link.session = server->session;
	serving->link.watch = watch;
	serving->link.watch_context = server;
	serving->link.patience_ms = server->options.patience_ms;
	serving->link.secret = server->secret;
	serving->flow.link = &serving->link;
	serving->flow.server = true;
	if (!krdma_conn_query(conn, &query, sizeof(query)))
		memcpy(&serving->report.peer, &query.remote, sizeof(serving->report.peer));
	finish(serving, serve(serving, conn));
	free(serving);
}
