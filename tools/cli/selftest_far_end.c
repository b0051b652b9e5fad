// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma selftest: the near end's access to the far end, a child or a process on another machine.
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "peer_stop.h"
#include "selftest.h"
#include "selftest_far.h"
#include "url.h"

/* Time for an answer, in addition to the timeout that the far end itself applies. */
#define MARGIN_NS	(UINT64_C(5) * 1000000000)
#define CONNECT_NS	(UINT64_C(10) * 1000000000)
#define END_NS		(UINT64_C(2) * 1000000000)

/* Run the child.  It ends with its parent, and ignores Ctrl-C, which the parent handles. */
ATTRIBUTE(noreturn)
static void be_far_end(const struct selftest *test, int fd, pid_t parent)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILED);
	_exit(far_run(fd, &test->address, UINT64_MAX) ? EXIT_FAILED : EXIT_OK);
}

static int start_child(struct selftest *test)
{
	pid_t parent = getpid();
	int ends[2], err;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	fflush(stdout);
	test->child = fork();
	if (!test->child) {
		close(ends[0]);
		be_far_end(test, ends[1], parent);
	}
	close(ends[1]);
	if (test->child < 0) {
		err = -errno;
		close(ends[0]);
		test->child = 0;
		return err;
	}
	test->channel = ends[0];
	test->far_address = test->address;
	return 0;
}

/* Wait until @fd is connected, fails or times out.  -EINTR if a stop is requested. */
static int await_connect(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLOUT };
	uint64_t deadline = clock_ns() + CONNECT_NS;
	socklen_t length = sizeof(int);
	int err = 0;

	while (poll(&wait, 1, 200) <= 0) {
		if (stop_wanted())
			return -EINTR;
		if (clock_ns() > deadline)
			return -ETIMEDOUT;
	}
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &length);
	return -err;
}

static int connect_to(const struct addrinfo *at, int *fd)
{
	int err = 0;

	*fd = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return -errno;
	if (connect(*fd, at->ai_addr, at->ai_addrlen))
		err = errno == EINPROGRESS ? await_connect(*fd) : -errno;
	if (err)
		close(*fd);
	return err;
}

static int connect_peer(struct selftest *test)
{
	const struct selftest_settings *settings = test->settings;
	struct addrinfo hints = { .ai_family = settings->family, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found, *at;
	char port[8];
	int err;

	/* Both ends of an RDMA connection have addresses of the same family. */
	if (test->address.ss_family && settings->source)
		hints.ai_family = test->address.ss_family;
	snprintf(port, sizeof(port), "%u", settings->port);
	err = getaddrinfo(settings->peer, port, &hints, &found);
	if (err) {
		complain("cannot find the address of '%s': %s\n"
			 "Check the name, or give the address of the host",
			 settings->peer, url_error(err));
		return -ENOENT;
	}
	err = -ENOENT;
	for (at = found; at && err && err != -EINTR; at = at->ai_next) {
		err = connect_to(at, &test->channel);
		if (!err) {
			memset(&test->far_address, 0, sizeof(test->far_address));
			memcpy(&test->far_address, at->ai_addr, at->ai_addrlen);
		}
	}
	freeaddrinfo(found);
	if (err)
		test->channel = -1;
	if (err && err != -EINTR)
		complain("cannot connect to %s, TCP port %u: %s\n"
			 "Start the other side first, on %s: krdma selftest --listen",
			 settings->peer, settings->port, strerror(-err), settings->peer);
	return err;
}

static int greet(struct selftest *test)
{
	struct wire_words in = {
		.word = { FAR_HELLO, WIRE_MAGIC, WIRE_VERSION, test->settings->timeout },
	};
	struct wire_words out;
	uint64_t deadline = clock_ns() + CONNECT_NS;
	/* Text from the network. */
	char version[sizeof(test->far_version) - 1];
	int err = wire_send(test->channel, &in, deadline);

	if (!err)
		err = wire_receive(test->channel, &out, deadline);
	if (err == -EINTR)
		return err;
	if (err || out.word[0] || out.word[1] != WIRE_MAGIC || out.word[2] != WIRE_VERSION) {
		complain("cannot test with %s: it does not speak this version of the test\n"
			 "Install krdma of one release on both sides: here it is %s",
			 test->settings->peer ? test->settings->peer : "the child process",
			 krdma_version());
		return -EPROTO;
	}
	wire_get_bytes(&out.word[3], version, sizeof(version));
	printable(test->far_version, sizeof(test->far_version), version, sizeof(version));
	return 0;
}

int far_start(struct selftest *test)
{
	int err;

	if (test->channel >= 0)
		return 0;
	err = test->settings->peer ? connect_peer(test) : start_child(test);
	if (err && !test->settings->peer)
		complain("cannot start the process at the other end: %s", strerror(-err));
	if (!err)
		err = greet(test);
	if (err)
		far_stop(test);
	return err;
}

/* The child exits when its socket is closed; kill it if it hangs. */
void far_stop(struct selftest *test)
{
	uint64_t deadline = clock_ns() + END_NS;
	struct timespec pause = { .tv_nsec = 5000000 };

	if (test->channel >= 0)
		close(test->channel);
	test->channel = -1;
	if (!test->child)
		return;
	while (!waitpid(test->child, NULL, WNOHANG)) {
		if (clock_ns() > deadline) {
			kill(test->child, SIGKILL);
			waitpid(test->child, NULL, 0);
			break;
		}
		nanosleep(&pause, NULL);
	}
	test->child = 0;
}

static int lost(struct selftest *test, int err)
{
	if (err == -EINTR)
		return err;
	check_fail(test, "the far end %s", err == -ETIMEDOUT ? "does not answer" : "has died");
	/* A late answer would be taken for that of a later request. */
	far_stop(test);
	return -EPROTO;
}

int far_ask(struct selftest *test, const struct wire_words *in)
{
	int err;

	if (test->channel < 0)
		return check_fail(test, "there is no far end");
	err = wire_send(test->channel, in, clock_ns() + MARGIN_NS);
	return err ? lost(test, err) : 0;
}

/* The first word of an answer is 0 or a negative errno. */
int far_answer(struct selftest *test, struct wire_words *out)
{
	uint64_t deadline = clock_ns() + test->settings->timeout + MARGIN_NS;
	int err = wire_receive(test->channel, out, deadline);

	if (err)
		return lost(test, err);
	if (out->word[0] && (int64_t)out->word[0] < -4095) {
		far_stop(test);
		return check_fail(test, "the far end has sent an invalid answer");
	}
	return 0;
}

int far_call(struct selftest *test, const struct wire_words *in, struct wire_words *out)
{
	int err = far_ask(test, in);

	return err ? err : far_answer(test, out);
}
