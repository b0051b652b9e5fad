/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the front share: sessions, and how a request reaches its
 * handler.  The front knows files and the structures of <linux/krdma.h>, and
 * uses the core through <krdma/krdma.h>, like any other consumer.
 */
#ifndef _KRDMA_USER_H
#define _KRDMA_USER_H

#include <linux/compiler_types.h>
#include <linux/krdma.h>
#include <linux/types.h>

struct net;

/**
 * struct krdma_session - one opening of /dev/krdma
 * @net: the namespace of the opener, whoever uses the file later.  A reference
 *	is held.  Never changes.
 *
 * Lives as long as its file; requests run while the file is held, so they need
 * neither a lock nor a count of their own.
 */
struct krdma_session {
	struct net *net;
};

/* Room for the structure of any request, and the field they all begin with. */
union krdma_user_buffer {
	u32 size;
	struct krdma_info info;
	struct krdma_device_query device_query;
	struct krdma_port_query port_query;
};

/**
 * struct krdma_user_request - one ioctl under way
 * @session: whose
 * @buffer: the caller's structure, with zeroes for what the caller does not
 *	know.  A private copy: what is validated here cannot change.
 * @user: where the caller has it
 * @user_size: the caller's size of it
 * @kernel_size: our size of it
 */
struct krdma_user_request {
	struct krdma_session *session;
	union krdma_user_buffer *buffer;
	void __user *user;
	u32 user_size;
	u32 kernel_size;
};

int krdma_user_init(void);
void krdma_user_exit(void);

int krdma_request_respond(const struct krdma_user_request *request);

int krdma_user_info(struct krdma_user_request *request);
int krdma_user_device_query(struct krdma_user_request *request);
int krdma_user_port_query(struct krdma_user_request *request);

#endif /* _KRDMA_USER_H */
