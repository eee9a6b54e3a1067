#!/usr/bin/env python3
"""Keep the results of items of a paper on the real kernel: LINUX.csv (the data) and LINUX.md (for readers).

shoal reproduce NAME/ITEM --on linux --out results/NAME-ITEM-linux
tools/paper_linux.py papers/NAME --from results/NAME-ITEM-linux   # this item anew; others stay as they are
tools/paper_linux.py papers/NAME --check                          # is LINUX.md what LINUX.csv says?
"""

import argparse
import csv
import io
import sys
import tomllib
from pathlib import Path

from paper_results import Rows, made_on, sign, table, write_or_check

_columns = ("item", "made", "command", "reading", "claim", "what", "published", "measured", "tolerance", "verdict")
_alike = "simulated-alike"


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paper", type=Path)
    parser.add_argument("--from", dest="results", type=Path, metavar="RESULTS", nargs="+", default=[])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    for results in options.results:
        keep(results, options.paper)
    return write_or_check(options.paper, "LINUX.md", page(options.paper), check=options.check)


def keep(results: Path, paper: Path) -> None:
    """Replace the kept results of the items of a reproduction."""
    import shoal

    verdicts = results / "verdicts.csv"
    head = {
        "made": f"{made_on(verdicts)}, shoal {shoal.__version__}",
        "command": (results / "command.txt").read_text(encoding="utf-8").strip(),
    }
    with verdicts.open(encoding="utf-8", newline="") as file:
        rows = [row | head for row in csv.DictReader(file)]
    if not any(row["reading"] == _alike for row in rows):
        sys.exit(
            f"{results} is not a reproduction on Linux: run `shoal reproduce PAPER/ITEM --on linux --out {results}`"
        )
    anew = {row["item"] for row in rows}
    target = paper / "LINUX.csv"
    known = [row for row in _read(target) if row["item"] not in anew] if target.exists() else []
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, _columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(sorted([*known, *rows], key=lambda row: row["item"]))
    target.write_text(text.getvalue(), encoding="utf-8")


def page(paper: Path) -> str:
    """The text of LINUX.md."""
    settings = tomllib.loads((paper / "paper.toml").read_text(encoding="utf-8"))
    rows = _read(paper / "LINUX.csv")
    parts = [
        f"# On Linux: {settings['title']}",
        "Written by `tools/paper_linux.py`; the data is LINUX.csv.",
        "The same checks three times: the chosen reading "
        f"(`{settings['chosen']}`) on the simulator; with what the kernel "
        "needs (below) on the simulator; and that on the kernel. The second and the third tell the planes apart, the "
        "first and the second the settings. ✓ and ✗ are about the published value.",
        settings["linux"]["why"].strip(),
    ]
    for name in dict.fromkeys(row["item"] for row in rows):
        own = [row for row in rows if row["item"] == name]
        parts += [f"## {name}", f"{own[0]['made']}: `{own[0]['command']}`", _side_by_side(own, settings["chosen"])]
    return "\n\n".join(parts) + "\n"


def _side_by_side(rows: Rows, chosen: str) -> str:
    """One line a check, known by its position in the list: `together` may name another cell on each plane."""
    readings = [chosen, _alike, *(row["reading"] for row in rows if row["reading"] not in (chosen, _alike))][:3]
    columns = [[row for row in rows if row["reading"] == reading] for reading in readings]
    titles = ("Claim", "What", "Published", "Simulated", "Simulated alike", _kernel(readings), "Tolerance")
    body = []
    for index, first in enumerate(columns[0]):
        cells = [
            f"{own[index]['measured']} {sign[own[index]['verdict']]}" if index < len(own) else "" for own in columns
        ]
        body.append((first["claim"], first["what"], first["published"], *cells, first["tolerance"]))
    return table(titles, body)


def _kernel(readings: list[str]) -> str:
    return readings[2].replace("linux-", "Linux ") if len(readings) > 2 else "Linux"


def _read(file: Path) -> Rows:
    with file.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


if __name__ == "__main__":
    sys.exit(main())
