// SPDX-License-Identifier: GPL-2.0
/*
 * A client of tools/examples/hub_kv_server.c that takes no long messages.
 *
 *	hub_short HOST:PORT KEY
 *
 * It gets a value, and prints the tag of the answer, which is an errno, and what that means.
 */
#include <stdio.h>
#include <string.h>

#include "krdma_hub.h"

#define LONGEST	2048

int main(int argc, char **argv)
{
	const struct krdma_hub_options options = {
		.size = sizeof(options), .eager = LONGEST, .longest = LONGEST,
	};
	struct krdma_ep_record answer = { 0 };
	struct krdma_hub *hub = NULL;
	struct krdma_ep *ep;
	int err;

	if (argc != 3) {
		fputs("usage: hub_short HOST:PORT KEY\n", stderr);
		return 2;
	}
	err = krdma_hub_open(NULL, &options, &hub);
	if (!err)
		err = krdma_ep_connect(hub, argv[1], NULL, 0, krdma_deadline(60000), &ep);
	if (!err)
		err = krdma_ep_call(ep, 1, argv[2], strlen(argv[2]) + 1, krdma_deadline(20000),
				    &answer, sizeof(answer));
	if (err)
		fprintf(stderr, "hub_short: %s\n", strerror(-err));
	else
		printf("%d: %s\n", (int)answer.tag, strerror((int)answer.tag));
	krdma_hub_close(hub);
	return !!err;
}
