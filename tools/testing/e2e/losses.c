// SPDX-License-Identifier: GPL-2.0
/*
 * Two machines, each with a connection in every state, and something between them or on the other
 * one is lost: which event either end gets, and after how long, with default settings.  There is
 * one test for each kind of loss.  Documentation/reliability.rst has tables of what they print.
 *
 * "Here" is machine 1, where the tests run.  "There" is machine 2: the agent of loss_agent.c.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kselftest_harness.h"
#include "loss_agent.h"
#include "loss_side.h"
#include "net_link.h"
#include "session.h"

#define HERE	1
#define THERE	2
#define PEER	"10.77.0.2"

#define READY_MS	120000
#define STEP_MS		5
#define KEEPALIVE_MS	5000

/**
 * struct row - one kind of loss
 * @side: the program here
 * @here: what it was told
 * @there: what the program on machine 2 was told
 */
struct row {
	struct loss_side side;
	struct loss_told here[LOSS_STATES];
	struct loss_told there[LOSS_STATES];
};

static int cable(const char *how)
{
	char command[64];

	snprintf(command, sizeof(command), "vm-link %u %s", THERE, how);
	return system(command) ? -EIO : 0;
}

/* The figures include this time. */
static int pull_cable(void)
{
	uint64_t begun = now_ms();
	int ret = cable("off");

	printf("# pulling the cable took %u ms\n", (unsigned int)(now_ms() - begun));
	return ret;
}

static void step_for(struct loss_side *side, unsigned int ms)
{
	uint64_t end = now_ms() + ms;

	do {
		loss_side_step(side);
		sleep_ms(STEP_MS);
	} while (now_ms() < end);
}

static void begin(struct __test_metadata *_metadata, struct row *row, unsigned int keepalive_ms)
{
	uint64_t end = now_ms() + READY_MS;
	char command[64];

	snprintf(command, sizeof(command), LOSS_BEGIN " %u", keepalive_ms);
	ASSERT_EQ(0, cable("on"));
	ASSERT_EQ(0, loss_ask(command));
	ASSERT_EQ(0, loss_set_keepalive(keepalive_ms));
	ASSERT_EQ(0, loss_renew_device());
	ASSERT_EQ(0, loss_side_open(&row->side, HERE));
	/* An earlier test may have resolved it. */
	net_link_forget(LOSS_NETDEV, row->side.other);
	do
		step_for(&row->side, 100);
	while (!(loss_side_ready(&row->side) && loss_ask("ready") == 1) && now_ms() < end);
	for (int i = 0; i < LOSS_ALONE; i++)
		if (i != LOSS_RESOLVING && !row->side.cells[i].ready)
			TH_LOG("not ready: %s", loss_state_name(i));
	ASSERT_TRUE(loss_side_ready(&row->side));
	ASSERT_EQ(1, loss_ask("ready"));
}

static void finish(struct row *row)
{
	net_link_queue(LOSS_NETDEV, NULL);
	cable("on");
	loss_ask("end");
	loss_side_close(&row->side);
	loss_set_keepalive(KEEPALIVE_MS);
}

FIXTURE(losses)
{
	struct row row;
};

FIXTURE_SETUP(losses)
{
	begin(_metadata, &self->row, KEEPALIVE_MS);
}

FIXTURE_TEARDOWN(losses)
{
	finish(&self->row);
}

/* Wait for a moment after which no keepalive is due for @ms, and then record what comes. */
static void mark_before_a_gap(struct row *row, unsigned int ms)
{
	uint64_t end = now_ms() + 2 * KEEPALIVE_MS;

	while (loss_side_quiet(&row->side, KEEPALIVE_MS) < ms && now_ms() < end)
		step_for(&row->side, STEP_MS);
	loss_side_mark(&row->side);
}

/* Record until @ms after the loss. */
static void watch(struct row *row, unsigned int ms)
{
	while (now_ms() - row->side.lost < ms) {
		loss_side_step(&row->side);
		sleep_ms(STEP_MS);
	}
	for (int i = 0; i < LOSS_STATES; i++)
		row->here[i] = row->side.cells[i].told;
}

/* What the other program was told within @ms. */
static void hear(struct __test_metadata *_metadata, struct row *row, unsigned int ms)
{
	char text[2048], *line = text;
	int fields;

	ASSERT_EQ(0, loss_ask_text("report", text, sizeof(text)));
	for (int i = 0; i < LOSS_STATES; i++) {
		struct loss_told *told = &row->there[i];

		ASSERT_TRUE(!!line);
		fields = sscanf(line, "%u %d %u %d %u %u", &told->news, &told->error, &told->ms,
				&told->call, &told->status, &told->status_ms);
		ASSERT_EQ(6, fields);
		if (told->ms > ms)
			*told = (struct loss_told) { .call = told->call };
		line = strchr(line, '\n');
		line += !!line;
	}
}

static void print_told(const char *where, const struct loss_told *told)
{
	printf(" | %s: %s", where, loss_news_name(told->news));
	if (told->error)
		printf(" %s", strerrorname_np(-told->error));
	if (told->news)
		printf(" after %u ms", told->ms);
	if (told->call)
		printf(", call %s", strerrorname_np(-told->call));
	if (told->status)
		printf(", status %u after %u ms", told->status, told->status_ms);
}

static void print_row(struct row *row, bool there)
{
	for (int i = 0; i < LOSS_STATES; i++) {
		printf("# %s", loss_state_name(i));
		print_told("here", &row->here[i]);
		if (there)
			print_told("there", &row->there[i]);
		printf("\n");
	}
	fflush(stdout);
}

/*
 * What is expected.  A state with several lines has several possible outcomes: for example the
 * kernel finds out in one of two ways, or rxe of a newer kernel does not know why a packet was not
 * sent.  A state without a line is not looked at.
 */

/**
 * struct expected - one outcome of a state
 * @state: the state
 * @news: what the program is told
 * @error: errno of it, positive
 * @most_ms: when it must know
 */
struct expected {
	enum loss_state state;
	uint32_t news;
	int error;
	unsigned int most_ms;
};

static bool is_expected(const struct loss_told *told, const struct expected *expected)
{
	return told->news == expected->news && told->error == -expected->error &&
	       told->ms <= expected->most_ms;
}

static void check_told(struct __test_metadata *_metadata, const char *where,
		       const struct loss_told *told, const struct expected *expected,
		       unsigned int count)
{
	for (int i = 0; i < LOSS_STATES; i++) {
		bool asked = false, good = false;

		for (unsigned int j = 0; j < count; j++) {
			if (expected[j].state != i)
				continue;
			asked = true;
			good |= is_expected(&told[i], &expected[j]);
		}
		EXPECT_TRUE(good || !asked) {
			TH_LOG("%s: %s: unexpected: %s, errno %d, after %u ms", where,
			       loss_state_name(i), loss_news_name(told[i].news), -told[i].error,
			       told[i].ms);
		}
	}
}

static void check_side(struct __test_metadata *_metadata, const struct row *row, bool here,
		       const struct expected *expected, size_t size)
{
	check_told(_metadata, here ? "here" : "there", here ? row->here : row->there, expected,
		   size / sizeof(*expected));
}

#define CHECK_HERE(table)	check_side(_metadata, row, true, table, sizeof(table))
#define CHECK_THERE(table)	check_side(_metadata, row, false, table, sizeof(table))

/* Of work requests in flight, the first one ends as @status. */
static void check_in_flight(struct __test_metadata *_metadata, struct row *row, uint32_t status)
{
	for (int i = LOSS_WRITING; i <= LOSS_SENDING; i++) {
		/* All of them may have completed just before the loss. */
		if (status == KRDMA_WC_WR_FLUSH_ERR && !row->here[i].status)
			continue;
		EXPECT_EQ(status, row->here[i].status);
	}
}

/*
 * Limits, on a busy machine.  By default an address may take 2 s, a work request half a second, a
 * probe comes after 5 to 10 s, the answer to a disconnect takes a second at most, the connection
 * manager gives up after 70 s and a request expires after 60 s.
 */
#define RESOLVE_MS	8000
#define OPERATION_MS	8000
#define PROBE_MS	20000
#define DISCONNECT_MS	6000
#define UNANSWERED_MS	78000
#define PATIENT_MS	98000
#define EXPIRE_MS	66000
#define PROMPT_MS	10000
/* The kernel asks for a hardware address three times, a second apart. */
#define NEIGHBOUR_MS	9000

/* The peer is silent from now on. */
static const struct expected of_silence[] = {
	{ LOSS_RESOLVING, KRDMA_EVENT_ADDR_ERROR, EHOSTUNREACH, RESOLVE_MS },
	{ LOSS_CONNECTING, KRDMA_EVENT_UNREACHABLE, ETIMEDOUT, UNANSWERED_MS },
	/* The peer has asked the connection manager for patience: krdma has less. */
	{ LOSS_ASKING, KRDMA_EVENT_UNREACHABLE, ETIMEDOUT, PATIENT_MS },
	{ LOSS_ASKED, KRDMA_EVENT_UNREACHABLE, ETIMEDOUT, PATIENT_MS },
	{ LOSS_IDLE, KRDMA_EVENT_LOST, ETIMEDOUT, PROBE_MS },
	{ LOSS_WRITING, KRDMA_EVENT_LOST, ETIMEDOUT, OPERATION_MS },
	{ LOSS_READING, KRDMA_EVENT_LOST, ETIMEDOUT, OPERATION_MS },
	{ LOSS_SENDING, KRDMA_EVENT_LOST, ETIMEDOUT, OPERATION_MS },
	{ LOSS_LEAVING, KRDMA_EVENT_DISCONNECTED, ENOTCONN, DISCONNECT_MS },
	/* A probe was due before this side disconnects. */
	{ LOSS_LEAVING, KRDMA_EVENT_LOST, ETIMEDOUT, DISCONNECT_MS },
	{ LOSS_WAITING, LOSS_EXPIRED, 0, EXPIRE_MS },
	{ LOSS_ACCEPTING, KRDMA_EVENT_UNREACHABLE, ETIMEDOUT, UNANSWERED_MS },
	{ LOSS_IDLE_TOO, KRDMA_EVENT_LOST, ETIMEDOUT, PROBE_MS },
	{ LOSS_WRITTEN, KRDMA_EVENT_LOST, ETIMEDOUT, PROBE_MS },
	{ LOSS_READ, KRDMA_EVENT_LOST, ETIMEDOUT, PROBE_MS },
	{ LOSS_SENT, KRDMA_EVENT_LOST, ETIMEDOUT, PROBE_MS },
	{ LOSS_LEFT, KRDMA_EVENT_LOST, ETIMEDOUT, PROBE_MS },
	{ LOSS_ALONE, LOSS_NOTHING, 0, 0 },
};

/*
 * The machine's own cable is pulled, or its interface taken down.  The kernel then forgets all
 * hardware addresses, and the next one that it cannot find ends all connections that this side
 * has connected.  On newer kernels a packet that cannot be sent fails its QP, without a reason.
 */
static const struct expected of_no_link[] = {
	{ LOSS_RESOLVING, KRDMA_EVENT_ADDR_ERROR, EHOSTUNREACH, RESOLVE_MS },
	{ LOSS_CONNECTING, KRDMA_EVENT_UNREACHABLE, ETIMEDOUT, UNANSWERED_MS },
	{ LOSS_CONNECTING, KRDMA_EVENT_CONNECT_ERROR, EIO, UNANSWERED_MS },
	{ LOSS_ASKING, KRDMA_EVENT_UNREACHABLE, ETIMEDOUT, UNANSWERED_MS },
	{ LOSS_ASKED, KRDMA_EVENT_UNREACHABLE, ETIMEDOUT, UNANSWERED_MS },
	{ LOSS_IDLE, KRDMA_EVENT_LOST, ETIMEDOUT, PROBE_MS },
	{ LOSS_IDLE, KRDMA_EVENT_LOST, EIO, PROBE_MS },
	{ LOSS_WRITING, KRDMA_EVENT_LOST, ETIMEDOUT, PROMPT_MS },
	{ LOSS_WRITING, KRDMA_EVENT_LOST, EIO, PROMPT_MS },
	{ LOSS_READING, KRDMA_EVENT_LOST, ETIMEDOUT, PROMPT_MS },
	{ LOSS_READING, KRDMA_EVENT_LOST, EIO, PROMPT_MS },
	{ LOSS_SENDING, KRDMA_EVENT_LOST, ETIMEDOUT, PROMPT_MS },
	{ LOSS_SENDING, KRDMA_EVENT_LOST, EIO, PROMPT_MS },
	{ LOSS_LEAVING, KRDMA_EVENT_DISCONNECTED, ENOTCONN, DISCONNECT_MS },
	{ LOSS_WAITING, LOSS_EXPIRED, 0, EXPIRE_MS },
	{ LOSS_ACCEPTING, KRDMA_EVENT_UNREACHABLE, ETIMEDOUT, UNANSWERED_MS },
	{ LOSS_ACCEPTING, KRDMA_EVENT_CONNECT_ERROR, EIO, UNANSWERED_MS },
	{ LOSS_IDLE_TOO, KRDMA_EVENT_LOST, ETIMEDOUT, PROBE_MS },
	{ LOSS_IDLE_TOO, KRDMA_EVENT_LOST, EIO, PROBE_MS },
	{ LOSS_WRITTEN, KRDMA_EVENT_LOST, ETIMEDOUT, PROBE_MS },
	{ LOSS_WRITTEN, KRDMA_EVENT_LOST, EIO, PROBE_MS },
	{ LOSS_READ, KRDMA_EVENT_LOST, ETIMEDOUT, PROBE_MS },
	{ LOSS_READ, KRDMA_EVENT_LOST, EIO, PROBE_MS },
	{ LOSS_SENT, KRDMA_EVENT_LOST, ETIMEDOUT, PROBE_MS },
	{ LOSS_SENT, KRDMA_EVENT_LOST, EIO, PROBE_MS },
	{ LOSS_LEFT, KRDMA_EVENT_LOST, ETIMEDOUT, PROBE_MS },
	{ LOSS_LEFT, KRDMA_EVENT_LOST, EIO, PROBE_MS },
	{ LOSS_ALONE, LOSS_NOTHING, 0, 0 },
};

/*
 * Without an interface there is no route, so no neighbour fails: only the end of its tries ends
 * what connects.
 */
static const struct expected of_no_interface[] = {
	{ LOSS_RESOLVING, KRDMA_EVENT_ADDR_ERROR, EHOSTUNREACH, RESOLVE_MS },
	{ LOSS_CONNECTING, KRDMA_EVENT_UNREACHABLE, ETIMEDOUT, UNANSWERED_MS },
	{ LOSS_CONNECTING, KRDMA_EVENT_CONNECT_ERROR, EIO, UNANSWERED_MS },
	{ LOSS_ASKING, KRDMA_EVENT_UNREACHABLE, ETIMEDOUT, PATIENT_MS },
	{ LOSS_ASKED, KRDMA_EVENT_UNREACHABLE, ETIMEDOUT, PATIENT_MS },
	{ LOSS_IDLE, KRDMA_EVENT_LOST, ETIMEDOUT, PROBE_MS },
	{ LOSS_IDLE, KRDMA_EVENT_LOST, EIO, PROBE_MS },
	{ LOSS_WRITING, KRDMA_EVENT_LOST, ETIMEDOUT, PROMPT_MS },
	{ LOSS_WRITING, KRDMA_EVENT_LOST, EIO, PROMPT_MS },
	{ LOSS_READING, KRDMA_EVENT_LOST, ETIMEDOUT, PROMPT_MS },
	{ LOSS_READING, KRDMA_EVENT_LOST, EIO, PROMPT_MS },
	{ LOSS_SENDING, KRDMA_EVENT_LOST, ETIMEDOUT, PROMPT_MS },
	{ LOSS_SENDING, KRDMA_EVENT_LOST, EIO, PROMPT_MS },
	{ LOSS_LEAVING, KRDMA_EVENT_DISCONNECTED, ENOTCONN, DISCONNECT_MS },
	{ LOSS_WAITING, LOSS_EXPIRED, 0, EXPIRE_MS },
	{ LOSS_IDLE_TOO, KRDMA_EVENT_LOST, ETIMEDOUT, PROBE_MS },
	{ LOSS_IDLE_TOO, KRDMA_EVENT_LOST, EIO, PROBE_MS },
	{ LOSS_LEFT, KRDMA_EVENT_LOST, ETIMEDOUT, PROBE_MS },
	{ LOSS_LEFT, KRDMA_EVENT_LOST, EIO, PROBE_MS },
	{ LOSS_ALONE, LOSS_NOTHING, 0, 0 },
};

/* Milliseconds for which everything can be known. */
#define FOR_GOOD_MS	PATIENT_MS

/* Proves: E15 (losses losses-7-2) */
TEST_F_TIMEOUT(losses, the_cable_is_cut, 600)
{
	struct row *row = &self->row;

	ASSERT_EQ(0, loss_ask("lose carrier"));
	loss_side_mark(&row->side);
	ASSERT_EQ(0, pull_cable());
	loss_side_strike(&row->side);
	loss_side_resolve(&row->side);
	watch(row, FOR_GOOD_MS);
	ASSERT_EQ(0, cable("on"));
	hear(_metadata, row, FOR_GOOD_MS);
	print_row(row, true);
	CHECK_HERE(of_silence);
	CHECK_THERE(of_no_link);
	check_in_flight(_metadata, row, KRDMA_WC_RETRY_EXC_ERR);
}

#define SHORT_MS	500
/* Longer than this, on a busy host, it is no moment: the kernel has given up the neighbour. */
#define MOMENT_MS	1500
#define AFTER_SHORT_MS	15000

/* Only work requests in flight, and addresses that are looked for, have less time than this. */
static const struct expected of_a_moment[] = {
	{ LOSS_CONNECTING, KRDMA_EVENT_ESTABLISHED, 0, PROMPT_MS },
	{ LOSS_ASKING, LOSS_NOTHING, 0, 0 },
	{ LOSS_ASKED, KRDMA_EVENT_ESTABLISHED, 0, PROMPT_MS },
	{ LOSS_IDLE, LOSS_NOTHING, 0, 0 },
	{ LOSS_WRITING, KRDMA_EVENT_LOST, ETIMEDOUT, OPERATION_MS },
	{ LOSS_READING, KRDMA_EVENT_LOST, ETIMEDOUT, OPERATION_MS },
	{ LOSS_SENDING, KRDMA_EVENT_LOST, ETIMEDOUT, OPERATION_MS },
	{ LOSS_LEAVING, KRDMA_EVENT_DISCONNECTED, ENOTCONN, DISCONNECT_MS },
	{ LOSS_WAITING, LOSS_NOTHING, 0, 0 },
	{ LOSS_ACCEPTING, KRDMA_EVENT_ESTABLISHED, 0, PROMPT_MS },
	{ LOSS_IDLE_TOO, LOSS_NOTHING, 0, 0 },
	{ LOSS_ALONE, LOSS_NOTHING, 0, 0 },
};

/* Proves: E15 (losses losses-7-2) */
TEST_F_TIMEOUT(losses, the_cable_is_cut_for_a_moment, 600)
{
	struct row *row = &self->row;
	uint64_t took;

	ASSERT_EQ(0, loss_ask("lose carrier"));
	mark_before_a_gap(row, MOMENT_MS + 1000);
	took = now_ms();
	ASSERT_EQ(0, pull_cable());
	loss_side_strike(&row->side);
	step_for(&row->side, SHORT_MS);
	ASSERT_EQ(0, cable("on"));
	took = now_ms() - took;
	printf("# a cut of %u ms at most\n", (unsigned int)took);
	watch(row, AFTER_SHORT_MS);
	hear(_metadata, row, AFTER_SHORT_MS);
	print_row(row, true);
	if (took > MOMENT_MS)
		SKIP(return, "the cut took %u ms on this busy host", (unsigned int)took);
	CHECK_HERE(of_a_moment);
}

/* The peer's kernel says that its program has ended. */
static const struct expected of_an_end[] = {
	{ LOSS_RESOLVING, KRDMA_EVENT_ROUTE_RESOLVED, 0, RESOLVE_MS },
	{ LOSS_CONNECTING, KRDMA_EVENT_REJECTED, ECONNREFUSED, PROMPT_MS },
	{ LOSS_ASKING, KRDMA_EVENT_REJECTED, ECONNREFUSED, PROMPT_MS },
	{ LOSS_ASKED, KRDMA_EVENT_REJECTED, ECONNREFUSED, PROMPT_MS },
	{ LOSS_IDLE, KRDMA_EVENT_DISCONNECTED, EPIPE, PROMPT_MS },
	{ LOSS_WRITING, KRDMA_EVENT_DISCONNECTED, EPIPE, PROMPT_MS },
	{ LOSS_READING, KRDMA_EVENT_DISCONNECTED, EPIPE, PROMPT_MS },
	{ LOSS_SENDING, KRDMA_EVENT_DISCONNECTED, EPIPE, PROMPT_MS },
	/* Whichever of the two disconnects is first. */
	{ LOSS_LEAVING, KRDMA_EVENT_DISCONNECTED, EPIPE, PROMPT_MS },
	{ LOSS_LEAVING, KRDMA_EVENT_DISCONNECTED, ENOTCONN, PROMPT_MS },
	{ LOSS_WAITING, LOSS_WITHDRAWN, 0, PROMPT_MS },
	{ LOSS_ACCEPTING, KRDMA_EVENT_REJECTED, ECONNRESET, PROMPT_MS },
	{ LOSS_IDLE_TOO, KRDMA_EVENT_DISCONNECTED, EPIPE, PROMPT_MS },
	{ LOSS_WRITTEN, KRDMA_EVENT_DISCONNECTED, EPIPE, PROMPT_MS },
	{ LOSS_READ, KRDMA_EVENT_DISCONNECTED, EPIPE, PROMPT_MS },
	{ LOSS_SENT, KRDMA_EVENT_DISCONNECTED, EPIPE, PROMPT_MS },
	{ LOSS_LEFT, KRDMA_EVENT_DISCONNECTED, EPIPE, PROMPT_MS },
	{ LOSS_ALONE, LOSS_NOTHING, 0, 0 },
};

/* Proves: E15 (losses losses-7-2) */
TEST_F_TIMEOUT(losses, the_peers_process_is_killed, 600)
{
	struct row *row = &self->row;

	loss_side_mark(&row->side);
	ASSERT_EQ(0, loss_ask("lose process"));
	loss_side_strike(&row->side);
	loss_side_resolve(&row->side);
	watch(row, PROMPT_MS);
	print_row(row, false);
	CHECK_HERE(of_an_end);
	check_in_flight(_metadata, row, KRDMA_WC_WR_FLUSH_ERR);
}

/* The module cannot be unloaded before its users have ended. */
/* Proves: E15 (losses losses-7-2) */
TEST_F_TIMEOUT(losses, the_peers_module_is_unloaded, 600)
{
	struct row *row = &self->row;

	loss_side_mark(&row->side);
	EXPECT_EQ(-EAGAIN, loss_ask("unload"));
	step_for(&row->side, 500);
	EXPECT_EQ(LOSS_NOTHING, row->side.cells[LOSS_IDLE].told.news);
	ASSERT_EQ(0, loss_ask("lose module"));
	loss_side_strike(&row->side);
	loss_side_resolve(&row->side);
	watch(row, PROMPT_MS);
	print_row(row, false);
	CHECK_HERE(of_an_end);
	check_in_flight(_metadata, row, KRDMA_WC_WR_FLUSH_ERR);
}

/* Nothing answers a request any more, not even by a reject. */
static const struct expected of_no_device[] = {
	{ LOSS_RESOLVING, KRDMA_EVENT_ROUTE_RESOLVED, 0, RESOLVE_MS },
	{ LOSS_CONNECTING, KRDMA_EVENT_UNREACHABLE, ETIMEDOUT, UNANSWERED_MS },
};

static const struct expected of_the_device[] = {
	{ LOSS_RESOLVING, KRDMA_EVENT_ADDR_ERROR, EHOSTUNREACH, RESOLVE_MS },
	{ LOSS_CONNECTING, KRDMA_EVENT_DEVICE_REMOVAL, ENODEV, PROMPT_MS },
	{ LOSS_ASKING, KRDMA_EVENT_DEVICE_REMOVAL, ENODEV, PROMPT_MS },
	{ LOSS_ASKED, KRDMA_EVENT_DEVICE_REMOVAL, ENODEV, PROMPT_MS },
	{ LOSS_IDLE, KRDMA_EVENT_DEVICE_REMOVAL, ENODEV, PROMPT_MS },
	{ LOSS_WRITING, KRDMA_EVENT_DEVICE_REMOVAL, ENODEV, PROMPT_MS },
	{ LOSS_READING, KRDMA_EVENT_DEVICE_REMOVAL, ENODEV, PROMPT_MS },
	{ LOSS_SENDING, KRDMA_EVENT_DEVICE_REMOVAL, ENODEV, PROMPT_MS },
	{ LOSS_LEAVING, KRDMA_EVENT_DEVICE_REMOVAL, ENODEV, PROMPT_MS },
	{ LOSS_WAITING, LOSS_GONE, ENODEV, PROMPT_MS },
	{ LOSS_ACCEPTING, KRDMA_EVENT_DEVICE_REMOVAL, ENODEV, PROMPT_MS },
	{ LOSS_IDLE_TOO, KRDMA_EVENT_DEVICE_REMOVAL, ENODEV, PROMPT_MS },
	{ LOSS_WRITTEN, KRDMA_EVENT_DEVICE_REMOVAL, ENODEV, PROMPT_MS },
	{ LOSS_READ, KRDMA_EVENT_DEVICE_REMOVAL, ENODEV, PROMPT_MS },
	{ LOSS_SENT, KRDMA_EVENT_DEVICE_REMOVAL, ENODEV, PROMPT_MS },
	{ LOSS_LEFT, KRDMA_EVENT_DEVICE_REMOVAL, ENODEV, PROMPT_MS },
	{ LOSS_ALONE, LOSS_GONE, ENODEV, PROMPT_MS },
};

/* Proves: E15 (losses losses-7-2) */
TEST_F_TIMEOUT(losses, the_peers_device_is_removed, 600)
{
	struct row *row = &self->row;

	loss_side_mark(&row->side);
	ASSERT_EQ(0, loss_ask("lose device"));
	loss_side_strike(&row->side);
	loss_side_resolve(&row->side);
	watch(row, FOR_GOOD_MS);
	hear(_metadata, row, FOR_GOOD_MS);
	print_row(row, true);
	CHECK_HERE(of_no_device);
	/* What the peer had when its device went ends as if its program had. */
	check_told(_metadata, "here", row->here, of_an_end + 2, ARRAY_SIZE(of_an_end) - 2);
	CHECK_THERE(of_the_device);
	check_in_flight(_metadata, row, KRDMA_WC_WR_FLUSH_ERR);
}

/*
 * The peer is silent, as if its cable were cut; there, the local interface is down.  This machine
 * drops what it sends.  Otherwise the emulator would keep the packets for an interface that is
 * down, and with them rxe's QPs here.
 */
/* Proves: E15 (losses losses-7-2) */
TEST_F_TIMEOUT(losses, the_peers_interface_goes_down, 600)
{
	struct row *row = &self->row;
	char command[64];

	snprintf(command, sizeof(command), "lose interface %u", FOR_GOOD_MS);
	ASSERT_EQ(0, loss_ask(command));
	loss_side_mark(&row->side);
	ASSERT_EQ(0, net_link_queue(LOSS_NETDEV, "blackhole"));
	step_for(&row->side, LOSS_DELAY_MS);
	loss_side_strike(&row->side);
	loss_side_resolve(&row->side);
	watch(row, FOR_GOOD_MS);
	EXPECT_EQ(0, net_link_queue(LOSS_NETDEV, NULL));
	hear(_metadata, row, FOR_GOOD_MS);
	print_row(row, true);
	CHECK_HERE(of_silence);
	CHECK_THERE(of_no_interface);
	check_in_flight(_metadata, row, KRDMA_WC_RETRY_EXC_ERR);
}

/*
 * A neighbour whose hardware address the kernel looks for, without any keepalive: whatever ends a
 * connection without work requests in flight is the neighbour entry.
 */
FIXTURE(unprobed)
{
	struct row row;
};

FIXTURE_SETUP(unprobed)
{
	begin(_metadata, &self->row, 0);
}

FIXTURE_TEARDOWN(unprobed)
{
	finish(&self->row);
}

#define NEIGHBOUR_SHORT_MS	1500
#define NEIGHBOUR_LONG_MS	8000
#define NEIGHBOUR_AFTER_MS	12000

static void lose_neighbour(struct __test_metadata *_metadata, struct row *row, unsigned int ms)
{
	char command[64];

	snprintf(command, sizeof(command), "lose neighbour %u", ms);
	ASSERT_EQ(0, loss_ask(command));
	loss_side_mark(&row->side);
	EXPECT_EQ(0, net_link_forget(LOSS_NETDEV, PEER));
	loss_side_strike(&row->side);
	watch(row, NEIGHBOUR_AFTER_MS);
	hear(_metadata, row, NEIGHBOUR_AFTER_MS);
	print_row(row, true);
}

static const struct expected of_a_late_neighbour[] = {
	{ LOSS_CONNECTING, KRDMA_EVENT_ESTABLISHED, 0, PROMPT_MS },
	{ LOSS_ASKING, LOSS_NOTHING, 0, 0 },
	{ LOSS_IDLE, LOSS_NOTHING, 0, 0 },
	{ LOSS_WAITING, LOSS_NOTHING, 0, 0 },
	{ LOSS_IDLE_TOO, LOSS_NOTHING, 0, 0 },
	{ LOSS_ALONE, LOSS_NOTHING, 0, 0 },
};

/* Proves: E15 (losses losses-7-2) */
TEST_F_TIMEOUT(unprobed, a_neighbour_that_answers_in_time_ends_nothing, 600)
{
	struct row *row = &self->row;

	lose_neighbour(_metadata, row, NEIGHBOUR_SHORT_MS);
	CHECK_HERE(of_a_late_neighbour);
}

static const struct expected of_a_failed_neighbour[] = {
	{ LOSS_CONNECTING, KRDMA_EVENT_UNREACHABLE, ETIMEDOUT, NEIGHBOUR_MS },
	{ LOSS_ASKING, KRDMA_EVENT_UNREACHABLE, ETIMEDOUT, NEIGHBOUR_MS },
	{ LOSS_ASKED, KRDMA_EVENT_UNREACHABLE, ETIMEDOUT, NEIGHBOUR_MS },
	/* The peer's answer may have arrived before. */
	{ LOSS_ASKED, KRDMA_EVENT_LOST, ETIMEDOUT, NEIGHBOUR_MS },
	{ LOSS_IDLE, KRDMA_EVENT_LOST, ETIMEDOUT, NEIGHBOUR_MS },
	{ LOSS_WAITING, LOSS_NOTHING, 0, 0 },
	{ LOSS_IDLE_TOO, LOSS_NOTHING, 0, 0 },
	{ LOSS_ALONE, LOSS_NOTHING, 0, 0 },
};

/* Proves: E15 (losses losses-7-2) */
TEST_F_TIMEOUT(unprobed, a_failed_neighbour_ends_what_this_side_has_connected, 600)
{
	struct row *row = &self->row;

	lose_neighbour(_metadata, row, NEIGHBOUR_LONG_MS);
	CHECK_HERE(of_a_failed_neighbour);
}

FIXTURE(agent)
{
};

FIXTURE_SETUP(agent)
{
}

FIXTURE_TEARDOWN(agent)
{
}

TEST_F(agent, ends_when_asked)
{
	EXPECT_EQ(0, loss_ask("quit"));
}

int main(int argc, char **argv)
{
	const char *node = getenv("NODE");

	if (node && !strcmp(node, "2"))
		return loss_serve();
	return test_harness_run(argc, argv);
}
