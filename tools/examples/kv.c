// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* A key-value store.  Clients read the server's table by RDMA, and send it what to store. */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <krdma_entry.h>

#define PORT	7473
#define SLOTS	1024

struct slot {
	uint64_t sum;		/* of key and value; another value: the server is writing them */
	char key[24];
	char value[96];
};

static void check(const char *what, int err)
{
	if (!err)
		return;
	fprintf(stderr, "kv: cannot %s: %s\n", what, strerror(-err));
	exit(1);
}

static uint64_t hash(const char *data, size_t length)
{
	uint64_t sum = 0xcbf29ce484222325;

	while (length--)
		sum = (sum ^ (unsigned char)*data++) * 0x100000001b3;
	return sum;
}

static struct krdma *session;
static struct krdma_mr *table;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int mr_for(struct krdma_conn *conn, size_t size, uint32_t access, struct krdma_mr **mr)
{
	struct krdma_conn_query_args query;

	access |= KRDMA_ACCESS_LOCAL_WRITE;
	return krdma_conn_query(conn, &query, sizeof(query)) ?:
	       krdma_mr_alloc(session, query.device_id, size, access, mr);
}

static int complete(struct krdma_ring *ring, uint64_t deadline)
{
	struct krdma_cqe cqe;
	size_t taken;
	int err = krdma_ring_wait(ring, &cqe, 1, 1, deadline, &taken);

	return err || cqe.status == KRDMA_WC_SUCCESS ? err : -EIO;
}

static int store(const struct slot *from)
{
	struct slot *to = krdma_mr_data(table);

	if (from->key[sizeof(from->key) - 1] || from->value[sizeof(from->value) - 1])
		return -EINVAL;		/* not zero-terminated: do not trust the client */
	to += hash(from->key, strlen(from->key)) % SLOTS;
	pthread_mutex_lock(&lock);
	memcpy(to->key, from->key, sizeof(*to) - sizeof(to->sum));
	to->sum = hash(to->key, sizeof(*to) - sizeof(to->sum));
	pthread_mutex_unlock(&lock);
	return 0;
}

static void *serve(void *arg)
{
	struct krdma_conn *conn = arg;
	unsigned char descriptor[KRDMA_MR_DESC_SIZE];
	struct krdma_sqe entries[2];
	struct krdma_ring *ring = NULL;
	struct krdma_mr *mr = NULL;
	struct slot *slot;
	int err;

	err = krdma_mr_describe(table, 0, 0, descriptor) ?:
	      mr_for(conn, 2 * sizeof(*slot), 0, &mr) ?: krdma_ring_create(session, NULL, &ring);
	if (err)
		goto close;
	slot = krdma_mr_data(mr);
	entries[0] = krdma_entry_recv(conn, 0, mr, 0, sizeof(*slot));
	entries[1] = krdma_entry_send(conn, 1, mr, sizeof(*slot), sizeof(int));
	entries[1].flags = KRDMA_SQE_UNSIGNALED;
	err = krdma_conn_create_qp(conn, ring, NULL, NULL, NULL) ?:
	      krdma_ring_post(ring, entries, 1, NULL) ?:
	      krdma_conn_accept(conn, NULL, descriptor, sizeof(descriptor));
	while (!err && !complete(ring, KRDMA_FOREVER)) {
		*(int *)&slot[1] = store(slot);
		err = krdma_ring_post(ring, entries, 2, NULL);
	}
close:
	krdma_conn_close(conn);
	krdma_ring_close(ring);
	krdma_mr_deregister(mr, KRDMA_DEREGISTER_LATER);
	return NULL;
}

static int server(void)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_port = htons(PORT) };
	struct krdma_listener *listener;
	struct krdma_conn *conn;
	pthread_t thread;
	int err;

	check("listen", krdma_listen(session, (struct sockaddr *)&any, 0, 0, &listener));
	while ((err = krdma_listener_next(listener, KRDMA_FOREVER, &conn)) != -ENODEV) {
		if (err)
			sleep(1);			/* no descriptor is free for a client */
		else if ((!table && mr_for(conn, sizeof(struct slot[SLOTS]),
					   KRDMA_ACCESS_REMOTE_READ, &table)) ||
			 pthread_create(&thread, NULL, serve, conn))
			krdma_conn_close(conn);		/* no memory, or no thread */
		else
			pthread_detach(thread);
	}
	return 1;
}

static int client(const char *address, const char *key, const char *value)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	uint64_t at = hash(key, strlen(key)) % SLOTS * sizeof(struct slot);
	unsigned char descriptor[KRDMA_MR_DESC_SIZE];
	size_t length = sizeof(descriptor);
	uint64_t deadline = krdma_deadline(10000);
	struct krdma_remote_mr remote;
	struct krdma_sqe entries[2];
	struct krdma_conn *conn;
	struct krdma_ring *ring;
	struct krdma_mr *mr;
	struct slot *slot;

	check("parse the address", inet_pton(AF_INET, address, &to.sin_addr) == 1 ? 0 : -EINVAL);
	check("connect", krdma_ring_create(session, NULL, &ring) ?:
	      krdma_conn_create(session, &conn) ?:
	      krdma_conn_resolve(conn, (struct sockaddr *)&to, NULL) ?:
	      krdma_conn_wait(conn, deadline, NULL) ?:
	      krdma_conn_create_qp(conn, ring, NULL, NULL, NULL) ?:
	      krdma_conn_connect(conn, NULL, NULL, 0) ?: krdma_conn_wait(conn, deadline, NULL));
	check("find the table", krdma_conn_private_data(conn, descriptor, &length) ?:
	      krdma_remote_mr_from_desc(descriptor, length, &remote));
	check("register memory", mr_for(conn, 2 * sizeof(*slot), 0, &mr));
	slot = krdma_mr_data(mr);
	if (value) {
		snprintf(slot->key, sizeof(slot->key), "%s", key);
		snprintf(slot->value, sizeof(slot->value), "%s", value);
		entries[0] = krdma_entry_recv(conn, 0, mr, sizeof(*slot), sizeof(int));
		entries[1] = krdma_entry_send(conn, 1, mr, 0, sizeof(*slot));
		check("send", krdma_ring_post(ring, entries, 2, NULL) ?:
		      complete(ring, deadline) ?: complete(ring, deadline));
		return check("store", *(int *)&slot[1]), 0;
	}
	do {
		entries[0] = krdma_entry_read(conn, 0, mr, 0, sizeof(*slot), &remote, at);
		check("read", krdma_ring_post(ring, entries, 1, NULL) ?: complete(ring, deadline));
	} while (slot->sum && slot->sum != hash(slot->key, sizeof(*slot) - sizeof(slot->sum)));
	if (!slot->sum || strcmp(slot->key, key))
		return fprintf(stderr, "kv: no such key\n"), 1;
	return printf("%s\n", slot->value), 0;
}

int main(int argc, char **argv)
{
	check("open /dev/krdma", krdma_open(&session));
	if (argc == 2 && !strcmp(argv[1], "serve"))
		return server();
	if (argc == 3 || argc == 4)
		return client(argv[1], argv[2], argv[3]);
	return fprintf(stderr, "usage: kv serve | kv ADDRESS KEY [VALUE]\n"), 2;
}
