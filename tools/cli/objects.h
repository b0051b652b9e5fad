/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What krdma's descriptors are, of all processes, as /proc tells.
 */
#ifndef KRDMA_CLI_OBJECTS_H
#define KRDMA_CLI_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In this order they are listed. */
enum object_kind {
	OBJECT_SESSION,
	OBJECT_LISTENER,
	OBJECT_CONNECTION,
	OBJECT_RING,
	OBJECT_SRQ,
	OBJECT_KINDS,
};

#define OBJECT_TEXT_MAX 64

/**
 * struct object - one of them
 * @kind: what it is
 * @id: its number among those of its kind
 * @session: in which session it was made
 * @pid: a process that has it, the first that was found
 * @holders: how many descriptors there are of it
 * @command: what that process is called
 * @state, @local, @remote: text, or empty
 * @error: why it ended, 0 or a negative errno
 * @device, @qp, @depth: numbers, or 0
 * @sends, @receives: of a connection: operations that have completed
 * @sends_waiting, @receives_waiting: and those that have not
 * @submitted, @completed, @untaken: of a ring
 * @waiting: of a listener: somebody waits
 * @mr_count, @mr_bytes: of a session
 */
struct object {
	enum object_kind kind;
	uint32_t id;
	uint32_t session;
	int pid;
	unsigned int holders;
	char command[32];
	char state[OBJECT_TEXT_MAX];
	char local[OBJECT_TEXT_MAX];
	char remote[OBJECT_TEXT_MAX];
	int error;
	uint64_t device;
	uint64_t qp;
	uint64_t depth;
	uint64_t sends;
	uint64_t receives;
	uint64_t sends_waiting;
	uint64_t receives_waiting;
	uint64_t submitted;
	uint64_t completed;
	uint64_t untaken;
	uint64_t waiting;
	uint64_t mr_count;
	uint64_t mr_bytes;
};

/**
 * struct objects - all that could be seen
 * @list: sorted by kind and number, each once
 * @count: how many
 * @hidden: processes whose descriptors may not be looked at
 * @when_ns: the moment, by CLOCK_MONOTONIC
 */
struct objects {
	struct object *list;
	size_t count;
	unsigned int hidden;
	uint64_t when_ns;
};

/* 0 or a negative errno, after which there is nothing to free. */
int objects_read(struct objects *objects);
void objects_free(struct objects *objects);

/* The same one in another reading; NULL if it was not there. */
const struct object *objects_find(const struct objects *objects, const struct object *object);

/* "connection", and of many. */
const char *object_kind_name(enum object_kind kind);
const char *object_kind_names(enum object_kind kind);

#endif /* KRDMA_CLI_OBJECTS_H */
