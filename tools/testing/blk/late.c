// SPDX-License-Identifier: GPL-2.0
/*
 * Writes whose packets are late; for late.sh.
 *
 *	late LINK delay MS
 *	late LINK await
 *	late LINK rounds COUNT STATE DISK OTHER
 *
 * "delay" makes what leaves by LINK from now on late by so much.  "await" waits until nothing is on
 * the way any more.
 *
 * In each of the rounds a write to DISK of two blocks, from processor 0, is late, and must fail
 * with EIO.  Then the first block is written at once by OTHER, which is another client's disk of
 * the same memory and has another way.  The second block is written to DISK from processor 1, when
 * the file STATE is "live" again.  When what was late has come, both blocks must have what was
 * written last.  The output is comments of TAP.  It is one program because so many processes would
 * take most of the time.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BLOCK	4096
/* Any wait is over after so many s. */
#define LIMIT	120

static int route;
static unsigned int link_index;

static uint64_t now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000ull + time.tv_nsec / 1000000;
}

/*
 * The queueing discipline
 */

struct message {
	struct nlmsghdr head;
	struct tcmsg tc;
	char attrs[256];
};

static struct rtattr *add(struct message *message, int type, const void *data, size_t length)
{
	struct rtattr *attr = (void *)((char *)message + NLMSG_ALIGN(message->head.nlmsg_len));

	attr->rta_type = type;
	attr->rta_len = RTA_LENGTH(length);
	memcpy(RTA_DATA(attr), data, length);
	message->head.nlmsg_len = NLMSG_ALIGN(message->head.nlmsg_len) + RTA_ALIGN(attr->rta_len);
	return attr;
}

static void begin(struct message *message, int type, int flags)
{
	memset(message, 0, sizeof(*message));
	message->head.nlmsg_len = NLMSG_LENGTH(sizeof(message->tc));
	message->head.nlmsg_type = type;
	message->head.nlmsg_flags = NLM_F_REQUEST | flags;
	message->tc.tcm_family = AF_UNSPEC;
	message->tc.tcm_ifindex = link_index;
	message->tc.tcm_parent = TC_H_ROOT;
}

/* netem keeps the delay of packets that it has already. */
static int delay(unsigned int ms)
{
	struct tc_netem_qopt options = { .limit = 100000 };
	int64_t ns = ms * 1000000ll;
	struct rtattr *outer;
	struct message message;
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
		char more[512];
	} answer;

	begin(&message, RTM_NEWQDISC, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE);
	add(&message, TCA_KIND, "netem", sizeof("netem"));
	outer = add(&message, TCA_OPTIONS, &options, sizeof(options));
	add(&message, TCA_NETEM_LATENCY64, &ns, sizeof(ns));
	outer->rta_len = (char *)&message + message.head.nlmsg_len - (char *)outer;
	if (send(route, &message, message.head.nlmsg_len, 0) < 0 ||
	    recv(route, &answer, sizeof(answer), 0) < 0)
		return -1;
	errno = -answer.error.error;
	return errno ? -1 : 0;
}

/* Packets that wait, if this message tells of the link's queueing discipline; or 0. */
static unsigned int queued(struct nlmsghdr *head)
{
	struct tcmsg *tc = NLMSG_DATA(head);
	int length = head->nlmsg_len - NLMSG_LENGTH(sizeof(*tc));
	struct rtattr *attr = TCA_RTA(tc);

	if (head->nlmsg_type != RTM_NEWQDISC || tc->tcm_ifindex != (int)link_index)
		return 0;
	for (; RTA_OK(attr, length); attr = RTA_NEXT(attr, length)) {
		struct rtattr *inner = RTA_DATA(attr);
		int rest = RTA_PAYLOAD(attr);

		if ((attr->rta_type & NLA_TYPE_MASK) != TCA_STATS2)
			continue;
		for (; RTA_OK(inner, rest); inner = RTA_NEXT(inner, rest)) {
			if (inner->rta_type == TCA_STATS_QUEUE)
				return ((struct gnet_stats_queue *)RTA_DATA(inner))->qlen;
		}
	}
	return 0;
}

/* The number of packets that are on the way, or -1. */
static int backlog(void)
{
	static char answer[32768] __attribute__((aligned(8)));
	struct message message;
	int count = 0;

	begin(&message, RTM_GETQDISC, NLM_F_DUMP);
	if (send(route, &message, message.head.nlmsg_len, 0) < 0)
		return -1;
	for (;;) {
		int length = recv(route, answer, sizeof(answer), 0);
		struct nlmsghdr *head = (void *)answer;

		if (length <= 0)
			return -1;
		for (; NLMSG_OK(head, length); head = NLMSG_NEXT(head, length)) {
			if (head->nlmsg_type == NLMSG_DONE)
				return count;
			if (head->nlmsg_type == NLMSG_ERROR)
				return -1;
			count += queued(head);
		}
	}
}

static int await_end(void)
{
	for (int tries = 0; tries < 2 * LIMIT; tries++) {
		int count = backlog();

		if (count < 0)
			return -1;
		/* The last one may still be being handled. */
		usleep(count ? 500000 : 1000000);
		if (!count)
			return 0;
	}
	errno = ETIMEDOUT;
	return -1;
}

/*
 * Rounds
 */

static char early[2 * BLOCK] __attribute__((aligned(BLOCK)));
static char later[BLOCK] __attribute__((aligned(BLOCK)));
static char found[2 * BLOCK] __attribute__((aligned(BLOCK)));
static const char *state;
static char story[1024];
static unsigned int behind;

static void tell(const char *text)
{
	size_t length = strlen(story);
	uint64_t now = now_ms();

	snprintf(story + length, sizeof(story) - length, "# %llu.%03llu s: %s: %s\n",
		 (unsigned long long)now / 1000, (unsigned long long)now % 1000, text,
		 strerror(errno));
}

static int await_live(void)
{
	for (int tries = 0; tries < 2 * LIMIT; tries++) {
		int fd = open(state, O_RDONLY | O_CLOEXEC);
		char text[16] = "";

		if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
			return -1;
		close(fd);
		if (!strcmp(text, "live\n"))
			return 0;
		usleep(500000);
	}
	errno = ETIMEDOUT;
	return -1;
}

static int put(int processor, int disk, const char *data, size_t length, off_t offset)
{
	cpu_set_t set;

	errno = 0;
	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return -1;
	return pwrite(disk, data, length, offset) == (ssize_t)length ? 0 : -1;
}

/* From processor 1, until it is acknowledged. */
static int put_again(int disk)
{
	for (int tries = 0; tries < LIMIT; tries++) {
		if (await_live())
			return -1;
		if (!put(1, disk, later, BLOCK, BLOCK))
			return 0;
	}
	return -1;
}

/* No round has the data of another one. */
static void prepare(unsigned int number)
{
	memset(early, 'a', sizeof(early));
	memset(later, 'b', sizeof(later));
	for (unsigned int i = 0; i < 2; i++)
		memcpy(early + i * BLOCK + 1, &number, sizeof(number));
	memcpy(later + 1, &number, sizeof(number));
	memset(found, 0, sizeof(found));
	story[0] = '\0';
}

static int once(unsigned int number, int disk, int other)
{
	/*
	 * The server ends a connection 2 to 4 s after the client's last answer, the client fails
	 * the write 5 s after it has given up the connection: so what is late comes before or
	 * after the error, and finds the connection or does not.
	 */
	static const unsigned int late_ms[] = { 2500, 3500, 8000 };
	unsigned int ms = late_ms[number % 3];
	uint64_t begun;
	int ret;

	prepare(number);
	errno = 0;
	if (await_live() || delay(ms)) {
		tell("the device is not live");
		return -1;
	}
	begun = now_ms();
	tell("packets are late");
	ret = put(0, disk, early, sizeof(early), 0);
	tell("the write whose packets are late");
	if (!ret || errno != EIO)
		return -1;
	ret = put(0, other, later, BLOCK, 0);
	behind += now_ms() - begun < ms;
	tell("the first block by another client");
	if (ret || delay(0))
		return -1;
	ret = put_again(disk);
	tell("the second block by the same device");
	if (ret || await_end())
		return -1;
	tell("what was late has come");
	if (pread(other, found, sizeof(found), 0) != sizeof(found))
		return -1;
	return memcmp(found, later, BLOCK) || memcmp(found + BLOCK, later, BLOCK) ? -1 : 0;
}

static int repeat(unsigned int count, int disk, int other)
{
	unsigned int i;

	for (i = 0; i < count && !once(i, disk, other); i++) {
		if (i % 100 == 99)
			printf("# %u rounds\n", i + 1);
		fflush(stdout);
	}
	printf("# %u of %u rounds; in %u the block was written before the late packets came\n", i,
	       count, behind);
	if (i == count)
		return 0;
	printf("# the next one:\n%s# the disk has %c and %c; a is what was late\n", story,
	       found[0] ?: '0', found[BLOCK] ?: '0');
	return 1;
}

int main(int argc, char **argv)
{
	int disk, other;

	if (argc < 3)
		return 2;
	route = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	link_index = if_nametoindex(argv[1]);
	if (route < 0 || !link_index) {
		perror("late: the link");
		return 2;
	}
	if (!strcmp(argv[2], "delay") && argc == 4) {
		if (!delay(atoi(argv[3])))
			return 0;
	} else if (!strcmp(argv[2], "await") && argc == 3) {
		if (!await_end())
			return 0;
	} else if (!strcmp(argv[2], "rounds") && argc == 7) {
		state = argv[4];
		disk = open(argv[5], O_WRONLY | O_DIRECT | O_CLOEXEC);
		other = open(argv[6], O_RDWR | O_DIRECT | O_CLOEXEC);
		if (disk >= 0 && other >= 0)
			return repeat(atoi(argv[3]), disk, other);
	} else {
		return 2;
	}
	perror("late");
	return 1;
}
