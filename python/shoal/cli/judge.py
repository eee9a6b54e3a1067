"""``shoal judge``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.console import data
from shoal.cli.declare import argument, option
from shoal.errors import UsageError
from shoal.models import nearest
from shoal.scenario import Scenario, read_text

if TYPE_CHECKING:
    from shoal.judging import Verdict

_Request = Annotated[
    Path | None,
    argument("[REQUEST]", "A file with a request in JSON, or several, one a line; [cyan]-[/] for standard input."),
]
_Law = Annotated[str | None, option("--law", "LAW", "A controller, a kind of queue, or a table with cc or kind.")]
_Seeds = Annotated[int, typer.Option("--seeds", min=1, metavar="N", help="Runs of every scenario.")]

# Keys of a request, with what their values are.
_kinds: dict[str, tuple[type, ...]] = {
    "law": (str, dict),
    "scenarios": (list,),
    "held_out": (list,),
    "seeds": (int, list),
    "score": (str,),
    "metrics": (dict,),
    "stop_below": (int, float),
    "time_limit_s": (int, float),
}


def judge(
    request: _Request = None,
    law: _Law = None,
    seeds: _Seeds = 3,
    python: options.Python = None,
    as_json: options.Json = False,
    workers: options.Workers = None,
    keep: Annotated[bool, typer.Option("--keep", help="Use and keep finished runs in the cache.")] = False,
) -> None:
    """Judge a law by a score over short scenarios: for people a table, for programs JSON in and out.

    A request is an object with "law", and if wanted "scenarios", "held_out" (names, files, or scenarios as objects),
    "seeds", "score", "metrics", "stop_below" and "time_limit_s". Each line of it is answered by a line with "metrics"
    (among them "combined_score" and "held_out_score") and "artifacts". Scores are the same bit for bit everywhere.

    [bold]Examples[/]

      shoal judge --law dctcp
      echo '{"law": "reno", "seeds": 5}' | shoal judge -
    """
    if (request is None) == (law is None):
        raise UsageError("nothing is judged, or two things are", hint="write --law LAW, or a file of requests, or -")
    from shoal.judging import judge as run_judge

    cache = options.kept_runs(fresh=not keep)
    if law is not None:
        verdict = run_judge(law, seeds=seeds, workers=workers, cache=cache)
        if as_json:
            data.json(verdict.json)
        else:
            _show(verdict)
        return
    text = sys.stdin.read() if str(request) == "-" else read_text(request or Path("-"))
    for number, asked in enumerate(_requests(text), 1):
        arguments = _arguments(asked, number)
        data.json(run_judge(**arguments, workers=workers, cache=cache).json)
        sys.stdout.flush()


def _requests(text: str) -> Iterator[Any]:
    """The object of a text, or one of each line."""
    try:
        yield json.loads(text)
        return
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
    for number, line in enumerate(lines, 1):
        try:
            yield json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"line {number} is no request: {error}", hint='as in {"law": "dctcp", "seeds": 3}'
            ) from None


def _arguments(asked: Any, number: int) -> dict[str, Any]:
    if not isinstance(asked, dict) or "law" not in asked:
        raise UsageError(f"request {number} names no law", hint='as in {"law": "dctcp", "seeds": 3}')
    for key, value in asked.items():
        if key not in _kinds:
            raise UsageError(f"request {number}: there is no `{key}`", hint=nearest(key, list(_kinds)))
        if not isinstance(value, _kinds[key]) or isinstance(value, bool):
            names = " or ".join(
                {"str": "text", "dict": "object"}.get(kind.__name__, kind.__name__) for kind in _kinds[key]
            )
            raise UsageError(f"request {number}: `{key}` is {value!r}, expected {names}")
    arguments: dict[str, Any] = dict(asked)
    if isinstance(asked["law"], dict):
        from shoal._toml import toml_value

        arguments["law"] = toml_value(asked["law"], "law")
    for key in ("scenarios", "held_out"):
        if key in asked:
            arguments[key] = [_scenario(item, f"request {number}") for item in asked[key]]
    return arguments


def _scenario(item: Any, name: str) -> Scenario | str:
    if isinstance(item, str):
        return item
    if isinstance(item, Mapping):
        keys: Any = item
        return Scenario.from_keys(keys, name=name)
    raise UsageError(f"{name}: {item!r} is no scenario", hint="a name, a file, or an object with the scenario's keys")


def _show(verdict: Verdict) -> None:
    data.heading(f"{verdict.law}: {verdict.error or f'score {verdict.score:.4g}'}")
    data.table(verdict.table())
    if verdict.held_out is not None and verdict.gap is not None:
        data.sentence(f"Held out: {verdict.held_out:.4g}, the score is {verdict.gap:+.4g} better.")
    options.print_notices([text.removesuffix(".") for text in verdict.artifacts["notices"]])
