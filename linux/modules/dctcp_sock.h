/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DCTCP of law/dctcp.h on a Linux socket: what tcp_dctcp_ikr and tcp_dctcp_onesided have in common,
 * as modules and as BPF programs (linux/bpf, whose headers take the place of the kernel's).
 *
 * With cong_avoid the stack itself prevents growth in CWR and reduces cwnd to ssthresh; with
 * cong_control it leaves cwnd to the module entirely. Growth in CWR, and cuts from the window at
 * its start, need the latter. The tasks that the stack then no longer carries out are done here:
 * proportional rate reduction in Recovery, the window at its end, the restart after idle periods,
 * and the pacing rate, which sizes segmentation bursts.
 */
#ifndef _DCTCP_SOCK_H
#define _DCTCP_SOCK_H

#include "law/dctcp.h"
#include "sock_shoal.h"

/* Behaviour of the host beyond the law. */
struct dctcp_host {
	/* cwnd may grow in CWR and on ACKs with ECN-Echo. */
	bool grow_in_cwr;
	/* enum law_counting. */
	u32 ack_counting;
	/*
	 * Receiver: ECN-Echo follows CE (RFC 8257 section 3.2,
	 * https://www.rfc-editor.org/rfc/rfc8257#section-3.2), else it is held until CWR (RFC 3168
	 * section 6.1.3, https://www.rfc-editor.org/rfc/rfc3168#section-6.1.3).
	 */
	bool echo;
	/* Receiver: the ACK of a segment with CWR may be delayed (Kato et al., 3.2). */
	bool delay_cwr_acks;
};

#ifdef __KERNEL__
/* Defined, with its defaults, by the module. */
static struct law_dctcp_policy dctcp_policy;
static struct dctcp_host dctcp_host;
#else
/* So that the loader finds a parameter by its place. */
extern struct dctcp_parameters {
	struct law_dctcp_policy policy;
	struct dctcp_host host;
} dctcp_parameters;

#define dctcp_policy	(dctcp_parameters.policy)
#define dctcp_host	(dctcp_parameters.host)
#endif

struct dctcp_sock {
	struct law_dctcp law;
	struct shoal_recovery recovery;
	/*
	 * Linear-increase counter; the stack clears its own at the begin of each episode, before it
	 * calls the module.
	 */
	u32 cnt;
	/* snd_una at the last ACK that was processed. */
	u32 prior_una;
	u32 prior_delivered;
	u32 prior_delivered_ce;
	/* Receiver: RCV.NXT and CE of the last segment. */
	u32 prior_rcv_nxt;
	u8 ce_state;
	/*
	 * The ACK being processed: whether it carries ECN-Echo, acknowledges new data, has begun an
	 * episode.
	 */
	u8 ece:1,
	   advanced:1,
	   entered_cwr:1,
	/* CA_EVENT_LOSS has reported a timeout, whose state is still to be set. */
	   timed_out:1;
};

static inline struct law_window dctcp_load(const struct sock *sk)
{
	const struct dctcp_sock *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	return (struct law_window){
		.cwnd = tcp_snd_cwnd(tp),
		.ssthresh = tp->snd_ssthresh,
		.cnt = ca->cnt,
		.clamp = tp->snd_cwnd_clamp,
	};
}

static inline void dctcp_store(struct sock *sk, const struct law_window *win)
{
	struct dctcp_sock *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (win->cwnd != tcp_snd_cwnd(tp))
		tcp_snd_cwnd_set(tp, win->cwnd);
	WRITE_ONCE(tp->snd_ssthresh, win->ssthresh);
	tp->snd_cwnd_cnt = win->cnt;
	ca->cnt = win->cnt;
}

/*
 * Called when the connection is established, or for a socket in CLOSE or LISTEN, whose ECN is yet
 * to be negotiated.
 */
static inline void dctcp_sock_init(struct sock *sk, struct tcp_congestion_ops *without_ecn)
{
	struct dctcp_sock *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!shoal_has_ecn(tp) && sk->sk_state != TCP_LISTEN && sk->sk_state != TCP_CLOSE) {
		shoal_run_reno(sk, without_ecn);
		return;
	}
	memset(ca, 0, sizeof(*ca));
	law_dctcp_init(&ca->law, &dctcp_policy, tp->snd_nxt);
	ca->prior_una = tp->snd_una;
	ca->prior_delivered = tp->delivered;
	ca->prior_delivered_ce = tp->delivered_ce;
	ca->prior_rcv_nxt = tp->rcv_nxt;
}

/* Called for every ACK, before the stack processes it. */
static inline void dctcp_in_ack_event(struct sock *sk, u32 flags)
{
	struct dctcp_sock *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 delivered = tp->delivered - ca->prior_delivered;
	struct law_dctcp_ack ack = {
		.snd_una = tp->snd_una,
		.snd_nxt = tp->snd_nxt,
		.delivered = delivered,
		.marked = tp->delivered_ce - ca->prior_delivered_ce,
		/*
		 * Before the ACK. Up to 6.14 the stack has not subtracted yet what this ACK
		 * delivers, and @delivered is that of the ACK before, so that the result is too
		 * large by a packet or two.
		 */
		.flight = tcp_packets_in_flight(tp) + delivered,
		.advanced = tp->snd_una != ca->prior_una,
		.ece = flags & CA_ACK_ECE,
	};

	ack.duplicate = !ack.advanced && !(flags & CA_ACK_WIN_UPDATE);
	/* With nothing in flight alpha cannot be updated. */
	if (ack.advanced || tp->packets_out)
		law_dctcp_on_ack(&ca->law, &dctcp_policy, &ack);
	ca->prior_una = tp->snd_una;
	ca->prior_delivered = tp->delivered;
	ca->prior_delivered_ce = tp->delivered_ce;
	ca->ece = ack.ece;
	ca->advanced = ack.advanced;
	ca->entered_cwr = false;
}

/*
 * By the law of a mark; dctcp_set_state() corrects it if it was a loss, which the stack does not
 * tell here.
 */
static inline u32 dctcp_ssthresh(struct sock *sk)
{
	const struct dctcp_sock *ca = inet_csk_ca(sk);

	return law_dctcp_scaled(&ca->law, tcp_snd_cwnd(tcp_sk(sk)));
}

static inline void dctcp_enter_cwr(struct sock *sk)
{
	struct dctcp_sock *ca = inet_csk_ca(sk);
	struct law_window win = dctcp_load(sk);

	law_dctcp_on_ecn(&ca->law, &dctcp_policy, &win);
	dctcp_store(sk, &win);
	ca->entered_cwr = true;
}

static inline void dctcp_enter_recovery(struct sock *sk, bool in_cwr)
{
	struct dctcp_sock *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	struct law_window win = dctcp_load(sk);

	law_dctcp_on_loss(&ca->law, &dctcp_policy, &win, tp->snd_nxt, in_cwr);
	dctcp_store(sk, &win);
	shoal_begin_recovery(&ca->recovery, tp);
}

static inline void dctcp_on_timeout(struct sock *sk, bool fresh)
{
	struct dctcp_sock *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	struct law_window win = dctcp_load(sk);

	law_dctcp_on_timeout(&ca->law, &dctcp_policy, &win, tp->snd_nxt, tp->mss_cache, fresh);
	dctcp_store(sk, &win);
}

static inline void dctcp_leave(struct sock *sk, u8 old_state)
{
	struct dctcp_sock *ca = inet_csk_ca(sk);

	law_dctcp_on_exit(&ca->law);
	shoal_end_recovery(sk, old_state);
}

/* Called before icsk_ca_state changes, after dctcp_ssthresh(). */
static inline void dctcp_set_state(struct sock *sk, u8 new_state)
{
	struct dctcp_sock *ca = inet_csk_ca(sk);
	u8 old_state = shoal_ca_state(sk);

	switch (new_state) {
	case TCP_CA_CWR:
		dctcp_enter_cwr(sk);
		break;
	case TCP_CA_Recovery:
		if (old_state != TCP_CA_Recovery)
			dctcp_enter_recovery(sk, old_state == TCP_CA_CWR);
		break;
	case TCP_CA_Loss:
		/*
		 * The first timeout of a flight was reported as CA_EVENT_LOSS, before cwnd was
		 * changed.
		 */
		if (!ca->timed_out)
			dctcp_on_timeout(sk, false);
		ca->timed_out = false;
		break;
	default:
		if (old_state >= TCP_CA_CWR)
			dctcp_leave(sk, old_state);
		break;
	}
}

static inline void dctcp_grow(struct sock *sk, u32 acked)
{
	struct law_window win = dctcp_load(sk);

	if (!tcp_is_cwnd_limited(sk) || !acked)
		return;
	law_grow(&win, dctcp_host.ack_counting, acked);
	dctcp_store(sk, &win);
}

/*
 * A window a round trip, times the host's ratio (Documentation/networking/ip-sysctl.rst,
 * https://elixir.bootlin.com/linux/v6.12/source/Documentation/networking/ip-sysctl.rst:
 * tcp_pacing_ss_ratio).
 */
static inline void dctcp_set_pacing_rate(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct net *net = sock_net(sk);
	u32 cwnd = tcp_snd_cwnd(tp);
	u64 rate;
	u32 percent;

	if (!tp->srtt_us)
		return;
	percent = cwnd < tp->snd_ssthresh / 2 ? READ_ONCE(net->ipv4.sysctl_tcp_pacing_ss_ratio) :
						READ_ONCE(net->ipv4.sysctl_tcp_pacing_ca_ratio);
	/* srtt_us counts eighths of microseconds. */
	rate = (u64)max(cwnd, tp->packets_out) * tp->mss_cache * 8 * (USEC_PER_SEC / 100);
	rate = div_u64(rate * percent, tp->srtt_us);
	WRITE_ONCE(sk->sk_pacing_rate, min_t(u64, rate, READ_ONCE(sk->sk_max_pacing_rate)));
}

static inline void dctcp_control(struct sock *sk, const struct rate_sample *rs)
{
	struct dctcp_sock *ca = inet_csk_ca(sk);

	switch (shoal_ca_state(sk)) {
	case TCP_CA_Recovery:
		shoal_recover(sk, &ca->recovery, rs, ca->advanced);
		break;
	case TCP_CA_CWR:
		if (ca->ece && !ca->entered_cwr) {
			struct law_window win = dctcp_load(sk);

			law_dctcp_on_ece_in_cwr(&ca->law, &dctcp_policy, &win);
			dctcp_store(sk, &win);
		}
		if (dctcp_host.grow_in_cwr && ca->advanced)
			dctcp_grow(sk, rs->acked_sacked);
		break;
	default:
		if (ca->advanced)
			dctcp_grow(sk, rs->acked_sacked);
		break;
	}
	dctcp_set_pacing_rate(sk);
}

#ifdef SHOAL_HAVE_CONG_CONTROL_ACK
static inline void dctcp_cong_control(struct sock *sk, u32 ack, int flag,
				      const struct rate_sample *rs)
{
	dctcp_control(sk, rs);
}
#else
static inline void dctcp_cong_control(struct sock *sk, const struct rate_sample *rs)
{
	dctcp_control(sk, rs);
}
#endif

/* The first packet after nothing was in flight has just been sent. */
static inline void dctcp_tx_start(struct sock *sk)
{
	struct dctcp_sock *ca = inet_csk_ca(sk);
	u32 idle = tcp_jiffies32 - tcp_sk(sk)->lsndtime;

	if (idle <= inet_csk(sk)->icsk_rto)
		return;
	law_dctcp_after_idle(&ca->law, &dctcp_policy);
	shoal_restart(sk, idle);
}

static inline void dctcp_set_ece(struct sock *sk, bool on)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (on)
		tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
	else
		tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
}

/* Receiver: a data segment arrived, with CE or not (RFC 8257 section 3.2, figure 1). */
static inline void dctcp_receive(struct sock *sk, bool ce)
{
	struct dctcp_sock *ca = inet_csk_ca(sk);
	struct inet_connection_sock *icsk = inet_csk(sk);

	/* Within a segment only CWR asks for an immediate ACK before its codepoint is looked at. */
	if (dctcp_host.delay_cwr_acks)
		icsk->icsk_ack.pending &= ~ICSK_ACK_NOW;
	if (dctcp_host.echo) {
		if (ca->ce_state != ce) {
			/*
			 * The segments that are still to be acknowledged came with the other state.
			 */
			if (icsk->icsk_ack.pending & ICSK_ACK_TIMER) {
				dctcp_set_ece(sk, ca->ce_state);
				shoal_send_ack(sk, ca->prior_rcv_nxt);
			}
			icsk->icsk_ack.pending |= ICSK_ACK_NOW;
		}
		dctcp_set_ece(sk, ce);
	}
	ca->prior_rcv_nxt = tcp_sk(sk)->rcv_nxt;
	ca->ce_state = ce;
}

static inline void dctcp_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	struct dctcp_sock *ca = inet_csk_ca(sk);

	switch (event) {
	case CA_EVENT_ECN_IS_CE:
		dctcp_receive(sk, true);
		break;
	case CA_EVENT_ECN_NO_CE:
		dctcp_receive(sk, false);
		break;
	case CA_EVENT_LOSS:
		dctcp_on_timeout(sk, true);
		ca->timed_out = true;
		break;
#ifndef SHOAL_HAVE_TX_START
	case CA_EVENT_TX_START:
		dctcp_tx_start(sk);
		break;
#endif
	default:
		break;
	}
}

static inline u32 dctcp_undo_cwnd(struct sock *sk)
{
	const struct dctcp_sock *ca = inet_csk_ca(sk);
	struct law_window win = dctcp_load(sk);

	return law_dctcp_undo(&ca->law, &win);
}

/* Fields of struct tcp_congestion_ops that both modules fill alike. */
#ifdef SHOAL_HAVE_TX_START
#define DCTCP_OPS_TX_START	.cwnd_event_tx_start = dctcp_tx_start,
#else
#define DCTCP_OPS_TX_START
#endif

#endif
