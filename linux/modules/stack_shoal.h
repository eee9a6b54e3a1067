/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the congestion controls ask of the stack where a module and a BPF program have to ask
 * differently.
 */
#ifndef _STACK_SHOAL_H
#define _STACK_SHOAL_H

#ifdef __KERNEL__

#include <net/tcp.h>

static inline u8 shoal_ca_state(const struct sock *sk)
{
	return inet_csk(sk)->icsk_ca_state;
}

static inline u32 shoal_initial_window(struct sock *sk)
{
	const struct dst_entry *dst = __sk_dst_get(sk);
	u32 window = dst ? dst_metric(dst, RTAX_INITCWND) : 0;

	return window ? window : TCP_INIT_CWND;
}

static inline void shoal_send_ack(struct sock *sk, u32 rcv_nxt)
{
#ifdef SHOAL_HAVE_SEND_ACK_FLAGS
	__tcp_send_ack(sk, rcv_nxt, 0);
#else
	__tcp_send_ack(sk, rcv_nxt);
#endif
}

static inline bool shoal_has_ecn(const struct tcp_sock *tp)
{
#ifdef SHOAL_HAVE_ECN_MODE
	return tcp_ecn_mode_any(tp);
#else
	return tp->ecn_flags & TCP_ECN_OK;
#endif
}

/* The connection goes on with @reno, without ECT, which was set for the SYN of DCTCP. */
static inline void shoal_run_reno(struct sock *sk, struct tcp_congestion_ops *reno)
{
	WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, reno);
	INET_ECN_dontxmit(sk);
}

#else

#include "../bpf/stack.h"

#endif

#endif
