// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The files of a tree, which several threads copy, each over connections of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "copy.h"

struct item {
	char *name;
	char *path;
	uint32_t flags;
};

/**
 * struct copy_queue - files to copy
 * @copying: the command
 * @url: the server
 * @root: the folder here
 * @local: the same in words
 * @lock: protects @next and @ended
 * @items: the files, @count of them in memory for @room
 * @count: as above
 * @room: as above
 * @next: the first one that no thread has taken
 * @ended: no thread takes another one
 */
struct copy_queue {
	struct copying *copying;
	const struct url *url;
	int root;
	const char *local;
	pthread_mutex_t lock;
	struct item *items;
	size_t count;
	size_t room;
	size_t next;
	bool ended;
};

struct copy_queue *copy_queue_create(struct copying *copying, const struct url *url, int root,
				     const char *local)
{
	struct copy_queue *queue = calloc(1, sizeof(*queue));

	if (!queue) {
		complain("cannot copy '%s': out of memory", local);
		return NULL;
	}
	queue->copying = copying;
	queue->url = url;
	queue->root = root;
	queue->local = local;
	pthread_mutex_init(&queue->lock, NULL);
	return queue;
}

void copy_queue_destroy(struct copy_queue *queue)
{
	for (size_t i = 0; i < queue->count; i++) {
		free(queue->items[i].name);
		free(queue->items[i].path);
	}
	free(queue->items);
	pthread_mutex_destroy(&queue->lock);
	free(queue);
}

int copy_queue_add(struct copy_queue *queue, const char *name, const char *path, uint64_t length,
		   uint32_t flags)
{
	size_t room = queue->room ? 2 * queue->room : 64;
	struct item *items = queue->items;

	if (queue->count == queue->room) {
		items = realloc(items, room * sizeof(*items));
		if (!items)
			goto no_memory;
		queue->items = items;
		queue->room = room;
	}
	items[queue->count] = (struct item){
		.name = strdup(name), .path = strdup(path), .flags = flags,
	};
	if (!items[queue->count].name || !items[queue->count].path) {
		free(items[queue->count].name);
		free(items[queue->count].path);
		goto no_memory;
	}
	queue->count++;
	queue->copying->total->length += length;
	return 0;
no_memory:
	complain("cannot copy '%s': out of memory", queue->local);
	queue->copying->total->failed++;
	return -ENOMEM;
}

static struct item *take(struct copy_queue *queue)
{
	struct item *item = NULL;

	pthread_mutex_lock(&queue->lock);
	if (!queue->ended && !copy_interrupted && queue->next < queue->count)
		item = &queue->items[queue->next++];
	pthread_mutex_unlock(&queue->lock);
	return item;
}

/* No thread takes another file: further requests would fail as well. */
static void end(struct copy_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->ended = true;
	pthread_mutex_unlock(&queue->lock);
}

static void fail(struct copying *copying, const char *local, int err)
{
	pthread_mutex_lock(&copying->total->lock);
	complain("cannot open the folder of '%s': %s", local, strerror(-err));
	copying->total->failed++;
	pthread_mutex_unlock(&copying->total->lock);
}

static void copy_item(struct copy_queue *queue, struct copying *copying, const struct item *item)
{
	struct copy copy = {
		.put = copying->put, .url = queue->url, .name = item->name, .flags = item->flags,
		.secret = copying->secret.length,
	};
	char *local;

	if (asprintf(&local, "%s/%s", queue->local, item->path) < 0) {
		fail(copying, item->path, -ENOMEM);
		return;
	}
	copy.local = local;
	copy.folder = copy_walk(queue->root, item->path, &copy.path);
	if (copy.folder < 0) {
		fail(copying, local, copy.folder);
	} else {
		copy_one(copying, &copy, false);
		close(copy.folder);
	}
	if (copying->lost)
		end(queue);
	free(local);
}

static void work(struct copy_queue *queue, struct copying *copying)
{
	struct item *item;

	while ((item = take(queue)))
		copy_item(queue, copying, item);
}

/* One more thread. */
struct stream {
	struct copy_queue *queue;
	struct copying copying;
	pthread_t thread;
};

static void *run_stream(void *context)
{
	struct stream *stream = context;

	work(stream->queue, &stream->copying);
	copy_disconnect(&stream->copying);
	return NULL;
}

/* Without memory for another thread there is one less. */
static unsigned int start_streams(struct copy_queue *queue, struct stream *streams,
				  unsigned int count)
{
	unsigned int started = 0;

	if (!streams)
		return 0;
	while (started < count) {
		struct stream *stream = &streams[started];

		*stream = (struct stream){ .queue = queue, .copying = *queue->copying };
		stream->copying.client = NULL;
		if (pthread_create(&stream->thread, NULL, run_stream, stream))
			break;
		started++;
	}
	return started;
}

void copy_queue_run(struct copy_queue *queue)
{
	struct copying *copying = queue->copying;
	struct total *total = copying->total;
	size_t streams = copying->streams;
	struct stream *others = NULL;
	unsigned int started = 0;

	/* Few files share the connections. */
	if (queue->count && streams >= 2 * queue->count) {
		copy_disconnect(copying);
		copying->connections = (unsigned int)(streams / queue->count);
	}
	if (streams > queue->count)
		streams = queue->count;
	if (streams > 1) {
		others = calloc(streams - 1, sizeof(*others));
		started = start_streams(queue, others, (unsigned int)streams - 1);
	}
	work(queue, copying);
	while (started)
		pthread_join(others[--started].thread, NULL);
	free(others);
	if (copying->connections > 1)
		copy_disconnect(copying);
	copying->connections = 1;
	total->failed += queue->count - queue->next;
	if (queue->next < queue->count)
		complain("%zu more files of '%s' were not copied\n"
			 "Continue with the same command and -u", queue->count - queue->next,
			 queue->local);
}
