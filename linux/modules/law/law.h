/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that control laws need: integers of fixed width and products of 128 bits. Parameters
 * are within bounds.h, times within those of the kernel's clock (63 bits).
 *
 * Laws are pure: no clock, no packets, no locks, no randomness of their own. The same headers are
 * compiled into the kernel modules and into the user-space harness that replays the vectors of the
 * Rust models (linux/modules/tests).
 */
#ifndef _SHOAL_LAW_H
#define _SHOAL_LAW_H

#ifdef __KERNEL__

#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/types.h>

/*
 * Every operation whose result might not fit into 64 bits is a function, so that tests can detect
 * an overflow. law_less() is a - b.
 */
#define law_div(a, b)		div64_u64(a, b)
#define law_mul_shr(a, b, s)	mul_u64_u64_shr(a, b, s)
#define law_mul_div(a, b, d)	mul_u64_u64_div_u64(a, b, d)
#define law_mul(a, b)		((u64)(a) * (u64)(b))
#define law_shl(a, s)		((u64)(a) << (s))
#define law_sum(a, b)		((u64)(a) + (u64)(b))
#define law_less(a, b)		((u64)(a) - (u64)(b))

#elif defined(__bpf__)

#include "../../bpf/arithmetic.h"

#else

#include "../tests/userspace.h"

#endif

#include "bounds.h"

/* Probabilities are multiples of 2^-32; this one is certain. */
#define LAW_CERTAIN		0x100000000ULL

/* A uniform random number of 32 bits. */
typedef u32 (*law_random_t)(void *context);

/**
 * law_happens() - Decide on a random event
 * @p: probability in 2^-32
 * @uniform: uniform random number of 32 bits
 *
 * Return: whether the event happens.
 */
static inline bool law_happens(u64 p, u32 uniform)
{
	return uniform < p;
}

static inline u32 law_min32(u32 a, u32 b)
{
	return a < b ? a : b;
}

static inline u32 law_max32(u32 a, u32 b)
{
	return a > b ? a : b;
}

static inline u64 law_min64(u64 a, u64 b)
{
	return a < b ? a : b;
}

/**
 * law_add32() - Add two numbers with saturation
 * @a: first number
 * @b: second number
 *
 * Return: the sum, or the largest number.
 */
static inline u32 law_add32(u32 a, u32 b)
{
	return a + b < a ? U32_MAX : a + b;
}

#endif
