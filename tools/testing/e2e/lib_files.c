// SPDX-License-Identifier: GPL-2.0
/*
 * Directories with files, and a file server of libkrdma.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib_files.h"
#include "session.h"

int files_open(struct files *files)
{
	memset(files, 0, sizeof(*files));
	pthread_mutex_init(&files->lock, NULL);
	snprintf(files->top, sizeof(files->top), "/tmp/files.XXXXXX");
	if (!mkdtemp(files->top))
		return -errno;
	snprintf(files->there, sizeof(files->there), "%s/there", files->top);
	snprintf(files->here, sizeof(files->here), "%s/here", files->top);
	if (mkdir(files->there, 0755) || mkdir(files->here, 0755))
		return -errno;
	return krdma_open(&files->session);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	(void)type;
	(void)where;
	remove(path);
	return 0;
}

void files_close(struct files *files)
{
	files_stop(files);
	krdma_close(files->session);
	nftw(files->top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	pthread_mutex_destroy(&files->lock);
}

static void report(void *context, const struct krdma_file_report *report)
{
	struct files *files = context;
	struct named_report *room;

	pthread_mutex_lock(&files->lock);
	if (files->report_count < FILES_REPORTS) {
		room = &files->reports[files->report_count++];
		room->is = *report;
		snprintf(room->name, sizeof(room->name), "%s", report->name);
		room->is.name = NULL;
	}
	pthread_mutex_unlock(&files->lock);
}

int files_report(struct files *files, struct named_report *report)
{
	uint64_t end = now_ms() + PATIENCE_MS;
	int ret = -ETIMEDOUT;

	do {
		pthread_mutex_lock(&files->lock);
		if (files->report_count) {
			*report = files->reports[0];
			files->report_count--;
			memmove(files->reports, files->reports + 1,
				files->report_count * sizeof(*report));
			ret = 0;
		}
		pthread_mutex_unlock(&files->lock);
		if (ret)
			sleep_ms(20);
	} while (ret && now_ms() < end);
	return ret;
}

static void *run(void *context)
{
	struct files *files = context;

	files->ended = krdma_file_server_run(files->server);
	return NULL;
}

int files_serve(struct files *files, const char *at, const char *path,
		const struct krdma_file_server_options *options)
{
	struct krdma_file_server_options own = { 0 };
	struct __kernel_sockaddr_storage address;
	int ret;

	if (options)
		own = *options;
	own.size = sizeof(own);
	own.report = report;
	own.context = files;
	ret = address_set(&address, at, 0);
	if (!ret)
		ret = krdma_file_server_create(files->session, (struct sockaddr *)&address,
					       path ? path : files->there, &own, &files->server);
	if (!ret)
		ret = krdma_file_server_address(files->server, &files->address);
	if (ret)
		return ret;
	return -pthread_create(&files->thread, NULL, run, files);
}

int files_at(struct files *files, const char *at)
{
	struct __kernel_sockaddr_storage address;
	struct sockaddr_in in;
	int ret;

	/* The port is at the same place for IPv6. */
	memcpy(&in, &files->address, sizeof(in));
	ret = address_set(&address, at, ntohs(in.sin_port));
	if (!ret)
		memcpy(&files->address, &address, sizeof(files->address));
	return ret;
}

int files_stop(struct files *files)
{
	if (!files->server)
		return 0;
	krdma_file_server_stop(files->server);
	pthread_join(files->thread, NULL);
	krdma_file_server_destroy(files->server);
	files->server = NULL;
	return files->ended;
}

const char *files_path(char path[FILES_PATH], const char *folder, const char *name)
{
	snprintf(path, FILES_PATH, "%s/%s", folder, name);
	return path;
}

int files_write(const char *folder, const char *name, uint64_t offset, const void *data,
		size_t length)
{
	char path[FILES_PATH];
	int fd = open(files_path(path, folder, name), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (pwrite(fd, data, length, offset) != (ssize_t)length)
		ret = -EIO;
	close(fd);
	return ret;
}

int files_make(const char *folder, const char *name, size_t length, unsigned int seed)
{
	char path[FILES_PATH];
	void *data = malloc(length + 1);
	int ret;

	if (!data)
		return -ENOMEM;
	unlink(files_path(path, folder, name));
	fill(data, length, seed);
	ret = files_write(folder, name, 0, data, length);
	free(data);
	return ret;
}

bool files_are(const char *folder, const char *name, size_t length, unsigned int seed)
{
	char path[FILES_PATH], *data = malloc(length + 1);
	int fd = open(files_path(path, folder, name), O_RDONLY | O_CLOEXEC);
	bool are = false;

	/* Read one byte more, to notice a file that is too long. */
	if (data && fd >= 0)
		are = pread(fd, data, length + 1, 0) == (ssize_t)length &&
		      filled(data, length, seed);
	if (fd >= 0)
		close(fd);
	free(data);
	return are;
}

bool files_exist(const char *folder, const char *name)
{
	char path[FILES_PATH];
	struct stat status;

	return !lstat(files_path(path, folder, name), &status);
}

int files_mode(const char *folder, const char *name)
{
	char path[FILES_PATH];
	struct stat status;

	if (stat(files_path(path, folder, name), &status))
		return -errno;
	return status.st_mode & 07777;
}

int files_parts(const char *folder, char *name)
{
	DIR *entries = opendir(folder);
	struct dirent *entry;
	int count = 0;

	while (entries && (entry = readdir(entries))) {
		size_t length = strlen(entry->d_name);

		if (length < 5 || strcmp(entry->d_name + length - 5, ".part"))
			continue;
		count++;
		if (name)
			snprintf(name, FILES_PATH, "%s", entry->d_name);
	}
	if (entries)
		closedir(entries);
	return count;
}

int files_get(struct files *files, const char *name, const char *as,
	      const struct krdma_file_options *options, struct krdma_file_result *result)
{
	char path[FILES_PATH];

	return krdma_file_get(files->session, (struct sockaddr *)&files->address, name,
			      files_path(path, files->here, as), options, result,
			      sizeof(*result));
}

int files_put(struct files *files, const char *file, const char *name,
	      const struct krdma_file_options *options, struct krdma_file_result *result)
{
	char path[FILES_PATH];

	return krdma_file_put(files->session, (struct sockaddr *)&files->address,
			      files_path(path, files->here, file), name, options, result,
			      sizeof(*result));
}

int files_give_up(void *context, const struct krdma_file_progress *progress)
{
	struct files_limit *limit = context;

	limit->seen = progress->done;
	return progress->length && progress->done >= limit->at;
}
