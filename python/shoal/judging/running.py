"""Judges laws: stages, the cheap one first, a limit of time, and scenarios that have no part in the score."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from shoal._arguments import explained
from shoal.errors import ScenarioError, ShoalError, UsageError
from shoal.expression import UndefinedError
from shoal.hunting.law import Law, read_law
from shoal.judging.judged import Episode, Verdict
from shoal.judging.suite import held_out as usual_held_out
from shoal.judging.suite import suite
from shoal.metrics import check_metric, metric, recording
from shoal.results import Result
from shoal.runs.cases import Case, run_cases
from shoal.scenario import Scenario
from shoal.seeds import seed_list

Given = Scenario | str | Path

#: The score of an episode: the least part of a fair share that a group gets, times the part of the link that is used,
#: and half of that where one packet in a hundred waits 100 ms. It is 1 at best, and grows with each of the three.
usual_score = "min(1, least_share()) * (1 - unused()) / (1 + delay_ms(quantile='p99') / 100)"
#: What is shown beside the score.
usual_metrics = {
    "least_share": "least_share()",
    "unused": "unused()",
    "delay_p99_ms": "delay_ms(quantile='p99')",
}
# Runs between two looks at the clock.
_batch = 64


class _TimeoutError(ShoalError):
    """The time is over."""


@explained
def judge(
    law: str,
    scenarios: Iterable[Given] | None = None,
    seeds: int | Iterable[int] = 3,
    *,
    held_out: Iterable[Given] | None = None,
    score: str = usual_score,
    metrics: Mapping[str, str] | None = None,
    stop_below: float | None = None,
    time_limit_s: float | None = None,
    workers: int | None = None,
    cache: str | Path | None = None,
) -> Verdict:
    """Judge a law by the mean of a score over short scenarios, reproducible bit for bit.

    First the first scenario runs with one seed; a law that fails there, or is below ``stop_below``, costs no more. Then
    all scenarios run with all seeds, then those that are held out, with seeds that follow. Neither the number of
    workers nor the clock changes a score: a law that runs out of time has none, nor has one that a scenario refuses.

    Parameters
    ----------
    law
        A controller, a kind of queue, or a table with ``cc`` or ``kind``. It takes the place of ``cc`` in the group
        ``law`` of each scenario, or in its first group, or of the bottleneck's queue.
    scenarios
        What makes the score; :mod:`shoal.judging.suite` if not given.
    seeds
        How many, counted from the seed of each scenario, or which.
    held_out
        Scenarios that have no part in the score; those of the suite if neither these nor ``scenarios`` are given.
    score
        An expression over the metrics, larger is better.
    metrics
        Names and expressions of further numbers.
    stop_below
        The score of the first run below which no other is made.
    time_limit_s
        Real time of the judgement.
    workers, cache
        As for :func:`shoal.sweep`.

    Examples
    --------
    >>> import shoal
    >>> verdict = shoal.judge("dctcp", seeds=1)
    >>> 0 < verdict.score < 1
    True
    """
    shown = dict(usual_metrics if metrics is None else metrics)
    for text in (score, *shown.values()):
        check_metric(text)
    try:
        read = read_law(law)
    except ScenarioError as error:
        return Verdict(law, None, None, "first", [], 0, _line(error))
    rated = suite(of_controller=read.is_controller) if scenarios is None else _scenarios(scenarios)
    if not rated:
        raise UsageError("there is no scenario to judge by", hint="give at least one")
    if held_out is None and scenarios is None:
        unseen = usual_held_out(of_controller=read.is_controller)
    else:
        unseen = _scenarios(held_out or [])
    return _judged(law, _Bench(read, score, shown, workers, cache, time_limit_s), rated, unseen, seeds, stop_below)


def _judged(
    law: str,
    bench: _Bench,
    rated: Sequence[Scenario],
    unseen: Sequence[Scenario],
    seeds: int | Iterable[int],
    stop_below: float | None,
) -> Verdict:
    """Go through the stages as far as the law comes."""
    given = list(seeds) if not isinstance(seeds, int) else seeds
    stage = "first"

    def verdict(episodes: list[Episode], result: float | None, held_out: float | None = None) -> Verdict:
        return Verdict(law, result, held_out, stage, episodes, bench.runs, "" if result is not None else _no_score)

    try:
        first = bench.run(rated[:1], 1, 0, is_held_out=False)
        result = _score(first)
        if stop_below is not None and (result is None or result < stop_below):
            return verdict(first, result)
        stage = "all"
        episodes = bench.run(rated, given, 0, is_held_out=False)
        if not unseen:
            return verdict(episodes, _score(episodes))
        stage = "held-out"
        others = bench.run(unseen, given, 1, is_held_out=True)
        return verdict([*episodes, *others], _score(episodes), _score(others))
    except _TimeoutError:
        return Verdict(law, None, None, stage, [], bench.runs, f"the limit of {bench.time_limit_s:g} s is over")
    except UsageError:
        raise
    except ShoalError as error:
        return Verdict(law, None, None, stage, [], bench.runs, _line(error))


def _line(error: ShoalError) -> str:
    """What is wrong, without the place in a text that nobody wrote."""
    first = str(error).strip().splitlines() or [type(error).__name__]
    return first[0].removeprefix("error: ")


_no_score = "the score has no value in a scenario"


def _scenarios(given: Iterable[Given]) -> list[Scenario]:
    return [item if isinstance(item, Scenario) else Scenario.from_file(item) for item in given]


def _seeds_of(scenario: Scenario, seeds: int | Iterable[int], block: int) -> list[int]:
    """Seeds of a scenario; those of a further block follow the others, so that no seed has a part in two."""
    numbers = seed_list(scenario, seeds)
    return [number + block * (max(numbers) - min(numbers) + 1) for number in numbers]


class _Bench:
    """Runs scenarios with the law in place."""

    def __init__(
        self,
        law: Law,
        score: str,
        metrics: Mapping[str, str],
        workers: int | None,
        cache: str | Path | None,
        time_limit_s: float | None,
    ) -> None:
        self._law, self._score, self._metrics = law, score, metrics
        self._workers, self._cache = workers, cache
        self.time_limit_s = time_limit_s
        self._end_s = math.inf if time_limit_s is None else time.monotonic() + time_limit_s
        self._known: dict[tuple[Scenario, int], Result] = {}
        self.runs = 0

    def run(
        self, scenarios: Sequence[Scenario], seeds: int | Iterable[int], block: int, *, is_held_out: bool
    ) -> list[Episode]:
        """Run scenarios; what ran before is not run again."""
        placed = [(scenario, self._placed(scenario)) for scenario in scenarios]
        wanted = [(in_place, seed) for scenario, in_place in placed for seed in _seeds_of(scenario, seeds, block)]
        missing = [key for key in wanted if key not in self._known]
        texts = tuple(dict.fromkeys((self._score, *self._metrics.values())))
        for begin in range(0, len(missing), _batch):
            if time.monotonic() >= self._end_s:
                raise _TimeoutError("the time is over")
            some = missing[begin : begin + _batch]
            cases = [Case(scenario, [seed], texts) for scenario, seed in some]
            answers = run_cases(cases, workers=self._workers, cache=self._cache)
            self.runs += len(some)
            self._known |= {key: runs[0] for key, runs in zip(some, answers, strict=True)}
        if time.monotonic() >= self._end_s:
            raise _TimeoutError("the time is over")
        return [
            self._episode(
                scenario.title,
                [self._known[in_place, seed] for seed in _seeds_of(scenario, seeds, block)],
                is_held_out=is_held_out,
            )
            for scenario, in_place in placed
        ]

    def _placed(self, scenario: Scenario) -> Scenario:
        if self._law.is_controller:
            names = [group["name"] for group in scenario.facts["groups"]]
            group = "law" if "law" in names else names[0]
            # Options that the scenario has are those of the law that it had.
            table = {"cc": self._law.table["cc"], "cc_options": {}, **self._law.table}
            scenario = scenario.override({f"flows.{group}.{key}": value for key, value in table.items()})
        else:
            scenario = scenario.override({"bottleneck.aqm": dict(self._law.table)})
        keys = recording(scenario, [self._score, *self._metrics.values()], lean=True)
        return scenario.override(keys) if keys else scenario

    def _episode(self, title: str, runs: Sequence[Result], *, is_held_out: bool) -> Episode:
        notices = dict.fromkeys(notice.text for run in runs for notice in run.notices)
        return Episode(
            title,
            _mean([_value(run, self._score) for run in runs]),
            {name: _mean([_value(run, text) for run in runs]) for name, text in self._metrics.items()},
            tuple(notices),
            is_held_out,
        )


def _value(run: Result, text: str) -> float | None:
    try:
        value = metric(run, text, gaps=True)
    except UndefinedError:
        return None
    return None if math.isnan(value) else value


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    # One that is missing is no mean of the others.
    return math.fsum(known) / len(known) if known and len(known) == len(values) else None


def _score(episodes: Sequence[Episode]) -> float | None:
    """The mean over the scenarios, which weigh alike however many seeds they have."""
    return _mean([episode.score for episode in episodes])
