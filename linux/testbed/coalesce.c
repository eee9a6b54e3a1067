// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupt moderation of a network card, as a queue discipline in front of the host.
 *
 * A card with moderation (`ethtool -C DEVICE rx-usecs U rx-frames N`) raises no interrupt for the first packet that
 * arrives. It waits for U microseconds or until the N-th packet, whichever comes first, and the driver then finds all
 * of these packets in its ring. So this discipline, at the device of the node before the host, holds packets from the
 * first one on, and sends all of them at one instant. Packets for which its ring has no place are dropped. The peer, a
 * veth with GRO, takes them from its ring by NAPI: up to 64 in a poll, and polls follow each other until the ring is
 * empty, before which GRO keeps what it merges.
 *
 * A packet that arrives at the very end of the wait comes after the interrupt, whichever of both events the kernel
 * handles first: it is the first of the next interrupt.
 */
#include <linux/module.h>
#include <linux/siphash.h>
#include <net/pkt_sched.h>
#include "sch_coalesce.h"

struct coalesce_sched {
	struct qdisc_watchdog watchdog;
	u64 wait_ns;
	u32 frames;	/* 0: no limit */
	u32 ring;	/* packets that it holds; 0: no limit */
	u32 due;	/* packets whose interrupt has been raised; they are the oldest */
	u64 interrupt_ns;	/* time of the interrupt for the others, if there are any */
};

/* A card has one key for the hashes of all packets; this one is of zeros. */
static const siphash_key_t card_key;

static void interrupt(struct Qdisc *sch)
{
	struct coalesce_sched *q = qdisc_priv(sch);

	q->due = sch->q.qlen;
	/* `overlimits` of `tc -s qdisc` counts interrupts here. */
	qdisc_qstats_overlimit(sch);
}

/* Raises the interrupt if its time has come. */
static void expire(struct Qdisc *sch, u64 now)
{
	struct coalesce_sched *q = qdisc_priv(sch);

	if (q->due < sch->q.qlen && q->interrupt_ns <= now)
		interrupt(sch);
}

static int coalesce_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct coalesce_sched *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();

	expire(sch, now);
	if (q->ring && sch->q.qlen - q->due >= q->ring)
		return qdisc_drop(skb, sch, to_free);
	if (q->due == sch->q.qlen)
		q->interrupt_ns = now + q->wait_ns;
	/* The card hashes the headers; by this hash GRO finds what it holds of the same flow (`dev_gro_receive`). */
	skb_set_hash(skb, skb_get_hash_perturb(skb, &card_key), PKT_HASH_TYPE_L4);
	qdisc_enqueue_tail(skb, sch);
	if (q->frames && sch->q.qlen - q->due >= q->frames)
		interrupt(sch);
	return NET_XMIT_SUCCESS;
}

static struct sk_buff *coalesce_dequeue(struct Qdisc *sch)
{
	struct coalesce_sched *q = qdisc_priv(sch);

	expire(sch, ktime_get_ns());
	if (q->due) {
		q->due--;
		return qdisc_dequeue_head(sch);
	}
	if (sch->q.qlen)
		qdisc_watchdog_schedule_ns(&q->watchdog, q->interrupt_ns);
	return NULL;
}

static void coalesce_reset(struct Qdisc *sch)
{
	struct coalesce_sched *q = qdisc_priv(sch);

	qdisc_reset_queue(sch);
	q->due = 0;
	qdisc_watchdog_cancel(&q->watchdog);
}

static const struct nla_policy coalesce_policy[TCA_COALESCE_MAX + 1] = {
	[TCA_COALESCE_WAIT]	= { .type = NLA_U64 },
	[TCA_COALESCE_FRAMES]	= { .type = NLA_U32 },
	[TCA_COALESCE_RING]	= { .type = NLA_U32 },
};

static int coalesce_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct coalesce_sched *q = qdisc_priv(sch);
	struct nlattr *tb[TCA_COALESCE_MAX + 1];
	int err;

	qdisc_watchdog_init(&q->watchdog, sch);
	if (!opt) {
		NL_SET_ERR_MSG_MOD(extack, "moderation needs a time");
		return -EINVAL;
	}
	err = nla_parse_nested_deprecated(tb, TCA_COALESCE_MAX, opt, coalesce_policy, extack);
	if (err)
		return err;
	if (!tb[TCA_COALESCE_WAIT]) {
		NL_SET_ERR_MSG_MOD(extack, "moderation needs a time");
		return -EINVAL;
	}
	q->wait_ns = nla_get_u64(tb[TCA_COALESCE_WAIT]);
	if (tb[TCA_COALESCE_FRAMES])
		q->frames = nla_get_u32(tb[TCA_COALESCE_FRAMES]);
	if (tb[TCA_COALESCE_RING])
		q->ring = nla_get_u32(tb[TCA_COALESCE_RING]);
	return 0;
}

static void coalesce_destroy(struct Qdisc *sch)
{
	struct coalesce_sched *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
}

static int coalesce_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct coalesce_sched *q = qdisc_priv(sch);
	struct nlattr *nest = nla_nest_start(skb, TCA_OPTIONS);

	if (!nest || nla_put_u64_64bit(skb, TCA_COALESCE_WAIT, q->wait_ns, TCA_COALESCE_UNSPEC) ||
	    nla_put_u32(skb, TCA_COALESCE_FRAMES, q->frames) || nla_put_u32(skb, TCA_COALESCE_RING, q->ring)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
}

static struct Qdisc_ops coalesce_ops __read_mostly = {
	.id		= "coalesce",
	.priv_size	= sizeof(struct coalesce_sched),
	.enqueue	= coalesce_enqueue,
	.dequeue	= coalesce_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= coalesce_init,
	.reset		= coalesce_reset,
	.destroy	= coalesce_destroy,
	.dump		= coalesce_dump,
	.owner		= THIS_MODULE,
};

static int __init coalesce_module_init(void)
{
	return register_qdisc(&coalesce_ops);
}

static void __exit coalesce_module_exit(void)
{
	unregister_qdisc(&coalesce_ops);
}

module_init(coalesce_module_init);
module_exit(coalesce_module_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Interrupt moderation of a network card");
