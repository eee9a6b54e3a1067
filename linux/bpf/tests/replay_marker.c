// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gives the packets of a marker's trace to the same law in user space: every decision must be the
 * one that the kernel took. And the waits, which the kernel finds by the addresses of packets, must
 * be those of packets: each one that leaves came at that time with that length, and leaves once; and
 * a decision is about the wait of the packet that left last before it.
 *
 * MARKER is the header of the law. replay_marker TRACE [PARAMETER=NUMBER ...]
 */

#define _GNU_SOURCE
#include <stddef.h>

#include MARKER
#include "../../modules/tests/replay.h"

struct mark_parameters mark_parameters = MARK_DEFAULTS;

/* Packets that a marker let into the queue. */
#define ROOM	(1 << 20)

static struct {
	u64 time;
	u32 len;
	bool gone;
} queue[ROOM];
static u64 first, last;
static u64 arrivals, marks, drops, departures, aggregates, nonzero;
static struct marker_law law;
static u64 wait_ns;

enum column { TIME, NUMBER, WAIT, EVENT, LEN, ECT, DRAW_1, DRAW_2, DECISION, MARKED, COLUMNS };

static const char *const names[COLUMNS] = {
	"time_ns", "number", "wait_ns", "event", "len", "ect", "draw_1", "draw_2", "decision", "marked",
};

struct drawn {
	u64 numbers;
};

static u32 next_drawn(void *context)
{
	struct drawn *drawn = context;
	u32 number = drawn->numbers;

	drawn->numbers >>= 32;
	return number;
}

static u64 at(const struct row *row, enum column column)
{
	return strtoull(row->field[column], NULL, 10);
}

static void arrive(const struct row *row)
{
	struct drawn drawn = { at(row, DRAW_2) << 32 | at(row, DRAW_1) };
	enum marker_decision decision;

	if (at(row, NUMBER) != arrivals)
		fail(row, "decision %" PRIu64 " in place %" PRIu64, at(row, NUMBER), arrivals);
	if (at(row, WAIT) != wait_ns)
		fail(row, "the decision is about a wait of %" PRIu64 " ns, the last packet's was %" PRIu64,
		     at(row, WAIT), wait_ns);
	decision = marker_decide(&law, at(row, ECT), wait_ns, next_drawn, &drawn);
	if (decision != at(row, DECISION))
		fail(row, "the law decides %d, the kernel did %" PRIu64, decision, at(row, DECISION));
	if (at(row, MARKED) != (decision == MARKER_MARK))
		fail(row, "a mark was decided and not set, or the other way round");
	arrivals++;
	marks += decision == MARKER_MARK;
	drops += decision == MARKER_DROP;
	aggregates += at(row, LEN) > 1514;
	nonzero += wait_ns > 1000000;
	if (decision == MARKER_DROP)
		return;
	if (last == ROOM)
		fail(row, "the trace is too long");
	queue[last].time = at(row, TIME);
	queue[last++].len = at(row, LEN);
}

static void leave(const struct row *row)
{
	u64 came = at(row, TIME) - at(row, WAIT);
	u64 i;

	while (first < last && queue[first].gone)
		first++;
	/* Before it in the queue are those that the queue dropped. */
	for (i = first; i < last; i++)
		if (!queue[i].gone && queue[i].time == came && queue[i].len == at(row, LEN))
			break;
	if (i == last)
		fail(row, "no packet of %" PRIu64 " bytes came at %" PRIu64 " ns", at(row, LEN), came);
	queue[i].gone = true;
	departures++;
	wait_ns = at(row, WAIT);
}

static bool set(const char *text)
{
	const char *value = strchr(text, '=');

#define SET(name, least, most, words) \
	if (value && !strncmp(text, #name "=", sizeof(#name))) { \
		mark_parameters.name = strtoul(value + 1, NULL, 10); \
		return true; \
	}
	MARK_PARAMETERS(SET)
	return false;
}

int main(int argc, char **argv)
{
	struct row row = { .file = argc > 1 ? argv[1] : "" };
	FILE *in = argc > 1 ? fopen(argv[1], "r") : NULL;
	int i;

	if (!in)
		fail(&row, "cannot be read");
	for (i = 2; i < argc; i++)
		if (!set(argv[i]))
			fail(&row, "no parameter: %s", argv[i]);
	if (!next_row(in, &row) || row.fields != COLUMNS)
		fail(&row, "not the columns of a marker's trace");
	for (i = 0; i < COLUMNS; i++)
		if (strcmp(row.field[i], names[i]))
			fail(&row, "column %s is not %s", row.field[i], names[i]);
	while (next_row(in, &row)) {
		if (at(&row, EVENT) == MARKER_ARRIVAL)
			arrive(&row);
		else
			leave(&row);
	}
	printf("{\"packets\": %" PRIu64 ", \"marked\": %" PRIu64 ", \"dropped\": %" PRIu64
	       ", \"left\": %" PRIu64 ", \"aggregates\": %" PRIu64
	       ", \"late\": %" PRIu64 "}\n",
	       arrivals, marks, drops, departures, aggregates, nonzero);
	return 0;
}
