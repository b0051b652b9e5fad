// SPDX-License-Identifier: GPL-2.0
/*
 * Fault injection in the kernel for the tests of krdma_blk, by files in debugfs/krdma_blk_test:
 *
 *  refuse	Writing "SYMBOL VALUE" makes each further call of the function SYMBOL return VALUE
 *		without any effect.  Writing "SYMBOL VALUE NUMBER" does that after NUMBER further
 *		calls, and "SYMBOL VALUE NUMBER CALLER" counts and refuses only calls by the
 *		function CALLER.  Writing "off" ends this.  Reading gives the number of calls
 *		refused so far.
 *  change	Writing "SYMBOL VALUE" makes each further call of the function SYMBOL return VALUE
 *		after all that it does.  Writing "off" ends this.  Reading gives the number of
 *		values changed so far.
 *  cut		Writing "SYMBOL" halves the third argument of each further call of the function
 *		SYMBOL, if it is more than 1.  Writing "SYMBOL VALUE" lowers only that of the next
 *		such call, by 1; each later call with the same first argument returns VALUE without
 *		any effect.  Writing "off" ends this.  Reading gives the number of arguments lowered
 *		so far.
 *  length	Writing "LENGTH VALUE" makes krdma_conn_post_send() return VALUE for a work request
 *		that has LENGTH bytes, and not post what comes behind it.  Writing "off" ends this.
 *		Reading gives the number of calls that returned VALUE so far.
 *  stall	Writing "SYMBOL CALLER" makes the next call of the function SYMBOL by the function
 *		CALLER, or by any function if CALLER is "any", sleep before it begins, until "go"
 *		is written.  Calls with interrupts off do not count.  Reading gives "waiting" until
 *		the call, then "stalled", then "over".
 *  stall2	As "stall", for another call at the same time.
 *  spin	Writing "SYMBOL NUMBER" makes the further call NUMBER, from 1, of SYMBOL spin before
 *		it begins, until "go" is written: for a caller that must not sleep.  Reading is as
 *		with "stall".
 *  delay	Writing "SYMBOL MS" makes each further call of the function SYMBOL sleep for so many
 *		milliseconds before it begins, also several at the same time.  The function must be
 *		called where it may sleep.  Writing "off" ends this, and waits for those that sleep.
 *		Reading gives the number of calls delayed so far.
 *  pages	Writing "NUMBER" lowers the number of pages that a device can register at a time,
 *		for each device that is used from then on, until it is removed.  Writing "off" ends
 *		this for devices that are added later.
 *  failfast	Writing "DISK" reads the first block of that disk with REQ_FAILFAST_TRANSPORT.  The
 *		write returns the error of the read.  Writing "DISK merged" reads the first block
 *		ahead, and the second one as usual; the block layer makes one request of both.  The
 *		write returns the error of the second one.  Writing "DISK write" writes the first
 *		block, and returns the error of that.
 *
 * A kprobe at the function's first instruction redirects the call to a function of this module.
 * This relies on the x86-64 calling convention, and works for functions with at most six
 * arguments.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kstrtox.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <krdma/krdma.h>

#define BLK_TEST_WORD		64

/* A stalled call continues after this time without "go".  Each test writes it earlier. */
#define BLK_TEST_STALL_MS	120000
#define BLK_TEST_STEP_MS	10000
/* Calls that can be stalled at the same time. */
#define BLK_TEST_STALLS		2

/* Less than what the kernel takes for a lockup. */
#define BLK_TEST_SPIN_MS	8000

typedef long (*blk_test_function)(unsigned long a, unsigned long b, unsigned long c,
				  unsigned long d, unsigned long e, unsigned long f);

static struct dentry *blk_test_directory;

/* Serializes commands.  The probes do not take it. */
static DEFINE_MUTEX(blk_test_lock);

/* The probe is at the first instruction, so the top of the stack is the return address. */
static bool blk_test_is_caller(const char *wanted, const struct pt_regs *regs)
{
	char caller[KSYM_SYMBOL_LEN];

	if (!strcmp(wanted, "any"))
		return true;
	sprint_symbol_no_offset(caller, *(unsigned long *)kernel_stack_pointer((void *)regs));
	*strchrnul(caller, ' ') = '\0';
	return !strcmp(caller, wanted);
}

/*
 * refuse
 */

static char blk_test_refused_symbol[BLK_TEST_WORD];
static char blk_test_refused_caller[BLK_TEST_WORD];
static struct kprobe blk_test_refused;
static long blk_test_refused_value;
/* Further calls before the first one that is refused. */
static atomic_t blk_test_refused_before = ATOMIC_INIT(0);
static atomic_t blk_test_refusals = ATOMIC_INIT(0);

static noinline long blk_test_refuse(void)
{
	atomic_inc(&blk_test_refusals);
	return READ_ONCE(blk_test_refused_value);
}

static int blk_test_refused_pre(struct kprobe *probe, struct pt_regs *regs)
{
	if (!blk_test_is_caller(blk_test_refused_caller, regs) ||
	    atomic_dec_if_positive(&blk_test_refused_before) >= 0)
		return 0;
	instruction_pointer_set(regs, (unsigned long)blk_test_refuse);
	return 1;
}

static void blk_test_refuse_end(void)
{
	if (!blk_test_refused.symbol_name)
		return;
	unregister_kprobe(&blk_test_refused);
	blk_test_refused = (struct kprobe) {};
}

static int blk_test_refuse_begin(const char *symbol, char *value)
{
	char *number = value;
	char *caller;
	int before = 0;
	int ret;

	strsep(&number, " ");
	caller = number;
	strsep(&caller, " ");
	ret = kstrtol(value, 0, &blk_test_refused_value);
	if (!ret && number)
		ret = kstrtoint(number, 0, &before);
	if (ret)
		return ret;
	atomic_set(&blk_test_refused_before, before);
	strscpy(blk_test_refused_symbol, symbol, sizeof(blk_test_refused_symbol));
	strscpy(blk_test_refused_caller, caller ?: "any", sizeof(blk_test_refused_caller));
	atomic_set(&blk_test_refusals, 0);
	blk_test_refused = (struct kprobe) {
		.symbol_name = blk_test_refused_symbol, .pre_handler = blk_test_refused_pre,
	};
	ret = register_kprobe(&blk_test_refused);
	if (ret)
		blk_test_refused = (struct kprobe) {};
	return ret;
}

/*
 * change
 */

static char blk_test_changed_symbol[BLK_TEST_WORD];
static struct kretprobe blk_test_changed;
static long blk_test_changed_value;
static atomic_t blk_test_changes = ATOMIC_INIT(0);

static int blk_test_changed_post(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	regs_set_return_value(regs, READ_ONCE(blk_test_changed_value));
	atomic_inc(&blk_test_changes);
	return 0;
}

static void blk_test_change_end(void)
{
	if (!blk_test_changed.kp.symbol_name)
		return;
	unregister_kretprobe(&blk_test_changed);
	blk_test_changed = (struct kretprobe) {};
}

static int blk_test_change_begin(const char *symbol, const char *value)
{
	int ret = kstrtol(value, 0, &blk_test_changed_value);

	if (ret)
		return ret;
	strscpy(blk_test_changed_symbol, symbol, sizeof(blk_test_changed_symbol));
	atomic_set(&blk_test_changes, 0);
	blk_test_changed = (struct kretprobe) {
		.kp.symbol_name = blk_test_changed_symbol, .handler = blk_test_changed_post,
	};
	ret = register_kretprobe(&blk_test_changed);
	if (ret)
		blk_test_changed = (struct kretprobe) {};
	return ret;
}

/*
 * cut
 */

static char blk_test_cut_symbol[BLK_TEST_WORD];
static struct kprobe blk_test_cutter;
static atomic_t blk_test_cuts = ATOMIC_INIT(0);
/* With a value: the first argument of the call that was cut, or 0. */
static atomic_long_t blk_test_cut_of = ATOMIC_LONG_INIT(0);
static long blk_test_cut_value;

static noinline long blk_test_cut_refuse(void)
{
	return READ_ONCE(blk_test_cut_value);
}

static int blk_test_cut_pre(struct kprobe *probe, struct pt_regs *regs)
{
	if ((int)regs->dx > 1) {
		regs->dx = (int)regs->dx / 2;
		atomic_inc(&blk_test_cuts);
	}
	return 0;
}

static int blk_test_cut_once_pre(struct kprobe *probe, struct pt_regs *regs)
{
	if (atomic_long_read(&blk_test_cut_of) == (long)regs->di) {
		instruction_pointer_set(regs, (unsigned long)blk_test_cut_refuse);
		return 1;
	}
	if ((int)regs->dx > 1 && !atomic_long_cmpxchg(&blk_test_cut_of, 0, (long)regs->di)) {
		regs->dx--;
		atomic_inc(&blk_test_cuts);
	}
	return 0;
}

static void blk_test_cut_end(void)
{
	if (!blk_test_cutter.symbol_name)
		return;
	unregister_kprobe(&blk_test_cutter);
	blk_test_cutter = (struct kprobe) {};
}

static int blk_test_cut_begin(const char *symbol, const char *value)
{
	int ret = value ? kstrtol(value, 0, &blk_test_cut_value) : 0;

	if (ret)
		return ret;
	strscpy(blk_test_cut_symbol, symbol, sizeof(blk_test_cut_symbol));
	atomic_set(&blk_test_cuts, 0);
	atomic_long_set(&blk_test_cut_of, 0);
	blk_test_cutter = (struct kprobe) {
		.symbol_name = blk_test_cut_symbol,
		.pre_handler = value ? blk_test_cut_once_pre : blk_test_cut_pre,
	};
	ret = register_kprobe(&blk_test_cutter);
	if (ret)
		blk_test_cutter = (struct kprobe) {};
	return ret;
}

/*
 * length
 */

static struct kprobe blk_test_poster;
static atomic_t blk_test_posts = ATOMIC_INIT(0);
static u32 blk_test_post_length;
static long blk_test_post_value;

static noinline long blk_test_post_refuse(void)
{
	atomic_inc(&blk_test_posts);
	return READ_ONCE(blk_test_post_value);
}

static u32 blk_test_wr_length(const struct krdma_send_wr *wr)
{
	u32 length = 0;

	for (int i = 0; i < wr->sge_count; i++)
		length += wr->sges[i].length;
	return length;
}

static int blk_test_post_pre(struct kprobe *probe, struct pt_regs *regs)
{
	const struct krdma_send_wr *wrs = (const void *)regs->si;
	int count = (int)regs->dx;
	int i = 0;

	while (i < count && blk_test_wr_length(&wrs[i]) != READ_ONCE(blk_test_post_length))
		i++;
	if (i == count)
		return 0;
	if (i) {
		regs->dx = i;
		return 0;
	}
	instruction_pointer_set(regs, (unsigned long)blk_test_post_refuse);
	return 1;
}

static void blk_test_post_end(void)
{
	if (!blk_test_poster.symbol_name)
		return;
	unregister_kprobe(&blk_test_poster);
	blk_test_poster = (struct kprobe) {};
}

static int blk_test_post_begin(const char *length, const char *value)
{
	int ret = kstrtou32(length, 0, &blk_test_post_length) ?:
		  kstrtol(value, 0, &blk_test_post_value);

	if (ret)
		return ret;
	atomic_set(&blk_test_posts, 0);
	blk_test_poster = (struct kprobe) {
		.symbol_name = "krdma_conn_post_send", .pre_handler = blk_test_post_pre,
	};
	ret = register_kprobe(&blk_test_poster);
	if (ret)
		blk_test_poster = (struct kprobe) {};
	return ret;
}

/*
 * delay
 */

static char blk_test_delayed_symbol[BLK_TEST_WORD];
static struct kprobe blk_test_delayed;
static unsigned int blk_test_delay_ms;
static atomic_t blk_test_delays = ATOMIC_INIT(0);
/* Calls that sleep, or have not returned since. */
static atomic_t blk_test_sleepers = ATOMIC_INIT(0);

static noinline long blk_test_delay(unsigned long a, unsigned long b, unsigned long c,
				    unsigned long d, unsigned long e, unsigned long f)
{
	blk_test_function function = (blk_test_function)blk_test_delayed.addr;
	long ret;

	msleep(READ_ONCE(blk_test_delay_ms));
	ret = function(a, b, c, d, e, f);
	atomic_dec(&blk_test_sleepers);
	return ret;
}

static int blk_test_delayed_pre(struct kprobe *probe, struct pt_regs *regs)
{
	/* The call that has slept. */
	if (blk_test_is_caller("blk_test_delay", regs))
		return 0;
	atomic_inc(&blk_test_sleepers);
	atomic_inc(&blk_test_delays);
	instruction_pointer_set(regs, (unsigned long)blk_test_delay);
	return 1;
}

static void blk_test_delay_end(void)
{
	if (!blk_test_delayed.symbol_name)
		return;
	/* Nothing is delayed any more; the probe's address is still used. */
	disable_kprobe(&blk_test_delayed);
	while (atomic_read(&blk_test_sleepers))
		schedule_timeout_uninterruptible(1);
	unregister_kprobe(&blk_test_delayed);
	blk_test_delayed = (struct kprobe) {};
}

static int blk_test_delay_begin(const char *symbol, const char *ms)
{
	int ret = kstrtouint(ms, 0, &blk_test_delay_ms);

	if (ret)
		return ret;
	strscpy(blk_test_delayed_symbol, symbol, sizeof(blk_test_delayed_symbol));
	atomic_set(&blk_test_delays, 0);
	blk_test_delayed = (struct kprobe) {
		.symbol_name = blk_test_delayed_symbol, .pre_handler = blk_test_delayed_pre,
	};
	ret = register_kprobe(&blk_test_delayed);
	if (ret)
		blk_test_delayed = (struct kprobe) {};
	return ret;
}

/*
 * pages
 */

static struct kretprobe blk_test_limiter;
static u32 blk_test_most_pages;

/* All users of a device's limits get them by this function. */
static int blk_test_limits_post(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct krdma_limits *limits = (void *)regs_return_value(regs);

	WRITE_ONCE(limits->max_fast_reg_pages,
		   min(READ_ONCE(limits->max_fast_reg_pages), blk_test_most_pages));
	return 0;
}

static void blk_test_limit_end(void)
{
	if (!blk_test_limiter.kp.symbol_name)
		return;
	unregister_kretprobe(&blk_test_limiter);
	blk_test_limiter = (struct kretprobe) {};
}

static int blk_test_limit_begin(const char *number)
{
	int ret = kstrtou32(number, 0, &blk_test_most_pages);

	if (ret)
		return ret;
	blk_test_limiter = (struct kretprobe) {
		.kp.symbol_name = "krdma_device_limits", .handler = blk_test_limits_post,
	};
	ret = register_kretprobe(&blk_test_limiter);
	if (ret)
		blk_test_limiter = (struct kretprobe) {};
	return ret;
}

/*
 * stall and spin
 */

enum blk_test_stall_state { BLK_TEST_OVER, BLK_TEST_WAITING, BLK_TEST_STALLED };

static const char *const blk_test_stall_states[] = {
	[BLK_TEST_OVER] = "over", [BLK_TEST_WAITING] = "waiting", [BLK_TEST_STALLED] = "stalled",
};

/**
 * struct blk_test_stall - a call that is held up
 * @symbol: the function
 * @caller: the function that calls it; "any": each
 * @probe: at @symbol
 * @state: &enum blk_test_stall_state
 * @go: completed when it may continue
 * @before: further calls before the one that is held up
 */
struct blk_test_stall {
	char symbol[BLK_TEST_WORD];
	char caller[BLK_TEST_WORD];
	struct kprobe probe;
	atomic_t state;
	struct completion go;
	atomic_t before;
};

static struct blk_test_stall blk_test_stalls[BLK_TEST_STALLS];
static struct blk_test_stall blk_test_spinner;

/* In steps: a task that sleeps for 30 seconds at a time counts as hung. */
static void blk_test_stall_wait(struct blk_test_stall *stall)
{
	for (unsigned int ms = 0; ms < BLK_TEST_STALL_MS; ms += BLK_TEST_STEP_MS) {
		if (wait_for_completion_timeout(&stall->go, msecs_to_jiffies(BLK_TEST_STEP_MS)))
			return;
	}
}

#define BLK_TEST_STALL(index)								\
	static noinline long blk_test_stall_##index(unsigned long a, unsigned long b,	\
						    unsigned long c, unsigned long d,	\
						    unsigned long e, unsigned long f)	\
	{										\
		struct blk_test_stall *stall = &blk_test_stalls[index];			\
		blk_test_function function = (blk_test_function)stall->probe.addr;	\
											\
		blk_test_stall_wait(stall);						\
		atomic_set(&stall->state, BLK_TEST_OVER);				\
		return function(a, b, c, d, e, f);					\
	}

BLK_TEST_STALL(0)
BLK_TEST_STALL(1)

static const blk_test_function blk_test_stall_functions[BLK_TEST_STALLS] = {
	blk_test_stall_0, blk_test_stall_1,
};

static noinline long blk_test_spin(unsigned long a, unsigned long b, unsigned long c,
				   unsigned long d, unsigned long e, unsigned long f)
{
	struct blk_test_stall *stall = &blk_test_spinner;
	blk_test_function function = (blk_test_function)stall->probe.addr;
	unsigned long end = jiffies + msecs_to_jiffies(BLK_TEST_SPIN_MS);

	while (!completion_done(&stall->go) && time_before(jiffies, end))
		cpu_relax();
	atomic_set(&stall->state, BLK_TEST_OVER);
	return function(a, b, c, d, e, f);
}

static int blk_test_stalled_pre(struct kprobe *probe, struct pt_regs *regs)
{
	struct blk_test_stall *stall = container_of(probe, struct blk_test_stall, probe);
	blk_test_function instead = blk_test_stall_functions[stall - blk_test_stalls];

	if (!(regs->flags & X86_EFLAGS_IF) || !blk_test_is_caller(stall->caller, regs))
		return 0;
	if (atomic_cmpxchg(&stall->state, BLK_TEST_WAITING, BLK_TEST_STALLED) != BLK_TEST_WAITING)
		return 0;
	instruction_pointer_set(regs, (unsigned long)instead);
	return 1;
}

static int blk_test_spin_pre(struct kprobe *probe, struct pt_regs *regs)
{
	struct blk_test_stall *stall = &blk_test_spinner;

	if (atomic_read(&stall->state) != BLK_TEST_WAITING ||
	    atomic_dec_return(&stall->before) >= 0 ||
	    atomic_cmpxchg(&stall->state, BLK_TEST_WAITING, BLK_TEST_STALLED) != BLK_TEST_WAITING)
		return 0;
	instruction_pointer_set(regs, (unsigned long)blk_test_spin);
	return 1;
}

static void blk_test_stall_end(struct blk_test_stall *stall)
{
	if (!stall->probe.symbol_name)
		return;
	/* A stalled call still reads the probe's address.  Wait until it has continued. */
	atomic_cmpxchg(&stall->state, BLK_TEST_WAITING, BLK_TEST_OVER);
	complete_all(&stall->go);
	while (atomic_read(&stall->state) != BLK_TEST_OVER)
		schedule_timeout_uninterruptible(1);
	unregister_kprobe(&stall->probe);
	stall->probe = (struct kprobe) {};
}

static int blk_test_stall_arm(struct blk_test_stall *stall, const char *symbol,
			      kprobe_pre_handler_t handler)
{
	int ret;

	strscpy(stall->symbol, symbol, sizeof(stall->symbol));
	reinit_completion(&stall->go);
	stall->probe = (struct kprobe) {
		.symbol_name = stall->symbol, .pre_handler = handler,
	};
	atomic_set(&stall->state, BLK_TEST_WAITING);
	ret = register_kprobe(&stall->probe);
	if (ret) {
		stall->probe = (struct kprobe) {};
		atomic_set(&stall->state, BLK_TEST_OVER);
	}
	return ret;
}

static int blk_test_stall_begin(struct blk_test_stall *stall, const char *symbol,
				const char *second)
{
	int value, ret;

	if (stall != &blk_test_spinner) {
		strscpy(stall->caller, second, sizeof(stall->caller));
		return blk_test_stall_arm(stall, symbol, blk_test_stalled_pre);
	}
	ret = kstrtoint(second, 0, &value);
	if (ret)
		return ret;
	atomic_set(&stall->before, value - 1);
	return blk_test_stall_arm(stall, symbol, blk_test_spin_pre);
}

/*
 * Files
 */

/* Split the command into two words.  If it has one word only, *@second is NULL. */
static int blk_test_words(const char __user *data, size_t count, char *text, size_t room,
			  char **second)
{
	if (count >= room)
		return -EINVAL;
	if (copy_from_user(text, data, count))
		return -EFAULT;
	text[count] = '\0';
	*second = strim(text);
	strsep(second, " ");
	return 0;
}

static ssize_t blk_test_refuse_write(struct file *file, const char __user *data, size_t count,
				     loff_t *position)
{
	char text[2 * BLK_TEST_WORD];
	char *value;
	int ret = blk_test_words(data, count, text, sizeof(text), &value);

	if (ret)
		return ret;
	mutex_lock(&blk_test_lock);
	blk_test_refuse_end();
	if (value)
		ret = blk_test_refuse_begin(text, value);
	mutex_unlock(&blk_test_lock);
	return ret ?: count;
}

static ssize_t blk_test_refuse_read(struct file *file, char __user *data, size_t count,
				    loff_t *position)
{
	char text[16];
	int length = scnprintf(text, sizeof(text), "%d\n", atomic_read(&blk_test_refusals));

	return simple_read_from_buffer(data, count, position, text, length);
}

static const struct file_operations blk_test_refuse_fops = {
	.owner = THIS_MODULE,
	.read = blk_test_refuse_read,
	.write = blk_test_refuse_write,
};

static ssize_t blk_test_change_write(struct file *file, const char __user *data, size_t count,
				     loff_t *position)
{
	char text[2 * BLK_TEST_WORD];
	char *value;
	int ret = blk_test_words(data, count, text, sizeof(text), &value);

	if (ret)
		return ret;
	mutex_lock(&blk_test_lock);
	blk_test_change_end();
	if (value)
		ret = blk_test_change_begin(text, value);
	mutex_unlock(&blk_test_lock);
	return ret ?: count;
}

static ssize_t blk_test_change_read(struct file *file, char __user *data, size_t count,
				    loff_t *position)
{
	char text[16];
	int length = scnprintf(text, sizeof(text), "%d\n", atomic_read(&blk_test_changes));

	return simple_read_from_buffer(data, count, position, text, length);
}

static const struct file_operations blk_test_change_fops = {
	.owner = THIS_MODULE,
	.read = blk_test_change_read,
	.write = blk_test_change_write,
};

static ssize_t blk_test_cut_write(struct file *file, const char __user *data, size_t count,
				  loff_t *position)
{
	char text[2 * BLK_TEST_WORD];
	char *value;
	int ret = blk_test_words(data, count, text, sizeof(text), &value);

	if (ret)
		return ret;
	mutex_lock(&blk_test_lock);
	blk_test_cut_end();
	if (strcmp(text, "off"))
		ret = blk_test_cut_begin(text, value);
	mutex_unlock(&blk_test_lock);
	return ret ?: count;
}

static ssize_t blk_test_cut_read(struct file *file, char __user *data, size_t count,
				 loff_t *position)
{
	char text[16];
	int length = scnprintf(text, sizeof(text), "%d\n", atomic_read(&blk_test_cuts));

	return simple_read_from_buffer(data, count, position, text, length);
}

static const struct file_operations blk_test_cut_fops = {
	.owner = THIS_MODULE,
	.read = blk_test_cut_read,
	.write = blk_test_cut_write,
};

static ssize_t blk_test_length_write(struct file *file, const char __user *data, size_t count,
				     loff_t *position)
{
	char text[2 * BLK_TEST_WORD];
	char *value;
	int ret = blk_test_words(data, count, text, sizeof(text), &value);

	if (ret)
		return ret;
	mutex_lock(&blk_test_lock);
	blk_test_post_end();
	if (value)
		ret = blk_test_post_begin(text, value);
	mutex_unlock(&blk_test_lock);
	return ret ?: count;
}

static ssize_t blk_test_length_read(struct file *file, char __user *data, size_t count,
				    loff_t *position)
{
	char text[16];
	int length = scnprintf(text, sizeof(text), "%d\n", atomic_read(&blk_test_posts));

	return simple_read_from_buffer(data, count, position, text, length);
}

static const struct file_operations blk_test_length_fops = {
	.owner = THIS_MODULE,
	.read = blk_test_length_read,
	.write = blk_test_length_write,
};

static ssize_t blk_test_delay_write(struct file *file, const char __user *data, size_t count,
				    loff_t *position)
{
	char text[2 * BLK_TEST_WORD];
	char *ms;
	int ret = blk_test_words(data, count, text, sizeof(text), &ms);

	if (ret)
		return ret;
	mutex_lock(&blk_test_lock);
	blk_test_delay_end();
	if (ms)
		ret = blk_test_delay_begin(text, ms);
	mutex_unlock(&blk_test_lock);
	return ret ?: count;
}

static ssize_t blk_test_delay_read(struct file *file, char __user *data, size_t count,
				   loff_t *position)
{
	char text[16];
	int length = scnprintf(text, sizeof(text), "%d\n", atomic_read(&blk_test_delays));

	return simple_read_from_buffer(data, count, position, text, length);
}

static const struct file_operations blk_test_delay_fops = {
	.owner = THIS_MODULE,
	.read = blk_test_delay_read,
	.write = blk_test_delay_write,
};

static ssize_t blk_test_stall_write(struct file *file, const char __user *data, size_t count,
				    loff_t *position)
{
	struct blk_test_stall *stall = file->private_data;
	char text[2 * BLK_TEST_WORD];
	char *second;
	int ret = blk_test_words(data, count, text, sizeof(text), &second);

	if (ret)
		return ret;
	mutex_lock(&blk_test_lock);
	blk_test_stall_end(stall);
	if (second)
		ret = blk_test_stall_begin(stall, text, second);
	mutex_unlock(&blk_test_lock);
	return ret ?: count;
}

static ssize_t blk_test_stall_read(struct file *file, char __user *data, size_t count,
				   loff_t *position)
{
	struct blk_test_stall *stall = file->private_data;
	char text[16];
	int length = scnprintf(text, sizeof(text), "%s\n",
			       blk_test_stall_states[atomic_read(&stall->state)]);

	return simple_read_from_buffer(data, count, position, text, length);
}

static const struct file_operations blk_test_stall_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = blk_test_stall_read,
	.write = blk_test_stall_write,
};

static ssize_t blk_test_pages_write(struct file *file, const char __user *data, size_t count,
				    loff_t *position)
{
	char text[BLK_TEST_WORD];
	char *second;
	int ret = blk_test_words(data, count, text, sizeof(text), &second);

	if (ret)
		return ret;
	mutex_lock(&blk_test_lock);
	blk_test_limit_end();
	if (strcmp(text, "off"))
		ret = blk_test_limit_begin(text);
	mutex_unlock(&blk_test_lock);
	return ret ?: count;
}

static const struct file_operations blk_test_pages_fops = {
	.owner = THIS_MODULE,
	.write = blk_test_pages_write,
};

static int blk_test_read_once(struct block_device *disk, struct page **pages)
{
	struct bio_vec vec;
	struct bio bio;
	int ret = -EIO;

	bio_init(&bio, disk, &vec, 1, REQ_OP_READ | REQ_FAILFAST_TRANSPORT);
	if (bio_add_page(&bio, pages[0], PAGE_SIZE, 0) == PAGE_SIZE)
		ret = submit_bio_wait(&bio);
	bio_uninit(&bio);
	return ret;
}

static int blk_test_write_once(struct block_device *disk, struct page **pages)
{
	struct bio_vec vec;
	struct bio bio;
	int ret;

	bio_init(&bio, disk, &vec, 1, REQ_OP_WRITE | REQ_SYNC);
	__bio_add_page(&bio, pages[0], PAGE_SIZE, 0);
	ret = submit_bio_wait(&bio);
	bio_uninit(&bio);
	return ret;
}

static void blk_test_bio_ended(struct bio *bio)
{
	complete(bio->bi_private);
}

static int blk_test_read_merged(struct block_device *disk, struct page **pages)
{
	static const blk_opf_t operations[] = { REQ_OP_READ | REQ_RAHEAD, REQ_OP_READ };
	struct completion ended[2];
	struct bio_vec vecs[2];
	struct blk_plug plug;
	struct bio bios[2];
	int ret;

	blk_start_plug(&plug);
	for (int i = 0; i < 2; i++) {
		init_completion(&ended[i]);
		bio_init(&bios[i], disk, &vecs[i], 1, operations[i]);
		bios[i].bi_iter.bi_sector = i * (PAGE_SIZE >> SECTOR_SHIFT);
		bios[i].bi_private = &ended[i];
		bios[i].bi_end_io = blk_test_bio_ended;
		__bio_add_page(&bios[i], pages[i], PAGE_SIZE, 0);
		submit_bio(&bios[i]);
	}
	blk_finish_plug(&plug);
	for (int i = 0; i < 2; i++)
		wait_for_completion_io(&ended[i]);
	ret = blk_status_to_errno(bios[1].bi_status);
	for (int i = 0; i < 2; i++)
		bio_uninit(&bios[i]);
	return ret;
}

static int blk_test_submit(const char *path,
			   int (*submit)(struct block_device *disk, struct page **pages))
{
	struct file *disk = filp_open(path, O_RDONLY, 0);
	struct page *pages[2] = {};
	int ret = -ENOMEM;

	if (IS_ERR(disk))
		return PTR_ERR(disk);
	for (int i = 0; i < 2; i++)
		pages[i] = alloc_page(GFP_KERNEL);
	if (pages[0] && pages[1])
		ret = submit(I_BDEV(disk->f_mapping->host), pages);
	for (int i = 0; i < 2; i++) {
		if (pages[i])
			__free_page(pages[i]);
	}
	filp_close(disk, NULL);
	return ret;
}

static ssize_t blk_test_failfast_write(struct file *file, const char __user *data, size_t count,
				       loff_t *position)
{
	char text[2 * BLK_TEST_WORD];
	char *how;
	int ret = blk_test_words(data, count, text, sizeof(text), &how);

	if (ret)
		return ret;
	if (!how)
		ret = blk_test_submit(text, blk_test_read_once);
	else if (!strcmp(how, "merged"))
		ret = blk_test_submit(text, blk_test_read_merged);
	else if (!strcmp(how, "write"))
		ret = blk_test_submit(text, blk_test_write_once);
	else
		ret = -EINVAL;
	return ret ?: count;
}

static const struct file_operations blk_test_failfast_fops = {
	.owner = THIS_MODULE,
	.write = blk_test_failfast_write,
};

static int __init blk_test_init(void)
{
	for (int i = 0; i < BLK_TEST_STALLS; i++)
		init_completion(&blk_test_stalls[i].go);
	init_completion(&blk_test_spinner.go);
	blk_test_directory = debugfs_create_dir("krdma_blk_test", NULL);
	debugfs_create_file("refuse", 0600, blk_test_directory, NULL, &blk_test_refuse_fops);
	debugfs_create_file("change", 0600, blk_test_directory, NULL, &blk_test_change_fops);
	debugfs_create_file("cut", 0600, blk_test_directory, NULL, &blk_test_cut_fops);
	debugfs_create_file("length", 0600, blk_test_directory, NULL, &blk_test_length_fops);
	debugfs_create_file("delay", 0600, blk_test_directory, NULL, &blk_test_delay_fops);
	debugfs_create_file("stall", 0600, blk_test_directory, &blk_test_stalls[0],
			    &blk_test_stall_fops);
	debugfs_create_file("stall2", 0600, blk_test_directory, &blk_test_stalls[1],
			    &blk_test_stall_fops);
	debugfs_create_file("spin", 0600, blk_test_directory, &blk_test_spinner,
			    &blk_test_stall_fops);
	debugfs_create_file("pages", 0200, blk_test_directory, NULL, &blk_test_pages_fops);
	debugfs_create_file("failfast", 0200, blk_test_directory, NULL, &blk_test_failfast_fops);
	return 0;
}
module_init(blk_test_init);

static void __exit blk_test_exit(void)
{
	debugfs_remove_recursive(blk_test_directory);
	blk_test_refuse_end();
	blk_test_change_end();
	blk_test_cut_end();
	blk_test_post_end();
	blk_test_delay_end();
	blk_test_limit_end();
	for (int i = 0; i < BLK_TEST_STALLS; i++)
		blk_test_stall_end(&blk_test_stalls[i]);
	blk_test_stall_end(&blk_test_spinner);
}
module_exit(blk_test_exit);

MODULE_DESCRIPTION("What tests of krdma_blk bring about");
MODULE_LICENSE("GPL");
