/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions that law.h takes from the kernel, for BPF programs. A division by zero gives zero
 * there and stops nothing, and a result that does not fit loses its upper bits: within the bounds of
 * bounds.h neither happens. Products of 128 bits are made of halves, as BPF has none.
 */
#ifndef _SHOAL_BPF_ARITHMETIC_H
#define _SHOAL_BPF_ARITHMETIC_H

#include <stdbool.h>

/* A law is a part of each program that calls it. */
#define inline			inline __attribute__((always_inline))

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;
typedef long long s64;

#define U16_MAX			0xffffU
#define U32_MAX			0xffffffffU
#define U64_MAX			0xffffffffffffffffULL

#define law_div(a, b)		((u64)(a) / (u64)(b))
#define law_mul(a, b)		((u64)(a) * (u64)(b))
#define law_shl(a, s)		((u64)(a) << (s))
#define law_sum(a, b)		((u64)(a) + (u64)(b))
#define law_less(a, b)		((u64)(a) - (u64)(b))

/* The upper and the lower half of a product. */
static inline u64 law_high(u64 a, u64 b)
{
	u64 a0 = (u32)a, a1 = a >> 32, b0 = (u32)b, b1 = b >> 32;
	u64 middle = a1 * b0 + (a0 * b0 >> 32);

	return a1 * b1 + (middle >> 32) + (((u32)middle + a0 * b1) >> 32);
}

static inline u64 law_mul_shr(u64 a, u64 b, unsigned int shift)
{
	u64 high = law_high(a, b), low = a * b;

	if (shift >= 64)
		return high >> (shift - 64);
	return shift ? high << (64 - shift) | low >> shift : low;
}

static inline u64 law_mul_div(u64 a, u64 b, u64 divisor)
{
	u64 high = law_high(a, b), low = a * b, quotient = 0;
	int bit;

	if (!high)
		return law_div(low, divisor);
	/*
	 * Bit by bit; high is below the divisor, or the quotient would not fit. There is no
	 * condition, as the verifier would follow both of its branches at each bit.
	 */
	for (bit = 0; bit < 64; bit++) {
		u64 carry = high >> 63, less, borrow, takes;

		high = high << 1 | low >> 63;
		low <<= 1;
		less = high - divisor;
		borrow = ((~high & divisor) | ((~high | divisor) & less)) >> 63;
		takes = carry | (borrow ^ 1);
		high -= divisor & -takes;
		quotient = quotient << 1 | takes;
	}
	return quotient;
}

#endif
