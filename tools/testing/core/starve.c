// SPDX-License-Identifier: GPL-2.0
/*
 * A machine that cannot start any thread.
 *
 * Starting a thread takes memory.  When reclaim waits for a work item, and no thread of the work
 * item's pool is idle, only a workqueue with WQ_MEM_RECLAIM makes progress: it has a rescuer.  Here
 * the sysctl kernel.threads-max refuses new threads, and waiting work items occupy those of the
 * unbound pools.  For workqueues this is the same as a lack of memory, but it lasts exactly as long
 * as the test wants.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/fcntl.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "fixture.h"

#define STARVE_THREADS_MAX	"/proc/sys/kernel/threads-max"
#define STARVE_HOGS		64	/* for each processor: more than a pool keeps idle */
#define STARVE_SETTLE_MS	100

/* A work item that waits. */
struct core_hog {
	struct work_struct work;
	struct core_starve *starve;
};

/**
 * struct core_starve - what keeps threads from work items
 * @over: the work items may return
 * @running: number of work items that have a thread
 * @workqueue: a workqueue of the starved pools
 * @hogs: the work items
 * @hog_count: number of @hogs
 * @threads_max: original value of the sysctl
 */
struct core_starve {
	struct completion over;
	atomic_t running;
	struct workqueue_struct *workqueue;
	struct core_hog *hogs;
	unsigned int hog_count;
	char threads_max[24];
};

static void core_hog_work(struct work_struct *work)
{
	struct core_starve *starve = container_of(work, struct core_hog, work)->starve;

	atomic_inc(&starve->running);
	/*
	 * Interruptible, so that the kernel does not report a hung task.  No signal arrives here.
	 */
	if (wait_for_completion_interruptible(&starve->over))
		return;
}

static int core_threads_max(char *old, size_t room, const char *new)
{
	struct file *file = filp_open(STARVE_THREADS_MAX, O_RDWR, 0);
	loff_t position = 0;
	ssize_t ret = 0;

	if (IS_ERR(file))
		return PTR_ERR(file);
	if (old) {
		ret = kernel_read(file, old, room - 1, &position);
		if (ret > 0)
			old[ret] = '\0';
	}
	position = 0;
	if (ret >= 0)
		ret = kernel_write(file, new, strlen(new), &position);
	filp_close(file, NULL);
	return ret < 0 ? ret : 0;
}

static void core_hogs_start(struct core_starve *starve)
{
	unsigned int count = 0;
	int cpu;

	for_each_online_cpu(cpu) {
		for (int i = 0; i < STARVE_HOGS && count < starve->hog_count; i++) {
			struct core_hog *hog = &starve->hogs[count++];

			INIT_WORK(&hog->work, core_hog_work);
			hog->starve = starve;
			queue_work_on(cpu, starve->workqueue, &hog->work);
		}
	}
	starve->hog_count = count;
}

/**
 * core_starve_begin() - Make work items without a rescuer wait
 * @test: fails if that is impossible
 * @flags: selects the pools: WQ_UNBOUND, with or without WQ_HIGHPRI
 *
 * Until core_starve_end() no process can be started either.
 *
 * Context: process context; sleeps.
 * Return: an argument for core_starve_end(), or NULL.
 */
struct core_starve *core_starve_begin(struct core_test *test, unsigned int flags)
{
	struct core_starve *starve = kzalloc_obj(*starve, GFP_KERNEL);

	if (!CORE_TRUE(test, starve))
		return NULL;
	init_completion(&starve->over);
	starve->hog_count = STARVE_HOGS * num_online_cpus();
	starve->hogs = kvzalloc_objs(*starve->hogs, starve->hog_count, GFP_KERNEL);
	starve->workqueue = alloc_workqueue("krdma_hog", flags, WQ_MAX_ACTIVE);
	if (!CORE_TRUE(test, starve->hogs && starve->workqueue) ||
	    !CORE_EQ(test, 0, core_threads_max(starve->threads_max, sizeof(starve->threads_max),
					       "1"))) {
		starve->hog_count = 0;
		core_starve_end(starve);
		return NULL;
	}
	core_hogs_start(starve);
	msleep(STARVE_SETTLE_MS);
	/* The rest waits for a thread, as every later work item does. */
	CORE_TRUE(test, atomic_read(&starve->running) < starve->hog_count);
	core_note(test, "%d of %u work items have a thread", atomic_read(&starve->running),
		  starve->hog_count);
	return starve;
}

/**
 * core_starve_end() - Allow threads again
 * @starve: from core_starve_begin(), or NULL
 *
 * Context: process context; sleeps.
 */
void core_starve_end(struct core_starve *starve)
{
	if (!starve)
		return;
	if (starve->threads_max[0])
		core_threads_max(NULL, 0, starve->threads_max);
	complete_all(&starve->over);
	if (starve->workqueue)
		destroy_workqueue(starve->workqueue);
	kvfree(starve->hogs);
	kfree(starve);
}
