"""Section 5.2 of RFC 9743: flows of the controller beside others, and the harm that they do to them."""

from __future__ import annotations

from shoal.evaluate.contenders import SUBJECT
from shoal.evaluate.harm import Better, Harm
from shoal.evaluate.model import Clause, Experiment, Level, Setting, group
from shoal.evaluate.rfc9743.collapse import crowd_of_both, feedback_lost
from shoal.evaluate.rfc9743.criteria import QUEUE, completion, on_paths, short_flows, subject

#: Beside whom: the standards of the IETF that there are models of, and what is widely deployed beside them.
OTHERS = ("reno", "cubic", "bbr")

#: What the others get: their rate, their delay with the way, and what they lose.
_others = {
    "other_mbps": "goodput_mbps('other')",
    "other_rtt_ms": "srtt_ms('other')",
    "other_lost_percent": "100 * loss_ratio('other')",
}
_harms = {
    "harm_to_rate_percent": ("other_mbps", Better.MORE),
    "harm_to_delay_percent": ("other_rtt_ms", Better.LESS),
    "harm_to_loss_percent": ("other_lost_percent", Better.LESS),
}


def _others_alone() -> Experiment:
    """What harm is counted from: the others without the evaluated flows."""
    title = "Two flows of the others alone, from which harm is counted"
    flows = [group("other", cc="reno", rtt="40 ms", count=2)]
    alone = [Setting(name, {"flows.other.cc": name}) for name in OTHERS]
    return on_paths("others-alone", title, flows, _others, contenders=alone)


def _beside(other: str) -> Experiment:
    flows = [subject(count=2), group("other", cc=other, rtt="40 ms", count=2)]
    metrics = {
        **_others,
        "subject_mbps": f"goodput_mbps('{SUBJECT}')",
        "subject_over_other": f"rate_ratio('{SUBJECT}', 'other')",
        **QUEUE,
    }
    title = f"Two flows beside two of {other}"
    harm = Harm("others-alone", other, _harms)
    return on_paths(f"beside-{other}", title, flows, metrics, headline="other_mbps", harm=harm)


def _real_time() -> Experiment:
    video = {
        "name": "video",
        "cc": "cubic",
        "rtt": "40 ms",
        "app": {
            "frame": {"min_rate": "150 kbit/s", "max_rate": "4 Mbit/s"},
            "every": "40 ms",
            "deadline": "150 ms",
        },
    }
    metrics = {"on_time_percent": "100 * frames_on_time('video')", "video_mbps": "goodput_mbps('video')", **QUEUE}
    title = "Two flows beside a video that adapts its rate"
    return on_paths("real-time", title, [subject(count=2), video], metrics, headline="on_time_percent")


def _short_over_others() -> Experiment:
    return on_paths(
        "short-over-others",
        "Short flows of the controller over two long ones of Reno",
        [group("long", cc="reno", rtt="40 ms", count=2), short_flows(SUBJECT, "reno")],
        completion(SUBJECT, "long"),
        headline="long_mbps",
    )


def _others_over_long() -> Experiment:
    return on_paths(
        "others-over-long",
        "Short flows of CUBIC over two long ones of the controller",
        [subject(count=2), short_flows("short", "cubic")],
        completion("short", SUBJECT),
        headline="completion_p99_ms",
    )


def clauses() -> list[Clause]:
    """The sections, in their order."""
    beside = [_beside(other) for other in OTHERS]
    return [
        Clause("5.2", "Protection of others against starvation", Level.MUST, [crowd_of_both(), feedback_lost()]),
        Clause(
            "5.2.1",
            "Existing general-purpose controllers",
            Level.MUST,
            [_others_alone(), *beside],
            reason="left out: the NewReno of QUIC (RFC 9002), of which there is no model",
        ),
        Clause("5.2.2", "Real-time traffic", Level.SHOULD, [_real_time()]),
        Clause("5.2.3", "Short and long flows of others", Level.MUST, [_short_over_others(), _others_over_long()]),
    ]
