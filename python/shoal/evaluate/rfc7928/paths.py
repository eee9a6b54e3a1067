"""Sections 9.2 and 10.2: traffic both ways, and two queues in a row."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, cast

from shoal.evaluate.contenders import QUEUE
from shoal.evaluate.model import Clause, Experiment, Level, Setting, group
from shoal.evaluate.rfc7928.bottleneck import DURATION_S, RATE_MBPS, RTT_MS, WARMUP_S, bdp_packets, dumbbell, flows_for
from shoal.evaluate.rfc7928.measures import measures

_rtt = f"{RTT_MS} ms"


def _both_ways(contenders: Sequence[Setting]) -> Experiment:
    title = "Mild congestion both ways: ACKs share each queue with data"
    count = flows_for("mild")
    flows = [
        group("there", cc="reno", rtt=_rtt, count=count),
        group("back", cc="reno", rtt=_rtt, count=count, direction="reverse"),
    ]
    link = {"rate": f"{RATE_MBPS} Mbit/s", "buffer": f"{bdp_packets()} packets", "aqm": {"kind": "fifo"}}
    both = [
        Setting(contender.name, {QUEUE: contender.values[QUEUE], "reverse.aqm": contender.values[QUEUE]})
        for contender in contenders
    ]
    scenario = dumbbell(title, flows, reverse=link)
    return Experiment("both-ways", title, scenario, measures("there", "back"), contenders=both)


def _in_a_row(contenders: Sequence[Setting]) -> Experiment:
    title = "Two queues in a row: flows pass both, the first, or the second one"
    buffer = f"{bdp_packets()} packets"
    delay = f"{RTT_MS / 4:g} ms"

    def link(start: str, end: str) -> dict[str, Any]:
        law: Mapping[str, Any] = {"kind": "fifo"}
        return {
            "from": start,
            "to": end,
            "rate": f"{RATE_MBPS} Mbit/s",
            "delay": delay,
            "buffer": buffer,
            "aqm": dict(law),
            "monitored": True,
            "both_ways": True,
        }

    def access(host: str, router: str) -> dict[str, Any]:
        return {"from": host, "to": router, "rate": "unlimited"}

    ends = (("a", "left"), ("b", "middle"), ("c", "middle"), ("d", "right"))
    each = max(1, flows_for("mild") // 2)
    keys = {
        "title": title,
        "duration": f"{DURATION_S} s",
        "warmup": f"{WARMUP_S} s",
        "topology": {
            "kind": "graph",
            "nodes": ["a", "b", "c", "d", "left", "middle", "right"],
            "links": [link("left", "middle"), link("middle", "right"), *(access(*pair) for pair in ends)],
        },
        "flows": [
            {"name": "both", "cc": "reno", "from": "a", "to": "d", "count": each},
            {"name": "first", "cc": "reno", "from": "a", "to": "b", "count": each},
            {"name": "second", "cc": "reno", "from": "c", "to": "d", "count": each},
        ],
    }
    rows = [
        Setting(
            f"{first.name}, then {second.name}",
            {"topology.links[0].aqm": first.values[QUEUE], "topology.links[1].aqm": second.values[QUEUE]},
        )
        for first, second in itertools.product(contenders, repeat=2)
    ]
    metrics = {
        **{f"{name}_mbps": f"goodput_mbps('{name}')" for name in ("both", "first", "second")},
        **{f"delay_{link}_ms": f"delay_ms(link={link})" for link in (0, 1)},
        **{f"lost_{link}_percent": f"100 * dropped('all', link={link})" for link in (0, 1)},
        **{f"utilisation_{link}_percent": f"100 * utilisation(link={link})" for link in (0, 1)},
    }
    return Experiment("in-a-row", title, cast("Any", keys), metrics, contenders=rows)


def clauses(contenders: Sequence[Setting]) -> list[Clause]:
    """The sections, in their order."""
    return [
        Clause("9.2", "Bidirectional traffic", Level.MAY, [_both_ways(contenders)]),
        Clause(
            "10.2",
            "Two queues in a row",
            Level.MAY,
            [_in_a_row(contenders)],
            reason="with other parameters: give `--beside` the same law with them",
        ),
    ]
