"""The search: a look at every candidate, the best of each family in all situations, and around the best of all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

from shoal.advise.candidates import Candidate, candidates, families, scaled
from shoal.advise.judging import Judged, Means, judge, means, numbers
from shoal.advise.question import Question
from shoal.advise.traffic import Length, Situation, look, mix, scenario, situations, thorough
from shoal.parallel import Progress
from shoal.results import Result
from shoal.runs.jobs import Job, run_jobs
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
    found
        Means over the seeds for each situation.
    """

    candidate: Candidate
    judged: Judged
    found: Mapping[Situation, Means]


@dataclass(frozen=True)
class Around:
    """The recommended law when one thing is otherwise.

    Attributes
    ----------
    what
        What is otherwise, in words.
    judged, found
        What it is worth then, in the traffic as asked.
    """

    what: str
    judged: Judged
    found: Means


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
        Of the runs that decided.
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
        jobs = [Job(one, seed) for one in wanted for seed in seeds]
        self.runs += len(jobs)
        results = run_jobs(jobs, label=label, finish=_lean, **self._settings)
        found = [numbers(result) for result in results]
        return [means(found[first : first + len(seeds)]) for first in range(0, len(found), len(seeds))]


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
    runner = _Runner(workers, cache, progress)

    def at(candidate: Candidate, situation: Situation, length: Length) -> Scenario:
        return scenario(question, situation, candidate.bottleneck, length, separate=candidate.separate)

    first_look = look(question)
    everywhere = situations(question)
    # A look at the traffic as asked alone would prefer laws that suit nothing else; on fast ports more takes too long.
    packets = len(tried) * first_look.packets(question.rate_bps)
    seen = [one for one in everywhere if not one.incast and not one.is_flooded and not one.is_crowded]
    seen = seen[: max(_least_seen, int(_most_looked_at / packets))]
    first: list[tuple[Judged, Candidate]] = []
    looked: dict[str, dict[Situation, Means]] = {one.name: {} for one in tried}
    # Those that are far behind in the traffic as asked are not looked at any further.
    for where in (seen[:1], seen[1:]):
        now = tried if not first else _promising([one for _, one in first])
        found = runner.means(
            [at(one, situation, first_look) for one in now for situation in where], _seeds[:1], f"{len(now)} laws"
        )
        for candidate, own in _each(now, where, found):
            looked[candidate.name] |= own
        first = [(judge(looked[candidate.name], question.goal), candidate) for candidate in now]
        first.sort(key=lambda pair: (pair[0].key, pair[1].name))
    shortest = thorough(question, 0.0).packets(question.rate_bps)
    runs_of_two = len(_seeds) * len(everywhere) * (_kept * len({one.family for one in tried}) + 2)
    most = _kept if runs_of_two * shortest <= 2 * _most_packets else 1
    kept = [
        candidate for family in families for _, candidate in [pair for pair in first if pair[1].family == family][:most]
    ]
    # About as many things are otherwise as there are situations of two candidates.
    runs = len(_seeds) * len(everywhere) * (len(kept) + 2)
    length = thorough(question, _most_packets / runs)
    found = runner.means(
        [at(one, situation, length) for one in kept for situation in everywhere], _seeds, f"best {len(kept)} everywhere"
    )
    standings = [
        Standing(candidate, judge(own, question.goal), own) for candidate, own in _each(kept, everywhere, found)
    ]
    standings.sort(key=lambda one: (one.judged.key, one.candidate.name))
    firsts: dict[str, Standing] = {}
    for one in standings:
        firsts.setdefault(one.candidate.family, one)
    ranking = tuple(firsts.values())
    best = ranking[0]
    return Advice(
        question=question,
        verdict=_verdict(best),
        recommended=best,
        ranking=ranking,
        tried=tuple(standings),
        around=tuple(_around(question, best.candidate, length, runner)),
        scenario=at(best.candidate, mix(question), length),
        length=length,
        screened=len(tried),
        runs=runner.runs,
    )


def _promising(ordered: Sequence[Candidate]) -> list[Candidate]:
    """The better half of each family, and some more of small ones."""
    kept: list[Candidate] = []
    for family in families:
        own = [one for one in ordered if one.family == family]
        kept += own[: max(_promising_least, ceil(len(own) / 2))]
    return kept


def to_prove(advice: Advice) -> Scenario:
    """The traffic as asked behind the recommended law, for as long as a first look: the kernel takes its time."""
    question, best = advice.question, advice.recommended.candidate
    return scenario(question, mix(question), best.bottleneck, look(question), separate=best.separate)


def _each(
    tried: Sequence[Candidate], where: Sequence[Situation], found: Sequence[Means]
) -> Iterator[tuple[Candidate, dict[Situation, Means]]]:
    """Each candidate with what was found in each situation, of runs in that order."""
    places = iter(found)
    for candidate in tried:
        yield candidate, {situation: next(places) for situation in where}


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


def _around(question: Question, candidate: Candidate, length: Length, runner: _Runner) -> Iterator[Around]:
    """The recommended law with other parameters, and with other traffic than was asked."""
    varied = list(_variations(question, candidate))
    wanted = [scenario(other, mix(other), law.bottleneck, length, separate=law.separate) for _, other, law in varied]
    found = runner.means(wanted, _seeds, f"{len(varied)} things otherwise")
    for (what, other, _), own in zip(varied, found, strict=True):
        yield Around(what, judge({mix(other): own}, question.goal), own)


def _variations(question: Question, candidate: Candidate) -> Iterator[tuple[str, Question, Candidate]]:
    for knob, change in scaled(candidate.bottleneck).items():
        for factor in _factors:
            yield f"{knob} x {factor:g}", question, replace(candidate, bottleneck=change(factor))
    others: list[tuple[str, Callable[[], Question]]] = [
        (f"round trip {rtt}", partial(replace, question, rtt=rtt)) for rtt in question.other_rtts or _times(question)
    ]
    if 0 < question.scalable_share < 1:
        others += [
            (f"{part:.0%} of the flows scalable", partial(replace, question, scalable_share=part))
            for part in (0.25, 0.75)
            if abs(part - question.scalable_share) > 0.05
        ]
    if question.hosts_name != "ideal":
        others.append(("hosts send packet by packet", partial(replace, question, hosts="ideal")))
    if question.classic == "cubic" and question.scalable_share < 1:
        others.append(("classic flows are Reno", partial(replace, question, classic="reno")))
        others.append(("classic flows ask for ECN", partial(replace, question, classic="ecn-reno")))
    for what, make in others:
        # Defaults that depend on what is changed stay as they are.
        other = replace(make(), device=question.kind, buffer=question.buffer_text)
        if what != "hosts send packet by packet":
            other = replace(other, hosts=question.hosts_name)
        yield what, other, candidate


def _times(question: Question) -> tuple[str, ...]:
    """Half and twice the round trip."""
    return tuple(f"{question.rtt_s * factor * 1e6:g} us" for factor in _factors)
