"""Pages: what they are made of, that they can be read everywhere, and that what they promise is there."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import SMALL, Cli
from pages import check_page

import shoal
from shoal.report import Entry, write_report
from shoal.verdict import verdict

# A second of it.
SHORT = SMALL.replace('"1 s"', '"0.2 s"').replace('"2 s"', '"0.5 s"').replace('"12 s"', '"1 s"')


@pytest.fixture(scope="module")
def short() -> shoal.Scenario:
    """Two groups for a second."""
    return shoal.Scenario.from_toml(SMALL).override({"duration": "1 s", "warmup": "0.2 s", "trace.controller_flows": 2})


def _one(short: shoal.Scenario) -> list[Entry]:
    return [Entry("one", [shoal.run(short)])]


def _seeds(short: shoal.Scenario) -> list[Entry]:
    return [Entry("seeds", list(shoal.run(short, seeds=2)))]


def _two(short: shoal.Scenario) -> list[Entry]:
    faster = short.override({"bottleneck.rate": "20 Mbit/s", "flows.reno.count": 5})
    return [Entry("slow", [shoal.run(short)]), Entry("fast", [shoal.run(faster)])]


@pytest.mark.parametrize("entries", [_one, _seeds, _two])
def test_pages_of_runs_are_well_made(
    short: shoal.Scenario, tmp_path: Path, entries: Callable[[shoal.Scenario], list[Entry]]
) -> None:
    made = entries(short)
    write_report(made, tmp_path, command="shoal run again")
    page = check_page(tmp_path / "report.html")
    # Rates as bars, over time, windows, queue and delay of each run; of several runs bars and delays together.
    assert len(page.drawings) == 5 * len(made) + (2 if len(made) > 1 else 0)
    windows = [caption for caption in page.captions if "flows were traced" in caption]
    assert len(windows) == len(made)
    assert "All 2 flows were traced (trace.controller_flows); shown: flows 0, 1." in windows[0]
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    said = [verdict(entry.runs) for entry in made]
    for sentence in said:
        # In the section of the run, and at the top of a comparison.
        assert text.count(sentence) == (2 if len(made) > 1 else 1)
    # What is said comes first, then the picture, and then tables.
    assert text.index('<p class="verdict">') < text.index("<svg") < text.index("<table")
    if entries is _two:
        assert "2 of 6 flows were traced (trace.controller_flows); shown: flows 0, 5." in windows[1]


def test_notices_stand_above_the_numbers(short: shoal.Scenario, tmp_path: Path) -> None:
    silent = short.override({"trace.series": "off", "trace.flows": 1})
    write_report([Entry("one", [shoal.run(silent)])], tmp_path, command="shoal run again")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    first = text.index('class="notice"')
    assert text[first:].startswith('class="notice" role="note"><strong>Notice:</strong> No time series was recorded')
    assert "Single flows are listed of 1 of 2 flows" in text
    assert first < text.index("<table")


def again(folder: Path, name: str = "report.html") -> list[str]:
    """The words of the command that the page ends with, without `shoal`."""
    text = (folder / name).read_text(encoding="utf-8")
    command = re.findall(r"<h2>Again</h2>.*?<code>(.*?)</code>", text, flags=re.S)[-1]
    command = (
        command.replace("&#39;", "'")
        .replace("&#34;", '"')
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
    )
    words = shlex.split(command)
    assert words[0] == "shoal"
    return words[1:]


@pytest.mark.parametrize(
    "arguments",
    [
        ["small.toml", "--seed", "7", "--set", "flows.reno.count=2"],
        ["small.toml", "--seeds", "2", "--set", "seed=4"],
        ["small.toml", "other.toml", "--seeds", "2"],
    ],
)
def test_the_command_of_a_report_makes_the_same_bytes(cli: Cli, folder: Path, arguments: list[str]) -> None:
    own = SHORT
    (folder / "small.toml").write_text(own, encoding="utf-8")
    (folder / "other.toml").write_text(own.replace("10 Mbit/s", "20 Mbit/s"), encoding="utf-8")
    done = cli("run", *arguments, "--out", "results/a")
    assert (done.code, done.err) == (0, "wrote results/a (report: results/a/report.html)\n")
    # Changes that the user makes to the files do not matter.
    (folder / "small.toml").write_text(SMALL.replace("10 Mbit/s", "50 Mbit/s"), encoding="utf-8")
    (folder / "other.toml").unlink()
    command = again(folder / "results" / "a")
    assert command[-2:] == ["--out", "results/a-again"]
    assert cli(*command).code == 0
    first, second = folder / "results" / "a", folder / "results" / "a-again"
    names = [
        path.relative_to(first) for path in sorted(first.rglob("*")) if path.suffix in (".parquet", ".json", ".toml")
    ]
    assert len([name for name in names if name.name == "result.json"]) in (1, 2, 4)
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name
    assert again(second)[-1] == "results/a-again-again"


def test_a_sweep_writes_its_report(cli: Cli, folder: Path) -> None:
    (folder / "small.toml").write_text(SMALL.replace('warmup = "2 s"\n', ""), encoding="utf-8")
    swept = ["--axis", "K=10,20", "--set", "bottleneck.aqm.dctcp.threshold={K} packets", "--axis", "duration=1 s,2 s"]
    metrics = ["--metric", "u=utilisation()", "--metric", "queue=queue_packets() + 0"]
    done = cli("sweep", "small.toml", *swept, *metrics, "--seeds", "2", "--out", "out")
    assert (done.code, done.err) == (0, "wrote out (report: out/report.html)\n")
    page = check_page(folder / "out" / "report.html")
    assert len(page.drawings) == 1
    assert [name for tag, name in page.headings if tag == "h2"] == [
        "Measured",
        "What was varied",
        "Models",
        "Again",
        "Cite",
    ]
    text = (folder / "out" / "report.html").read_text(encoding="utf-8")
    for wanted in (
        "{K} packets",
        "10, 20",
        "queue_packets() + 0",
        "dctcp-ikr",
        "Known difference",
        "4 points; 2 seeds",
    ):
        assert wanted in text, wanted
    first = json.loads((folder / "out" / "sweep.json").read_text(encoding="utf-8"))
    (folder / "small.toml").unlink()
    assert cli(*again(folder / "out")).code == 0
    assert json.loads((folder / "out-again" / "sweep.json").read_text(encoding="utf-8"))["points"] == first["points"]


def test_a_search_writes_its_report(cli: Cli, folder: Path) -> None:
    (folder / "small.toml").write_text(SHORT, encoding="utf-8")
    searched = [
        "--key",
        "bottleneck.aqm.dctcp.threshold",
        "--unit",
        "packets",
        "--from",
        "2",
        "--to",
        "30",
        "--step",
        "7",
    ]
    done = cli("tune", "small.toml", *searched, "--largest", "--such-that", "queue_packets() < 1000", "--out", "out")
    assert (done.code, done.err) == (0, "wrote out (report: out/report.html)\n")
    page = check_page(folder / "out" / "report.html")
    assert len(page.drawings) == 1
    text = (folder / "out" / "report.html").read_text(encoding="utf-8")
    for wanted in (
        '<p class="verdict">Largest bottleneck.aqm.dctcp.threshold = 30 packets',
        "queue_packets() &lt; 1000",
        "dctcp-ikr",
    ):
        assert wanted in text, wanted
    first = (folder / "out" / "tune.json").read_bytes()
    (folder / "small.toml").unlink()
    assert cli(*again(folder / "out")).code == 0
    assert (folder / "out-again" / "tune.json").read_bytes() == first
