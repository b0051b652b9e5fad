// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Get a folder, and all that is in it.
 *
 * The server chose the names in it.  In a folder that this command has made, they can do no harm.
 * In one that was there before, names that are hidden are refused unless --hidden was given, and
 * nothing is replaced unless --update was given.  No symbolic link is followed, unless it is the
 * destination that the user has named.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "copy.h"

/* A folder of the list. */
struct place {
	const struct krdma_file_entry *entry;
	/* The folder is here, and files can be copied to it. */
	bool there;
	/* This command has made it. */
	bool made;
	struct folder_id id;
};

/**
 * struct tree - a folder that is got
 * @copying: the command
 * @url: the server
 * @name: name of the folder there
 * @to: its name here
 * @root: the folder here
 * @made: this command has made it
 * @status: permission bits and time of the folder there
 * @umask: the umask
 * @entries: the list
 * @count: number of entries
 * @places: the folders among them, sorted by name
 * @place_count: their number
 */
struct tree {
	struct copying *copying;
	const struct url *url;
	const char *name;
	const char *to;
	int root;
	bool made;
	struct stat status;
	mode_t umask;
	struct krdma_file_entry *entries;
	size_t count;
	struct place *places;
	size_t place_count;
};

static void fail(struct tree *tree, const char *what, const char *path, int err)
{
	tree->copying->total->failed++;
	complain("cannot %s '%s%s%s': %s", what, tree->to, *path ? "/" : "", path, strerror(-err));
}

static int compare_place(const void *key, const void *place)
{
	return strcmp(key, ((const struct place *)place)->entry->name);
}

/*
 * Finds the folder of an entry: whether it is there, and whether this command has made it.  *@id:
 * which one it is; NULL: the root.
 */
static bool find_parent(struct tree *tree, const char *name, bool *made,
			const struct folder_id **id)
{
	const char *slash = strrchr(name, '/');
	const struct place *place;
	char *parent;

	*made = tree->made;
	*id = NULL;
	if (!slash)
		return true;
	parent = strndup(name, (size_t)(slash - name));
	if (!parent)
		return false;
	place = bsearch(parent, tree->places, tree->place_count, sizeof(*place), compare_place);
	free(parent);
	*made = place && place->made;
	*id = place ? &place->id : NULL;
	/* If the command was interrupted, not all of them were looked at. */
	if (!place && !copy_interrupted) {
		tree->copying->total->failed++;
		complain("'%s' was not copied: the server has listed it without its folder", name);
	}
	return place && place->there;
}

static bool is_fine(struct tree *tree, const char *name, bool made)
{
	const char *slash = strrchr(name, '/');

	return copy_name_is_fine(tree->copying, slash ? slash + 1 : name,
				 made || tree->copying->hidden, tree->to);
}

static bool is_empty(int folder)
{
	int copy = fcntl(folder, F_DUPFD_CLOEXEC, 0);
	DIR *entries = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry = NULL;

	if (!entries) {
		if (copy >= 0)
			close(copy);
		return false;
	}
	do {
		entry = readdir(entries);
	} while (entry && (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")));
	closedir(entries);
	return !entry;
}

/* Whether it can be the folder that this command has just made. */
static bool is_new(int folder)
{
	struct stat status;

	return !fstat(folder, &status) && status.st_uid == geteuid() && is_empty(folder);
}

/*
 * Opens the folder of a place.  If another user has put another folder in the place of a new one,
 * even one of this user's, that does not count as made here.
 */
static int look_at_place(struct place *place, int folder, const char *last)
{
	int flags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | (place->made ? O_RDONLY : O_PATH);
	int fd = openat(folder, last, flags), err;

	if (fd < 0)
		return -errno;
	err = folder_id_of(fd, &place->id);
	place->made = !err && place->made && is_new(fd);
	close(fd);
	return err;
}

static void make_place(struct tree *tree, struct place *place)
{
	const char *name = place->entry->name, *last;
	const struct folder_id *parent;
	int folder, err = 0;
	bool made;

	if (!find_parent(tree, name, &made, &parent) || !is_fine(tree, name, made))
		return;
	folder = copy_walk_to(tree->root, name, parent, &last);
	if (folder < 0) {
		fail(tree, "make the folder", name, folder);
		return;
	}
	/* Its final permission bits may not allow to fill it. */
	place->made = !mkdirat(folder, last, 0700);
	if (!place->made && errno != EEXIST)
		err = -errno;
	if (!err)
		err = look_at_place(place, folder, last);
	close(folder);
	if (err)
		fail(tree, "make the folder", name, err);
	place->there = !err;
}

static struct place *make_places(struct tree *tree)
{
	tree->places = calloc(tree->count + 1, sizeof(*tree->places));
	if (!tree->places) {
		fail(tree, "fill", "", -ENOMEM);
		return NULL;
	}
	/* The list is sorted, so that a folder precedes those in it. */
	for (size_t i = 0; i < tree->count && !copy_interrupted; i++) {
		if (tree->entries[i].type != KRDMA_FILE_TYPE_FOLDER)
			continue;
		tree->places[tree->place_count].entry = &tree->entries[i];
		/* Those before it are complete, and it is not its own parent. */
		make_place(tree, &tree->places[tree->place_count]);
		tree->place_count++;
	}
	return tree->places;
}

static int add_file(struct tree *tree, struct copy_queue *queue,
		    const struct krdma_file_entry *entry)
{
	const uint32_t flags = tree->copying->flags & COPY_SYNC ? 0 : KRDMA_FILE_NEW;
	size_t length = strlen(tree->name);
	const char *slash = length && tree->name[length - 1] != '/' ? "/" : "";
	const struct folder_id *parent;
	char *name;
	bool made;
	int err;

	if (!find_parent(tree, entry->name, &made, &parent) || !is_fine(tree, entry->name, made))
		return 0;
	if (asprintf(&name, "%s%s%s", tree->name, slash, entry->name) < 0) {
		fail(tree, "fill", "", -ENOMEM);
		return -ENOMEM;
	}
	err = copy_queue_add(queue, name, entry->name, entry->length, flags, parent);
	free(name);
	return err;
}

static void copy_files(struct tree *tree)
{
	struct copy_queue *queue = copy_queue_create(tree->copying, tree->url, tree->root,
						     tree->to);
	int err = 0;

	if (!queue) {
		tree->copying->total->failed++;
		return;
	}
	for (size_t i = 0; i < tree->count && !err; i++) {
		const struct krdma_file_entry *entry = &tree->entries[i];

		if (entry->type == KRDMA_FILE_TYPE_FILE)
			err = add_file(tree, queue, entry);
		else if (entry->type == KRDMA_FILE_TYPE_LINK)
			complain("'%s' was not copied: a symbolic link to a folder", entry->name);
		else if (entry->type == KRDMA_FILE_TYPE_OTHER)
			complain("'%s' was not copied: neither a file nor a folder", entry->name);
	}
	if (!err)
		copy_queue_run(queue);
	copy_queue_destroy(queue);
}

/* Like the names of files, those of new folders are on disk when the command ends. */
static int sync_folder(const struct tree *tree, int folder, const char *name)
{
	int fd, err = 0;

	if (tree->copying->flags & KRDMA_FILE_NO_SYNC)
		return 0;
	fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* What may be written but not read: there the file system decides when. */
	if (fd < 0)
		return errno == EACCES ? 0 : -errno;
	if (fsync(fd) && errno != EINVAL && errno != EROFS && errno != EOPNOTSUPP)
		err = -errno;
	close(fd);
	return err;
}

/* Whether it is the folder of that place; NULL: one that was opened before. */
static bool is_of(const struct place *place, int fd)
{
	struct folder_id id;

	return !place || (!folder_id_of(fd, &id) && id.device == place->id.device &&
			  id.inode == place->id.inode);
}

/*
 * Sets permission bits and time of a folder, when nothing more is made in it.  -ESTALE: there is
 * another one.
 */
static int settle(struct tree *tree, const struct place *place, int folder, const char *last,
		  mode_t mode, const struct timespec *mtime)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, *mtime };
	bool exact = tree->copying->flags & KRDMA_FILE_EXACT_MODE;
	int fd = openat(folder, last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), err = 0;
	struct stat status;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status))
		err = -errno;
	else if (!is_of(place, fd))
		err = -ESTALE;
	if (!err && tree->copying->flags & KRDMA_FILE_TIMES && futimens(fd, times))
		err = -errno;
	/* A folder that a group or all users share stays so: the server knows nothing of that. */
	if (!err && fchmod(fd, (status.st_mode & 07000) |
			       (mode & 0777 & (exact ? 0777 : ~tree->umask))))
		err = -errno;
	if (!err)
		err = sync_folder(tree, fd, ".");
	close(fd);
	return err;
}

static void settle_place(struct tree *tree, const struct place *place)
{
	const struct krdma_file_entry *entry = place->entry;
	struct timespec mtime;
	const char *last;
	int folder, err;

	if (!place->there ||
	    (!place->made && !(tree->copying->flags & KRDMA_FILE_EXACT_MODE)))
		return;
	mtime = (struct timespec){ (time_t)entry->mtime_s, (long)entry->mtime_ns };
	folder = copy_walk(tree->root, entry->name, &last);
	err = folder < 0 ? folder : settle(tree, place, folder, last, entry->mode, &mtime);
	if (!err && place->made)
		err = sync_folder(tree, folder, ".");
	if (folder >= 0)
		close(folder);
	if (err == -ESTALE) {
		tree->copying->total->failed++;
		complain("'%s/%s' is another folder now; its permission bits and its time stay",
			 tree->to, entry->name);
	} else if (err) {
		fail(tree, "set permission bits or time of", entry->name, err);
	}
}

static void get_all(struct tree *tree)
{
	struct place *places;
	int err;

	places = make_places(tree);
	if (places)
		copy_files(tree);
	for (size_t i = tree->place_count; i; i--)
		settle_place(tree, &places[i - 1]);
	free(places);
	/* A folder that was named and was there before keeps what it has. */
	err = tree->made ? settle(tree, NULL, tree->root, ".", tree->status.st_mode,
				  &tree->status.st_mtim) : 0;
	if (!err && tree->made)
		err = sync_folder(tree, tree->root, "..");
	if (err)
		fail(tree, "set permission bits or time of", "", err);
}

/* Lists the folder. With a slash at its end, its name cannot be that of a file. */
static int list(struct tree *tree)
{
	size_t length = strlen(tree->name);
	char *name;
	int err;

	if (asprintf(&name, "%s%s", tree->name,
		     length && tree->name[length - 1] != '/' ? "/" : "") < 0) {
		fail(tree, "fill", "", -ENOMEM);
		return -ENOMEM;
	}
	err = copy_list(tree->copying, tree->url, name, KRDMA_FILE_RECURSIVE, -ENOTDIR,
			&tree->entries, &tree->count, &tree->status);
	free(name);
	if (!err)
		tree->count = copy_list_readable(tree->copying, tree->url, tree->name, NULL,
						 NULL, tree->entries, tree->count);
	return err;
}

/*
 * Opens the folder, which is made if it is missing.  Another user may replace a new one by a
 * symbolic link, which is not followed, or by another folder, which does not count as made here.
 * Some file systems give what this user makes to somebody else, and that cannot be told from it.
 */
static int open_root(struct tree *tree, int folder, const char *path)
{
	int flags = O_PATH | O_DIRECTORY | O_CLOEXEC, fd;
	size_t length = strlen(path);
	char *name;

	/* With a slash at its end, a symbolic link is always followed. */
	while (length > 1 && path[length - 1] == '/')
		length--;
	name = strndup(path, length);
	if (!name)
		return -ENOMEM;
	/* Until it has its final permission bits, it is for this user alone. */
	tree->made = !mkdirat(folder, name, 0700);
	if (tree->made || folder != AT_FDCWD)
		flags |= O_NOFOLLOW;
	tree->root = openat(folder, name, flags);
	free(name);
	if (tree->root < 0)
		return -errno;
	if (!tree->made)
		return 0;
	fd = openat(tree->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	tree->made = fd >= 0 && is_new(fd);
	if (fd >= 0)
		close(fd);
	return 0;
}

int copy_tree_get(struct copying *copying, const struct url *url, const char *name, int folder,
		  const char *path, const char *to)
{
	struct tree tree = { .copying = copying, .url = url, .name = name, .to = to };
	int err = list(&tree);

	if (err)
		return err;
	tree.umask = umask(0);
	umask(tree.umask);
	err = open_root(&tree, folder, path);
	if (err) {
		fail(&tree, "make the folder", "", err);
	} else {
		get_all(&tree);
		close(tree.root);
	}
	krdma_file_list_free(tree.entries);
	return 0;
}
