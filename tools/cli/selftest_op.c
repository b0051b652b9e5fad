// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma selftest: work requests, and the data at both ends.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "peer_stop.h"
#include "selftest.h"

uint64_t op_wr_id(struct selftest *test)
{
	return ++test->next_wr_id;
}

struct krdma_sqe op_send(struct selftest *test, struct link *link, size_t near, uint32_t length)
{
	/* A send without data needs no MR. */
	return krdma_entry_send(link->conn, op_wr_id(test), length ? test->area : NULL, near,
				length);
}

struct krdma_sqe op_remote(struct selftest *test, struct link *link, uint8_t opcode, size_t near,
			   size_t far, uint32_t length)
{
	return krdma_entry_remote(opcode, link->conn, op_wr_id(test),
				  length ? test->area : NULL, near, length, &test->far_area, far);
}

int op_post(struct selftest *test, struct link *link, const struct krdma_sqe *entries,
	    size_t count)
{
	size_t accepted = 0;
	int err = krdma_ring_post(link->ring, entries, count, &accepted);

	if (err)
		return check_fail(test, "%s is refused: %s",
				  krdma_opcode_name(entries[accepted].opcode),
				  krdma_error_name(err));
	return 0;
}

int op_refused(struct selftest *test, struct link *link, const struct krdma_sqe *entry,
	       int expected)
{
	size_t accepted = 0;
	int err = krdma_ring_post(link->ring, entry, 1, &accepted);

	return check_refused(test, krdma_opcode_name(entry->opcode), expected, err);
}

int op_take(struct selftest *test, struct link *link, struct krdma_cqe *cqe)
{
	uint64_t deadline = clock_ns() + test->settings->timeout;
	size_t taken;
	int err;

	do {
		if (stop_wanted())
			return -EINTR;
		err = krdma_ring_wait(link->ring, cqe, 1, 1, stop_slice(deadline), &taken);
	} while ((err == -ETIMEDOUT || err == -EINTR) && clock_ns() < deadline);
	if (err == -ETIMEDOUT)
		return check_fail(test, "an operation does not complete");
	return err ? check_errno(test, "wait for a completion", err) : 0;
}

int op_done(struct selftest *test, struct link *link, const struct krdma_sqe *entry,
	    uint32_t length)
{
	const char *name = krdma_opcode_name(entry->opcode);
	struct krdma_cqe cqe;

	try(op_take(test, link, &cqe));
	if (cqe.status)
		return check_fail(test, "%s of %u bytes: %s (vendor error %#x)", name, length,
				  krdma_wc_status_name(cqe.status), cqe.vendor_error);
	if (cqe.wr_id != entry->wr_id || cqe.opcode != entry->opcode ||
	    cqe.dest != krdma_conn_id(link->conn))
		return check_fail(test, "%s: the completion is another operation's (%s)", name,
				  krdma_opcode_name(cqe.opcode));
	if (cqe.length != length)
		return check_fail(test, "%s of %u bytes: the completion says %u", name, length,
				  cqe.length);
	return 0;
}

int op_do(struct selftest *test, struct link *link, const struct krdma_sqe *entry,
	  uint32_t length)
{
	try(op_post(test, link, entry, 1));
	return op_done(test, link, entry, length);
}

int op_flush(struct selftest *test, struct link *link, const struct krdma_remote_mr *remote)
{
	struct krdma_sqe entry = krdma_entry_flush(link->conn, op_wr_id(test), remote);

	try(op_post(test, link, &entry, 1));
	return op_done(test, link, &entry, 0);
}

/*
 * Data
 */

uint64_t new_seed(struct selftest *test)
{
	return test->settings->seed + ++test->next_seed;
}

uint8_t *near_data(const struct selftest *test, size_t offset)
{
	return (uint8_t *)krdma_mr_data(test->area) + offset;
}

static int tell_fault(struct selftest *test, const struct pattern_fault *fault, size_t length,
		      const char *what)
{
	if (!fault->count)
		return 0;
	if (fault->offset < 0 || (uint64_t)fault->offset >= length)
		return check_fail(test, "%s of %zu bytes: %llu outside are wrong, one at %lld",
				  what, length, (unsigned long long)fault->count,
				  (long long)fault->offset);
	return check_fail(test, "%s of %zu bytes: %llu bytes are wrong; at %lld 0x%02x, not 0x%02x",
			  what, length, (unsigned long long)fault->count,
			  (long long)fault->offset, fault->is, fault->expected);
}

int near_check(struct selftest *test, size_t offset, size_t length, uint64_t seed,
	       const char *what)
{
	struct pattern_fault fault;

	pattern_check(near_data(test, 0), AREA, offset, length, seed, &fault);
	return tell_fault(test, &fault, length, what);
}

static int far_pattern(struct selftest *test, enum far_request request, unsigned int mr,
		       size_t offset, size_t length, uint64_t seed, struct wire_words *out)
{
	struct wire_words in = { .word = { request, mr, offset, length, seed } };

	try(far_call(test, &in, out));
	if (out->word[0])
		return check_errno(test, "use memory at the far end", (int)(int64_t)out->word[0]);
	return 0;
}

int far_fill(struct selftest *test, unsigned int mr, size_t offset, size_t length,
	     uint64_t seed)
{
	struct wire_words out;

	return far_pattern(test, FAR_FILL, mr, offset, length, seed, &out);
}

int far_clear(struct selftest *test, unsigned int mr, size_t offset, size_t length,
	      uint64_t seed)
{
	struct wire_words out;

	return far_pattern(test, FAR_CLEAR, mr, offset, length, seed, &out);
}

static void read_fault(const struct wire_words *out, struct pattern_fault *fault)
{
	fault->count = out->word[1];
	fault->offset = (int64_t)out->word[2];
	fault->is = (uint8_t)out->word[3];
	fault->expected = (uint8_t)out->word[4];
}

int far_check(struct selftest *test, unsigned int mr, size_t offset, size_t length,
	      uint64_t seed, const char *what)
{
	struct pattern_fault fault;
	struct wire_words out;

	try(far_pattern(test, FAR_CHECK, mr, offset, length, seed, &out));
	read_fault(&out, &fault);
	return tell_fault(test, &fault, length, what);
}

int far_check_clear(struct selftest *test, unsigned int mr, size_t offset, size_t length,
		    uint64_t seed, const char *what)
{
	struct pattern_fault fault;
	struct wire_words out;

	try(far_pattern(test, FAR_CHECK_CLEAR, mr, offset, length, seed, &out));
	read_fault(&out, &fault);
	if (fault.count)
		return check_fail(test, "%s: %llu bytes have changed nevertheless", what,
				  (unsigned long long)fault.count);
	return 0;
}

int far_peek(struct selftest *test, size_t offset, uint64_t *value)
{
	struct wire_words in = { .word = { FAR_PEEK, FAR_AREA, offset } }, out;

	try(far_call(test, &in, &out));
	if (out.word[0])
		return check_errno(test, "read memory at the far end", (int)(int64_t)out.word[0]);
	*value = out.word[1];
	return 0;
}

int far_poke(struct selftest *test, size_t offset, uint64_t value)
{
	struct wire_words in = { .word = { FAR_POKE, FAR_AREA, offset, value } }, out;

	try(far_call(test, &in, &out));
	if (out.word[0])
		return check_errno(test, "write memory at the far end", (int)(int64_t)out.word[0]);
	return 0;
}

int far_register(struct selftest *test, unsigned int mr, uint64_t length, uint64_t offset,
		 uint32_t access, struct krdma_remote_mr *remote, int *result)
{
	struct wire_words in = { .word = { FAR_REGISTER, mr, length, offset, access } }, out;
	uint8_t descriptor[KRDMA_MR_DESC_SIZE];
	int err;

	try(far_call(test, &in, &out));
	*result = (int)(int64_t)out.word[0];
	if (*result || !remote)
		return 0;
	wire_get_bytes(&out.word[1], descriptor, sizeof(descriptor));
	err = krdma_remote_mr_from_desc(descriptor, sizeof(descriptor), remote);
	if (err || remote->length != length)
		return check_fail(test, "the descriptor of the far end's memory is wrong");
	return 0;
}

int far_release(struct selftest *test, unsigned int mr)
{
	struct wire_words in = { .word = { FAR_RELEASE, mr } }, out;

	try(far_call(test, &in, &out));
	if (out.word[0])
		return check_errno(test, "release memory at the far end",
				   (int)(int64_t)out.word[0]);
	return 0;
}

/*
 * Work requests and completions of the far end
 */

int far_receive(struct selftest *test, unsigned int conn, size_t offset, uint32_t length,
		uint32_t stride, uint32_t count, uint32_t sges)
{
	struct wire_words in = {
		.word = { FAR_RECEIVE, conn, FAR_AREA, offset, length, stride, count, sges },
	};
	struct wire_words out;
	int err;

	try(far_call(test, &in, &out));
	err = (int)(int64_t)(out.word[0] ? out.word[0] : out.word[2]);
	return err ? check_errno(test, "post a receive at the far end", err) : 0;
}

int far_send(struct selftest *test, unsigned int conn, size_t offset, uint32_t length,
	     uint32_t stride, uint32_t count)
{
	struct wire_words in = {
		.word = { FAR_SEND, conn, FAR_AREA, offset, length, stride, count },
	};
	struct wire_words out;
	int err;

	try(far_call(test, &in, &out));
	err = (int)(int64_t)(out.word[0] ? out.word[0] : out.word[2]);
	return err ? check_errno(test, "send at the far end", err) : 0;
}

int far_take(struct selftest *test, unsigned int conn, struct far_cqe *cqe)
{
	struct wire_words in = { .word = { FAR_TAKE, conn } }, out;

	try(far_call(test, &in, &out));
	if ((int)(int64_t)out.word[0] == -ETIMEDOUT)
		return check_fail(test, "nothing completes at the far end");
	if (out.word[0])
		return check_errno(test, "wait for a completion at the far end",
				   (int)(int64_t)out.word[0]);
	cqe->wr_id = out.word[1];
	cqe->opcode = (uint8_t)out.word[2];
	cqe->status = (uint8_t)(out.word[2] >> 8);
	cqe->flags = (uint16_t)(out.word[2] >> 16);
	cqe->length = wire_low(out.word[3]);
	cqe->imm = wire_high(out.word[3]);
	cqe->conn = out.word[4];
	return 0;
}

int far_received(struct selftest *test, unsigned int conn, uint32_t length, uint16_t flags,
		 uint32_t imm)
{
	struct far_cqe cqe = { 0 };

	try(far_take(test, conn, &cqe));
	if (cqe.opcode != KRDMA_OP_RECV)
		return check_fail(test, "the far end completes %s instead of a receive",
				  krdma_opcode_name(cqe.opcode));
	if (cqe.status)
		return check_fail(test, "the receive of %u bytes: %s", length,
				  krdma_wc_status_name(cqe.status));
	if (cqe.length != length)
		return check_fail(test, "the receive of %u bytes has %u", length, cqe.length);
	if (cqe.flags != flags)
		return check_fail(test, "the receive has flags %#x instead of %#x", cqe.flags,
				  flags);
	if (flags & KRDMA_CQE_IMM && cqe.imm != imm)
		return check_fail(test, "the receive has immediate data %#x instead of %#x",
				  cqe.imm, imm);
	return 0;
}

/*
 * Sizes
 */

static size_t add_size(uint32_t *sizes, size_t count, uint64_t size, uint32_t longest)
{
	size_t i;

	if (size > longest || count == SIZES_MAX)
		return count;
	for (i = 0; i < count; i++)
		if (sizes[i] == size)
			return count;
	for (i = count; i && sizes[i - 1] > size; i--)
		sizes[i] = sizes[i - 1];
	sizes[i] = (uint32_t)size;
	return count + 1;
}

size_t message_sizes(const struct selftest *test, const struct link *link, uint32_t longest,
		     uint32_t sizes[SIZES_MAX])
{
	uint32_t mtu = link->is.path_mtu ? link->is.path_mtu : test->port.active_mtu;
	const uint64_t around[] = { (uint64_t)sysconf(_SC_PAGESIZE), mtu };
	const uint64_t exact[] = { 0, 1, 7, 8, 63, 64, 65536, 65537, 1 << 20 };
	size_t count = 0, i;

	for (i = 0; i < ARRAY_SIZE(exact); i++)
		count = add_size(sizes, count, exact[i], longest);
	for (i = 0; i < ARRAY_SIZE(around); i++) {
		if (!around[i])
			continue;
		count = add_size(sizes, count, around[i] - 1, longest);
		count = add_size(sizes, count, around[i], longest);
		count = add_size(sizes, count, around[i] + 1, longest);
	}
	if (link->is.max_inline) {
		count = add_size(sizes, count, link->is.max_inline, longest);
		count = add_size(sizes, count, (uint64_t)link->is.max_inline + 1, longest);
	}
	return count;
}
