"""What a sweep prints and writes, whichever way its runs were done."""

from __future__ import annotations

from pathlib import Path

from shoal.again import Again, Kept, on_kernel
from shoal.cli import options
from shoal.cli.console import data, talk
from shoal.cli.out import keep_command
from shoal.errors import SweepFailedError, UsageError
from shoal.files import write_text, writing
from shoal.remarks import Remarks
from shoal.runs.rows import Rows
from shoal.sweeps.tables import failure_lines, json_of, omitted, points_frame, runs_frame, table_of
from shoal.words import count_of

_plan_file = "plan.json"
# On a terminal; more is looked up in files.
_most_lines = 200


def write(rows: Rows, folder: Path, out: Path) -> None:
    """Write the files of a sweep into a new folder that will be ``out``.

    Raises
    ------
    OutputError
        A file cannot be written.
    """
    from shoal.report.sweep import write_rows_report
    from shoal.report.sweep_heat import write_points

    with writing(folder):
        write_rows_report(folder, rows, command=again(rows).shown(out))
        for name, frame in (("points", points_frame(rows)), ("runs", runs_frame(rows))):
            frame.write_csv(folder / f"{name}.csv")
            frame.write_parquet(folder / f"{name}.parquet")
        with (folder / "sweep.json").open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(json_of(rows))
        write_text(folder / _plan_file, rows.plan.text)
        rows.plan.template.scenario.write_into(folder)
        write_points(rows, folder)
        keep_command(folder)


def again(rows: Rows) -> Again:
    """What makes a sweep again from the plan in its folder."""
    return Again(("sweep", Kept(_plan_file)), on_kernel if rows.plan.kernel else "")


def show(rows: Rows, *, as_json: bool) -> None:
    """Print the numbers, and end with an error if points have none.

    Raises
    ------
    UsageError
        The arithmetic of a metric has no value somewhere.
    SweepFailedError
        Runs failed.
    """
    scenario, said = rows.plan.template.scenario, Remarks.of_rows(rows)
    if as_json:
        for part in json_of(rows):
            data.json_part(part)
    else:
        data.heading(scenario.title)
        where = f", on {rows.plan.kernel}" if rows.plan.kernel else ""
        data.sentence(f"{count_of(len(rows), 'point')}, {said.seeds_in_words()}{where}")
        data.blank()
        data.table(table_of(rows, most=_most_lines))
        if line := omitted(rows, most=_most_lines, where="--out DIR and --json have"):
            data.blank()
            data.sentence(line)
        for line in rows.warnings:
            data.blank()
            data.text(line)
        options.print_notices(said.notices)
    options.say_if_nothing_is_random(scenario, said)
    _finish(rows)


def _finish(rows: Rows) -> None:
    undefined_metrics = []
    for name, text in rows.plan.metrics.items():
        first = None
        missing = without = 0
        for point_index in range(len(rows)):
            undefined = rows.undefined_at(point_index, text)
            if undefined is not None:
                missing += 1
                first = first or (point_index, undefined)
            elif rows.failure(point_index) is None and rows.cell(point_index, text) is None:
                without += 1
        if without:
            talk.note(f"note: `{name}` has no value at {without} of {len(rows)} points: the runs have no such number")
        if first is not None:
            undefined_metrics.append((name, missing, *first))
    for name, missing, point_index, undefined in undefined_metrics:
        raise UsageError(
            f"the metric `{name}` is undefined at {missing} of {len(rows)} points, first at {rows.name(point_index)}: "
            f"`{undefined.text}`: {undefined.reason}",
            hint="the table shows `undefined` there; the other numbers are right",
        )
    if rows.failed:
        for line in failure_lines(rows):
            talk.warning(line)
        raise SweepFailedError(
            f"runs failed at {rows.failed:,} of {len(rows):,} points; the other numbers are right",
            hint="the same command runs those points again",
        )
