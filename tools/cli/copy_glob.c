// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Names with *, ? and [ at the server.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "copy.h"

/**
 * struct glob - a pattern, and what it fits
 * @copying: the command
 * @url: the server
 * @each: as for copy_glob()
 * @context: argument for @each
 * @count: number of fits
 */
struct glob {
	struct copying *copying;
	const struct url *url;
	copy_glob_function each;
	void *context;
	size_t count;
};

bool copy_glob_is(const char *path)
{
	return strpbrk(path, "*?[");
}

static int expand(struct glob *glob, const char *prefix, const char *rest);

/* @fit: an entry of the folder @prefix.  @rest: what follows in the pattern, or "". */
static int go_on(struct glob *glob, const char *prefix, const struct krdma_file_entry *fit,
		 const char *rest)
{
	bool folder = fit->type == KRDMA_FILE_TYPE_FOLDER || fit->type == KRDMA_FILE_TYPE_LINK;
	char *name;
	int err = 0;

	if ((*rest && !folder) || fit->type == KRDMA_FILE_TYPE_OTHER)
		return 0;
	if (asprintf(&name, "%s%s", prefix, fit->name) < 0)
		return -ENOMEM;
	if (*rest) {
		err = expand(glob, name, rest);
	} else {
		glob->count++;
		glob->each(glob->copying, glob->url, name, COPY_FOUND, folder, glob->context);
	}
	free(name);
	return err;
}

static bool fits(const char *name, const void *pattern)
{
	return !fnmatch(pattern, name, FNM_PERIOD);
}

/* The component of a pattern that begins at @rest has a wildcard. */
static int fit(struct glob *glob, const char *prefix, const char *rest)
{
	struct krdma_file_entry *entries;
	size_t length = strcspn(rest, "/"), count;
	char *pattern = strndup(rest, length);
	int err;

	if (!pattern)
		return -ENOMEM;
	/* A folder that is missing has no fits. */
	err = copy_list(glob->copying, glob->url, prefix, 0, 1, &entries, &count, NULL);
	if (err) {
		free(pattern);
		return glob->copying->lost || err == -ENOMEM ? err : 0;
	}
	count = copy_list_readable(glob->copying, glob->url, prefix, fits, pattern, entries, count);
	for (size_t i = 0; i < count && !err && !copy_interrupted; i++)
		if (fits(entries[i].name, pattern))
			err = go_on(glob, prefix, &entries[i], rest + length);
	krdma_file_list_free(entries);
	free(pattern);
	return err;
}

/* Whether there is anything of this name. */
static bool is_there(struct glob *glob, const char *name)
{
	struct krdma_file_entry *entries;
	size_t count;

	if (copy_list(glob->copying, glob->url, name, 0, 1, &entries, &count, NULL))
		return false;
	krdma_file_list_free(entries);
	return true;
}

/* @prefix: what is found so far; @rest: the rest of the pattern, perhaps with a slash in front. */
static int expand(struct glob *glob, const char *prefix, const char *rest)
{
	const char *wild = strpbrk(rest, "*?["), *slash = rest;
	char *name;
	int err;

	if (!wild) {
		if (asprintf(&name, "%s%s", prefix, rest) < 0)
			return -ENOMEM;
		if (is_there(glob, name)) {
			glob->count++;
			glob->each(glob->copying, glob->url, name, COPY_LAST_TYPED, false,
				   glob->context);
		}
		free(name);
		return glob->copying->lost ? -ECONNRESET : 0;
	}
	for (const char *at = rest; at < wild; at++)
		if (*at == '/')
			slash = at + 1;
	if (asprintf(&name, "%s%.*s", prefix, (int)(slash - rest), rest) < 0)
		return -ENOMEM;
	err = fit(glob, name, slash);
	free(name);
	return err;
}

int copy_glob(struct copying *copying, const struct url *url, const char *pattern,
	      copy_glob_function each, void *context)
{
	struct glob glob = {
		.copying = copying, .url = url, .each = each, .context = context,
	};
	int err = expand(&glob, "", pattern);

	if (err == -ENOMEM)
		complain("cannot look for '%s': out of memory", pattern);
	/* As in a shell: it may be a name with such characters. */
	if (!err && !glob.count)
		each(copying, url, pattern, COPY_TYPED, false, context);
	if (err)
		copying->total->failed++;
	return err;
}
