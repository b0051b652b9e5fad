/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Templates of send work requests: checked once, posted often.
 */
#ifndef _KRDMA_TEMPLATE_H
#define _KRDMA_TEMPLATE_H

struct krdma_qp;
struct krdma_template;
struct krdma_template_attr;

struct krdma_template *krdma_qp_template_create(struct krdma_qp *qp,
						const struct krdma_template_attr *attr);

#endif /* _KRDMA_TEMPLATE_H */
