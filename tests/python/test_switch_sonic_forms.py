"""Forms of CONFIG_DB that devices have: maps for all ports, thresholds of 0, what is not written, hundreds of ports."""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from switch_documents import SONIC_PROFILE, only, read, said

import shoal

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
