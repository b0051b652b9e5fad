// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the rate of this processor's time stamp counter in kHz.
 *
 * An emulated processor has the host's counter.  A kernel that boots measures the counter's rate
 * against a timer of the emulator, which a busy host delivers late.  The kernel's seconds can then
 * be a fraction of real ones, and every time limit in it passes too early.  Here each reading of
 * the clock is taken between two of the counter, and the closest pair is used.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct reading {
	uint64_t ns;
	uint64_t ticks;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static struct reading read_both(void)
{
	struct reading best = { 0 };
	uint64_t closest = UINT64_MAX;

	for (int i = 0; i < 100; i++) {
		uint64_t before = __rdtsc(), ns = now(), after = __rdtsc();

		if (after - before < closest) {
			closest = after - before;
			best = (struct reading){ .ns = ns, .ticks = before + closest / 2 };
		}
	}
	return best;
}

int main(void)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	struct reading first = read_both(), second;

	nanosleep(&pause, NULL);
	second = read_both();
	printf("%.0f\n", 1e6 * (second.ticks - first.ticks) / (second.ns - first.ns));
	return 0;
}
