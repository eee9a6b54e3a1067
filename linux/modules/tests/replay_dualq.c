// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replays dualq-coupled.tsv: the law of sch_dualq_coupled against the model in
 * crates/core/aqm.
 */

#define _GNU_SOURCE
#include "../law/dualq.h"
#include "replay.h"
#include "slope_at.h"

static struct law_dualq_params params;
static struct law_dualq law;
static struct fifo low_queue, classic_queue;
static u32 limit_packets, limit_bytes;
static u64 probability;

static void configure(const struct row *row)
{
	memset(&low_queue, 0, sizeof(low_queue));
	memset(&classic_queue, 0, sizeof(classic_queue));
	probability = 0;
	limit_packets = number_at(row, 1);
	limit_bytes = number_at(row, 2);
	params.rate = number_at(row, 3);
	params.at_dequeue = number_at(row, 4);
	params.slope = slope_at(row, 5);
	params.threshold_measure = number_at(row, 12);
	params.threshold = number_at(row, 13);
	params.total = number_at(row, 14);
	params.sched.kind = number_at(row, 15);
	params.sched.classic_percent = number_at(row, 16);
	params.sched.shift = number_at(row, 17);
	params.sched.mtu = number_at(row, 18);
	law_line_rate(&law.line, params.rate);
	law_line_reset(&law.line);
	law_dualq_reset(&law, &params);
}

static struct law_backlog backlog_of(const struct fifo *fifo, u64 now)
{
	return (struct law_backlog){ fifo->packets, fifo->bytes, age_of_head(fifo, now) };
}

/* The decision about a packet that has waited for @wait and is not counted in its queue. */
static enum law_dualq_decision decide(u32 size, bool low, bool departs, u64 wait, u64 now,
				      struct draws *draws)
{
	struct law_backlog own = backlog_of(low ? &low_queue : &classic_queue, now);
	struct law_backlog other = backlog_of(low ? &classic_queue : &low_queue, now);
	u64 input;

	own.packets++;
	own.bytes += size;
	own.age = wait;
	input = law_dualq_input(&params, low, &own, &other);
	probability = law_slope_mark(&params.slope, input);
	if (departs)
		return law_dualq_depart(&params, low, &own,
					low_queue.packets + classic_queue.packets, input, draw,
					draws);
	return law_dualq_decide(&params, low, &own, input, draw, draws);
}

static void arrive(const struct row *row, u64 now, u32 size, bool ect, struct draws *draws)
{
	static const char *const outcome[] = { "queued", "mark-threshold", "mark-coupled",
					       "drop-early" };
	struct fifo *fifo = ect ? &low_queue : &classic_queue;
	u32 packets = low_queue.packets + classic_queue.packets,
	    bytes = low_queue.bytes + classic_queue.bytes;
	enum law_dualq_decision decision = DUALQ_PASS;

	if (!within(limit_packets, limit_bytes, packets + 1, bytes + size)) {
		expect_text(row, "outcome", text_at(row, 5), "drop-buffer");
		return;
	}
	if (!params.at_dequeue)
		decision = decide(size, ect, false, age_of_head(fifo, now), now, draws);
	expect_text(row, "outcome", text_at(row, 5), outcome[decision]);
	if (decision == DUALQ_DROP)
		return;
	law_dualq_on_push(&law, &params, packets, now);
	push(fifo, size, ect, now);
}

static void leave(const struct row *row, u64 now, struct draws *draws)
{
	static const char *const outcome[] = { "sent", "mark-threshold", "mark-coupled",
					       "drop-early" };
	bool has_low = low_queue.packets, has_classic = classic_queue.packets;
	enum law_dualq_decision decision = DUALQ_PASS;
	struct packet packet;
	bool low;

	if (!has_low && !has_classic) {
		expect_text(row, "outcome", text_at(row, 5), "empty");
		law_dualq_on_empty(&law, &params, now);
		return;
	}
	low = law_dualq_picks_low(&law, &params, has_low, has_classic, arrival_of_head(&low_queue),
				  arrival_of_head(&classic_queue));
	packet = pop(low ? &low_queue : &classic_queue);
	expect_number(row, "size", number_at(row, 2), packet.size, 0);
	expect_number(row, "queue", number_at(row, 3), low, 0);
	if (params.at_dequeue)
		decision = decide(packet.size, low, true, now - packet.enqueued, now, draws);
	expect_text(row, "outcome", text_at(row, 5), outcome[decision]);
	if (decision != DUALQ_DROP)
		law_dualq_on_sent(&law, &params, low, has_low && has_classic, packet.size, now);
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
		leave(row, now, &draws);
	expect_all_drawn(&draws);
	expect_probability(row, &params.slope, probability);
}

int main(int argc, char **argv)
{
	return replay(argc, argv, step, "sch_dualq_coupled");
}
