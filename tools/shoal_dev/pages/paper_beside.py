"""What the pages of a paper have in common that lay other hosts or another plane beside the simulator's usual runs.

A page is a CSV file with the rows of several reproductions, each of one item, and a Markdown file made from it. An item
that is reproduced anew replaces its own rows only.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from shoal_dev.pages.paper_results import Rows, made_on, sign, table


def reproduced(results: Path) -> Rows:
    """The verdicts of a reproduction, each with when and how it was made."""
    import shoal

    verdicts = results / "verdicts.csv"
    head = {
        "made": f"{made_on(verdicts)}, shoal {shoal.__version__}",
        "command": (results / "command.txt").read_text(encoding="utf-8").strip(),
    }
    with verdicts.open(encoding="utf-8", newline="") as file:
        return [row | head for row in csv.DictReader(file)]


def replace_rows(target: Path, rows: Rows, columns: Sequence[str], key: Sequence[str]) -> None:
    """Put rows into a file in place of those that agree with one of them in the columns of the key."""

    def identity(row: dict[str, str]) -> tuple[str, ...]:
        return tuple(row[name] for name in key)

    anew = {identity(row) for row in rows}
    known = [row for row in read_rows(target) if identity(row) not in anew] if target.exists() else []
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(sorted([*known, *rows], key=identity))
    target.write_text(text.getvalue(), encoding="utf-8")


def read_rows(file: Path) -> Rows:
    """The rows of a CSV file."""
    with file.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def side_by_side(rows: Rows, readings: Iterable[str], titles: Iterable[str]) -> str:
    """One line a check with a column a reading.

    A check is known by its position in the list: `together` may name another cell under another reading.
    """
    columns = [[row for row in rows if row["reading"] == reading] for reading in readings]
    body = []
    for index, first in enumerate(columns[0]):
        cells = [
            f"{column[index]['measured']} {sign[column[index]['verdict']]}" if index < len(column) else ""
            for column in columns
        ]
        body.append((first["claim"], first["what"], first["published"], *cells, first["tolerance"]))
    return table(("Claim", "What", "Published", *titles, "Tolerance"), body)
