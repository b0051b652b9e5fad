// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Gets or sets a value of hub_kv_server. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <krdma_hub.h>

int main(int argc, char **argv)
{
	size_t key = argc > 2 ? strlen(argv[2]) + 1 : 0, length = argc > 3 ? strlen(argv[3]) : 0;
	struct krdma_ep_record answer = { 0 };
	struct krdma_hub *hub = NULL;
	struct krdma_ep *ep;
	char *message;
	int err;

	if (argc < 3) {
		fprintf(stderr, "usage: hub_kv_client HOST:PORT KEY [VALUE]\n");
		return 2;
	}
	message = malloc(key + length);
	if (!message)
		return 1;
	memcpy(message, argv[2], key);
	memcpy(message + key, argc > 3 ? argv[3] : "", length);
	err = krdma_hub_open(NULL, NULL, &hub);
	if (!err)
		err = krdma_ep_connect(hub, argv[1], NULL, 0, krdma_deadline(5000), &ep);
	if (!err)
		err = krdma_ep_call(ep, argc > 3 ? 2 : 1, message, key + length,
				    krdma_deadline(5000), &answer, sizeof(answer));
	if (!err)
		err = -(int)answer.tag;
	if (err)
		fprintf(stderr, "hub_kv_client: %s%s%s\n", strerror(-err),
			*krdma_hub_why(hub) ? ": " : "", krdma_hub_why(hub));
	else if (argc == 3)
		printf("%.*s\n", (int)answer.length, (const char *)answer.data);
	krdma_hub_close(hub);
	free(message);
	return !!err;
}
