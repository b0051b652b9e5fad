// SPDX-License-Identifier: GPL-2.0
/*
 * The links of libkrdma's files over a connection that the test makes up: what the thread does that
 * keeps a link alive while its user waits for a disk.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "file_internal.h"
#include "tap.h"

/*
 * Stubs of libkrdma
 */

static unsigned char memory[(FILE_MESSAGES * 2 + 1) * (FILE_MESSAGE_MAX + 64)]
	__attribute__((aligned(64)));
static struct krdma_conn *const a_conn = (void *)memory;

/* The first receive that was posted, and the completions that krdma_ring_wait() returns next. */
static struct krdma_sqe receive;
static struct krdma_cqe arrived[2];
static size_t arrived_count;
/* The connection has ended: nothing more can be posted. */
static atomic_bool is_gone;
/* Sends, and those of them that the end of the connection has refused. */
static atomic_uint sends, refusals;

int krdma_ring_post(struct krdma_ring *ring, const struct krdma_sqe *entries, size_t count,
		    size_t *accepted)
{
	(void)ring;
	(void)count;
	(void)accepted;
	if (entries->opcode == KRDMA_OP_RECV) {
		if (!receive.sge_count)
			receive = *entries;
		return 0;
	}
	sends++;
	if (!is_gone)
		return 0;
	refusals++;
	return -ENOTCONN;
}

int krdma_ring_wait(struct krdma_ring *ring, struct krdma_cqe *cqes, size_t room, size_t least,
		    uint64_t deadline, size_t *taken)
{
	(void)ring;
	(void)room;
	(void)least;
	if (!arrived_count) {
		if (deadline)
			usleep(1000);
		return -ETIMEDOUT;
	}
	*taken = arrived_count;
	memcpy(cqes, arrived, arrived_count * sizeof(*cqes));
	arrived_count = 0;
	return 0;
}

int krdma_conn_private_data(struct krdma_conn *conn, void *data, size_t *length)
{
	const struct file_hello hello = { .streams = 1 };
	unsigned char bytes[FILE_HELLO_SIZE];

	(void)conn;
	*length = file_hello_encode(bytes, &hello);
	memcpy(data, bytes, *length);
	return 0;
}

int krdma_conn_query(struct krdma_conn *conn, struct krdma_conn_query_args *query, size_t size)
{
	(void)conn;
	memset(query, 0, size);
	return 0;
}

uint64_t krdma_deadline(unsigned int ms)
{
	return ms;
}

void *krdma_mr_data(const struct krdma_mr *mr)
{
	(void)mr;
	return memory;
}

int krdma_mr_alloc(struct krdma *session, uint32_t device_id, size_t length, uint32_t access,
		   struct krdma_mr **mr)
{
	(void)session;
	(void)device_id;
	(void)access;
	*mr = (void *)memory;
	return length <= sizeof(memory) ? 0 : -ENOMEM;
}

/* Functions whose only effect is that they succeed. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
int krdma_ring_create(struct krdma *session, const struct krdma_ring_create_args *options,
		      struct krdma_ring **ring)
{
	return 0;
}

int krdma_ring_close(struct krdma_ring *ring)
{
	return 0;
}

int krdma_mr_deregister(struct krdma_mr *mr, uint32_t flags)
{
	return 0;
}

int krdma_conn_create(struct krdma *session, struct krdma_conn **conn)
{
	return 0;
}

int krdma_conn_create_qp(struct krdma_conn *conn, struct krdma_ring *ring,
			 struct krdma_ring *recv_ring, struct krdma_srq *srq,
			 const struct krdma_conn_create_qp_args *options)
{
	return 0;
}

int krdma_conn_resolve(struct krdma_conn *conn, const struct sockaddr *remote,
		       const struct krdma_conn_resolve_args *options)
{
	return 0;
}

int krdma_conn_connect(struct krdma_conn *conn, const struct krdma_conn_param_args *param,
		       const void *data, size_t length)
{
	return 0;
}

int krdma_conn_accept(struct krdma_conn *conn, const struct krdma_conn_param_args *param,
		      const void *data, size_t length)
{
	return 0;
}

int krdma_conn_reject(struct krdma_conn *conn, const void *data, size_t length)
{
	return 0;
}

int krdma_conn_disconnect(struct krdma_conn *conn, uint32_t flags)
{
	return 0;
}

int krdma_conn_wait(struct krdma_conn *conn, uint64_t deadline, uint32_t *state)
{
	return 0;
}

int krdma_conn_await_closed(struct krdma_conn *conn, uint64_t deadline)
{
	return 0;
}

int krdma_conn_close(struct krdma_conn *conn)
{
	return 0;
}

int file_admit(struct file_link *link)
{
	return 0;
}

int file_be_admitted(struct file_link *link)
{
	return 0;
}

uint32_t krdma_conn_id(const struct krdma_conn *conn)
{
	return 1;
}

uint32_t krdma_mr_id(const struct krdma_mr *mr)
{
	return 1;
}

void file_proof(const struct secret *secret, char side, const unsigned char server[SECRET_NONCE],
		const unsigned char client[SECRET_NONCE], unsigned char proof[SECRET_PROOF])
{
	memset(proof, 0, SHA256_SIZE);
}

/*
 * A link and its peer
 */

static pthread_t user;
static bool watched_by_another;
static unsigned int times_watched;

static int on_tick(void *context)
{
	(void)context;
	times_watched++;
	watched_by_another |= !pthread_equal(pthread_self(), user);
	return 0;
}

/* A link that is well, and that has not said anything for long. */
static bool begin(struct file_link *link)
{
	memset(link, 0, sizeof(*link));
	memset(&receive, 0, sizeof(receive));
	arrived_count = 0;
	is_gone = false;
	sends = 0;
	refusals = 0;
	user = pthread_self();
	watched_by_another = false;
	times_watched = 0;
	link->patience_ms = UINT32_MAX;
	link->on_tick = on_tick;
	if (file_link_accept(link, a_conn))
		return false;
	link->said = 0;
	return true;
}

/* The peer has left; its last message may have arrived, and then that the connection has ended. */
static void leave(const struct file_message *last)
{
	arrived_count = 0;
	if (last) {
		arrived[arrived_count++] = (struct krdma_cqe){
			.wr_id = receive.wr_id,
			.opcode = KRDMA_OP_RECV,
			.length = (uint32_t)file_message_encode(last, NULL,
								(void *)(uintptr_t)
								receive.sge.addr),
		};
	}
	arrived[arrived_count++] = (struct krdma_cqe){
		.wr_id = receive.wr_id + 1,
		.opcode = KRDMA_OP_RECV,
		.status = KRDMA_WC_WR_FLUSH_ERR,
	};
}

/* What a call of the user's does that waits for a disk until the other thread has sent so often. */
static void stall(struct file_link *link, const atomic_uint *count)
{
	file_link_leave(link);
	while (!*count)
		usleep(1000);
	file_link_enter(link);
}

static void test_kept(void)
{
	static struct file_link link;

	tap_result(begin(&link), "a link is made");
	stall(&link, &sends);
	tap_result(!link.error && !times_watched, "a keepalive is sent while its user is away");
	file_link_rest(&link);
}

/*
 * The device tells later that the connection has ended than a send is refused. The user of the link
 * then gets its turn, and finds out why.
 */
static void test_peer_leaves(void)
{
	static const struct file_message full = { .type = FILE_MESSAGE_ERROR, .code = 3 };
	static const struct file_message alive = { .type = FILE_MESSAGE_ALIVE };
	static struct file_link link;

	if (!begin(&link)) {
		tap_result(false, "another link is made");
		return;
	}
	is_gone = true;
	stall(&link, &refusals);
	tap_result(true, "a peer that leaves while its user is away does not keep that away");
	tap_result(!watched_by_another, "no other thread asks its user whether to go on");
	leave(&full);
	tap_result(file_link_send(&link, &alive, NULL) == file_code_error(full.code) &&
		   link.side == KRDMA_FILE_SIDE_PEER, "the peer's last message is heard");
	file_link_rest(&link);

	begin(&link);
	is_gone = true;
	stall(&link, &refusals);
	leave(NULL);
	tap_result(file_link_pump(&link, true) == -ECONNRESET &&
		   link.side == KRDMA_FILE_SIDE_BETWEEN, "and that it has left");
	file_link_rest(&link);

	/* The keepalive that was refused does not stay on its way for ever. */
	begin(&link);
	is_gone = true;
	stall(&link, &refusals);
	link.said = 0;
	tap_result(file_link_pump(&link, true) == -ECONNRESET,
		   "also if the device tells nothing at all");
	file_link_rest(&link);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* Threads that wait for each other do not end. */
	alarm(60);
	test_kept();
	test_peer_leaves();
	return tap_end();
}
