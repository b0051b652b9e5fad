/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An RDMA device that exists in memory only, for tests of the core.
 *
 * A test makes one, changes what it says of itself, registers it with ib_core,
 * and from then on scripts it: which call fails and with what, where a call
 * stops until it is told to go on.  What a consumer has made of it and not
 * given back is counted.
 *
 * It is an iWARP device, because that kind needs no management datagrams, and
 * it sits on the loopback interface, which every kernel has.
 *
 * Its work requests complete as soon as they are posted; receives wait until
 * their queue pair goes to error, and are then flushed.
 */
#ifndef _KRDMA_KUNIT_FAKE_DEVICE_H
#define _KRDMA_KUNIT_FAKE_DEVICE_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

/* Calls that can be made to fail. */
enum fake_verb {
	FAKE_QUERY_DEVICE,
	FAKE_QUERY_PORT,
	FAKE_ALLOC_PD,
	FAKE_CREATE_CQ,
	FAKE_CREATE_QP,
	FAKE_MODIFY_QP,
	FAKE_POST_SEND,
	FAKE_POST_RECV,
	FAKE_ALLOC_MR,
	FAKE_VERBS,
};

/* Objects that are counted. */
enum fake_object {
	FAKE_PD,
	FAKE_CQ,
	FAKE_QP,
	FAKE_MR,
	FAKE_OBJECTS,
};

/**
 * struct fake_script - what a verb is to do
 * @calls: how often it was called since the script was written
 * @fail_at: the call that fails, counted from 1; 0: none
 * @error: what it fails with, negative
 */
struct fake_script {
	unsigned int calls;
	unsigned int fail_at;
	int error;
};

/**
 * struct fake_pause - where a call stops
 * @entered: completed by the call when it has come this far
 * @go_on: completed by the test, to let it go on
 */
struct fake_pause {
	struct completion entered;
	struct completion go_on;
};

/**
 * struct fake_device - the device
 * @ib: what ib_core knows
 * @attr: the answer to query_device: change it before registering
 * @port: the answer to query_port, for every port: likewise, or at any time
 *	while nobody asks
 * @lock: protects @scripts and @port_pause
 * @scripts: by &enum fake_verb
 * @port_pause: where query_port stops; NULL: nowhere
 * @live: by &enum fake_object, what was made and not given back
 * @next_qp_num: for the numbers of queue pairs
 */
struct fake_device {
	struct ib_device ib;
	struct ib_device_attr attr;
	struct ib_port_attr port;

	spinlock_t lock;	/* see above */
	struct fake_script scripts[FAKE_VERBS];
	struct fake_pause *port_pause;

	atomic_t live[FAKE_OBJECTS];
	atomic_t next_qp_num;
};

static inline struct fake_device *to_fake(struct ib_device *ib)
{
	return container_of(ib, struct fake_device, ib);
}

struct fake_device *fake_device_alloc(unsigned int ports);
int fake_device_register(struct fake_device *fake, const char *name);
void fake_device_unregister(struct fake_device *fake);
int fake_device_free(struct fake_device *fake);

void fake_device_fail(struct fake_device *fake, enum fake_verb verb, unsigned int nth, int error);
unsigned int fake_device_calls(struct fake_device *fake, enum fake_verb verb);
void fake_device_pause_port(struct fake_device *fake, struct fake_pause *pause);

/* For the verbs: 0, or the error that the script wants. */
int fake_device_follow_script(struct fake_device *fake, enum fake_verb verb);

extern const struct ib_device_ops fake_verbs_ops;

#endif /* _KRDMA_KUNIT_FAKE_DEVICE_H */
