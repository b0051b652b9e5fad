// SPDX-License-Identifier: GPL-2.0
/*
 * A hostile peer of servers that use messages.  It knows the words (the protocol messages) of
 * libkrdma's whole files and of its long messages, and sends them right, nearly right and wrong,
 * in any order.  The server's memory, folders and other clients show whether that does harm.
 *
 *	words files|messages HOST PORT SEED WORDS
 *
 * It ends when it has sent WORDS words.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "visit_far.h"

#define PATIENCE_S	120
#define PAUSE_US	200
#define UNTOLD_US	5000000
#define WORD_MAX	4600
#define FILE_WORD	88
#define FILE_TYPES	17
#define MESSAGE_WORD	48
/* Maximum number of words in one visit. */
#define WORDS_MAX	24

struct speaker {
	struct far far;
	struct visit visit;
	struct diary diary;
	bool files;
	uint64_t seed;
	uint64_t visits;
	uint64_t said;
	uint64_t drawn;
	unsigned int words;
};

/* The current step, to report a run that hangs. */
static const char *volatile where;

static void on_alarm(int number)
{
	char line[80];
	int length = snprintf(line, sizeof(line), "FOUND: it hangs while it %s\n", where);

	(void)number;
	_exit(write(STDOUT_FILENO, line, (size_t)length) < 0 ? 3 : 1);
}

static uint64_t chance(struct speaker *speaker)
{
	return draw(speaker->seed, speaker->visits, speaker->drawn++, 77);
}

static void put(unsigned char *to, uint64_t value, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		to[i] = (unsigned char)(value >> 8 * i);
}

/* Valid and invalid values of sizes, offsets and slot numbers. */
static uint64_t number(struct speaker *speaker)
{
	static const uint64_t numbers[] = {
		0, 1, 2, 4, 15, 16, 17, 4095, 4096, 4097, 65536, 1048576, 4194304, 4194305,
		1ULL << 31, 1ULL << 32, INT64_MAX - 4095, INT64_MAX, 1ULL << 63, UINT64_MAX,
	};
	uint64_t which = chance(speaker);

	if (which % 4 == 0)
		return which >> 8 >> which % 56;
	return numbers[(which >> 8) % (sizeof(numbers) / sizeof(*numbers))];
}

/* The memory descriptor of the peer's own MR, right or with wrong values. */
static void put_descriptor(struct speaker *speaker, unsigned char *to)
{
	const struct host *host = speaker->far.host;
	bool lies = chance(speaker) % 4 == 0;

	put(to, 0x6d44524b, 4);
	put(to + 4, 1, 4);
	put(to + 8, lies ? number(speaker) : (uintptr_t)host->mr + BUFFER, 8);
	put(to + 16, lies ? number(speaker) : (SPAN_MAX - 1) * BUFFER, 8);
	put(to + 24, host->registered->rkey ^ (chance(speaker) % 8 == 0), 4);
	put(to + 28, chance(speaker) % 8 ? 6 : chance(speaker) % 16, 4);
}

static size_t file_word(struct speaker *speaker, unsigned char *word)
{
	static const char *const names[] = {
		"there", "new", "../outside", "/etc/passwd", "dir/there", "dir", "", ".", "..",
		"a/../../b", "link", "there/there", "a//b", ".krdma", "new.part", "dir/new",
	};
	/* Most visits begin with a word that may be the first one. */
	bool begins = !speaker->words++ && chance(speaker) % 4;
	unsigned int type = begins ? 1 + 4 * (chance(speaker) % 2) :
				     chance(speaker) % (FILE_TYPES + 2);
	const char *name = names[chance(speaker) % (sizeof(names) / sizeof(*names))];
	size_t length = 0;

	memset(word, 0, WORD_MAX);
	word[0] = (unsigned char)type;
	if (type == 1 || type == 2 || type == 5) {
		length = strlen(name);
		memcpy(word + FILE_WORD, name, length);
		if (chance(speaker) % 32 == 0) {
			length = chance(speaker) % 4200;
			memset(word + FILE_WORD, 'x', length);
		}
	}
	put(word + 2, length, 2);
	/* PUT (5): the action on the file, mostly a valid one.  ERROR (13): why it has ended. */
	if (type == 5 || type == 13)
		put(word + 4, chance(speaker) % (type == 5 ? 9 : 32), 4);
	if (type == 3 || type == 4 || (type >= 6 && type <= 9))
		put(word + 8, number(speaker) & INT64_MAX, 8);
	if (type == 2 || type == 5 || (type >= 8 && type <= 11 && type != 10))
		put(word + 16, chance(speaker) % 4 ? chance(speaker) % 100000 :
		    number(speaker), 8);
	if (type == 2 || type == 5)
		put(word + 36, chance(speaker) % 01000, 4);
	if (type == 8 || type == 9)
		put(word + 44, chance(speaker) % 18, 4);
	if (type == 2 || type == 3 || type == 6 || type == 7) {
		put(word + 48, chance(speaker) % 4 ? 4096ULL << chance(speaker) % 5 :
		    number(speaker), 4);
		put(word + 52, 1 + chance(speaker) % 17, 4);
	}
	if (type == 3 || type == 7 || type > 15)
		put_descriptor(speaker, word + 56);
	return FILE_WORD + length;
}

static size_t message_word(struct speaker *speaker, unsigned char *word)
{
	unsigned int kind = 1 + chance(speaker) % 2;

	memset(word, 0, WORD_MAX);
	put(word, 0x6244524b, 4);
	word[4] = (unsigned char)kind;
	if (kind == 2) {
		put(word + 6, chance(speaker) % 4, 2);
		return MESSAGE_WORD;
	}
	put(word + 8, chance(speaker) % 2 ? chance(speaker) % 70000 : number(speaker), 8);
	put_descriptor(speaker, word + 16);
	return MESSAGE_WORD;
}

/* Change one word of three: a bit of it, its length, or all of its content. */
static size_t spoil(struct speaker *speaker, unsigned char *word, size_t length)
{
	switch (chance(speaker) % 9) {
	case 0:
		word[chance(speaker) % length] ^= 1 << chance(speaker) % 8;
		return length;
	case 1:
		return chance(speaker) % (length + 1);
	case 2:
		for (size_t i = 0; i < length; i++)
			word[i] = (unsigned char)chance(speaker);
		return length;
	default:
		return length;
	}
}

/* Send one word.  Returns false if the connection has ended. */
static bool say(struct speaker *speaker)
{
	struct far *far = &speaker->far;
	unsigned char *word = far->host->mr;
	struct ibv_sge sge = { (uintptr_t)word, 0, far->host->registered->lkey };
	struct ibv_send_wr request = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
	}, *bad;
	size_t length = speaker->files ? file_word(speaker, word) : message_word(speaker, word);
	struct ibv_wc wc, answer;
	int count;

	sge.length = (uint32_t)spoil(speaker, word, length);
	speaker->said++;
	if (ibv_post_send(far->pair, &request, &bad))
		return false;
	for (unsigned int waited = 0; !(count = ibv_poll_cq(far->sent, 1, &wc)); waited++) {
		far_look(far);
		/* If the server disconnects, the peer may not get an event. */
		if (waited > UNTOLD_US / PAUSE_US && !far->over)
			far_give_up(far);
		usleep(PAUSE_US);
	}
	/* The server's answers may be anything; post their receives again. */
	while (count > 0 && ibv_poll_cq(far->received, 1, &answer) > 0) {
		if (!answer.status)
			far_answer_room(far, (unsigned int)answer.wr_id);
	}
	return count > 0 && !wc.status;
}

/* The private data of both sides of whole files, sometimes with a wrong bit. */
static void greet(struct speaker *speaker)
{
	struct visit *visit = &speaker->visit;

	memset(visit->data, 0, sizeof(visit->data));
	visit->data_length = REQUEST_AREA;
	memcpy(visit->data, "krdf\2", 5);
	if (chance(speaker) % 16 == 0)
		visit->data[chance(speaker) % 16] ^= 1 << chance(speaker) % 8;
}

static void visit_once(struct speaker *speaker)
{
	struct far *far = &speaker->far;
	unsigned int words = 1 + draw(speaker->seed, speaker->visits, 0, 78) % WORDS_MAX;

	speaker->drawn = 0;
	speaker->words = 0;
	speaker->visits++;
	greet(speaker);
	far->over = false;
	far->events = rdma_create_event_channel();
	if (!far->events)
		exit(1);
	alarm(PATIENCE_S);
	where = "looks for the way";
	far->id = far_way(far, 0);
	far_pair(far);
	where = "asks";
	if (!far_connect(far, far->id, far->pair->qp_num) &&
	    far_next_event(far).type == RDMA_CM_EVENT_CONNECT_RESPONSE && !far_establish(far)) {
		where = "speaks";
		while (words-- && say(speaker))
			;
		where = "disconnects";
		if (chance(speaker) % 2)
			far_disconnect(far);
	}
	/* The connection request counts as a word, even if it is rejected. */
	speaker->said++;
	where = "leaves";
	far_close(far, chance(speaker) % 2);
	rdma_destroy_event_channel(far->events);
	alarm(0);
}

int main(int argc, char **argv)
{
	static struct speaker speaker;
	struct sockaddr_in server = { .sin_family = AF_INET };
	uint64_t goal;

	if (argc != 6) {
		fprintf(stderr, "usage: words files|messages HOST PORT SEED WORDS\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGALRM, on_alarm);
	speaker.files = !strcmp(argv[1], "files");
	inet_pton(AF_INET, argv[2], &server.sin_addr);
	server.sin_port = htons((uint16_t)atoi(argv[3]));
	speaker.seed = strtoull(argv[4], NULL, 0);
	goal = strtoull(argv[5], NULL, 0);
	speaker.far.host = host_new(&server, &speaker.diary);
	speaker.far.visit = &speaker.visit;
	speaker.visit.impatient = true;
	while (speaker.far.host && speaker.said < goal)
		visit_once(&speaker);
	printf("%llu words in %llu visits; %llu findings\n", (unsigned long long)speaker.said,
	       (unsigned long long)speaker.visits, (unsigned long long)speaker.diary.findings);
	return !speaker.far.host || speaker.diary.findings;
}
