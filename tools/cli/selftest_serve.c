// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma selftest --listen: the far end for other machines, with one process for each test.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "peer_stop.h"
#include "selftest.h"
#include "selftest_far.h"

/* Maximum number of tests at a time. */
#define CLIENTS_MAX	8

/* Time to the next attempt, if no test can be accepted now. */
#define PAUSE_NS	(UINT64_C(100) * 1000000)

struct serve {
	const struct selftest_settings *settings;
	int listener;
	char address[PEER_TEXT];
	unsigned int clients;
	unsigned int served;
	/* It is reported that tests have to wait. */
	bool said;
};

/* A socket for both families reports an IPv4 address in IPv4-mapped form: make it IPv4 again. */
static void unmap_address(struct sockaddr_storage *address)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = six->sin6_port };

	if (address->ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
		return;
	memcpy(&four.sin_addr, &six->sin6_addr.s6_addr[12], sizeof(four.sin_addr));
	memset(address, 0, sizeof(*address));
	memcpy(address, &four, sizeof(four));
}

static int open_listener(struct serve *serve)
{
	const struct selftest_settings *settings = serve->settings;
	struct sockaddr_storage address = { .ss_family = AF_INET6 };
	int on = 1, off = 0, err;

	if (settings->source) {
		err = address_parse(settings->source, settings->family, &address);
		if (err)
			return err;
	} else if (settings->family == AF_INET) {
		address.ss_family = AF_INET;
	}
	address_set_port(&address, settings->port);
	address_text(&address, true, serve->address);
	serve->listener = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (serve->listener < 0 && errno == EAFNOSUPPORT && !settings->source &&
	    settings->family == AF_UNSPEC) {
		/* The machine has no IPv6: use IPv4. */
		memset(&address, 0, sizeof(address));
		address.ss_family = AF_INET;
		address_set_port(&address, settings->port);
		serve->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	}
	err = serve->listener < 0 ? -errno : 0;
	if (!err) {
		setsockopt(serve->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		if (address.ss_family == AF_INET6 && !settings->source)
			setsockopt(serve->listener, IPPROTO_IPV6, IPV6_V6ONLY,
				   settings->family == AF_INET6 ? &on : &off, sizeof(on));
		if (bind(serve->listener, (struct sockaddr *)&address,
			 address.ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
							 sizeof(struct sockaddr_in)) ||
		    listen(serve->listener, CLIENTS_MAX))
			err = -errno;
	}
	if (err)
		complain("cannot listen at %s: %s\n"
			 "Give another port with --port, or an address of this machine with -I",
			 serve->address, strerror(-err));
	return err;
}

ATTRIBUTE(noreturn)
static void attend(const struct serve *serve, int fd, pid_t parent)
{
	struct sockaddr_storage address = { 0 };
	socklen_t length = sizeof(address);

	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(serve->listener);
	if (getppid() != parent || getsockname(fd, (struct sockaddr *)&address, &length))
		_exit(EXIT_FAILED);
	unmap_address(&address);
	_exit(far_run(fd, &address, serve->settings->max_memory) ? EXIT_FAILED : EXIT_OK);
}

static void let_in(struct serve *serve)
{
	struct sockaddr_storage address = { 0 };
	socklen_t length = sizeof(address);
	char client[PEER_TEXT];
	pid_t parent = getpid(), child;
	bool full;
	int err, fd = accept4(serve->listener, (struct sockaddr *)&address, &length, SOCK_CLOEXEC);

	if (fd < 0) {
		/* The client was gone again, or it has to wait until others leave. */
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
			if (!serve->said)
				complain("cannot accept a test yet: %s", strerror(errno));
			serve->said = true;
			stop_sleep(clock_ns() + PAUSE_NS);
		}
		return;
	}
	serve->said = false;
	unmap_address(&address);
	address_text(&address, true, client);
	fflush(stdout);
	full = serve->clients == CLIENTS_MAX;
	child = full ? -1 : fork();
	if (!child)
		attend(serve, fd, parent);
	err = errno;
	close(fd);
	if (child < 0) {
		complain("cannot serve %s: %s", client,
			 full ? "too many tests at a time" : strerror(err));
		return;
	}
	serve->clients++;
	serve->served++;
	if (!serve->settings->quiet)
		printf("%s tests\n", client);
	fflush(stdout);
	if (ferror(stdout))
		stop_now();
}

static void reap(struct serve *serve)
{
	while (serve->clients && waitpid(-1, NULL, WNOHANG) > 0)
		serve->clients--;
}

int selftest_serve(const struct selftest_settings *settings)
{
	struct serve serve = { .settings = settings, .listener = -1 };
	struct krdma *session;
	struct pollfd wait;
	int err;

	stop_catch();
	/* Report a missing module or permission at once, not to each client. */
	if (open_session(&session))
		return EXIT_FAILED;
	krdma_close(session);
	err = open_listener(&serve);
	if (!err) {
		printf("listening at %s, serving krdma selftest; Ctrl-C ends it\n", serve.address);
		fflush(stdout);
	}
	wait = (struct pollfd){ .fd = serve.listener, .events = POLLIN };
	while (!err && !stop_wanted()) {
		/* As short as stop_slice(), because a signal may arrive just before poll(). */
		if (poll(&wait, 1, 200) > 0)
			let_in(&serve);
		reap(&serve);
	}
	if (serve.listener >= 0)
		close(serve.listener);
	/* The children end with this process, see attend(). */
	if (!err && !settings->quiet)
		printf("%u tests were served\n", serve.served);
	return err ? EXIT_FAILED : EXIT_OK;
}
