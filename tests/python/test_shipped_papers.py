"""The papers that come with shoal: their files are consistent, and the kept verdicts belong to their checks."""

from __future__ import annotations

import csv
import itertools
import re
from pathlib import Path

import pytest

from shoal.metrics import check_metric
from shoal.papers import read_paper
from shoal.papers.reproduce import reproduce, verdict_frame
from shoal.papers.settings import changed_settings
from shoal.papers.spec import Role
from shoal.search import Condition
from shoal.shipped import papers
from shoal_dev.pages import paper_linux, paper_results

ROOT = Path(__file__).parents[2]
# Claims of each paper, numbered as A1 to A53.
CLAIMS = {
    "kuehlewind-2014": range(1, 25),
    "deschepper-2015": range(25, 38),
    "cs244-2013": range(38, 45),
    "kato-2015": range(45, 54),
}
# Items that take seconds, run again by every test run.
RUN_AGAIN = {
    "kuehlewind-2014": "fig-1",
    "deschepper-2015": "single-flow",
    "cs244-2013": "fig-1",
    "kato-2015": "matrix",
}
# One that is still being written has no verdicts yet.
FOLDERS = [entry.path for entry in papers() if (entry.path / "RESULTS.csv").exists()]


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_every_corner_of_every_item_is_a_valid_scenario(folder: Path, quick: bool) -> None:
    paper = read_paper(folder)
    for name in paper.items:
        item = paper.item(name, quick=quick)
        assert item.checks, f"{name} checks nothing"
        names = item.readings or [reading.name for reading in paper.readings]
        for reading in (paper.reading(name) for name in names):
            for sweep in item.sweeps.values():
                for text in sweep.metrics.values():
                    check_metric(text)
                points = sweep.points()
                # What is refused is refused at an end of an axis.
                for point in (points[0], points[-1]):
                    sweep.scenario.override(sweep.overrides(point, reading))
            for search in item.searches.values():
                Condition.parse(search.such_that)
                problems = search.problems(reading)
                for problem, end in itertools.product((problems[0], problems[-1]), (0, -1)):
                    problem.scenario(problem.candidates[end])


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_quick_runs_take_the_chosen_reading_only(folder: Path) -> None:
    paper = read_paper(folder)
    for name in paper.items:
        assert paper.item(name, quick=True).readings in ([paper.chosen], None), name
        if len(paper.readings) > 1:
            assert paper.item(name, quick=True).readings == [paper.chosen], name


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_results_page_is_made_from_the_kept_verdicts(folder: Path) -> None:
    paper = read_paper(folder)
    assert (folder / "RESULTS.md").read_text(encoding="utf-8") == paper_results.page(folder)
    lines = (folder / "RESULTS.csv").read_text(encoding="utf-8").splitlines()[1:]
    kept = {(row["item"], row["claim"], row["role"]) for row in csv.DictReader(lines)}
    assert kept == {(name, c.claim, c.role) for name in paper.items for c in paper.item(name).checks}
    chosen = [row for row in csv.DictReader(lines) if row["reading"] == paper.chosen]
    outside = [row for row in chosen if row["verdict"] in ("outside", "no value")]
    assert all(row["reason"] for row in outside), "a check that is not met has a reason"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_one_item_run_again_gives_the_kept_rows(folder: Path) -> None:
    """Every field of every row, tolerances and sentences too: the kept ones are those of this build."""
    paper = read_paper(folder)
    name = RUN_AGAIN[folder.name]
    lines = (folder / "RESULTS.csv").read_text(encoding="utf-8").splitlines()[1:]
    kept = [row for row in csv.DictReader(lines) if row["item"] == name]
    frame = verdict_frame(reproduce(paper, paper.item(name)))
    again = list(csv.DictReader(frame.write_csv().splitlines()))
    assert kept, name
    assert again == kept


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_headlines_count_claims_only(folder: Path) -> None:
    paper = read_paper(folder)
    for check in (check for name in paper.items for check in paper.item(name).checks):
        number = re.fullmatch(r"A(\d+)", check.claim)
        known = number is not None and int(number[1]) in CLAIMS[folder.name]
        assert known or check.role in (Role.OWN, Role.DERIVATION), f"{check.claim}: {check.what}"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_settings_of_single_items_have_reasons(folder: Path) -> None:
    paper = read_paper(folder)
    changes = changed_settings(paper, [paper.item(name) for name in paper.items])
    assert [change for change in changes if not change.why] == []


@pytest.mark.parametrize(
    "folder", [path for path in FOLDERS if (path / "LINUX.csv").exists()], ids=lambda path: path.name
)
def test_page_about_linux_is_made_from_what_was_kept(folder: Path) -> None:
    paper = read_paper(folder)
    assert paper.linux is not None
    assert (folder / "LINUX.md").read_text(encoding="utf-8") == paper_linux.page(folder)
    with (folder / "LINUX.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for name in {row["item"] for row in rows}:
        own = [row for row in rows if row["item"] == name]
        kernels = {row["reading"] for row in own} - {paper.chosen, "simulated-alike"}
        assert len(kernels) == 1, f"{name}: one kernel beside the simulator"
        claims = {check.claim for check in paper.item(name, on_linux=True).checks}
        for reading in {row["reading"] for row in own}:
            assert {row["claim"] for row in own if row["reading"] == reading} == claims
        assert all("--quick" not in row["command"] for row in own), f"{name}: kept results are not quick ones"


def unit_claims(folder: Path) -> list[dict[str, str]]:
    """Claims that tests of the models check, with the tests."""
    path = folder / "data" / "unit-claims.csv"
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert rows, f"{path}: nothing there"
    assert all(None not in row for row in rows), f"{path}: a comma too many"
    return rows


def test_papers_with_claims_are_those_that_are_shipped() -> None:
    assert sorted(folder.name for folder in FOLDERS) == sorted(CLAIMS)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_all_claims_are_covered(folder: Path) -> None:
    paper = read_paper(folder)
    claims = {check.claim for name in paper.items for check in paper.item(name).checks}
    claims |= {row["claim"] for row in unit_claims(folder)}
    assert claims >= {f"A{number}" for number in CLAIMS[folder.name]}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_rust_tests_that_are_named_exist(folder: Path) -> None:
    for row in unit_claims(folder):
        text = (ROOT / row["file"]).read_text(encoding="utf-8")
        assert re.search(rf"#\[test\]\s+fn {row['test']}\(\)", text), row


def test_the_full_form_on_linux_has_all_points_of_the_simulator() -> None:
    paper = read_paper(next(folder for folder in FOLDERS if folder.name == "deschepper-2015"))

    def points(**form: bool) -> int:
        return sum(len(sweep.points()) for sweep in paper.item("dualq", **form).sweeps.values())

    assert points(on_linux=True) < points(on_linux=True, full=True) == points() == 120
