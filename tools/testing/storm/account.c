// SPDX-License-Identifier: GPL-2.0
/*
 * Accounting of an end: each accepted work request completes exactly once and within the time
 * limit; each call returns within this limit, too.
 */
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#include "traffic.h"

static const char *const call_names[CALL_COUNT] = {
	[CALL_RESOLVE] = "resolve",
	[CALL_PREPARE] = "create QP",
	[CALL_CONNECT] = "connect",
	[CALL_ACCEPT] = "accept",
	[CALL_POST] = "post",
	[CALL_TAKE] = "take",
	[CALL_OPERATION] = "operation",
	[CALL_DISCONNECT] = "disconnect",
	[CALL_END] = "end",
	[CALL_CLOSE] = "close",
	[CALL_REGISTER] = "register",
	[CALL_RELEASE] = "release",
	[CALL_LISTEN] = "listen",
	[CALL_NEXT] = "next",
};

const char *call_name(int call)
{
	return call >= 0 && call < CALL_COUNT ? call_names[call] : "nothing";
}

uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

unsigned int roll(struct end *end, unsigned int below)
{
	return rand_r(&end->random) % below;
}

/* Report a violation and exit, because further violations would only follow from it. */
void fail(struct end *end, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	printf("violation: %s %u: %s\n", end->role, end->number, text);
	print_tally(end->traffic, end->role);
	fflush(stdout);
	_exit(3);
}

static void longest(struct traffic *traffic, enum call call, uint64_t ms)
{
	atomic_uint_least64_t *most = &traffic->tally.longest[call];
	uint_least64_t old = *most;

	while (ms > old && !atomic_compare_exchange_weak(most, &old, ms))
		;
}

void begin(struct end *end, enum call call)
{
	end->since = now_ms();
	end->doing = call;
	end->called = call;
}

void done(struct end *end)
{
	longest(end->traffic, end->doing, now_ms() - end->since);
	end->doing = -1;
}

/*
 * Errors that each call may return while devices, interfaces and peers come and go.  This program
 * makes no invalid calls, so any other error is a violation.
 */
#define ERRORS_MAX	7

static const int call_errors[CALL_COUNT][ERRORS_MAX] = {
	/* The address, the neighbour or the device is gone, or the reply is lost. */
	[CALL_RESOLVE] = { EHOSTUNREACH, EADDRNOTAVAIL, ETIMEDOUT, ENODEV },
	/* A resolved connection ends with its device. */
	[CALL_PREPARE] = { ENODEV, ENOTCONN },
	[CALL_REGISTER] = { ENODEV },
	/*
	 * The server does not listen, is gone or does not answer, or the device is gone, perhaps
	 * before the call; EIO: so is the local address, and the QP cannot be connected.
	 */
	[CALL_CONNECT] = {
		ECONNREFUSED, EPIPE, ECONNRESET, ETIMEDOUT, ENODEV, ENOTCONN, EIO,
	},
	/* The client has given up, before or while the server accepts it. */
	[CALL_ACCEPT] = { ENOTCONN, EPIPE, ECONNRESET, ETIMEDOUT, ENODEV },
	/* The connection has ended, or its device has. */
	[CALL_POST] = { ENOTCONN, ENODEV },
	[CALL_TAKE] = { ENODEV },
	[CALL_DISCONNECT] = { ENOTCONN },
};

/* Errors of resources that run out; expected only if the program runs with limits. */
static bool is_shortage(int err)
{
	return err == -ENOMEM || err == -EPERM || err == -EMFILE || err == -ENFILE ||
	       err == -EDQUOT;
}

bool expected(struct end *end, enum call call, int err)
{
	for (int i = 0; i < ERRORS_MAX && call_errors[call][i]; i++)
		if (err == -call_errors[call][i])
			return true;
	if (is_shortage(err) && end->traffic->short_of) {
		end->traffic->tally.short_of++;
		return true;
	}
	fail(end, "%s: %s", call_name(call), krdma_error_name(err));
}

/* Data, lengths, lkeys and rkeys are always right here, so most errors are violations. */
static bool status_expected(const struct traffic *traffic, uint8_t status)
{
	switch (status) {
	case KRDMA_WC_WR_FLUSH_ERR:
	case KRDMA_WC_RETRY_EXC_ERR:
	/* When the peer's process dies, its MRs end a moment before its connections. */
	case KRDMA_WC_REM_ACCESS_ERR:
	/* A device reports this if it could not send a packet. */
	case KRDMA_WC_LOC_QP_OP_ERR:
		return true;
	/* rxe reports these after heavy packet loss. */
	case KRDMA_WC_REM_OP_ERR:
	case KRDMA_WC_REM_INV_REQ_ERR:
		return traffic->over_cable;
	default:
		return false;
	}
}

static struct slot *slot_free(struct end *end)
{
	for (unsigned int i = 0; i < SLOTS; i++)
		if (!end->slots[i].accepted)
			return &end->slots[i];
	fail(end, "more operations than this program has made");
}

/*
 * Post work requests, with a tag for each.  Each wr_id is unique for the life of the end.
 * Returns 0, or the error if not all of them were accepted.
 */
int end_post(struct end *end, struct krdma_sqe *entries, const uint32_t *tags, size_t count)
{
	struct slot *slots[SLOTS];
	size_t accepted = 0;
	uint64_t now;
	int err;

	for (size_t i = 0; i < count; i++) {
		slots[i] = slot_free(end);
		slots[i]->accepted = true;
		slots[i]->wr_id = ++end->serial * SLOTS + (slots[i] - end->slots);
		slots[i]->tag = tags[i];
		slots[i]->opcode = entries[i].opcode;
		entries[i].wr_id = slots[i]->wr_id;
	}
	begin(end, CALL_POST);
	err = krdma_ring_post(end->ring, entries, count, &accepted);
	done(end);
	now = now_ms();
	if (accepted > count || (!err && accepted != count))
		fail(end, "%zu of %zu operations accepted, and %s", accepted, count,
		     krdma_error_name(err));
	for (size_t i = 0; i < count; i++) {
		slots[i]->since = now;
		if (i >= accepted) {
			slots[i]->accepted = false;
			continue;
		}
		end->under_way++;
		end->traffic->tally.accepted++;
		if (entries[i].opcode == KRDMA_OP_RECV)
			end->receives++;
		else
			end->sends++;
	}
	if (err)
		expected(end, CALL_POST, err);
	return err;
}

static void settle(struct end *end, const struct krdma_cqe *cqe)
{
	struct slot *slot = &end->slots[cqe->wr_id % SLOTS];

	if (!slot->accepted || slot->wr_id != cqe->wr_id)
		fail(end, "%s %#llx completes (%s), which was %s",
		     krdma_opcode_name(cqe->opcode), (unsigned long long)cqe->wr_id,
		     krdma_wc_status_name(cqe->status),
		     cqe->wr_id / SLOTS > end->serial ? "never asked for" : "complete");
	if (cqe->opcode != slot->opcode)
		fail(end, "%s completes as %s", krdma_opcode_name(slot->opcode),
		     krdma_opcode_name(cqe->opcode));
	slot->accepted = false;
	end->under_way--;
	end->traffic->tally.completed++;
	if (slot->opcode != KRDMA_OP_RECV)
		longest(end->traffic, CALL_OPERATION, now_ms() - slot->since);
	if (cqe->status) {
		if (!status_expected(end->traffic, cqe->status))
			fail(end, "%s ends with: %s, vendor's error %#x",
			     krdma_opcode_name(cqe->opcode), krdma_wc_status_name(cqe->status),
			     cqe->vendor_error);
		end->traffic->tally.failed++;
		end->traffic->tally.statuses[cqe->status]++;
		if (!end->broken) {
			end->broken = cqe->status;
			end->broken_at = end->serial;
		}
		if (slot->opcode != KRDMA_OP_RECV)
			end->order_broken = true;
		return;
	}
	/*
	 * The SQ completes in order, so no work request posted after a failed one succeeds.  The
	 * RQ is another queue: a receive can be flushed before the completion of an earlier send
	 * whose message has arrived.
	 */
	if (cqe->opcode != KRDMA_OP_RECV &&
	    (end->order_broken || (end->broken && cqe->wr_id / SLOTS > end->broken_at)))
		fail(end, "%s succeeds after one before it has failed: %s",
		     krdma_opcode_name(cqe->opcode), krdma_wc_status_name(end->broken));
	end->complete(end, slot->tag, cqe);
}

/* Find work requests that exceed the time limit, or that the device seems to have forgotten. */
static void look_for_late(struct end *end)
{
	unsigned int forgotten_ms = end->traffic->forgotten_ms;
	uint64_t now = now_ms();

	for (unsigned int i = 0; i < SLOTS; i++) {
		struct slot *slot = &end->slots[i];

		if (!slot->accepted || slot->opcode == KRDMA_OP_RECV)
			continue;
		if (forgotten_ms && now > slot->since + forgotten_ms && !end->forgotten) {
			end->forgotten = true;
			end->traffic->tally.forgotten++;
		}
		if (now > slot->since + end->traffic->limit_ms)
			fail(end, "%s has not ended in %llu ms", krdma_opcode_name(slot->opcode),
			     (unsigned long long)(now - slot->since));
	}
}

/*
 * Wait up to @ms for completions, and process them.  Returns 0 if there were any, -ECONNABORTED if
 * the device has forgotten a work request and the connection must be closed, or another error of
 * the wait, most often -ETIMEDOUT.
 */
int end_take(struct end *end, unsigned int ms)
{
	struct krdma_cqe cqes[16];
	size_t taken = 0;
	int err;

	begin(end, CALL_TAKE);
	err = krdma_ring_wait(end->ring, cqes, 16, 1, krdma_deadline(ms), &taken);
	done(end);
	if (err) {
		look_for_late(end);
		/* The ring belongs to the session, not to a device. */
		if (err != -ETIMEDOUT)
			expected(end, CALL_TAKE, err);
		return end->forgotten ? -ECONNABORTED : err;
	}
	for (size_t i = 0; i < taken; i++)
		settle(end, &cqes[i]);
	return 0;
}

static void await_end(struct end *end)
{
	int err;

	begin(end, CALL_END);
	err = krdma_conn_await_closed(end->conn, krdma_deadline(end->traffic->limit_ms));
	done(end);
	if (err)
		fail(end, "the connection does not end: %s", krdma_error_name(err));
	while (end->under_way) {
		err = end_take(end, end->traffic->limit_ms);
		if (err)
			fail(end, "the connection has ended, and %u operations have not: %s",
			     end->under_way, krdma_error_name(err));
	}
}

static void compare_counts(struct end *end)
{
	struct krdma_conn_query_args query;
	struct krdma_cqe cqe;
	size_t taken;
	int err;

	err = krdma_conn_query(end->conn, &query, sizeof(query));
	if (err)
		fail(end, "a connection that has ended cannot be asked: %s",
		     krdma_error_name(err));
	if (query.sends_posted != end->sends || query.sends_completed != end->sends ||
	    query.receives_posted != end->receives || query.receives_completed != end->receives)
		fail(end, "of %llu and %llu, krdma has counted %llu and %llu, ended: %llu and %llu",
		     (unsigned long long)end->sends, (unsigned long long)end->receives,
		     (unsigned long long)query.sends_posted,
		     (unsigned long long)query.receives_posted,
		     (unsigned long long)query.sends_completed,
		     (unsigned long long)query.receives_completed);
	if (!krdma_ring_poll(end->ring, &cqe, 1, &taken))
		fail(end, "one completion too many: %s", krdma_opcode_name(cqe.opcode));
}

static void release(struct end *end, struct krdma_mr **mr)
{
	int err;

	begin(end, CALL_RELEASE);
	err = krdma_mr_deregister(*mr, 0);
	done(end);
	if (err)
		fail(end, "memory that nothing uses is not released: %s",
		     krdma_error_name(err));
	*mr = NULL;
}

/*
 * Finish an end.  Disconnect it, abortively with @abort, or not at all if it has @ended by itself.
 * Then check that all work requests have completed, and release everything.
 */
void end_finish(struct end *end, bool abort, bool ended)
{
	int err;

	if (end->prepared && end->ring) {
		if (!ended) {
			begin(end, CALL_DISCONNECT);
			err = krdma_conn_disconnect(end->conn, abort ? KRDMA_DISCONNECT_ABORT : 0);
			done(end);
			if (err && err != -EALREADY)
				expected(end, CALL_DISCONNECT, err);
		}
		await_end(end);
		compare_counts(end);
	}
	begin(end, CALL_CLOSE);
	krdma_conn_close(end->conn);
	krdma_ring_close(end->ring);
	done(end);
	end->conn = NULL;
	end->ring = NULL;
	end->prepared = false;
	release(end, &end->mr);
	release(end, &end->bulk);
}

void print_tally(const struct traffic *traffic, const char *role)
{
	const struct tally *tally = &traffic->tally;

	printf("%ss: %llu connections, %llu refused, %llu lost; ", role,
	       (unsigned long long)tally->connected, (unsigned long long)tally->refused,
	       (unsigned long long)tally->lost);
	printf("%llu rounds, %llu messages, %llu bytes; ", (unsigned long long)tally->rounds,
	       (unsigned long long)tally->messages, (unsigned long long)tally->bytes);
	printf("%llu operations, %llu complete, %llu failed, %llu forgotten; %llu shortages\n",
	       (unsigned long long)tally->accepted, (unsigned long long)tally->completed,
	       (unsigned long long)tally->failed, (unsigned long long)tally->forgotten,
	       (unsigned long long)tally->short_of);
	for (int status = 1; status <= KRDMA_WC_GENERAL_ERR; status++)
		if (tally->statuses[status])
			printf("%ss: %llu x %s\n", role,
			       (unsigned long long)tally->statuses[status],
			       krdma_wc_status_name(status));
	printf("%ss: the longest, in ms:", role);
	for (int call = 0; call < CALL_COUNT; call++)
		printf(" %s %llu", call_name(call), (unsigned long long)tally->longest[call]);
	printf("\n");
}
