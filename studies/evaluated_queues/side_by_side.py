"""Evaluations of several contenders as sections of a page, and their rows again one by one."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from shoal._toml import as_text
from shoal.cache import default_folder
from shoal.evaluate.evaluation import Evaluation, Outcome
from shoal.evaluate.model import Clause, Experiment, Guide, Setting
from shoal.evaluate.running import SEEDS, run_guide
from shoal.evaluate.tables import overview, refusals, table_of
from shoal.runs.design import Factor
from shoal_dev.study import Cell
from shoal_dev.tables import table

# Ten seeds of the longest runs of a contender take about as long.
CPU_S = 10.0


def run(guide: Guide, contenders: Sequence[Setting], *, seeds: int = SEEDS) -> Evaluation:
    """All experiments of a guide; finished runs are taken from the cache."""
    return run_guide(guide, contenders, seeds=seeds, cache=default_folder())


def sections(evaluation: Evaluation) -> Iterator[str]:
    """What was run of the guide, and a section with a table for each experiment."""
    seen = overview(evaluation)
    yield table(seen.columns, [[_linked(text) for text in row] for row in seen.rows])
    yield from refusals(evaluation)
    for outcome in evaluation.run:
        yield f"## {title(outcome.clause, outcome.experiment)}"
        if outcome.finding:
            yield outcome.finding
        yield _table(outcome)


def _linked(text: str) -> str:
    """A text with the addresses of the RFCs that it names."""
    return re.sub(r"RFC (\d+)", r"[RFC \1](https://www.rfc-editor.org/rfc/rfc\1)", text)


def title(clause: Clause, experiment: Experiment) -> str:
    """The heading of an experiment, which no other one has."""
    return f"{clause.number} {experiment.name}: {experiment.title}"


def _table(outcome: Outcome) -> str:
    """The table of a report with contenders one below the other."""
    made = table_of(outcome)
    lines: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for (*where, name), numbers in _lines(outcome).items():
        lines.setdefault(tuple(where), []).append((*where, name, *numbers.values()))
    body = [line for some in lines.values() for line in some]
    columns = (*made.columns[1 : made.words], "")
    return table([*columns, *outcome.columns], body, "l" * len(columns) + "r")


def _lines(outcome: Outcome) -> dict[tuple[str, ...], Mapping[str, str]]:
    """The numbers of every point by column; what tells it from the others are path, values and contender."""
    made = table_of(outcome)
    return {
        (*row[1 : made.words], row[0]): dict(zip(outcome.columns, row[made.words : -1], strict=True))
        for row in made.rows
    }


def cells(guide: Guide, contenders: Sequence[Setting]) -> Iterator[Cell]:
    """Every contender at every point of every experiment."""
    for clause, experiment in [(section, of) for section in guide.clauses for of in section.experiments]:
        axes = [[Factor(factor.keys, [row]) for row in factor.rows] for factor in experiment.axes]
        # Harm is counted from the numbers of others alone.
        harm = experiment.harm
        alone = [other for other in clause.experiments if harm is not None and other.name == harm.alone]
        for path, contender, *factors in itertools.product(
            experiment.scenes, experiment.taking_part(contenders), *axes
        ):
            paths = [path] if experiment.paths else []
            only = replace(experiment, axes=factors, paths=paths, contenders=[contender])
            needed = [only, *(replace(other, paths=paths) for other in alone)]
            part = replace(guide, clauses=[replace(clause, experiments=needed)])
            given = [as_text(value) for factor in factors for value in factor.rows[0]]
            row = (*(path.name for path in paths), *given, contender.name)
            yield Cell(title(clause, experiment), row, partial(_again, part, contender), cpu_s=CPU_S)


def _again(part: Guide, contender: Setting) -> Mapping[str, str]:
    """The only row of the first experiment of a guide, measured."""
    outcome = run(part, [contender]).outcomes[0]
    return next(iter(_lines(outcome).values())) if outcome.rows is not None else {}
