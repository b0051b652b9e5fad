// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Makes a complete file durable, and sets what is known of it besides its data.
 */
#include "file_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int flush(int fd)
{
	int err;

	do {
		err = fsync(fd) ? -errno : 0;
	} while (err == -EINTR);
	/* The file does not support fsync(), so there is nothing to sync. */
	return err == -EINVAL || err == -EROFS || err == -EOPNOTSUPP ? 0 : err;
}

int file_sync(int fd, struct file_link *link)
{
	int err;

	file_link_leave(link);
	err = flush(fd);
	file_link_enter(link);
	return err;
}

/* Syncs the names in a folder. If the folder cannot be read, syncs its whole file system. */
int file_sync_folder(int folder, int file, struct file_link *link)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return syncfs(file) ? -errno : 0;
	err = file_sync(fd, link);
	close(fd);
	return err;
}

/*
 * On a network file system, close() may be the first call to report that the disk is full. Each
 * descriptor reports that when it is closed, so close a copy.
 */
int file_late_error(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	return copy < 0 || (close(copy) && errno != EINTR) ? -errno : 0;
}

/* Avoids umask() if possible: it changes the umask, which other threads use too. */
mode_t file_umask(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	unsigned int mask;
	char line[256];
	mode_t own;

	while (status && fgets(line, sizeof(line), status)) {
		if (sscanf(line, "Umask: %o", &mask) == 1) {
			fclose(status);
			return (mode_t)(mask & 0777);
		}
	}
	if (status)
		fclose(status);
	/*
	 * /proc is not mounted. Files that other threads create meanwhile get fewer permission
	 * bits, never more.
	 */
	own = umask(0777);
	umask(own);
	return own;
}

/* The time of the last access stays as it is. */
int file_set_mtime(int fd, int64_t seconds, uint32_t nanoseconds)
{
	const struct timespec times[2] = {
		{ .tv_nsec = UTIME_OMIT },
		{ .tv_sec = (time_t)seconds, .tv_nsec = (long)nanoseconds },
	};

	return futimens(fd, times) ? -errno : 0;
}

bool file_has_mtime(const struct stat *status, int64_t seconds, uint32_t nanoseconds)
{
	return status->st_mtim.tv_sec == seconds && status->st_mtim.tv_nsec == (long)nanoseconds;
}
