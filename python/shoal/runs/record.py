"""What a sweep keeps of a run: its numbers, what its result says without being asked, and the result, compressed."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic_core import to_json

from shoal._native import Cancel, Run, uncompressed
from shoal.errors import Cancelled, ClusterError, OutputError, UsageError
from shoal.expression import UndefinedError
from shoal.metrics import measured
from shoal.results import Result
from shoal.results.recorded import InMemory, archived
from shoal.runs.recipe import Recipe
from shoal.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Undefined:
    """Why the arithmetic of a metric has no value in a run."""

    text: str
    reason: str


# A number, nothing where the run has no such number, or why its arithmetic has no value.
Value = float | None | Undefined


@dataclass(frozen=True, slots=True)
class Said:
    """A notice of a run."""

    kind: str
    groups: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Record:
    """What is left of a run.

    Attributes
    ----------
    values
        Values of expressions over the metrics.
    said
        Notices of the result.
    fingerprint
        Hash of the result without its seed: runs whose seeds made no difference have the same.
    body
        The result object, compressed; empty if the run failed.
    error
        Why there is no result; ``None`` if there is one.
    tables
        The recorded tables as :func:`shoal.results.recorded.archived` packs them; empty unless they were asked for.
    """

    values: dict[str, Value]
    said: tuple[Said, ...]
    fingerprint: int
    body: bytes
    error: str | None = None
    tables: bytes = b""

    def packed(self) -> tuple[bytes, bytes]:
        """The record as bytes: its numbers as JSON, and the body."""
        values = {
            text: [value.text, value.reason] if isinstance(value, Undefined) else value
            for text, value in self.values.items()
        }
        said = [[notice.kind, notice.groups, notice.text] for notice in self.said]
        head = {"values": values, "said": said, "fingerprint": self.fingerprint, "error": self.error}
        return to_json(head), self.body

    @classmethod
    def unpacked(cls, head: bytes, body: bytes, tables: bytes = b"") -> Record:
        """The record of some bytes.

        Raises
        ------
        OutputError
            They are no record.
        """
        try:
            content = json.loads(head)
            values = {
                text: Undefined(*value) if isinstance(value, list) else value
                for text, value in content["values"].items()
            }
            said = tuple(Said(kind, tuple(groups), text) for kind, groups, text in content["said"])
            return cls(values, said, int(content["fingerprint"]), body, content["error"], tables)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise OutputError(f"a record cannot be read: {error}") from None

    def with_metrics(self, metrics: Sequence[str]) -> Record | None:
        """The record with all of some metrics, ``None`` if the run must be repeated to know them."""
        missing = [text for text in metrics if text not in self.values]
        if not missing:
            return self
        try:
            result = Result(uncompressed(self.body))
            values = {**self.values, **_values(result, missing)}
        except (UsageError, ValueError):
            return None  # it takes a time series, which records do not keep
        return replace(self, values=values)

    def numbers(self, metrics: Sequence[str]) -> dict[str, float]:
        """Values of metrics that are numbers, or NaN where the run has none."""
        known = {text: self.values[text] for text in metrics}
        return {
            text: math.nan if value is None else value
            for text, value in known.items()
            if not isinstance(value, Undefined)
        }

    def beside(self, known: Record) -> Record:
        """The record with what another one of the same run knows besides."""
        return replace(self, values={**known.values, **self.values}, tables=self.tables or known.tables)


def run(recipe: Recipe, scenario: Scenario, seed: int, cancel: Cancel) -> Record:
    """Run a scenario and keep what is asked for; a run that fails leaves a record of why.

    Raises
    ------
    UsageError
        A metric asks for something that the runs do not have, such as a group that is misspelt.
    """
    return measure(recipe, seed, perform(recipe, scenario, seed, cancel))


def perform(recipe: Recipe, scenario: Scenario, seed: int, cancel: Cancel) -> Run | Record:
    """Run a scenario where the recipe says; gives the record of its error if it fails.

    Raises
    ------
    ClusterError
        It is to run on a kernel that this machine does not have.
    """
    try:
        return recipe.plane.run(scenario, seed, cancel)
    except (Cancelled, ClusterError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the Rust side is no Exception
        return failure(error)


def measure(recipe: Recipe, seed: int, finished: Run | Record) -> Record:
    """Keep what is asked for of a run.

    Raises
    ------
    UsageError
        As for :func:`run`.
    """
    return finished if isinstance(finished, Record) else record_of(finished, seed, recipe.metrics)


def record_of(finished: Run, seed: int, metrics: Sequence[str], *, tables: bool = False) -> Record:
    """What is left of a run: its result, some metrics, and its recorded tables if they are asked for.

    Raises
    ------
    UsageError
        A metric asks for something that the run does not have.
    """
    text, fingerprint, body = finished.kept(seed)
    result = Result(text, recorded=InMemory(finished))
    values = _values(result, metrics)
    said = tuple(
        Said(notice["kind"], tuple(notice["groups"]), notice["text"]) for notice in result.data.get("notices", [])
    )
    return Record(values, said, fingerprint, body, tables=archived(finished) if tables else b"")


def failure(error: BaseException) -> Record:
    """The record of a run that failed."""
    kind = type(error).__name__
    return Record({}, (), 0, b"", f"{kind}: {str(error).strip() or 'no message'}")


def _values(result: Result, metrics: Sequence[str]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for text, value in measured(result, metrics).items():
        if isinstance(value, UndefinedError):
            values[text] = Undefined(value.text, value.reason)
        else:
            values[text] = None if math.isnan(value) else value
    return values
