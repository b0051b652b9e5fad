// SPDX-License-Identifier: GPL-2.0
/*
 * A module with deliberate faults, to prove that the harness notices them.  fault=NAME selects the
 * fault; loading the module commits it.
 */
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/kref.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/timer.h>

static char *fault = "";
module_param(fault, charp, 0);
MODULE_PARM_DESC(fault, "what to do wrong");

static int fault_none(void)
{
	return 0;
}

/* The only pointer to the memory is overwritten: kmemleak. */
static int fault_leak(void)
{
	void *volatile lost;
	int i;

	for (i = 0; i < 8; i++)
		lost = kmalloc(1000 + i, GFP_KERNEL);
	lost = NULL;
	return lost ? -EIO : 0;
}

/* A sleep with preemption off: DEBUG_ATOMIC_SLEEP. */
static int fault_sleep(void)
{
	void *mr;

	preempt_disable();
	mr = kmalloc(64, GFP_KERNEL);
	preempt_enable();
	kfree(mr);
	return 0;
}

/* One byte past the end: KASAN. */
static int fault_overrun(void)
{
	volatile char *mr = kmalloc(40, GFP_KERNEL);
	volatile int past = 40;

	if (!mr)
		return -ENOMEM;
	mr[past] = 1;
	kfree((void *)mr);
	return 0;
}

/* Read after free: KASAN. */
static int fault_stale(void)
{
	volatile char *mr = kmalloc(200, GFP_KERNEL);
	char value;

	if (!mr)
		return -ENOMEM;
	kfree((void *)mr);
	value = mr[100];
	return value == 0x55 ? 0 : 0;
}

/* Two locks in both orders: lockdep.  It never deadlocks here. */
static int fault_order(void)
{
	static DEFINE_MUTEX(first);
	static DEFINE_MUTEX(second);

	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);

	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
	return 0;
}

/* A reference taken to an object that has none left: refcount_t. */
static int fault_refcount(void)
{
	refcount_t count = REFCOUNT_INIT(1);

	refcount_set(&count, 0);
	refcount_inc(&count);
	return 0;
}

static void fault_timer_fn(struct timer_list *timer)
{
}

struct fault_timed {
	struct timer_list timer;
};

/* An object that is freed while its timer is active: DEBUG_OBJECTS. */
static int fault_timer(void)
{
	struct fault_timed *timed = kzalloc(sizeof(*timed), GFP_KERNEL);

	if (!timed)
		return -ENOMEM;
	timer_setup(&timed->timer, fault_timer_fn, 0);
	mod_timer(&timed->timer, jiffies + 1000 * HZ);
	kfree(timed);
	return 0;
}

/* An index beyond the array: UBSAN. */
static int fault_index(void)
{
	static int numbers[4];
	volatile int index = 4;

	return numbers[index] == 12345 ? -EIO : 0;
}

static unsigned int fault_raced;

static int fault_racer(void *data)
{
	while (!kthread_should_stop()) {
		fault_raced++;
		cond_resched();
	}
	return 0;
}

static int fault_marker(void *data)
{
	while (!kthread_should_stop()) {
		WRITE_ONCE(fault_raced, READ_ONCE(fault_raced) + 1);
		cond_resched();
	}
	return 0;
}

static int fault_two(int (*thread)(void *))
{
	struct task_struct *threads[2];
	int i;

	for (i = 0; i < 2; i++)
		threads[i] = kthread_run(thread, NULL, "faulty/%d", i);
	msleep(2000);
	for (i = 0; i < 2; i++)
		if (!IS_ERR(threads[i]))
			kthread_stop(threads[i]);
	return 0;
}

/* Two threads increment a counter without a lock: KCSAN. */
static int fault_race(void)
{
	return fault_two(fault_racer);
}

/* The threads lose increments, too, but mark their accesses: KCSAN must not report them. */
static int fault_marked(void)
{
	return fault_two(fault_marker);
}

static int fault_warn(void)
{
	WARN(1, "faulty: as asked\n");
	return 0;
}

/* One processor loops forever, with interrupts off. */
static int fault_hang(void)
{
	local_irq_disable();
	for (;;)
		cpu_relax();
	return 0;
}

/* A task that sleeps and cannot be woken. */
static int fault_stuck(void)
{
	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule();
	}
	return 0;
}

static int fault_oops(void)
{
	volatile int *nothing = (int *)8;

	return *nothing ? 0 : 1;
}

static int fault_panic(void)
{
	panic("faulty: as asked");
	return 0;
}

/* A module that cannot be unloaded any more. */
static int fault_pinned(void)
{
	__module_get(THIS_MODULE);
	return 0;
}

static const struct {
	const char *name;
	int (*commit)(void);
} faults[] = {
	{ "none", fault_none },
	{ "leak", fault_leak },
	{ "sleep", fault_sleep },
	{ "overrun", fault_overrun },
	{ "stale", fault_stale },
	{ "order", fault_order },
	{ "refcount", fault_refcount },
	{ "timer", fault_timer },
	{ "index", fault_index },
	{ "race", fault_race },
	{ "marked", fault_marked },
	{ "warn", fault_warn },
	{ "hang", fault_hang },
	{ "stuck", fault_stuck },
	{ "oops", fault_oops },
	{ "panic", fault_panic },
	{ "pinned", fault_pinned },
};

static int __init faulty_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(faults); i++)
		if (!strcmp(fault, faults[i].name))
			return faults[i].commit();
	pr_err("faulty: there is no fault '%s'\n", fault);
	return -EINVAL;
}

static void __exit faulty_exit(void)
{
}

module_init(faulty_init);
module_exit(faulty_exit);
MODULE_DESCRIPTION("Wrongs for the test harness to notice");
MODULE_LICENSE("GPL");
