/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loading and unloading kernel modules.  Calls answer 0 or a negative errno.
 */
#ifndef KRDMA_E2E_KMOD_H
#define KRDMA_E2E_KMOD_H

#include <stdbool.h>

int kmod_load(const char *path);

/* Never waits: -EAGAIN is "in use". */
int kmod_unload(const char *name);

/*
 * As above, but until the module is no longer in use: what a process that was
 * killed held goes a little after the process.
 */
int kmod_unload_soon(const char *name);

bool kmod_loaded(const char *name);

/* The file of the module that is tested: $KRDMA_KO, or where the VM has it. */
const char *kmod_krdma(void);

#endif
