/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random changes of a message for libkrdma's file transfers.
 */
#ifndef KRDMA_E2E_LIB_MUTATE_H
#define KRDMA_E2E_LIB_MUTATE_H

#include "lib_raw.h"
#include "rng.h"

/* Change bits, a field, the type or the length of @message. */
void mutate(struct rng *rng, struct message *message);

/* A message of a random type with random fields, most of them at the limits of their range. */
struct message mutate_any(struct rng *rng, const char *name);

#endif
