// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Keeps keys and values of any number of clients: tag 1 gets, tag 2 sets "KEY\0VALUE". */
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <krdma_hub.h>

struct item { char *key; void *value; size_t length; };

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct item *)a)->key, ((const struct item *)b)->key);
}

/* A client may send anything: the key ends inside of the message. */
static int serve(const struct krdma_ep_record *call)
{
	struct item want = { .key = (char *)call->data }, **at, *item;
	const char *value = memchr(call->data, '\0', call->length);
	static void *root;

	if (!value++)
		return krdma_ep_answer(call, EBADMSG, NULL, 0);
	at = tfind(&want, &root, compare);
	if (call->tag == 1)
		return at ? krdma_ep_answer(call, 0, (*at)->value, (*at)->length) :
			    krdma_ep_answer(call, ENOENT, NULL, 0);
	item = at ? *at : calloc(1, sizeof(*item));
	if (!at) {
		item->key = strdup(want.key);
		tsearch(item, &root, compare);
	}
	free(item->value);
	item->length = call->length - (size_t)(value - want.key);
	item->value = memcpy(malloc(item->length + 1), value, item->length);
	return krdma_ep_answer(call, 0, NULL, 0);
}

int main(int argc, char **argv)
{
	struct krdma_ep_record record;
	struct krdma_hub *hub;
	int failed, err = krdma_hub_open(argc > 1 ? argv[1] : ":7474", NULL, &hub);

	while (!err && !(err = krdma_hub_next(hub, KRDMA_FOREVER, &record, sizeof(record)))) {
		failed = record.event == KRDMA_EP_MESSAGE && record.call ? serve(&record) : 0;
		/* The client does not take so long an answer, or so many: it takes a short one. */
		if (failed)
			krdma_ep_answer(&record, (uint64_t)-failed, NULL, 0);
		krdma_ep_done(&record);
		if (record.event == KRDMA_EP_LEFT)
			krdma_ep_close(record.ep, NULL);
	}
	fprintf(stderr, "hub_kv_server: %s\n", strerror(-err));
	return 1;
}
