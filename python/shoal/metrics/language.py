"""Expressions over metrics, as papers, sweeps, conditions and the command line write them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from shoal import expression
from shoal._arguments import explained
from shoal.errors import UsageError
from shoal.expression import Functions, UndefinedError
from shoal.metrics.registry import Of, Recorded, metrics

if TYPE_CHECKING:
    from shoal.run_record import RunRecord
    from shoal.scenario import Scenario

_words = {"true": True, "false": False, "True": True, "False": False}
# Bin of the time series where a metric needs one and the scenario has switched it off: what fits the run.
_usual_bin = "auto"


def metric(result: RunRecord, text: str, *, gaps: bool = False) -> float:
    """Evaluate an expression over the metrics; NaN if the run has no such number.

    Raises
    ------
    UndefinedError
        The run has the numbers, but the arithmetic on them has no value, and ``gaps`` (which gives NaN) is not set.
    UsageError
        It is not such an expression.
    """
    known = result.values.get(text)
    return _evaluated(text, _Metrics(result), gaps=gaps) if known is None else known


class _Metrics(Mapping[str, Callable[..., float]]):
    """The metrics as functions of their arguments alone, bound to a run when they are called for."""

    def __init__(self, result: RunRecord) -> None:
        self._result = result

    def __getitem__(self, name: str) -> Callable[..., float]:
        return partial(metrics[name].written, self._result)

    def get(self, name: str, default: Any = None) -> Any:
        """The metric of a name; faster than that of the base class, and a sweep asks for each metric of each run."""
        return self[name] if name in metrics else default

    def __iter__(self) -> Iterator[str]:
        return iter(metrics)

    def __len__(self) -> int:
        return len(metrics)


def _evaluated(text: str, functions: Functions, *, gaps: bool = False) -> float:
    _refuse_arguments(text)
    value = expression.evaluate(text, _words, functions, gaps=gaps)
    if not isinstance(value, int | float):
        raise UsageError(f"`{text}` is not a number", hint="`shoal list metrics` shows what can be measured")
    return float(value)


def measured(result: RunRecord, texts: Iterable[str]) -> dict[str, float | UndefinedError]:
    """Evaluate several expressions over the metrics of a run; for each its value, or why its arithmetic has none.

    Raises
    ------
    UsageError
        One of them is not such an expression, or asks for something that the run does not have.
    """
    functions = _Metrics(result)
    values: dict[str, float | UndefinedError] = {}
    for text in texts:
        try:
            values[text] = _evaluated(text, functions)
        except UndefinedError as error:
            values[text] = error
    return values


def check_metric(text: str) -> None:
    """Refuse an expression that no run has a value of, before anything runs; names of groups are not looked at.

    Raises
    ------
    UsageError
        It is not an expression, or calls a metric that does not exist, or with arguments that it does not take.
    """
    expression.check(text, _words, dict.fromkeys(metrics))
    _refuse_arguments(text)


@lru_cache(maxsize=256)  # a sweep asks for the same few expressions of each of its runs
def _refuse_arguments(text: str) -> None:
    """Refuse what a metric is given and does not take, as far as it is written out."""
    for name, arguments, keywords in expression.calls_in(text):
        if name in metrics:
            try:
                metrics[name].refuse(arguments, keywords)
            except UsageError as error:
                raise UsageError(f"`{text}`: {error}", hint=error.hint) from None


@explained
def default_metrics(scenario: Scenario) -> dict[str, str]:
    """Names and expressions that a sweep shows if nothing else is asked for: utilisation, queue, delay, shares.

    Parameters
    ----------
    scenario
        Whose groups and links the expressions name.
    """
    groups = [group["name"] for group in scenario.facts["groups"]]
    subjects_of: dict[Of, list[dict[str, str]]] = {
        Of.LINK: [{}] if scenario.facts["bottlenecks"] else [],
        # The share of a single group is all.
        Of.GROUP: [{"group": name} for name in groups] if len(groups) > 1 else [],
        Of.RUN: [{}],
    }
    return {
        name.format(**known): f"{declared.name}({arguments.format(**{key: json.dumps(known[key]) for key in known})})"
        for of, subjects in subjects_of.items()
        for declared in metrics.values()
        if declared.of is of
        for known in subjects
        for name, arguments in declared.swept
    }


def recording(scenario: Scenario, texts: Iterable[str], *, lean: bool = False) -> dict[str, object]:
    """Keys of ``[trace]`` that let the runs of a scenario record what expressions need.

    Parameters
    ----------
    scenario
        What will run. What it records already is left as it is.
    texts
        Expressions over the metrics.
    lean
        Leave out the time series if no expression needs it.

    Raises
    ------
    UsageError
        An expression needs what only the scenario can say, such as the length of windows.
    """
    calls = [call for text in texts for call in _calls(text)]
    needed = {_needs(name) for name, _ in calls}
    trace = scenario.resolved["trace"]
    keys: dict[str, object] = {}
    if Recorded.SERIES in needed:
        if trace["series"] == "off":
            keys["trace.series"] = _usual_bin
    elif lean and trace["series"] != "off":
        keys["trace.series"] = "off"
    if Recorded.DISTRIBUTIONS in needed and not trace["distributions"]:
        keys["trace.distributions"] = True
    if Recorded.WINDOWS in needed and trace["windows"] == "off":
        name = next(name for name, _ in calls if _needs(name) is Recorded.WINDOWS)
        raise UsageError(f"`{name}` needs the length of its windows", hint="add it, as in --set trace.windows='10 s'")
    groups = {group["name"]: group["flows"] for group in scenario.facts["groups"]}
    if Recorded.CONTROLLERS in needed and trace["controller_flows"] < sum(groups.values()):
        keys["trace.controller_flows"] = sum(groups.values())
    # Datagrams are measured without a trace.
    unanswered = {group["name"] for group in scenario.resolved["flows"] if "unresponsive" in (group.get("app") or ())}
    traces = any(
        _needs(name) is Recorded.SEGMENTS and not unanswered.intersection(arguments) for name, arguments in calls
    )
    if traces and trace["segment_flows"] < len(groups):
        keys["trace.segment_flows"] = len(groups)
    # So many traced flows are one of each group up to this one.
    ranks = {name: rank for rank, name in enumerate((name for name in groups if groups[name]), 1)}
    for name, arguments in calls:
        # A group that is computed or misspelt is reported when the metric is evaluated.
        group = next((argument for argument in arguments if argument in groups), None)
        if group is None:
            continue
        if _needs(name) is Recorded.CONTROLLER:
            wanted = max(int(str(keys.get("trace.controller_flows", 0))), ranks.get(group, 0))
            if wanted > trace["controller_flows"]:
                keys["trace.controller_flows"] = wanted
        if _needs(name) is Recorded.FLOWS and trace["flows"] != "all" and sum(groups.values()) > trace["flows"]:
            keys["trace.flows"] = "all"
    return keys


def _needs(name: str) -> Recorded | None:
    return metrics[name].needs if name in metrics else None


def _calls(text: str) -> list[tuple[str, list[str]]]:
    """Functions that an expression calls, each with the texts among its arguments."""
    return [
        (name, [value for value in (*arguments, *keywords.values()) if isinstance(value, str)])
        for name, arguments, keywords in expression.calls_in(text)
    ]
