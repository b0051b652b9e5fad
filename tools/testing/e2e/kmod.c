// SPDX-License-Identifier: GPL-2.0
/*
 * Loading and unloading kernel modules.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kmod.h"
#include "session.h"

#define UNLOAD_MS	20000

int kmod_load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = syscall(SYS_finit_module, fd, "", 0) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

int kmod_unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) < 0 ? -errno : 0;
}

int kmod_unload_soon(const char *name)
{
	uint64_t deadline = now_ms() + UNLOAD_MS;
	int ret;

	while ((ret = kmod_unload(name)) == -EAGAIN && now_ms() < deadline)
		sleep_ms(10);
	return ret;
}

bool kmod_loaded(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/%s/initstate", name);
	return access(path, F_OK) == 0;
}

const char *kmod_krdma(void)
{
	const char *path = getenv("KRDMA_KO");

	return path ? path : "/vm/krdma.ko";
}
