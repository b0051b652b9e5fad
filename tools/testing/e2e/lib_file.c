// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's file transfers: the file that arrives, what is kept of it, and resuming.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib_files.h"
#include "session.h"

#define MIB	1048576u
/* Long enough to interrupt the transfer in the middle, with buffers of one page. */
#define LONG	(600 * 1024 + 7)

FIXTURE(file)
{
	struct files files;
	struct named_report report;
	struct krdma_file_result result;
	struct krdma_file_options options;
	struct files_limit limit;
};

FIXTURE_SETUP(file)
{
	struct krdma_file_server_options options = { .flags = KRDMA_FILE_SERVER_WRITABLE };

	ASSERT_EQ(0, files_open(&self->files));
	ASSERT_EQ(0, files_serve(&self->files, BOOT_ADDRESS, NULL, &options));
	self->options.size = sizeof(self->options);
}

FIXTURE_TEARDOWN(file)
{
	EXPECT_EQ(0, files_stop(&self->files));
	files_close(&self->files);
}

static int get(FIXTURE_DATA(file) * self, const char *name, const char *as)
{
	return files_get(&self->files, name, as, &self->options, &self->result);
}

static int put(FIXTURE_DATA(file) * self, const char *file, const char *name)
{
	return files_put(&self->files, file, name, &self->options, &self->result);
}

/* Use small buffers, so that the transfer can end in the middle. */
static void give_up_at(FIXTURE_DATA(file) * self, uint64_t at)
{
	self->limit.at = at;
	self->options.buffer_size = 4096;
	self->options.buffer_count = 4;
	self->options.progress = files_give_up;
	self->options.context = &self->limit;
}

static void go_on(FIXTURE_DATA(file) * self)
{
	self->options.progress = NULL;
	self->options.flags = KRDMA_FILE_CONTINUE;
}

TEST_F_TIMEOUT(file, files_of_all_lengths_arrive, 240)
{
	static const size_t lengths[] = {
		0, 1, 8, 4095, 4096, 4097, MIB - 1, MIB, MIB + 1, 9 * MIB + 13,
	};

	for (unsigned int i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		ASSERT_EQ(0, files_make(self->files.there, "a", lengths[i], i));
		ASSERT_EQ(0, get(self, "a", "b"));
		EXPECT_TRUE(files_are(self->files.here, "b", lengths[i], i));
		EXPECT_EQ(lengths[i], self->result.length);
		EXPECT_EQ(lengths[i], self->result.transferred);
		EXPECT_EQ(0, self->result.resumed_from);
		ASSERT_EQ(0, put(self, "b", "c"));
		EXPECT_TRUE(files_are(self->files.there, "c", lengths[i], i));
		EXPECT_EQ(lengths[i], self->result.length);
		EXPECT_EQ(lengths[i], self->result.transferred);
	}
	EXPECT_EQ(0, files_parts(self->files.here, NULL));
	EXPECT_EQ(0, files_parts(self->files.there, NULL));
}

TEST_F(file, the_checksum_is_crc_32c)
{
	ASSERT_EQ(0, files_write(self->files.there, "a", 0, "123456789", 9));
	ASSERT_EQ(0, get(self, "a", "b"));
	EXPECT_EQ(0xe3069283, self->result.crc32c);
	EXPECT_STREQ("a", self->result.last);
	ASSERT_EQ(0, put(self, "b", "c"));
	EXPECT_EQ(0xe3069283, self->result.crc32c);
}

TEST_F(file, the_server_reports_what_it_has_done)
{
	ASSERT_EQ(0, files_make(self->files.there, "a", 1000, 1));
	ASSERT_EQ(0, get(self, "a", "b"));
	ASSERT_EQ(0, files_report(&self->files, &self->report));
	EXPECT_EQ(KRDMA_FILE_GET, self->report.is.operation);
	EXPECT_EQ(0, self->report.is.error);
	EXPECT_EQ(1000, self->report.is.length);
	EXPECT_EQ(self->result.crc32c, self->report.is.crc32c);
	EXPECT_STREQ("a", self->report.name);
	EXPECT_EQ(AF_INET, self->report.is.peer.ss_family);
	ASSERT_EQ(0, put(self, "b", "c"));
	ASSERT_EQ(0, files_report(&self->files, &self->report));
	EXPECT_EQ(KRDMA_FILE_PUT, self->report.is.operation);
	EXPECT_EQ(-ENOENT, get(self, "nothing", "b"));
	EXPECT_EQ(KRDMA_FILE_SIDE_PEER, self->result.side);
	ASSERT_EQ(0, files_report(&self->files, &self->report));
	EXPECT_EQ(-ENOENT, self->report.is.error);
	EXPECT_EQ(KRDMA_FILE_SIDE_HERE, self->report.is.side);
}

static const mode_t modes[] = { 0644, 0400, 0755, 0777, 0, 04755 };

/* As with cp(1), the umask removes permission bits. */
TEST_F(file, permission_bits_are_what_the_umask_leaves)
{
	char path[FILES_PATH];

	umask(027);
	for (unsigned int i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		ASSERT_EQ(0, files_make(self->files.there, "a", 10, i));
		ASSERT_EQ(0, chmod(files_path(path, self->files.there, "a"), modes[i]));
		ASSERT_EQ(0, get(self, "a", "b"));
		EXPECT_EQ(modes[i] & 0750, files_mode(self->files.here, "b"));
		EXPECT_EQ(modes[i] & 0777, self->result.mode);
		ASSERT_EQ(0, chmod(files_path(path, self->files.here, "b"), modes[i]));
		ASSERT_EQ(0, put(self, "b", "c"));
		EXPECT_EQ(modes[i] & 0750, files_mode(self->files.there, "c"));
	}
}

TEST_F(file, permission_bits_are_kept_if_asked_for)
{
	char path[FILES_PATH];

	umask(077);
	self->options.flags = KRDMA_FILE_EXACT_MODE;
	for (unsigned int i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		ASSERT_EQ(0, files_make(self->files.there, "a", 10, i));
		ASSERT_EQ(0, chmod(files_path(path, self->files.there, "a"), modes[i]));
		ASSERT_EQ(0, get(self, "a", "b"));
		EXPECT_EQ(modes[i] & 0777, files_mode(self->files.here, "b"));
		EXPECT_EQ(modes[i] & 0777, self->result.mode);
		ASSERT_EQ(0, put(self, "b", "c"));
		EXPECT_EQ(modes[i] & 0777, files_mode(self->files.there, "c"));
	}
}

TEST_F(file, a_file_in_a_folder_goes_into_a_folder)
{
	char path[FILES_PATH];

	ASSERT_EQ(0, mkdir(files_path(path, self->files.there, "d"), 0755));
	ASSERT_EQ(0, files_make(self->files.there, "d/a", 100, 1));
	ASSERT_EQ(0, get(self, "d/a", "."));
	EXPECT_TRUE(files_are(self->files.here, "a", 100, 1));
	ASSERT_EQ(0, put(self, "a", "d/e"));
	EXPECT_TRUE(files_are(self->files.there, "d/e", 100, 1));
	/* None of these names is a directory. */
	EXPECT_EQ(-ENOENT, get(self, "d/a", "no/"));
	EXPECT_EQ(KRDMA_FILE_SIDE_HERE, self->result.side);
	EXPECT_EQ(-ENOENT, get(self, "d/a", "no/x"));
	EXPECT_EQ(-ENOTDIR, get(self, "d/a", "a/x"));
	EXPECT_EQ(-ENOTDIR, get(self, "d/a", "a/"));
	EXPECT_EQ(-ENOENT, put(self, "a", "no/e"));
	EXPECT_EQ(KRDMA_FILE_SIDE_PEER, self->result.side);
	EXPECT_EQ(-EISDIR, put(self, "a", "d"));
	EXPECT_EQ(-EISDIR, put(self, "a", "d/"));
	EXPECT_EQ(-EISDIR, put(self, ".", "e"));
	EXPECT_EQ(-EISDIR, get(self, "d", "e"));
}

/* An existing file is replaced when the new one is complete, and no earlier. */
TEST_F(file, what_is_there_stays_until_the_end)
{
	ASSERT_EQ(0, files_make(self->files.there, "a", LONG, 1));
	ASSERT_EQ(0, files_make(self->files.here, "a", 100, 2));
	give_up_at(self, LONG / 2);
	EXPECT_EQ(-ECANCELED, get(self, "a", "a"));
	EXPECT_TRUE(files_are(self->files.here, "a", 100, 2));
	EXPECT_EQ(-ECANCELED, put(self, "../there/a", "b"));
	EXPECT_FALSE(files_exist(self->files.there, "b"));
	self->options.progress = NULL;
	EXPECT_EQ(0, get(self, "a", "a"));
	EXPECT_TRUE(files_are(self->files.here, "a", LONG, 1));
}

TEST_F(file, what_a_link_means_is_replaced)
{
	char path[FILES_PATH];

	ASSERT_EQ(0, files_make(self->files.there, "a", 100, 1));
	ASSERT_EQ(0, files_make(self->files.here, "b", 100, 2));
	ASSERT_EQ(0, symlink("b", files_path(path, self->files.here, "link")));
	ASSERT_EQ(0, get(self, "a", "link"));
	EXPECT_TRUE(files_are(self->files.here, "b", 100, 1));
	/* A device or a pipe is not a file that could be replaced. */
	ASSERT_EQ(0, mkfifo(files_path(path, self->files.here, "pipe"), 0600));
	EXPECT_EQ(-EOPNOTSUPP, get(self, "a", "pipe"));
	EXPECT_EQ(KRDMA_FILE_SIDE_HERE, self->result.side);
	EXPECT_EQ(-EOPNOTSUPP, put(self, "pipe", "c"));
	ASSERT_EQ(0, mkfifo(files_path(path, self->files.there, "pipe"), 0600));
	EXPECT_EQ(-EOPNOTSUPP, get(self, "pipe", "c"));
	EXPECT_EQ(-EOPNOTSUPP, put(self, "b", "pipe"));
	EXPECT_EQ(KRDMA_FILE_SIDE_PEER, self->result.side);
}

/*
 * Holes
 */

static uint64_t allocated(const char *folder, const char *name)
{
	char path[FILES_PATH];
	struct stat status;

	return stat(files_path(path, folder, name), &status) ? UINT64_MAX :
							       status.st_blocks * 512;
}

TEST_F(file, holes_stay_holes)
{
	const uint64_t length = 40ull << 30;
	char path[FILES_PATH], data[100], byte;
	int fd;

	fill(data, sizeof(data), 1);
	ASSERT_EQ(0, files_write(self->files.there, "a", 5ull << 30, data, sizeof(data)));
	ASSERT_EQ(0, files_write(self->files.there, "a", 20ull << 30, data, sizeof(data)));
	ASSERT_EQ(0, truncate(files_path(path, self->files.there, "a"), length));
	ASSERT_EQ(0, get(self, "a", "b"));
	EXPECT_EQ(length, self->result.length);
	EXPECT_GT(MIB, self->result.transferred);
	EXPECT_GT(MIB, allocated(self->files.here, "b"));
	ASSERT_EQ(0, put(self, "b", "c"));
	EXPECT_GT(MIB, allocated(self->files.there, "c"));
	fd = open(files_path(path, self->files.there, "c"), O_RDONLY);
	ASSERT_LE(0, fd);
	EXPECT_EQ(sizeof(data), pread(fd, data, sizeof(data), 20ull << 30));
	EXPECT_TRUE(filled(data, sizeof(data), 1));
	EXPECT_EQ(1, pread(fd, &byte, 1, length - 1));
	EXPECT_EQ(length, lseek(fd, 0, SEEK_END));
	close(fd);
}

/* The checksum of a hole is that of the zeroes that a read returns for it. */
TEST_F_TIMEOUT(file, a_hole_has_the_checksum_of_zeroes, 120)
{
	static char zeroes[3 * MIB + 5];
	char path[FILES_PATH];
	uint32_t crc;

	ASSERT_EQ(0, files_write(self->files.there, "a", 0, zeroes, sizeof(zeroes)));
	ASSERT_EQ(0, get(self, "a", "a"));
	crc = self->result.crc32c;
	EXPECT_EQ(sizeof(zeroes), self->result.transferred);
	ASSERT_EQ(0, files_write(self->files.there, "b", 0, "", 0));
	ASSERT_EQ(0, truncate(files_path(path, self->files.there, "b"), sizeof(zeroes)));
	ASSERT_EQ(0, get(self, "b", "b"));
	EXPECT_EQ(0, self->result.transferred);
	EXPECT_EQ(crc, self->result.crc32c);
}

/*
 * Resuming
 */

TEST_F_TIMEOUT(file, getting_goes_on_where_it_ended, 120)
{
	ASSERT_EQ(0, files_make(self->files.there, "a", LONG, 1));
	give_up_at(self, LONG / 2);
	EXPECT_EQ(-ECANCELED, get(self, "a", "b"));
	EXPECT_EQ(KRDMA_FILE_SIDE_HERE, self->result.side);
	EXPECT_EQ(1, files_parts(self->files.here, NULL));
	EXPECT_FALSE(files_exist(self->files.here, "b"));
	ASSERT_EQ(0, files_report(&self->files, &self->report));
	EXPECT_EQ(-ECANCELED, self->report.is.error);
	EXPECT_EQ(KRDMA_FILE_SIDE_PEER, self->report.is.side);

	go_on(self);
	ASSERT_EQ(0, get(self, "a", "b"));
	EXPECT_LE(LONG / 2, self->result.resumed_from);
	EXPECT_EQ(LONG, self->result.resumed_from + self->result.transferred);
	EXPECT_TRUE(files_are(self->files.here, "b", LONG, 1));
	EXPECT_EQ(0, files_parts(self->files.here, NULL));
}

TEST_F_TIMEOUT(file, putting_goes_on_where_it_ended, 120)
{
	ASSERT_EQ(0, files_make(self->files.here, "a", LONG, 1));
	give_up_at(self, LONG / 2);
	EXPECT_EQ(-ECANCELED, put(self, "a", "b"));
	ASSERT_EQ(0, files_report(&self->files, &self->report));
	EXPECT_EQ(-ECANCELED, self->report.is.error);
	EXPECT_EQ(1, files_parts(self->files.there, NULL));

	go_on(self);
	ASSERT_EQ(0, put(self, "a", "b"));
	EXPECT_LT(0, self->result.resumed_from);
	EXPECT_EQ(LONG, self->result.resumed_from + self->result.transferred);
	EXPECT_TRUE(files_are(self->files.there, "b", LONG, 1));
	EXPECT_EQ(0, files_parts(self->files.there, NULL));
}

/* Without the resume option a transfer starts from the beginning. */
TEST_F_TIMEOUT(file, an_old_part_is_not_used_by_itself, 120)
{
	ASSERT_EQ(0, files_make(self->files.there, "a", LONG, 1));
	give_up_at(self, LONG / 2);
	EXPECT_EQ(-ECANCELED, get(self, "a", "b"));
	self->options.progress = NULL;
	ASSERT_EQ(0, get(self, "a", "b"));
	EXPECT_EQ(0, self->result.resumed_from);
	EXPECT_TRUE(files_are(self->files.here, "b", LONG, 1));
}

/* Make half of "b", at either end, from a source "a" at the other end. */
static int make_half(FIXTURE_DATA(file) * self, bool putting)
{
	int ret = files_make(putting ? self->files.here : self->files.there, "a", LONG, 1);

	if (ret)
		return ret;
	give_up_at(self, LONG / 2);
	ret = putting ? put(self, "a", "b") : get(self, "a", "b");
	if (ret != -ECANCELED)
		return ret ? ret : -EINVAL;
	ret = files_report(&self->files, &self->report);
	go_on(self);
	return ret;
}

static int finish(FIXTURE_DATA(file) * self, bool putting)
{
	return putting ? put(self, "a", "b") : get(self, "a", "b");
}

FIXTURE(half)
{
	FIXTURE_DATA(file) file;
	const char *from;
	const char *to;
	char part[FILES_PATH];
};

FIXTURE_VARIANT(half)
{
	bool putting;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(half, get) {};
FIXTURE_VARIANT_ADD(half, put) { .putting = true };

/* clang-format on */

FIXTURE_SETUP(half)
{
	file_setup(_metadata, &self->file, NULL);
	self->from = variant->putting ? self->file.files.here : self->file.files.there;
	self->to = variant->putting ? self->file.files.there : self->file.files.here;
	ASSERT_EQ(0, make_half(&self->file, variant->putting));
	ASSERT_EQ(1, files_parts(self->to, self->part));
}

FIXTURE_TEARDOWN(half)
{
	file_teardown(_metadata, &self->file, NULL);
}

/* The file is complete and correct, but the old part was not used; @left: it still exists. */
static void expect_anew(struct __test_metadata *_metadata, FIXTURE_DATA(half) * self,
			bool putting, size_t length, unsigned int seed, int left)
{
	ASSERT_EQ(0, finish(&self->file, putting));
	EXPECT_EQ(0, self->file.result.resumed_from);
	EXPECT_EQ(length, self->file.result.transferred);
	EXPECT_TRUE(files_are(self->to, "b", length, seed));
	EXPECT_EQ(left, files_parts(self->to, NULL));
}

TEST_F_TIMEOUT(half, is_finished, 120)
{
	ASSERT_EQ(0, finish(&self->file, variant->putting));
	EXPECT_LT(0, self->file.result.resumed_from);
	EXPECT_TRUE(files_are(self->to, "b", LONG, 1));
}

TEST_F_TIMEOUT(half, with_a_wrong_byte_is_not_used, 120)
{
	ASSERT_EQ(0, files_write(self->to, self->part, 1000, "?", 1));
	expect_anew(_metadata, self, variant->putting, LONG, 1, 0);
}

TEST_F_TIMEOUT(half, with_a_wrong_note_is_not_used, 120)
{
	/* Both copies of the record of the offset. */
	ASSERT_EQ(0, files_write(self->to, self->part, LONG + 33, "?", 1));
	ASSERT_EQ(0, files_write(self->to, self->part, LONG + 64 + 33, "?", 1));
	expect_anew(_metadata, self, variant->putting, LONG, 1, 1);
}

TEST_F_TIMEOUT(half, without_its_end_is_not_used, 120)
{
	char path[FILES_PATH];

	ASSERT_EQ(0, truncate(files_path(path, self->to, self->part), LONG));
	expect_anew(_metadata, self, variant->putting, LONG, 1, 1);
}

TEST_F_TIMEOUT(half, of_another_content_is_not_used, 120)
{
	struct timespec times[2];
	char path[FILES_PATH];
	struct stat status;

	/* Length and time stay the same, so only the checksum shows the change. */
	ASSERT_EQ(0, stat(files_path(path, self->from, "a"), &status));
	times[0] = status.st_atim;
	times[1] = status.st_mtim;
	ASSERT_EQ(0, files_make(self->from, "a", LONG, 2));
	ASSERT_EQ(0, utimensat(AT_FDCWD, path, times, 0));
	expect_anew(_metadata, self, variant->putting, LONG, 2, 0);
}

TEST_F_TIMEOUT(half, of_another_time_is_not_used, 120)
{
	struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	char path[FILES_PATH];

	ASSERT_EQ(0, utimensat(AT_FDCWD, files_path(path, self->from, "a"), times, 0));
	expect_anew(_metadata, self, variant->putting, LONG, 1, 1);
}

TEST_F_TIMEOUT(half, of_another_length_is_not_used, 120)
{
	struct timespec times[2];
	char path[FILES_PATH];
	struct stat status;

	ASSERT_EQ(0, stat(files_path(path, self->from, "a"), &status));
	times[0] = status.st_atim;
	times[1] = status.st_mtim;
	ASSERT_EQ(0, files_make(self->from, "a", LONG + 1, 1));
	ASSERT_EQ(0, utimensat(AT_FDCWD, path, times, 0));
	expect_anew(_metadata, self, variant->putting, LONG + 1, 1, 1);
}

TEST_F(half, that_somebody_writes_is_left_alone)
{
	char path[FILES_PATH];
	int fd = open(files_path(path, self->to, self->part), O_RDWR);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, flock(fd, LOCK_EX | LOCK_NB));
	EXPECT_EQ(-EBUSY, finish(&self->file, variant->putting));
	close(fd);
	EXPECT_EQ(0, finish(&self->file, variant->putting));
	EXPECT_LT(0, self->file.result.resumed_from);
}

TEST_F(half, that_is_a_link_is_not_followed)
{
	char path[FILES_PATH];

	ASSERT_EQ(0, files_make(self->to, "victim", 10, 9));
	ASSERT_EQ(0, unlink(files_path(path, self->to, self->part)));
	ASSERT_EQ(0, symlink("victim", path));
	expect_anew(_metadata, self, variant->putting, LONG, 1, 1);
	EXPECT_TRUE(files_are(self->to, "victim", 10, 9));
	EXPECT_TRUE(files_exist(self->to, self->part));
}

/* Another owner, write permission for others, another link: others could change the part. */
TEST_F_TIMEOUT(half, that_is_not_ours_alone_is_not_used, 120)
{
	char path[FILES_PATH], other[FILES_PATH];
	struct stat status;

	ASSERT_EQ(0, link(files_path(path, self->to, self->part),
			  files_path(other, self->to, "other")));
	expect_anew(_metadata, self, variant->putting, LONG, 1, 1);
	ASSERT_EQ(0, unlink(other));
	ASSERT_EQ(0, chmod(path, 0660));
	expect_anew(_metadata, self, variant->putting, LONG, 1, 1);
	ASSERT_EQ(0, chmod(path, 0600));
	ASSERT_EQ(0, chown(path, 1000, 1000));
	expect_anew(_metadata, self, variant->putting, LONG, 1, 1);
	ASSERT_EQ(0, stat(files_path(other, self->to, "b"), &status));
	EXPECT_EQ(0, status.st_uid);
	/* In its original state the part is used. */
	ASSERT_EQ(0, chown(path, 0, 0));
	ASSERT_EQ(0, finish(&self->file, variant->putting));
	EXPECT_LT(0, self->file.result.resumed_from);
}

/* Interrupts the transfer after a number of calls of its progress callback. */
struct patience {
	unsigned int left;
};

static int lose_patience(void *context, const struct krdma_file_progress *progress)
{
	struct patience *patience = context;

	(void)progress;
	/* After the delay the next step calls this again. */
	sleep_ms(250);
	return !patience->left--;
}

/*
 * Wherever resuming is interrupted, the part remains: while connecting, during its check, at
 * each step of the protocol, while data arrive.
 */
TEST_F_TIMEOUT(half, survives_interruptions, 240)
{
	struct patience patience;
	uint64_t resumed = 0;
	unsigned int times;
	int ret;

	self->file.options.progress = lose_patience;
	self->file.options.context = &patience;
	self->file.options.buffer_size = 1 << 20;
	for (times = 0; times < 100; times++) {
		patience.left = times;
		ret = finish(&self->file, variant->putting);
		if (!ret)
			break;
		EXPECT_EQ(-ECANCELED, ret);
		/* The last step that can be interrupted waits until the server is done. */
		if (files_exist(self->to, "b"))
			break;
		ASSERT_EQ(1, files_parts(self->to, NULL)) {
			TH_LOG("after %u steps", times);
		}
		resumed = self->file.result.resumed_from > resumed ?
			  self->file.result.resumed_from : resumed;
	}
	EXPECT_EQ(true, !ret || (ret == -ECANCELED && variant->putting));
	/* Connecting, checking, request, answer, data. */
	EXPECT_LE(5, times);
	EXPECT_LE(LONG / 4, self->file.result.resumed_from);
	EXPECT_LE(resumed, self->file.result.resumed_from);
	EXPECT_TRUE(files_are(self->to, "b", LONG, 1));
	EXPECT_EQ(0, files_parts(self->to, NULL));
}

/*
 * Files of others
 */

TEST_F_TIMEOUT(file, others_parts_are_left_alone, 120)
{
	char path[FILES_PATH], other[FILES_PATH];

	ASSERT_EQ(0, files_make(self->files.there, "a", LONG, 1));
	ASSERT_EQ(0, files_make(self->files.here, "b.part", 100, 9));
	ASSERT_EQ(0, link(files_path(path, self->files.here, "b.part"),
			  files_path(other, self->files.here, "victim")));
	EXPECT_EQ(0, get(self, "a", "b"));
	EXPECT_TRUE(files_are(self->files.here, "b", LONG, 1));
	EXPECT_TRUE(files_are(self->files.here, "b.part", 100, 9));
	EXPECT_TRUE(files_are(self->files.here, "victim", 100, 9));
	/* A file that was put under such a name is not taken for a part, either. */
	EXPECT_EQ(0, put(self, "victim", "c.part"));
	EXPECT_EQ(0, put(self, "b", "c"));
	EXPECT_TRUE(files_are(self->files.there, "c.part", 100, 9));
	EXPECT_EQ(0, get(self, "c.part", "d"));
	EXPECT_TRUE(files_are(self->files.here, "d", 100, 9));
}

/* In the middle of a copy: test access to the data that have arrived so far. */
struct middle {
	FIXTURE_DATA(file) * self;
	const char *folder;
	int found;
	int got;
	int put;
	int mode;
};

static int look_at_middle(void *context, const struct krdma_file_progress *progress)
{
	struct middle *middle = context;
	struct files *files = &middle->self->files;
	struct krdma_file_result result;
	char name[FILES_PATH];

	if (middle->found || progress->done < LONG / 2)
		return 0;
	middle->found = files_parts(middle->folder, name);
	middle->mode = files_mode(middle->folder, name);
	middle->got = files_get(files, name, "stolen", NULL, &result);
	middle->put = files_put(files, "x", name, NULL, &result);
	return 0;
}

TEST_F_TIMEOUT(file, what_is_not_complete_is_nobodys, 240)
{
	struct middle middle = { .self = self, .folder = self->files.there };

	ASSERT_EQ(0, files_make(self->files.here, "x", 10, 3));
	ASSERT_EQ(0, files_make(self->files.here, "a", LONG, 1));
	give_up_at(self, LONG);
	self->options.progress = look_at_middle;
	self->options.context = &middle;
	EXPECT_EQ(0, put(self, "a", "b"));
	EXPECT_EQ(1, middle.found);
	EXPECT_EQ(-ENOENT, middle.got);
	EXPECT_EQ(-EACCES, middle.put);
	EXPECT_EQ(0600, middle.mode);
	EXPECT_FALSE(files_exist(self->files.here, "stolen"));
	EXPECT_TRUE(files_are(self->files.there, "b", LONG, 1));
}

/* Two transfers of the same name: the one completed last remains, and data are not mixed. */
struct rival {
	FIXTURE_DATA(file) * self;
	bool done;
	int ret;
};

static int put_another(void *context, const struct krdma_file_progress *progress)
{
	struct rival *rival = context;
	struct krdma_file_result result;

	if (!rival->done && progress->done >= LONG / 2) {
		rival->done = true;
		rival->ret = files_put(&rival->self->files, "c", "b", NULL, &result);
	}
	return 0;
}

TEST_F_TIMEOUT(file, two_at_a_time_do_not_mix, 240)
{
	struct rival rival = { .self = self };

	ASSERT_EQ(0, files_make(self->files.here, "a", LONG, 1));
	ASSERT_EQ(0, files_make(self->files.here, "c", LONG, 2));
	give_up_at(self, LONG);
	self->options.progress = put_another;
	self->options.context = &rival;
	EXPECT_EQ(0, put(self, "a", "b"));
	EXPECT_TRUE(rival.done);
	EXPECT_EQ(0, rival.ret);
	EXPECT_TRUE(files_are(self->files.there, "b", LONG, 1));
	EXPECT_EQ(0, files_parts(self->files.there, NULL));
}

TEST_HARNESS_MAIN
