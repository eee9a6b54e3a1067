"""``shoal run``."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options
from shoal.cli.console import data, talk
from shoal.cli.declare import option
from shoal.cli.on_linux import (
    explain_linux,
    find_linux,
    prepare_linux,
    refuse_limits_without_linux,
    run_linux,
    run_linux_jobs,
)
from shoal.cli.out import keep_command, results_in, say_written
from shoal.errors import UsageError
from shoal.files import is_capture, refuse_existing, refuse_foreign, remove_abandoned_files
from shoal.progress import Bar
from shoal.remarks import all_lines, identical_line, notice_lines, seeds_in_words
from shoal.results import Result, Results, schema_version, seed_folder
from shoal.running import checked_seed, refuse_unmodelled, run_one, seed_list
from shoal.scenario import Scenario
from shoal.sweeps import run_jobs
from shoal.tabulate import comparison_table, group_table, queue_table, totals, wait_tables

if TYPE_CHECKING:
    from shoal.linux import Image

# With --out, so many flows leave cwnd, alpha, marks and drops for the figures, and one of each group at least, unless
# the scenario says otherwise.
_traced_flows = 8


class Plane(StrEnum):
    """What runs the scenario."""

    SIM = "sim"
    LINUX = "linux"


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
_Generator = Annotated[
    str | None,
    option("--generator", "PROGRAM", "With --on linux: [cyan]iperf3[/], or the path of one, drives the bulk flows."),
]
_Explain = Annotated[
    bool, typer.Option("--explain", help="With --on linux: show what the scenario becomes there, and run nothing.")
]


def run(
    scenarios: options.ScenarioFiles,
    set_: options.Set = None,
    sizes: options.Sizes = None,
    seed: _Seed = None,
    seeds: _Seeds = None,
    on: _On = Plane.SIM,
    out: options.Out = None,
    force: options.Force = False,
    as_json: options.Json = False,
    pcap: _Pcap = None,
    pcap_payload: _PcapPayload = False,
    trace: _Trace = None,
    workers: options.Workers = None,
    generator: _Generator = None,
    wall_limit: options.WallLimit = None,
    stall_limit: options.StallLimit = None,
    explain: _Explain = False,
) -> None:
    """Run scenarios and print who gets what rate at what delay.

    A scenario is a file, or the name of one that `shoal list scenarios` shows.

    [bold]Examples[/]

      shoal run coexistence
      shoal run my.toml --set bottleneck.rate='20 Mbit/s' --seed 7 --json
      shoal run my.toml --seeds 5 --out results/my
      shoal run my.toml --pcap my.pcapng
      shoal run single-red.toml dual-red.toml --out results/compared
      shoal run step-single --on linux
    """
    _check_plane(on, generator, explain=explain)
    refuse_limits_without_linux(wall_limit, stall_limit, on_linux=on is Plane.LINUX)
    _check_seeds(seed, seeds)
    loaded = {_label(path): options.read_scenario(path, set_, trace, sizes) for path in scenarios}
    if len(loaded) < len(scenarios):
        raise UsageError("two scenarios have the same file name", hint="rename one: the name labels the results")
    if (pcap is not None) and (len(loaded) > 1 or seeds is not None):
        raise UsageError(
            "--pcap takes one scenario and one seed", hint="run them one by one, or use --out with --trace pcap"
        )
    if pcap_payload and pcap is None and not any(scenario.resolved["trace"]["pcap"] for scenario in loaded.values()):
        raise UsageError(
            "--pcap-payload says what a capture keeps, and there is none",
            hint="add --pcap FILE, or --out DIR with --trace pcap",
        )
    if pcap is not None:
        refuse_foreign(pcap, is_capture, what="capture of shoal", option="--pcap", force=force)
        remove_abandoned_files(pcap, is_capture)
    if out is not None:
        refuse_existing(out, force=force)
        loaded = {label: _with_controllers(scenario) for label, scenario in loaded.items()}
    for scenario in loaded.values():
        for warning in scenario.warnings:
            talk.diagnostics(warning)
    if explain:
        explain_linux(loaded.values(), generator)
        return
    image = _prepared(on, generator, wall_limit, stall_limit, loaded)
    with results_in(out, force=force) as folder:
        runs = {
            label: _measure(
                image, scenario, seed, seeds, workers, pcap, pcap_payload, _place(folder, label, len(loaded))
            )
            for label, scenario in loaded.items()
        }
        if folder is not None and out is not None:
            _write(runs, folder, out, several_seeds=seeds is not None, generator=generator)
    say_written(out)
    if pcap is not None:
        talk.note(f"wrote {pcap}")
    _print(runs, as_json=as_json)


def _check_plane(on: Plane, generator: str | None, *, explain: bool) -> None:
    if generator is not None and on is not Plane.LINUX:
        raise UsageError("--generator names a program that runs on Linux", hint="add --on linux")
    if explain and on is not Plane.LINUX:
        raise UsageError("--explain shows what a scenario becomes on Linux", hint="add --on linux")


def _prepared(
    on: Plane,
    generator: str | None,
    wall_limit: float | None,
    stall_limit: float | None,
    scenarios: dict[str, Scenario],
) -> Image | None:
    """The kernel, if it is to run these scenarios, after it has taken all of them."""
    if on is not Plane.LINUX:
        refuse_unmodelled(scenarios.values())
        return None
    image = find_linux(generator, wall_limit_s=wall_limit, stall_limit_s=stall_limit)
    prepare_linux(scenarios.values(), image)
    return image


def _check_seeds(seed: int | None, seeds: int | None) -> None:
    if seed is not None and seeds is not None:
        raise UsageError(
            "--seed and --seeds exclude each other", hint="set the first of several seeds with --set seed=N"
        )
    if seed is not None:
        checked_seed(seed)


def _label(path: Path) -> str:
    """The name of the file, or of the folder of results in which a scenario was saved."""
    if path.name != "scenario.toml":
        return path.stem
    parent = path.absolute().parent
    return (parent.parent if re.fullmatch(r"seed-[0-9]+", parent.name) else parent).name


def _with_controllers(scenario: Scenario) -> Scenario:
    if options.says_what_to_trace(scenario) or scenario.resolved["trace"]["series"] == "off":
        return scenario
    groups = [group["flows"] for group in scenario.facts["groups"] if group["flows"]]
    return scenario.override({"trace.controller_flows": min(sum(groups), max(_traced_flows, len(groups)))})


def _place(folder: Path | None, label: str, count: int) -> Path | None:
    if folder is None or count == 1:
        return folder
    (folder / label).mkdir()
    return folder / label


def _measure(
    image: Image | None,
    scenario: Scenario,
    seed: int | None,
    seeds: int | None,
    workers: int | None,
    pcap: Path | None,
    pcap_payload: bool,
    folder: Path | None,
) -> Result | Results:
    if seeds is not None:
        jobs = [(scenario, number) for number in seed_list(scenario, seeds)]
        label = f"{len(jobs)} seeds"
        if image is not None:
            results = Results(run_linux_jobs(jobs, image, workers=workers, label=label))
            if folder is not None:
                results.write_into(folder)
            return results

        def finish(result: Result) -> Result:
            # Tables are written at once or not kept: memory does not grow with what the runs record.
            return result.without_tables() if folder is None else result.saved_in(seed_folder(folder, result))

        results = Results(run_jobs(jobs, workers=workers, progress=True, label=label, finish=finish))
        if folder is not None:
            results.write_summary(folder)
        return results
    packets = None
    wanted = scenario.resolved["trace"]
    if folder is not None:
        (folder / "tables").mkdir(exist_ok=True)
        packets = folder / "tables" / "packets.parquet" if wanted["packets"] else None
        pcap = folder / "packets.pcapng" if wanted["pcap"] and pcap is None else pcap
    with _bar(scenario.title) as update:
        if image is not None:
            result = run_linux(scenario, image, seed=seed, pcap=pcap, pcap_payload=pcap_payload, progress=update)
        else:
            result = run_one(
                scenario, seed=seed, packets=packets, pcap=pcap, pcap_payload=pcap_payload, progress=update
            )
    if folder is not None:
        result.write_into(folder)
    return result


@contextlib.contextmanager
def _bar(label: str) -> Iterator[Callable[[float], object]]:
    with Bar(label) as bar:
        yield bar.update


def _write(
    runs: dict[str, Result | Results], folder: Path, out: Path, *, several_seeds: bool, generator: str | None
) -> None:
    from shoal.again import run_command
    from shoal.report import Entry, write_report

    entries = [
        Entry(label, [run] if isinstance(run, Result) else list(run), out / label if len(runs) > 1 else out)
        for label, run in runs.items()
    ]
    keep_command(folder)
    command = run_command(entries, out, several_seeds=several_seeds, generator=generator)
    write_report(entries, folder, command=command)


def _print(runs: dict[str, Result | Results], *, as_json: bool) -> None:
    if as_json:
        if len(runs) == 1:
            data.json(next(iter(runs.values())).json)
        else:
            objects = {label: json.loads(run.json) for label, run in runs.items()}
            data.json(json.dumps({"schema": schema_version, "runs": objects}, indent=2, allow_nan=False))
        return
    lists = {label: [run] if isinstance(run, Result) else list(run) for label, run in runs.items()}
    if len(lists) > 1:
        data.table(comparison_table(list(lists.items())))
        for label, results in lists.items():
            options.print_notices(all_lines(Results(results)), label)
        return
    for results in lists.values():
        first = results[0]
        same = identical_line(Results(results))
        start, end = first.window
        data.heading(first.data["scenario"]["title"])
        seeds = f"seed {first.seed}" if len(results) == 1 else seeds_in_words([Results(results)])
        plane = f" on Linux {first.data['linux']['kernel']}" if first.data["on"] == "linux" else ""
        data.sentence(f"Measured{plane} from {start:g} s to {end:g} s; {seeds}.")
        data.blank()
        data.table(group_table(results))
        for table in wait_tables(results):
            data.blank()
            data.table(table)
        for index in range(len(first.bottlenecks)):
            data.blank()
            data.table(queue_table(results, index))
        data.blank()
        data.pairs(totals(results))
        options.print_notices(notice_lines(results))
        if same:
            options.say_nothing_is_random(first.scenario, same)
