/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Reno (RFC 5681, https://www.rfc-editor.org/rfc/rfc5681): a packet more each window, half of it on a loss.
 */
#include "shoal_law.h"

SHOAL_DESCRIBE("{ \"abi\": 1, \"kind\": \"controller\", \"summary\": \"Reno as Linux has it.\" }")

static void halve(void)
{
	shoal.ssthresh = shoal_part(1, 2);
	shoal.cwnd_cnt = 0;
}

/* The window may grow: an ACK acknowledged new data. */
SHOAL_CALL(on_growth)
{
	shoal_reno();
	return 0;
}

/* A loss, or the first ECN-Echo of an episode. The endpoint brings cwnd to ssthresh. */
SHOAL_CALL(on_loss)
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

/* Hosts that halve their rate over a window (Linux 3.2) may go below ssthresh. */
SHOAL_CALL(rate_halving_floor)
{
	return shoal.ssthresh / 2;
}
