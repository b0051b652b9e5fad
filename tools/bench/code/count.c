// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of QEMU that counts how often each piece of the machine's code is executed.
 *
 *   -plugin count.so,out=PREFIX
 *
 * It counts from the moment when the machine executes the program code-begin until it executes
 * code-end, and then writes PREFIX.N, with N from 0 on: "total N", and a line "ADDRESS
 * INSTRUCTIONS TIMES" for each piece that was executed.  A piece is what the emulator translates at
 * once, at most up to the next branch.  One that is left by an exception counts whole.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mark.h"
#include "qemu.h"

int qemu_plugin_version = QEMU_PLUGIN_VERSION;

#define BUCKETS	65536u

/**
 * struct piece - a piece of code
 * @next: the next one of the bucket
 * @address: address in the machine
 * @size: number of instructions
 * @times: how often it was executed
 */
struct piece {
	struct piece *next;
	uint64_t address;
	uint64_t size;
	uint64_t times;
};

static struct piece *pieces[BUCKETS];
static uint64_t total;
static bool counting;
static const char *prefix;
static unsigned int written;

static void executed(unsigned int cpu, void *data)
{
	struct piece *piece = data;

	(void)cpu;
	if (!counting)
		return;
	piece->times++;
	total += piece->size;
}

static void begin(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	for (unsigned int i = 0; i < BUCKETS; i++)
		for (struct piece *piece = pieces[i]; piece; piece = piece->next)
			piece->times = 0;
	total = 0;
	counting = true;
}

static void end(unsigned int cpu, void *data)
{
	char name[4096];
	FILE *file;

	(void)cpu;
	(void)data;
	if (!counting)
		return;
	counting = false;
	snprintf(name, sizeof(name), "%s.%u", prefix, written++);
	file = fopen(name, "w");
	if (!file) {
		perror(name);
		exit(1);
	}
	fprintf(file, "total %lu\n", total);
	for (unsigned int i = 0; i < BUCKETS; i++)
		for (struct piece *piece = pieces[i]; piece; piece = piece->next)
			if (piece->times)
				fprintf(file, "%lx %lu %lu\n", piece->address, piece->size,
					piece->times);
	if (fclose(file)) {
		perror(name);
		exit(1);
	}
}

/* The same piece may be translated again. */
static struct piece *find(uint64_t address, uint64_t size)
{
	struct piece **bucket = &pieces[(address ^ address >> 16) % BUCKETS];
	struct piece *piece;

	for (piece = *bucket; piece; piece = piece->next)
		if (piece->address == address && piece->size == size)
			return piece;
	piece = calloc(1, sizeof(*piece));
	if (!piece)
		abort();
	*piece = (struct piece) { .next = *bucket, .address = address, .size = size };
	*bucket = piece;
	return piece;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	uint64_t address = qemu_plugin_tb_vaddr(tb);

	(void)id;
	if (address == MARK_BEGIN)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, begin, 0, NULL);
	else if (address == MARK_END)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, end, 0, NULL);
	qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, 0,
					     find(address, qemu_plugin_tb_n_insns(tb)));
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], "out=", 4))
			prefix = strdup(argv[i] + 4);
	if (!prefix) {
		fprintf(stderr, "count.so: where to? Give out=PREFIX\n");
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
