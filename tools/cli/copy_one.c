// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Copy one file, make or list one folder.
 *
 * Requests to the same server, one after another, use the same connection.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "cli.h"
#include "copy.h"

atomic_int copy_interrupted;

static int show(void *context, const struct krdma_file_progress *progress)
{
	struct copying *copying = context;
	struct total *total = copying->total;

	/* The length is not known before there is a connection. */
	if (!progress->length)
		return copy_interrupted;
	if (total->shown) {
		pthread_mutex_lock(&total->lock);
		total->done += progress->done - copying->seen;
		copying->seen = progress->done;
		/* Not all of them were in a list, and those that were may have grown. */
		if (total->length < total->done)
			total->length = total->done;
		progress_show(&total->progress, total->done, total->length);
		pthread_mutex_unlock(&total->lock);
	} else {
		progress_show(&copying->file, progress->done, progress->length);
	}
	return copy_interrupted;
}

void copy_disconnect(struct copying *copying)
{
	krdma_file_client_destroy(copying->client);
	copying->client = NULL;
}

static int connect_to(struct copying *copying, const struct url *url,
		      const struct sockaddr_storage *address)
{
	struct krdma_file_options options = {
		.size = sizeof(options),
		.flags = copying->flags,
		.progress = show,
		.context = copying,
		.secret = copying->secret.length ? copying->secret.bytes : NULL,
		.secret_length = copying->secret.length,
		.streams = copying->connections,
	};

	copy_disconnect(copying);
	snprintf(copying->host, sizeof(copying->host), "%s", url->host);
	copying->port = url->port;
	return krdma_file_client_create(copying->session, (const struct sockaddr *)address,
					&options, &copying->client);
}

/* A request to the server, as copy_any() makes it. */
typedef int (*request_function)(struct copying *copying, void *context,
				struct krdma_file_result *result);

static bool is_connected(const struct copying *copying, const struct url *url)
{
	return copying->client && copying->port == url->port && !strcmp(copying->host, url->host);
}

/*
 * Whether another address may be tried.  What a pipe or a device has taken cannot be taken back,
 * and the zeroes of a hole are not among what was transferred; so there, an answer is the last one.
 */
static bool may_try_again(const struct copying *copying, const struct krdma_file_result *result)
{
	return result->side == KRDMA_FILE_SIDE_BETWEEN && !result->transferred &&
	       (copying->stream < 0 || !result->length);
}

/* Use the first address of the host that can be connected to. */
static int copy_any(struct copying *copying, const struct url *url, request_function request,
		    void *context, struct krdma_file_result *result)
{
	struct sockaddr_storage addresses[URL_ADDRESSES];
	size_t count;
	int err = -ENXIO;

	if (is_connected(copying, url))
		return request(copying, context, result);
	count = url_addresses(url, addresses);
	for (size_t i = 0; i < count; i++) {
		result->side = KRDMA_FILE_SIDE_HERE;
		err = connect_to(copying, url, &addresses[i]);
		if (!err)
			err = request(copying, context, result);
		if (!err || !may_try_again(copying, result))
			return err;
	}
	/* None of them answers: the next request looks them up again. */
	copy_disconnect(copying);
	return err;
}

static int copy_file(struct copying *copying, void *context, struct krdma_file_result *result)
{
	const struct copy *copy = context;

	copying->seen = 0;
	if (copy->put)
		return krdma_file_client_put(copying->client, copy->folder, copy->path, copy->name,
					     copy->flags, result, sizeof(*result));
	if (copying->stream >= 0)
		return krdma_file_client_get_fd(copying->client, copy->name, copying->stream,
						result, sizeof(*result));
	return krdma_file_client_get(copying->client, copy->name, copy->folder, copy->path,
				     copy->flags, result, sizeof(*result));
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
	json_put_number(object, "streams", result->streams);
	copy_json(object, &figures);
	if (result->skipped)
		json_put(object, "skipped", json_object_new_boolean(true));
	snprintf(text, sizeof(text), "%04o", result->mode);
	if (err)
		json_put_text(object, "side", sides[result->side % 4]);
	else
		json_put_text(object, "mode", text);
	json_append(copying->array, object);
}

/* Whether the server is gone or takes no requests of this client. */
static bool is_lost(const struct krdma_file_result *result, int err)
{
	return err == -ENXIO || err == -ECANCELED || err == -ESHUTDOWN || err == -EUSERS ||
	       (err && result->side == KRDMA_FILE_SIDE_BETWEEN);
}

/* What the file adds to the total. */
static void count(struct copying *copying, const struct krdma_file_result *result, int err)
{
	struct total *total = copying->total;

	pthread_mutex_lock(&total->lock);
	if (err)
		total->failed++;
	else if (result->skipped)
		total->skipped++;
	else
		total->files++;
	total->transferred += result->transferred;
	/* Without an error all of it is there, whether or not it was shown. */
	if (total->shown && !err)
		total->done += result->length - copying->seen;
	pthread_mutex_unlock(&total->lock);
}

int copy_one(struct copying *copying, const struct copy *copy, int quiet)
{
	struct krdma_file_result result = { .size = sizeof(result) };
	bool alone = !copying->total->shown;
	struct copy own = *copy;
	int err;

	copying->lost = false;
	if (alone)
		progress_begin(&copying->file, copying->when, copy->put ? copy->local : copy->name);
	err = copy_any(copying, copy->url, copy_file, &own, &result);
	if (err && err == quiet && result.side == KRDMA_FILE_SIDE_PEER)
		return err;
	if (alone && (result.length || !err) && !result.skipped)
		progress_end(&copying->file, result.resumed_from,
			     err ? result.resumed_from + result.transferred : result.length,
			     result.length);
	copying->lost = is_lost(&result, err);
	count(copying, &result, err);
	pthread_mutex_lock(&copying->total->lock);
	/* For -ENXIO, an error message about the host has been printed already. */
	if (err && err != -ENXIO)
		copy_explain(copy, &result, err);
	if (copying->array)
		add_result(copying, copy, &result, err);
	pthread_mutex_unlock(&copying->total->lock);
	return err;
}

/* A request of copy_make_folder() or copy_list(). */
struct folder {
	const char *name;
	const struct stat *status;
	uint32_t flags;
	struct krdma_file_entry **entries;
	size_t *count;
};

static int make_folder(struct copying *copying, void *context, struct krdma_file_result *result)
{
	const struct folder *folder = context;

	return krdma_file_client_make_folder(copying->client, folder->name, folder->status,
					     folder->flags, result, sizeof(*result));
}

int copy_make_folder(struct copying *copying, const struct url *url, const char *name,
		     const struct stat *status, bool fresh)
{
	struct krdma_file_result result = { .size = sizeof(result) };
	struct folder folder = {
		.name = name, .status = status, .flags = fresh ? KRDMA_FILE_NEW : 0,
	};
	const struct copy copy = { .put = true, .url = url, .name = name, .local = name };
	int err = copy_any(copying, url, make_folder, &folder, &result);

	copying->lost = is_lost(&result, err);
	if (!err)
		return 0;
	pthread_mutex_lock(&copying->total->lock);
	copying->total->failed++;
	if (err != -ENXIO)
		copy_explain(&copy, &result, err);
	pthread_mutex_unlock(&copying->total->lock);
	return err;
}

static int list(struct copying *copying, void *context, struct krdma_file_result *result)
{
	const struct folder *folder = context;

	return krdma_file_client_list(copying->client, folder->name, folder->flags,
				      folder->entries, folder->count, result, sizeof(*result));
}

static int by_name(const void *first, const void *second)
{
	const struct krdma_file_entry *a = first, *b = second;

	return strcmp(a->name, b->name);
}

/* Whether the server says that there is no such folder, or none to be listed. */
static bool is_of_name(int err)
{
	return err == -ENOENT || err == -ENOTDIR || err == -EACCES || err == -EISDIR ||
	       err == -ENAMETOOLONG || err == -EFBIG;
}

int copy_list(struct copying *copying, const struct url *url, const char *name, uint32_t flags,
	      int quiet, struct krdma_file_entry **entries, size_t *count, struct stat *status)
{
	struct krdma_file_result result = { .size = sizeof(result) };
	struct folder folder = {
		.name = name, .flags = flags, .entries = entries, .count = count,
	};
	const struct copy copy = {
		.verb = copying->verb, .url = url, .name = name, .local = name,
		.secret = copying->secret.length,
	};
	int err = copy_any(copying, url, list, &folder, &result);

	if (!err) {
		qsort(*entries, *count, sizeof(**entries), by_name);
		if (status)
			*status = (struct stat){
				.st_mode = result.mode,
				.st_mtim = { result.mtime_s, result.mtime_ns },
			};
		return 0;
	}
	copying->lost = is_lost(&result, err);
	if (result.side == KRDMA_FILE_SIDE_PEER &&
	    (err == quiet || (quiet == 1 && is_of_name(err))))
		return err;
	copying->total->failed++;
	if (err != -ENXIO)
		copy_explain(&copy, &result, err);
	return err;
}

/* A server may have half a million of them. */
#define UNREADABLE_SHOWN	100

size_t copy_list_readable(struct copying *copying, const struct url *url, const char *name,
			  bool (*wanted)(const char *entry, const void *context),
			  const void *context, struct krdma_file_entry *entries, size_t count)
{
	const char *slash = *name && name[strlen(name) - 1] != '/' ? "/" : "";
	size_t readable = 0, missed = 0;

	for (size_t i = 0; i < count; i++) {
		if (entries[i].type != KRDMA_FILE_TYPE_UNREADABLE) {
			entries[readable++] = entries[i];
			continue;
		}
		if ((wanted && !wanted(entries[i].name, context)) ||
		    missed++ >= UNREADABLE_SHOWN)
			continue;
		complain("the server at %s cannot read '%s%s%s': %s\n"
			 "What is there is missing here; check its permissions and the disk there",
			 url->host, name, slash, entries[i].name, strerror(-entries[i].error));
	}
	copying->total->failed += missed;
	if (missed > UNREADABLE_SHOWN)
		complain("the server at %s cannot read %zu more in '%s'", url->host,
			 missed - UNREADABLE_SHOWN, name);
	return readable;
}
