// SPDX-License-Identifier: GPL-2.0
/*
 * A client.  Each round exchanges messages, writes bulk data and reads them back, and increments
 * a counter in the server's memory.  Rounds go on until the connection is lost or the client ends
 * it; then the client connects again.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <unistd.h>

#include "traffic.h"

enum tag {
	TAG_MESSAGE,
	TAG_RECEIVE,
	TAG_WRITE,
	TAG_READ,
	TAG_ADD,
	TAG_PROBE,
};

#define TAG(kind, slot)	((kind) << 8 | (slot))

/* Offsets in the MR of a client. */
#define AT_SEND		0
#define AT_RECEIVE	(MESSAGES * MESSAGE_MAX)
#define AT_WRITE	(2 * MESSAGES * MESSAGE_MAX)
#define AT_READ		(AT_WRITE + BULK_SIZE)
#define AT_ADD		(AT_READ + BULK_SIZE)
#define AT_PROBE	(AT_ADD + 8)
#define CLIENT_SIZE	(AT_PROBE + 8)

/* A value that the counter never has, to see whether a fetch-and-add has written its result. */
#define UNTOUCHED	UINT64_MAX

struct client {
	struct end *end;
	struct krdma_remote_mr remote;
	uint64_t id;
	uint64_t sent;
	uint64_t answered;
	uint64_t adds;
	/* Work requests of this round that are not complete. */
	unsigned int waiting;
	bool probing;
	/* Offset and length of this round's write and read. */
	uint32_t offset;
	uint32_t length;
	/* Expected content of the server's memory. */
	unsigned char mirror[BULK_SIZE];
};

/* Each thread runs one client. */
static __thread struct client *self;

static unsigned char *memory_at(size_t offset)
{
	return (unsigned char *)krdma_mr_data(self->end->mr) + offset;
}

static int post_receive(struct end *end, unsigned int slot)
{
	struct krdma_sqe entry = krdma_entry_recv(end->conn, 0, end->mr,
						  AT_RECEIVE + slot * MESSAGE_MAX, MESSAGE_MAX);
	uint32_t tag = TAG(TAG_RECEIVE, slot);

	return end_post(end, &entry, &tag, 1);
}

static void received(struct end *end, unsigned int slot, uint32_t length)
{
	const struct message *message;
	const char *wrong;

	message = (void *)memory_at(AT_RECEIVE + slot * MESSAGE_MAX);
	wrong = message_wrong(message, length, self->id);
	if (wrong)
		fail(end, "an answer after %llu: %s", (unsigned long long)self->answered, wrong);
	if (message->kind == MESSAGE_REPLY) {
		if (message->sequence != self->answered)
			fail(end, "answer %llu instead of %llu",
			     (unsigned long long)message->sequence,
			     (unsigned long long)self->answered);
		self->answered++;
		end->traffic->tally.messages++;
		end->traffic->tally.bytes += length;
	} else if (message->kind != MESSAGE_PROBE) {
		fail(end, "an answer of kind %u", message->kind);
	}
	post_receive(end, slot);
}

static void compare_read(struct end *end)
{
	const unsigned char *is = memory_at(AT_READ + self->offset);
	const unsigned char *wanted = memory_at(AT_WRITE + self->offset);

	for (uint32_t i = 0; i < self->length; i++)
		if (is[i] != wanted[i])
			fail(end, "byte %u of %u read is %#x, and was written as %#x", i,
			     self->length, is[i], wanted[i]);
	memcpy(self->mirror + self->offset, wanted, self->length);
	end->traffic->tally.bytes += 2 * self->length;
}

static void complete(struct end *end, uint32_t tag, const struct krdma_cqe *cqe)
{
	uint64_t count;

	switch (tag >> 8) {
	case TAG_RECEIVE:
		received(end, tag & 0xff, cqe->length);
		return;
	case TAG_PROBE:
		self->probing = false;
		return;
	case TAG_READ:
		compare_read(end);
		break;
	case TAG_ADD:
		memcpy(&count, memory_at(AT_ADD), sizeof(count));
		if (count == UNTOUCHED)
			fail(end, "the count that was before %llu did not come",
			     (unsigned long long)self->adds);
		if (count != self->adds)
			fail(end, "%llu was counted instead of %llu",
			     (unsigned long long)count, (unsigned long long)self->adds);
		self->adds++;
		break;
	}
	self->waiting--;
}

/* If the peer does not answer messages, a read shows whether its device still answers. */
static int probe(struct end *end)
{
	struct krdma_sqe entry = krdma_entry_read(end->conn, 0, end->mr, AT_PROBE, 8,
						  &self->remote, BULK_SIZE);
	uint32_t tag = TAG(TAG_PROBE, 0);

	if (self->probing)
		return 0;
	self->probing = true;
	return end_post(end, &entry, &tag, 1);
}

/* Wait until the round's work requests are complete and its messages are answered. */
static int await_round(struct end *end)
{
	uint64_t begun = now_ms();
	int err;

	while (self->waiting || self->answered < self->sent) {
		err = end_take(end, SILENCE_MS);
		if (err == -ETIMEDOUT)
			err = probe(end);
		if (err)
			return err;
		if (end->broken)
			return -EIO;
		if (now_ms() - begun > 2 * end->traffic->limit_ms)
			fail(end, "message %llu is not answered, by a peer that is there",
			     (unsigned long long)self->answered);
	}
	return 0;
}

static struct message *next_message(uint32_t kind, uint32_t length)
{
	struct message *message;

	message = (void *)memory_at(AT_SEND + self->sent % MESSAGES * MESSAGE_MAX);
	message_make(message, kind, self->id, self->sent, length);
	return message;
}

static struct krdma_sqe send_entry(struct end *end, const struct message *message)
{
	return krdma_entry_send(end->conn, 0, end->mr, self->sent++ % MESSAGES * MESSAGE_MAX,
				sizeof(*message) + message->length);
}

static int round_trip(struct end *end)
{
	unsigned int messages = 1 + roll(end, ROUND_MESSAGES), count = 0;
	const uint64_t untouched = UNTOUCHED;
	struct krdma_sqe entries[ROUND_MESSAGES + 3];
	uint32_t tags[ROUND_MESSAGES + 3];
	struct message *message;
	int err;

	while (count < messages) {
		message = next_message(MESSAGE_DATA,
				       roll(end, MESSAGE_MAX - sizeof(*message)));
		message_seal(message);
		entries[count] = send_entry(end, message);
		tags[count++] = TAG(TAG_MESSAGE, 0);
	}
	self->offset = roll(end, BULK_SIZE);
	self->length = 1 + roll(end, BULK_SIZE - self->offset);
	fill(memory_at(AT_WRITE + self->offset), self->length, self->id ^ end->serial);
	entries[count] = krdma_entry_write(end->conn, 0, end->mr, AT_WRITE + self->offset,
					   self->length, &self->remote, self->offset);
	tags[count++] = TAG(TAG_WRITE, 0);
	entries[count] = krdma_entry_read(end->conn, 0, end->mr, AT_READ + self->offset,
					  self->length, &self->remote, self->offset);
	tags[count++] = TAG(TAG_READ, 0);
	memcpy(memory_at(AT_ADD), &untouched, sizeof(untouched));
	entries[count] = krdma_entry_fetch_add(end->conn, 0, end->mr, AT_ADD, &self->remote,
					       BULK_SIZE, 1);
	tags[count++] = TAG(TAG_ADD, 0);
	self->waiting = count;
	err = end_post(end, entries, tags, count);
	if (!err)
		err = await_round(end);
	if (!err)
		end->traffic->tally.rounds++;
	return err;
}

/* Send the expected content of the server's memory; the server compares. */
static int goodbye(struct end *end)
{
	struct message *message = next_message(MESSAGE_BYE, 0);
	uint32_t tag = TAG(TAG_MESSAGE, 0);
	struct krdma_sqe entry;
	int err;

	message->adds = self->adds;
	message->bulk = checksum(self->mirror, BULK_SIZE);
	message_seal(message);
	entry = send_entry(end, message);
	self->waiting = 1;
	err = end_post(end, &entry, &tag, 1);
	return err ? err : await_round(end);
}

static void set_address(const struct traffic *traffic, struct sockaddr_storage *address)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)address;
	struct sockaddr_in *in = (struct sockaddr_in *)address;

	memset(address, 0, sizeof(*address));
	if (inet_pton(AF_INET, traffic->address, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(traffic->port);
	} else if (inet_pton(AF_INET6, traffic->address, &in6->sin6_addr) == 1) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(traffic->port);
	} else {
		fprintf(stderr, "%s is no address\n", traffic->address);
		exit(2);
	}
}

/*
 * The ACK timeout is about one second, so that a slow machine alone causes no retransmission.  rxe
 * answers a duplicate packet with an acknowledgment of all that it has executed.  The requester
 * then takes a read or an atomic as complete, although its response is lost or still in flight.
 */
static int find_way(struct end *end)
{
	const struct krdma_conn_resolve_args options = { .size = sizeof(options),
							 .ack_timeout = 18 };
	struct sockaddr_storage address;
	int err;

	set_address(end->traffic, &address);
	err = krdma_conn_create(end->traffic->session, &end->conn);
	if (err)
		return err;
	begin(end, CALL_RESOLVE);
	err = krdma_conn_resolve(end->conn, (struct sockaddr *)&address, &options);
	if (!err)
		err = krdma_conn_wait(end->conn, krdma_deadline(end->traffic->limit_ms), NULL);
	done(end);
	return err;
}

static int create_qp(struct end *end)
{
	struct krdma_conn_query_args query;
	int err;

	err = krdma_conn_query(end->conn, &query, sizeof(query));
	if (err)
		return err;
	begin(end, CALL_REGISTER);
	err = krdma_mr_alloc(end->traffic->session, query.device_id, CLIENT_SIZE,
			     KRDMA_ACCESS_LOCAL_WRITE, &end->mr);
	done(end);
	if (err)
		return err;
	begin(end, CALL_PREPARE);
	err = krdma_ring_create(end->traffic->session, NULL, &end->ring);
	if (!err)
		err = krdma_conn_create_qp(end->conn, end->ring, NULL, NULL, NULL);
	done(end);
	if (err)
		return err;
	end->prepared = true;
	for (unsigned int slot = 0; !err && slot < MESSAGES; slot++)
		err = post_receive(end, slot);
	return err;
}

static int reach(struct end *end)
{
	unsigned char descriptor[KRDMA_MR_DESC_SIZE];
	size_t length = sizeof(descriptor);
	int err;

	memset(self->mirror, 0, BULK_SIZE);
	self->sent = 0;
	self->answered = 0;
	self->adds = 0;
	self->probing = false;
	self->id = now_ms() << 24 ^ (uint64_t)getpid() << 8 ^ end->number;
	err = find_way(end);
	if (!err)
		err = create_qp(end);
	if (err)
		return err;
	begin(end, CALL_CONNECT);
	err = krdma_conn_connect(end->conn, NULL, &self->id, sizeof(self->id));
	if (!err)
		err = krdma_conn_wait(end->conn, krdma_deadline(CONNECT_MS), NULL);
	done(end);
	if (!err)
		err = krdma_conn_private_data(end->conn, descriptor, &length);
	if (err)
		return err;
	if (krdma_remote_mr_from_desc(descriptor, length, &self->remote))
		fail(end, "the server's %zu bytes of private data are none of its", length);
	return 0;
}

/* Run a random number of rounds, or until one succeeds that began after the storm was over. */
static int talk(struct end *end, bool *served)
{
	unsigned int rounds = 1 + roll(end, 300);
	int err = 0;

	while (!err && rounds--) {
		bool calm = end->traffic->calm;

		err = round_trip(end);
		if (!err && calm) {
			*served = true;
			break;
		}
	}
	/* Some clients leave without MESSAGE_BYE. */
	if (!err && (*served || roll(end, 4)))
		err = goodbye(end);
	return err;
}

/*
 * A failed work request gives -EIO, and one that the device has forgotten -ECONNABORTED.  Any other
 * error must be one that the last call may return; for a post, end_post() has checked that already.
 */
static void expected_loss(struct end *end, int err)
{
	if (end->forgotten ? err == -ECONNABORTED : end->broken && err == -EIO)
		return;
	expected(end, end->called, err);
}

static void may_fail(void)
{
	int fd = open("/proc/thread-self/make-it-fail", O_WRONLY);

	if (fd < 0 || write(fd, "1", 1) != 1) {
		perror("/proc/thread-self/make-it-fail");
		exit(2);
	}
	close(fd);
}

void *run_client(void *arg)
{
	struct client mine = { .end = arg };
	struct end *end = arg;
	uint64_t calm_since = 0;
	bool served = false, reached;
	int err;

	if (end->traffic->may_fail)
		may_fail();
	self = &mine;
	end->complete = complete;
	while (!served) {
		end->sends = 0;
		end->receives = 0;
		end->broken = 0;
		end->order_broken = false;
		end->forgotten = false;
		err = reach(end);
		reached = !err;
		if (err) {
			expected(end, end->called, err);
			end->traffic->tally.refused++;
		} else {
			end->traffic->tally.connected++;
			err = talk(end, &served);
			if (err) {
				expected_loss(end, err);
				end->traffic->tally.lost++;
				served = false;
			}
		}
		/* A failed work request ends the connection by itself; a refused post does not. */
		end_finish(end, !reached || roll(end, 2), end->broken);
		if (end->traffic->calm && !calm_since)
			calm_since = now_ms();
		if (!served && calm_since && now_ms() - calm_since > 2 * end->traffic->limit_ms)
			fail(end, "it is calm, and there is no serving: %s",
			     krdma_error_name(err));
		if (err)
			usleep(1000 * (10 + roll(end, 190)));
	}
	end->doing = -1;
	return NULL;
}
