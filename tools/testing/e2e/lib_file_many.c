// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's file transfers: many requests over one connection, lists and folders.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "child.h"
#include "lib_files.h"
#include "rings.h"
#include "session.h"

/* Of the client that waits without a request. */
#define REQUEST_MS	300

#define PART	".krdma-00000000000000000000000000000000-0000000000000000.part"

FIXTURE(many)
{
	struct files files;
	struct named_report report;
	struct krdma_file_client *client;
	struct krdma_file_result result;
	struct krdma_file_entry *entries;
	size_t count;
	int here;
	char path[FILES_PATH];
};

static int serve(FIXTURE_DATA(many) * self, const struct krdma_file_server_options *options)
{
	int err = files_serve(&self->files, BOOT_ADDRESS, NULL, options);

	return err ? err : krdma_file_client_create(self->files.session,
						    (struct sockaddr *)&self->files.address, NULL,
						    &self->client);
}

/* A second client would be refused. */
static int serve_one(FIXTURE_DATA(many) * self)
{
	struct krdma_file_server_options options = {
		.flags = KRDMA_FILE_SERVER_WRITABLE, .max_clients = 1,
	};

	return serve(self, &options);
}

FIXTURE_SETUP(many)
{
	ASSERT_EQ(0, files_open(&self->files));
	self->here = open(self->files.here, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ASSERT_LE(0, self->here);
	self->result.size = sizeof(self->result);
}

FIXTURE_TEARDOWN(many)
{
	krdma_file_list_free(self->entries);
	krdma_file_client_destroy(self->client);
	close(self->here);
	EXPECT_EQ(0, files_stop(&self->files));
	files_close(&self->files);
}

static int get(FIXTURE_DATA(many) * self, const char *name, const char *as, uint32_t flags)
{
	return krdma_file_client_get(self->client, name, self->here, as, flags, &self->result,
				     sizeof(self->result));
}

static int put(FIXTURE_DATA(many) * self, const char *file, const char *name, uint32_t flags)
{
	return krdma_file_client_put(self->client, self->here, file, name, flags, &self->result,
				     sizeof(self->result));
}

static int list(FIXTURE_DATA(many) * self, const char *name, uint32_t flags)
{
	krdma_file_list_free(self->entries);
	self->entries = NULL;
	return krdma_file_client_list(self->client, name, flags, &self->entries, &self->count,
				      &self->result, sizeof(self->result));
}

static int make_folder(FIXTURE_DATA(many) * self, const char *name, const struct stat *status,
		       uint32_t flags)
{
	return krdma_file_client_make_folder(self->client, name, status, flags, &self->result,
					     sizeof(self->result));
}

static const struct krdma_file_entry *find(FIXTURE_DATA(many) * self, const char *name)
{
	for (size_t i = 0; i < self->count; i++)
		if (!strcmp(self->entries[i].name, name))
			return &self->entries[i];
	return NULL;
}

static bool has(FIXTURE_DATA(many) * self, const char *name)
{
	return find(self, name);
}

static int there(FIXTURE_DATA(many) * self, const char *name, struct stat *status)
{
	return lstat(files_path(self->path, self->files.there, name), status) ? -errno : 0;
}

static int here(FIXTURE_DATA(many) * self, const char *name, struct stat *status)
{
	return lstat(files_path(self->path, self->files.here, name), status) ? -errno : 0;
}

static int set_mtime(const char *folder, const char *name, time_t seconds, long nanoseconds)
{
	const struct timespec times[2] = {
		{ .tv_nsec = UTIME_OMIT },
		{ .tv_sec = seconds, .tv_nsec = nanoseconds },
	};
	char path[FILES_PATH];

	return utimensat(AT_FDCWD, files_path(path, folder, name), times, 0) ? -errno : 0;
}

static int make_folder_there(FIXTURE_DATA(many) * self, const char *name)
{
	return mkdir(files_path(self->path, self->files.there, name), 0755) ? -errno : 0;
}

/* Proves: F11 (library) */
TEST_F_TIMEOUT(many, requests_share_a_connection, 120)
{
	char name[16], as[16];

	ASSERT_EQ(0, serve_one(self));
	for (unsigned int i = 0; i < 40; i++) {
		size_t length = i % 8 == 7 ? 300000 : 100 * i;

		snprintf(name, sizeof(name), "a%u", i);
		snprintf(as, sizeof(as), "b%u", i);
		ASSERT_EQ(0, files_make(self->files.there, name, length, i));
		ASSERT_EQ(0, get(self, name, as, 0));
		EXPECT_EQ(length, self->result.transferred);
		EXPECT_TRUE(files_are(self->files.here, as, length, i));
		ASSERT_EQ(0, put(self, as, as, 0));
		EXPECT_TRUE(files_are(self->files.there, as, length, i));
		ASSERT_EQ(0, list(self, "", 0));
		EXPECT_EQ(2 * (i + 1), self->count);
		ASSERT_EQ(0, files_report(&self->files, &self->report));
		EXPECT_EQ(KRDMA_FILE_GET, self->report.is.operation);
		ASSERT_EQ(0, files_report(&self->files, &self->report));
		EXPECT_EQ(KRDMA_FILE_PUT, self->report.is.operation);
		ASSERT_EQ(0, files_report(&self->files, &self->report));
		EXPECT_EQ(KRDMA_FILE_LIST, self->report.is.operation);
	}
	/* It is still there. */
	EXPECT_EQ(-EUSERS, files_get(&self->files, "a0", "c", NULL, &self->result));
	EXPECT_EQ(0, files_parts(self->files.here, NULL));
	EXPECT_EQ(0, files_parts(self->files.there, NULL));
}

TEST_F(many, a_refused_request_leaves_the_connection)
{
	ASSERT_EQ(0, serve_one(self));
	ASSERT_EQ(0, files_make(self->files.there, "a", 5000, 1));
	ASSERT_EQ(0, make_folder_there(self, "folder"));
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(-ENOENT, get(self, "nothing", "b", 0));
		EXPECT_EQ(KRDMA_FILE_SIDE_PEER, self->result.side);
		EXPECT_EQ(-EISDIR, get(self, "folder", "b", 0));
		EXPECT_EQ(-EACCES, get(self, "../a", "b", 0));
		EXPECT_EQ(-ENOENT, list(self, "nothing", 0));
		ASSERT_EQ(0, files_make(self->files.here, "c", 10, 2));
		EXPECT_EQ(-EISDIR, put(self, "c", "folder", 0));
		EXPECT_EQ(KRDMA_FILE_SIDE_PEER, self->result.side);
		EXPECT_EQ(-ENOENT, put(self, "c", "none/c", 0));
		EXPECT_EQ(-ENOTDIR, make_folder(self, "a/b", NULL, 0));
		EXPECT_EQ(-ENOENT, put(self, "none", "c", 0));
		EXPECT_EQ(KRDMA_FILE_SIDE_HERE, self->result.side);
		EXPECT_EQ(0, get(self, "a", "b", 0));
		EXPECT_EQ(-EUSERS, files_get(&self->files, "a", "c", NULL, &self->result));
	}
}

/*
 * What is wrong here is no reason to end the connection either, before data are transferred.
 * Proves: F11 (library)
 */
TEST_F(many, a_destination_that_is_refused_leaves_the_connection)
{
	ASSERT_EQ(0, serve_one(self));
	ASSERT_EQ(0, files_make(self->files.there, "a", 5000, 1));
	ASSERT_EQ(0, mkdirat(self->here, "folder", 0755));
	EXPECT_EQ(-EISDIR, get(self, "a", "folder", 0));
	EXPECT_EQ(KRDMA_FILE_SIDE_HERE, self->result.side);
	EXPECT_EQ(-EINVAL, get(self, "a", "folder/b", 0));
	EXPECT_EQ(-EINVAL, get(self, "a", "..", 0));
	EXPECT_EQ(-EINVAL, get(self, "a", "", 0));
	ASSERT_EQ(0, get(self, "a", "b", KRDMA_FILE_NEW));
	EXPECT_EQ(-EEXIST, get(self, "a", "b", KRDMA_FILE_NEW));
	EXPECT_EQ(KRDMA_FILE_SIDE_HERE, self->result.side);
	EXPECT_EQ(-EUSERS, files_get(&self->files, "a", "c", NULL, &self->result));
	EXPECT_EQ(0, get(self, "a", "b", 0));
	EXPECT_TRUE(files_are(self->files.here, "b", 5000, 1));
}

static int stop_at_once(void *context, const struct krdma_file_progress *progress)
{
	unsigned int *calls = context;

	return progress->done && ++*calls == 1;
}

static int destroy_copy(void *context)
{
	krdma_file_client_destroy(context);
	return 0;
}

/* Proves: F11 (library) */
TEST_F(many, a_child_destroys_its_copy_and_the_parent_goes_on)
{
	ASSERT_EQ(0, serve_one(self));
	ASSERT_EQ(0, files_make(self->files.there, "a", 5000, 1));
	ASSERT_EQ(0, get(self, "a", "b", 0));
	EXPECT_EQ(0, child_run(destroy_copy, self->client));
	/* The only place of the server is in use: the parent's connection is still there. */
	EXPECT_EQ(-EUSERS, files_get(&self->files, "a", "c", NULL, &self->result));
	EXPECT_EQ(0, get(self, "a", "c", 0));
	EXPECT_TRUE(files_are(self->files.here, "c", 5000, 1));
}

/* After an error in the middle of a file, the next request makes a new connection. */
TEST_F(many, an_interrupted_file_does_not_end_the_client)
{
	unsigned int calls = 0;
	struct krdma_file_options options = {
		.size = sizeof(options), .buffer_size = 4096, .buffer_count = 2,
		.progress = stop_at_once, .context = &calls,
	};

	ASSERT_EQ(0, serve_one(self));
	krdma_file_client_destroy(self->client);
	ASSERT_EQ(0, krdma_file_client_create(self->files.session,
					      (struct sockaddr *)&self->files.address, &options,
					      &self->client));
	ASSERT_EQ(0, files_make(self->files.there, "a", 500000, 1));
	EXPECT_EQ(-ECANCELED, get(self, "a", "b", 0));
	EXPECT_EQ(KRDMA_FILE_SIDE_HERE, self->result.side);
	/* The server may not have noticed yet that its one client is gone. */
	for (int tries = 0; tries < 100; tries++) {
		if (get(self, "a", "b", KRDMA_FILE_CONTINUE) != -EUSERS)
			break;
		sleep_ms(20);
	}
	EXPECT_EQ(KRDMA_FILE_SIDE_NONE, self->result.side);
	EXPECT_LT(0, self->result.resumed_from);
	EXPECT_TRUE(files_are(self->files.here, "b", 500000, 1));
}

TEST_F(many, an_idle_client_is_disconnected_and_connects_again)
{
	struct krdma_file_server_options options = { .max_clients = 1, .request_ms = REQUEST_MS };
	int err = -EUSERS;

	ASSERT_EQ(0, serve(self, &options));
	ASSERT_EQ(0, files_make(self->files.there, "a", 100, 1));
	ASSERT_EQ(0, get(self, "a", "b", 0));
	/* Its place is free again. */
	for (uint64_t end = now_ms() + PATIENCE_MS; err == -EUSERS && now_ms() < end;) {
		err = files_get(&self->files, "a", "c", NULL, &self->result);
		sleep_ms(20);
	}
	EXPECT_EQ(0, err);
	for (int tries = 0; tries < 100; tries++) {
		err = get(self, "a", "d", 0);
		if (err != -EUSERS)
			break;
		sleep_ms(20);
	}
	EXPECT_EQ(0, err);
	EXPECT_TRUE(files_are(self->files.here, "d", 100, 1));
}

/* Proves: F11 (library) */
TEST_F(many, a_list_has_what_is_there)
{
	const struct krdma_file_entry *entry;

	ASSERT_EQ(0, serve_one(self));
	ASSERT_EQ(0, list(self, "", 0));
	EXPECT_EQ(0, self->count);
	ASSERT_EQ(0, files_make(self->files.there, "a", 12345, 1));
	ASSERT_EQ(0, set_mtime(self->files.there, "a", 1000000007, 123456789));
	ASSERT_EQ(0, chmod(files_path(self->path, self->files.there, "a"), 0640));
	ASSERT_EQ(0, make_folder_there(self, "folder"));
	ASSERT_EQ(0, files_make(self->files.there, "folder/b", 1, 1));
	ASSERT_EQ(0, make_folder_there(self, "folder/deep"));
	ASSERT_EQ(0, files_make(self->files.there, "folder/deep/.c", 2, 1));
	ASSERT_EQ(0, files_make(self->files.there, PART, 10, 1));
	ASSERT_EQ(0, symlink("a", files_path(self->path, self->files.there, "link")));
	ASSERT_EQ(0, symlink("..", files_path(self->path, self->files.there, "folder/up")));
	ASSERT_EQ(0, symlink("/etc", files_path(self->path, self->files.there, "out")));
	ASSERT_EQ(0, mkfifo(files_path(self->path, self->files.there, "fifo"), 0600));

	ASSERT_EQ(0, list(self, "", 0));
	EXPECT_EQ(4, self->count);
	entry = find(self, "a");
	ASSERT_TRUE(!!entry);
	EXPECT_EQ(KRDMA_FILE_TYPE_FILE, entry->type);
	EXPECT_EQ(12345, entry->length);
	EXPECT_EQ(1000000007, entry->mtime_s);
	EXPECT_EQ(123456789, entry->mtime_ns);
	EXPECT_EQ(0640, entry->mode);
	entry = find(self, "link");
	ASSERT_TRUE(!!entry);
	EXPECT_EQ(KRDMA_FILE_TYPE_FILE, entry->type);
	EXPECT_EQ(12345, entry->length);
	entry = find(self, "folder");
	ASSERT_TRUE(!!entry);
	EXPECT_EQ(KRDMA_FILE_TYPE_FOLDER, entry->type);
	EXPECT_EQ(0, entry->length);
	entry = find(self, "fifo");
	ASSERT_TRUE(!!entry);
	EXPECT_EQ(KRDMA_FILE_TYPE_OTHER, entry->type);

	ASSERT_EQ(0, list(self, "folder", 0));
	EXPECT_EQ(3, self->count);
	entry = find(self, "up");
	ASSERT_TRUE(!!entry);
	EXPECT_EQ(KRDMA_FILE_TYPE_LINK, entry->type);

	ASSERT_EQ(0, list(self, "folder/", KRDMA_FILE_RECURSIVE));
	EXPECT_EQ(4, self->count);
	EXPECT_TRUE(has(self, "deep/.c"));
	ASSERT_EQ(0, list(self, "", KRDMA_FILE_RECURSIVE));
	EXPECT_EQ(8, self->count);
	EXPECT_TRUE(has(self, "folder/deep/.c"));
	EXPECT_LT(find(self, "folder/deep"), find(self, "folder/deep/.c"));

	/* The list of a file is the file. */
	ASSERT_EQ(0, list(self, "folder/b", KRDMA_FILE_RECURSIVE));
	ASSERT_EQ(1, self->count);
	EXPECT_STREQ("b", self->entries[0].name);
	ASSERT_EQ(0, list(self, "link", 0));
	ASSERT_EQ(1, self->count);
	EXPECT_EQ(12345, self->entries[0].length);
	EXPECT_EQ(-EACCES, list(self, "out", 0));
	EXPECT_EQ(-EACCES, list(self, "..", 0));
	EXPECT_EQ(-EACCES, list(self, "/etc", 0));
	EXPECT_EQ(-ENOENT, list(self, "none", 0));
}

TEST_F(many, a_list_of_many_entries)
{
	char name[32];

	ASSERT_EQ(0, serve_one(self));
	/* More than one piece of the list, and more than one buffer. */
	for (unsigned int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "file-%08u", i);
		ASSERT_EQ(0, files_write(self->files.there, name, 0, "x", i % 2));
	}
	ASSERT_EQ(0, list(self, "", KRDMA_FILE_RECURSIVE));
	EXPECT_EQ(3000, self->count);
	EXPECT_TRUE(has(self, "file-00002999"));
}

/* Proves: F11 (library) */
TEST_F(many, a_list_keeps_to_the_rules)
{
	const struct krdma_file_rule rules[] = {
		{ .path = "secret", .access = 0 },
		{ .path = "inbox", .access = KRDMA_FILE_WRITE },
	};
	struct krdma_file_server_options options = {
		.flags = KRDMA_FILE_SERVER_WRITABLE, .rules = rules, .rule_count = 2,
	};

	ASSERT_EQ(0, make_folder_there(self, "secret"));
	ASSERT_EQ(0, make_folder_there(self, "inbox"));
	ASSERT_EQ(0, files_make(self->files.there, "secret/a", 1, 1));
	ASSERT_EQ(0, files_make(self->files.there, "inbox/a", 1, 1));
	ASSERT_EQ(0, symlink("secret", files_path(self->path, self->files.there, "way")));
	ASSERT_EQ(0, serve(self, &options));
	ASSERT_EQ(0, list(self, "", KRDMA_FILE_RECURSIVE));
	EXPECT_EQ(2, self->count);
	EXPECT_FALSE(has(self, "secret/a"));
	EXPECT_FALSE(has(self, "inbox/a"));
	EXPECT_EQ(-EACCES, list(self, "secret", 0));
	EXPECT_EQ(-EACCES, list(self, "secret/a", 0));
	EXPECT_EQ(-EACCES, list(self, "inbox", 0));
	EXPECT_EQ(-EACCES, list(self, "way", 0));
	EXPECT_EQ(-EROFS, make_folder(self, "secret/b", NULL, 0));
	EXPECT_EQ(0, make_folder(self, "inbox/b", NULL, 0));
	/* Without the right to read it may not change what is there. */
	EXPECT_EQ(-EACCES, make_folder(self, "inbox/b", &(struct stat){ .st_mode = 0700 },
				       KRDMA_FILE_EXACT_MODE));
}

/* Proves: F11 (library) */
TEST_F(many, what_is_up_to_date_is_skipped)
{
	struct stat status;

	ASSERT_EQ(0, serve_one(self));
	ASSERT_EQ(0, files_make(self->files.there, "a", 5000, 1));
	ASSERT_EQ(0, set_mtime(self->files.there, "a", 1000000007, 5));
	/* Without its time, a copy is never up to date. */
	ASSERT_EQ(0, get(self, "a", "b", KRDMA_FILE_UPDATE));
	EXPECT_EQ(0, self->result.skipped);
	ASSERT_EQ(0, get(self, "a", "b", KRDMA_FILE_UPDATE | KRDMA_FILE_TIMES));
	EXPECT_EQ(0, self->result.skipped);
	ASSERT_EQ(0, here(self, "b", &status));
	EXPECT_EQ(1000000007, status.st_mtim.tv_sec);
	EXPECT_EQ(5, status.st_mtim.tv_nsec);
	ASSERT_EQ(0, get(self, "a", "b", KRDMA_FILE_UPDATE));
	EXPECT_EQ(1, self->result.skipped);
	EXPECT_EQ(0, self->result.transferred);
	EXPECT_EQ(5000, self->result.length);
	EXPECT_EQ(0, get(self, "a", "b", KRDMA_FILE_UPDATE | KRDMA_FILE_NEW));
	EXPECT_EQ(1, self->result.skipped);

	ASSERT_EQ(0, put(self, "b", "c", KRDMA_FILE_UPDATE | KRDMA_FILE_TIMES));
	EXPECT_EQ(0, self->result.skipped);
	ASSERT_EQ(0, there(self, "c", &status));
	EXPECT_EQ(1000000007, status.st_mtim.tv_sec);
	EXPECT_EQ(5, status.st_mtim.tv_nsec);
	ASSERT_EQ(0, put(self, "b", "c", KRDMA_FILE_UPDATE));
	EXPECT_EQ(1, self->result.skipped);
	/* One nanosecond, or one byte. */
	ASSERT_EQ(0, set_mtime(self->files.here, "b", 1000000007, 6));
	ASSERT_EQ(0, put(self, "b", "c", KRDMA_FILE_UPDATE | KRDMA_FILE_TIMES));
	EXPECT_EQ(0, self->result.skipped);
	ASSERT_EQ(0, files_write(self->files.here, "b", 5000, "x", 1));
	ASSERT_EQ(0, set_mtime(self->files.here, "b", 1000000007, 6));
	ASSERT_EQ(0, put(self, "b", "c", KRDMA_FILE_UPDATE));
	EXPECT_EQ(0, self->result.skipped);
	EXPECT_EQ(5001, self->result.transferred);
	EXPECT_EQ(-EEXIST, put(self, "b", "c", KRDMA_FILE_NEW));
	EXPECT_EQ(KRDMA_FILE_SIDE_PEER, self->result.side);
}

/* Makes the file @name on both sides, with different times. */
static int make_both(FIXTURE_DATA(many) * self, const char *name, size_t length,
		     unsigned int seed_here, unsigned int seed_there)
{
	return files_make(self->files.here, name, length, seed_here) ?:
	       files_make(self->files.there, name, length, seed_there) ?:
	       set_mtime(self->files.here, name, 1000000001, 1) ?:
	       set_mtime(self->files.there, name, 1000000002, 2);
}

/* Proves: F11 (library) */
TEST_F(many, what_has_the_same_content_is_skipped)
{
	static const char zeros[1000];
	struct stat status;

	ASSERT_EQ(0, serve_one(self));
	ASSERT_EQ(0, make_both(self, "same", 700000, 1, 1));
	ASSERT_EQ(0, get(self, "same", "same", KRDMA_FILE_CHECKSUM));
	EXPECT_EQ(1, self->result.skipped);
	EXPECT_EQ(0, self->result.transferred);
	EXPECT_EQ(700000, self->result.length);
	EXPECT_EQ(0, get(self, "same", "same", KRDMA_FILE_CHECKSUM | KRDMA_FILE_NEW));
	EXPECT_EQ(1, self->result.skipped);
	ASSERT_EQ(0, put(self, "same", "same", KRDMA_FILE_CHECKSUM | KRDMA_FILE_TIMES));
	EXPECT_EQ(1, self->result.skipped);
	EXPECT_EQ(0, self->result.transferred);
	/* What is not transferred stays as it is. */
	ASSERT_EQ(0, here(self, "same", &status));
	EXPECT_EQ(1000000001, status.st_mtim.tv_sec);
	ASSERT_EQ(0, there(self, "same", &status));
	EXPECT_EQ(1000000002, status.st_mtim.tv_sec);

	/* A hole has the content of zeros, also one that is not whole blocks, and at the end. */
	ASSERT_EQ(0, files_make(self->files.here, "zeros", 0, 0));
	ASSERT_EQ(0, files_make(self->files.there, "zeros", 0, 0));
	ASSERT_EQ(0, truncate(files_path(self->path, self->files.there, "zeros"), 1000000));
	for (uint64_t at = 0; at < 1000000; at += sizeof(zeros))
		ASSERT_EQ(0, files_write(self->files.here, "zeros", at, zeros, sizeof(zeros)));
	ASSERT_EQ(0, files_write(self->files.here, "zeros", 500001, "x", 1));
	ASSERT_EQ(0, files_write(self->files.there, "zeros", 500001, "x", 1));
	ASSERT_EQ(0, get(self, "zeros", "zeros", KRDMA_FILE_CHECKSUM));
	EXPECT_EQ(1, self->result.skipped);
	ASSERT_EQ(0, put(self, "zeros", "zeros", KRDMA_FILE_CHECKSUM));
	EXPECT_EQ(1, self->result.skipped);
	/* Of a hole of a TiB nothing is read. */
	ASSERT_EQ(0, truncate(files_path(self->path, self->files.there, "zeros"), 1ll << 40));
	ASSERT_EQ(0, truncate(files_path(self->path, self->files.here, "zeros"), 1ll << 40));
	ASSERT_EQ(0, get(self, "zeros", "zeros", KRDMA_FILE_CHECKSUM));
	EXPECT_EQ(1, self->result.skipped);
	ASSERT_EQ(0, make_both(self, "empty", 0, 1, 1));
	ASSERT_EQ(0, get(self, "empty", "empty", KRDMA_FILE_CHECKSUM));
	EXPECT_EQ(1, self->result.skipped);
	/* The one client has had one connection. */
	EXPECT_EQ(-EUSERS, files_get(&self->files, "same", "c", NULL, &self->result));
}

/* Proves: F11 (library) */
TEST_F(many, what_has_other_content_is_not_skipped)
{
	struct stat status;

	ASSERT_EQ(0, serve_one(self));
	/* Length and time are those of the source. */
	ASSERT_EQ(0, make_both(self, "a", 700000, 1, 2));
	ASSERT_EQ(0, set_mtime(self->files.here, "a", 1000000002, 2));
	ASSERT_EQ(0, get(self, "a", "a", KRDMA_FILE_UPDATE));
	EXPECT_EQ(1, self->result.skipped);
	ASSERT_EQ(0, put(self, "a", "a", KRDMA_FILE_UPDATE));
	EXPECT_EQ(1, self->result.skipped);
	EXPECT_EQ(-EEXIST, get(self, "a", "a", KRDMA_FILE_CHECKSUM | KRDMA_FILE_NEW));
	EXPECT_EQ(KRDMA_FILE_SIDE_HERE, self->result.side);
	EXPECT_EQ(-EEXIST, put(self, "a", "a", KRDMA_FILE_CHECKSUM | KRDMA_FILE_NEW));
	EXPECT_EQ(KRDMA_FILE_SIDE_PEER, self->result.side);
	EXPECT_EQ(-EUSERS, files_get(&self->files, "a", "c", NULL, &self->result));
	ASSERT_EQ(0, put(self, "a", "a", KRDMA_FILE_CHECKSUM | KRDMA_FILE_UPDATE));
	EXPECT_EQ(0, self->result.skipped);
	EXPECT_EQ(700000, self->result.transferred);
	EXPECT_TRUE(files_are(self->files.there, "a", 700000, 1));

	ASSERT_EQ(0, make_both(self, "b", 700000, 1, 2));
	ASSERT_EQ(0, get(self, "b", "b", KRDMA_FILE_CHECKSUM | KRDMA_FILE_TIMES));
	EXPECT_EQ(0, self->result.skipped);
	EXPECT_TRUE(files_are(self->files.here, "b", 700000, 2));
	ASSERT_EQ(0, here(self, "b", &status));
	EXPECT_EQ(1000000002, status.st_mtim.tv_sec);

	/* As many zeros at another place between what is the same. */
	ASSERT_EQ(0, make_both(self, "zeros", 0, 1, 1));
	ASSERT_EQ(0, files_write(self->files.here, "zeros", 1 << 18, "x", 1));
	ASSERT_EQ(0, files_write(self->files.there, "zeros", 1 << 19, "x", 1));
	ASSERT_EQ(0, files_write(self->files.here, "zeros", (1 << 20) - 1, "y", 1));
	ASSERT_EQ(0, files_write(self->files.there, "zeros", (1 << 20) - 1, "y", 1));
	ASSERT_EQ(0, put(self, "zeros", "zeros", KRDMA_FILE_CHECKSUM));
	EXPECT_EQ(0, self->result.skipped);
	EXPECT_EQ(1 << 20, self->result.length);

	/* Another length, no file, and a link to a file with this content. */
	ASSERT_EQ(0, make_both(self, "c", 700001, 2, 2));
	ASSERT_EQ(0, get(self, "b", "c", KRDMA_FILE_CHECKSUM));
	EXPECT_EQ(0, self->result.skipped);
	ASSERT_EQ(0, put(self, "b", "d", KRDMA_FILE_CHECKSUM));
	EXPECT_EQ(0, self->result.skipped);
	ASSERT_EQ(0, symlink("b", files_path(self->path, self->files.there, "link")));
	ASSERT_EQ(0, put(self, "b", "link", KRDMA_FILE_CHECKSUM));
	EXPECT_EQ(0, self->result.skipped);
	ASSERT_EQ(0, there(self, "link", &status));
	EXPECT_TRUE(S_ISREG(status.st_mode));
}

/* Where a client may not read, it does not learn what a file contains. */
TEST_F(many, a_put_does_not_tell_what_may_not_be_read)
{
	const struct krdma_file_rule rules[] = {
		{ .path = "inbox", .access = KRDMA_FILE_WRITE },
	};
	struct krdma_file_server_options options = {
		.flags = KRDMA_FILE_SERVER_WRITABLE, .rules = rules, .rule_count = 1,
	};

	ASSERT_EQ(0, make_folder_there(self, "inbox"));
	ASSERT_EQ(0, files_make(self->files.there, "inbox/a", 5000, 1));
	ASSERT_EQ(0, files_make(self->files.here, "same", 5000, 1));
	ASSERT_EQ(0, files_make(self->files.here, "other", 5000, 2));
	ASSERT_EQ(0, set_mtime(self->files.there, "inbox/a", 1000000001, 1));
	ASSERT_EQ(0, set_mtime(self->files.here, "same", 1000000001, 1));
	ASSERT_EQ(0, serve(self, &options));
	EXPECT_EQ(-EEXIST, put(self, "same", "inbox/a", KRDMA_FILE_CHECKSUM));
	EXPECT_EQ(-EEXIST, put(self, "other", "inbox/a", KRDMA_FILE_CHECKSUM));
	/* Nor which length and time it has. */
	EXPECT_EQ(-EEXIST, put(self, "same", "inbox/a", KRDMA_FILE_UPDATE));
	EXPECT_EQ(-EEXIST, put(self, "other", "inbox/a", KRDMA_FILE_UPDATE));
	EXPECT_EQ(0, put(self, "same", "inbox/b", KRDMA_FILE_CHECKSUM));
}

/* Proves: F11 (library) */
TEST_F(many, folders_are_made)
{
	struct stat status = { .st_mode = 0750, .st_mtim = { .tv_sec = 1000000007, .tv_nsec = 9 } };
	struct stat made;

	ASSERT_EQ(0, serve_one(self));
	ASSERT_EQ(0, files_make(self->files.here, "a", 100, 1));
	EXPECT_EQ(-ENOENT, put(self, "a", "x/y/a", 0));
	ASSERT_EQ(0, put(self, "a", "x/y/a", KRDMA_FILE_PARENTS));
	EXPECT_TRUE(files_are(self->files.there, "x/y/a", 100, 1));
	ASSERT_EQ(0, make_folder(self, "p/q//r", NULL, 0));
	ASSERT_EQ(0, there(self, "p/q/r", &made));
	EXPECT_TRUE(S_ISDIR(made.st_mode));
	ASSERT_EQ(0, make_folder(self, "p/q/r", &status,
				 KRDMA_FILE_EXACT_MODE | KRDMA_FILE_TIMES));
	ASSERT_EQ(0, there(self, "p/q/r", &made));
	EXPECT_EQ(0750, made.st_mode & 0777);
	EXPECT_EQ(1000000007, made.st_mtim.tv_sec);
	EXPECT_EQ(9, made.st_mtim.tv_nsec);

	EXPECT_EQ(-EACCES, make_folder(self, "../z", NULL, 0));
	EXPECT_EQ(-EACCES, make_folder(self, "/tmp/z", NULL, 0));
	EXPECT_EQ(-ENOTDIR, make_folder(self, "x/y/a", NULL, 0));
	ASSERT_EQ(0, symlink("/tmp", files_path(self->path, self->files.there, "out")));
	EXPECT_EQ(-EACCES, make_folder(self, "out/z", NULL, 0));
	EXPECT_EQ(-EACCES, put(self, "a", "out/z/a", KRDMA_FILE_PARENTS));
	EXPECT_EQ(-EACCES, make_folder(self, PART, NULL, 0));
}

/* It exists, and under each of its names it stays as it is. */
TEST_F(many, the_folder_that_is_offered_keeps_its_mode_and_time)
{
	static const char *const names[] = { "", ".", "./", ".//.", "./.", "x/.", "x" };
	struct stat status = { .st_mode = 0750, .st_mtim = { .tv_sec = 1000000007, .tv_nsec = 9 } };
	const uint32_t flags = KRDMA_FILE_EXACT_MODE | KRDMA_FILE_TIMES;
	struct stat before, after;

	ASSERT_EQ(0, serve_one(self));
	ASSERT_EQ(0, make_folder(self, "x", NULL, 0));
	ASSERT_EQ(0, chmod(files_path(self->path, self->files.there, ""), 0711));
	ASSERT_EQ(0, there(self, "", &before));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		ASSERT_EQ(0, make_folder(self, names[i], &status, flags));
		ASSERT_EQ(0, there(self, "", &after));
		EXPECT_EQ(0711, after.st_mode & 0777);
		EXPECT_EQ(before.st_mtim.tv_sec, after.st_mtim.tv_sec);
		EXPECT_EQ(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
	}
	ASSERT_EQ(0, there(self, "x", &after));
	EXPECT_EQ(0750, after.st_mode & 0777);
	EXPECT_EQ(1000000007, after.st_mtim.tv_sec);
}

/* What a group or all users share stays shared, whatever permission bits the client's has. */
TEST_F(many, a_folder_keeps_setgid_and_sticky)
{
	struct stat status = { .st_mode = 0750 }, made;

	ASSERT_EQ(0, serve_one(self));
	ASSERT_EQ(0, make_folder(self, "x", NULL, 0));
	ASSERT_EQ(0, chmod(files_path(self->path, self->files.there, "x"), 03777));
	ASSERT_EQ(0, make_folder(self, "x", &status, KRDMA_FILE_EXACT_MODE));
	ASSERT_EQ(0, there(self, "x", &made));
	EXPECT_EQ(03750, made.st_mode & 07777);
	/* One that is made in it has the group, and is for the group in turn. */
	ASSERT_EQ(0, make_folder(self, "x/y", &status, KRDMA_FILE_EXACT_MODE));
	ASSERT_EQ(0, there(self, "x/y", &made));
	EXPECT_EQ(02750, made.st_mode & 07777);
}

TEST_F(many, a_server_that_is_read_only_makes_no_folder)
{
	struct stat status;

	ASSERT_EQ(0, serve(self, NULL));
	ASSERT_EQ(0, files_make(self->files.here, "a", 100, 1));
	EXPECT_EQ(-EROFS, make_folder(self, "x", NULL, 0));
	EXPECT_EQ(-EROFS, put(self, "a", "x/a", KRDMA_FILE_PARENTS));
	EXPECT_EQ(-ENOENT, there(self, "x", &status));
}

TEST_F(many, links_are_put_only_if_they_are_followed)
{
	ASSERT_EQ(0, serve_one(self));
	ASSERT_EQ(0, files_make(self->files.here, "a", 100, 1));
	ASSERT_EQ(0, symlinkat("a", self->here, "link"));
	EXPECT_EQ(-EACCES, put(self, "link", "b", KRDMA_FILE_NO_FOLLOW));
	EXPECT_EQ(KRDMA_FILE_SIDE_HERE, self->result.side);
	EXPECT_EQ(0, put(self, "link", "b", 0));
	EXPECT_TRUE(files_are(self->files.there, "b", 100, 1));
}

TEST_F(many, wrong_arguments)
{
	struct krdma_file_options options = { .size = sizeof(options) };
	struct sockaddr_storage other = { .ss_family = AF_UNIX };
	struct krdma_file_client *client;
	struct sockaddr *server;

	ASSERT_EQ(0, serve_one(self));
	EXPECT_EQ(-EAFNOSUPPORT, krdma_file_client_create(self->files.session,
							  (struct sockaddr *)&other, NULL,
							  &client));
	server = (struct sockaddr *)&self->files.address;
	EXPECT_EQ(-EINVAL, krdma_file_client_create(NULL, server, NULL, &client));
	EXPECT_EQ(-EINVAL, krdma_file_client_create(self->files.session, NULL, NULL, &client));
	EXPECT_EQ(-EINVAL, krdma_file_client_create(self->files.session, server, NULL, NULL));
	options.flags = KRDMA_FILE_RECURSIVE;
	EXPECT_EQ(-EOPNOTSUPP, krdma_file_client_create(self->files.session, server, &options,
							&client));
	krdma_file_client_destroy(NULL);
	krdma_file_list_free(NULL);
	EXPECT_EQ(-EOPNOTSUPP, get(self, "a", "b", 1u << 31));
	EXPECT_EQ(-EOPNOTSUPP, list(self, "", 1u << 31));
	EXPECT_EQ(-EINVAL, get(self, NULL, "b", 0));
	EXPECT_EQ(-EINVAL, get(self, "a", NULL, 0));
	EXPECT_EQ(-EINVAL, put(self, NULL, "b", 0));
	EXPECT_EQ(-EINVAL, list(self, NULL, 0));
	EXPECT_EQ(-EINVAL, make_folder(self, NULL, NULL, 0));
	EXPECT_EQ(-EINVAL, krdma_file_client_list(self->client, "", 0, NULL, &self->count, NULL,
						  0));
	ASSERT_EQ(0, files_make(self->files.there, "a", 5000, 1));
	EXPECT_EQ(-EBADF, krdma_file_client_get_fd(self->client, "a", -1, NULL, 0));
	EXPECT_EQ(-EBADF, krdma_file_client_get_fd(self->client, "a", self->here, NULL, 0));
	EXPECT_EQ(-EBADF, krdma_file_get_fd(self->files.session, server, "a", -1, NULL, NULL, 0));
}

TEST_HARNESS_MAIN
