// SPDX-License-Identifier: GPL-2.0-only
/*
 * DCTCP for one end of a connection, after Kato, Eggert, Zimmermann, Van Meter, Tokuda, "Extensions
 * to FreeBSD Datacenter TCP for Incremental Deployment Support" (2015).
 *
 * dctcp_onesided, for senders: CWR is sent once a round trip (section 3.1), which Linux does for
 * every controller that enters CWR, so that a receiver by RFC 3168
 * (https://www.rfc-editor.org/rfc/rfc3168) stops its ECN-Echo; marks do not stop growth (4.1);
 * alpha begins with a configured value (4.2.1), also after an idle period (4.2.2), and is updated
 * by duplicate ACKs and timeouts (4.2.3). It opens connections as RFC 3168 specifies: Linux sets
 * ECT on the SYN of controllers that need ECN, and refuses ECN to such a SYN unless the listener
 * needs ECN too. Hence ECN must be switched on by sysctl net.ipv4.tcp_ecn.
 *
 * dctcp_1sided_rx, for listeners: the same, and the receiver echoes CE as DCTCP does; segments with
 * CWR are acknowledged with delay (3.2). Linux tells codepoints only to controllers that need ECN.
 *
 * A changed parameter takes effect at once, alpha_on_init for new connections and after idle
 * periods.
 */

#include <linux/module.h>

#include "dctcp_info.h"
#include "dctcp_onesided.h"
#include "dctcp_param.h"

static struct law_dctcp_policy dctcp_policy = DCTCP_ONESIDED_POLICY;
static struct dctcp_host dctcp_host = DCTCP_ONESIDED_HOST;

DCTCP_ONESIDED_PARAMETERS(DCTCP_PARAMETER)

/* Without ECN: Reno. */
static size_t dctcp_onesided_reno_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	return dctcp_fill_info(sk, ext, attr, info, false);
}

static struct tcp_congestion_ops dctcp_onesided_reno __read_mostly = {
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.get_info	= dctcp_onesided_reno_info,
	.owner		= THIS_MODULE,
	.name		= "dctcp-1-reno",
};

static void dctcp_onesided_init(struct sock *sk)
{
	dctcp_sock_init(sk, &dctcp_onesided_reno);
}

static size_t dctcp_onesided_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	return dctcp_fill_info(sk, ext, attr, info, true);
}

static struct tcp_congestion_ops dctcp_onesided __read_mostly = {
	.init		= dctcp_onesided_init,
	.in_ack_event	= dctcp_in_ack_event,
	.cong_control	= dctcp_cong_control,
	.cwnd_event	= dctcp_cwnd_event,
	DCTCP_OPS_TX_START
	.ssthresh	= dctcp_ssthresh,
	.undo_cwnd	= dctcp_undo_cwnd,
	.set_state	= dctcp_set_state,
	.get_info	= dctcp_onesided_info,
	.owner		= THIS_MODULE,
	.name		= "dctcp_onesided",
};

static struct tcp_congestion_ops dctcp_onesided_rx __read_mostly = {
	.init		= dctcp_onesided_init,
	.in_ack_event	= dctcp_in_ack_event,
	.cong_control	= dctcp_cong_control,
	.cwnd_event	= dctcp_cwnd_event,
	DCTCP_OPS_TX_START
	.ssthresh	= dctcp_ssthresh,
	.undo_cwnd	= dctcp_undo_cwnd,
	.set_state	= dctcp_set_state,
	.get_info	= dctcp_onesided_info,
	.flags		= TCP_CONG_NEEDS_ECN,
	.owner		= THIS_MODULE,
	.name		= "dctcp_1sided_rx",
};

static int __init dctcp_onesided_register(void)
{
	int err;

	BUILD_BUG_ON(sizeof(struct dctcp_sock) > ICSK_CA_PRIV_SIZE);
	err = tcp_register_congestion_control(&dctcp_onesided);
	if (err)
		return err;
	err = tcp_register_congestion_control(&dctcp_onesided_rx);
	if (err)
		tcp_unregister_congestion_control(&dctcp_onesided);
	return err;
}

static void __exit dctcp_onesided_unregister(void)
{
	tcp_unregister_congestion_control(&dctcp_onesided_rx);
	tcp_unregister_congestion_control(&dctcp_onesided);
}

module_init(dctcp_onesided_register);
module_exit(dctcp_onesided_unregister);

MODULE_ALIAS("tcp_dctcp_1sided_rx");
MODULE_DESCRIPTION("DCTCP for one end of a connection, after Kato et al. (2015)");
MODULE_AUTHOR("The shoal authors");
MODULE_LICENSE("GPL");
