// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dual RED: one queue, two RED instances chosen by ECN capability. The one for ECT packets marks,
 * the other drops.
 *
 * After Kuehlewind, Wagner, Reyes Espinosa, Briscoe, "Using Data Center TCP (DCTCP) in the
 * Internet" (2014), section III-C.
 */

#include <linux/module.h>

#include "law/dualred.h"
#include "qdisc_shoal.h"
#include "uapi/pkt_sched_shoal.h"

#define DUALRED_DEFAULT_LIMIT	1000	/* packets */
#define DUALRED_DEFAULT_RATE	(10000000 / 8)
#define DUALRED_DEFAULT_MEAN	500	/* bytes, as Floyd's remarks on RED parameters have it */

/* Configuration that a change replaces as a whole. */
struct dualred_config {
	struct shoal_limit limit;
	u64 rate;
	u32 mean_packet;
	struct law_dualred_params law;
};

struct dualred_sched_data {
	struct dualred_config config;
	struct law_dualred law;
	struct tc_dualred_xstats stats;
};

static void dualred_count_drop(struct tc_dualred_class *stats, enum law_red_decision decision)
{
	if (decision == RED_EARLY)
		stats->early++;
	else
		stats->forced++;
}

/*
 * Drops a packet as the law decided. TCP on this host enters CWR immediately and considers the
 * packet as sent, as with the kernel's own RED.
 */
static int dualred_congestion_drop(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	shoal_drop(skb, sch, to_free, SHOAL_CONGESTED);
	return NET_XMIT_CN;
}

static int dualred_enqueue_one(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct dualred_sched_data *q = qdisc_priv(sch);
	const struct dualred_config *config = &q->config;
	bool ect = shoal_is_ect(skb);
	struct tc_dualred_class *stats = ect ? &q->stats.ect : &q->stats.not_ect;
	enum law_red_decision decision;

	stats->packets++;
	decision = law_dualred_arrive(&q->law, &config->law, ect, qdisc_pkt_len(skb), sch->q.qlen,
				      sch->qstats.backlog, ktime_get_ns(), shoal_random, NULL);
	/* As in the kernel's RED, all marks and drops by the average count here. */
	if (decision != RED_PASS)
		qdisc_qstats_overlimit(sch);
	if (decision != RED_PASS && !(ect && INET_ECN_set_ce(skb))) {
		dualred_count_drop(stats, decision);
		return dualred_congestion_drop(skb, sch, to_free);
	}
	if (!shoal_fits(sch, &config->limit, skb)) {
		stats->overlimit++;
		return shoal_drop(skb, sch, to_free, SHOAL_OVERLIMIT);
	}
	if (decision != RED_PASS)
		stats->marked++;
	return qdisc_enqueue_tail(skb, sch);
}

static int dualred_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	return shoal_enqueue(skb, sch, to_free, dualred_enqueue_one);
}

/*
 * The last packet's transmission may end this much earlier than computed: the parent took the
 * packet a little before the clock was read here.
 */
static u64 dualred_slack(const struct dualred_sched_data *q)
{
	return min_t(u64, 2 * NSEC_PER_USEC,
		     law_line_time(&q->law.line, q->config.mean_packet) / 8);
}

static struct sk_buff *dualred_dequeue(struct Qdisc *sch)
{
	struct dualred_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = qdisc_dequeue_head(sch);
	u64 now = ktime_get_ns();

	if (skb)
		law_line_on_departure(&q->law.line, qdisc_pkt_len(skb), now);
	else if (now + dualred_slack(q) >= q->law.line.free)
		/*
		 * A shaper above asks again at once, while the last packet is still being sent on
		 * the line that the shaper emulates.
		 */
		law_line_on_empty(&q->law.line, now);
	return skb;
}

static void dualred_reset(struct Qdisc *sch)
{
	struct dualred_sched_data *q = qdisc_priv(sch);

	qdisc_reset_queue(sch);
	law_dualred_reset(&q->law);
}

/* Extents are checked where they are read. */
static const struct nla_policy dualred_red_policy[TCA_DUALRED_RED_LAST + 1] = {
	[TCA_DUALRED_RED_MIN]		= { .type = NLA_U32 },
	[TCA_DUALRED_RED_MAX]		= { .type = NLA_U32 },
	[TCA_DUALRED_RED_MAX_P]		= { .type = NLA_U64 },
	[TCA_DUALRED_RED_WEIGHT]	= { .type = NLA_U64 },
	[TCA_DUALRED_RED_GENTLE]	= SHOAL_POLICY_FLAG,
	[TCA_DUALRED_RED_INDEPENDENT]	= SHOAL_POLICY_FLAG,
};

static const struct nla_policy dualred_policy[TCA_DUALRED_MAX + 1] = {
	[TCA_DUALRED_LIMIT_BYTES]	= { .type = NLA_U32 },
	[TCA_DUALRED_LIMIT_PACKETS]	= { .type = NLA_U32 },
	[TCA_DUALRED_RATE]		= { .type = NLA_U64 },
	[TCA_DUALRED_MEAN_PACKET]	= { .type = NLA_U32 },
	[TCA_DUALRED_AVERAGE]		= NLA_POLICY_MAX(NLA_U8, TC_DUALRED_PER_CLASS),
	[TCA_DUALRED_NOT_ECT]		= NLA_POLICY_NESTED(dualred_red_policy),
	[TCA_DUALRED_ECT]		= NLA_POLICY_NESTED(dualred_red_policy),
};

static int dualred_parse_red(struct law_red_params *params, struct nlattr *attr,
			     struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_DUALRED_RED_LAST + 1];
	int err;

	if (!attr)
		return 0;
	err = nla_parse_nested(tb, TCA_DUALRED_RED_LAST, attr, dualred_red_policy, extack);
	if (err < 0)
		return err;
	if (tb[TCA_DUALRED_RED_MIN])
		params->min = nla_get_u32(tb[TCA_DUALRED_RED_MIN]);
	if (tb[TCA_DUALRED_RED_MAX])
		params->max = nla_get_u32(tb[TCA_DUALRED_RED_MAX]);
	if (tb[TCA_DUALRED_RED_MAX_P])
		params->max_p = nla_get_u64(tb[TCA_DUALRED_RED_MAX_P]);
	if (tb[TCA_DUALRED_RED_WEIGHT])
		params->weight = nla_get_u64(tb[TCA_DUALRED_RED_WEIGHT]);
	if (tb[TCA_DUALRED_RED_GENTLE])
		params->gentle = nla_get_u8(tb[TCA_DUALRED_RED_GENTLE]);
	if (tb[TCA_DUALRED_RED_INDEPENDENT])
		params->independent = nla_get_u8(tb[TCA_DUALRED_RED_INDEPENDENT]);
	if (!SHOAL_WITHIN(LAW_FRACTION, params->max_p, tb[TCA_DUALRED_RED_MAX_P], extack) ||
	    !SHOAL_WITHIN(LAW_FRACTION, params->weight, tb[TCA_DUALRED_RED_WEIGHT], extack))
		return -ERANGE;
	if (params->min > params->max) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "the minimum threshold is above the maximum: lower min or raise max");
		return -EINVAL;
	}
	return 0;
}

static int dualred_parse(struct dualred_config *config, struct nlattr *opt,
			 struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_DUALRED_MAX + 1];
	struct law_line line;
	int err;

	err = nla_parse_nested(tb, TCA_DUALRED_MAX, opt, dualred_policy, extack);
	if (err < 0)
		return err;
	if (tb[TCA_DUALRED_LIMIT_BYTES])
		config->limit.bytes = nla_get_u32(tb[TCA_DUALRED_LIMIT_BYTES]);
	if (tb[TCA_DUALRED_LIMIT_PACKETS])
		config->limit.packets = nla_get_u32(tb[TCA_DUALRED_LIMIT_PACKETS]);
	if (tb[TCA_DUALRED_RATE])
		config->rate = nla_get_u64(tb[TCA_DUALRED_RATE]);
	if (tb[TCA_DUALRED_MEAN_PACKET])
		config->mean_packet = nla_get_u32(tb[TCA_DUALRED_MEAN_PACKET]);
	if (tb[TCA_DUALRED_AVERAGE])
		config->law.per_class = nla_get_u8(tb[TCA_DUALRED_AVERAGE]) == TC_DUALRED_PER_CLASS;
	if (!SHOAL_WITHIN(LAW_RATE, config->rate, tb[TCA_DUALRED_RATE], extack) ||
	    !SHOAL_WITHIN(LAW_MEAN_PACKET, config->mean_packet, tb[TCA_DUALRED_MEAN_PACKET],
			  extack))
		return -ERANGE;
	err = dualred_parse_red(&config->law.not_ect, tb[TCA_DUALRED_NOT_ECT], extack);
	if (!err)
		err = dualred_parse_red(&config->law.ect, tb[TCA_DUALRED_ECT], extack);
	if (err)
		return err;
	law_dualred_derive(&config->law, &line, config->rate, config->mean_packet);
	return 0;
}

/* Drops what no longer fits under a lower limit, oldest first. */
static void dualred_trim(struct Qdisc *sch, const struct shoal_limit *limit)
{
	u32 packets = sch->q.qlen, bytes = sch->qstats.backlog;

	while (shoal_exceeds(limit, sch->q.qlen, sch->qstats.backlog)) {
		struct sk_buff *skb = __qdisc_dequeue_head(&sch->q);

		if (!skb)
			break;
		qdisc_qstats_backlog_dec(sch, skb);
		rtnl_qdisc_drop(skb, sch);
	}
	qdisc_tree_reduce_backlog(sch, packets - sch->q.qlen, bytes - sch->qstats.backlog);
}

static int dualred_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct dualred_sched_data *q = qdisc_priv(sch);
	struct dualred_config config = q->config;
	int err;

	if (!opt)
		return -EINVAL;
	err = dualred_parse(&config, opt, extack);
	if (err)
		return err;
	sch_tree_lock(sch);
	q->config = config;
	law_line_rate(&q->law.line, config.rate);
	sch->limit = config.limit.packets;
	dualred_trim(sch, &config.limit);
	sch_tree_unlock(sch);
	return 0;
}

/*
 * The threshold study of Kuehlewind et al. 2014 at M = 1 and 10 Mbit/s, with a BDP of 31250 bytes;
 * an operator sets thresholds for the line at hand.
 */
static void dualred_defaults(struct dualred_config *config)
{
	const struct law_red_params not_ect = {
		.min = 31250, .max = 93750, .max_p = LAW_CERTAIN / 10, .weight = LAW_CERTAIN / 500,
	};
	const struct law_red_params ect = {
		.min = 36250, .max = 36250, .max_p = LAW_CERTAIN, .weight = LAW_CERTAIN,
	};

	*config = (struct dualred_config){
		.limit.packets = DUALRED_DEFAULT_LIMIT,
		.rate = DUALRED_DEFAULT_RATE,
		.mean_packet = DUALRED_DEFAULT_MEAN,
		.law.not_ect = not_ect,
		.law.ect = ect,
	};
}

static int dualred_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct dualred_sched_data *q = qdisc_priv(sch);

	dualred_defaults(&q->config);
	sch->limit = q->config.limit.packets;
	law_dualred_derive(&q->config.law, &q->law.line, q->config.rate, q->config.mean_packet);
	law_dualred_reset(&q->law);
	return opt ? dualred_change(sch, opt, extack) : 0;
}

static int dualred_put_red(struct sk_buff *skb, int type, const struct law_red_params *params)
{
	struct nlattr *nest = nla_nest_start(skb, type);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, TCA_DUALRED_RED_MIN, params->min) ||
	    nla_put_u32(skb, TCA_DUALRED_RED_MAX, params->max) ||
	    nla_put_u64_64bit(skb, TCA_DUALRED_RED_MAX_P, params->max_p, TCA_DUALRED_RED_PAD) ||
	    nla_put_u64_64bit(skb, TCA_DUALRED_RED_WEIGHT, params->weight, TCA_DUALRED_RED_PAD) ||
	    nla_put_u8(skb, TCA_DUALRED_RED_GENTLE, params->gentle) ||
	    nla_put_u8(skb, TCA_DUALRED_RED_INDEPENDENT, params->independent)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int dualred_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct dualred_sched_data *q = qdisc_priv(sch);
	struct dualred_config config;
	struct nlattr *opts;

	sch_tree_lock(sch);
	config = q->config;
	sch_tree_unlock(sch);
	opts = nla_nest_start_noflag(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	if (nla_put_u32(skb, TCA_DUALRED_LIMIT_BYTES, config.limit.bytes) ||
	    nla_put_u32(skb, TCA_DUALRED_LIMIT_PACKETS, config.limit.packets) ||
	    nla_put_u64_64bit(skb, TCA_DUALRED_RATE, config.rate, TCA_DUALRED_PAD) ||
	    nla_put_u32(skb, TCA_DUALRED_MEAN_PACKET, config.mean_packet) ||
	    nla_put_u8(skb, TCA_DUALRED_AVERAGE,
		       config.law.per_class ? TC_DUALRED_PER_CLASS : TC_DUALRED_SHARED) ||
	    dualred_put_red(skb, TCA_DUALRED_NOT_ECT, &config.law.not_ect) ||
	    dualred_put_red(skb, TCA_DUALRED_ECT, &config.law.ect)) {
		nla_nest_cancel(skb, opts);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opts);
}

static int dualred_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct dualred_sched_data *q = qdisc_priv(sch);
	struct tc_dualred_xstats st;

	sch_tree_lock(sch);
	st = q->stats;
	st.not_ect.average = q->law.not_ect.average;
	st.ect.average = q->law.ect.average;
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

static struct Qdisc_ops dualred_qdisc_ops __read_mostly = {
	.id		= "dualred",
	.priv_size	= sizeof(struct dualred_sched_data),
	.enqueue	= dualred_enqueue,
	.dequeue	= dualred_dequeue,
	.peek		= qdisc_peek_head,
	.init		= dualred_init,
	.reset		= dualred_reset,
	.change		= dualred_change,
	.dump		= dualred_dump,
	.dump_stats	= dualred_dump_stats,
	.owner		= THIS_MODULE,
};

static int __init dualred_module_init(void)
{
	return register_qdisc(&dualred_qdisc_ops);
}

static void __exit dualred_module_exit(void)
{
	unregister_qdisc(&dualred_qdisc_ops);
}

module_init(dualred_module_init);
module_exit(dualred_module_exit);

MODULE_ALIAS("net-sch-dualred");
MODULE_DESCRIPTION("Dual RED: two RED instances on one queue, chosen by ECN capability");
MODULE_AUTHOR("The shoal authors");
MODULE_LICENSE("GPL");
