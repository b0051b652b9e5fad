// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The entries of a folder.
 *
 * A list is sent like a file. It has no header; for each entry it has 28 bytes and the name:
 *
 *	 0  u16  length of the name, without a terminating NUL
 *	 2  u8   type: 1: file, 2: folder, 3: symbolic link to a folder, 4: something else,
 *		 5: what could not be examined, or a folder, listed before, not be read
 *	 3  u8   0
 *	 4  u32  permission bits
 *	 8  u64  length of the file; 0 if it is none; for type 5 the code of the error
 *	16  s64  modification time, seconds
 *	24  u32  and nanoseconds
 *
 * All numbers are little-endian. Names are relative to the folder that is listed. A folder precedes
 * what is in it.
 */
#include "file_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ENTRY_SIZE	28u
/* The list is written in pieces of about this length. */
#define PIECE		65536u
/* A list of several levels has no more folders than this that wait for their turn. */
#define FOLDERS_MAX	65536u

static void put(unsigned char *to, uint64_t value, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		to[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t get(const unsigned char *from, unsigned int bytes)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < bytes; i++)
		value |= (uint64_t)from[i] << 8 * i;
	return value;
}

/*
 * The server's side
 */

/**
 * struct listing - a list that is being made
 * @root: what the server offers
 * @base: name of the folder that is listed
 * @recursive: with the folders in it
 * @link: the link to keep alive, or NULL
 * @status: of the folder that is listed, or of the file
 * @fd: the list
 * @length: bytes in it
 * @piece: bytes that follow, and their number
 * @folders: folders that are still to be read, relative to @base, the last one first
 */
struct listing {
	const struct file_root *root;
	const char *base;
	bool recursive;
	struct file_link *link;
	struct stat *status;
	int fd;
	uint64_t length;
	unsigned char piece[PIECE];
	size_t piece_length;
	char **folders;
	size_t folder_count;
	size_t folder_room;
};

static int flush(struct listing *listing)
{
	size_t length = listing->piece_length;
	ssize_t written = pwrite(listing->fd, listing->piece, length, (off_t)listing->length);

	if (written < 0)
		return -errno;
	if ((size_t)written != length)
		return -EIO;
	listing->length += length;
	listing->piece_length = 0;
	return 0;
}

/* Writes @first and @second with a slash between; false if the name is too long to ask for. */
static bool join(char name[KRDMA_FILE_NAME_MAX + 1], const char *first, const char *second)
{
	size_t length = strlen(first);
	bool slash = length && first[length - 1] != '/';

	return snprintf(name, KRDMA_FILE_NAME_MAX + 1, "%s%s%s", first, slash ? "/" : "",
			second) <= KRDMA_FILE_NAME_MAX;
}

/*
 * The type of what a symbolic link refers to; 0: the server would not follow it; or a negative
 * errno.  With rules, it follows none.
 */
static int type_of_target(const struct listing *listing, const char *name, struct stat *status)
{
	char path[KRDMA_FILE_NAME_MAX + 1];
	int fd, err;

	if (listing->root->rule_count || !join(path, listing->base, name))
		return 0;
	fd = file_root_examine(listing->root, path);
	if (fd < 0)
		return fd == -EACCES || fd == -ENOENT || fd == -ENOTDIR ? 0 : fd;
	err = fstat(fd, status) ? -errno : 0;
	close(fd);
	if (err || S_ISLNK(status->st_mode))
		return err;
	if (S_ISDIR(status->st_mode))
		return KRDMA_FILE_TYPE_LINK;
	return S_ISREG(status->st_mode) ? KRDMA_FILE_TYPE_FILE : KRDMA_FILE_TYPE_OTHER;
}

/* The type of an entry; 0: it is not listed, or has vanished; or a negative errno. */
static int type_of(const struct listing *listing, int folder, const char *name, const char *last,
		   struct stat *status)
{
	if (fstatat(folder, last, status, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISREG(status->st_mode))
		return KRDMA_FILE_TYPE_FILE;
	if (S_ISDIR(status->st_mode))
		return KRDMA_FILE_TYPE_FOLDER;
	if (S_ISLNK(status->st_mode))
		return type_of_target(listing, name, status);
	return KRDMA_FILE_TYPE_OTHER;
}

static int add_folder(struct listing *listing, const char *name)
{
	size_t room = listing->folder_room ? 2 * listing->folder_room : 16;
	char **folders, *copy;

	if (listing->folder_count == FOLDERS_MAX)
		return -EFBIG;
	if (listing->folder_count == listing->folder_room) {
		folders = realloc(listing->folders, room * sizeof(*folders));
		if (!folders)
			return -ENOMEM;
		listing->folders = folders;
		listing->folder_room = room;
	}
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	listing->folders[listing->folder_count++] = copy;
	return 0;
}

/* @length: of the file, or the code of an error. */
static int add(struct listing *listing, const char *name, int type, uint64_t file_length,
	       const struct stat *status)
{
	size_t length = strlen(name);
	unsigned char *to;
	int err = 0;

	if (listing->length + listing->piece_length + ENTRY_SIZE + length > FILE_LIST_MAX)
		return -EFBIG;
	if (listing->piece_length + ENTRY_SIZE + length > PIECE)
		err = flush(listing);
	if (err)
		return err;
	to = listing->piece + listing->piece_length;
	put(to, length, 2);
	put(to + 2, (uint64_t)type, 2);
	put(to + 4, status->st_mode & 0777, 4);
	put(to + 8, file_length, 8);
	put(to + 16, (uint64_t)status->st_mtim.tv_sec, 8);
	put(to + 24, (uint64_t)status->st_mtim.tv_nsec, 4);
	memcpy(to + ENTRY_SIZE, name, length);
	listing->piece_length += ENTRY_SIZE + length;
	return 0;
}

/* Lists that something is missing, so that the client does not take the list for complete. */
static int add_unreadable(struct listing *listing, const char *name, int err)
{
	const struct stat none = { 0 };

	return add(listing, name, KRDMA_FILE_TYPE_UNREADABLE, file_code_of(err), &none);
}

/* @name: relative to the folder that is listed; @last: its last component, in @folder. */
static int add_entry(struct listing *listing, int folder, const char *name, const char *last)
{
	struct stat status;
	int type, err;

	type = type_of(listing, folder, name, last, &status);
	if (type < 0)
		return add_unreadable(listing, name, type);
	if (!type)
		return 0;
	err = add(listing, name, type,
		  type == KRDMA_FILE_TYPE_FILE ? (uint64_t)status.st_size : 0, &status);
	if (!err && listing->recursive && type == KRDMA_FILE_TYPE_FOLDER)
		err = add_folder(listing, name);
	return err;
}

/* The same for a folder whose content is missing, at least in part. */
static int miss(struct listing *listing, const char *within, int err)
{
	return *within ? add_unreadable(listing, within, err) : err;
}

static int add_entries(struct listing *listing, DIR *entries, const char *within)
{
	char name[KRDMA_FILE_NAME_MAX + 1];
	struct dirent *entry;
	int err = 0;

	while (!err) {
		errno = 0;
		entry = readdir(entries);
		if (!entry)
			return errno ? miss(listing, within, -errno) : 0;
		if (!file_last_is_plain(entry->d_name) || file_part_is_name(entry->d_name))
			continue;
		if (join(name, within, entry->d_name))
			err = add_entry(listing, dirfd(entries), name, entry->d_name);
		else
			err = miss(listing, within, -ENAMETOOLONG);
		if (!err && listing->link)
			err = file_link_tick(listing->link);
	}
	return err;
}

/*
 * Opens the folder for reading. -ENOENT: it has vanished, or a rule keeps the client from reading
 * it. Of a folder that the file system does not let the server read, the client must know.
 */
static int open_folder(const struct listing *listing, const char *path, const char *within)
{
	int folder = file_root_open_folder(listing->root, path, O_PATH, KRDMA_FILE_READ), fd;

	if (folder < 0 && *within &&
	    (folder == -ENOTDIR || (folder == -EACCES && listing->root->rule_count)))
		return -ENOENT;
	if (folder < 0)
		return folder;
	fd = openat(folder, ".", O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	close(folder);
	return fd;
}

/* @within: relative to the folder that is listed. */
static int read_folder(struct listing *listing, const char *within)
{
	char path[KRDMA_FILE_NAME_MAX + 1];
	DIR *entries;
	int fd, err;

	if (!join(path, listing->base, within))
		return miss(listing, within, -ENAMETOOLONG);
	fd = open_folder(listing, path, within);
	if (fd == -ENOENT && *within)
		return 0;
	if (fd < 0)
		return miss(listing, within, fd);
	if (!*within && fstat(fd, listing->status)) {
		err = -errno;
		close(fd);
		return err;
	}
	entries = fdopendir(fd);
	if (!entries) {
		close(fd);
		return -ENOMEM;
	}
	err = add_entries(listing, entries, within);
	closedir(entries);
	return err;
}

/* The list of a file has this one entry. */
static int add_file(struct listing *listing)
{
	char path[KRDMA_FILE_NAME_MAX + 1], last[KRDMA_FILE_LAST_MAX + 1];
	struct stat *status = listing->status;
	const char *name = listing->base;
	int folder, type, err;

	err = file_root_find(listing->root, name, &folder, last);
	if (err)
		return err;
	/* The one file that is offered may have been asked for by an empty name. */
	snprintf(path, sizeof(path), "%.*s",
		 *name ? (int)(strlen(name) - strlen(last)) : 0, name);
	listing->base = path;
	/* Of what is outside, the client learns not even whether it is there. */
	type = type_of(listing, folder, last, last, status);
	if (type > 0)
		err = add(listing, last, type,
			  type == KRDMA_FILE_TYPE_FILE ? (uint64_t)status->st_size : 0, status);
	else
		err = type ? type : -ENOENT;
	listing->base = name;
	close(folder);
	return err;
}

int file_list_create(const struct file_root *root, const char *name, bool recursive,
		     struct file_link *link, struct stat *status, int *fd)
{
	struct listing *listing = calloc(1, sizeof(*listing));
	int err;

	if (!listing)
		return -ENOMEM;
	listing->root = root;
	listing->base = name;
	listing->recursive = recursive;
	listing->link = link;
	listing->status = status;
	listing->fd = memfd_create("krdma-list", MFD_CLOEXEC);
	err = listing->fd < 0 ? -errno : 0;
	if (!err)
		err = root->only ? -ENOTDIR : read_folder(listing, "");
	if (err == -ENOTDIR)
		err = add_file(listing);
	while (!err && listing->folder_count) {
		char *within = listing->folders[--listing->folder_count];

		err = read_folder(listing, within);
		free(within);
	}
	if (!err)
		err = flush(listing);
	while (listing->folder_count)
		free(listing->folders[--listing->folder_count]);
	free(listing->folders);
	*fd = listing->fd;
	if (err && listing->fd >= 0)
		close(listing->fd);
	free(listing);
	return err;
}

/*
 * The client's side
 */

/*
 * Whether a name stays within the folder: no empty, "." or ".." component; and only one, unless the
 * list is recursive.
 */
static bool is_inside(const char *name, bool recursive)
{
	if (!recursive && strchr(name, '/'))
		return false;
	do {
		size_t length = strcspn(name, "/");

		if (!length || length > KRDMA_FILE_LAST_MAX ||
		    (length == 1 && name[0] == '.') ||
		    (length == 2 && name[0] == '.' && name[1] == '.'))
			return false;
		name += length;
	} while (*name++);
	return true;
}

/* Checks the entry at @byte, of which @left bytes are there; its length, or 0. */
static size_t check_entry(const unsigned char *byte, size_t left)
{
	size_t length;

	if (left < ENTRY_SIZE)
		return 0;
	length = (size_t)get(byte, 2);
	if (!length || length > KRDMA_FILE_NAME_MAX || length > left - ENTRY_SIZE ||
	    memchr(byte + ENTRY_SIZE, '\0', length) ||
	    !byte[2] || byte[2] > KRDMA_FILE_TYPE_UNREADABLE || byte[3] ||
	    get(byte + 4, 4) > 0777 || get(byte + 8, 8) > FILE_LENGTH_MAX ||
	    get(byte + 24, 4) > 999999999)
		return 0;
	return ENTRY_SIZE + length;
}

int file_list_decode(const void *from, size_t length, bool recursive,
		     struct krdma_file_entry **entries, size_t *count)
{
	const unsigned char *byte = from, *end = byte + length;
	struct krdma_file_entry *list;
	size_t number = 0, names = 0, each;
	char *name;

	for (; byte < end; byte += each, number++) {
		each = check_entry(byte, (size_t)(end - byte));
		if (!each)
			return -EPROTO;
		names += each - ENTRY_SIZE + 1;
	}
	/* One block, the names behind the entries; never of no bytes. */
	list = malloc(number * sizeof(*list) + names + 1);
	if (!list)
		return -ENOMEM;
	name = (char *)(list + number);
	byte = from;
	for (size_t i = 0; i < number; i++) {
		each = (size_t)get(byte, 2);
		list[i] = (struct krdma_file_entry){
			.name = name,
			.type = byte[2],
			.mode = (uint32_t)get(byte + 4, 4),
			.length = get(byte + 8, 8),
			.mtime_s = (int64_t)get(byte + 16, 8),
			.mtime_ns = (uint32_t)get(byte + 24, 4),
		};
		if (byte[2] == KRDMA_FILE_TYPE_UNREADABLE) {
			list[i].error = file_code_error((uint32_t)list[i].length);
			list[i].length = 0;
		}
		memcpy(name, byte + ENTRY_SIZE, each);
		name[each] = '\0';
		if (!is_inside(name, recursive)) {
			free(list);
			return -EPROTO;
		}
		name += each + 1;
		byte += ENTRY_SIZE + each;
	}
	*entries = list;
	*count = number;
	return 0;
}

KRDMA_PUBLIC void krdma_file_list_free(struct krdma_file_entry *entries)
{
	free(entries);
}
