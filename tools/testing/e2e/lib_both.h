/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A server and a client of libkrdma's simple layer, connected to each other within one
 * process.  Calls answer 0 or a negative errno.
 */
#ifndef KRDMA_E2E_LIB_BOTH_H
#define KRDMA_E2E_LIB_BOTH_H

#include <pthread.h>

#include <krdma_simple.h>

/* Timeout of calls that must succeed; the harness ends the test earlier. */
#define BOTH_PATIENCE_MS	60000

/**
 * struct lib_both - the two
 * @server, @client: the contexts
 * @port: where the server listens
 */
struct lib_both {
	struct krdma_simple *server;
	struct krdma_simple *client;
	uint16_t port;
};

/* Where the server is: KRDMA_ADDRESS of the environment, for other devices. */
const char *both_address(void);

/* What they are to be; timeout_ms: BOTH_PATIENCE_MS. */
struct krdma_simple_options both_options(uint32_t cq_notify);

/* Both contexts, not connected; connected. */
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
/* Waits for its end; what it has answered. */
int both_call_end(struct both_call *call);

#endif
