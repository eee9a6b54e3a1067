"""Options that several verbs share."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cache import default_folder
from shoal.cli.completion import scenario_names
from shoal.cli.console import data, talk
from shoal.cli.declare import argument, option
from shoal.errors import ScenarioError, UsageError
from shoal.models import nearest
from shoal.remarks import Remarks
from shoal.scenario import Scenario
from shoal.shipped import find_scenario
from shoal.sizes import scenario_with_sizes
from shoal.template import Template, template_of

if TYPE_CHECKING:
    pass


def read_figure_width(text: str) -> float:
    """The inches of ``--figure-width``."""
    from shoal.plots.sizes import read_width

    return read_width(text)


ScenarioFiles = Annotated[
    list[Path],
    argument("SCENARIO...", "Scenario files, or names; several are compared.", autocompletion=scenario_names),
]
ScenarioFile = Annotated[Path, argument("SCENARIO", "Scenario file, or name.", autocompletion=scenario_names)]
Set = Annotated[
    list[str] | None,
    option(
        "--set",
        "KEY=VALUE",
        "Replace a value of the scenario, e.g. [cyan]bottleneck.rate='20 Mbit/s'[/], "
        "[cyan]flows.reno.count=3[/] or, for every group, [cyan]flows.*.host=linux-6-10g[/]. Repeatable.",
    ),
]
SetComputed = Annotated[
    list[str] | None,
    option(
        "--set",
        "KEY=VALUE",
        "Replace a value of the scenario; an expression in braces is computed from a variable, e.g. "
        "[cyan]bottleneck.aqm.min='{1500*K} B'[/]. Repeatable.",
    ),
]


def _give_python(files: list[Path] | None) -> list[Path] | None:
    """Run the files of ``--python``, so that whatever the command reads may name their classes."""
    from shoal.laws import give_python

    give_python(files or ())
    return files


Python = Annotated[
    list[Path] | None,
    option(
        "--python",
        "FILE",
        "A Python file with laws of your own, classes of shoal.Controller, which [cyan]cc[/] may name then. It is run, "
        "and may do whatever a program may. Repeatable.",
        callback=_give_python,
    ),
]
Sizes = Annotated[
    list[str] | None,
    option(
        "--sizes",
        "NAME=FILE",
        "A distribution of transfer sizes: a CSV file of sizes and cumulative probabilities, for "
        '[cyan]transfer = { distribution = "NAME" }[/]. Repeatable.',
    ),
]
Out = Annotated[
    Path | None,
    option(
        "--out",
        "DIR",
        "Write results, a report, figures ([cyan]figures/[/]: PDF, PNG, SVG) and tables ([cyan]summaries/[/]: LaTeX, "
        "Markdown, CSV, Parquet) into a new folder.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing folder of results.")]
FigureWidth = Annotated[
    float | None,
    option(
        "--figure-width",
        "WIDTH",
        "Width of the figures that are written: a number and in, cm, mm or pt, such as [cyan]3.5in[/] for one column. "
        "Without it 7.16in, two columns.",
        parser=read_figure_width,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Workers = Annotated[
    int | None,
    option(("--workers", "--jobs"), "N", "Threads; all cores by default. Results do not depend on it.", min=1),
]

Fresh = Annotated[
    bool, typer.Option("--fresh", "--no-cache", help="Run everything: neither use nor keep finished runs in the cache.")
]
WallLimit = Annotated[
    float | None,
    option(
        "--wall-limit", "SECONDS", "Real time that a single run on Linux may take; without limit by default.", min=0.1
    ),
]
StallLimit = Annotated[
    float | None,
    option(
        "--stall-limit",
        "SECONDS",
        "Real time in which virtual time of a run on Linux may stand still; 600 by default.",
        min=0.1,
    ),
]


def kept_runs(*, fresh: bool) -> Path | None:
    """The folder of finished runs, so that an interrupted command may go on; nothing with ``--fresh``."""
    talk.is_resumable = not fresh
    return None if fresh else default_folder()


@contextmanager
def values_of(option: str) -> Iterator[None]:
    """Let a refused scenario name the option whose values were tried: everything else was checked when it was read."""
    try:
        yield
    except ScenarioError as error:
        raise ScenarioError(str(error).replace("--> --set:", f"--> {option}:")) from None


def say_if_nothing_is_random(scenario: Scenario, said: Remarks) -> None:
    """Say where seeds make no difference, so that numbers have no interval, and what would make one if none does."""
    if (line := said.nothing_is_random) is None:
        return
    if not said.is_without_chance:
        talk.warning(line)
        return
    groups = scenario.facts["groups"]
    rtt_ms = max(1, round(max((group["longest_rtt_s"] or 0.0) for group in groups) * 1000)) if groups else 1
    name = groups[0]["name"]
    talk.warning(
        line,
        hint="let the flows start at random within a round-trip time, with "
        f'start = {{ uniform = ["0 ms", "{rtt_ms} ms"] }} in each group\n'
        f'      (--set \'flows.{name}.start={{ uniform = ["0 ms", "{rtt_ms} ms"] }}\')',
    )


def print_notices(lines: Sequence[str], label: str = "") -> None:
    """What a reader of the numbers has to know, below them."""
    if lines:
        data.blank()
    for line in lines:
        data.text(f"Notice{f' ({label})' if label else ''}: {line}.")


_trace_words = ("series", "controllers", "segments", "packets", "pcap", "off")


def read_template(
    path: Path, settings: Sequence[str] | None, names: Sequence[str], sizes: Sequence[str] | None = None
) -> Template:
    """Read a scenario file that leaves some keys or variables open; ``--set`` may compute values from variables."""
    return template_of(_with_sizes(path, sizes, {}), [pair_of(setting) for setting in settings or []], names)


def read_scenario(
    path: Path,
    settings: Sequence[str] | None,
    trace: Sequence[str] | None = None,
    sizes: Sequence[str] | None = None,
    modules: Mapping[str, Path] | None = None,
) -> Scenario:
    """Read a scenario file and apply ``--sizes``, ``--module``, ``--set`` and ``--trace``."""
    pairs = [pair_of(setting) for setting in settings or []]
    pairs += [pair for item in trace or [] for word in item.split(",") for pair in trace_setting(word)]
    scenario = _with_sizes(path, sizes, modules or {})
    return scenario.set_text(*pairs) if pairs else scenario


def _with_sizes(path: Path, sizes: Sequence[str] | None, modules: Mapping[str, Path]) -> Scenario:
    """The scenario with distributions of transfer sizes from files, and laws that are modules, written into it."""
    files: dict[str, Path] = {}
    for text in sizes or []:
        name, equals, file = text.partition("=")
        if not equals or not name.strip() or not file.strip():
            raise UsageError(f"`--sizes {text}` is not NAME=FILE", hint="as in --sizes mine=sizes.csv")
        files[name.strip()] = Path(file.strip())
    scenario_file = find_scenario(path)
    laws = [(f"laws.{name}.kernel", os.path.relpath(file, scenario_file.parent)) for name, file in modules.items()]
    scenario, notes = scenario_with_sizes(scenario_file, files, laws)
    say_files(scenario, notes)
    return scenario


def say_files(scenario: Scenario, notes: Sequence[str]) -> None:
    """Tell how the files of a scenario were understood, and those of sizes in ``notes``."""
    for warning in scenario.file_warnings:
        talk.diagnostics(warning)
    for note in notes:
        talk.note(f"sizes {note}")


def says_what_to_trace(scenario: Scenario) -> bool:
    """Whether the file or the command line names the number of traced controllers."""
    try:
        table = tomllib.loads(scenario.text).get("trace", {})
    except tomllib.TOMLDecodeError:
        return False
    return "controller_flows" in table or any(key == "trace.controller_flows" for key, _ in scenario.overrides)


def pair_of(setting: str) -> tuple[str, str]:
    """The key and the value of a ``--set``."""
    key, equals, value = setting.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"`--set {setting}` is not KEY=VALUE", hint="as in --set bottleneck.rate='20 Mbit/s'")
    return key.strip(), value.strip()


def trace_setting(word: str) -> list[tuple[str, str]]:
    """Translate one word of ``--trace``."""
    name, equals, value = word.strip().partition("=")
    match name, bool(equals):
        case "series", True:
            # `series=100ms` saves quotes in the shell.
            return [("trace.series", re.sub(r"^([0-9.]+)\s*([a-zµ]+)$", r"\1 \2", value))]
        case "controllers", True if value.isdecimal():
            return [("trace.controller_flows", value)]
        case "segments", True if value.isdecimal():
            return [("trace.segment_flows", value)]
        case (("packets" | "pcap"), False):
            return [(f"trace.{name}", "true")]
        case "off", False:
            return [("trace.series", "off"), ("trace.controller_flows", "0")]
    if name in _trace_words:
        raise UsageError(
            f"`--trace {word}` is not complete",
            hint="as in --trace series=100ms,controllers=2,segments=1,packets,pcap or --trace off",
        )
    raise UsageError(f"`--trace {word}`: there is no such trace", hint=nearest(name, list(_trace_words)))
