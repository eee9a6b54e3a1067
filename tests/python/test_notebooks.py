"""What notebooks show without any setting: pictures of figures, and tables with pictures of results."""

from __future__ import annotations

import base64
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import shoal

KEY, RATE, CC = "bottleneck.aqm.threshold", "bottleneck.rate", "flows.dctcp.cc"
PNG = b"\x89PNG\r\n"


@pytest.fixture(scope="module")
def step() -> shoal.Scenario:
    return shoal.Scenario.named("step-single").override({"duration": "3 s", "warmup": "1 s"})


@pytest.fixture(scope="module")
def plane(step: shoal.Scenario) -> shoal.Sweep:
    return shoal.sweep(step, grid={KEY: ["20 packets", "5 packets"], RATE: ["10 Mbit/s", "20 Mbit/s", "50 Mbit/s"]})


@pytest.fixture(scope="module")
def cube(step: shoal.Scenario) -> shoal.Sweep:
    grid = {
        CC: ["dctcp", "dctcp-ikr"],
        KEY: ["5 packets", "20 packets", "40 packets"],
        RATE: ["10 Mbit/s", "20 Mbit/s"],
    }
    return shoal.sweep(step, grid=grid)


def pictures(page: str) -> Iterator[bytes]:
    """The pictures in a page; each says in words what it shows."""
    for words, image in re.findall(r"<img width='[0-9]+' alt='([^']+)' src='data:image/png;base64,([^']+)'>", page):
        assert words
        yield base64.b64decode(image)


def test_a_map_has_a_cell_for_each_point(plane: shoal.Sweep) -> None:
    figure = plane.plot_map("queue_packets()")
    panel, bar = figure.axes
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("rate [Mbit/s]", "threshold [packets]")
    assert [tick.get_text() for tick in panel.get_xticklabels()] == ["10", "20", "50"]
    # Rising, whatever their order in the grid.
    assert [tick.get_text() for tick in panel.get_yticklabels()] == ["5", "20"]
    assert bar.get_ylabel() == "queue_packets()"
    (mesh,) = panel.collections
    values = mesh.get_array()
    assert values is not None
    assert values.shape == (2, 3)
    for point in plane:
        row = ["5 packets", "20 packets"].index(str(point.values[KEY]))
        column = ["10 Mbit/s", "20 Mbit/s", "50 Mbit/s"].index(str(point.values[RATE]))
        mean = point.estimate("queue_packets()")
        assert mean is not None
        assert values[row, column] == mean.mean


def test_axes_of_a_map_are_chosen(plane: shoal.Sweep) -> None:
    assert plane.plot_map("jain()", x=KEY).axes[0].get_xlabel() == "threshold [packets]"
    assert plane.plot_map("jain()", y=RATE).axes[0].get_ylabel() == "rate [Mbit/s]"


def test_a_third_axis_makes_panels(cube: shoal.Sweep) -> None:
    first, second, _bar = cube.plot_map("utilisation()", panels=CC).axes
    assert [axes.get_title(loc="left") for axes in (first, second)] == ["cc = dctcp", "cc = dctcp-ikr"]
    # Colours mean the same in all panels.
    assert first.collections[0].get_clim() == second.collections[0].get_clim()
    assert len(cube.plot_map("utilisation()").axes) == 3


@pytest.mark.parametrize(
    ("named", "error"),
    [
        ({"x": "rate"}, "`rate` is no axis"),
        ({"x": KEY, "y": KEY}, "stands there twice"),
        ({"panels": "seed"}, "`seed` is no axis"),
    ],
)
def test_wrong_axes(plane: shoal.Sweep, named: dict[str, str], error: str) -> None:
    with pytest.raises(shoal.UsageError, match=error):
        plane.plot_map("jain()", **named)


def test_a_map_needs_two_axes(plane: shoal.Sweep, step: shoal.Scenario) -> None:
    with pytest.raises(shoal.UsageError, match="a map has two axes"):
        shoal.sweep(step, grid={KEY: ["5 packets", "9 packets"]}).plot_map("jain()")
    with pytest.raises(shoal.UsageError, match="no points"):
        shoal.Sweep([]).plot_map("jain()")
    with pytest.raises(shoal.UsageError):
        plane.plot_map("no_such_metric()")


def test_pandas_without_pyarrow(plane: shoal.Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    frame, rows = plane.to_pandas(), plane.to_polars()
    assert list(frame.columns) == rows.columns
    assert len(frame) == rows.height == 6
    assert frame["queue_packets"].to_list() == rows["queue_packets"].to_list()
    assert str(frame["utilisation"].dtype) == "float64"
    assert str(frame["seed"].dtype).startswith(("int", "uint"))
    assert plane.to_pandas(metrics={"a": "jain()"}).columns.to_list() == [KEY, RATE, "seed", "a"]


def test_no_pandas(plane: shoal.Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(shoal.UsageError, match="pandas is not installed") as error:
        plane.to_pandas()
    assert "shoal[pandas]" in str(error.value.hint)


def test_tuned_has_a_frame_a_figure_and_a_picture(step: shoal.Scenario) -> None:
    tuned = shoal.tune(step, key=KEY, low=1, high=4, unit="packets", such_that="utilisation() >= 0", confirm=0)
    pytest.importorskip("pandas")
    assert tuned.to_pandas().columns.to_list() == tuned.to_polars().columns
    assert tuned.plot().axes[0].get_xlabel() == "threshold [packets]"
    assert [image[:6] for image in pictures(tuned._repr_html_())] == [PNG]


def test_every_kind_of_sweep_shows_a_table_and_a_picture(
    plane: shoal.Sweep, cube: shoal.Sweep, step: shoal.Scenario
) -> None:
    line = shoal.sweep(step, grid={KEY: ["5 packets", "20 packets"]}, seeds=2)
    words = shoal.sweep(step, grid={CC: ["dctcp", "dctcp-ikr"]})
    for points in (plane, cube, line, words, plane[:1], shoal.Sweep([])):
        page = points._repr_html_()
        count = 1 if len(points) > 1 else 0
        assert [image[:6] for image in pictures(page)] == [PNG] * count
        assert ("<table>" in page) is (len(points) > 0)


def test_results_show_a_table_and_a_picture(result: shoal.Result) -> None:
    for shown in (result, shoal.Results([result]), result.without_tables()):
        page = shown._repr_html_()
        assert "<table>" in page
        assert [image[:6] for image in pictures(page)] == [PNG]


def test_the_same_picture_twice(result: shoal.Result) -> None:
    assert result._repr_html_() == result._repr_html_()


def test_a_picture_needs_no_window(tmp_path: Path) -> None:
    """A figure is drawn whatever backend is set."""
    code = "import shoal; s = shoal.Scenario.named('step-single').override({'duration': '11 s'})\n"
    code += "print(len(shoal.run(s).plot_rates()._repr_png_()[0]) > 1000)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=60, check=True
    )
    assert done.stdout == "True\n"
