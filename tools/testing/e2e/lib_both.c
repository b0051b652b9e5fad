// SPDX-License-Identifier: GPL-2.0
/*
 * A server and a client of libkrdma's simple layer, within one process.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib_both.h"
#include "pair.h"

const char *both_address(void)
{
	const char *address = getenv("KRDMA_ADDRESS");

	return address ? address : BOOT_ADDRESS;
}

struct krdma_simple_options both_options(uint32_t cq_notify)
{
	return (struct krdma_simple_options) {
		.size = sizeof(struct krdma_simple_options),
		.cq_notify = cq_notify,
		.buffer_size = 1 << 16,
		.timeout_ms = BOTH_PATIENCE_MS,
	};
}

static void *call_run(void *argument)
{
	struct both_call *call = argument;

	call->result = call->function(call->context);
	__atomic_store_n(&call->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

int both_call_begin(struct both_call *call, int (*function)(struct krdma_simple *simple),
		    struct krdma_simple *context)
{
	*call = (struct both_call) { .function = function, .context = context };
	return -pthread_create(&call->thread, NULL, call_run, call);
}

int both_call_end(struct both_call *call)
{
	pthread_join(call->thread, NULL);
	return call->result;
}

int lib_both_make(struct lib_both *both, const struct krdma_simple_options *server,
		  const struct krdma_simple_options *client)
{
	int err;

	memset(both, 0, sizeof(*both));
	err = krdma_simple_server(both_address(), &both->port, server, &both->server);
	if (!err)
		err = krdma_simple_client(both_address(), both->port, client, &both->client);
	return err;
}

int lib_both_connect(struct lib_both *both)
{
	struct both_call server;
	int err, other;

	err = both_call_begin(&server, krdma_simple_wait_for_client, both->server);
	if (err)
		return err;
	err = krdma_simple_connect(both->client);
	other = both_call_end(&server);
	return err ? err : other;
}

int lib_both_open(struct lib_both *both, const struct krdma_simple_options *server,
		  const struct krdma_simple_options *client)
{
	int err = lib_both_make(both, server, client);

	return err ? err : lib_both_connect(both);
}

void lib_both_close(struct lib_both *both)
{
	krdma_simple_close(both->client);
	krdma_simple_close(both->server);
}
