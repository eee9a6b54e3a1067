"""Tables of a comparison, for the terminal, the report and the documentation."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.compare.comparison import Compared, Comparison, Quantity, worst_of_families
from shoal.compare.kinds import Family, Kind, Per
from shoal.compare.quantities import Measure
from shoal.compare.verdicts import Verdict, most_seeds
from shoal.table import Table

# The overview: column and the beginning of the quantity's name.
_overview = {
    "utilisation %": "utilisation",
    "mean queue": "queue_packets",
    "delay P99 ms (ECT)": "delay_ect_p99_s",
    "delay P99 ms (not ECT)": "delay_not_ect_p99_s",
    "marks": "marked",
    "drops": "dropped_",
    "rate ratio": "rate_ratio_",
}


def details(compared: Compared) -> list[Table]:
    """Every quantity of a scenario: one table a family."""
    tables = []
    for family in Family:
        quantities = [quantity for quantity in compared.quantities if quantity.measure.family is family]
        # A column that would be empty is none.
        seeds = any(quantity.verdict is Verdict.UNDECIDED for quantity in quantities)
        columns = ("Verdict", "Simulator", "Linux", "Difference", "Margin", *(("Seeds",) if seeds else ()))
        rows = [_row(quantity, seeds=seeds) for quantity in quantities]
        if rows:
            tables.append(Table("", (str(family).capitalize(), *columns), rows, words=2))
    return tables


def overview(comparison: Comparison) -> Table:
    """One row a scenario: simulator / Linux."""
    columns = ("Scenario", *_overview)
    return Table("Simulator / Linux", columns, [_overview_row(compared) for compared in comparison], words=1)


def verdicts(comparison: Comparison) -> Table:
    """One row a scenario: how many quantities have which verdict, and what differs, by families."""
    columns = ("Scenario", "Equal, same", "Not decided", "Different", "Differs in")
    rows = [
        (
            compared.name,
            str(len(compared.having(Verdict.EQUAL)) + len(compared.having(Verdict.SAME))),
            str(len(compared.having(Verdict.UNDECIDED))),
            str(len(compared.having(Verdict.DIFFERENT))),
            "; ".join((*_differs_in(compared), *_undecided(compared))),
        )
        for compared in comparison
    ]
    # All columns are words, so that the last one wraps.
    return Table("Verdicts", columns, rows, words=len(columns))


def head(comparison: Comparison) -> Table:
    """Relative differences over the scenarios: median, 90th percentile, worst."""
    columns = ("Difference (scenarios)", "Worst in", "Worst", "P90", "Median", "Target of the median")
    rows = [
        (
            f"{headline.title} ({headline.scenarios})",
            headline.worst_in if headline.worst else "-",
            _percent(headline.worst),
            _percent(headline.p90),
            _percent(headline.median),
            "-" if headline.target is None else f"{headline.target:.0%}, {'missed' if headline.is_missed else 'met'}",
        )
        for headline in comparison.headlines
    ]
    return Table("Size of relative differences", columns, rows, words=2)


def margins(kinds: Sequence[Kind]) -> Table:
    """The margins, with their reasons."""
    rows = [(kind.title, _margin(kind), kind.reason) for kind in kinds]
    return Table("Margins", ("Quantities", "Margin", "Because"), rows, words=3)


def shown(quantity: Quantity) -> tuple[str, str]:
    """The two means, with as many digits as it takes to tell them apart."""
    factor = quantity.measure.factor
    return _pair(quantity.sim.mean * factor, quantity.linux.mean * factor)


def _row(quantity: Quantity, *, seeds: bool) -> tuple[str, ...]:
    measure, apart = quantity.measure, quantity.difference
    title = _title(measure) + (f" [{measure.unit}]" if measure.unit else "")
    own_margin = quantity.margin.at(quantity.linux.mean)
    if quantity.linux.mean:
        scale, suffix = 100 / abs(quantity.linux.mean), " %"
    else:
        scale, suffix = measure.factor, ""
    width = f" ± {_number(apart.half_width * scale, 2)}" if apart.half_width else ""
    value = f"{'+' if apart.value > 0 else ''}{_number(apart.value * scale, 3)}" if apart.value else "0"
    row = (
        title,
        _verdict(quantity),
        *shown(quantity),
        f"{value}{width}{suffix}",
        f"{_number(own_margin * scale, 2)}{suffix}",
    )
    return (*row, _seeds(quantity)) if seeds else row


def _verdict(quantity: Quantity) -> str:
    """What no seed changes is compared exactly."""
    exactly = quantity.pairs.is_exact and quantity.verdict is not Verdict.EQUAL
    return f"{quantity.verdict}, exactly" if exactly else str(quantity.verdict)


def _seeds(quantity: Quantity) -> str:
    if quantity.verdict is not Verdict.UNDECIDED:
        return ""
    return f"> {most_seeds}" if quantity.decision.seeds is None else f"about {quantity.decision.seeds}"


def _overview_row(compared: Compared) -> tuple[str, ...]:
    cells = []
    for prefix in _overview.values():
        quantities = [quantity for quantity in compared.quantities if quantity.measure.name.startswith(prefix)]
        cells.append(" / ".join(_totals(quantities)) if prefix == "dropped_" else _pairs(quantities))
    return (compared.name, *cells)


def _differs_in(compared: Compared) -> list[str]:
    """Families with the worst quantity of each."""
    parts = [
        f"{family}: {_named(quantity)}"
        for family, quantity in worst_of_families(compared.having(Verdict.DIFFERENT)).items()
    ]
    if compared.unequal:
        worst = max(compared.unequal, key=lambda quantity: quantity.in_margins)
        count = len(compared.unequal)
        parts.append(f"within the margin, exactly: {_named(worst)}" + (f" and {count - 1} more" if count > 1 else ""))
    return parts


def _undecided(compared: Compared) -> list[str]:
    """With how many seeds half of them would not be left."""
    needed = sorted(quantity.decision.seeds or most_seeds + 1 for quantity in compared.having(Verdict.UNDECIDED))
    if not needed:
        return []
    half = needed[(len(needed) - 1) // 2]
    seeds = f"{half} seeds" if half <= most_seeds else f"more than {most_seeds} seeds"
    return [f"not decided: half of them need {seeds}"]


def _named(quantity: Quantity) -> str:
    measure = quantity.measure
    exactly = ", exactly" if quantity.pairs.is_exact and quantity.verdict is Verdict.DIFFERENT else ""
    unit = " ms" if measure.unit == "ms" else ""
    return f"{_title(measure)} {' / '.join(shown(quantity))}{unit}{exactly}"


def _title(measure: Measure) -> str:
    """With what it is about, if that is not the link."""
    return measure.title if measure.of == "link" else f"{measure.title} ({measure.of})"


def _pairs(quantities: Sequence[Quantity]) -> str:
    return "; ".join(" / ".join(shown(quantity)) for quantity in quantities)


def _totals(quantities: Sequence[Quantity]) -> tuple[str, str]:
    """Drops of both classes together."""
    sim, linux = (sum(getattr(quantity, side).mean for quantity in quantities) for side in ("sim", "linux"))
    return _number(sim), _number(linux)


def _margin(kind: Kind) -> str:
    parts = [f"{kind.share:.0%} of Linux's mean"] * bool(kind.share)
    if kind.absolute:
        unit = {
            Per.UNIT: f"{kind.absolute:.2g}",
            Per.PACKET_TIME: f"{kind.absolute:.2g} transmission of a packet",
            Per.FAIR_RATE: f"{kind.absolute:.2g} of the fair rate",
        }
        parts.append(unit[kind.per])
    return " + ".join(parts)


def _percent(value: float) -> str:
    return f"{value:.2%}" if value < 10 else f"{100 * value:.0f}%"


def _pair(first: float, second: float) -> tuple[str, str]:
    """Four significant digits, or more if they are not the same number but would look so; nine at most."""
    for digits in range(4, 10):
        texts = _number(first, digits), _number(second, digits)
        if first == second or texts[0] != texts[1]:
            return texts
    return texts


def _number(value: float, digits: int = 4) -> str:
    """Significant digits, without an exponent where that is readable."""
    text = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e+" in text else text
