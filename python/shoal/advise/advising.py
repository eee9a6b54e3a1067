"""The search: a look at every candidate, the best of each family in all situations, and around the best of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil
from pathlib import Path
from typing import Any

from shoal.advise.candidates import Candidate, candidates, families, knobs, scaled
from shoal.advise.judging import Judged, Means, judge, means, numbers
from shoal.advise.question import Question
from shoal.advise.traffic import Length, Situation, look, mix, scenario, situations, thorough
from shoal.parallel import Progress
from shoal.results import Result
from shoal.runs.cases import Case, run_cases
from shoal.scenario import Scenario

# Packets in all first looks at candidates, and in all other runs: what two cores simulate in less than 90 s.
_most_looked_at = 180e6
_most_packets = 220e6
# Situations of a first look at least: the traffic as asked, and scalable flows alone, which need the largest K.
_least_seen = 2
# Candidates of each family that are tried in all situations; one if their runs have too many packets, however short.
_kept = 2
# Candidates of each family at least that are looked at in more than the traffic as asked.
_promising_least = 4
_seeds = (1, 2, 3)
# Factors by which the parameters of the recommended law are changed, to see what happens around it.
_factors = (0.5, 2.0)


class Verdict(StrEnum):
    """What to do with scalable traffic at this port."""

    SHARE = "share"
    SEPARATE = "separate"
    LEAVE = "leave"
    NONE = "none"


@dataclass(frozen=True)
class Standing:
    """A candidate that was tried in all situations.

    Attributes
    ----------
    candidate
        The law with its parameters.
    judged
        What it is worth.
    measured
        Means over the seeds for each situation.
    """

    candidate: Candidate
    judged: Judged
    measured: Mapping[Situation, Means]


@dataclass(frozen=True)
class Around:
    """The recommended law when one thing is otherwise.

    Attributes
    ----------
    what
        What is otherwise, in words.
    judged, measured
        What it is worth then, and means over the seeds, in the traffic as asked.
    """

    what: str
    judged: Judged
    measured: Means


@dataclass(frozen=True)
class Advice:
    """The answer to a question.

    Attributes
    ----------
    question
        What was asked.
    verdict
        What to do with scalable traffic.
    recommended
        The best candidate that meets what the goal requires; if none does, the one that is nearest to it.
    ranking
        The best of each family, best first; it begins with the recommended one.
    tried
        All that were tried in all situations, best first.
    around
        What happens when something is otherwise than was asked.
    scenario
        The traffic as asked behind the recommended law.
    length
        How long the runs were that decided.
    screened, runs
        Numbers of candidates, and of runs.
    """

    question: Question
    verdict: Verdict
    recommended: Standing
    ranking: tuple[Standing, ...]
    tried: tuple[Standing, ...]
    around: tuple[Around, ...]
    scenario: Scenario
    length: Length
    screened: int
    runs: int


class _Runner:
    """Runs scenarios and counts them."""

    def __init__(self, workers: int | None, cache: str | Path | None, progress: Progress) -> None:
        self._settings: dict[str, Any] = {"workers": workers, "cache": cache, "progress": progress}
        self.runs = 0

    def means(self, wanted: Sequence[Scenario], seeds: Sequence[int], label: str) -> list[Means]:
        """Means over the seeds for each scenario."""
        self.runs += len(wanted) * len(seeds)
        cases = [Case(scenario, seeds) for scenario in wanted]
        return [means(list(map(numbers, runs))) for runs in run_cases(cases, label, finish=_lean, **self._settings)]


@dataclass(frozen=True)
class _Search:
    """What the steps of a search share: the question, its situations, and what runs scenarios."""

    question: Question
    situations: Sequence[Situation]
    runner: _Runner

    def at(self, candidate: Candidate, situation: Situation, length: Length) -> Scenario:
        """The scenario of a situation behind a candidate."""
        return scenario(self.question, situation, candidate.aqm, length, separate=candidate.separate)

    def measure(
        self, tried: Sequence[Candidate], where: Sequence[Situation], length: Length, seeds: Sequence[int], label: str
    ) -> Iterator[tuple[Candidate, dict[Situation, Means]]]:
        """Each candidate with the means of each situation."""
        wanted = [self.at(candidate, situation, length) for candidate in tried for situation in where]
        measured = iter(self.runner.means(wanted, seeds, label))
        for candidate in tried:
            yield candidate, {situation: next(measured) for situation in where}


@dataclass(frozen=True)
class _Screening:
    """What a first look at the candidates left: those worth more runs, and how long these may be."""

    kept: Sequence[Candidate]
    length: Length


def advise(
    question: Question,
    *,
    workers: int | None = None,
    cache: str | Path | None = None,
    progress: Progress = False,
) -> Advice:
    """Try the laws that a port can have in the traffic that it has, and recommend one.

    Parameters
    ----------
    question
        The port, the traffic and the goal.
    workers
        Threads; all cores if not given. The advice does not depend on it.
    cache
        Folder of finished runs: interrupted advice goes on where it was.
    progress
        True shows bars on stderr; a function is called with the finished fraction of each step.
    """
    tried = candidates(question)
    search = _Search(question, situations(question), _Runner(workers, cache, progress))
    screening = _screen(search, tried)
    standings = _confirm(search, screening)
    of_families: dict[str, Standing] = {}
    for standing in standings:
        of_families.setdefault(standing.candidate.family, standing)
    best = standings[0]
    around = tuple(_around(search, best.candidate, screening.length))
    return Advice(
        question=question,
        verdict=_verdict(best),
        recommended=best,
        ranking=tuple(of_families.values()),
        tried=tuple(standings),
        around=around,
        scenario=search.at(best.candidate, mix(question), screening.length),
        length=screening.length,
        screened=len(tried),
        runs=search.runner.runs,
    )


def _screen(search: _Search, tried: Sequence[Candidate]) -> _Screening:
    """Look at every candidate with one seed, and choose the best of each family."""
    question, everywhere = search.question, search.situations
    first_look = look(question)
    # A look at the traffic as asked alone would prefer laws that suit nothing else; on fast ports more takes too long.
    packets = len(tried) * first_look.packets(question.rate_bps)
    plain = [
        situation
        for situation in everywhere
        if not situation.incast and not situation.is_flooded and not situation.is_crowded
    ]
    plain = plain[: max(_least_seen, int(_most_looked_at / packets))]
    measured: dict[str, dict[Situation, Means]] = {candidate.name: {} for candidate in tried}

    def looked_at(some: Sequence[Candidate], where: Sequence[Situation]) -> list[Candidate]:
        """These candidates in the order of what is known of them after a look at more situations."""
        for candidate, more in search.measure(some, where, first_look, _seeds[:1], f"{len(some)} laws"):
            measured[candidate.name] |= more
        judged = [(judge(measured[candidate.name], question.goal), candidate) for candidate in some]
        judged.sort(key=lambda pair: (pair[0].key, pair[1].name))
        return [candidate for _, candidate in judged]

    # Those that are far behind in the traffic as asked are not looked at any further.
    ordered = looked_at(_promising(looked_at(tried, plain[:1])), plain[1:])
    shortest = thorough(question, 0.0).packets(question.rate_bps)
    runs_of_two = len(_seeds) * len(everywhere) * (_kept * len({candidate.family for candidate in tried}) + 2)
    most = _kept if runs_of_two * shortest <= 2 * _most_packets else 1
    kept = [c for family in families for c in [c for c in ordered if c.family == family][:most]]
    # About as many things are otherwise as there are situations of two candidates.
    runs = len(_seeds) * len(everywhere) * (len(kept) + 2)
    return _Screening(kept, thorough(question, _most_packets / runs))


def _confirm(search: _Search, screening: _Screening) -> list[Standing]:
    """Try what was kept in all situations, with all seeds; best first."""
    label = f"best {len(screening.kept)} everywhere"
    standings = [
        Standing(candidate, judge(measured, search.question.goal), measured)
        for candidate, measured in search.measure(screening.kept, search.situations, screening.length, _seeds, label)
    ]
    return sorted(standings, key=lambda standing: (standing.judged.key, standing.candidate.name))


def _promising(ordered: Sequence[Candidate]) -> list[Candidate]:
    """The better half of each family, and some more of small ones."""
    kept: list[Candidate] = []
    for family in families:
        members = [candidate for candidate in ordered if candidate.family == family]
        kept += members[: max(_promising_least, ceil(len(members) / 2))]
    return kept


def to_prove(advice: Advice) -> Scenario:
    """The traffic as asked behind the recommended law, for as long as a first look: the kernel takes its time."""
    question, best = advice.question, advice.recommended.candidate
    return scenario(question, mix(question), best.aqm, look(question), separate=best.separate)


def _lean(result: Result) -> Result:
    """A result without what only figures need."""
    return Result(result.json)


def _verdict(best: Standing) -> Verdict:
    if best.judged.missed:
        return Verdict.NONE
    family = families[best.candidate.family]
    if not family.uses_ecn:
        return Verdict.LEAVE
    return Verdict.SHARE if family.is_shared else Verdict.SEPARATE


def _around(search: _Search, candidate: Candidate, length: Length) -> Iterator[Around]:
    """The recommended law with other parameters, and with other traffic than was asked."""
    varied = list(_variations(search.question, candidate))
    wanted = [scenario(other, mix(other), law.aqm, length, separate=law.separate) for _, other, law in varied]
    measurements = search.runner.means(wanted, _seeds, f"{len(varied)} things otherwise")
    for (what, other, _), measured in zip(varied, measurements, strict=True):
        yield Around(what, judge({mix(other): measured}, search.question.goal), measured)


def _variations(question: Question, candidate: Candidate) -> Iterator[tuple[str, Question, Candidate]]:
    for knob in knobs(candidate.aqm):
        for factor in _factors:
            law = replace(candidate, aqm=scaled(candidate.aqm, knob, factor))
            yield f"{knob.value} x {factor:g}", question, law
    # Defaults that depend on what is changed stay as they are.
    fixed = replace(question, device=question.kind, buffer=question.buffer_text, hosts=question.hosts_name)
    others = [(f"round trip {rtt}", replace(fixed, rtt=rtt)) for rtt in question.other_rtts or _times(question)]
    if 0 < question.scalable_share < 1:
        others += [
            (f"{part:.0%} of the flows scalable", replace(fixed, scalable_share=part))
            for part in (0.25, 0.75)
            if abs(part - question.scalable_share) > 0.05
        ]
    if question.hosts_name != "ideal":
        others.append(("hosts send packet by packet", replace(fixed, hosts="ideal")))
    if question.classic == "cubic" and question.scalable_share < 1:
        others.append(("classic flows are Reno", replace(fixed, classic="reno")))
        others.append(("classic flows ask for ECN", replace(fixed, classic="ecn-reno")))
    for what, other in others:
        yield what, other, candidate


def _times(question: Question) -> tuple[str, ...]:
    """Half and twice the round trip."""
    return tuple(f"{question.rtt_s * factor * 1e6:g} us" for factor in _factors)
