"""The card at the end of every report: who made the numbers, from what, and how to cite it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from conftest import SMALL, Cli

import shoal
from shoal import build
from shoal.cite import card, citation_file, scenario_digest
from shoal.report import Entry, write_report
from shoal.runs.cases import Case, run_cases
from shoal.runs.store import opened

CITATION = yaml.safe_load((Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def short() -> shoal.Scenario:
    return shoal.Scenario.from_toml(SMALL).override({"duration": "1 s", "warmup": "0.2 s"})


def cited(folder: Path, name: str = "report.html") -> str:
    """The end of a page, from the command on."""
    text = (folder / name).read_text(encoding="utf-8")
    assert text.count("<h2>Cite</h2>") == 1
    return text[text.index("<h2>Again</h2>") : text.index("<footer>")]


def test_the_entry_says_what_the_citation_file_says() -> None:
    assert citation_file.samefile(Path(__file__).parents[2] / "CITATION.cff")
    entry = card([]).bibtex
    assert entry.startswith(f"@software{{shoal-{shoal.__version__},\n")
    fields = dict(re.findall(r"^  (\w+) += \{(.*)\},$", entry, flags=re.M))
    assert fields["title"] == CITATION["title"]
    assert fields["version"] == CITATION["version"] == shoal.__version__
    assert fields["year"] == str(CITATION["date-released"])[:4]
    assert all(author["name"] in fields["author"] for author in CITATION["authors"])
    assert entry.count("{") == entry.count("}")


def test_a_scenario_is_named_by_the_key_of_its_runs_in_the_cache(short: shoal.Scenario, tmp_path: Path) -> None:
    run_cases([Case(short, [1])], cache=tmp_path)
    with opened(tmp_path) as store:
        assert store is not None
        assert [seed for _, seed, _ in store.read([bytes.fromhex(scenario_digest(short))])] == [1]
    # A saved result gives the same key as the scenario that was run.
    assert scenario_digest(shoal.run(short).scenario) == scenario_digest(short)


def test_results_of_another_version_are_not_given_the_commit_of_this_build(short: shoal.Scenario) -> None:
    assert card([("", short)]).commit == build.commit()
    older = card([("", short)], versions=["0.0.9"])
    assert (older.version, older.commit) == ("0.0.9", None)
    assert "commit" not in older.bibtex


def test_equal_scenarios_stand_there_once(short: shoal.Scenario) -> None:
    rows = card([("a", short), ("b", short.override({"seed": 2})), ("c", short)]).rows
    assert [name for name, _ in rows[2:]] == [f"SHA-256 of the resolved scenario {names}" for names in ("a, c", "b")]


def test_the_card_of_runs_is_escaped_and_has_neither_dates_nor_places(short: shoal.Scenario, tmp_path: Path) -> None:
    entries = [Entry(name, [shoal.run(short)]) for name in ("<b>", "b")]
    write_report(entries, tmp_path, command="shoal run '<i>'")
    end = cited(tmp_path)
    assert "scenario &lt;b&gt;, b</td>" in end
    assert "<code>shoal run &#39;&lt;i&gt;&#39;</code>" in end
    assert str(tmp_path) not in end
    assert end.count("<code>shoal run") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["sweep", "small.toml", "--axis", "bottleneck.rate=10 Mbit/s,20 Mbit/s"],
        ["tune", "small.toml", *"--key seed --from 1 --to 2 --smallest --seeds 1 --such-that jain()>0".split()],  # noqa: SIM905
        ["reproduce", "kuehlewind-2014/rare-marks", "--quick"],
    ],
)
def test_every_report_ends_with_the_card(inside: Cli, folder: Path, arguments: list[str]) -> None:
    short = SMALL.replace('"12 s"', '"1 s"').replace('"2 s"', '"0.5 s"')
    (folder / "small.toml").write_text(short, encoding="utf-8")
    assert inside(*arguments, "--out", "out").code == 0
    end = cited(folder / "out")
    assert "SHA-256 of the resolved scenario" in end
    assert f"@software{{shoal-{shoal.__version__}," in end
