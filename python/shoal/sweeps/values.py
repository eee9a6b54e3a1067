"""Values of an axis as they are written: lists, and ranges with even or logarithmic steps."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from shoal._toml import as_text, parsed
from shoal.errors import UsageError
from shoal.expression import plain
from shoal.models import nearest

_number = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_begins_range = re.compile(rf"\s*{_number}[^:\[\]{{}}\"']*:")
_end = re.compile(rf"\s*(?P<number>{_number})\s*(?P<unit>[^\s:0-9][^:]*?)?\s*")
_examples = "as in 1:10 (steps of 1), 1:10:4 (four values), 1:1000:log, 1:1000:log:5, or '1:10 packets'"
_sample_examples = "as in 1:100, '1:100 packets', 1:1000:log, 1:64:whole or 1:64:log:whole"
# Values of a logarithmic range: 1, 2.15, 4.64, 10.
_values_per_decade = 3
most_values = 100_000


def assignment(text: str, option: str) -> tuple[str, str]:
    """The key and the values of ``KEY=V1,V2,...``, as the command line has them; ``option`` is for messages.

    Raises
    ------
    UsageError
        One of them is missing.
    """
    key, equals, values = text.partition("=")
    key = key.strip()
    if not equals or not key:
        raise UsageError(f"`{option} {text}` is not KEY=V1,V2,...", hint=f"as in {option} flows.dctcp.count=1,2,4")
    return key, values


def listed(values: str, subject: str, key: str) -> list[object]:
    """The values of a list such as ``1,2,4`` or ``1:10 packets,20 packets``; ``subject`` is what messages begin with.

    Raises
    ------
    UsageError
        A value is empty, or a range is none.
    """
    words = [word for part in _split(values) for word in _expanded(part.strip())]
    if not all(words):
        raise UsageError(f"{subject} has an empty value", hint=f"as in {key}=1,2,4")
    return [parsed(word) for word in words]


def refuse_repeated(values: Sequence[object], subject: str) -> None:
    """Refuse a value that an axis has twice.

    Raises
    ------
    UsageError
        There is one.
    """
    words = [as_text(value) for value in values]
    if len(set(words)) < len(words):
        raise UsageError(f"{subject} has a value twice", hint="every value runs once; see --seeds")


@dataclass(frozen=True, slots=True)
class Interval:
    """A range of which any value may be taken, as samples need it.

    Attributes
    ----------
    low, high
        Its ends, both included.
    is_log
        Whether equal ratios, not equal differences, are equally likely.
    is_whole
        Whether values are rounded to whole numbers.
    unit
        What stands behind the number; empty for a bare one.
    """

    low: float
    high: float
    is_log: bool
    is_whole: bool
    unit: str

    def at(self, part: float) -> object:
        """The value below which a part (0 to 1) of the range lies, as it stands in a scenario."""
        if self.is_whole:
            # Each whole number is equally likely, the ends too; on a logarithmic range in proportion to its ratio.
            low, high = (self.low - 0.5, self.high + 0.5)
            value = low * (high / low) ** part if self.is_log else low + (high - low) * part
            value = min(max(float(round(value)), self.low), self.high)
        else:
            value = (
                self.low * (self.high / self.low) ** part if self.is_log else self.low + (self.high - self.low) * part
            )
            value = float(f"{value:.6g}")
        if self.unit:
            return f"{plain(value)} {self.unit}"
        return int(value) if value == int(value) else value

    @classmethod
    def parse(cls, text: str) -> Interval | None:
        """Read ``1:100 packets``, ``1:1000:log``, ``1:64:whole`` or ``1:64:log:whole``; ``None`` if it is no range.

        Raises
        ------
        UsageError
            It begins like a range and is none.
        """
        if not _begins_range.match(text):
            return None
        first, last, unit, rest = _ends(text)
        words = set(rest)
        if words - {"log", "whole"} or len(words) < len(rest):
            odd = next((word for word in rest if word not in ("log", "whole")), rest[-1])
            raise UsageError(f"`{text}` is not a range of samples: `{odd}` has no meaning there", hint=_sample_examples)
        if last <= first:
            raise UsageError(f"the range `{text}` is empty", hint="write the smaller end first")
        if "log" in words and first <= 0:
            raise UsageError(f"the range `{text}` is not above zero", hint="a logarithmic range begins above 0")
        if "whole" in words and (first != int(first) or last != int(last)):
            raise UsageError(f"the ends of `{text}` are not whole numbers", hint=_sample_examples)
        return cls(first, last, "log" in words, "whole" in words, unit or "")


def _expanded(text: str) -> list[str]:
    """The values of a range; anything else is a value as it stands."""
    if not _begins_range.match(text):
        return [text]
    first, last, unit, rest = _ends(text)
    values = _values(text, first, last, rest)
    return [f"{plain(value)} {unit}" if unit else plain(value) for value in values]


def _ends(text: str) -> tuple[float, float, str | None, list[str]]:
    """The two ends of a range, their unit, and what stands behind them."""
    parts = text.split(":")
    (first, unit), (last, other) = _end_of(parts[0], text), _end_of(parts[1], text)
    rest = [part.strip() for part in parts[2:]]
    # The unit stands once, at the very end or behind the last value.
    if rest and (match := re.fullmatch(r"(?P<word>log|whole|[0-9]+)\s+(?P<unit>\D.*)", rest[-1])):
        rest[-1] = match["word"]
        if other is None:
            other = match["unit"]
    if unit is not None and other is not None and unit != other:
        raise UsageError(f"`{text}`: one end is in {unit}, the other in {other}", hint="write both in the same unit")
    unit = other if other is not None else unit
    return first, last, unit, rest


def _end_of(part: str, text: str) -> tuple[float, str | None]:
    match = _end.fullmatch(part)
    if match is None or not math.isfinite(float(match["number"])):
        raise UsageError(f"`{text}` is not a range: `{part.strip()}` is not a number", hint=_examples)
    return float(match["number"]), match["unit"]


def _values(text: str, first: float, last: float, rest: Sequence[str]) -> list[float]:
    if last < first:
        raise UsageError(f"the range `{text}` is empty", hint="write the smaller end first")
    if last == first:
        raise UsageError(f"the range `{text}` has one value", hint=f"write {plain(first)} alone")
    match rest:
        case []:
            values = _stepped(text, first, last)
        case [count] if count.isdecimal():
            values = _even(text, first, last, int(count))
        case ["log"]:
            count_ = max(2, round(_values_per_decade * math.log10(last / first)) + 1) if first > 0 else 2
            values = _logarithmic(text, first, last, count_)
        case ["log", count] if count.isdecimal():
            values = _logarithmic(text, first, last, int(count))
        case [word, *_]:
            odd = next((other for other in rest if other != "log" and not other.isdecimal()), word)
            hint = f"{nearest(odd, ['log'])} Ranges are written {_examples}" if odd.isalpha() else _examples
            raise UsageError(f"`{text}` is not a range: `{odd}` is neither a number of values nor log", hint=hint)
    return list(dict.fromkeys(values))


def _stepped(text: str, first: float, last: float) -> list[float]:
    if last - first >= most_values:
        raise _too_many(text)
    if (last - first) != int(last - first):
        raise UsageError(
            f"the range `{text}` does not end after whole steps of 1",
            hint=f"say how many values there are to be, as in {plain(first)}:{plain(last)}:5",
        )
    return [float(f"{first + number:.12g}") for number in range(int(last - first) + 1)]


def _even(text: str, first: float, last: float, count: int) -> list[float]:
    _check_count(text, count)
    step = (last - first) / (count - 1)
    return [float(f"{first + number * step:.12g}") for number in range(count - 1)] + [last]


def _logarithmic(text: str, first: float, last: float, count: int) -> list[float]:
    _check_count(text, count)
    if first <= 0:
        raise UsageError(f"the range `{text}` is not above zero", hint="logarithmic steps need a first value above 0")
    ratio = (last / first) ** (1 / (count - 1))
    inner = [first * ratio**number for number in range(1, count - 1)]
    is_whole = first == int(first) and last == int(last)
    return [first, *(float(round(value)) if is_whole else float(f"{value:.3g}") for value in inner), last]


def _check_count(text: str, count: int) -> None:
    if count < 2:
        raise UsageError(f"the range `{text}` has fewer than two values", hint=_examples)
    if count > most_values:
        raise _too_many(text)


def _too_many(text: str) -> UsageError:
    return UsageError(f"the range `{text}` has more than {most_values:,} values", hint="say how many, as in 1:1000:20")


def _split(text: str) -> list[str]:
    """Parts between commas that are not inside brackets, braces or quotes."""
    parts, start, depth, quote = [], 0, 0, ""
    for index, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]
