/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DCTCP with the changes of Kuehlewind, Wagner, Reyes Espinosa, Briscoe, "Using Data Center TCP
 * (DCTCP) in the Internet" (2014), section III: its policies and parameters, for the module and for
 * the BPF program.
 */
#ifndef _DCTCP_IKR_H
#define _DCTCP_IKR_H

#include "dctcp_sock.h"

#define DCTCP_IKR_POLICY { \
	.alpha_bits = 20, \
	.alpha_on_init = 0, \
	.gain_shift = 8, \
	.counting = DCTCP_ACKS, \
	.alpha_per_ack = true, \
	.progressive = true, \
	.ssthresh_minus_one = true, \
	.counter = DCTCP_COUNTER_KEEP_UNLESS_CUT, \
}

#define DCTCP_IKR_HOST { \
	.grow_in_cwr = true, \
	.ack_counting = LAW_COUNT_PACKETS, \
	.echo = true, \
}

#define DCTCP_IKR_PARAMETERS(PARAMETER) \
	PARAMETER(alpha_bits, policy.alpha_bits, BITS, \
		  "Resolution of alpha: 20 for 2^-20 (default), 10 for 2^-10") \
	PARAMETER(alpha_on_init, policy.alpha_on_init, ALPHA, \
		  "First alpha in 1/1024, 0 (default) to 1024") \
	PARAMETER(alpha_per_ack, policy.alpha_per_ack, SWITCH, \
		  "Update alpha on every ACK (default), else once a window") \
	PARAMETER(alpha_counting, policy.counting, CHOICE, \
		  "What the marked fraction counts: 0 packets, 1 ACKs (default)") \
	PARAMETER(gain_shift, policy.gain_shift, SHIFT, \
		  "g = 2^-gain_shift an update, 0 to 20: 8 an ACK, 4 a window") \
	PARAMETER(gain_per_window, policy.gain_per_window, SWITCH, \
		  "On every ACK: g is a window's, divided by the packets in flight (default off)") \
	PARAMETER(progressive, policy.progressive, SWITCH, \
		  "Reduce on each ECN-Echo from the first window (default), else once") \
	PARAMETER(grow_in_cwr, host.grow_in_cwr, SWITCH, "Let the window grow in CWR (default on)") \
	PARAMETER(ssthresh_minus_one, policy.ssthresh_minus_one, SWITCH, \
		  "After a cut ssthresh is cwnd - 1 (default), else cwnd") \
	PARAMETER(keep_counter, policy.counter, CHOICE, \
		  "Keep the linear-increase counter if nothing was cut: 1 (default) or 0") \
	PARAMETER(cut_on_loss_in_cwr, policy.cut_on_loss_in_cwr, SWITCH, \
		  "Halve for a loss in CWR too (RFC 8257 3.4; default off, as the patch)") \
	PARAMETER(ack_counting, host.ack_counting, CHOICE, \
		  "Growth counts 0 packets (default) or 1 ACKs, as Linux 3.2 did")

#endif
