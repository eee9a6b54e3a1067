// SPDX-License-Identifier: GPL-2.0-only
/*
 * TCP Prague, the reference congestion control of L4S (RFC 9331 section 4,
 * https://www.rfc-editor.org/rfc/rfc9331#section-4), in its versions 0.5 to 0.7: a congestion
 * control for each. The law is law/prague.h; here it meets a socket.
 *
 * Needs accurate ECN (RFC 9768, https://www.rfc-editor.org/rfc/rfc9768), whose counter of CE
 * packets the stack keeps (delivered_ce); a connection without it runs Reno. As the stack leaves
 * cwnd to a congestion control with cong_control entirely, sock_shoal.h does the rest.
 */

#include <linux/inet_diag.h>
#include <linux/module.h>
#include <net/tcp.h>
#include <net/tcp_ecn.h>

#include "law/prague.h"
#include "prague_ect.h"
#include "sock_shoal.h"

/* Bursts of 2^-12 s, 244 us, at the pacing rate; Linux has 2^-10 s. */
#define PRAGUE_PACING_SHIFT	12
#define PRAGUE_DEFAULT_SHIFT	10

struct prague_version {
	struct tcp_congestion_ops ops;
	struct law_prague_policy policy;
};

struct prague_sock {
	struct law_prague law;
	struct shoal_recovery recovery;
	u32 prior_una;
	u32 prior_delivered;
	u32 prior_delivered_ce;
	/* Packets that the ACK being processed reports with CE. */
	u32 marked;
	/* cwnd after the last ACK; the stack changes its own before it reports a later timeout. */
	u32 cwnd;
	/* mss_cache as this module has set it, and as the path allows it. */
	u16 mss;
	u16 full_mss;
	/* The connection is established. */
	u8 started:1,
	/* The ACK being processed acknowledges new data. */
	   advanced:1,
	/* CA_EVENT_LOSS has reported a timeout, whose state is still to be set. */
	   timed_out:1;
};

static const struct law_prague_policy *prague_policy(const struct sock *sk)
{
	return &container_of(inet_csk(sk)->icsk_ca_ops, struct prague_version, ops)->policy;
}

static struct law_window prague_load(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return (struct law_window){
		.cwnd = tcp_snd_cwnd(tp),
		.ssthresh = tp->snd_ssthresh,
		.clamp = tp->snd_cwnd_clamp,
	};
}

static void prague_store(struct sock *sk, const struct law_window *win)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (win->cwnd != tcp_snd_cwnd(tp))
		tcp_snd_cwnd_set(tp, win->cwnd);
	WRITE_ONCE(tp->snd_ssthresh, win->ssthresh);
}

/* Size of a full packet with its headers. The stack sets mss_cache when the path's MTU changes. */
static u32 prague_mtu(struct sock *sk)
{
	struct prague_sock *ca = inet_csk_ca(sk);

	if (tcp_sk(sk)->mss_cache != ca->mss) {
		ca->mss = tcp_sk(sk)->mss_cache;
		ca->full_mss = ca->mss;
	}
	return tcp_mss_to_mtu(sk, ca->full_mss);
}

static void prague_size_packets(struct sock *sk)
{
	struct prague_sock *ca = inet_csk_ca(sk);
	u32 headers = prague_mtu(sk) - ca->full_mss;

	ca->mss = ca->law.packet > headers ? min_t(u32, ca->law.packet - headers, ca->full_mss) :
					     ca->full_mss;
	tcp_sk(sk)->mss_cache = ca->mss;
}

static void prague_set_pacing_rate(struct sock *sk)
{
	const struct prague_sock *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct law_window win = prague_load(sk);
	u64 rate;

	if (!tp->srtt_us)
		return;
	rate = law_prague_pace(&ca->law, prague_policy(sk), &win, tp->srtt_us,
			       tcp_packets_in_flight(tp), prague_mtu(sk));
	WRITE_ONCE(sk->sk_pacing_rate, min_t(u64, rate, READ_ONCE(sk->sk_max_pacing_rate)));
}

/* Reno, and no ECT but that of classic ECN where the server grants it. */
static struct tcp_congestion_ops prague_reno __read_mostly = {
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "prague-reno",
};

static void prague_init(struct sock *sk)
{
	struct prague_sock *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	memset(ca, 0, sizeof(*ca));
	if (!tcp_ecn_mode_accecn(tp) || !prague_ect_begin(sk)) {
		WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, &prague_reno);
		INET_ECN_dontxmit(sk);
		return;
	}
	law_prague_init(&ca->law, prague_policy(sk), (u32)tp->tcp_mstamp, tp->snd_nxt);
	ca->prior_una = tp->snd_una;
	ca->prior_delivered = tp->delivered;
	ca->prior_delivered_ce = tp->delivered_ce;
	ca->cwnd = tcp_snd_cwnd(tp);
	ca->started = 1;
	WRITE_ONCE(sk->sk_pacing_shift, PRAGUE_PACING_SHIFT);
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
	prague_set_pacing_rate(sk);
}

static void prague_release(struct sock *sk)
{
	struct prague_sock *ca = inet_csk_ca(sk);

	if (!ca->started)
		return;
	ca->law.packet = 0;
	prague_size_packets(sk);
	WRITE_ONCE(sk->sk_pacing_shift, PRAGUE_DEFAULT_SHIFT);
	prague_ect_end(sk);
}

static struct law_prague_ack prague_ack(struct sock *sk)
{
	const struct prague_sock *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	return (struct law_prague_ack){
		.snd_una = tp->snd_una,
		.snd_nxt = tp->snd_nxt,
		.delivered = tp->delivered - ca->prior_delivered,
		.marked = ca->marked,
		.now_us = (u32)tp->tcp_mstamp,
		.srtt = tp->srtt_us,
		.mtu = prague_mtu(sk),
	};
}

/* Called for every ACK, when the stack has counted what it delivers, and before it responds. */
static void prague_in_ack_event(struct sock *sk, u32 flags)
{
	struct prague_sock *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct law_window win = prague_load(sk);
	struct law_prague_ack ack;

	/* The ACK of a SYN comes before init(). */
	if (!ca->started)
		return;
	ca->marked = tp->delivered_ce - ca->prior_delivered_ce;
	ca->advanced = tp->snd_una != ca->prior_una;
	ack = prague_ack(sk);
	law_prague_on_ack(&ca->law, prague_policy(sk), &win, &ack);
	ca->prior_una = tp->snd_una;
	ca->prior_delivered = tp->delivered;
	ca->prior_delivered_ce = tp->delivered_ce;
}

static void prague_cong_control(struct sock *sk, u32 ack_seq, int flag,
				const struct rate_sample *rs)
{
	struct prague_sock *ca = inet_csk_ca(sk);

	if (!ca->started)
		return;
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery) {
		shoal_recover(sk, &ca->recovery, rs, ca->advanced);
	} else if (ca->advanced && rs->acked_sacked > 0) {
		struct law_window win = prague_load(sk);
		const struct law_prague_ack ack = prague_ack(sk);

		law_prague_on_growth(&ca->law, prague_policy(sk), &win, &ack, rs->acked_sacked,
				     tcp_is_cwnd_limited(sk));
		prague_store(sk, &win);
	}
	ca->cwnd = tcp_snd_cwnd(tcp_sk(sk));
	prague_size_packets(sk);
	prague_set_pacing_rate(sk);
}

/* The stack asks before it tells why; prague_set_state() knows. */
static u32 prague_ssthresh(struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

static void prague_on_timeout(struct sock *sk, bool fresh)
{
	struct prague_sock *ca = inet_csk_ca(sk);
	struct law_window win = prague_load(sk);

	if (!fresh)
		win.cwnd = ca->cwnd;
	law_prague_on_timeout(&ca->law, prague_policy(sk), &win, fresh);
	WRITE_ONCE(tcp_sk(sk)->snd_ssthresh, win.ssthresh);
}

/* Called before icsk_ca_state changes, after prague_ssthresh(). */
static void prague_set_state(struct sock *sk, u8 new_state)
{
	struct prague_sock *ca = inet_csk_ca(sk);
	u8 old_state = inet_csk(sk)->icsk_ca_state;
	struct law_window win = prague_load(sk);

	if (!ca->started)
		return;
	switch (new_state) {
	case TCP_CA_CWR:
		law_prague_on_ecn(&ca->law, prague_policy(sk), &win,
				  (u32)tcp_sk(sk)->tcp_mstamp);
		break;
	case TCP_CA_Recovery:
		if (old_state == TCP_CA_Recovery)
			break;
		law_prague_on_loss(&ca->law, prague_policy(sk), &win);
		prague_store(sk, &win);
		shoal_begin_recovery(&ca->recovery, tcp_sk(sk));
		break;
	case TCP_CA_Loss:
		/* The first timeout of a flight was reported before cwnd was changed. */
		if (!ca->timed_out)
			prague_on_timeout(sk, false);
		ca->timed_out = 0;
		break;
	default:
		if (old_state < TCP_CA_CWR)
			break;
		shoal_end_recovery(sk, old_state);
		win = prague_load(sk);
		law_prague_on_exit(&ca->law, &win);
		break;
	}
}

/* The first packet after nothing was in flight has just been sent. */
static void prague_tx_start(struct sock *sk)
{
	u32 idle = tcp_jiffies32 - tcp_sk(sk)->lsndtime;

	if (idle > inet_csk(sk)->icsk_rto)
		shoal_restart(sk, idle);
}

static void prague_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	struct prague_sock *ca = inet_csk_ca(sk);

	if (!ca->started)
		return;
#ifndef SHOAL_HAVE_TX_START
	if (event == CA_EVENT_TX_START)
		prague_tx_start(sk);
#endif
	if (event == CA_EVENT_LOSS) {
		prague_on_timeout(sk, true);
		ca->timed_out = 1;
	}
}

static u32 prague_undo_cwnd(struct sock *sk)
{
	const struct prague_sock *ca = inet_csk_ca(sk);
	struct law_window win = prague_load(sk);

	return law_prague_undo(&ca->law, &win);
}

/* A segment is what the pacing rate sends in a burst, at least one packet. */
static u32 prague_min_tso_segs(struct sock *sk)
{
	return 1;
}

/* Alpha as `ss -i` shows that of DCTCP, in 1/1024. */
static size_t prague_get_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	const struct prague_sock *ca = inet_csk_ca(sk);
	const u32 wanted = 1 << (INET_DIAG_DCTCPINFO - 1) | 1 << (INET_DIAG_VEGASINFO - 1);

	if (!(ext & wanted))
		return 0;
	memset(&info->dctcp, 0, sizeof(info->dctcp));
	info->dctcp.dctcp_enabled = 1;
	info->dctcp.dctcp_alpha = law_prague_alpha(&ca->law) >>
				  (prague_policy(sk)->alpha_bits - 10);
	info->dctcp.dctcp_ab_ecn = ca->law.marked * ca->full_mss;
	info->dctcp.dctcp_ab_tot = ca->law.total * ca->full_mss;
	*attr = INET_DIAG_DCTCPINFO;
	return sizeof(info->dctcp);
}

#ifdef SHOAL_HAVE_TX_START
#define PRAGUE_OPS_TX_START	.cwnd_event_tx_start = prague_tx_start,
#else
#define PRAGUE_OPS_TX_START
#endif

/*
 * The SYN asks for accurate ECN, and is not ECN-capable itself, so that any server can grant it
 * (RFC 9768 section 3.1.1).
 */
#define PRAGUE_OPS						\
	.init		= prague_init,				\
	.release	= prague_release,			\
	.in_ack_event	= prague_in_ack_event,			\
	.cong_control	= prague_cong_control,			\
	.cwnd_event	= prague_cwnd_event,			\
	PRAGUE_OPS_TX_START					\
	.ssthresh	= prague_ssthresh,			\
	.undo_cwnd	= prague_undo_cwnd,			\
	.set_state	= prague_set_state,			\
	.min_tso_segs	= prague_min_tso_segs,			\
	.get_info	= prague_get_info,			\
	.flags		= TCP_CONG_NEEDS_ACCECN,		\
	.owner		= THIS_MODULE

static struct prague_version prague_versions[] __read_mostly = {
	{ .ops = { PRAGUE_OPS, .name = "prague_0_7" }, .policy = PRAGUE_0_7 },
	{ .ops = { PRAGUE_OPS, .name = "prague_0_7early" }, .policy = PRAGUE_0_7_EARLY },
	{ .ops = { PRAGUE_OPS, .name = "prague_0_6" }, .policy = PRAGUE_0_6 },
	{ .ops = { PRAGUE_OPS, .name = "prague_0_5" }, .policy = PRAGUE_0_5 },
};

static void prague_unregister_first(size_t count)
{
	while (count--)
		tcp_unregister_congestion_control(&prague_versions[count].ops);
}

static int __init prague_register(void)
{
	size_t count;
	int err;

	BUILD_BUG_ON(sizeof(struct prague_sock) > ICSK_CA_PRIV_SIZE);
	for (count = 0; count < ARRAY_SIZE(prague_versions); count++) {
		err = tcp_register_congestion_control(&prague_versions[count].ops);
		if (err) {
			prague_unregister_first(count);
			return err;
		}
	}
	return 0;
}

static void __exit prague_unregister(void)
{
	prague_unregister_first(ARRAY_SIZE(prague_versions));
}

module_init(prague_register);
module_exit(prague_unregister);

MODULE_DESCRIPTION("TCP Prague 0.5 to 0.7, over accurate ECN, with ECT(1)");
MODULE_AUTHOR("The shoal authors");
MODULE_LICENSE("GPL");
