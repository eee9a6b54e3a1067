"""The results of items of a paper on the real kernel: LINUX.csv (the data) and LINUX.md (for readers)."""

import sys
import tomllib
from pathlib import Path

from shoal_dev.pages.paper_beside import read_rows, replace_rows, reproduced, side_by_side

_columns = ("item", "made", "command", "reading", "claim", "what", "published", "measured", "tolerance", "verdict")
_alike = "simulated-alike"


def keep(results: Path, paper: Path) -> None:
    """Replace the kept results of the items of a reproduction."""
    rows = reproduced(results)
    if not any(row["reading"] == _alike for row in rows):
        sys.exit(
            f"{results} is not a reproduction on Linux: run `shoal reproduce PAPER/ITEM --on linux --out {results}`"
        )
    if any("+" in row["reading"] for row in rows):
        sys.exit(f"{results} has other hosts than the paper's: keep it with `shoal-dev keep hosts`")
    replace_rows(paper / "LINUX.csv", rows, _columns, ["item"])


def page(paper: Path) -> str:
    """The text of LINUX.md."""
    settings = tomllib.loads((paper / "paper.toml").read_text(encoding="utf-8"))
    chosen = settings["chosen"]
    rows = read_rows(paper / "LINUX.csv")
    parts = [
        f"# On Linux: {settings['title']}",
        "Written by `tools/shoal-dev generate`; the data is LINUX.csv.",
        f"The same checks three times: the chosen reading (`{chosen}`) on the simulator; with what the kernel "
        "needs (below) on the simulator; and that on the kernel. The second and the third tell the planes apart, the "
        "first and the second the settings. ✓ and ✗ are about the published value.",
        settings["linux"]["why"].strip(),
    ]
    for name in dict.fromkeys(row["item"] for row in rows):
        checks = [row for row in rows if row["item"] == name]
        readings = [chosen, _alike, *(row["reading"] for row in checks if row["reading"] not in (chosen, _alike))][:3]
        kernel = readings[2].replace("linux-", "Linux ") if len(readings) > 2 else "Linux"
        lines = side_by_side(checks, readings, ("Simulated", "Simulated alike", kernel))
        parts += [f"## {name}", f"{checks[0]['made']}: `{checks[0]['command']}`", lines]
    return "\n\n".join(parts) + "\n"
