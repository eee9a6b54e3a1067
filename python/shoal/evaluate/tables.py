"""Evaluations as tables."""

from __future__ import annotations

from shoal._toml import as_text
from shoal.evaluate.evaluation import Evaluation, Outcome
from shoal.evaluate.model import Level
from shoal.runs.rows import Cell
from shoal.stats import Estimate
from shoal.sweeps import short_names
from shoal.sweeps.tables import written
from shoal.table import Table
from shoal.words import count_of


def table_of(outcome: Outcome) -> Table:
    """One line a point: contender, values, and mean and interval of every metric."""
    rows = outcome.rows
    if rows is None:
        return Table(outcome.experiment.title, ("Not run", "Path", "Why"), list(outcome.refused), words=3)
    names = short_names(list(outcome.others(rows[0])))
    paths = ("Path",) if outcome.experiment.paths else ()
    lines: list[tuple[str, ...]] = []
    for point in range(len(rows)):
        values = rows[point]
        failure = rows.failure(point)
        cells = ["failed" if failure is not None else written(outcome.cell(point, name)) for name in outcome.columns]
        given = (as_text(value) for value in outcome.others(values).values())
        path = (outcome.path(values),) if paths else ()
        lines.append((outcome.name(values), *path, *given, *cells, f"{point + 1}"))
    heads = ("", *paths, *names.values(), *outcome.columns, "Cell")
    return Table(outcome.experiment.title, heads, lines, words=1 + len(paths) + len(names))


def overview(evaluation: Evaluation) -> Table:
    """One line a section: how strongly the guide asks for it, and what was run, or why not (RFC 7928, section 13)."""
    lines = []
    for clause in evaluation.guide.clauses:
        outcomes = evaluation.of(clause)
        said = [f"{outcome.experiment.name}: {_became(outcome)}" for outcome in outcomes]
        # Two words stay on one line.
        level = "" if clause.level is Level.NONE else clause.level.value.replace(" ", "\N{NO-BREAK SPACE}")
        lines.append(
            (clause.number, clause.title, level, "; ".join([*said, *([clause.reason] if clause.reason else [])]))
        )
    return Table("Sections", ("Section", "About", "Asked", "What was run, or why not"), lines, words=4)


def refusals(evaluation: Evaluation) -> list[str]:
    """Why cells were not run, each reason once."""
    reasons: dict[str, list[str]] = {}
    for outcome in evaluation:
        for refusal in outcome.refused:
            reasons.setdefault(str(refusal), []).append(outcome.clause.number)
    lines = [f"Not run in {', '.join(dict.fromkeys(numbers))}: {reason}." for reason, numbers in reasons.items()]
    return [*lines, *(unmeasured(outcome) for outcome in evaluation if outcome.unmeasured)]


def unmeasured(outcome: Outcome) -> str:
    """Which columns an experiment lacks on a kernel, and why."""
    names = ", ".join(outcome.unmeasured)
    why = "packets are traced at both ends on the simulator only"
    return f"Not measured in {outcome.clause.number}: {names}; {why}."


def matrix(evaluation: Evaluation) -> Table | None:
    """One line a path, one column an experiment: its headline of each contender, in their order."""
    shown = [outcome for outcome in evaluation.run if outcome.experiment.headline]
    if not shown:
        return None
    names = list(dict.fromkeys(path.name for outcome in shown for path in outcome.experiment.paths))
    columns = [_headlines(outcome) for outcome in shown]
    lines = [(name, *(column.get(name, "-") for column in columns)) for name in names]
    heads = [f"{outcome.clause.number} {outcome.experiment.name}: {outcome.experiment.headline}" for outcome in shown]
    who = " / ".join(contender.name for contender in evaluation.contenders)
    return Table(f"All paths: {who}", ("Path", *heads), lines, words=1)


def _headlines(outcome: Outcome) -> dict[str, str]:
    """For each path the headline of each contender; a dash for one that did not run there."""
    rows = outcome.rows
    if rows is None:
        return {}
    headline = outcome.experiment.headline
    points = {(outcome.path(rows[point]), outcome.name(rows[point])): point for point in range(len(rows))}
    written = {
        where: "failed" if rows.failure(point) is not None else _mean(outcome.cell(point, headline))
        for where, point in points.items()
    }
    names = [contender.name for contender in outcome.contenders]
    return {
        path.name: " / ".join(written.get((path.name, name), "-") for name in names)
        for path in outcome.experiment.paths
    }


def _mean(value: Cell) -> str:
    return _three_digits(value.mean) if isinstance(value, Estimate) else written(value)


def _three_digits(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


def _became(outcome: Outcome) -> str:
    rows = outcome.rows
    cells = "not run" if rows is None else count_of(len(rows), "cell")
    failed = f", {rows.failed} failed" if rows is not None and rows.failed else ""
    refused = f", {len(outcome.refused)} refused" if outcome.refused else ""
    return cells + failed + refused
