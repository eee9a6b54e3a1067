"""Section 5.1 of RFC 9743: flows of the controller among themselves, and what is measured of any traffic."""

from __future__ import annotations

from typing import Any

from shoal.evaluate.contenders import SUBJECT, everywhere
from shoal.evaluate.model import Clause, Experiment, Level, group, varied
from shoal.evaluate.rfc9743.paths import all_paths, behind, path

#: Columns of the queue.
QUEUE = {"delay_ms": "delay_ms()", "delay_p99_ms": "delay_ms('all', 'p99')", "lost_percent": "100 * dropped('all')"}


def on_paths(
    name: str, title: str, flows: list[dict[str, Any]], metrics: dict[str, str], *, headline: str = "", **more: Any
) -> Experiment:
    """Traffic on each of the paths."""
    return Experiment(name, title, behind(title, flows), metrics, paths=all_paths(), headline=headline, **more)


def subject(**more: Any) -> dict[str, Any]:
    """The flows whose controller is evaluated."""
    return group(SUBJECT, cc="reno", rtt="40 ms", **more)


def short_flows(name: str, cc: str) -> dict[str, Any]:
    """Transfers of 30 kB that take a tenth of the link."""
    return {"name": name, "cc": cc, "rtt": "40 ms", "app": {"transfer": "30 kB"}, "start": {"load": 0.1}}


def completion(short: str, long: str) -> dict[str, str]:
    """Columns of short flows over long ones."""
    return {
        "completion_ms": f"fct_ms('{short}')",
        "completion_p99_ms": f"fct_ms('{short}', 'p99')",
        "long_mbps": f"goodput_mbps('{long}')",
        **QUEUE,
    }


def _alone() -> Experiment:
    metrics = {"utilisation_percent": "100 * utilisation()", "goodput_mbps": f"goodput_mbps('{SUBJECT}')", **QUEUE}
    return on_paths("alone", "One flow alone", [subject()], metrics, headline="delay_p99_ms")


def _alike() -> Experiment:
    metrics = {
        "jain": "jain()",
        "utilisation_percent": "100 * utilisation()",
        **QUEUE,
        "timeouts": f"count('{SUBJECT}', 'timeouts')",
    }
    return on_paths("alike", "Four flows of the controller", [subject(count=4)], metrics, headline="jain")


def _many_flows() -> Experiment:
    """Flows of the controller in buffers of several sizes: the text's own example of lasting loss is BBR version 1."""
    title = "2 to 16 flows of the controller, with buffers of 0.25 to 4 BDP"
    buffers = [path("6.1", f"FIFO of {bdp:g} BDP", buffer_bdp=bdp) for bdp in (0.25, 0.5, 1, 1.5, 2, 4)]
    metrics = {"lost_percent": "100 * dropped('all')", "utilisation_percent": "100 * utilisation()", "jain": "jain()"}
    counts = varied(f"flows.{SUBJECT}.count", [2, 4, 8, 16])
    return Experiment("many", title, behind(title, [subject()]), metrics, axes=(counts,), paths=buffers)


def _short_over_long() -> Experiment:
    """Section 5.1 has no flows of another controller, so that both groups are those of the evaluated one."""
    return on_paths(
        "short-over-long",
        "Short flows over two long ones, all of the controller",
        [group("long", cc="reno", rtt="40 ms", count=2), short_flows(SUBJECT, "reno")],
        completion(SUBJECT, "long"),
        headline="completion_p99_ms",
        adapt=everywhere,
    )


def clauses() -> list[Clause]:
    """The sections, in their order."""
    return [
        Clause("5.1.2", "Protection against bufferbloat", Level.OUGHT, [_alone()]),
        Clause("5.1.3", "Protection against high loss", Level.SHOULD, [_many_flows()]),
        Clause("5.1.4", "Fairness within the algorithm", Level.SHOULD, [_alike()]),
        Clause("5.1.5", "Short flows over long ones", Level.MUST, [_short_over_long()]),
    ]
