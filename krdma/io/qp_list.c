// SPDX-License-Identifier: GPL-2.0
/*
 * Whose queue pairs are these?
 *
 * To "rdma resource", a queue pair of rdma_create_qp() is one of the kernel's, [rdma_cm],
 * and a module can say nothing else.  So /sys/kernel/debug/krdma/qps says for which process
 * each of krdma's was made.
 */
#include <linux/debugfs.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>

#include "io/qp.h"
#include "io/wq.h"
#include "core/session.h"

static DEFINE_MUTEX(krdma_qp_list_mutex);	/* see private.h */
static LIST_HEAD(krdma_qp_list);

/**
 * krdma_qp_list_add - a queue pair has been made by the calling process
 * @qp: the queue pair; in no list
 *
 * Context: process context; may sleep.
 */
void krdma_qp_list_add(struct krdma_qp *qp)
{
	qp->owner.pid = task_tgid_nr(current);
	get_task_comm(qp->owner.comm, current);
	mutex_lock(&krdma_qp_list_mutex);
	list_add_tail(&qp->owner.node, &krdma_qp_list);
	mutex_unlock(&krdma_qp_list_mutex);
}

/**
 * krdma_qp_list_remove - a queue pair ends
 * @qp: the queue pair, added
 *
 * Context: process context; may sleep.
 */
void krdma_qp_list_remove(struct krdma_qp *qp)
{
	mutex_lock(&krdma_qp_list_mutex);
	list_del(&qp->owner.node);
	mutex_unlock(&krdma_qp_list_mutex);
}

/*
 * A queue pair at a time, and a page of text under the mutex, which those who make and end
 * queue pairs take.
 */
static void *krdma_qps_start(struct seq_file *seq, loff_t *place)
{
	mutex_lock(&krdma_qp_list_mutex);
	return seq_list_start(&krdma_qp_list, *place);
}

static void *krdma_qps_next(struct seq_file *seq, void *node, loff_t *place)
{
	return seq_list_next(node, &krdma_qp_list, place);
}

static void krdma_qps_stop(struct seq_file *seq, void *node)
{
	mutex_unlock(&krdma_qp_list_mutex);
}

static int krdma_qps_show(struct seq_file *seq, void *node)
{
	const struct krdma_qp *qp = list_entry(node, struct krdma_qp, owner.node);
	char name[KRDMA_NAME_MAX];

	krdma_device_copy_name(qp->pd->dev, name);
	seq_printf(seq, "%s %u %d ", name, qp->number, qp->owner.pid);
	/* A program calls itself what it likes. */
	seq_escape(seq, qp->owner.comm, " \t\n\\");
	seq_putc(seq, '\n');
	return 0;
}

static const struct seq_operations krdma_qps_sops = {
	.start = krdma_qps_start,
	.next = krdma_qps_next,
	.stop = krdma_qps_stop,
	.show = krdma_qps_show,
};
DEFINE_SEQ_ATTRIBUTE(krdma_qps);

/**
 * krdma_qp_list_init - show the queue pairs
 * @directory: in debugfs; the file goes when the caller removes it
 *
 * Context: process context; may sleep.
 */
void krdma_qp_list_init(struct dentry *directory)
{
	debugfs_create_file("qps", 0400, directory, NULL, &krdma_qps_fops);
}
