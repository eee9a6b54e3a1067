"""Evaluations by RFC 7928 and RFC 9743: their sections, their numbers, their files, and what is refused."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import evaluate
from shoal.again import Again
from shoal.errors import UsageError
from shoal.evaluate import contenders, rfc7928, rfc9743
from shoal.evaluate.evaluation import Evaluation
from shoal.evaluate.model import Clause, Guide, Level, Setting, varied
from shoal.evaluate.rfc7928 import bottleneck
from shoal.evaluate.running import run_guide
from shoal.evaluate.tables import matrix, overview, refusals, table_of
from shoal.evaluate.write import write_into
from shoal.metrics import measured
from shoal.plots.tradeoff import ellipse_of
from shoal.runs import execute
from shoal.runs.plan import check

_queues = [contenders.queue("pie"), contenders.queue("fifo")]
_controllers = [contenders.controller(name) for name in ("dctcp", "reno")]


def _guides() -> list[Guide]:
    return [rfc7928.guide(_queues), rfc9743.guide()]


def _small(guide: Guide, *numbers: str) -> Guide:
    """Some sections of a guide, with runs of a few seconds."""
    clauses = [clause for clause in guide.clauses if clause.number in numbers]
    assert len(clauses) == len(numbers)
    return dataclasses.replace(guide, clauses=[_shortened(clause) for clause in clauses])


def _shortened(clause: Clause) -> Clause:
    experiments = []
    for experiment in clause.experiments:
        scenario = {**experiment.scenario, "duration": "6 s", "warmup": "2 s"}
        paths = [
            Setting(path.name, {**path.values, "duration": "6 s", "warmup": "2 s"}) for path in experiment.paths[:3]
        ]
        experiments.append(dataclasses.replace(experiment, scenario=scenario, paths=paths))
    return dataclasses.replace(clause, experiments=experiments)


@pytest.fixture(scope="module")
def pie() -> Evaluation:
    """PIE beside a FIFO in three sections."""
    guide = _small(rfc7928.guide(_queues), "4.5", "5.1.1", "8.2.2")
    return run_guide(guide, _queues, seeds=3, workers=2)


def test_every_section_that_a_guide_demands_is_run_or_has_a_reason() -> None:
    for guide in _guides():
        for clause in guide.clauses:
            assert bool(clause.experiments) or bool(clause.reason), (guide.name, clause.number)
        numbers = [tuple(map(int, clause.number.split("."))) for clause in guide.clauses]
        assert numbers == sorted(set(numbers)), guide.name


def test_the_sections_that_rfc_7928_says_must_be_run_are_there() -> None:
    musts = {clause.number for clause in rfc7928.guide(_queues).clauses if clause.level is Level.MUST}
    # Figure 4 of section 13.
    assert musts == {"4.5", "5.1.1", "5.1.2", "5.2", "5.3", "6.2", "7.2", "8.2.5", "8.2.6"}


def test_numbers_of_flows_are_those_of_the_formula() -> None:
    # 0.76 N^2 / S^2 = p with S = 166 packets: 10 Mbit/s x 100 ms is 83 packets of 1500 B, and the buffer as many.
    for level, percent in bottleneck.LOSS_PERCENT.items():
        exact = 2 * 83 * math.sqrt(percent / 100 / 0.76)
        assert abs(bottleneck.flows_for(level) - exact) <= 0.5 + 0.001 * exact, level
    assert [bottleneck.flows_for(level) for level in bottleneck.CONGESTION] == [6, 13, 19]


def test_every_cell_of_both_guides_makes_a_scenario() -> None:
    for guide, some in zip(_guides(), (_queues, _controllers), strict=True):
        for clause in guide.clauses:
            for experiment in clause.experiments:
                pairs = list(itertools.product(experiment.taking_part(some), experiment.scenes))
                assert check(experiment.plan(pairs, seeds=1)).digests, (clause.number, experiment.name)


def test_the_same_bytes_with_one_and_with_two_workers(pie: Evaluation) -> None:
    guide = _small(rfc7928.guide(_queues), "4.5", "5.1.1", "8.2.2")
    assert run_guide(guide, _queues, seeds=3, workers=1).json == pie.json


def test_a_cell_replays_to_the_numbers_of_its_table(pie: Evaluation, tmp_path: Path) -> None:
    write_into(pie, tmp_path, again=Again(("evaluate", "--aqm", "pie")), out=Path("out"))
    runs = pie.runs_to_polars()
    outcome = pie.run[-1]
    assert outcome.rows is not None
    for cell in (1, len(outcome.rows)):
        result = shoal.run(shoal.Scenario.from_file(tmp_path / "cells" / f"{outcome.key}-{cell}.toml"), seed=2)
        again = measured(result, tuple(outcome.experiment.measured.values()))
        rows = runs.filter(
            section=outcome.clause.number, experiment=outcome.experiment.name, cell=cell, seed=2
        ).iter_rows(named=True)
        assert {row["metric"]: row["value"] for row in rows} == {
            name: again[text] for name, text in outcome.experiment.measured.items()
        }


def test_files_of_an_evaluation(pie: Evaluation, tmp_path: Path) -> None:
    write_into(pie, tmp_path, again=Again(("evaluate", "--aqm", "pie")), out=Path("out"))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "https://www.rfc-editor.org/rfc/rfc7928#section-4.5" in page
    assert "shoal run out/cells/4.5-ecn-1.toml" in page
    assert "shoal evaluate --aqm pie" in page
    # Each figure is made of a table that stands beside it.
    for figure in (tmp_path / "figures").glob("*.svg"):
        assert figure.with_suffix(".csv").is_file()
    assert json.loads((tmp_path / "evaluation.json").read_text(encoding="utf-8")) == json.loads(pie.json)
    rows = sum(len(outcome.rows) for outcome in pie if outcome.rows is not None)
    assert len(list((tmp_path / "cells").glob("*.toml"))) == rows


def test_queues_have_ecn_where_the_section_is_about_it(pie: Evaluation) -> None:
    table = table_of(pie.of(pie.guide.clauses[0])[0])
    assert [row[0] for row in table.rows] == ["pie with ECN"] * 6 + ["fifo"] * 6
    marked = pie.to_polars().filter(section="4.5", metric="marked_percent")
    assert marked.filter(contender="pie with ECN")["mean"].sum() > 0
    assert marked.filter(contender="fifo")["mean"].sum() == 0


def test_a_finished_run_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = _small(rfc7928.guide(_queues), "5.1.1")
    first = run_guide(guide, _queues, seeds=1, cache=tmp_path)

    def refused(*_: object) -> None:
        raise AssertionError("a run was made again")

    monkeypatch.setattr(execute, "perform", refused)
    assert run_guide(guide, _queues, seeds=1, cache=tmp_path).json == first.json


def test_a_contender_that_cannot_run_a_section_is_named_with_the_reason() -> None:
    # A law that must be given its parameters, and has none.
    broken = Setting("broken", {contenders.QUEUE: {"kind": "step"}})
    evaluation = run_guide(_small(rfc7928.guide(_queues), "5.1.1"), [broken, _queues[1]], seeds=1)
    (outcome,) = evaluation
    assert outcome.rows is not None
    assert [row[0] for row in table_of(outcome).rows] == ["fifo"]
    (line,) = refusals(evaluation)
    assert "broken" in line
    assert "threshold" in line
    assert overview(evaluation).rows[0][3] == "reno: 1 cell, 1 refused"


def test_a_planted_fault_shows_in_the_section_that_it_touches() -> None:
    # CoDel's interval is to be as long as a round trip; with 10 ms it marks again before senders can have answered.
    # Two bounds that were set before did not hold: 5 % less goodput in 5.1.1 (7.53 against 7.57 Mbit/s: a single flow
    # overshoots once, whatever the interval), and 10 % longer transfers in 5.1.2 (608 against 579 ms). In section 4.5
    # the link is 10 to 16 points emptier; this bound was set for 6.2 before that was looked at.
    codel = contenders.queue("codel")
    hasty = Setting("hasty", {contenders.QUEUE: {**codel.values[contenders.QUEUE], "interval": "10 ms"}})
    guide = rfc7928.guide([hasty, codel])
    some = dataclasses.replace(guide, clauses=[clause for clause in guide.clauses if clause.number == "6.2"])
    points = run_guide(some, [hasty, codel], seeds=2).to_polars()
    used = points.filter(pl.col("values").str.contains("= 50 ms"), metric="utilisation_percent")
    wrong, right = (used.filter(contender=name)["mean"].item() for name in ("hasty", "codel"))
    assert wrong < right - 5


def test_the_loss_of_all_feedback_is_answered_by_every_controller() -> None:
    # The timeout doubles from 0.2 s or more: at most 9 packets of each flow in 59 s.
    guide = rfc9743.guide()
    clause = next(clause for clause in guide.clauses if clause.number == "5.1.1")
    silence = [experiment for experiment in clause.experiments if experiment.name == "silence"]
    only = dataclasses.replace(guide, clauses=[dataclasses.replace(clause, experiments=silence)])
    some = [contenders.controller(name) for name in ("dctcp", "cubic", "prague-0.7")]
    points = run_guide(only, some, seeds=1).to_polars().filter(metric="sent_packets")
    assert points.height == 3
    assert points["mean"].min() >= 1
    assert points["mean"].max() <= 9


def test_bbr_loses_in_short_buffers_and_cubic_does_not() -> None:
    # RFC 9743's own example, section 5.1.3, with two flows: lasting loss below 1.5 BDP, none from 2 BDP on. Bounds: 2 %
    # and 0.2 % for BBR, 1 % for CUBIC anywhere.
    guide = rfc9743.guide()
    clause = next(clause for clause in guide.clauses if clause.number == "5.1.3")
    (many,) = clause.experiments
    two = dataclasses.replace(many, axes=(varied(many.axes[0].keys[0], [2]),))
    only = dataclasses.replace(guide, clauses=[dataclasses.replace(clause, experiments=[two])])
    some = [contenders.controller(name) for name in ("bbr", "cubic")]
    points = run_guide(only, some, seeds=2).to_polars().filter(metric="lost_percent")
    lost = {(row["contender"], row["path"]): row["mean"] for row in points.iter_rows(named=True)}
    assert min(lost["bbr", f"6.1 FIFO of {bdp} BDP"] for bdp in ("0.25", "0.5", "1")) > 2, lost
    assert max(lost["bbr", f"6.1 FIFO of {bdp} BDP"] for bdp in ("2", "4")) < 0.2, lost
    assert max(part for (name, _), part in lost.items() if name == "cubic") < 1, lost


def test_the_formula_is_set_beside_what_a_fifo_loses() -> None:
    guide = rfc7928.guide(_queues)
    only = dataclasses.replace(guide, clauses=[clause for clause in guide.clauses if clause.number == "8.2.1"])
    (outcome,) = run_guide(only, _queues, seeds=1)
    assert outcome.finding.startswith("Mild: 6 flows by the formula, which lose 0.")
    assert "Heavy: 19 flows by the formula" in outcome.finding


def test_the_table_of_all_paths_has_every_contender() -> None:
    evaluation = run_guide(_small(rfc9743.guide(), "5.2.1"), _controllers, seeds=1)
    table = matrix(evaluation)
    assert table is not None
    heads = [f"5.2.1 beside-{other}: other_mbps" for other in ("reno", "cubic", "bbr")]
    assert table.columns == ("Path", *heads)
    assert [len(cell.split(" / ")) for row in table.rows for cell in row[1:]] == [2] * 9
    assert matrix(run_guide(_small(rfc7928.guide(_queues), "5.1.1"), _queues, seeds=1)) is None


def test_a_queue_is_a_kind_a_table_or_that_of_a_scenario(tmp_path: Path) -> None:
    assert contenders.queue("codel").values[contenders.QUEUE]["kind"] == "codel"
    table = contenders.queue('{ kind = "codel", interval = "10 ms" }')
    assert table.values[contenders.QUEUE] == {"kind": "codel", "interval": "10 ms"}
    assert contenders.queue("red-ecn").values[contenders.QUEUE]["kind"] == "red"
    with pytest.raises(UsageError, match="no queue and no scenario `coddel`"):
        contenders.queue("coddel")
    with pytest.raises(UsageError, match="is no queue"):
        contenders.queue("{ interval = '10 ms' }")
    with pytest.raises(UsageError, match="there is no controller `cubik`"):
        contenders.controller("cubik")
    names = [each.name for each in contenders.named_apart([table, contenders.queue("codel"), contenders.queue("fifo")])]
    assert names == ["codel with interval 10 ms", "codel with target 5 ms, interval 100 ms", "fifo"]
    with pytest.raises(UsageError, match="is there twice"):
        evaluate.evaluate_queue("pie", beside=["fifo", "fifo"])


def test_the_ellipse_is_that_of_mean_and_covariance() -> None:
    # Four points on the axes of a turned cross: variances 8 and 2 along 30 and 120 degrees.
    turn = np.radians(30.0)
    along, across = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
    points = np.array([4 * along, -4 * along, 2 * across, -2 * across])
    first, second, angle = ellipse_of(points)
    assert first == pytest.approx(2 * math.sqrt(8.0))
    assert second == pytest.approx(2 * math.sqrt(2.0))
    assert angle % 180 == pytest.approx(30.0)
