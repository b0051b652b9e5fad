// SPDX-License-Identifier: GPL-2.0
/* Sends messages to krdma_echo, and checks that they come back. */
#include <linux/inet.h>
#include <linux/module.h>
#include <net/net_namespace.h>
#include <krdma/krdma.h>

static char *address = "127.0.0.1";
module_param(address, charp, 0444);
static DECLARE_COMPLETION(ended);
static u8 status;

static void ping_complete(const struct krdma_wc *done)
{
	status = done->status;
	complete(&ended);
}

static const struct krdma_conn_ops ping_ops = { .complete = ping_complete };

static int ping(struct krdma_conn *conn, struct krdma_mr *mr, u64 *message)
{
	struct krdma_sge from = { mr, (u64)message, 8 }, to = { mr, (u64)&message[1], 8 };
	struct krdma_send_wr send = { 0, KRDMA_OP_SEND, KRDMA_POST_UNSIGNALED, 1, .sges = &from };
	struct krdma_recv_wr room = { .sges = &to, .sge_count = 1 };

	message[0]++;
	if (krdma_conn_post_recv(conn, &room, 1) != 1 ||
	    krdma_conn_post_send(conn, &send, 1) != 1 ||
	    !wait_for_completion_timeout(&ended, 20 * HZ) || status)
		return -EIO;
	return message[0] == message[1] ? 0 : -EBADMSG;
}

static int __init ping_init(void)
{
	u64 *message __free(kfree) = kzalloc(2 * sizeof(*message), GFP_KERNEL);
	struct sockaddr_in to = { AF_INET, htons(7471), { in_aton(address) } };
	struct krdma_route route = { .remote = (struct sockaddr *)&to, .ack_timeout = 18 };
	struct krdma_session *session = krdma_session_create(&init_net);
	struct krdma_conn *conn = IS_ERR(session) ? ERR_CAST(session) :
				  krdma_conn_create(session, &ping_ops, NULL);
	struct krdma_mr *mr;
	int ret = PTR_ERR_OR_ZERO(conn) ?: (message ? 0 : -ENOMEM) ?:
		  krdma_conn_resolve(conn, &route) ?: krdma_conn_wait(conn, KRDMA_FOREVER_MS);

	mr = ret ? ERR_PTR(ret) : krdma_mr_register(session, krdma_conn_device(conn), message,
						    16, KRDMA_ACCESS_LOCAL_WRITE);
	ret = PTR_ERR_OR_ZERO(mr) ?:
	      krdma_conn_connect(conn, &(struct krdma_conn_param) {}) ?:
	      krdma_conn_wait(conn, KRDMA_FOREVER_MS);
	for (int i = 0; i < 100 && !ret; i++)
		ret = ping(conn, mr, message);
	if (!IS_ERR(conn)) {
		krdma_conn_close(conn);
		krdma_conn_put(conn);
	}
	if (!IS_ERR(mr))
		krdma_mr_deregister(mr);
	if (!IS_ERR(session))
		krdma_session_put(session);
	return ret;
}
module_init(ping_init);

static void __exit ping_exit(void) { }
module_exit(ping_exit);
MODULE_DESCRIPTION("Sends messages to krdma_echo");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("KRDMA");
