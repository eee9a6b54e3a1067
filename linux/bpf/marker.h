/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A marker on the egress of a device: before the queue it decides on each packet by the time that
 * the packet which left last had waited. A program that includes this defines marker_decide(), a
 * law of linux/modules, its parameters, and by MARKER its name.
 *
 * A packet's arrival at egress is kept by its address until it leaves. It leaves when the root
 * discipline gives it to the device (qdisc_dequeue), so that an aggregate counts before it is cut;
 * or, where an empty queue was passed by, when the driver gets it (net_dev_start_xmit). What is
 * dropped on the way is forgotten (kfree_skb), and so is an address that comes with another length.
 */
#ifndef _SHOAL_BPF_MARKER_H
#define _SHOAL_BPF_MARKER_H

#include "../modules/law/law.h"
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "marker_trace.h"
#include "parameter.h"

char _license[] SEC("license") = "GPL";

/* What is read of the kernel's own structures; the loader relocates it. */
struct ns_common {
	unsigned int inum;
} __attribute__((preserve_access_index));

struct net {
	struct ns_common ns;
} __attribute__((preserve_access_index));

typedef struct {
	struct net *net;
} possible_net_t;

struct net_device {
	int ifindex;
	possible_net_t nd_net;
} __attribute__((preserve_access_index));

struct netdev_queue {
	struct net_device *dev;
} __attribute__((preserve_access_index));

struct Qdisc;

struct sk_buff {
	unsigned int len;
} __attribute__((preserve_access_index));

/* The device, by the number of its network namespace and its own there; set by the loader. */
struct device {
	u32 netns;
	u32 ifindex;
};

const volatile struct device marker_device SEC(".rodata.device");
/* Set by the loader before the program is loaded; without it the verifier drops what traces. */
const volatile bool marker_traces;
/* Records for which the buffer had no room. */
u64 marker_trace_lost SEC(".data.lost");
/* Nobody reads it; the compiler describes the record to the loader because of it. */
struct marker_record *marker_record;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 24);
} marker_trace SEC(".maps");

struct stamp {
	u64 time_ns;
	u32 len;
	u32 padding;
};

/* Packets on their way through the queue; the kernel throws the oldest away if there are more. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, u64);
	__type(value, struct stamp);
} marker_stamps SEC(".maps");

/* The law's own state, and the order of its decisions. */
struct state {
	struct bpf_spin_lock lock;
	u32 padding;
	u64 decisions;
	struct marker_law law;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct state);
} marker_state SEC(".maps");

/* How long the packet that left last had waited. */
u64 marker_wait_ns SEC(".data.wait");

/* What the loader reports at the end. */
struct marker_counts {
	u64 packets;
	u64 marked;
	u64 dropped;
	/* Packets that were seen to leave. */
	u64 left;
	/* Packets that left the queue, but came into it past this program, or in another shape. */
	u64 unseen;
	/* Packets whose arrival the kernel would not keep: they leave unseen. */
	u64 unkept;
};

struct marker_counts marker_counts SEC(".data.counts");

/* Two numbers that were drawn before the lock was taken, under which no helper may be called. */
struct drawn {
	u64 numbers;
};

static inline u32 marker_draw(void *context)
{
	struct drawn *drawn = context;
	u32 number = drawn->numbers;

	drawn->numbers >>= 32;
	return number;
}

static inline struct marker_record *marker_record_begin(u32 event, u64 now, u32 len)
{
	struct marker_record *record;

	if (!marker_traces)
		return NULL;
	record = bpf_ringbuf_reserve(&marker_trace, sizeof(*record), 0);
	if (!record) {
		__sync_fetch_and_add(&marker_trace_lost, 1);
		return NULL;
	}
	__builtin_memset(record, 0, sizeof(*record));
	record->time_ns = now;
	record->event = event;
	record->len = len;
	return record;
}

/* The ECN field of a packet, or 0 of what is neither IPv4 nor IPv6; as shoal_is_ect() of the modules. */
static inline bool marker_is_ect(struct __sk_buff *skb)
{
	u8 head[2] = { 0 };

	if (bpf_skb_load_bytes_relative(skb, 0, head, sizeof(head), BPF_HDR_START_NET))
		return false;
	if (skb->protocol == bpf_htons(0x0800))
		return head[1] & 3;
	if (skb->protocol == bpf_htons(0x86dd))
		return head[1] >> 4 & 3;
	return false;
}

SEC("tcx/egress")
int MARKER(struct __sk_buff *skb)
{
	struct marker_record *record;
	u32 draw_1 = bpf_get_prandom_u32(), draw_2 = bpf_get_prandom_u32();
	struct drawn drawn = { (u64)draw_2 << 32 | draw_1 };
	struct stamp stamp = { .time_ns = bpf_ktime_get_ns(), .len = skb->len };
	u64 address = (u64)skb, wait, decision_number;
	enum marker_decision decision;
	bool ect = marker_is_ect(skb), marked = false;
	struct state *state;
	u32 zero = 0;

	state = bpf_map_lookup_elem(&marker_state, &zero);
	if (!state)
		return TC_ACT_UNSPEC;
	record = marker_record_begin(MARKER_ARRIVAL, stamp.time_ns, stamp.len);
	bpf_spin_lock(&state->lock);
	wait = *(volatile u64 *)&marker_wait_ns;
	decision_number = state->decisions++;
	decision = marker_decide(&state->law, ect, wait, marker_draw, &drawn);
	bpf_spin_unlock(&state->lock);
	__sync_fetch_and_add(&marker_counts.packets, 1);
	if (decision == MARKER_MARK) {
		/* A header that others share cannot be written; such a packet passes. */
		marked = bpf_skb_ecn_set_ce(skb);
		__sync_fetch_and_add(&marker_counts.marked, marked);
	} else if (decision == MARKER_DROP) {
		__sync_fetch_and_add(&marker_counts.dropped, 1);
	}
	if (record) {
		record->number = decision_number;
		record->wait_ns = wait;
		record->ect = ect;
		record->draw_1 = draw_1;
		record->draw_2 = draw_2;
		record->decision = decision;
		record->marked = marked;
		bpf_ringbuf_submit(record, 0);
	}
	if (decision == MARKER_DROP)
		return TC_ACT_SHOT;
	if (bpf_map_update_elem(&marker_stamps, &address, &stamp, BPF_ANY))
		__sync_fetch_and_add(&marker_counts.unkept, 1);
	return TC_ACT_UNSPEC;
}

static inline bool marker_is_ours(const struct net_device *dev)
{
	return (u32)dev->ifindex == marker_device.ifindex &&
	       dev->nd_net.net->ns.inum == marker_device.netns;
}

/* A packet leaves; false if it is unknown. */
static inline bool marker_leave(const struct sk_buff *skb)
{
	struct marker_record *record;
	u64 address = (u64)skb, now = bpf_ktime_get_ns();
	struct stamp *stamp = bpf_map_lookup_elem(&marker_stamps, &address);
	bool same;

	if (!stamp)
		return false;
	same = stamp->len == skb->len;
	if (same) {
		record = marker_record_begin(MARKER_DEPARTURE, now, stamp->len);
		*(volatile u64 *)&marker_wait_ns = now - stamp->time_ns;
		__sync_fetch_and_add(&marker_counts.left, 1);
		if (record) {
			record->wait_ns = now - stamp->time_ns;
			bpf_ringbuf_submit(record, 0);
		}
	}
	bpf_map_delete_elem(&marker_stamps, &address);
	return same;
}

SEC("tp_btf/qdisc_dequeue")
int BPF_PROG(marker_dequeue, struct Qdisc *qdisc, const struct netdev_queue *txq, int packets,
	     struct sk_buff *skb)
{
	if (packets > 0 && skb && marker_is_ours(txq->dev) && !marker_leave(skb))
		__sync_fetch_and_add(&marker_counts.unseen, 1);
	return 0;
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(marker_transmit, const struct sk_buff *skb, const struct net_device *dev)
{
	if (marker_is_ours(dev))
		marker_leave(skb);
	return 0;
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(marker_forget, struct sk_buff *skb)
{
	u64 address = (u64)skb;

	bpf_map_delete_elem(&marker_stamps, &address);
	return 0;
}

#endif
