"""Interactive plots of reports: they hold what the figures show, and the page stays one file."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

import shoal
from shoal.plots import delay, queue, rates, windows
from shoal.report import Entry, explore, write_report

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def result() -> shoal.Result:
    scenario = shoal.Scenario.named("coexistence").override({"duration": "45 s", "title": "</script><b>bold"})
    return shoal.run(scenario.override({"flows.reno.name": "</script>"}), seed=1)


def data_of(page: str) -> dict[str, list[explore.Panel]]:
    """What the interactive plots of a page hold, by the names of their figures."""
    found = re.findall(
        r'<details class="explore" data-name="([^"]*)">.*?<script type="application/json">(.*?)</script>',
        page,
        re.DOTALL,
    )
    return {unescape(name): json.loads(text) for name, text in found}


def written(result: shoal.Result, folder: Path) -> str:
    folder.mkdir()
    write_report([Entry("run", [result])], folder, command="shoal run coexistence")
    return (folder / "report.html").read_text(encoding="utf-8")


def test_lines_are_those_of_the_recorded_tables(result: shoal.Result, tmp_path: Path) -> None:
    data = data_of(written(result, tmp_path / "report"))
    assert set(data) == {"rates", "windows", "queue", "delay"}
    cwnd, alpha = data["windows"]
    assert (cwnd["x"], cwnd["y"], alpha["y"]) == ("Time [s]", "cwnd [packets]", "alpha")
    assert [line["label"] for line in cwnd["lines"]] == ["</script>", "dctcp"]
    assert [line["label"] for line in alpha["lines"]] == ["dctcp"]
    # Every change of a traced flow; of several at one instant the last one.
    changes = result.table("controller").filter((pl.col("flow") == 1) & (pl.col("time_s") >= 30.0))
    last = changes.group_by("time_s", maintain_order=True).last()
    line = alpha["lines"][0]
    assert line["steps"]
    inside = {round(x, 4): y for x, y in zip(line["x"], line["y"], strict=True)}
    for time_s, value in last.select("time_s", "alpha").iter_rows():
        assert inside[round(float(f"{time_s:.7g}"), 4)] == pytest.approx(value, rel=1e-6)
    # The queue in the detail is each bin of the table.
    detail = data["queue"][1]["lines"][0]
    bins = result.table("queue").filter(pl.col("time_s").is_between(30.0, detail["x"][-1] + 1e-6))
    assert detail["x"] == pytest.approx(bins["time_s"].to_list(), rel=1e-6)
    assert detail["y"] == pytest.approx((bins["bytes"] / 1500).to_list(), rel=1e-6)
    # A distribution ends at one.
    assert [line["y"][-1] for line in data["delay"][1]["lines"]] == [1, 1]


def test_the_page_is_one_file_with_the_same_bytes_and_nothing_of_a_name_becomes_a_script(
    result: shoal.Result, tmp_path: Path
) -> None:
    page = written(result, tmp_path / "one")
    assert page == written(result, tmp_path / "two")
    # The script, the data of four figures, and nothing else.
    assert len(re.findall(r"<script\b", page)) == 5
    assert page.count("</script>") == 5
    assert "<b>bold" not in page
    assert not re.search(r"\b(src|href)=\"(?!#)", page.replace(explore.script(), ""))
    policy = unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1])  # type: ignore[index]
    assert policy.startswith("default-src 'none'; ")
    assert "script-src 'sha256-" in policy


def test_a_report_without_series_has_no_script(tmp_path: Path) -> None:
    scenario = shoal.Scenario.named("step-single").override({"duration": "2 s", "warmup": "1 s", "trace.series": "off"})
    page = written(shoal.run(scenario, seed=1), tmp_path / "report")
    assert "<script" not in page
    assert "explore" not in page.replace(".explore", "").split("</style>")[1]


def test_what_is_no_line_over_numbers_is_left_out() -> None:
    figure = Figure()
    lines, bars, rug, logarithmic, hidden = figure.subplots(1, 5)
    lines.plot([0, 1, 2], [1.23456789, np.nan, 3], color="#D55E00", linestyle="--", label="a")
    lines.plot([0, 2], [5, 5], color="#D55E00")
    lines.axhline(4, label="threshold")
    lines.set(xlabel="Time [s]", ylabel="Queue", xlim=(0, 2))
    bars.barh([0, 1], [2, 3], label="bars")
    bars.set(xlabel="Rate", ylabel="Run")
    rug.plot([1, 2], [0, 0], "x", label="drops")
    logarithmic.semilogx([0, 1, 10], [1, 2, 3], label="b")
    logarithmic.set(xlabel="Size [B]", ylabel="Time [s]")
    hidden.plot([1, 2], [3, 4], label="hidden")
    hidden.set_visible(False)
    first, second = explore.panels(figure)
    assert first["range"] == [0, 2]
    assert [line["label"] for line in first["lines"]] == ["a", "a"]
    assert first["lines"][0] == {
        "label": "a", "colour": "#d55e00", "dash": True, "steps": False, "points": False,
        "x": [0, 1, 2], "y": [1.234568, None, 3],
    }  # fmt: skip
    assert second["log"]
    assert second["lines"][0]["x"] == [1, 10]
    lines.plot(np.arange(explore.MAX_VALUES), np.zeros(explore.MAX_VALUES), label="many")
    assert explore.panels(figure) == []


def test_every_figure_over_time_can_be_explored(result: shoal.Result) -> None:
    for draw in (rates.draw, windows.draw, queue.draw, delay.draw):
        assert explore.panels(draw(result).figure), draw.__module__
