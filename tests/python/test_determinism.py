"""Same scenario, seed and version: same bytes, whatever the number of workers, the process, or what ran before."""

from __future__ import annotations

import json
from pathlib import Path

from conftest import Cli

import shoal
from shoal.plots import queue, rates, windows
from shoal.plots.formats import to_png, to_svg


def test_workers(scenario: shoal.Scenario) -> None:
    one = shoal.run(scenario, seeds=6, workers=1)
    many = shoal.run(scenario, seeds=6, workers=5)
    assert one.json == many.json
    assert len({result.json for result in one}) == 6  # seeds matter
    for name in one[0].table_names:
        assert [result.table(name).equals(other.table(name)) for result, other in zip(one, many, strict=True)] == [
            True
        ] * 6


def test_command_line_and_workers(cli: Cli) -> None:
    one = cli("run", "small.toml", "--seeds", "4", "--workers", "1", "--json")
    many = cli("run", "small.toml", "--seeds", "4", "--workers", "4", "--json")
    assert one.code == 0
    assert one.out == many.out
    assert json.loads(one.out)["seeds"] == [1, 2, 3, 4]


def test_folders(cli: Cli, folder: Path) -> None:
    """Everything that a run writes, with figures and captures, except the command in the report."""
    for name in ("a", "b"):
        assert (
            cli("run", "small.toml", "--out", f"{name}/out", "--trace", "packets,pcap", "--trace", "controllers=2").code
            == 0
        )
    files = sorted(path.relative_to(folder / "a") for path in (folder / "a").rglob("*") if path.is_file())
    assert len(files) > 20
    for file in files:
        one, other = (folder / name / file for name in ("a", "b"))
        assert one.read_bytes().replace(b"a/out", b"b/out") == other.read_bytes(), file


def test_figures(result: shoal.Result) -> None:
    for draw in (rates.draw, windows.draw, queue.draw):
        assert to_svg(draw(result).figure) == to_svg(draw(result).figure)
        assert to_png(draw(result).figure) == to_png(draw(result).figure)


def test_sweep_order(scenario: shoal.Scenario) -> None:
    grid = {"bottleneck.buffer": ["2 BDP", "4 BDP"], "bottleneck.aqm.dctcp.threshold": ["9 packets", "15 packets"]}
    one = shoal.sweep(scenario, grid=grid, seeds=2, workers=1)
    many = shoal.sweep(scenario, grid=grid, seeds=2, workers=4)
    assert [point.values for point in one] == [
        {"bottleneck.buffer": buffer, "bottleneck.aqm.dctcp.threshold": threshold}
        for buffer in ("2 BDP", "4 BDP")
        for threshold in ("9 packets", "15 packets")
    ]
    assert [point.results.json for point in one] == [point.results.json for point in many]
    for point in one:
        assert point.results[0].data["scenario"]["bottleneck"]["buffer"] == point.values["bottleneck.buffer"]
