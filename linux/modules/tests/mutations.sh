#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Shows that corners.c notices what the bounds are for: it must fail with one bound removed, or with one guard of a law.
#
#     CC=gcc CFLAGS=... mutations.sh BUILD
set -eu

here=$(dirname "$0")
scratch=$1/mutations
rm -rf "$scratch"
mkdir -p "$scratch/tests"
trap 'rm -rf "$scratch"' EXIT
cp "$here"/*.h "$here"/corners.c "$scratch/tests"
noticed=0

# must_fail WHAT FILE SED-EXPRESSION
must_fail() {
	rm -rf "$scratch/law"
	cp -r "$here/../law" "$scratch/law"
	sed -i "$3" "$scratch/law/$2"
	if cmp -s "$here/../law/$2" "$scratch/law/$2"; then
		echo "mutations.sh: $1: law/$2 has no such place any more" >&2
		exit 1
	fi
	# shellcheck disable=SC2086
	${CC:-gcc} ${CFLAGS:-} -std=gnu11 -w -o "$scratch/corners" "$scratch/tests/corners.c" -lm
	if "$scratch/corners" 1 >"$scratch/said" 2>&1; then
		echo "mutations.sh: $1: corners.c does not notice" >&2
		exit 1
	fi
	[ -z "${VERBOSE:-}" ] || { echo "$1:"; sed 's/^/    /' "$scratch/said"; }
	noticed=$((noticed + 1))
}

# widen BOUND VALUE
widen() {
	must_fail "$1 $2" bounds.h "s/^\\(#define LAW_$1[[:space:]]*\\).*/\\1$2/"
}

widen RATE_MIN 0ULL
widen RATE_MAX 20000000000000ULL
widen SATURATION_MIN 0ULL
widen UNIT_MIN 0ULL
widen THRESHOLD_MAX 1000000000000000000ULL
widen COUPLING_MIN 1ULL
widen BITS_MAX 33ULL
widen SHIFT_MAX UINT64_MAX
widen PERCENT_MAX 255ULL
widen MTU_MAX 4294967295ULL
widen FRACTION_MAX '(1ULL << 34)'
widen GAIN_SHIFT_MAX 33u
widen ALPHA_MAX 4096u

must_fail "p far above one is not cut off" coupled.h 's/return 1ULL << 48;/;/'
must_fail "Q of more than 32 bits is shifted" coupled.h 's/queue >> 32 ? LAW_CERTAIN : //'
must_fail "a probability certain by the gap is divided" red.h 's/if (p >= left)/if (0)/'
must_fail "the gap's product is taken whatever it is" red.h 's/if (law_mul_shr(p, passed, RED_FINE))/if (0)/'
must_fail "a long silence is exponentiated" red.h 's/ || idle >> 40//'
must_fail "a silence of many weights is exponentiated" red.h \
  's/if (law_mul_shr(params->ageing, idle, LAW_LOG_BITS) >= 64)/if (0)/'
must_fail "an average ages by a mean packet of no time" red.h 's/mean_packet_ns ? mean_packet_ns : 1/mean_packet_ns/'
must_fail "a ratio that does not fit is not cut off" prague.h 's/return U64_MAX;/;/'
must_fail "a rate grows without end" prague_rate.h 's/law_min64(added, PRAGUE_MOST)/added/'
must_fail "a cut rate falls below the lowest" prague.h 's/law_prague_max(left, PRAGUE_LOWEST_RATE)/left/'
must_fail "all steps of slow start cost as much as the first" window.h 's/ + (law_mul(steps, steps) - steps) \/ 2//'
must_fail "slow start goes beyond the clamp" window.h 's/(most - more) | //'
must_fail "a packet is larger than the path's" prague_rate.h 's/(u16)law_min64(half, most)/(u16)half/'

echo "bounds and guards of the laws: $noticed, none of them idle"
