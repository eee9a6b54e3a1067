// SPDX-License-Identifier: GPL-2.0-only
/*
 * Coupled AQM on one queue: ECT packets are marked with p, others dropped with (p/k)^2, where p
 * rises linearly from the origin with the instantaneous queue.
 *
 * After De Schepper, "Data Centre to the Home" (slides, 2015): "Coupled AQM", "Single Q".
 */

#include <linux/module.h>

#include "coupled_shoal.h"

struct coupled_sched_data {
	struct coupled_config config;
	struct tc_coupled_xstats stats;
};

/* Carries out the law's decision on a packet; returns whether to drop it. */
static bool coupled_act(struct Qdisc *sch, struct sk_buff *skb, enum law_coupled_decision decision)
{
	struct coupled_sched_data *q = qdisc_priv(sch);

	switch (decision) {
	case COUPLED_MARK:
		INET_ECN_set_ce(skb);
		q->stats.ect.coupled++;
		qdisc_qstats_overlimit(sch);
		return false;
	case COUPLED_DROP:
		q->stats.classic.dropped++;
		qdisc_qstats_overlimit(sch);
		return true;
	default:
		return false;
	}
}

/* The law on arrival: whether to drop @skb, which is not in the counters. */
static bool coupled_drops_arrival(struct Qdisc *sch, struct sk_buff *skb)
{
	struct coupled_sched_data *q = qdisc_priv(sch);
	const struct law_slope *slope = &q->config.law.slope;
	u32 bytes = sch->qstats.backlog + qdisc_pkt_len(skb);
	/* The expected wait: the transmission time of all waiting bytes. */
	u64 wait = law_line_wait(bytes, q->config.law.rate);
	u64 queue = law_slope_queue(slope, sch->q.qlen + 1, bytes, wait);
	bool ect = shoal_skb_cb(skb)->ect;

	q->stats.probability = law_slope_mark(slope, queue);
	return coupled_act(sch, skb, law_coupled_decide(slope, ect, queue, shoal_random, NULL));
}

static int coupled_enqueue_one(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct coupled_sched_data *q = qdisc_priv(sch);
	const struct coupled_config *config = &q->config;
	bool ect = shoal_is_ect(skb);
	struct tc_coupled_class *class = ect ? &q->stats.ect : &q->stats.classic;

	shoal_skb_cb(skb)->enqueued = ktime_get_ns();
	shoal_skb_cb(skb)->ect = ect;
	class->packets++;
	if (!shoal_fits(sch, &config->limit, skb)) {
		class->overlimit++;
		return shoal_drop(skb, sch, to_free, SHOAL_OVERLIMIT);
	}
	if (!config->law.at_dequeue && coupled_drops_arrival(sch, skb))
		return coupled_drop(skb, sch, to_free);
	return qdisc_enqueue_tail(skb, sch);
}

static int coupled_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	return shoal_enqueue(skb, sch, to_free, coupled_enqueue_one);
}

/* The law at departure: whether to drop @skb, which is no longer in the counters. */
static bool coupled_drops_departure(struct Qdisc *sch, struct sk_buff *skb, u64 now)
{
	struct coupled_sched_data *q = qdisc_priv(sch);
	const struct law_slope *slope = &q->config.law.slope;
	u32 bytes = sch->qstats.backlog + qdisc_pkt_len(skb), behind = sch->q.qlen;
	u64 waited = now - shoal_skb_cb(skb)->enqueued;
	u64 queue = law_slope_queue(slope, behind + 1, bytes, waited);
	bool ect = shoal_skb_cb(skb)->ect;

	q->stats.probability = law_slope_mark(slope, queue);
	return coupled_act(sch, skb,
			   law_coupled_depart(slope, ect, behind, queue, shoal_random, NULL));
}

static struct sk_buff *coupled_take(struct Qdisc *sch, struct shoal_dropped *dropped)
{
	struct coupled_sched_data *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	struct sk_buff *skb;

	while ((skb = __qdisc_dequeue_head(&sch->q))) {
		qdisc_qstats_backlog_dec(sch, skb);
		if (!q->config.law.at_dequeue || !coupled_drops_departure(sch, skb, now))
			break;
		shoal_drop_at_dequeue(skb, sch, dropped);
	}
	if (skb) {
		coupled_count_sent(&q->stats, skb, now);
		qdisc_bstats_update(sch, skb);
	}
	return skb;
}

static struct sk_buff *coupled_dequeue(struct Qdisc *sch)
{
	return shoal_dequeue(sch, coupled_take);
}

static struct sk_buff *coupled_peek(struct Qdisc *sch)
{
	return shoal_peek(sch, coupled_take);
}

static void coupled_reset(struct Qdisc *sch)
{
	struct coupled_sched_data *q = qdisc_priv(sch);

	qdisc_reset_queue(sch);
	q->stats.probability = 0;
}

static void coupled_trim(struct Qdisc *sch, const struct shoal_limit *limit)
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

static int coupled_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct coupled_sched_data *q = qdisc_priv(sch);
	struct coupled_config config = q->config;
	int err;

	if (!opt)
		return -EINVAL;
	err = coupled_parse(&config, opt, false, extack);
	if (err)
		return err;
	sch_tree_lock(sch);
	q->config = config;
	sch->limit = config.limit.packets;
	coupled_trim(sch, &config.limit);
	sch_tree_unlock(sch);
	return 0;
}

static int coupled_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct coupled_sched_data *q = qdisc_priv(sch);

	q->config = (struct coupled_config){
		.limit.packets = COUPLED_DEFAULT_LIMIT,
		.law.rate = COUPLED_DEFAULT_RATE,
		.law.slope = {
			.measure = MEASURE_TIME,
			.form = SLOPE_LINEAR,
			.saturation = 200 * NSEC_PER_MSEC,
			/* k = 1.63: Reno's rate is 1.22 / sqrt(p), DCTCP's 2 / p (slides). */
			.coupling = 163 * (1 << 16) / 100,
			/* 2^32 ns >> 5 = 134 ms. */
			.drop_bits = 4,
			.mark_bits = 5,
			.unit = 1,
		},
	};
	sch->flags |= SHOAL_DEQUEUE_DROPS;
	sch->limit = q->config.limit.packets;
	return opt ? coupled_change(sch, opt, extack) : 0;
}

static int coupled_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct coupled_sched_data *q = qdisc_priv(sch);
	struct coupled_config config;

	sch_tree_lock(sch);
	config = q->config;
	sch_tree_unlock(sch);
	return coupled_put(skb, &config, false);
}

static int coupled_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct coupled_sched_data *q = qdisc_priv(sch);
	struct tc_coupled_xstats st;

	sch_tree_lock(sch);
	st = q->stats;
	st.classic.backlog_packets = sch->q.qlen;
	st.classic.backlog_bytes = sch->qstats.backlog;
	st.classic.delay = coupled_age(sch->q.head, ktime_get_ns());
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

static struct Qdisc_ops coupled_qdisc_ops __read_mostly = {
	.id		= "coupled",
	.priv_size	= sizeof(struct coupled_sched_data),
	.enqueue	= coupled_enqueue,
	.dequeue	= coupled_dequeue,
	.peek		= coupled_peek,
	.init		= coupled_init,
	.reset		= coupled_reset,
	.change		= coupled_change,
	.dump		= coupled_dump,
	.dump_stats	= coupled_dump_stats,
	.owner		= THIS_MODULE,
};

static int __init coupled_module_init(void)
{
	return register_qdisc(&coupled_qdisc_ops);
}

static void __exit coupled_module_exit(void)
{
	unregister_qdisc(&coupled_qdisc_ops);
}

module_init(coupled_module_init);
module_exit(coupled_module_exit);

MODULE_ALIAS("net-sch-coupled");
MODULE_DESCRIPTION("Coupled AQM: ECT packets marked with p, others dropped with (p/k)^2");
MODULE_AUTHOR("The shoal authors");
MODULE_LICENSE("GPL");
