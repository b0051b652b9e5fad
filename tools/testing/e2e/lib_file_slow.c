// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's file transfers: disks and readers that are slower than the other side's patience.  The
 * linker wraps the library's calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib_file_slow.h"
#include "lib_files.h"
#include "session.h"

#define LENGTH		(2 * 1024 * 1024 + 7)
/* A machine that emulates may stand still for a while. */
#define PATIENT_MS	5000
#define STALL_MS	(3 * PATIENT_MS)

/* The next call with data takes so long, in ms. */
static atomic_int stall_read, stall_write, stall_truncate;

static void stall(atomic_int *ms)
{
	int time = atomic_exchange(ms, 0);

	if (time)
		sleep_ms(time);
}

/* Notes in part files are shorter. */
ssize_t __wrap_pread64(int fd, void *to, size_t length, off64_t offset)
{
	if (length >= 4096)
		stall(&stall_read);
	return __real_pread64(fd, to, length, offset);
}

ssize_t __wrap_pwrite64(int fd, const void *from, size_t length, off64_t offset)
{
	if (length >= 4096)
		stall(&stall_write);
	return __real_pwrite64(fd, from, length, offset);
}

int __wrap_ftruncate64(int fd, off64_t length)
{
	stall(&stall_truncate);
	return __real_ftruncate64(fd, length);
}

FIXTURE(slow)
{
	struct files files;
	struct krdma_file_result result;
	struct krdma_file_options options;
	int pipe[2];
};

FIXTURE_SETUP(slow)
{
	struct krdma_file_server_options options = {
		.flags = KRDMA_FILE_SERVER_WRITABLE, .patience_ms = PATIENT_MS,
	};

	ASSERT_EQ(0, files_open(&self->files));
	ASSERT_EQ(0, pipe2(self->pipe, O_CLOEXEC));
	self->options.size = sizeof(self->options);
	self->options.patience_ms = PATIENT_MS;
	self->options.buffer_size = 65536;
	ASSERT_EQ(0, files_make(self->files.there, "a", LENGTH, 1));
	ASSERT_EQ(0, files_make(self->files.here, "a", LENGTH, 2));
	ASSERT_EQ(0, files_serve(&self->files, BOOT_ADDRESS, NULL, &options));
}

FIXTURE_TEARDOWN(slow)
{
	atomic_store(&stall_read, 0);
	atomic_store(&stall_write, 0);
	atomic_store(&stall_truncate, 0);
	EXPECT_EQ(0, files_stop(&self->files));
	files_close(&self->files);
	close(self->pipe[0]);
	close(self->pipe[1]);
}

static bool gets(FIXTURE_DATA(slow) * self)
{
	return !files_get(&self->files, "a", "b", &self->options, &self->result) &&
	       files_are(self->files.here, "b", LENGTH, 1);
}

static bool puts_it(FIXTURE_DATA(slow) * self)
{
	return !files_put(&self->files, "a", "b", &self->options, &self->result) &&
	       files_are(self->files.there, "b", LENGTH, 2);
}

/* Proves: F11 (library) */
TEST_F_TIMEOUT(slow, a_disk_that_stalls_ends_no_get, 240)
{
	atomic_store(&stall_write, STALL_MS);
	EXPECT_TRUE(gets(self));
	EXPECT_EQ(0, atomic_load(&stall_write));
	atomic_store(&stall_read, STALL_MS);
	EXPECT_TRUE(gets(self));
	EXPECT_EQ(0, atomic_load(&stall_read));
	atomic_store(&stall_truncate, STALL_MS);
	EXPECT_TRUE(gets(self));
	EXPECT_EQ(0, atomic_load(&stall_truncate));
}

/* Proves: F11 (library) */
TEST_F_TIMEOUT(slow, a_disk_that_stalls_ends_no_put, 240)
{
	atomic_store(&stall_read, STALL_MS);
	EXPECT_TRUE(puts_it(self));
	EXPECT_EQ(0, atomic_load(&stall_read));
	atomic_store(&stall_write, STALL_MS);
	EXPECT_TRUE(puts_it(self));
	EXPECT_EQ(0, atomic_load(&stall_write));
	atomic_store(&stall_truncate, STALL_MS);
	EXPECT_TRUE(puts_it(self));
	EXPECT_EQ(0, atomic_load(&stall_truncate));
}

/* Called at the client. */
static int ask_whether_it_stalls(void *context, const struct krdma_file_progress *progress)
{
	(void)context;
	(void)progress;
	return !atomic_load(&stall_write);
}

/* Proves: F11 (library) */
TEST_F_TIMEOUT(slow, a_peer_may_leave_while_a_disk_stalls, 240)
{
	self->options.progress = ask_whether_it_stalls;
	atomic_store(&stall_write, STALL_MS);
	EXPECT_EQ(-ECANCELED, files_put(&self->files, "a", "b", &self->options, &self->result));
	self->options.progress = NULL;
	EXPECT_TRUE(gets(self));
	EXPECT_EQ(0, files_stop(&self->files));
}

struct reader {
	int fd;
	size_t length;
};

/* Stays away once, in the middle of it. */
static void *read_slowly(void *context)
{
	struct reader *reader = context;
	char bytes[65536];
	ssize_t got;

	while ((got = read(reader->fd, bytes, sizeof(bytes))) > 0) {
		if (reader->length < LENGTH / 2 && reader->length + got >= LENGTH / 2)
			sleep_ms(STALL_MS);
		reader->length += (size_t)got;
	}
	return NULL;
}

/* Proves: F11 (library) */
TEST_F_TIMEOUT(slow, a_pipe_may_have_a_slow_reader, 240)
{
	struct reader reader = { .fd = self->pipe[0] };
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, read_slowly, &reader));
	self->result.size = sizeof(self->result);
	EXPECT_EQ(0, krdma_file_get_fd(self->files.session, (struct sockaddr *)&self->files.address,
				       "a", self->pipe[1], &self->options, &self->result,
				       sizeof(self->result)));
	close(self->pipe[1]);
	self->pipe[1] = -1;
	pthread_join(thread, NULL);
	EXPECT_EQ(LENGTH, reader.length);
}

static atomic_bool given_up;

static void *give_up_soon(void *context)
{
	(void)context;
	sleep_ms(50);
	atomic_store(&given_up, true);
	return NULL;
}

/* Called the first time when there are data. */
static int ask_whether_given_up(void *context, const struct krdma_file_progress *progress)
{
	bool *begun = context;
	pthread_t thread;

	if (progress->done && !*begun) {
		*begun = true;
		pthread_create(&thread, NULL, give_up_soon, NULL);
		pthread_detach(thread);
	}
	return atomic_load(&given_up);
}

/* Proves: F11 (library) */
TEST_F(slow, a_pipe_without_a_reader_can_be_given_up)
{
	bool begun = false;

	/* The second one does not fit. */
	self->options.buffer_size = 40960;
	self->options.progress = ask_whether_given_up;
	self->options.context = &begun;
	self->result.size = sizeof(self->result);
	EXPECT_EQ(-ECANCELED, krdma_file_get_fd(self->files.session,
						(struct sockaddr *)&self->files.address, "a",
						self->pipe[1], &self->options, &self->result,
						sizeof(self->result)));
	EXPECT_TRUE(begun);
}

TEST_HARNESS_MAIN
