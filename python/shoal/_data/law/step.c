/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Step marking by the packet's own wait (RFC 9332, section 2.5.1,
 * https://www.rfc-editor.org/rfc/rfc9332#section-2.5.1): a packet that waited longer than the threshold is marked, or
 * dropped if it is not ECN-capable.
 */
#include "shoal_queue.h"

SHOAL_DESCRIBE("{ \"abi\": 1, \"kind\": \"queue\", \"summary\": \"A step on the time that a packet waited.\","
	       "  \"parameters\": ["
	       "    { \"name\": \"threshold_us\", \"unit\": \"us\", \"default\": 1000, \"least\": 1, \"most\": 1000000,"
	       "      \"text\": \"Longest wait without a mark.\" }"
	       "  ] }")

/* A packet leaves the queue. */
SHOAL_CALL(on_departure)
{
	if (shoal.sojourn_ps > shoal.parameter[0] * 1e6)
		return shoal_signal(SHOAL_THRESHOLD);
	return SHOAL_PASS;
}
