// SPDX-License-Identifier: GPL-2.0
/*
 * A short queue as a module of a user: first in, first out, with a limit and a threshold.
 *
 * A packet that finds at least `threshold` packets waiting is marked if it may be marked (RFC 3168,
 * https://www.rfc-editor.org/rfc/rfc3168#section-5), and one that finds `limit` is dropped. The threshold is an option
 * of the queue, given as the attribute 1 (u32) within TCA_OPTIONS; the limit is a parameter of the module. Run it with
 *
 *	shoal run SCENARIO --on linux --module sch_short.c --set bottleneck.aqm.kind=module
 *
 * and `name`, `parameters` and `options` of that table as in docs/how-to/write-a-kernel-module.md.
 */
#include <linux/module.h>
#include <net/inet_ecn.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>

static uint limit = 100;
module_param(limit, uint, 0444);
MODULE_PARM_DESC(limit, "Packets that may wait");

enum { SHORT_UNSPEC, SHORT_THRESHOLD, __SHORT_MAX };

static const struct nla_policy short_policy[__SHORT_MAX] = {
	[SHORT_THRESHOLD] = { .type = NLA_U32 },
};

struct short_sched {
	u32 threshold;	/* packets; marks begin when so many wait */
};

static int short_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct short_sched *q = qdisc_priv(sch);

	if (sch->q.qlen >= limit)
		return qdisc_drop(skb, sch, to_free);
	if (sch->q.qlen >= q->threshold)
		INET_ECN_set_ce(skb);
	return qdisc_enqueue_tail(skb, sch);
}

static struct sk_buff *short_dequeue(struct Qdisc *sch)
{
	return qdisc_dequeue_head(sch);
}

static int short_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct short_sched *q = qdisc_priv(sch);
	struct nlattr *tb[__SHORT_MAX];
	int err;

	q->threshold = U32_MAX;
	if (!opt)
		return 0;
	err = nla_parse_nested(tb, __SHORT_MAX - 1, opt, short_policy, extack);
	if (err)
		return err;
	if (tb[SHORT_THRESHOLD])
		q->threshold = nla_get_u32(tb[SHORT_THRESHOLD]);
	return 0;
}

static struct Qdisc_ops short_ops __read_mostly = {
	.id		= "short",
	.priv_size	= sizeof(struct short_sched),
	.enqueue	= short_enqueue,
	.dequeue	= short_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= short_change,
	.change		= short_change,
	.reset		= qdisc_reset_queue,
	.owner		= THIS_MODULE,
};

static int __init short_init(void)
{
	return register_qdisc(&short_ops);
}

static void __exit short_exit(void)
{
	unregister_qdisc(&short_ops);
}

module_init(short_init);
module_exit(short_exit);
MODULE_DESCRIPTION("A short queue");
MODULE_LICENSE("GPL");
