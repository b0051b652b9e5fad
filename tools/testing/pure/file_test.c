// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's files without a connection: names and parts.  The tests make their files in a folder
 * of their own.  The linker wraps some calls; the wrappers record the order of the calls, and fail
 * if a test asks for that.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file_test.h"
#include "tap.h"

#define LENGTH	300000u
/* The number and the id in names of parts. */
#define NUMBER	"0123456789abcdef"
#define ID	"0123456789abcdef0123456789abcdef"

/*
 * Wrapped calls
 */

/* f: fsync() of a file, d: of a folder, r: renameat(), a: posix_fadvise(), c: it is shortened. */
static char order[64];
static int fail_fsync, fail_folder, fail_close;
static bool slow_fsync;

static void note(char what)
{
	size_t length = strlen(order);

	if (length + 1 < sizeof(order))
		order[length] = what;
}

/* Ticks at which another thread kept the link alive. */
static atomic_uint kept;

/* Waits for two of them, however slow the machine is; at most 20 seconds. */
static void await_kept(void)
{
	for (unsigned int i = 0; i < 20000 && kept < 2; i++)
		usleep(1000);
}

int __wrap_fsync(int fd)
{
	struct stat status;
	bool folder = !fstat(fd, &status) && S_ISDIR(status.st_mode);

	note(folder ? 'd' : 'f');
	if (slow_fsync)
		await_kept();
	errno = folder ? fail_folder : fail_fsync;
	return errno ? -1 : __real_fsync(fd);
}

int __wrap_close(int fd)
{
	int failed = fail_close;

	fail_close = 0;
	__real_close(fd);
	errno = failed;
	return failed ? -1 : 0;
}

int __wrap_renameat(int from, const char *name, int to, const char *other)
{
	note('r');
	return __real_renameat(from, name, to, other);
}

static bool no_holes;
/* The length to which a file was shortened last. */
static off_t cut;
static bool note_cuts;

int __wrap_fallocate64(int fd, int mode, off_t offset, off_t length)
{
	if (!no_holes)
		return __real_fallocate64(fd, mode, offset, length);
	errno = EOPNOTSUPP;
	return -1;
}

int __wrap_ftruncate64(int fd, off_t length)
{
	struct stat status;

	if (!fstat(fd, &status) && length < status.st_size) {
		cut = length;
		if (note_cuts)
			note('c');
	}
	return __real_ftruncate64(fd, length);
}

int __wrap_posix_fadvise64(int fd, off_t offset, off_t length, int advice)
{
	if (!offset && !length && advice == POSIX_FADV_DONTNEED)
		note('a');
	return __real_posix_fadvise64(fd, offset, length, advice);
}

const char *fail_open;
int fail_open_error;
unsigned int fail_readdir;

/* Only folders are opened by this name. */
int __wrap_openat64(int folder, const char *name, int flags, mode_t mode)
{
	struct stat status, wanted;

	if (fail_open && !strcmp(name, ".") && !stat(path_of(fail_open), &wanted) &&
	    !fstat(folder, &status) && status.st_ino == wanted.st_ino) {
		errno = fail_open_error;
		return -1;
	}
	return __real_openat64(folder, name, flags, mode);
}

struct dirent *__wrap_readdir64(DIR *entries)
{
	if (!fail_readdir || --fail_readdir)
		return __real_readdir64(entries);
	errno = EIO;
	return NULL;
}

void (*meanwhile)(void);

int __wrap_fstatfs64(int fd, struct statfs *filesystem)
{
	void (*run)(void) = meanwhile;

	meanwhile = NULL;
	if (run)
		run();
	return __real_fstatfs64(fd, filesystem);
}

/* Stub of the link: it is interrupted after @steps_left steps. */
static unsigned int steps;
static unsigned int steps_left = UINT32_MAX;
/* What the peer would hear of the work on a file, at the last step. */
static uint64_t heard;

int file_link_step(struct file_link *link)
{
	heard = link->examined;
	steps++;
	return steps_left && steps_left-- ? 0 : -ECANCELED;
}

void file_link_keep(struct file_link *link)
{
	(void)link;
	kept++;
}

int file_link_tick(struct file_link *link)
{
	(void)link;
	return 0;
}

/* Stubs of functions that only a connection uses. */
int file_link_fail(struct file_link *link, int err, uint32_t side)
{
	(void)link;
	(void)side;
	return err;
}

int file_link_send(struct file_link *link, const struct file_message *message, const char *name)
{
	(void)link;
	(void)message;
	(void)name;
	return -EIO;
}

int file_link_receive(struct file_link *link, uint8_t type, struct file_message *message)
{
	(void)link;
	(void)type;
	(void)message;
	return -EIO;
}

/*
 * Files
 */

static char top[64] = "/tmp/krdma-file-test.XXXXXX";
static struct file_link a_link;
static const struct file_identity identity = {
	.length = LENGTH, .mtime_s = 1000, .mtime_ns = 7, .mode = 0666,
};

static unsigned char content[LENGTH];

static int top_open(void)
{
	return open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void clean(void)
{
	DIR *entries = opendir(top);
	struct dirent *entry;
	int folder = top_open();

	while ((entry = readdir(entries))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (unlinkat(folder, entry->d_name, 0))
			unlinkat(folder, entry->d_name, AT_REMOVEDIR);
	}
	closedir(entries);
	close(folder);
	steps_left = UINT32_MAX;
	steps = 0;
	memset(order, 0, sizeof(order));
}

/* Name of the last part that parts() has found. */
static char part_name[256];

static int parts(void)
{
	DIR *entries = opendir(top);
	struct dirent *entry;
	int count = 0;

	while ((entry = readdir(entries))) {
		if (!file_part_is_name(entry->d_name))
			continue;
		snprintf(part_name, sizeof(part_name), "%s", entry->d_name);
		count++;
	}
	closedir(entries);
	return count;
}

/* The last two results are valid. */
char *path_of(const char *name)
{
	static char paths[2][512];
	static unsigned int next;
	char *path = paths[next++ % 2];

	snprintf(path, sizeof(*paths), "%s/%s", top, name);
	return path;
}

static bool is_there(const char *name)
{
	struct stat status;

	return !lstat(path_of(name), &status);
}

static bool is_content(const char *name, size_t length)
{
	unsigned char *data = malloc(LENGTH + 1);
	int fd = open(path_of(name), O_RDONLY | O_CLOEXEC);
	bool is = fd >= 0 && read(fd, data, LENGTH + 1) == (ssize_t)length &&
		  !memcmp(data, content, length);

	if (fd >= 0)
		close(fd);
	free(data);
	return is;
}

void make_file(const char *name, const char *text)
{
	int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
}

static bool is_text(const char *name, const char *text)
{
	char is[64] = "";
	int fd = open(path_of(name), O_RDONLY | O_CLOEXEC);
	bool same = fd >= 0 && read(fd, is, sizeof(is) - 1) == (ssize_t)strlen(text) &&
		    !strcmp(is, text);

	if (fd >= 0)
		close(fd);
	return same;
}

static mode_t mode_of(const char *name)
{
	struct stat status;

	return stat(path_of(name), &status) ? 0 : status.st_mode & 07777;
}

/*
 * Parts
 */

static void begin(struct file_part *part, const char *last)
{
	file_part_open(part, top_open(), last, &identity);
	part->sync = true;
}

/* Write the content up to @end. */
static int fill(struct file_part *part, size_t end)
{
	size_t from = (size_t)part->offset;
	uint32_t crc = file_crc(part->crc, content + from, end - from);

	return file_part_write(part, content + from, end - from, crc);
}

/* Leave an interrupted part of "a" with @end bytes. */
static void leave_part(size_t end)
{
	struct file_part part;

	begin(&part, "a");
	if (file_part_begin(&part, 0) || fill(&part, end))
		abort();
	file_part_close(&part, -ECANCELED);
}

static int complete(struct file_part *part, uint64_t offset)
{
	int err = file_part_begin(part, offset);

	if (!err)
		err = fill(part, LENGTH);
	if (!err)
		err = file_part_finish(part, &a_link);
	return err;
}

static void test_part_is_made(void)
{
	struct file_part part;

	begin(&part, "a");
	tap_result(parts() == 0, "nothing is made before it is begun");
	tap_result(!file_part_begin(&part, 0) && parts() == 1 && mode_of(part_name) == 0600,
		   "a part is one file, of its user's alone");
	tap_result(!fill(&part, LENGTH) && !is_there("a"), "all of its data do not make it a file");
	umask(027);
	tap_result(!file_part_finish(&part, &a_link) && is_content("a", LENGTH) && parts() == 0,
		   "it is one when it is finished");
	tap_result(mode_of("a") == 0640, "with the bits that the umask leaves");
	file_part_close(&part, 0);
	tap_result(is_content("a", LENGTH), "and stays it");
	begin(&part, "a");
	part.exact_mode = true;
	tap_result(!complete(&part, 0) && mode_of("a") == 0666, "with exact bits if wanted");
	umask(022);
	file_part_close(&part, 0);
	begin(&part, "a");
	file_part_close(&part, -ECONNRESET);
	tap_result(parts() == 0 && is_content("a", LENGTH), "who leaves at once leaves nothing");
	begin(&part, "a");
	tap_result(!file_part_begin(&part, 0), "a part is begun");
	file_part_close(&part, -ECONNRESET);
	tap_result(parts() == 0, "nor does who has sent nothing");
}

/* A server that is stopped, or whose client is gone, makes no more folders of a long name. */
static void test_folders(void)
{
	struct file_link link = { .error = 0 };
	struct file_root root;

	if (file_root_open(&root, top, KRDMA_FILE_READ | KRDMA_FILE_WRITE))
		abort();
	tap_result(!file_root_make_folders(&root, "m/n/file", 0777, &link) &&
		   !access(path_of("m/n"), F_OK),
		   "the folders that lead to a name are made");
	steps_left = 2;
	tap_result(file_root_make_folders(&root, "m/o/p/q/r/s/", 0777, &link) == -ECANCELED &&
		   !access(path_of("m/o/p"), F_OK) && access(path_of("m/o/p/q/r"), F_OK),
		   "until the transfer is to end");
	steps_left = UINT32_MAX;
	file_root_close(&root);
	file_link_rest(&link);
	rmdir(path_of("m/o/p/q"));
	rmdir(path_of("m/o/p"));
	rmdir(path_of("m/o"));
	rmdir(path_of("m/n"));
}

static void test_names(void)
{
	char longest[KRDMA_FILE_LAST_MAX + 1];
	struct file_part part;
	bool fine = true;

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	for (size_t length = sizeof(longest) - 1; length > 240; length--) {
		longest[length] = '\0';
		begin(&part, longest);
		fine = fine && !complete(&part, 0) && is_content(longest, LENGTH);
		file_part_close(&part, 0);
		unlink(path_of(longest));
	}
	tap_result(fine, "a name may be as long as a file's");
	tap_result(file_part_is_name(".krdma-" ID "-" NUMBER ".part") &&
		   !file_part_is_name(".krdma-" ID "-" NUMBER ".par") &&
		   !file_part_is_name(".krdma-" ID "-" NUMBER ".part2") &&
		   !file_part_is_name(".krdma-" NUMBER "-" ID ".part") &&
		   !file_part_is_name(".krdma-g" NUMBER "123456789abcdef-" NUMBER ".part") &&
		   !file_part_is_name("a.part") && !file_part_is_name(""),
		   "a part's name is known");
	tap_result(file_name_is_harmless("a") && file_name_is_harmless("a b.-") &&
		   file_name_is_harmless("\303\244"), "a harmless name is one");
	tap_result(!file_name_is_harmless("") && !file_name_is_harmless(".bashrc") &&
		   !file_name_is_harmless("-rf") && !file_name_is_harmless("a/b") &&
		   !file_name_is_harmless("a\033[2J") && !file_name_is_harmless("a\n") &&
		   !file_name_is_harmless("a\177") && !file_name_is_harmless("a\302\233") &&
		   !file_name_is_harmless("\342\200\256a") && !file_name_is_harmless("\377") &&
		   !file_name_is_harmless("\300\257") && !file_name_is_harmless("a\342\200"),
		   "a harmful one is none");
	tap_result(!file_name_is_harmless("a\302\255") &&
		   !file_name_is_harmless("a\341\240\216") &&
		   !file_name_is_harmless("a\363\240\201\201") &&
		   !file_name_is_harmless("a\357\277\271") &&
		   !file_name_is_harmless("a\357\277\277") &&
		   file_name_is_harmless("a\302\254") && file_name_is_harmless("a\357\277\275"),
		   "nor is one that looks like another one");
}

/* A part that exists is continued, wherever an earlier attempt was interrupted. */
static void test_part_is_continued(void)
{
	struct file_part part;
	unsigned int times;
	int err = -1;

	leave_part(LENGTH - 1);
	tap_result(parts() == 1, "an interrupted copy leaves its part");
	for (times = 0; times < 20 && err; times++) {
		begin(&part, "a");
		steps_left = times;
		err = file_part_continue(&part, &a_link);
		steps_left = UINT32_MAX;
		file_part_close(&part, err ? err : -ECANCELED);
		if (parts() != 1)
			break;
	}
	tap_result(!err && times > 2 && parts() == 1, "which is there whenever checking it ends");
	begin(&part, "a");
	tap_result(!file_part_continue(&part, &a_link) && part.offset == LENGTH - 1 &&
		   part.crc == file_crc(0, content, LENGTH - 1), "and tells how much it is");
	tap_result(!complete(&part, LENGTH - 1) && is_content("a", LENGTH) && parts() == 0,
		   "and is completed");
	file_part_close(&part, 0);
}

static void test_part_is_not_spoiled(void)
{
	struct file_part part, other;

	leave_part(1000);
	begin(&part, "a");
	if (file_part_continue(&part, &a_link) || file_part_begin(&part, 0) || fill(&part, 500))
		abort();
	tap_result(parts() == 2, "who does not go on with a part has another");
	file_part_close(&part, -EBADMSG);
	begin(&part, "a");
	tap_result(!file_part_continue(&part, &a_link) && part.offset == 1000,
		   "and leaves the first one alone");
	tap_result(!file_part_begin(&part, 1000) && !fill(&part, 2000), "who does adds to it");
	file_part_close(&part, -EBADMSG);
	begin(&part, "a");
	tap_result(!file_part_continue(&part, &a_link) && part.offset == 1000 &&
		   part.crc == file_crc(0, content, 1000),
		   "but what turns out to be wrong goes, and no more");
	begin(&other, "a");
	tap_result(file_part_continue(&other, &a_link) == -EBUSY, "a part is gone on with once");
	tap_result(!complete(&other, 0) && is_content("a", LENGTH),
		   "but does not keep anybody from beginning anew");
	file_part_close(&other, 0);
	tap_result(parts() == 1, "and stays while somebody has it");
	file_part_close(&part, -ECANCELED);
	begin(&part, "a");
	tap_result(!file_part_continue(&part, &a_link) && part.offset == 1000,
		   "and when that has ended");
	file_part_close(&part, -ECANCELED);
	begin(&part, "a");
	part.searched = true;
	tap_result(!complete(&part, 0) && parts() == 0, "a complete file takes its parts' place");
	file_part_close(&part, 0);
}

/*
 * A file system that cannot clear what follows the valid data: a process that is killed at any time
 * leaves a note, and holes are zero in the end.
 */
static void test_part_without_holes(void)
{
	static const unsigned char zeroes[2000], wrong[4000] = { [0 ... 3999] = 0xaa };
	unsigned char is[2000] = "x";
	struct file_part part;
	int fd;

	leave_part(1000);
	parts();
	fd = open(path_of(part_name), O_WRONLY | O_CLOEXEC);
	if (pwrite(fd, wrong, sizeof(wrong), 1000) != sizeof(wrong))
		abort();
	close(fd);
	no_holes = true;
	cut = LENGTH;
	begin(&part, "a");
	tap_result(!file_part_continue(&part, &a_link) && !file_part_begin(&part, 1000) &&
		   cut == LENGTH, "a part is not shortened to clear it");
	tap_result(!file_part_skip(&part, sizeof(zeroes), &a_link) &&
		   !fill(&part, LENGTH) && !file_part_finish(&part, &a_link),
		   "what was there wrongly is overwritten");
	file_part_close(&part, 0);
	no_holes = false;
	fd = open(path_of("a"), O_RDONLY | O_CLOEXEC);
	tap_result(pread(fd, is, sizeof(is), 1000) == sizeof(is) &&
		   !memcmp(is, zeroes, sizeof(is)), "also by a hole");
	tap_result(pread(fd, is, 1000, 3000) == 1000 && !memcmp(is, content + 3000, 1000),
		   "and by data");
	close(fd);
}

/* Offset from which the existing part would be continued; UINT64_MAX on error. */
static uint64_t found(const struct file_identity *of)
{
	struct file_part part;
	uint64_t offset;

	file_part_open(&part, top_open(), "a", of);
	offset = file_part_continue(&part, &a_link) ? UINT64_MAX : part.offset;
	file_part_close(&part, -ECANCELED);
	return offset;
}

/* Such a hole may be long.  It can be interrupted, and be continued in its middle. */
static void test_long_hole(void)
{
	const struct file_identity big = { .length = 64 << 20, .mtime_s = 1000, .mode = 0666 };
	const uint64_t piece = 1 << 20;
	struct file_part part;

	file_part_open(&part, top_open(), "a", &big);
	if (file_part_begin(&part, 0) || fill(&part, 1000))
		abort();
	file_part_close(&part, -ECANCELED);
	file_part_open(&part, top_open(), "a", &big);
	no_holes = true;
	if (file_part_continue(&part, &a_link) || file_part_begin(&part, 1000))
		abort();
	no_holes = false;
	steps_left = 2;
	tap_result(file_part_skip(&part, big.length - 1000, &a_link) == -ECANCELED &&
		   part.offset == 1000 + 3 * piece, "a hole that is written can be interrupted");
	tap_result(heard == 3 * piece && !a_link.examined, "the peer hears how much is there");
	file_part_close(&part, -ECANCELED);
	steps_left = UINT32_MAX;
	tap_result(found(&big) == 1000 + 3 * piece, "it is continued in its middle");
	file_part_open(&part, top_open(), "a", &big);
	if (file_part_continue(&part, &a_link) || file_part_begin(&part, part.offset))
		abort();
	steps = 0;
	tap_result(!file_part_skip(&part, big.length - part.offset, &a_link) && !steps,
		   "where it can be made, it takes no time");
	file_part_close(&part, -ECANCELED);
}

/* Parts are tried one after the other, the largest first.  Parts with wrong content are removed. */
static void test_parts_have_their_turn(void)
{
	struct file_part part;
	int fd;

	leave_part(1000);
	leave_part(3000);
	leave_part(2000);
	begin(&part, "a");
	tap_result(!file_part_continue(&part, &a_link) && part.offset == 3000, "the largest first");
	tap_result(!file_part_continue(&part, &a_link) && part.offset == 2000, "then the next");
	tap_result(!file_part_continue(&part, &a_link) && part.offset == 1000, "then the last");
	tap_result(!file_part_continue(&part, &a_link) && part.offset == 0, "then there is none");
	file_part_close(&part, -ECANCELED);
	tap_result(parts() == 3, "all of them stay");
	clean();

	leave_part(1000);
	parts();
	fd = open(path_of(part_name), O_WRONLY | O_CLOEXEC);
	if (pwrite(fd, "?", 1, 10) != 1)
		abort();
	close(fd);
	begin(&part, "a");
	tap_result(!file_part_continue(&part, &a_link) && part.offset == 0 && parts() == 0,
		   "one that is wrong goes");
	file_part_close(&part, -ECANCELED);
}

static void test_part_is_ours(void)
{
	struct file_identity other;
	struct file_part part;
	char kept[600];

	leave_part(1000);
	parts();
	snprintf(kept, sizeof(kept), "%s", path_of(part_name));
	other = identity;
	other.mtime_ns++;
	tap_result(!found(&other), "a part is of one time");
	other = identity;
	other.length++;
	tap_result(!found(&other), "and length");
	if (link(kept, path_of("hard")))
		abort();
	tap_result(!found(&identity), "and has one name");
	unlink(path_of("hard"));
	chmod(kept, 0620);
	tap_result(!found(&identity), "and nobody else may write to it");
	chmod(kept, 0600);
	if (!geteuid()) {
		if (chown(kept, 1, 1))
			abort();
		tap_result(!found(&identity), "and it is of its user");
		if (chown(kept, 0, 0))
			abort();
	} else {
		printf("ok %u and it is of its user # SKIP for root\n", ++tap_results);
	}
	tap_result(found(&identity) == 1000 && parts() == 1, "then it is used, and was left alone");
	other = identity;
	other.mtime_s++;
	file_part_open(&part, top_open(), "a", &other);
	part.searched = true;
	tap_result(!complete(&part, 0) && parts() == 1,
		   "it stays when a file of another time takes its name");
	file_part_close(&part, 0);
	unlink(path_of("a"));
	rename(kept, path_of("moved"));
	if (symlink("moved", kept))
		abort();
	tap_result(!found(&identity) && is_there("moved"), "a link to it is not");
	unlink(kept);
	if (mkfifo(kept, 0600))
		abort();
	tap_result(!found(&identity), "nor is a pipe");
	unlink(kept);
	make_file(part_name, "somebody's");
	tap_result(!found(&identity) && is_text(part_name, "somebody's"), "nor anything else");
}

/* Files of other programs with any name, and changes that those programs make meanwhile. */
static void test_part_and_others(void)
{
	struct file_part part;

	make_file("a.part", "theirs");
	make_file("victim", "victim");
	if (link(path_of("victim"), path_of("a")))
		abort();
	begin(&part, "a");
	tap_result(!complete(&part, 0) && is_content("a", LENGTH) && is_text("a.part", "theirs") &&
		   is_text("victim", "victim"), "what is there is replaced and not written to");
	file_part_close(&part, 0);
	clean();

	make_file("a", "there");
	begin(&part, "a");
	part.no_replace = true;
	tap_result(complete(&part, 0) == -EEXIST && is_text("a", "there"), "or not replaced");
	file_part_close(&part, -EEXIST);
	tap_result(parts() == 1 && found(&identity) == LENGTH && mode_of(part_name) == 0600,
		   "then all of it can be gone on with");
	unlink(path_of("a"));
	begin(&part, "a");
	part.no_replace = true;
	tap_result(!file_part_continue(&part, &a_link) && !complete(&part, LENGTH) &&
		   is_content("a", LENGTH), "and is there when nothing is in its way");
	file_part_close(&part, 0);
	clean();

	begin(&part, "a");
	if (file_part_begin(&part, 0) || fill(&part, LENGTH) || mkdir(path_of("a"), 0755))
		abort();
	tap_result(file_part_finish(&part, &a_link) == -EISDIR, "a folder is not replaced");
	file_part_close(&part, -EISDIR);
	tap_result(parts() == 1, "and what has come is kept");
	clean();

	begin(&part, "a");
	if (file_part_begin(&part, 0) || fill(&part, LENGTH) || parts() != 1 ||
	    rename(path_of(part_name), path_of("stolen")))
		abort();
	make_file(part_name, "planted");
	tap_result(file_part_finish(&part, &a_link) == -EIO && !is_there("a"),
		   "what is put in a part's place does not become the file");
	file_part_close(&part, -EIO);
}

/*
 * Power cuts and disks
 */

static void test_sync(void)
{
	struct file_part part;

	begin(&part, "a");
	tap_result(!complete(&part, 0) && !strcmp(order, "frd"),
		   "the file is flushed, then has its name, then the folder is flushed");
	file_part_close(&part, 0);
	clean();
	begin(&part, "a");
	part.sync = false;
	tap_result(!complete(&part, 0) && !strcmp(order, "r"), "or not, if that is not wanted");
	file_part_close(&part, 0);
	clean();

	fail_fsync = EIO;
	begin(&part, "a");
	tap_result(complete(&part, 0) == -EIO && !is_there("a"), "a disk that fails is noticed");
	file_part_close(&part, -EIO);
	fail_fsync = 0;
	clean();
	fail_folder = ENOSPC;
	begin(&part, "a");
	tap_result(complete(&part, 0) == -ENOSPC, "also when the name is written");
	file_part_close(&part, -ENOSPC);
	fail_folder = 0;
	clean();
	fail_fsync = EINVAL;
	begin(&part, "a");
	tap_result(!complete(&part, 0), "what cannot be flushed need not");
	file_part_close(&part, 0);
	fail_fsync = 0;
	clean();
	begin(&part, "a");
	part.sync = false;
	if (file_part_begin(&part, 0) || fill(&part, LENGTH))
		abort();
	fail_close = EDQUOT;
	/* The first close() is that of the duplicate with which file_late_error() asks. */
	tap_result(file_late_error(part.fd) == -EDQUOT, "what close() says late is heard");
	tap_result(!file_part_finish(&part, &a_link), "and no more than once");
	file_part_close(&part, 0);
}

/* Flushing a long file takes long.  A process that is killed meanwhile leaves a part with notes. */
static void test_long_sync(void)
{
	const struct file_identity big = { .length = 8 << 20, .mtime_s = 1000, .mode = 0666 };
	struct file_part part;

	file_part_open(&part, top_open(), "a", &big);
	part.sync = true;
	if (file_part_begin(&part, 0) || fill(&part, LENGTH) ||
	    file_part_skip(&part, big.length - LENGTH, &a_link))
		abort();
	note_cuts = true;
	fail_fsync = EIO;
	tap_result(file_part_finish(&part, &a_link) == -EIO && !strcmp(order, "f"),
		   "a long file is flushed with its notes");
	fail_fsync = 0;
	file_part_close(&part, -EIO);
	tap_result(!found(&big), "a disk that fails then is noticed");
	clean();
	file_part_open(&part, top_open(), "a", &big);
	part.sync = true;
	if (file_part_begin(&part, 0) || fill(&part, LENGTH) ||
	    file_part_skip(&part, big.length - LENGTH, &a_link))
		abort();
	tap_result(!file_part_finish(&part, &a_link) && !strcmp(order, "fcfrd"),
		   "and again when it has its length, then it has its name");
	note_cuts = false;
	file_part_close(&part, 0);
}

/* The kernel reports that a page could not be written once, and then takes it for written. */
static void test_disk_fails(void)
{
	struct file_part part;

	fail_fsync = EIO;
	begin(&part, "a");
	if (complete(&part, 0) != -EIO)
		abort();
	file_part_close(&part, -EIO);
	fail_fsync = 0;
	tap_result(!found(&identity), "what the disk did not take is not continued");
	clean();
	begin(&part, "a");
	part.sync = false;
	if (file_part_begin(&part, 0) || fill(&part, LENGTH))
		abort();
	fail_close = EDQUOT;
	if (file_part_finish(&part, &a_link) != -EDQUOT)
		abort();
	file_part_close(&part, -EDQUOT);
	tap_result(!found(&identity), "also if close() says so");
	clean();

	leave_part(1000);
	begin(&part, "a");
	tap_result(!file_part_continue(&part, &a_link) && part.offset == 1000 &&
		   !strcmp(order, "fa"), "what is continued is read from the disk");
	fail_fsync = ENOSPC;
	tap_result(complete(&part, 1000) == -ENOSPC, "that fails meanwhile");
	file_part_close(&part, -ENOSPC);
	fail_fsync = 0;
	tap_result(found(&identity) == 1000, "then the rest is not kept");
	fail_fsync = EIO;
	tap_result(found(&identity) == UINT64_MAX && parts() == 1,
		   "nor is anything continued that cannot be written");
	fail_fsync = 0;
}

/* While fsync() of a slow disk runs, the link is kept alive; then its user is asked. */
static void test_slow_sync(void)
{
	struct file_part part;

	slow_fsync = true;
	begin(&part, "a");
	kept = 0;
	tap_result(!complete(&part, 0) && kept >= 2, "while the disk is slow, the link lives");
	slow_fsync = false;
	file_part_close(&part, 0);
	clean();
	kept = 0;
	file_link_leave(&a_link);
	file_link_leave(&a_link);
	file_link_enter(&a_link);
	await_kept();
	file_link_enter(&a_link);
	tap_result(kept >= 2, "as long as it was left");
	kept = 0;
	usleep(3 * FILE_TICK_MS * 1000);
	tap_result(!kept, "and no longer");
	file_link_leave(&a_link);
	file_link_leave_again(&a_link, file_link_enter_all(&a_link));
	await_kept();
	file_link_enter(&a_link);
	tap_result(kept >= 2, "also if it was used meanwhile");
	file_link_rest(&a_link);
	begin(&part, "a");
	steps_left = 0;
	tap_result(complete(&part, 0) == -ECANCELED && !strcmp(order, "f") && !is_there("a"),
		   "whoever is interrupted then has no file");
	file_part_close(&part, -ECANCELED);
	steps_left = UINT32_MAX;
	tap_result(found(&identity) == LENGTH, "but all of its data");
}

int main(void)
{
	for (size_t i = 0; i < LENGTH; i++)
		content[i] = (unsigned char)(i * 7 + i / 251 + 1);
	setvbuf(stdout, NULL, _IOLBF, 0);
	umask(022);
	if (!mkdtemp(top)) {
		perror(top);
		return 1;
	}
	test_part_is_made();
	clean();
	test_names();
	clean();
	test_folders();
	clean();
	test_part_is_continued();
	clean();
	test_part_is_not_spoiled();
	clean();
	test_part_without_holes();
	clean();
	test_long_hole();
	clean();
	test_parts_have_their_turn();
	clean();
	test_part_is_ours();
	clean();
	test_part_and_others();
	clean();
	test_sync();
	clean();
	test_long_sync();
	clean();
	test_disk_fails();
	clean();
	test_slow_sync();
	clean();
	file_link_rest(&a_link);
	test_others(tap_result);
	clean();
	rmdir(top);
	return tap_end();
}
