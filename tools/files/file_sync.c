// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Makes a complete file durable, and sets what is known of it besides its data.
 */
#include "file_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* One fsync(), in a thread of its own. */
struct flush {
	int fd;
	int err;
	bool ended;
	pthread_mutex_t lock;
	pthread_cond_t end;
};

static int flush(int fd)
{
	int err;

	do {
		err = fsync(fd) ? -errno : 0;
	} while (err == -EINTR);
	/* The file does not support fsync(), so there is nothing to sync. */
	return err == -EINVAL || err == -EROFS || err == -EOPNOTSUPP ? 0 : err;
}

static void *run(void *context)
{
	struct flush *work = context;
	int err = flush(work->fd);

	pthread_mutex_lock(&work->lock);
	work->err = err;
	work->ended = true;
	pthread_cond_signal(&work->end);
	pthread_mutex_unlock(&work->lock);
	return NULL;
}

static int start_thread(pthread_t *thread, struct flush *work)
{
	sigset_t all, before;
	int err;

	/* Block all signals in the new thread, so that the program's own threads get them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(thread, NULL, run, work);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

/* Waits for the end of fsync(), for at most one tick. Returns whether it has ended. */
static bool await(struct flush *work)
{
	struct timespec until;
	int err = 0;
	bool ended;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += FILE_TICK_MS * 1000000l;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_mutex_lock(&work->lock);
	while (!work->ended && !err)
		err = pthread_cond_timedwait(&work->end, &work->lock, &until);
	ended = work->ended;
	pthread_mutex_unlock(&work->lock);
	return ended;
}

/*
 * A disk may take longer than the peer waits, so another thread calls fsync() while this one
 * sends keepalives. An error of the link does not end fsync(): the function waits for it in any
 * case, and returns its error alone.
 */
int file_sync(int fd, struct file_link *link)
{
	struct flush work = { .fd = fd, .lock = PTHREAD_MUTEX_INITIALIZER };
	pthread_condattr_t monotonic;
	pthread_t thread;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&work.end, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (!link || start_thread(&thread, &work)) {
		work.err = flush(fd);
	} else {
		while (!await(&work))
			file_link_step(link);
		pthread_join(thread, NULL);
	}
	pthread_cond_destroy(&work.end);
	pthread_mutex_destroy(&work.lock);
	return work.err;
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
