// SPDX-License-Identifier: GPL-2.0
/*
 * Reno, with which NAME begins: the same windows as the kernel's own, from another file.
 *
 * The response to a loss and the growth of the window are those of RFC 5681
 * (https://www.rfc-editor.org/rfc/rfc5681#section-3.1), counted in packets as Linux counts: each packet that is
 * acknowledged adds one to the window in slow start, and 1/cwnd above ssthresh. Run it with
 *
 *	shoal run NAME.toml --on linux
 */
#include <linux/minmax.h>
#include <linux/module.h>
#include <net/tcp.h>

/* Fewest packets to which a loss brings the threshold (equation 4 of RFC 5681). */
static uint floor_packets = 2;
module_param(floor_packets, uint, 0444);
MODULE_PARM_DESC(floor_packets, "Lowest slow start threshold, packets");

static u32 PREFIX_ssthresh(struct sock *sk)
{
	u32 half = tcp_snd_cwnd(tcp_sk(sk)) / 2;

	return max(half, floor_packets);
}

static void PREFIX_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 window = tcp_snd_cwnd(tp);

	/* A window that is not filled has not been tried. */
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (window < tp->snd_ssthresh) {
		u32 added = min(acked, tp->snd_ssthresh - window);

		window += added;
		acked -= added;
	}
	if (acked) {
		u32 round = window;

		/* Credit that was collected for a larger window is worth one packet. */
		if (tp->snd_cwnd_cnt >= round) {
			tp->snd_cwnd_cnt = 0;
			window++;
		}
		tp->snd_cwnd_cnt += acked;
		window += tp->snd_cwnd_cnt / round;
		tp->snd_cwnd_cnt %= round;
	}
	tcp_snd_cwnd_set(tp, min(window, tp->snd_cwnd_clamp));
}

static struct tcp_congestion_ops PREFIX __read_mostly = {
	.ssthresh	= PREFIX_ssthresh,
	.cong_avoid	= PREFIX_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.name		= "NAME",
	.owner		= THIS_MODULE,
};

static int __init PREFIX_init(void)
{
	return tcp_register_congestion_control(&PREFIX);
}

static void __exit PREFIX_exit(void)
{
	tcp_unregister_congestion_control(&PREFIX);
}

module_init(PREFIX_init);
module_exit(PREFIX_exit);
MODULE_DESCRIPTION("NAME");
MODULE_LICENSE("GPL");
