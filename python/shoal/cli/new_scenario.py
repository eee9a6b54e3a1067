"""``shoal new scenario``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from shoal import _native
from shoal._toml import parsed
from shoal.cli.console import data, talk
from shoal.errors import ScenarioError, UsageError
from shoal.files import make_parent, refuse_foreign, reserved_file, unwritable, write_text
from shoal.skeleton.scenario import (
    SCHEMA_NAME,
    USUAL_DURATION,
    USUAL_RATE,
    USUAL_RTT,
    Draft,
    checked,
    required_keys,
    scenario_text,
    starting_values,
)

_key_of_law = "bottleneck.aqm."
_what = "scenario of `shoal new scenario`"


def scenario(
    file: Annotated[Path, typer.Argument(metavar="[FILE]", help="Where to write it.")] = Path("scenario.toml"),
    rate: Annotated[
        str | None, typer.Option("--rate", metavar="RATE", help=f"Of the bottleneck, as in '{USUAL_RATE}'.")
    ] = None,
    rtt: Annotated[
        str | None, typer.Option("--rtt", metavar="TIME", help=f"Round trip without queueing, as in '{USUAL_RTT}'.")
    ] = None,
    flows: Annotated[
        list[str] | None,
        typer.Option("--flows", metavar="CC[*COUNT]", help="A group of flows, as in 'cubic*2'. Repeatable."),
    ] = None,
    queue: Annotated[
        str | None,
        typer.Option("--queue", metavar="KIND", help="Law of the bottleneck: one of `shoal list queues`."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A value for a key of the law, as in [cyan]bottleneck.aqm.threshold='20 packets'[/]. Repeatable.",
        ),
    ] = None,
    duration: Annotated[
        str | None, typer.Option("--duration", metavar="TIME", help=f"Of the run, as in '{USUAL_DURATION}'.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Ask nothing: what is not given takes its usual value.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an older file of this command.")] = False,
) -> None:
    """Ask a few questions and write a scenario file in which every key of the queue is explained.

    What is given as an option is not asked; without a terminal nothing is. The values of the queue are at first those
    of a scenario that comes with shoal. The JSON Schema is written beside the file, so that editors know every key.

    [bold]Examples[/]

      shoal new scenario
      shoal new scenario office.toml --rate '100 Mbit/s' --flows 'cubic*4' --flows dctcp --queue coupled --yes
    """
    refuse_foreign(file, _is_ours, what=_what, option="FILE", force=force)
    draft = Draft()
    is_asking = not yes and sys.stdin.isatty() and sys.stderr.isatty()

    def settle(given: str | None, question: str, usual: str, take: Callable[[str], None]) -> None:
        if given is not None or not is_asking:
            take(usual if given is None else given)
            return
        while True:
            try:
                take(typer.prompt(question, default=usual, err=True))
                checked(draft)
            except (ScenarioError, UsageError) as error:
                _refused(error)
            else:
                return

    def law(kind: str) -> None:
        draft.law = starting_values(kind)
        draft.queue = kind

    def groups(text: str) -> None:
        draft.flows = [group.strip() for group in text.split(",")]

    settle(rate, "Rate of the bottleneck", draft.rate, lambda answer: setattr(draft, "rate", answer))
    settle(rtt, "Round-trip time without queueing", draft.rtt, lambda answer: setattr(draft, "rtt", answer))
    settle(
        ", ".join(flows) if flows else None,
        "Flows: CC or CC*COUNT, separated by commas (see `shoal list controllers`)",
        ", ".join(draft.flows),
        groups,
    )
    settle(queue, "Queue (see `shoal list queues`)", draft.queue, law)
    given = dict(_setting(text) for text in set_ or [])
    draft.law.update(given)
    for key, meaning in required_keys(draft.queue).items():
        if key not in given:
            # A shipped scenario has a value for each of them: a text with its unit.
            settle(None, f"{key}: {meaning}", str(draft.law[key]), partial(draft.law.__setitem__, key))
    settle(duration, "Duration of the run", draft.duration, lambda answer: setattr(draft, "duration", answer))

    checked(draft)
    make_parent(file, option="FILE")
    with reserved_file(file, _is_ours, what=_what, option="FILE", force=force):
        _write(file, scenario_text(draft, file=str(file)))
    data.text(f"{file}\n")
    talk.note(f"`shoal run {file}` runs it; {file.with_name(SCHEMA_NAME)} tells editors what each key means")


def _setting(text: str) -> tuple[str, object]:
    key, equals, value = text.partition("=")
    if not equals or not key.startswith(_key_of_law):
        raise UsageError(
            f"`--set {text}` is not {_key_of_law}KEY=VALUE", hint="every other key can be changed in the file"
        )
    return key, parsed(value)


def _refused(error: ScenarioError | UsageError) -> None:
    if isinstance(error, ScenarioError):
        talk.diagnostics(str(error))
    else:
        talk.error(str(error), hint=error.hint)


def _write(file: Path, text: str) -> None:
    """Write the file and the schema beside it, or neither."""
    schema = file.with_name(SCHEMA_NAME)
    is_new = not schema.exists()
    try:
        if is_new or _is_schema(schema):
            write_text(schema, _native.schema())
        else:
            talk.warning(f"`{schema}` is not a schema of shoal, so it stays", hint="`shoal schema` prints the schema")
        try:
            write_text(file, text)
        except BaseException:
            if is_new:
                schema.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise unwritable(file, error, option="FILE") from error


def _is_ours(path: Path) -> bool:
    return path.read_bytes().startswith(f"#:schema {SCHEMA_NAME}\n".encode())


def _is_schema(path: Path) -> bool:
    try:
        return path.is_file() and json.loads(path.read_text(encoding="utf-8")).get("title") == "shoal scenario"
    except (ValueError, AttributeError):
        return False
