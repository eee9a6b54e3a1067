"""The page of kept verdicts shows other readings beside the chosen one, line by line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import shoal
from shoal.papers import read_paper
from shoal_dev.pages import paper_results

ROOT = Path(__file__).parents[2]
PAPER = Path(__file__).parent / "papers" / "test-paper"
COLUMNS = "item,reading,claim,role,what,published,measured,tolerance,cells,inside,verdict,reason"
# The second line is `together`: under each reading it may name another cell. The other reading has no second item.
KEPT = f"""# 2026-01-02, shoal 0.0.0, shoal reproduce test
{COLUMNS}
threshold,independent,T1,claim,one,,1.5,≤ 2,1,1,inside,
threshold,independent,T2,claim,many: at 3,,1 of 2 inside; farthest out: 9,≤ 2,2,1,outside,why
smallest,independent,T3,claim,three,,3,≤ 4,1,1,inside,
threshold,uniform,T1,claim,one,,2.5,≤ 2,1,0,outside,why
threshold,uniform,T2,claim,many: at 1,,2 of 2 inside; farthest out: 2,≤ 2,2,2,inside,
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The paper made for tests, with one of its readings beside the other, and verdicts made by hand."""
    target = tmp_path / "test-paper"
    shutil.copytree(PAPER, target)
    (target / "RESULTS.csv").write_text(KEPT, encoding="utf-8")
    return target


def put(folder: Path, line: str) -> None:
    file = folder / "paper.toml"
    before = 'chosen = "independent"'
    file.write_text(file.read_text(encoding="utf-8").replace(before, f"{before}\n{line}"), encoding="utf-8")


def test_other_readings_stand_in_the_line_of_their_check(folder: Path) -> None:
    assert "uniform gaps" not in paper_results.page(folder), "nothing beside unless it is asked for"
    put(folder, 'beside = ["uniform"]')
    lines = paper_results.page(folder).splitlines()
    start = lines.index("## All checks of claims")
    titles = next(line for line in lines[start:] if line.startswith("| Claim"))
    assert titles.endswith("| Verdict | uniform |")
    last = {
        line.split(" | ")[0].strip("| "): line.split(" | ")[-1].strip("| ")
        for line in lines[start:]
        if line.startswith("| T")
    }
    assert last == {"T1": "2.5 ✗", "T2": "2 of 2 inside; farthest out: 2 ✓", "T3": ""}


def test_a_reading_that_does_not_exist_cannot_stand_beside(folder: Path) -> None:
    put(folder, 'beside = ["uniforn"]')
    with pytest.raises(shoal.ShoalError, match="beside has no `uniforn`") as refused:
        read_paper(folder)
    assert "uniform" in str(refused.value.hint)
