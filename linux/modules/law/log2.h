/* SPDX-License-Identifier: GPL-2.0-only */
/* Logarithm and power to base 2 in fixed point, for the ageing by (1-w)^m. */
#ifndef _SHOAL_LAW_LOG2_H
#define _SHOAL_LAW_LOG2_H

#include "law.h"

/* Fraction bits of logarithms. */
#define LAW_LOG_BITS	56

/**
 * law_minus_log2() - Compute a logarithm to base 2
 * @x: number in 2^-32, 0 < x <= 2^32
 *
 * Each squaring gives one bit of the result.
 *
 * Return: -log2 of @x times 2^-32, in 2^-LAW_LOG_BITS.
 */
static inline u64 law_minus_log2(u64 x)
{
	const u64 one = 1ULL << 62;
	u64 whole = 0, fraction = 0;
	int bit;

	x <<= 30;
	while (x < one) {
		x <<= 1;
		whole++;
	}
	for (bit = LAW_LOG_BITS - 1; bit >= 0; bit--) {
		/* 1 <= x < 2 in 2^-62. */
		x = law_mul_shr(x, x, 62);
		if (x >= 2 * one) {
			x >>= 1;
			fraction |= 1ULL << bit;
		}
	}
	return (whole << LAW_LOG_BITS) - fraction;
}

/*
 * 2^-(f 2^-32) in 2^-62, for 0 <= f < 2^32: the series of exp(-f ln 2), whose 18th term is below
 * 2^-62.
 */
static inline u64 law_exp2_fraction(u64 f)
{
	const u64 one = 1ULL << 62;
	/* ln 2 in 2^-64, so that the product has 2^-62 at shift 34. */
	u64 y = law_mul_shr(f, 12786308645202655660ULL, 34);
	u64 sum = one;
	int n;

	/*
	 * This runs at every arrival on an idle line: in the unrolled loop the divisors are
	 * constants, and the compiler turns quotients by constants into products.
	 */
#pragma GCC unroll 20
	for (n = 20; n > 0; n--)
		sum = one - law_div(law_mul_shr(y, sum, 62), n);
	return sum;
}

#endif
