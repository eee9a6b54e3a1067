"""Sweeps run on the kernel as on the simulator: same records, whoever runs them, and never mixed with others."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

import shoal
from shoal.errors import ClusterError, ScenarioError
from shoal.linux import Image, run_on_linux
from shoal.runs.design import Design, axis
from shoal.runs.execute import run_plan
from shoal.runs.parts import read_parts, write_part
from shoal.runs.plan import Plan
from shoal.runs.plane import kernel_here
from shoal.runs.survey import survey
from shoal.sweeps.tables import json_of
from shoal.template import Template

THRESHOLDS = ["5 packets", "10 packets", "20 packets"]
METRICS = {"queue": "queue_packets()", "rate": "rate_mbps('dctcp')"}


@pytest.fixture
def plan(single: shoal.Scenario, image: Image) -> Plan:
    scenario = single.override({"duration": "3 s", "warmup": "1 s"})
    design = Design((axis("bottleneck.aqm.threshold", THRESHOLDS),))
    return Plan(Template(scenario, design.keys, {}), design, METRICS, 2, kernel=kernel_here().identity)


def test_numbers_are_those_of_single_runs(plan: Plan, image: Image) -> None:
    rows = run_plan(plan, workers=2)
    for place, threshold in enumerate(THRESHOLDS):
        scenario = plan.template.scenario.override({"bottleneck.aqm.threshold": threshold, "trace.series": "off"})
        runs = [run_on_linux(scenario, seed=seed, image=image) for seed in rows.seeds(place)]
        for text in METRICS.values():
            assert rows.series(place, text) == [run.metric(text) for run in runs]


def test_workers_and_an_interruption_change_no_byte(plan: Plan, tmp_path: Path) -> None:
    one = "".join(json_of(run_plan(plan, workers=1, cache=tmp_path / "one")))
    # The first point is known when the second sweep begins.
    run_plan(plan, numbers=[0], workers=1, cache=tmp_path / "two")
    seen = []
    two = "".join(json_of(run_plan(plan, workers=2, cache=tmp_path / "two", on_record=seen.append)))
    assert one == two
    assert '"kernel": "linux ' in one
    assert len(seen) == 6


def test_shards_give_the_bytes_of_one_run(plan: Plan, tmp_path: Path) -> None:
    whole = "".join(json_of(run_plan(plan, workers=2)))
    folders = []
    for part in (1, 2):
        folder = tmp_path / f"part-{part}"
        folder.mkdir()
        write_part(plan, (part, 2), folder, workers=1, cache=None, executor=None, progress=False)
        folders.append(folder)
    assert "".join(json_of(read_parts(folders))) == whole


def test_records_of_the_planes_are_not_mixed(plan: Plan, tmp_path: Path) -> None:
    # With a queue that throws dice, since otherwise both planes have the same numbers here.
    scenario = plan.template.scenario.override({"bottleneck.aqm": {"kind": "pie"}})
    design = Design((axis("flows.dctcp.rtt", ["10 ms", "20 ms"]),))
    plan = Plan(Template(scenario, design.keys, {}), design, METRICS, kernel=plan.kernel)
    kernel = run_plan(plan, cache=tmp_path)
    simulator = run_plan(replace(plan, kernel=""), cache=tmp_path)
    again = run_plan(plan, cache=tmp_path)
    assert "".join(json_of(again)) == "".join(json_of(kernel))
    assert [kernel.series(place, "queue_packets()") for place in range(2)] != [
        simulator.series(place, "queue_packets()") for place in range(2)
    ]


def test_an_estimate_counts_what_guests_take(plan: Plan) -> None:
    """Not the time of this process, which waits for them."""
    before_s = time.monotonic()
    found = survey(plan)
    whole_s = time.monotonic() - before_s
    assert found.run_s is not None
    assert 0.3 * whole_s < found.timed * found.run_s < whole_s


def test_another_kernel_is_refused(plan: Plan) -> None:
    with pytest.raises(ClusterError, match="this machine has the kernel `linux "):
        run_plan(replace(plan, kernel="linux 5.0 helpers-1"))


def test_what_the_kernel_cannot_express_is_said_before_anything_runs(plan: Plan) -> None:
    design = Design((axis("bottleneck.aqm", [{"kind": "step", "threshold": "5 packets"}, {"kind": "pi2"}]),))
    other = Plan(Template(plan.template.scenario, design.keys, {}), design, METRICS, kernel=plan.kernel)
    with pytest.raises(ScenarioError, match="at point 2 of 2"):
        run_plan(other)
