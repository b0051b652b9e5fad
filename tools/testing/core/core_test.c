// SPDX-License-Identifier: GPL-2.0
/*
 * krdma_core_test.ko: tests of the core with the devices of this machine, as a consumer sees it.
 *
 * In /sys/kernel/debug/krdma_core_test, "cases" lists the cases, one per line.  Writing "CASE
 * ADDRESS" to "run" runs a case over the device that has the address, with the writer's credentials
 * and in its network namespace.  "results" has the result, as TAP.
 */
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/nsproxy.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>

#include "fixture.h"
#include "user_memory.h"

/* Bytes of output of a case. */
#define CORE_LOG_SIZE		8192
/* After so many failed checks of a case, others give no new information. */
#define CORE_FAILURES_SHOWN	12

unsigned int core_storm_seconds = 10;
module_param_named(storm_seconds, core_storm_seconds, uint, 0644);
MODULE_PARM_DESC(storm_seconds, "How long the storm lasts");

bool core_storm_stalls;
module_param_named(storm_stalls, core_storm_stalls, bool, 0644);
MODULE_PARM_DESC(storm_stalls, "Processors stand still in the storm now and then");

static const struct core_case *const core_tables[] = {
	core_conn_cases,
	core_end_cases,
	core_transfer_cases,
	core_right_cases,
	core_template_cases,
	core_flow_cases,
	core_shared_cases,
	core_lane_cases,
	core_lane_peer_cases,
	core_lane_grant_cases,
	core_lane_memory_cases,
	core_lane_share_cases,
	core_lane_window_cases,
	core_lane_giver_cases,
	core_lane_early_cases,
	core_memory_cases,
	core_account_cases,
	core_reclaim_cases,
	core_storm_cases,
	core_netns_cases,
};

static const char *const core_context_names[] = {
	[KRDMA_CONTEXT_WORKQUEUE] = "workqueue",
	[KRDMA_CONTEXT_SOFTIRQ] = "softirq",
	[KRDMA_CONTEXT_POLL] = "poll",
};

/* One case at a time.  Also protects the output of the last one. */
static DEFINE_MUTEX(core_lock);
static DEFINE_SPINLOCK(core_log_lock);
static char core_log[CORE_LOG_SIZE];
static size_t core_log_used;

static void core_log_add(const char *format, va_list args)
{
	unsigned long flags;

	spin_lock_irqsave(&core_log_lock, flags);
	core_log_used += vscnprintf(core_log + core_log_used, CORE_LOG_SIZE - core_log_used,
				    format, args);
	spin_unlock_irqrestore(&core_log_lock, flags);
}

static __printf(1, 2) void core_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	core_log_add(format, args);
	va_end(args);
}

/* Adds a remark to the output, whether the case fails or not. */
void core_note(struct core_test *test, const char *format, ...)
{
	va_list args;

	core_say("# %s: ", test->name);
	va_start(args, format);
	core_log_add(format, args);
	va_end(args);
	core_say("\n");
}

/* Counts a failed check, and reports it.  Any context. */
bool core_check(struct core_test *test, bool good, const char *function, int line,
		const char *format, ...)
{
	unsigned long flags;
	bool shown;
	va_list args;

	if (good)
		return true;

	spin_lock_irqsave(&core_log_lock, flags);
	shown = test->failures++ < CORE_FAILURES_SHOWN;
	spin_unlock_irqrestore(&core_log_lock, flags);
	if (!shown)
		return false;

	core_say("# %s:%d: ", function, line);
	va_start(args, format);
	core_log_add(format, args);
	va_end(args);
	core_say("\n");
	return false;
}

/*
 * Finding and running
 */

static bool core_name_is(const struct core_case *this, const char *name, enum krdma_context *where)
{
	size_t length = strlen(this->name);
	int i;

	*where = KRDMA_CONTEXT_WORKQUEUE;
	if (!this->contexts)
		return !strcmp(this->name, name);
	if (strncmp(this->name, name, length) || name[length] != '.')
		return false;
	i = match_string(core_context_names, ARRAY_SIZE(core_context_names), name + length + 1);
	*where = i;
	return i >= 0;
}

static const struct core_case *core_find(const char *name, enum krdma_context *where)
{
	const struct core_case *this;

	for (unsigned int i = 0; i < ARRAY_SIZE(core_tables); i++)
		for (this = core_tables[i]; this->name; this++)
			if (core_name_is(this, name, where))
				return this;
	return NULL;
}

static int core_run(const char *name, const char *address)
{
	struct core_test test = { .name = name, .net = current->nsproxy->net_ns };
	const struct core_case *this;
	int ret;

	this = core_find(name, &test.where);
	if (!this)
		return -ENOENT;
	ret = inet_pton_with_scope(test.net, AF_UNSPEC, address, NULL, &test.address);
	if (ret)
		return ret;
	test.dev = krdma_device_at(this->stranger ? &init_net : test.net,
				   (struct sockaddr *)&test.address);
	if (IS_ERR(test.dev))
		return PTR_ERR(test.dev);
	ret = krdma_device_query_attr(test.dev, &test.attr);
	if (ret)
		goto out;
	test.iwarp = test.attr.transport == KRDMA_TRANSPORT_IWARP;

	core_log_used = 0;
	this->run(&test);
	if (test.failures)
		core_say("not ok %s (%u checks failed)\n", name, test.failures);
	else if (test.skipped)
		core_say("ok %s # SKIP %s\n", name, test.skipped);
	else
		core_say("ok %s\n", name);
out:
	krdma_device_put(test.dev);
	return ret;
}

/*
 * Files
 */

static ssize_t core_run_write(struct file *file, const char __user *from, size_t length,
			      loff_t *offset)
{
	char *line, *rest, *name;
	int ret;

	if (length > 256)
		return -EINVAL;
	line = memdup_user_nul(from, length);
	if (IS_ERR(line))
		return PTR_ERR(line);

	rest = strim(line);
	name = strsep(&rest, " ");
	ret = -EINVAL;
	if (name && rest) {
		mutex_lock(&core_lock);
		ret = core_run(name, rest);
		mutex_unlock(&core_lock);
	}
	kfree(line);
	return ret ?: length;
}

static const struct file_operations core_run_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = core_run_write,
};

static int core_cases_show(struct seq_file *seq, void *unused)
{
	const struct core_case *this;

	for (unsigned int i = 0; i < ARRAY_SIZE(core_tables); i++) {
		if (core_tables[i] == core_netns_cases)
			continue;
		for (this = core_tables[i]; this->name; this++) {
			for (unsigned int n = 0; this->contexts &&
			     n < ARRAY_SIZE(core_context_names); n++)
				seq_printf(seq, "%s.%s\n", this->name, core_context_names[n]);
			if (!this->contexts)
				seq_printf(seq, "%s%s\n", this->name,
					   this->addresses ? " addresses" : "");
		}
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(core_cases);

static int core_results_show(struct seq_file *seq, void *unused)
{
	mutex_lock(&core_lock);
	seq_write(seq, core_log, core_log_used);
	mutex_unlock(&core_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(core_results);

/* For other tests: 1 occupies the threads of krdma's pool, 2 those of the usual one, 0 neither. */
static struct core_starve *core_starved;

static int core_starve_set(void *data, u64 value)
{
	unsigned int flags = value == 2 ? WQ_UNBOUND : WQ_UNBOUND | WQ_HIGHPRI;
	struct core_test test = { .name = "starve" };

	mutex_lock(&core_lock);
	if (value && !core_starved)
		core_starved = core_starve_begin(&test, flags);
	if (!value) {
		core_starve_end(core_starved);
		core_starved = NULL;
	}
	mutex_unlock(&core_lock);
	return test.failures ? -EIO : 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(core_starve_fops, NULL, core_starve_set, "%llu\n");

static struct dentry *core_directory;

static int __init core_init(void)
{
	core_directory = debugfs_create_dir("krdma_core_test", NULL);
	if (IS_ERR(core_directory))
		return PTR_ERR(core_directory);
	debugfs_create_file("run", 0200, core_directory, NULL, &core_run_fops);
	debugfs_create_file("cases", 0400, core_directory, NULL, &core_cases_fops);
	debugfs_create_file("results", 0400, core_directory, NULL, &core_results_fops);
	debugfs_create_file_unsafe("starve", 0200, core_directory, NULL, &core_starve_fops);
	debugfs_create_file("user_memory", 0600, core_directory, NULL, &core_user_memory_fops);
	return 0;
}
module_init(core_init);

static void __exit core_exit(void)
{
	debugfs_remove(core_directory);
	core_starve_end(core_starved);
}
module_exit(core_exit);

MODULE_DESCRIPTION("Tests of krdma's core over real devices");
MODULE_AUTHOR("The krdma authors");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("KRDMA");
