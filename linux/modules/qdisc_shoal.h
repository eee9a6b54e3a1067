/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions that the queueing disciplines of shoal share: packets, limits, statistics. */
#ifndef _QDISC_SHOAL_H
#define _QDISC_SHOAL_H

#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>
#ifdef SHOAL_HAVE_GSO_H
#include <net/gso.h>
#endif

#include "law/law.h"

/* Data of a packet while it waits. */
struct shoal_skb_cb {
	u64 enqueued;	/* ns */
	bool ect;	/* ECN-capable, CE included */
};

static inline struct shoal_skb_cb *shoal_skb_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct shoal_skb_cb));
	return (struct shoal_skb_cb *)qdisc_skb_cb(skb)->data;
}

static inline u32 shoal_random(void *context)
{
	return get_random_u32();
}

/*
 * Whether a packet can be marked: ECT(0), ECT(1) or CE in a header that is, or can be made,
 * writable. One that cannot is treated as not ECN-capable. Headers of others are only read: making
 * them writable would copy packets that are shared, as with a sender on this host.
 */
static inline bool shoal_is_ect(struct sk_buff *skb)
{
	unsigned int len = skb_network_offset(skb);
	u8 dsfield;

	switch (skb_protocol(skb, true)) {
	case htons(ETH_P_IP):
		len += sizeof(struct iphdr);
		if (!pskb_may_pull(skb, len))
			return false;
		dsfield = ipv4_get_dsfield(ip_hdr(skb));
		break;
	case htons(ETH_P_IPV6):
		len += sizeof(struct ipv6hdr);
		if (!pskb_may_pull(skb, len))
			return false;
		dsfield = ipv6_get_dsfield(ipv6_hdr(skb));
		break;
	default:
		return false;
	}
	return !INET_ECN_is_not_ect(dsfield) && !skb_try_make_writable(skb, len);
}

/* Why a packet is dropped, as drop monitors show it; kernels before 6.14 have no such reasons. */
#if defined(SHOAL_HAVE_QDISC_REASONS)
#define SHOAL_CONGESTED		QDISC_DROP_CONGESTED
#define SHOAL_OVERLIMIT		QDISC_DROP_OVERLIMIT
#elif defined(SHOAL_HAVE_SKB_QDISC_REASONS)
#define SHOAL_CONGESTED		SKB_DROP_REASON_QDISC_CONGESTED
#define SHOAL_OVERLIMIT		SKB_DROP_REASON_QDISC_OVERLIMIT
#else
#define SHOAL_CONGESTED		0
#define SHOAL_OVERLIMIT		0
#endif

static inline int shoal_drop(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free,
			     int reason)
{
#if defined(SHOAL_HAVE_QDISC_REASONS) || defined(SHOAL_HAVE_SKB_QDISC_REASONS)
	return qdisc_drop_reason(skb, sch, to_free, reason);
#else
	return qdisc_drop(skb, sch, to_free);
#endif
}

/* At dequeue packets are freed under the lock of the root, unless the kernel can do it later. */
#ifdef TCQ_F_DEQUEUE_DROPS
#define SHOAL_DEQUEUE_DROPS	TCQ_F_DEQUEUE_DROPS
#else
#define SHOAL_DEQUEUE_DROPS	0
#endif

static inline void shoal_free_at_dequeue(struct sk_buff *skb, struct Qdisc *sch)
{
#ifdef TCQ_F_DEQUEUE_DROPS
	qdisc_dequeue_drop(sch, skb, SHOAL_CONGESTED);
#else
	kfree_skb(skb);
#endif
}

/* Upper bound of the waiting bytes, whatever the limit is: the kernel's counters have 32 bits. */
#define SHOAL_BACKLOG_MAX	(U32_MAX / 2)

/* Capacity for waiting packets; 0: anything up to SHOAL_BACKLOG_MAX. */
struct shoal_limit {
	u32 bytes;
	u32 packets;
};

static inline bool shoal_exceeds(const struct shoal_limit *limit, u32 packets, u32 bytes)
{
	return (limit->packets && packets > limit->packets) ||
	       (limit->bytes && bytes > limit->bytes) || bytes > SHOAL_BACKLOG_MAX;
}

/**
 * shoal_fits() - Check a limit for a packet that arrives
 * @sch: the discipline
 * @limit: limit of the discipline
 * @skb: the packet
 *
 * Return: whether the packet fits.
 */
static inline bool shoal_fits(const struct Qdisc *sch, const struct shoal_limit *limit,
			      const struct sk_buff *skb)
{
	/* A table of sizes (`tc ... stab`) may assign any length to a packet. */
	return !shoal_exceeds(limit, sch->q.qlen + 1,
			      law_add32(sch->qstats.backlog, qdisc_pkt_len(skb)));
}

typedef int (*shoal_enqueue_t)(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free);

/*
 * Passes on the segments of an aggregate one by one, as laws and thresholds refer to packets on the
 * wire. The caller accounts for one packet of the aggregate's length; the tree above learns the
 * difference.
 */
static inline int shoal_enqueue_segments(struct sk_buff *skb, struct Qdisc *sch,
					 struct sk_buff **to_free, shoal_enqueue_t enqueue)
{
	netdev_features_t features = netif_skb_features(skb) & ~NETIF_F_GSO_MASK;
	unsigned int total = qdisc_pkt_len(skb), bytes = 0, packets = 0;
	struct sk_buff *segments, *segment, *next;
	int result = NET_XMIT_DROP;

	segments = skb_gso_segment(skb, features);
	if (IS_ERR_OR_NULL(segments))
		return qdisc_drop(skb, sch, to_free);
	skb_list_walk_safe(segments, segment, next) {
		unsigned int len = segment->len;

		skb_mark_not_on_list(segment);
		qdisc_skb_cb(segment)->pkt_len = len;
#ifdef SHOAL_HAVE_PKT_SEGS
		qdisc_skb_cb(segment)->pkt_segs = 1;
#endif
		result = enqueue(segment, sch, to_free);
		if (result == NET_XMIT_SUCCESS) {
			packets++;
			bytes += len;
		}
	}
	if (packets)
		qdisc_tree_reduce_backlog(sch, 1 - (int)packets, (int)total - (int)bytes);
	consume_skb(skb);
	return packets ? NET_XMIT_SUCCESS : result;
}

static inline int shoal_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free,
				shoal_enqueue_t enqueue)
{
	if (skb_is_gso(skb))
		return shoal_enqueue_segments(skb, sch, to_free, enqueue);
	return enqueue(skb, sch, to_free);
}

/*
 * For disciplines that may drop at dequeue: returns the packet that is not dropped, which is still
 * counted. The packets dropped before it are reported to the tree above while the queue is not
 * empty, because a child that reports an empty queue is switched off, and htb before 6.15 warns if
 * it then happens again. A law never drops the last packet, so that there always is one to return.
 */
struct shoal_dropped {
	u32 packets;
	u32 bytes;
};

static inline struct sk_buff *shoal_take(struct Qdisc *sch,
					 struct sk_buff *(*take)(struct Qdisc *sch,
								 struct shoal_dropped *dropped))
{
	struct shoal_dropped dropped = { 0 };
	struct sk_buff *skb = take(sch, &dropped);

	if (!skb)
		return NULL;
	qdisc_qstats_backlog_inc(sch, skb);
	sch->q.qlen++;
	if (dropped.packets)
		qdisc_tree_reduce_backlog(sch, dropped.packets, dropped.bytes);
	return skb;
}

static inline struct sk_buff *shoal_dequeue(struct Qdisc *sch,
					    struct sk_buff *(*take)(struct Qdisc *sch,
								    struct shoal_dropped *dropped))
{
	struct sk_buff *skb = shoal_take(sch, take);

	if (skb) {
		qdisc_qstats_backlog_dec(sch, skb);
		sch->q.qlen--;
	}
	return skb;
}

/* The packet stays counted and is kept where the next dequeue finds it. */
static inline struct sk_buff *shoal_peek(struct Qdisc *sch,
					 struct sk_buff *(*take)(struct Qdisc *sch,
								 struct shoal_dropped *dropped))
{
	struct sk_buff *skb = skb_peek(&sch->gso_skb);

	if (skb)
		return skb;
	skb = shoal_take(sch, take);
	if (skb)
		__skb_queue_head(&sch->gso_skb, skb);
	return skb;
}

static inline void shoal_drop_at_dequeue(struct sk_buff *skb, struct Qdisc *sch,
					 struct shoal_dropped *dropped)
{
	dropped->packets++;
	dropped->bytes += qdisc_pkt_len(skb);
	qdisc_qstats_drop(sch);
	shoal_free_at_dequeue(skb, sch);
}

/* Policies of attributes that several disciplines have. */
#define SHOAL_POLICY_FLAG	NLA_POLICY_MAX(NLA_U8, 1)

static inline bool shoal_within(u64 value, u64 min, u64 max)
{
	return value >= min && value <= max;
}

/**
 * SHOAL_WITHIN() - Check a parameter against its bounds
 * @bound: prefix of BOUND_MIN, BOUND_MAX and BOUND_SAYS in law/bounds.h
 * @value: value of the parameter
 * @attr: attribute of the parameter
 * @extack: extended answer of netlink
 *
 * If the value is not within them, the message BOUND_SAYS points to @attr; a policy would only
 * say that an integer is out of range.
 */
#define SHOAL_WITHIN(bound, value, attr, extack)				\
({										\
	bool __within = shoal_within(value, bound##_MIN, bound##_MAX);		\
										\
	if (!__within)								\
		NL_SET_ERR_MSG_ATTR(extack, attr, bound##_SAYS);		\
	__within;								\
})

#endif
