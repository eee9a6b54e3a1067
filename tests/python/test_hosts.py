"""Hosts that only Linux has: refused by every command that simulates, before it runs anything."""

from __future__ import annotations

import json

import pytest
from conftest import Cli

import shoal
from shoal import ScenarioError

STOCK = "flows[0].host=linux"


def test_of_several_scenarios_none_runs(inside: Cli, scenario: shoal.Scenario) -> None:
    del inside
    stock = scenario.override({"flows[0].host": "linux"})
    assert scenario.simulator_refuses == ""
    assert stock.simulator_refuses.count("error:") == 1
    calls: list[float] = []
    with pytest.raises(ScenarioError, match="flow group `reno`"):
        shoal.sweep(scenario, grid={"flows[0].host": ["ideal", "linux"]}, seeds=1, progress=calls.append)
    with pytest.raises(ScenarioError, match="flow group `reno`"):
        shoal.run(stock, seeds=2, progress=calls.append)
    assert calls == []


def test_check_says_where_a_scenario_runs(inside: Cli) -> None:
    assert inside("check", "small.toml").out == "small.toml: Small (2 flows, 12 s)\n"
    assert inside("check", "small.toml", "--set", STOCK).out == "small.toml: Small (2 flows, 12 s; on Linux only)\n"


def test_hosts_are_listed_and_described(inside: Cli) -> None:
    listed = json.loads(inside("list", "hosts", "--json").out)["hosts"]
    assert [host["name"] for host in listed] == ["ideal", "linux"]
    schema = json.loads(inside("schema").out)
    key = schema["properties"]["flows"]["items"]["properties"]["host"]
    assert (key["enum"], key["default"]) == (["ideal", "linux"], "ideal")
    [described] = json.loads(inside("describe", "linux", "--json").out)
    assert described["kind"] == "host"
    assert "tcp_tso_autosize" in described["follows"]
