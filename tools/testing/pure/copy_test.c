// SPDX-License-Identifier: GPL-2.0
/*
 * Folders that krdma get -r fills from the lists of a hostile server, without a connection.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <file_internal.h>

#include "lib_bad_list.h"
#include "lib_copy.h"
#include "tap.h"

#define SEEDS	8
#define DATA	"data of the server"
#define OWN	"data that were here"

static char top[32];
static char path[4096];

/* A path in the folder of the tests, valid until the next call. */
static const char *path_of(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", top, name);
	return path;
}

static void make_file(const char *name, const char *text)
{
	FILE *file = fopen(path_of(name), "w");

	if (!file || fputs(text, file) < 0 || fclose(file))
		abort();
}

/*
 * The server, and the connection to it
 */

static struct bad_list list;
/* Called before the data of a file are there. */
static void (*before_file)(void);

struct krdma_file_client {
	int unused;
};

static struct krdma_file_client the_client;

int krdma_file_client_create(struct krdma *session, const struct sockaddr *server,
			     const struct krdma_file_options *options,
			     struct krdma_file_client **client)
{
	(void)session;
	(void)server;
	(void)options;
	*client = &the_client;
	return 0;
}

void krdma_file_client_destroy(struct krdma_file_client *client)
{
	(void)client;
}

/* The server's list with its hole, as the client would have it after a transfer. */
static int decode(bool recursive, struct krdma_file_entry **entries, size_t *count)
{
	unsigned char *bytes;
	int err;

	if (list.said > FILE_LIST_MAX)
		return -EPROTO;
	/* Not one byte more, so that a sanitizer notices what is read behind them. */
	bytes = calloc(1, list.said);
	if (!bytes)
		abort();
	memcpy(bytes, list.bytes, list.length);
	err = file_list_decode(bytes, list.said, recursive, entries, count);
	free(bytes);
	return err;
}

int krdma_file_client_list(struct krdma_file_client *client, const char *name, uint32_t flags,
			   struct krdma_file_entry **entries, size_t *count,
			   struct krdma_file_result *result, size_t size)
{
	(void)client;
	(void)name;
	(void)size;
	result->mode = 0755;
	return decode(flags & KRDMA_FILE_RECURSIVE, entries, count);
}

int krdma_file_client_get(struct krdma_file_client *client, const char *name, int folder,
			  const char *last, uint32_t flags, struct krdma_file_result *result,
			  size_t size)
{
	int fd, err = file_can_replace(folder, last);

	(void)client;
	(void)name;
	(void)size;
	result->skipped = 0;
	if (before_file)
		before_file();
	if (err)
		return err;
	if (!(flags & KRDMA_FILE_NEW))
		unlinkat(folder, last, 0);
	fd = openat(folder, last, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	err = write(fd, DATA, strlen(DATA)) < 0 ? -errno : 0;
	close(fd);
	return err;
}

int krdma_file_client_put(struct krdma_file_client *client, int folder, const char *last,
			  const char *name, uint32_t flags, struct krdma_file_result *result,
			  size_t size)
{
	(void)client;
	(void)folder;
	(void)last;
	(void)name;
	(void)flags;
	(void)result;
	(void)size;
	return -EROFS;
}

int krdma_file_client_make_folder(struct krdma_file_client *client, const char *name,
				  const struct stat *status, uint32_t flags,
				  struct krdma_file_result *result, size_t size)
{
	(void)client;
	(void)name;
	(void)status;
	(void)flags;
	(void)result;
	(void)size;
	return -EROFS;
}

/* Links of other files of the library, which a list does not have here. */
int file_link_pump(struct file_link *link, bool wait)
{
	(void)link;
	(void)wait;
	return 0;
}

int file_link_tick(struct file_link *link)
{
	(void)link;
	return 0;
}

int file_link_step(struct file_link *link)
{
	(void)link;
	return 0;
}

void file_link_keep(struct file_link *link)
{
	(void)link;
}

/*
 * Lists
 */

/* Each kind is taken or refused as it has to be, wherever it stands. */
static bool lists_are_judged(bool recursive)
{
	bool all = true;

	for (unsigned int kind = 0; kind < bad_list_kinds(); kind++) {
		for (unsigned int seed = 0; seed < SEEDS; seed++) {
			struct rng rng = { .state = seed };
			struct krdma_file_entry *entries;
			size_t count = 0;
			int err;

			list.kind = kind;
			list.recursive = recursive;
			bad_list_make(&list, &rng);
			err = decode(recursive, &entries, &count);
			if (!err)
				krdma_file_list_free(entries);
			if (err == (bad_list_is_refused(kind, recursive) ? -EPROTO : 0) &&
			    (err || count == list.entries))
				continue;
			printf("# %s (%u): %s, %zu of %zu entries\n", bad_list_kind(kind), seed,
			       strerror(-err), count, list.entries);
			all = false;
			break;
		}
	}
	return all;
}

/*
 * Folders
 */

static bool is_whole(const char *folder, const char *name)
{
	char data[64] = "", full[4096];
	FILE *file;
	bool is;

	snprintf(full, sizeof(full), "%s%s", folder, name);
	file = fopen(full, "r");
	is = file && fgets(data, sizeof(data), file) && !strcmp(data, DATA);
	if (file)
		fclose(file);
	return is;
}

static struct tree outside, there, now;

static void make_there(void)
{
	const char *which;

	if (mkdir(path_of("outside"), 0755) || mkdir(path_of("there"), 0755) ||
	    mkdir(path_of("there/d"), 0750) || symlink("../outside", path_of("there/out")) ||
	    symlink("../outside/secret", path_of("there/a")))
		abort();
	make_file("outside/secret", OWN);
	make_file("there/taken", OWN);
	make_file("there/.bashrc", OWN);
	make_file("there/d/b", OWN);
	if (tree_read(&outside, path_of("outside")) || tree_read(&there, path_of("there")) ||
	    !tree_same(&there, &there, &which))
		abort();
}

/* What all folders together have come to, and the failures of the last command. */
static unsigned int files, folders, failed;

static void run(const char *folder, bool hidden, uint32_t flags)
{
	struct lib_copy copy;

	lib_copy_begin(&copy, NULL, NULL, NULL);
	copy.copying.flags = flags;
	copy.copying.hidden = hidden;
	lib_copy_get(&copy, "", folder);
	failed = (unsigned int)copy.total.failed;
	lib_copy_end(&copy);
}

static bool get(const char *to, const struct tree *before, bool hidden, uint32_t flags)
{
	char folder[4096];
	struct lib_copy_left left = {
		.before = before, .hidden = hidden, .whole = is_whole, .folder = folder,
	};
	const char *which;

	snprintf(folder, sizeof(folder), "%s", path_of(to));
	run(folder, hidden, flags);
	lib_copy_judge(&left);
	files += left.files;
	folders += left.folders;
	if (left.why)
		printf("# '%s%s' %s\n", to, left.which, left.why);
	if (tree_read(&now, path_of("outside")) || !tree_same(&outside, &now, &which)) {
		printf("# outside of %s there is a change\n", to);
		return false;
	}
	return !left.why;
}

static bool folders_are_filled(const char *to, const struct tree *before, uint32_t flags)
{
	bool all = true;

	files = 0;
	folders = 0;
	for (unsigned int kind = 0; kind < bad_list_kinds(); kind++) {
		for (unsigned int seed = 0; seed < 2 * SEEDS; seed++) {
			struct rng rng = { .state = seed };

			list.kind = kind;
			list.recursive = true;
			bad_list_make(&list, &rng);
			if (get(to, before, seed % 2, flags))
				continue;
			printf("# %s (%u)\n", bad_list_kind(kind), seed);
			all = false;
			break;
		}
	}
	return all && files && folders;
}

static int remove_one(const char *name, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	(void)type;
	(void)where;
	return remove(name);
}

/* A folder with files, as a server lists it. */
static void list_names(const char *const *names, unsigned int count)
{
	list.length = 0;
	for (unsigned int i = 0; i < count; i++) {
		unsigned char *to = list.bytes + list.length;
		size_t length = strlen(names[i]);

		memset(to, 0, 28);
		to[0] = (unsigned char)length;
		to[2] = i ? KRDMA_FILE_TYPE_FILE : KRDMA_FILE_TYPE_FOLDER;
		to[4] = 0755 & 0xff;
		to[5] = 0755 >> 8;
		memcpy(to + 28, names[i], length);
		list.length += 28 + length;
	}
	list.said = list.length;
}

static void list_folder(const char *folder, const char *file)
{
	const char *const names[2] = { folder, file };

	list_names(names, 2);
}

/* Another user, who may rename what is in the folder, puts another one in place of a new one. */
static void exchange(void)
{
	char from[4096];

	snprintf(from, sizeof(from), "%s", path_of("shared/d"));
	if (rename(from, path_of("shared/away")))
		abort();
	snprintf(from, sizeof(from), "%s", path_of("shared/private"));
	if (rename(from, path_of("shared/d")))
		abort();
	before_file = NULL;
}

static bool another_folder_keeps_its_bits(void)
{
	char folder[4096];
	struct stat status;

	if (mkdir(path_of("shared"), 0777) || mkdir(path_of("shared/private"), 0700))
		abort();
	snprintf(folder, sizeof(folder), "%s", path_of("shared"));
	list_folder("d", "d/b");
	before_file = exchange;
	run(folder, false, KRDMA_FILE_NO_SYNC);
	return !before_file && failed && !stat(path_of("shared/d"), &status) &&
	       (status.st_mode & 0777) == 0700;
}

/* The same, while the files are copied: nothing is put into the other one. */
static const char *exchanged;

static void exchange_late(void)
{
	char from[4096];

	snprintf(from, sizeof(from), "%s", path_of("shared"));
	strcat(from, exchanged);
	if (rename(from, path_of("shared/gone")) || rename(path_of("shared/mine"), from))
		abort();
	before_file = NULL;
}

static bool another_folder_gets_no_files(void)
{
	static const char *const names[3] = { "g", "g/.a", "g/.b" };
	char folder[4096];

	if (mkdir(path_of("shared/mine"), 0700))
		abort();
	make_file("shared/mine/own", OWN);
	snprintf(folder, sizeof(folder), "%s", path_of("shared"));
	list_names(names, 3);
	exchanged = "/g";
	before_file = exchange_late;
	run(folder, false, KRDMA_FILE_NO_SYNC);
	return !before_file && failed && access(path_of("shared/g/.a"), F_OK) &&
	       access(path_of("shared/g/.b"), F_OK) && !access(path_of("shared/g/own"), F_OK);
}

/* A root that is made is this user's alone until all of it is there. */
static mode_t root_mode;

static void look_at_root(void)
{
	struct stat status;

	root_mode = stat(path_of("fresh"), &status) ? 0 : status.st_mode & 0777;
	before_file = NULL;
}

static bool new_root_is_closed(void)
{
	static const char *const names[2] = { "a", "b" };
	char folder[4096];
	struct stat status;

	snprintf(folder, sizeof(folder), "%s", path_of("fresh"));
	list_names(names, 2);
	list.bytes[2] = KRDMA_FILE_TYPE_FILE;
	before_file = look_at_root;
	run(folder, false, KRDMA_FILE_NO_SYNC);
	return root_mode == 0700 && !stat(path_of("fresh"), &status) &&
	       (status.st_mode & 0777) == 0755;
}

/* A folder whose name another user has taken before is not this command's, nor are its bits. */
static bool folder_that_was_there_keeps_its_bits(void)
{
	char folder[4096];
	struct stat status;

	if (mkdir(path_of("shared/e"), 0700))
		abort();
	snprintf(folder, sizeof(folder), "%s", path_of("shared"));
	list_folder("e", "e/.b");
	run(folder, false, KRDMA_FILE_NO_SYNC);
	return failed == 1 && !stat(path_of("shared/e"), &status) &&
	       (status.st_mode & 0777) == 0700;
}

/* What a folder has from the one that it is in, or had before, is not the server's to take. */
static bool shared_folders_stay_shared(uint32_t flags, mode_t there)
{
	static const char *const names[2] = { "n", "n/b" };
	char folder[4096];
	struct stat made, kept;

	snprintf(folder, sizeof(folder), "%s", path_of("group"));
	if (mkdir(folder, 0700) || chmod(folder, 02775) || mkdir(path_of("group/k"), 0700) ||
	    chmod(path_of("group/k"), 03700))
		abort();
	list_names(names, 2);
	run(folder, false, flags);
	list_folder("k", "k/b");
	run(folder, false, flags);
	if (stat(path_of("group/n"), &made) || stat(path_of("group/k"), &kept))
		abort();
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return (made.st_mode & 07777) == 02755 && (kept.st_mode & 07777) == there;
}

/* What cannot be copied is a failure: without it the folder is not what the server has. */
static bool file_without_its_folder_is_missed(void)
{
	char folder[4096];

	snprintf(folder, sizeof(folder), "%s", path_of("shared"));
	list_folder("f", "missing/b");
	run(folder, false, KRDMA_FILE_NO_SYNC);
	return failed == 1;
}

int main(void)
{
	static const struct tree nothing;

	umask(022);
	snprintf(top, sizeof(top), "/tmp/copy.XXXXXX");
	if (!mkdtemp(top))
		abort();
	make_there();
	tap_result(lists_are_judged(false), "each list of a folder is taken or refused");
	tap_result(lists_are_judged(true), "and each of the folders in it");
	tap_result(folders_are_filled("new", &nothing, KRDMA_FILE_NO_SYNC),
		   "a new folder has what the rules allow");
	tap_result(folders_are_filled("new", &nothing, KRDMA_FILE_NO_SYNC | KRDMA_FILE_TIMES |
				      KRDMA_FILE_EXACT_MODE),
		   "also with bits and times of the server");
	tap_result(folders_are_filled("there", &there, KRDMA_FILE_NO_SYNC),
		   "a folder that was there keeps what it had");
	tap_result(another_folder_keeps_its_bits(),
		   "a folder in the place of a new one keeps its bits");
	tap_result(folder_that_was_there_keeps_its_bits(), "and so does one that was there");
	tap_result(another_folder_gets_no_files(),
		   "a folder in the place of another one gets no files");
	tap_result(new_root_is_closed(), "a new folder is its owner's alone until it is filled");
	tap_result(file_without_its_folder_is_missed(), "a file without its folder is a failure");
	tap_result(shared_folders_stay_shared(KRDMA_FILE_NO_SYNC, 03700),
		   "folders that a group shares stay shared");
	tap_result(shared_folders_stay_shared(KRDMA_FILE_NO_SYNC | KRDMA_FILE_EXACT_MODE, 03755),
		   "also with bits of the server");
	nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return tap_end();
}
