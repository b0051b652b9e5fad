// SPDX-License-Identifier: GPL-2.0
/*
 * Management datagrams between fake RoCE devices: address handles, and how a datagram of one
 * device's general service QP finds that of another.  ib_mad and ib_cm do the rest.
 */
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>

#include "fake_private.h"

#define FAKE_NO_VLAN	0xffff

static int fake_create_ah(struct ib_ah *ah, struct rdma_ah_init_attr *attr,
			  struct ib_udata *udata)
{
	fake_route_set(&to_fake_ah(ah)->route, attr->ah_attr);
	return 0;
}

static int fake_destroy_ah(struct ib_ah *ah, u32 flags)
{
	return 0;
}

/* The header in front of a datagram in its receive. */
static void fake_gsi_header(union rdma_network_hdr *header, const struct fake_route *route,
			    u32 length)
{
	struct iphdr *ipv4 = &header->roce4grh;
	struct ib_grh *grh = &header->ibgrh;

	memset(header, 0, sizeof(*header));
	if (route->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
	    ipv6_addr_v4mapped((const struct in6_addr *)&route->dgid)) {
		ipv4->version = 4;
		ipv4->ihl = sizeof(*ipv4) / 4;
		ipv4->ttl = 64;
		ipv4->protocol = IPPROTO_UDP;
		ipv4->tot_len = htons(sizeof(*ipv4) + length);
		memcpy(&ipv4->saddr, route->sgid.raw + 12, sizeof(ipv4->saddr));
		memcpy(&ipv4->daddr, route->dgid.raw + 12, sizeof(ipv4->daddr));
		ip_send_check(ipv4);
		return;
	}
	grh->version_tclass_flow = cpu_to_be32(6 << 28);
	grh->paylen = cpu_to_be16(length);
	grh->next_hdr = route->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP ? IPPROTO_UDP : 0x1b;
	grh->hop_limit = 64;
	grh->sgid = route->sgid;
	grh->dgid = route->dgid;
}

static u8 fake_gsi_network(const struct fake_route *route)
{
	if (route->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return RDMA_NETWORK_ROCE_V1;
	return ipv6_addr_v4mapped((const struct in6_addr *)&route->dgid) ? RDMA_NETWORK_IPV4 :
									   RDMA_NETWORK_IPV6;
}

/* @spans has room for one more. */
static void fake_spans_prepend(struct fake_spans *spans, const void *data, u32 length)
{
	memmove(spans->span + 1, spans->span, spans->count * sizeof(spans->span[0]));
	spans->span[0] = (struct fake_span) { .address = (uintptr_t)data, .length = length };
	spans->count++;
	spans->length += length;
}

struct fake_qp *fake_gsi_address(struct fake_qp *qp, const struct fake_send *send,
				 struct fake_datagram *datagram)
{
	const struct fake_route *route = &to_fake_ah(send->ud.ah)->route;
	struct fake_device *fake = fake_route_find(route);
	struct fake_spans *spans = &datagram->spans;
	struct fake_qp *peer;

	peer = fake ? fake_qp_find(fake, send->ud.remote_qpn) : NULL;
	if (!peer || peer->ib.qp_type != IB_QPT_GSI || peer->state != IB_QPS_RTS ||
	    !fake_spans_local(spans, qp, send->sge, send->wr.num_sge, 0) ||
	    spans->count == FAKE_MAX_SGE)
		return NULL;

	datagram->wc = (struct ib_wc) {
		.opcode = IB_WC_RECV,
		.src_qp = qp->ib.qp_num,
		.wc_flags = IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE,
		.network_hdr_type = fake_gsi_network(route),
	};
	if (route->vlan != FAKE_NO_VLAN) {
		datagram->wc.wc_flags |= IB_WC_WITH_VLAN;
		datagram->wc.vlan_id = route->vlan;
	}
	fake_gsi_header(&datagram->header, route, spans->length);
	fake_spans_prepend(spans, &datagram->header, sizeof(datagram->header));
	return peer;
}

const struct ib_device_ops fake_gsi_ops = {
	.create_ah = fake_create_ah,
	.destroy_ah = fake_destroy_ah,

	INIT_RDMA_OBJ_SIZE(ib_ah, fake_ah, ib),
};
