"""What a search with goals found: the optimum or the front, how sure that is, and what is around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal._arguments import explained
from shoal.frames import interval_columns, to_pandas, value_columns
from shoal.results import Results
from shoal.search.candidates import Candidate, Measurement
from shoal.search.condition import Condition
from shoal.search.domination import Judgement, Order, Standing, compared, judge, order_of
from shoal.search.goals import Direction, Goal
from shoal.search.parameters import FreeParameter
from shoal.search.schedule import Schedule
from shoal.search.tuning import written
from shoal.stats import Estimate, paired_difference
from shoal.sweeps import short_names
from shoal.table import Table
from shoal.words import count_of, significant

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.figure import Figure

    from shoal.plots.style import Drawn

_superlatives = {Direction.MINIMISE: "Least", Direction.MAXIMISE: "Greatest"}


@explained
@dataclass(frozen=True, slots=True)
class Neighbour:
    """A place next to the optimum, which differs from it in one parameter.

    Attributes
    ----------
    parameter
        The one that differs.
    value
        Its value.
    measured
        What fresh seeds say there.
    """

    parameter: FreeParameter
    value: float
    measured: Measurement


@explained
@dataclass(frozen=True, repr=False)
class Optimised:
    """What a search with goals found.

    Attributes
    ----------
    parameters, goals, condition
        What was free, and what was looked for.
    schedule
        How the runs were divided.
    candidates
        Everything that was tried, in order.
    finalists
        The candidates that were run with fresh seeds: the best first, or those that stand for the front.
    chosen
        The optimum; of several goals the compromise: the nearest to the best of every goal, each scaled by its range
        among the finalists. ``None`` if no finalist satisfies the condition.
    neighbours
        What is around it.
    runs
        How many runs it took.
    warnings
        What the simulator leaves out and the answer depends on; to be read with it.
    """

    parameters: tuple[FreeParameter, ...]
    goals: tuple[Goal, ...]
    condition: Condition | None
    schedule: Schedule
    candidates: list[Candidate]
    finalists: list[Candidate]
    chosen: Candidate | None
    neighbours: list[Neighbour]
    runs: int
    warnings: tuple[str, ...] = ()

    # What was found.

    @property
    def values(self) -> dict[str, float]:
        """Keys and values at the optimum or the compromise; empty if there is none."""
        return {} if self.chosen is None else self._values(self.chosen.at)

    @property
    def settings(self) -> dict[str, object]:
        """Keys and values as a scenario file has them, for :meth:`Scenario.override`; variables are numbers."""
        return {p.key: written(self.values[p.key], p.unit) for p in self.parameters if self.values}

    def estimate(self, expression: str) -> Estimate | None:
        """A goal, or a side of the condition, at the optimum by fresh seeds; ``None`` without optimum or value."""
        return None if self.chosen is None else self.chosen.confirmed.estimate(expression)

    @property
    def results(self) -> Results | None:
        """The runs with fresh seeds at the optimum, or at the compromise."""
        return None if self.chosen is None else self.chosen.confirmed.results

    @property
    def front(self) -> list[Candidate]:
        """The finalists that satisfy the condition and that no other one clearly dominates; with several goals."""
        return [finalist for finalist, judgement in self._judged() if judgement.standing is not Standing.DOMINATED]

    def standing(self, candidate: Candidate) -> Judgement | None:
        """Where a finalist stands, by the numbers of others; ``None`` if it fails the condition."""
        return next((judgement for finalist, judgement in self._judged() if finalist.number == candidate.number), None)

    @property
    def plausible(self) -> dict[str, tuple[float, float]]:
        """For each key the least and the greatest value of candidates that are not clearly worse; with one goal only.

        Compared are all candidates with the optimum, by the seeds that the search ran of all of them; those at which
        the condition clearly fails are left out.
        """
        if self.chosen is None or len(self.goals) > 1:
            return {}
        losses = self.chosen.searched.losses(self.goals[0])
        places = [self.chosen.at]
        for candidate in self.candidates:
            decision = candidate.searched.decided(self.condition)
            if candidate.searched.missing or (decision.clear and not decision.holds):
                continue
            count = min(len(candidate.searched.seeds), len(losses))
            if compared(candidate.searched.losses(self.goals[0])[:count], losses[:count]) is not Order.WORSE:
                places.append(candidate.at)
        return {
            parameter.key: (min(column), max(column))
            for parameter, column in zip(self.parameters, zip(*places, strict=True), strict=True)
        }

    @property
    def named(self) -> list[tuple[str, Results]]:
        """The runs with fresh seeds, each with what sentences call it: the keys and their values."""
        runs = [(self.place(finalist.at), finalist.confirmed.results) for finalist in self.finalists]
        runs += [
            (f"{near.parameter.key} = {near.parameter.text(near.value)}", near.measured.results)
            for near in self.neighbours
        ]
        return [(name, results) for name, results in runs if results is not None]

    # In words.

    def place(self, at: Sequence[float]) -> str:
        """Keys and values of a candidate."""
        return ", ".join(f"{p.key} = {p.text(value)}" for p, value in zip(self.parameters, at, strict=True))

    @property
    def verdict(self) -> str:
        """One sentence: the optimum, how many stand for the front, or that nothing satisfies the condition."""
        if self.chosen is None:
            return self._infeasible()
        if len(self.goals) == 1:
            goal = self.goals[0]
            holds = f", such that {self.condition.text}" if self.condition else ""
            return (
                f"{_superlatives[goal.direction]} {goal.expression} = {_shown(self.estimate(goal.expression))} at "
                f"{self.place(self.chosen.at)}{holds}"
            )
        texts = " and ".join(goal.text for goal in self.goals)
        standings = [judgement.standing for _, judgement in self._judged()]
        clear = standings.count(Standing.ON_FRONT)
        unclear = standings.count(Standing.UNCLEAR)
        return (
            f"Front of {texts}: {count_of(clear, 'candidate')} clearly on it, {unclear} within the noise of it; "
            f"compromise: {self.place(self.chosen.at)}"
        )

    @property
    def remarks(self) -> list[str]:
        """What to know about the answer: luck of the search, where else it may be, and what its range is."""
        lines = [*self._luck(), *self._where(), *self._ends(), *self._better_neighbours()]
        if self.chosen is not None:
            confirmed, refused = self.chosen.confirmed, self._refused_before(self.chosen)
            for measured, comparison in zip(
                confirmed.judged(self.condition), self.condition.comparisons if self.condition else (), strict=True
            ):
                if not measured.decision.clear:
                    lines.append(
                        f"{comparison.text} holds within the noise only: {significant(measured.left)} at the optimum."
                    )
            if refused:
                numbers = _listed(str(candidate.number) for candidate in refused)
                lines.append(f"Ranked first by the search, but with fresh seeds the condition fails there: {numbers}.")
        fresh = len(self.finalists[0].confirmed.seeds)
        count = len(self.candidates)
        lines.append(
            f"{self.runs} runs: {count} candidates with {self.schedule.seeds} seeds, the best with "
            f"{2 * self.schedule.seeds}; finalists and neighbours with {fresh} fresh seeds."
        )
        return [*lines, *self.warnings]

    @property
    def labels(self) -> list[str]:
        """The parameters above columns and at axes: as many words of each key as it takes, and the unit."""
        names = short_names([parameter.key for parameter in self.parameters])
        return [names[p.key] + (f" [{p.unit}]" if p.unit else "") for p in self.parameters]

    @property
    def measured(self) -> list[str]:
        """What tables show: the goals, and the left sides of the condition that are not goals."""
        return list(dict.fromkeys([goal.expression for goal in self.goals] + self._limited()))

    def tables(self) -> list[Table]:
        """What the command line and the report show: the finalists, and what is around the optimum if there is one."""
        return [self.finalists_table(), *([self.around_table()] if self.neighbours else [])]

    def finalists_table(self) -> Table:
        """The finalists by fresh seeds, beside what the search knew of their goals."""
        searched = [f"{goal.expression}, as searched" for goal in self.goals]
        rows = [
            (
                str(finalist.number),
                *(p.text(value).partition(" ")[0] for p, value in zip(self.parameters, finalist.at, strict=True)),
                *(_shown(finalist.confirmed.estimate(text)) for text in self.measured),
                *(_shown(finalist.searched.estimate(goal.expression)) for goal in self.goals),
                self._standing_in_words(finalist),
            )
            for finalist in sorted(self.finalists, key=self._front_order)
        ]
        title = "Front" if len(self.goals) > 1 else "Finalists"
        return Table(title, ("No.", *self.labels, *self.measured, *searched, ""), rows, words=1)

    def around_table(self) -> Table:
        """What happens next to the optimum: one parameter at a time, in steps of a twentieth of its range."""
        rows = []
        names = dict(zip((p.key for p in self.parameters), self.labels, strict=True))
        for parameter, value, measured in self._around():
            word = self._centre if self._is_chosen(measured) else self._change_in_words(measured)
            cells = (_shown(measured.estimate(text)) for text in self.measured)
            rows.append((names[parameter.key], parameter.text(value).partition(" ")[0], *cells, word))
        return Table(f"Around the {self._centre}", ("Changed", "to", *self.measured, ""), rows, words=2)

    # As frames.

    def to_polars(self) -> pl.DataFrame:
        """Give one row a candidate: its values, and what the search knew: means, half-widths, whether it holds."""
        return self._frame(self.candidates, [candidate.searched for candidate in self.candidates])

    def to_pandas(self) -> pd.DataFrame:
        """Give :meth:`to_polars` as a pandas frame; needs the extra ``pandas``."""
        return to_pandas(self.to_polars())

    def finalists_to_polars(self) -> pl.DataFrame:
        """Give one row a finalist: its values, and what fresh seeds say."""
        import polars as pl

        frame = self._frame(self.finalists, [finalist.confirmed for finalist in self.finalists])
        words = [self._standing_in_words(finalist) for finalist in self.finalists]
        return frame.with_columns(pl.Series("standing", words, dtype=pl.String))

    def around_to_polars(self) -> pl.DataFrame:
        """Give one row a place at or next to the optimum: what was changed, its value, and what fresh seeds say."""
        import polars as pl

        around = list(self._around())
        columns = {
            "changed": pl.Series([parameter.key for parameter, _, _ in around], dtype=pl.String),
            "value": pl.Series([value for _, value, _ in around], dtype=pl.Float64),
            "unit": pl.Series([parameter.unit for parameter, _, _ in around], dtype=pl.String),
            "is_optimum": pl.Series([self._is_chosen(measurement) for _, _, measurement in around], dtype=pl.Boolean),
        }
        words = [
            "" if self._is_chosen(measurement) else self._change_in_words(measurement) for _, _, measurement in around
        ]
        return pl.DataFrame(
            {**columns, **self._numbers([measurement for _, _, measurement in around]), "against_optimum": words}
        )

    def _around(self) -> Iterator[tuple[FreeParameter, float, Measurement]]:
        """What was measured at the optimum and next to it, one parameter after the other by rising values."""
        for parameter in self.parameters if self.chosen is not None else ():
            assert self.chosen is not None  # noqa: S101
            near = [
                (neighbour.value, neighbour.measured)
                for neighbour in self.neighbours
                if neighbour.parameter == parameter
            ]
            near.append((self.values[parameter.key], self.chosen.confirmed))
            for value, measured in sorted(near, key=lambda pair: pair[0]):
                yield parameter, value, measured

    def _is_chosen(self, measured: Measurement) -> bool:
        return self.chosen is not None and measured is self.chosen.confirmed

    def _frame(self, candidates: Sequence[Candidate], measured: Sequence[Measurement]) -> pl.DataFrame:
        import polars as pl

        columns = {
            "candidate": [candidate.number for candidate in candidates],
            "round": [candidate.round for candidate in candidates],
            **value_columns([self._values(candidate.at) for candidate in candidates]),
            "seeds": [len(measurement.seeds) for measurement in measured],
        }
        keys = dict.fromkeys((parameter.key for parameter in self.parameters), pl.Float64)
        return pl.DataFrame({**columns, **self._numbers(measured)}, schema_overrides=keys)

    # As pictures.

    @property
    def drawn(self) -> list[Drawn]:
        """The figures of the search with their data: with several goals the front, and the order of the search."""
        from shoal.plots import goals

        tried, finalists = self.to_polars(), self.finalists_to_polars()
        chosen = None if self.chosen is None else self.chosen.number
        history = goals.history(tried, self._goals, chosen=chosen)
        if len(self.goals) == 1:
            return [history]
        judged = [self.standing(finalist) for finalist in self.finalists]
        standings = ["" if judgement is None else judgement.standing.value for judgement in judged]
        return [goals.front(tried, finalists, self._goals, standings=standings, chosen=chosen), history]

    def plot(self) -> Figure:
        """Draw the front of several goals, or how the search came to its optimum."""
        return self.drawn[0].figure

    @property
    def _goals(self) -> list[tuple[str, str]]:
        return [(goal.expression, goal.direction.value) for goal in self.goals]

    def _numbers(self, measured: Sequence[Measurement]) -> dict[str, pl.Series]:
        """Means and half-widths of what tables show, and whether the condition holds."""
        import polars as pl

        decisions = [measurement.decided(self.condition) for measurement in measured]
        return {
            **interval_columns(
                {text: [measurement.estimate(text) for measurement in measured] for text in self.measured}
            ),
            "holds": pl.Series([decision.holds for decision in decisions], dtype=pl.Boolean),
            "clear": pl.Series([decision.clear for decision in decisions], dtype=pl.Boolean),
        }

    def __repr__(self) -> str:
        tried = f"{count_of(len(self.candidates), 'candidate')}, {count_of(self.runs, 'run')}"
        return f"<shoal.Optimised: {self.verdict.removesuffix('.')}; {tried}>"

    def _repr_html_(self) -> str:
        from shoal import notebook
        from shoal.pictures import picture

        return (
            notebook.heading(self.verdict)
            + picture(self.drawn[0])
            + "".join(notebook.table(table.rows, heads=table.columns, words=table.words) for table in self.tables())
            + "".join(notebook.note(line) for line in self.remarks)
        )

    # How sentences are made.

    @property
    def _centre(self) -> str:
        return "optimum" if len(self.goals) == 1 else "compromise"

    def _values(self, at: Sequence[float]) -> dict[str, float]:
        return dict(zip((parameter.key for parameter in self.parameters), at, strict=True))

    def _limited(self) -> list[str]:
        return [comparison.left for comparison in self.condition.comparisons] if self.condition else []

    def _judged(self) -> list[tuple[Candidate, Judgement]]:
        """The finalists that satisfy the condition and have a value of every goal, and where they stand."""
        holding = [
            finalist
            for finalist in self.finalists
            if finalist.confirmed.decided(self.condition).holds
            and finalist.confirmed.mean_losses(self.goals) is not None
        ]
        judgements = judge([[finalist.confirmed.losses(goal) for goal in self.goals] for finalist in holding])
        return [
            (finalist, Judgement(judgement.standing, tuple(holding[index].number for index in judgement.by)))
            for finalist, judgement in zip(holding, judgements, strict=True)
        ]

    def _front_order(self, finalist: Candidate) -> tuple[float, ...]:
        if len(self.goals) == 1:
            return (float(self.finalists.index(finalist)),)
        return finalist.confirmed.mean_losses(self.goals) or (float("inf"),)

    def _standing_in_words(self, finalist: Candidate) -> str:
        if (failing := self._failing(finalist.confirmed)) is not None:
            return failing
        judgement = self.standing(finalist)
        assert judgement is not None  # noqa: S101  (it satisfies the condition)
        if len(self.goals) == 1:
            if self.chosen is not None and finalist.number == self.chosen.number:
                return "optimum"
            return self._change_in_words(finalist.confirmed)
        compromise = ", compromise" * (self.chosen is not None and finalist.number == self.chosen.number)
        if judgement.standing is Standing.ON_FRONT:
            return f"on the front{compromise}"
        others = _listed(map(str, judgement.by))
        if judgement.standing is Standing.UNCLEAR:
            return f"not clear against {others}{compromise}"
        return f"dominated by {others}"

    def _failing(self, measured: Measurement) -> str | None:
        """The comparisons that fail, or what has no value; ``None`` if all holds and has values."""
        missing = [goal.expression for goal in self.goals if goal.expression in measured.missing]
        missing += [text for text in (self.condition.expressions if self.condition else ()) if text in measured.missing]
        if missing:
            return f"no value of {_listed(dict.fromkeys(missing))}"
        parts = zip(self.condition.comparisons, measured.judged(self.condition), strict=True) if self.condition else ()
        failed = [
            f"fails {comparison.text}" + ("" if outcome.decision.clear else ", within the noise")
            for comparison, outcome in parts
            if not outcome.decision.holds
        ]
        return "; ".join(failed) or None

    def _change_in_words(self, measured: Measurement) -> str:
        """How a place compares with the optimum, by pairs of runs with the same fresh seed."""
        if (failing := self._failing(measured)) is not None:
            return failing
        assert self.chosen is not None  # noqa: S101
        orders = {goal: compared(measured.losses(goal), self.chosen.confirmed.losses(goal)) for goal in self.goals}
        if set(orders.values()) == {Order.EQUAL}:
            return "the same"
        if len(self.goals) == 1:
            word = orders[self.goals[0]]
            return "within the noise" if word is Order.UNCLEAR else word.value
        said = [
            f"{word.value} in {_listed(goal.expression for goal, order in orders.items() if order is word)}"
            for word in (Order.BETTER, Order.WORSE)
            if word in orders.values()
        ]
        return ", ".join(said) or "within the noise"

    def _infeasible(self) -> str:
        best = self.finalists[0]
        if self.condition is None:
            return f"No finalist has a value of every goal with fresh seeds; the best: {self.place(best.at)}."
        parts = []
        for comparison, measured in zip(
            self.condition.comparisons, best.confirmed.judged(self.condition), strict=False
        ):
            if not measured.decision.holds:
                gap = abs(measured.left.mean - measured.right.mean)
                side = (
                    ""
                    if comparison.right == f"{measured.right.mean:g}"
                    else f", which is {significant(measured.right)},"
                )
                parts.append(
                    f"{comparison.left} = {significant(measured.left)} misses {comparison.operator} "
                    f"{comparison.right}{side} by {gap:.3g}"
                )
        missed = " and ".join(parts) or (self._failing(best.confirmed) or "")
        return f"No candidate satisfies {self.condition.text}. The nearest, {self.place(best.at)}: {missed}."

    def _luck(self) -> list[str]:
        """What the search thought of the optimum beside what fresh seeds say."""
        if self.chosen is None:
            return []
        lines = []
        for goal in self.goals:
            searched, fresh = self.chosen.searched.estimate(goal.expression), self.estimate(goal.expression)
            lines.append(
                f"{goal.expression} of the {self._centre} with the seeds that chose it: {_shown(searched)}; "
                f"with fresh seeds: {_shown(fresh)}."
            )
        return lines

    def _where(self) -> list[str]:
        if not self.plausible:
            return []
        ranges = []
        for parameter in self.parameters:
            low, high = self.plausible[parameter.key]
            ends = parameter.text(low) if low == high else f"{parameter.text(low)} to {parameter.text(high)}"
            ranges.append(f"{parameter.key} {ends}")
        return [f"Not clearly worse, of all that was tried: {_listed(ranges)}."]

    def _ends(self) -> list[str]:
        if self.chosen is None:
            return []
        ends = [
            f"{p.key} is at the end of its range, {p.range}"
            for p, value in zip(self.parameters, self.chosen.at, strict=True)
            if p.is_at_end(value)
        ]
        return [f"{_listed(ends)}: a wider range may do better."] if ends else []

    def _better_neighbours(self) -> list[str]:
        """That the search has not ended at an optimum, if there is one goal and a neighbour is clearly better."""
        if self.chosen is None or len(self.goals) > 1:
            return []
        goal = self.goals[0]
        optimum = self.chosen.confirmed
        better = []
        for near in self.neighbours:
            if self._failing(near.measured) is None:
                difference = paired_difference(near.measured.losses(goal), optimum.losses(goal))
                if order_of(difference) is Order.BETTER:
                    better.append((difference.value, near))
        if not better:
            return []
        _, near = min(better, key=lambda pair: pair[0])
        return [
            f"Not the optimum yet: {near.parameter.key} = {near.parameter.text(near.value)} is clearly better "
            f"({_shown(near.measured.estimate(goal.expression))}). More runs (--runs) bring the search closer."
        ]

    def _refused_before(self, chosen: Candidate) -> list[Candidate]:
        if len(self.goals) > 1:
            return []
        return self.finalists[: self.finalists.index(chosen)]


def _shown(value: Estimate | None) -> str:
    return "-" if value is None else significant(value)


def _listed(words: Iterable[str]) -> str:
    """As in ``1, 2 and 3``."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
