// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma doctor: who uses krdma, so that it cannot be unloaded, and who else uses RDMA devices, so
 * that their drivers cannot.
 */
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "objects.h"

#define HOLDERS_FOLDER	"/sys/module/krdma/holders"
/* Names in a list; of the others, only the number is reported. */
#define NAMES_MAX	8

struct users {
	char text[NAMES_MAX * 40];
	size_t length;
	unsigned int count;
};

ATTRIBUTE(format(printf, 2, 3))
static void add(struct users *users, const char *format, ...)
{
	size_t room = sizeof(users->text) - users->length;
	va_list arguments;

	if (users->count++ >= NAMES_MAX)
		return;
	if (users->length) {
		users->length += (size_t)snprintf(users->text + users->length, room, ", ");
		room = sizeof(users->text) - users->length;
	}
	va_start(arguments, format);
	users->length += (size_t)vsnprintf(users->text + users->length, room, format, arguments);
	va_end(arguments);
}

static void say(struct doctor *doctor, const struct users *users, const char *what)
{
	char more[32] = "";

	if (users->count > NAMES_MAX)
		snprintf(more, sizeof(more), " and %u more", users->count - NAMES_MAX);
	doctor_say(doctor, "users", VERDICT_OK, "%s: %s%s", what, users->text, more);
}

/* Processes with a descriptor of krdma, each once, but for this one. */
static void add_processes(struct users *users)
{
	struct objects objects;

	if (objects_read(&objects))
		return;
	for (size_t i = 0; i < objects.count; i++) {
		const struct object *object = &objects.list[i];
		char name[sizeof(object->command)];
		bool known = object->pid == getpid();

		for (size_t j = 0; !known && j < i; j++)
			known = objects.list[j].pid == object->pid;
		if (known)
			continue;
		printable(name, sizeof(name), object->command, sizeof(name) - 1);
		add(users, "%.24s (%d)", name, object->pid);
	}
	objects_free(&objects);
}

static void add_modules(struct users *users)
{
	DIR *folder = opendir(HOLDERS_FOLDER);
	struct dirent *entry;

	if (!folder)
		return;
	while ((entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			add(users, "module %.24s", entry->d_name);
	closedir(folder);
}

/*
 * Others with queue pairs, each once: "link rxe0/1 lqpn 18 type RC state RTS ... pid 7 comm NAME",
 * or "comm [NAME]" of a module.
 */
static void add_others(struct users *users, char *text)
{
	char seen[NAMES_MAX][32] = { "[ib_core]", "[krdma]" }, name[32];
	char *line, *rest = text, *comm, *pid;
	size_t count = 2, i;

	while ((line = strsep(&rest, "\n"))) {
		comm = strstr(line, " comm ");
		if (!comm)
			continue;
		pid = strstr(line, " pid ");
		comm += strlen(" comm ");
		printable(name, sizeof(name), comm, strcspn(comm, " "));
		for (i = 0; i < count && strcmp(seen[i], name); i++)
			;
		if (i < count)
			continue;
		if (count < NAMES_MAX)
			memcpy(seen[count++], name, sizeof(name));
		if (pid)
			add(users, "%.24s (%d)", name, atoi(pid + strlen(" pid ")));
		else
			add(users, "%.26s", name);
	}
}

void doctor_users(struct doctor *doctor)
{
	static const char *const show[] = { "rdma", "resource", "show", "qp", NULL };
	struct users users = { .count = 0 }, others = { .count = 0 };
	bool there;
	char *text;

	if (doctor->unloaded)
		return;
	add_processes(&users);
	add_modules(&users);
	if (users.count) {
		say(doctor, &users, "krdma cannot be unloaded while these use it");
		doctor_mend(doctor, "shows what they have", "krdma stat");
	}
	text = doctor_output_of(show, &there);
	if (!text)
		return;
	add_others(&others, text);
	free(text);
	if (others.count)
		say(doctor, &others, "others have queue pairs of RDMA devices");
}
