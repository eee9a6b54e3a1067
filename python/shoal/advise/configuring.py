"""The recommended law as configurations of platforms, and what it costs where a platform cannot tell packets apart."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, cast

from shoal.advise.traffic import look, mix, scenario, situations
from shoal.errors import ShoalError
from shoal.runs.cases import Case, run_cases
from shoal.words import count_of

if TYPE_CHECKING:
    from shoal.advise.advising import Advice
    from shoal.results import Result
    from shoal.scenario_keys import BottleneckAqm

# One run each: it is told as an example, not as an estimate.
_seed = 1


def configuration(
    advice: Advice, platform: str, *, workers: int | None = None, cache: str | Path | None = None
) -> tuple[str, list[str]]:
    """The configuration of a platform, or why it has none; and what was rounded, is lost, or acts otherwise."""
    from shoal.switch import find_platform
    from shoal.switch.emit import write_configuration

    writer = find_platform(platform)
    try:
        text, remarks = write_configuration(advice.scenario, writer, writer.most_able)
    except ShoalError as error:
        reason = str(error).strip()
        return f"cannot be expressed: {reason}\n" + (f"hint: {error.hint}\n" if error.hint else ""), []
    said = [remark if not hint else f"{remark} ({hint})" for remark, hint in remarks]
    return text, [*said, *_effect(advice, text, platform, workers, cache)]


def _effect(advice: Advice, text: str, platform: str, workers: int | None, cache: str | Path | None) -> list[str]:
    """What it costs scalable flows where a platform drops ECT packets by the law of the others."""
    aqm = _joint_law(advice, text, platform)
    if aqm is None:
        return []
    question, length = advice.question, look(advice.question)
    asked = next((each for each in situations(question) if each.incast), mix(question))
    recommended = advice.recommended.candidate
    pair = [scenario(question, asked, law, length, separate=recommended.separate) for law in (aqm, recommended.aqm)]
    cases = [Case(each, (_seed,)) for each in pair]
    written, advised = (_losses(results[0]) for results in run_cases(cases, workers=workers, cache=cache))
    where = f"with an incast of {asked.incast}" if asked.incast else "in the traffic as asked"
    return [
        f"what it costs that ECT packets are dropped, too, {where}, in one run of {length.measured_s:g} s: scalable "
        f"flows have {written}; behind the recommended law they have {advised}"
    ]


def _joint_law(advice: Advice, text: str, platform: str) -> BottleneckAqm | None:
    """What was written, read as the platform acts, if it drops ECT packets and the recommended law does not."""
    from shoal.switch import Document, Port, read_configuration
    from shoal.switch.from_scenario import queues_of
    from shoal.switch.simulate import Experiment, aqm_of

    advised, _ = queues_of(advice.scenario, index=0)
    facts = advice.scenario.facts["bottlenecks"][0]
    port = Port(facts["rate_bps"], mtu_bytes=facts["mtu_bytes"])
    queues = read_configuration(Document(platform, text, port), platform).queues
    if len(queues) != 1 or queues[0].drop_ect is None or advised[0].drop_ect is not None:
        return None
    # The round trip and the flows are those of the advice.
    return cast("BottleneckAqm", aqm_of(queues[0], Experiment(port, Fraction(0))))


def _losses(result: Result) -> str:
    totals = [group["totals"] for group in result.groups if group["name"] in ("scalable", "incast")]
    losses, timeouts = (sum(total[what] for total in totals) for what in ("losses", "timeouts"))
    return f"{count_of(losses, 'lost packet')} and {count_of(timeouts, 'timeout')}"
