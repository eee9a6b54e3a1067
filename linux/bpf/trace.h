/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a trace has of one call of the congestion control: what it read of the socket, and what it
 * left there. The loader writes it as a table, whose columns are these fields, and
 * tests/replay_trace.c gives the same inputs to the same code in user space.
 */
#ifndef _SHOAL_BPF_TRACE_H
#define _SHOAL_BPF_TRACE_H

enum dctcp_call {
	DCTCP_INIT,
	DCTCP_ACK_EVENT,
	DCTCP_CONTROL,
	DCTCP_EVENT,
	DCTCP_TX_START,
	DCTCP_SSTHRESH,
	DCTCP_UNDO,
	DCTCP_STATE,
};

struct dctcp_call_record {
	u64 time_ns;
	u32 local_port;
	u32 remote_port;
	/* enum dctcp_call, and its argument: flags of the ACK, event or new state. */
	u32 call;
	u32 argument;
	/* The socket before the call. */
	u32 ca_state;
	u32 snd_una;
	u32 snd_nxt;
	u32 cwnd;
	u32 ssthresh;
	u32 clamp;
	u32 mss;
	u32 srtt_us8;
	u32 packets_out;
	u32 max_packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 retrans_out;
	u32 prr_out;
	u32 delivered;
	u32 delivered_ce;
	u32 rcv_nxt;
	u32 idle_jiffies;
	u32 rto_jiffies;
	u32 undo_marker;
	u32 ecn_flags;
	u32 ack_pending;
	u32 cwnd_limited;
	u32 socket_state;
	u32 initial_window;
	u32 restarts_after_idle;
	u32 pacing_ss_percent;
	u32 pacing_ca_percent;
	u64 max_pacing_rate;
	/* Of the rate sample of DCTCP_CONTROL. */
	u32 acked_sacked;
	u32 losses;
	/* The socket after it. */
	u32 cwnd_after;
	u32 ssthresh_after;
	u32 counter_after;
	u32 ecn_flags_after;
	u32 ack_pending_after;
	u32 alpha_after;
	/* The threshold or window that the call returned. */
	u32 returned;
	u32 padding;
	u64 pacing_rate_after;
};

static inline void dctcp_trace_before(struct dctcp_call_record *at, struct sock *sk, u32 call,
				      u32 argument)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct net *net = sock_net(sk);

	at->local_port = sk->__sk_common.skc_num;
	at->remote_port = (u16)(sk->__sk_common.skc_dport << 8 | sk->__sk_common.skc_dport >> 8);
	at->call = call;
	at->argument = argument;
	at->ca_state = shoal_ca_state(sk);
	at->snd_una = tp->snd_una;
	at->snd_nxt = tp->snd_nxt;
	at->cwnd = tp->snd_cwnd;
	at->ssthresh = tp->snd_ssthresh;
	at->clamp = tp->snd_cwnd_clamp;
	at->mss = tp->mss_cache;
	at->srtt_us8 = tp->srtt_us;
	at->packets_out = tp->packets_out;
	at->max_packets_out = tp->max_packets_out;
	at->sacked_out = tp->sacked_out;
	at->lost_out = tp->lost_out;
	at->retrans_out = tp->retrans_out;
	at->prr_out = tp->prr_out;
	at->delivered = tp->delivered;
	at->delivered_ce = tp->delivered_ce;
	at->rcv_nxt = tp->rcv_nxt;
	at->idle_jiffies = tcp_jiffies32 - tp->lsndtime;
	at->rto_jiffies = icsk->icsk_rto;
	at->undo_marker = tp->undo_marker;
	at->ecn_flags = tp->ecn_flags;
	at->ack_pending = icsk->icsk_ack.pending;
	at->cwnd_limited = shoal_bits(tp, is_cwnd_limited);
	at->socket_state = sk->sk_state;
	at->initial_window = shoal_initial_window(sk);
	at->restarts_after_idle = net->ipv4.sysctl_tcp_slow_start_after_idle;
	at->pacing_ss_percent = net->ipv4.sysctl_tcp_pacing_ss_ratio;
	at->pacing_ca_percent = net->ipv4.sysctl_tcp_pacing_ca_ratio;
	at->max_pacing_rate = sk->sk_max_pacing_rate;
	at->acked_sacked = 0;
	at->losses = 0;
	at->padding = 0;
}

static inline void dctcp_trace_after(struct dctcp_call_record *at, struct sock *sk, u32 returned)
{
	const struct dctcp_sock *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	at->cwnd_after = tp->snd_cwnd;
	at->ssthresh_after = tp->snd_ssthresh;
	at->counter_after = tp->snd_cwnd_cnt;
	at->ecn_flags_after = tp->ecn_flags;
	at->ack_pending_after = inet_csk(sk)->icsk_ack.pending;
	at->alpha_after = ca->law.alpha;
	at->pacing_rate_after = sk->sk_pacing_rate;
	at->returned = returned;
}

#endif
