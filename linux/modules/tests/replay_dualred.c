// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replays dualred.tsv: the law of sch_dualred against the model in crates/core/aqm.
 */

#define _GNU_SOURCE
#include <math.h>

#include "../law/dualred.h"
#include "replay.h"

static struct law_dualred_params params;
static struct law_dualred law;
static struct fifo queue;
static u32 limit_packets, limit_bytes;

static struct law_red_params instance_at(const struct row *row, int at)
{
	return (struct law_red_params){
		.min = number_at(row, at),
		.max = number_at(row, at + 1),
		.max_p = number_at(row, at + 2),
		.weight = number_at(row, at + 3),
		.gentle = number_at(row, at + 4),
		.independent = number_at(row, at + 5),
	};
}

static void configure(const struct row *row)
{
	memset(&queue, 0, sizeof(queue));
	limit_packets = number_at(row, 1);
	limit_bytes = number_at(row, 2);
	params.per_class = number_at(row, 5);
	params.not_ect = instance_at(row, 6);
	params.ect = instance_at(row, 12);
	law_dualred_derive(&params, &law.line, number_at(row, 3), number_at(row, 4));
	law_dualred_reset(&law);
}

static const char *outcome_of(enum law_red_decision decision, bool ect, bool fits)
{
	static const char *const mark[] = { "queued", "mark-threshold", "mark-early",
					    "mark-forced" };
	static const char *const drop[] = { "queued", "drop-threshold", "drop-early",
					    "drop-forced" };

	if (decision != RED_PASS && !ect)
		return drop[decision];
	return fits ? mark[decision] : "drop-buffer";
}

static void arrive(const struct row *row, u64 now, u32 size, bool ect, struct draws *draws)
{
	enum law_red_decision decision;
	const char *outcome;

	decision = law_dualred_arrive(&law, &params, ect, size, queue.packets, queue.bytes, now,
				      draw, draws);
	outcome = outcome_of(decision, ect,
			     within(limit_packets, limit_bytes, queue.packets + 1,
				    queue.bytes + size));
	expect_text(row, "outcome", text_at(row, 5), outcome);
	if (strncmp(outcome, "drop", 4))
		push(&queue, size, ect, now);
}

static void leave(const struct row *row, u64 now)
{
	if (!queue.packets) {
		expect_text(row, "outcome", text_at(row, 5), "empty");
		law_line_on_empty(&law.line, now);
		return;
	}
	expect_text(row, "outcome", text_at(row, 5), "sent");
	law_line_on_departure(&law.line, pop(&queue).size, now);
}

static void expect_average(const struct row *row, int at, u64 average)
{
	double expected = strtod(text_at(row, at), NULL),
	       found = ldexp((double)average, -RED_FRACTION);

	/* law/red.h; the vectors have four decimals. */
	if (fabs(expected - found) > 1.0 / 1024)
		fail(row, "average: the model says %s, the law %.6f", text_at(row, at), found);
}

static void step(const struct row *row)
{
	struct draws draws;
	u64 now;

	if (row_is(row, "config")) {
		configure(row);
		return;
	}
	now = number_at(row, 1);
	draws = draws_at(row, 4);
	if (row_is(row, "a"))
		arrive(row, now, number_at(row, 2), number_at(row, 3), &draws);
	else
		leave(row, now);
	expect_all_drawn(&draws);
	expect_average(row, 6, law.not_ect.average);
	expect_average(row, 7, law.ect.average);
}

int main(int argc, char **argv)
{
	return replay(argc, argv, step, "sch_dualred");
}
