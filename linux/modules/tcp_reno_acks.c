// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reno that counts ACKs, as hosts did up to Linux 3.12 (slow start) and 3.19 (congestion
 * avoidance): with delayed ACKs its window grows half as fast as today's, which counts packets.
 * Experiments of that time, such as those of Kuehlewind et al. (2014), cannot be repeated against
 * the Reno of a current kernel.
 */

#include <linux/module.h>
#include <net/tcp.h>

#include "law/window.h"

static void reno_acks_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct law_window win = {
		.cwnd = tcp_snd_cwnd(tp),
		.ssthresh = tp->snd_ssthresh,
		.cnt = tp->snd_cwnd_cnt,
		.clamp = tp->snd_cwnd_clamp,
	};

	if (!tcp_is_cwnd_limited(sk))
		return;
	law_grow(&win, LAW_COUNT_ACKS, acked);
	if (win.cwnd != tcp_snd_cwnd(tp))
		tcp_snd_cwnd_set(tp, win.cwnd);
	tp->snd_cwnd_cnt = win.cnt;
}

static struct tcp_congestion_ops reno_acks __read_mostly = {
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= reno_acks_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "reno_acks",
};

static int __init reno_acks_register(void)
{
	return tcp_register_congestion_control(&reno_acks);
}

static void __exit reno_acks_unregister(void)
{
	tcp_unregister_congestion_control(&reno_acks);
}

module_init(reno_acks_register);
module_exit(reno_acks_unregister);

MODULE_DESCRIPTION("Reno that counts ACKs, as Linux 3.2 did");
MODULE_AUTHOR("The shoal authors");
MODULE_LICENSE("GPL");
