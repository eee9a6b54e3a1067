"""``shoal hunt``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.exceptions import Exit

from shoal.cli import options
from shoal.cli.completion import scenario_names
from shoal.cli.console import data, talk
from shoal.cli.declare import option
from shoal.cli.out import keep_again, keep_command, results_in
from shoal.errors import UsageError

if TYPE_CHECKING:
    from shoal.hunting import Hunted
    from shoal.hunting.replay import Replay

_Law = Annotated[
    str | None,
    option(
        "--law",
        "LAW",
        "What is hunted: one of [cyan]shoal list controllers[/] or [cyan]shoal list queues[/], or a table as in "
        "[cyan]'{ cc = \"dctcp\", cc_options = { gain = { shift = 2 } } }'[/].",
    ),
]
_Maximise = Annotated[
    str | None, option(("--maximise", "--maximize"), "METRIC", "Instead of a goal: a metric that is bad if large.")
]
_Minimise = Annotated[
    str | None, option(("--minimise", "--minimize"), "METRIC", "Instead of a goal: a metric that is bad if small.")
]
_Unlike = Annotated[
    str | None,
    option(
        "--unlike",
        "LAW",
        "Instead of a goal: where the outcome is most different from that of another law in the same scenario.",
    ),
]
_Planes = Annotated[
    bool, typer.Option("--planes", help="Instead of a goal: where the simulator and the real kernel differ most.")
]
_Beyond = Annotated[
    float | None,
    option(
        "--beyond",
        "VALUE",
        "From where on a scenario counts. Default: half of a fair share, 100 ms, 20 % of capacity, 25 ms, one margin.",
    ),
]
_Base = Annotated[
    Path | None,
    option(
        "--base",
        "SCENARIO",
        "A scenario, whose keys in --vary are all that differs.",
        autocompletion=scenario_names,
    ),
]
_Vary = Annotated[
    list[str] | None,
    option(
        "--vary",
        "KEY=LOW..HIGH",
        "Another range, e.g. [cyan]bottleneck.rate='2..10 Mbit/s'[/] or [cyan]0.05..1:log[/], or words: "
        "[cyan]bottleneck.aqm.kind=fifo,red[/]. Repeatable.",
    ),
]
_Fix = Annotated[
    list[str] | None,
    option("--fix", "KEY=VALUE", "What stays, e.g. [cyan]flows.load.kind=none[/]. Repeatable."),
]
_Starve = Annotated[bool, typer.Option("--starve", help="Flows that get little of their fair share.")]
_Delay = Annotated[bool, typer.Option("--delay", help="Packets that wait long.")]
_Idle = Annotated[bool, typer.Option("--idle", help="Capacity that is left unused.")]
_Oscillate = Annotated[bool, typer.Option("--oscillate", help="Delays that swing.")]
_Runs = Annotated[
    int | None,
    option("--runs", "N", "Scenarios that the search tries. Default: 4000, and 256 with --planes.", min=64),
]
_Finds = Annotated[int, typer.Option("--finds", min=1, metavar="N", help="Scenarios to give, at most.")]
_Seed = Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Seed of the search.")]
_Kernel = Annotated[
    bool, typer.Option("--kernel/--no-kernel", help="Replay the worst find on the real kernel, if it is built here.")
]


# Why the command is not for everybody: a law's file is named relative to where the command was given.
_in_a_file = "a law is a file of whoever ran them"


def hunt(
    law: _Law = None,
    starve: _Starve = False,
    delay: _Delay = False,
    idle: _Idle = False,
    oscillate: _Oscillate = False,
    maximise: _Maximise = None,
    minimise: _Minimise = None,
    unlike: _Unlike = None,
    planes: _Planes = False,
    beyond: _Beyond = None,
    base: _Base = None,
    vary: _Vary = None,
    fix: _Fix = None,
    runs: _Runs = None,
    finds: _Finds = 8,
    seed: _Seed = 1,
    kernel: _Kernel = True,
    python: options.Python = None,
    out: options.Out = None,
    force: options.Force = False,
    as_json: options.Json = False,
    workers: options.Workers = None,
    fresh: options.Fresh = False,
) -> None:
    """Search for scenarios in which a law does worst, and make each as small as it can be.

    Scenarios differ in rates, buffers, queues, round trips, starts, other flows, loads that come and go, paths that
    move and bottlenecks in a row. The worst of each kind of trouble is confirmed with seeds that had no part in finding
    it, shrunk as long as four fifths of its effect stay, and confirmed again. --out writes a scenario file a find.

    --unlike and --planes look for differences, of laws or of planes, in the margins of [cyan]shoal compare[/]. Finished
    runs are kept: an interrupted hunt goes on where it was, and shows the worst that it knows.

    [bold]Examples[/]

      shoal hunt --law reno --starve --fix path.kind=still --runs 8000 --out results/hunt
      shoal hunt --law pie --delay --vary bottleneck.rate='2..10 Mbit/s'
      shoal hunt --base parking-lot --starve --vary topology.bottlenecks=2..6:whole
      shoal hunt --law file:my-law.wasm --unlike dctcp
      shoal hunt --law cubic --planes
    """
    goal = _goal(starve, delay, idle, oscillate, planes, [maximise, minimise, unlike])
    from shoal.hunting import hunt as run_hunt
    from shoal.hunting.replay import replay

    with results_in(out, force=force) as folder:
        hunted = run_hunt(
            law or "",
            goal=goal or "starve",
            maximise=maximise or "",
            minimise=minimise or "",
            unlike=unlike or "",
            beyond=beyond,
            base=base,
            vary=_pairs("--vary", vary),
            fix=_pairs("--fix", fix),
            runs=runs,
            finds=finds,
            seed=seed,
            workers=workers,
            cache=options.kept_runs(fresh=fresh),
            progress=True,
        )
        if folder is not None:
            given: list[tuple[str, object]] = [("--law", law), (f"--{goal}" if goal else "", True if goal else None)]
            given += [("--maximise", maximise), ("--minimise", minimise), ("--unlike", unlike), ("--beyond", beyond)]
            given += [("--vary", vary), ("--fix", fix), ("--runs", runs), ("--finds", finds), ("--seed", seed)]
            _write(folder, hunted, base, given)
    _say(hunted, replay(hunted) if kernel and hunted.is_replayable else None, out, as_json=as_json)


def _say(hunted: Hunted, replayed: Replay | None, out: Path | None, *, as_json: bool) -> None:
    if out is not None:
        talk.note(f"wrote {out} ({out / 'hunt.json'}, {out / 'find-1.toml'} ...)" if hunted.finds else f"wrote {out}")
    if as_json:
        data.json(hunted.json)
    else:
        _show(hunted, replayed)
    if not hunted.is_complete:
        raise KeyboardInterrupt
    if not hunted.finds:
        raise Exit(5)


def _goal(starve: bool, delay: bool, idle: bool, oscillate: bool, planes: bool, others: Sequence[object]) -> str:
    """The goal that has a name, or nothing; a single thing is hunted for."""
    named = {"starve": starve, "delay": delay, "idle": idle, "oscillate": oscillate, "planes": planes}
    goals = [name for name, wanted in named.items() if wanted]
    if len(goals) + sum(other is not None for other in others) != 1:
        hint = "add one of --starve, --delay, --idle, --oscillate, --unlike LAW, --planes"
        raise UsageError("say what is hunted for", hint=hint)
    return next(iter(goals), "")


def _pairs(name: str, given: Sequence[str] | None) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in given or []:
        key, equals, value = text.partition("=")
        if not equals or not key.strip() or not value.strip():
            example = "bottleneck.rate='2..50 Mbit/s'" if name == "--vary" else "flows.load.kind=none"
            raise UsageError(f"`{name} {text}` is not KEY=VALUE", hint=f"as in {name} {example}")
        pairs[key.strip()] = value.strip()
    return pairs


def _show(hunted: Hunted, replayed: Replay | None) -> None:
    data.heading(hunted.law or "Hunt")
    data.sentence(hunted.verdict)
    if not hunted.is_complete:
        data.sentence("Interrupted: nothing here is confirmed by fresh seeds.")
    if hunted.rejected:
        data.sentence(hunted.rejected)
    if not hunted.finds:
        return
    data.blank()
    data.table(hunted.table())
    data.blank()
    worst = hunted.finds[0]
    data.sentence(f"Find 1: {worst.sentence}")
    data.sentence(f"Seeds {worst.seeds[0]} to {worst.seeds[-1]}. The scenario file:")
    data.blank()
    data.text(worst.scenario.text)
    if replayed is not None:
        data.sentence(replayed.sentence)


def _write(folder: Path, hunted: Hunted, base: Path | None, given: Sequence[tuple[str, object]]) -> None:
    from shoal.again import Again, Kept, keep_source, on_kernel
    from shoal.files import write_text, writing
    from shoal.laws import keep_laws
    from shoal.shipped import find_scenario

    words: list[str | Kept] = ["hunt"]
    if base is not None:
        words += ["--base", Kept("source.toml")]
    for name, value in given:
        for each in value if isinstance(value, list) else [value]:
            if each is True:
                words.append(name)
            elif each is not None:
                words += [name, str(each)]
    of_file = any("file:" in str(value) for _, value in given)
    refusal = on_kernel if ("--planes", True) in given else _in_a_file if of_file else ""
    again = Again((*words, "--no-kernel"), refusal)
    with writing(folder):
        if base is not None:
            keep_source(find_scenario(base), None, folder)
        for number, find in enumerate(hunted.finds, 1):
            comment = f"# {find.sentence}\n# {hunted.target.metric} = {find.estimate.mean:.4g}\n\n"
            write_text(folder / f"find-{number}.toml", comment + find.scenario.text)
            keep_laws(find.scenario.resolved, folder, find.scenario.base)
        frame = hunted.to_polars()
        frame.write_csv(folder / "finds.csv")
        frame.write_parquet(folder / "finds.parquet")
        write_text(folder / "hunt.json", hunted.json)
        keep_command(folder)
    if hunted.is_complete:
        keep_again(again, folder)
