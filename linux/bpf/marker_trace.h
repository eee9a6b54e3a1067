/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a trace has of a packet that arrives at a marker or leaves its queue. The loader writes it as
 * a table, whose columns are these fields, and tests/replay_marker.c gives the arrivals to the same
 * law in user space.
 */
#ifndef _SHOAL_BPF_MARKER_TRACE_H
#define _SHOAL_BPF_MARKER_TRACE_H

#include "../modules/law/law.h"

enum marker_decision {
	MARKER_PASS,
	MARKER_MARK,
	MARKER_DROP,
};

enum marker_event {
	MARKER_ARRIVAL,
	MARKER_DEPARTURE,
};

struct marker_record {
	u64 time_ns;
	/* Order of the decisions, which parallel senders may write down in another one. */
	u64 number;
	/* Of an arrival: the wait that the decision is about; of a departure: its own wait. */
	u64 wait_ns;
	/* enum marker_event. */
	u32 event;
	u32 len;
	u32 ect;
	/* Two random numbers, of which the law uses what it needs. */
	u32 draw_1;
	u32 draw_2;
	/* enum marker_decision, and whether the header could be marked. */
	u32 decision;
	u32 marked;
	u32 padding;
};

#endif
