// SPDX-License-Identifier: GPL-2.0-only
/*
 * The laws at the bounds of their parameters (law/bounds.h), with every state that packets can
 * cause: all combinations of the edges and their neighbours, then random points. Arithmetic that
 * overflows 64 bits ends the program (userspace.h), and so does an impossible result. mutations.sh
 * shows that it notices when a bound is removed.
 *
 *  corners [SEED]
 */

#define _GNU_SOURCE
#include <string.h>

#include "../law/dctcp.h"
#include "../law/dualq.h"
#include "../law/dualred.h"
#include "../law/prague.h"
#include "../law/prr.h"
#include "random.h"

/* Largest time of ktime_get_ns(), which is a signed number. */
#define CLOCK_MAX	((u64)INT64_MAX)
/* Largest window or count of packets (tcp_snd_cwnd_set() warns above it). */
#define PACKETS_MAX	((u64)INT32_MAX)
#ifndef RANDOM_POINTS
#define RANDOM_POINTS	400000
#endif

#define EDGES(bound)	edges_of(bound##_MIN, bound##_MAX)

static u64 seed;
static struct random generator;
/* The combination that is being tested, for messages. */
static const char *where;
static u64 at[12];
static u64 tried;

static void print_place(FILE *out)
{
	size_t n;

	fprintf(out, "%s, with", where);
	for (n = 0; n < sizeof(at) / sizeof(*at); n++)
		fprintf(out, " %" PRIu64, at[n]);
	fprintf(out, "; seed %" PRIu64 "\n", seed);
}

static void expect(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "%s\n", what);
	print_place(stderr);
	exit(1);
}

struct edges {
	u64 value[4];
};

static struct edges edges_of(u64 min, u64 max)
{
	return (struct edges){ { min, min + 1, max - 1, max } };
}

/*
 * Calls @law with every combination of the edges of @count dimensions, then with random points
 * between.
 */
static void sweep(const char *name, const struct edges *dimension, size_t count,
		  void (*law)(const u64 *x))
{
	u64 combinations = 1ULL << (2 * count), n;
	size_t d;

	where = name;
	memset(at, 0, sizeof(at));
	for (n = 0; n < combinations + RANDOM_POINTS; n++) {
		for (d = 0; d < count; d++) {
			const u64 *edge = dimension[d].value;

			at[d] = n < combinations ? edge[n >> (2 * d) & 3] :
						   random_between(&generator, edge[0], edge[3]);
		}
		law(at);
		tried++;
	}
}

/* The quotient by a division in 128 bits, at most one. */
static u64 exactly(u64 a, u64 b, u64 divisor)
{
	__uint128_t quotient = (__uint128_t)a * b / divisor;

	return quotient < LAW_CERTAIN ? (u64)quotient : LAW_CERTAIN;
}

static void try_linear(const u64 *x)
{
	const struct law_slope slope = {
		.form = SLOPE_LINEAR, .saturation = x[0], .coupling = (u32)x[1],
	};
	/* Around one, and around the value at which p is limited. */
	const u64 queues[] = {
		x[2],	     x[0],		x[0] - 1,	  x[0] + 1,   x[0] << 13,
		x[2] >> 16, (x[0] << 13) - 1, CLOCK_MAX - x[0], x[2] >> 31,
	};
	size_t n;

	for (n = 0; n < sizeof(queues) / sizeof(*queues); n++) {
		u64 queue = queues[n];
		u64 mark = law_slope_mark(&slope, queue);
		u64 root = law_slope_drop_root(&slope, queue);
		u64 raw;

		expect(mark == exactly(queue, LAW_CERTAIN, slope.saturation),
		       "p is not Q / saturation");
		raw = queue / slope.saturation >> 16 ? 1ULL << 48 :
			(u64)((__uint128_t)queue * LAW_CERTAIN / slope.saturation);
		expect(root == exactly(raw, 1 << 16, slope.coupling), "the root is not p / k");
	}
}

static void try_shifted(const u64 *x)
{
	const struct law_slope slope = {
		.form = SLOPE_SHIFT, .unit = x[0], .mark_bits = (u8)x[1], .drop_bits = (u8)x[2],
	};
	u64 mark = law_slope_mark(&slope, x[3]), root = law_slope_drop_root(&slope, x[3]);

	expect(mark == exactly(x[3] / x[0], 1ULL << x[1], 1), "a mark is not Q << S_d");
	expect(root == exactly(x[3] / x[0], 1ULL << x[2], 1), "a drop is not Q << S_r");
}

static void try_slopes(void)
{
	const struct edges queue = edges_of(0, CLOCK_MAX);
	const struct edges linear[] = { EDGES(LAW_SATURATION), EDGES(LAW_COUPLING), queue };
	const struct edges shifted[] = { EDGES(LAW_UNIT), EDGES(LAW_BITS), EDGES(LAW_BITS), queue };

	sweep("linear slope: saturation, k, Q", linear, 3, try_linear);
	sweep("shifted slope: unit, S_d, S_r, Q", shifted, 4, try_shifted);
}

static void try_threshold(const u64 *x)
{
	struct law_dualq_params params = { .threshold = x[0], .rate = x[1] };
	const struct law_backlog own = { (u32)x[2], (u32)x[3], x[4] };
	bool above;

	for (params.threshold_measure = MEASURE_TIME; params.threshold_measure <= MEASURE_PACKETS;
	     params.threshold_measure++) {
		params.at_dequeue = false;
		above = law_dualq_above(&params, &own);
		if (params.threshold_measure == MEASURE_TIME)
			expect(above == (own.bytes > (__uint128_t)x[0] * x[1] / 1000000000),
			       "the threshold is not a time at the line's rate");
		params.at_dequeue = true;
		law_dualq_above(&params, &own);
	}
}

static void try_input(const u64 *x)
{
	struct law_dualq_params params = { .total = true };
	const struct law_backlog own = { (u32)x[0], (u32)x[1], x[2] };
	const struct law_backlog other = { (u32)x[3], (u32)x[4], x[5] };

	for (params.slope.measure = MEASURE_TIME; params.slope.measure <= MEASURE_PACKETS;
	     params.slope.measure++)
		expect(law_dualq_input(&params, true, &own, &other) ==
			       law_dualq_input(&params, false, &other, &own),
		       "the total depends on the order");
}

static void try_dual(void)
{
	const struct edges number = edges_of(0, U32_MAX), clock = edges_of(0, CLOCK_MAX);
	const struct edges threshold[] = { EDGES(LAW_THRESHOLD), EDGES(LAW_RATE), number, number,
					   clock };
	const struct edges input[] = { number, number, clock, number, number, clock };

	sweep("threshold: T, rate, packets, bytes, age", threshold, 5, try_threshold);
	sweep("total of two queues: packets, bytes, age of each", input, 6, try_input);
}

static void try_line(const u64 *x)
{
	struct law_line line;
	u64 idle, now = x[2];

	law_line_rate(&line, x[0]);
	law_line_reset(&line);
	law_line_wait((u32)x[1], x[0]);
	law_line_on_departure(&line, (u32)x[1], now);
	if (law_line_idle(&line, x[3], 0, now, &idle))
		expect(idle <= now, "idle for longer than ever");
	law_line_on_empty(&line, x[3]);
	law_line_idle(&line, x[3], 0, now, &idle);
}

static void try_scheduler(const u64 *x)
{
	struct law_sched_params params = {
		.classic_percent = (u32)x[0], .mtu = (u32)x[1], .shift = x[2],
	};
	struct law_sched sched;
	int n;

	for (params.kind = SCHED_PRIORITY; params.kind <= SCHED_TIME_SHIFTED; params.kind++) {
		law_sched_reset(&sched, &params);
		for (n = 0; n < 60; n++) {
			bool low = law_sched_picks_low(&sched, &params, x[3], x[4]);

			law_sched_charge(&sched, &params, low, (u32)x[5]);
			/* The credit is zero once, and a packet of a mebibyte at most beyond. */
			expect(llabs(sched.credit) <= 100LL * ((1 << 20) + LAW_MTU_MAX),
			       "a credit without end");
		}
	}
}

static void try_lines(void)
{
	const struct edges number = edges_of(0, U32_MAX), clock = edges_of(0, CLOCK_MAX);
	const struct edges line[] = { EDGES(LAW_RATE), number, clock, clock };
	/* A device may have any MTU. */
	const struct edges sched[] = { EDGES(LAW_PERCENT), EDGES(LAW_MTU), EDGES(LAW_SHIFT), clock,
				       clock, number };
	const struct edges device[] = { EDGES(LAW_PERCENT), number, EDGES(LAW_SHIFT), clock, clock,
					number };

	sweep("line: rate, bytes, now, last arrival", line, 4, try_line);
	sweep("scheduler: percent, mtu, shift, arrivals, bytes", sched, 6, try_scheduler);
	sweep("scheduler: percent, mtu of a device, shift, arrivals, bytes", device, 6,
	      try_scheduler);
}

static u32 random_draw(void *context)
{
	return (u32)random_between(context, 0, U32_MAX);
}

static void try_red(const u64 *x)
{
	const u64 now = x[7];
	struct law_red_params params = {
		.min = (u32)law_min64(x[0], x[1]), .max = (u32)(x[0] > x[1] ? x[0] : x[1]),
		.max_p = x[2], .weight = x[3],
	};
	struct law_line line;
	int flags;

	law_line_rate(&line, x[4]);
	for (flags = 0; flags < 8; flags++) {
		struct law_red red;
		u64 p;

		params.gentle = flags & 1;
		params.independent = flags & 2;
		law_red_derive(&params, law_line_time(&line, x[5]));
		law_red_reset(&red);
		law_line_reset(&line);
		/* The longest possible queue, then an idle line. */
		law_red_on_arrival(&red, &params, &line, 1, (u32)x[6], 0);
		if (flags & 4)
			law_line_on_departure(&line, (u32)x[6], now / 2);
		law_red_on_arrival(&red, &params, &line, 0, 0, now);
		expect(red.average <= (u64)U32_MAX << RED_FRACTION, "an average above any queue");
		/* Or a wait between two arrivals. */
		law_red_on_arrival(&red, &params, &line, 2, (u32)x[6], now);
		red.passed = flags & 4 ? U32_MAX : 0;
		law_red_decide(&red, &params, (u32)x[6], random_draw, &generator);
		/* Just below the thresholds, and at every gap. */
		for (p = 0; p < 3; p++) {
			red.average = ((u64)params.max << (RED_FRACTION + (p == 2))) - (p != 0);
			red.passed = (u32)random_between(&generator, 0, U32_MAX);
			law_red_decide(&red, &params, (u32)x[6], random_draw, &generator);
		}
	}
}

static void try_spread(const u64 *x)
{
	struct law_red_params params = { 0 };
	u64 spread = law_red_spread(&params, x[0], (u32)x[1]);

	expect(spread <= LAW_CERTAIN, "a probability above one");
	params.independent = true;
	expect(law_red_spread(&params, x[0], (u32)x[1]) <= LAW_CERTAIN, "a probability above one");
}

static void try_reds(void)
{
	const struct edges number = edges_of(0, U32_MAX), clock = edges_of(0, CLOCK_MAX);
	const struct edges red[] = { number,	     number,		  EDGES(LAW_FRACTION),
				     EDGES(LAW_FRACTION), EDGES(LAW_RATE), EDGES(LAW_MEAN_PACKET),
				     number,	     clock };
	const struct edges spread[] = { edges_of(0, 1ULL << RED_FINE), number };

	sweep("RED: thresholds, max_p, weight, rate, mean packet, bytes, now", red, 8, try_red);
	sweep("gaps of RED: p, passed", spread, 2, try_spread);
}

/* Idle times of a year, an hour and a nanosecond: the average never rises. */
static void try_ageing(const u64 *x)
{
	struct law_red_params params = { .max_p = LAW_CERTAIN, .weight = x[0] };
	u64 average = x[2];

	law_red_derive(&params, x[1]);
	expect(law_red_aged(&params, average, x[3]) <= average, "an average grows with age");
	expect(law_red_aged(&params, average, 0) == (x[0] < LAW_CERTAIN ? average : 0),
	       "an average changes without time");
}

static void try_dctcp(const u64 *x)
{
	struct law_dctcp_policy policy = {
		.alpha_bits = x[0] & 1 ? 20 : 10, .gain_shift = (u32)x[1],
		.alpha_on_init = (u32)x[2], .alpha_per_ack = x[0] & 2, .gain_per_window = x[0] & 4,
		.progressive = x[0] & 8, .ssthresh_minus_one = x[0] & 16,
		.counting = x[0] & 32 ? DCTCP_ACKS : DCTCP_PACKETS, .cut_on_loss_in_cwr = true,
		.alpha_update_on_loss = true, .alpha_update_on_timeout = true,
		.alpha_reset_after_idle = true,
	};
	const struct law_dctcp_ack ack = {
		.snd_una = (u32)x[3], .snd_nxt = (u32)x[4], .delivered = (u32)x[5],
		.marked = (u32)law_min64(x[6], x[5]), .flight = (u32)x[7],
		.advanced = true, .ece = true,
	};
	struct law_window win = { .cwnd = (u32)x[8], .ssthresh = (u32)x[7], .clamp = PACKETS_MAX };
	struct law_dctcp law;
	int n;

	law_dctcp_init(&law, &policy, (u32)x[4]);
	for (n = 0; n < 3; n++) {
		u64 one = 1ULL << law.alpha_bits;

		expect(law.alpha <= one, "alpha above one");
		expect(law_dctcp_scaled(&law, win.cwnd) <= law_max32(win.cwnd, DCTCP_FLOOR),
		       "a cut that adds");
		law_dctcp_on_ack(&law, &policy, &ack);
		law_dctcp_on_ecn(&law, &policy, &win);
		law_dctcp_on_ack(&law, &policy, &ack);
		law_dctcp_on_ece_in_cwr(&law, &policy, &win);
		law_dctcp_on_loss(&law, &policy, &win, (u32)x[4], n & 1);
		law_dctcp_on_timeout(&law, &policy, &win, (u32)x[4], 1448, n & 1);
		law_dctcp_after_idle(&law, &policy);
		expect(win.ssthresh >= DCTCP_FLOOR || !n, "a threshold below the floor");
	}
}

/* A version from a state that its path may cause: a window or a rate, and what ACKs report. */
static void try_prague_version(const struct law_prague_policy *policy, const u64 *x)
{
	const struct law_prague_ack ack = {
		.snd_una = (u32)x[3], .delivered = (u32)x[4], .marked = (u32)x[5],
		.now_us = (u32)x[3], .srtt = (u32)x[2], .mtu = (u32)x[1],
	};
	struct law_prague law;
	int n;

	for (n = 0; n < 16; n++) {
		struct law_window win = { .cwnd = (u32)x[0],
					  .ssthresh = n & 1 ? law_max32((u32)x[4], 2) : 2,
					  .clamp = U32_MAX };

		law_prague_init(&law, policy, (u32)x[5], (u32)x[3]);
		law.rounds = n & 2 ? U16_MAX : 0;
		law.is_rate = policy->rate_mode && n & 4;
		if (law.is_rate)
			law.value = (s64)x[6];
		law_prague_on_ack(&law, policy, &win, &ack);
		law_prague_on_ecn(&law, policy, &win, (u32)x[3]);
		law_prague_on_growth(&law, policy, &win, &ack, (u32)x[4], true);
		law_prague_on_ack(&law, policy, &win, &ack);
		law_prague_on_ecn(&law, policy, &win, (u32)x[3]);
		law_prague_on_growth(&law, policy, &win, &ack, (u32)x[5], true);
		expect(law_prague_alpha(&law) <= 1u << policy->alpha_bits, "alpha above one");
		expect(win.ssthresh >= 2, "a threshold below the smallest window");
		expect(!law.is_rate || law.value >= PRAGUE_LOWEST_RATE, "below the lowest rate");
		expect(!law.packet || law.packet <= law_max32(ack.mtu, PRAGUE_SMALLEST_PACKET),
		       "a packet larger than the path's");
		if (ack.srtt)
			law_prague_pace(&law, policy, &win, ack.srtt, (u32)x[4], ack.mtu);
		if (n & 8)
			law_prague_on_loss(&law, policy, &win);
		law_prague_on_timeout(&law, policy, &win, n & 1);
		expect(law_prague_undo(&law, &win) >= win.cwnd, "an undo that takes away");
		law_prague_on_exit(&law, &win);
	}
}

static void try_prague(const u64 *x)
{
	static const struct law_prague_policy version[] = { PRAGUE_0_5, PRAGUE_0_6,
							    PRAGUE_0_7_EARLY, PRAGUE_0_7 };
	size_t n;

	for (n = 0; n < sizeof(version) / sizeof(*version); n++)
		try_prague_version(&version[n], x);
}

/* Slow start by ACKs step by step, of which the law finds the number at once. */
static void slow_start_by_steps(struct law_window *win)
{
	win->cnt += win->cwnd;
	while (win->cwnd && win->cnt >= win->cwnd && win->cwnd < win->clamp) {
		win->cnt -= win->cwnd;
		win->cwnd++;
	}
	if (win->cwnd)
		win->cnt %= win->cwnd;
}

static void try_window(const u64 *x)
{
	struct law_window win = { .cwnd = (u32)x[0], .ssthresh = (u32)x[1], .cnt = (u32)x[2],
				  .clamp = (u32)x[3] };
	struct law_window steps;
	u32 before = win.cwnd;

	law_grow(&win, LAW_COUNT_PACKETS, (u32)x[4]);
	expect(win.cwnd <= law_max32(before, (u32)x[3]), "a window above its clamp");
	win = (struct law_window){ .cwnd = (u32)x[0], .ssthresh = (u32)x[1], .cnt = (u32)x[2],
				   .clamp = (u32)x[3] };
	steps = win;
	law_grow(&win, LAW_COUNT_ACKS, (u32)x[4]);
	expect(win.cwnd <= law_max32(before, (u32)x[3]), "a window above its clamp");
	if (x[0] > x[1])
		return;
	slow_start_by_steps(&steps);
	expect(win.cwnd == steps.cwnd && win.cnt == steps.cnt, "slow start not as by steps");
}

static void try_prr(const u64 *x)
{
	const struct law_prr prr = { (u32)x[0], (u32)x[1], (u32)x[2], (u32)x[3] };

	law_prr_window(&prr, (u32)x[4], (u32)x[5], true);
	law_prr_window(&prr, (u32)x[4], (u32)x[5], false);
}

static void try_tcp(void)
{
	const struct edges packets = edges_of(0, PACKETS_MAX), some = edges_of(1, PACKETS_MAX);
	const struct edges sequence = edges_of(0, U32_MAX);
	const struct edges dctcp[] = {
		edges_of(0, 63),
		edges_of(0, LAW_GAIN_SHIFT_MAX),
		edges_of(0, LAW_ALPHA_MAX),
		sequence,
		sequence,
		packets,
		packets,
		packets,
		some,
	};
	/*
	 * A counter is below the window that it belonged to: no socket has more than 2^24 packets.
	 */
	const struct edges window[] = { some, packets, edges_of(0, 1 << 24), some, packets };
	/* Any path: RFC 791 section 3.2, https://www.rfc-editor.org/rfc/rfc791#section-3.2. */
	const struct edges prague[] = {
		some,	 edges_of(68, 65535), sequence, sequence, packets, packets,
		edges_of(PRAGUE_LOWEST_RATE, PRAGUE_MOST),
	};
	const struct edges prr[] = { some, packets, packets, packets, packets, packets };

	sweep("DCTCP: policy, gain, alpha, una, nxt, delivered, marked, flight, cwnd", dctcp, 9,
	      try_dctcp);
	sweep("Prague: cwnd, MTU, srtt, una and time, delivered, marked, rate", prague, 7,
	      try_prague);
	sweep("window: cwnd, ssthresh, counter, clamp, acked", window, 5, try_window);
	sweep("PRR: prior window, ssthresh, delivered, sent, flight, newly", prr, 6, try_prr);
}

int main(int argc, char **argv)
{
	const struct edges ageing[] = { EDGES(LAW_FRACTION), edges_of(0, CLOCK_MAX / 2),
					edges_of(0, (u64)U32_MAX << RED_FRACTION),
					edges_of(0, CLOCK_MAX) };

	seed = random_seed(argc > 1 ? argv[1] : NULL);
	generator.state = seed;
	law_trap_context = print_place;
	try_slopes();
	try_dual();
	try_lines();
	try_reds();
	sweep("ageing: weight, mean packet time, average, idle", ageing, 4, try_ageing);
	try_tcp();
	printf("laws at the edges of their bounds: %" PRIu64 " points; seed %" PRIu64 "\n", tried,
	       seed);
	return 0;
}
