// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* A module that uses krdma: sends a message to hello_listen while it is loaded. */
#include <linux/inet.h>
#include <linux/module.h>
#include <net/net_namespace.h>

#include <krdma/krdma.h>

#define HELLO_PORT	7474
#define HELLO_SIZE	64
#define TIMEOUT_MS	10000

static char *peer = "127.0.0.1";
module_param(peer, charp, 0444);
MODULE_PARM_DESC(peer, "IPv4 address of the machine on which hello_listen is loaded");

static DECLARE_COMPLETION(sent);
static u8 status;

/* Called in a workqueue when the message has arrived, or cannot arrive any more. */
static void hello_complete(const struct krdma_wc *wc)
{
	status = wc->status;
	complete(&sent);
}

static const struct krdma_conn_ops hello_ops = { .complete = hello_complete };

static int hello_connect(struct krdma_conn *conn)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(HELLO_PORT) };
	struct krdma_route route = { .remote = (struct sockaddr *)&to };
	struct krdma_conn_attr attr = { .max_inline = HELLO_SIZE };
	struct krdma_conn_param param = {};

	to.sin_addr.s_addr = in_aton(peer);
	return krdma_conn_resolve(conn, &route) ?:
	       krdma_conn_wait(conn, TIMEOUT_MS) ?:
	       krdma_conn_create_qp(conn, &attr) ?:
	       krdma_conn_connect(conn, &param) ?:
	       krdma_conn_wait(conn, TIMEOUT_MS);
}

static int hello_post(struct krdma_conn *conn)
{
	char message[HELLO_SIZE];
	struct krdma_sge sge = { .addr = (u64)message };
	struct krdma_send_wr wr = { .opcode = KRDMA_OP_SEND, .flags = KRDMA_POST_INLINE,
				    .sges = &sge, .sge_count = 1 };

	/* Inline data need no MR, and are copied before the call returns. */
	sge.length = scnprintf(message, sizeof(message), "hello from %s", THIS_MODULE->name);
	if (krdma_conn_post_send(conn, &wr, 1) != 1)
		return -EIO;
	if (!wait_for_completion_timeout(&sent, msecs_to_jiffies(TIMEOUT_MS)))
		return -ETIMEDOUT;
	if (status) {
		pr_err("hello_send: %s\n", krdma_wc_status_name(status));
		return -EIO;
	}
	return 0;
}

static int __init hello_init(void)
{
	struct krdma_session *session;
	struct krdma_conn *conn;
	int ret;

	session = krdma_session_create(&init_net);
	if (IS_ERR(session))
		return PTR_ERR(session);
	conn = krdma_conn_create(session, &hello_ops, NULL);
	ret = PTR_ERR_OR_ZERO(conn);
	if (!ret) {
		ret = hello_connect(conn) ?: hello_post(conn);
		krdma_conn_close(conn);
		krdma_conn_put(conn);
	}
	krdma_session_put(session);
	return ret;
}
module_init(hello_init);

static void __exit hello_exit(void)
{
}
module_exit(hello_exit);

MODULE_DESCRIPTION("Sends a message to hello_listen");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_INFO(import_ns, "KRDMA");
