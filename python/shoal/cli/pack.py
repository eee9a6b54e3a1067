"""``shoal pack``."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.exceptions import Exit

from shoal.cli import options
from shoal.cli.console import data, talk
from shoal.cli.declare import argument, option
from shoal.errors import OutputError, UsageError
from shoal.table import Table
from shoal.words import count_of

if TYPE_CHECKING:
    from shoal.pack import Checked, PackedResults

_Folders = Annotated[
    list[Path],
    argument(
        "RESULT...", "Folders that `run`, `sweep`, `tune` or `reproduce` wrote; with --check one unpacked archive."
    ),
]
_Out = Annotated[
    Path | None,
    option("--out", "FILE", "The archive, such as [cyan]artifact.tar.gz[/]. With --check: keep the new results here."),
]
_Check = Annotated[
    bool, typer.Option("--check", help="Make the results of an unpacked archive again, and compare all of their bytes.")
]
_Try = Annotated[
    bool,
    typer.Option(
        "--try", help="Make all results again before they are packed, and write into the README how long it took."
    ),
]
_Wheel = Annotated[
    Path | None,
    option(
        "--wheel", "FILE", "Put this wheel of shoal into the archive, for people whose pip does not find it elsewhere."
    ),
]
_Force = Annotated[bool, typer.Option("--force", help="Replace an existing archive, or folder of new results.")]


def pack(
    results: _Folders,
    out: _Out = None,
    check: _Check = False,
    try_: _Try = False,
    wheel: _Wheel = None,
    force: _Force = False,
    workers: options.Workers = None,
) -> None:
    """Pack results for artifact evaluation, or make packed ones again and compare.

    The archive holds data, scenarios, the exact packages, licences, and a README
    that leads from claims to files. `rerun` in it is one command that makes
    everything again and compares all bytes. What cannot be made again is refused;
    what is left out is said, here and in the README. The same results give the
    same archive.

    [bold]Examples[/]

      shoal pack results/my results/paper --out artifact.tar.gz
      shoal pack results/my --try --wheel shoal-*.whl --out artifact.tar.gz
      tar -xzf artifact.tar.gz && artifact/rerun
      shoal pack --check artifact
    """
    if check:
        if len(results) > 1 or try_ or wheel is not None:
            raise UsageError("--check takes the folder of one archive", hint="as in `shoal pack --check artifact`")
        _check(results[0], out, force=force, workers=workers)
        return
    if out is None:
        raise UsageError("there is no name for the archive", hint="add --out artifact.tar.gz")
    _pack(results, out, try_=try_, wheel=wheel, force=force, workers=workers)


def _pack(
    folders: Sequence[Path], out: Path, *, try_: bool, wheel: Path | None, force: bool, workers: int | None
) -> None:
    from shoal.again import checksum
    from shoal.files import is_stream, make_parent, reserved_file
    from shoal.pack import check_target, check_wheel, is_artifact, read_folders, write_artifact

    check_target(out)
    if wheel is not None:
        check_wheel(wheel)
    packed = read_folders(folders)
    for each in packed:
        for name, why in each.left_out.items():
            hint = "with a relative --out it names none" if name.endswith(".html") else None
            talk.warning(f"`{each.folder / name}` is left out: {why}", hint=hint)
        if each.is_of_another_build:
            talk.warning(f"`{each.folder}` is of another build, commit {each.record.commit}; add --try to be sure")
    make_parent(out)
    with reserved_file(out, is_artifact, what="archive of `shoal pack`", option="--out", force=force):
        seconds = _tried(packed, workers) if try_ else None
        count = write_artifact(out, packed, wheel=wheel, seconds=seconds)
    talk.note(f"wrote {out} ({count_of(count, 'file')})")
    if not is_stream(out):
        data.text(f"{checksum(out)}  {out}")


def _tried(packed: Sequence[PackedResults], workers: int | None) -> float:
    """Make everything again, which takes so many seconds."""
    from shoal.pack import entry_of, make_again

    seconds = 0.0
    with _folder_for_now() as again:
        for each in packed:
            talk.note(f"{each.name}: shoal {shlex.join(each.record.command)}")
            checked = make_again(entry_of(each), each.folder, again / each.name, workers=workers)
            if checked.differences:
                raise OutputError(
                    f"`{each.folder}` is not what its command makes: {checked.differences[0]}", hint="make it again"
                )
            seconds += checked.seconds
    return seconds


def _check(folder: Path, out: Path | None, *, force: bool, workers: int | None) -> None:
    from shoal.files import new_folder
    from shoal.pack import check, other_packages

    done = []
    with _folder_for_now() if out is None else new_folder(out, force=force) as again:
        for checked in check(folder, again, workers=workers, note=talk.note):
            done.append(checked)
            for line in checked.differences:
                talk.error(f"{checked.name}: {line}")
    if out is not None:
        talk.note(f"wrote {out}")
    data.table(Table("", ("Result", "Files compared", "Time", "Outcome"), [_row(each) for each in done], words=1))
    if any(checked.differences for checked in done):
        for line in other_packages(folder):
            talk.note(f"note: {line}")
        raise Exit(1)


def _row(checked: Checked) -> tuple[str, ...]:
    outcome = f"{count_of(len(checked.differences), 'difference')}" if checked.differences else "same bytes"
    return checked.name, f"{checked.compared:,}", f"{checked.seconds:.1f} s", outcome


@contextmanager
def _folder_for_now() -> Iterator[Path]:
    """A folder for results that nobody keeps."""
    with tempfile.TemporaryDirectory(prefix="shoal-again-") as name:
        yield Path(name)
