"""Lists of flows: what they say is what runs, in every form, and what is no list is refused with its place."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.errors import OutputError, ScenarioError
from shoal.flow_lists import read_flow_list

DUMBBELL = """\
duration = "500 ms"
warmup = "0 s"
bottleneck = { rate = "100 Mbit/s", buffer = "30 packets" }
[trace]
series = "off"
flows = "all"
[[flows]]
cc = "reno"
rtt = "2 ms"
"""
STAR = """\
duration = "10 ms"
warmup = "0 s"
topology = { kind = "star", hosts = 4, rate = "1 Gbit/s", delay = "2 us", buffer = "100 packets" }
[trace]
series = "off"
[[flows]]
cc = "dctcp"
start = { list = "flows.csv" }
"""
# Two transfers at once towards h4, and a third later; the last one of the file is the first.
HOSTS = """\
start_s,bytes,source,destination
0.001,20000,h1,h4
0.001,20000,h2,h4
0.002,3000,h3,h4
0,1000,h4,h1
"""


def listed(folder: Path, rows: str, *, head: str = DUMBBELL, name: str = "flows.csv") -> Path:
    """A scenario file with its list beside it."""
    (folder / name).write_text(rows, encoding="utf-8")
    path = folder / "listed.toml"
    start = "" if "start = " in head else f'start = {{ list = "{name}" }}\n'
    path.write_text(head + start, encoding="utf-8")
    return path


def test_flows_of_a_list_are_those_of_start_times(tmp_path: Path) -> None:
    rows = "start_s,bytes\n0,30000\n0.01,30000\n0.01,30000\n0.2,30000\n"
    from_list = shoal.run(listed(tmp_path, rows)).data
    written = DUMBBELL + 'start = ["0 s", "10 ms", "10 ms", "200 ms"]\napp = { transfer = "30 kB" }\n'
    times = shoal.run(shoal.Scenario.from_toml(written)).data
    del from_list["scenario"], times["scenario"]
    assert from_list == times
    assert from_list["groups"][0]["fct_s"]["max"] > 0.002


def test_flows_of_a_list_are_those_of_a_group_for_each(tmp_path: Path) -> None:
    from_list = shoal.run(listed(tmp_path, HOSTS, head=STAR)).data
    group = '[[flows]]\ncc = "dctcp"\nname = "{}"\nfrom = "{}"\nto = "{}"\nstart = "{}"\napp = {{ transfer = "{}" }}\n'
    flows = [
        ("h4", "h1", "0 s", "1 kB"),
        ("h1", "h4", "1 ms", "20 kB"),
        ("h2", "h4", "1 ms", "20 kB"),
        ("h3", "h4", "2 ms", "3 kB"),
    ]
    groups = "".join(group.format(number, *flow) for number, flow in enumerate(flows))
    written = shoal.run(shoal.Scenario.from_toml(STAR.partition("[[flows]]")[0] + groups)).data
    assert from_list["bottlenecks"] == written["bottlenecks"]
    assert from_list["events"] == written["events"]
    assert from_list["groups"][0]["flows"] == [flow for group in written["groups"] for flow in group["flows"]]


def test_a_list_of_the_arrivals_of_a_process_is_the_process(tmp_path: Path) -> None:
    process = 'start = { poisson = "2000 per s" }\napp = { transfer = { distribution = "web-search" } }\n'
    drawn = shoal.run(shoal.Scenario.from_toml(DUMBBELL + process)).data
    flows = drawn["groups"][0]["flows"]
    rows = "".join(f"{flow['start_s']!r},{flow['transfer_bytes']}\n" for flow in flows)
    from_list = shoal.run(listed(tmp_path, "start_s,bytes\n" + rows)).data
    assert len(flows) > 900
    assert from_list["groups"] == drawn["groups"]
    assert from_list["events"] == drawn["events"]


def test_every_form_has_the_same_flows(tmp_path: Path) -> None:
    def digest(name: str, text: str) -> str:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return read_flow_list(tmp_path / name).sha256

    wanted = digest("flows.csv", HOSTS)
    rows = pl.read_csv(tmp_path / "flows.csv")
    rows.write_parquet(tmp_path / "flows.parquet")
    assert read_flow_list(tmp_path / "flows.parquet").sha256 == wanted
    assert digest("flows.json", json.dumps(rows.to_dicts())) == wanted
    assert digest("flows.ndjson", "".join(f"{json.dumps(row)}\n" for row in rows.to_dicts())) == wanted
    assert digest("semicolons.csv", "# of a test\n" + HOSTS.replace(",", " ; ")) == wanted
    in_us = HOSTS.replace("start_s", "start_us").replace("0.001,", "1000,").replace("0.002,", "2e3,")
    assert digest("us.csv", in_us.replace("bytes", "size_bytes")) == wanted
    hpcc = "4\n0 3 3 100 20000 0.001\n1 3 3 100 20000 0.001\n2 3 3 100 3000 2e-3\n3 0 3 100 1000 0\n"
    assert digest("flow.txt", hpcc) == wanted
    htsim = (
        "Nodes 4\nConnections 4\n0->3 id 1 start 1000000000 size 20000\n1->3 id 2 start 1000000000 size 20000\n"
        "2->3 start 2000000000 size 3000\n3->0 id 4 start 0 size 1000 prio 1\n"
    )
    assert digest("matrix.cm", htsim) == wanted
    assert digest("later.csv", HOSTS.replace("0.002", "0.003")) != wanted


def test_rows_are_sorted_and_ties_keep_the_order_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text("start_ns,bytes\n5,1\n3,2\n5,3\n3,4\n", encoding="utf-8")
    flows = read_flow_list(tmp_path / "flows.csv")
    assert flows.starts_ps.tolist() == [3000, 3000, 5000, 5000]
    assert flows.sizes_bytes.tolist() == [2, 4, 1, 3]


@pytest.mark.parametrize(
    ("rows", "line", "said"),
    [
        ("start_s,bytes\n0,5\n0.1,0\n", 3, "a transfer needs a size above 0"),
        ("start_s,bytes\n# comment\n-1,5\n", 3, "the start is negative"),
        ("start_s,bytes\nnan,5\n", 2, "the start is no time"),
        ("start_s,bytes\n0.1,\n", 2, "the size is no whole number of bytes"),
        ("start_s,bytes\n0.1,1.5\n", 2, "the size is no whole number of bytes"),
        ("start_s,bytes\n2e6,5\n", 2, "the start is later than 1000000 s"),
        ("start_s,bytes\n0,5\n\n1,5\n", 3, "this is no flow"),
        ("time,bytes\n0,5\n", 1, "the column `time` is not known"),
        ("0,5\n", 1, "numbers instead of names"),
        ("start_s,bytes,source,destination\n0,5,h1,h1\n", 2, "from a host to itself"),
        ("start_s,bytes,source,destination\n0,5,h1,\n", 2, "a host is missing"),
        ("start_s,bytes,source\n0,5,h1\n", None, "the columns of the list are start_s, bytes, source"),
        ("start_s,bytes\n0,5,6\n", None, "another number of values than the head"),
        ("start_s,bytes\n", None, "the list has no flows"),
        ("", None, "the list has no flows"),
        ("2\n0 1 3 100 10 0\n", None, "says that it has 2 flows, and has 1"),
        ("1\n0 1 3 10 0\n", 2, "this is no flow"),
        ("Nodes 2\nConnections 1\n0->1 start 1.5 size 10\n", 3, "this is no flow"),
        ("Nodes 2\nConnections 1\nTriggers 1\n0->1 id 1 trigger 1 size 10\n", 3, "1 triggers, which are not read"),
        ("Nodes 2\n0->1 start 0 size 10\n", 1, "`Connections M` is missing"),
    ],
)
def test_what_is_no_list_is_refused_with_its_place(tmp_path: Path, rows: str, line: int | None, said: str) -> None:
    path = listed(tmp_path, rows)
    with pytest.raises(ScenarioError) as error:
        shoal.Scenario.from_file(path)
    assert said in str(error.value)
    assert f"{tmp_path / 'flows.csv'}{f':{line}' if line else ''}\n" in str(error.value)
    assert "hint: " in str(error.value)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("count = 3\n", "a list has its own number of flows"),
        ('app = { transfer = "1 kB" }\n', "the list says what its flows transfer"),
        ('app = { transfer = "listed", rounds = 2 }\n', "the list says what its flows transfer"),
        ('stop = ["400 ms"]\n', "flows of a list have no list of stop times"),
    ],
)
def test_what_contradicts_a_list_is_refused(tmp_path: Path, keys: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        shoal.Scenario.from_file(listed(tmp_path, "start_s,bytes\n0,5\n", head=DUMBBELL + keys))


def test_starts_hosts_and_sizes_are_checked_against_the_scenario(tmp_path: Path) -> None:
    late = "start_s,bytes\n0.1,5\n0.6,5\n"
    assert "some flows start after the end of the run" in shoal.Scenario.from_file(listed(tmp_path, late)).warnings[0]
    warnings = shoal.Scenario.from_file(listed(tmp_path, HOSTS)).warnings
    assert "the hosts of the list are not used: a dumbbell has none" in warnings[0]
    with pytest.raises(ScenarioError, match='the list has an unknown node "h9"'):
        shoal.Scenario.from_file(listed(tmp_path, HOSTS.replace("h2", "h9"), head=STAR))
    with pytest.raises(ScenarioError, match="the list says the hosts of its flows"):
        shoal.Scenario.from_file(listed(tmp_path, HOSTS, head=f'{STAR}from = "h1"\n'))
    with pytest.raises(ScenarioError, match="has not been read"):
        shoal.Scenario.from_toml(STAR)
    with pytest.raises(ScenarioError, match="the sizes are those of a list, and there is none"):
        shoal.Scenario.from_toml(f'{DUMBBELL}app = {{ transfer = "listed" }}\n')


def test_workers_threads_and_a_second_reading_change_nothing(tmp_path: Path) -> None:
    path = listed(tmp_path, HOSTS, head=STAR)
    scenario = shoal.Scenario.from_file(path)
    alone = shoal.run(scenario, seeds=3, workers=1)
    together = shoal.run(scenario, seeds=3, workers=3)
    assert [run.json for run in alone] == [run.json for run in together]
    assert shoal.run(scenario, threads=2).json == alone[0].json
    assert shoal.run(shoal.Scenario.from_resolved(scenario.resolved)).json == alone[0].json
    command = "import shoal, sys; sys.stdout.write(shoal.run(shoal.Scenario.from_file(sys.argv[1])).json)"
    elsewhere = subprocess.run([sys.executable, "-c", command, path], capture_output=True, text=True, check=True)
    assert elsewhere.stdout == alone[0].json


def test_results_have_their_list_beside_them(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    (folder / "deep").mkdir(parents=True)
    path = listed(folder, HOSTS, head=STAR.replace("flows.csv", "deep/flows.csv"))
    (folder / "flows.csv").rename(folder / "deep/flows.csv")
    result = shoal.run(path)
    result.save(tmp_path / "out")
    command = "import shoal, sys; sys.stdout.write(shoal.run(shoal.Scenario.from_file(sys.argv[1])).json)"
    again = [sys.executable, "-c", command, tmp_path / "out/scenario.toml"]
    (folder / "deep/flows.csv").unlink()
    assert subprocess.run(again, capture_output=True, text=True, check=True).stdout == result.json
    (tmp_path / "out/flows.csv").write_text(HOSTS.replace("3000", "4000"), encoding="utf-8")
    changed = subprocess.run(again, capture_output=True, text=True, check=False)
    assert "the list of flows has changed: it had 4 flows" in changed.stderr
    (tmp_path / "out/flows.csv").unlink()
    missing = subprocess.run(again, capture_output=True, text=True, check=False)
    assert "the list of flows `deep/flows.csv` (4 flows) is not in" in missing.stderr
    with pytest.raises(OutputError, match="cannot read the list of flows"):
        shoal.Scenario.from_file(path)


MEMORY = """
import pathlib, re, sys, shoal
shoal.run(shoal.Scenario.from_file(sys.argv[1]) if sys.argv[1].endswith(".toml") else
          shoal.Scenario.from_toml(sys.argv[1]))
print(1024 * int(re.search(r"VmHWM:\\s+([0-9]+) kB", pathlib.Path("/proc/self/status").read_text())[1]))
"""


def memory_bytes(argument: str) -> int:
    """The most memory that a process has which runs a scenario."""
    done = subprocess.run([sys.executable, "-c", MEMORY, argument], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.parametrize("kind", ["process", "list"])
def test_memory_grows_by_little_with_flows_that_end(tmp_path: Path, kind: str) -> None:
    def argument(count: int) -> str:
        head = DUMBBELL.replace('"500 ms"', f'"{count / 50_000 + 0.1:g} s"').replace('"all"', "10")
        head = head.replace("100 Mbit/s", "10 Gbit/s")
        if kind == "process":
            arrivals = f'{{ poisson = "50000 per s", until = "{count / 50_000:g} s" }}'
            return f'{head}start = {arrivals}\napp = {{ transfer = "1 kB" }}\n'
        folder = tmp_path / str(count)
        folder.mkdir()
        rows = "".join(f"{number * 20},{500 + number % 900}\n" for number in range(count))
        return str(listed(folder, f"start_us,bytes\n{rows}", head=head))

    few, many = 10_000, 400_000
    grown = memory_bytes(argument(many)) - memory_bytes(argument(few))
    # A flow that is kept takes 1.7 kB and more.
    assert grown / (many - few) < 250
