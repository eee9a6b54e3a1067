"""Makes single rows of recorded tables again and compares them with what was recorded."""

from __future__ import annotations

import datetime
import os
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from shoal.cache import default_folder
from shoal_dev.study import (
    RESULTS_CHANGED,
    Cell,
    Study,
    find,
    has_kernel,
    is_outdated,
    names,
    other_kernel,
    page_of,
    parts,
)
from shoal_dev.tables import ReadTable, tables_of

# About what it takes to make a page as a whole.
WHOLE_CPU_S = 25
# More cells of a row than this are counted, not named.
MANY = 12


@dataclass(frozen=True)
class Compared:
    """A row of a table as it was recorded, and what was made again of it, by the titles of the columns."""

    name: str
    recorded: Mapping[str, str]
    now: Mapping[str, str]

    @property
    def different(self) -> list[str]:
        """The columns that are no longer what was recorded."""
        return [head for head, text in self.now.items() if self.recorded.get(head) != text]

    def __str__(self) -> str:
        """A line for what is the same and for what was not made again, and one for each difference."""
        same = [head for head in self.now if head not in self.different]
        left_out = [head for head in self.recorded if head not in self.now]
        lines = [f"{self.name}"]
        lines += (
            [f"  same: {', '.join(same) if len(same) <= MANY else f'{len(same)} of {len(self.now)}'}"] if same else []
        )
        lines += [f"  not rechecked: {', '.join(left_out)}"] if left_out else []
        lines += [
            f"  DIFFERENT: {head}: recorded `{self.recorded.get(head, '')}`, now `{self.now[head]}`"
            for head in self.different
        ]
        return "\n".join(lines)


def recheck(name: str | None, *, count: int, seed: int | None, cpu_s: float) -> int:
    """Compare a sample of all rows; 1 if one differs.

    Parameters
    ----------
    name
        A study; all of them if not given.
    count, cpu_s
        The sample has at most so many rows, and takes at most about so many CPU seconds; 0 is no limit.
    seed
        Chooses the sample; that of today if not given.
    """
    seed = datetime.datetime.now(tz=datetime.UTC).toordinal() if seed is None else seed
    known = list(_known(name))
    random.Random(seed).shuffle(known)  # noqa: S311  (no secret)
    # The first of each study, then the second of each: studies with many rows do not crowd out the others.
    by_study = {of: [row for row in known if row[0] == of] for of, _, _ in known}
    known = [row for turn in zip_longest(*by_study.values()) for row in turn if row is not None]
    sample: list[tuple[str, Study, Cell | None]] = []
    left_s = cpu_s or float("inf")
    for row in known:
        cost_s = row[2].cpu_s if row[2] else WHOLE_CPU_S
        if (not count or len(sample) < count) and cost_s <= left_s:
            sample.append(row)
            left_s -= cost_s
    print(f"seed {seed}: {len(sample)} of {len(known)} rows", flush=True)
    different = 0
    # Results that are known already would prove nothing.
    kernels = default_folder() / "linux"
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SHOAL_CACHE_DIR"] = folder
        if kernels.exists():
            Path(folder, "linux").symlink_to(kernels)
        for of, study, cell in sample:
            for comparison in compared(of, study, cell):
                print(comparison, flush=True)
                different += len(comparison.different)
    if different:
        print(f"{different} cells differ from what docs/records has")
    return int(bool(different))


def _known(name: str | None) -> Iterator[tuple[str, Study, Cell | None]]:
    """All rows that can be made again; a page that is made as a whole counts as one."""
    for of in [name] if name else names():
        study = find(of)
        # Papers have pages of their own.
        path = page_of(of, study)
        page = path.read_text(encoding="utf-8") if path.exists() else ""
        if study.of_a_machine:
            print(f"{of}: not rechecked: its numbers are those of a machine")
        elif is_outdated(page):
            print(f"{of}: not rechecked: recorded before {RESULTS_CHANGED}, which changed results")
        elif "kernel" in study.needs and (build := other_kernel(page)):
            print(f"{of}: not rechecked: recorded on another build of the kernel, {build}")
        elif study.cells is None and "kernel" in study.needs and not has_kernel():
            print(f"{of}: not rechecked: it needs the kernel (`shoal linux build`)")
        elif study.cells is None:
            yield of, study, None
        else:
            if "kernel" in study.needs and not has_kernel():
                print(f"{of}: rows that run on the kernel are not rechecked (`shoal linux build`)")
            for cell in study.cells():
                yield of, study, cell


def compared(name: str, study: Study, cell: Cell | None) -> Iterator[Compared]:
    """A row, or all of a page, beside what was recorded."""
    if cell is not None and cell.recorded is not None:
        yield Compared(f"{name}: {cell.section}: {', '.join(cell.row)}", cell.recorded, cell.measure())
        return
    recorded = list(tables_of(page_of(name, study).read_text(encoding="utf-8")))
    if cell is None:
        yield from _whole(name, recorded, list(tables_of("\n\n".join(parts(name, study, {}, draw=False)))))
        return
    title = f"{name}: {cell.section or study.title}: {', '.join(cell.row)}"
    row = _row(recorded, cell)
    rest = dict(list(row.items())[len(cell.row) :])
    yield Compared(title, rest, cell.measure() if row else {"row": "there is none any more"})


def _row(recorded: Sequence[ReadTable], cell: Cell) -> Mapping[str, str]:
    """The recorded row of a cell by the titles of its columns; empty if there is none."""
    for table in recorded:
        for row in table.rows:
            if table.section.startswith(cell.section) and row[: len(cell.row)] == cell.row:
                return dict(zip(table.heads, row, strict=True))
    return {}


def _whole(name: str, recorded: Sequence[ReadTable], now: Sequence[ReadTable]) -> Iterator[Compared]:
    """All rows of all tables of a page; a row is known by its number."""
    for before, after in zip_longest(recorded, now, fillvalue=ReadTable("", (), ())):
        for number, texts in enumerate(zip_longest(before.rows, after.rows, fillvalue=())):
            pairs = [
                dict(zip(table.heads, text, strict=False)) for table, text in zip((before, after), texts, strict=True)
            ]
            yield Compared(f"{name}: {after.section}: row {number + 1}", *pairs)
