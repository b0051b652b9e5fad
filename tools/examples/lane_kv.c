// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A key-value store for 10,000 clients.  Each has a lane, which the server knows by its number, and
 * the messages of all take their receives from one SRQ.  So an idle client costs a few kilobytes,
 * and no descriptor.  A client sends its request with the connection request.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <krdma_entry.h>

#define PORT	7479
#define CLIENTS	10000
#define RINGS	4				/* no device has completions for all in one */
#define DEPTH	4096				/* receives, for the requests of all clients */
#define KEYS	65536
#define MANY	64				/* requests, or completions, at a time */
#define ROOM	(2 + KRDMA_RING_EXTRA)		/* completions for each connection */
#define PATIENCE 5000				/* for a client to take its answer, in ms */

struct message {
	int32_t error;
	char key[28];
	char value[96];				/* to store, or what is stored; "": to be found */
};

static struct krdma *session;
static struct krdma_ring *rings[RINGS];		/* client N has ring N % RINGS */
static struct krdma_mr *mr;
static struct krdma_srq *srq;
static struct message table[KEYS];
static struct {
	uint32_t client;			/* whose answer the message is; 0: it is none */
	uint64_t until;
} answers[DEPTH];

static void check(const char *what, int err)
{
	if (!err)
		return;
	fprintf(stderr, "lane_kv: cannot %s: %s\n", what, strerror(-err));
	exit(1);
}

/* Rings for @clients and @others, and memory for @count messages.  Returns their device. */
static uint32_t prepare(const struct sockaddr *local, const struct sockaddr *remote,
			uint32_t clients, uint32_t others, uint32_t count)
{
	struct krdma_ring_create_args size = {
		.size = sizeof(size), .cq_entries = (clients / RINGS + MANY) * ROOM + others,
	};

	check("prepare", krdma_device_by_address(session, local, remote, krdma_deadline(5000),
						 &size.device_id));
	for (int i = 0; i < RINGS; i++)
		check("create a ring", krdma_ring_create(session, &size, &rings[i]));
	check("register memory", krdma_mr_alloc_for_lanes(session, size.device_id,
							  count * sizeof(struct message),
							  KRDMA_ACCESS_LOCAL_WRITE, 0, &mr));
	return size.device_id;
}

static struct message *message_at(uint64_t number)
{
	return (struct message *)krdma_mr_data(mr) + number;
}

/*
 * The server
 */

static struct message *find(const char *key)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (const char *at = key; *at; at++)
		sum = (sum ^ (unsigned char)*at) * 0x100000001b3;
	for (unsigned int i = 0; i < KEYS; i++) {
		struct message *slot = &table[(sum + i) % KEYS];

		if (!slot->key[0] || !strcmp(slot->key, key))
			return slot;
	}
	return NULL;
}

/* Do not trust the client: its strings may have no end. */
static int carry_out(struct message *request)
{
	struct message *slot;

	if (!memchr(request->key, 0, sizeof(request->key)) || !request->key[0] ||
	    !memchr(request->value, 0, sizeof(request->value)))
		return -EINVAL;
	slot = find(request->key);
	if (!slot || (!request->value[0] && !slot->key[0]))
		return slot ? -ENOENT : -ENOSPC;
	if (request->value[0])
		*slot = *request;
	else
		memcpy(request->value, slot->value, sizeof(slot->value));
	return 0;
}

static void give_back(uint64_t number)
{
	const size_t size = sizeof(struct message);
	struct krdma_sqe entry = krdma_entry_srq_recv(srq, number, mr, number * size, size);

	answers[number].client = 0;
	check("post a receive", krdma_srq_post(srq, &entry, 1, NULL));
}

static void leave(uint32_t client)
{
	struct krdma_conns_entry entry = { .id = client };

	krdma_conns_close(session, &entry, 1, NULL);
}

static void complete(const struct krdma_cqe *cqe)
{
	struct krdma_sqe answer;

	if (cqe->opcode == KRDMA_OP_EVENT) {
		if (cqe->length != KRDMA_EVENT_ESTABLISHED)
			leave(cqe->dest);
		return;
	}
	if (cqe->opcode == KRDMA_OP_RECV && cqe->status == KRDMA_WC_SUCCESS) {
		answer = krdma_entry(KRDMA_OP_SEND, cqe->dest, cqe->wr_id, mr,
				     cqe->wr_id * sizeof(struct message), sizeof(struct message));
		message_at(cqe->wr_id)->error = cqe->length == sizeof(struct message) ?
						carry_out(message_at(cqe->wr_id)) : -EINVAL;
		answers[cqe->wr_id].client = cqe->dest;
		answers[cqe->wr_id].until = krdma_deadline(PATIENCE);
		if (!krdma_ring_post(rings[cqe->dest % RINGS], &answer, 1, NULL))
			return;
		leave(cqe->dest);		/* it has ended, or has asked too much at a time */
	}
	/* The answer is sent, or there is none. */
	give_back(cqe->wr_id);
}

/* Clients that take no answers would hold the receives of all others.  Once a second. */
static void leave_slow(void)
{
	uint64_t now = krdma_deadline(0);
	static uint64_t next;

	if (now < next)
		return;
	next = krdma_deadline(1000);
	for (uint32_t i = 0; i < DEPTH; i++) {
		if (!answers[i].client || now < answers[i].until)
			continue;
		leave(answers[i].client);	/* the answer completes, too */
		answers[i].client = 0;
	}
}

static void accept_at(uint32_t number, const struct krdma_conns_entry *taken, uint32_t count)
{
	struct krdma_conns_args args = { .size = sizeof(args), .flags = KRDMA_CONNS_SRQ,
					 .srq_fd = krdma_srq_fd(srq), .send_depth = 2 };
	struct krdma_conns_entry entries[MANY];
	uint32_t mine = 0, accepted = 0;
	int err = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (taken[i].id % RINGS != number)
			continue;
		entries[mine] = taken[i];
		entries[mine++].private_data_len = 0;
	}
	if (mine)
		err = krdma_conns_accept(session, rings[number], entries, mine, &args, &accepted);
	for (uint32_t i = 0; i < mine; i++) {
		/* It has given up, or there are too many; or there is no memory for any. */
		if (entries[i].error || (err && !accepted))
			leave(entries[i].id);
	}
}

/* Returns an error if the others have to wait. */
static int admit(struct krdma_listener *listener)
{
	struct krdma_conns_entry entries[MANY] = { { 0 } };
	uint32_t taken;
	int err = krdma_conns_take(session, listener, entries, MANY, 0, &taken);

	/* Also with an error, some may have been taken before it. */
	for (uint32_t i = 0; taken && i < RINGS; i++)
		accept_at(i, entries, taken);
	return err == -EAGAIN ? 0 : err;
}

static void serve(const struct sockaddr *address)
{
	struct krdma_srq_create_args attr = { .size = sizeof(attr), .depth = DEPTH,
					      .flags = KRDMA_SRQ_CREATE_LANES };
	struct krdma_listener *listener;
	struct pollfd fds[RINGS + 1] = { { 0 } };
	struct krdma_cqe cqes[MANY];
	size_t taken;
	int err;

	attr.device_id = prepare(address, NULL, CLIENTS, DEPTH, DEPTH);
	check("create an SRQ", krdma_srq_create(session, rings[0], &attr, &srq));
	for (uint64_t i = 0; i < DEPTH; i++)
		give_back(i);
	check("listen", krdma_listen(session, address, KRDMA_LISTEN_LANES, 4096, &listener));
	for (int i = 0; i <= RINGS; i++)
		fds[i] = (struct pollfd){ i < RINGS ? krdma_ring_fd(rings[i]) :
						      krdma_listener_fd(listener), POLLIN, 0 };
	for (;;) {
		poll(fds, RINGS + 1, 1000);
		leave_slow();
		for (int i = 0; i < RINGS; i++) {
			taken = 0;
			err = krdma_ring_poll(rings[i], cqes, MANY, &taken);
			check("serve", err == -EAGAIN ? 0 : err);	/* the device is gone */
			for (size_t j = 0; j < taken; j++)
				complete(&cqes[j]);
		}
		/* With too many clients, wait until one leaves, or a second. */
		fds[RINGS].fd = admit(listener) ? -1 : krdma_listener_fd(listener);
	}
}

/*
 * The clients
 */

/* Waits for @count answers, in the messages from the second one on. */
static void await(struct krdma_ring *ring, uint32_t count)
{
	uint64_t deadline = krdma_deadline(60000);
	struct krdma_cqe cqe;
	size_t taken = 0;

	while (count) {
		check("get an answer", krdma_ring_wait(ring, &cqe, 1, 1, deadline, &taken));
		if (cqe.opcode != KRDMA_OP_RECV)
			continue;
		check("get an answer", cqe.status ? -ECONNRESET : 0);
		check("find the key", message_at(cqe.wr_id)->error);
		count--;
	}
}

static void post(struct krdma_ring *ring, uint32_t client, uint64_t number)
{
	const size_t size = sizeof(struct message);
	struct krdma_sqe entries[] = {
		krdma_entry(KRDMA_OP_RECV, client, number, mr, number * size, size),
		krdma_entry(KRDMA_OP_SEND, client, 0, mr, 0, size),
	};

	entries[1].flags = KRDMA_SQE_UNSIGNALED;
	check("send a request", krdma_ring_post(ring, entries, 2, NULL));
}

/* One, whose request does not wait until it is accepted. */
static void ask(const struct sockaddr *to)
{
	struct krdma_conn_create_qp_args depth = { .size = sizeof(depth), .send_depth = 1,
						   .recv_depth = 1 };
	struct krdma_conn_param_args early = { .size = sizeof(early),
					       .flags = KRDMA_CONN_PARAM_EARLY };
	uint64_t deadline = krdma_deadline(10000), trunk;
	struct krdma_conn *conn;

	check("connect", krdma_conn_create_lane(session, &conn) ?:
	      krdma_conn_resolve(conn, to, NULL) ?: krdma_conn_wait(conn, deadline, NULL) ?:
	      krdma_conn_create_qp(conn, rings[0], NULL, NULL, &depth) ?:
	      krdma_conn_connect(conn, &early, NULL, 0) ?: krdma_conn_trunk(conn, &trunk));
	if (!trunk)				/* the server takes no lanes: a plain connection */
		check("connect", krdma_conn_wait(conn, deadline, NULL));
	post(rings[0], krdma_conn_id(conn), 1);
	await(rings[0], 1);
	printf("%s\n", message_at(1)->value);
	krdma_conn_close(conn);
}

static void ask_many(const struct sockaddr_in *to, uint32_t count)
{
	struct krdma_conns_args args = { .size = sizeof(args), .flags = KRDMA_CONNS_LANES,
					 .send_depth = 1, .recv_depth = 1 };
	struct krdma_conns_entry *entries = calloc(count, sizeof(*entries));
	uint32_t each = (count + RINGS - 1) / RINGS, first, mine;

	check("allocate", entries ? 0 : -ENOMEM);
	for (uint32_t i = 0; i < count; i++)
		memcpy(&entries[i].remote, to, sizeof(*to));
	for (first = 0; first < count; first += mine) {
		mine = count - first < each ? count - first : each;
		check("connect", krdma_conns_open(session, rings[first / each], entries + first,
						  mine, &args, krdma_deadline(600000), NULL));
	}
	for (uint32_t i = 0; i < count; i++)
		post(rings[i / each], entries[i].id, i + 1);
	for (first = 0; first < count; first += mine) {
		mine = count - first < each ? count - first : each;
		await(rings[first / each], mine);
	}
	printf("%u clients were answered\n", count);
	check("close", krdma_conns_close(session, entries, count, NULL));
	free(entries);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	const struct sockaddr *to = (const struct sockaddr *)&address;
	bool serves = argc == 3 && !strcmp(argv[1], "serve");
	uint32_t count = argc == 5 && !strcmp(argv[1], "many") ? (uint32_t)atoi(argv[2]) : 1;

	argv += serves ? 2 : argc == 5 ? 3 : 1;
	if (argc < 3 || argc > 5 || !count || inet_pton(AF_INET, argv[0], &address.sin_addr) != 1)
		return fprintf(stderr, "usage: lane_kv serve ADDRESS\n"
			       "       lane_kv ADDRESS KEY [VALUE]\n"
			       "       lane_kv many CLIENTS ADDRESS KEY\n"), 2;
	check("open /dev/krdma", krdma_open(&session));
	if (serves)
		serve(to);
	prepare(NULL, to, count, 0, count + 1);
	snprintf(message_at(0)->key, sizeof(message_at(0)->key), "%s", argv[1]);
	snprintf(message_at(0)->value, sizeof(message_at(0)->value), "%s",
		 argc == 4 ? argv[2] : "");
	if (argc == 5)
		ask_many(&address, count);
	else
		ask(to);
	return 0;
}
