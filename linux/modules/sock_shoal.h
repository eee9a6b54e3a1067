/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What Linux leaves to congestion controls with cong_control, beyond the window in the open state:
 * proportional rate reduction in Recovery, the window at its end, and the restart after idle
 * periods.
 */
#ifndef _SOCK_SHOAL_H
#define _SOCK_SHOAL_H

#include "law/prr.h"
#include "stack_shoal.h"

/* A recovery, in memory of our own: those of the stack's fields a BPF program may not write. */
struct shoal_recovery {
	u32 prior_cwnd;
	u32 delivered;
	/* The stack's count of packets sent, prr_out, when it began. */
	u32 sent_before;
};

/*
 * Recovery begins, with its ssthresh set. From CWR the stack goes on counting, although nobody
 * reduced proportionally there.
 */
static inline void shoal_begin_recovery(struct shoal_recovery *recovery, const struct tcp_sock *tp)
{
	recovery->prior_cwnd = tcp_snd_cwnd(tp);
	recovery->delivered = 0;
	recovery->sent_before = tp->prr_out;
}

/**
 * shoal_recover() - Set cwnd in Recovery
 * @sk: the socket
 * @recovery: the recovery
 * @rs: what the ACK delivered
 * @advanced: the ACK acknowledges new data
 */
static inline void shoal_recover(struct sock *sk, struct shoal_recovery *recovery,
				 const struct rate_sample *rs, bool advanced)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct law_prr prr;

	if (rs->acked_sacked <= 0)
		return;
	recovery->delivered += rs->acked_sacked;
	prr.prior_cwnd = recovery->prior_cwnd;
	prr.ssthresh = tp->snd_ssthresh;
	prr.delivered = recovery->delivered;
	prr.sent = tp->prr_out - recovery->sent_before;
	tcp_snd_cwnd_set(tp, max(law_prr_window(&prr, tcp_packets_in_flight(tp), rs->acked_sacked,
						advanced && !rs->losses), 1U));
}

/* Leaves @old_state: after Recovery, unless it was undone, which clears the marker. */
static inline void shoal_end_recovery(struct sock *sk, u8 old_state)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (old_state == TCP_CA_Recovery && tp->undo_marker &&
	    tp->snd_ssthresh < TCP_INFINITE_SSTHRESH)
		tcp_snd_cwnd_set(tp, tp->snd_ssthresh);
}

/*
 * RFC 5681 section 4.1 (https://www.rfc-editor.org/rfc/rfc5681#section-4.1) and RFC 2861
 * (https://www.rfc-editor.org/rfc/rfc2861): the window halves for each RTO of an idle period, down
 * to the initial window.
 */
static inline void shoal_restart(struct sock *sk, u32 idle)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 rto = inet_csk(sk)->icsk_rto;
	u32 cwnd = tcp_snd_cwnd(tp);
	u32 least = min(shoal_initial_window(sk), cwnd);
	/* So often a number of 32 bits can be halved; BPF wants a bound that is written down. */
	int halvings = 32;

	if (!READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_slow_start_after_idle))
		return;
	WRITE_ONCE(tp->snd_ssthresh, tcp_current_ssthresh(sk));
	for (; halvings && idle > rto && cwnd > least; halvings--, idle -= rto)
		cwnd /= 2;
	tcp_snd_cwnd_set(tp, max(cwnd, least));
}

#endif
