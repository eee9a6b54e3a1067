/* The interface of laws of queues from files, for C. Generated (make generate);
 * docs/how-to/write-your-own-law.md explains it.
 *
 *   clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -o mine.wasm mine.c
 *
 * A law is a module without a clock, files or a network. Before each call the host writes the words below, and after
 * it reads those that are answers. SPDX-License-Identifier: Apache-2.0 OR MIT
 */
#ifndef SHOAL_QUEUE_H
#define SHOAL_QUEUE_H

#include <stddef.h>
#include <stdint.h>

/* What a word without a value has. */
#define SHOAL_NONE UINT64_MAX

struct shoal_words {
	/* When `on_timer` is to be called, once; NONE if it is not. Answer. */
	uint64_t timer_ps;
	/* The probability that controls the law as a double, for output; not a number if there is none. Answer. */
	double probability;
	/* The averaged queue in bytes as a double, for output; not a number if there is none. Answer. */
	double average_bytes;
	/* How many of the random draws the call used; 0 before it. Answer. */
	uint64_t draws;
	/* Why a packet is marked or dropped, for output: 0 buffer, 1 threshold, 2 early, 3 forced, 4 coupled, 5
	 * sojourn; 2 before each call. Answer. */
	uint64_t reason;
	/* Time of the call, in picoseconds. */
	uint64_t now_ps;
	/* Bytes of the packet with its headers. */
	uint64_t size;
	/* Its ECN field: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE. */
	uint64_t ecn;
	/* Number of its flow in the experiment. */
	uint64_t flow;
	/* How long it has waited, in picoseconds (`on_departure`). */
	uint64_t sojourn_ps;
	/* Packets that wait, without this one. */
	uint64_t waiting_packets;
	/* Bytes that wait, without this one. */
	uint64_t waiting_bytes;
	/* Packets among them that are ECN-capable. */
	uint64_t waiting_ect_packets;
	/* Bytes of these. */
	uint64_t waiting_ect_bytes;
	/* How long the oldest packet that waits has waited, in picoseconds, or NONE (`on_timer`). */
	uint64_t oldest_ps;
	/* Rate of the line behind the queue, in bits a second. */
	uint64_t line_bps;
	/* Packets that fit into the buffer, or NONE. */
	uint64_t limit_packets;
	/* Bytes that fit into it, or NONE. */
	uint64_t limit_bytes;
	/* Uniform random 64 bits, the first of four draws. */
	uint64_t random_0;
	/* The second. */
	uint64_t random_1;
	/* The third. */
	uint64_t random_2;
	/* The fourth. */
	uint64_t random_3;
	/* For words to come. */
	uint64_t reserved[34];
	/* Values of the parameters, in the order in which the module declares them. */
	double parameter[16];
};

_Static_assert(sizeof(struct shoal_words) == 8 * 72, "the host and this file agree");

/* A module is one file of C, and has one block of words. */
static struct shoal_words shoal;

/* Defines a function that the host calls, as in SHOAL_CALL(on_loss) { ...; return 0; } */
#define SHOAL_CALL(name) \
	__attribute__((export_name(#name))) int32_t name(void); \
	int32_t name(void)

/* What the module says of itself: a text in JSON. */
#define SHOAL_DESCRIBE(text) \
	SHOAL_CALL(shoal_io) \
	{ \
		return (int32_t)(uintptr_t)&shoal; \
	} \
	SHOAL_CALL(shoal_describe) \
	{ \
		return (int32_t)(uintptr_t)(text); \
	}

static inline uint64_t shoal_min(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

static inline uint64_t shoal_max(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

/* What is to become of a packet. */
enum { SHOAL_PASS = 0, SHOAL_MARK = 1, SHOAL_DROP = 2 };

/* Codepoints of ECN. */
enum { SHOAL_NOT_ECT = 0, SHOAL_ECT_1 = 1, SHOAL_ECT_0 = 2, SHOAL_CE = 3 };

/* Reasons. */
enum {
	SHOAL_BUFFER = 0,
	SHOAL_THRESHOLD = 1,
	SHOAL_EARLY = 2,
	SHOAL_FORCED = 3,
	SHOAL_COUPLED = 4,
	SHOAL_SOJOURN = 5
};

/* A signal of congestion: a mark if the packet is ECN-capable, otherwise a drop. */
static inline int32_t shoal_signal(uint64_t reason)
{
	shoal.reason = reason;
	return shoal.ecn ? SHOAL_MARK : SHOAL_DROP;
}

/* The next of the four random draws of a call: uniform in 64 bits. */
static inline uint64_t shoal_random(void)
{
	uint64_t draw = shoal.draws++;

	if (draw >= 4)
		__builtin_trap();
	return (&shoal.random_0)[draw];
}

/* The functions that a law of queues may have; on_arrival or on_departure it must have.
 *
 * on_init: The queue is made, and the parameters have their values; answers 0, or the address of a text that
 *     says what is wrong with them.
 * on_arrival: A packet arrived. Answers 0 to let it wait, 1 to mark it, 2 to drop it; a mark of a packet that
 *     is not ECN-capable has no effect.
 * on_overflow: A packet arrived that does not fit, and that the host drops. `on_arrival` is not called for it.
 * on_departure: A packet leaves. Answers 0 to send it, 1 to mark it, 2 to drop it; after a drop the next one
 *     leaves.
 * on_empty: The line is free and nothing waits: called again while that lasts, and at the latest before the
 *     next arrival.
 * on_timer: The time in the word `timer` has come.
 */
#endif
