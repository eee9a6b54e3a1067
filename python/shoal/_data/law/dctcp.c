/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * DCTCP (RFC 8257, https://www.rfc-editor.org/rfc/rfc8257) in the integers of Linux: the window shrinks in proportion
 * to the fraction of packets that were marked. The gain of the estimate is a parameter.
 */
#include "shoal_law.h"

SHOAL_DESCRIBE("{ \"abi\": 1, \"kind\": \"controller\", \"summary\": \"DCTCP as Linux has it.\", \"ecn\": \"dctcp\","
	       "  \"parameters\": ["
	       "    { \"name\": \"gain_shift\", \"default\": 4, \"least\": 0, \"most\": 10, \"whole\": true,"
	       "      \"text\": \"A window counts one part in two to the power of this.\" }"
	       "  ] }")

/* Estimate of the marked fraction in 1/1024. */
static uint64_t alpha = 1024;
/* Packets of this observation window, and its end in the stream. */
static uint64_t marked, total, window_end;
/* For the case that a reduction turns out to be spurious. */
static uint64_t cwnd_before;

static void show(void)
{
	shoal.alpha = alpha / 1024.0;
}

SHOAL_CALL(on_init)
{
	show();
	return 0;
}

SHOAL_CALL(on_established)
{
	window_end = shoal.snd_nxt;
	return 0;
}

SHOAL_CALL(on_ack)
{
	marked += shoal.marked_packets;
	total += shoal.delivered_packets;
	if (shoal.snd_una >= window_end) {
		uint64_t shift = (uint64_t)shoal.parameter[0];
		uint64_t decay = alpha >> shift;

		/* A decay that would be rounded to nothing takes all that is left. */
		if (!decay)
			decay = alpha;
		alpha = shoal_min(alpha - decay + (marked << 10) / (shoal_max(total, 1) << shift), 1024);
		marked = total = 0;
		window_end = shoal.snd_nxt;
		show();
	}
	return 0;
}

SHOAL_CALL(on_growth)
{
	shoal_reno();
	return 0;
}

SHOAL_CALL(on_ecn)
{
	cwnd_before = shoal.cwnd;
	shoal.ssthresh = shoal_max(shoal.cwnd - (shoal.cwnd * alpha >> 11), 2 * shoal.quantum);
	shoal.cwnd_cnt = 0;
	return 0;
}

static void halve(void)
{
	cwnd_before = shoal.cwnd;
	shoal.ssthresh = shoal_max(shoal.cwnd / 2, 2 * shoal.quantum);
	shoal.cwnd_cnt = 0;
}

SHOAL_CALL(on_loss)
{
	halve();
	return 0;
}

SHOAL_CALL(on_loss_in_cwr)
{
	halve();
	return 0;
}

SHOAL_CALL(on_rto)
{
	if (!shoal.already_reduced)
		halve();
	shoal.cwnd_cnt = 0;
	return 0;
}

SHOAL_CALL(undo_cwnd)
{
	return shoal_max(shoal.cwnd, cwnd_before);
}
