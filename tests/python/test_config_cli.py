"""``shoal config read|write`` and ``shoal list switches``, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Cli
from switch_documents import EOS_DUAL, NXOS_DUAL, SONIC_STEP

import shoal
from shoal.switch import switches

SECRET = "Tr0ub4dor"
NXOS_RUNNING = f"""hostname leaf1
username admin password 5 {SECRET} role network-admin
snmp-server community {SECRET} group network-operator
{NXOS_DUAL}interface Ethernet1/1
  description {SECRET}
tacacs-server key 7 {SECRET}
"""


@pytest.fixture
def files(folder: Path) -> Path:
    (folder / "qos.json").write_text(SONIC_STEP, encoding="utf-8")
    (folder / "running.txt").write_text(NXOS_RUNNING, encoding="utf-8")
    (folder / "eos.txt").write_text(EOS_DUAL, encoding="utf-8")
    return folder


def squeezed(text: str) -> str:
    return " ".join(text.split())


def test_laws_as_written_in_bytes_and_in_time(files: Path, inside: Cli) -> None:
    done = inside("config", "read", "qos.json", "--port-speed", "100G", "--cell", "1000", COLUMNS="200")
    assert done.code == 0, done.err
    (row,) = [line for line in done.out.splitlines() if line.startswith("1 ") and "98304" in line]
    # 98304 bytes are 99 cells of 1000 bytes, and 98304 x 8 / 100 Gbit/s = 7.9 us.
    assert squeezed(row) == "1 ECT mark 98304 bytes 98304 bytes step none 99,000 99,000 7.9 µs 7.9 µs"
    assert "dropped only when the buffer is full" in done.out
    assert "sonic-buildimage#4545" in done.err


def test_tables_fit_a_terminal_of_80_columns(files: Path, inside: Cli) -> None:
    for name in ("qos.json", "running.txt", "eos.txt"):
        done = inside("config", "read", name, "--port-speed", "25G", COLUMNS="80")
        assert done.code == 0, done.err
        assert max(map(len, done.out.splitlines())) <= 80


def test_a_scenario_is_made_that_runs(files: Path, inside: Cli) -> None:
    done = inside("config", "read", "running.txt", "--port-speed", "1G", "--queue", "3", "--out", "q3.toml")
    assert done.code == 0, done.err
    assert "bytes are assumed" in done.err
    scenario = shoal.Scenario.from_file(files / "q3.toml")
    aqm = scenario.resolved["bottleneck"]["aqm"]
    assert aqm["kind"] == "wred"
    assert (aqm["mark"]["min"], aqm["drop"]["min"], aqm["decide"]) == ("120000 B", "600000 B", "dequeue")
    assert [(group["cc"], group["count"]) for group in scenario.resolved["flows"]] == [("dctcp", 4), ("cubic", 4)]
    assert {group["host"] for group in scenario.resolved["flows"]} == {"ideal"}
    result = shoal.run(scenario.override({"duration": "50 ms", "warmup": "10 ms"}))
    assert result.bottlenecks[0]["utilisation"] > 0.5
    again = inside("config", "read", "running.txt", "--port-speed", "1G", "--queue", "3", "--out", "q3.toml")
    assert again.code == 4
    assert "already exists" in again.err
    (files / "mine.toml").write_text("title = 'mine'\n", encoding="utf-8")
    foreign = inside(
        "config", "read", "running.txt", "--port-speed", "1G", "--queue", "3", "--out", "mine.toml", "--force"
    )
    assert foreign.code == 4
    assert (files / "mine.toml").read_text(encoding="utf-8") == "title = 'mine'\n"


def test_what_is_written_is_read_again(files: Path, inside: Cli) -> None:
    inside("config", "read", "running.txt", "--port-speed", "25G", "--queue", "3", "--out", "q3.toml")
    done = inside("config", "write", "q3.toml", "--platform", "nxos", "--nxos-non-ecn", "--queue", "3")
    assert done.code == 0, done.err
    lines = [line.strip() for line in done.out.splitlines()]
    assert (
        "random-detect minimum-threshold 120000 bytes maximum-threshold 120000 bytes drop-probability 100 weight 0 ecn"
        in lines
    )
    assert (
        "random-detect non-ecn minimum-threshold 600000 bytes maximum-threshold 900000 bytes drop-probability 20"
        in lines
    )


def test_cells_of_a_scenario_are_those_of_its_configuration(files: Path, inside: Cli) -> None:
    inside("config", "read", "qos.json", "--port-speed", "25G", "--switch", "broadcom-trident3", "--out", "q1.toml")
    assert shoal.Scenario.from_file(files / "q1.toml").resolved["bottleneck"]["aqm"]["cell"] == "256 B"
    done = inside("config", "write", "q1.toml", "--platform", "sonic", "--queue", "1")
    assert done.code == 0, done.err
    assert json.loads(done.out)["WRED_PROFILE"]["SHOAL"]["green_min_threshold"] == "98304"


def test_secrets_are_never_shown_nor_written(files: Path, inside: Cli) -> None:
    done = inside("config", "read", "running.txt", "--port-speed", "25G", "--queue", "3", "--out", "q3.toml")
    assert done.code == 0
    shown = done.out + done.err + (files / "q3.toml").read_text(encoding="utf-8")
    for broken in (
        NXOS_RUNNING.replace("weight 0 ecn", "weight 99"),
        NXOS_RUNNING.replace("class type queuing", "class"),
        "policy-map type queuing X\n" + NXOS_RUNNING.replace("\n  class", "\n  klass"),
        '{"WRED_PROFILE": {}, "TACPLUS": {"passkey": "' + SECRET + '"',
        '{"QUEUE": {"' + SECRET + '": {}}, "TACPLUS_SERVER": {"10.0.0.1": {"passkey": "' + SECRET + '"}}}',
    ):
        (files / "broken").write_text(broken, encoding="utf-8")
        failed = inside("config", "read", "broken", "--port-speed", "25G")
        assert failed.code == 3, failed.out
        # A key of QUEUE is a statement about queues; nothing else of these files is.
        shown += failed.out + failed.err.replace(f"`{SECRET}` is not a key of QUEUE", "")
    assert SECRET not in shown


@pytest.mark.parametrize(
    ("arguments", "words", "hint"),
    [
        (("read", "nowhere.json", "--port-speed", "1G"), "cannot read `nowhere.json`", "that you may read"),
        (("read", "qos.json", "--port-speed", "fast"), "`fast` is not the rate of a port", "as in 100G"),
        (("read", "qos.json", "--port-speed", "1G", "--queue", "9"), "no queue `9`", "it has: 1"),
        (
            ("read", "qos.json", "--port-speed", "1G", "--switch", "broadcom-trident4"),
            "no switch is called",
            "did you mean",
        ),
        (("read", "qos.json", "--port-speed", "1G", "--not-ect", "maybe"), "--not-ect maybe", "drop or pass"),
        (("read", "qos.json", "--port-speed", "1G", "--flows", "cubic*x"), "not a group of flows", "'cubic*4'"),
        (("read", "qos.json", "--port-speed", "1G", "--rtt", "soon"), "`soon` is not a time", "as in 100us"),
        (("write", "step-single", "--platform", "ios"), "no platform `ios`", "eos"),
        (("write", "step-single", "--platform", "nxos"), "marks without drops", "--nxos-non-ecn"),
        (("write", "step-single", "--platform", "sonic", "--current", "9:1"), "not MIN:MAX", "1048576:2097152"),
        (("write", "step-single", "--platform", "sonic", "--profile", "a b"), "not a name of a profile", "DC_STEP"),
        (("write", "parking-lot", "--platform", "sonic"), "one bottleneck", "coexistence"),
        (("write", "coupled", "--platform", "tc"), "not part of Linux", "dualpi2"),
    ],
)
def test_errors_name_the_remedy(files: Path, inside: Cli, arguments: tuple[str, ...], words: str, hint: str) -> None:
    done = inside("config", *arguments)
    assert done.code in (2, 4)
    assert words in done.err
    assert hint in done.err
    assert done.out == ""


def test_several_laws_need_a_choice(files: Path, inside: Cli) -> None:
    (files / "two.txt").write_text(
        NXOS_DUAL.replace(
            "    priority level 1", "    random-detect minimum-threshold 1 kbytes maximum-threshold 2 kbytes"
        ),
        encoding="utf-8",
    )
    done = inside("config", "read", "two.txt", "--port-speed", "1G", "--out", "x.toml")
    assert done.code == 2
    assert "choose one with --queue: c-out-8q-q3, c-out-8q-q7" in done.err
    assert not (files / "x.toml").exists()


def test_written_files_are_never_replaced(files: Path, inside: Cli) -> None:
    done = inside("config", "write", "step-single", "--platform", "sonic", "--out", "qos.json")
    assert done.code == 2
    assert (files / "qos.json").read_text(encoding="utf-8") == SONIC_STEP
    done = inside("config", "write", "step-single", "--platform", "sonic", "--out", "new.json")
    assert done.code == 0, done.err
    assert "WRED_PROFILE" in json.loads((files / "new.json").read_text(encoding="utf-8"))


def test_switches_are_listed_with_what_is_assumed(inside: Cli) -> None:
    done = inside("list", "switches", COLUMNS="200")
    assert done.code == 0
    for switch in switches():
        assert switch.name in done.out
        assert switch.sources or set(switch.assumed), f"{switch.name}: neither a source nor said to be assumed"
    assert "assumed: cell" in done.out
