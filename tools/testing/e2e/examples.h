/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One valid example of every request, with an object in a state in which it can
 * be asked.  For tests that sweep over all of them.
 */
#ifndef KRDMA_E2E_EXAMPLES_H
#define KRDMA_E2E_EXAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "pair.h"

/* What a file descriptor can be. */
enum kind {
	KIND_SESSION,
	KIND_LISTENER,
	KIND_CONN,
	KIND_QUEUE,
	KIND_SRQ,
	KIND_COUNT,
};

/**
 * struct scene - the objects that examples are played with
 * @pair: its sessions, listener and client; B stays empty
 * @ring: on the device
 * @objects: a descriptor of each kind, on which idempotent requests succeed, or -1
 * @mr: registered in the session
 * @entry: which no queue accepts: its target is nobody's
 * @completion: room for what is reaped
 * @fd: the object to be asked, set by example_arm()
 * @made: by example_arm(); closed by the next one
 * @spare: released by example_arm()'s next call
 * @completions: that example_arm() has put into @ring and nobody has taken
 */
struct scene {
	struct pair pair;
	struct queue ring;
	int objects[KIND_COUNT];
	struct memory mr;
	struct krdma_sqe entry;
	struct krdma_cqe completion;
	int fd;
	int made[3];
	uint32_t spare;
	unsigned int completions;
};

/* Parts of a scene, as bits.  A session is always there. */
enum scene_part {
	SCENE_LISTENER = 1,
	SCENE_QUEUE = 2,
	SCENE_CONN = 4,
	SCENE_SRQ = 8,
	SCENE_MEMORY = 16,
	SCENE_ALL = 31,
};

/* The longest structure of all requests, and then some. */
#define EXAMPLE_ROOM	512

/**
 * struct example - a request that succeeds
 * @name: of the request
 * @number: of the ioctl
 * @kind: of the file that can be asked
 * @first_size: what it took when it was first published: pinned for ever
 * @known_size: what this header knows
 * @known_flags: what this header knows
 * @reserved: the first of these that are not 0 are where reserved fields begin
 * @needs: what of a scene its preparation and its structure take: SCENE_...
 * @answers: it writes something back
 * @reads: a session that is open for reading only can be asked it
 * @once: a success uses up the object's state, so that example_arm() must be called
 *	again, which may take long
 * @again: what may happen without example_arm(): this errno
 * @arm: see example_arm()
 * @fill: the structure, without its size; it is zeroed before
 * @undo: after a success
 */
struct example {
	const char *name;
	unsigned long number;
	enum kind kind;
	uint32_t first_size;
	uint32_t known_size;
	uint32_t known_flags;
	uint32_t reserved[3];
	unsigned int needs;
	bool answers;
	bool reads;
	bool once;
	int again;
	int (*arm)(struct scene *scene);
	void (*fill)(struct scene *scene, void *bytes);
	void (*undo)(struct scene *scene, const void *bytes);
};

enum example_id {
	EXAMPLE_INFO,
	EXAMPLE_DEVICE_QUERY,
	EXAMPLE_PORT_QUERY,
	EXAMPLE_DEVICE_FIND,
	EXAMPLE_DEVICE_NOTIFY,
	EXAMPLE_LISTEN,
	EXAMPLE_CONN_CREATE,
	EXAMPLE_RING_CREATE,
	EXAMPLE_SRQ_CREATE,
	EXAMPLE_MR_REGISTER,
	EXAMPLE_MR_DEREGISTER,
	EXAMPLE_MR_QUERY,
	EXAMPLE_MR_ADVISE,
	EXAMPLE_LIMIT_QUERY,
	EXAMPLE_LISTENER_QUERY,
	EXAMPLE_LISTENER_NEXT,
	EXAMPLE_CONN_RESOLVE,
	EXAMPLE_CONN_CREATE_QP,
	EXAMPLE_CONN_CONNECT,
	EXAMPLE_CONN_ACCEPT,
	EXAMPLE_CONN_REJECT,
	EXAMPLE_CONN_DISCONNECT,
	EXAMPLE_CONN_WAIT,
	EXAMPLE_CONN_QUERY,
	EXAMPLE_RING_ENTER,
	EXAMPLE_RING_POST,
	EXAMPLE_RING_REAP,
	EXAMPLE_RING_QUERY,
	EXAMPLE_RING_CONFINE,
	EXAMPLE_SRQ_QUERY,
	EXAMPLE_SRQ_POST,
	EXAMPLE_COUNT,
};

extern const struct example examples[EXAMPLE_COUNT];

/* 0 or -errno; after a failure too, scene_close() tidies up. */
int scene_open(struct scene *scene);
/* With what this example takes, and no more. */
int scene_open_for(struct scene *scene, const struct example *example);
void scene_close(struct scene *scene);

/* From here on the request succeeds on scene->fd, once or always. */
int example_arm(const struct example *example, struct scene *scene);

/* Copies into @at the first @room bytes of the structure, which says @size. */
void example_place(const struct example *example, struct scene *scene, void *at, size_t room,
		   uint32_t size);

/* After a success, with what the request left in the structure. */
void example_undo(const struct example *example, struct scene *scene, const void *bytes);

#endif
