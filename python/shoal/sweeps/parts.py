"""Parts of a sweep that ran on machines which share nothing, and how they are put together."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from shoal import _native
from shoal.cache import simulator_hash
from shoal.errors import OutputError, UsageError
from shoal.files import write_text, writing
from shoal.parallel import Progress
from shoal.sweeps.execute import Executor, run_plan
from shoal.sweeps.plan import Plan, check
from shoal.sweeps.rows import Rows
from shoal.sweeps.store import Found, Writer, read_records
from shoal.sweeps.work import Work

_plan, _records, _about = "plan.json", "records", "part.json"


def write_part(
    plan: Plan,
    place: tuple[int, int],
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
    place
        i and n.
    folder
        Where to write.
    workers, cache, executor, progress
        As for :func:`shoal.sweeps.execute.run_plan`.

    Raises
    ------
    OutputError
        Something cannot be written.
    """
    number, count = place
    points = range(number - 1, len(plan.design), count)
    about = {"part": number, "of": count, "plan": plan.digest}
    about |= {"version": _native.__version__, "simulator": simulator_hash()}
    with writing(folder):
        write_text(folder / _plan, plan.text)
        write_text(folder / _about, json.dumps(about, indent=1) + "\n")
        with closing(Writer(folder / _records)) as writer:
            return run_plan(
                plan,
                numbers=points,
                workers=workers,
                cache=cache,
                executor=executor,
                progress=progress,
                on_record=writer.write,
            )


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
    work.recall(_all(folders))
    if missing_runs := work.missing():
        raise OutputError(f"{missing_runs:,} runs are missing in the parts", hint="run the parts again")
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


def _all(folders: Sequence[Path]) -> Iterator[Found]:
    for folder in folders:
        yield from read_records(folder / _records)


def _read_about(folder: Path) -> dict[str, Any]:
    path = folder / _about
    try:
        own = json.loads(path.read_text(encoding="utf-8"))
        return {key: own[key] for key in ("part", "of", "plan", "version", "simulator")}
    except OSError as error:
        raise OutputError(
            f"`{folder}` is no part of a sweep: cannot read `{path}`: {error.strerror}",
            hint="name folders that `shoal sweep --shard I/N --out FOLDER` wrote",
        ) from error
    except (ValueError, KeyError, TypeError):
        raise OutputError(f"`{path}` does not describe a part of a sweep", hint="is it damaged?") from None
