/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "agenda.h"
#include "guest.h"

#define MAX_ENTRIES (5 * MAX_FLOWS)

static struct entry heap[MAX_ENTRIES];
static size_t size;
static uint64_t order;

static bool before(const struct entry *a, const struct entry *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

void agenda_add(uint64_t when, enum task task, uint32_t flow)
{
	size_t i = size;
	/* Entries that are due exactly at the end are still carried out. */
	struct entry entry = {
		.at = when, .order = task == TASK_END ? UINT64_MAX : order++, .task = task, .flow = flow,
	};

	if (size++ == MAX_ENTRIES)
		fail("the agenda is full");
	for (; i && before(&entry, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = entry;
}

bool agenda_due(uint64_t now, struct entry *entry)
{
	struct entry last;
	size_t i = 0, child;

	if (!size || heap[0].at > now)
		return false;
	*entry = heap[0];
	last = heap[--size];
	while ((child = 2 * i + 1) < size) {
		if (child + 1 < size && before(&heap[child + 1], &heap[child]))
			child++;
		if (!before(&heap[child], &last))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return true;
}

uint64_t agenda_next(void)
{
	return heap[0].at;
}
