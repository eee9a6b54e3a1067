/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions that law.h takes from the kernel, for BPF programs. A division by zero gives zero
 * there and stops nothing; products of 128 bits, which the laws of DCTCP do without, are left out.
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

#endif
