/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Passing file descriptors between processes (SCM_RIGHTS).
 */
#ifndef KRDMA_E2E_FD_PASS_H
#define KRDMA_E2E_FD_PASS_H

/* Returns 0 or -errno. */
int fd_send(int channel, int fd);

/* Returns the descriptor, close-on-exec, or -errno. */
int fd_receive(int channel);

#endif
