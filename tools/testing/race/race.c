// SPDX-License-Identifier: GPL-2.0
/*
 * Delays where threads can meet: see race.h.  Part of krdma.ko with KRDMA_RACES=y.
 *
 * One long delay at one place finds more than short ones at all places: other threads act during
 * the delay.  So most places are quiet, and those that are not change all the time.  The seed, the
 * place and the number of points so far select them.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/instruction_pointer.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/sched/task_stack.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "race.h"

/* log2 of the number of points after which other places are selected. */
#define KRDMA_RACE_EPOCH_SHIFT	13
/* One place of KRDMA_RACE_PLACES is selected; one visit of KRDMA_RACE_VISITS there is delayed. */
#define KRDMA_RACE_PLACES	16
#define KRDMA_RACE_VISITS	8
/* Number of different delays: 1, 2, 4, ... 256 microseconds. */
#define KRDMA_RACE_LENGTHS	9

static unsigned long race_seed = 1;
module_param(race_seed, ulong, 0644);
MODULE_PARM_DESC(race_seed, "what the delays are derived from; 0: none");

static atomic64_t krdma_race_points = ATOMIC64_INIT(0);
static atomic64_t krdma_race_delays = ATOMIC64_INIT(0);

static int krdma_race_get_count(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%lld\n", atomic64_read(param->arg));
}

static const struct kernel_param_ops krdma_race_count_ops = { .get = krdma_race_get_count };

module_param_cb(race_points, &krdma_race_count_ops, &krdma_race_points, 0444);
MODULE_PARM_DESC(race_points, "how often a delay was possible");
module_param_cb(race_delays, &krdma_race_count_ops, &krdma_race_delays, 0444);
MODULE_PARM_DESC(race_delays, "how often there was one");

/* The end of splitmix64: each bit of the result depends on all of @value. */
static u64 krdma_race_mix(u64 value)
{
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
	return value ^ (value >> 31);
}

/* Return the delay of this visit in microseconds; it is mostly 0. */
static unsigned int krdma_race_draw(unsigned long place)
{
	u64 seed = READ_ONCE(race_seed);
	u64 count, epoch, dice;

	if (!seed || in_nmi() || in_hardirq())
		return 0;
	count = atomic64_inc_return(&krdma_race_points);
	epoch = (count >> KRDMA_RACE_EPOCH_SHIFT) << 32;
	/* The offset is the same wherever the module is loaded. */
	place -= (unsigned long)krdma_race_point;
	if (krdma_race_mix((seed << 48) ^ epoch ^ place) % KRDMA_RACE_PLACES)
		return 0;
	dice = krdma_race_mix((seed << 48) ^ ~count);
	if (dice % KRDMA_RACE_VISITS)
		return 0;
	atomic64_inc(&krdma_race_delays);
	return 1U << (dice >> 32) % KRDMA_RACE_LENGTHS;
}

/*
 * If the emulator runs all processors in one thread, cpu_relax() is what lets the other processor
 * run.  Each call takes time of the host, so there are not too many of them.
 */
static void krdma_race_delay(unsigned int us)
{
	u64 end = ktime_get_mono_fast_ns() + us * NSEC_PER_USEC;
	int i;

	do {
		cpu_relax();
		for (i = 0; i < 64; i++)
			barrier();
	} while (ktime_get_mono_fast_ns() < end);
}

void krdma_race_point(void)
{
	unsigned int us = krdma_race_draw(_RET_IP_);

	if (us)
		krdma_race_delay(us);
}

void krdma_race_point_sleeping(void)
{
	unsigned int us = krdma_race_draw(_RET_IP_);

	if (us)
		usleep_range(us, 2 * us);
}

/*
 * The compiler's hooks
 */

static void krdma_race_access(const void *address, unsigned long place)
{
	unsigned int us;

	/* No other thread accesses the stack of this one. */
	if (object_is_on_stack(address))
		return;
	us = krdma_race_draw(place);
	if (us)
		krdma_race_delay(us);
}

/* The access may be one between user_access_begin() and user_access_end(): close it in the hook. */
#define KRDMA_RACE_HOOK(name)							\
	notrace void __tsan_##name(void *address)				\
	{									\
		unsigned long open = user_access_save();			\
										\
		krdma_race_access(address, _RET_IP_);				\
		user_access_restore(open);					\
	}

KRDMA_RACE_HOOK(read1)
KRDMA_RACE_HOOK(write1)
KRDMA_RACE_HOOK(read2)
KRDMA_RACE_HOOK(write2)
KRDMA_RACE_HOOK(unaligned_read2)
KRDMA_RACE_HOOK(unaligned_write2)
KRDMA_RACE_HOOK(read4)
KRDMA_RACE_HOOK(write4)
KRDMA_RACE_HOOK(unaligned_read4)
KRDMA_RACE_HOOK(unaligned_write4)
KRDMA_RACE_HOOK(read8)
KRDMA_RACE_HOOK(write8)
KRDMA_RACE_HOOK(unaligned_read8)
KRDMA_RACE_HOOK(unaligned_write8)
KRDMA_RACE_HOOK(read16)
KRDMA_RACE_HOOK(write16)
KRDMA_RACE_HOOK(unaligned_read16)
KRDMA_RACE_HOOK(unaligned_write16)
KRDMA_RACE_HOOK(read_range)
KRDMA_RACE_HOOK(write_range)

/* Called by a constructor of each file, in kernels that call constructors. */
void __tsan_init(void)
{
}
