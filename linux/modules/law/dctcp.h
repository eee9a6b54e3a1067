/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DCTCP with named policies: the marked fraction alpha, and the reductions of the window.
 *
 * Sources: RFC 8257 (https://www.rfc-editor.org/rfc/rfc8257); Kuehlewind, Wagner, Reyes Espinosa,
 * Briscoe, "Using Data Center TCP (DCTCP) in the Internet" (2014), section III; Kato, Eggert,
 * Zimmermann, Van Meter, Tokuda, "Extensions to FreeBSD Datacenter TCP for Incremental Deployment
 * Support" (2015), sections 3 and 4. Counterpart of crates/core/cc/src/dctcp.
 */
#ifndef _SHOAL_LAW_DCTCP_H
#define _SHOAL_LAW_DCTCP_H

#include "window.h"

enum law_dctcp_counting {
	/* The marked fraction counts packets delivered. */
	DCTCP_PACKETS,
	/* Each ACK counts once, however much it acknowledges (Kuehlewind et al., III-B c). */
	DCTCP_ACKS,
};

enum law_dctcp_counter {
	/* The linear-increase counter is cleared with every ECN episode. */
	DCTCP_COUNTER_CLEAR,
	/* It is kept if nothing was cut (Kuehlewind et al., III-A b). */
	DCTCP_COUNTER_KEEP_UNLESS_CUT,
};

/* Policies, each of which is a module parameter. */
struct law_dctcp_policy {
	/* Alpha is a multiple of 2^-alpha_bits: 10 or 20 (Kuehlewind et al., III-A a). */
	u32 alpha_bits;
	/* Initial alpha, in 1/1024. */
	u32 alpha_on_init;
	/* g = 2^-gain_shift. */
	u32 gain_shift;
	/* enum law_dctcp_counting. */
	u32 counting;
	/* Alpha is updated on every ACK (Kuehlewind et al., III-B c), else once a window. */
	bool alpha_per_ack;
	/*
	 * With alpha_per_ack: the gain is that of a whole window, divided by the packets in flight
	 * (Kuehlewind et al., III-B c, last sentence).
	 */
	bool gain_per_window;
	/*
	 * Each further mark of the episode may reduce the window, computed from the window at its
	 * start (Kuehlewind et al., III-B d).
	 */
	bool progressive;
	/* ssthresh = cwnd - 1 after a cut, else cwnd (Kuehlewind et al., III-A). */
	bool ssthresh_minus_one;
	/* enum law_dctcp_counter. */
	u32 counter;
	/*
	 * Alpha has its initial value again after an idle period longer than the RTO (Kato et al.,
	 * 4.2.2).
	 */
	bool alpha_reset_after_idle;
	/*
	 * A timeout ends the observation window, which would otherwise last for several round trips
	 * (Kato et al., 4.2.3).
	 */
	bool alpha_update_on_timeout;
	/* Duplicate ACKs that begin fast recovery end it as well (Kato et al., 4.2.3). */
	bool alpha_update_on_loss;
	/*
	 * Loss found in an ECN episode halves the window, too (RFC 8257 section 3.4); else the cut
	 * for the mark is the only one (Linux 3.2).
	 */
	bool cut_on_loss_in_cwr;
};

struct law_dctcp {
	/* Marked fraction in 2^-alpha_bits, with the alpha_bits of law_dctcp_init(). */
	u32 alpha;
	/* Counts since the last update, by enum law_dctcp_counting. */
	u32 marked;
	u32 total;
	/*
	 * The observation window ends when this is acknowledged (RFC 8257 section 3.3,
	 * DCTCP.WindowEnd).
	 */
	u32 window_end;
	/* cwnd at the start of the episode (Kuehlewind et al. 2014 cwnd_max); 0 outside. */
	u32 cwnd_max;
	/* cwnd before the last reduction, for an undo. */
	u32 cwnd_before;
	/* alpha_bits of this connection: the parameter may change during its life. */
	u8 alpha_bits;
};

/* One ACK. */
struct law_dctcp_ack {
	u32 snd_una;
	u32 snd_nxt;
	/* Packets newly delivered, and how many of them were marked. */
	u32 delivered;
	u32 marked;
	/* Packets in flight before it. */
	u32 flight;
	/* The ACK acknowledges new data. */
	bool advanced;
	/* The ACK is a duplicate. */
	bool duplicate;
	bool ece;
};

/*
 * At least two packets (RFC 5681 section 3.1, https://www.rfc-editor.org/rfc/rfc5681#section-3.1;
 * to which RFC 8257 leaves the lower bound).
 */
#define DCTCP_FLOOR	2u

static inline u32 law_dctcp_initial(const struct law_dctcp_policy *policy, u8 bits)
{
	return law_min32(policy->alpha_on_init, LAW_ALPHA_MAX) << (bits > 10 ? 10 : 0);
}

static inline void law_dctcp_init(struct law_dctcp *law, const struct law_dctcp_policy *policy,
				  u32 snd_nxt)
{
	*law = (struct law_dctcp){
		.alpha_bits = policy->alpha_bits > 10 ? 20 : 10,
		.window_end = snd_nxt,
	};
	law->alpha = law_dctcp_initial(policy, law->alpha_bits);
}

/* alpha <- alpha - g alpha weight/unit + g marked/unit, each term truncated, at most one. */
static inline void law_dctcp_average(struct law_dctcp *law, u32 marked, u32 weight, u64 unit,
				     u32 shift)
{
	u64 one = 1ULL << law->alpha_bits;
	u64 divisor = law_shl(unit ? unit : 1, shift);
	u64 decay = law_min64(law_div(law_mul(law->alpha, weight), divisor), law->alpha);

	law->alpha = (u32)law_min64(law->alpha - decay + law_div(law_mul(marked, one), divisor),
				    one);
}

static inline void law_dctcp_end_window(struct law_dctcp *law,
					const struct law_dctcp_policy *policy)
{
	u32 total = law_max32(law->total, 1);

	law_dctcp_average(law, law->marked, total, total, policy->gain_shift);
	law->marked = 0;
	law->total = 0;
}

/* Called for every ACK, before the window is changed. */
static inline void law_dctcp_on_ack(struct law_dctcp *law, const struct law_dctcp_policy *policy,
				    const struct law_dctcp_ack *ack)
{
	u32 marked = ack->marked;
	u32 total = ack->delivered;

	if (policy->counting == DCTCP_ACKS) {
		total = ack->advanced || ack->duplicate;
		marked = ack->ece ? total : 0;
	}
	if (policy->alpha_per_ack) {
		u64 unit = policy->gain_per_window ? law_max32(ack->flight, 1) : 1;

		if (total)
			law_dctcp_average(law, marked, total, unit, policy->gain_shift);
		return;
	}
	law->marked = law_add32(law->marked, marked);
	law->total = law_add32(law->total, total);
	/* Sequence numbers wrap. */
	if ((s32)(ack->snd_una - law->window_end) >= 0) {
		law_dctcp_end_window(law, policy);
		law->window_end = ack->snd_nxt;
	}
}

/* cwnd (1 - alpha/2), the reduction rounded down (RFC 8257 section 3.3; Kuehlewind et al., 1). */
static inline u32 law_dctcp_scaled(const struct law_dctcp *law, u32 cwnd)
{
	u32 cut = (u32)(law_mul(cwnd, law->alpha) >> (law->alpha_bits + 1));

	return law_max32(cwnd - cut, DCTCP_FLOOR);
}

static inline void law_dctcp_set(const struct law_dctcp_policy *policy, struct law_window *win,
				 u32 cwnd)
{
	if (cwnd < win->cwnd || policy->counter == DCTCP_COUNTER_CLEAR)
		win->cnt = 0;
	win->cwnd = cwnd;
	win->ssthresh = policy->ssthresh_minus_one ? law_max32(cwnd - 1, DCTCP_FLOOR) : cwnd;
}

/* Handles the first ECN-Echo of an episode. */
static inline void law_dctcp_on_ecn(struct law_dctcp *law, const struct law_dctcp_policy *policy,
				    struct law_window *win)
{
	u32 target = law_dctcp_scaled(law, win->cwnd);

	law->cwnd_before = win->cwnd;
	if (policy->progressive) {
		law->cwnd_max = win->cwnd;
		target = law_min32(target, win->cwnd);
	}
	law_dctcp_set(policy, win, target);
}

/* Handles a further ACK with ECN-Echo in the same episode. */
static inline void law_dctcp_on_ece_in_cwr(struct law_dctcp *law,
					   const struct law_dctcp_policy *policy,
					   struct law_window *win)
{
	u32 target;

	if (!policy->progressive || !law->cwnd_max)
		return;
	target = law_dctcp_scaled(law, law->cwnd_max);
	if (target < win->cwnd)
		law_dctcp_set(policy, win, target);
}

/*
 * Loss halves the window as in Reno (RFC 8257 section 3.4). Sets ssthresh, to which the host then
 * reduces cwnd.
 */
static inline void law_dctcp_halve(struct law_dctcp *law, struct law_window *win)
{
	law->cwnd_before = win->cwnd;
	win->ssthresh = law_max32(win->cwnd / 2, DCTCP_FLOOR);
	win->cnt = 0;
}

/**
 * law_dctcp_on_loss() - Handle the beginning of fast recovery
 * @law: state of the law
 * @policy: policies of the controller
 * @win: congestion window
 * @snd_nxt: next sequence number to be sent
 * @in_cwr: the loss was found within an ECN episode
 */
static inline void law_dctcp_on_loss(struct law_dctcp *law, const struct law_dctcp_policy *policy,
				     struct law_window *win, u32 snd_nxt, bool in_cwr)
{
	law->cwnd_max = 0;
	if (!in_cwr || policy->cut_on_loss_in_cwr)
		law_dctcp_halve(law, win);
	if (policy->alpha_update_on_loss) {
		law_dctcp_end_window(law, policy);
		law->window_end = snd_nxt;
	}
}

/**
 * law_dctcp_on_timeout() - Handle a retransmission timeout
 * @law: state of the law
 * @policy: policies of the controller
 * @win: congestion window
 * @snd_nxt: next sequence number to be sent
 * @mss: maximum segment size in bytes
 * @fresh: this flight has not been reduced yet
 */
static inline void law_dctcp_on_timeout(struct law_dctcp *law,
					const struct law_dctcp_policy *policy,
					struct law_window *win, u32 snd_nxt, u32 mss, bool fresh)
{
	law->cwnd_max = 0;
	if (fresh)
		law_dctcp_halve(law, win);
	win->cnt = 0;
	if (policy->alpha_update_on_timeout) {
		law_dctcp_end_window(law, policy);
		law->window_end = snd_nxt + mss;
	}
}

/* Ends the episode. */
static inline void law_dctcp_on_exit(struct law_dctcp *law)
{
	law->cwnd_max = 0;
}

/* Sending resumes after an idle period longer than the RTO. */
static inline void law_dctcp_after_idle(struct law_dctcp *law,
					const struct law_dctcp_policy *policy)
{
	if (!policy->alpha_reset_after_idle)
		return;
	law->alpha = law_dctcp_initial(policy, law->alpha_bits);
	law->marked = 0;
	law->total = 0;
}

static inline u32 law_dctcp_undo(const struct law_dctcp *law, const struct law_window *win)
{
	return law_max32(win->cwnd, law->cwnd_before);
}

#endif
