/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loading and unloading kernel modules.  Functions that return int return 0 or -errno.
 */
#ifndef KRDMA_E2E_KMOD_H
#define KRDMA_E2E_KMOD_H

#include <stdbool.h>

int kmod_load(const char *path);

/* Never waits; returns -EAGAIN if the module is in use. */
int kmod_unload(const char *name);

/*
 * As above, but retries for a while as long as the module is in use: the objects of a killed
 * process go away a little later than the process.
 */
int kmod_unload_soon(const char *name);

bool kmod_loaded(const char *name);

/* Path of the module under test: $KRDMA_KO, or its place in the VM. */
const char *kmod_krdma(void);

#endif
