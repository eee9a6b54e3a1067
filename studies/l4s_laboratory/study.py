"""Prague, CUBIC and Reno in two laboratories, beside the simulator."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from shoal_dev.study import Cell, Study
from shoal_dev.tables import table
from studies.l4s_laboratory.cases import (
    ECT_DELAY,
    FALLING_RATES,
    OTHER_DELAY,
    RATIO,
    SECTIONS,
    SEEDS,
    SHARE,
    Case,
    FallingRate,
    Section,
    measured,
)

ERROR = "error, points"
DIGITS = {SHARE: 3, RATIO: 1, ECT_DELAY: 1, OTHER_DELAY: 1}
ABSENT = "none"
# Ratios of Prague's rate to a classic flow's that were expected of single queues before anything was measured.
RATIOS_EXPECTED = (13.0, 90.0)
WORST = 5
FALLING = "A rate that falls"
HEADS_OF_FALLS = ("packets", "to, Mbit/s", "RTT, ms", "queue", "controller", "what")


@dataclass(frozen=True)
class Variant:
    """Another set-up of flows: its title, changes by key of a flow, and the controller that is changed, if not all."""

    title: str
    changes: Mapping[str, object]
    only: str = ""


# What a laboratory's machine may have had and the simulator's set-up has not, or the reverse.
VARIANTS = (
    Variant("hosts that send segments", {"host": "linux-6-gso"}),
    Variant(
        "and receivers that gather for .5 ms",
        {"host": {"preset": "linux-6-gso", "coalescing": "gro", "interrupt_delay": "500 us"}},
    ),
    Variant("CUBIC without HyStart", {"cc_options.hystart": False}, only="cubic"),
    Variant("Prague 0.6", {"cc": "prague-0.6"}, only="prague-2020"),
)


@dataclass(frozen=True)
class Row:
    """A published row with what was measured of it, by quantity."""

    section: Section
    case: Case
    measured: Mapping[str, float]

    @property
    def error_points(self) -> float | None:
        """How far the first flow's share is from the published one, in percentage points."""
        if SHARE not in self.measured:
            return None
        return 100 * (self.measured[SHARE] - self.case.published[SHARE])

    def cells(self) -> dict[str, str]:
        """Its cells by the titles of their columns."""
        cells = dict(zip(self.section.heads, self.case.key, strict=True))
        for quantity in quantities(self.section):
            digits = DIGITS[quantity]
            for title, values in (("published", self.case.published), ("measured", self.measured)):
                cells[f"{title} {quantity}"] = f"{values[quantity]:.{digits}f}" if quantity in values else ABSENT
            if quantity == SHARE:
                error = ABSENT if self.error_points is None else f"{self.error_points:+.1f}"
                cells[ERROR] = f"({error})" if self.case.is_doubted else error
        return cells


def quantities(section: Section) -> list[str]:
    """What the rows of a queue have values of, in the order of columns."""
    return [quantity for quantity in DIGITS if any(quantity in case.published for case in section.cases())]


def row(section: Section, case: Case) -> Row:
    """A row, measured."""
    results = case.results()
    return Row(section, case, {quantity: measured(quantity, results) for quantity in case.published})


def again(section: Section, case: Case) -> dict[str, str]:
    """What is measured of a row."""
    return {title: cell for title, cell in row(section, case).cells().items() if title not in section.heads}


def quantiles(errors: Sequence[float]) -> tuple[str, str, str]:
    """Median, 90th percentile and largest of some errors."""
    middle, most, worst = np.quantile(np.abs(errors), [0.5, 0.9, 1.0])
    return f"{middle:.1f}", f"{most:.1f}", f"{worst:.1f}"


def summary(section: Section, rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Errors of shares of all rows of a queue, and of each kind."""
    counted = [each for each in rows if each.error_points is not None and not each.case.is_doubted]
    goal = "" if section.goal_points is None else f"{section.goal_points:g}"
    yield (section.title, "all", str(len(counted)), *quantiles([each.error_points or 0.0 for each in counted]), goal)
    for kind in dict.fromkeys(each.case.kind for each in counted):
        errors = [each.error_points or 0.0 for each in counted if each.case.kind == kind]
        yield (section.title, kind, str(len(errors)), *quantiles(errors), "")


def delays(sections: Sequence[Sequence[Row]]) -> Iterator[tuple[str, ...]]:
    """Relative errors of mean delays at the queue, in per cent."""
    for rows in sections:
        for quantity in (ECT_DELAY, OTHER_DELAY):
            errors = [
                100 * (each.measured[quantity] / each.case.published[quantity] - 1)
                for each in rows
                if quantity in each.measured
            ]
            if errors:
                yield (rows[0].section.title, quantity.removesuffix(", ms"), str(len(errors)), *quantiles(errors))


def ratios(rows: Sequence[Row]) -> str:
    """What is measured of ratios of rates, beside what is published."""
    pairs = [(each.measured[RATIO], each.case.published[RATIO]) for each in rows if RATIO in each.measured]
    ours, theirs = zip(*pairs, strict=True)
    low, high = RATIOS_EXPECTED
    return (
        f"In one classic queue Prague has {min(ours):.0f} to {max(ours):.0f} times the rate of the classic flow, "
        f"{min(theirs):.0f} to {max(theirs):.0f} times as published; {low:.0f} to {high:.0f} were expected, which "
        f"{sum(low <= ratio <= high for ratio in ours)} of {len(ours)} are."
    )


def changes(case: Case, variant: Variant) -> dict[str, object]:
    """A variant as changes of a row's scenario: for those of its flows that have what is changed."""
    return {
        f"flows.flow-{number}.{key}": value
        for number, controller in enumerate(case.controllers, 1)
        for key, value in variant.changes.items()
        if variant.only in ("", controller)
    }


def causes(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """The worst rows, one for each that is published: their seeds, and shares with another set-up."""
    counted = [each for each in rows if each.error_points is not None and not each.case.is_doubted]
    counted.sort(key=lambda each: -abs(each.error_points or 0.0))
    distinct: dict[tuple[str, ...], Row] = {}
    for each in counted:
        distinct.setdefault((each.case.source, *each.case.key), each)
    for each in list(distinct.values())[:WORST]:
        shares = [measured(SHARE, [result]) for result in each.case.results()]
        cells = [f"{each.case.published[SHARE]:.3f}", f"{min(shares):.3f} to {max(shares):.3f}"]
        for variant in VARIANTS:
            changed = changes(each.case, variant)
            cells.append(f"{measured(SHARE, each.case.results(changed)):.3f}" if changed else ABSENT)
        yield (each.section.title, " ".join(each.case.key), *cells)


def falling_rate(case: FallingRate) -> dict[str, str]:
    """What is measured of a rate that falls, by the titles of columns."""
    values = [case.value(seed) for seed in SEEDS]
    digits = 2 if case.published < 1 else 1 if case.published < 10 else 0
    return {"measured, mean of the seeds": f"{np.mean(values):.{digits}f} {case.unit}".strip()}


def measure() -> Iterator[str]:
    """How far shares and delays are from the published ones, the worst rows with another set-up; then every row."""
    sections = [[row(section, case) for case in section.cases()] for section in SECTIONS]
    rows = [each for section in sections for each in section]
    heads = ("queue", "rows", "number", "median error, points", "90 %", "worst", "expected median")
    yield table(heads, [line for part in sections for line in summary(part[0].section, part)], "llr")
    yield "A row in parentheses is doubted by its source and counts nowhere. " + ratios(rows)
    yield table(("queue", "mean delay", "number", "median error, %", "90 %", "worst"), list(delays(sections)), "llr")
    yield "## The worst rows"
    yield (
        "Shares of the first flow with another set-up, for the five published rows that are furthest away: what the "
        "laboratory's machine may have had, or what the simulator's has."
    )
    heads = ("queue", "row", "published", f"{len(SEEDS)} seeds", *(variant.title for variant in VARIANTS))
    yield table(heads, list(causes(rows)), "llr")
    yield f"## {FALLING}"
    yield (
        "One flow over 50 Mbit/s; the rate falls after 30 s of 60. The RTT is higher until the smoothed one is within "
        "a tenth of its mean of the ten seconds before for good. Packets in bursts come to the queue as from slots of "
        "up to 16 packets, 0.8 to 5 ms apart, and so do ACKs to the sender."
    )
    rows_of_falls = [
        (*case.key, case.what, f"{case.published:g} {case.unit}".strip(), *falling_rate(case).values())
        for case in FALLING_RATES
    ]
    yield table((*HEADS_OF_FALLS, "published", "measured, mean of the seeds"), rows_of_falls, "lrrlllr")
    for part in sections:
        yield f"## {part[0].section.title}"
        cells = [each.cells() for each in part]
        yield table(tuple(cells[0]), [list(line.values()) for line in cells], "l" * len(part[0].section.heads) + "r")


def cells() -> Iterator[Cell]:
    """Every row."""
    for fall in FALLING_RATES:
        yield Cell(FALLING, (*fall.key, fall.what), partial(falling_rate, fall), cpu_s=8)
    for section in SECTIONS:
        for case in section.cases():
            yield Cell(section.title, case.key, partial(again, section, case), cpu_s=4)


STUDY = Study(
    title="Prague, CUBIC and Reno in two laboratories",
    about="published values are those of [heistp/l4s-tests](https://github.com/heistp/l4s-tests) of 2020 (commit "
    "e21cd91, scenarios 1, 2 and 6, one run a row) and of the laboratory of the "
    "[paper of the dual queue](https://arxiv.org/abs/2209.01078) (2022)",
    measure=measure,
    takes="about three minutes",
    cells=cells,
)
