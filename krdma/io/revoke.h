/* SPDX-License-Identifier: GPL-2.0 */
/* End the work requests that use memory which has to go. */
#ifndef _KRDMA_REVOKE_H
#define _KRDMA_REVOKE_H

struct work_struct;

void krdma_pd_end_users(struct work_struct *work);

#endif /* _KRDMA_REVOKE_H */
