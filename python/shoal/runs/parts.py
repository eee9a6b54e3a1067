"""Parts of a sweep that ran on machines which share nothing, and how they are put together."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from shoal import _native
from shoal.cache import simulator_hash
from shoal.errors import OutputError, UsageError
from shoal.files import write_text, writing
from shoal.parallel import Progress
from shoal.runs.database import Batches, DamagedError, Database, KeyedRecord
from shoal.runs.execute import Executor, run_plan
from shoal.runs.plan import Plan, check
from shoal.runs.rows import Rows
from shoal.runs.work import Work
from shoal.words import count_of

_plan, _records, _about = "plan.json", "records.sqlite", "part.json"


def write_part(
    plan: Plan,
    shard: tuple[int, int],
    folder: Path,
    *,
    workers: int | None = None,
    cache: Path | None = None,
    executor: Executor | None = None,
    progress: Progress = False,
) -> Rows:
    """Run every n-th point of a plan, beginning with the i-th, and write the records into a new folder.

    Parameters
    ----------
    plan
        What to run.
    shard
        i and n.
    folder
        Where to write.
    workers, cache, executor, progress
        As for :func:`shoal.runs.execute.run_plan`.

    Raises
    ------
    OutputError
        Something cannot be written.
    """
    number, count = shard
    points = range(number - 1, len(plan.design), count)
    about = {"part": number, "of": count, "plan": plan.digest}
    about |= {"version": _native.__version__, "simulator": simulator_hash()}
    with writing(folder):
        write_text(folder / _plan, plan.text)
        with _part_file(folder / _records) as batches:
            rows = run_plan(
                plan,
                numbers=points,
                workers=workers,
                cache=cache,
                executor=executor,
                progress=progress,
                on_record=batches.add,
            )
        about["records"] = _digest(folder / _records)
        write_text(folder / _about, json.dumps(about, indent=1) + "\n")
    return rows


def read_parts(folders: Sequence[Path]) -> Rows:
    """Put parts together.

    Raises
    ------
    OutputError
        A folder is no part, or is damaged.
    UsageError
        Parts are missing, there twice, of different sweeps, or made by different builds of the simulator.
    """
    parts = {folder: _read_about(folder) for folder in folders}
    first_folder, first = next(iter(parts.items()))
    seen: dict[int, Path] = {}
    for folder, about in parts.items():
        if about["simulator"] != first["simulator"]:
            raise UsageError(
                f"`{folder}` was run by another build of shoal ({about['version']}) than `{first_folder}` "
                f"({first['version']}): their bytes may differ",
                hint="run all parts with the same build",
            )
        if (about["plan"], about["of"]) != (first["plan"], first["of"]):
            raise UsageError(
                f"`{folder}` is a part of another sweep than `{first_folder}`",
                hint="all parts need the same sweep file, and the same N of --shard I/N",
            )
        if about["part"] in seen:
            raise UsageError(
                f"`{folder}` and `{seen[about['part']]}` are both part {about['part']}", hint="leave one out"
            )
        seen[about["part"]] = folder
    if missing := [number for number in range(1, first["of"] + 1) if number not in seen]:
        listed = ", ".join(map(str, missing[:10])) + (", ..." if len(missing) > 10 else "")
        raise UsageError(
            f"part {listed} of {first['of']} is missing", hint=f"run it with --shard {missing[0]}/{first['of']}"
        )
    plan = Plan.read(first_folder / _plan)
    if plan.digest != first["plan"]:
        raise OutputError(f"`{first_folder / _plan}` has been changed", hint="run that part again")
    checked = check(plan)
    work = Work(plan, Rows(plan, range(len(plan.design)), checked), checked)
    work.recall(keyed for folder, about in parts.items() for keyed in _records_of(folder, about["records"]))
    if missing_runs := work.missing():
        raise OutputError(
            f"{count_of(missing_runs, 'run')} {'is' if missing_runs == 1 else 'are'} missing in the parts",
            hint="run the parts again",
        )
    return work.finish()


def copy_sources(part: Path, folder: Path) -> None:
    """Copy the files that the sweep was read from out of a part.

    Raises
    ------
    OutputError
        They cannot be copied.
    """
    with writing(folder):
        for path in sorted(part.iterdir()):
            if path.name not in (_plan, _records, _about, ".shoal", "command.txt") and path.is_file():
                shutil.copyfile(path, folder / path.name)


@contextmanager
def _part_file(path: Path) -> Iterator[Batches]:
    """Write the records of a part into a new file."""
    try:
        with closing(Database.writable(path)) as database, Batches(database.put) as batches:
            yield batches
    except (sqlite3.Error, DamagedError) as error:
        raise OutputError(f"cannot write `{path}`: {error}", hint="is there room on the disk?") from error


def _records_of(folder: Path, digest: str) -> Iterator[KeyedRecord]:
    path = folder / _records
    damaged = OutputError(f"`{path}` is damaged: it does not agree with its checksum", hint="copy that part again")
    try:
        if _digest(path) != digest:
            raise damaged
        with closing(Database.foreign(path)) as database:
            for key in database.digests():
                for seed, record in database.read(key):
                    yield key, seed, record
            if database.damaged:
                raise damaged
    except OSError as error:
        raise OutputError(f"cannot read `{path}`: {error.strerror}", hint="is the folder complete?") from error
    except DamagedError:
        raise damaged from None


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_about(folder: Path) -> dict[str, Any]:
    path = folder / _about
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        return {key: about[key] for key in ("part", "of", "plan", "version", "simulator", "records")}
    except OSError as error:
        raise OutputError(
            f"`{folder}` is no part of a sweep: cannot read `{path}`: {error.strerror}",
            hint="name folders that `shoal sweep --shard I/N --out FOLDER` wrote",
        ) from error
    except (ValueError, KeyError, TypeError, RecursionError):
        raise OutputError(f"`{path}` does not describe a part of a sweep", hint="is it damaged?") from None
