"""``shoal plot``: single figures of saved results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Cli

import shoal
from shoal.cli.completion import figure_kinds
from shoal.plots.formats import formats
from shoal.plots.kinds import kinds

BEGINNINGS = {"pdf": b"%PDF-", "png": b"\x89PNG", "svg": b"<?xml"}


@pytest.fixture
def saved(folder: Path, result: shoal.Result) -> Path:
    """A folder ``saved`` of one run, and files of ``--json`` of one run, two seeds and two scenarios."""
    result.save(folder / "saved")
    (folder / "one.json").write_text(result.json, encoding="utf-8")
    (folder / "seeds.json").write_text(shoal.Results([result]).json, encoding="utf-8")
    several = {"schema": 1, "runs": {"a": result.data, "b": json.loads(shoal.Results([result]).json)}}
    (folder / "several.json").write_text(json.dumps(several), encoding="utf-8")
    return folder


def test_kinds_are_listed(inside: Cli, saved: Path) -> None:
    ran = inside("plot", "saved")
    assert ran.code == 0
    assert all(name in ran.out for name in kinds)
    missing = {line.split()[0] for line in ran.out.splitlines() if "not recorded" in line or "no monitored" in line}
    assert missing == {"path", "deliveries", "sequence"}


@pytest.mark.parametrize("kind", ["throughput", "rates", "windows", "queue", "delay"])
def test_every_kind_that_the_run_has(inside: Cli, saved: Path, kind: str) -> None:
    ran = inside("plot", "saved", "--kind", kind)
    assert ran.code == 0, ran.err
    assert f"wrote {kind}.pdf" in ran.err
    assert (saved / f"{kind}.pdf").read_bytes().startswith(b"%PDF-")


@pytest.mark.parametrize("form", formats)
def test_formats_by_the_ending(inside: Cli, saved: Path, form: str) -> None:
    outs = [f"a.{form}", f"b/c.{form.upper()}"]
    for out in outs:
        ran = inside("plot", "saved", "--kind", "rates", "--figure-width", "3.5in", "--out", out)
        assert ran.code == 0, ran.err
    first, second = ((saved / out).read_bytes() for out in outs)
    assert first == second
    assert first.startswith(BEGINNINGS[form])


@pytest.mark.parametrize("source", ["one.json", "seeds.json", "several.json"])
def test_files_of_json_have_the_numbers(inside: Cli, saved: Path, source: str) -> None:
    ran = inside("plot", source, "--kind", "throughput", "--out", "bars.svg")
    assert ran.code == 0, ran.err
    assert "reno</text>" in (saved / "bars.svg").read_text(encoding="utf-8")
    refused = inside("plot", source, "--kind", "queue", "--out", "queue.svg")
    assert refused.code == 2
    assert "there is no figure `queue` of these results" in refused.err
    assert not (saved / "queue.svg").exists()


def test_several_scenarios_are_laid_side_by_side(inside: Cli, saved: Path, result: shoal.Result) -> None:
    (saved / "both").mkdir()
    for name in ("first", "second"):
        result.save(saved / "both" / name)
    assert inside("plot", "both", "--kind", "delay", "--out", "delay.svg").code == 0
    assert "second</text>" in (saved / "delay.svg").read_text(encoding="utf-8")
    refused = inside("plot", "both", "--kind", "queue", "--out", "queue.svg")
    assert refused.code == 2
    assert "name the folder of one of them (first, second)" in refused.err
    assert inside("plot", "both/first", "--kind", "queue", "--out", "queue.svg").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "error", "hint"),
    [
        (("saved", "--kind", "quue"), 2, "there is no figure `quue`", "did you mean `queue`?"),
        (("saved", "--kind", "queue", "--out", "q.eps"), 2, "`q.eps` has no ending", "ends in .pdf, .png or .svg"),
        (("saved", "--kind", "queue", "--out", "q"), 2, "`q` has no ending", "ends in .pdf, .png or .svg"),
        (("saved", "--kind", "queue", "--figure-width", "9"), 2, "`9` is no width", "such as 3.5in"),
        (("saved", "--out", "q.pdf"), 2, "it is not said which figure", "add --kind"),
        (("saved", "--kind", "sequence"), 2, "the table `segments` was not recorded", "see --trace"),
        (("nowhere", "--kind", "queue"), 4, "`nowhere` holds no results", "name a folder"),
        (("small.toml", "--kind", "queue"), 4, "`small.toml` is not a result of shoal", "was it edited?"),
        (("wrong.json", "--kind", "queue"), 4, "wrong.json", "that `shoal run` wrote"),
    ],
)
def test_what_is_refused(
    inside: Cli, saved: Path, arguments: tuple[str, ...], code: int, error: str, hint: str
) -> None:
    (saved / "wrong.json").write_text('{"schema": 1, "runs": [{"schema": 1}]}', encoding="utf-8")
    before = sorted(saved.rglob("*"))
    ran = inside("plot", *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert error in ran.err
    assert hint in ran.err
    assert sorted(saved.rglob("*")) == before


def test_what_is_replaced(inside: Cli, saved: Path) -> None:
    arguments = ("plot", "saved", "--kind", "rates", "--out", "rates.svg")
    assert inside(*arguments).code == 0
    refused = inside(*arguments)
    assert (refused.code, "already exists" in refused.err) == (4, True)
    assert inside(*arguments, "--force").code == 0
    (saved / "mine.svg").write_text("mine", encoding="utf-8")
    assert inside(*arguments[:-1], "mine.svg", "--force").code == 4
    assert (saved / "mine.svg").read_text(encoding="utf-8") == "mine"


def test_completion_knows_the_kinds() -> None:
    assert [name for name, _ in figure_kinds("")] == list(kinds)
    assert figure_kinds("que") == [("queue", kinds["queue"].title)]
