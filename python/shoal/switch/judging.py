"""Which queues starve CUBIC, and which DCTCP: both behind each queue alone, at the speed of its port."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal.errors import UsageError
from shoal.parallel import Progress
from shoal.results import Results
from shoal.runs.cases import Case, run_cases
from shoal.scenario import Scenario
from shoal.stats import Estimate
from shoal.switch.checks import answers
from shoal.switch.model import Queue
from shoal.switch.simulate import Experiment, Group, scenario_text
from shoal.table import Table
from shoal.words import count_of, significant

_seeds = (1, 2, 3)
_scalable = Group("dctcp", 4)
# CUBIC as hosts have it, and as it is where they ask for ECN.
_classic = (Group("cubic", 4), Group("cubic", 4, asks_for_ecn=True))
_labels = {"dctcp": "DCTCP", "cubic": "CUBIC"}
# Parts of a fair share below which a kind of flows is starved, as the simulator's notices have it, or squeezed.
_starved, _squeezed = 0.1, 0.5


@dataclass(frozen=True, slots=True)
class Judgement:
    """What DCTCP and one kind of CUBIC get behind a queue.

    Attributes
    ----------
    queue
        The queue, alone on its port.
    has_ecn
        Whether CUBIC asks for ECN.
    parts
        For each controller what its flows get, as parts of a fair share of the link.
    utilisation, delay_ms
        Part of the time in which the link sends, and 99th percentile of the queueing delay in ms.
    mechanisms
        Why flows are starved, as the runs say it.
    unknown
        Why nothing was run; empty if runs were.
    """

    queue: Queue
    has_ecn: bool
    parts: dict[str, Estimate | None]
    utilisation: Estimate | None = None
    delay_ms: Estimate | None = None
    mechanisms: tuple[str, ...] = ()
    unknown: str = ""

    @property
    def beside(self) -> str:
        """What DCTCP shares the queue with."""
        return "CUBIC with ECN" if self.has_ecn else "CUBIC"

    @property
    def least(self) -> tuple[str, float]:
        """The controller that gets least, and which part of a fair share."""
        known = {name: part.mean for name, part in self.parts.items() if part is not None}
        name = min(known, key=lambda name: known[name], default="")
        return name, known.get(name, 1.0)

    @property
    def verdict(self) -> str:
        """What it comes to, in a few words."""
        if self.unknown:
            return "not judged"
        name, part = self.least
        if part >= _squeezed:
            return "both get half of a fair share or more"
        return f"{'starves' if part < _starved else 'squeezes'} {_labels[name]}"


def judge(
    queues: Sequence[Queue],
    experiment: Experiment,
    *,
    workers: int | None = None,
    cache: str | Path | None = None,
    progress: Progress = False,
) -> list[Judgement]:
    """Run DCTCP with CUBIC, without and with ECN, behind each queue alone; worst first.

    Parameters
    ----------
    queues
        What was read; queues with the same law are run once.
    experiment
        The port, the round trip and the hosts; its groups are not looked at.
    workers, cache, progress
        As for :func:`shoal.sweep`.
    """
    judgements: list[Judgement] = []
    cases: list[Case] = []
    pairs: list[tuple[Queue, Group]] = []
    for queue in queues:
        for classic in _classic:
            try:
                text = scenario_text(queue, replace(experiment, groups=(_scalable, classic)), title="judged")
            except UsageError as error:
                judgements.append(Judgement(queue, classic.asks_for_ecn, {}, unknown=str(error)))
                continue
            cases.append(Case(Scenario.from_toml(text, name=f"queue {queue.name}"), _seeds))
            pairs.append((queue, classic))
    results = run_cases(cases, count_of(len(queues), "queue"), workers=workers, cache=cache, progress=progress)
    judgements += [_judged(*pair, runs) for pair, runs in zip(pairs, results, strict=True)]
    return sorted(judgements, key=lambda each: (bool(each.unknown), each.least[1]))


def _judged(queue: Queue, classic: Group, runs: Results) -> Judgement:
    flows = _scalable.count + classic.count
    fair_mbps = runs[0].bottlenecks[0]["rate_bps"] / flows / 1e6
    parts = {
        group.controller: runs.metric(f"rate_mbps('{group.controller}') / {fair_mbps!r}")
        for group in (_scalable, classic)
    }
    # The first of the runs that says it; why stands behind the semicolon.
    starved = [each["text"] for run in runs for each in run.data["notices"] if each["kind"] == "starved"]
    mechanisms = tuple(text.partition("; ")[2] for text in starved[:1])
    delay_ms = runs.metric("delay_ms('all', 'p99')")
    return Judgement(queue, classic.asks_for_ecn, parts, runs.metric("utilisation()"), delay_ms, mechanisms)


def judgement_table(judgements: Sequence[Judgement]) -> Table:
    """One line a queue and kind of CUBIC, worst first."""
    heads = ("Queue", "Beside DCTCP", "Verdict", "Packets that are not ECT", "DCTCP", "CUBIC", "Link busy", "P99 delay")
    rows = [
        (
            each.queue.name,
            each.beside,
            each.verdict,
            each.unknown or dict(answers(each.queue))["Packets that are not ECT"],
            _percent(each.parts.get("dctcp")),
            _percent(each.parts.get("cubic")),
            _percent(each.utilisation),
            "-" if each.delay_ms is None else f"{significant(each.delay_ms)} ms",
        )
        for each in judgements
    ]
    return Table("", heads, rows, words=4)


def _percent(value: Estimate | None) -> str:
    return "-" if value is None else f"{100 * value.mean:.3g} %"


def judgement_json(judgements: Sequence[Judgement]) -> list[dict[str, Any]]:
    """One object a queue and kind of CUBIC: parts of a fair share, with intervals."""

    def number(value: Estimate | None) -> dict[str, Any] | None:
        return None if value is None else value.to_dict()

    return [
        {
            "queue": each.queue.name,
            "cubic_asks_for_ecn": each.has_ecn,
            "verdict": each.verdict,
            "least": None if each.unknown else each.least[0],
            "parts_of_a_fair_share": {name: number(part) for name, part in each.parts.items()},
            "utilisation": number(each.utilisation),
            "delay_p99_ms": number(each.delay_ms),
            "not_ect": dict(answers(each.queue))["Packets that are not ECT"],
            "mechanisms": list(each.mechanisms),
            "unknown": each.unknown or None,
        }
        for each in judgements
    ]
