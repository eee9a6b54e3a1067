"""Settings of items of a paper that differ from its reading are listed with a reason, and a stale reason is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import shoal
from shoal.papers import read_paper
from shoal.papers.settings import Changed, changed_settings, settings_table

PAPER = Path(__file__).parent / "papers" / "test-paper"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The paper made for tests, with a base, and one item whose second sweep starts otherwise."""
    target = tmp_path / "test-paper"
    shutil.copytree(PAPER, target)
    add(target / "paper.toml", 'chosen = "independent"', 'base = "threshold/sweep"')
    return target


def add(file: Path, before: str, text: str) -> None:
    written = file.read_text(encoding="utf-8")
    assert written.count(before) == 1
    file.write_text(written.replace(before, f"{text}\n{before}"), encoding="utf-8")


def changes(folder: Path, *items: str) -> list[Changed]:
    paper = read_paper(folder)
    return changed_settings(paper, [paper.item(name) for name in items or paper.items])


def test_what_is_as_in_the_base_is_not_listed(folder: Path) -> None:
    assert changes(folder, "threshold", "traces") == []


def test_changes_are_listed_with_both_values_and_the_reason(folder: Path) -> None:
    # `smallest` varies the RTT and has another queue; nothing else of it differs.
    found = {change.setting: change for change in changes(folder, "smallest") if change.sweep == "smallest"}
    assert set(found) == {"aqm.kind", "rtt"}
    assert (found["aqm.kind"].usual, found["aqm.kind"].actual) == ("dual-red", "step")
    assert (found["rtt"].usual, found["rtt"].actual, found["rtt"].why) == ("25 ms", "20 ms / 30 ms", "")
    add(folder / "items" / "smallest.toml", "[quick]", 'because = { rtt = "\\"two paths\\"", aqm = "a threshold" }\n')
    assert {change.why for change in changes(folder, "smallest")} == {'"two paths"', "a threshold"}
    table = settings_table(changes(folder, "smallest"))
    assert table is not None
    assert ("smallest", "smallest", "rtt", "25 ms", "20 ms / 30 ms", '"two paths"') in table.rows


def test_a_change_without_a_reason_is_shown_as_such(folder: Path) -> None:
    add(folder / "items" / "threshold.toml", "[sweeps.renos.metrics]", '"flows.reno.start" = "1 s"\n')
    (change,) = changes(folder, "threshold")
    assert (change.sweep, change.setting, change.usual, change.actual) == ("renos", "start", "0 s", "1 s / 0 s")
    table = settings_table([change])
    assert table is not None
    assert table.rows[0][-1] == "no reason given"


def test_a_reason_for_what_is_not_changed_is_refused(folder: Path) -> None:
    add(folder / "items" / "smallest.toml", "[quick]", 'because = { rtt = "two", aqm = "step", warmup = "longer" }\n')
    with pytest.raises(shoal.ShoalError, match="because explains `warmup`, which is as in threshold/sweep"):
        changes(folder, "smallest")
    # A smaller form of the item may lack the points that the reason is for.
    paper = read_paper(folder)
    assert "warmup" not in {
        change.setting for change in changed_settings(paper, [paper.item("smallest")], in_part=True)
    }


def test_a_base_that_does_not_exist_is_refused(folder: Path) -> None:
    file = folder / "paper.toml"
    file.write_text(file.read_text(encoding="utf-8").replace("threshold/sweep", "threshold/swep"), encoding="utf-8")
    with pytest.raises(shoal.ShoalError, match="base = `threshold/swep` is not a sweep"):
        changes(folder, "smallest")


def test_what_the_base_has_too_is_not_a_change(folder: Path) -> None:
    # In the base one group starts at 0 s and one at 1 s; in the other sweep both start at 0 s.
    add(folder / "items" / "threshold.toml", "[sweeps.sweep.metrics]", '"flows.reno.start" = "1 s"\n')
    assert changes(folder, "threshold") == []
