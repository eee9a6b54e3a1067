"""``shoal reproduce``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.exceptions import Exit

from shoal.cli import options
from shoal.cli.completion import host_names, paper_names
from shoal.cli.console import data, talk
from shoal.cli.declare import argument, option
from shoal.cli.on_linux import find_linux, refuse_limits_without_linux
from shoal.cli.out import keep_again, results_in, say_written, this_command
from shoal.cli.planes import Plane
from shoal.errors import UsageError
from shoal.files import refuse_existing
from shoal.models import models, nearest
from shoal.shipped import papers
from shoal.table import Table

if TYPE_CHECKING:
    from shoal.again import Again
    from shoal.papers import Paper
    from shoal.papers.reproduce import Reproduction


_What = Annotated[
    str | None,
    argument("[PAPER[/ITEM]]", "A paper of `shoal list papers`, or one of its items.", autocompletion=paper_names),
]
_Quick = Annotated[bool, typer.Option("--quick", help="Shorter runs, fewer seeds and points: a look, not a verdict.")]
_Full = Annotated[
    bool,
    typer.Option(
        "--full", help="With --on linux or --host: all points and seeds, as on the simulator; may take hours."
    ),
]
_Hosts = Annotated[
    list[str] | None,
    option(
        "--host",
        "PRESET",
        "Run once more with this preset of `shoal list hosts` in place of every host, beside its own. Repeatable.",
        autocompletion=host_names,
    ),
]
_Strict = Annotated[bool, typer.Option("--strict", help="Exit with 5 if a check is outside its tolerance.")]
_On = Annotated[
    Plane, typer.Option("--on", help="The simulator, or the chosen reading on the real Linux kernel beside it.")
]


def reproduce(
    what: _What = None,
    quick: _Quick = False,
    full: _Full = False,
    workers: options.Workers = None,
    out: options.Out = None,
    figure_width: options.FigureWidth = None,
    force: options.Force = False,
    as_json: options.Json = False,
    strict: _Strict = False,
    fresh: options.Fresh = False,
    on: _On = Plane.SIM,
    host: _Hosts = None,
    wall_limit: options.WallLimit = None,
    stall_limit: options.StallLimit = None,
) -> None:
    """Run published experiments; print published and measured values with verdicts; write figures and a report.

    Without a name, lists what can be reproduced. An interrupted reproduction goes on where it was.
    Without --out, the report goes to results/PAPER or results/PAPER-ITEM.

    [bold]Examples[/]

      shoal reproduce
      shoal reproduce kuehlewind-2014/table-1 --quick
      shoal reproduce kuehlewind-2014 --out results/k13
      shoal reproduce kuehlewind-2014/table-1 --on linux
      shoal reproduce deschepper-2015/dualq --on linux --full
      shoal reproduce cs244-2013/smallest-k --host linux-3.2-1g --host linux-6-gso
    """
    on_linux = on is Plane.LINUX
    refuse_limits_without_linux(wall_limit, stall_limit, on_linux=on_linux)
    if what is None:
        _list(as_json=as_json)
        return
    from shoal.papers import reproduce as engine
    from shoal.papers import write
    from shoal.papers.checks import Verdict

    paper, names = _find(what)
    hosts = _known_hosts(host or [])
    if full and (quick or not (on_linux or hosts)):
        raise UsageError(
            "--full goes with --on linux or --host and without --quick", hint="the simulator runs all points anyway"
        )
    if on_linux and len(names) > 1 and paper.linux is not None:
        names = list(paper.linux.items)
    forms = {"quick": quick, "full": full, "linux": on_linux}
    target = out or _folder(paper.name, names, [*(form for form, is_wanted in forms.items() if is_wanted), *hosts])
    refuse_existing(target, force=force)
    items = [paper.item(name, quick=quick, on_linux=on_linux, full=full, with_hosts=bool(hosts)) for name in names]
    image = find_linux(wall_limit_s=wall_limit, stall_limit_s=stall_limit) if on_linux else None
    with results_in(target, force=force, figure_width=figure_width) as folder:
        cache = options.kept_runs(fresh=fresh)
        done = [
            engine.reproduce(paper, item, workers=workers, cache=cache, progress=True, image=image, hosts=hosts)
            for item in items
        ]
        write.write(paper, done, folder or target, command=this_command())
        if folder is not None:
            keep_again(_again(paper, names, forms, hosts), folder)
    if as_json:
        rows = [row for reproduction in done for row in engine.verdict_frame(reproduction).to_dicts()]
        data.json(json.dumps({"schema": 1, "paper": paper.name, "chosen": paper.chosen, "checks": rows}, indent=2))
    else:
        _show(paper, done)
    say_written(target)
    verdicts = [finding.verdict for reproduction in done for finding in reproduction.chosen.findings]
    if strict and not {*verdicts} <= {Verdict.INSIDE, Verdict.SHOWN}:
        raise Exit(5)


def _again(paper: Paper, names: Sequence[str], forms: Mapping[str, bool], hosts: Sequence[str]) -> Again:
    """What makes the same results elsewhere: only papers that are part of shoal are there."""
    from shoal.again import Again, on_kernel

    if forms["linux"]:
        return Again((), on_kernel)
    if paper.folder.resolve() not in [entry.path.resolve() for entry in papers()]:
        return Again((), f"the paper `{paper.name}` is a folder of yours, and no part of shoal")
    what = paper.name if list(names) == list(paper.items) else f"{paper.name}/{names[0]}"
    flags = [f"--{form}" for form, is_wanted in forms.items() if is_wanted]
    return Again(("reproduce", what, *flags, *(word for host in hosts for word in ("--host", host))))


def _known_hosts(names: list[str]) -> list[str]:
    """The presets, each once, in the order in which they are named."""
    known = [model.name for model in models() if model.kind == "host"]
    for name in names:
        if name not in known:
            raise UsageError(f"there is no host `{name}`", hint=nearest(name, known))
    return list(dict.fromkeys(names))


def _folder(paper: str, items: list[str], forms: list[str]) -> Path:
    """Where a report goes unless the user says so."""
    return Path("results", "-".join([paper, *(items if len(items) == 1 else []), *forms]))


def _find(what: str) -> tuple[Paper, list[str]]:
    """A shipped paper by its name, or a folder with a paper.toml; all its items or one."""
    from shoal.papers import read_paper

    folder = Path(what)
    if (folder / "paper.toml").exists():
        paper = read_paper(folder)
        return paper, paper.items
    if (folder.parent / "paper.toml").exists() and folder.parent != Path():
        paper, item = read_paper(folder.parent), folder.name
    else:
        name, _, item = what.partition("/")
        known = {entry.name: entry.path for entry in papers()}
        if name not in known:
            raise UsageError(
                f"there is no paper `{name or what}`",
                hint=nearest(name, list(known)) if known else "no papers are installed",
            )
        paper = read_paper(known[name])
    if not item:
        return paper, paper.items
    if item not in paper.items:
        raise UsageError(f"`{paper.name}` has no item `{item}`", hint=nearest(item, paper.items))
    return paper, [item]


def _list(*, as_json: bool) -> None:
    from shoal.papers import read_paper

    catalogue = [read_paper(entry.path) for entry in papers()]
    if as_json:
        entries = [{"name": paper.name, "title": paper.title, "items": paper.items} for paper in catalogue]
        data.json(json.dumps(entries, indent=2, ensure_ascii=False))
        return
    rows = [(f"{paper.name}/{name}", paper.item(name).title) for paper in catalogue for name in paper.items]
    data.table(Table("What can be reproduced", ("Name", ""), rows, words=2))


def _show(paper: Paper, done: list[Reproduction]) -> None:
    from shoal.papers import reproduce as engine

    data.heading(paper.title)
    data.sentence(f"Reading: {paper.chosen} ({paper.reading(paper.chosen).title})")
    for reproduction in done:
        data.blank()
        data.heading(f"{reproduction.item.name}: {reproduction.item.title}")
        if (comparison := engine.compared(reproduction)) is not None:
            data.table(comparison)
        for table in engine.shown_tables(reproduction):
            data.table(table)
        if reproduction.chosen.findings:
            data.blank()
            data.table(engine.verdict_table(reproduction))
        for note in reproduction.notes:
            talk.note(f"note: {note}")
    data.blank()
    data.sentence(engine.tally_of(done).headline)
    for hosts, tally in engine.tallies_with_hosts(done).items():
        data.sentence(f"With {hosts}: {tally.headline}")
