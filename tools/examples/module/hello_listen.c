// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* A module that uses krdma: prints the messages of one peer.  The next peer replaces the last. */
#include <linux/in.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include <krdma/krdma.h>

#define HELLO_PORT	7474
#define HELLO_SIZE	64

static struct krdma_session *session;
static struct krdma_listener *listener;
static struct krdma_conn *conn;
static struct krdma_mr *mr;
static char *message;

static int hello_post_recv(void)
{
	struct krdma_sge sge = { .mr = mr, .addr = (u64)message, .length = HELLO_SIZE };
	struct krdma_recv_wr wr = { .sges = &sge, .sge_count = 1 };

	return krdma_conn_post_recv(conn, &wr, 1) == 1 ? 0 : -EIO;
}

/* Called in a workqueue, for one completion at a time. */
static void hello_complete(const struct krdma_wc *wc)
{
	if (wc->opcode != KRDMA_OP_RECV || wc->status)
		return;
	pr_info("hello_listen: received: %.*s\n", (int)wc->length, message);
	hello_post_recv();
}

static const struct krdma_conn_ops hello_ops = { .complete = hello_complete };

static void hello_end(void)
{
	if (IS_ERR_OR_NULL(conn))
		return;
	/* When this returns, every work request has completed, and no callback runs. */
	krdma_conn_close(conn);
	if (!IS_ERR(mr))
		krdma_mr_deregister(mr);
	krdma_conn_put(conn);
}

/* Called in a workqueue when a peer has requested a connection. */
static void hello_ready(struct krdma_listener *from)
{
	struct krdma_conn_attr attr = {};
	struct krdma_conn_param param = {};

	hello_end();
	conn = krdma_listener_next(from, &hello_ops, NULL, 0);
	if (IS_ERR(conn))
		return;
	mr = krdma_mr_register(session, krdma_conn_device(conn), message, HELLO_SIZE,
			       KRDMA_ACCESS_LOCAL_WRITE);
	if (IS_ERR(mr) || krdma_conn_create_qp(conn, &attr) || hello_post_recv() ||
	    krdma_conn_accept(conn, &param))
		krdma_conn_abort(conn);
}

static int __init hello_init(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(HELLO_PORT) };
	struct krdma_listen_attr attr = { .local = (struct sockaddr *)&any, .ready = hello_ready };
	int ret;

	message = kzalloc(HELLO_SIZE, GFP_KERNEL);
	if (!message)
		return -ENOMEM;
	session = krdma_session_create(&init_net);
	ret = PTR_ERR_OR_ZERO(session);
	if (ret)
		goto free_message;
	listener = krdma_listen(session, &attr);
	ret = PTR_ERR_OR_ZERO(listener);
	if (ret)
		goto put_session;
	return 0;

put_session:
	krdma_session_put(session);
free_message:
	kfree(message);
	return ret;
}
module_init(hello_init);

static void __exit hello_exit(void)
{
	krdma_listener_close(listener);
	krdma_listener_put(listener);
	hello_end();
	krdma_session_put(session);
	kfree(message);
}
module_exit(hello_exit);

MODULE_DESCRIPTION("Prints messages that hello_send sends");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_INFO(import_ns, "KRDMA");
