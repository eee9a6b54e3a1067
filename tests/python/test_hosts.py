"""Hosts: what only Linux has is refused by every command that simulates, before it runs anything."""

from __future__ import annotations

import json

import pytest
from conftest import Cli

import shoal
from shoal import ScenarioError

NAMES = ["ideal", "linux-6-gso", "linux-6-10g", "linux-6-25g", "linux-6-100g", "linux-3.2-1g", "freebsd-14-10g"]
STOCK = 'flows[0].stack="linux-3.18"', 'flows[0].host={ pacing = "fq" }'


def test_of_several_scenarios_none_runs(inside: Cli, scenario: shoal.Scenario) -> None:
    del inside
    older = scenario.override({"flows[0].stack": "linux-3.18"})
    stock = older.override({"flows[0].host": {"pacing": "fq"}})
    assert scenario.simulator_refuses == ""
    assert stock.simulator_refuses.count("error:") == 1
    calls: list[float] = []
    with pytest.raises(ScenarioError, match="flow group `reno`"):
        shoal.sweep(older, grid={"flows[0].host": ["ideal", {"pacing": "fq"}]}, seeds=1, progress=calls.append)
    with pytest.raises(ScenarioError, match="flow group `reno`"):
        shoal.run(stock, seeds=2, progress=calls.append)
    assert calls == []


def test_check_says_where_a_scenario_runs(inside: Cli) -> None:
    assert inside("check", "small.toml").out == "small.toml: Small (2 flows, 12 s)\n"
    older, stock = (["--set", keys] for keys in STOCK)
    said = inside("check", "small.toml", *older, *stock).out
    assert said == "small.toml: Small (2 flows, 12 s; on Linux only)\n"
    current = ("--set", 'flows[0].stack="linux-6"')
    assert inside("check", "small.toml", *current, *stock).out == "small.toml: Small (2 flows, 12 s)\n"


def test_hosts_are_listed_and_described(inside: Cli) -> None:
    listed = json.loads(inside("list", "hosts", "--json").out)["hosts"]
    assert [host["name"] for host in listed] == NAMES
    schema = json.loads(inside("schema").out)
    key = schema["properties"]["flows"]["items"]["properties"]["host"]
    assert (key["oneOf"][0]["enum"], key["default"]) == (NAMES, "ideal")
    [described] = json.loads(inside("describe", "linux-6-gso", "--json").out)
    assert described["kind"] == "host"
    assert "tcp_tso_autosize" in described["follows"]
