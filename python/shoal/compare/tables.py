"""Tables of a comparison, for the terminal, the report and the documentation."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.compare.comparison import Compared, Comparison, Quantity, targets
from shoal.tabulate import Table

_titles = {"utilisation": "utilisation", "queue": "mean queue", "rate_ratio": "rate ratio"}
# The overview: column and the beginning of the quantity's name.
_overview = {
    "utilisation %": "utilisation",
    "mean queue": "queue_mean_packets",
    "delay P99 ms (ECT)": "delay_ect_p99_s",
    "delay P99 ms (not ECT)": "delay_not_ect_p99_s",
    "marks": "marked",
    "drops": "dropped_",
    "rate ratio": "rate_ratio_",
}


def details(compared: Compared) -> Table:
    """Every quantity of a scenario."""
    columns = ("Of", "Quantity", "Simulator", "Linux", "Difference", "95 % interval", "p", "Verdict")
    rows = [_row(quantity) for quantity in compared.quantities]
    return Table(f"{compared.name}: {compared.scenario.title}", columns, rows, words=2)


def overview(comparison: Comparison) -> Table:
    """One row a scenario: simulator / Linux."""
    columns = ("Scenario", *_overview, "differs in")
    rows = [_overview_row(one) for one in comparison]
    return Table("Simulator / Linux", columns, rows, words=1)


def medians(comparison: Comparison) -> Table:
    """Medians over the scenarios, with their targets."""
    rows = [
        (
            _titles[name],
            "-" if value is None else f"{value:.2%}",
            f"{targets[name]:.0%}",
            "-" if value is None else "met" if value <= targets[name] else "missed",
        )
        for name, value in comparison.medians.items()
    ]
    return Table("Median difference", ("Of", "Measured", "Target", ""), rows, words=1)


def markdown(table: Table) -> str:
    """A table in Markdown."""
    lines = [table.columns, tuple("---" if index < table.words else "--:" for index in range(len(table.columns)))]
    escaped = [tuple(cell.replace("|", "\\|") for cell in row) for row in [*lines, *table.rows]]
    return "".join(f"| {' | '.join(row)} |\n" for row in escaped)


def shown(quantity: Quantity) -> tuple[str, str]:
    """Both means, as precise as their difference deserves."""
    factor = quantity.measure.factor
    sim, linux = quantity.sim.mean * factor, quantity.linux.mean * factor
    return _number(sim), _number(linux)


def _row(quantity: Quantity) -> tuple[str, ...]:
    measure, apart = quantity.measure, quantity.difference
    sim, linux = (
        _number(side.mean * measure.factor)
        + (f" ± {_number(side.half_width * measure.factor)}" if side.half_width else "")
        for side in (quantity.sim, quantity.linux)
    )
    title = f"{measure.title} [{measure.unit}]" if measure.unit else measure.title
    interval = "-"
    if apart.half_width is not None:
        ends = [(apart.value + sign * apart.half_width) * measure.factor for sign in (-1, 1)]
        interval = f"{_number(ends[0])} .. {_number(ends[1])}"
    return (
        measure.of,
        title,
        sim,
        linux,
        "-" if quantity.relative is None else f"{quantity.relative:+.2%}",
        interval,
        "-" if apart.p is None else f"{apart.p:.2g}",
        str(quantity.verdict),
    )


def _overview_row(compared: Compared) -> tuple[str, ...]:
    cells = []
    for prefix in _overview.values():
        own = [quantity for quantity in compared.quantities if quantity.measure.name.startswith(prefix)]
        cells.append(" / ".join(_totals(own)) if prefix == "dropped_" else _pairs(own))
    names = dict.fromkeys(f"{quantity.measure.title} ({quantity.measure.of})" for quantity in compared.differing)
    return (compared.name, *cells, ", ".join(names))


def _pairs(quantities: Sequence[Quantity]) -> str:
    return "; ".join(" / ".join(shown(quantity)) for quantity in quantities)


def _totals(quantities: Sequence[Quantity]) -> tuple[str, str]:
    """Drops of both classes together."""
    sim, linux = (sum(getattr(quantity, side).mean for quantity in quantities) for side in ("sim", "linux"))
    return _number(sim), _number(linux)


def _number(value: float) -> str:
    """Four significant digits."""
    return f"{value:.4g}" if abs(value) < 10_000 else f"{value:.0f}"
