// SPDX-License-Identifier: GPL-2.0
/*
 * A line in front of which any queue discipline waits, and a record of every packet.
 *
 * Unlike a token bucket, which saves credit and sends small packets in bursts, this discipline behaves like a
 * transmitter: a packet takes its size divided by the rate, the next transmission begins when it ends, and the packet
 * in transmission is no longer in the queue. The single child decides which packets wait, are marked and are dropped;
 * it sees IP packets and the MTU of IP. Packets that have been sent arrive after the propagation delay of the link.
 * They are kept here meanwhile, and are part of neither the queue nor its records.
 *
 * Rate and delay may change at times that are known in advance. A packet keeps the rate with which its transmission
 * began; no transmission begins while the line is down (rate 0), and the first one afterwards begins at the end of the
 * outage. The delay of a packet is that of the time at which it has left; no packet overtakes another when the delay
 * falls.
 *
 * Instead of a rate a line may have opportunities to send, which repeat. All of them are one stream of bytes, of which
 * each belongs to an instant: a packet takes the next bytes and leaves with the last of them, and bytes at whose
 * instant nothing waits are lost. A packet that comes at an instant has missed it.
 *
 * Timers may be up to a microsecond late: a system call that fails takes that long, and no timer fires meanwhile
 * (`handle_syscall` in arch/um). The schedule of a busy line does not depend on it. ACK-clocked packets arrive at the
 * pace of the line, just when a transmission ends; of two such simultaneous events the end of the transmission comes
 * first.
 *
 * At the device of a host the line is its network card: a segment that TCP hands over as one waits as one, and is split
 * into packets when its transmission begins, which follow each other. The socket counts each until its transmission has
 * ended (TCP small queues); what the card then has to send belongs to nobody.
 *
 * Every arrival, drop and start of a transmission is recorded (struct line_record) and read from /proc/shoal_line.
 * Drops of the child appear in three places: packets that it refuses, and packets that it evicts for an arrival
 * (fq_codel), are returned in `to_free`; for packets that it drops when asked for one, their destructor is called.
 */
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/proc_fs.h>
#include <linux/vmalloc.h>
#include <linux/ip.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/pkt_sched.h>
#include <net/pkt_cls.h>
#include "capture.h"
#include "sch_line.h"
#include "segments.h"

static uint records = 1 << 18;
module_param(records, uint, 0444);
MODULE_PARM_DESC(records, "Records kept until they are read; a power of two");
static bool capture;
module_param(capture, bool, 0444);
MODULE_PARM_DESC(capture, "Keep whole packets for /proc/shoal_capture");

static struct line_record *ring;
/*
 * Counters that never wrap; an index is taken modulo the ring's size. There is one CPU, and only
 * the reader changes `taken`.
 */
static u64 written, taken;
static bool lost;
/* Packets that a discipline below a line took and neither gave back nor freed so far. */
static ulong held;
module_param(held, ulong, 0444);
MODULE_PARM_DESC(held, "Packets that disciplines below lines have");
/* The reader is woken when half of the ring is filled, whatever the rates of the lines. */
static DECLARE_WAIT_QUEUE_HEAD(reader);

/* Changes of all lines, each line's in the order of their times. */
static struct line_order *changes;
static u32 change_count, change_room;
/* Start of the experiment on CLOCK_MONOTONIC; 0 until it is known. */
static u64 origin_ns;

/* The changes of one value of a line that are still to come. */
struct line_changes {
	u32 next, end;
};

/* A lap of opportunities to send; none if it is empty. */
struct line_opportunities {
	u32 first, count;
	u64 gone;			/* bytes that were sent or lost since the start */
};

struct line_sched {
	struct Qdisc *child;
	struct qdisc_watchdog watchdog;
	u64 rate;			/* bit/s */
	u32 overhead;			/* bytes */
	u32 number;
	u32 tc_index;			/* value of skb->tc_index: a byte for each ECN codepoint */
	u32 classes;			/* handle of the child whose classes the flows become; 0: none */
	bool has_code_points;		/* the class is that of the packet's code point, and not that of its flow */
	u8 class_of[64];		/* class by code point */
	struct sk_buff *on_wire;	/* packet in transmission */
	struct sk_buff *segments;	/* packets of the same segment that follow it */
	u64 free_ns;			/* end of its transmission */
	u64 slack_ns;			/* a packet that arrives at most this long before that end arrives at that end */
	u64 latest_ns;			/* latest of the arrivals that were moved so */
	u64 rest;			/* remainder of free_ns: bits * 10^9 modulo rate */
	u64 delay_ns;
	struct line_changes rates, delays;
	struct line_opportunities opportunities;
	bool down;			/* without a packet on the wire the line is busy until free_ns: the end of the outage, or the
					 * next opportunity */
	u64 refused_ns;			/* since when the child has given nothing although packets wait; 0: it gives */
	u32 refused;			/* packets that wait in it since then */
	struct sk_buff_head sent;	/* packets in propagation; their stamp is the time of arrival */
};

/*
 * Simultaneous events may differ by the truncation of transmission ends to whole nanoseconds, which happens once for
 * each hop. The tolerance is this number of nanoseconds, but at most the given fraction of a packet's transmission
 * time.
 */
#define ROUNDING_NS	16
#define ROUNDING_PART	8

/* The line whose child is being asked for a packet. */
static struct line_sched *asking;

static void line_dropped(struct sk_buff *skb);

/*
 * What must be known of a packet when it leaves: its time of arrival, and its ECN field on arrival and after the child
 * accepted it. They are kept in the packet's stamp and mark, which nothing else uses for forwarded packets.
 */
#define ECN_QUEUED(skb) ((skb)->mark & 3)
#define ECN_ARRIVED(skb) ((skb)->mark >> 2 & 3)

static void remember(const struct line_sched *q, struct sk_buff *skb, u64 now, u8 ecn)
{
	/*
	 * Forwarded packets belong to no socket (`ip_rcv_core`). A packet of this host is counted by its socket, and its stamp
	 * is the time from which it may leave: when it was sent, or later if it is paced.
	 */
	if (q->number == LINE_UNRECORDED && segments_owned(skb))
		return;
	skb_orphan(skb);
	skb->destructor = line_dropped;
	held++;
	skb->tstamp = ns_to_ktime(now);
	skb->mark = ecn | ecn << 2;
}

static void give_up(struct sk_buff *skb)
{
	if (skb->destructor == line_dropped)
		held--;
}

static void forget(struct sk_buff *skb)
{
	if (segments_owned(skb))
		return;
	give_up(skb);
	skb->destructor = NULL;
	skb->tstamp = 0;
	skb->mark = 0;
}

static u8 ecn_of(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IP) ? ip_hdr(skb)->tos & 3 : 0;
}

static u64 line_now(const struct line_sched *q)
{
	return max_t(u64, ktime_get_ns(), q->latest_ns);
}

static bool half_full(void)
{
	return written - taken >= records / 2 || capture_half_full();
}

static struct line_record *record(const struct line_sched *q, const struct sk_buff *skb,
				  enum line_event event, u64 now, u64 since, u8 before, u8 after)
{
	struct line_record *r;

	if (q->number == LINE_UNRECORDED)
		return NULL;
	if (written - taken >= records) {
		lost = true;
		return NULL;
	}
	r = &ring[written++ & (records - 1)];
	if (half_full())
		wake_up_interruptible(&reader);
	memset(r, 0, sizeof(*r));
	r->time_ns = now;
	r->queued_ns = since;
	r->backlog_bytes = q->child->qstats.backlog;
	r->backlog_packets = q->child->q.qlen;
	r->size = qdisc_pkt_len(skb);
	r->event = event;
	r->ecn = after | before << 4;
	r->link = q->number;
	if (skb->protocol == htons(ETH_P_IP)) {
		const struct iphdr *ip = ip_hdr(skb);
		const u8 *transport = (const u8 *)ip + ip->ihl * 4;
		u32 headers = ip->ihl * 4;

		if (ip->protocol == IPPROTO_TCP) {
			const struct tcphdr *tcp = (const struct tcphdr *)transport;

			headers += tcp->doff * 4;
			r->ports = ntohs(tcp->source) << 16 | ntohs(tcp->dest);
			r->sequence = ntohl(tcp->seq);
			r->flags = ((const u8 *)tcp)[13];
		} else if (ip->protocol == IPPROTO_UDP) {
			const struct udphdr *udp = (const struct udphdr *)transport;

			headers += sizeof(*udp);
			r->ports = ntohs(udp->source) << 16 | ntohs(udp->dest);
		}
		r->payload = ntohs(ip->tot_len) - headers;
	}
	return r;
}

static void capture_at_line(struct line_record *r, const struct sk_buff *skb)
{
	if (!r)
		return;
	r->ecn |= ECN_ARRIVED(skb) << 2;
	capture_packet(r, skb);
}

/* Records that a packet that had waited was dropped. */
static void record_drop(const struct line_sched *q, const struct sk_buff *skb, enum line_event event)
{
	struct line_record *r = record(q, skb, event, line_now(q), ktime_to_ns(skb->tstamp),
				       ECN_QUEUED(skb), ecn_of(skb));

	capture_at_line(r, skb);
}

/* Only while a child is being asked; otherwise the testbed is being taken down. */
static void line_dropped(struct sk_buff *skb)
{
	held--;
	if (asking)
		record_drop(asking, skb, LINE_DROPPED);
}

/* Disciplines add the link-layer header to the MTU (`psched_mtu`); this is a line of IP packets. */
static u16 hide_header(struct Qdisc *sch)
{
	u16 header = qdisc_dev(sch)->hard_header_len;

	qdisc_dev(sch)->hard_header_len = 0;
	return header;
}

static void restore_header(struct Qdisc *sch, u16 header)
{
	qdisc_dev(sch)->hard_header_len = header;
}

/* The destination port, which identifies the flow; 0 if there is none. */
static u16 port_of(const struct sk_buff *skb)
{
	const struct iphdr *ip = ip_hdr(skb);

	if (skb->protocol != htons(ETH_P_IP) || (ip->protocol != IPPROTO_TCP && ip->protocol != IPPROTO_UDP))
		return 0;
	return ntohs(((const struct udphdr *)((const u8 *)ip + ip->ihl * 4))->dest);
}

/*
 * Classifies a packet as filters would on other machines.
 *
 * A packet comes with the hash of its sender's socket (`skb_set_hash_from_sk`), which no wire carries, but veth and
 * namespaces do. TCP draws it anew at every timeout (`sk_rethink_txhash`), and a discipline that sorts by it would put
 * the retransmission into another queue than the packets before it. Without a hash the discipline computes its own of
 * the headers (`skb_get_hash`), as a router does.
 */
static void classify(const struct line_sched *q, struct sk_buff *skb, u8 ecn)
{
	if (!segments_owned(skb))
		skb_clear_hash(skb);
	skb->tc_index = q->tc_index >> 8 * ecn & 0xff;
	if (q->has_code_points) {
		u8 tos = skb->protocol == htons(ETH_P_IP) ? ip_hdr(skb)->tos : 0;

		skb->priority = q->classes + q->class_of[tos >> 2];
	} else if (q->classes) {
		u16 port = port_of(skb);

		skb->priority = q->classes + (port > LINE_FIRST_PORT ? port - LINE_FIRST_PORT : 0) + 1;
	}
}

/* The next change, if it is due at `at`. */
static const struct line_order *due(struct line_changes *c, u64 at)
{
	if (!origin_ns || c->next == c->end || origin_ns + changes[c->next].at_ns > at)
		return NULL;
	return &changes[c->next++];
}

/* Brings the rate up to date; returns the end of the outage at `at`, or 0 if the line is up. */
static u64 outage_until(struct line_sched *q, u64 at)
{
	const struct line_order *change;
	u32 i;

	while ((change = due(&q->rates, at))) {
		q->down = !change->value;
		if (q->down)
			continue;
		q->rest = mul_u64_u64_div_u64(q->rest, change->value, q->rate);
		q->rate = change->value;
	}
	if (!q->down)
		return 0;
	for (i = q->rates.next; i < q->rates.end; i++)
		if (changes[i].value)
			return origin_ns + changes[i].at_ns;
	return U64_MAX;
}

static const struct line_order *lap_end(const struct line_opportunities *o)
{
	return &changes[o->first + o->count - 1];
}

/* The first instant of a lap with more than `bytes` up to it, or after `at` if that is not null. */
static const struct line_order *instant_beyond(const struct line_opportunities *o, u64 bytes, const u64 *at)
{
	u32 low = o->first, high = o->first + o->count - 1;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (at ? changes[middle].at_ns > *at : changes[middle].value > bytes)
			high = middle;
		else
			low = middle + 1;
	}
	return &changes[low];
}

/* The instant of the byte that follows the first `bytes`. */
static u64 opportunity_after(const struct line_opportunities *o, u64 bytes)
{
	u64 rest, lap = div64_u64_rem(bytes, lap_end(o)->value, &rest);

	return origin_ns + lap * lap_end(o)->at_ns + instant_beyond(o, rest, NULL)->at_ns;
}

/* The opportunities up to `now` and at `now`, at which nothing waited, are lost. */
static void lose_opportunities(struct line_opportunities *o, u64 now)
{
	u64 rest, lap, bytes = 0;
	const struct line_order *next;

	if (now < origin_ns)
		return;
	lap = div64_u64_rem(now - origin_ns, lap_end(o)->at_ns, &rest);
	next = instant_beyond(o, 0, &rest);
	if (next != &changes[o->first])
		bytes = next[-1].value;
	o->gone = max_t(u64, o->gone, lap * lap_end(o)->value + bytes);
}

/* Before the experiment starts a line has its rate. */
static bool sends_at_opportunities(const struct line_sched *q)
{
	return q->opportunities.count && origin_ns;
}

/* The next opportunity if it is later than `at`, at which the line then sends nothing; otherwise 0. */
static u64 opportunity_later(struct line_sched *q, u64 at)
{
	struct line_opportunities *o = &q->opportunities;
	u64 next = opportunity_after(o, o->gone);

	if (next < at) {
		lose_opportunities(o, at);
		next = opportunity_after(o, o->gone);
	}
	q->down = next > at;
	return q->down ? next : 0;
}

static void line_finish(struct Qdisc *sch, u64 now);

static int line_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct line_sched *q = qdisc_priv(sch);
	struct sk_buff *freed_before = *to_free, *freed;
	u16 header;
	u64 now = line_now(q);
	u8 ecn = ecn_of(skb);
	bool dropped = false;
	struct line_record *r;
	u32 len;
	int ret;

	if ((q->on_wire || q->down) && q->free_ns <= now + q->slack_ns) {
		now = q->latest_ns = max_t(u64, now, q->free_ns);
		line_finish(sch, now);
	}
	/* What the packets of a segment will have in all (`qdisc_pkt_len_segs_init`), without the headers of Ethernet. */
	len = qdisc_pkt_len(skb) - max_t(u32, 1, skb_shinfo(skb)->gso_segs) * skb_network_offset(skb);
	__skb_pull(skb, skb_network_offset(skb));
	qdisc_skb_cb(skb)->pkt_len = len;
	remember(q, skb, now, ecn);
	classify(q, skb, ecn);
	r = record(q, skb, LINE_QUEUED, now, now, ecn, ecn);
	header = hide_header(sch);
	ret = qdisc_enqueue(skb, q->child, to_free);
	restore_header(sch, header);
	/* Packets that the child freed still exist here: the caller frees them later. */
	for (freed = *to_free; freed != freed_before; freed = freed->next) {
		if (freed == skb)
			dropped = true;
		else
			record_drop(q, freed, LINE_EVICTED);
		if (!segments_owned(freed)) {
			give_up(freed);
			freed->destructor = NULL;
		}
	}
	if (r) {
		r->backlog_bytes = q->child->qstats.backlog;
		r->backlog_packets = q->child->q.qlen;
	}
	if (dropped) {
		if (r) {
			r->event = ret == NET_XMIT_DROP ? LINE_OVERFLOW : LINE_REFUSED;
			capture_at_line(r, skb);
		}
	} else if (r) {
		u8 after = ecn_of(skb);

		r->ecn = after | ecn << 4;
		skb->mark = after | ecn << 2;
	}
	if (ret == NET_XMIT_SUCCESS) {
		sch->qstats.backlog += len;
		sch->q.qlen++;
	} else if (net_xmit_drop_count(ret)) {
		qdisc_qstats_drop(sch);
	}
	/* An idle line has lost the opportunities until now, and sends the packet at the next one. */
	if (sends_at_opportunities(q) && !q->on_wire && !q->down) {
		lose_opportunities(&q->opportunities, now);
		q->free_ns = opportunity_later(q, now);
		q->slack_ns = 0;
	}
	return ret;
}

/* The next packet to transmit, or null: of the segment that is being sent, or of what the child gives. */
static struct sk_buff *line_next(struct Qdisc *sch)
{
	struct line_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = q->segments, *segment;

	if (!skb) {
		u16 header = hide_header(sch);

		asking = q;
		skb = q->child->dequeue(q->child);
		asking = NULL;
		restore_header(sch, header);
		if (skb || !q->child->q.qlen)
			q->refused_ns = 0;
		else if (!q->refused_ns)
			q->refused_ns = line_now(q);
		q->refused = q->child->q.qlen;
		if (!skb || !skb_is_gso(skb))
			return skb;
		sch->q.qlen--;
		sch->qstats.backlog -= qdisc_pkt_len(skb);
		skb = segments_of(skb);
		if (!skb)
			return NULL;
		for (segment = skb; segment; segment = segment->next) {
			sch->q.qlen++;
			sch->qstats.backlog += qdisc_pkt_len(segment);
		}
	}
	q->segments = skb->next;
	skb_mark_not_on_list(skb);
	return skb;
}

/* Begins the next transmission if a packet waits and the line is up. */
static void line_start(struct Qdisc *sch, u64 now, bool busy)
{
	struct line_sched *q = qdisc_priv(sch);
	struct sk_buff *skb;
	u64 bits, since, until, start = now;
	u8 before;
	struct line_record *r;

	until = sends_at_opportunities(q) ? opportunity_later(q, busy ? q->free_ns : now) :
					    outage_until(q, busy ? q->free_ns : now);
	if (until) {
		q->free_ns = until;
		q->slack_ns = q->rest = 0;
		return;
	}
	skb = line_next(sch);
	if (!skb)
		return;
	since = ktime_to_ns(skb->tstamp);
	before = ECN_QUEUED(skb);
	/* The line does not wait for its timer. */
	if (busy && since <= q->free_ns)
		start = q->free_ns;
	else
		q->rest = 0;
	/* A packet that came after free_ns has the rate of its own start. */
	if (!sends_at_opportunities(q))
		outage_until(q, start);
	r = record(q, skb, LINE_STARTED, start, since, before, ecn_of(skb));
	capture_at_line(r, skb);
	forget(skb);
	__skb_push(skb, -skb_mac_offset(skb));
	q->on_wire = skb;
	if (sends_at_opportunities(q)) {
		/* The packet leaves with its last byte. */
		q->slack_ns = q->rest = 0;
		q->opportunities.gone += qdisc_pkt_len(skb) + q->overhead;
		q->free_ns = opportunity_after(&q->opportunities, q->opportunities.gone - 1);
		return;
	}
	bits = 8ULL * (qdisc_pkt_len(skb) + q->overhead) * NSEC_PER_SEC + q->rest;
	q->free_ns = start + div64_u64_rem(bits, q->rate, &q->rest);
	q->slack_ns = min_t(u64, ROUNDING_NS, (q->free_ns - start) / ROUNDING_PART);
}

/* Ends the transmissions and outages that are over and begins the next transmission. */
static void line_finish(struct Qdisc *sch, u64 now)
{
	struct line_sched *q = qdisc_priv(sch);

	while ((q->on_wire || q->down) && q->free_ns <= now) {
		const struct line_order *change;

		if (q->on_wire) {
			while ((change = due(&q->delays, q->free_ns)))
				q->delay_ns = change->value;
			skb_orphan(q->on_wire);
			q->on_wire->tstamp = ns_to_ktime(q->free_ns + q->delay_ns);
			__skb_queue_tail(&q->sent, q->on_wire);
			q->on_wire = NULL;
		}
		line_start(sch, now, true);
	}
}

static struct sk_buff *line_dequeue(struct Qdisc *sch)
{
	struct line_sched *q = qdisc_priv(sch);
	u64 now = line_now(q), next = U64_MAX;
	struct sk_buff *arrived;

	if (!q->on_wire && !q->down)
		line_start(sch, now, false);
	line_finish(sch, now);
	if (q->on_wire || q->down)
		next = q->free_ns;
	arrived = skb_peek(&q->sent);
	if (arrived && ktime_to_ns(arrived->tstamp) <= now) {
		__skb_unlink(arrived, &q->sent);
		sch->q.qlen--;
		sch->qstats.backlog -= qdisc_pkt_len(arrived);
		qdisc_bstats_update(sch, arrived);
		arrived->tstamp = 0;
	} else if (arrived) {
		next = min_t(u64, next, ktime_to_ns(arrived->tstamp));
		arrived = NULL;
	}
	if (!arrived && next != U64_MAX)
		qdisc_watchdog_schedule_ns(&q->watchdog, next);
	return arrived;
}

static void line_reset(struct Qdisc *sch)
{
	struct line_sched *q = qdisc_priv(sch);
	struct sk_buff *skb;

	if (q->on_wire)
		rtnl_kfree_skbs(q->on_wire, q->on_wire);
	kfree_skb_list(q->segments);
	q->on_wire = q->segments = NULL;
	while ((skb = __skb_dequeue(&q->sent)))
		rtnl_kfree_skbs(skb, skb);
	qdisc_reset(q->child);
	qdisc_watchdog_cancel(&q->watchdog);
}

static const struct nla_policy line_policy[TCA_LINE_MAX + 1] = {
	[TCA_LINE_RATE]		= { .type = NLA_U64 },
	[TCA_LINE_OVERHEAD]	= { .type = NLA_U32 },
	[TCA_LINE_NUMBER]	= { .type = NLA_U32 },
	[TCA_LINE_TC_INDEX]	= { .type = NLA_U32 },
	[TCA_LINE_CLASSES]	= { .type = NLA_U32 },
	[TCA_LINE_DELAY]	= { .type = NLA_U64 },
	[TCA_LINE_RATES]	= { .type = NLA_U64 },
	[TCA_LINE_DELAYS]	= { .type = NLA_U64 },
	[TCA_LINE_OPPORTUNITIES] = { .type = NLA_U64 },
	[TCA_LINE_CODE_POINTS]	= NLA_POLICY_EXACT_LEN(64),
};

/* Reads which of the changes that have been written are those of the line. */
static int line_changes(const struct nlattr *attr, struct line_changes *c, struct netlink_ext_ack *extack)
{
	u32 first, count;

	if (!attr)
		return 0;
	first = nla_get_u64(attr);
	count = nla_get_u64(attr) >> 32;
	if (first > change_count || count > change_count - first) {
		NL_SET_ERR_MSG_MOD(extack, "a line has changes that were not written");
		return -EINVAL;
	}
	c->next = first;
	c->end = first + count;
	return 0;
}

static int line_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct line_sched *q = qdisc_priv(sch);
	struct line_changes lap = {};
	struct nlattr *tb[TCA_LINE_MAX + 1];
	int err;

	if (!opt) {
		NL_SET_ERR_MSG_MOD(extack, "a line needs a rate");
		return -EINVAL;
	}
	err = nla_parse_nested_deprecated(tb, TCA_LINE_MAX, opt, line_policy, extack);
	if (err)
		return err;
	if (tb[TCA_LINE_RATE])
		q->rate = nla_get_u64(tb[TCA_LINE_RATE]);
	if (tb[TCA_LINE_OVERHEAD])
		q->overhead = nla_get_u32(tb[TCA_LINE_OVERHEAD]);
	if (tb[TCA_LINE_NUMBER])
		q->number = nla_get_u32(tb[TCA_LINE_NUMBER]);
	if (tb[TCA_LINE_TC_INDEX])
		q->tc_index = nla_get_u32(tb[TCA_LINE_TC_INDEX]);
	if (tb[TCA_LINE_CLASSES])
		q->classes = nla_get_u32(tb[TCA_LINE_CLASSES]);
	if (tb[TCA_LINE_CODE_POINTS]) {
		nla_memcpy(q->class_of, tb[TCA_LINE_CODE_POINTS], sizeof(q->class_of));
		q->has_code_points = true;
	}
	if (tb[TCA_LINE_DELAY])
		q->delay_ns = nla_get_u64(tb[TCA_LINE_DELAY]);
	err = line_changes(tb[TCA_LINE_RATES], &q->rates, extack) ?:
	      line_changes(tb[TCA_LINE_DELAYS], &q->delays, extack) ?:
	      line_changes(tb[TCA_LINE_OPPORTUNITIES], &lap, extack);
	if (err)
		return err;
	if (lap.end > lap.next) {
		q->opportunities.first = lap.next;
		q->opportunities.count = lap.end - lap.next;
		if (!lap_end(&q->opportunities)->at_ns || !lap_end(&q->opportunities)->value) {
			NL_SET_ERR_MSG_MOD(extack, "opportunities without length or bytes");
			return -EINVAL;
		}
	}
	if (!q->rate) {
		NL_SET_ERR_MSG_MOD(extack, "a line needs a rate above 0");
		return -EINVAL;
	}
	return 0;
}

static int line_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct line_sched *q = qdisc_priv(sch);

	qdisc_watchdog_init(&q->watchdog, sch);
	q->child = &noop_qdisc;
	__skb_queue_head_init(&q->sent);
	return line_change(sch, opt, extack);
}

static void line_destroy(struct Qdisc *sch)
{
	struct line_sched *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
	if (q->refused_ns)
		pr_err("shoal-line: %pS has given nothing for %llu ns although %u packets wait\n", q->child->dequeue,
		       line_now(q) - q->refused_ns, q->refused);
	qdisc_put(q->child);
}

static int line_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct line_sched *q = qdisc_priv(sch);
	struct nlattr *nest = nla_nest_start(skb, TCA_OPTIONS);

	if (!nest || nla_put_u64_64bit(skb, TCA_LINE_RATE, q->rate, TCA_LINE_UNSPEC) ||
	    nla_put_u32(skb, TCA_LINE_OVERHEAD, q->overhead) ||
	    nla_put_u32(skb, TCA_LINE_NUMBER, q->number) ||
	    nla_put_u32(skb, TCA_LINE_TC_INDEX, q->tc_index) ||
	    nla_put_u32(skb, TCA_LINE_CLASSES, q->classes) ||
	    nla_put_u64_64bit(skb, TCA_LINE_DELAY, q->delay_ns, TCA_LINE_UNSPEC)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
}

static int line_graft(struct Qdisc *sch, unsigned long arg, struct Qdisc *new,
		      struct Qdisc **old, struct netlink_ext_ack *extack)
{
	struct line_sched *q = qdisc_priv(sch);

	*old = qdisc_replace(sch, new ?: &noop_qdisc, &q->child);
	return 0;
}

static struct Qdisc *line_leaf(struct Qdisc *sch, unsigned long arg)
{
	struct line_sched *q = qdisc_priv(sch);

	return q->child;
}

static unsigned long line_find(struct Qdisc *sch, u32 classid)
{
	return 1;
}

static void line_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	if (!walker->stop)
		tc_qdisc_stats_dump(sch, 1, walker);
}

static int line_dump_class(struct Qdisc *sch, unsigned long cl, struct sk_buff *skb,
			   struct tcmsg *tcm)
{
	struct line_sched *q = qdisc_priv(sch);

	tcm->tcm_handle |= TC_H_MIN(1);
	tcm->tcm_info = q->child->handle;
	return 0;
}

static const struct Qdisc_class_ops line_class_ops = {
	.graft	= line_graft,
	.leaf	= line_leaf,
	.find	= line_find,
	.walk	= line_walk,
	.dump	= line_dump_class,
};

static struct Qdisc_ops line_ops __read_mostly = {
	.id		= "line",
	.priv_size	= sizeof(struct line_sched),
	.cl_ops		= &line_class_ops,
	.enqueue	= line_enqueue,
	.dequeue	= line_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= line_init,
	.change		= line_change,
	.reset		= line_reset,
	.destroy	= line_destroy,
	.dump		= line_dump,
	.owner		= THIS_MODULE,
};

/* Reads what was recorded since the last read, in whole records; 0 if there is nothing. */
static ssize_t line_read(struct file *file, char __user *buffer, size_t size, loff_t *position)
{
	size_t want = size / sizeof(*ring), given = 0;

	if (lost)
		return -ENOBUFS;
	while (given < want && taken < written) {
		u64 at = taken & (records - 1);
		u64 run = min3((u64)(want - given), written - taken, records - at);

		if (copy_to_user(buffer + given * sizeof(*ring), ring + at, run * sizeof(*ring)))
			return -EFAULT;
		taken += run;
		given += run;
	}
	return given * sizeof(*ring);
}

static int append_change(const struct line_order *order)
{
	if (change_count == change_room) {
		u32 room = max(2 * change_room, 64U);
		struct line_order *more = vmalloc(array_size(room, sizeof(*more)));

		if (!more)
			return -ENOMEM;
		if (change_count)
			memcpy(more, changes, change_count * sizeof(*more));
		vfree(changes);
		changes = more;
		change_room = room;
	}
	changes[change_count++] = *order;
	return 0;
}

/* Takes one order. Changes must be written before any line is busy, since they may move in memory. */
static ssize_t line_write(struct file *file, const char __user *buffer, size_t size, loff_t *position)
{
	struct line_order order;
	int err = 0;

	if (size != sizeof(order))
		return -EINVAL;
	if (copy_from_user(&order, buffer, sizeof(order)))
		return -EFAULT;
	switch (order.kind) {
	case LINE_CHANGE:
		err = origin_ns ? -EBUSY : append_change(&order);
		break;
	case LINE_ORIGIN:
		origin_ns = order.at_ns;
		break;
	default:
		err = -EINVAL;
	}
	return err ?: size;
}

static __poll_t line_poll(struct file *file, poll_table *wait)
{
	poll_wait(file, &reader, wait);
	return half_full() ? EPOLLIN | EPOLLRDNORM : 0;
}

static const struct proc_ops line_proc_ops = {
	.proc_read = line_read,
	.proc_write = line_write,
	.proc_poll = line_poll,
	.proc_lseek = noop_llseek,
};

static int __init line_module_init(void)
{
	int err;

	records = roundup_pow_of_two(max(records, 1024U));
	ring = vmalloc(array_size(records, sizeof(*ring)));
	if (!ring)
		return -ENOMEM;
	if (!proc_create("shoal_line", 0600, NULL, &line_proc_ops)) {
		vfree(ring);
		return -ENOMEM;
	}
	err = capture ? capture_init() : 0;
	if (!err)
		err = register_qdisc(&line_ops);
	if (err) {
		capture_exit();
		remove_proc_entry("shoal_line", NULL);
		vfree(ring);
	}
	return err;
}

static void __exit line_module_exit(void)
{
	unregister_qdisc(&line_ops);
	capture_exit();
	remove_proc_entry("shoal_line", NULL);
	vfree(changes);
	vfree(ring);
}

module_init(line_module_init);
module_exit(line_module_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Line with a queue in front and a record of every packet");
