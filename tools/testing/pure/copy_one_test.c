// SPDX-License-Identifier: GPL-2.0
/*
 * What krdma get does with the addresses of a host, and a server that goes away.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "cli.h"
#include "copy.h"
#include "tap.h"

/*
 * The server, and the connection to it
 */

/* How a request ends at each address, and what has come of the file before. */
static uint64_t length, transferred;
static uint32_t side;
static unsigned int requests;

struct krdma_file_client {
	int unused;
};

static struct krdma_file_client the_client;

size_t url_addresses(const struct url *url, struct sockaddr_storage addresses[URL_ADDRESSES])
{
	(void)url;
	memset(addresses, 0, 3 * sizeof(*addresses));
	return 3;
}

int krdma_file_client_create(struct krdma *session, const struct sockaddr *server,
			     const struct krdma_file_options *options,
			     struct krdma_file_client **client)
{
	(void)session;
	(void)server;
	(void)options;
	*client = &the_client;
	return 0;
}

void krdma_file_client_destroy(struct krdma_file_client *client)
{
	(void)client;
}

static int answer(struct krdma_file_result *result)
{
	requests++;
	result->side = side;
	result->length = length;
	result->transferred = transferred;
	return -ECONNRESET;
}

int krdma_file_client_get(struct krdma_file_client *client, const char *name, int folder,
			  const char *last, uint32_t flags, struct krdma_file_result *result,
			  size_t size)
{
	(void)client;
	(void)name;
	(void)folder;
	(void)last;
	(void)flags;
	(void)size;
	return answer(result);
}

int krdma_file_client_get_fd(struct krdma_file_client *client, const char *name, int fd,
			     struct krdma_file_result *result, size_t size)
{
	(void)client;
	(void)name;
	(void)fd;
	(void)size;
	return answer(result);
}

int krdma_file_client_put(struct krdma_file_client *client, int folder, const char *last,
			  const char *name, uint32_t flags, struct krdma_file_result *result,
			  size_t size)
{
	(void)client;
	(void)folder;
	(void)last;
	(void)name;
	(void)flags;
	(void)size;
	return answer(result);
}

int krdma_file_client_list(struct krdma_file_client *client, const char *name, uint32_t flags,
			   struct krdma_file_entry **entries, size_t *count,
			   struct krdma_file_result *result, size_t size)
{
	(void)client;
	(void)name;
	(void)flags;
	(void)entries;
	(void)count;
	(void)size;
	return answer(result);
}

int krdma_file_client_make_folder(struct krdma_file_client *client, const char *name,
				  const struct stat *status, uint32_t flags,
				  struct krdma_file_result *result, size_t size)
{
	(void)client;
	(void)name;
	(void)status;
	(void)flags;
	(void)size;
	return answer(result);
}

void krdma_file_list_free(struct krdma_file_entry *entries)
{
	(void)entries;
}

/*
 * What the command says, which is nothing here
 */

void complain(const char *format, ...)
{
	(void)format;
}

void copy_explain(const struct copy *copy, const struct krdma_file_result *result, int err)
{
	(void)copy;
	(void)result;
	(void)err;
}

void progress_begin(struct progress *progress, enum progress_when when, const char *name)
{
	(void)progress;
	(void)when;
	(void)name;
}

void progress_show(struct progress *progress, uint64_t done, uint64_t all)
{
	(void)progress;
	(void)done;
	(void)all;
}

void progress_end(struct progress *progress, uint64_t from, uint64_t done, uint64_t all)
{
	(void)progress;
	(void)from;
	(void)done;
	(void)all;
}

void copy_json(struct json_object *object, const struct copy_figures *figures)
{
	(void)object;
	(void)figures;
}

struct json_object *json_object_new_object(void)
{
	return NULL;
}

struct json_object *json_object_new_boolean(json_bool value)
{
	(void)value;
	return NULL;
}

struct json_object *json_checked(struct json_object *object)
{
	return object;
}

void json_put(struct json_object *object, const char *key, struct json_object *value)
{
	(void)object;
	(void)key;
	(void)value;
}

void json_put_text(struct json_object *object, const char *key, const char *value)
{
	(void)object;
	(void)key;
	(void)value;
}

void json_put_number(struct json_object *object, const char *key, uint64_t value)
{
	(void)object;
	(void)key;
	(void)value;
}

void json_append(struct json_object *array, struct json_object *value)
{
	(void)array;
	(void)value;
}

size_t name_json(char *to, size_t to_size, const char *from)
{
	(void)to_size;
	(void)from;
	*to = '\0';
	return 0;
}

/* How many addresses are asked for a file, which none of them gives. */
static unsigned int asked(int stream, bool put)
{
	struct total total = { .lock = PTHREAD_MUTEX_INITIALIZER };
	const struct url url = { .host = "server" };
	struct copying copying = { .stream = stream, .put = put, .total = &total };
	const struct copy copy = {
		.put = put, .url = &url, .name = "a", .path = "a", .local = "a",
	};

	requests = 0;
	copy_one(&copying, &copy, 0);
	return total.failed == 1 ? requests : 0;
}

int main(void)
{
	side = KRDMA_FILE_SIDE_BETWEEN;
	tap_result(asked(-1, false) == 3 && asked(1, false) == 3 && asked(-1, true) == 3,
		   "without an answer, each address is asked");
	length = 1 << 20;
	tap_result(asked(-1, false) == 3 && asked(-1, true) == 3,
		   "a file of which nothing has come is asked for again");
	tap_result(asked(1, false) == 1, "but not for a stream, which may have taken a hole");
	transferred = 1;
	tap_result(asked(-1, false) == 1 && asked(1, false) == 1 && asked(-1, true) == 1,
		   "nor a file of which data have come");
	length = 0;
	transferred = 0;
	side = KRDMA_FILE_SIDE_PEER;
	tap_result(asked(-1, false) == 1 && asked(1, false) == 1,
		   "what a server says is so at each of its addresses");
	return tap_end();
}
