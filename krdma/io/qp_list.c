// SPDX-License-Identifier: GPL-2.0
/*
 * The list of krdma's QPs with the processes that created them.
 *
 * "rdma resource" shows a QP of rdma_create_qp() as one of the kernel, [rdma_cm], and a module
 * cannot change that.  So /sys/kernel/debug/krdma/qps shows for which process each QP of krdma
 * was created.
 */
#include <linux/debugfs.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>

#include "core/device.h"
#include "io/qp.h"
#include "io/qp_list.h"
#include "io/wq.h"
#include "core/session.h"

static DEFINE_MUTEX(krdma_qp_list_mutex);	/* see private.h */
static LIST_HEAD(krdma_qp_list);

/**
 * krdma_qp_list_add() - List a QP as created by the calling process
 * @qp: the QP; in no list
 *
 * Context: process context; may sleep.
 */
void krdma_qp_list_add(struct krdma_qp *qp)
{
	qp->creator.pid = task_tgid_nr(current);
	get_task_comm(qp->creator.comm, current);
	mutex_lock(&krdma_qp_list_mutex);
	list_add_tail(&qp->creator.node, &krdma_qp_list);
	mutex_unlock(&krdma_qp_list_mutex);
}

/**
 * krdma_qp_list_remove() - Remove a QP from the list
 * @qp: the QP, added
 *
 * Context: process context; may sleep.
 */
void krdma_qp_list_remove(struct krdma_qp *qp)
{
	mutex_lock(&krdma_qp_list_mutex);
	list_del(&qp->creator.node);
	mutex_unlock(&krdma_qp_list_mutex);
}

/*
 * The mutex is held for one page of text at most.  The creation and the end of QPs take it, too.
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
	const struct krdma_qp *qp = list_entry(node, struct krdma_qp, creator.node);
	char name[KRDMA_NAME_MAX];

	krdma_device_copy_name(qp->pd->dev, name);
	seq_printf(seq, "%s %u %d ", name, qp->number, qp->creator.pid);
	/* A program can set its name to any bytes. */
	seq_escape(seq, qp->creator.comm, " \t\n\\");
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
 * krdma_qp_list_init() - Create the file that lists the QPs
 * @directory: in debugfs; the caller removes the file with it
 *
 * Context: process context; may sleep.
 */
void krdma_qp_list_init(struct dentry *directory)
{
	debugfs_create_file("qps", 0400, directory, NULL, &krdma_qps_fops);
}
