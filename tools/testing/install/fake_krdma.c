// SPDX-License-Identifier: GPL-2.0
/*
 * A /dev/krdma without a module, for LD_PRELOAD.  It answers from tables and is as strict as the
 * interface requires, so that tool and library can be tested on any machine.  FAKE_KRDMA names the
 * situation:
 *
 *   devices   two devices, one with two ports
 *   none      no device
 *   denied    the device may not be opened
 *   foreign   something else is at /dev/krdma
 *   abi2      a module that speaks another version of the interface
 *   newer     a module with values and structures that are not known yet
 *   signals   every other call is interrupted
 *   vanishing the first device is removed after it was found
 *   hostile   names that are not terminated or that steer a terminal
 *   planted   names that a shell would run
 *   broken    every query fails with EIO
 */
#define _GNU_SOURCE
#include <errno.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/krdma.h>

#define PATH "/dev/krdma"
#define MAX_FDS 1024
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* Bytes that a newer module's structures have at their end. */
#define NEWER_TAIL 16

static bool is_krdma[MAX_FDS];

static bool situation(const char *name)
{
	const char *set = getenv("FAKE_KRDMA");

	return set && !strcmp(set, name);
}

static int fail(int err)
{
	errno = err;
	return -1;
}

static const struct krdma_device_query_args devices[] = {
	{
		.id = 1, .port_count = 1, .name = "rxe0", .node_guid = 0x505400fffe123456,
		.caps = KRDMA_DEVICE_CAP_ATOMIC | KRDMA_DEVICE_CAP_IMM | KRDMA_DEVICE_CAP_SRQ |
			KRDMA_DEVICE_CAP_FAST_REG,
		.max_mr_size = ~0ULL, .transport = KRDMA_TRANSPORT_IB, .max_qp = 1048560,
		.max_send_wr = 1048574, .max_recv_wr = 1048575, .max_send_sge = 32,
		.max_recv_sge = 31, .max_read_sge = 30, .max_cqe = 32767, .max_srq_wr = 1048573,
		.max_read_depth = 128, .max_read_depth_in = 127, .max_fast_reg_pages = 512,
	},
	{
		.id = 7, .port_count = 2, .name = "iw 7", .node_guid = 0x1,
		.max_mr_size = 3ULL << 30, .transport = KRDMA_TRANSPORT_IWARP, .max_qp = 10,
		.max_send_wr = 11, .max_recv_wr = 12, .max_send_sge = 13, .max_recv_sge = 14,
		.max_read_sge = 1, .max_cqe = 16, .max_read_depth = 18, .max_read_depth_in = 19,
	},
};

static const struct krdma_port_query_args ports[] = {
	{
		.device_id = 1, .port = 1, .state = KRDMA_PORT_ACTIVE,
		.link_layer = KRDMA_LINK_ETHERNET, .max_mtu = 4096, .active_mtu = 1024,
		.max_msg_size = 8 << 20, .gid_count = 1024, .speed_mbps = 2500,
		.netdev_ifindex = 3, .netdev_name = "rdma0",
	},
	{
		.device_id = 7, .port = 1, .state = KRDMA_PORT_DOWN,
		.link_layer = KRDMA_LINK_ETHERNET, .max_mtu = 1500, .active_mtu = 256,
		.max_msg_size = 1000, .gid_count = 1,
	},
	{
		.device_id = 7, .port = 2, .state = KRDMA_PORT_ARMED,
		.link_layer = KRDMA_LINK_OTHER, .max_mtu = 1024, .active_mtu = 1024,
		.max_msg_size = 0x80000000, .gid_count = 2, .speed_mbps = 40000,
	},
};

static int info(struct krdma_info_args *it)
{
	if (it->flags)
		return fail(EOPNOTSUPP);
	it->abi_version = situation("abi2") ? 2 : KRDMA_ABI_VERSION;
	it->max_struct_size = 152;
	it->features = KRDMA_FEATURE_DEVICES;
	if (situation("newer"))
		it->features |= 1ULL << 40;
	it->device_count = situation("none") ? 0 : 2;
	it->max_devices = 64;
	memcpy(it->module_version, "9.8.7", sizeof("9.8.7"));
	if (situation("hostile"))
		memset(it->module_version, 'v', sizeof(it->module_version));
	return 0;
}

static const struct krdma_device_query_args *find(const struct krdma_device_query_args *asked)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(devices) && !situation("none"); i++) {
		if (asked->flags & KRDMA_DEVICE_QUERY_NAME) {
			if (!strcmp(asked->name, devices[i].name))
				return &devices[i];
		} else if (asked->flags & KRDMA_DEVICE_QUERY_NEXT ? devices[i].id >= asked->id :
			   devices[i].id == asked->id) {
			return &devices[i];
		}
	}
	return NULL;
}

static int device_query(struct krdma_device_query_args *it)
{
	const __u32 both = KRDMA_DEVICE_QUERY_NEXT | KRDMA_DEVICE_QUERY_NAME;
	const struct krdma_device_query_args *found;
	__u32 size = it->size, flags = it->flags;

	if (flags & ~both)
		return fail(EOPNOTSUPP);
	if (flags == both)
		return fail(EINVAL);
	if (flags & KRDMA_DEVICE_QUERY_NAME &&
	    (it->id || !it->name[0] || !memchr(it->name, 0, sizeof(it->name))))
		return fail(EINVAL);
	if (situation("broken"))
		return fail(EIO);
	found = find(it);
	if (!found)
		return fail(ENOENT);
	*it = *found;
	it->size = size;
	it->flags = flags;
	if (situation("newer")) {
		it->transport = 99;
		it->caps |= 1ULL << 33;
	}
	if (situation("hostile")) {
		memset(it->name, 'n', sizeof(it->name));
		memcpy(it->name, "\033[2J\n\"\\\377", 8);
	}
	if (situation("planted"))
		snprintf(it->name, sizeof(it->name), "%s", it->id == 1 ? "a;touch PLANTED" :
			 "b$(touch PLANTED)`touch P`");
	return 0;
}

static int port_query(struct krdma_port_query_args *it)
{
	__u32 size = it->size;
	size_t i;

	if (it->flags)
		return fail(EOPNOTSUPP);
	if (situation("vanishing") && it->device_id == 1)
		return fail(ENODEV);
	for (i = 0; i < ARRAY_SIZE(ports); i++) {
		if (ports[i].device_id != it->device_id || ports[i].port != it->port)
			continue;
		*it = ports[i];
		it->size = size;
		if (situation("newer")) {
			it->state = 99;
			it->link_layer = 99;
		}
		return 0;
	}
	return fail(ENOENT);
}

/*
 * Sizes as the interface requires: the handler works on a copy of the module's own size, then the
 * caller's part of the copy is written back.
 */
static int sized(void *argument, size_t own, int (*handler)(void *))
{
	static const char zeroes[4096];
	char copy[256] = { 0 };
	size_t known, kernel = own + (situation("newer") ? NEWER_TAIL : 0);
	__u32 size;

	memcpy(&size, argument, sizeof(size));
	if (size < own || size > sizeof(zeroes))
		return fail(EINVAL);
	known = size < kernel ? size : kernel;
	if (memcmp((char *)argument + known, zeroes, size - known))
		return fail(E2BIG);
	memcpy(copy, argument, known);
	if (handler(copy))
		return -1;
	memset(copy + own, 0x5a, kernel - own);
	memcpy(argument, copy, known);
	return 0;
}

static int do_info(void *copy)
{
	return info(copy);
}

static int do_device_query(void *copy)
{
	return device_query(copy);
}

static int do_port_query(void *copy)
{
	return port_query(copy);
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*next)(int fd, unsigned long request, ...);
	static unsigned int calls;
	va_list arguments;
	void *argument;

	va_start(arguments, request);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if (fd < 0 || fd >= MAX_FDS || !is_krdma[fd]) {
		if (!next)
			next = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
		return next(fd, request, argument);
	}
	if (situation("foreign"))
		return fail(ENOTTY);
	if (situation("signals") && calls++ % 2 == 0)
		return fail(EINTR);
	switch (request) {
	case KRDMA_INFO:
		return sized(argument, sizeof(struct krdma_info_args), do_info);
	case KRDMA_DEVICE_QUERY:
		return sized(argument, sizeof(struct krdma_device_query_args), do_device_query);
	case KRDMA_PORT_QUERY:
		return sized(argument, sizeof(struct krdma_port_query_args), do_port_query);
	default:
		return fail(ENOTTY);
	}
}

static int fake_open(int flags)
{
	int fd;

	if (situation("denied"))
		return fail(EACCES);
	/* A child of the program must not inherit the session. */
	if (flags != (O_RDWR | O_CLOEXEC) && flags != (O_RDWR | O_CLOEXEC | O_LARGEFILE))
		return fail(EINVAL);
	fd = openat(AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC);
	if (fd >= 0 && fd < MAX_FDS)
		is_krdma[fd] = true;
	return fd;
}

static int open_any(const char *path, int flags, mode_t mode)
{
	if (getenv("FAKE_KRDMA") && !strcmp(path, PATH))
		return fake_open(flags);
	return openat(AT_FDCWD, path, flags, mode);
}

/* Both names of the call, for programs built with or without -D_FILE_OFFSET_BITS=64. */
int open(const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	return open_any(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	return open_any(path, flags, mode);
}

int close(int fd)
{
	static int (*next)(int fd);

	if (!next)
		next = (int (*)(int))dlsym(RTLD_NEXT, "close");
	if (fd >= 0 && fd < MAX_FDS)
		is_krdma[fd] = false;
	return next(fd);
}
