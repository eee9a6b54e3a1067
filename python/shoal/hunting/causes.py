"""Why a run is bad: what its notices say, or what its queue, its law and its path did.

Notices are about shares of flows and about links that are not full. Why packets wait, why delays swing, and why a link
is idle for which no notice names a mechanism, are numbers of the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from shoal.contract import Bottleneck
from shoal.hunting.goals import Target
from shoal.notices import Notice
from shoal.results import Result
from shoal.words import count_of, rounded

#: A queue is at its limit if it holds so much of it for 1 % of the time.
_nearly = 0.9
#: Reductions in a measurement from which on a law is kept below what the path holds, and not just growing.
_few = 3
#: Marks or drops of so many packets that arrive are the queue's law.
_noticeable = 0.001


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a run is bad.

    Attributes
    ----------
    kind
        Kind of the notice, or what it is about; empty if nothing speaks.
    groups
        Names of the groups or links that it is about.
    mechanism
        The first one that it names; empty if none is determined.
    text
        Its sentence, without a full stop.
    """

    kind: str = ""
    groups: tuple[str, ...] = ()
    mechanism: str = ""
    text: str = ""

    @classmethod
    def of(cls, notice: Notice | None) -> Cause:
        """What a notice says."""
        if notice is None:
            return cls()
        return cls(notice.kind, notice.groups, next(iter(notice.mechanisms), ""), notice.text)

    @property
    def name(self) -> tuple[str, str]:
        """Whom it hits and by what, which tells causes apart."""
        return "+".join(self.groups), self.mechanism


def of_delay(result: Result) -> Cause:
    """Why packets of the first bottleneck wait long."""
    link, limit = result.bottlenecks[0], _limit_bytes(result)
    name, kind = link["name"], _kind(result)
    held, waited_s = link["queue_bytes"]["p99"] or 0.0, link["delay_s"]["all"]["p99"] or 0.0
    at_most = "" if limit is None else f" of at most {_packets(limit, result)}"
    changes = _changes(link)
    text = (
        f"1 % of the packets wait for {rounded(1000 * waited_s)} ms or more at {name}, where for 1 % of the time "
        f"{_packets(held, result)} or more{at_most} wait{f', while {changes}' if changes else ''}"
    )
    is_deep = kind == "fifo" or (limit is not None and held >= _nearly * limit)
    mechanism = "deep-buffer" if is_deep else f"{kind}-holds-more"
    return Cause("delay", (name,), mechanism, f"{text}{_of_law(link, kind)}")


def of_swing(result: Result) -> Cause:
    """Why delays of the first bottleneck swing."""
    link = result.bottlenecks[0]
    name, delay = link["name"], link["delay_s"]["all"]
    low, high = (f"{rounded(1000 * (delay[part] or 0.0))} ms" for part in ("p5", "p95"))
    changes = _changes(link)
    load = next((group["name"] for group in result.groups if group["cc"] == "none"), "")
    if changes:
        mechanism, because = "changing-path", f", while {changes}"
    elif load:
        mechanism, because = "bursts", f", while {load} comes and goes"
    else:
        mechanism, because = "windows", f", while windows grow and shrink: {_reductions(result)}"
    return Cause(
        "swing",
        (name,),
        mechanism,
        f"packets wait from {low} to {high} at {name}{because}{_of_law(link, _kind(result))}",
    )


def of_idle(result: Result) -> Cause:
    """Why the first bottleneck is idle."""
    link = result.bottlenecks[0]
    groups = [group for group in result.groups if group["cc"] != "none"]
    names = tuple(group["name"] for group in groups)
    totals = {key: sum(group["totals"][key] for group in groups) for key in ("timeouts", "reductions")}
    done, changes = _reductions(result), _changes(link)
    law = _of_law(link, _kind(result))
    if totals["timeouts"] >= _few:
        return Cause("idle", names, "timeouts", f"{done}; a flow that waits for its timeout sends nothing{law}")
    if changes:
        return Cause("idle", names, "changing-path", f"{done}, while {changes}{law}")
    if totals["reductions"] >= _few:
        mean = (link["queue_bytes"]["mean"] or 0.0) / result.scenario.facts["bottlenecks"][0]["mtu_bytes"]
        text = f"{done}, although {mean:.2g} packets wait on average at {link['name']}{law}"
        return Cause("idle", names, "signals-at-short-queues", text)
    return Cause()


# By names of goals.
_derived: Mapping[str, Callable[[Result], Cause]] = {"delay": of_delay, "idle": of_idle, "oscillate": of_swing}


def cause_of(target: Target, result: Result) -> Cause:
    """Why a run is bad in the sense of a goal: a notice that names a mechanism, what the numbers say, or any notice."""
    notice = target.why(tuple(result.notices))
    if (notice is None or not notice.mechanisms) and target.name in _derived:
        derived = _derived[target.name](result)
        return derived if derived.mechanism else Cause.of(notice)
    return Cause.of(notice)


def _kind(result: Result) -> str:
    scenario: Any = result.scenario.resolved
    return str((scenario.get("bottleneck") or scenario["topology"]).get("aqm", {}).get("kind", "the queue"))


def _limit_bytes(result: Result) -> float | None:
    thresholds = result.scenario.facts["bottlenecks"][0]["thresholds"]
    return next((threshold["bytes"] for threshold in thresholds if threshold["label"] == "limit"), None)


def _packets(size_bytes: float, result: Result) -> str:
    return f"{size_bytes / result.scenario.facts['bottlenecks'][0]['mtu_bytes']:.3g} packets"


def _of_law(link: Bottleneck, kind: str) -> str:
    """What the law of a queue did to what arrived."""
    arrived = max(1, link["arrived"])
    by_buffer = link["dropped_by"]["buffer"]
    done = [
        f"{word} {100 * count / arrived:.2g} %"
        for word, count in (("marks", link["marked"]), ("drops", link["dropped"] - by_buffer))
        if count >= _noticeable * arrived
    ]
    text = f"; {kind} {' and '.join(done)} of the packets" if done else ""
    return f"{text}; {count_of(by_buffer, 'packet')} found no room" if by_buffer else text


def _changes(link: Bottleneck) -> str:
    history = link.get("history")
    if history is None:
        return ""
    rates = [step["rate_bps"] / 1e6 for step in history["rate"]]
    delays = [1000 * step["delay_s"] for step in history["delay"]]
    parts = [
        f"its {what} changes from {min(values):.3g} to {max(values):.3g} {unit}"
        for what, values, unit in (("rate", rates, "Mbit/s"), ("delay", delays, "ms"))
        if max(values) > min(values)
    ]
    return " and ".join(parts)


def _reductions(result: Result) -> str:
    """How often windows were reduced, and how large they are."""
    parts = []
    for group in result.groups:
        totals = group["totals"]
        means = [mean for flow in group["flows"] if (mean := flow["cwnd_packets"]["mean"]) is not None]
        if group["cc"] != "none" and means:
            waited = f" and waited for {count_of(totals['timeouts'], 'timeout')}" if totals["timeouts"] else ""
            often = f"{count_of(totals['reductions'], 'time')}{waited}"
            parts.append(f"{group['name']} was reduced {often}, with a window of {sum(means) / len(means):.3g} packets")
    return "; ".join(parts)
