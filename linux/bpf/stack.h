/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stack as a BPF program sees it: in place of the kernel's net/tcp.h
 * (https://elixir.bootlin.com/linux/v6.12/source/include/net/tcp.h), what
 * linux/modules/dctcp_sock.h reads and writes of a socket. The loader relocates each access to
 * where the running kernel has the field (CO-RE), so that only names and types count here.
 * tests/replay_trace.c runs the same code in user space, on sockets of its own.
 */
#ifndef _SHOAL_BPF_STACK_H
#define _SHOAL_BPF_STACK_H

#include "../modules/law/law.h"

#ifdef __bpf__
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define SHOAL_RELOCATED		__attribute__((preserve_access_index))
#define shoal_bits(s, field)	BPF_CORE_READ_BITFIELD(s, field)
#define memset			__builtin_memset
#else
#include <string.h>

#define SHOAL_RELOCATED
#define shoal_bits(s, field)	((s)->field)
#endif

#define SHOAL_HAVE_CONG_CONTROL_ACK

#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, value)	((x) = (value))
#define min_t(type, a, b)	((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define max_t(type, a, b)	((type)(a) > (type)(b) ? (type)(a) : (type)(b))
#define min(a, b)		min_t(typeof(a), a, b)
#define max(a, b)		max_t(typeof(a), a, b)
#define div_u64(a, b)		((u64)(a) / (u32)(b))

#define USEC_PER_SEC		1000000ULL
/* States of a socket: https://elixir.bootlin.com/linux/v6.12/source/include/net/tcp_states.h. */
#define TCP_CLOSE		7
#define TCP_LISTEN		10
/* RFC 6928, https://www.rfc-editor.org/rfc/rfc6928. */
#define TCP_INIT_CWND		10
#define TCP_INFINITE_SSTHRESH	0x7fffffff
/* Flags of ecn_flags; before accurate ECN came, in Linux 6.18, its bit was not used. */
#define TCP_ECN_DEMAND_CWR	4
#define TCP_ECN_MODE_ANY	0x11
#define ICSK_ACK_TIMER		2
#define ICSK_ACK_NOW		16
#define CA_ACK_WIN_UPDATE	2
#define CA_ACK_ECE		4

enum tcp_ca_event {
	CA_EVENT_TX_START,
	CA_EVENT_CWND_RESTART,
	CA_EVENT_COMPLETE_CWR,
	CA_EVENT_LOSS,
	CA_EVENT_ECN_NO_CE,
	CA_EVENT_ECN_IS_CE,
};

enum tcp_ca_state {
	TCP_CA_Open,
	TCP_CA_Disorder,
	TCP_CA_CWR,
	TCP_CA_Recovery,
	TCP_CA_Loss,
};

struct netns_ipv4 {
	u8 sysctl_tcp_slow_start_after_idle;
	int sysctl_tcp_pacing_ss_ratio;
	int sysctl_tcp_pacing_ca_ratio;
} SHOAL_RELOCATED;

struct net {
	struct netns_ipv4 ipv4;
} SHOAL_RELOCATED;

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	unsigned char skc_state;
	u16 skc_num;
	u16 skc_dport;
	possible_net_t skc_net;
} SHOAL_RELOCATED;

struct dst_entry {
	unsigned long _metrics;
} SHOAL_RELOCATED;

struct sock {
	struct sock_common __sk_common;
	struct dst_entry *sk_dst_cache;
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
} SHOAL_RELOCATED;

#define sk_state		__sk_common.skc_state

struct inet_sock {
	struct sock sk;
} SHOAL_RELOCATED;

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	u32 icsk_rto;
	u8 icsk_ca_state:5;
	struct {
		u8 pending;
	} icsk_ack;
	u64 icsk_ca_priv[13];
} SHOAL_RELOCATED;

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 snd_una;
	u32 snd_nxt;
	u32 snd_cwnd;
	u32 snd_cwnd_cnt;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 mss_cache;
	u32 srtt_us;
	u32 packets_out;
	u32 max_packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 retrans_out;
	u32 prr_out;
	u32 delivered;
	u32 delivered_ce;
	u32 rcv_nxt;
	u32 lsndtime;
	u32 undo_marker;
	u8 ecn_flags;
	u8 is_cwnd_limited:1;
} SHOAL_RELOCATED;

struct rate_sample {
	int losses;
	u32 acked_sacked;
} SHOAL_RELOCATED;

/* Only its address is passed on; BPF programs have none for connections without ECN. */
struct tcp_congestion_ops;

#define tcp_sk(sk)		((struct tcp_sock *)(sk))
#define inet_csk(sk)		((struct inet_connection_sock *)(sk))
#define inet_csk_ca(sk)		((void *)inet_csk(sk)->icsk_ca_priv)
#define sock_net(sk)		((sk)->__sk_common.skc_net.net)
#define tcp_snd_cwnd(tp)	((tp)->snd_cwnd)
#define tcp_snd_cwnd_set(tp, n)	((tp)->snd_cwnd = (n))

#ifdef __bpf__
#define tcp_jiffies32		((u32)bpf_jiffies64())

/* RTAX_INITCWND, the eleventh of the metrics of a route, whose address has flags in its low bits. */
#define SHOAL_METRIC_INITCWND	10
#define SHOAL_METRICS_FLAGS	3UL

static inline u32 shoal_route_window(struct sock *sk)
{
	struct dst_entry *dst = sk->sk_dst_cache;
	u32 window = 0;

	if (dst) {
		const u32 *metrics = (const u32 *)(dst->_metrics & ~SHOAL_METRICS_FLAGS);

		bpf_probe_read_kernel(&window, sizeof(window), metrics + SHOAL_METRIC_INITCWND);
	}
	return window;
}

static inline void shoal_send_ack(struct sock *sk, u32 rcv_nxt)
{
	bpf_tcp_send_ack(sk, rcv_nxt);
}

/* The stack's Reno, which also clears ECT. */
static inline void shoal_run_reno(struct sock *sk, struct tcp_congestion_ops *reno)
{
	/* SOL_TCP and TCP_CONGESTION. */
	bpf_setsockopt(sk, 6, 13, (void *)"reno", sizeof("reno"));
}
#else
/* Defined by the program. */
static u32 tcp_jiffies32;
static u32 shoal_route_window(struct sock *sk);
static void shoal_send_ack(struct sock *sk, u32 rcv_nxt);
static void shoal_run_reno(struct sock *sk, struct tcp_congestion_ops *reno);
#endif

static inline u32 shoal_initial_window(struct sock *sk)
{
	u32 window = shoal_route_window(sk);

	return window ? window : TCP_INIT_CWND;
}

static inline u8 shoal_ca_state(const struct sock *sk)
{
	return shoal_bits(inet_csk(sk), icsk_ca_state);
}

static inline bool shoal_has_ecn(const struct tcp_sock *tp)
{
	return tp->ecn_flags & TCP_ECN_MODE_ANY;
}

static inline u32 tcp_packets_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
}

/* These two are as in the header. */
static inline bool tcp_is_cwnd_limited(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (shoal_bits(tp, is_cwnd_limited))
		return true;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

static inline u32 tcp_current_ssthresh(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u8 state = shoal_ca_state(sk);

	if (state == TCP_CA_CWR || state == TCP_CA_Recovery)
		return tp->snd_ssthresh;
	return max(tp->snd_ssthresh, (tp->snd_cwnd >> 1) + (tp->snd_cwnd >> 2));
}

#endif
