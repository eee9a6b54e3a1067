"""Every verb, as a user runs it."""

from __future__ import annotations

import inspect
import json
import re
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import polars as pl
import pytest
from conftest import SMALL, Cli
from syrupy.assertion import SnapshotAssertion

import shoal
from shoal.cli.verbs import VERBS, loaded


def shape(text: str) -> str:
    """The text without what the simulator decides: numbers become #, runs of spaces one."""
    text = re.sub(r"\d[\d,]*(\.\d+)?", "#", text)
    return "\n".join(re.sub(r" +", " ", line).rstrip() for line in text.splitlines())


@pytest.mark.parametrize(
    "verb",
    [
        "",
        "run",
        "check",
        "sweep",
        "tune",
        "reproduce",
        "report",
        "plot",
        "hunt",
        "judge",
        "pack",
        "list",
        "describe",
        "schema",
        "doctor",
    ],
)
def test_help(inside: Cli, verb: str, snapshot: SnapshotAssertion) -> None:
    done = inside(*verb.split(), "--help")
    assert (done.code, done.err) == (0, "")
    # Text between two colons, such as a range of an axis, may be the name of a picture to the library that prints it.
    assert [
        letter for letter in done.out if unicodedata.category(letter) == "So" and not "\u2500" <= letter <= "\u257f"
    ] == []
    assert "\n".join(line.rstrip() for line in done.out.splitlines()) == snapshot


def test_version(cli: Cli) -> None:
    out = cli("--version").out
    assert re.fullmatch(rf"shoal {re.escape(shoal.__version__)} \(commit [0-9a-f]{{10}}\)\n", out)


def test_run_prints_a_table(cli: Cli, snapshot: SnapshotAssertion) -> None:
    done = cli("run", "small.toml")
    assert (done.code, done.err) == (0, "")
    assert shape(done.out) == snapshot


def test_table_shows_the_numbers_of_the_result(cli: Cli) -> None:
    data = json.loads(cli("run", "small.toml", "--json").out)
    text = cli("run", "small.toml").out
    total = sum(group["wire_bps"]["sum"] for group in data["groups"])
    for group in data["groups"]:
        line = next(line for line in text.splitlines() if line.startswith(f"{group['name']} "))
        assert f"{100 * group['wire_bps']['sum'] / total:.2f} %" in line
        assert f"{group['goodput_bps']['mean'] / 1e6:.2f} Mbit/s" in line
    link = data["bottlenecks"][0]
    assert re.search(rf"Utilisation +{100 * link['utilisation']:.2f} %", text)
    assert f"{1e3 * link['delay_s']['ect']['p99']:.2f} ms" in text
    assert re.search(rf"Jain's index +{data['metrics']['jain']:.4f}", text)
    # 31,250 B = 10 Mbit/s x 25 ms.
    assert re.search(rf"Mean queue in BDP +{link['queue_bytes']['mean'] / 31250:.3f}", text)


def test_json_is_the_contract(cli: Cli, scenario: shoal.Scenario) -> None:
    done = cli("run", "small.toml", "--json", "--seed", "5")
    assert (done.code, done.err) == (0, "")
    assert done.out == shoal.run(scenario, seed=5).json
    data = json.loads(done.out)
    assert list(data)[:5] == ["schema", "version", "scenario", "seed", "on"]
    assert (data["schema"], data["seed"], data["scenario"]["seed"], data["on"]) == (1, 5, 5, "sim")
    assert data["window"] == {"start_s": 2.0, "end_s": 12.0}
    assert {"utilisation", "queue_bytes", "delay_s", "arrived", "marked", "dropped", "dropped_by"} <= set(
        data["bottlenecks"][0]
    )
    assert {"jain", "rate_ratio"} == set(data["metrics"])


def test_seeds(cli: Cli, snapshot: SnapshotAssertion) -> None:
    done = cli("run", "small.toml", "--seeds", "3")
    assert (done.code, done.err) == (0, "")
    assert "3 seeds, mean ± 95 % confidence interval" in done.out
    assert shape(done.out) == snapshot
    data = json.loads(cli("run", "small.toml", "--seeds", "3", "--json").out)
    assert data["seeds"] == [1, 2, 3]
    values = [run["bottlenecks"][0]["utilisation"] for run in data["runs"]]
    assert data["summary"]["utilisation"]["mean"] == pytest.approx(sum(values) / 3, rel=1e-12)


def test_set_and_check(cli: Cli) -> None:
    done = cli("check", "small.toml", "--set", "bottleneck.rate=20 Mbit/s", "--set", "flows.reno.count=3")
    assert (done.code, done.out, done.err) == (0, "small.toml: Small (4 flows, 12 s)\n", "")
    resolved = cli("check", "small.toml", "--set", "bottleneck.rate=20 Mbit/s", "--resolved").out
    assert 'rate = "20 Mbit/s"' in resolved
    assert shoal.Scenario.from_toml(resolved).resolved["bottleneck"]["rate"] == "20 Mbit/s"


def test_out_holds_everything(cli: Cli, folder: Path) -> None:
    done = cli("run", "small.toml", "--out", "results/a", "--trace", "packets,pcap")
    assert done.code == 0
    assert done.err == "wrote results/a (report: results/a/report.html)\n"
    out = folder / "results" / "a"
    files = sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file())
    figures = [
        f"figures/{name}.{kind}"
        for name in ("delay", "queue", "rates", "throughput", "windows")
        for kind in ("csv", "parquet", "pdf", "png", "svg")
    ]
    summaries = [
        f"summaries/{name}.{kind}"
        for name in ("flow-groups", "queue-at-bottleneck", "totals")
        for kind in ("csv", "md", "parquet", "tex")
    ]
    tables = [
        f"tables/{name}.parquet"
        for name in (
            *("backlog_distribution", "controller", "delay_distribution", "events", "flows", "packets"),
            *("queue", "queue_distribution"),
        )
    ]
    assert files == sorted(
        [
            *(".shoal", "again.json", "command.txt", "packets.pcapng", "report.html", "result.json", "scenario.toml"),
            *(*figures, *summaries, *tables),
        ]
    )
    assert not list(folder.rglob("*partial*"))
    link = json.loads((out / "result.json").read_text())["bottlenecks"][0]
    packets = pl.read_parquet(out / "tables" / "packets.parquet")
    inside = packets.filter(pl.col("time_ps").is_between(2 * 10**12, 12 * 10**12, closed="left"))
    assert inside.filter(pl.col("event") == "arrive").height == link["arrived"]
    assert inside.filter(pl.col("event") == "mark").height == link["marked"]


def test_report_is_self_contained(cli: Cli, folder: Path) -> None:
    assert cli("run", "small.toml", "--out", "a").code == 0
    page = (folder / "a" / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"""(src|href)=["'](?!#)""", page.replace("xmlns:xlink", ""))
    assert not re.search(r"https?:", re.sub(r'xmlns(:\w+)?="[^"]*"', "", page))
    for wanted in (
        "Utilisation",
        "dctcp-ikr",
        "Resolved scenario",
        "shoal run a/scenario.toml --out a-again",
        shoal.__version__,
        "seed 1",
    ):
        assert wanted in page
    # Names inside inlined figures are unique in the page.
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_report_again_gives_the_same_bytes(cli: Cli, folder: Path) -> None:
    assert cli("run", "small.toml", "--out", "a").code == 0
    before = {path: path.read_bytes() for path in (folder / "a").rglob("*") if path.is_file()}
    assert cli("report", "a").code == 0
    after = {path: path.read_bytes() for path in (folder / "a").rglob("*") if path.is_file()}
    assert after == before


def test_several_scenarios(cli: Cli, folder: Path, snapshot: SnapshotAssertion) -> None:
    (folder / "step.toml").write_text(
        SMALL.replace(
            'kind = "dual-red", reno = { min = "0.5 BDP", max = "1.5 BDP" }, dctcp = { threshold = "0.67 BDP" }',
            'kind = "step", threshold = "20 packets"',
        )
    )
    done = cli("run", "small.toml", "step.toml", "--out", "both")
    assert done.code == 0
    assert shape(done.out) == snapshot
    assert (folder / "both" / "step" / "result.json").exists()
    assert set(json.loads(cli("run", "small.toml", "step.toml", "--json").out)["runs"]) == {"small", "step"}
    again = cli("report", "both/small", "both/step", "--out", "compared")
    assert again.code == 0
    page = (folder / "compared" / "report.html").read_text(encoding="utf-8")
    assert page.index("Comparison") < page.index("step: Small")


def test_names_of_ready_made_scenarios(cli: Cli) -> None:
    names = [entry["name"] for entry in json.loads(cli("list", "scenarios", "--json").out)["scenarios"]]
    assert {"coexistence", "compare/dctcp-step-10m", "bench/lean"} <= set(names)
    for name in names:
        assert shoal.Scenario.named(name).title, name
    for name in ("coexistence", "compare/dctcp-step-10m", "bench/lean"):
        assert cli("check", name).code == 0, name
    short = [entry["name"] for entry in json.loads(cli("list", "--json").out)["scenarios"]]
    assert short == [name for name in names if "/" not in name]


def test_capture(cli: Cli, folder: Path) -> None:
    done = cli("run", "small.toml", "--pcap", "x.pcapng", "--json")
    assert done.code == 0
    assert (folder / "x.pcapng").read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("tshark is not installed")
    command = [tshark, "-r", str(folder / "x.pcapng"), "-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]
    bad = subprocess.run(
        [*command, "-Y", "_ws.malformed or ip.checksum.status == 0 or tcp.checksum.status == 0"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert bad.stdout == ""
    marked = subprocess.run(
        [*command, "-Y", "ip.dsfield.ecn == 3"], capture_output=True, text=True, check=True
    ).stdout.count("\n")
    packets = json.loads(done.out)["bottlenecks"][0]["marked"]
    assert marked >= packets > 0  # the capture covers the warm-up, too


# CoDel marks when a packet leaves.
MARKS_LATE = Path(__file__).parents[2] / "scenarios" / "compare" / "mix-codel-40m.toml"


@pytest.mark.parametrize("scenario", ["small.toml", str(MARKS_LATE)])
def test_capture_says_what_the_queue_did(scenario: str, cli: Cli, folder: Path) -> None:
    whole = ("--set", "warmup='0 s'", "--set", "duration='5 s'")
    done = cli("run", scenario, *whole, "--pcap", "x.pcapng", "--json")
    assert done.code == 0, done.err
    capture = (folder / "x.pcapng").read_bytes()
    link = json.loads(done.out)["bottlenecks"][0]
    assert capture.count(b"dropped: ") == link["dropped"] > 0
    # A packet that was marked on arrival and still waits at the end is not in the capture.
    waiting = link["marked"] - capture.count(b"marked: ")
    assert link["marked"] > 0
    assert 0 <= waiting <= link["queue_packets"]["max"]


def test_list_describe_schema(cli: Cli) -> None:
    listed = json.loads(cli("list", "--json").out)
    assert {"reno", "cubic", "dctcp", "dctcp-ikr"} <= {entry["name"] for entry in listed["controllers"]}
    assert {"fifo", "step", "red", "dual-red"} <= {entry["name"] for entry in listed["queues"]}
    assert "share(group)" in {entry["name"] for entry in listed["metrics"]}
    for name in listed["controllers"] + listed["queues"] + listed["stacks"]:
        done = cli("describe", name["name"], "--json")
        assert done.code == 0
        assert json.loads(done.out)[0]["follows"]
    text = cli("describe", "dctcp-ikr").out
    assert text.startswith("dctcp-ikr (controller)\n")
    assert "Follows: " in text
    assert json.loads(cli("schema").out)["type"] == "object"
    assert cli("schema", "tables").out.startswith("## `queue`")


def test_doctor(cli: Cli) -> None:
    done = cli("doctor")
    assert done.code == 0
    assert "FAILS" not in done.out
    assert "two equal runs give equal bytes" in done.out


def test_colours_only_on_request(cli: Cli, environment: dict[str, str]) -> None:
    assert "\x1b" not in cli("run", "small.toml").out
    environment.pop("NO_COLOR")
    assert "\x1b" not in cli("run", "small.toml").out  # a pipe is not a terminal
    environment["FORCE_COLOR"] = "1"
    assert "\x1b[" in cli("run", "small.toml").out


@pytest.mark.parametrize("name", VERBS)
def test_lists_of_verbs_say_the_first_sentence_of_each(name: str) -> None:
    first, *_ = inspect.cleandoc(loaded(name).help).split("\n\n")
    assert VERBS[name].help == first.replace("\n", " ")


def test_no_verb_is_imported_before_it_is_called(environment: dict[str, str]) -> None:
    code = "import sys, shoal.cli; print(*sorted(name for name in sys.modules if name.startswith('shoal.')))"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    own = {f"shoal.cli.{name}" for name in ("app", "console", "layout", "terminal", "verbs")}
    below = {f"shoal.{name}" for name in ("_native", "cli", "errors", "models", "progress", "table")}
    below |= {"shoal._arguments", "shoal._process"}
    assert set(done.stdout.split()) <= own | below
