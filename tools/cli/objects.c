// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma's objects, found from the file descriptors of all processes: the module describes each in
 * /proc/PID/fdinfo/FD.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "objects.h"

#define KERNEL_OBJECTS "/sys/kernel/debug/krdma/objects"

static const char * const kind_names[OBJECT_KINDS][2] = {
	[OBJECT_SESSION] = { "session", "sessions" },
	[OBJECT_LISTENER] = { "listener", "listeners" },
	[OBJECT_CONNECTION] = { "connection", "connections" },
	[OBJECT_RING] = { "ring", "rings" },
	[OBJECT_SRQ] = { "srq", "srqs" },
};

const char *object_kind_name(enum object_kind kind)
{
	return kind_names[kind][0];
}

const char *object_kind_names(enum object_kind kind)
{
	return kind_names[kind][1];
}

/* Fields for lines whose value is a number. */
static const struct {
	const char *name;
	size_t offset;
} numbers[] = {
	{ "device", offsetof(struct object, device) },
	{ "qp", offsetof(struct object, qp) },
	{ "depth", offsetof(struct object, depth) },
	{ "sends_posted", offsetof(struct object, sends_waiting) },
	{ "sends_completed", offsetof(struct object, sends) },
	{ "sends_direct", offsetof(struct object, sends_direct) },
	{ "receives_posted", offsetof(struct object, receives_waiting) },
	{ "receives_completed", offsetof(struct object, receives) },
	{ "submitted", offsetof(struct object, submitted) },
	{ "completed", offsetof(struct object, completed) },
	{ "untaken", offsetof(struct object, untaken) },
	{ "lane", offsetof(struct object, lane) },
	{ "trunk", offsetof(struct object, trunk) },
	{ "lanes", offsetof(struct object, lanes) },
	{ "waiting", offsetof(struct object, waiting) },
	{ "mr_count", offsetof(struct object, mr_count) },
	{ "mr_bytes", offsetof(struct object, mr_bytes) },
	{ "conns", offsetof(struct object, conns) },
};

static bool set_kind(struct object *object, const char *value)
{
	for (int kind = 0; kind < OBJECT_KINDS; kind++) {
		if (!strcmp(value, kind_names[kind][0])) {
			object->kind = (enum object_kind)kind;
			return true;
		}
	}
	return false;
}

static void set_text(char to[OBJECT_TEXT_MAX], const char *value)
{
	printable(to, OBJECT_TEXT_MAX, value, strlen(value));
}

/* Unknown lines come from a newer module and are ignored. */
static void set(struct object *object, const char *name, const char *value)
{
	if (!strcmp(name, "id"))
		object->id = (uint32_t)strtoul(value, NULL, 10);
	else if (!strcmp(name, "session"))
		object->session = (uint32_t)strtoul(value, NULL, 10);
	else if (!strcmp(name, "error"))
		object->error = atoi(value);
	else if (!strcmp(name, "state"))
		set_text(object->state, value);
	else if (!strcmp(name, "local"))
		set_text(object->local, value);
	else if (!strcmp(name, "remote"))
		set_text(object->remote, value);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (!strcmp(name, numbers[i].name)) {
			uint64_t number = strtoull(value, NULL, 10);

			memcpy((char *)object + numbers[i].offset, &number, sizeof(number));
		}
	}
}

/* Returns true, with @object filled in, if the file describes an object of krdma. */
static bool read_object(FILE *file, struct object *object)
{
	bool ours = false;
	char line[256];

	memset(object, 0, sizeof(*object));
	while (fgets(line, sizeof(line), file)) {
		char *value = strchr(line, '\t');

		if (!value || value == line || value[-1] != ':')
			continue;
		value[-1] = '\0';
		value += 1;
		value[strcspn(value, "\n")] = '\0';
		if (!strcmp(line, "krdma"))
			ours = set_kind(object, value);
		else if (ours)
			set(object, line, value);
	}
	/*
	 * From posted to not completed.  The module does not read both counters at the same moment,
	 * so the difference could be negative.
	 */
	object->sends_waiting -= object->sends < object->sends_waiting ?
				 object->sends : object->sends_waiting;
	object->receives_waiting -= object->receives < object->receives_waiting ?
				    object->receives : object->receives_waiting;
	return ours;
}

static int append(struct objects *objects, const struct object *object)
{
	struct object *list;

	/* Double the list when the count reaches a power of two. */
	if (!(objects->count & (objects->count - 1))) {
		size_t room = objects->count ? 2 * objects->count : 1;

		list = realloc(objects->list, room * sizeof(*list));
		if (!list)
			return -ENOMEM;
		objects->list = list;
	}
	objects->list[objects->count++] = *object;
	return 0;
}

/* The link alone rules out most descriptors, without reading their fdinfo. */
static bool may_be_ours(int directory, const char *name)
{
	char target[64];
	ssize_t length = readlinkat(directory, name, target, sizeof(target) - 1);

	if (length < 0)
		return false;
	target[length] = '\0';
	return strstr(target, "krdma");
}

static FILE *open_at(int directory, const char *name)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !file)
		close(fd);
	return file;
}

static void read_command(int process, char *command, size_t size)
{
	FILE *file = open_at(process, "comm");
	char name[64] = "";

	if (file) {
		if (fgets(name, sizeof(name), file))
			name[strcspn(name, "\n")] = '\0';
		fclose(file);
	}
	printable(command, size, name, strlen(name));
}

/* Read the objects of a process.  A process that has ended has none. */
static int read_process(struct objects *objects, int process, int pid)
{
	int directory = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent *entry;
	struct object object;
	char path[300];
	DIR *stream;
	FILE *file;
	int err = 0;

	if (directory < 0) {
		objects->hidden += errno == EACCES || errno == EPERM;
		return 0;
	}
	stream = fdopendir(directory);
	if (!stream) {
		close(directory);
		return -ENOMEM;
	}
	while (!err && (entry = readdir(stream))) {
		if (!may_be_ours(directory, entry->d_name))
			continue;
		snprintf(path, sizeof(path), "fdinfo/%s", entry->d_name);
		file = open_at(process, path);
		if (!file)
			continue;
		if (read_object(file, &object)) {
			object.pid = pid;
			object.holders = 1;
			read_command(process, object.command, sizeof(object.command));
			err = append(objects, &object);
		}
		fclose(file);
	}
	closedir(stream);
	return err;
}

static int compare(const void *one, const void *other)
{
	const struct object *a = one, *b = other;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->pid > b->pid) - (a->pid < b->pid);
}

/* Merge descriptors of the same object, also from different processes. */
static void join(struct objects *objects)
{
	size_t kept = 0;

	if (objects->count)
		qsort(objects->list, objects->count, sizeof(*objects->list), compare);
	for (size_t i = 0; i < objects->count; i++) {
		struct object *object = &objects->list[i];
		struct object *last = kept ? &objects->list[kept - 1] : NULL;

		if (last && last->kind == object->kind && last->id == object->id)
			last->holders++;
		else
			objects->list[kept++] = *object;
	}
	objects->count = kept;
}

int objects_read(struct objects *objects)
{
	struct dirent *entry;
	struct timespec now;
	DIR *proc;
	int err = 0;

	memset(objects, 0, sizeof(*objects));
	proc = opendir("/proc");
	if (!proc)
		return -errno;
	while (!err && (entry = readdir(proc))) {
		int pid = atoi(entry->d_name), process;

		if (pid <= 0)
			continue;
		process = openat(dirfd(proc), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (process < 0)
			continue;
		err = read_process(objects, process, pid);
		close(process);
	}
	closedir(proc);
	if (err) {
		objects_free(objects);
		return err;
	}
	join(objects);
	clock_gettime(CLOCK_MONOTONIC, &now);
	objects->when_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	return 0;
}

void objects_free(struct objects *objects)
{
	free(objects->list);
	memset(objects, 0, sizeof(*objects));
}

const struct object *objects_find(const struct objects *objects, const struct object *object)
{
	size_t from = 0, to = objects->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		const struct object *other = &objects->list[middle];

		if (other->kind == object->kind && other->id == object->id)
			return other;
		if (other->kind < object->kind ||
		    (other->kind == object->kind && other->id < object->id))
			from = middle + 1;
		else
			to = middle;
	}
	return NULL;
}

struct kernel_objects objects_of_kernel(void)
{
	struct kernel_objects counts = { -1, -1, -1 };
	FILE *file = fopen(KERNEL_OBJECTS, "re");
	long long number;
	char name[64];

	if (!file)
		return counts;
	while (fscanf(file, "%63s %lld", name, &number) == 2) {
		if (!strcmp(name, "trunk"))
			counts.trunks = number;
		else if (!strcmp(name, "lane"))
			counts.lanes = number;
		else if (!strcmp(name, "window"))
			counts.windows = number;
	}
	fclose(file);
	return counts;
}
