/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A server and a client of libkrdma's simple layer, connected to each other within one
 * process.  Calls return 0 or a negative errno.
 */
#ifndef KRDMA_E2E_LIB_BOTH_H
#define KRDMA_E2E_LIB_BOTH_H

#include <pthread.h>

#include <krdma_simple.h>

/* Timeout of calls that must succeed; the harness ends the test earlier. */
#define BOTH_PATIENCE_MS	60000

/**
 * struct lib_both - a server and a client
 * @server, @client: the contexts
 * @port: port on which the server listens
 */
struct lib_both {
	struct krdma_simple *server;
	struct krdma_simple *client;
	uint16_t port;
};

/* Address of the server: $KRDMA_ADDRESS, if the tests run on another device, or BOOT_ADDRESS. */
const char *both_address(void);

/* Options of the server or the client; the timeout is BOTH_PATIENCE_MS. */
struct krdma_simple_options both_options(uint32_t cq_notify);

/* make: create both contexts.  connect: connect them.  open: make and connect. */
int lib_both_make(struct lib_both *both, const struct krdma_simple_options *server,
		  const struct krdma_simple_options *client);
int lib_both_connect(struct lib_both *both);
int lib_both_open(struct lib_both *both, const struct krdma_simple_options *server,
		  const struct krdma_simple_options *client);
void lib_both_close(struct lib_both *both);

/**
 * struct both_call - a call that another thread makes
 * @function: function to call
 * @context: context passed to it
 * @thread: the thread
 * @result: result of the call
 * @done: the call has returned
 */
struct both_call {
	int (*function)(struct krdma_simple *simple);
	struct krdma_simple *context;
	pthread_t thread;
	int result;
	int done;
};

int both_call_begin(struct both_call *call, int (*function)(struct krdma_simple *simple),
		    struct krdma_simple *context);
/* Wait for the end of the call.  Returns its result. */
int both_call_end(struct both_call *call);

#endif
