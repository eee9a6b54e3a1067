// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replays coupled.tsv: the law of sch_coupled against the model in crates/core/aqm.
 */

#define _GNU_SOURCE
#include "../law/line.h"
#include "replay.h"
#include "slope_at.h"

static struct law_slope slope;
static struct fifo queue;
static u32 limit_packets, limit_bytes;
static u64 rate, probability;
static bool at_dequeue;

static void configure(const struct row *row)
{
	memset(&queue, 0, sizeof(queue));
	probability = 0;
	limit_packets = number_at(row, 1);
	limit_bytes = number_at(row, 2);
	rate = number_at(row, 3);
	at_dequeue = number_at(row, 4);
	slope = slope_at(row, 5);
}

static void arrive(const struct row *row, u64 now, u32 size, bool ect, struct draws *draws)
{
	u32 packets = queue.packets + 1, bytes = queue.bytes + size;
	const char *outcome = "queued";

	if (!within(limit_packets, limit_bytes, packets, bytes)) {
		expect_text(row, "outcome", text_at(row, 5), "drop-buffer");
		return;
	}
	if (!at_dequeue) {
		u64 wait = law_line_wait(bytes, rate);
		u64 input = law_slope_queue(&slope, packets, bytes, wait);

		probability = law_slope_mark(&slope, input);
		switch (law_coupled_decide(&slope, ect, input, draw, draws)) {
		case COUPLED_MARK:
			outcome = "mark-coupled";
			break;
		case COUPLED_DROP:
			expect_text(row, "outcome", text_at(row, 5), "drop-early");
			return;
		default:
			break;
		}
	}
	expect_text(row, "outcome", text_at(row, 5), outcome);
	push(&queue, size, ect, now);
}

static void leave(const struct row *row, u64 now, struct draws *draws)
{
	u32 packets = queue.packets, bytes = queue.bytes;
	const char *outcome = "sent";
	struct packet packet;

	if (!packets) {
		expect_text(row, "outcome", text_at(row, 5), "empty");
		return;
	}
	packet = pop(&queue);
	expect_number(row, "size", number_at(row, 2), packet.size, 0);
	if (at_dequeue) {
		u64 input = law_slope_queue(&slope, packets, bytes, now - packet.enqueued);
		enum law_coupled_decision decision;

		probability = law_slope_mark(&slope, input);
		decision = law_coupled_depart(&slope, packet.ect, packets - 1, input, draw, draws);
		outcome = decision == COUPLED_MARK ? "mark-coupled" :
			  decision == COUPLED_DROP ? "drop-early" :
						     "sent";
	}
	expect_text(row, "outcome", text_at(row, 5), outcome);
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
	expect_probability(row, &slope, probability);
}

int main(int argc, char **argv)
{
	return replay(argc, argv, step, "sch_coupled");
}
