"""``shoal evaluate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options
from shoal.cli.clusters import Cluster, executor_on
from shoal.cli.console import data, talk
from shoal.cli.declare import option
from shoal.cli.out import keep_again, keep_command, results_in, say_written
from shoal.cli.planes import Plane
from shoal.errors import SweepFailedError, UsageError
from shoal.words import count_of

if TYPE_CHECKING:
    from shoal.again import Again
    from shoal.evaluate import Evaluation

_Queue = Annotated[
    str | None,
    option(
        "--aqm",
        "QUEUE",
        "A queue, by RFC 7928: a kind of [cyan]shoal list queues[/] with the values of its ready-made scenario, a "
        "table as in [cyan]'{ kind = \"pie\", ecn = true }'[/], or a scenario, whose bottleneck's queue is taken.",
    ),
]
_Controller = Annotated[
    str | None,
    option(
        "--cc",
        "CONTROLLER",
        "A congestion control, by RFC 9743: one of [cyan]shoal list controllers[/], or a table with its options as in "
        "[cyan]'{ cc = \"dctcp\", cc_options = { gain = { shift = 2 } } }'[/].",
    ),
]
_Beside = Annotated[
    list[str] | None,
    option(
        "--beside",
        "NAME",
        "What stands beside it in every table, as --aqm or --cc write it. Repeatable. Default: fifo; reno and cubic.",
    ),
]
_Quick = Annotated[bool, typer.Option("--quick", help="Two seeds in place of ten.")]
_Seeds = Annotated[int | None, option("--seeds", "N", "Runs of every cell.", min=1)]
_On = Annotated[
    Plane,
    option("--on", "PLANE", "What runs it: the simulator, or the real kernel, what it can (see [cyan]shoal linux[/])."),
]


def evaluate(
    aqm: _Queue = None,
    cc: _Controller = None,
    beside: _Beside = None,
    quick: _Quick = False,
    seeds: _Seeds = None,
    on: _On = Plane.SIM,
    python: options.Python = None,
    out: options.Out = None,
    figure_width: options.FigureWidth = None,
    force: options.Force = False,
    as_json: options.Json = False,
    workers: options.Workers = None,
    cluster: Cluster = None,
    fresh: options.Fresh = False,
) -> None:
    """Evaluate a queue as RFC 7928 asks, or a congestion control as RFC 9743 does.

    Every section is a set of cells, each a scenario that can be replayed: numbers of the queue or the congestion
    control, and of what stands beside it. The texts set no limits that divide good from bad, and neither does this.
    --out writes one page with all tables and figures, the tables as CSV and Parquet, and the scenario of every cell.

    Finished runs are kept: an interrupted evaluation goes on where it was.

    [bold]Examples[/]

      shoal evaluate --aqm pie --quick
      shoal evaluate --aqm '{ kind = "codel", interval = "10 ms" }' --beside codel --beside fifo --out results/codel
      shoal evaluate --cc dctcp --out results/dctcp
      shoal evaluate --cc '{ cc = "dctcp", cc_options = { gain = { shift = 2 } } }' --beside dctcp --beside cubic
    """
    if (aqm is None) == (cc is None):
        raise UsageError(
            "an evaluation is of a queue or of a congestion control",
            hint="write --aqm QUEUE (RFC 7928) or --cc CONTROLLER (RFC 9743)",
        )
    from shoal.evaluate import evaluate_controller, evaluate_queue
    from shoal.runs.plane import kernel_here

    run, subject = (evaluate_queue, aqm) if aqm is not None else (evaluate_controller, cc or "")
    kept = options.kept_runs(fresh=fresh)
    with results_in(out, force=force, figure_width=figure_width) as folder:
        evaluation = run(
            subject,
            **({"beside": beside} if beside else {}),
            quick=quick,
            seeds=seeds,
            kernel=kernel_here().identity if on is not Plane.SIM else "",
            workers=workers,
            cache=kept,
            executor=executor_on(cluster, workers),
            progress=True,
        )
        if folder is not None and out is not None:
            from shoal.evaluate.write import write_into
            from shoal.files import writing

            again = _again(aqm, cc, beside, evaluation)
            with writing(folder):
                write_into(evaluation, folder, again=again, out=out)
                keep_command(folder)
            keep_again(again, folder)
    say_written(out)
    _show(evaluation, as_json=as_json)


def _again(aqm: str | None, cc: str | None, beside: list[str] | None, evaluation: Evaluation) -> Again:
    """The command that makes the same numbers again."""
    from shoal.again import Again, on_kernel

    words = ["evaluate", *(("--aqm", aqm) if aqm is not None else ("--cc", cc or ""))]
    words += [word for name in beside or [] for word in ("--beside", name)]
    return Again((*words, "--seeds", str(evaluation.seeds)), on_kernel if evaluation.kernel else "")


def _show(evaluation: Evaluation, *, as_json: bool) -> None:
    from shoal.evaluate.tables import matrix, overview, refusals, table_of
    from shoal.sweeps.tables import failure_lines

    if as_json:
        data.json(evaluation.json)
    else:
        data.heading(f"{evaluation.subject.name} by {evaluation.guide.name}, {evaluation.guide.title}")
        data.sentence(f"{count_of(evaluation.runs, 'run')}, {count_of(evaluation.seeds, 'seed')} of each cell")
        paths = matrix(evaluation)
        shown = [paths] if paths is not None else [table_of(outcome) for outcome in evaluation.run]
        for table in (overview(evaluation), *shown):
            data.blank()
            data.table(table)
        for line in refusals(evaluation):
            data.text(line)
    failed = [outcome for outcome in evaluation.run if outcome.rows is not None and outcome.rows.failed]
    for outcome in failed:
        for line in failure_lines(outcome.rows) if outcome.rows is not None else []:
            talk.warning(f"section {outcome.clause.number}: {line}")
    if failed:
        raise SweepFailedError(
            f"runs failed in {count_of(len(failed), 'experiment')}; the other numbers are right",
            hint="the same command runs those cells again",
        )
