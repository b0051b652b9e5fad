// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's file transfers: names, and that no name leads out of the served directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib_files.h"

#define SECRET		"secret"
#define LENGTH		20000

FIXTURE(name)
{
	struct files files;
	struct krdma_file_result result;
};

FIXTURE_VARIANT(name)
{
	/* The kernel does not know openat2(). */
	bool old;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(name, kernel) {};
FIXTURE_VARIANT_ADD(name, old_kernel) { .old = true };

/* clang-format on */

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

static int forbid_openat2(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {
		.len = sizeof(code) / sizeof(*code),
		.filter = code,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return -errno;
	return 0;
}

FIXTURE_SETUP(name)
{
	struct krdma_file_server_options options = { .flags = KRDMA_FILE_SERVER_WRITABLE };
	char path[FILES_PATH];

	if (variant->old)
		ASSERT_EQ(0, forbid_openat2());
	ASSERT_EQ(0, files_open(&self->files));
	ASSERT_EQ(0, files_make(self->files.top, SECRET, LENGTH, 7));
	ASSERT_EQ(0, files_make(self->files.there, "a", LENGTH, 1));
	ASSERT_EQ(0, mkdir(files_path(path, self->files.there, "d"), 0755));
	ASSERT_EQ(0, files_make(self->files.there, "d/b", LENGTH, 2));
	ASSERT_EQ(0, symlink("/etc", files_path(path, self->files.there, "etc")));
	ASSERT_EQ(0, symlink("..", files_path(path, self->files.there, "up")));
	ASSERT_EQ(0, symlink("../" SECRET, files_path(path, self->files.there, "out")));
	ASSERT_EQ(0, symlink("/proc/self/root", files_path(path, self->files.there, "root")));
	ASSERT_EQ(0, symlink("d/b", files_path(path, self->files.there, "in")));
	ASSERT_EQ(0, symlink("self", files_path(path, self->files.there, "self")));
	ASSERT_EQ(0, files_serve(&self->files, BOOT_ADDRESS, NULL, &options));
}

FIXTURE_TEARDOWN(name)
{
	EXPECT_EQ(0, files_stop(&self->files));
	files_close(&self->files);
}

static int get_name(FIXTURE_DATA(name) * self, const char *name)
{
	return files_get(&self->files, name, "x", NULL, &self->result);
}

static int put_name(FIXTURE_DATA(name) * self, const char *name)
{
	return files_put(&self->files, "y", name, NULL, &self->result);
}

/* A name, and the errno that the server refuses it with. */
struct refused_name {
	const char *name;
	int error;
};

TEST_F_TIMEOUT(name, that_leads_out_is_refused, 120)
{
	/* On an old kernel, a path component that is a symbolic link is not followed. */
	const int link = variant->old ? -ENOTDIR : -EACCES;
	const struct refused_name names[] = {
		{ "/etc/passwd", -EACCES }, { "//etc/passwd", -EACCES },
		{ "../" SECRET, -EACCES }, { "..", -EACCES }, { "d/../../" SECRET, -EACCES },
		{ "d/..", -EACCES }, { "d/../a", -EACCES }, { "./../" SECRET, -EACCES },
		{ "out", -EACCES }, { "self", -EACCES }, { "up/" SECRET, link },
		{ "etc/passwd", link }, { "root/etc/passwd", link }, { "up/there/a", link },
		{ "self/a", link },
	};

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		EXPECT_EQ(names[i].error, get_name(self, names[i].name)) {
			TH_LOG("%s", names[i].name);
		}
		EXPECT_EQ(KRDMA_FILE_SIDE_PEER, self->result.side);
	}
	EXPECT_FALSE(files_exist(self->files.here, "x"));
	EXPECT_EQ(0, files_parts(self->files.here, NULL));
}

TEST_F_TIMEOUT(name, that_leads_out_is_not_written_to, 120)
{
	const int link = variant->old ? -ENOTDIR : -EACCES;
	const struct refused_name names[] = {
		{ "/tmp/put", -EACCES }, { "../put", -EACCES }, { "d/../../put", -EACCES },
		{ "..", -EACCES }, { "d/..", -EACCES }, { "up/put", link }, { "etc/put", link },
		{ "root/tmp/put", link }, { "up/there/put", link },
	};

	ASSERT_EQ(0, files_make(self->files.here, "y", LENGTH, 3));
	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		EXPECT_EQ(names[i].error, put_name(self, names[i].name)) {
			TH_LOG("%s", names[i].name);
		}
	}
	EXPECT_FALSE(files_exist(self->files.top, "put"));
	EXPECT_FALSE(files_exist("/etc", "put"));
	EXPECT_FALSE(files_exist("/tmp", "put"));
	EXPECT_FALSE(files_exist(self->files.there, "put"));
}

TEST_F_TIMEOUT(name, that_is_a_link_is_replaced_and_not_followed, 120)
{
	ASSERT_EQ(0, files_make(self->files.here, "y", LENGTH, 3));
	EXPECT_EQ(0, put_name(self, "out"));
	EXPECT_TRUE(files_are(self->files.top, SECRET, LENGTH, 7));
	EXPECT_TRUE(files_are(self->files.there, "out", LENGTH, 3));
}

TEST_F_TIMEOUT(name, that_stays_inside_is_found, 120)
{
	EXPECT_EQ(0, get_name(self, "d/b"));
	EXPECT_TRUE(files_are(self->files.here, "x", LENGTH, 2));
	EXPECT_EQ(0, get_name(self, "d//b"));
	EXPECT_EQ(0, get_name(self, "./a"));
	EXPECT_EQ(-EISDIR, get_name(self, ""));
	EXPECT_EQ(-EISDIR, get_name(self, "."));
	EXPECT_EQ(-EISDIR, get_name(self, "d/"));
	EXPECT_EQ(-ENOTDIR, get_name(self, "a/b"));
	EXPECT_EQ(-ENOENT, get_name(self, "nothing"));
	/* On an old kernel the server cannot check where a symbolic link leads. */
	EXPECT_EQ(variant->old ? -EACCES : 0, get_name(self, "in"));
}

TEST_F_TIMEOUT(name, that_is_too_long_is_refused, 120)
{
	static char name[KRDMA_FILE_NAME_MAX + 2];

	memset(name, 'x', sizeof(name) - 1);
	EXPECT_EQ(-ENAMETOOLONG, get_name(self, name));
	EXPECT_EQ(KRDMA_FILE_SIDE_HERE, self->result.side);
	name[KRDMA_FILE_NAME_MAX] = '\0';
	EXPECT_EQ(-ENAMETOOLONG, get_name(self, name));
	EXPECT_EQ(KRDMA_FILE_SIDE_PEER, self->result.side);
	/* The longest name, of short components, is valid; the file just does not exist. */
	for (unsigned int i = 1; i < KRDMA_FILE_NAME_MAX; i += 2)
		name[i] = '/';
	EXPECT_EQ(-ENOENT, get_name(self, name));
	/* All that can be a file's. */
	ASSERT_EQ(0, files_make(self->files.here, "y", LENGTH, 3));
	memset(name, 'x', 256);
	name[256] = '\0';
	EXPECT_EQ(-ENAMETOOLONG, put_name(self, name));
	for (unsigned int length = 255; length > 249; length--) {
		name[length] = '\0';
		EXPECT_EQ(0, put_name(self, name));
		EXPECT_TRUE(files_are(self->files.there, name, LENGTH, 3));
	}
}

TEST_F_TIMEOUT(name, of_the_one_file_that_is_offered, 120)
{
	struct krdma_file_server_options options = { .flags = KRDMA_FILE_SERVER_WRITABLE };
	char path[FILES_PATH];

	ASSERT_EQ(0, files_stop(&self->files));
	ASSERT_EQ(0, files_serve(&self->files, BOOT_ADDRESS,
				 files_path(path, self->files.there, "a"), &options));
	EXPECT_EQ(0, get_name(self, ""));
	EXPECT_TRUE(files_are(self->files.here, "x", LENGTH, 1));
	EXPECT_EQ(0, files_get(&self->files, "", ".", NULL, &self->result));
	EXPECT_STREQ("a", self->result.last);
	EXPECT_TRUE(files_are(self->files.here, "a", LENGTH, 1));
	EXPECT_EQ(0, get_name(self, "a"));
	EXPECT_EQ(-ENOENT, get_name(self, "d/b"));
	EXPECT_EQ(-EACCES, get_name(self, "../there/d/b"));
	ASSERT_EQ(0, files_make(self->files.here, "y", LENGTH, 3));
	EXPECT_EQ(-ENOENT, put_name(self, "c"));
	EXPECT_EQ(0, put_name(self, ""));
	EXPECT_TRUE(files_are(self->files.there, "a", LENGTH, 3));
}

TEST_HARNESS_MAIN
