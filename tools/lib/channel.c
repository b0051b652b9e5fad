// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * One connection with its rings, and the threads that use it. See channel.h.
 */
#include <errno.h>
#include <time.h>

#include "channel.h"
#include "krdma_entry.h"

/* How long to wait for the reason after the connection has ended, in ms. */
#define REASON_MS	2000

#define NS_PER_S	1000000000ull

int channel_init(struct channel *channel)
{
	pthread_condattr_t attributes;
	int err;

	err = pthread_condattr_init(&attributes);
	if (err)
		return -err;
	err = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	if (!err)
		err = pthread_cond_init(&channel->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	if (err)
		return -err;
	err = pthread_mutex_init(&channel->lock, NULL);
	if (err)
		pthread_cond_destroy(&channel->changed);
	return -err;
}

void channel_destroy(struct channel *channel)
{
	pthread_mutex_destroy(&channel->lock);
	pthread_cond_destroy(&channel->changed);
}

int channel_create_qp(struct channel *channel, struct krdma_conn_create_qp_args *options)
{
	struct krdma_ring_create_args ring = {
		.size = sizeof(ring),
		.flags = channel->polled ? KRDMA_RING_POLLED : 0,
		.cq_entries = options->send_depth + KRDMA_RING_EXTRA,
	};
	int err;

	err = krdma_ring_create(channel->session, &ring, &channel->ring);
	ring.cq_entries = options->recv_depth + KRDMA_RING_EXTRA;
	if (!err)
		err = krdma_ring_create(channel->session, &ring, &channel->recv_ring);
	if (!err)
		err = krdma_conn_create_qp(channel->conn, channel->ring, channel->recv_ring, NULL,
					   options);
	return err;
}

int channel_post_receives(struct channel *channel, uint32_t first, uint32_t count)
{
	struct krdma_sqe entries[CHANNEL_BATCH];
	int err = 0;

	while (count && !err) {
		uint32_t batch = count < CHANNEL_BATCH ? count : CHANNEL_BATCH;

		for (uint32_t i = 0; i < batch; i++)
			entries[i] = krdma_entry_recv(channel->conn, first + i, channel->slots,
						      (first + i) * channel->slot_size,
						      channel->slot_length);
		err = krdma_ring_post(channel->recv_ring, entries, batch, NULL);
		first += batch;
		count -= batch;
	}
	return err;
}

unsigned char *channel_slot(const struct channel *channel, uint64_t slot)
{
	return (unsigned char *)krdma_mr_data(channel->slots) + slot * channel->slot_size;
}

void channel_release(struct channel *channel)
{
	krdma_ring_close(channel->ring);
	channel->ring = NULL;
	krdma_ring_close(channel->recv_ring);
	channel->recv_ring = NULL;
	mr_release(channel->slots);
	channel->slots = NULL;
}

/*
 * Waiting
 */

int channel_wait(struct krdma_conn *conn, uint64_t deadline)
{
	int err;

	do {
		err = krdma_conn_wait(conn, deadline, NULL);
	} while (err == -EINTR);
	return err;
}

int channel_sleep(struct channel *channel, uint64_t deadline)
{
	struct timespec until;

	if (deadline == KRDMA_FOREVER)
		return -pthread_cond_wait(&channel->changed, &channel->lock);
	until.tv_sec = (time_t)(deadline / NS_PER_S);
	until.tv_nsec = (long)(deadline % NS_PER_S);
	return -pthread_cond_timedwait(&channel->changed, &channel->lock, &until);
}

int channel_begin(struct channel *channel, bool *turn, uint64_t deadline)
{
	int err = 0;

	pthread_mutex_lock(&channel->lock);
	while (*turn && !err)
		err = channel_sleep(channel, deadline);
	if (!*turn)
		err = channel->failed;
	if (!err)
		*turn = true;
	pthread_mutex_unlock(&channel->lock);
	return err;
}

void channel_end(struct channel *channel, bool *turn)
{
	pthread_mutex_lock(&channel->lock);
	*turn = false;
	pthread_cond_broadcast(&channel->changed);
	pthread_mutex_unlock(&channel->lock);
}

void channel_poll(struct channel *channel)
{
	struct krdma_cqe cqes[CHANNEL_BATCH];
	size_t taken;

	if (!channel->polled || channel->is_busy)
		return;
	channel->is_busy = true;
	pthread_mutex_unlock(&channel->lock);
	/*
	 * Ignore the completions: they are of work requests that failed, or for which no thread
	 * waits any more. A failure ends the connection, and the receive ring reports that.
	 */
	krdma_ring_poll(channel->ring, cqes, CHANNEL_BATCH, &taken);
	pthread_mutex_lock(&channel->lock);
	channel->is_busy = false;
	pthread_cond_broadcast(&channel->changed);
}

/*
 * Ends
 */

int channel_fail(struct channel *channel, int err)
{
	pthread_mutex_lock(&channel->lock);
	if (!channel->failed)
		channel->failed = err;
	err = channel->failed;
	pthread_cond_broadcast(&channel->changed);
	pthread_mutex_unlock(&channel->lock);
	return err;
}

int channel_over(struct channel *channel)
{
	/* Wait for the end of the connection, because any failure ends it. */
	int err = channel_wait(channel->conn, krdma_deadline(REASON_MS)), failed;

	if (err == -ECONNABORTED)
		err = -ENOTCONN;
	/* Before the connection is aborted: another thread would take that for the reason. */
	failed = channel_fail(channel, err == -ENOTCONN || err == -ENODEV ? err : -ECONNRESET);
	if (!err)
		krdma_conn_disconnect(channel->conn, KRDMA_DISCONNECT_ABORT);
	return failed;
}

/*
 * Arrivals
 */

int channel_look(struct channel *channel, uint64_t deadline)
{
	struct krdma_cqe cqes[CHANNEL_BATCH];
	size_t taken = 0;
	bool over = false;
	int err, bad = 0;

	channel->is_looking = true;
	pthread_mutex_unlock(&channel->lock);
	err = krdma_ring_wait(channel->recv_ring, cqes, CHANNEL_BATCH, 1, deadline, &taken);

	pthread_mutex_lock(&channel->lock);
	for (size_t i = 0; !err && i < taken && !bad; i++) {
		if (cqes[i].status == KRDMA_WC_SUCCESS)
			bad = channel->arrived(channel, &cqes[i]);
		else
			over = true;
	}
	pthread_mutex_unlock(&channel->lock);

	if (err == -EAGAIN)
		err = -ETIMEDOUT;
	if (bad == -EPROTO) {
		channel_fail(channel, bad);
		krdma_conn_disconnect(channel->conn, KRDMA_DISCONNECT_ABORT);
	} else if (over || bad || (err && err != -ETIMEDOUT && err != -EINTR)) {
		channel_over(channel);
	}

	pthread_mutex_lock(&channel->lock);
	channel->is_looking = false;
	pthread_cond_broadcast(&channel->changed);
	return err;
}

/* Whether the receive ring can contain what arrived before the end and may still be taken. */
static bool may_have_come_before(const struct channel *channel)
{
	return channel->failed != -EPROTO && channel->failed != -ENOTCONN && !channel->is_looking;
}

int channel_await(struct channel *channel, uint32_t what, uint64_t deadline)
{
	bool looked = false;
	int err = 0;

	while (!channel->is_there(channel, what)) {
		if (channel->failed) {
			if (looked || !may_have_come_before(channel))
				return channel->failed;
			/*
			 * Pass a deadline in the past: with 0, krdma_ring_wait() might not
			 * poll the device.
			 */
			looked = channel_look(channel, 1);
			continue;
		}
		/* Check this only here: look once even if the deadline has passed. */
		if (err == -ETIMEDOUT || err == -EINTR)
			return err;
		err = channel->is_looking ? channel_sleep(channel, deadline) :
					    channel_look(channel, deadline);
	}
	return 0;
}
