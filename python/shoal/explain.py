"""Which questions a result raises, and the first cause of each.

The causes are those of the notices, which the engine finds: here are the questions to them, and what to change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from shoal.notices import Notice


@dataclass(frozen=True)
class Explanation:
    """A question that a result raises, with the first cause that its numbers show.

    Attributes
    ----------
    question
        One sentence with a question mark.
    kind
        Stable name of the notice that raises it.
    cause
        Stable name of the cause; ``None`` if it is not decided.
    evidence
        What the numbers show, with units: the text of the notice.
    change
        What to change, one sentence without a full stop; ``None`` if there is nothing to advise.
    groups, links
        Names of the flow groups and links that it is about.
    """

    question: str
    kind: str
    cause: str | None
    evidence: str
    change: str | None
    groups: tuple[str, ...] = ()
    links: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON has them."""
        return asdict(self)


def explanations(notices: Sequence[Notice]) -> list[Explanation]:
    """The questions of a result, in the order of its notices."""
    return [_of(notice) for notice in notices if notice.kind in _questions]


def _of(notice: Notice) -> Explanation:
    causes = (notice.kind,) if notice.kind in _is_cause else notice.mechanisms
    cause = causes[0] if causes else None
    question = _questions[notice.kind].format(groups=_listed(notice.groups), links=_listed(notice.links))
    change = None if cause is None else _changes.get(cause)
    return Explanation(question, notice.kind, cause, notice.text, change, notice.groups, notice.links)


def _listed(names: Sequence[str]) -> str:
    shown = [*names[:3], "others"] if len(names) > 4 else names
    return " and ".join(shown) or "a group"


_little = "Why does {groups} get so little?"
_lossy = "Why does {links} drop so much?"

# Questions by the kind of notice. Other notices say what a number means, and raise none.
_questions = {
    "runs-as-reno": "Why does {groups} behave like Reno?",
    "dctcp-in-classic-queue": "Why is {groups} not in the low-latency queue?",
    "queue-in-hosts": "Why may packets wait where nothing marks them?",
    "no-marks": "Why are there no marks?",
    "marks-not-seen": "Why do senders not answer the marks?",
    "link-not-full": "Why is {links} not full?",
    "starved": _little,
    "below-fair-share": _little,
    "below-half-share": _little,
    "unequal-shares": "Why do flows that are alike share unequally?",
    "retransmission-storm": _lossy,
    "heavy-loss": _lossy,
    "idle-despite-windows": "Why is {links} idle although windows would fill it?",
    "retransmissions-without-drops": "Why are packets sent again that no queue has dropped?",
}

# Kinds that are causes themselves.
_is_cause = {"runs-as-reno", "dctcp-in-classic-queue", "queue-in-hosts"}

_ecn_on = 'write ecn = "on" for the group, and on hosts net.ipv4.tcp_ecn = 1 (3 for accurate ECN) at both ends'
_separate = "give packets with ECT a queue or a law of their own: dualpi2, fq-codel, dual-red, or classes"
_longer = "run it for longer"
_larger = "a larger buffer or fewer flows"

# What to change, by cause.
_changes = {
    "runs-as-reno": f'{_ecn_on}; Prague needs receiver.feedback = "accurate", or no such key',
    "controller-replaced": "leave replace out of the group, or measure from then on (warmup)",
    "dctcp-in-classic-queue": 'write ecn_mask = "any-ect" (tc: any_ect) for the queue, or use prague-0.7',
    "queue-in-hosts": "give hosts a limit as real ones have, or a faster link: access_buffer, access_rate",
    "no-packet-with-ect": _ecn_on,
    "ecn-cleared": "stop the router from clearing the ECN field: a change of DSCP must leave its two lowest bits",
    "law-marks-nothing": "use a law that marks, such as step, dualpi2 or fq-codel, or write ecn = true for the law",
    "other-codepoint": "select the codepoint that these flows send: ce_threshold_selector, ecn_mask, or another sender",
    "threshold-above-buffer": "a threshold below the buffer, or a larger buffer",
    "receive-window": "a larger receive_window (Linux: net.ipv4.tcp_rmem)",
    "window-clamp": "a larger cwnd_clamp",
    "narrower-elsewhere": "put the law where the narrowest link is, or a shaper slightly below its rate in front of it",
    "application-limited": "traffic that fills the link, if its queue is what is to be seen",
    "queue-below-threshold": "a lower threshold, or more or longer flows",
    "segments-above-threshold": "a threshold above a segment, smaller segments (ip link: gso_max_size), or pacing (fq)",
    "threshold-below-bdp": "a higher threshold",
    "buffer-below-bdp": "a larger buffer",
    "unresponsive-traffic": "a limit for that traffic, or a law with a queue for each flow (fq-codel)",
    "same-marks-other-answer": f"{_separate}, which a classic sender then does not share with a scalable one",
    "red-lock-out": _separate,
    "dropped-where-others-are-marked": f'{_separate}; or ecn = "on" for the group',
    "timeout-back-off": _larger,
    "smallest-window": _larger,
    "small-windows": _larger,
    "still-growing": _longer,
    "not-converged": _longer,
    "several-queues": "nothing, if flows through several queues are what is to be seen",
    "longer-round-trip": "a law with a queue for each flow (fq-codel), if round trips are to count for less",
    "different-round-trips": "a law with a queue for each flow (fq-codel), if round trips are to count for less",
    "without-ecn": "a first packet that is not lost: a larger buffer, or starts at different times",
    "uneven-marks": "smaller segments or pacing at the hosts, or a law with chance in it (dualpi2, red)",
    "uneven-losses": "a law with chance in it (pie, red), or starts at different times",
    "window-out-of-proportion": "a longer least timeout or another version of the stack",
}
