/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Proportional rate reduction (RFC 6937, https://www.rfc-editor.org/rfc/rfc6937), for recovery from
 * losses.
 */
#ifndef _SHOAL_LAW_PRR_H
#define _SHOAL_LAW_PRR_H

#include "law.h"

struct law_prr {
	/* Window when recovery began (RecoverFS counts packets likewise). */
	u32 prior_cwnd;
	u32 ssthresh;
	/*
	 * Packets delivered since, those of this ACK included, and packets sent since
	 * (prr_delivered, prr_out).
	 */
	u32 delivered;
	u32 sent;
};

/**
 * law_prr_window() - Compute cwnd after an ACK in recovery
 * @prr: state of the recovery
 * @flight: packets in flight
 * @newly: packets that the ACK delivered
 * @safe: the ACK advanced and found no new loss, so that the slow-start reduction bound applies
 *   and not the conservative one
 *
 * See RFC 6937 section 3 and its update RFC 9937, https://www.rfc-editor.org/rfc/rfc9937.
 *
 * Return: cwnd in packets.
 */
static inline u32 law_prr_window(const struct law_prr *prr, u32 flight, u32 newly, bool safe)
{
	s64 send;

	if (flight > prr->ssthresh) {
		u64 due = law_sum(law_mul(prr->delivered, prr->ssthresh), prr->prior_cwnd) - 1;

		send = (s64)law_div(due, law_max32(prr->prior_cwnd, 1)) - prr->sent;
	} else {
		s64 room = (s64)prr->ssthresh - flight;

		send = (s64)prr->delivered - prr->sent;
		if (send < (s64)newly)
			send = newly;
		if (safe)
			send++;
		if (send > room)
			send = room;
	}
	/* The first retransmission is sent whatever the window is. */
	if (send < (prr->sent ? 0 : 1))
		send = prr->sent ? 0 : 1;
	return (u32)(flight + send);
}

#endif
