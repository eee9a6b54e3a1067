"""What a metric is, and the list of all of them.

A metric is declared once, by :func:`declare` above the function that finds it in a result. Everything that shows,
compares or computes metrics reads this list: expressions, ``shoal list metrics``, :attr:`shoal.Result.summary`, tables,
the columns of a sweep, comparisons of planes and the reference page.
"""

from __future__ import annotations

import inspect
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from shoal._arguments import in_words, parameters_of, wrong_call
from shoal.errors import ShoalError, UsageError
from shoal.stats import Estimate
from shoal.units import Unit
from shoal.words import in_unit

if TYPE_CHECKING:
    from shoal.run_record import RunRecord

#: Classes of packets, with their titles.
classes = {"all": "all", "ect": "ECT", "not_ect": "not ECT"}
#: Statistics that summaries show of what has a distribution, with their titles.
statistics = {"mean": "mean", "p50": "P50", "p99": "P99"}


class Recorded(StrEnum):
    """What a metric reads beside the summary of a run, so that a run has to record it."""

    SERIES = "time series"
    DISTRIBUTIONS = "distributions"
    WINDOWS = "distributions of windows"
    CONTROLLER = "changes of the windows of a group's first flow"
    CONTROLLERS = "changes of the windows of all flows"
    FLOWS = "every flow of a group"
    SEGMENTS = "packets of a flow of each group"


class Of(Enum):
    """What a metric is about."""

    RUN = ()
    PAIR = ("first", "second")
    GROUP = ("group",)
    LINK = ("link",)


Formula = Callable[..., float | None]
_Formula = TypeVar("_Formula", bound=Formula)


@dataclass(frozen=True, slots=True)
class Metric:
    """A number of a run that has a name.

    Attributes
    ----------
    name
        What expressions call it; ends with its unit where it has one.
    title
        For people.
    unit
        In which expressions have it.
    formula
        Gives it for a result, in the unit of results (s, bit/s); its parameters are those of the expression.
    needs
        What the run has to record for it.
    digits
        How many digits behind the point tables show.
    summary
        Its name in :attr:`shoal.Result.summary`; the parameters in braces take each of their values.
    swept
        Columns that a sweep has of it if none are asked for: their names and arguments, with parameters in braces.
    tabled
        Whether tables of a whole run have a row of it.
    compared
        The kind (:mod:`shoal.compare.kinds`) of which comparisons of both planes have it.
    applies
        Whether a link or group has such a number at all; called as the formula, without its further parameters.
    """

    name: str
    title: str
    unit: Unit
    formula: Formula
    needs: Recorded | None = None
    digits: int = 2
    summary: str | None = None
    swept: tuple[tuple[str, str], ...] = ()
    tabled: bool = False
    compared: str | None = None
    applies: Callable[..., bool] | None = None

    @property
    def doc(self) -> str:
        """One or two sentences: how it is got."""
        summary = (inspect.getdoc(self.formula) or "").partition("\n\n")[0].replace("\n", " ")
        return re.sub(r":func:|``", lambda match: "" if match[0].startswith(":") else "`", summary)

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """What an expression may give it."""
        # Whoever writes an expression does not give the result, the first argument.
        return list(inspect.signature(self.formula).parameters.values())[1:]

    @property
    def call(self) -> str:
        """How it is written in expressions, with the defaults of its arguments."""
        arguments = [
            parameter.name if parameter.default is parameter.empty else f"{parameter.name}={parameter.default!r}"
            for parameter in self.parameters
        ]
        return f"{self.name}({', '.join(arguments)})"

    @property
    def of(self) -> Of:
        """What it is about."""
        return _about(self.formula)

    @property
    def signature(self) -> str:
        """How it is called, with the kinds of its arguments in words."""
        return f"{self.name}({', '.join(_taken(parameter) for parameter in _taken_by(self.formula))})"

    def refuse(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        """Refuse arguments that it does not take.

        Raises
        ------
        UsageError
            One is of another kind, out of range, unknown or missing; the hint shows how it is called.
        """
        wrong = wrong_call(self.name, _taken_by(self.formula), arguments, keywords)
        names = [parameter.name for parameter in _taken_by(self.formula)]
        for name, value in (*zip(names, arguments, strict=False), *keywords.items()):
            if wrong is None and isinstance(value, int | float) and value < 0 and not _has_sign(name):
                wrong = f"`{name}` of `{self.name}` is {value}, expected nothing below 0"
        if wrong is not None:
            raise UsageError(wrong, hint=f"it is {self.signature}")

    def written(self, result: RunRecord, *arguments: Any, **keywords: Any) -> float:
        """Its value in its own unit, as expressions have it; NaN if there is none.

        Raises
        ------
        UsageError
            There is no such link or group, or the run has not recorded what it takes, or it does not take that.
        """
        try:
            value = self.formula(result, *arguments, **keywords)
        except ShoalError:
            raise
        except (TypeError, AttributeError, ValueError, OverflowError):
            self.refuse(arguments, keywords)
            raise
        except IndexError:
            raise UsageError(
                f"there is no such monitored link: the run has {len(result.bottlenecks)}",
                hint="links are counted from 0; a link is monitored if its queue is not fifo, or with monitored = true",
            ) from None
        return math.nan if value is None else self.unit.of(float(value))

    def summarised(self, result: RunRecord, known: Mapping[str, object]) -> Iterator[tuple[str, float | None]]:
        """Names and values that a summary has of it, for a link, group or pair; in the unit of results."""
        if self.summary is None or (self.applies is not None and not self.applies(result, *known.values())):
            return
        free = [name for name in _choices if f"{{{name}}}" in self.summary]
        for values in itertools.product(*(_choices[name] for name in free)):
            chosen = dict(zip(free, values, strict=True))
            yield self.summary.format(**known, **chosen), self.formula(result, **known, **chosen)

    def unit_in_summary(self, name: str) -> Unit | None:
        """The unit of the number that summaries have under a name; ``None`` if that is not a name of this metric."""
        if self.summary is None or not re.fullmatch(re.sub(r"\\{\w+\\}", ".+", re.escape(self.summary)), name):
            return None
        # Summaries hold what the result holds: s and bit/s, as their names say.
        return next((unit for unit in _said if self.summary.endswith(unit.suffix)), self.unit)


# What parameters of formulas are in summaries, one after the other.
_choices: dict[str, tuple[str, ...]] = {"which": tuple(classes), "quantile": tuple(statistics)}

#: All metrics by their names, in the order in which they are declared.
metrics: dict[str, Metric] = {}


def declare(name: str, title: str, unit: Unit, **more: Any) -> Callable[[_Formula], _Formula]:
    """Declare that a function of a result is a metric; for the parameters see :class:`Metric`."""

    def add(formula: _Formula) -> _Formula:
        if name in metrics:
            raise ValueError(f"two metrics are called {name}")
        metrics[name] = Metric(name, title, unit, formula, **more)
        return formula

    return add


def _has_sign(name: str) -> bool:
    """Whether a parameter may be below 0: links and steps are counted from 0, and times and rates begin there."""
    return name not in ("link", "step", "width", "within") and not name.endswith(("_s", "_mbps"))


def _taken_by(formula: Formula) -> tuple[inspect.Parameter, ...]:
    # Whoever writes an expression does not give the result, the first argument.
    return parameters_of(formula)[1:]


def _taken(parameter: inspect.Parameter) -> str:
    words = f"{parameter.name}: {in_words(parameter.annotation)}"
    return words if parameter.default in (parameter.empty, None) else f"{words} = {parameter.default!r}"


@cache
def _about(formula: Formula) -> Of:
    """What a formula is about, by its parameters; kept, because every summary of a run asks it of every metric."""
    names = set(inspect.signature(formula).parameters)
    return next((of for of in Of if of.value and set(of.value) <= names), Of.RUN)


def summary(result: RunRecord) -> dict[str, float | None]:
    """The numbers that most questions are about: of the run, of its groups, and of its first monitored link."""
    names = [group["name"] for group in result.groups]
    # As the pairs of the result, which are sorted by their keys.
    pairs = sorted(itertools.combinations(names, 2), key="/".join)
    subjects_of: list[tuple[Of, list[dict[str, object]]]] = [
        (Of.RUN, [{}]),
        (Of.PAIR, [{"first": first, "second": second} for first, second in pairs]),
        (Of.GROUP, [{"group": name} for name in names]),
        (Of.LINK, [{"link": 0}] if result.bottlenecks else []),
    ]
    return {
        name: value
        for of, subjects in subjects_of
        for known in subjects
        for metric in metrics.values()
        if metric.summary is not None and metric.of is of
        for name, value in metric.summarised(result, known)
    }


def unit_of(name: str) -> Unit:
    """The unit of a number in a summary or a column: that of the metric of this name, or what the name ends with."""
    for metric in metrics.values():
        if unit := metric.unit_in_summary(name):
            return unit
    said = next((unit for unit in _said if name.endswith(unit.suffix)), Unit.RATIO)
    return metrics[name].unit if name in metrics else said


# Units that a name may end with; of `_per_s` and `_s` the longer one counts.
_said = sorted((unit for unit in Unit if unit.suffix), key=lambda unit: -len(unit.suffix))


def quantity(name: str, value: Estimate | None) -> str:
    """A number of :attr:`RunRecord.summary`, or of a metric whose name ends with a unit, as a person reads it."""
    if value is None:
        return "-"
    unit = unit_of(name)
    width = None if value.half_width is None else unit.back(value.half_width)
    return in_unit(unit, Estimate(unit.back(value.mean), width, value.n), 4)
