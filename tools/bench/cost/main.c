// SPDX-License-Identifier: GPL-2.0
/*
 * krdma_cost.ko: the cost of an operation, through krdma and through the verbs below it.
 *
 * In /sys/kernel/debug/krdma_cost, writing "ADDRESS CONNECTIONS instant|later [srq]" to "run"
 * measures over the device that has the address; with "srq" only messages that take their receives
 * from an SRQ.  "results" has a line for each kind of work, with the nanoseconds of one operation.
 * "ADDRESS 1 instant only WAY WORK BATCH" measures one of these lines, so that others can count
 * what the processor does meanwhile.  "ADDRESS 1 lanes" measures how connections are opened and
 * closed, "ADDRESS 1 lanes BATCH" only lanes, so many at a time.
 * Where the clock counts instructions (tools/vm/run --icount), that is the number of instructions.
 * "sizes" has the bytes of what each connection has.
 */
#include <linux/bottom_half.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/inet.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/stdarg.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "cm/conn.h"
#include "cost.h"
#include "io/wq.h"

/* The shortest of so many rounds counts: the others were interrupted. */
#define COST_ROUNDS		16
/* Operations of a round. */
#define COST_COUNT		256
#define COST_LOG_SIZE		4096

static DEFINE_MUTEX(cost_lock);
static char cost_lines[COST_LOG_SIZE];
static size_t cost_log_used;

static const char *const cost_work_names[] = {
	[COST_WRITE] = "write",
	[COST_READ] = "read",
	[COST_FETCH_ADD] = "fetch-add",
	[COST_MESSAGE] = "message",
};

static const unsigned int cost_batches[] = { 1, 64 };

void cost_log(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	cost_log_used += vscnprintf(cost_lines + cost_log_used,
				    sizeof(cost_lines) - cost_log_used, format, args);
	va_end(args);
}

void cost_ask(const struct cost_plan *plan)
{
	if (!plan->instant)
		local_bh_disable();
}

/* Software devices do their work in softirqs, which run here. */
void cost_asked(const struct cost_plan *plan)
{
	if (!plan->instant)
		local_bh_enable();
}

u64 cost_now(const struct cost_plan *plan)
{
	return plan->instant ? 0 : ktime_get_ns();
}

int cost_patience(const struct cost_plan *plan, u64 since)
{
	if (plan->instant || ktime_get_ns() - since > (u64)COST_TIMEOUT_MS * NSEC_PER_MSEC)
		return -ETIMEDOUT;
	cond_resched();
	return 0;
}

/* Runs one round; returns nanoseconds, or an errno. */
static s64 cost_round(const struct cost_way *way, void *data, const struct cost_plan *plan,
		      enum cost_work work, unsigned int batch)
{
	unsigned int left = max(plan->conns, COST_COUNT) / batch;
	unsigned long flags = 0;
	int ret = 0;
	u64 began;
	s64 took;

	if (plan->instant)
		local_irq_save(flags);
	began = ktime_get_ns();
	while (left-- && !ret)
		ret = way->run(data, work, batch);
	took = ktime_get_ns() - began;
	if (plan->instant)
		local_irq_restore(flags);

	return ret ? ret : took;
}

static int cost_measure(const struct cost_way *way, void *data, const struct cost_plan *plan,
			enum cost_work work, unsigned int batch)
{
	unsigned int count = max(plan->conns, COST_COUNT) / batch * batch;
	s64 best = S64_MAX;
	unsigned int i;
	u64 hundredths;
	s64 took;

	for (i = 0; i < COST_ROUNDS; i++) {
		took = cost_round(way, data, plan, work, batch);
		if (took < 0)
			return took;
		best = min(best, took);
		cond_resched();
	}
	hundredths = div_u64(best * 100, count);
	cost_log("%s.%s.batch=%u.conns=%u %llu.%02llu\n", way->name, cost_work_names[work], batch,
		 plan->conns, hundredths / 100, hundredths % 100);
	return 0;
}

static int cost_measure_way(const struct cost_way *way, const struct cost_plan *plan)
{
	void *data = way->begin(plan);
	enum cost_work work;
	unsigned int i;
	int ret = 0;

	if (IS_ERR(data))
		return PTR_ERR(data);
	for (i = 0; i < ARRAY_SIZE(cost_batches); i++)
		for (work = 0; work < COST_WORKS && !ret; work++)
			if (way->works & BIT(work))
				ret = cost_measure(way, data, plan, work, cost_batches[i]);
	way->end(data);
	return ret;
}

/* "WAY WORK BATCH": one line of the results. */
static int cost_measure_one(char *line, const struct cost_plan *plan)
{
	static const struct cost_way *const ways[] = {
		&cost_raw, &cost_krdma, &cost_krdma_template,
	};
	char *way = strsep(&line, " ");
	char *work = strsep(&line, " ");
	unsigned int batch, i;
	void *data;
	int kind;
	int ret;

	kind = work ? match_string(cost_work_names, COST_WORKS, work) : -EINVAL;
	if (kind < 0 || !line || kstrtouint(line, 0, &batch) || !batch || batch > COST_BATCH)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(ways); i++)
		if (!strcmp(way, ways[i]->name))
			break;
	if (i == ARRAY_SIZE(ways) || !(ways[i]->works & BIT(kind)))
		return -EINVAL;
	data = ways[i]->begin(plan);
	if (IS_ERR(data))
		return PTR_ERR(data);
	ret = cost_measure(ways[i], data, plan, kind, batch);
	ways[i]->end(data);
	return ret;
}

static int cost_lane_batch_of(const char *batch, const struct cost_plan *plan)
{
	unsigned int count;

	return kstrtouint(batch, 0, &count) ?: cost_measure_lane_batch(plan, count);
}

/* What "run" understands. */
static int cost_run(char *line)
{
	struct cost_plan plan = { .address.sin_family = AF_INET, .address.sin_port = htons(7477) };
	char *address = strsep(&line, " ");
	char *conns = strsep(&line, " ");
	char *device = strsep(&line, " ");
	u8 bytes[4];
	int ret;

	if (!device || !in4_pton(address, -1, bytes, -1, NULL))
		return -EINVAL;
	memcpy(&plan.address.sin_addr, bytes, sizeof(bytes));
	ret = kstrtouint(conns, 0, &plan.conns);
	if (ret)
		return ret;
	if (!strcmp(device, "lanes")) {
		cost_log_used = 0;
		if (plan.conns != 1)
			return -EINVAL;
		return line ? cost_lane_batch_of(line, &plan) : cost_measure_lanes(&plan);
	}
	plan.instant = !strcmp(device, "instant");
	if (!plan.conns || (!plan.instant && strcmp(device, "later")))
		return -EINVAL;
	if (line && str_has_prefix(line, "only ")) {
		cost_log_used = 0;
		return plan.conns == 1 ? cost_measure_one(line + strlen("only "), &plan) : -EINVAL;
	}
	if (line && strcmp(line, "srq"))
		return -EINVAL;
	/* Each of many connections has at most one work request of a batch. */
	if (!line && plan.conns != 1 && plan.conns < COST_BATCH)
		return -EINVAL;

	cost_log_used = 0;
	if (line)
		return cost_measure_way(&cost_krdma_srq, &plan);
	/* Below krdma, nothing depends on the number of connections. */
	if (plan.conns == 1) {
		ret = cost_measure_way(&cost_raw, &plan);
		if (ret)
			return ret;
	}
	return cost_measure_way(&cost_krdma, &plan) ?:
	       cost_measure_way(&cost_krdma_template, &plan);
}

static ssize_t cost_run_write(struct file *file, const char __user *user, size_t length,
			      loff_t *position)
{
	char *line = memdup_user_nul(user, min_t(size_t, length, PAGE_SIZE));
	int ret;

	if (IS_ERR(line))
		return PTR_ERR(line);
	ret = mutex_lock_interruptible(&cost_lock);
	if (!ret) {
		ret = cost_run(strim(line));
		mutex_unlock(&cost_lock);
	}
	kfree(line);
	return ret ? ret : length;
}

static const struct file_operations cost_run_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = cost_run_write,
};

static int cost_results_show(struct seq_file *seq, void *unused)
{
	mutex_lock(&cost_lock);
	seq_write(seq, cost_lines, cost_log_used);
	mutex_unlock(&cost_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cost_results);

static int cost_sizes_show(struct seq_file *seq, void *unused)
{
	seq_printf(seq, "conn %zu\n", sizeof(struct krdma_conn));
	seq_printf(seq, "qp %zu\n", sizeof(struct krdma_qp));
	seq_printf(seq, "cq %zu\n", sizeof(struct krdma_cq));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cost_sizes);

static struct dentry *cost_directory;

static int __init cost_init(void)
{
	cost_directory = debugfs_create_dir("krdma_cost", NULL);
	if (IS_ERR(cost_directory))
		return PTR_ERR(cost_directory);
	debugfs_create_file("run", 0200, cost_directory, NULL, &cost_run_fops);
	debugfs_create_file("results", 0400, cost_directory, NULL, &cost_results_fops);
	debugfs_create_file("sizes", 0400, cost_directory, NULL, &cost_sizes_fops);
	return 0;
}
module_init(cost_init);

static void __exit cost_exit(void)
{
	debugfs_remove(cost_directory);
}
module_exit(cost_exit);

MODULE_DESCRIPTION("Counts what krdma's operations take, and the verbs below them");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("KRDMA");
