/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Netlink attributes (TCA_OPTIONS) and statistics (TCA_XSTATS) of the queueing disciplines dualred,
 * coupled and dualq_coupled. An attribute that a change leaves out keeps its value.
 *
 * Units: bytes, packets, nanoseconds; rates in bytes per second; probabilities and weights in
 * 2^-32, so that 1 << 32 is one.
 */
#ifndef _UAPI_PKT_SCHED_SHOAL_H
#define _UAPI_PKT_SCHED_SHOAL_H

#include <linux/types.h>

/* dualred: two RED instances on one queue, chosen by ECN capability. */
enum {
	TCA_DUALRED_UNSPEC,
	TCA_DUALRED_PAD,
	TCA_DUALRED_LIMIT_BYTES,	/* u32, 0: no limit in bytes */
	TCA_DUALRED_LIMIT_PACKETS,	/* u32, 0: no limit in packets */
	TCA_DUALRED_RATE,		/* u64, of the line: averages age while it is idle */
	TCA_DUALRED_MEAN_PACKET,	/* u32, bytes: for the same */
	TCA_DUALRED_AVERAGE,		/* u8, enum tc_dualred_average */
	TCA_DUALRED_NOT_ECT,		/* nested TCA_DUALRED_RED_*: not ECN-capable packets */
	TCA_DUALRED_ECT,		/* nested TCA_DUALRED_RED_*: ECN-capable packets */
	__TCA_DUALRED_MAX
};

#define TCA_DUALRED_MAX (__TCA_DUALRED_MAX - 1)

enum tc_dualred_average {
	TC_DUALRED_SHARED,	/* each instance averages at every arrival, as in WRED */
	TC_DUALRED_PER_CLASS,	/* only at arrivals of its own class */
};

enum {
	TCA_DUALRED_RED_UNSPEC,
	TCA_DUALRED_RED_PAD,
	TCA_DUALRED_RED_MIN,		/* u32, bytes */
	TCA_DUALRED_RED_MAX,		/* u32, bytes; if MIN, with WEIGHT one: a step */
	TCA_DUALRED_RED_MAX_P,		/* u64, probability at MAX */
	TCA_DUALRED_RED_WEIGHT,		/* u64, of the average, above 0 */
	TCA_DUALRED_RED_GENTLE,		/* u8, 0 or 1: between MAX and twice MAX rise to one */
	TCA_DUALRED_RED_INDEPENDENT,	/* u8, 0 or 1: independent coins instead of uniform gaps */
	__TCA_DUALRED_RED_LAST
};

#define TCA_DUALRED_RED_LAST (__TCA_DUALRED_RED_LAST - 1)

/* Statistics of one class. */
struct tc_dualred_class {
	__u64	average;	/* bytes in 2^-24 */
	__u64	packets;	/* that arrived */
	__u64	marked;
	__u64	early;		/* dropped by a random decision */
	__u64	forced;		/* dropped above the average's upper limit, or the threshold */
	__u64	overlimit;	/* dropped because the buffer was full */
};

struct tc_dualred_xstats {
	struct tc_dualred_class not_ect;
	struct tc_dualred_class ect;
};

/* coupled and dualq_coupled: marked with p, dropped with (p/k)^2. */
enum {
	TCA_COUPLED_UNSPEC,
	TCA_COUPLED_PAD,
	TCA_COUPLED_LIMIT_BYTES,	/* u32, 0: no limit in bytes */
	TCA_COUPLED_LIMIT_PACKETS,	/* u32, 0: no limit in packets */
	TCA_COUPLED_RATE,		/* u64, of the line: for times not measured but expected */
	TCA_COUPLED_DECIDE,		/* u8, enum tc_coupled_decide */
	TCA_COUPLED_MEASURE,		/* u8, enum tc_coupled_measure: what Q is */
	TCA_COUPLED_FORM,		/* u8, enum tc_coupled_form */
	TCA_COUPLED_SATURATION,		/* u64, by MEASURE, above 0: p is one from there on */
	TCA_COUPLED_COUPLING,		/* u32, k in 2^-16, above 0 */
	TCA_COUPLED_DROP_BITS,		/* u8, S_r, 0 to 31 */
	TCA_COUPLED_MARK_BITS,		/* u8, S_d, 0 to 31 */
	TCA_COUPLED_UNIT,		/* u64, by MEASURE, above 0: what Q is counted in */
	/* dualq_coupled alone */
	TCA_COUPLED_THRESHOLD,		/* u64, T of the low-latency queue */
	TCA_COUPLED_THRESHOLD_MEASURE,	/* u8, enum tc_coupled_measure */
	TCA_COUPLED_INPUT,		/* u8, enum tc_coupled_input */
	TCA_COUPLED_SCHEDULER,		/* u8, enum tc_coupled_scheduler */
	TCA_COUPLED_CLASSIC_PERCENT,	/* u8, 0 to 100, weighted scheduler */
	TCA_COUPLED_SHIFT,		/* u64, ns, time-shifted scheduler */
	TCA_COUPLED_MTU,		/* u32, bytes, 0: the device's; weighted scheduler */
	__TCA_COUPLED_MAX
};

#define TCA_COUPLED_MAX (__TCA_COUPLED_MAX - 1)

enum tc_coupled_decide {
	TC_COUPLED_ENQUEUE,
	TC_COUPLED_DEQUEUE,
};

enum tc_coupled_measure {
	TC_COUPLED_TIME,
	TC_COUPLED_BYTES,
	TC_COUPLED_PACKETS,
};

enum tc_coupled_form {
	TC_COUPLED_LINEAR,	/* p = Q / SATURATION, root of the drop probability p / COUPLING */
	TC_COUPLED_SHIFTED,	/* p = (Q / UNIT) << MARK_BITS in 2^-32, root << DROP_BITS */
};

enum tc_coupled_input {
	TC_COUPLED_CLASSIC,	/* Q is the classic queue */
	TC_COUPLED_TOTAL,	/* both: sizes added, the longer of the times */
};

enum tc_coupled_scheduler {
	TC_COUPLED_PRIORITY,
	TC_COUPLED_WEIGHTED,
	TC_COUPLED_TIME_SHIFTED,
};

/* Statistics of packets that are ECN-capable (low-latency queue), or not (classic queue). */
struct tc_coupled_class {
	__u64	packets;	/* that arrived */
	__u64	backlog_bytes;	/* what waits; one queue counts all packets as classic */
	__u64	backlog_packets;
	__u64	delay;		/* wait of the oldest packet, ns */
	__u64	delay_sum;	/* of the waits of all packets sent, ns */
	__u64	sent;		/* packets */
	__u64	threshold;	/* marked above T */
	__u64	coupled;	/* marked with p */
	__u64	dropped;	/* with (p/k)^2 */
	__u64	overlimit;	/* dropped because the buffer was full */
};

struct tc_coupled_xstats {
	struct tc_coupled_class ect;
	struct tc_coupled_class classic;
	__u64	probability;	/* p at the last decision, in 2^-32 */
	__s64	credit;		/* of the weighted scheduler, bytes times percent */
};

#endif
