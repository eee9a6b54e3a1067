"""Whatever the API is given, it answers in words: every public name, with values of every wrong kind."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, get_origin

import polars as pl
import pytest
from conftest import SMALL

import shoal

KEY = "bottleneck.aqm.dctcp.threshold"
SHORT = {"duration": "300 ms", "warmup": "100 ms", "flows.dctcp.start": "0 s"}


def deep() -> dict[str, Any]:
    table: dict[str, Any] = {}
    inner = table
    for _ in range(5000):
        inner["a"] = {}
        inner = inner["a"]
    return table


def loop() -> list[Any]:
    entries: list[Any] = []
    entries.append(entries)
    return entries


WRONG = [
    *(None, 3, -1, 0, 2.5, float("nan"), 10**30, True, "x", "", "\0", b"x"),
    *([], [1], [None], ("a", 1), {}, {"a": 1}, {1: 2}, object(), int, os, iter([])),
    *(deep, loop),
]
# What says that Python wrote it.
PYTHON = re.compile(
    r"object is not|has no attribute|positional argument|not supported between|NoneType|' object|__\w+__"
)


def made(value: Any) -> Any:
    """What is too deep for the name of a test is made in it."""
    return value() if inspect.isfunction(value) else value


def answers_in_words(call: Callable[..., Any], *arguments: Any, **keywords: Any) -> None:
    try:
        call(*arguments, **keywords)
    except shoal.ShoalError as error:
        message = str(error)
    else:
        return
    assert message
    assert not PYTHON.search(message), message


@pytest.fixture(scope="module")
def small() -> shoal.Scenario:
    return shoal.Scenario.from_toml(SMALL).override(SHORT)


@pytest.fixture(scope="module")
def run_once(small: shoal.Scenario) -> shoal.Result:
    return shoal.run(small)


@pytest.fixture(scope="module")
def known(small: shoal.Scenario) -> dict[str, dict[str, Any]]:
    """Arguments with which the functions work."""
    bisected = {"key": KEY, "low": 10, "high": 11, "unit": "packets", "such_that": "utilisation() >= 0", "seeds": 1}
    free = {KEY: shoal.FreeParameter(KEY, 1, 40, unit="packets")}
    return {
        "run": {"scenario": small},
        "sweep": {"scenario": small, "grid": {KEY: ["10 packets"]}},
        "tune": {"scenario": small, **bisected},
        # Refused for its few runs, after everything was read.
        "optimise": {"scenario": small, "free": free, "maximise": "utilisation()", "runs": 4, "seeds": 1},
        "default_metrics": {"scenario": small},
        "estimate": {"values": [1.0, 2.0]},
    }


def callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in shoal.__all__:
        member = getattr(shoal, name)
        is_plain = get_origin(member) is not None or not callable(member)
        if is_plain or (isinstance(member, type) and issubclass(member, Exception | Enum)):
            continue
        # Nobody calls the bases of laws, nor what shoal gives to their methods.
        if member in (shoal.Controller, shoal.Queue, shoal.Flow, shoal.Port):
            continue
        yield name, member
        if isinstance(member, type):
            for inner, kept in vars(member).items():
                if isinstance(kept, classmethod) and not inner.startswith("_"):
                    yield f"{name}.{inner}", getattr(member, inner)


def parameters(call: Callable[..., Any]) -> list[inspect.Parameter]:
    return [each for each in inspect.signature(call).parameters.values() if each.kind is not each.VAR_KEYWORD]


def try_all(call: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    answers_in_words(call, nonsense=1)
    answers_in_words(call, *range(40))
    for parameter in parameters(call):
        for wrong in map(made, WRONG):
            if parameter.kind is parameter.VAR_POSITIONAL:
                answers_in_words(call, wrong)
            else:
                answers_in_words(call, **{**arguments, parameter.name: wrong})


@pytest.mark.parametrize("name", dict(callables()))
def test_everything_public_refuses_wrong_kinds_in_words(
    name: str, known: dict[str, dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call = dict(callables())[name]
    answers_in_words(call)
    try_all(call, known.get(name, {}))


@pytest.mark.parametrize("kind", [kind for name in shoal.__all__ if isinstance(kind := getattr(shoal, name), type)])
def test_words_that_do_not_exist_are_refused_with_those_that_do(kind: type) -> None:
    if issubclass(kind, Enum):
        for wrong in (None, 3, "", "nonsense", [], b"x"):
            with pytest.raises(shoal.UsageError, match="there is no"):
                kind(wrong)


def objects(run_once: shoal.Result) -> dict[str, object]:
    damaged = [shoal.Result(text) for text in ("", "{}", "[]", '{"schema": 1, "groups": 3}')]
    results = shoal.run(run_once.scenario, seeds=2)
    return {
        "scenario": run_once.scenario,
        "result": run_once,
        "results": results,
        "sweep": shoal.Sweep([shoal.Point({KEY: 1}, results)]),
        "point": shoal.Point({KEY: 1}, results),
        "model": shoal.models()[0],
        "estimate": shoal.estimate([1.0, 2.0]),
        "no runs": shoal.Results([]),
        "no points": shoal.Sweep([]),
        **{f"damaged {number}": result for number, result in enumerate(damaged)},
        "damaged runs": shoal.Results(damaged[1:2]),
    }


def test_objects_refuse_wrong_kinds_in_words(
    run_once: shoal.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for object_ in objects(run_once).values():
        for name in dir(type(object_)):
            member = inspect.getattr_static(type(object_), name)
            if name.startswith(("_", "plot_")) or name in ("index", "count"):
                continue
            if inspect.isfunction(member):
                try_all(getattr(object_, name), {})
            else:
                answers_in_words(getattr, object_, name)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: shoal.run(None), "`scenario` of `run` is None, expected a Scenario or a text or a path"),
        (shoal.run, "`run` lacks `scenario`: a Scenario or a text or a path"),
        (lambda: shoal.run("coexistence", sed=1), "`run` takes no `sed`"),
        (lambda: shoal.run("coexistence", workers="x"), "`workers` of `run` is 'x', expected a whole number"),
        (lambda: shoal.run("coexistence", workers=0), "0 workers"),
        (lambda: shoal.Scenario.named(3), "`name` of `Scenario.named` is 3, expected a text"),
        (lambda: shoal.Side("smalest"), "there is no side `smalest`"),
        (lambda: shoal.Result("{}").summary, "this result is damaged: `schema` is None, expected a whole number"),
        (lambda: shoal.Results([]).json, "there are no runs"),
    ],
)
def test_the_words_name_the_argument_and_what_it_takes(call: Callable[[], object], message: str) -> None:
    with pytest.raises(shoal.ShoalError) as refused:
        call()
    assert str(refused.value) == message
    assert refused.value.hint
    assert refused.value.__cause__ is None


def test_an_error_of_the_caller_passes(small: shoal.Scenario) -> None:
    """What fails though every argument is right is not explained away."""

    def progress(_: float) -> None:
        raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        shoal.run(small, seeds=2, progress=progress)


@pytest.mark.parametrize("damage", [b"", b"PAR1", b"half", b"end", b"middle"])
def test_a_damaged_table_is_named(run_once: shoal.Result, tmp_path: Path, damage: bytes) -> None:
    run_once.save(tmp_path / "saved")
    path = tmp_path / "saved" / "tables" / "queue.parquet"
    good = path.read_bytes()
    contents = {b"half": good[: len(good) // 2], b"end": good[:-1], b"middle": good[:30] + bytes(200) + good[230:]}
    path.write_bytes(contents.get(damage, damage))
    loaded = shoal.Result.load(tmp_path / "saved")
    with pytest.raises(shoal.OutputError, match=r"cannot read `.*/queue\.parquet`") as refused:
        loaded.table("queue")
    assert refused.value.hint == "run the scenario again"


METRICS = {
    "oscillation_ms('dctcp')": "`link` of `oscillation_ms` is 'dctcp', expected a whole number",
    "utilisation('a')": "`link` of `utilisation` is 'a', expected a whole number",
    "utilisation(1.5)": "`link` of `utilisation` is 1.5, expected a whole number",
    "utilisation(true)": "`link` of `utilisation` is True, expected a whole number",
    "utilisation(-1)": "`link` of `utilisation` is -1, expected nothing below 0",
    "utilisation(min(0, 1 - 2))": "`link` of `utilisation` is -1, expected nothing below 0",
    "share(1)": "`group` of `share` is 1, expected a text",
    "share()": "`share` lacks `group`: a text",
    "delay_ms('all', 7)": "`quantile` of `delay_ms` is 7, expected a text",
    "count('dctcp', 1)": "`what` of `count` is 1, expected a text",
    "convergence_s('dctcp', within='a')": "`within` of `convergence_s` is 'a', expected a number",
    "convergence_s('dctcp', smooth_s=-1)": "`smooth_s` of `convergence_s` is -1, expected nothing below 0",
    "value(1)": "`path` of `value` is 1, expected a text",
    "min('a', 1)": "`min` takes 2 or more numbers",
    "sqrt()": "`sqrt` takes one number",
    "jain() < 'a'": "a text is compared with a number",
}


@pytest.mark.parametrize("text", METRICS)
def test_metrics_say_what_they_take(run_once: shoal.Result, text: str) -> None:
    calls: list[Callable[[], object]] = [
        lambda: run_once.metric(text),
        lambda: shoal.sweep(run_once.scenario, grid={"seed": [1]}, metrics=[text])[0].estimate(text),
    ]
    for call in calls:
        with pytest.raises(shoal.UsageError) as refused:
            call()
        assert str(refused.value) == f"`{text}`: {METRICS[text]}"
        assert refused.value.hint


def test_a_metric_shows_its_signature_in_words(run_once: shoal.Result) -> None:
    with pytest.raises(shoal.UsageError) as refused:
        run_once.metric("convergence_s()")
    assert refused.value.hint == (
        "it is convergence_s(group: a text, within: a number = 0.1, target_mbps: a number, smooth_s: a number = 1.0)"
    )


def test_every_metric_takes_only_what_it_says(run_once: shoal.Result) -> None:
    from shoal.metrics import metrics

    for name, metric in metrics.items():
        for wrong in ("'x'", "7", "-3", "2.5", "true"):
            for count in range(1, len(metric.parameters) + 2):
                answers_in_words(run_once.metric, f"{name}({', '.join([wrong] * count)})")


def test_arrays_and_columns_are_lists_of_numbers() -> None:
    assert shoal.estimate(pl.Series([1.0, 3.0])) == shoal.estimate([1.0, 3.0])  # type: ignore[arg-type]
