// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proportional rate reduction, checked by hand: RFC 6937 section 3
 * (https://www.rfc-editor.org/rfc/rfc6937#section-3) on recoveries whose arithmetic fits a comment.
 */

#include <stdio.h>

#include "../law/prr.h"

static int failures;

static void expect(const char *what, u32 expected, u32 found)
{
	if (expected == found)
		return;
	fprintf(stderr, "%s: %u expected, %u found\n", what, expected, found);
	failures++;
}

/*
 * One loss in 20 packets, ssthresh 10: while the flight is above it, one packet is sent for every
 * two delivered.
 */
static void halves_over_the_round_trip(void)
{
	struct law_prr prr = { .prior_cwnd = 20, .ssthresh = 10 };
	u32 flight = 19, ack;

	for (ack = 1; ack <= 16; ack++) {
		u32 due;

		prr.delivered++;
		flight--;
		/* ceil(delivered 10 / 20) - sent; the first retransmission is sent at once. */
		due = (prr.delivered + 1) / 2 - prr.sent;
		expect("proportional", flight + due, law_prr_window(&prr, flight, 1, true));
		flight += due;
		prr.sent += due;
	}
	/*
	 * 16 delivered, 8 sent: 19 - 16 + 8. One more delivery, and the threshold is reached: no
	 * room.
	 */
	expect("flight at the end", 11, flight);
	prr.delivered++;
	expect("arrival", 10, law_prr_window(&prr, 10, 1, true));
}

/*
 * Below ssthresh the window is rebuilt: by one more than is delivered if that is safe, as conserved
 * otherwise.
 */
static void rebuilds_below_the_threshold(void)
{
	const struct law_prr prr = { .prior_cwnd = 20, .ssthresh = 10, .delivered = 8, .sent = 6 };

	/* max(8 - 6, 1) + 1 = 3, room 10 - 4 = 6. */
	expect("slow-start bound", 4 + 3, law_prr_window(&prr, 4, 1, true));
	/* max(2, 1) = 2. */
	expect("conservative bound", 4 + 2, law_prr_window(&prr, 4, 1, false));
	/* max(2, 5) + 1 = 6, but room is 10 - 8 = 2. */
	expect("room", 8 + 2, law_prr_window(&prr, 8, 5, true));
	expect("at the threshold", 10, law_prr_window(&prr, 10, 1, true));
}

static void never_takes_packets_back(void)
{
	const struct law_prr early = { .prior_cwnd = 20, .ssthresh = 10, .delivered = 1 };
	const struct law_prr ahead = {
		.prior_cwnd = 20, .ssthresh = 10, .delivered = 2, .sent = 5,
	};

	expect("first retransmission", 19, law_prr_window(&early, 18, 1, true));
	/* ceil(2 / 2) - 5 is negative. */
	expect("ahead of the proportion", 18, law_prr_window(&ahead, 18, 1, true));
	/* The first retransmission is sent even without room. */
	expect("first one without room", 11, law_prr_window(&early, 10, 1, true));
}

int main(void)
{
	halves_over_the_round_trip();
	rebuilds_below_the_threshold();
	never_takes_packets_back();
	if (!failures)
		printf("proportional rate reduction: by hand\n");
	return failures != 0;
}
