/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma's objects, found from the file descriptors of all processes in /proc.
 */
#ifndef KRDMA_CLI_OBJECTS_H
#define KRDMA_CLI_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Objects are listed in this order. */
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
 * struct object - an object of krdma
 * @kind: its kind
 * @id: its number, unique within the kind
 * @session: number of the session in which it was created
 * @pid: the first process found with a descriptor of it
 * @holders: number of its descriptors
 * @command: name of the process @pid
 * @state, @local, @remote: text, or empty
 * @error: why it ended: 0 or a negative errno
 * @device, @qp, @depth: numbers, or 0
 * @sends, @receives: completed work requests of a connection
 * @sends_direct: sends of a lane that its device carries out
 * @sends_waiting, @receives_waiting: work requests of a connection that have not completed
 * @submitted, @completed, @untaken: entries of a ring
 * @lane, @trunk: a connection is a lane, of the trunk with this number
 * @lanes: a listener takes lanes
 * @waiting: a caller waits for this listener
 * @mr_count, @mr_bytes: number and bytes of the MRs of a session
 * @conns: number of connections of a session that have no descriptor
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
	uint64_t sends_direct;
	uint64_t sends_waiting;
	uint64_t receives_waiting;
	uint64_t submitted;
	uint64_t completed;
	uint64_t untaken;
	uint64_t lane;
	uint64_t trunk;
	uint64_t lanes;
	uint64_t waiting;
	uint64_t mr_count;
	uint64_t mr_bytes;
	uint64_t conns;
};

/**
 * struct objects - all objects found in one reading
 * @list: sorted by kind and number, without duplicates
 * @count: number of objects in @list
 * @hidden: number of processes whose descriptors this user may not read
 * @when_ns: time of the reading, CLOCK_MONOTONIC in nanoseconds
 */
struct objects {
	struct object *list;
	size_t count;
	unsigned int hidden;
	uint64_t when_ns;
};

/* Returns 0 or a negative errno, after which there is nothing to free. */
int objects_read(struct objects *objects);
void objects_free(struct objects *objects);

/* Find the same object in another reading.  Returns NULL if it is not there. */
const struct object *objects_find(const struct objects *objects, const struct object *object);

/* Trunks and lanes of the whole host, those of kernel modules included; -1: not known. */
struct kernel_objects {
	long long trunks;
	long long lanes;
	long long windows;
};

/* Only root can read them, where debugfs is mounted. */
struct kernel_objects objects_of_kernel(void);

/* Singular and plural, such as "connection" and "connections". */
const char *object_kind_name(enum object_kind kind);
const char *object_kind_names(enum object_kind kind);

#endif /* KRDMA_CLI_OBJECTS_H */
