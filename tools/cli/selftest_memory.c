// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma selftest: memory registration, and accesses to MRs that must be refused.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#include "peer_stop.h"
#include "selftest.h"

#define REMOTE_ALL	(KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ | \
			 KRDMA_ACCESS_REMOTE_WRITE)

int memory_refused(struct selftest *test, uint64_t length, int err)
{
	char size[SIZE_TEXT_MAX];

	switch (err) {
	case -ENOMEM:
	case -EPERM:
		return check_leave_out(test, "%s cannot be locked here: see 'ulimit -l'",
				       size_text(size, length));
	case -EDQUOT:
		return check_leave_out(test, "%s is more than this user may register",
				       size_text(size, length));
	default:
		return check_fail(test, "cannot register %s: %s", size_text(size, length),
				  krdma_error_name(err));
	}
}

/* Register @length bytes at @offset in a page at both ends; write all of it, and read it back. */
static int register_one(struct selftest *test, uint64_t length, uint32_t offset)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct pattern_fault fault = { 0 };
	struct krdma_mr *mr = NULL;
	uint64_t seed = new_seed(test);
	struct krdma_remote_mr remote;
	struct krdma_sqe entry;
	int err, result = 0;
	uint8_t *map;

	offset %= page;
	map = mmap(NULL, offset + length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		   0);
	if (map == MAP_FAILED)
		return check_leave_out(test, "out of memory");
	err = krdma_mr_register(test->session, test->device.id, map + offset, length,
				KRDMA_ACCESS_LOCAL_WRITE, &mr);
	if (err) {
		munmap(map, offset + length);
		return memory_refused(test, length, err);
	}
	/* The far end's MR begins at another offset in its page. */
	err = far_register(test, FAR_OTHER, length, (offset * 3 + 1) % page, REMOTE_ALL, &remote,
			   &result);
	if (!err && result)
		err = memory_refused(test, length, result);
	if (!err) {
		pattern_fill(map + offset, 0, length, seed);
		err = far_clear(test, FAR_OTHER, 0, length, seed);
	}
	if (!err) {
		entry = krdma_entry_write(test->link.conn, op_wr_id(test), mr, 0,
					  (uint32_t)length, &remote, 0);
		err = op_do(test, &test->link, &entry, (uint32_t)length);
	}
	if (!err)
		err = op_flush(test, &test->link, &remote);
	if (!err)
		err = far_check(test, FAR_OTHER, 0, length, seed,
				offset + length > page ? "write across a page boundary" :
							 "write");
	if (!err) {
		memset(map + offset, 0, length);
		entry = krdma_entry_read(test->link.conn, op_wr_id(test), mr, 0,
					 (uint32_t)length, &remote, 0);
		err = op_do(test, &test->link, &entry, (uint32_t)length);
	}
	if (!err) {
		pattern_compare(map + offset, 0, length, seed, 0, &fault);
		if (fault.count)
			err = check_fail(test, "read of %llu bytes: %llu are wrong, one at %lld",
					 (unsigned long long)length,
					 (unsigned long long)fault.count,
					 (long long)fault.offset);
	}
	if (!err) {
		err = krdma_mr_deregister(mr, 0);
		if (!err)
			mr = NULL;
		else
			check_errno(test, "release memory", err);
	}
	krdma_mr_deregister(mr, KRDMA_DEREGISTER_LATER);
	munmap(map, offset + length);
	return err ? err : far_release(test, FAR_OTHER);
}

static int run_register(struct selftest *test)
{
	static const uint64_t lengths[] = { 4096, 2 << 20, 64 << 20 };
	uint64_t longest = 0, begun = 0;
	char size[SIZE_TEXT_MAX];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		if (lengths[i] > test->settings->mr || lengths[i] > test->device.max_mr_size)
			continue;
		begun = clock_ns();
		try(register_one(test, lengths[i], 0));
		begun = clock_ns() - begun;
		longest = lengths[i];
	}
	check_figure(test, "longest", longest);
	check_figure(test, "longest_ns", begun);
	check_say(test, "4KiB to %s, written and read back whole", size_text(size, longest));
	return 0;
}

static int run_register_odd(struct selftest *test)
{
	static const uint32_t offsets[] = { 1, 8, 63, 2047, 4095 };
	static const uint32_t lengths[] = { 1, 7, 4095, 4097, 65536, 1000003 };
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(offsets); i++)
		for (j = 0; j < ARRAY_SIZE(lengths); j++)
			try(register_one(test, lengths[j], offsets[i]));
	check_figure(test, "registrations", ARRAY_SIZE(offsets) * ARRAY_SIZE(lengths));
	check_say(test, "%zu odd places with %zu odd lengths each", ARRAY_SIZE(offsets),
		  ARRAY_SIZE(lengths));
	return 0;
}

/* Work requests that krdma refuses at post, before they reach the device. */
static int run_local_rights(struct selftest *test)
{
	struct krdma_mr *readable;
	struct krdma_sqe entry;
	int err;

	err = krdma_mr_alloc(test->session, test->device.id, 4096, 0, &readable);
	if (err)
		return check_errno(test, "register memory without rights", err);
	entry = krdma_entry_read(test->link.conn, op_wr_id(test), readable, 0, 8, &test->far_area,
				 0);
	err = op_refused(test, &test->link, &entry, -EACCES);
	entry = krdma_entry_recv(test->link.conn, op_wr_id(test), readable, 0, 8);
	if (!err)
		err = op_refused(test, &test->link, &entry, -EACCES);
	entry = krdma_entry_send(test->link.conn, op_wr_id(test), readable, 0, 4097);
	if (!err)
		err = op_refused(test, &test->link, &entry, -ERANGE);
	entry.sge.length = 8;
	entry.sge.addr--;
	if (!err)
		err = op_refused(test, &test->link, &entry, -ERANGE);
	krdma_mr_deregister(readable, 0);
	entry.sge.addr++;
	if (!err)
		err = op_refused(test, &test->link, &entry, -ENOENT);
	if (!err)
		check_say(test, "no right, beyond the end, released: refused when posted");
	return err;
}

/*
 * Remote accesses that the far end must refuse: each ends its connection.
 */

struct trespass {
	uint8_t opcode;
	/* Access rights of the MR. */
	uint32_t access;
	/* Errors to apply to the rkey (XOR) and to the address. */
	uint32_t key;
	int64_t offset;
	bool released;
};

/* An iWARP write completes once it is sent; the connection then ends with the error. */
static int check_status(struct selftest *test, const struct trespass *trespass,
			const struct krdma_cqe *cqe)
{
	if (cqe->status == KRDMA_WC_REM_ACCESS_ERR)
		return 0;
	if (is_iwarp(test) && (cqe->status || trespass->opcode == KRDMA_OP_WRITE))
		return 0;
	return check_fail(test, "%s that the far end must refuse: %s instead of %s",
			  krdma_opcode_name(trespass->opcode), krdma_wc_status_name(cqe->status),
			  krdma_wc_status_name(KRDMA_WC_REM_ACCESS_ERR));
}

/* The data at both ends stay unchanged, and both ends see the connection end. */
static int trespass_on(struct selftest *test, struct link *link, const struct trespass *trespass,
		       const struct krdma_remote_mr *remote)
{
	uint64_t seed = new_seed(test);
	struct pattern_fault fault;
	struct krdma_sqe entry;
	struct krdma_cqe cqe;
	int near_end, far_end;

	entry = krdma_entry_remote(trespass->opcode, link->conn, op_wr_id(test), test->area, 256,
				   8, remote, 0);
	entry.remote_addr += (uint64_t)trespass->offset;
	entry.rkey ^= trespass->key;
	if (trespass->opcode == KRDMA_OP_FETCH_ADD)
		entry.operand = 1;
	try(far_clear(test, FAR_OTHER, 0, 8192, seed));
	pattern_clear(near_data(test, 0), AREA, 256, 8, seed);
	try(op_post(test, link, &entry, 1));
	try(op_take(test, link, &cqe));
	try(check_status(test, trespass, &cqe));
	try(link_await_end(test, link, &near_end, &far_end));
	if (!near_end || !far_end)
		return check_fail(test, "the end of the connection has no reason");
	check_figure_text(test, "status", krdma_wc_status_name(cqe.status));
	check_figure_text(test, "near_end", krdma_error_name(near_end));
	check_figure_text(test, "far_end", krdma_error_name(far_end));
	try(far_check_clear(test, FAR_OTHER, 0, 8192, seed, "what must be refused"));
	pattern_check_clear(near_data(test, 0), AREA, 256, 8, seed, &fault);
	/* Also a write must not change its local data. */
	if (fault.count)
		return check_fail(test, "the refused operation has changed local memory");
	return 0;
}

static int test_trespass(struct selftest *test, const struct trespass *trespass)
{
	struct krdma_remote_mr remote;
	struct link link;
	int err, result;

	try(far_register(test, FAR_OTHER, 8192, 0, trespass->access, &remote, &result));
	if (result)
		return check_errno(test, "register memory at the far end", result);
	if (trespass->released)
		try(far_release(test, FAR_OTHER));
	err = link_open(test, &link, 1, NULL);
	if (!err)
		err = trespass_on(test, &link, trespass, &remote);
	link_close(&link);
	return err;
}

static void say_refused(struct selftest *test)
{
	check_say(test, is_iwarp(test) ? "refused: the connection ends, nothing has changed" :
		  "remote access error, the connection ends, nothing has changed");
}

static int run_no_write(struct selftest *test)
{
	const struct trespass no_write = {
		.opcode = KRDMA_OP_WRITE,
		.access = KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ,
	};

	try(test_trespass(test, &no_write));
	say_refused(test);
	return 0;
}

static int run_no_read(struct selftest *test)
{
	const struct trespass no_read = {
		.opcode = KRDMA_OP_READ,
		.access = KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_WRITE,
	};

	try(test_trespass(test, &no_read));
	say_refused(test);
	return 0;
}

static int run_no_atomic(struct selftest *test)
{
	const struct trespass no_atomic = {
		.opcode = KRDMA_OP_FETCH_ADD, .access = REMOTE_ALL,
	};

	try(test_trespass(test, &no_atomic));
	say_refused(test);
	return 0;
}

static int run_wrong_key(struct selftest *test)
{
	const struct trespass write = {
		.opcode = KRDMA_OP_WRITE, .access = REMOTE_ALL, .key = 0x5a00,
	};
	const struct trespass read = {
		.opcode = KRDMA_OP_READ, .access = REMOTE_ALL, .key = 0x5a,
	};

	try(test_trespass(test, &write));
	try(test_trespass(test, &read));
	say_refused(test);
	return 0;
}

static int run_beyond_end(struct selftest *test)
{
	const struct trespass write = {
		.opcode = KRDMA_OP_WRITE, .access = REMOTE_ALL, .offset = 8192 - 7,
	};
	const struct trespass read = {
		.opcode = KRDMA_OP_READ, .access = REMOTE_ALL, .offset = -1,
	};

	try(test_trespass(test, &write));
	try(test_trespass(test, &read));
	say_refused(test);
	return 0;
}

static int run_released(struct selftest *test)
{
	const struct trespass write = {
		.opcode = KRDMA_OP_WRITE, .access = REMOTE_ALL, .released = true,
	};
	const struct trespass read = {
		.opcode = KRDMA_OP_READ, .access = REMOTE_ALL, .released = true,
	};

	try(test_trespass(test, &write));
	try(test_trespass(test, &read));
	say_refused(test);
	return 0;
}

const struct check selftest_memory_checks[] = {
	{ .name = "register", .run = run_register },
	{ .name = "register-odd", .run = run_register_odd },
	{ .name = "local-rights", .run = run_local_rights },
	{ .name = "no-right-to-write", .run = run_no_write },
	{ .name = "no-right-to-read", .run = run_no_read },
	{ .name = "no-right-to-atomics", .caps = KRDMA_DEVICE_CAP_ATOMIC, .run = run_no_atomic },
	{ .name = "wrong-key", .run = run_wrong_key },
	{ .name = "beyond-the-end", .run = run_beyond_end },
	{ .name = "released-memory", .run = run_released },
	{ 0 },
};
