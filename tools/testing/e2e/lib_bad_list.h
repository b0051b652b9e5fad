/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lists of folders as no server of libkrdma makes them, and some that one might make.
 */
#ifndef KRDMA_E2E_LIB_BAD_LIST_H
#define KRDMA_E2E_LIB_BAD_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rng.h"

/* Bytes that a list has at most. */
#define BAD_LIST_ROOM	24000

/* Kinds of lists at most. */
#define BAD_LIST_KINDS	64

/**
 * struct bad_list - a list
 * @kind: what is odd about it
 * @recursive: the client has asked for the folders in the folder
 * @bytes: it
 * @length: their number
 * @said: the length that the server says; what is missing of it is a hole
 * @entries: number of entries
 */
struct bad_list {
	unsigned int kind;
	bool recursive;
	unsigned char bytes[BAD_LIST_ROOM];
	size_t length;
	uint64_t said;
	size_t entries;
};

unsigned int bad_list_kinds(void);
/* What the kind is, in words. */
const char *bad_list_kind(unsigned int kind);
/* Whether a client must not take such a list. */
bool bad_list_is_refused(unsigned int kind, bool recursive);
/* Whether it must not even ask for it. */
bool bad_list_is_too_long(unsigned int kind);
/* The kind of such a list of which there were fewest, in which order @rng says. */
unsigned int bad_list_rarest(unsigned int counts[][2], bool recursive, struct rng *rng);
/* Makes the list of list->kind and list->recursive. */
void bad_list_make(struct bad_list *list, struct rng *rng);

#endif
