// SPDX-License-Identifier: GPL-2.0
/*
 * The other machine of a test in which something is lost.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "child.h"
#include "kmod.h"
#include "loss_agent.h"
#include "loss_side.h"
#include "net_link.h"
#include "rdma_link.h"
#include "session.h"

#define AGENT		"10.77.0.2"
#define AGENT_PORT	7400
/* The address that nothing has used before, see &struct loss_side.other. */
#define ADD_OTHER	"ip addr add 10.77.0.102/24 dev " LOSS_NETDEV ""
#define OTHER_MACHINE	"10.77.0.1"
#define CARRIER		"/sys/class/net/" LOSS_NETDEV "/carrier"
#define ARP_IGNORE	"/proc/sys/net/ipv4/conf/all/arp_ignore"
/* Values of arp_ignore: answer no request, or all. */
#define NO_ANSWER	"8"
#define ALL_ANSWERS	"0"

#define KEEPALIVE	"/sys/module/krdma/parameters/keepalive_ms"
#define STEP_MS		5
#define PATIENT_MS	60000

/**
 * struct shared - what the agent and the program share
 * @ready: the program is
 * @mark: the loss comes
 * @marked: the program knows
 * @strike: the loss has come
 * @silent: the program does not resolve then: its request would tell its own hardware address
 * @told: the program was told
 */
struct shared {
	atomic_bool ready;
	atomic_bool mark;
	atomic_bool marked;
	atomic_bool strike;
	atomic_bool silent;
	struct loss_told told[LOSS_STATES];
};

static struct shared *shared;
static pid_t program;

int loss_renew_device(void)
{
	int ret = rdma_link_remove(BOOT_DEVICE);

	if (ret && ret != -ENODEV)
		return ret;
	return rdma_link_add(BOOT_DEVICE, LOSS_NETDEV);
}

int loss_set_keepalive(unsigned int ms)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", ms);
	return write_text(KEEPALIVE, text);
}

/*
 * The program
 */

static int run_program(void *context)
{
	static struct loss_side side;
	const pid_t agent = getppid();
	bool struck = false;

	int ret = loss_side_open(&side, *(unsigned int *)context);

	if (ret)
		fprintf(stderr, "the program cannot begin: %s\n", strerror(-ret));
	CHECK(!ret);
	while (getppid() == agent) {
		loss_side_step(&side);
		shared->ready = loss_side_ready(&side);
		if (shared->mark && !shared->marked) {
			loss_side_mark(&side);
			shared->marked = true;
		}
		if (shared->strike && !struck) {
			loss_side_strike(&side);
			if (!shared->silent)
				loss_side_resolve(&side);
			struck = true;
		}
		for (int i = 0; i < LOSS_STATES; i++)
			shared->told[i] = side.cells[i].told;
		sleep_ms(STEP_MS);
	}
	return 0;
}

static int end_program(void)
{
	int64_t took = program > 0 ? child_kill(program) : 0;

	program = 0;
	return took < 0 ? took : 0;
}

static int begin(unsigned int keepalive_ms)
{
	static unsigned int node = 2;
	static bool other;
	int ret = end_program();

	write_text(ARP_IGNORE, ALL_ANSWERS);
	net_link_up(LOSS_NETDEV, true);
	if (!other && system(ADD_OTHER))
		return -EADDRNOTAVAIL;
	other = true;
	if (!kmod_loaded("krdma"))
		ret = ret ?: kmod_load(kmod_krdma());
	ret = ret ?: loss_set_keepalive(keepalive_ms);
	ret = ret ?: loss_renew_device();
	if (ret)
		return ret;
	memset(shared, 0, sizeof(*shared));
	program = child_start(run_program, &node);
	return program < 0 ? program : 0;
}

static void mark(void)
{
	shared->mark = true;
	while (!shared->marked)
		sleep_ms(1);
}

static void lose_at_once(void)
{
	mark();
	shared->strike = true;
}

/*
 * Commands
 */

static void lose_with_carrier(void)
{
	uint64_t end = now_ms() + PATIENT_MS;
	char line[8] = "1";

	while (!read_line(line, sizeof(line), CARRIER) && line[0] == '1' && now_ms() < end)
		sleep_ms(1);
	lose_at_once();
}

static void lose_interface(unsigned int ms)
{
	sleep_ms(LOSS_DELAY_MS);
	mark();
	net_link_up(LOSS_NETDEV, false);
	shared->strike = true;
	sleep_ms(ms);
	net_link_up(LOSS_NETDEV, true);
}

static void lose_neighbour(unsigned int ms)
{
	shared->silent = true;
	lose_at_once();
	sleep_ms(ms);
	net_link_keep(LOSS_NETDEV, OTHER_MACHINE, false);
	write_text(ARP_IGNORE, ALL_ANSWERS);
}

static int lose_device(void)
{
	int ret;

	mark();
	ret = rdma_link_remove(BOOT_DEVICE);
	shared->strike = true;
	return ret;
}

static void answer_number(int fd, int number)
{
	dprintf(fd, "%d\n", number);
}

static void answer_report(int fd)
{
	for (int i = 0; i < LOSS_STATES; i++) {
		const struct loss_told *told = &shared->told[i];

		dprintf(fd, "%u %d %u %d %u %u\n", told->news, told->error, told->ms, told->call,
			told->status, told->status_ms);
	}
}

/*
 * Commands that are answered before they take effect, because afterwards nothing gets through.
 * Returns false if @command is none of them.
 */
static bool answer_first(int fd, const char *command)
{
	unsigned int interface = 0, neighbour = 0;
	int ret = 0;

	if (sscanf(command, "lose interface %u", &interface) != 1 &&
	    sscanf(command, "lose neighbour %u", &neighbour) != 1 &&
	    strcmp(command, "lose carrier"))
		return false;
	if (neighbour) {
		write_text(ARP_IGNORE, NO_ANSWER);
		/* A request would say the hardware address, too. */
		ret = net_link_keep(LOSS_NETDEV, OTHER_MACHINE, true);
	}
	answer_number(fd, ret);
	shutdown(fd, SHUT_RDWR);
	if (interface)
		lose_interface(interface);
	else if (neighbour)
		lose_neighbour(neighbour);
	else
		lose_with_carrier();
	return true;
}

static int act(const char *command)
{
	unsigned int ms;

	if (sscanf(command, LOSS_BEGIN " %u", &ms) == 1)
		return begin(ms);
	if (!strcmp(command, "ready"))
		return shared->ready;
	if (!strcmp(command, "lose now")) {
		lose_at_once();
		return 0;
	}
	if (!strcmp(command, "lose device"))
		return lose_device();
	if (!strcmp(command, "lose process"))
		return end_program();
	if (!strcmp(command, "lose module"))
		return end_program() ?: kmod_unload_soon("krdma");
	if (!strcmp(command, "unload"))
		return kmod_unload("krdma");
	if (!strcmp(command, "end"))
		return end_program();
	return -EINVAL;
}

/* Returns false after "quit". */
static bool serve_one(int fd)
{
	char command[64] = "";
	ssize_t length = read(fd, command, sizeof(command) - 1);

	if (length > 0)
		command[strcspn(command, "\n")] = '\0';
	if (!strcmp(command, "report"))
		answer_report(fd);
	else if (!strcmp(command, "quit"))
		answer_number(fd, end_program());
	else if (!answer_first(fd, command))
		answer_number(fd, act(command));
	return strcmp(command, "quit");
}

static int agent_socket(bool serves)
{
	const struct timeval patience = { .tv_sec = PATIENT_MS / 1000 };
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons(AGENT_PORT),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, ret;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (serves) {
		ret = bind(fd, (struct sockaddr *)&address, sizeof(address)) ?: listen(fd, 8);
	} else {
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		inet_pton(AF_INET, AGENT, &address.sin_addr);
		ret = connect(fd, (struct sockaddr *)&address, sizeof(address));
	}
	if (!ret)
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

int loss_serve(void)
{
	int listener = agent_socket(true), fd;
	bool goes_on = true;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (listener < 0 || shared == MAP_FAILED)
		return 1;
	while (goes_on) {
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		goes_on = serve_one(fd);
		close(fd);
	}
	return 0;
}

/*
 * Machine 1
 */

static int ask_once(const char *command, char *answer, size_t size)
{
	int fd = agent_socket(false);
	size_t got = 0;
	ssize_t more;

	if (fd < 0)
		return fd;
	dprintf(fd, "%s\n", command);
	while (got < size - 1 && (more = read(fd, answer + got, size - 1 - got)) > 0)
		got += more;
	answer[got] = '\0';
	close(fd);
	return got ? 0 : -EPROTO;
}

/* Only connecting is tried again: the interface may have just come up. */
int loss_ask_text(const char *command, char *answer, size_t size)
{
	uint64_t end = now_ms() + PATIENT_MS;
	int ret;

	while ((ret = ask_once(command, answer, size)) && ret != -EPROTO && now_ms() < end)
		sleep_ms(100);
	return ret;
}

int loss_ask(const char *command)
{
	char answer[64];
	int ret = loss_ask_text(command, answer, sizeof(answer));

	return ret ? ret : atoi(answer);
}
