"""What a run shows, in one sentence: who gets what, and who waits. The engine owns its words and bounds."""

from __future__ import annotations

import json
from collections.abc import Sequence

from shoal import _native
from shoal.run_record import RunRecord
from shoal.tabulate import at


def verdict(runs: Sequence[RunRecord]) -> str:
    """One sentence about runs that differ only in their seed; empty if nothing can be said.

    Rates are compared of groups whose flows always have data, from before the measurement to its end. Delays are told
    where one link is monitored.
    """
    kinds = []
    for index, group in enumerate(runs[0].groups):
        each = at(runs, "groups", index, "wire_bps", "mean")
        if _is_backlogged(runs, index) and each is not None:
            uses_ecn = runs[0].data["scenario"]["flows"][index]["ecn"] == "on"
            kinds.append({"name": group["name"], "uses_ecn": uses_ecn, "each_bps": each.mean})
    is_single = len(runs[0].bottlenecks) == 1
    waits = {name: at(runs, "bottlenecks", 0, "delay_s", name, "p50") if is_single else None for name in _classes}
    share = {
        "kinds": kinds,
        "others_send": len(kinds) < len(runs[0].groups) or not is_single,
        **{f"{name}_s": None if wait is None else wait.mean for name, wait in waits.items()},
    }
    return str(json.loads(_native.verdict(json.dumps(share)))["sentence"])


_classes = ("ect", "not_ect")


def _is_backlogged(runs: Sequence[RunRecord], index: int) -> bool:
    """Whether the flows of a group have data during the whole measurement, and a monitored link has seen them."""
    if runs[0].data["scenario"]["flows"][index]["app"] != "bulk":
        return False
    begin_s, end_s = runs[0].window
    flows = [flow for run in runs for flow in run.groups[index]["flows"]]
    ends = [stop_s for flow in flows if (stop_s := flow["stop_s"]) is not None]
    return (
        bool(flows)
        and all((flow["start_s"] or 0) <= begin_s and (flow["wire_bps"] or 0) > 0 for flow in flows)
        and all(end >= end_s for end in ends)
    )
