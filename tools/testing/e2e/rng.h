/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random numbers that a seed determines.
 */
#ifndef KRDMA_E2E_RNG_H
#define KRDMA_E2E_RNG_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct rng - a generator (splitmix64); to seed it, set @state
 * @state: changes with each number
 */
struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *rng)
{
	uint64_t value = rng->state += 0x9e3779b97f4a7c15;

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
	value = (value ^ value >> 27) * 0x94d049bb133111eb;
	return value ^ value >> 31;
}

/* A number from 0 to @limit - 1. */
static inline uint32_t rng_below(struct rng *rng, uint32_t limit)
{
	return rng_next(rng) % limit;
}

/* True once in @times. */
static inline bool rng_once_in(struct rng *rng, uint32_t times)
{
	return !rng_below(rng, times);
}

#define RNG_PICK(rng, array)	((array)[rng_below(rng, sizeof(array) / sizeof((array)[0]))])

#endif
