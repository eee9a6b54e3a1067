"""Sections 9.2 and 10.2: traffic both ways, and two queues in a row."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from shoal.evaluate.contenders import QUEUE
from shoal.evaluate.model import Clause, Experiment, Level, Setting, group
from shoal.evaluate.rfc7928.bottleneck import DURATION_S, RATE_MBPS, RTT_MS, WARMUP_S, bdp_packets, dumbbell, flows_for
from shoal.evaluate.rfc7928.measures import cumulated

_rtt = f"{RTT_MS} ms"


#: Rate of the way back of an asymmetric link, in Mbit/s: a fifth of that of the way there.
BACK_MBPS = 2


def _directions(links: Sequence[int]) -> dict[str, str]:
    """The metrics of section 8.2 for each direction."""
    columns: dict[str, str] = {}
    for link, name in zip(links, ("there", "back"), strict=True):
        columns |= {
            f"{name}_goodput_mbps": cumulated(link),
            f"{name}_delay_ms": f"delay_ms(link={link})",
            f"{name}_delay_p99_ms": f"delay_ms('all', 'p99', link={link})",
            f"{name}_lost_percent": f"100 * dropped('all', link={link})",
            f"{name}_marked_percent": f"100 * marked('all', link={link})",
            f"{name}_utilisation_percent": f"100 * utilisation(link={link})",
        }
    return columns


def _both_ways(name: str, title: str, *, back_mbps: float, adapt: Callable[[Setting], Setting] | None) -> Experiment:
    """Mild congestion both ways; ``adapt`` decides whether the way back has the queue, too (section 3.1)."""
    flows = [
        group("there", cc="reno", rtt=_rtt, count=flows_for("mild")),
        group("back", cc="reno", rtt=_rtt, count=flows_for("mild", rate_mbps=back_mbps), direction="reverse"),
    ]
    link = {
        "rate": f"{back_mbps:g} Mbit/s",
        "buffer": f"{bdp_packets(rate_mbps=back_mbps)} packets",
        "aqm": {"kind": "fifo"},
    }
    scenario = dumbbell(title, flows, reverse=link)
    # Goodput of a group is that of its direction: the groups stand in the order of the links.
    return Experiment(name, title, scenario, _directions((0, 1)), adapt=adapt)


def _on_both_links(contender: Setting) -> Setting:
    """A queue in both directions."""
    return Setting(contender.name, {QUEUE: contender.values[QUEUE], "reverse.aqm": contender.values[QUEUE]})


def _in_a_row(contenders: Sequence[Setting]) -> Experiment:
    """Figure 3 of the text: senders A pass both queues, senders B the second one.

    The first link has half of the rate of the second one, which is the share of senders A there: with the same rate its
    queue would be empty.
    """
    title = "Two queues in a row: half of the flows pass both, the others the second one"
    delay = f"{RTT_MS / 4:g} ms"
    half_mbps = RATE_MBPS / 2

    def link(start: str, end: str, rate_mbps: float) -> dict[str, Any]:
        law: Mapping[str, Any] = {"kind": "fifo"}
        return {
            "from": start,
            "to": end,
            "rate": f"{rate_mbps:g} Mbit/s",
            "delay": delay,
            "buffer": f"{bdp_packets(rate_mbps=rate_mbps)} packets",
            "aqm": dict(law),
            "monitored": True,
            "both_ways": True,
        }

    def access(host: str, router: str) -> dict[str, Any]:
        return {"from": host, "to": router, "rate": "unlimited"}

    ends = (("a", "left"), ("b", "middle"), ("c", "right"))
    each = max(1, flows_for("mild") // 2)
    keys = {
        "title": title,
        "duration": f"{DURATION_S} s",
        "warmup": f"{WARMUP_S} s",
        "topology": {
            "kind": "graph",
            "nodes": ["a", "b", "c", "left", "middle", "right"],
            "links": [
                link("left", "middle", half_mbps),
                link("middle", "right", RATE_MBPS),
                *(access(*pair) for pair in ends),
            ],
        },
        "flows": [
            {"name": "both", "cc": "reno", "from": "a", "to": "c", "count": each},
            {"name": "second", "cc": "reno", "from": "b", "to": "c", "count": each},
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
        **{f"{name}_goodput_mbps": cumulated(number) for number, name in enumerate(("both", "second"))},
        **{f"delay_{link}_ms": f"delay_ms(link={link - 1})" for link in (1, 2)},
        **{f"lost_{link}_percent": f"100 * dropped('all', link={link - 1})" for link in (1, 2)},
        **{f"marked_{link}_percent": f"100 * marked('all', link={link - 1})" for link in (1, 2)},
        **{f"utilisation_{link}_percent": f"100 * utilisation(link={link - 1})" for link in (1, 2)},
    }
    return Experiment("in-a-row", title, cast("Any", keys), metrics, contenders=rows)


def clauses(contenders: Sequence[Setting]) -> list[Clause]:
    """The sections, in their order."""
    there = f"{RATE_MBPS} Mbit/s there and {BACK_MBPS} Mbit/s back, mild congestion both ways"
    both_ways = [
        _both_ways(
            "both-ways",
            "The same rate both ways, mild congestion both ways, the queue in both directions",
            back_mbps=RATE_MBPS,
            adapt=_on_both_links,
        ),
        _both_ways("asymmetric", f"{there}, the queue on the way there, a FIFO back", back_mbps=BACK_MBPS, adapt=None),
        _both_ways(
            "asymmetric-both", f"{there}, the queue in both directions", back_mbps=BACK_MBPS, adapt=_on_both_links
        ),
    ]
    return [
        Clause("9.2", "Bidirectional traffic", Level.MAY, both_ways),
        Clause(
            "10.2",
            "Two queues in a row",
            Level.MAY,
            [_in_a_row(contenders)],
            reason="with other parameters: give `--beside` the same law with them",
        ),
        Clause(
            "11.2",
            "Implementation cost",
            Level.SHOULD,
            reason="a text of its authors; `shoal describe` names what a model follows, code or pseudocode",
        ),
        Clause(
            "12.2",
            "Operator control and auto-tuning",
            Level.SHOULD,
            reason="a text of its authors; the values of each queue stand above, and in every scenario",
        ),
    ]
