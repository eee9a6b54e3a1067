/* SPDX-License-Identifier: GPL-2.0-only */
/* Configuration and statistics that the disciplines coupled and dualq_coupled share. */
#ifndef _COUPLED_SHOAL_H
#define _COUPLED_SHOAL_H

#include "law/dualq.h"
#include "qdisc_shoal.h"
#include "uapi/pkt_sched_shoal.h"

#define COUPLED_DEFAULT_LIMIT	1000	/* packets */
#define COUPLED_DEFAULT_RATE	(40000000 / 8)

/*
 * Configuration that a change replaces as a whole. The discipline with one queue uses only slope,
 * rate and at_dequeue of the law.
 */
struct coupled_config {
	struct shoal_limit limit;
	struct law_dualq_params law;
	/* MTU as configured; 0 means that of the device. */
	u32 mtu;
};

/* Amounts are bounded by coupled_within_bounds(). */
static const struct nla_policy coupled_policy[TCA_COUPLED_MAX + 1] = {
	[TCA_COUPLED_LIMIT_BYTES]	= { .type = NLA_U32 },
	[TCA_COUPLED_LIMIT_PACKETS]	= { .type = NLA_U32 },
	[TCA_COUPLED_RATE]		= { .type = NLA_U64 },
	[TCA_COUPLED_DECIDE]		= NLA_POLICY_MAX(NLA_U8, TC_COUPLED_DEQUEUE),
	[TCA_COUPLED_MEASURE]		= NLA_POLICY_MAX(NLA_U8, TC_COUPLED_PACKETS),
	[TCA_COUPLED_FORM]		= NLA_POLICY_MAX(NLA_U8, TC_COUPLED_SHIFTED),
	[TCA_COUPLED_SATURATION]	= { .type = NLA_U64 },
	[TCA_COUPLED_COUPLING]		= { .type = NLA_U32 },
	[TCA_COUPLED_DROP_BITS]		= { .type = NLA_U8 },
	[TCA_COUPLED_MARK_BITS]		= { .type = NLA_U8 },
	[TCA_COUPLED_UNIT]		= { .type = NLA_U64 },
	[TCA_COUPLED_THRESHOLD]		= { .type = NLA_U64 },
	[TCA_COUPLED_THRESHOLD_MEASURE]	= NLA_POLICY_MAX(NLA_U8, TC_COUPLED_PACKETS),
	[TCA_COUPLED_INPUT]		= NLA_POLICY_MAX(NLA_U8, TC_COUPLED_TOTAL),
	[TCA_COUPLED_SCHEDULER]		= NLA_POLICY_MAX(NLA_U8, TC_COUPLED_TIME_SHIFTED),
	[TCA_COUPLED_CLASSIC_PERCENT]	= { .type = NLA_U8 },
	[TCA_COUPLED_SHIFT]		= { .type = NLA_U64 },
	[TCA_COUPLED_MTU]		= { .type = NLA_U32 },
};

static inline void coupled_get_u8(u32 *value, const struct nlattr *attr)
{
	if (attr)
		*value = nla_get_u8(attr);
}

static inline void coupled_get_u32(u32 *value, const struct nlattr *attr)
{
	if (attr)
		*value = nla_get_u32(attr);
}

static inline void coupled_get_u64(u64 *value, const struct nlattr *attr)
{
	if (attr)
		*value = nla_get_u64(attr);
}

static inline void coupled_get_slope(struct law_slope *slope, struct nlattr **tb)
{
	coupled_get_u8(&slope->measure, tb[TCA_COUPLED_MEASURE]);
	coupled_get_u8(&slope->form, tb[TCA_COUPLED_FORM]);
	coupled_get_u64(&slope->saturation, tb[TCA_COUPLED_SATURATION]);
	coupled_get_u32(&slope->coupling, tb[TCA_COUPLED_COUPLING]);
	if (tb[TCA_COUPLED_DROP_BITS])
		slope->drop_bits = nla_get_u8(tb[TCA_COUPLED_DROP_BITS]);
	if (tb[TCA_COUPLED_MARK_BITS])
		slope->mark_bits = nla_get_u8(tb[TCA_COUPLED_MARK_BITS]);
	coupled_get_u64(&slope->unit, tb[TCA_COUPLED_UNIT]);
}

/* Checks bounds; parameters that the request does not name were checked before. */
static inline bool coupled_within_bounds(const struct coupled_config *config, struct nlattr **tb,
					 struct netlink_ext_ack *extack)
{
	const struct law_dualq_params *law = &config->law;
	const struct law_slope *slope = &law->slope;

	return SHOAL_WITHIN(LAW_RATE, law->rate, tb[TCA_COUPLED_RATE], extack) &&
	       SHOAL_WITHIN(LAW_SATURATION, slope->saturation, tb[TCA_COUPLED_SATURATION],
			    extack) &&
	       SHOAL_WITHIN(LAW_COUPLING, slope->coupling, tb[TCA_COUPLED_COUPLING], extack) &&
	       SHOAL_WITHIN(LAW_BITS, slope->drop_bits, tb[TCA_COUPLED_DROP_BITS], extack) &&
	       SHOAL_WITHIN(LAW_BITS, slope->mark_bits, tb[TCA_COUPLED_MARK_BITS], extack) &&
	       SHOAL_WITHIN(LAW_UNIT, slope->unit, tb[TCA_COUPLED_UNIT], extack) &&
	       SHOAL_WITHIN(LAW_THRESHOLD, law->threshold, tb[TCA_COUPLED_THRESHOLD], extack) &&
	       SHOAL_WITHIN(LAW_PERCENT, law->sched.classic_percent,
			    tb[TCA_COUPLED_CLASSIC_PERCENT], extack) &&
	       SHOAL_WITHIN(LAW_SHIFT, law->sched.shift, tb[TCA_COUPLED_SHIFT], extack) &&
	       SHOAL_WITHIN(LAW_MTU, config->mtu, tb[TCA_COUPLED_MTU], extack);
}

/**
 * coupled_parse() - Change a configuration by netlink attributes
 * @config: configuration that is changed
 * @opt: nested attributes
 * @dual: attributes of the dual queue are accepted
 * @extack: extended answer of netlink
 *
 * Return: 0 or a negative error.
 */
static inline int coupled_parse(struct coupled_config *config, struct nlattr *opt, bool dual,
				struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_COUPLED_MAX + 1];
	int err, i;

	err = nla_parse_nested(tb, TCA_COUPLED_MAX, opt, coupled_policy, extack);
	if (err < 0)
		return err;
	for (i = TCA_COUPLED_THRESHOLD; !dual && i <= TCA_COUPLED_MAX; i++) {
		if (tb[i]) {
			NL_SET_ERR_MSG_ATTR(extack, tb[i], "one queue has no such parameter");
			return -EINVAL;
		}
	}
	coupled_get_u32(&config->limit.bytes, tb[TCA_COUPLED_LIMIT_BYTES]);
	coupled_get_u32(&config->limit.packets, tb[TCA_COUPLED_LIMIT_PACKETS]);
	coupled_get_u64(&config->law.rate, tb[TCA_COUPLED_RATE]);
	if (tb[TCA_COUPLED_DECIDE])
		config->law.at_dequeue = nla_get_u8(tb[TCA_COUPLED_DECIDE]) == TC_COUPLED_DEQUEUE;
	coupled_get_slope(&config->law.slope, tb);
	coupled_get_u64(&config->law.threshold, tb[TCA_COUPLED_THRESHOLD]);
	coupled_get_u8(&config->law.threshold_measure, tb[TCA_COUPLED_THRESHOLD_MEASURE]);
	if (tb[TCA_COUPLED_INPUT])
		config->law.total = nla_get_u8(tb[TCA_COUPLED_INPUT]) == TC_COUPLED_TOTAL;
	coupled_get_u8(&config->law.sched.kind, tb[TCA_COUPLED_SCHEDULER]);
	coupled_get_u8(&config->law.sched.classic_percent, tb[TCA_COUPLED_CLASSIC_PERCENT]);
	coupled_get_u64(&config->law.sched.shift, tb[TCA_COUPLED_SHIFT]);
	coupled_get_u32(&config->mtu, tb[TCA_COUPLED_MTU]);
	return coupled_within_bounds(config, tb, extack) ? 0 : -ERANGE;
}

static inline int coupled_put_slope(struct sk_buff *skb, const struct law_slope *slope)
{
	return nla_put_u8(skb, TCA_COUPLED_MEASURE, slope->measure) ||
	       nla_put_u8(skb, TCA_COUPLED_FORM, slope->form) ||
	       nla_put_u64_64bit(skb, TCA_COUPLED_SATURATION, slope->saturation, TCA_COUPLED_PAD) ||
	       nla_put_u32(skb, TCA_COUPLED_COUPLING, slope->coupling) ||
	       nla_put_u8(skb, TCA_COUPLED_DROP_BITS, slope->drop_bits) ||
	       nla_put_u8(skb, TCA_COUPLED_MARK_BITS, slope->mark_bits) ||
	       nla_put_u64_64bit(skb, TCA_COUPLED_UNIT, slope->unit, TCA_COUPLED_PAD);
}

static inline int coupled_put_dual(struct sk_buff *skb, const struct coupled_config *config)
{
	return nla_put_u64_64bit(skb, TCA_COUPLED_THRESHOLD, config->law.threshold,
				 TCA_COUPLED_PAD) ||
	       nla_put_u8(skb, TCA_COUPLED_THRESHOLD_MEASURE, config->law.threshold_measure) ||
	       nla_put_u8(skb, TCA_COUPLED_INPUT,
			  config->law.total ? TC_COUPLED_TOTAL : TC_COUPLED_CLASSIC) ||
	       nla_put_u8(skb, TCA_COUPLED_SCHEDULER, config->law.sched.kind) ||
	       nla_put_u8(skb, TCA_COUPLED_CLASSIC_PERCENT, config->law.sched.classic_percent) ||
	       nla_put_u64_64bit(skb, TCA_COUPLED_SHIFT, config->law.sched.shift,
				 TCA_COUPLED_PAD) ||
	       nla_put_u32(skb, TCA_COUPLED_MTU, config->mtu);
}

static inline int coupled_put(struct sk_buff *skb, const struct coupled_config *config, bool dual)
{
	struct nlattr *opts = nla_nest_start_noflag(skb, TCA_OPTIONS);
	u8 decide = config->law.at_dequeue ? TC_COUPLED_DEQUEUE : TC_COUPLED_ENQUEUE;

	if (!opts)
		return -EMSGSIZE;
	if (nla_put_u32(skb, TCA_COUPLED_LIMIT_BYTES, config->limit.bytes) ||
	    nla_put_u32(skb, TCA_COUPLED_LIMIT_PACKETS, config->limit.packets) ||
	    nla_put_u64_64bit(skb, TCA_COUPLED_RATE, config->law.rate, TCA_COUPLED_PAD) ||
	    nla_put_u8(skb, TCA_COUPLED_DECIDE, decide) ||
	    coupled_put_slope(skb, &config->law.slope) ||
	    (dual && coupled_put_dual(skb, config))) {
		nla_nest_cancel(skb, opts);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opts);
}

static inline struct tc_coupled_class *coupled_class(struct tc_coupled_xstats *st,
						     const struct sk_buff *skb)
{
	return shoal_skb_cb(skb)->ect ? &st->ect : &st->classic;
}

static inline void coupled_count_sent(struct tc_coupled_xstats *st, const struct sk_buff *skb,
				      u64 now)
{
	struct tc_coupled_class *class = coupled_class(st, skb);

	class->sent++;
	class->delay_sum += now - shoal_skb_cb(skb)->enqueued;
}

/*
 * Drops a packet on arrival, as the law decided. A sender on this host considers the packet as sent
 * and detects the loss by TCP's own means, like a sender elsewhere: with any other return value TCP
 * would enter CWR immediately, a round trip earlier (tcp_transmit_skb()). sch_dualpi2 does the same.
 */
static inline int coupled_drop(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	shoal_drop(skb, sch, to_free, SHOAL_CONGESTED);
	return NET_XMIT_SUCCESS | __NET_XMIT_BYPASS;
}

static inline u64 coupled_age(const struct sk_buff *head, u64 now)
{
	return head ? now - shoal_skb_cb(head)->enqueued : 0;
}

#endif
