// SPDX-License-Identifier: GPL-2.0-only
/*
 * A path for tests: packets that would find more than a threshold in a queue of a given rate are
 * marked, and some are dropped. No queue is needed for it, nor a qdisc that marks.
 */

#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

/*
 * RATE in bytes a millisecond, THRESHOLD in bytes, and LOST(n, ms): packet n is dropped, ms after
 * packet 60.
 */

/* One CPU sends at a time in these tests; a race would only move a mark. */
long long backlog_ns;
unsigned long long last_ns;
unsigned int packets;
unsigned long long packet_60_ns;
unsigned int marked;
unsigned int dropped;

SEC("tc")
int virtual_queue(struct __sk_buff *skb)
{
	unsigned long long now = bpf_ktime_get_ns();

	/* Small ones are ACKs and handshakes. */
	if (skb->len < 200)
		return TC_ACT_OK;
	packets++;
	if (packets == 60)
		packet_60_ns = now;
	if (LOST(packets, (now - packet_60_ns) / 1000000)) {
		dropped++;
		return TC_ACT_SHOT;
	}
	backlog_ns -= now - last_ns;
	last_ns = now;
	if (backlog_ns < 0)
		backlog_ns = 0;
	backlog_ns += (unsigned long long)skb->len * 1000000 / RATE;
	if (backlog_ns > THRESHOLD * 1000000LL / RATE && bpf_skb_ecn_set_ce(skb))
		marked++;
	return TC_ACT_OK;
}
