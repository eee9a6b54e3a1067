"""Forms of CONFIG_DB that devices have: maps for all ports, thresholds of 0, what is not written, hundreds of ports."""

from __future__ import annotations

import itertools
import json
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from switch_documents import SONIC_PROFILE, law, only, read, said

import shoal
from shoal.switch import Switch
from shoal.switch.model import Action, NotEct, Scheduler, Serving

MAPS = {
    "global": {"dscp_to_tc_map": "all", "tc_to_queue_map": "all"},
    "Ethernet0,Ethernet4": {"dscp_to_tc_map": "own", "tc_to_queue_map": "own", "pfc_enable": "3"},
}


def tables(profile: dict[str, str], **more: Any) -> str:
    """A device with one profile in queue 3 of two ports."""
    queues = {f"{port}|3": {"wred_profile": "P"} for port in ("Ethernet0", "Ethernet8")}
    return json.dumps({"WRED_PROFILE": {"P": profile}, "QUEUE": queues, **more})


@pytest.mark.parametrize("order", list(itertools.permutations(MAPS)))
def test_the_entry_of_a_port_goes_before_that_of_all_ports(order: tuple[str, ...]) -> None:
    maps = {
        "DSCP_TO_TC_MAP": {"all": {"8": "3"}, "own": {"26": "3"}},
        "TC_TO_QUEUE_MAP": {"all": {"3": "3"}, "own": {"3": "3"}},
        "PORT_QOS_MAP": {key: MAPS[key] for key in order},
    }
    configuration = read(tables(SONIC_PROFILE, **maps))
    # Ports whose packets are led to a queue in different ways have different queues.
    assert {queue.ports: queue.dscp for queue in configuration.queues} == {("Ethernet0",): (26,), ("Ethernet8",): (8,)}
    assert "queue 3@Ethernet0: priority flow control is on" in said(configuration)
    assert "queue 3@Ethernet8" not in said(configuration)
    away = read(tables(SONIC_PROFILE, **maps).replace("Ethernet0|3", "Ethernet12|3"))
    assert away.queues[0].dscp == (8,)
    assert "priority flow control" not in said(away)


def with_ends(least: str, most: str) -> dict[str, str]:
    return SONIC_PROFILE | {"green_min_threshold": least, "green_max_threshold": most}


def test_thresholds_of_0_are_the_largest_buffer() -> None:
    never = read(tables(with_ends("0", "0")))
    assert (never.queues[0].laws, never.queues[0].unknown) == ((), "")
    assert "thresholds of 0 stand for the largest buffer, so it never acts" in said(never)
    for least, most in (("0", "200000"), ("200000", "0")):
        half = read(tables(with_ends(least, most)))
        assert half.queues[0].laws == ()
        assert half.queues[0].unknown.startswith("a threshold of 0 stands for the largest buffer")
        assert "largest buffer" in said(half)
    # Nobody asks for the thresholds of a profile that neither marks nor drops.
    idle = with_ends("0", "0") | {"ecn": "ecn_none", "wred_green_enable": "false"}
    assert said(read(tables(idle))) == ""


def test_a_probability_that_is_not_written_is_said() -> None:
    profile = {key: value for key, value in SONIC_PROFILE.items() if "probability" not in key}
    assert "`P` has no `green_drop_probability`: orchagent takes 100 %" in said(read(tables(profile)))
    step = profile | {"green_min_threshold": "400000"}
    assert "probability" not in said(read(tables(step)))  # it has no effect


def many(ports: int) -> str:
    """A device with a key for each queue and port, as `sonic-cfggen` writes it."""
    keys = [f"Ethernet{4 * port}|{queue}" for port in range(ports) for queue in range(7)]
    content = {
        "WRED_PROFILE": {"P": SONIC_PROFILE},
        "BUFFER_POOL": {"b": {"size": "12000000"}},
        "BUFFER_PROFILE": {"b": {"pool": "b", "size": "0", "dynamic_th": "3"}},
        "QUEUE": {key: {"wred_profile": "P"} for key in keys},
        "BUFFER_QUEUE": {key: {"profile": "b"} for key in keys},
    }
    return json.dumps(content, indent=4)


def test_hundreds_of_ports_take_no_longer_each() -> None:
    def least_cpu_s(ports: int) -> float:
        text, times = many(ports), []
        for _ in range(3):
            start = time.process_time()
            assert len(read(text).queues) == 7
            times.append(time.process_time() - start)
        return min(times)

    # Eight times the ports: 8 if each takes the same, 64 if each looks at all others.
    assert least_cpu_s(256) < 20 * least_cpu_s(32)


def test_lines_of_names_are_those_of_the_file() -> None:
    text = tables(SONIC_PROFILE | {"ecn": "ecn_some"})
    long = json.dumps(json.loads(text), indent=2)
    line = next(number for number, row in enumerate(long.splitlines(), 1) if '"ecn"' in row)
    with pytest.raises(shoal.ScenarioError, match=rf"text:{line}\n"):
        read(long)
    # A text that looks like a name is none, and an escaped name is the name.
    strange = long.replace('"P": {', '"note": "\\"ecn\\": {", "\\u0050": {', 1)
    with pytest.raises(shoal.ScenarioError, match=rf"text:{line}\n"):
        read(strange.replace('"note": "\\"ecn\\": {", ', ""))
    assert only(json.dumps(json.loads(tables(SONIC_PROFILE)))).mark is not None


DEVICE = {
    "WRED_PROFILE": {"P": SONIC_PROFILE},
    "SCHEDULER": {"s": {"type": "DWRR", "weight": "20"}},
    "QUEUE": {"Ethernet0|3": {"wred_profile": "P", "scheduler": "s"}, "Ethernet4|3-4": {"wred_profile": "P"}},
    "PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "m", "tc_to_queue_map": "m"}},
    "DSCP_TO_TC_MAP": {"m": {"8": "3"}},
    "TC_TO_QUEUE_MAP": {"m": {"3": "3"}},
}


def flat(*, is_dump: bool = False) -> dict[str, Any]:
    """The database itself: a name for each entry."""
    entries = {f"{name}|{key}": entry for name, table in DEVICE.items() for key, entry in table.items()}
    if not is_dump:
        return entries
    dump = {name: {"type": "hash", "value": entry, "ttl": -0.001} for name, entry in entries.items()}
    return dump | {"FEATURE|bgp": {"type": "hash", "value": {"NULL": "NULL"}}}


def test_the_database_itself_is_read_as_its_configuration() -> None:
    expected = read(json.dumps(DEVICE))
    assert len(expected.queues) == 3
    for content in (flat(), flat(is_dump=True)):
        for indent in (None, 2):
            assert read(json.dumps(content, indent=indent)).queues == expected.queues
    broken = json.dumps(flat() | {"WRED_PROFILE|P": SONIC_PROFILE | {"ecn": "ecn_some"}}, indent=1)
    line = next(number for number, row in enumerate(broken.splitlines(), 1) if '"ecn"' in row)
    with pytest.raises(shoal.ScenarioError, match=rf"text:{line}\n"):
        read(broken)


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        ({"localhost": DEVICE, "asic0": DEVICE}, "the databases of several ASICs: localhost, asic0", "jq '.asic0'"),
        ([{"op": "add", "path": "/QUEUE", "value": {}}], "a patch .RFC 6902. changes what a device has", "whole"),
        ([], "CONFIG_DB is an object of tables", "right file"),
    ],
)
def test_other_forms_are_refused_as_what_they_are(content: Any, message: str, hint: str) -> None:
    with pytest.raises(shoal.ScenarioError, match=message) as caught:
        read(json.dumps(content), platform="sonic")
    assert hint in str(caught.value)


def test_truth_of_json_is_that_of_the_database() -> None:
    words = tables(SONIC_PROFILE | {"wred_green_enable": "true"})
    assert read(words.replace('"true"', "true")).queues == read(words).queues
    assert read(words.replace('"true"', "false")).queues[0].drop is None


def test_ports_of_another_speed_are_said() -> None:
    device = {**DEVICE, "PORT": {"Ethernet0": {"speed": "25000"}, "Ethernet8": {"speed": "400000"}}}
    assert "ports of this file have 25 Gbit/s" in said(read(json.dumps(device), rate_bps=100 * 10**9))
    assert "ports of this file" not in said(read(json.dumps(device), rate_bps=25 * 10**9))  # the other has no queue


def test_the_speed_of_the_port_is_that_of_the_file(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "config_db.json"
    device = {**DEVICE, "PORT": {"Ethernet0": {"speed": "25000"}, "Ethernet4": {"speed": "25000"}}}
    file.write_text(json.dumps(device), encoding="utf-8")
    assert "ports of 25.000 Gbit/s" in cli("config", "read", str(file)).out
    two = {**device, "PORT": {"Ethernet0": {"speed": "25000"}, "Ethernet4": {"speed": "100000"}}}
    for content, words in ((two, "its ports have 25 and 100 Gbit/s"), (DEVICE, "does not have the speed of its ports")):
        file.write_text(json.dumps(content), encoding="utf-8")
        refused = cli("config", "read", str(file))
        assert refused.code == 2
        assert words in " ".join(refused.err.split())
        assert "--port-speed" in refused.err


PORTS = {f"Ethernet{number}": {"alias": f"eth{number}"} for number in (0, 4, 8, 12)}
SERVED = {"SCHEDULER": {"S": {"type": "DWRR", "weight": "5"}}}


@pytest.mark.parametrize(
    ("ports", "key", "hint"),
    [
        (PORTS, "Ethernet0-Ethernet8|3-4", "as in Ethernet0,Ethernet4,Ethernet8|3-4"),
        (PORTS, "Ethernet12,Ethernet4-8|3", "as in Ethernet4,Ethernet8|3"),
        ({}, "Ethernet0-Ethernet8|3", "as in Ethernet0,...,Ethernet8|3"),
    ],
)
@pytest.mark.parametrize("table", ["QUEUE", "BUFFER_QUEUE"])
def test_a_range_of_ports_is_refused_as_by_orchagent(ports: dict[str, object], key: str, hint: str, table: str) -> None:
    content = {"PORT": ports, **SERVED, "QUEUE": {"Ethernet0|0": {"scheduler": "S"}}}
    content[table] = {**content.get(table, {}), key: {"scheduler": "S"}}  # type: ignore[dict-item]
    with pytest.raises(shoal.ScenarioError, match="is a range of ports, which orchagent takes for the name") as refused:
        read(json.dumps(content))
    assert hint in str(refused.value)


def test_maps_of_a_range_of_ports_are_refused_too() -> None:
    maps = {"Ethernet0-8": {"dscp_to_tc_map": "M"}}
    with pytest.raises(shoal.ScenarioError, match="`Ethernet0-8` is a range of ports") as refused:
        read(json.dumps({**SERVED, "QUEUE": {"Ethernet0|0": {"scheduler": "S"}}, "PORT_QOS_MAP": maps}))
    assert "as in Ethernet0,...,Ethernet8\n" in str(refused.value)


@pytest.mark.parametrize("port", ["Ethernet-BP0", "Ethernet-Rec0", "CPU", "Ethernet1-2"])
def test_ports_with_hyphens_in_their_names_are_no_ranges(port: str) -> None:
    ports = {port: {}} if port == "Ethernet1-2" else {}
    queue = only(json.dumps({"PORT": ports, **SERVED, "QUEUE": {f"{port}|0": {"scheduler": "S"}}}))
    assert queue.ports == (port,)


@pytest.mark.parametrize(
    ("text", "line", "message", "hint"),
    [
        ('{\n"QUEUE": {}, // passkey S3CR3T\n"PORT": {}}', 2, "a comment begins here", "take the comments out"),
        ('{\n"QUEUE":\n/* S3CR3T */ {}}', 3, "a comment begins here", "take the comments out"),
        ('{\n# S3CR3T\n"QUEUE": {}}', 2, "a comment begins here", "take the comments out"),
        ('{"QUEUE": {\n"S3CR3T": "1",\n}}', 3, "a comma stands behind the last entry", "take it out"),
        ('"QUEUE": {"S3CR3T": 1},\n"PORT": {}', 1, "the braces around the tables are missing", "put `{` in front"),
        ('{"QUEUE": {}}\n{"PORT": {"S3CR3T": 1}}', 2, "something stands behind its end", "one document"),
        ('{"QUEUE": {}\n"PORT": {"S3CR3T": 1}}', 2, "a comma is missing", "write one between two entries"),
        ("{\"QUEUE\": {\n'S3CR3T': 1}}", 2, "property name", "JSON has double quotes"),
        ('config = {"QUEUE": {"S3CR3T": 1}}', 1, "Expecting value", "without what stands around it"),
        ('{"QUEUE": {"S3CR3T": 1}', 1, "Expecting ',' delimiter", "is this file complete?"),
    ],
)
def test_what_is_not_json_is_said_without_its_text(text: str, line: int, message: str, hint: str) -> None:
    with pytest.raises(shoal.ScenarioError) as refused:
        read(text, platform="sonic")
    said = str(refused.value)
    assert f"--> text:{line}\n" in said
    assert message in said
    assert hint in said
    assert "S3CR3T" not in said


# As scripts, an interactive redis-cli and its MONITOR have them.
HSET = [
    'redis-cli -n 4 HSET "WRED_PROFILE|P" \\\n  "ecn" "ecn_all" wred_green_enable true \\\n  green_min_threshold 1\n'
    'sudo sonic-db-cli CONFIG_DB hset "WRED_PROFILE|P" green_min_threshold 1000 green_max_threshold 3000\n'
    '$ redis-cli -n 4 HSET "WRED_PROFILE|P" green_drop_probability 20  # of 100\n'
    'redis-cli -n 4 HMSET "QUEUE|Ethernet0|3" wred_profile P scheduler S\n'
    'redis-cli -n 4 HSET "SCHEDULER|S" type DWRR weight 7\nredis-cli -n 4 HSET "TACPLUS|global" passkey S3CR3T\n'
    'redis-cli -n 0 HSET "QUEUE|Ethernet0|5" wred_profile P\n',
    "HSET WRED_PROFILE|P ecn ecn_all wred_green_enable true wred_red_enable true green_min_threshold 1000\n"
    "HSET WRED_PROFILE|P green_max_threshold 3000 green_drop_probability 20\nHDEL WRED_PROFILE|P wred_red_enable\n"
    "HSET QUEUE|Ethernet0|3 wred_profile P scheduler S\nHSET QUEUE|Ethernet0|4 wred_profile P\n"
    "HSET SCHEDULER|S weight 7 type DWRR\nDEL QUEUE|Ethernet0|4\n",
    '1700000000.123456 [4 127.0.0.1:5000] "HSET" "WRED_PROFILE|P" "ecn" "ecn_all" "wred_green_enable" "true"\n'
    '1700000000.123457 [4 unix:/var/run/redis.sock] "HSET" "WRED_PROFILE|P" "green_min_threshold" "1000"\n'
    '1700000000.123458 [4 127.0.0.1:5000] "HSET" "WRED_PROFILE|P" "green_max_threshold" "3000"\n'
    '1700000000.123459 [4 127.0.0.1:5000] "HSET" "WRED_PROFILE|P" "green_drop_probability" "20"\n'
    '1700000000.123460 [4 127.0.0.1:5000] "HSET" "QUEUE|Ethernet0|3" "wred_profile" "P" "scheduler" "S"\n'
    '1700000000.123460 [4 127.0.0.1:5000] "HSET" "SCHEDULER|S" "type" "DWRR" "weight" "7"\n'
    '1700000000.123461 [0 127.0.0.1:5000] "HSET" "QUEUE|Ethernet0|5" "wred_profile" "P"\n',
]


@pytest.mark.parametrize("text", HSET)
def test_commands_of_redis_set_the_fields_of_the_database(text: str) -> None:
    configuration = read(text)
    (queue,) = configuration.queues
    assert (queue.index, queue.ports) == (3, ("Ethernet0",))
    assert queue.scheduler == Scheduler(Serving.WEIGHTED, weight=7)
    assert queue.mark == law(Action.MARK, 1000, 3000, Fraction(20, 100))
    assert queue.drop == law(Action.DROP, 1000, 3000, Fraction(20, 100))
    assert "commands change a database whose other fields are not in this file" in said(configuration)
    assert "S3CR3T" not in said(configuration)


def test_what_commands_leave_to_the_database_is_not_known() -> None:
    text = 'HSET "WRED_PROFILE|P" ecn ecn_all green_min_threshold 1000 green_max_threshold 3000\n'
    assert only(text).not_ect is NotEct.PLATFORM
    assert "no command sets `wred_green_enable` of `P`" in said(read(text))
    assert only(f'{text}HSET "WRED_PROFILE|P" wred_green_enable false\n').not_ect is NotEct.TAIL_ONLY
    with pytest.raises(shoal.ScenarioError, match="`HSET` needs a value for each field") as refused:
        read('redis-cli -a S3CR3T -n 4 HSET "WRED_PROFILE|P" ecn  # S3CR3T\n')
    assert "S3CR3T" not in str(refused.value)


def test_a_profile_without_thresholds_of_a_colour_never_acts_on_it() -> None:
    profile = {"ecn": "ecn_all", "wred_red_enable": "true", "red_min_threshold": "50000", "red_max_threshold": "51000"}
    text = json.dumps({"WRED_PROFILE": {"P": profile}, "QUEUE": {"Ethernet0|1": {"wred_profile": "P"}}})
    configuration = read(text)
    (queue,) = configuration.queues
    assert (queue.laws, queue.unknown) == ((), "")
    assert "no thresholds for green packets: the device takes the largest buffer" in said(configuration)
    assert "--colour red reads those" in said(configuration)
    assert only(text, switch=Switch(colour="red")).mark == law(Action.MARK, 50000, 51000)


def test_a_scheduler_that_the_file_does_not_have_is_said() -> None:
    configuration = read(json.dumps({"QUEUE": {"Ethernet0|1": {"scheduler": "scheduler.1"}}}))
    assert "there is no SCHEDULER `scheduler.1` in this file" in said(configuration)
