"""Papers with other hosts than their own, beside their own, and what is kept of that."""

from __future__ import annotations

import csv
import re
import shutil
from pathlib import Path

import pytest
from conftest import Cli

import shoal
from shoal.papers import read_paper
from shoal.papers.reproduce import reproduce, tallies_with_hosts, verdict_frame
from shoal.papers.spec import Item
from shoal_dev.pages import paper_hosts, paper_linux

ROOT = Path(__file__).parents[2]
PAPER = Path(__file__).parent / "papers" / "test-paper"
HOST = "linux-6-gso"
# What `[hosts]` adds to the test's paper.
FORMS = """
[hosts]
why = "hosts of the test"

[[hosts.readings]]
name   = "newer"
title  = "on Linux 6"
like   = "uniform"
on_top = { "flows.*.stack" = "linux-6" }

[hosts.items.smallest]
seeds    = 1
readings = ["independent", "newer"]
ranges   = { smallest = { to = "2 * rtt" } }
"""
COLUMNS = "item,reading,claim,role,what,published,measured,tolerance,cells,inside,verdict,reason"


@pytest.fixture
def with_forms(tmp_path: Path) -> Path:
    """The paper made for tests, with forms for hosts."""
    target = tmp_path / "papers" / "test-paper"
    shutil.copytree(PAPER, target)
    append(target, FORMS)
    return target


def append(folder: Path, text: str) -> None:
    file = folder / "paper.toml"
    file.write_text(file.read_text(encoding="utf-8") + text, encoding="utf-8")


def quick(folder: Path, name: str = "threshold") -> Item:
    return read_paper(folder).item(name, quick=True, with_hosts=True)


def test_a_preset_replaces_the_host_of_every_group_and_nothing_else() -> None:
    """Also a host that the scenario writes itself, as a table."""
    paper = read_paper(PAPER)
    sweep = paper.item("threshold").sweeps["sweep"]
    sweep.set["flows.dctcp.host"] = {"preset": "linux-6-10g", "gso_max_segs": 3}
    own = paper.reading("independent")
    usual, other = (sweep.scenarios(reading)[0] for reading in (own, own.with_host(HOST)))
    assert [group["host"] for group in other.resolved["flows"]] == [HOST, HOST]
    back = other.override({"flows.reno.host": "ideal", "flows.dctcp.host": sweep.set["flows.dctcp.host"]})
    assert back.resolved == usual.resolved


def test_hosts_stand_beside_the_own_ones_and_do_not_touch_them() -> None:
    paper = read_paper(PAPER)
    item = quick(PAPER)
    alone = reproduce(paper, item)
    both = reproduce(paper, item, hosts=[HOST, "linux-6-10g"])
    assert [o.reading.name for o in both.outcomes] == ["independent", f"independent+{HOST}", "independent+linux-6-10g"]
    assert list(tallies_with_hosts([both])) == [f"independent+{HOST}", "independent+linux-6-10g"]
    frame = verdict_frame(both)
    first = verdict_frame(alone)
    assert frame.filter(frame["reading"] == "independent").equals(first)
    beside = frame.filter(frame["reading"] == f"independent+{HOST}")
    assert beside["tolerance"].to_list() == first["tolerance"].to_list()
    assert beside["measured"].to_list() != first["measured"].to_list()
    # Every column of the same table is about the same checks, and figures say which hosts they are of.
    titles = [[drawn.title for drawn in outcome.figures] for outcome in both.outcomes]
    assert titles[0] == ["Rates and queue by threshold", "Utilisation"]
    assert titles[1] == [f"{title} (hosts: {HOST})" for title in titles[0]]
    assert [text.get_text() for text in both.outcomes[1].figures[0].figure.texts].count(f"hosts: {HOST}") == 1
    assert not any("hosts: " in text.get_text() for text in both.chosen.figures[0].figure.texts)


def test_a_preset_that_is_the_own_host_gives_the_same_values() -> None:
    paper = read_paper(PAPER)
    done = reproduce(paper, quick(PAPER), hosts=["ideal"])
    measured = [[finding.measured for finding in outcome.findings] for outcome in done.outcomes]
    assert measured[0] == measured[1]


def test_hosts_that_do_not_belong_to_the_stack_are_noted() -> None:
    paper = read_paper(PAPER)
    done = reproduce(paper, quick(PAPER), hosts=["freebsd-14-10g"])
    assert done.notes == ("freebsd-14-10g is a host of freebsd, but the stack is linux-3.2",)
    assert reproduce(paper, quick(PAPER), hosts=[HOST]).notes == ()


def test_forms_for_hosts(with_forms: Path) -> None:
    paper = read_paper(with_forms)
    item = paper.item("smallest", with_hosts=True)
    assert (item.searches["smallest"].seeds, item.readings) == (1, ["independent", "newer"])
    # From 1 to twice the RTT; alone and quick, to the RTT.
    assert item.searches["smallest"].problems(paper.reading("independent"))[0].candidates[-1] == 40
    assert paper.item("smallest").searches["smallest"].problems(paper.reading("independent"))[0].candidates[-1] == 20
    small = paper.item("smallest", quick=True, with_hosts=True)
    assert small.searches["smallest"].problems(paper.reading("independent"))[0].candidates[-1] == 25
    # The reading of the form has the settings of the one that it is like, and its own above.
    newer = paper.reading("newer")
    assert newer.set == paper.reading("uniform").set
    stacks = {g["stack"] for s in item.searches["smallest"].scenarios(newer) for g in s.resolved["flows"]}
    assert stacks == {"linux-6"}
    # An item without a form runs in its own under the chosen reading, or under its first if it is not run under that.
    assert paper.item("threshold", with_hosts=True).readings == ["independent"]
    assert read_paper(PAPER).item("smallest", with_hosts=True).readings == ["uniform"]
    assert paper.item("smallest", with_hosts=True, full=True).searches["smallest"].seeds == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ranges   = { smallest", "ranges   = { smalest", "ranges has no `smalest`"),
        ('to = "2 * rtt"', 'two = "2 * rtt"', "unknown key `two`"),
        ('"independent", "newer"', '"independent", "never"', "there is no reading `never`"),
        ('like   = "uniform"', 'like   = "uniforms"', "like has no `uniforms`"),
        ('name   = "newer"', 'name   = "uniform"', "two readings `uniform`"),
        ("[hosts.items.smallest]", "[hosts.items.smalest]", "[hosts.items] has no `smalest`"),
        ("[hosts.items.smallest]", "[hosts.linux.smallest]", "has no `smallest`"),
        ('why = "hosts', 'reason = "hosts', "unknown key `reason`"),
        ('like   = "uniform"', 'host   = "ideal"', "the reading `newer` names a host"),
    ],
)
def test_mistakes_in_forms_are_explained(with_forms: Path, old: str, new: str, message: str) -> None:
    file = with_forms / "paper.toml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(shoal.ShoalError, match=re.escape(message)):
        read_paper(with_forms).item("smallest", with_hosts=True)


def test_command_line(cli: Cli, folder: Path, with_forms: Path) -> None:
    done = cli("reproduce", str(PAPER / "threshold"), "--quick", "--host", HOST, "--host", HOST)
    assert done.code == 0, done.err
    assert f"With independent+{HOST}: " in done.out
    where = "results/test-paper-threshold-quick-linux-6-gso"
    assert done.err == f"wrote {where} (report: {where}/report.html)\n"
    out = folder / where
    for file in (f"figures/independent+{HOST}/threshold.svg", f"tables/independent+{HOST}/study.csv"):
        assert (out / "threshold" / file).exists(), file
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "With other hosts" in page
    assert f"Rates and queue by threshold (hosts: {HOST})" in page
    # What it wrote is what the recorder keeps.
    paper_hosts.keep(out, with_forms)
    with (with_forms / "HOSTS.csv").open(encoding="utf-8", newline="") as kept:
        assert {(row["plane"], row["host"]) for row in csv.DictReader(kept)} == {("sim", ""), ("sim", HOST)}


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["--host", "linux-6-gs"], "there is no host `linux-6-gs`", "did you mean `linux-6-gso`?"),
        (["--host", "qqqq"], "there is no host `qqqq`", "there are: ideal, linux-6-gso"),
        (["--full"], "--full goes with --on linux or --host and without --quick", "all points anyway"),
    ],
)
def test_presets_that_do_not_exist_are_refused(
    cli: Cli, folder: Path, arguments: list[str], message: str, hint: str
) -> None:
    done = cli("reproduce", str(PAPER / "threshold"), *arguments)
    assert done.code == 2
    assert done.err.splitlines()[0] == f"error: {message}"
    assert hint in done.err
    assert not (folder / "results").exists()


def test_items_without_flow_groups_are_refused(cli: Cli, folder: Path, with_forms: Path) -> None:
    (with_forms / "items" / "empty.toml").write_text('title = "Nothing that runs"\n', encoding="utf-8")
    file = with_forms / "paper.toml"
    file.write_text(file.read_text(encoding="utf-8").replace('"cases"]', '"cases", "empty"]'), encoding="utf-8")
    done = cli("reproduce", str(with_forms / "empty"), "--host", HOST, "--out", "out")
    assert done.code == 2
    assert done.err == "error: `test-paper/empty` runs no flow groups, so it has no hosts\nhint: leave out --host\n"
    assert not (folder / "out").exists()


def results(tmp_path: Path, name: str, *lines: str) -> Path:
    """A reproduction as it lies on disk, with verdicts made by hand."""
    with_forms = tmp_path / name
    with_forms.mkdir()
    (with_forms / "verdicts.csv").write_text("\n".join([COLUMNS, *lines]) + "\n", encoding="utf-8")
    (with_forms / "command.txt").write_text(f"shoal reproduce {name}\n", encoding="utf-8")
    return with_forms


def test_what_is_kept_stands_side_by_side(with_forms: Path, tmp_path: Path) -> None:
    old = results(
        tmp_path,
        "old",
        "threshold,independent,T1,claim,at K = 3,2,1.5,≤ 2,1,1,inside,",
        "threshold,independent,T1,own,more,,9,≤ 2,1,0,outside,why",
        f"threshold,independent+{HOST},T1,claim,at K = 4,2,2.5,≤ 2,1,0,outside,why",
        f"threshold,independent+{HOST},T1,own,more,,1,≤ 2,1,1,inside,",
    )
    there = results(
        tmp_path,
        "there",
        "threshold,independent,T1,claim,at K = 3,2,1.25,≤ 2,1,1,inside,",
        "threshold,simulated-alike,T1,claim,at K = 3,2,1.125,≤ 2,1,1,inside,",
        f"threshold,simulated-alike+{HOST},T1,claim,at K = 3,2,7.5,≤ 2,1,0,outside,why",
        f"threshold,linux-7+{HOST},T1,claim,at K = 3,2,8.5,≤ 2,1,0,outside,why",
    )
    for one in (there, old):
        paper_hosts.keep(one, with_forms)
    lines = paper_hosts.page(with_forms).splitlines()
    assert f"| Item | Reading | Claim | ideal | {HOST} |" in lines
    assert "| threshold | independent | T1 | ✓ 1/1 | ✗ 0/1 |" in lines, "checks of our own are not counted"
    assert "| threshold on Linux | simulated-alike | T1 | ✓ 1/1 | ✗ 0/1 |" in lines
    assert "| threshold on Linux | independent | T1 | ✓ 1/1 |  |" in lines, "not run with other hosts"
    assert "| T1 | at K = 3 | 2 | 1.5 ✓ | 2.5 ✗ | ≤ 2 |" in lines
    assert "| T1 | more |  | 9 ✗ | 1 ✓ | ≤ 2 |" in lines
    assert "| T1 | at K = 3 | 2 | 1.25 ✓ | 1.125 ✓ | 7.5 ✗ | 8.5 ✗ | ≤ 2 |" in lines
    assert any(line.startswith(f"| Claim | What | Published | ideal | {HOST} |") for line in lines)
    assert "## threshold on Linux" in lines
    # Anew on the simulator: rows of the kernel stay.
    new = (line.replace(",1.5,", ",1.75,") for line in (old / "verdicts.csv").read_text("utf-8").splitlines()[1:])
    paper_hosts.keep(results(tmp_path, "new", *new), with_forms)
    text = paper_hosts.page(with_forms)
    assert "1.75 ✓" in text
    assert "1.5 ✓" not in text
    assert "8.5 ✗" in text


def test_results_that_do_not_belong_are_refused(with_forms: Path, tmp_path: Path) -> None:
    plain = results(tmp_path, "plain", "threshold,independent,T1,claim,one,2,1.5,≤ 2,1,1,inside,")
    with pytest.raises(SystemExit, match="has no other hosts"):
        paper_hosts.keep(plain, with_forms)
    other = results(
        tmp_path,
        "other",
        "threshold,independent,T1,claim,one,2,1.5,≤ 2,1,1,inside,",
        f"threshold,independent+{HOST},T2,claim,two,2,1.5,≤ 2,1,1,inside,",
    )
    with pytest.raises(SystemExit, match="threshold has other checks under some hosts"):
        paper_hosts.keep(other, with_forms)
    assert not (with_forms / "HOSTS.csv").exists()
    alike = results(
        tmp_path,
        "alike",
        "threshold,simulated-alike,T1,claim,one,2,1.5,≤ 2,1,1,inside,",
        f"threshold,simulated-alike+{HOST},T1,claim,one,2,1.5,≤ 2,1,1,inside,",
    )
    with pytest.raises(SystemExit, match=re.escape("keep it with `shoal-dev keep hosts`")):
        paper_linux.keep(alike, with_forms)


@pytest.mark.parametrize(
    "paper", sorted(path.parent for path in (ROOT / "papers").glob("*/HOSTS.csv")), ids=lambda path: path.name
)
def test_pages_about_hosts_are_made_from_what_was_kept(paper: Path) -> None:
    assert (paper / "HOSTS.md").read_text(encoding="utf-8") == paper_hosts.page(paper)
    with (paper / "HOSTS.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    read = read_paper(paper)
    for item, plane in {(row["item"], row["plane"]) for row in rows}:
        own = [row for row in rows if (row["item"], row["plane"]) == (item, plane)]
        claims = {check.claim for check in read.item(item).checks}
        for reading in {row["reading"] for row in own}:
            assert {row["claim"] for row in own if row["reading"] == reading} == claims
        assert {row["host"] for row in own} > {""}, f"{item}: other hosts stand beside its own"
        assert all("--quick" not in row["command"] for row in own), f"{item}: kept results are not quick ones"
