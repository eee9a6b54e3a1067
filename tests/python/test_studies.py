"""Studies and their records: what each declares is there, and a row that is no longer what was recorded is seen."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from shoal.cache import default_folder
from shoal_dev import recheck
from shoal_dev import study as study_module
from shoal_dev.recheck import compared
from shoal_dev.study import IMAGES, Cell, Study, find, names, options_of, page_of, with_block
from shoal_dev.tables import table, tables_of

PAGE = """# Speeds

| car | km/h | wheels |
|---|--:|--:|
| red | 100 | 4 |

## On ice

| car | km/h | wheels |
|---|--:|--:|
| red | 30 | 4 |
"""


@pytest.mark.parametrize("name", [name for name in names() if name not in ("papers", "episodes")])
def test_a_study_has_the_page_that_it_declares(name: str) -> None:
    study = find(name)
    text = page_of(name, study).read_text(encoding="utf-8")
    if study.page:
        assert with_block(page_of(name, study), name, "anew").count("anew") >= 1
    else:
        assert text.startswith(f"# {study.title}\n\n")
        assert f"Written by `tools/shoal-dev record {name}`" in text
    if study.caption:
        assert f"![{study.caption}](../img/{name}.png)" in text
        assert (IMAGES / f"{name}.png").is_file()


@pytest.mark.parametrize("name", [name for name in names() if find(name).cells and name != "papers"])
def test_every_row_that_can_be_made_again_was_recorded(name: str) -> None:
    study = find(name)
    recorded = list(tables_of(page_of(name, study).read_text(encoding="utf-8")))
    cells = list(study.cells())
    assert cells
    assert [cell.row for cell in cells if not recheck._row(recorded, cell)] == []


@pytest.mark.parametrize(
    ("section", "now", "different"),
    [
        ("", {"km/h": "100"}, []),
        ("", {"km/h": "101"}, ["km/h"]),
        ("On ice", {"km/h": "100", "wheels": "4"}, ["km/h"]),
        ("On ice", {"km/h": "30", "wheels": "4"}, []),
        ("On sand", {"km/h": "30"}, ["row"]),
        ("", {"doors": "2"}, ["doors"]),
    ],
)
def test_a_row_that_is_another_one_is_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, section: str, now: dict[str, str], different: list[str]
) -> None:
    page = tmp_path / "speeds.md"
    page.write_text(PAGE, encoding="utf-8")
    monkeypatch.setattr(recheck, "page_of", lambda *_: page)
    study = Study(title="Speeds", measure=lambda: iter(()), takes="no time")
    (found,) = compared("speeds", study, Cell(section, ("red",), lambda: now, cpu_s=0))
    assert found.different == different
    assert ("DIFFERENT" in str(found)) == bool(different)
    assert ("not rechecked: wheels" in str(found)) == (section == "" and "km/h" in now)


@pytest.mark.parametrize(("speed", "different"), [("30", []), ("31", ["km/h"])])
def test_a_page_is_made_again_as_a_whole(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, speed: str, different: list[str]
) -> None:
    page = tmp_path / "speeds.md"
    page.write_text(PAGE, encoding="utf-8")
    monkeypatch.setattr(recheck, "page_of", lambda *_: page)
    study = Study(title="Speeds", measure=lambda: iter([PAGE.replace("| 30 |", f"| {speed} |")]), takes="no time")
    assert [head for row in compared("speeds", study, None) for head in row.different] == different


class Repository:
    """A repository of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._git("init", "--quiet")

    def commit(self) -> str:
        """Commit all that there is; gives the commit."""
        self._git("add", "--all")
        self._git("commit", "--quiet", "--allow-empty", "--message", "all")
        return self._git("rev-parse", "--short=8", "HEAD")

    def _git(self, *words: str) -> str:
        command = ["git", "-c", "user.name=nobody", "-c", "user.email=nobody@example.org", *words]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize(
    ("stamp", "outdated"),
    [
        ("2026-11-25, shoal {before}, kernel 7.3-1. Written by hand", True),
        ("2026-11-26, shoal {after}. Written by hand", False),
        ("2026-11-26, shoal 0123456789. No such commit", True),
        ("No commit", False),
    ],
)
def test_pages_from_before_a_change_of_results_are_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stamp: str, outdated: bool
) -> None:
    """They are named, and not compared with what is no longer to be expected."""
    repository = Repository(tmp_path)
    commits = [repository.commit() for _ in range(3)]
    monkeypatch.setattr(study_module, "ROOT", tmp_path)
    monkeypatch.setattr(study_module, "RESULTS_CHANGED", commits[1])
    page = stamp.format(before=commits[0], after=commits[2])
    assert study_module.is_outdated(f"# Speeds\n\n{page}\n") == outdated


def test_files_from_before_a_change_of_results_are_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    monkeypatch.setattr(study_module, "ROOT", tmp_path)
    for name in ("old.csv", "new.csv"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    repository.commit()
    monkeypatch.setattr(study_module, "RESULTS_CHANGED", repository.commit())
    (tmp_path / "new.csv").write_text("other", encoding="utf-8")
    repository.commit()
    assert study_module.is_outdated_file(tmp_path / "old.csv")
    assert not study_module.is_outdated_file(tmp_path / "new.csv")


@pytest.mark.parametrize("built", [True, False])
def test_a_page_that_needs_the_kernel_is_made_again_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], built: bool
) -> None:
    """What ran before lies in another folder then, but kernels are found."""
    page = tmp_path / "speeds.md"
    page.write_text(PAGE, encoding="utf-8")
    user = tmp_path / "cache"
    (user / "linux").mkdir(parents=True)
    (user / "linux" / "default-kernel").touch()
    monkeypatch.setenv("SHOAL_CACHE_DIR", str(user))
    monkeypatch.setattr(recheck, "page_of", lambda *_: page)
    monkeypatch.setattr(recheck, "has_kernel", lambda: built)

    def measure() -> Iterator[str]:
        assert default_folder() != user
        assert (default_folder() / "linux" / "default-kernel").exists()
        yield PAGE

    study = Study(title="Speeds", measure=measure, needs=("kernel",), takes="no time")
    monkeypatch.setattr(recheck, "find", lambda _: study)
    assert recheck.recheck("speeds", count=0, seed=1, cpu_s=0) == 0
    said = capsys.readouterr().out
    assert ("speeds: not rechecked: it needs the kernel" in said) == (not built)
    assert ("seed 1: 1 of 1 rows" in said) == built
    assert (user / "linux" / "default-kernel").exists()


def test_a_table_is_read_as_it_was_written() -> None:
    text = table(("a|b", "c"), [("1|2", 3), ("x\ny", "")], "lr")
    assert text.splitlines()[1] == "|---|--:|"
    (found,) = tables_of(f"## Part\n\n{text}\n")
    assert (found.section, found.heads, found.rows) == ("Part", ("a|b", "c"), (("1|2", "3"), ("x y", "")))


def test_arguments_of_a_study_have_the_types_of_their_defaults() -> None:
    study = find("bench-threads")
    assert options_of(study, ["cases=fabric-1k", "repeat=2"]) == {"cases": "fabric-1k", "repeat": 2}
    with pytest.raises(SystemExit, match="no argument `cores`"):
        options_of(study, ["cores=2"])


@pytest.mark.parametrize(("build", "other"), [("7.3.4-aa", ""), ("7.3.4-bb", "7.3.4-aa")])
def test_rows_of_another_build_of_the_kernel_are_not_compared(
    monkeypatch: pytest.MonkeyPatch, build: str, other: str
) -> None:
    monkeypatch.setattr(study_module, "has_kernel", lambda: True)
    monkeypatch.setattr(study_module, "kernel_build", lambda: build)
    head = "# Rows\n\n2026-11-25, shoal abc, kernel 7.3.4-aa. Written by `tools/shoal-dev record rows`.\n"
    assert study_module.other_kernel(head) == other
    assert study_module.other_kernel(head.replace(", kernel 7.3.4-aa", "")) == ""
