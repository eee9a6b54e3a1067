"""``shoal sweep``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options
from shoal.cli.axes import factors_of, grid_of
from shoal.cli.clusters import Cluster, executor_on
from shoal.cli.completion import scenario_names
from shoal.cli.console import data, talk
from shoal.cli.declare import argument, option
from shoal.cli.out import keep_again, results_in, say_written
from shoal.cli.planes import Plane
from shoal.cli.sweep_output import again, show, write
from shoal.errors import UsageError
from shoal.scenario import is_sweep, read_text
from shoal.shipped import find_scenario

if TYPE_CHECKING:
    from shoal.runs.plan import Plan
    from shoal.sweeps.file import Changes

_Subject = Annotated[
    Path,
    argument(
        "SCENARIO",
        "Scenario file, or name; or a sweep file, or its name, which says everything (docs/reference/sweep.md).",
        autocompletion=scenario_names,
    ),
]
_Axis = Annotated[
    list[str] | None,
    option(
        "--axis",
        "KEY=V1,V2,...",
        "A key and its values, e.g. [cyan]bottleneck.aqm.threshold='10 packets,20 packets'[/], or a "
        "range: [cyan]1:10[/] in steps of 1, [cyan]1:10:4[/] four values, [cyan]1:1000:log[/] three for each "
        "factor of 10, [cyan]1:1000:log:5[/], [cyan]'1:10 packets'[/]. Repeatable: "
        "all combinations run. A name that is not a key is a variable for --set.",
    ),
]
_Pair = Annotated[
    list[str] | None,
    option(
        "--pair",
        "KEY=V1,V2,...",
        "An axis that goes together with the other pairs: their first values make a point, then the second ones. "
        "Repeatable.",
    ),
]
_Sample = Annotated[
    list[str] | None,
    option(
        "--sample",
        "KEY=LOW:HIGH",
        "A range that points are drawn from, e.g. [cyan]'1:100 packets'[/], [cyan]1:1000:log[/], whole numbers "
        "[cyan]1:64:whole[/], or values that are equally likely. Repeatable; says how many with --sampling.",
    ),
]
_Sampling = Annotated[
    str | None,
    option(
        "--sampling",
        "METHOD:POINTS",
        "How --sample draws: [cyan]sobol:256[/], evenly spread (needs shoal\\[sampling]), or [cyan]random:256[/]; "
        "[cyan]random:256:7[/] with another seed than 1.",
    ),
]
_Seeds = Annotated[
    int | None,
    option(
        "--seeds",
        "N",
        "Runs of every point, with the same seeds everywhere; 1 by default, 3 with --until.",
        min=1,
    ),
]
_Until = Annotated[
    str | None,
    option(
        "--until",
        "GOALS",
        "More seeds until intervals are narrow enough, e.g. [cyan]'ci(utilisation()) < 0.002'[/], or a part of the "
        "mean, [cyan]'ci(queue_packets()) < 2%'[/]; several are joined by [cyan]and[/].",
    ),
]
_MaxSeeds = Annotated[
    int | None, option("--max-seeds", "N", "The most that --until may ask for; 100 by default.", min=1)
]
_Metric = Annotated[
    list[str] | None,
    option(
        "--metric",
        "NAME=EXPR",
        "A column, e.g. [cyan]empty='queue_empty()'[/]; [cyan]shoal list metrics[/] shows "
        "the functions. Repeatable. Default: utilisation, queue, delay, shares.",
    ),
]
_Shard = Annotated[
    str | None,
    option(
        "--shard",
        "I/N",
        "Only every N-th point, beginning with the I-th, e.g. [cyan]3/16[/]; [cyan]shoal merge[/] puts the "
        "folders of all parts together.",
    ),
]
_On = Annotated[
    Plane,
    option("--on", "PLANE", "What runs it: the simulator, or the real kernel (see [cyan]shoal linux[/])."),
]
_DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Say how many runs there are, how many are finished, and what the rest will take."),
]


def sweep(
    scenario: _Subject,
    axis: _Axis = None,
    pair: _Pair = None,
    sample: _Sample = None,
    sampling: _Sampling = None,
    set_: options.SetComputed = None,
    sizes: options.Sizes = None,
    python: options.Python = None,
    seeds: _Seeds = None,
    until: _Until = None,
    max_seeds: _MaxSeeds = None,
    metric: _Metric = None,
    shard: _Shard = None,
    on: _On = Plane.SIM,
    dry_run: _DryRun = False,
    out: options.Out = None,
    figure_width: options.FigureWidth = None,
    force: options.Force = False,
    as_json: options.Json = False,
    workers: options.Workers = None,
    cluster: Cluster = None,
    fresh: options.Fresh = False,
) -> None:
    """Run a scenario at many points, and print a table.

    All points have the same seeds, so that what is random is common to them and cancels in their differences.

    Options change a sweep file for this command: --axis the values of an axis, --set what is the same at every point,
    --seeds, --until, --max-seeds, --metric and --on the keys of the same name.

    An interrupted sweep goes on where it was: finished points are kept in the cache. Failed ones are told at the end.

    [bold]Examples[/]

      shoal sweep step-single --axis bottleneck.aqm.threshold='5 packets,10 packets,20 packets' --seeds 3
      shoal sweep my.toml --axis flows.dctcp.count=1,2,4 --axis bottleneck.rate='10 Mbit/s,100 Mbit/s' --out results/s
      shoal sweep step-single --axis bottleneck.aqm.threshold='2:200:log packets' --until 'ci(utilisation()) < 0.002'
      shoal sweep my.toml --axis K=10,20 --set bottleneck.aqm.min='{1500*K} B' --set bottleneck.aqm.max='{1500*(K+1)} B'
      shoal sweep my.toml --sample K=1:1000:log --sample flows.dctcp.rtt='1:50 ms' --sampling sobol:256 --set ...
      shoal sweep safety-map --axis bottleneck.rate='40 Mbit/s' --set duration='20 s' --seeds 1
      shoal sweep sweep.toml --shard 3/16 --out part-03
    """
    plane = on if on is not Plane.SIM else None
    given = _Given(axis, pair, sample, sampling, set_, sizes, seeds, until, max_seeds, metric, plane)
    subject = _subject(scenario, given)
    plan = subject.plan
    part = _shard(shard, out, len(plan.design)) if shard is not None else None
    numbers = range(part[0] - 1, len(plan.design), part[1]) if part else None
    kept = options.kept_runs(fresh=fresh)
    with options.values_of("--axis" if subject.from_options else str(scenario)):
        if dry_run:
            _survey(plan, numbers, workers, kept)
            return
        with results_in(out, force=force, figure_width=figure_width) as folder:
            from shoal.runs.execute import run_plan

            if part is not None and folder is not None:
                from shoal.runs.parts import write_part

                rows = write_part(
                    plan,
                    part,
                    folder,
                    workers=workers,
                    cache=kept,
                    executor=executor_on(cluster, workers),
                    progress=True,
                )
                subject.keep_sources(folder)
                say = f"part {part[0]} of {part[1]}: {len(rows):,} points, {rows.runs:,} runs"
            else:
                rows = run_plan(
                    plan, workers=workers, cache=kept, executor=executor_on(cluster, workers), progress=True
                )
                say = None
                if folder is not None and out is not None:
                    write(rows, folder, out)
                    subject.keep_sources(folder)
                    keep_again(again(rows), folder)
    if say is not None:
        talk.note(f"{say}; wrote {out}")
        return
    say_written(out)
    show(rows, as_json=as_json)


# What options may change of a sweep file, and how messages say it.
_for_files = ("axis", "set", "metric", "seeds", "until", "max_seeds", "on")
_for_files_said = ", ".join(f"--{name.replace('_', '-')}" for name in _for_files)


@dataclass(frozen=True)
class _Given:
    """Options that say what to run, each by its name; ``None`` is one that was not given."""

    axis: list[str] | None
    pair: list[str] | None
    sample: list[str] | None
    sampling: str | None
    set: list[str] | None
    sizes: list[str] | None
    seeds: int | None
    until: str | None
    max_seeds: int | None
    metric: list[str] | None
    on: Plane | None

    def refuse_beside(self, path: Path, allowed: Sequence[str] = (), hint: str = "change the file instead") -> None:
        """Refuse any of them but those allowed for a file that says what to run itself."""
        for field in fields(self):
            if getattr(self, field.name) is not None and field.name not in allowed:
                name = f"--{field.name.replace('_', '-')}"
                raise UsageError(f"`{path}` is a sweep, which says that itself: {name}", hint=hint)

    @property
    def changes(self) -> Changes:
        """What they replace in a sweep file."""
        from shoal.sweeps.file import Changes

        return Changes(
            axes=grid_of(self.axis or []),
            set=[options.pair_of(setting) for setting in self.set or []],
            metrics=_metrics(self.metric or []),
            seeds=self.seeds,
            until=self.until,
            max_seeds=self.max_seeds,
            on=None if self.on is None else self.on.value,
        )


@dataclass(frozen=True)
class _Asked:
    """What a command asks for, and the files that it was read from.

    Attributes
    ----------
    plan
        What to run.
    sources
        Names beside the results, and files that are copied there.
    from_options
        Whether it was put together from options.
    """

    plan: Plan
    sources: dict[str, Path]
    from_options: bool

    def keep_sources(self, folder: Path) -> None:
        """Copy the files that the sweep was read from."""
        from shoal.files import write_text, writing

        with writing(folder):
            for name, path in self.sources.items():
                write_text(folder / name, read_text(path))


def _subject(path: Path, given: _Given) -> _Asked:
    from shoal.runs.plan import Plan
    from shoal.sweeps.file import read_sweep

    source = find_scenario(path, or_sweep=True)
    is_plan = source.suffix == ".json"
    if not is_plan and not is_sweep(read_text(source), source):
        return _from_options(source, given)
    if is_plan:
        given.refuse_beside(path)
        return _Asked(Plan.read(source), {}, False)
    given.refuse_beside(
        path, _for_files, f"options for a sweep file are {_for_files_said}; change a copy of `{source}`"
    )
    read = read_sweep(source, given.changes)
    options.say_files(read.plan.template.scenario, read.notes)
    sizes = {f"sizes-{number}.csv": file for number, file in enumerate(read.sizes.values())}
    return _Asked(read.plan, {"source.toml": read.scenario, "sweep.toml": source, **sizes}, False)


def _from_options(path: Path, given: _Given) -> _Asked:
    from shoal.metrics import default_metrics
    from shoal.runs.design import Design
    from shoal.runs.plan import Plan
    from shoal.runs.plane import kernel_here
    from shoal.runs.until import Until, least_seeds

    design = Design(tuple(factors_of(given.axis or [], given.pair or [], given.sample or [], given.sampling)))
    sizes = given.sizes or []
    template = options.read_template(path, given.set or [], design.keys, sizes)
    metrics = _metrics(given.metric) if given.metric else default_metrics(template.scenario)
    until = Until.parse(given.until, metrics) if given.until is not None else None
    if given.max_seeds is not None and until is None:
        raise UsageError("--max-seeds bounds what --until asks for, and there is none", hint="leave it out")
    plan = Plan(
        template,
        design,
        metrics,
        given.seeds if given.seeds is not None else least_seeds if until else 1,
        until,
        **({"max_seeds": given.max_seeds} if given.max_seeds is not None else {}),
        kernel=kernel_here().identity if given.on is not None else "",
    )
    files = {f"sizes-{number}.csv": Path(text.partition("=")[2].strip()) for number, text in enumerate(sizes)}
    return _Asked(plan, {"source.toml": path, **files}, True)


def _shard(text: str, out: Path | None, points: int) -> tuple[int, int]:
    match = re.fullmatch(r"\s*([0-9]{1,9})\s*/\s*([0-9]{1,9})\s*", text)
    number, count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= count:
        raise UsageError(f"`--shard {text}` is no part of a sweep", hint="as in --shard 3/16, from 1/16 to 16/16")
    if number > points:
        raise UsageError(f"part {number} of {count} has no point: there are {points:,}", hint="use fewer parts")
    if out is None:
        raise UsageError("a part of a sweep has to be written", hint=f"add --out part-{number}")
    return number, count


def _survey(plan: Plan, numbers: Sequence[int] | None, workers: int | None, cache: Path | None) -> None:
    from shoal.runs.survey import survey

    data.pairs(survey(plan, numbers=numbers, workers=workers, cache=cache).pairs)


def _metrics(texts: Sequence[str]) -> dict[str, str]:
    from shoal.metrics import check_metric

    metrics: dict[str, str] = {}
    for text in texts:
        name, equals, expression = text.partition("=")
        # `queue_empty(link=1)` has an equals sign, but no name.
        if not equals or not re.fullmatch(r"\s*[A-Za-z_][A-Za-z0-9_]*\s*", name):
            name, expression = text, text
        name = name.strip()
        if name in metrics:
            raise UsageError(f"the metric `{name}` is there twice", hint="give each its own name: --metric NAME=EXPR")
        check_metric(expression)
        metrics[name] = expression.strip()
    return metrics
