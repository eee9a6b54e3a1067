"""Finds the smallest or largest value of a key that satisfies a condition."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from shoal._arguments import explained
from shoal.errors import UsageError
from shoal.expression import plain
from shoal.results import Results
from shoal.runs import host_bursts
from shoal.runs.cases import Case, RunCases, run_cases
from shoal.scenario import Scenario
from shoal.search.bisection import Decision, Outcome, Phase, Side, drive, search
from shoal.search.condition import Condition, Measured, decide
from shoal.seeds import most_seeds, seed_list
from shoal.table import Table
from shoal.template import Template, is_variable
from shoal.words import count_of, significant

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.figure import Figure

    from shoal.plots import Drawn


# A list of candidates is kept in memory.
_most_candidates = 1_000_000


@dataclass(frozen=True)
class Problem:
    """One search: candidates in rising order, and the scenario of each.

    Attributes
    ----------
    label
        For progress bars.
    candidates
        The values, in rising order.
    scenario
        Makes the scenario of a value.
    key, unit
        What the values are of, for messages.
    """

    label: str
    candidates: Sequence[float]
    scenario: Callable[[float], Scenario]
    key: str = "value"
    unit: str | None = None


@explained
@dataclass(frozen=True)
class Trial:
    """A candidate that was tried."""

    value: float
    phase: Phase
    results: Results
    measured: list[Measured]
    decision: Decision


@explained
@dataclass(frozen=True, repr=False)
class Tuned:
    """What a search found.

    Attributes
    ----------
    key, unit
        What was searched: a dotted key or a variable, and the unit of its values, if any.
    condition, side
        What was looked for.
    trials
        Every candidate that was tried, in order.
    answer
        The outermost value from which on the condition holds; ``None`` if no candidate satisfies it.
    against
        Tried values that contradict a single change at the answer; empty if the condition is monotone as far as seen.
    fails_at, holds_at
        The nearest tried values at which the condition clearly fails, and clearly holds.
    all_hold
        Whether the answer is the end of the range, so that the range does not bound it.
    warnings
        What the simulator leaves out and the answer depends on; to be read with it.
    """

    key: str
    unit: str | None
    condition: Condition
    side: Side
    trials: list[Trial]
    answer: float | None
    against: list[float]
    fails_at: float | None
    holds_at: float | None
    all_hold: bool
    warnings: tuple[str, ...] = ()

    @property
    def results(self) -> Results | None:
        """The runs at the answer."""
        return next((trial.results for trial in self.trials if trial.value == self.answer), None)

    @property
    def named_trials(self) -> list[tuple[str, Results]]:
        """The runs of every trial, each with what sentences call it: the key and its value."""
        return [(f"{self.key} = {self._with_unit(trial.value)}", trial.results) for trial in self.trials]

    @property
    def verdict(self) -> str:
        """One sentence: the answer, or that there is none."""
        if self.answer is None:
            return f"No value of {self.key} satisfies {self.condition.text}."
        which = "first" if self.side is Side.SMALLEST else "last"
        only = f"the {which} value of the range: all that were tried hold"
        end = f" ({only})" if self.all_hold and not self.against else ""
        return f"{self.side.value.capitalize()} {self.key} = {self._with_unit(self.answer)}{end}: {self.condition.text}"

    @property
    def remarks(self) -> list[str]:
        """What to know about the answer: its noise, and whether the condition changes only once."""
        lines = []
        if self.answer is not None and self.fails_at is not None and self.holds_at is not None:
            fails, holds = self._with_unit(self.fails_at), self._with_unit(self.holds_at)
            lines.append(f"Clearly fails at {fails}, clearly holds at {holds}.")
        if len(self.trials[0].results) == 1:
            lines.append("One seed: nothing is known of the noise.")
        if self.against:
            values = ", ".join(plain(value) for value in self.against)
            change = "" if self.answer is None else "the condition changes more than once, or noise decides: "
            lines.append(f"Not monotone: {change}see {values}.")
        return [*lines, *self.warnings]

    @property
    def label(self) -> str:
        """Its values at an axis or above a column: the last word of the key, and the unit."""
        return self.key.rpartition(".")[2] + (f" [{self.unit}]" if self.unit else "")

    def trail(self) -> Table:
        """Every candidate that was tried, in order, as the command line shows it."""
        columns = [self.label, "Why"]
        for comparison in self.condition.comparisons:
            columns += [comparison.left, comparison.operator]
        rows = []
        for trial in self.trials:
            cells = [plain(trial.value), trial.phase.value]
            for measured in trial.measured:
                cells += [significant(measured.left), significant(measured.right)]
            word = "holds" if trial.decision.holds else "fails"
            rows.append((*cells, word if trial.decision.clear else f"{word}, within the noise"))
        return Table("", (*columns, ""), rows, words=0)

    @property
    def drawn(self) -> Drawn:
        """The figure of the search with its data: every value that was tried, the limits, and the answer."""
        from shoal.plots import trials

        texts = [(f"{c.left} {c.operator} {c.right}", c.left) for c in self.condition.comparisons]
        return trials.draw(
            self.to_polars(),
            texts,
            title=self.condition.text,
            label=self.label,
            answer=self.answer,
            side=self.side.value,
        )

    def plot(self) -> Figure:
        """Draw every value that was tried, the limits of the condition, and the answer."""
        return self.drawn.figure

    def _with_unit(self, value: float) -> str:
        return f"{plain(value)} {self.unit}" if self.unit else plain(value)

    def __repr__(self) -> str:
        return f"<shoal.Tuned: {self.verdict.removesuffix('.')}; {count_of(len(self.trials), 'value')} tried>"

    def _repr_html_(self) -> str:
        from shoal import notebook
        from shoal.pictures import picture

        trail = self.trail()
        return (
            notebook.heading(self.verdict)
            + notebook.table(trail.rows, heads=trail.columns, words=trail.words)
            + picture(self.drawn)
            + "".join(notebook.note(line) for line in self.remarks)
        )

    def to_pandas(self) -> pd.DataFrame:
        """Give :meth:`to_polars` as a pandas frame; needs the extra ``pandas``."""
        from shoal.frames import to_pandas

        return to_pandas(self.to_polars())

    def to_polars(self) -> pl.DataFrame:
        """Give one row a trial and comparison: value, phase, both sides with half-widths, whether it holds clearly."""
        import polars as pl

        rows = [
            {
                "value": trial.value,
                "phase": trial.phase.value,
                "comparison": f"{comparison.left} {comparison.operator} {comparison.right}",
                "left": measured.left.mean,
                "left_ci95": measured.left.half_width,
                "right": measured.right.mean,
                "right_ci95": measured.right.half_width,
                "holds": measured.decision.holds,
                "clear": measured.decision.clear,
            }
            for trial in self.trials
            for comparison, measured in zip(self.condition.comparisons, trial.measured, strict=True)
        ]
        return pl.DataFrame(rows, schema_overrides={"left_ci95": pl.Float64, "right_ci95": pl.Float64})


@explained
def tune(
    scenario: Scenario | str | Path,
    *,
    key: str,
    low: float,
    high: float,
    such_that: str,
    side: Side | Literal["smallest", "largest"] = Side.SMALLEST,
    unit: str | None = None,
    step: float = 1.0,
    within: float | None = None,
    set: Mapping[str, object] | None = None,
    seeds: int = 3,
    confirm: int = 2,
    lean: bool = False,
    workers: int | None = None,
    cache: str | Path | None = None,
    progress: bool = False,
) -> Tuned:
    """Search a range of values for the smallest, or largest, that satisfies a condition.

    Bisection, then the neighbours of the answer are tried, too; everything is decided on means over seeds. Candidates
    are ``low``, ``low + step``, ... up to ``high``.

    Parameters
    ----------
    scenario
        A scenario, or the path of a scenario file, or the name of a ready-made one.
    key
        A dotted key; a name that is not a key is a variable of the expressions in ``set``.
    low, high
        The range, both ends included.
    such_that
        The condition, e.g. ``queue_empty() <= 0.05``.
    side
        Which end of the values that satisfy it is looked for: ``smallest`` or ``largest``.
    unit
        Unit of the values, as in the file, e.g. ``packets``; a bare number if not given.
    step
        Distance of the candidates.
    within
        If given, leaves out candidates that are closer than this part of their value.
    set
        Other keys and values; ``{expressions}`` in them are computed from the variable.
    seeds
        Runs of every candidate.
    confirm
        Neighbours of the answer on each side that are tried.
    lean
        Record only what the condition needs, and no time series if it needs none.
    workers, cache, progress
        As for :func:`shoal.sweep`.

    Examples
    --------
    >>> import shoal
    >>> scenario = shoal.Scenario.from_toml('''
    ... duration = "20 s"
    ... bottleneck = { rate = "10 Mbit/s", aqm = { kind = "step", threshold = "20 packets" } }
    ... flows = [{ cc = "dctcp", rtt = "25 ms" }]
    ... ''')
    >>> found = shoal.tune(
    ...     scenario, key="bottleneck.aqm.threshold", low=1, high=40, unit="packets", such_that="utilisation() >= 0.99"
    ... )
    >>> found.answer <= 20
    True
    """
    from shoal.metrics import recording

    if not isinstance(scenario, Scenario):
        scenario = Scenario.from_file(scenario)
    side = Side(side)
    condition = Condition.parse(such_that)
    values = candidates(low, high, step=step, within=within)
    template = Template(scenario, (key,), set or {})

    def at(value: float) -> Scenario:
        point = template.at({key: written(value, None if is_variable(key) else unit)})
        keys = recording(point, condition.expressions, lean=lean)
        return point.override(keys) if keys else point

    ends = [at(values[0]), at(values[-1])]  # a wrong key or unit shows before anything runs
    problem = Problem(f"{key.rpartition('.')[2]} = ", values, at, key, unit)
    tuned = solve(
        [problem],
        condition,
        side=side,
        seeds=seeds,
        confirm=confirm,
        run=partial(run_cases, workers=workers, cache=cache, progress=progress),
    )[0]
    bursts = host_bursts.warning(ends) if host_bursts.sets_a_threshold(template.varied) else None
    return replace(tuned, warnings=(bursts,)) if bursts else tuned


def solve(
    problems: Sequence[Problem],
    condition: Condition,
    *,
    side: Side,
    seeds: int,
    confirm: int,
    run: RunCases,
    metrics: Iterable[str] = (),
) -> list[Tuned]:
    """Carry searches out side by side: what they want to know next runs together, on all cores.

    Parameters
    ----------
    problems, condition, side, seeds, confirm
        As for :func:`tune`.
    run
        Makes runs; the text is for the progress bar.
    metrics
        Expressions that are asked of the runs besides the condition.
    """
    most = max(1, most_seeds // 2 // (seeds if isinstance(seeds, int) and seeds > 0 else 1))
    if not 0 <= confirm <= most:
        raise UsageError(
            f"{confirm:,} neighbours of the answer cannot be confirmed on each side",
            hint=f"give a number from 0 to {most:,} (--confirm); 2 are usual",
        )
    trials: dict[tuple[int, int], Trial] = {}
    expressions = (*condition.expressions, *metrics)

    def answer(questions: Sequence[tuple[int, int]]) -> list[Decision]:
        scenarios = [problems[number].scenario(problems[number].candidates[index]) for number, index in questions]
        cases = [Case(scenario, seed_list(scenario, seeds), expressions) for scenario in scenarios]
        decisions = []
        for (number, index), runs in zip(questions, run(cases, _label(problems, questions)), strict=True):
            measured = condition.measure(runs)
            decisions.append(decide(measured))
            value = problems[number].candidates[index]
            trials[number, index] = Trial(value, Phase.ENDS, runs, measured, decisions[-1])
        return decisions

    searches = [search(len(problem.candidates), side=side, confirm=confirm) for problem in problems]
    return [
        _tuned(condition, side, problems[number], outcome, {i: t for (n, i), t in trials.items() if n == number})
        for number, outcome in enumerate(drive(searches, answer))
    ]


def _tuned(condition: Condition, side: Side, problem: Problem, outcome: Outcome, trials: dict[int, Trial]) -> Tuned:
    def value(index: int | None) -> float | None:
        return None if index is None else problem.candidates[index]

    end = 0 if side is Side.SMALLEST else len(problem.candidates) - 1
    return Tuned(
        key=problem.key,
        unit=problem.unit,
        condition=condition,
        side=side,
        trials=[replace(trials[step.index], phase=step.phase) for step in outcome.steps],
        answer=value(outcome.answer),
        against=[problem.candidates[index] for index in outcome.against],
        fails_at=value(outcome.fails_at),
        holds_at=value(outcome.holds_at),
        all_hold=outcome.answer == end,
    )


def _label(problems: Sequence[Problem], questions: Sequence[tuple[int, int]]) -> str:
    if len(problems) > 1:
        return f"{len({number for number, _ in questions})} searches"
    return problems[0].label + ", ".join(plain(problems[0].candidates[index]) for _, index in questions)


def candidates(low: float, high: float, *, step: float = 1.0, within: float | None = None) -> list[float]:
    """The values of a range, both ends included, that a search chooses from.

    Raises
    ------
    UsageError
        The range is empty, or has more than a million values.
    """
    if not all(math.isfinite(value) for value in (low, high, step)) or step <= 0:
        raise UsageError(f"a range from {low} to {high} in steps of {step} cannot be searched", hint="use --step 1")
    if high < low:
        raise UsageError(
            f"the range from {plain(low)} to {plain(high)} is empty", hint="the first value must not be above the last"
        )
    if within is not None and not 0 < within < 1:
        raise UsageError(f"{within} is not a part of a value", hint="as in --within 0.02: candidates 2 % apart")
    if (high - low) / step > _most_candidates:
        raise UsageError(
            f"more than {_most_candidates:,} candidates", hint="a larger --step, or --within 0.01 beside a larger step"
        )
    # Twelve digits: 0.1 + 2 x 0.1 is 0.3.
    steps = math.floor((high - low) / step * (1 + 1e-12))
    values = [float(f"{low + number * step:.12g}") for number in range(steps + 1)]
    if values[-1] != high:
        values.append(float(high))
    if within is None:
        return values
    kept = values[:1]
    for value in values[1:-1]:
        if value - kept[-1] >= within * abs(kept[-1]):
            kept.append(value)
    return [*kept, values[-1]] if len(values) > 1 else kept


def written(value: float, unit: str | None) -> object:
    """A candidate as it stands in the scenario file."""
    if unit:
        return f"{plain(value)} {unit}"
    return int(value) if value == int(value) else value
