"""Sweeps and searches, through the interface and the command line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from conftest import TABLES, Cli

import shoal
from shoal.metrics import metric
from shoal.runs.store import contents
from shoal.search import Condition, Side, decide

FILES = 4

STEP = (TABLES / "step.toml").read_text(encoding="utf-8")
K = "bottleneck.aqm.threshold"


@pytest.fixture(scope="module")
def step() -> shoal.Scenario:
    return shoal.Scenario.from_toml(STEP, name="step.toml")


@pytest.fixture(autouse=True)
def step_file(folder: Path) -> None:
    (folder / "step.toml").write_text(STEP, encoding="utf-8")


def queue_at(step: shoal.Scenario, packets: int, seed: int) -> float:
    run = shoal.run(step.override({K: f"{packets} packets", "trace.series": "off"}), seed=seed)
    return float(run.bottlenecks[0]["queue_packets"]["mean"])


def test_sweep_has_means_and_runs(step: shoal.Scenario) -> None:
    points = shoal.sweep(step, grid={K: ["5 packets", "10 packets"], "flows.dctcp.count": [1, 2]}, seeds=2)
    assert [tuple(point.values.values()) for point in points] == [
        ("5 packets", 1),
        ("5 packets", 2),
        ("10 packets", 1),
        ("10 packets", 2),
    ]
    queues = [queue_at(step, 10, seed) for seed in (1, 2)]
    means = points.means(metrics={"q": "queue_packets()"})
    assert means.columns == [K, "flows.dctcp.count", "q", "q_ci95"]
    assert means["q"][3] == pytest.approx(sum(queues) / 2, rel=1e-12)
    runs = points.to_polars(metrics={"q": "queue_packets()"})
    assert runs["q"].to_list()[-2:] == queues


def test_variables_are_the_same_as_keys(step: shoal.Scenario) -> None:
    direct = shoal.sweep(step, grid={K: ["7500 B", "15000 B"]})
    computed = shoal.sweep(step, grid={"k": [5, "20/2"]}, set={K: "{1500 * k} B"})
    assert [p.results[0].summary for p in direct] == [p.results[0].summary for p in computed]


def test_braces_without_a_variable_stay(step: shoal.Scenario) -> None:
    points = shoal.sweep(
        step, grid={"k": [3]}, set={K: "{k} packets", "flows.dctcp.start": {"uniform": ["0 s", "2 s"]}}
    )
    assert points[0].results[0].scenario.resolved["flows"][0]["start"] == {"uniform": ["0 s", "2 s"]}


def test_tune_finds_what_a_full_sweep_finds(step: shoal.Scenario) -> None:
    means = [sum(queue_at(step, packets, seed) for seed in (1, 2)) / 2 for packets in range(1, 31)]
    largest = max(packets for packets, mean in zip(range(1, 31), means, strict=True) if mean <= 8)
    found = shoal.tune(
        step, key=K, low=1, high=30, unit="packets", such_that="queue_packets() <= 8", side=Side.LARGEST, seeds=2
    )
    assert (found.answer, found.against) == (largest, [])
    assert found.results is not None
    assert found.results.seeds == [1, 2]
    frame = found.to_polars()
    for value, left in zip(frame["value"], frame["left"], strict=True):
        assert left == pytest.approx(means[int(value) - 1], rel=1e-12)
    assert found.fails_at is not None
    assert found.fails_at > largest


def test_conditions(step: shoal.Scenario) -> None:
    runs = shoal.run(step, seeds=3)
    both = Condition.parse("utilisation() > 0.5 and queue_packets() <= 2 * delay_ms()")
    assert [(c.left, c.operator, c.right) for c in both.comparisons] == [
        ("utilisation()", ">", "0.5"),
        ("queue_packets()", "<=", "2 * delay_ms()"),
    ]
    first, second = both.measure(runs)
    assert first.decision.holds
    assert first.decision.clear
    assert second.left.mean == pytest.approx(sum(metric(run, "queue_packets()") for run in runs) / 3)
    assert decide([first, second]).holds == second.decision.holds
    # The mean is the limit: within the noise, whatever the last bit says.
    at_limit = Condition.parse(f"queue_packets() <= {second.left.mean!r}").measure(runs)
    assert not decide(at_limit).clear
    # Of several, a clear failure decides.
    assert decide(Condition.parse("utilisation() > 0.5 and utilisation() > 2").measure(runs)).clear


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("queue_empty()", "is not a comparison"),
        ("queue_empty() == 0", "is not a comparison"),
        ("0 < queue_empty() < 1", "is not a comparison"),
        ("queue_empty() <= 0.05 or jain() > 0.9", "is not a comparison"),
        ("queue_empty() <=", "is not a condition"),
        ("queue_empt() <= 0.05", "there is no function `queue_empt`"),
        ("queue_empty <= 0.05", "`queue_empty` is a function"),
        ("queue_empty(0, 'a', 1) <= 0.05", "`queue_empty` takes at most 2 values"),
        ("queue_empty(lnk=0) <= 0.05", "`queue_empty` takes no `lnk`"),
        ("k <= 0.05", "there is no `k`"),
    ],
)
def test_bad_conditions(text: str, message: str) -> None:
    with pytest.raises(shoal.UsageError, match=message):
        Condition.parse(text)


def test_no_value_is_no_decision(step: shoal.Scenario) -> None:
    with pytest.raises(shoal.UsageError, match="has no value in `Step`"):
        Condition.parse("fct_ms('dctcp') < 1").measure(shoal.run(step, seeds=1))
    with pytest.raises(shoal.UsageError, match="no such monitored link: the run has 1"):
        Condition.parse("queue_empty(link=3) < 1").measure(shoal.run(step, seeds=1))


# The command line.


def test_sweep_command(cli: Cli, folder: Path, step: shoal.Scenario) -> None:
    command = ("sweep", "step.toml", "--axis", f"{K}=5 packets,10 packets", "--axis", "flows.dctcp.count=1,2")
    metrics = ("--metric", "q=queue_packets()", "--metric", "queue_empty(link=0)", "--seeds", "2")
    done = cli(*command, *metrics, "--out", "out")
    assert (done.code, done.err) == (0, "wrote out (report: out/report.html)\n")
    mean = sum(queue_at(step, 10, seed) for seed in (1, 2)) / 2
    (line,) = [line for line in done.out.splitlines() if line.startswith("10 packets") and "2" in line.split()[2]]
    assert line.split()[3] == f"{mean:.4g}"
    out = folder / "out"
    tables = [f"{name}.{kind}" for name in ("points", "runs") for kind in ("csv", "parquet")]
    names = [
        ".shoal",
        "again.json",
        "command.txt",
        "figures",
        "plan.json",
        "report.html",
        "scenario.toml",
        "source.toml",
    ]
    assert sorted(path.name for path in out.iterdir()) == sorted([*names, "summaries", "sweep.json", *tables])
    points = pl.read_csv(out / "points.csv")
    assert points.columns == [K, "flows.dctcp.count", "q", "q_ci95", "queue_empty(link=0)", "queue_empty(link=0)_ci95"]
    assert points["q"][3] == pytest.approx(mean)
    assert pl.read_parquet(out / "runs.parquet").height == 8
    data = json.loads(cli(*command, *metrics, "--json", "--jobs", "1", "--fresh").out)
    assert data == json.loads((out / "sweep.json").read_text(encoding="utf-8"))  # 1 worker, nothing from the cache
    assert data["axes"] == {K: ["5 packets", "10 packets"], "flows.dctcp.count": [1, 2]}
    assert data["points"][3]["metrics"]["q"]["mean"] == pytest.approx(mean)


def test_sweep_command_with_defaults(cli: Cli) -> None:
    done = cli("sweep", "step.toml", "--axis", "k=5,10", "--set", f"{K}={{k}} packets", "--set", "duration=4 s")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[3].split() == [
        *("k", "utilisation", "queue_packets", "delay_mean_ms", "delay_p99_ms", "jain")
    ]


TUNE = ("tune", "step.toml", "--key", K, "--unit", "packets", "--from", "1", "--to", "30", "--seeds", "2")


def test_tune_command(cli: Cli, folder: Path, step: shoal.Scenario) -> None:
    done = cli(*TUNE, "--largest", "--such-that", "queue_packets() <= 8", "--out", "out")
    assert (done.code, done.err) == (0, "wrote out (report: out/report.html)\n")
    data = json.loads((folder / "out" / "tune.json").read_text(encoding="utf-8"))
    answer = data["value"]
    assert data["answer"] == f"{answer:g} packets"
    assert sum(queue_at(step, int(answer), seed) for seed in (1, 2)) / 2 <= 8
    assert sum(queue_at(step, int(answer) + 1, seed) for seed in (1, 2)) / 2 > 8
    assert f"Largest {K} = {answer:g} packets: queue_packets() <= 8\n" in done.out
    assert "C x RTT / 7 = 2.976 packets" in done.out  # 31,250 B / 1,500 B / 7
    flows = cli("tune", "step.toml", "--key", "flows.dctcp.count", "--from", "1", "--to", "2", "--smallest",
                "--such-that", "utilisation() > 0", "--seeds", "1")  # fmt: skip
    assert (flows.code, "C x RTT / 7" in flows.out) == (0, False)
    again = cli(*TUNE, "--largest", "--such-that", "queue_packets() <= 8", "--json", "--workers", "1", "--fresh")
    assert json.loads(again.out) == data
    assert pl.read_csv(folder / "out" / "trials.csv").height == len(data["trials"])


def test_tune_says_that_nothing_satisfies(cli: Cli) -> None:
    done = cli(*TUNE, "--smallest", "--such-that", "queue_packets() < 0")
    assert done.code == 5
    assert done.out.splitlines()[-1] == f"No value of {K} satisfies queue_packets() < 0."


def test_tune_says_that_everything_satisfies(cli: Cli) -> None:
    done = cli(*TUNE, "--smallest", "--such-that", "utilisation() > 0.1")
    assert done.code == 0
    assert f"Smallest {K} = 1 packets (the first value of the range: all that were tried hold)" in done.out


def test_tune_says_that_a_condition_is_not_monotone(cli: Cli) -> None:
    done = cli(*TUNE, "--smallest", "--such-that", "queue_packets() >= 5 and queue_packets() <= 15")
    assert done.code == 0
    assert "Not monotone: the condition changes more than once, or noise decides: see" in done.out


@pytest.mark.parametrize("verb", ["sweep", "tune"])
def test_what_is_not_ours_stays(cli: Cli, folder: Path, verb: str) -> None:
    arguments = {
        "sweep": ["sweep", "step.toml", "--axis", "seed=1"],
        "tune": [*TUNE, "--smallest", "--such-that", "jain() > 0"],
    }[verb]
    (folder / "there").mkdir()
    (folder / "there" / "thesis.tex").touch()
    assert cli(*arguments, "--out", "there").code == FILES
    assert cli(*arguments, "--out", "there", "--force").code == FILES
    assert (folder / "there" / "thesis.tex").exists()


def test_interrupted_sweep_goes_on(folder: Path, environment: dict[str, str], cli: Cli) -> None:
    axis = "seed=" + ",".join(str(seed) for seed in range(1, 41))
    arguments = ["sweep", "step.toml", "--axis", axis, "--set", "duration=500 s", "--out", "out", "--workers", "1"]
    with subprocess.Popen(
        [sys.executable, "-m", "shoal", *arguments], cwd=folder, env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        cache = folder / "cache"
        for _ in range(600):
            if contents(cache).runs >= 2:
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "error: interrupted\nhint: the same command goes on where it was\n")
    assert not list(folder.glob("*out*"))
    kept = {path: path.read_bytes() for path in cache.rglob("*.records")}
    assert 2 <= contents(cache).runs < 40
    done = cli(*arguments)
    assert done.code == 0
    assert contents(cache).runs == 40  # nothing was run twice
    assert {path: path.read_bytes() for path in kept} == kept
