/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Vectors: lines of fields between tabs; '#' begins a comment. The first difference ends the
 * program.
 */
#ifndef _REPLAY_H
#define _REPLAY_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../law/law.h"

#define MAX_FIELDS	64

struct row {
	const char *file;
	unsigned int line;
	int fields;
	char *field[MAX_FIELDS];
	char text[1024];
};

static inline _Noreturn void fail(const struct row *row, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s:%u: ", row->file, row->line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static inline bool next_row(FILE *in, struct row *row)
{
	char *rest, *field;

	do {
		if (!fgets(row->text, sizeof(row->text), in))
			return false;
		row->line++;
	} while (row->text[0] == '#');
	row->text[strcspn(row->text, "\n")] = 0;
	row->fields = 0;
	rest = row->text;
	while ((field = strsep(&rest, "\t"))) {
		if (row->fields == MAX_FIELDS)
			fail(row, "too many fields");
		row->field[row->fields++] = field;
	}
	return true;
}

static inline char *text_at(const struct row *row, int at)
{
	if (at >= row->fields)
		fail(row, "field %d is missing", at + 1);
	return row->field[at];
}

static inline u64 number_at(const struct row *row, int at)
{
	char *end;
	u64 value = strtoull(text_at(row, at), &end, 10);

	if (*end || end == row->field[at])
		fail(row, "field %d: '%s' is not a number", at + 1, row->field[at]);
	return value;
}

static inline bool row_is(const struct row *row, const char *what)
{
	return !strcmp(row->field[0], what);
}

/* The random numbers of a row, which the law must use up, no more and no less. */
struct draws {
	const struct row *row;
	u32 number[4];
	int count;
	int used;
};

static inline struct draws draws_at(const struct row *row, int at)
{
	struct draws draws = { .row = row };
	char *rest = text_at(row, at), *one;

	if (!strcmp(rest, "-"))
		return draws;
	while ((one = strsep(&rest, ",")))
		draws.number[draws.count++ % 4] = (u32)strtoul(one, NULL, 10);
	return draws;
}

static inline u32 draw(void *context)
{
	struct draws *draws = context;

	if (draws->used == draws->count)
		fail(draws->row, "the law draws number %d, the model drew %d", draws->used + 1,
		     draws->count);
	return draws->number[draws->used++];
}

static inline void expect_all_drawn(const struct draws *draws)
{
	if (draws->used != draws->count)
		fail(draws->row, "the law drew %d numbers, the model %d", draws->used,
		     draws->count);
}

static inline void expect_text(const struct row *row, const char *what, const char *expected,
			       const char *found)
{
	if (strcmp(expected, found))
		fail(row, "%s: the model says %s, the law %s", what, expected, found);
}

static inline void expect_number(const struct row *row, const char *what, u64 expected, u64 found,
				 u64 slack)
{
	u64 difference = expected > found ? expected - found : found - expected;

	if (difference > slack)
		fail(row, "%s: the model says %" PRIu64 ", the law %" PRIu64, what, expected,
		     found);
}

/* A first-in-first-out queue as the modules have it. */
struct packet {
	u64 enqueued;
	u32 size;
	bool ect;
};

struct fifo {
	struct packet packet[4096];
	u32 head;
	u32 packets;
	u32 bytes;
};

static inline void push(struct fifo *fifo, u32 size, bool ect, u64 now)
{
	fifo->packet[(fifo->head + fifo->packets) % 4096] = (struct packet){ now, size, ect };
	fifo->packets++;
	fifo->bytes += size;
}

static inline struct packet pop(struct fifo *fifo)
{
	struct packet packet = fifo->packet[fifo->head];

	fifo->head = (fifo->head + 1) % 4096;
	fifo->packets--;
	fifo->bytes -= packet.size;
	return packet;
}

static inline u64 arrival_of_head(const struct fifo *fifo)
{
	return fifo->packets ? fifo->packet[fifo->head].enqueued : 0;
}

static inline u64 age_of_head(const struct fifo *fifo, u64 now)
{
	return fifo->packets ? now - arrival_of_head(fifo) : 0;
}

/* 0: no limit. */
static inline bool within(u32 limit_packets, u32 limit_bytes, u32 packets, u32 bytes)
{
	return !(limit_packets && packets > limit_packets) && !(limit_bytes && bytes > limit_bytes);
}

/* Replays the file that the command line names and reports how many rows agree. */
static inline int replay(int argc, char **argv, void (*step)(const struct row *row),
			 const char *law)
{
	struct row row = { 0 };
	u64 rows = 0, cases = 0;
	FILE *in;

	if (argc != 2) {
		fprintf(stderr, "usage: %s VECTORS\n", argv[0]);
		return 2;
	}
	in = fopen(argv[1], "r");
	if (!in) {
		perror(argv[1]);
		return 2;
	}
	row.file = argv[1];
	while (next_row(in, &row)) {
		cases += row_is(&row, "config");
		rows += !row_is(&row, "config");
		step(&row);
	}
	fclose(in);
	if (!rows) {
		fprintf(stderr, "%s: no rows\n", argv[1]);
		return 1;
	}
	printf("%s: %" PRIu64 " operations in %" PRIu64 " configurations agree\n", law, rows,
	       cases);
	return 0;
}

#endif
