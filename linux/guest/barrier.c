/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "flow.h"

#define MAX_BARRIERS 256

/* The flows of a group have consecutive numbers. */
static struct barrier {
	uint32_t first, count;
	uint32_t missing;
	uint64_t done, first_at;
	struct gaps gaps;
} barriers[MAX_BARRIERS];

static struct barrier *barrier_of(uint64_t number)
{
	if (number >= MAX_BARRIERS)
		fail("more than %d barriers", MAX_BARRIERS);
	return &barriers[number];
}

void barrier_gap(uint64_t number, uint64_t gap)
{
	gaps_add(&barrier_of(number)->gaps, gap);
}

/* Called before the start, when only the plan of the flow is known. */
void barrier_join(uint32_t number)
{
	const struct flow_plan *plan = &flows[number].plan;
	struct barrier *b;

	if (plan->barrier == NEVER)
		return;
	b = barrier_of(plan->barrier);
	if (!b->count++) {
		b->first = number;
		b->first_at = plan->start;
	}
	if (plan->start < b->first_at)
		b->first_at = plan->start;
	b->missing = b->count;
}

/* Called after a round: the time at which the next round begins, or NEVER. */
static uint64_t next_round(struct barrier *b, const struct flow_plan *plan, uint64_t now)
{
	uint64_t next;

	if (b->done >= plan->rounds)
		return NEVER;
	if (plan->app == APP_REQUESTS) {
		next = now + gaps_next(&b->gaps, plan->interval);
	} else {
		next = origin + b->first_at + plan->interval * b->done;
		next = next > now ? next : now;
	}
	return plan->stop != NEVER && next >= origin + plan->stop ? NEVER : next;
}

void barrier_arrive(uint32_t number, uint64_t now)
{
	const struct flow_plan *plan = &flows[number].plan;
	struct barrier *b = barrier_of(plan->barrier);
	uint64_t next;

	if (--b->missing)
		return;
	b->missing = b->count;
	b->done++;
	next = next_round(b, plan, now);
	report(number, REC_ROUND, now, next == NEVER ? NEVER : next - origin);
	if (next == NEVER)
		return;
	/*
	 * A request tells its server when to continue; other senders learn it after the propagation
	 * delay of a message without size.
	 */
	for (uint32_t i = b->first; i < b->first + b->count; i++)
		agenda_add(next + flows[i].plan.news, TASK_WORK, i);
}
