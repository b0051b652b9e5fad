// SPDX-License-Identifier: GPL-2.0
/*
 * krdma's own count of its objects, by kind.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "objects.h"
#include "session.h"

/* Connections end after their files are closed: krdma waits for a silent peer. */
#define PATIENCE_MS	10000

#define EXIT_FAIL	1
#define EXIT_SKIP	4

static struct objects before_test;

int objects_read(struct objects *objects)
{
	FILE *file = fopen(OBJECTS_PATH, "re");
	struct object_count *kind;

	objects->kind_count = 0;
	if (!file)
		return -errno;
	while (objects->kind_count < OBJECT_KINDS) {
		kind = &objects->kinds[objects->kind_count];
		if (fscanf(file, "%31s %ld", kind->kind, &kind->count) != 2)
			break;
		objects->kind_count++;
	}
	fclose(file);
	return objects->kind_count ? 0 : -EIO;
}

long objects_count(const struct objects *objects, const char *kind)
{
	for (unsigned int i = 0; i < objects->kind_count; i++)
		if (!strcmp(objects->kinds[i].kind, kind))
			return objects->kinds[i].count;
	return 0;
}

int objects_await_kind(const char *kind, long most, unsigned int ms)
{
	uint64_t deadline = now_ms() + ms;
	struct objects objects;
	int ret;

	for (;;) {
		ret = objects_read(&objects);
		if (ret || objects_count(&objects, kind) <= most)
			return ret;
		if (now_ms() > deadline)
			return -ETIMEDOUT;
		sleep_ms(1);
	}
}

static int compare(const struct objects *before, const struct objects *after, bool say)
{
	int more = 0;

	for (unsigned int i = 0; i < after->kind_count; i++) {
		const struct object_count *kind = &after->kinds[i];
		long was = objects_count(before, kind->kind);

		if (kind->count <= was)
			continue;
		more++;
		if (say)
			printf("# objects are left: %s: %ld before, %ld now\n", kind->kind, was,
			       kind->count);
	}
	return more;
}

int objects_await(const struct objects *before, unsigned int ms)
{
	uint64_t deadline = now_ms() + ms;
	struct objects after;

	for (;;) {
		/* Without the module there are none. */
		if (objects_read(&after) || !compare(before, &after, false))
			return 0;
		if (now_ms() > deadline)
			return compare(before, &after, true);
		sleep_ms(5);
	}
}

static void __attribute__((constructor)) objects_begin(void)
{
	objects_read(&before_test);
}

pid_t objects_waitpid(pid_t pid, int *status, int options)
{
	pid_t ended = waitpid(pid, status, options);

	if (ended <= 0)
		return ended;
	if (objects_await(&before_test, PATIENCE_MS) && WIFEXITED(*status) &&
	    (!WEXITSTATUS(*status) || WEXITSTATUS(*status) == EXIT_SKIP))
		*status = EXIT_FAIL << 8;
	/* Do not charge objects that this test has left to the next test. */
	objects_read(&before_test);
	return ended;
}
