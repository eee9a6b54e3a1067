"""Sections 5.4, 7.2 and 9.1: background transport, bursts of pages and video, and a mix of everything."""

from __future__ import annotations

from typing import Any

from shoal.evaluate.model import Clause, Experiment, Level, group
from shoal.evaluate.rfc7928.bottleneck import RATE_MBPS, RTT_MS, bdp_packets, dumbbell
from shoal.evaluate.rfc7928.measures import QUEUE, losses, measures

_rtt = f"{RTT_MS} ms"
#: Connections of a browser, and objects of a page of at least 1 kB (section 7.2).
CONNECTIONS, OBJECTS = 6, 50
_sizes = {"objects": {"cdf": [["1 KiB", 0], ["4 kB", 0.5], ["20 kB", 0.9], ["60 kB", 1]]}}


def _background() -> Experiment:
    title = "A long Reno flow beside a LEDBAT flow with a target of 5 ms and a gain of 10"
    flows = [
        group("bulk", cc="reno", rtt=_rtt),
        # RFC 6817 allows a gain of 1 at most; the section asks for 10.
        group("background", cc="ledbat", rtt=_rtt, cc_options={"target_us": 5000, "gain_percent": 1000}),
    ]
    metrics = {**measures("bulk", "background"), **losses("bulk", "background")}
    return Experiment("ledbat", title, dumbbell(title, flows), metrics)


def _web(browsers: int = 1) -> dict[str, Any]:
    return {
        "name": "web",
        "cc": "cubic",
        "rtt": _rtt,
        "count": browsers * CONNECTIONS,
        "initial_window": "10 packets",
        "app": {
            "page": OBJECTS,
            "object": {"distribution": "objects"},
            "request": "400 B",
            "connections": CONNECTIONS,
            "think": {"exponential": "2 s"},
        },
    }


def _stream(name: str, rate: str, packet: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "cc": "none", "rtt": _rtt, "app": {"unresponsive": rate, "packet": packet}, **more}


def _video() -> dict[str, Any]:
    frames = {"frame": {"min_rate": "150 kbit/s", "max_rate": "3 Mbit/s"}, "every": "40 ms", "deadline": "200 ms"}
    return {"name": "video", "cc": "cubic", "rtt": _rtt, "app": frames}


_web_metrics = {
    "page_ms": "page_ms('web')",
    "page_p99_ms": "page_ms('web', 'p99')",
    "startup_ms": "startup_ms('web')",
}
_stream_metrics = {
    "one_way_delay_p99_ms": "one_way_delay_ms('cbr', 'p99')",
    "delay_variation_p99_ms": "delay_variation_ms('cbr', 'p99')",
}
_video_metrics = {"on_time_percent": "100 * frames_on_time('video')", "video_mbps": "goodput_mbps('video')"}


def _bursts(name: str, title: str, *, video: bool, bulk: bool) -> Experiment:
    flows = [_web(), _stream("cbr", "1 Mbit/s", "1000 B")]
    metrics = {**_web_metrics, **_stream_metrics}
    if video:
        flows.append(_video())
        metrics |= _video_metrics
    if bulk:
        flows.append(group("bulk", cc="cubic", rtt=_rtt))
        metrics["bulk_mbps"] = "goodput_mbps('bulk')"
    scenario = dumbbell(title, flows, distributions=_sizes)
    return Experiment(name, title, scenario, {**metrics, **QUEUE})


def _mix() -> Experiment:
    title = "A call both ways, six browsers, a constant rate, a video and five downloads"
    flows = [
        _stream("cbr", "100 kbit/s", "500 B"),
        _stream("call-down", "80 kbit/s", "200 B"),
        _stream("call-up", "80 kbit/s", "200 B", direction="reverse"),
        _web(6),
        _video(),
        group("bulk", cc="cubic", rtt=_rtt, count=5),
    ]
    link = {"rate": f"{RATE_MBPS} Mbit/s", "buffer": f"{bdp_packets()} packets"}
    metrics = {
        **_web_metrics,
        "call_delay_p99_ms": "one_way_delay_ms('call-down', 'p99')",
        "call_variation_p99_ms": "delay_variation_ms('call-down', 'p99')",
        "call_up_delay_p99_ms": "one_way_delay_ms('call-up', 'p99')",
        **_video_metrics,
        "bulk_mbps": "goodput_mbps('bulk')",
        **QUEUE,
    }
    return Experiment("mix", title, dumbbell(title, flows, distributions=_sizes, reverse=link), metrics)


def clauses() -> list[Clause]:
    """The sections, in their order."""
    bursts = [
        _bursts("pages", "A page and a constant rate", video=False, bulk=False),
        _bursts("pages-bulk", "A page, a constant rate and a download", video=False, bulk=True),
        _bursts("pages-video", "A page, a constant rate and a video", video=True, bulk=False),
        _bursts("pages-video-bulk", "A page, a constant rate, a video and a download", video=True, bulk=True),
    ]
    return [
        Clause("5.4", "Less-than-best-effort sender", Level.MAY, [_background()]),
        Clause("7.2", "Burst absorption", Level.MUST, bursts),
        Clause("9.1", "Traffic mix", Level.RECOMMENDED, [_mix()]),
    ]
