/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * CoDel (RFC 8289, https://www.rfc-editor.org/rfc/rfc8289) in the integers of Linux: once packets have waited too long
 * for an interval, one is marked or dropped, and the gap to the next shrinks until they are in time.
 */
#include "shoal_queue.h"

SHOAL_DESCRIBE("{ \"abi\": 1, \"kind\": \"queue\", \"summary\": \"CoDel as Linux has it.\","
	       "  \"parameters\": ["
	       "    { \"name\": \"target_us\", \"unit\": \"us\", \"default\": 5000, \"least\": 1, \"most\": 1000000,"
	       "      \"whole\": true, \"text\": \"Longest wait that is not too long.\" },"
	       "    { \"name\": \"interval_us\", \"unit\": \"us\", \"default\": 100000, \"least\": 1, \"most\": 10000000,"
	       "      \"whole\": true, \"text\": \"Time for which packets are late before the first signal.\" }"
	       "  ] }")

/* Bytes of the largest packet: with no more than that behind it, no packet is late. */
#define MTU 1514

/* Ticks are 1024 ns, in 32 bits that wrap. */
static uint32_t target, interval;
static uint32_t count, last_count, drop_next, first_above;
/* 2^16 / sqrt(count). */
static uint16_t rec_inv_sqrt;
static int dropping;
/* What the packet before this one was: sent, or dropped on entering the dropping state or in it. */
static enum { SENT, DROPPED_ON_ENTRY, DROPPED } before;

static uint32_t ticks(uint64_t ps)
{
	return (uint32_t)(ps / 1024000);
}

static int is_before(uint32_t one, uint32_t other)
{
	return (int32_t)(one - other) < 0;
}

static void improve_root(void)
{
	uint64_t x = (uint64_t)rec_inv_sqrt << 16;
	uint64_t bracket = (3ull << 32) - count * ((x * x) >> 32);

	rec_inv_sqrt = (uint16_t)(((bracket >> 2) * x) >> 47);
}

static void schedule(uint32_t from)
{
	drop_next = from + (uint32_t)((interval * ((uint64_t)rec_inv_sqrt << 16)) >> 32);
}

SHOAL_CALL(on_init)
{
	target = (uint32_t)((uint64_t)shoal.parameter[0] * 1000 >> 10);
	interval = (uint32_t)((uint64_t)shoal.parameter[1] * 1000 >> 10);
	return 0;
}

static int is_late(uint32_t now)
{
	uint32_t sojourn = now - ticks(shoal.now_ps - shoal.sojourn_ps);

	if (is_before(sojourn, target) || shoal.waiting_bytes <= MTU) {
		first_above = 0;
		return 0;
	}
	if (!first_above) {
		first_above = now + interval;
		return 0;
	}
	return is_before(first_above, now);
}

/* A packet leaves: signal congestion by it, and say when the next signal is due if it is marked. */
static int32_t signal_again(uint32_t from)
{
	int32_t answer = shoal_signal(SHOAL_SOJOURN);

	if (answer == SHOAL_MARK)
		schedule(from);
	else
		before = DROPPED;
	return answer;
}

static int32_t enter(uint32_t now)
{
	uint32_t needed = count - last_count;

	dropping = 1;
	if (needed > 1 && is_before(now - drop_next, interval * 16)) {
		count = needed;
		improve_root();
	} else {
		count = 1;
		rec_inv_sqrt = UINT16_MAX;
	}
	last_count = count;
	schedule(now);
	if (shoal_signal(SHOAL_SOJOURN) == SHOAL_MARK)
		return SHOAL_MARK;
	before = DROPPED_ON_ENTRY;
	return SHOAL_DROP;
}

SHOAL_CALL(on_departure)
{
	uint32_t now = ticks(shoal.now_ps);
	int late = is_late(now), previous = before;

	before = SENT;
	if (previous == DROPPED_ON_ENTRY)
		return SHOAL_PASS;
	if (!late) {
		dropping = 0;
		return SHOAL_PASS;
	}
	if (previous == DROPPED)
		schedule(drop_next);
	else if (!dropping)
		return enter(now);
	if (is_before(now, drop_next))
		return SHOAL_PASS;
	count++;
	improve_root();
	return signal_again(drop_next);
}

/* The line is free and nothing waits. */
SHOAL_CALL(on_empty)
{
	if (before != SENT)
		first_above = 0;
	if (before != DROPPED_ON_ENTRY)
		dropping = 0;
	before = SENT;
	return 0;
}
