"""The headers for laws in C, from the interface as the native module has it."""

from __future__ import annotations

import json
import textwrap

from shoal import _native

_HEAD = """\
/* The interface of laws of @KINDS@ from files, for C. Generated (make generate);
 * docs/how-to/write-your-own-law.md explains it.
 *
 *   clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -o mine.wasm mine.c
 *
 * A law is a module without a clock, files or a network. Before each call the host writes the words below, and after
 * it reads those that are answers. SPDX-License-Identifier: Apache-2.0 OR MIT
 */
#ifndef @GUARD@
#define @GUARD@

#include <stddef.h>
#include <stdint.h>

/* What a word without a value has. */
#define SHOAL_NONE UINT64_MAX

struct shoal_words {
"""

_TAIL = """\
};

_Static_assert(sizeof(struct shoal_words) == 8 * @WORDS@, "the host and this file agree");

/* A module is one file of C, and has one block of words. */
static struct shoal_words shoal;

/* Defines a function that the host calls, as in SHOAL_CALL(on_loss) { ...; return 0; } */
#define SHOAL_CALL(name) \\
\t__attribute__((export_name(#name))) int32_t name(void); \\
\tint32_t name(void)

/* What the module says of itself: a text in JSON. */
#define SHOAL_DESCRIBE(text) \\
\tSHOAL_CALL(shoal_io) \\
\t{ \\
\t\treturn (int32_t)(uintptr_t)&shoal; \\
\t} \\
\tSHOAL_CALL(shoal_describe) \\
\t{ \\
\t\treturn (int32_t)(uintptr_t)(text); \\
\t}

static inline uint64_t shoal_min(uint64_t one, uint64_t other)
{
\treturn one < other ? one : other;
}

static inline uint64_t shoal_max(uint64_t one, uint64_t other)
{
\treturn one > other ? one : other;
}

@HELPERS@/* The functions that a law of @KINDS@ may have; @REQUIRED@.
 *
@CALLS@
 */
#endif
"""

_CONTROLLER_HELPERS = """\
/* Ways in which stacks count ACKs. */
enum { SHOAL_PER_ACK = 0, SHOAL_PER_PACKET = 1, SHOAL_PER_BYTE = 2 };

/* Whether the window is in slow start by the host's own test. */
static inline int shoal_in_slow_start(void)
{
\treturn shoal.slow_start_is_below ? shoal.cwnd < shoal.ssthresh : shoal.cwnd <= shoal.ssthresh;
}

/* What the ACK acknowledges, in packets or, where windows count bytes, in bytes. */
static inline uint64_t shoal_acked(void)
{
\treturn shoal.counting == SHOAL_PER_BYTE ? shoal.acked_bytes : shoal.acked_packets;
}

/* Slow start by the host's rules for one ACK; returns what is left over for congestion avoidance. */
static inline uint64_t shoal_slow_start(uint64_t acked)
{
\tuint64_t grown = shoal.cwnd + acked, left;

\tswitch (shoal.slow_start_counting) {
\tcase SHOAL_PER_ACK:
\t\tshoal.cwnd_cnt += shoal.cwnd;
\t\twhile (shoal.cwnd_cnt >= shoal.cwnd) {
\t\t\tshoal.cwnd_cnt -= shoal.cwnd;
\t\t\tif (shoal.cwnd < shoal.clamp)
\t\t\t\tshoal.cwnd++;
\t\t}
\t\treturn 0;
\tcase SHOAL_PER_BYTE:
\t\tshoal.cwnd = shoal_min(grown, shoal.clamp);
\t\tshoal.cwnd_cnt = 0;
\t\treturn 0;
\tdefault:
\t\tif (!shoal.slow_start_is_below) {
\t\t\tshoal.cwnd = shoal_min(shoal_min(grown, shoal.ssthresh + 1), shoal.clamp);
\t\t\treturn 0;
\t\t}
\t\tgrown = shoal_min(grown, shoal.ssthresh);
\t\tleft = acked - (grown - shoal.cwnd);
\t\tshoal.cwnd = shoal_min(grown, shoal.clamp);
\t\treturn left;
\t}
}

/* Linear growth by the host's rules: a packet more for every `every` ACKs, packets or bytes. */
static inline void shoal_linear(uint64_t every, uint64_t acked)
{
\tevery = shoal_max(every, 1);
\tswitch (shoal.counting) {
\tcase SHOAL_PER_ACK:
\t\tif (shoal.cwnd_cnt < every) {
\t\t\tshoal.cwnd_cnt++;
\t\t\treturn;
\t\t}
\t\tif (shoal.cwnd < shoal.clamp)
\t\t\tshoal.cwnd++;
\t\tshoal.cwnd_cnt = 0;
\t\treturn;
\tcase SHOAL_PER_BYTE:
\t\tshoal.cwnd_cnt += acked;
\t\tif (shoal.cwnd_cnt >= every) {
\t\t\tshoal.cwnd_cnt -= every;
\t\t\tshoal.cwnd = shoal_min(shoal.cwnd + shoal.quantum, shoal.clamp);
\t\t}
\t\treturn;
\tdefault:
\t\tif (shoal.cwnd_cnt >= every) {
\t\t\tshoal.cwnd_cnt = 0;
\t\t\tshoal.cwnd++;
\t\t}
\t\tshoal.cwnd_cnt += acked;
\t\tshoal.cwnd += shoal.cwnd_cnt / every;
\t\tshoal.cwnd_cnt %= every;
\t\tshoal.cwnd = shoal_min(shoal.cwnd, shoal.clamp);
\t}
}

/* Growth as in Reno: slow start, or else a packet more each window. */
static inline void shoal_reno(void)
{
\tuint64_t acked = shoal_acked();

\tif (shoal.app_limited)
\t\treturn;
\tif (shoal_in_slow_start()) {
\t\tacked = shoal_slow_start(acked);
\t\tif (!acked)
\t\t\treturn;
\t}
\tshoal_linear(shoal.cwnd, acked);
}

/* This part of the window in whole packets, but two at least. */
static inline uint64_t shoal_part(uint64_t numerator, uint64_t denominator)
{
\treturn shoal_max(shoal.cwnd * numerator / denominator / shoal.quantum, 2) * shoal.quantum;
}

"""

_QUEUE_HELPERS = """\
/* What is to become of a packet. */
enum { SHOAL_PASS = 0, SHOAL_MARK = 1, SHOAL_DROP = 2 };

/* Codepoints of ECN. */
enum { SHOAL_NOT_ECT = 0, SHOAL_ECT_1 = 1, SHOAL_ECT_0 = 2, SHOAL_CE = 3 };

/* Reasons. */
enum {
\tSHOAL_BUFFER = 0,
\tSHOAL_THRESHOLD = 1,
\tSHOAL_EARLY = 2,
\tSHOAL_FORCED = 3,
\tSHOAL_COUPLED = 4,
\tSHOAL_SOJOURN = 5
};

/* A signal of congestion: a mark if the packet is ECN-capable, otherwise a drop. */
static inline int32_t shoal_signal(uint64_t reason)
{
\tshoal.reason = reason;
\treturn shoal.ecn ? SHOAL_MARK : SHOAL_DROP;
}

/* The next of the four random draws of a call: uniform in 64 bits. */
static inline uint64_t shoal_random(void)
{
\tuint64_t draw = shoal.draws++;

\tif (draw >= 4)
\t\t__builtin_trap();
\treturn (&shoal.random_0)[draw];
}

"""

_KINDS = {
    "controller": ("controllers", "SHOAL_LAW_H", "on_growth and on_loss it must have", _CONTROLLER_HELPERS),
    "queue": ("queues", "SHOAL_QUEUE_H", "on_arrival or on_departure it must have", _QUEUE_HELPERS),
}
_DOUBLES = ("alpha", "probability", "average_bytes")


def header(law: str) -> str:
    """The text of shoal_law.h, for a ``controller``, or of shoal_queue.h, for a ``queue``."""
    interface = json.loads(_native.law_interface())
    kinds, guard, required, helpers = _KINDS[law]
    lines = []
    for name, doc in interface[law]["named"]:
        kind = "double" if name in _DOUBLES else "uint64_t"
        lines += [*_comment(doc, "\t"), f"\t{kind} {name};"]
    reserved = interface["parameters"] - len(interface[law]["named"])
    if reserved:
        lines += ["\t/* For words to come. */", f"\tuint64_t reserved[{reserved}];"]
    lines += [
        "\t/* Values of the parameters, in the order in which the module declares them. */",
        f"\tdouble parameter[{interface['words'] - interface['parameters']}];",
    ]
    calls = []
    for name, doc in interface[law]["calls"]:
        calls += textwrap.wrap(f"{name}: {doc.strip()}", 112, initial_indent=" * ", subsequent_indent=" *     ")
    text = _HEAD + "\n".join(lines) + "\n" + _TAIL.replace("@HELPERS@", helpers)
    values = {
        "WORDS": str(interface["words"]),
        "CALLS": "\n".join(calls),
        "KINDS": kinds,
        "GUARD": guard,
        "REQUIRED": required,
    }
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text


def _comment(doc: str, indent: str) -> list[str]:
    wrapped = textwrap.wrap(doc.strip(), 104)
    if len(wrapped) == 1:
        return [f"{indent}/* {wrapped[0]} */"]
    return [
        f"{indent}/* {wrapped[0]}",
        *(f"{indent} * {line}" for line in wrapped[1:-1]),
        f"{indent} * {wrapped[-1]} */",
    ]
