"""``shoal tune``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import Exit

from shoal import _native
from shoal.again import keep_source, template_command
from shoal.cli import optimise as optimising
from shoal.cli import options
from shoal.cli.console import data
from shoal.cli.declare import option
from shoal.cli.out import keep_again, results_in, say_written, write_results
from shoal.errors import UsageError
from shoal.files import writing
from shoal.remarks import Remarks
from shoal.runs import host_bursts
from shoal.scenario import Scenario
from shoal.search import Condition, Side, Tuned, candidates, written
from shoal.search import tune as run_tune
from shoal.shipped import find_scenario
from shoal.template import Template, is_variable

_Key = Annotated[
    str | None,
    option("--key", "KEY", "What is searched: a key, e.g. [cyan]bottleneck.aqm.threshold[/], or a variable for --set."),
]
_From = Annotated[float | None, option("--from", "A", "First value.")]
_To = Annotated[float | None, option("--to", "B", "Last value.")]
_SuchThat = Annotated[
    str | None,
    option(
        "--such-that",
        "CONDITION",
        "What shall hold, e.g. [cyan]'queue_empty() <= 0.05'[/]: comparisons joined by `and`; "
        "[cyan]shoal list metrics[/] shows the functions.",
    ),
]
_Free = Annotated[
    list[str] | None,
    option(
        "--free",
        "KEY=LOW:HIGH",
        "With goals: a key, or a variable for --set, and its range, e.g. "
        "[cyan]bottleneck.aqm.dctcp.min='0.1:0.9 BDP'[/]; [cyan]0.05:1:log[/] for equal ratios, "
        "[cyan]1:60:whole[/] for whole numbers. Repeatable.",
    ),
]
_Minimise = Annotated[
    list[str] | None,
    option(("--minimise", "--minimize"), "GOAL", "A metric to make small, e.g. [cyan]'delay_ms()'[/]. Repeatable."),
]
_Maximise = Annotated[
    list[str] | None,
    option(("--maximise", "--maximize"), "GOAL", "A metric to make large, e.g. [cyan]'jain()'[/]. Repeatable."),
]
_Runs = Annotated[
    int, typer.Option("--runs", min=1, metavar="N", help="With goals: runs of the whole search, at most.")
]
_Smallest = Annotated[bool, typer.Option("--smallest", help="The smallest value from which on it holds.")]
_Largest = Annotated[bool, typer.Option("--largest", help="The largest value up to which it holds.")]
_Unit = Annotated[str | None, option("--unit", "UNIT", "Unit of the values, e.g. packets or ms.")]
_Step = Annotated[float, typer.Option("--step", metavar="S", help="Distance of the values tried.")]
_Within = Annotated[
    float | None,
    option("--within", "PART", "Leave out values that are closer than this part of themselves: 0.02 is 2 %."),
]
_Seeds = Annotated[int, typer.Option("--seeds", min=1, metavar="N", help="Runs of every value tried.")]
_Confirm = Annotated[
    int, typer.Option("--confirm", min=0, metavar="N", help="Neighbours of the answer on each side that are tried.")
]


def tune(
    context: typer.Context,
    scenario: options.ScenarioFile,
    key: _Key = None,
    from_: _From = None,
    to: _To = None,
    such_that: _SuchThat = None,
    smallest: _Smallest = False,
    largest: _Largest = False,
    unit: _Unit = None,
    step: _Step = 1.0,
    within: _Within = None,
    free: _Free = None,
    minimise: _Minimise = None,
    maximise: _Maximise = None,
    runs: _Runs = 400,
    set_: options.SetComputed = None,
    sizes: options.Sizes = None,
    python: options.Python = None,
    seeds: _Seeds = 3,
    confirm: _Confirm = 2,
    out: options.Out = None,
    figure_width: options.FigureWidth = None,
    force: options.Force = False,
    as_json: options.Json = False,
    workers: options.Workers = None,
    fresh: options.Fresh = False,
) -> None:
    """Search for the end of the values that satisfy a condition, or for the values that serve goals best.

    With --key: bisection for the smallest or largest value of a key such that a condition holds; then the neighbours of
    the answer are tried as well. The output says where the 95 % confidence interval of the means over the seeds
    contains the limit, and which values contradict the answer.

    With --free: several parameters at once. One goal has an optimum, several have a front. All candidates run with the
    same seeds, the best with more; the finalists, and what is around the optimum, run again with fresh seeds.

    [bold]Examples[/]

      shoal tune step-single --key bottleneck.aqm.threshold --from 1 --to 60 --unit packets
        --smallest --such-that 'queue_empty() <= 0.05'
      shoal tune my.toml --key K --from 2 --to 200 --set bottleneck.aqm.min='{1500*K} B'
        --set bottleneck.aqm.max='{1500*(K+1)} B' --smallest --such-that 'utilisation() >= 0.99' --seeds 5
      shoal tune my.toml --key flows.web.count --from 1 --to 64 --largest --such-that "fct_ms('web', 'p99') < 20"
      shoal tune dual-red-slope --free bottleneck.aqm.dctcp.max_probability=0.05:1:log
        --free bottleneck.aqm.dctcp.min='0.1:0.9 BDP' --minimise 'delay_ms()' --maximise 'jain()'
        --such-that 'utilisation() >= 0.98' --runs 400 --seeds 3
    """
    if free or minimise or maximise:
        _refuse(context, _of_bisection, "is for a search with --key, and goals are given")
        if not free:
            raise UsageError("goals are given, and nothing is free", hint="add --free KEY=LOW:HIGH")
        asked = optimising.Wanted(free, minimise or (), maximise or (), such_that, set_, sizes, runs, seeds)
        optimising.optimise(
            scenario,
            asked,
            out=out,
            figure_width=figure_width,
            force=force,
            as_json=as_json,
            workers=workers,
            fresh=fresh,
        )
        return
    _refuse(context, ["runs"], "is for a search with --free, and --key has the runs that it needs")
    key, from_, to, such_that = _complete(key, from_, to, such_that)
    side = _side(smallest, largest)
    if unit is not None and is_variable(key):
        raise UsageError(
            f"`{key}` is a variable, which has no unit", hint=f"write the unit in --set, as in KEY='{{{key}}} {unit}'"
        )
    Condition.parse(such_that)
    candidates(from_, to, step=step, within=within)
    template = options.read_template(scenario, set_, [key], sizes)
    with results_in(out, force=force, figure_width=figure_width) as folder:
        with options.values_of("--key"):
            tuned = run_tune(
                template.scenario,
                key=key,
                low=from_,
                high=to,
                such_that=such_that,
                side=side,
                unit=unit,
                step=step,
                within=within,
                set=template.set,
                seeds=seeds,
                confirm=confirm,
                lean=True,
                workers=workers,
                cache=options.kept_runs(fresh=fresh),
                progress=True,
            )
        text = _as_json(template.scenario, tuned)
        if folder is not None and out is not None:
            range_ = [("key", key), ("from", from_), ("to", to), ("unit", unit), ("step", step), ("within", within)]
            wanted = [("such-that", such_that), (side.value, True), ("set", set_)]
            again = template_command("tune", sizes, [*range_, *wanted, ("seeds", seeds), ("confirm", confirm)])
            keep_source(find_scenario(scenario), sizes, folder)
            _write(folder, template, tuned, text, command=again.shown(out))
            keep_again(again, folder)
    say_written(out)
    if as_json:
        data.json(text)
    else:
        _show(template, tuned)
    options.say_if_nothing_is_random(template.scenario, Remarks.of_points(tuned.named_trials))
    if tuned.answer is None:
        raise Exit(5)


# What only one kind of search takes, by the names of the parameters of the verb.
_of_bisection = ("key", "from_", "to", "smallest", "largest", "unit", "step", "within", "confirm")


def _refuse(context: typer.Context, names: Sequence[str], why: str) -> None:
    """Refuse options of the other kind of search, if they stand on the command line."""
    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise UsageError(f"`--{name.rstrip('_')}` {why}", hint="leave one of them out; see `shoal tune --help`")


def _complete(
    key: str | None, from_: float | None, to: float | None, such_that: str | None
) -> tuple[str, float, float, str]:
    """What a bisection cannot do without."""
    if key is None:
        raise UsageError(
            "nothing is searched", hint="add --key KEY --from A --to B, or --free KEY=LOW:HIGH with a goal"
        )
    if from_ is None or to is None:
        raise UsageError(f"`{key}` has no range", hint="add --from A --to B")
    if such_that is None:
        raise UsageError("there is no condition", hint="as in --such-that 'queue_empty() <= 0.05'")
    return key, from_, to, such_that


def _side(smallest: bool, largest: bool) -> Side:
    if smallest == largest:
        raise UsageError("say which value is wanted", hint="add --smallest or --largest, one of them")
    return Side.SMALLEST if smallest else Side.LARGEST


def _show(template: Template, tuned: Tuned) -> None:
    data.heading(template.scenario.title)
    data.table(tuned.trail())
    data.blank()
    data.sentence(tuned.verdict)
    for line in _remarks(template, tuned):
        data.sentence(line)
    options.print_notices(Remarks.of_runs(tuned.results or ()).notices)


def _remarks(template: Template, tuned: Tuned) -> list[str]:
    """What to know about the answer, and the rule of thumb for it where there is one."""
    lines = list(tuned.remarks)
    is_threshold = host_bursts.sets_a_threshold(template.varied)
    if tuned.answer is not None and is_threshold and (rule := _rule(template.scenario, tuned.unit)) is not None:
        lines.append(f"C x RTT / 7 = {rule:.4g} packets (Alizadeh et al. 2010, eq. 13)")
    return lines


def _rule(scenario: Scenario, unit: str | None) -> float | None:
    """The threshold that keeps the queue of synchronised flows from running dry, for a search of a queue length."""
    links = scenario.facts["bottlenecks"]
    if len(links) != 1 or unit not in (None, "packets", "packet", "B", "kB", "BDP"):
        return None
    bdp, mtu = links[0].get("bdp_bytes"), links[0].get("mtu_bytes")
    return bdp / mtu / 7 if bdp and mtu else None


def _as_json(scenario: Scenario, tuned: Tuned) -> str:
    content = {
        "schema": 1,
        "version": _native.__version__,
        "scenario": scenario.resolved,
        "key": tuned.key,
        "unit": tuned.unit,
        "such_that": tuned.condition.text,
        "side": tuned.side.value,
        "answer": None if tuned.answer is None else written(tuned.answer, tuned.unit),
        "value": tuned.answer,
        "fails_at": tuned.fails_at,
        "holds_at": tuned.holds_at,
        "monotone": not tuned.against,
        "warnings": list(tuned.warnings),
        "against": tuned.against,
        "seeds": tuned.trials[0].results.seeds,
        "trials": [
            {
                "value": trial.value,
                "phase": trial.phase.value,
                "holds": trial.decision.holds,
                "clear": trial.decision.clear,
                "comparisons": [
                    {
                        "left": comparison.left,
                        "operator": comparison.operator,
                        "right": comparison.right,
                        "left_measured": measured.left.to_dict(),
                        "right_measured": measured.right.to_dict(),
                    }
                    for comparison, measured in zip(tuned.condition.comparisons, trial.measured, strict=True)
                ],
            }
            for trial in tuned.trials
        ],
    }
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def _write(folder: Path, template: Template, tuned: Tuned, text: str, *, command: str) -> None:
    from shoal.report.sweep import write_tune_report

    with writing(folder):
        write_tune_report(folder, template.scenario, tuned, remarks=_remarks(template, tuned), command=command)
        write_results(folder, "tune", text, template.scenario, {"trials": tuned.to_polars()})
