/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One valid example of each ioctl, with an object in a state in which the ioctl
 * succeeds.  For tests that cover all ioctls.
 */
#ifndef KRDMA_E2E_EXAMPLES_H
#define KRDMA_E2E_EXAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "pair.h"

/* Kinds of file descriptors. */
enum kind {
	KIND_SESSION,
	KIND_LISTENER,
	KIND_CONN,
	KIND_QUEUE,
	KIND_SRQ,
	KIND_COUNT,
};

/**
 * struct scene - objects that the examples use
 * @pair: sessions, listener and client; end B is not used
 * @ring: a ring on the device
 * @objects: a descriptor of each kind, on which idempotent ioctls succeed, or -1
 * @mr: memory region of the session
 * @entry: an entry that no ring accepts, because its destination does not exist
 * @completion: buffer for a completion
 * @many: entry of a connection that does not exist
 * @fd: descriptor for the ioctl, set by example_arm()
 * @made: descriptors that example_arm() has created; its next call closes them
 * @spare: ID of an MR that the next example_arm() deregisters; 0: none
 * @lane: a listener and both ends of a lane, created when an example needs them, or -1
 * @named: ID of an MR with a name, which the peer of the lane finds; 0: none
 * @completions: completions in @ring that example_arm() has produced and RING_REAP has not taken
 */
struct scene {
	struct pair pair;
	struct ring ring;
	int objects[KIND_COUNT];
	struct mr mr;
	struct krdma_sqe entry;
	struct krdma_cqe completion;
	struct krdma_conns_entry many;
	int fd;
	int made[3];
	uint32_t spare;
	int lane[3];
	uint32_t named;
	unsigned int completions;
};

/* Bits for the optional parts of a scene.  The session always exists. */
enum scene_part {
	SCENE_LISTENER = 1,
	SCENE_QUEUE = 2,
	SCENE_CONN = 4,
	SCENE_SRQ = 8,
	SCENE_MEMORY = 16,
	SCENE_ALL = 31,
};

/* More than the longest structure of all ioctls. */
#define EXAMPLE_ROOM	512

/**
 * struct example - an ioctl that succeeds
 * @name: name of the ioctl
 * @number: number of the ioctl
 * @kind: kind of file that has the ioctl
 * @first_size: size of the structure when it was first published; never changes
 * @known_size: size of the structure in this header
 * @known_flags: flags in this header
 * @reserved: offsets of reserved fields; 0 ends the list
 * @needs: parts of the scene that @arm and @fill use: SCENE_...
 * @answers: the ioctl writes its structure back
 * @reads: a session that is open for reading only has the ioctl
 * @once: a success uses up the object's state, so that example_arm() must be called
 *	again, which may take long
 * @again: negative errno that the ioctl may return without example_arm()
 * @arm: see example_arm()
 * @fill: fills in the structure, without its size; it is zeroed before
 * @undo: undoes a success
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
	EXAMPLE_CONNS_OPEN,
	EXAMPLE_CONNS_TAKE,
	EXAMPLE_CONNS_ACCEPT,
	EXAMPLE_CONNS_CLOSE,
	EXAMPLE_CONNS_FD,
	EXAMPLE_MR_SET_NAME,
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
	EXAMPLE_CONN_FIND_MR,
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

/* Return 0 or -errno.  Call scene_close() after a failure too. */
int scene_open(struct scene *scene);
/* Creates only the parts that @example needs. */
int scene_open_for(struct scene *scene, const struct example *example);
void scene_close(struct scene *scene);

/* Makes the ioctl succeed on scene->fd, once or always. */
int example_arm(const struct example *example, struct scene *scene);

/* Copies the first @room bytes of the structure, with @size in its size field, to @at. */
void example_place(const struct example *example, struct scene *scene, void *at, size_t room,
		   uint32_t size);

/* Undoes a successful ioctl; @bytes is the structure that it has written. */
void example_undo(const struct example *example, struct scene *scene, const void *bytes);

#endif
