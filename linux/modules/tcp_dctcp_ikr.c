// SPDX-License-Identifier: GPL-2.0-only
/*
 * DCTCP with the changes of Kuehlewind, Wagner, Reyes Espinosa, Briscoe, "Using Data Center TCP
 * (DCTCP) in the Internet" (2014), section III: a finer alpha, updated on every ACK; a progressive
 * reduction from the window at the start of CWR; growth in CWR; ssthresh one below the window; the
 * linear-increase counter kept if nothing was cut.
 *
 * Each change is a parameter. A changed parameter takes effect at once, alpha_bits and
 * alpha_on_init for new connections.
 */

#include <linux/module.h>

#include "dctcp_param.h"
#include "dctcp_sock.h"

static struct law_dctcp_policy dctcp_policy = {
	.alpha_bits = 20,
	.alpha_on_init = 0,
	.gain_shift = 8,
	.counting = DCTCP_ACKS,
	.alpha_per_ack = true,
	.progressive = true,
	.ssthresh_minus_one = true,
	.counter = DCTCP_COUNTER_KEEP_UNLESS_CUT,
};

static struct dctcp_host dctcp_host = {
	.grow_in_cwr = true,
	.ack_counting = LAW_COUNT_PACKETS,
	.echo = true,
};

static int dctcp_set_bits(const char *value, const struct kernel_param *kp)
{
	unsigned int bits;
	int err = kstrtouint(value, 0, &bits);

	if (!err && bits != 10 && bits != 20)
		err = -EINVAL;
	return err ? err : param_set_uint(value, kp);
}

static const struct kernel_param_ops dctcp_bits_ops = {
	.set = dctcp_set_bits,
	.get = param_get_uint,
};

static int dctcp_set_choice(const char *value, const struct kernel_param *kp)
{
	return param_set_uint_minmax(value, kp, 0, 1);
}

/* One of two. */
static const struct kernel_param_ops dctcp_choice_ops = {
	.set = dctcp_set_choice,
	.get = param_get_uint,
};

module_param_cb(alpha_bits, &dctcp_bits_ops, &dctcp_policy.alpha_bits, 0644);
MODULE_PARM_DESC(alpha_bits, "Resolution of alpha: 20 for 2^-20 (default), 10 for 2^-10");
module_param_cb(alpha_on_init, &dctcp_alpha_ops, &dctcp_policy.alpha_on_init, 0644);
MODULE_PARM_DESC(alpha_on_init, "First alpha in 1/1024, 0 (default) to 1024");
module_param_named(alpha_per_ack, dctcp_policy.alpha_per_ack, bool, 0644);
MODULE_PARM_DESC(alpha_per_ack, "Update alpha on every ACK (default), else once a window");
module_param_cb(alpha_counting, &dctcp_choice_ops, &dctcp_policy.counting, 0644);
MODULE_PARM_DESC(alpha_counting,
		 "What the marked fraction counts: 0 packets, 1 ACKs (default)");
module_param_cb(gain_shift, &dctcp_shift_ops, &dctcp_policy.gain_shift, 0644);
MODULE_PARM_DESC(gain_shift, "g = 2^-gain_shift an update, 0 to 20: 8 an ACK, 4 a window");
module_param_named(gain_per_window, dctcp_policy.gain_per_window, bool, 0644);
MODULE_PARM_DESC(gain_per_window,
		 "On every ACK: g is a window's, divided by the packets in flight (default off)");
module_param_named(progressive, dctcp_policy.progressive, bool, 0644);
MODULE_PARM_DESC(progressive, "Reduce on each ECN-Echo from the first window (default), else once");
module_param_named(grow_in_cwr, dctcp_host.grow_in_cwr, bool, 0644);
MODULE_PARM_DESC(grow_in_cwr, "Let the window grow in CWR (default on)");
module_param_named(ssthresh_minus_one, dctcp_policy.ssthresh_minus_one, bool, 0644);
MODULE_PARM_DESC(ssthresh_minus_one, "After a cut ssthresh is cwnd - 1 (default), else cwnd");
module_param_cb(keep_counter, &dctcp_choice_ops, &dctcp_policy.counter, 0644);
MODULE_PARM_DESC(keep_counter,
		 "Keep the linear-increase counter if nothing was cut: 1 (default) or 0");
module_param_named(cut_on_loss_in_cwr, dctcp_policy.cut_on_loss_in_cwr, bool, 0644);
MODULE_PARM_DESC(cut_on_loss_in_cwr,
		 "Halve for a loss in CWR too (RFC 8257 3.4; default off, as the patch)");
module_param_cb(ack_counting, &dctcp_choice_ops, &dctcp_host.ack_counting, 0644);
MODULE_PARM_DESC(ack_counting,
		 "Growth counts 0 packets (default) or 1 ACKs, as Linux 3.2 did");

/* Without ECN: Reno. */
static size_t dctcp_ikr_reno_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	return dctcp_fill_info(sk, ext, attr, info, false);
}

static struct tcp_congestion_ops dctcp_ikr_reno __read_mostly = {
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.get_info	= dctcp_ikr_reno_info,
	.owner		= THIS_MODULE,
	.name		= "dctcp-ikr-reno",
};

static void dctcp_ikr_init(struct sock *sk)
{
	dctcp_sock_init(sk, &dctcp_ikr_reno);
}

static size_t dctcp_ikr_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	return dctcp_fill_info(sk, ext, attr, info, true);
}

static struct tcp_congestion_ops dctcp_ikr __read_mostly = {
	.init		= dctcp_ikr_init,
	.in_ack_event	= dctcp_in_ack_event,
	.cong_control	= dctcp_cong_control,
	.cwnd_event	= dctcp_cwnd_event,
	DCTCP_OPS_TX_START
	.ssthresh	= dctcp_ssthresh,
	.undo_cwnd	= dctcp_undo_cwnd,
	.set_state	= dctcp_set_state,
	.get_info	= dctcp_ikr_info,
	.flags		= TCP_CONG_NEEDS_ECN,
	.owner		= THIS_MODULE,
	.name		= "dctcp_ikr",
};

static int __init dctcp_ikr_register(void)
{
	BUILD_BUG_ON(sizeof(struct dctcp_sock) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&dctcp_ikr);
}

static void __exit dctcp_ikr_unregister(void)
{
	tcp_unregister_congestion_control(&dctcp_ikr);
}

module_init(dctcp_ikr_register);
module_exit(dctcp_ikr_unregister);

MODULE_DESCRIPTION("DCTCP with the changes of Kuehlewind et al. (2014)");
MODULE_AUTHOR("The shoal authors");
MODULE_LICENSE("GPL");
