// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dual queue coupled AQM: ECT packets wait in a low-latency queue, others in a classic one. The
 * classic queue determines both probabilities: that of marks, p, and that of drops, (p/k)^2. The
 * low-latency queue has a threshold in addition.
 *
 * After De Schepper, "Data Centre to the Home" (slides, 2015): "Detailed implementation" and "Queue
 * size based coupled AQM".
 */

#include <linux/module.h>

#include "coupled_shoal.h"

struct dualq_sched_data {
	struct coupled_config config;
	struct tc_coupled_xstats stats;
	struct qdisc_skb_head low;
	struct qdisc_skb_head classic;
	/* Bytes that wait in each queue. */
	u32 low_bytes;
	u32 classic_bytes;
	struct law_dualq law;
};

static struct law_backlog dualq_backlog(const struct dualq_sched_data *q, bool low, u64 now)
{
	return (struct law_backlog){
		.packets = low ? q->low.qlen : q->classic.qlen,
		.bytes = low ? q->low_bytes : q->classic_bytes,
		.age = coupled_age(low ? q->low.head : q->classic.head, now),
	};
}

/**
 * dualq_act() - Carry out the decision on a packet
 * @sch: the discipline
 * @skb: packet, which is not counted in its queue
 * @departs: the packet is about to leave
 * @wait: time in ns that it has waited
 * @now: time in ns
 *
 * Return: whether to drop it.
 */
static bool dualq_act(struct Qdisc *sch, struct sk_buff *skb, bool departs, u64 wait, u64 now)
{
	struct dualq_sched_data *q = qdisc_priv(sch);
	const struct law_dualq_params *params = &q->config.law;
	bool low = shoal_skb_cb(skb)->ect;
	struct law_backlog own = dualq_backlog(q, low, now);
	struct law_backlog other = dualq_backlog(q, !low, now);
	u32 behind = departs ? sch->q.qlen : U32_MAX;
	u64 queue;

	own.packets++;
	own.bytes += qdisc_pkt_len(skb);
	own.age = wait;
	queue = law_dualq_input(params, low, &own, &other);
	q->stats.probability = law_slope_mark(&params->slope, queue);
	switch (law_dualq_depart(params, low, &own, behind, queue, shoal_random, NULL)) {
	case DUALQ_THRESHOLD:
		INET_ECN_set_ce(skb);
		q->stats.ect.threshold++;
		qdisc_qstats_overlimit(sch);
		return false;
	case DUALQ_COUPLED:
		INET_ECN_set_ce(skb);
		q->stats.ect.coupled++;
		qdisc_qstats_overlimit(sch);
		return false;
	case DUALQ_DROP:
		q->stats.classic.dropped++;
		qdisc_qstats_overlimit(sch);
		return true;
	default:
		return false;
	}
}

static void dualq_push(struct Qdisc *sch, struct sk_buff *skb, u64 now)
{
	struct dualq_sched_data *q = qdisc_priv(sch);

	law_dualq_on_push(&q->law, &q->config.law, sch->q.qlen, now);
	if (shoal_skb_cb(skb)->ect) {
		__qdisc_enqueue_tail(skb, &q->low);
		q->low_bytes += qdisc_pkt_len(skb);
	} else {
		__qdisc_enqueue_tail(skb, &q->classic);
		q->classic_bytes += qdisc_pkt_len(skb);
	}
	sch->q.qlen++;
	qdisc_qstats_backlog_inc(sch, skb);
}

static struct sk_buff *dualq_pop(struct Qdisc *sch, bool low)
{
	struct dualq_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = __qdisc_dequeue_head(low ? &q->low : &q->classic);

	if (!skb)
		return NULL;
	if (low)
		q->low_bytes -= qdisc_pkt_len(skb);
	else
		q->classic_bytes -= qdisc_pkt_len(skb);
	sch->q.qlen--;
	qdisc_qstats_backlog_dec(sch, skb);
	return skb;
}

static int dualq_enqueue_one(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct dualq_sched_data *q = qdisc_priv(sch);
	bool ect = shoal_is_ect(skb);
	struct tc_coupled_class *class = ect ? &q->stats.ect : &q->stats.classic;
	u64 now = ktime_get_ns();

	shoal_skb_cb(skb)->enqueued = now;
	shoal_skb_cb(skb)->ect = ect;
	class->packets++;
	if (!shoal_fits(sch, &q->config.limit, skb)) {
		class->overlimit++;
		return shoal_drop(skb, sch, to_free, SHOAL_OVERLIMIT);
	}
	/* On arrival the wait so far is that of the oldest packet of its queue. */
	if (!q->config.law.at_dequeue &&
	    dualq_act(sch, skb, false, coupled_age(ect ? q->low.head : q->classic.head, now), now))
		return coupled_drop(skb, sch, to_free);
	dualq_push(sch, skb, now);
	return NET_XMIT_SUCCESS;
}

static int dualq_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	return shoal_enqueue(skb, sch, to_free, dualq_enqueue_one);
}

static u64 dualq_arrival(const struct sk_buff *head)
{
	return head ? shoal_skb_cb(head)->enqueued : 0;
}

static struct sk_buff *dualq_take(struct Qdisc *sch, struct shoal_dropped *dropped)
{
	struct dualq_sched_data *q = qdisc_priv(sch);
	const struct law_dualq_params *params = &q->config.law;
	u64 now = ktime_get_ns();

	for (;;) {
		struct sk_buff *low_head = q->low.head, *classic_head = q->classic.head;
		bool contended = low_head && classic_head;
		struct sk_buff *skb;
		bool low;

		low = law_dualq_picks_low(&q->law, params, low_head, classic_head,
					  dualq_arrival(low_head), dualq_arrival(classic_head));
		skb = dualq_pop(sch, low);
		if (!skb) {
			law_dualq_on_empty(&q->law, params, now);
			return NULL;
		}
		if (params->at_dequeue &&
		    dualq_act(sch, skb, true, now - shoal_skb_cb(skb)->enqueued, now)) {
			shoal_drop_at_dequeue(skb, sch, dropped);
			continue;
		}
		law_dualq_on_sent(&q->law, params, low, contended, qdisc_pkt_len(skb), now);
		coupled_count_sent(&q->stats, skb, now);
		qdisc_bstats_update(sch, skb);
		return skb;
	}
}

static struct sk_buff *dualq_dequeue(struct Qdisc *sch)
{
	return shoal_dequeue(sch, dualq_take);
}

static struct sk_buff *dualq_peek(struct Qdisc *sch)
{
	return shoal_peek(sch, dualq_take);
}

static void dualq_purge(struct qdisc_skb_head *queue)
{
	if (queue->head)
		rtnl_kfree_skbs(queue->head, queue->tail);
	queue->head = NULL;
	queue->tail = NULL;
	queue->qlen = 0;
}

static void dualq_reset(struct Qdisc *sch)
{
	struct dualq_sched_data *q = qdisc_priv(sch);

	dualq_purge(&q->low);
	dualq_purge(&q->classic);
	q->low_bytes = 0;
	q->classic_bytes = 0;
	q->stats.probability = 0;
	law_line_reset(&q->law.line);
	law_dualq_reset(&q->law, &q->config.law);
}

/* Drops what no longer fits under a lower limit, oldest first, classic packets before others. */
static void dualq_trim(struct Qdisc *sch)
{
	struct dualq_sched_data *q = qdisc_priv(sch);
	u32 packets = sch->q.qlen, bytes = sch->qstats.backlog;

	while (shoal_exceeds(&q->config.limit, sch->q.qlen, sch->qstats.backlog)) {
		struct sk_buff *skb = dualq_pop(sch, !q->classic.head);

		if (!skb)
			break;
		rtnl_qdisc_drop(skb, sch);
	}
	qdisc_tree_reduce_backlog(sch, packets - sch->q.qlen, bytes - sch->qstats.backlog);
}

static void dualq_apply(struct Qdisc *sch, const struct coupled_config *config)
{
	struct dualq_sched_data *q = qdisc_priv(sch);

	q->config = *config;
	q->config.law.sched.mtu = config->mtu ? config->mtu : psched_mtu(qdisc_dev(sch));
	sch->limit = config->limit.packets;
	law_line_rate(&q->law.line, config->law.rate);
	law_dualq_reset(&q->law, &q->config.law);
}

static int dualq_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct dualq_sched_data *q = qdisc_priv(sch);
	struct coupled_config config = q->config;
	int err;

	if (!opt)
		return -EINVAL;
	err = coupled_parse(&config, opt, true, extack);
	if (err)
		return err;
	sch_tree_lock(sch);
	dualq_apply(sch, &config);
	dualq_trim(sch);
	sch_tree_unlock(sch);
	return 0;
}

static int dualq_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct dualq_sched_data *q = qdisc_priv(sch);
	const struct coupled_config config = {
		.limit.packets = COUPLED_DEFAULT_LIMIT,
		.law = {
			.rate = COUPLED_DEFAULT_RATE,
			.at_dequeue = true,
			.slope = {
				.measure = MEASURE_TIME,
				.form = SLOPE_LINEAR,
				.saturation = 100 * NSEC_PER_MSEC,
				/* k = 8: round trips of 8 and 40 ms, 1.63 * 5 (slides). */
				.coupling = 8 << 16,
				.drop_bits = 2,
				.mark_bits = 5,
				.unit = 1,
			},
			.threshold = 5,
			.threshold_measure = MEASURE_PACKETS,
			.sched = {
				.kind = SCHED_PRIORITY,
				.classic_percent = 10,
				.shift = 40 * NSEC_PER_MSEC,
			},
		},
	};

	sch->flags |= SHOAL_DEQUEUE_DROPS;
	law_line_reset(&q->law.line);
	dualq_apply(sch, &config);
	return opt ? dualq_change(sch, opt, extack) : 0;
}

static int dualq_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct dualq_sched_data *q = qdisc_priv(sch);
	struct coupled_config config;

	sch_tree_lock(sch);
	config = q->config;
	sch_tree_unlock(sch);
	return coupled_put(skb, &config, true);
}

static int dualq_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct dualq_sched_data *q = qdisc_priv(sch);
	struct tc_coupled_xstats st;
	u64 now = ktime_get_ns();

	sch_tree_lock(sch);
	st = q->stats;
	st.ect.backlog_packets = q->low.qlen;
	st.ect.backlog_bytes = q->low_bytes;
	st.ect.delay = coupled_age(q->low.head, now);
	st.classic.backlog_packets = q->classic.qlen;
	st.classic.backlog_bytes = q->classic_bytes;
	st.classic.delay = coupled_age(q->classic.head, now);
	st.credit = q->law.sched.credit;
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

static struct Qdisc_ops dualq_qdisc_ops __read_mostly = {
	.id		= "dualq_coupled",
	.priv_size	= sizeof(struct dualq_sched_data),
	.enqueue	= dualq_enqueue,
	.dequeue	= dualq_dequeue,
	.peek		= dualq_peek,
	.init		= dualq_init,
	.reset		= dualq_reset,
	.change		= dualq_change,
	.dump		= dualq_dump,
	.dump_stats	= dualq_dump_stats,
	.owner		= THIS_MODULE,
};

static int __init dualq_module_init(void)
{
	return register_qdisc(&dualq_qdisc_ops);
}

static void __exit dualq_module_exit(void)
{
	unregister_qdisc(&dualq_qdisc_ops);
}

module_init(dualq_module_init);
module_exit(dualq_module_exit);

MODULE_ALIAS("net-sch-dualq_coupled");
MODULE_DESCRIPTION("Dual queue coupled AQM: a low-latency queue for ECT packets, a classic one");
MODULE_AUTHOR("The shoal authors");
MODULE_LICENSE("GPL");
