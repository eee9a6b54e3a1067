"""``shoal run``."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options
from shoal.cli.console import data, talk
from shoal.cli.declare import option
from shoal.cli.on_linux import (
    explain_linux,
    find_linux,
    names_of_modules,
    prepare_linux,
    refuse_limits_without_linux,
)
from shoal.cli.out import keep_again, keep_command, results_in, say_written
from shoal.cli.planes import Plane
from shoal.errors import UsageError
from shoal.files import is_capture, refuse_existing, reserved_file
from shoal.progress import Bar
from shoal.remarks import Remarks
from shoal.results import Result, Results, schema_version, seed_folder
from shoal.runs import running
from shoal.runs.cases import Case, refuse_unmodelled, run_cases
from shoal.runs.plane import Kernel, simulator
from shoal.scenario import Scenario
from shoal.seeds import checked_seed, seed_list
from shoal.tabulate import comparison_table, run_tables, totals
from shoal.words import count_of

if TYPE_CHECKING:
    from shoal.linux import Image

# With --out, so many flows leave cwnd, alpha, marks and drops for the figures, and one of each group at least, unless
# the scenario says otherwise.
_traced_flows = 8

_Seed = Annotated[int | None, option("--seed", "N", "Seed of all random streams.")]
_Seeds = Annotated[
    int | None, option("--seeds", "N", "N runs with different seeds: mean ± 95 % confidence interval.", min=1)
]
_On = Annotated[Plane, typer.Option("--on", help="The packet simulator, or the real Linux kernel.")]
_Pcap = Annotated[
    Path | None, option("--pcap", "FILE", "Write the headers of the packets at the monitored links as pcapng.")
]
_PcapPayload = Annotated[
    bool, typer.Option("--pcap-payload", help="Captures keep whole packets; without it, their headers alone.")
]
_Trace = Annotated[
    list[str] | None,
    option(
        "--trace",
        "WHAT",
        "What is recorded: [cyan]series=100ms[/], [cyan]controllers=2[/], [cyan]segments=1[/] "
        "(a sequence diagram), [cyan]packets[/], [cyan]pcap[/], or [cyan]off[/]. Repeatable or with commas.",
    ),
]
_Threads = Annotated[
    int | None,
    option(
        "--threads",
        "N",
        "Threads for each run; with the same bytes as on one. Pays for networks of hundreds of hosts. "
        "Without [cyan]--trace[/] it records no controllers.",
        min=1,
        max=running.most_threads,
    ),
]
_Generator = Annotated[
    str | None,
    option("--generator", "PROGRAM", "With --on linux: [cyan]iperf3[/], or the path of one, drives the bulk flows."),
]
_Modules = Annotated[
    list[Path] | None,
    option(
        "--module",
        "FILE",
        "With --on linux: a C file with a congestion control or a queue discipline, which is compiled and loaded; "
        "[cyan]cc[/], or the name of an aqm of the kind [cyan]module[/], is what it registers. Repeatable.",
    ),
]
_FindLeaks = Annotated[
    bool,
    typer.Option(
        "--find-leaks",
        help="With --module or a table [cyan]\\[laws][/]: memory that a module leaves behind is an error. "
        "Takes the kernel of [cyan]shoal linux build --find-leaks[/], which draws other random numbers.",
    ),
]
_Explain = Annotated[
    bool, typer.Option("--explain", help="With --on linux: show what the scenario becomes there, and run nothing.")
]


def run(
    scenarios: options.ScenarioFiles,
    set_: options.Set = None,
    sizes: options.Sizes = None,
    python: options.Python = None,
    seed: _Seed = None,
    seeds: _Seeds = None,
    on: _On = Plane.SIM,
    out: options.Out = None,
    figure_width: options.FigureWidth = None,
    force: options.Force = False,
    as_json: options.Json = False,
    pcap: _Pcap = None,
    pcap_payload: _PcapPayload = False,
    trace: _Trace = None,
    workers: options.Workers = None,
    threads: _Threads = None,
    generator: _Generator = None,
    module: _Modules = None,
    find_leaks: _FindLeaks = False,
    wall_limit: options.WallLimit = None,
    stall_limit: options.StallLimit = None,
    explain: _Explain = False,
) -> None:
    """Run scenarios and print who gets what rate at what delay.

    A scenario is a file, or the name of one that `shoal list scenarios` shows.

    [bold]Examples[/]

      shoal run coexistence
      shoal run my.toml --set bottleneck.rate='20 Mbit/s' --seed 7 --json
      shoal run my.toml --seeds 5 --out results/my --figure-width 3.5in
      shoal run my.toml --pcap my.pcapng
      shoal run single-red.toml dual-red.toml --out results/compared
      shoal run step-single --on linux
      shoal run my.toml --on linux --module my_cc.c
    """
    _check_plane(on, generator, module, find_leaks=find_leaks, explain=explain)
    refuse_limits_without_linux(wall_limit, stall_limit, on_linux=on is Plane.LINUX)
    _check_seeds(seed, seeds)
    _check_threads(threads, seeds, on)
    registered = names_of_modules(module or ())
    loaded = {_label(path): options.read_scenario(path, set_, trace, sizes, registered) for path in scenarios}
    _check_labels(loaded, scenarios)
    _check_capture(pcap, loaded, payload=pcap_payload, seeds=seeds)
    if out is not None:
        refuse_existing(out, force=force)
        loaded = _with_figures(loaded, threads or 1)
    for warning in (warning for scenario in loaded.values() for warning in scenario.native.warnings):
        talk.diagnostics(warning)
    if explain:
        explain_linux(loaded.values(), generator)
        return
    image = find_linux(generator, find_leaks, wall_limit, stall_limit) if on is Plane.LINUX else None
    _prepare(loaded.values(), image, find_leaks=find_leaks)
    with _capture_in(pcap, force=force), results_in(out, force=force, figure_width=figure_width) as folder:
        runs = {}
        for label, scenario in loaded.items():
            target = _target(folder, label, len(loaded))
            if seeds is not None:
                runs[label] = _run_seeds(image, scenario, seeds, workers, target)
            else:
                runs[label] = _run_one(image, scenario, seed, pcap, pcap_payload, threads or 1, target)
        if folder is not None and out is not None:
            _write(runs, folder, out, several_seeds=seeds is not None, generator=generator, payload=pcap_payload)
    say_written(out)
    if pcap is not None:
        talk.note(f"wrote {pcap}")
    _print(runs, as_json=as_json, several_seeds=seeds is not None)


def _check_plane(
    on: Plane, generator: str | None, modules: list[Path] | None, *, find_leaks: bool, explain: bool
) -> None:
    if modules and on is not Plane.LINUX:
        raise UsageError("--module names a kernel module", hint="add --on linux")
    if find_leaks and on is not Plane.LINUX:
        raise UsageError("--find-leaks is about kernel modules", hint="add --on linux")
    if generator is not None and on is not Plane.LINUX:
        raise UsageError("--generator names a program that runs on Linux", hint="add --on linux")
    if explain and on is not Plane.LINUX:
        raise UsageError("--explain shows what a scenario becomes on Linux", hint="add --on linux")


def _check_labels(loaded: Mapping[str, Scenario], scenarios: Sequence[Path]) -> None:
    if len(loaded) < len(scenarios):
        raise UsageError("two scenarios have the same file name", hint="rename one: the name labels the results")


def _check_capture(pcap: Path | None, scenarios: Mapping[str, Scenario], *, payload: bool, seeds: int | None) -> None:
    if pcap is not None and (len(scenarios) > 1 or seeds is not None):
        raise UsageError(
            "--pcap takes one scenario and one seed", hint="run them one by one, or use --out with --trace pcap"
        )
    if payload and pcap is None and not any(scenario.resolved["trace"]["pcap"] for scenario in scenarios.values()):
        raise UsageError(
            "--pcap-payload says what a capture keeps, and there is none",
            hint="add --pcap FILE, or --out DIR with --trace pcap",
        )


def _capture_in(pcap: Path | None, *, force: bool) -> AbstractContextManager[None]:
    """The file for packets, kept for this command."""
    if pcap is None:
        return nullcontext()
    return reserved_file(pcap, is_capture, what="capture of shoal", option="--pcap", force=force)


def _prepare(scenarios: Collection[Scenario], image: Image | None, *, find_leaks: bool) -> None:
    """Refuse what the simulator does not model, or the kernel does not take."""
    if image is None:
        refuse_unmodelled((scenario, simulator) for scenario in scenarios)
        return
    if find_leaks and not any("kernel" in law for run in scenarios for law in run.resolved.get("laws", {}).values()):
        raise UsageError("--find-leaks looks at modules, and no scenario has one", hint="add --module FILE")
    prepare_linux(scenarios, image)


def _check_seeds(seed: int | None, seeds: int | None) -> None:
    if seed is not None and seeds is not None:
        raise UsageError(
            "--seed and --seeds exclude each other", hint="set the first of several seeds with --set seed=N"
        )
    if seed is not None:
        checked_seed(seed)


def _check_threads(threads: int | None, seeds: int | None, on: Plane) -> None:
    if threads is None:
        return
    if on is Plane.LINUX:
        raise UsageError("--threads divides a run of the simulator", hint="leave it out with --on linux")
    if seeds is not None:
        raise UsageError("--threads is for one run", hint="several seeds run at the same time: use --workers")


def _label(path: Path) -> str:
    """The name of the file, or of the folder of results in which a scenario was saved."""
    if path.name != "scenario.toml":
        return path.stem
    parent = path.absolute().parent
    return (parent.parent if re.fullmatch(r"seed-[0-9]+", parent.name) else parent).name


def _with_figures(scenarios: dict[str, Scenario], threads: int) -> dict[str, Scenario]:
    """The scenarios with what the figures of the report need, unless they say otherwise."""
    if threads == 1:
        return {label: _with_controllers(scenario) for label, scenario in scenarios.items()}
    talk.note("on several threads no controllers are recorded: the report has no figures of cwnd and alpha")
    return scenarios


def _with_controllers(scenario: Scenario) -> Scenario:
    if options.says_what_to_trace(scenario) or scenario.resolved["trace"]["series"] == "off":
        return scenario
    groups = [group["flows"] for group in scenario.facts["groups"] if group["flows"]]
    return scenario.override({"trace.controller_flows": min(sum(groups), max(_traced_flows, len(groups)))})


def _target(folder: Path | None, label: str, count: int) -> Path | None:
    """The folder of a scenario's results, made if there are several."""
    if folder is None or count == 1:
        return folder
    (folder / label).mkdir()
    return folder / label


def _run_seeds(
    image: Image | None, scenario: Scenario, seeds: int, workers: int | None, folder: Path | None
) -> Results:
    def finish(result: Result) -> Result:
        # Tables are written at once or not kept: memory does not grow with what the runs record.
        return result.without_tables() if folder is None else result.saved_in(seed_folder(folder, result))

    plane = simulator if image is None else Kernel(image)
    case = Case(scenario, seed_list(scenario, seeds), plane=plane)
    (results,) = run_cases([case], count_of(seeds, "seed"), workers=workers, progress=True, finish=finish)
    if folder is not None:
        results.write_summary(folder)
    return results


def _run_one(
    image: Image | None,
    scenario: Scenario,
    seed: int | None,
    pcap: Path | None,
    pcap_payload: bool,
    threads: int,
    folder: Path | None,
) -> Results:
    packets = None
    wanted = scenario.resolved["trace"]
    if folder is not None:
        (folder / "tables").mkdir(exist_ok=True)
        packets = folder / "tables" / "packets.parquet" if wanted["packets"] else None
        pcap = folder / "packets.pcapng" if wanted["pcap"] and pcap is None else pcap
    if image is None:
        run = partial(running.run, scenario, packets=packets, threads=threads)
    else:
        from shoal.linux import run_on_linux

        run = partial(run_on_linux, scenario, image=image)
    with Bar(scenario.title) as bar:
        result = run(seed=seed, pcap=pcap, pcap_payload=pcap_payload, progress=bar.update)
    if folder is not None:
        result.write_into(folder)
    return Results([result])


def _write(
    runs: Mapping[str, Results],
    folder: Path,
    out: Path,
    *,
    several_seeds: bool,
    generator: str | None,
    payload: bool,
) -> None:
    from shoal.again import run_command
    from shoal.report import Entry, write_report

    entries = [Entry(label, run, out / label if len(runs) > 1 else out) for label, run in runs.items()]
    keep_command(folder)
    again = run_command(entries, out, several_seeds=several_seeds, generator=generator, payload=payload)
    write_report(entries, folder, command=again.shown(out))
    keep_again(again, folder)


def _print_json(runs: Mapping[str, Results], *, several_seeds: bool) -> None:
    texts = {label: run.json if several_seeds else run[0].json for label, run in runs.items()}
    if len(texts) == 1:
        data.json(next(iter(texts.values())))
        return
    objects = {label: json.loads(text) for label, text in texts.items()}
    data.json(json.dumps({"schema": schema_version, "runs": objects}, indent=2, allow_nan=False))


def _print(runs: Mapping[str, Results], *, as_json: bool, several_seeds: bool) -> None:
    if as_json:
        _print_json(runs, several_seeds=several_seeds)
        return
    if len(runs) > 1:
        data.table(comparison_table(list(runs.items())))
        for label, results in runs.items():
            options.print_notices(Remarks.of_runs(results).lines, label)
        return
    (results,) = runs.values()
    first, said = results[0], Remarks.of_runs(results)
    start, end = first.window
    data.heading(first.data["scenario"]["title"])
    seeds = f"seed {first.seed}" if len(results) == 1 else said.seeds_in_words()
    plane = f" on Linux {first.data['linux']['kernel']}" if first.data["on"] == "linux" else ""
    data.sentence(f"Measured{plane} from {start:g} s to {end:g} s; {seeds}; {first.scenario.hosts}.")
    for table in run_tables(results):
        data.blank()
        data.table(table)
    data.blank()
    data.pairs(totals(results))
    options.print_notices(said.notices)
    options.say_if_nothing_is_random(first.scenario, said)
