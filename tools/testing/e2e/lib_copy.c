// SPDX-License-Identifier: GPL-2.0
/*
 * What krdma get -r, krdma put -r and krdma ls do with a server, without their words.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cli.h>
#include <file_internal.h>

#include "lib_copy.h"

/* The functions of tools/cli have no other argument that leads here. */
static struct lib_copy *current;
static const struct url nowhere = { .host = "server", .path = "" };

atomic_int copy_interrupted;

/* Threads of one command may complain at the same time. */
void complain(const char *format, ...)
{
	(void)format;
	__atomic_fetch_add(&current->complaints, 1, __ATOMIC_RELAXED);
}

void copy_disconnect(struct copying *copying)
{
	krdma_file_client_destroy(copying->client);
	copying->client = NULL;
}

static int connect_to(struct copying *copying)
{
	struct krdma_file_options options = current->options;

	if (copying->client)
		return 0;
	options.size = sizeof(options);
	options.flags = copying->flags;
	return krdma_file_client_create(copying->session, current->server, &options,
					&copying->client);
}

/* Whether further requests would fail as well, as in tools/cli/copy_one.c. */
static bool is_lost(const struct krdma_file_result *result, int err)
{
	return err == -ECANCELED || err == -ESHUTDOWN || err == -EUSERS ||
	       (err && result->side == KRDMA_FILE_SIDE_BETWEEN);
}

static void count(struct copying *copying, const struct krdma_file_result *result, int err)
{
	struct total *total = copying->total;

	pthread_mutex_lock(&total->lock);
	copying->lost = is_lost(result, err);
	total->failed += !!err;
	total->skipped += !err && result->skipped;
	total->files += !err && !result->skipped;
	pthread_mutex_unlock(&total->lock);
}

int copy_one(struct copying *copying, const struct copy *copy, int quiet)
{
	struct krdma_file_result result = { .side = KRDMA_FILE_SIDE_HERE };
	int err = connect_to(copying);

	if (current->begins)
		current->begins(current->context, copy);
	if (!err && copy->put)
		err = krdma_file_client_put(copying->client, copy->folder, copy->path, copy->name,
					    copy->flags, &result, sizeof(result));
	else if (!err)
		err = krdma_file_client_get(copying->client, copy->name, copy->folder, copy->path,
					    copy->flags, &result, sizeof(result));
	if (current->ended)
		current->ended(current->context, copy, err, &result);
	if (!err || err != quiet || result.side != KRDMA_FILE_SIDE_PEER)
		count(copying, &result, err);
	return err;
}

int copy_make_folder(struct copying *copying, const struct url *url, const char *name,
		     const struct stat *status, bool fresh)
{
	struct krdma_file_result result = { .side = KRDMA_FILE_SIDE_HERE };
	int err = connect_to(copying);

	(void)url;
	if (!err)
		err = krdma_file_client_make_folder(copying->client, name, status,
						    fresh ? KRDMA_FILE_NEW : 0, &result,
						    sizeof(result));
	copying->lost = is_lost(&result, err);
	copying->total->failed += !!err;
	return err;
}

static int by_name(const void *first, const void *second)
{
	const struct krdma_file_entry *one = first, *other = second;

	return strcmp(one->name, other->name);
}

int copy_list(struct copying *copying, const struct url *url, const char *name, uint32_t flags,
	      int quiet, struct krdma_file_entry **entries, size_t *count, struct stat *status)
{
	struct krdma_file_result result = { .side = KRDMA_FILE_SIDE_HERE };
	int err = connect_to(copying);

	(void)url;
	if (!err)
		err = krdma_file_client_list(copying->client, name, flags, entries, count, &result,
					     sizeof(result));
	if (current->listed)
		current->listed(current->context, err, &result, err ? NULL : *entries,
				err ? 0 : *count);
	copying->lost = is_lost(&result, err);
	if (err) {
		copying->total->failed += err != quiet;
		return err;
	}
	qsort(*entries, *count, sizeof(**entries), by_name);
	if (status)
		*status = (struct stat){
			.st_mode = result.mode,
			.st_mtim = { result.mtime_s, result.mtime_ns },
		};
	return 0;
}

size_t copy_list_readable(struct copying *copying, const struct url *url, const char *name,
			  bool (*wanted)(const char *entry, const void *context),
			  const void *context, struct krdma_file_entry *entries, size_t count)
{
	size_t readable = 0;

	(void)url;
	(void)name;
	for (size_t i = 0; i < count; i++) {
		if (entries[i].type != KRDMA_FILE_TYPE_UNREADABLE)
			entries[readable++] = entries[i];
		else if (!wanted || wanted(entries[i].name, context))
			copying->total->failed++;
	}
	return readable;
}

void lib_copy_begin(struct lib_copy *copy, struct krdma *session, const struct sockaddr *server,
		    const struct krdma_file_options *options)
{
	memset(copy, 0, sizeof(*copy));
	if (options)
		copy->options = *options;
	copy->server = server;
	pthread_mutex_init(&copy->total.lock, NULL);
	copy->copying = (struct copying){
		.flags = copy->options.flags, .streams = 1, .connections = 1, .session = session,
		.total = &copy->total, .stream = -1,
	};
	current = copy;
}

void lib_copy_end(struct lib_copy *copy)
{
	copy_disconnect(&copy->copying);
	pthread_mutex_destroy(&copy->total.lock);
	current = NULL;
}

int lib_copy_get(struct lib_copy *copy, const char *name, const char *path)
{
	copy->copying.put = false;
	return copy_tree_get(&copy->copying, &nowhere, name, AT_FDCWD, path, path);
}

void lib_copy_put(struct lib_copy *copy, const char *path, const char *name)
{
	copy->copying.put = true;
	copy_tree_put(&copy->copying, path, &nowhere, name);
}

/* As krdma get does with a name that a pattern fits: see get_name() in tools/cli/cmd_copy.c. */
static void get_found(struct copying *copying, const struct url *url, const char *name,
		      enum copy_naming naming, bool folder, void *context)
{
	const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
	const int *to = context;
	struct copy copy = {
		.url = url, .name = name, .folder = *to, .path = last, .local = last,
		.flags = KRDMA_FILE_NEW,
	};

	current->found += naming == COPY_FOUND;
	/* A pattern has to begin with the dot, too. */
	if (naming != COPY_FOUND ||
	    !copy_name_is_fine(copying, last, copying->hidden || *last == '.', "."))
		return;
	if (copying->recursive &&
	    copy_tree_get(copying, url, name, copy.folder, last, last) != -ENOTDIR)
		return;
	if (!folder)
		copy_one(copying, &copy, 0);
}

int lib_copy_glob(struct lib_copy *copy, const char *pattern, const char *path)
{
	int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), err;

	if (folder < 0)
		return -errno;
	err = copy_glob(&copy->copying, &nowhere, pattern, get_found, &folder);
	close(folder);
	return err;
}

int lib_copy_list(struct lib_copy *copy, const char *name, uint32_t flags)
{
	struct krdma_file_entry *entries = NULL;
	size_t count = 0;
	int err = copy_list(&copy->copying, &nowhere, name, flags, 0, &entries, &count, NULL);

	if (!err)
		krdma_file_list_free(entries);
	return err;
}

static const struct tree_entry *find(const struct tree *tree, const char *path)
{
	for (size_t i = 0; i < tree->count; i++) {
		if (!strcmp(tree->entries[i].path, path))
			return &tree->entries[i];
	}
	return NULL;
}

/* What is wrong with something that is new. */
static const char *judge_entry(const struct lib_copy_left *left, const struct tree_entry *entry)
{
	const char *last = strrchr(entry->path, '/');
	char parent[TREE_PATH];

	if (!S_ISREG(entry->mode) && !S_ISDIR(entry->mode))
		return "neither a file nor a folder";
	if (entry->mode & 07000)
		return "bits that no server can set";
	/* The folder itself, which the user has named. */
	if (!last)
		return NULL;
	snprintf(parent, sizeof(parent), "%.*s", (int)(last - entry->path), entry->path);
	last++;
	if (S_ISREG(entry->mode) && file_part_is_name(last))
		return NULL;
	if (krdma_file_name_check(last, left->hidden || !find(left->before, parent) ?
				  KRDMA_FILE_NAME_HIDDEN : 0))
		return "a name that the rules forbid";
	if (S_ISREG(entry->mode) && !left->whole(left->folder, entry->path))
		return "not whole";
	return NULL;
}

static bool is_as_before(const struct tree_entry *before, const struct tree_entry *now)
{
	return before->inode == now->inode && before->mode == now->mode &&
	       before->size == now->size && before->sum == now->sum;
}

void lib_copy_judge(struct lib_copy_left *left)
{
	static struct tree now;
	const struct tree_entry *before;
	char path[2 * TREE_PATH];
	size_t there = 0;
	const char *why;
	int err = tree_read(&now, left->folder);

	left->files = 0;
	left->folders = 0;
	left->why = err && err != -ENOENT ? "cannot be read" : NULL;
	/* What is in a folder follows it. */
	for (size_t i = now.count; i-- && !err;) {
		const struct tree_entry *entry = &now.entries[i];

		before = find(left->before, entry->path);
		if (before) {
			there++;
			why = is_as_before(before, entry) ? NULL : "changed";
		} else {
			left->files += S_ISREG(entry->mode);
			left->folders += S_ISDIR(entry->mode);
			why = judge_entry(left, entry);
			snprintf(path, sizeof(path), "%s%s", left->folder, entry->path);
			remove(path);
		}
		if (why) {
			left->why = why;
			snprintf(left->which, sizeof(left->which), "%s", entry->path);
		}
	}
	if (there != left->before->count && !left->why)
		left->why = "something is missing";
}

bool lib_copy_can_end(int error, uint32_t side)
{
	static const int here[] = {
		-EEXIST, -EILSEQ, -EBADMSG, -EFBIG, -EINVAL, -EISDIR, -ENOTDIR, -ENOENT,
		-ENAMETOOLONG, -ENOSPC, -EACCES,
	};
	static const int between[] = {
		-EPROTO, -EPROTONOSUPPORT, -ECONNRESET, -ETIMEDOUT, -ECONNREFUSED, -EKEYREJECTED,
	};

	if (side == KRDMA_FILE_SIDE_PEER)
		return file_code_of(error) != file_code_of(-EIO) || error == -EIO;
	if (side == KRDMA_FILE_SIDE_HERE) {
		for (unsigned int i = 0; i < sizeof(here) / sizeof(*here); i++) {
			if (here[i] == error)
				return true;
		}
	}
	if (side == KRDMA_FILE_SIDE_BETWEEN) {
		for (unsigned int i = 0; i < sizeof(between) / sizeof(*between); i++) {
			if (between[i] == error)
				return true;
		}
	}
	return false;
}

bool lib_copy_leads_out(const char *name)
{
	return *name == '/' || !strcmp(name, "..") || !strncmp(name, "../", 3) ||
	       strstr(name, "/../") || strlen(name) > KRDMA_FILE_NAME_MAX;
}
