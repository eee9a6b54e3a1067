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

#include "dctcp_ikr.h"
#include "dctcp_info.h"
#include "dctcp_param.h"

static struct law_dctcp_policy dctcp_policy = DCTCP_IKR_POLICY;
static struct dctcp_host dctcp_host = DCTCP_IKR_HOST;

DCTCP_IKR_PARAMETERS(DCTCP_PARAMETER)

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
