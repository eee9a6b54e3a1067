// SPDX-License-Identifier: GPL-2.0
/* Packets of a segment that TCP has handed over as one, as a network card splits it. */
#include <linux/netdevice.h>
#include <linux/version.h>
#include <net/gso.h>
#include <net/pkt_sched.h>
#include <net/sock.h>
#include "segments.h"

bool segments_owned(const struct sk_buff *skb)
{
	return skb->sk && sk_fullsock(skb->sk) && sk_is_tcp(skb->sk);
}

struct sk_buff *segments_of(struct sk_buff *skb)
{
	struct sk_buff *list, *segment;

	if (!skb_is_gso(skb))
		return skb;
	__skb_push(skb, -skb_mac_offset(skb));
	list = skb_gso_segment(skb, netif_skb_features(skb) & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(list)) {
		kfree_skb(skb);
		return NULL;
	}
	consume_skb(skb);
	for (segment = list; segment; segment = segment->next) {
		__skb_pull(segment, skb_network_offset(segment));
		qdisc_skb_cb(segment)->pkt_len = segment->len;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
		qdisc_skb_cb(segment)->pkt_segs = 1;
#endif
	}
	return list;
}
