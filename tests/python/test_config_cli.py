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


def test_everything_that_was_read_is_one_object(files: Path, inside: Cli) -> None:
    (files / "port.json").write_text(SONIC_PORT, encoding="utf-8")
    done = inside("config", "read", "port.json", "--port-speed", "100G", "--cell", "1000", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert (found["schema"], found["platform"], found["port"]["rate_bps"]) == (1, "sonic", 100_000_000_000)
    by_name = {one["name"]: one for one in found["queues"]}
    (law,) = by_name["3@Ethernet0"]["laws"]
    # 65536 bytes are 66 cells of 1000 bytes, and 65536 x 8 / 100 Gbit/s = 5.24288 us.
    written = {"written": "65536 bytes", "bytes": 66_000, "time_s": pytest.approx(5.24288e-6)}
    assert (law["packets"], law["does"], law["minimum"]) == ("ECT", "mark", written)
    assert law["probability_at_maximum"] is None
    assert [one["probability_at_maximum"] for one in by_name["0"]["laws"]] == [0.1, 0.1]
    assert by_name["6"]["served"] == {"kind": "strict", "weight": None, "priority": None}
    assert (by_name["6"]["shape_bps"], by_name["6"]["dscp"]) == (1_000_000_000, [46])
    # alpha 1/4 alone: 1518 + 12,000,000 x 0.25 / 1.25.
    assert by_name["0"]["buffer"]["alone_bytes"] == 2_401_518
    assert any("sonic-buildimage#4545" in one["text"] and one["line"] for one in found["remarks"])
    assert SECRET not in inside("config", "read", "running.txt", "--port-speed", "1G", "--json").out


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
        (
            ("write", "step-single", "--platform", "tc", "--profile", "P"),
            "`--profile` is no option of tc",
            "SONiC, ecnconfig",
        ),
        (("write", "step-single", "--platform", "nxos", "--dev", "eth1"), "`--dev` is no option of nxos", "one of tc"),
        (("write", "step-single", "--platform", "ecnconfig", "--current", "9:1"), "not MIN:MAX", "1048576:2097152"),
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


# Two queues with laws of their own, a strict one without, memory that all share, and a map of code points.
SONIC_PORT = json.dumps(
    {
        "WRED_PROFILE": {
            "DC": {
                "ecn": "ecn_all",
                "wred_green_enable": "false",
                "green_min_threshold": "65536",
                "green_max_threshold": "65536",
                "green_drop_probability": "100",
            },
            "BULK": {
                "ecn": "ecn_none",
                "wred_green_enable": "true",
                "green_min_threshold": "300000",
                "green_max_threshold": "900000",
                "green_drop_probability": "10",
            },
        },
        "SCHEDULER": {
            "s0": {"type": "DWRR", "weight": "60"},
            "s3": {"type": "DWRR", "weight": "20"},
            "s6": {"type": "STRICT", "pir": "125000000", "pbs": "9000"},
        },
        "BUFFER_POOL": {"lossy": {"type": "egress", "mode": "dynamic", "size": "12000000"}},
        "BUFFER_PROFILE": {
            "bulk": {"pool": "lossy", "size": "1518", "dynamic_th": "-2"},
            "dc": {"pool": "lossy", "size": "20000", "dynamic_th": "1"},
            "fixed": {"pool": "lossy", "size": "0", "static_th": "64000"},
        },
        "BUFFER_QUEUE": {
            "Ethernet0|0": {"profile": "bulk"},
            "Ethernet0|3": {"profile": "dc"},
            "Ethernet0|6": {"profile": "fixed"},
        },
        "DSCP_TO_TC_MAP": {"M": {"0": "0", "8": "0", "10": "3", "46": "6"}},
        "TC_TO_QUEUE_MAP": {"M": {"0": "0", "3": "3", "6": "6"}},
        "PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "M", "tc_to_queue_map": "M"}},
        "QUEUE": {
            "Ethernet0|0": {"wred_profile": "BULK", "scheduler": "s0"},
            "Ethernet0|3": {"wred_profile": "DC", "scheduler": "s3"},
            "Ethernet0|6": {"scheduler": "s6"},
            "Ethernet4|3": {"wred_profile": "DC", "scheduler": "s3"},
        },
    }
)


def test_queues_of_a_port_make_a_scenario_with_their_scheduler(files: Path, inside: Cli) -> None:
    (files / "port.json").write_text(SONIC_PORT, encoding="utf-8")
    read = ("config", "read", "port.json", "--port-speed", "10G", "--out", "port.toml")
    done = inside(*read)
    assert done.code == 0, done.err
    assert "flows: cubic in queue 0; dctcp in queue 3@Ethernet0" in squeezed(done.err)
    assert "queue 6: no flows, so left out" in done.err
    assert "the scenario has the queues of Ethernet0" in done.err
    aqm = shoal.Scenario.from_file(files / "port.toml").resolved["bottleneck"]["aqm"]
    # The pool, and 1518 + 20000 bytes that are reserved besides.
    assert aqm["memory"] == "12021518 B"
    keys = ("name", "dscp", "weight", "alpha", "reserved")
    assert [tuple(one[key] for key in keys) for one in aqm["queues"]] == [
        ("0", [0, 8], 60, 0.25, "1518 B"),
        ("3@Ethernet0", [10], 20, 2.0, "20000 B"),
    ]
    all_three = inside(*read, "--flows", "dctcp*2@3,cubic*2@0,cubic@6", "--force")
    assert all_three.code == 0, all_three.err
    scenario = shoal.Scenario.from_file(files / "port.toml")
    first = scenario.resolved["bottleneck"]["aqm"]["queues"][0]
    # Strict queues go first; 125 MB/s are 1 Gbit/s, and a static threshold is a limit of its own.
    assert (first["name"], first["priority"], first["dscp"]) == ("6", "strict", [46])
    assert (first["shape"], first["burst"], first["buffer"]) == ("1 Gbit/s", "9000 B", "64000 B")
    assert [(one["name"], one["dscp"]) for one in scenario.resolved["flows"]] == [
        ("cubic", 46),
        ("cubic-0", 0),
        ("dctcp", 10),
    ]
    result = shoal.run(scenario.override({"duration": "60 ms", "warmup": "20 ms"}))
    shares = {one["name"]: one["utilisation"] for one in result.bottlenecks[0]["classes"]}
    assert shares["6"] == pytest.approx(0.1, abs=0.01), "the shaper lets a tenth of the line pass"
    assert shares["0"] / shares["3@Ethernet0"] == pytest.approx(3, rel=0.05), "60 to 20"


@pytest.mark.parametrize(
    ("arguments", "words", "hint"),
    [
        (("--flows", "dctcp*2@7"), "`dctcp*2@7`: there is no queue `7`", "there are: 0, 3@Ethernet0, 6"),
        (("--flows", "dctcp@"), "`dctcp@` is not a group of flows", "CC*COUNT@QUEUE"),
        (("--flows", "dctcp@6", "--queue", "0"), "`dctcp*1@6`: the scenario has one queue, 0", "leave --queue out"),
        (("--port", "Ethernet1"), "the configuration has no queue of `Ethernet1`", "did you mean `Ethernet"),
        (("--flows", "dctpc@3"), "dctpc", "did you mean"),
    ],
)
def test_wrong_queues_of_a_port(files: Path, inside: Cli, arguments: tuple[str, ...], words: str, hint: str) -> None:
    (files / "port.json").write_text(SONIC_PORT, encoding="utf-8")
    done = inside("config", "read", "port.json", "--port-speed", "10G", "--out", "x.toml", *arguments, COLUMNS="200")
    assert done.code in (2, 3), done.out
    assert words in done.err
    assert hint in done.err
    assert not (files / "x.toml").exists()


def test_queues_of_different_policies_or_devices_are_never_mixed(files: Path, inside: Cli) -> None:
    policy = "policy-map type queuing {}\n  class type queuing c-out-8q-q3\n    random-detect minimum-threshold {} "
    policy += "kbytes maximum-threshold 300 kbytes drop-probability 7 weight 0 ecn\n"
    (files / "policies.txt").write_text(policy.format("A", 100) + policy.format("B", 200), encoding="utf-8")
    done = inside("config", "read", "policies.txt", "--port-speed", "10G", "--out", "x.toml", COLUMNS="200")
    assert done.code == 2
    assert "several queues with the number 3: A/c-out-8q-q3, B/c-out-8q-q3" in done.err
    assert "--queue" in done.err
    lines = (
        "tc qdisc add dev eth0 root handle 1: ets bands 2 strict 1 quanta 3000\n"
        "tc qdisc add dev eth0 parent 1:1 handle 10: pie\n"
        "tc qdisc add dev eth0 parent 1:2 handle 20: codel\n"
        "tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc flowid 1:1\n"
        "tc filter add dev eth0 parent 1: protocol all prio 3 matchall flowid 1:2\n"
        "tc qdisc add dev eth1 root handle 1: fq_codel\n"
    )
    (files / "two.sh").write_text(lines, encoding="utf-8")
    first = inside("config", "read", "two.sh", "--port-speed", "1G", "--out", "eth0.toml", "--flows", "cubic@1,reno@2")
    assert first.code == 0, first.err
    aqm = shoal.Scenario.from_file(files / "eth0.toml").resolved["bottleneck"]["aqm"]
    # 0xb8 without the ECN field is 46, EF.
    assert (aqm["queues"][0]["aqm"]["kind"], aqm["queues"][0]["dscp"]) == ("pie", [46])
    assert (aqm["queues"][0]["priority"], aqm["queues"][1]["aqm"]["kind"]) == ("strict", "codel")
    other = inside("config", "read", "two.sh", "--port-speed", "1G", "--out", "eth1.toml", "--port", "eth1")
    assert other.code == 0, other.err
    assert shoal.Scenario.from_file(files / "eth1.toml").resolved["bottleneck"]["aqm"]["kind"] == "fq-codel"


def test_memory_of_an_unknown_size_is_assumed_or_given(files: Path, inside: Cli) -> None:
    text = NXOS_DUAL.replace(
        "    priority level 1",
        "    queue-limit dynamic 7\n    random-detect minimum-threshold 1 kbytes maximum-threshold 2 kbytes",
    )
    (files / "two.txt").write_text(text, encoding="utf-8")
    read = ("config", "read", "two.txt", "--port-speed", "1G", "--out", "two.toml", "--force")
    flows = ("--flows", "dctcp*2@3,cubic*2@7")
    done = inside(*read, *flows, COLUMNS="300")
    assert done.code == 0, done.err
    assert "its size is not in the configuration" in done.err
    assert "which code points lead to which queue is not in the configuration" in done.err
    aqm = shoal.Scenario.from_file(files / "two.toml").resolved["bottleneck"]["aqm"]
    assert "memory" not in aqm
    # DCTCP marks in queue 3; nothing is known of how it is served.
    given = inside(*read, "--buffer", "4000000", *flows)
    assert given.code == 0, given.err
    aqm = shoal.Scenario.from_file(files / "two.toml").resolved["bottleneck"]["aqm"]
    assert aqm["memory"] == "4000000 B"
    assert [(one["name"], one["alpha"]) for one in aqm["queues"]] == [("c-out-8q-q3", 1000.0), ("c-out-8q-q7", 1.0)]


@pytest.mark.parametrize("platform", ["sonic", "nxos", "eos", "tc"])
def test_a_port_that_was_written_is_read_as_the_same_port(files: Path, inside: Cli, platform: str) -> None:
    """A scenario of two classes goes out with its map and comes back: same queues, code points and shares."""
    keys = ("--set", "bottleneck.aqm.queues.rest.aqm={ kind = 'fifo' }", "--set", "bottleneck.aqm.queues.rest.weight=3")
    law = "{ kind = 'wred', mark = { min = '30 kB', max = '30 kB' }, drop = { min = '30 kB', max = '30 kB' } }"
    keys += ("--set", f"bottleneck.aqm.queues.scalable.aqm={law}")
    write = ("config", "write", "two-classes", "--platform", platform, "--queue", "2", *keys)
    # tc has a map in any case, and no option for it.
    with_map = () if platform == "tc" else ("--with-map",)
    done = inside(*write, *with_map, "--out", "port.txt")
    assert done.code == 0, done.err
    read = inside("config", "read", "port.txt", "--port-speed", "1G", "--buffer", "500000", "--out", "again.toml")
    assert read.code == 0, read.err
    aqm = shoal.Scenario.from_file(files / "again.toml").resolved["bottleneck"]["aqm"]
    points = {tuple(one["dscp"]): one["weight"] for one in aqm["queues"]}
    rest = tuple(point for point in range(64) if point != 10)
    assert points.keys() == {(10,), rest}
    assert points[rest] == 3 * points[10,]
    again = inside("config", "write", "again.toml", "--platform", platform, *with_map, "--out", "again.txt")
    assert again.code == 0, again.err
    if platform != "tc":
        # Without a map what leads there is said; tc has no map for the whole device.
        without = inside(*write)
        assert "code point 10 go to this queue is not written" in squeezed(without.err)
        assert "dscp" not in without.out.lower()


def test_shared_memory_is_written_and_read_again(files: Path, inside: Cli) -> None:
    """`port-memory`: 600 kB for two queues, of which 100 kB are reserved for one; here with alpha 1 and 6."""
    law = "{ kind = 'wred', mark = { min = '30 kB', max = '30 kB' }, drop = { min = '30 kB', max = '30 kB' } }"
    queues = "bottleneck.aqm.queues"
    keys = ("--set", f"{queues}.scalable.aqm={law}", "--set", f"{queues}.rest.aqm={{ kind = 'fifo' }}")
    write = ("config", "write", "port-memory", *keys, "--set", f"{queues}.rest.alpha=6", "--queue", "2")
    shipped = shoal.Scenario.named("port-memory").resolved["bottleneck"]["aqm"]
    before = {one["name"]: one for one in shipped["queues"]}
    sonic = inside(*write, "--platform", "sonic", "--with-limit", "--with-map", "--pool", "my_pool", "--out", "a.json")
    assert sonic.code == 0, sonic.err
    assert "alpha 6 becomes 8" in sonic.err
    assert "the pool `my_pool` is to be one of the device" in squeezed(sonic.err)
    tables = json.loads((files / "a.json").read_text(encoding="utf-8"))
    reserved = before["scalable"]["reserved"].replace(" kB", "000")
    assert tables["BUFFER_PROFILE"]["SHOAL_BUFFER_3"] == {"pool": "my_pool", "size": reserved, "dynamic_th": "0"}
    assert tables["BUFFER_PROFILE"]["SHOAL_BUFFER_2"] == {"pool": "my_pool", "size": "0", "dynamic_th": "3"}
    assert "BUFFER_POOL" not in tables
    read = inside("config", "read", "a.json", "--port-speed", "1G", "--buffer", "900000", "--out", "a.toml")
    assert read.code == 0, read.err
    aqm = shoal.Scenario.from_file(files / "a.toml").resolved["bottleneck"]["aqm"]
    assert {(one["name"], one["alpha"]) for one in aqm["queues"]} == {("3", 1.0), ("2", 8.0)}
    # A pool whose size is given holds nothing of what is reserved besides.
    assert aqm["memory"] == f"{900_000 + int(reserved)} B"
    nxos = inside(*write, "--platform", "nxos", "--with-limit")
    assert ["queue-limit dynamic 7" in nxos.out, "queue-limit dynamic 10" in nxos.out] == [True, True]
    for platform in ("eos", "tc"):
        other = inside(*write, "--platform", platform)
        assert "of the memory that queues share is not written (alpha 6" in squeezed(other.err), platform


def test_a_limit_is_written_when_asked(files: Path, inside: Cli) -> None:
    write = ("config", "write", "red-ecn", "--platform", "nxos")
    assert "queue-limit" not in inside(*write).out
    assert "queue-limit 125000 bytes" in inside(*write, "--with-limit").out


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


@pytest.mark.parametrize(
    "name", ["", "eth0; rm -rf /", "$(id)", "`id`", "a b", "x\n", "-rf", "\x1b[31m", "<x>", "a|b", "a" * 99, "../x"]
)
@pytest.mark.parametrize(
    ("platform", "flag"),
    [
        ("tc", "--dev"),
        ("sonic", "--port"),
        ("sonic", "--pool"),
        ("sonic", "--profile"),
        ("eos", "--port"),
        ("nxos", "--profile"),
        ("ecnconfig", "--profile"),
        ("openconfig", "--port"),
    ],
)
def test_names_that_a_shell_or_a_device_reads_otherwise_are_refused(
    inside: Cli, platform: str, flag: str, name: str
) -> None:
    done = inside("config", "write", "step-single", "--platform", platform, f"{flag}={name}")
    assert (done.code, done.out) == (2, "")
    assert " is not a name of a " in done.err
    assert f"hint: {flag} takes " in done.err


@pytest.mark.parametrize(
    ("platform", "flag", "names"),
    [
        ("tc", "--dev", ["eth0.100", "br-lan", "enp3s0f0np0", "s1-eth2"]),
        ("sonic", "--port", ["Ethernet0", "PortChannel0001"]),
        ("eos", "--port", ["Ethernet1/1", "Port-Channel1"]),
        ("openconfig", "--port", ["ethernet-1/1", "xe-0/0/1:0"]),
    ],
)
def test_names_of_devices_and_ports_are_taken(inside: Cli, platform: str, flag: str, names: list[str]) -> None:
    for name in names:
        done = inside("config", "write", "step-single", "--platform", platform, flag, name)
        assert done.code == 0, done.err
        assert name in done.out
