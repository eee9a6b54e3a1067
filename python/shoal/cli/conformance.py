"""``shoal conformance``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.exceptions import Exit

from shoal.cli.console import data, talk
from shoal.cli.declare import argument, option
from shoal.cli.planes import Plane
from shoal.table import Table
from shoal.words import count_of

if TYPE_CHECKING:
    from shoal.conformance import Verdict


# The exit codes of what is refused, and of the Linux plane.
_refused, _linux_failed = 3, 6

_Scripts = Annotated[
    list[Path] | None, argument("[SCRIPT|FOLDER]...", "Scripts (.pkt); those for DCTCP if none is named.")
]
_On = Annotated[Plane, typer.Option("--on", help="Our models, or the real kernel in virtual time.")]
_Selftests = Annotated[
    bool, typer.Option("--selftests", help="The scripts of the kernel's own tests, from its source.")
]
_Kernel = Annotated[str | None, option("--kernel", "VERSION", "The kernel, if several are built.")]
_Expected = Annotated[Path | None, option("--expected", "FILE", "Known differences (TOML) instead of ours.")]
_Workers = Annotated[int | None, option("--workers", "N", "Guests at once.", min=1)]
_Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show every script, not only differences.")]
_AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def conformance(
    scripts: _Scripts = None,
    on: _On = Plane.SIM,
    selftests: _Selftests = False,
    kernel: _Kernel = None,
    expected: _Expected = None,
    workers: _Workers = None,
    verbose: _Verbose = False,
    as_json: _AsJson = False,
) -> None:
    """Play packet scripts (packetdrill's syntax) on our TCP models or on the real kernel.

    A script passes if every packet leaves when and as it says. What a plane does not have is refused, with the reason;
    known differences are listed in a file and must still be there. A script that is none, or that names what does not
    exist, is wrong; the others are played. The exit code is 1 if anything else differs, 6 if the kernel of a script
    failed, and 3 if a script is wrong, or if no script was played at all.

    [bold]Examples[/]

      shoal conformance
      shoal conformance --on linux --selftests
      shoal conformance my-scripts/ack.pkt --on linux --json
    """
    from shoal.conformance import expectations, find_scripts, run_scripts, shipped_scripts
    from shoal.conformance import selftests as selftests_of

    files = find_scripts(scripts or [])
    if selftests:
        files += selftests_of(_source(kernel))
    if not files:
        files = shipped_scripts()
    known = expectations(on.value, expected)
    verdicts = run_scripts(files, on=on.value, known=known, kernel=kernel, workers=workers, progress=True)
    bad = [verdict for verdict in verdicts if not verdict.ok]
    counts = Counter(_outcome(verdict) for verdict in verdicts)
    if as_json:
        content = {
            "schema": 1,
            "on": on.value,
            "counts": dict(sorted(counts.items())),
            "scripts": [verdict.to_dict() for verdict in verdicts],
        }
        data.json(json.dumps(content, indent=1))
    else:
        shown = verdicts if verbose else [verdict for verdict in verdicts if _outcome(verdict) != "pass"]
        if shown:
            data.table(_table(shown))
        for verdict in bad:
            _explain(verdict)
        data.sentence(
            f"{count_of(len(verdicts), 'script')} on {on.value}: "
            + ", ".join(f"{n} {what}" for what, n in sorted(counts.items()))
        )
    if any(verdict.outcome not in ("wrong", "stopped") for verdict in bad):
        raise Exit(1)
    if any(verdict.outcome == "stopped" for verdict in bad):
        raise Exit(_linux_failed)
    if bad or all(verdict.outcome == "refused" for verdict in verdicts):
        raise Exit(_refused)


def _source(kernel: str | None) -> Path:
    from shoal.linux import find_image

    # The built tree names its source.
    return (find_image(kernel).tree / "source").resolve()


def _outcome(verdict: Verdict) -> str:
    if verdict.outcome == "fail" and verdict.ok:
        return "known"
    if verdict.outcome == "pass" and not verdict.ok:
        return "passes, listed as different"
    return "pass in part" if verdict.outcome == "pass" and "until" in verdict.data else str(verdict.outcome)


def _table(verdicts: Sequence[Verdict]) -> Table:
    rows = []
    for verdict in verdicts:
        line, reason = verdict.data.get("line"), verdict.data.get("reason", "")
        if until := verdict.data.get("until"):
            line, reason = (line or until["line"], reason or f"played until here: {until['reason']}")
        if verdict.expected is not None:
            reason = verdict.expected.why
        rows.append((verdict.script.name, _outcome(verdict), str(line or ""), reason))
    return Table("", ("Script", "", "Line", ""), rows, words=4)


def _explain(verdict: Verdict) -> None:
    difference = verdict.data
    if verdict.outcome == "pass":
        talk.error(f"{verdict.script.name} passes, but is listed as different", hint="take it off the list")
        return
    where = ":".join(str(part) for part in (verdict.script.name, difference.get("line")) if part is not None)
    lines = [f"{where}: {difference['reason']}"]
    lines += [f"  {name} {difference[name]}" for name in ("wanted", "seen") if difference.get(name)]
    talk.error("\n".join(lines), hint=difference.get("hint"))
