/* SPDX-License-Identifier: GPL-2.0-only */
/* What law.h takes from the kernel, for a 64-bit user space. */
#ifndef _SHOAL_USERSPACE_H
#define _SHOAL_USERSPACE_H

#include <stdbool.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define U32_MAX			UINT32_MAX
#define U64_MAX			UINT64_MAX
#define law_div(a, b)		((u64)(a) / (u64)(b))
#define law_mul_shr(a, b, s)	((u64)((__uint128_t)(a) * (b) >> (s)))
#define law_mul_div(a, b, d)	((u64)((__uint128_t)(a) * (b) / (d)))

#endif
