// SPDX-License-Identifier: GPL-2.0
/* Sends messages to krdma_echo, checks the echoes, and says how long one takes. */
#include <linux/inet.h>
#include <linux/module.h>
#include <net/net_namespace.h>
#include <krdma/krdma.h>

#define PINGS 100
static char *address = "127.0.0.1";
module_param(address, charp, 0444);
static DECLARE_COMPLETION(ended);
static u8 status;

static void ping_complete(const struct krdma_completion *done)
{
	status = done->status;
	complete(&ended);
}

static const struct krdma_conn_ops ping_ops = { .complete = ping_complete };

static int ping(struct krdma_conn *conn, struct krdma_region *region, u64 *message)
{
	struct krdma_sge to = { region, (u64)&message[1], 8 }, from = { region, (u64)message, 8 };
	struct krdma_receive room = { .sges = &to, .sge_count = 1 };
	struct krdma_request send = { .opcode = KRDMA_OP_SEND, .flags = KRDMA_POST_SILENT,
				      .sges = &from, .sge_count = 1 };
	int ret = krdma_conn_receive(conn, &room, 1);

	message[0] = ktime_get_ns();
	ret = ret < 0 ? ret : krdma_conn_post(conn, &send, 1);
	if (ret > 0 && !wait_for_completion_timeout(&ended, HZ))
		return -ETIMEDOUT;
	return ret < 0 ? ret : status ? -EIO : message[0] == message[1] ? 0 : -EBADMSG;
}

static int ping_all(struct krdma_session *session, struct krdma_conn *conn, u64 *message)
{
	struct sockaddr_storage remote;
	struct krdma_route route = { .remote = (struct sockaddr *)&remote };
	struct krdma_region *region;
	u64 took;
	int ret = inet_pton_with_scope(&init_net, AF_UNSPEC, address, "7471", &remote) ?:
		  krdma_conn_resolve(conn, &route) ?: krdma_conn_wait(conn, 0);

	region = ret ? ERR_PTR(ret) : krdma_region_map(session, krdma_conn_device(conn), message,
						       16, KRDMA_ACCESS_LOCAL_WRITE);
	ret = PTR_ERR_OR_ZERO(region) ?:
	      krdma_conn_connect(conn, &(struct krdma_conn_param) {}) ?: krdma_conn_wait(conn, 0);
	took = ktime_get_ns();
	for (int i = 0; i < PINGS && !ret; i++)
		ret = ping(conn, region, message);
	if (!ret)
		pr_info("an echo takes %llu ns\n", (ktime_get_ns() - took) / PINGS);
	krdma_conn_close(conn);
	if (!IS_ERR(region))
		krdma_region_release(region);
	return ret;
}

static int __init ping_init(void)
{
	struct krdma_session *session = krdma_session_create(&init_net);
	struct krdma_conn *conn = IS_ERR(session) ? ERR_CAST(session) :
				  krdma_conn_create(session, &ping_ops, NULL);
	u64 *message = kzalloc(2 * sizeof(*message), GFP_KERNEL);
	int ret = PTR_ERR_OR_ZERO(conn) ?: message ? 0 : -ENOMEM;

	ret = ret ?: ping_all(session, conn, message);
	kfree(message);
	if (!IS_ERR(conn))
		krdma_conn_put(conn);
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
