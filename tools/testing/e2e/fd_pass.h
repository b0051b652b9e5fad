/* SPDX-License-Identifier: GPL-2.0 */
/*
 * File descriptors that go from one process to another (SCM_RIGHTS).
 */
#ifndef KRDMA_E2E_FD_PASS_H
#define KRDMA_E2E_FD_PASS_H

/* 0 or -errno. */
int fd_send(int channel, int fd);

/* The descriptor, close-on-exec, or -errno. */
int fd_receive(int channel);

#endif
