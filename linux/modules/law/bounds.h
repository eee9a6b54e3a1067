/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bounds of the parameters of the laws. Within these bounds no product, quotient, sum or shift of a
 * law leaves 64 bits, whatever packets arrive and however long the machine has been up:
 * tests/corners.c tries every combination of their edges with arithmetic that ends the program on
 * an overflow.
 *
 * The modules refuse other values with the message NAME_SAYS, in the terms of tc. The bounds are
 * far beyond the parameters of real lines.
 */
#ifndef _SHOAL_LAW_BOUNDS_H
#define _SHOAL_LAW_BOUNDS_H

/* Bytes per second. Not zero, as times are divided by it. */
#define LAW_RATE_MIN		1ULL
#define LAW_RATE_MAX		1000000000000ULL
#define LAW_RATE_SAYS		"rate must be 8bit to 8000gbit"

/* Nanoseconds, bytes or packets; p is the queue divided by it. */
#define LAW_SATURATION_MIN	1ULL
#define LAW_SATURATION_MAX	1000000000000000ULL
#define LAW_SATURATION_SAYS	"saturation must be 1 to 10^15 ns (11 days), bytes or packets"

/* Nanoseconds, bytes or packets; the queue is divided by it. */
#define LAW_UNIT_MIN		1ULL
#define LAW_UNIT_MAX		1000000000000000ULL
#define LAW_UNIT_SAYS		"unit must be 1 to 10^15 ns (11 days), bytes or packets"

/* Nanoseconds, bytes or packets. A time on arrival is multiplied by the rate. */
#define LAW_THRESHOLD_MIN	0ULL
#define LAW_THRESHOLD_MAX	1000000000000000ULL
#define LAW_THRESHOLD_SAYS	"threshold must be 0 to 10^15 ns (11 days), bytes or packets"

/* k in 2^-16; p, which is at most 2^16, is divided by it. */
#define LAW_COUPLING_MIN	64ULL
#define LAW_COUPLING_MAX	67108864ULL
#define LAW_COUPLING_SAYS	"coupling must be 0.001 to 1024"

/* Numbers of up to 32 bits are shifted left by it. */
#define LAW_BITS_MIN		0ULL
#define LAW_BITS_MAX		31ULL
#define LAW_BITS_SAYS		"a slope must be 0 to 31 bits"

/* Nanoseconds, added to a time of the clock. */
#define LAW_SHIFT_MIN		0ULL
#define LAW_SHIFT_MAX		1000000000000000ULL
#define LAW_SHIFT_SAYS		"shift must be 0 to 10^15 ns (11 days)"

/* Sizes of packets are multiplied by it. */
#define LAW_PERCENT_MIN		0ULL
#define LAW_PERCENT_MAX		100ULL
#define LAW_PERCENT_SAYS	"classic_percent must be 0 to 100"

/* Bytes; 0 means the MTU of the device. */
#define LAW_MTU_MIN		0ULL
#define LAW_MTU_MAX		65535ULL
#define LAW_MTU_SAYS		"mtu must be at most 65535 bytes; 0 is that of the device"

/* Bytes. */
#define LAW_MEAN_PACKET_MIN	1ULL
#define LAW_MEAN_PACKET_MAX	65535ULL
#define LAW_MEAN_PACKET_SAYS	"mean_packet must be 1 to 65535 bytes"

/* Probabilities and weights in 2^-32. */
#define LAW_FRACTION_MIN	1ULL
#define LAW_FRACTION_MAX	4294967296ULL
#define LAW_FRACTION_SAYS	"a probability or weight must be 2^-32 to 1"

/* g of DCTCP is 2^-GAIN_SHIFT, and numbers of packets are shifted left by it. */
#define LAW_GAIN_SHIFT_MAX	20u

/* Initial alpha of DCTCP in 2^-10. */
#define LAW_ALPHA_MAX		1024u

#endif
