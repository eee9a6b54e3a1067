"""Numbers as `tc` reads them: sizes count in 1024, rates in 1000, bare times are microseconds.

After lib/utils_math.c and tc/tc_util.c of iproute2 (ee2a4a86).
"""

from __future__ import annotations

import re
from fractions import Fraction

_sizes = {
    "": 1, "b": 1, "k": 2**10, "kb": 2**10, "m": 2**20, "mb": 2**20, "g": 2**30, "gb": 2**30,
    "kbit": 2**7, "mbit": 2**17, "gbit": 2**27,
}  # fmt: skip
_times = {
    "": Fraction(1, 10**6), "s": Fraction(1), "sec": Fraction(1), "secs": Fraction(1),
    "ms": Fraction(1, 10**3), "msec": Fraction(1, 10**3), "msecs": Fraction(1, 10**3),
    "us": Fraction(1, 10**6), "usec": Fraction(1, 10**6), "usecs": Fraction(1, 10**6),
    "ns": Fraction(1, 10**9), "nsec": Fraction(1, 10**9), "nsecs": Fraction(1, 10**9),
}  # fmt: skip
_prefixes = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_number = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([A-Za-z]*)")


def size_bytes(word: str) -> int | None:
    """A size in whole bytes; ``None`` if tc does not read it."""
    match = _number.fullmatch(word)
    factor = _sizes.get(match[2].lower()) if match else None
    if match is None or factor is None:
        return None
    size = int(Fraction(match[1]) * factor)
    return size if size < 2**32 else None


def time_seconds(word: str) -> Fraction | None:
    """A time in seconds; ``None`` if tc does not read it."""
    match = _number.fullmatch(word)
    factor = _times.get(match[2].lower()) if match else None
    return None if match is None or factor is None else Fraction(match[1]) * factor


def rate_bps(word: str) -> int | None:
    """A rate in bit/s; ``None`` if tc does not read it."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?)(ki|mi|gi|ti|[kmgt])?(bit|bps)?", word.lower())
    if match is None or (match[2] and not match[3]):
        return None
    return int(Fraction(match[1]) * _prefixes[match[2] or ""] * (8 if match[3] == "bps" else 1))
