"""What is too deep or too long is refused at once, with its place, and what is only large is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import SMALL, Cli

import shoal
from shoal._toml import refuse_deep, toml_value
from shoal.errors import ShoalError

SHORT = ["--set", "duration=4 s", "--set", "warmup=1 s"]


def nested(levels: int) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for _ in range(levels):
        table = {"a": table}
    return table


TEXTS = {
    "lists": "x = " + "[" * 500 + "]" * 500,
    "many lists": "x = " + "[" * 5000 + "]" * 5000,
    "never closed": "x = " + "[" * 5000,
    "tables": "x = " + "{a = " * 500 + "1" + "}" * 500,
    "both": "x = " + "[{a = " * 500 + "1" + "}]" * 500,
    "a long key": ".".join(["a"] * 50_000) + " = 1",
    "a long heading": "[" + ".".join(["a"] * 50_000) + "]",
    "a quoted key": " . ".join(['"a"'] * 50_000) + " = 1",
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize(
    "verb", [["check"], ["run"], ["sweep"], ["advise"], ["compare"], ["conformance", "--expected"]]
)
def test_files_are_refused_with_their_place(inside: Cli, folder: Path, verb: list[str], name: str) -> None:
    (folder / "deep.toml").write_text(f"# A file.\n{TEXTS[name]}\n")
    done = inside(*verb, "deep.toml")
    assert done.code == 3
    assert done.err.startswith("error: more than 64 ")
    assert "--> deep.toml:2\n" in done.err
    assert "hint: no key lies so deep" in done.err


@pytest.mark.parametrize("setting", [f"x={'[' * 3000}", f"x={'{a=' * 3000}", f"{'a.' * 30_000}a=1"])
def test_settings_are_refused(inside: Cli, setting: str) -> None:
    for options in (["run"], ["sweep", "--axis", "seed=1,2"]):
        done = inside(*options, "small.toml", "--set", setting)
        assert done.code == 3
        assert "--> --set:1\n" in done.err


def circle() -> dict[str, Any]:
    table: dict[str, Any] = {}
    table["inner"] = [table]
    return table


@pytest.mark.parametrize("value", [lambda: nested(500), lambda: nested(5000), circle, lambda: {"flows": [circle()]}])
def test_values_are_refused_by_their_key(value: Any) -> None:
    scenario = shoal.Scenario.from_toml(SMALL)
    calls = [
        lambda: scenario.override({"bottleneck.aqm": value()}),
        lambda: shoal.sweep(scenario, grid={"bottleneck.aqm": [value()]}),
        lambda: shoal.sweep(scenario, grid={"seed": [1]}, set={"bottleneck.aqm": value()}),
        lambda: shoal.Scenario.from_keys({"bottleneck.aqm": value()}),  # type: ignore[typeddict-unknown-key]
    ]
    for call in calls:
        with pytest.raises(shoal.UsageError, match=r"the value of `bottleneck\.aqm` has more than 64") as refused:
            call()
        assert refused.value.hint
    with pytest.raises(ShoalError):
        shoal.Scenario.from_resolved(value())


def test_what_is_large_and_flat_is_read() -> None:
    points = ", ".join(f"[{number / 8}, {number / 9}]" for number in range(20_000))
    refuse_deep(f"cdf = [{points}]\ntitle = 'a.b.c{'.' * 200}{'[' * 200}' # {'[' * 200}\n", "large.toml")
    refuse_deep('text = """\n' + "[a.b.c\n" * 200 + '"""\n', "text.toml")
    assert toml_value(nested(60)).count("{") == 61


@pytest.mark.parametrize("text", ["[" * 5000, '{"a":' * 5000])
def test_json_that_is_too_deep_is_refused(inside: Cli, folder: Path, text: str) -> None:
    (folder / "r").mkdir()
    for name in ("plan.json", "r/result.json", "r/results.json"):
        (folder / name).write_text(text)
    assert inside("sweep", "plan.json").code == 4
    assert inside("report", "r").code == 4
    (folder / "r" / "result.json").unlink()
    assert inside("report", "r").code == 4


def test_a_summary_that_names_a_seed_twice_is_refused(inside: Cli, folder: Path) -> None:
    assert inside("run", "small.toml", *SHORT, "--seeds", "2", "--trace", "off", "--out", "r").code == 0
    summary = json.loads((folder / "r" / "results.json").read_text())
    (folder / "r" / "results.json").write_text(json.dumps(summary | {"seeds": [1, 1]}))
    done = inside("report", "r", "--out", "again")
    assert done.code == 2
    assert "the seed 1 is there twice" in done.err


def test_neighbours_without_end_are_refused(inside: Cli) -> None:
    key = ["--key", "bottleneck.aqm.dctcp.threshold", "--unit", "packets", "--from", "10", "--to", "13"]
    condition = ["--smallest", "--such-that", "utilisation() > 0.1"]
    done = inside("tune", "small.toml", *SHORT, *key, *condition, "--confirm", "100000000")
    assert done.code == 2
    assert done.err.startswith("error: 100,000,000 neighbours of the answer cannot be confirmed on each side\n")
    assert "hint: give a number from 0 to 1,666 (--confirm); 2 are usual" in done.err
    assert inside("tune", "small.toml", *SHORT, *key, *condition, "--confirm", "1000", "--seeds", "1").code == 0
