/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Flows: their plans, and what is measured and reported of them. */
#define _GNU_SOURCE
#include "flow.h"
#include "words.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

/*
 * The beginning of struct tcp_info in include/uapi/linux/tcp.h
 * (https://elixir.bootlin.com/linux/v6.12/source/include/uapi/linux/tcp.h), since the header of the
 * build machine may be older.
 */
struct tcp_facts {
	uint8_t state, ca_state, retransmits, probes, backoff, options, scales, flags;
	uint32_t rto, ato, snd_mss, rcv_mss, unacked, sacked, lost, retrans, fackets;
	uint32_t last[4];
	uint32_t pmtu, rcv_ssthresh, rtt, rttvar, snd_ssthresh, snd_cwnd, advmss, reordering, rcv_rtt, rcv_space;
	uint32_t total_retrans;
	uint64_t pacing_rate, max_pacing_rate, bytes_acked, bytes_received;
	uint32_t segs_out, segs_in, notsent_bytes, min_rtt, data_segs_in, data_segs_out;
	uint64_t delivery_rate, busy_time, rwnd_limited, sndbuf_limited;
	uint32_t delivered, delivered_ce;
	uint64_t bytes_sent, bytes_retrans;
	uint32_t dsack_dups, reord_seen, rcv_ooopack, snd_wnd, rcv_wnd, rehash;
	uint16_t total_rto, total_rto_recoveries;
};
_Static_assert(offsetof(struct tcp_facts, total_rto) == 240, "layout of struct tcp_info");

/*
 * struct tcp_dctcp_info of include/uapi/linux/inet_diag.h
 * (https://elixir.bootlin.com/linux/v6.12/source/include/uapi/linux/inet_diag.h).
 */
struct dctcp_facts {
	uint16_t enabled, ce_state;
	uint32_t alpha, ab_ecn, ab_tot;
};

struct flow flows[MAX_FLOWS];
uint32_t flow_count;
uint64_t origin;

/* Whether a controller reports its alpha as `struct tcp_dctcp_info`. */
static bool reports_alpha(const char *cc)
{
	return strncmp(cc, "dctcp", 5) == 0 || strncmp(cc, "prague", 6) == 0;
}

void flow_add(const struct flow_plan *plan)
{
	struct flow *flow = &flows[flow_count];

	if (flow_count == MAX_FLOWS)
		fail("more than %d flows", MAX_FLOWS);
	flow->plan = *plan;
	flow->sender = flow->listener = flow->receiver = -1;
	flow->has_alpha = reports_alpha(plan->cc);
	flow_count++;
}

void flow_gap(uint64_t number, uint64_t gap)
{
	if (number >= flow_count)
		fail("no flow %llu", (unsigned long long)number);
	gaps_add(&flows[number].gaps, gap);
}

void flow_code_point(uint64_t number, uint32_t code_point)
{
	if (number >= flow_count)
		fail("no flow %llu", (unsigned long long)number);
	flows[number].plan.code_point = code_point;
}

void flow_replace(uint64_t number, uint64_t at, const char *cc)
{
	struct flow *flow;

	if (number >= flow_count)
		fail("no flow %llu", (unsigned long long)number);
	flow = &flows[number];
	copy_name(flow->plan.next_cc, sizeof(flow->plan.next_cc), cc);
	flow->plan.replaced = at;
	flow->has_alpha |= reports_alpha(cc);
}

/* Measurements. */

/*
 * Number of handshake segments among those that the receiver's socket has sent: the SYN and the ACK if the receiver
 * connects. A SYN-ACK is not counted; it leaves before there is a socket for the connection (`tcp_make_synack`).
 */
static uint32_t handshake_segments(const struct flow *flow)
{
	return flow->plan.app == APP_REQUESTS ? 2 : 0;
}

void read_facts(struct flow *flow)
{
	struct tcp_facts tcp;
	struct dctcp_facts dctcp;
	socklen_t size = sizeof(tcp);
	struct flow_record *r = &flow->last;

	if (flow->sender >= 0 && getsockopt(flow->sender, IPPROTO_TCP, TCP_INFO, &tcp, &size) == 0) {
		r->ca_state = tcp.ca_state;
		r->ecn = (tcp.options & TCPI_OPT_ECN ? 1 : 0) | (tcp.options & TCPI_OPT_ECN_SEEN ? 2 : 0);
		r->cwnd = tcp.snd_cwnd;
		r->ssthresh = tcp.snd_ssthresh;
		r->srtt_us = tcp.rtt;
		r->retransmissions = tcp.total_retrans;
		r->timeouts = size >= 242 ? tcp.total_rto : 0;
		size = sizeof(dctcp);
		r->has_alpha = flow->has_alpha &&
			       getsockopt(flow->sender, IPPROTO_TCP, TCP_CC_INFO, &dctcp, &size) == 0 &&
			       size == sizeof(dctcp) && dctcp.enabled;
		r->alpha = r->has_alpha ? dctcp.alpha : 0;
	}
	size = sizeof(tcp);
	if (flow->receiver >= 0 && getsockopt(flow->receiver, IPPROTO_TCP, TCP_INFO, &tcp, &size) == 0) {
		uint32_t handshake = handshake_segments(flow), sent = tcp.segs_out - tcp.data_segs_out;

		/* The kernel counts the FIN as a byte. */
		r->received = tcp.bytes_received - (tcp.state != TCP_ESTABLISHED);
		r->data_packets = tcp.data_segs_in;
		r->acks = sent > handshake ? sent - handshake : 0;
	}
}

/*
 * As much as the rate of the sender carries in the budget, less what waits of earlier frames, within the bounds of the
 * encoder. The rate is the window in a smoothed round trip, or the pacing rate if that is lower; none is known before
 * the first round trip.
 */
uint64_t frame_bytes(const struct flow *flow)
{
	const struct flow_plan *plan = &flow->plan;
	struct tcp_facts tcp;
	socklen_t size = sizeof(tcp);
	uint64_t rate, bytes, unsent;

	if (plan->bytes >= plan->most || !flow->connected)
		return plan->bytes;
	if (getsockopt(flow->sender, IPPROTO_TCP, TCP_INFO, &tcp, &size))
		fail_errno("cannot ask for the rate of a sender");
	if (!tcp.rtt)
		return plan->bytes;
	rate = (uint64_t)tcp.snd_cwnd * tcp.snd_mss * 1000000 / tcp.rtt;
	if (rate > tcp.pacing_rate)
		rate = tcp.pacing_rate;
	bytes = (uint64_t)((unsigned __int128)rate * plan->budget / 1000000000);
	unsent = flow->to_write + tcp.notsent_bytes;
	bytes = bytes > unsent ? bytes - unsent : 0;
	return bytes < plan->bytes ? plan->bytes : bytes > plan->most ? plan->most : bytes;
}

void report(uint32_t number, enum record_kind kind, uint64_t now, uint64_t value)
{
	struct flow_record record = flows[number].last;

	record.time_ns = now - origin;
	record.flow = number;
	record.kind = (uint8_t)kind;
	record.transfers_begun = flows[number].begun;
	if (kind >= REC_VALUED || kind == REC_COMPLETED)
		record.received = value;
	output_record(&record);
}

void finish(uint32_t number, uint64_t now)
{
	struct flow *flow = &flows[number];

	if (flow->finished)
		return;
	flow->finished = true;
	read_facts(flow);
	report(number, REC_FINISHED, now, 0);
}
