/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Timed entries: a heap ordered by time; entries of equal time are taken in the order of insertion.
 */
#ifndef SHOAL_AGENDA_H
#define SHOAL_AGENDA_H

#include <stdbool.h>
#include <stdint.h>

enum task { TASK_START, TASK_STOP, TASK_REPLACE, TASK_WORK, TASK_SAMPLE, TASK_END };
struct entry {
	uint64_t at;
	uint64_t order;
	enum task task;
	uint32_t flow;
};

void agenda_add(uint64_t when, enum task task, uint32_t flow);
/* Takes the first entry if it is due. */
bool agenda_due(uint64_t now, struct entry *entry);
/* Time of the first entry; until the end of the run there is always one. */
uint64_t agenda_next(void);

#endif
