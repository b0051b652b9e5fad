// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The folders of krdma_blk in configfs.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blk_config.h"
#include "cli.h"

bool blk_config_there(void)
{
	if (!access(BLK_CONFIG, F_OK))
		return true;
	complain("there is no %s: the module krdma_blk is not loaded, or configfs not mounted\n"
		 "As root: modprobe krdma_blk\n"
		 "and if that does not help: mount -t configfs none /sys/kernel/config",
		 BLK_CONFIG);
	return false;
}

/* @name must be the name of one folder, so that the path cannot lead to another one. */
static int blk_path(char path[PATH_MAX], const char *kind, const char *name,
		    const char *attribute)
{
	int length;

	if (!*name || *name == '.' || strchr(name, '/'))
		return -EINVAL;
	length = snprintf(path, PATH_MAX, "%s/%s/%s%s%s", BLK_CONFIG, kind, name,
			  attribute ? "/" : "", attribute ? attribute : "");
	return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int blk_config_make(const char *kind, const char *name)
{
	char path[PATH_MAX];
	int err = blk_path(path, kind, name, NULL);

	if (err)
		return err;
	return mkdir(path, 0755) ? -errno : 0;
}

int blk_config_remove(const char *kind, const char *name)
{
	char path[PATH_MAX];
	int err = blk_path(path, kind, name, NULL);

	if (err)
		return err;
	return rmdir(path) ? -errno : 0;
}

int blk_config_write(const char *kind, const char *name, const char *attribute,
		     const char *value)
{
	size_t length = strlen(value);
	char path[PATH_MAX];
	int err = blk_path(path, kind, name, attribute);
	ssize_t done;
	int fd;

	if (err)
		return err;
	/* Of a longer one the module would take the first part. */
	if (length >= BLK_TEXT_MAX - 1)
		return -EMSGSIZE;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* The module takes the value of an attribute from a single write. */
	done = write(fd, value, length);
	if (done != (ssize_t)length)
		err = done < 0 ? -errno : -EMSGSIZE;
	close(fd);
	return err;
}

int blk_config_read_all(char *text, size_t size, const char *kind, const char *name,
			const char *attribute)
{
	ssize_t length = 0, part;
	char path[PATH_MAX];
	int fd, err = blk_path(path, kind, name, attribute);

	text[0] = '\0';
	if (err)
		return err;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((part = read(fd, text + length, size - 1 - (size_t)length)) > 0)
		length += part;
	err = part < 0 ? -errno : 0;
	close(fd);
	text[length] = '\0';
	return err;
}

const char *blk_config_read(char text[BLK_TEXT_MAX], const char *kind, const char *name,
			    const char *attribute)
{
	size_t length;

	if (blk_config_read_all(text, BLK_TEXT_MAX, kind, name, attribute))
		text[0] = '\0';
	length = strlen(text);
	while (length > 0 && text[length - 1] == '\n')
		length--;
	text[length] = '\0';
	for (char *c = text; *c; c++) {
		if (*c == '\n')
			*c = ' ';
	}
	return text;
}

static int is_name(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int blk_config_walk(const char *kind, int (*each)(const char *name, void *to), void *to)
{
	struct dirent **entries;
	char path[PATH_MAX];
	int ret = 0;
	int count;

	snprintf(path, sizeof(path), "%s/%s", BLK_CONFIG, kind);
	count = scandir(path, &entries, is_name, alphasort);
	if (count < 0)
		return -errno;
	for (int i = 0; i < count; i++) {
		if (!ret)
			ret = each(entries[i]->d_name, to);
		free(entries[i]);
	}
	free(entries);
	return ret;
}
