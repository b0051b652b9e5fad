// SPDX-License-Identifier: GPL-2.0
/*
 * The way of a request to its handler and back, and what requests have in common:
 * deadlines and addresses.
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
#include "user/user.h"
#include "user/layout.h"

/*
 * Answers
 */

/**
 * krdma_ucmd_respond - hand the structure back to the caller
 * @ucmd: the request, its buffer filled in
 *
 * As much of it as the caller knows; what else the caller has there stays.
 * Whoever has made something undoes it if this fails: nothing has happened then.
 *
 * Context: process context, of the caller; may sleep.
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
 * krdma_ucmd_inform - tell the caller of what cannot be undone
 * @ucmd: the request, its buffer filled in
 *
 * The caller's memory took an answer before the request began.  A program that has
 * taken it away since does without: EFAULT would say that nothing has happened.
 *
 * Context: process context, of the caller; may sleep.
 * Return: 0.
 */
int krdma_ucmd_inform(const struct krdma_ucmd *ucmd)
{
	/* Nobody is left who could be told. */
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
	/* A number that was never given out has no handler. */
	return type->handle ? type : NULL;
}

/* Who may only read may ask, and hear of things. */
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

	/* Read twice by now, and what counts is what was checked. */
	buffer.size = user_size;

	ucmd->buffer = &buffer;
	ucmd->user = user;
	ucmd->user_size = user_size;
	ucmd->kernel_size = type->size;
	/*
	 * What was read, once more: who cannot be answered is told so before anything has
	 * happened.  It changes nothing there, unlike fault_in_writeable().
	 */
	if (type->kind == KRDMA_IOCTL_ANSWERS && krdma_ucmd_respond(ucmd))
		return -EFAULT;
	return type->handle(ucmd);
}

/**
 * krdma_ioctl_dispatch - answer an ioctl
 * @file: that was asked
 * @table: what this kind of file can be asked
 * @ucmd: with the session, and the object that the file is; the rest is filled in
 * @cmd: the ioctl's number
 * @arg: its argument
 *
 * Context: process context, of the caller; may sleep.
 * Return: 0 or a negative errno, as <linux/krdma.h> says.
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
 * krdma_deadline_of_caller - a request's deadline by the kernel's own clock
 * @deadline_ns: the deadline, of CLOCK_MONOTONIC in the caller's time namespace; 0; or
 *	KRDMA_FOREVER
 *
 * Every deadline of a request goes through here once, before it is compared with
 * anything.
 *
 * Context: process context, of the caller.
 * Return: the deadline, of CLOCK_MONOTONIC as the kernel has it; 1 at least if
 * @deadline_ns is not 0, so that a deadline that has passed stays one.
 */
u64 krdma_deadline_of_caller(u64 deadline_ns)
{
	struct timespec64 offset = {};
	s64 ahead_ns;

	if (!deadline_ns || deadline_ns == KRDMA_FOREVER)
		return deadline_ns;

	timens_add_monotonic(&offset);
	ahead_ns = timespec64_to_ns(&offset);
	/* Later than any clock goes, or before it began. */
	if (ahead_ns < 0)
		return deadline_ns < KTIME_MAX ? deadline_ns - ahead_ns : deadline_ns;
	return deadline_ns > (u64)ahead_ns ? deadline_ns - ahead_ns : 1;
}

/**
 * krdma_deadline_ms - how long until a deadline
 * @deadline_ns: the deadline, krdma_deadline_of_caller() of it, or KRDMA_FOREVER
 *
 * Never more than INT_MAX, which the kernel's own conversions would take for ever:
 * whoever waits so long asks again.
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

/* How long a family's addresses are; 0: krdma does not know the family. */
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
 * krdma_address_from_user - an address that a program has given
 * @user: the program's, in a private copy
 * @address: filled in, with zeroes behind what the family has
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
 * krdma_address_to_user - an address for a program
 * @address: the address; without a family if it is not known
 * @user: filled in, with zeroes behind what the family has
 *
 * Context: any.
 */
void krdma_address_to_user(const struct sockaddr_storage *address,
			   struct __kernel_sockaddr_storage *user)
{
	memset(user, 0, sizeof(*user));
	memcpy(user, address, krdma_address_size(address->ss_family));
}
