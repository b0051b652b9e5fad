// SPDX-License-Identifier: GPL-2.0
/*
 * Transfers by libkrdma into folders in which another user changes whatever is allowed.
 *
 * The neighbour is a process of another user.  It creates, renames, links, truncates and removes
 * files, links and folders with the names that are transferred, and with those of part files.  In
 * folders that are transferred with all that is in them, it puts symbolic links and other folders
 * in the place of folders.  Each of that is an action.  KRDMA_ACTIONS is their number, and
 * KRDMA_SEED determines them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <file_internal.h>

#include "child.h"
#include "kselftest_harness.h"
#include "lib_copy.h"
#include "lib_files.h"
#include "lib_tree.h"
#include "lib_usage.h"
#include "lib_whole.h"
#include "rng.h"
#include "session.h"

#define ACTIONS		2000
/* The neighbour's own data begin so. */
#define MARK		"neighbour"
#define SECRET		"never to be sent"
#define LINKS		"/proc/sys/fs/protected_symlinks"
#define EXCHANGE	2u
/* Connections of a transfer at most. */
#define STREAMS		4

/* Actions among which each kind of those with folders has succeeded. */
#define ALL_ACTS	2000

/* What the neighbour does with folders that are transferred. */
enum neighbour_act {
	LINK,
	AWAY,
	BACK,
	EXCHANGED,
	PRIVATE,
	MADE,
	REMOVED,
	ACTS,
};

static const char * const acts[ACTS] = {
	[LINK] = "a link is in the place of a folder", [AWAY] = "a folder is renamed",
	[BACK] = "it is renamed back", [EXCHANGED] = "two folders change their names",
	[PRIVATE] = "a folder of the user has another name", [MADE] = "a folder is made",
	[REMOVED] = "a folder or a link is removed",
};

FIXTURE(neighbour)
{
	struct files files;
	struct rng rng;
	char outside[FILES_PATH];
	char own[FILES_PATH];
	/* As @here, but nobody can remove another user's files. */
	char sticky[FILES_PATH];
	char links[8];
	uint64_t version;
	unsigned int transfers;
	unsigned int complete;
	unsigned int shared;
	/* How often the neighbour has done that, in memory of both processes. */
	unsigned int *acts;
	/* Folders of this user that nobody else may read, under whatever name. */
	int private[2];
	/* Folders transferred, those without a failure, and files in them. */
	unsigned int trees[2];
	unsigned int whole_trees[2];
	unsigned int tree_files[2];
	int wrong;
};

static unsigned int number_of(const char *name, unsigned int usual)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 10) : usual;
}

static const char * const names[] = { "n0", "n1", "n2", "n3" };
/* Files of the same folders that are not transferred; the neighbour only links to them. */
static const char * const kept[] = { "kept0", "kept1" };

static int make_folder(const char *path, mode_t mode)
{
	return (mkdir(path, 0755) && errno != EEXIST) || chmod(path, mode) ? -errno : 0;
}

/*
 * A folder in which the neighbour may rename everything, also a folder that only this user may
 * enter, in the folder that is served and in the one to which it is got; and one that is put.
 */
static int make_trees(FIXTURE_DATA(neighbour) * self)
{
	static const char * const names_of[] = { "tree/d0", "tree/d1", "tree/d2" };
	const char * const folders[] = { self->files.there, self->files.here };
	char path[FILES_PATH];
	int ret = 0;

	for (unsigned int i = 0; i < 2 && !ret; i++) {
		ret = make_folder(files_path(path, folders[i], "tree"), 0777);
		if (!ret)
			ret = make_folder(files_path(path, folders[i], "tree/p"), 0700);
		self->private[i] = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (!ret)
			ret = whole_make(folders[i], "tree/p/kept", i);
	}
	if (!ret)
		ret = make_folder(files_path(path, self->own, "tree"), 0755);
	for (unsigned int i = 0; i < 3 && !ret; i++) {
		ret = make_folder(files_path(path, self->own, names_of[i]), 0755);
		if (!ret)
			ret = whole_make(path, "n0", i);
		if (!ret)
			ret = whole_make(path, "n1", i + 3);
	}
	return ret;
}

FIXTURE_SETUP(neighbour)
{
	struct krdma_file_server_options options = {
		.flags = KRDMA_FILE_SERVER_WRITABLE | KRDMA_FILE_SERVER_NO_SYNC,
	};
	const char *folders[3];

	self->rng.state = number_of("KRDMA_SEED", 1);
	TH_LOG("KRDMA_SEED=%u", number_of("KRDMA_SEED", 1));
	ASSERT_EQ(0, files_open(&self->files));
	files_path(self->outside, self->files.top, "outside");
	files_path(self->own, self->files.top, "own");
	files_path(self->sticky, self->files.top, "sticky");
	ASSERT_EQ(0, chmod(self->files.top, 0755));
	ASSERT_EQ(0, make_folder(self->outside, 0755));
	ASSERT_EQ(0, make_folder(self->own, 0700));
	ASSERT_EQ(0, make_folder(self->sticky, 01777));
	ASSERT_EQ(0, make_folder(self->files.there, 0777));
	ASSERT_EQ(0, make_folder(self->files.here, 0777));
	ASSERT_EQ(0, files_write(self->outside, "secret", 0, SECRET, strlen(SECRET)));
	ASSERT_EQ(0, files_write(self->outside, "public", 0, MARK, strlen(MARK)));
	folders[0] = self->files.there;
	folders[1] = self->files.here;
	folders[2] = self->sticky;
	for (unsigned int i = 0; i < 6; i++)
		ASSERT_EQ(0, whole_make(folders[i % 3], kept[i / 3], i));
	ASSERT_EQ(0, make_trees(self));
	self->acts = mmap(NULL, sizeof(*self->acts) * ACTS, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->acts);
	/* As systems are set up: links in a sticky folder are followed for their owner only. */
	ASSERT_EQ(0, read_line(self->links, sizeof(self->links), LINKS));
	ASSERT_EQ(0, write_text(LINKS, "1"));
	ASSERT_EQ(0, files_serve(&self->files, BOOT_ADDRESS, NULL, &options));
}

FIXTURE_TEARDOWN(neighbour)
{
	write_text(LINKS, self->links);
	EXPECT_EQ(0, files_stop(&self->files));
	for (unsigned int i = 0; i < 2; i++)
		close(self->private[i]);
	munmap(self->acts, sizeof(*self->acts) * ACTS);
	files_close(&self->files);
}

/*
 * The neighbour
 */

struct play {
	FIXTURE_DATA(neighbour) * self;
	struct rng rng;
	unsigned int actions;
	/* The last part file that was seen. */
	char part[FILES_PATH];
};

static void look_for_part(struct play *play, const char *folder)
{
	DIR *entries = opendir(folder);
	struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		if (file_part_is_name(entry->d_name))
			snprintf(play->part, sizeof(play->part), "%s", entry->d_name);
	}
	if (entries)
		closedir(entries);
}

/* A name that is transferred, one of a part file, or one of the neighbour's. */
static void any_path(struct play *play, const char *folder, char path[FILES_PATH])
{
	char last[FILES_PATH];

	switch (rng_below(&play->rng, 8)) {
	case 0:
		look_for_part(play, folder);
		snprintf(last, sizeof(last), "%s", play->part);
		break;
	case 1:
		/* A part file of the same name that the library has not created. */
		snprintf(last, sizeof(last), "%.*s%016x.part", FILE_PART_NAME - 21, play->part,
			 rng_below(&play->rng, 4));
		break;
	case 2:
		snprintf(last, sizeof(last), "t%u", rng_below(&play->rng, 4));
		break;
	default:
		snprintf(last, sizeof(last), "%s", RNG_PICK(&play->rng, names));
		break;
	}
	files_path(path, folder, *last ? last : "t0");
}

static void write_some(struct rng *rng, const char *path, int flags)
{
	static char data[8192] = MARK;
	int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | flags, 0666);

	if (fd >= 0 && write(fd, data, strlen(MARK) + rng_below(rng, 8000)) < 0)
		ftruncate(fd, 0);
	if (fd >= 0)
		close(fd);
}

static void any_link(struct play *play, const char *folder, const char *path)
{
	FIXTURE_DATA(neighbour) * self = play->self;
	char target[FILES_PATH];

	switch (rng_below(&play->rng, 6)) {
	case 0:
		files_path(target, self->outside, "secret");
		break;
	case 1:
		files_path(target, self->outside, "public");
		break;
	case 2:
		files_path(target, self->outside, "new");
		break;
	case 3:
		files_path(target, self->own, "n0");
		break;
	case 4:
		files_path(target, folder, RNG_PICK(&play->rng, kept));
		break;
	default:
		any_path(play, folder, target);
		break;
	}
	symlink(target, path);
}

static void act(struct play *play)
{
	FIXTURE_DATA(neighbour) * self = play->self;
	const char * const folders[] = { self->files.there, self->files.here, self->sticky };
	const char *folder = RNG_PICK(&play->rng, folders);
	char path[FILES_PATH], other[FILES_PATH];

	any_path(play, folder, path);
	any_path(play, folder, other);
	switch (rng_below(&play->rng, 15)) {
	case 0:
	case 1:
		write_some(&play->rng, path, O_CREAT | O_TRUNC);
		break;
	case 2:
		write_some(&play->rng, path, O_APPEND);
		break;
	case 3:
		truncate(path, rng_below(&play->rng, 1 << 20));
		break;
	case 4:
		rename(path, other);
		break;
	case 5:
		syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, other, EXCHANGE);
		break;
	case 6:
		link(path, other);
		break;
	case 7:
		link(files_path(other, self->outside, "public"), path);
		break;
	case 8:
		link(files_path(other, folder, RNG_PICK(&play->rng, kept)), path);
		break;
	case 9:
		chmod(path, rng_below(&play->rng, 010000));
		break;
	case 10:
		if (mkdir(path, 0777) && errno == EEXIST)
			rmdir(path);
		break;
	case 11:
		mkfifo(path, 0666);
		break;
	case 12:
		unlink(path);
		any_link(play, folder, path);
		break;
	case 13:
		any_link(play, folder, path);
		break;
	default:
		unlink(path);
		break;
	}
}

/* Puts something else in the place of a folder that is transferred, or gives it back. */
static void act_on_folders(struct play *play)
{
	FIXTURE_DATA(neighbour) * self = play->self;
	static const char * const folders[] = { "tree/d0", "tree/d1", "tree/d2" };
	static const char * const aside[] = { "tree/t0", "tree/t1", "tree/t2" };
	const char *top = rng_once_in(&play->rng, 2) ? self->files.there : self->files.here;
	const char *name = RNG_PICK(&play->rng, folders), *target;
	enum neighbour_act act = rng_below(&play->rng, ACTS);
	char path[FILES_PATH], away[FILES_PATH], other[FILES_PATH];
	int ret;

	files_path(path, top, name);
	files_path(away, top, RNG_PICK(&play->rng, aside));
	files_path(other, top, RNG_PICK(&play->rng, folders));
	switch (act) {
	case LINK:
		target = rng_once_in(&play->rng, 2) ? self->outside : other;
		ret = rename(path, away);
		ret = symlink(target, path);
		break;
	case AWAY:
		ret = rename(path, away);
		break;
	case BACK:
		unlink(path);
		ret = rename(away, path);
		break;
	case EXCHANGED:
		ret = syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, away, EXCHANGE);
		break;
	case PRIVATE:
		files_path(other, top, "tree/p");
		ret = syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, other, EXCHANGE);
		break;
	case MADE:
		ret = mkdir(path, 0777);
		break;
	default:
		ret = unlink(path) && rmdir(away);
		break;
	}
	self->acts[act] += !ret;
}

static int play_actions(void *context)
{
	struct play *play = context;

	umask(0);
	for (unsigned int i = 0; i < play->actions; i++) {
		if (rng_once_in(&play->rng, 3))
			act_on_folders(play);
		else
			act(play);
		/* A transfer takes as long as some tens of actions. */
		if (rng_once_in(&play->rng, 8))
			usleep(rng_below(&play->rng, 4000));
	}
	return 0;
}

/*
 * The transfers
 */

/* What a neighbour can make of a transfer; anything else is a fault. */
static bool can_be(int error)
{
	static const int errors[] = {
		0, -ENOENT, -EACCES, -EISDIR, -ENOTDIR, -EOPNOTSUPP, -ESTALE, -EIO, -ELOOP, -EEXIST,
		-EPERM, -EBUSY, -ENOTEMPTY,
	};

	for (unsigned int i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		if (errors[i] == error)
			return true;
	}
	return false;
}

static void transfer(struct __test_metadata *_metadata, FIXTURE_DATA(neighbour) * self)
{
	const struct sockaddr *server = (struct sockaddr *)&self->files.address;
	const char *name = RNG_PICK(&self->rng, names);
	struct krdma_file_options options = {
		.size = sizeof(options),
		.flags = rng_below(&self->rng, 4) | KRDMA_FILE_NO_SYNC,
		/* So that a file has several pieces, and each connection some of them. */
		.buffer_size = 4096,
		.streams = rng_below(&self->rng, STREAMS + 1),
	};
	unsigned int kind = rng_below(&self->rng, 4);
	struct krdma_file_result result;
	char path[FILES_PATH];
	int ret;

	switch (kind) {
	case 0:
		/* Into a folder: a link with the file's name is replaced. */
		snprintf(path, sizeof(path), "%s/", self->files.here);
		ret = krdma_file_get(self->files.session, server, name, path, &options, &result,
				     sizeof(result));
		break;
	case 1:
		ret = krdma_file_get(self->files.session, server, "kept0",
				     files_path(path, self->sticky, name), &options, &result,
				     sizeof(result));
		break;
	default:
		ASSERT_EQ(0, whole_make(self->own, "source", self->version++));
		ret = krdma_file_put(self->files.session, server,
				     files_path(path, self->own, "source"), name, &options,
				     &result, sizeof(result));
		break;
	}
	self->transfers++;
	self->complete += !ret;
	self->shared += !ret && result.streams > 1;
	EXPECT_TRUE(can_be(ret)) {
		TH_LOG("number %u of kind %u: %s", self->transfers, kind, strerror(-ret));
	}
}

static void copied(void *context, const struct copy *copy, int err,
		   const struct krdma_file_result *result)
{
	FIXTURE_DATA(neighbour) * self = context;

	(void)result;
	self->tree_files[copy->put] += !err;
	if (!can_be(err))
		self->wrong = err;
}

/* Everything in a folder, here or at the server. */
static void transfer_tree(struct __test_metadata *_metadata, FIXTURE_DATA(neighbour) * self,
			  bool put)
{
	struct krdma_file_options options = {
		.flags = KRDMA_FILE_NO_SYNC | KRDMA_FILE_UPDATE |
			 (rng_once_in(&self->rng, 2) ? KRDMA_FILE_TIMES : 0),
		.buffer_size = 4096,
	};
	struct lib_copy copy;
	char path[FILES_PATH];

	lib_copy_begin(&copy, self->files.session, (struct sockaddr *)&self->files.address,
		       &options);
	copy.ended = copied;
	copy.context = self;
	if (put) {
		files_path(path, self->own, "tree/d0");
		ASSERT_EQ(0, whole_make(path, "n0", self->version++));
		lib_copy_put(&copy, files_path(path, self->own, "tree"), "tree");
	} else {
		lib_copy_get(&copy, "tree", files_path(path, self->files.here, "tree"));
	}
	self->trees[put]++;
	self->whole_trees[put] += !copy.total.failed;
	lib_copy_end(&copy);
	EXPECT_EQ(0, self->wrong) {
		TH_LOG("%s of a folder: %s", put ? "put" : "get", strerror(-self->wrong));
	}
}

/* What folders have come to; nobody else may read the private ones. */
static void check_trees(struct __test_metadata *_metadata, FIXTURE_DATA(neighbour) * self,
			unsigned int actions)
{
	struct stat status;

	for (unsigned int i = 0; i < 2; i++) {
		TH_LOG("%u folders %s, %u of them without a failure, with %u files", self->trees[i],
		       i ? "put" : "got", self->whole_trees[i], self->tree_files[i]);
		EXPECT_LT(0, self->trees[i]);
		EXPECT_LT(0, self->tree_files[i]);
		ASSERT_EQ(0, fstat(self->private[i], &status));
		EXPECT_EQ(0700, status.st_mode & 07777);
	}
	for (unsigned int i = 0; i < ACTS; i++) {
		TH_LOG("%s: %u", acts[i], self->acts[i]);
		if (actions >= ALL_ACTS)
			EXPECT_LT(0, self->acts[i]);
	}
	/* Before it came nothing has failed, and then the neighbour has come between. */
	EXPECT_LT(0, self->whole_trees[1]);
	if (actions >= ALL_ACTS)
		EXPECT_LT(self->whole_trees[0] + self->whole_trees[1],
			  self->trees[0] + self->trees[1]);
}

/* Does the file have the neighbour's data, which the neighbour may have cut or extended? */
static bool is_marked(const char *folder, const char *name)
{
	char path[FILES_PATH], data[sizeof(MARK)] = { 0 };
	int fd = open(files_path(path, folder, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	ssize_t got = fd < 0 ? -1 : read(fd, data, strlen(MARK));

	if (fd >= 0)
		close(fd);
	return got >= 0 && !memcmp(data, got && data[0] ? MARK : "\0\0\0\0\0\0\0\0\0", got);
}

/*
 * A file that belongs to the user of the transfers is a part, or has been transferred: then it
 * has all the data of one version, or what the neighbour has put into its source.
 */
static void check_folder(struct __test_metadata *_metadata, const char *folder, bool put)
{
	static struct tree tree;
	const struct tree_entry *entry;
	char path[2 * FILES_PATH];
	struct stat status;

	ASSERT_EQ(0, tree_read(&tree, folder));
	for (size_t i = 0; i < tree.count; i++) {
		entry = &tree.entries[i];
		snprintf(path, sizeof(path), "%s%s", folder, entry->path);
		ASSERT_EQ(0, lstat(path, &status));
		if (!S_ISREG(entry->mode) || entry->owner || status.st_nlink > 1 ||
		    file_part_is_name(entry->path + 1))
			continue;
		EXPECT_EQ(0, entry->mode & 07000);
		/* A part file under a name that the neighbour has given it. */
		if ((entry->mode & 0777) == 0600)
			continue;
		EXPECT_TRUE(whole_file(folder, entry->path) ||
			    (!put && is_marked(folder, entry->path))) {
			TH_LOG("'%s' is neither whole nor the neighbour's", path);
		}
	}
}

TEST_F_TIMEOUT(neighbour, changes_nothing_that_is_not_his, 3600)
{
	static struct tree outside, own, keeps[6], now;
	const char * const folders[] = { self->files.there, self->files.here, self->sticky };
	struct play neighbour = { .self = self, .rng = { .state = self->rng.state ^ UINT32_MAX } };
	struct usage before, after;
	int status = 0, ended = 0;
	char path[FILES_PATH];
	const char *which;
	pid_t pid;

	neighbour.actions = number_of("KRDMA_ACTIONS", ACTIONS);
	ASSERT_EQ(0, whole_make(self->own, "n0", 7));
	ASSERT_EQ(0, tree_read(&outside, self->outside));
	ASSERT_EQ(0, tree_read(&own, files_path(path, self->own, "n0")));
	for (unsigned int i = 0; i < 6; i++)
		ASSERT_EQ(0, tree_read(&keeps[i], files_path(path, folders[i % 3], kept[i / 3])));
	for (unsigned int i = 0; i < 20; i++)
		transfer(_metadata, self);
	for (unsigned int i = 0; i < 4; i++)
		transfer_tree(_metadata, self, i % 2);
	before = usage_now();
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		CHECK(!child_become(SOME_USER));
		_exit(play_actions(&neighbour));
	}
	while (!ended) {
		if (rng_once_in(&self->rng, 4))
			transfer_tree(_metadata, self, rng_once_in(&self->rng, 2));
		else
			transfer(_metadata, self);
		ended = waitpid(pid, &status, WNOHANG);
	}
	EXPECT_EQ(pid, ended);
	EXPECT_EQ(0, status);
	after = usage_after(&before);
	TH_LOG("%u actions, %u of %u transfers were complete; %zu and then %zu bytes",
	       neighbour.actions, self->complete, self->transfers, before.bytes, after.bytes);
	TH_LOG("%u of them over several connections", self->shared);
	EXPECT_LT(self->transfers / 10, self->complete);
	EXPECT_LT(0, self->shared);
	check_trees(_metadata, self, neighbour.actions);
	EXPECT_GE(before.bytes + USAGE_SPARE, after.bytes);
	EXPECT_GE(before.descriptors, after.descriptors);
	EXPECT_FALSE(usage_leaks());

	ASSERT_EQ(0, tree_read(&now, self->outside));
	EXPECT_TRUE(tree_same(&outside, &now, &which)) {
		TH_LOG("outside the folders, '%s' has changed", which);
	}
	ASSERT_EQ(0, tree_read(&now, files_path(path, self->own, "n0")));
	EXPECT_TRUE(tree_same(&own, &now, &which)) {
		TH_LOG("a file behind a link has changed");
	}
	for (unsigned int i = 0; i < 6; i++) {
		ASSERT_EQ(0, tree_read(&now, files_path(path, folders[i % 3], kept[i / 3])));
		EXPECT_TRUE(tree_same(&keeps[i], &now, &which)) {
			TH_LOG("a file of another name has changed: %s", path);
		}
	}
	for (unsigned int i = 0; i < 3; i++)
		check_folder(_metadata, folders[i], !i);
}

/* A link that is there at one moment and not at the next. */
static int flicker(void *context)
{
	FIXTURE_DATA(neighbour) * self = context;
	char target[FILES_PATH], path[FILES_PATH];

	CHECK(!child_become(SOME_USER));
	files_path(target, self->outside, "public");
	files_path(path, self->sticky, "n0");
	for (;;) {
		self->acts[LINK] += !symlink(target, path);
		self->acts[REMOVED] += !unlink(path);
	}
	return 0;
}

/*
 * The kernel follows no link that another user has made in a sticky folder.  A get does not do so
 * either, whenever the link appears.
 */
TEST_F_TIMEOUT(neighbour, leads_no_get_out_of_a_sticky_folder, 600)
{
	static struct tree outside, now;
	unsigned int gets = number_of("KRDMA_ACTIONS", ACTIONS) / 4, complete = 0, refused = 0;
	struct krdma_file_result result;
	char path[FILES_PATH];
	const char *which;
	pid_t pid;
	int ret;

	/* More of them show nothing else. */
	gets = gets < 300 ? gets : 300;
	ASSERT_EQ(0, tree_read(&outside, self->outside));
	pid = child_start(flicker, self);
	ASSERT_LE(0, pid);
	for (unsigned int i = 0; i < gets; i++) {
		ret = krdma_file_get(self->files.session, (struct sockaddr *)&self->files.address,
				     "kept0", files_path(path, self->sticky, "n0"), NULL, &result,
				     sizeof(result));
		complete += !ret;
		refused += ret == -EACCES;
		EXPECT_TRUE(can_be(ret)) {
			TH_LOG("number %u: %s", i, strerror(-ret));
		}
		/* A file that has arrived is in the way of the next link. */
		unlink(path);
	}
	EXPECT_EQ(0, waitpid(pid, NULL, WNOHANG));
	child_kill(pid);
	TH_LOG("of %u gets %u were complete, %u refused; %u links were made, %u removed", gets,
	       complete, refused, self->acts[LINK], self->acts[REMOVED]);
	EXPECT_LT(0, complete);
	EXPECT_LT(0, refused);
	EXPECT_LT(0, self->acts[LINK]);
	EXPECT_LT(0, self->acts[REMOVED]);
	ASSERT_EQ(0, tree_read(&now, self->outside));
	EXPECT_TRUE(tree_same(&outside, &now, &which)) {
		TH_LOG("outside the folder, '%s' has changed", which);
	}
}

TEST_HARNESS_MAIN
