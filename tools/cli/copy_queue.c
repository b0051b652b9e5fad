// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The files of a tree, which several threads copy, each over connections of its own.
 *
 * Each thread is a client of the server, which may have fewer places than there are threads.  A
 * thread that gets no place gives its file back, and ends.  Files that are given back are copied
 * by the threads that remain, so the last thread with a place ends after those that do not know
 * yet whether they get one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "copy.h"

/* @folder: valid if @has_folder; @returned: the next one that was given back */
struct item {
	char *name;
	char *path;
	uint32_t flags;
	struct folder_id folder;
	bool has_folder;
	struct item *returned;
};

/**
 * struct copy_queue - files to copy
 * @copying: the command
 * @url: the server
 * @root: the folder here
 * @local: the same in words
 * @lock: protects the fields from @next on
 * @changed: broadcast when a thread gets a place, gives its file back or ends
 * @items: the files, @count of them in memory for @room
 * @count: as above
 * @room: as above
 * @next: the first one that no thread has taken
 * @returned: the first one that was given back
 * @threads: threads that take files
 * @placed: of these, threads that have a place at the server
 * @ended: no thread takes another one
 */
struct copy_queue {
	struct copying *copying;
	const struct url *url;
	int root;
	const char *local;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct item *items;
	size_t count;
	size_t room;
	size_t next;
	struct item *returned;
	unsigned int threads;
	unsigned int placed;
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
	pthread_cond_init(&queue->changed, NULL);
	return queue;
}

void copy_queue_destroy(struct copy_queue *queue)
{
	for (size_t i = 0; i < queue->count; i++) {
		free(queue->items[i].name);
		free(queue->items[i].path);
	}
	free(queue->items);
	pthread_cond_destroy(&queue->changed);
	pthread_mutex_destroy(&queue->lock);
	free(queue);
}

int copy_queue_add(struct copy_queue *queue, const char *name, const char *path, uint64_t length,
		   uint32_t flags, const struct folder_id *folder)
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
	if (folder) {
		items[queue->count].folder = *folder;
		items[queue->count].has_folder = true;
	}
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

/* One thread: what it knows of its place, and whether it was the only one when it took a file. */
struct worker {
	bool placed;
	bool alone;
};

/* Call with the lock held: the next file, or NULL if there is none now. */
static struct item *next_item(struct copy_queue *queue)
{
	struct item *item = queue->returned;

	if (queue->ended || copy_interrupted)
		return NULL;
	if (item)
		queue->returned = item->returned;
	else if (queue->next < queue->count)
		item = &queue->items[queue->next++];
	return item;
}

/* Returns NULL at the end of this thread. */
static struct item *take(struct copy_queue *queue, struct worker *worker)
{
	struct item *item;

	pthread_mutex_lock(&queue->lock);
	while (!(item = next_item(queue)) && worker->placed && queue->placed == 1 &&
	       queue->threads > 1)
		pthread_cond_wait(&queue->changed, &queue->lock);
	worker->alone = queue->threads == 1;
	if (!item) {
		queue->threads--;
		queue->placed -= worker->placed;
		pthread_cond_broadcast(&queue->changed);
	}
	pthread_mutex_unlock(&queue->lock);
	return item;
}

/* The server has answered this thread. */
static void keep_place(struct copy_queue *queue, struct worker *worker)
{
	if (worker->placed)
		return;
	worker->placed = true;
	pthread_mutex_lock(&queue->lock);
	queue->placed++;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}

/* The server has no place for this thread.  Returns true if the thread ends, because of others. */
static bool give_back(struct copy_queue *queue, struct worker *worker, struct item *item)
{
	bool ends;

	pthread_mutex_lock(&queue->lock);
	item->returned = queue->returned;
	queue->returned = item;
	queue->placed -= worker->placed;
	worker->placed = false;
	ends = queue->threads > 1;
	if (ends)
		queue->threads--;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
	return ends;
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

/* Returns false if the server has no place for this thread, but maybe for others. */
static bool copy_item(struct copy_queue *queue, struct copying *copying, const struct item *item,
		      struct worker *worker)
{
	struct copy copy = {
		.put = copying->put, .url = queue->url, .name = item->name, .flags = item->flags,
		.secret = copying->secret.length,
	};
	bool refused = false;
	char *local;

	if (asprintf(&local, "%s/%s", queue->local, item->path) < 0) {
		fail(copying, item->path, -ENOMEM);
		return true;
	}
	copy.local = local;
	copy.folder = copy_walk_to(queue->root, item->path,
				   item->has_folder ? &item->folder : NULL, &copy.path);
	if (copy.folder < 0) {
		fail(copying, local, copy.folder);
	} else {
		int quiet = worker->alone ? 0 : -EUSERS;
		int err = copy_one(copying, &copy, quiet);

		close(copy.folder);
		if (copying->lost)
			end(queue);
		else if (err && err == quiet)
			refused = true;
		else
			keep_place(queue, worker);
	}
	free(local);
	return !refused;
}

static void work(struct copy_queue *queue, struct copying *copying)
{
	struct worker worker = { 0 };
	struct item *item;

	while ((item = take(queue, &worker))) {
		if (!copy_item(queue, copying, item, &worker) && give_back(queue, &worker, item))
			break;
	}
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

static void add_thread(struct copy_queue *queue, int more)
{
	pthread_mutex_lock(&queue->lock);
	queue->threads += (unsigned int)more;
	pthread_mutex_unlock(&queue->lock);
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
		add_thread(queue, 1);
		if (pthread_create(&stream->thread, NULL, run_stream, stream)) {
			add_thread(queue, -1);
			break;
		}
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
	size_t left;

	/* Few files share the connections. */
	if (queue->count && streams >= 2 * queue->count) {
		copy_disconnect(copying);
		copying->connections = (unsigned int)(streams / queue->count);
	}
	if (streams > queue->count)
		streams = queue->count;
	/* This one. */
	add_thread(queue, 1);
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
	left = queue->count - queue->next;
	for (const struct item *item = queue->returned; item; item = item->returned)
		left++;
	total->failed += left;
	if (left)
		complain("%zu more files of '%s' were not copied\n"
			 "Continue with the same command and -u", left, queue->local);
}
