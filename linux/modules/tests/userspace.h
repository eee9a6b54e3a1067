/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions that law.h takes from the kernel, for a 64-bit user space. Unlike in the kernel, an
 * overflow ends the program: there a quotient that does not fit into 64 bits is a trap on x86-64
 * (mul_u64_u64_div_u64() is mulq and divq) and a wrong value elsewhere, and a product or a sum that
 * does not fit is wrong everywhere.
 */
#ifndef _SHOAL_USERSPACE_H
#define _SHOAL_USERSPACE_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define U16_MAX			UINT16_MAX
#define U32_MAX			UINT32_MAX
#define U64_MAX			UINT64_MAX

/* Prints what is being tested before the program ends; a test may set it. */
static void (*law_trap_context)(FILE *out);

static inline _Noreturn void law_trap(const char *operation, u64 a, u64 b, u64 c)
{
	fprintf(stderr, "%s of %" PRIu64 ", %" PRIu64 ", %" PRIu64 " does not fit 64 bits\n",
		operation, a, b, c);
	if (law_trap_context)
		law_trap_context(stderr);
	exit(1);
}

static inline u64 law_div(u64 a, u64 b)
{
	if (!b)
		law_trap("law_div", a, b, 0);
	return a / b;
}

static inline u64 law_mul_shr(u64 a, u64 b, unsigned int shift)
{
	__uint128_t product = (__uint128_t)a * b >> shift;

	if (product >> 64)
		law_trap("law_mul_shr", a, b, shift);
	return (u64)product;
}

static inline u64 law_mul_div(u64 a, u64 b, u64 divisor)
{
	__uint128_t product = (__uint128_t)a * b;

	if (!divisor || (product / divisor) >> 64)
		law_trap("law_mul_div", a, b, divisor);
	return (u64)(product / divisor);
}

static inline u64 law_mul(u64 a, u64 b)
{
	u64 product;

	if (__builtin_mul_overflow(a, b, &product))
		law_trap("law_mul", a, b, 0);
	return product;
}

static inline u64 law_shl(u64 a, unsigned int shift)
{
	if (shift > 63 || (a << shift) >> shift != a)
		law_trap("law_shl", a, shift, 0);
	return a << shift;
}

static inline u64 law_sum(u64 a, u64 b)
{
	if (a + b < a)
		law_trap("law_sum", a, b, 0);
	return a + b;
}

static inline u64 law_less(u64 a, u64 b)
{
	if (b > a)
		law_trap("law_less", a, b, 0);
	return a - b;
}

#endif
