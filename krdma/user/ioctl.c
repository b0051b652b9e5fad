// SPDX-License-Identifier: GPL-2.0
/*
 * Dispatch of ioctls to their handlers, and what ioctls have in common: deadlines and addresses.
 */
#include <linux/errno.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ioctl.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/time_namespace.h>
#include <linux/uaccess.h>

#include "trace.h"
#include "user/ioctl.h"
#include "user/user.h"
#include "user/layout.h"

/*
 * Returning data
 */

/**
 * krdma_ucmd_respond() - Copy the structure back to the caller
 * @ucmd: the ioctl, its buffer filled in
 *
 * Copies only the fields that the caller knows.  If this fails, the handler undoes what it has
 * done, because -EFAULT means that nothing has happened.
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or -EFAULT.
 */
int krdma_ucmd_respond(const struct krdma_ucmd *ucmd)
{
	if (copy_to_user(ucmd->user, ucmd->buffer,
			 min(ucmd->user_size, ucmd->kernel_size)))
		return -EFAULT;
	return 0;
}

/**
 * krdma_ucmd_inform() - Copy back the result of what cannot be undone
 * @ucmd: the ioctl, its buffer filled in
 *
 * The caller's memory was writable before the handler was called.  A program that has unmapped it
 * since gets no result: -EFAULT would mean that nothing has happened.
 *
 * Context: process context of the caller; may sleep.
 * Return: 0.
 */
int krdma_ucmd_inform(const struct krdma_ucmd *ucmd)
{
	/* There is no other way to report the failure. */
	(void)krdma_ucmd_respond(ucmd);
	return 0;
}

/*
 * Dispatch
 */

static const struct krdma_ioctl_op *
krdma_ioctl_find(const struct krdma_ioctl_table *table, unsigned int cmd)
{
	const struct krdma_ioctl_op *type;
	unsigned int nr = _IOC_NR(cmd);

	if (cmd != _IO(KRDMA_IOCTL_TYPE, nr))
		return NULL;
	if (nr < table->base || nr - table->base >= table->count)
		return NULL;

	type = &table->types[array_index_nospec(nr - table->base, table->count)];
	/* A number without an ioctl has no handler. */
	return type->handle ? type : NULL;
}

/* A file that is open for reading only may query, and receive events. */
static bool krdma_ioctl_may(const struct file *file, const struct krdma_ioctl_op *type)
{
	return type->kind == KRDMA_IOCTL_ASKS || type->kind == KRDMA_IOCTL_READS ||
	       (file->f_mode & FMODE_WRITE);
}

static int krdma_ioctl_handle(const struct file *file,
			      const struct krdma_ioctl_table *table,
			      struct krdma_ucmd *ucmd, unsigned int cmd,
			      void __user *user)
{
	const struct krdma_ioctl_op *type;
	union krdma_user_buffer buffer;
	u32 user_size;
	int ret;

	type = krdma_ioctl_find(table, cmd);
	if (!type)
		return -ENOTTY;
	if (!krdma_ioctl_may(file, type))
		return -EBADF;

	if (get_user(user_size, (u32 __user *)user))
		return -EFAULT;
	if (user_size < type->min_size)
		return -EINVAL;
	if (user_size > KRDMA_STRUCT_SIZE_MAX)
		return -E2BIG;

	ret = copy_struct_from_user(&buffer, type->size, user, user_size);
	if (ret)
		return ret;

	/* The size was read twice; only the value that was checked counts. */
	buffer.size = user_size;

	ucmd->buffer = &buffer;
	ucmd->user = user;
	ucmd->user_size = user_size;
	ucmd->kernel_size = type->size;
	/*
	 * Writes back what was read, so that a caller whose memory is not writable gets -EFAULT
	 * before anything has happened.  Unlike fault_in_writeable(), this changes nothing there.
	 */
	if (type->kind == KRDMA_IOCTL_ANSWERS && krdma_ucmd_respond(ucmd))
		return -EFAULT;
	return type->handle(ucmd);
}

/**
 * krdma_ioctl_dispatch() - Handle an ioctl
 * @file: the file
 * @table: ioctls of this kind of file
 * @ucmd: with the session, and the object of the file; the other members are filled in
 * @cmd: number of the ioctl
 * @arg: its argument
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma.h>.
 */
long krdma_ioctl_dispatch(const struct file *file, const struct krdma_ioctl_table *table,
			  struct krdma_ucmd *ucmd, unsigned int cmd,
			  unsigned long arg)
{
	long ret;

	ret = krdma_ioctl_handle(file, table, ucmd, cmd, (void __user *)arg);
	trace_krdma_ioctl(cmd, ret);
	return ret;
}

/*
 * Deadlines
 */

/**
 * krdma_deadline_of_caller() - Convert a deadline of an ioctl to the kernel's clock
 * @deadline_ns: deadline in nanoseconds of CLOCK_MONOTONIC in the caller's time namespace; 0; or
 *	KRDMA_FOREVER
 *
 * Every deadline of an ioctl is converted once, before it is compared with anything.
 *
 * Context: process context of the caller.
 * Return: the deadline in nanoseconds of the kernel's CLOCK_MONOTONIC; at least 1 if @deadline_ns
 * is not 0, so that a deadline that has passed stays one.
 */
u64 krdma_deadline_of_caller(u64 deadline_ns)
{
	struct timespec64 offset = {};
	s64 ahead_ns;

	if (!deadline_ns || deadline_ns == KRDMA_FOREVER)
		return deadline_ns;

	timens_add_monotonic(&offset);
	ahead_ns = timespec64_to_ns(&offset);
	/* Beyond the range of the clock, or before its start. */
	if (ahead_ns < 0)
		return deadline_ns < KTIME_MAX ? deadline_ns - ahead_ns : deadline_ns;
	return deadline_ns > (u64)ahead_ns ? deadline_ns - ahead_ns : 1;
}

/**
 * krdma_deadline_ms() - Get the time until a deadline
 * @deadline_ns: the deadline, converted by krdma_deadline_of_caller(), or KRDMA_FOREVER
 *
 * Never more than INT_MAX, which the kernel's own conversions take as infinite: a caller that
 * waits longer calls again.
 *
 * Context: any.
 * Return: milliseconds, rounded up; 0: it has passed; KRDMA_FOREVER_MS: never.
 */
u32 krdma_deadline_ms(u64 deadline_ns)
{
	u64 now = ktime_get_ns();

	if (deadline_ns == KRDMA_FOREVER)
		return KRDMA_FOREVER_MS;
	if (deadline_ns <= now)
		return 0;
	return min_t(u64, div_u64(deadline_ns - now - 1, NSEC_PER_MSEC) + 1, INT_MAX);
}

/*
 * Addresses
 */

/* Size of an address of the family in bytes; 0: krdma does not support the family. */
static size_t krdma_address_size(unsigned short family)
{
	switch (family) {
	case AF_INET:
		return offsetof(struct sockaddr_in, sin_zero);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	default:
		return 0;
	}
}

/**
 * krdma_address_from_user() - Convert an address of a program
 * @user: the program's address, in a private copy
 * @address: filled in, padded with zeroes
 *
 * Context: any.
 * Return: 0, or -EAFNOSUPPORT: neither IPv4 nor IPv6.
 */
int krdma_address_from_user(const struct __kernel_sockaddr_storage *user,
			    struct sockaddr_storage *address)
{
	size_t size = krdma_address_size(user->ss_family);

	if (!size)
		return -EAFNOSUPPORT;
	memset(address, 0, sizeof(*address));
	memcpy(address, user, size);
	return 0;
}

/**
 * krdma_address_to_user() - Convert an address for a program
 * @address: the address; without a family if it is not known
 * @user: filled in, padded with zeroes
 *
 * Context: any.
 */
void krdma_address_to_user(const struct sockaddr_storage *address,
			   struct __kernel_sockaddr_storage *user)
{
	memset(user, 0, sizeof(*user));
	memcpy(user, address, krdma_address_size(address->ss_family));
}

/**
 * krdma_user_name_is_whole() - Check the name of an MR that a program gives
 * @name: KRDMA_NAME_MAX bytes
 *
 * Context: any.
 * Return: true if it has a terminating zero, and nothing else behind it; also for an empty name.
 */
bool krdma_user_name_is_whole(const char *name)
{
	size_t length = strnlen(name, KRDMA_NAME_MAX);

	return length < KRDMA_NAME_MAX && !memchr_inv(name + length, 0, KRDMA_NAME_MAX - length);
}
