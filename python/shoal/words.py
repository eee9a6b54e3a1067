"""Numbers as a person reads them: with their unit and their confidence interval."""

from __future__ import annotations

from shoal.stats import Estimate
from shoal.units import Unit

# What a copy has until its attributes are there.
_nothing = Estimate(0.0, None, 0)


class Quantity(str):
    """A number as a person reads it, which remembers the number.

    Attributes
    ----------
    estimate
        Mean and half-width of the interval, in the unit that the text has.
    """

    estimate: Estimate

    def __new__(cls, text: str, estimate: Estimate = _nothing) -> Quantity:
        """Make it of what is shown and what that stands for."""
        quantity = super().__new__(cls, text)
        quantity.estimate = estimate
        return quantity


def count_of(count: int, noun: str) -> str:
    """A counted noun, as in ``1 point`` or ``2,000 points``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def number(value: Estimate | None, *, digits: int = 2) -> str:
    """A number with its confidence interval."""
    if value is None:
        return "-"
    text = f"{value.mean:,.{digits}f}"
    # Equal values need no interval: nothing in the run was random.
    return Quantity(f"{text} ± {value.half_width:,.{digits}f}" if value.half_width else text, value)


def significant(value: Estimate) -> str:
    """A number with four significant digits, and two of its confidence interval."""
    return Quantity(f"{value.mean:.4g}" + (f" ± {value.half_width:.2g}" if value.half_width else ""), value)


def rounded(value: float) -> str:
    """Three significant digits, or all before the point of a large number."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def scaled(value: Estimate | None, factor: float, unit: str, *, digits: int = 2) -> str:
    """A number in another unit."""
    if value is None:
        return "-"
    width = None if value.half_width is None else value.half_width * factor
    estimate = Estimate(value.mean * factor, width, value.n)
    return Quantity(f"{number(estimate, digits=digits)} {unit}", estimate)


def percent(value: Estimate | None) -> str:
    """A fraction."""
    return scaled(value, 100, "%", digits=2)


def milliseconds(value: Estimate | None) -> str:
    """A time, in the unit that keeps it readable."""
    if value is not None and 0 < value.mean < 1e-3:
        return scaled(value, 1e6, "µs", digits=1)
    return scaled(value, 1e3, "ms", digits=2)


def rate(value: Estimate | None) -> str:
    """A rate, in the unit that keeps it readable."""
    if value is not None and value.mean >= 1e9:
        return scaled(value, 1e-9, "Gbit/s", digits=3)
    if value is not None and 0 < value.mean < 1e5:
        return scaled(value, 1e-3, "kbit/s", digits=1)
    return scaled(value, 1e-6, "Mbit/s", digits=2)


def in_unit(unit: Unit, value: Estimate | None, digits: int) -> str:
    """A number in the unit of results (s, bit/s) as a person reads it."""
    match unit:
        case Unit.FRACTION:
            return percent(value)
        case Unit.MBPS | Unit.BPS:
            return rate(value)
        case Unit.SECONDS if value is not None and value.mean >= 1:
            return scaled(value, 1, "s")
        case Unit.SECONDS | Unit.MILLISECONDS:
            return milliseconds(value)
        case Unit.POWER:
            return scaled(value, 1e-9, "Mbit/s per ms")
        case Unit.PACKETS:
            return scaled(value, 1, "packets")
        case Unit.COUNT:
            return scaled(value, 1, "packets", digits=0)
    return number(value, digits=digits)
