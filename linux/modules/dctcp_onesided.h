/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DCTCP for one end of a connection, after Kato, Eggert, Zimmermann, Van Meter, Tokuda, "Extensions
 * to FreeBSD Datacenter TCP for Incremental Deployment Support" (2015): its policies and
 * parameters, for the module and for the BPF program. tcp_dctcp_onesided.c tells what they do.
 */
#ifndef _DCTCP_ONESIDED_H
#define _DCTCP_ONESIDED_H

#include "dctcp_sock.h"

#define DCTCP_ONESIDED_POLICY { \
	.alpha_bits = 10, \
	.alpha_on_init = 0, \
	.gain_shift = 4, \
	.counting = DCTCP_PACKETS, \
	.counter = DCTCP_COUNTER_KEEP_UNLESS_CUT, \
	.alpha_reset_after_idle = true, \
	.alpha_update_on_timeout = true, \
	.alpha_update_on_loss = true, \
	.cut_on_loss_in_cwr = true, \
}

#define DCTCP_ONESIDED_HOST { \
	.grow_in_cwr = true, \
	.ack_counting = LAW_COUNT_PACKETS, \
	.echo = true, \
	.delay_cwr_acks = true, \
}

#define DCTCP_ONESIDED_PARAMETERS(PARAMETER) \
	PARAMETER(alpha_on_init, policy.alpha_on_init, ALPHA, \
		  "First alpha in 1/1024: 0 (default) to 1024") \
	PARAMETER(gain_shift, policy.gain_shift, SHIFT, "g = 2^-gain_shift, 0 to 20 (default 4)") \
	PARAMETER(grow_in_cwr, host.grow_in_cwr, SWITCH, \
		  "Marks do not stop growth (section 4.1, default on)") \
	PARAMETER(alpha_reset_after_idle, policy.alpha_reset_after_idle, SWITCH, \
		  "Alpha anew after an idle period longer than the RTO (section 4.2.2, default on)") \
	PARAMETER(alpha_update_on_timeout, policy.alpha_update_on_timeout, SWITCH, \
		  "Update alpha on a timeout (section 4.2.3, default on)") \
	PARAMETER(alpha_update_on_loss, policy.alpha_update_on_loss, SWITCH, \
		  "Update alpha when fast recovery begins (section 4.2.3, default on)") \
	PARAMETER(cut_on_loss_in_cwr, policy.cut_on_loss_in_cwr, SWITCH, \
		  "Halve for a loss in CWR too (RFC 8257 3.4, default on)") \
	PARAMETER(echo, host.echo, SWITCH, \
		  "Receiver: ECN-Echo follows CE (DCTCP, default), else RFC 3168's latch") \
	PARAMETER(delay_cwr_acks, host.delay_cwr_acks, SWITCH, \
		  "Receiver: no immediate ACK for CWR (section 3.2, default on)")

#endif
