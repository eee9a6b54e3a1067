/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TCP Prague, the reference congestion control of L4S: the marked fraction alpha, a window with a
 * fraction, reductions, and the pacing rate. law/prague_rate.h has what it does at low rates.
 *
 * Written from the published law (RFC 9331 section 4, https://www.rfc-editor.org/rfc/rfc9331;
 * draft-briscoe-iccrg-prague-congestion-control,
 * https://datatracker.ietf.org/doc/draft-briscoe-iccrg-prague-congestion-control/) and from what
 * each version is known to do: config.rs and presets.rs of its counterpart,
 * crates/core/cc/src/prague, name the trees that they describe.
 *
 * Times are microseconds of 32 bits, which wrap around; smoothed RTTs are eighths of microseconds.
 */
#ifndef _SHOAL_LAW_PRAGUE_H
#define _SHOAL_LAW_PRAGUE_H

#include "window.h"

/* The window of which the pacing rate is made. */
enum law_prague_paced {
	/* The larger of cwnd and the packets in flight. */
	PRAGUE_PACED_CWND,
	/* The window with its fraction. */
	PRAGUE_PACED_FRACTIONAL,
	/* The larger of the window rounded down and the packets in flight. */
	PRAGUE_PACED_WHOLE,
};

/* What differs between the versions. */
struct law_prague_policy {
	/* Alpha is a multiple of 2^-alpha_bits: 20 or 24. */
	u8 alpha_bits;
	/* The first alpha is one, else zero. */
	bool alpha_from_one;
	/* The first CE of a connection halves the window and leaves alpha at zero. */
	bool halve_first;
	/*
	 * Shortest virtual round trip in microseconds, between updates of alpha and between cuts,
	 * too; 0: the law counts in round trips of the path.
	 */
	u32 target_us;
	/* Rounds after which the virtual round trip counts. */
	u16 independent_after;
	/* cwnd steps when the fraction amounts to a packet, else it is the window rounded up. */
	bool carry;
	/* A round trip adds 1500 bytes, else one packet. */
	bool bytes_1500;
	/* enum law_prague_paced. */
	u8 paced;
	/* Windows of up to four packets are rates, with packets of which two fit a round trip. */
	bool rate_mode;
};

/* Version 0.5, of the L4S laboratories of 2020. */
#define PRAGUE_0_5 { .alpha_bits = 20, .alpha_from_one = true, .independent_after = 100, \
		     .carry = true, .paced = PRAGUE_PACED_CWND }
#define PRAGUE_0_6 { .alpha_bits = 20, .alpha_from_one = true, .target_us = 25000, \
		     .independent_after = 500, .paced = PRAGUE_PACED_FRACTIONAL }
/* Version 0.7 of the kernels 5.15 of 2023 to 2025. */
#define PRAGUE_0_7_EARLY { .alpha_bits = 24, .halve_first = true, .target_us = 25000, \
			   .independent_after = 4, .paced = PRAGUE_PACED_CWND, .rate_mode = true }
#define PRAGUE_0_7 { .alpha_bits = 24, .halve_first = true, .target_us = 25000, \
		     .independent_after = 4, .bytes_1500 = true, .paced = PRAGUE_PACED_WHOLE, \
		     .rate_mode = true }

/* One packet, or one. */
#define PRAGUE_BITS		20
#define PRAGUE_ONE		0x100000LL
/* g = 2^-4; so many more bits than alpha has are kept. */
#define PRAGUE_GAIN_SHIFT	4
/* Smallest window in packets. */
#define PRAGUE_LOWEST		2u
/* Rates are multiples of 2^-10 B/s. */
#define PRAGUE_RATE_BITS	10
/* Largest rate, and largest fraction of a window, which no path comes near: 2^62. */
#define PRAGUE_MOST		0x4000000000000000LL
/* 100 kbit/s. */
#define PRAGUE_LOWEST_RATE	(12500LL << PRAGUE_RATE_BITS)
/* The packet for which 1500 bytes are one packet, in bytes. */
#define PRAGUE_REFERENCE	1500u
/* Eighths of a microsecond in a second. */
#define PRAGUE_SECOND		8000000ULL
/* The time of the last cut is no older, so that it does not become young by wrapping around. */
#define PRAGUE_OLD_US		0x40000000u

enum law_prague_marks {
	/* No CE yet: there may be no marker on the path. */
	PRAGUE_MARKS_NONE,
	/* The response to the first one is yet to come. */
	PRAGUE_MARKS_FIRST,
	PRAGUE_MARKS_SEEN,
};

struct law_prague {
	/* Window less cwnd, in 2^-20 packets; in the rate mode the rate in 2^-10 B/s. */
	s64 value;
	/* Alpha in units of 2^-(alpha_bits + PRAGUE_GAIN_SHIFT). */
	u32 upscaled;
	/* Packets reported with CE, and packets delivered, since the last update. */
	u32 marked;
	u32 total;
	/* The round ends when this is acknowledged; it began at began_us. */
	u32 round_end;
	u32 began_us;
	u32 last_cut_us;
	/* cwnd before the last reduction. */
	u32 cwnd_before;
	/* Rounds so far, up to what 16 bits hold. */
	u16 rounds;
	/* Size of a packet with its headers in bytes; 0: as large as the path allows. */
	u16 packet;
	/* enum law_prague_marks. */
	u8 marks:2,
	/* The ACK being processed has ended a round, which updates alpha last of all. */
	   round_over:1,
	   in_loss:1,
	   is_rate:1,
	/* Rate mode: the first half of the virtual round trip goes on. */
	   first_half:1;
};

/* One ACK. */
struct law_prague_ack {
	u32 snd_una;
	u32 snd_nxt;
	/* Packets newly delivered, and how many of them were reported with CE. */
	u32 delivered;
	u32 marked;
	u32 now_us;
	/* Smoothed RTT in eighths of a microsecond; 0: none yet. */
	u32 srtt;
	/* Size of a full packet with its headers, in bytes. */
	u32 mtu;
};

/* a b / divisor, or the largest number. */
static inline u64 law_prague_ratio(u64 a, u64 b, u64 divisor)
{
	if (law_mul_shr(a, b, 64) >= divisor)
		return U64_MAX;
	return law_mul_div(a, b, divisor);
}

static inline s64 law_prague_clip(u64 value)
{
	return (s64)law_min64(value, (u64)PRAGUE_MOST);
}

static inline s64 law_prague_max(s64 a, s64 b)
{
	return a > b ? a : b;
}

static inline bool law_prague_slow_start(const struct law_window *win)
{
	return win->cwnd < win->ssthresh;
}

/* Alpha in units of 2^-alpha_bits. */
static inline u32 law_prague_alpha(const struct law_prague *law)
{
	return law->upscaled >> PRAGUE_GAIN_SHIFT;
}

/* Whether the law counts in virtual round trips now. */
static inline bool law_prague_independent(const struct law_prague *law,
					  const struct law_prague_policy *policy,
					  const struct law_window *win)
{
	return policy->target_us && !law_prague_slow_start(win) &&
	       law->rounds >= policy->independent_after;
}

/* The virtual round trip, in eighths of a microsecond. */
static inline u64 law_prague_round(const struct law_prague_policy *policy, u32 srtt)
{
	return law_min64(law_max32(srtt, 8 * policy->target_us), U32_MAX);
}

/* The window in 2^-20 packets, not below the smallest one. */
static inline s64 law_prague_window(const struct law_prague *law, const struct law_window *win)
{
	s64 ahead = law->is_rate ? 0 : law->value;

	return law_prague_max((s64)win->cwnd * PRAGUE_ONE + ahead, PRAGUE_LOWEST * PRAGUE_ONE);
}

/* Takes one packet off cwnd, unless that is the smallest one, which ends slow start. */
static inline bool law_prague_step_down(struct law_window *win)
{
	if (win->cwnd < PRAGUE_LOWEST + 1)
		return false;
	win->cwnd--;
	win->ssthresh = law_max32(win->cwnd, 2);
	return true;
}

#include "prague_rate.h"

static inline void law_prague_init(struct law_prague *law, const struct law_prague_policy *policy,
				   u32 now_us, u32 snd_nxt)
{
	*law = (struct law_prague){
		.upscaled = policy->alpha_from_one ?
				    1u << (policy->alpha_bits + PRAGUE_GAIN_SHIFT) : 0,
		.round_end = snd_nxt,
		.began_us = now_us,
		.last_cut_us = now_us - PRAGUE_OLD_US,
	};
}

/* alpha <- (1 - g) alpha + g F, with the fraction F of packets that were marked. */
static inline void law_prague_average(struct law_prague *law,
				      const struct law_prague_policy *policy)
{
	u64 marked = law_min32(law->marked, law->total);

	law->upscaled += (u32)law_div(law_shl(marked, policy->alpha_bits), law->total) -
			 (law->upscaled >> PRAGUE_GAIN_SHIFT);
}

/* What follows the end of a round, at the end of the ACK that brought it. */
static inline void law_prague_update(struct law_prague *law,
				     const struct law_prague_policy *policy,
				     const struct law_prague_ack *ack)
{
	if (!law->round_over)
		return;
	law->round_over = 0;
	if (law->rounds < U16_MAX)
		law->rounds++;
	if (law->marks != PRAGUE_MARKS_NONE && law->total)
		law_prague_average(law, policy);
	law->marked = 0;
	law->total = 0;
	law_prague_size_packets(law, policy, ack);
	if (ack->now_us - law->last_cut_us > PRAGUE_OLD_US)
		law->last_cut_us = ack->now_us - PRAGUE_OLD_US;
}

/**
 * law_prague_on_ack() - Count what an ACK reports
 * @law: state of the law
 * @policy: version
 * @win: congestion window
 * @ack: the ACK
 *
 * Called for every ACK, before the window is changed.
 */
static inline void law_prague_on_ack(struct law_prague *law,
				     const struct law_prague_policy *policy,
				     const struct law_window *win,
				     const struct law_prague_ack *ack)
{
	law_prague_update(law, policy, ack);
	law->total = law_add32(law->total, ack->delivered);
	law->marked = law_add32(law->marked, ack->marked);
	if (ack->marked && law->marks == PRAGUE_MARKS_NONE)
		law->marks = PRAGUE_MARKS_FIRST;
	/* Sequence numbers wrap. */
	if ((s32)(ack->snd_una - law->round_end) >= 0 &&
	    (!law_prague_independent(law, policy, win) ||
	     ack->now_us - law->began_us >= policy->target_us)) {
		law->round_over = 1;
		law->round_end = ack->snd_nxt;
		law->began_us = ack->now_us;
	}
	if (law->is_rate)
		law->first_half = ack->now_us - law->began_us <
				  law_prague_round(policy, ack->srtt) / 8 / 2;
}

/* Takes the part @fraction / 2^@bits of the window, or of the rate. */
static inline void law_prague_cut(struct law_prague *law, const struct law_window *win,
				  u32 fraction, u32 bits)
{
	s64 whole = law->is_rate ? law->value : law_prague_window(law, win);
	s64 left = whole - (s64)law_mul_shr((u64)whole, fraction, bits);

	if (law->is_rate)
		law->value = law_prague_max(left, PRAGUE_LOWEST_RATE);
	else
		law->value = law_prague_max(left, PRAGUE_LOWEST * PRAGUE_ONE) -
			     (s64)win->cwnd * PRAGUE_ONE;
}

/*
 * Handles the entry into CWR: takes alpha/2, or half for the first CE, or nothing if the last cut
 * was made in the same virtual round trip.
 */
static inline void law_prague_on_ecn(struct law_prague *law,
				     const struct law_prague_policy *policy,
				     const struct law_window *win, u32 now_us)
{
	bool is_first = law->marks != PRAGUE_MARKS_SEEN;

	law->marks = PRAGUE_MARKS_SEEN;
	law->cwnd_before = win->cwnd;
	if (is_first && policy->halve_first) {
		law_prague_cut(law, win, 1, 1);
		law->upscaled = 0;
		law->last_cut_us = now_us;
	} else if (!law_prague_independent(law, policy, win) ||
		   now_us - law->last_cut_us >= policy->target_us) {
		law_prague_cut(law, win, law_prague_alpha(law), policy->alpha_bits + 1);
		law->last_cut_us = now_us;
	}
}

/*
 * Lets the host bring cwnd to the window in whole packets, which ssthresh becomes; the state keeps
 * the fraction.
 */
static inline void law_prague_enter_loss(struct law_prague *law,
					 const struct law_prague_policy *policy,
					 struct law_window *win)
{
	s64 whole = law->is_rate ? law_max32(win->cwnd / 2, PRAGUE_LOWEST) * PRAGUE_ONE :
				   law_prague_window(law, win);
	s64 packets = (whole + (policy->carry ? 0 : PRAGUE_ONE - 1)) >> PRAGUE_BITS;

	if (!law->is_rate)
		law->value = whole - packets * PRAGUE_ONE;
	win->ssthresh = law_max32((u32)law_min64(packets, U32_MAX), 2);
	win->cnt = 0;
	law->in_loss = 1;
}

/* Handles the beginning of fast recovery, in CWR or not: takes half of the window. */
static inline void law_prague_on_loss(struct law_prague *law,
				      const struct law_prague_policy *policy,
				      struct law_window *win)
{
	law->cwnd_before = win->cwnd;
	law_prague_cut(law, win, 1, 1);
	law_prague_enter_loss(law, policy, win);
}

/**
 * law_prague_on_timeout() - Handle a retransmission timeout
 * @law: state of the law
 * @policy: version
 * @win: congestion window, with the cwnd of before
 * @fresh: this flight has not been reduced yet
 */
static inline void law_prague_on_timeout(struct law_prague *law,
					 const struct law_prague_policy *policy,
					 struct law_window *win, bool fresh)
{
	if (fresh)
		law_prague_on_loss(law, policy, win);
	else if (!law->in_loss)
		/* The cut of CWR has been made, but cwnd may not have followed it. */
		law_prague_enter_loss(law, policy, win);
	win->cnt = 0;
}

/*
 * Ends the episode. A cwnd as large as before a loss was restored by an undo, so that the rate is,
 * too.
 */
static inline void law_prague_on_exit(struct law_prague *law, const struct law_window *win)
{
	if (law->in_loss && law->is_rate && law->cwnd_before > PRAGUE_LOWEST &&
	    win->cwnd >= law->cwnd_before)
		law->value = law->value > PRAGUE_MOST / 2 ? PRAGUE_MOST : 2 * law->value;
	law->in_loss = 0;
}

/* Adds (srtt / round)^2 / cwnd for each of @acked packets. */
static inline void law_prague_increase(struct law_prague *law,
				       const struct law_prague_policy *policy,
				       const struct law_window *win,
				       const struct law_prague_ack *ack, u32 acked, u64 round)
{
	/* In 2^-40; a ratio of times has 24 bits. */
	u64 scale = 1ULL << 40, added;

	if (ack->srtt < round) {
		u64 ratio = law_div(law_shl(ack->srtt, 24), round);

		scale = law_mul(ratio, ratio) >> 8;
	}
	if (policy->bytes_1500 && ack->mtu != PRAGUE_REFERENCE)
		scale = law_div(law_mul(scale, PRAGUE_REFERENCE), law_max32(ack->mtu, 1));
	added = law_prague_ratio(law_shl(acked, PRAGUE_BITS), scale, law_max32(win->cwnd, 1));
	added = law_sum(law_min64(added, U64_MAX >> 1), 1ULL << 39) >> 40;
	law->value += (s64)added;
	if (law->value > PRAGUE_MOST)
		law->value = PRAGUE_MOST;
}

/* Lets cwnd follow the window by at most one packet. */
static inline void law_prague_step(struct law_prague *law, const struct law_prague_policy *policy,
				   struct law_window *win)
{
	if (policy->carry ? law->value >= PRAGUE_ONE : law->value > 0) {
		if (win->cwnd < win->clamp) {
			win->cwnd++;
			law->value -= PRAGUE_ONE;
		} else if (law->value > PRAGUE_ONE) {
			law->value = PRAGUE_ONE;
		}
	} else if (law->value <= -PRAGUE_ONE) {
		law->value = law_prague_step_down(win) ? law->value + PRAGUE_ONE : 0;
	}
}

static inline void law_prague_grow(struct law_prague *law, const struct law_prague_policy *policy,
				   struct law_window *win, const struct law_prague_ack *ack,
				   u32 acked, bool limited)
{
	u64 round;

	/* A rate is not used up by filling a window, which is at least two packets. */
	if (!limited && !law->is_rate)
		return;
	acked -= law_min32(acked, ack->marked);
	if (acked && law_prague_slow_start(win) && !law->is_rate)
		acked = law_slow_start_packets(win, acked);
	if (!acked || law->in_loss)
		return;
	round = law_prague_independent(law, policy, win) ? law_prague_round(policy, ack->srtt) :
							   ack->srtt;
	if (law->is_rate)
		law_prague_increase_rate(law, policy, ack, acked, round);
	else
		law_prague_increase(law, policy, win, ack, acked, round);
}

/**
 * law_prague_on_growth() - Change the window for an ACK that has advanced
 * @law: state of the law
 * @policy: version
 * @win: congestion window
 * @ack: the ACK, which law_prague_on_ack() has seen
 * @acked: packets that it acknowledges
 * @limited: the window limits the sender
 *
 * Called in CWR, too, but not in fast recovery, where the host reduces cwnd.
 */
static inline void law_prague_on_growth(struct law_prague *law,
					const struct law_prague_policy *policy,
					struct law_window *win, const struct law_prague_ack *ack,
					u32 acked, bool limited)
{
	law_prague_grow(law, policy, win, ack, acked, limited);
	if (!law->is_rate)
		law_prague_step(law, policy, win);
	if (law->is_rate || (policy->rate_mode && law->marks != PRAGUE_MARKS_NONE &&
			     !law_prague_slow_start(win)))
		law_prague_choose_mode(law, win, ack);
	law_prague_update(law, policy, ack);
}

static inline u32 law_prague_undo(const struct law_prague *law, const struct law_window *win)
{
	return law_max32(win->cwnd, law->cwnd_before);
}

/**
 * law_prague_pace() - Compute the pacing rate
 * @law: state of the law
 * @policy: version
 * @win: congestion window
 * @srtt: smoothed RTT in eighths of a microsecond, not zero
 * @flight: packets in flight
 * @mtu: size of a packet with its headers, in bytes
 *
 * Return: the rate in bytes per second.
 */
static inline u64 law_prague_pace(const struct law_prague *law,
				  const struct law_prague_policy *policy,
				  const struct law_window *win, u32 srtt, u32 flight, u32 mtu)
{
	s64 packets = (s64)win->cwnd * PRAGUE_ONE;

	if (law->is_rate)
		return law_prague_paced_rate(law);
	if (policy->paced == PRAGUE_PACED_FRACTIONAL)
		packets = law_prague_window(law, win);
	else if (policy->paced == PRAGUE_PACED_WHOLE)
		packets = law_prague_window(law, win) & -PRAGUE_ONE;
	if (policy->paced != PRAGUE_PACED_FRACTIONAL)
		packets = law_prague_max(packets, (s64)flight * PRAGUE_ONE);
	if (win->cwnd < win->ssthresh / 2)
		packets *= 2;
	return law_prague_ratio((u64)packets, law_mul(mtu, PRAGUE_SECOND),
				law_shl(srtt, PRAGUE_BITS));
}

#endif
