"""The criteria of RFC 9743, section 5: traffic in which the controller takes part, and what is measured of it."""

from __future__ import annotations

from typing import Any

from shoal.evaluate.contenders import SUBJECT
from shoal.evaluate.model import Clause, Experiment, Level, group, varied
from shoal.evaluate.rfc9743.paths import all_paths, behind, path

_queue = {"delay_ms": "delay_ms()", "delay_p99_ms": "delay_ms('all', 'p99')", "lost_percent": "100 * dropped('all')"}


def _on_paths(
    name: str, title: str, flows: list[dict[str, Any]], metrics: dict[str, str], *, headline: str
) -> Experiment:
    return Experiment(name, title, behind(title, flows), metrics, paths=all_paths(), headline=headline)


def _subject(**more: Any) -> dict[str, Any]:
    return group(SUBJECT, cc="reno", rtt="40 ms", **more)


def _alone() -> Experiment:
    metrics = {"utilisation_percent": "100 * utilisation()", "goodput_mbps": f"goodput_mbps('{SUBJECT}')", **_queue}
    return _on_paths("alone", "One flow alone", [_subject()], metrics, headline="delay_p99_ms")


def _alike() -> Experiment:
    metrics = {
        "jain": "jain()",
        "utilisation_percent": "100 * utilisation()",
        **_queue,
        "timeouts": f"count('{SUBJECT}', 'timeouts')",
    }
    return _on_paths("alike", "Four flows of the controller", [_subject(count=4)], metrics, headline="jain")


def _many_flows() -> Experiment:
    """Flows of the controller in buffers of several sizes: the text's own example of lasting loss is BBR version 1."""
    title = "2 to 16 flows of the controller, with buffers of 0.25 to 4 BDP"
    buffers = [path("6.1", f"FIFO of {bdp:g} BDP", buffer_bdp=bdp) for bdp in (0.25, 0.5, 1, 1.5, 2, 4)]
    metrics = {"lost_percent": "100 * dropped('all')", "utilisation_percent": "100 * utilisation()", "jain": "jain()"}
    counts = varied(f"flows.{SUBJECT}.count", [2, 4, 8, 16])
    return Experiment("many", title, behind(title, [_subject()]), metrics, axes=(counts,), paths=buffers)


def _beside(other: str) -> Experiment:
    flows = [_subject(count=2), group("other", cc=other, rtt="40 ms", count=2)]
    metrics = {
        "other_mbps": "goodput_mbps('other')",
        "subject_mbps": f"goodput_mbps('{SUBJECT}')",
        "subject_over_other": f"rate_ratio('{SUBJECT}', 'other')",
        **_queue,
    }
    return _on_paths(f"beside-{other}", f"Two flows beside two of {other}", flows, metrics, headline="other_mbps")


def _short(name: str, title: str, *, long: dict[str, Any], short_cc: str, short_name: str) -> Experiment:
    short = {
        "name": short_name,
        "cc": short_cc,
        "rtt": "40 ms",
        "app": {"transfer": "30 kB"},
        "start": {"load": 0.1},
    }
    metrics = {
        "completion_ms": f"fct_ms('{short_name}')",
        "completion_p99_ms": f"fct_ms('{short_name}', 'p99')",
        "long_mbps": f"goodput_mbps('{long['name']}')",
        **_queue,
    }
    return _on_paths(name, title, [long, short], metrics, headline="completion_p99_ms")


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
    metrics = {"on_time_percent": "100 * frames_on_time('video')", "video_mbps": "goodput_mbps('video')", **_queue}
    title = "Two flows beside a video that adapts its rate"
    return _on_paths("real-time", title, [_subject(count=2), video], metrics, headline="on_time_percent")


def clauses() -> list[Clause]:
    """The sections, in their order."""
    long_reno = group("long", cc="reno", rtt="40 ms", count=2)
    short_over_long = _short(
        "short-over-others",
        "Short flows of the controller over two long ones of Reno",
        long=long_reno,
        short_cc="reno",
        short_name=SUBJECT,
    )
    others_over_long = _short(
        "others-over-long",
        "Short flows of CUBIC over two long ones of the controller",
        long=_subject(count=2),
        short_cc="cubic",
        short_name="short",
    )
    return [
        Clause("5.1.2", "Protection against bufferbloat", Level.SHOULD, [_alone()]),
        Clause("5.1.3", "Protection against high loss", Level.SHOULD, [_many_flows()]),
        Clause("5.1.4", "Fairness within the algorithm", Level.SHOULD, [_alike()]),
        Clause("5.1.5", "Short flows over long ones", Level.MUST, [short_over_long]),
        Clause("5.2.1", "Existing general-purpose controllers", Level.MUST, [_beside("reno"), _beside("cubic")]),
        Clause("5.2.2", "Real-time traffic", Level.SHOULD, [_real_time()]),
        Clause("5.2.3", "Short and long flows of others", Level.MUST, [others_over_long]),
        Clause("7.2", "Network circuit breakers", reason="left out: no model of one"),
        Clause("7.10", "Multipath", Level.MUST, reason="left out: no model of multipath transport"),
    ]
