"""``shoal box``."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Annotated, Any

from shoal.cli import options
from shoal.cli.completion import scenario_names
from shoal.cli.console import data, talk
from shoal.cli.declare import argument, option
from shoal.table import Table

# So long is the time between two lines of a running box, in s.
_line_every_s = 1.0


def box(
    inside: Annotated[str, option("--in", "IF", "Interface whose frames pass the queue, on the senders' side.")],
    outside: Annotated[str, option("--out", "IF", "Interface at which they leave, on the receivers' side.")],
    file: Annotated[
        Path | None, argument("[SCENARIO]", "Scenario file, or name.", autocompletion=scenario_names)
    ] = None,
    rate: Annotated[
        str | None, option("--rate", "RATE", "Rate of the bottleneck, e.g. [cyan]40Mbit/s[/]; without a scenario.")
    ] = None,
    aqm: Annotated[str, option("--aqm", "KIND", "Its queue, e.g. [cyan]dualpi2[/]; without a scenario.")] = "fifo",
    rtt: Annotated[
        str, option("--rtt", "TIME", "Round trip that the box adds to that of the network; without a scenario.")
    ] = "20 ms",
    set_: options.Set = None,
    duration: Annotated[
        str | None, option("--duration", "TIME", "End after this time; without it, Ctrl-C ends the box.")
    ] = None,
    seed: Annotated[
        int | None, option("--seed", "N", "Seed of what is random; that of the scenario if left out.")
    ] = None,
    is_json: options.Json = False,
) -> None:
    """Carry frames between two interfaces through a bottleneck, with the queue that the simulator has.

    What comes in at the one interface waits in the queue of the scenario's bottleneck and leaves at the other; what
    comes back only waits for the rest of the round trip of the scenario's first flows. CE is set where the law marks,
    in IPv4, IPv6, below VLAN tags, and in the outer header of tunnels; nothing else of a frame changes. Rate schedules,
    delays and impairments are those of the scenario; its flows are not run, since hosts bring theirs.

    Opening interfaces needs CAP_NET_RAW. Nothing about them changes, however the box ends. At the end it says how late
    frames left: where the 99th percentile is beyond 100 us, rates and delays are not to be trusted.

    [bold]Examples[/]

      sudo shoal box --in eth0 --out eth1 --rate 40Mbit/s --aqm dualpi2
      sudo shoal box mobile.toml --in eth0 --out eth1 --duration '60 s'
    """
    from shoal import wire_box
    from shoal.errors import UsageError
    from shoal.scenario import Scenario

    if (file is None) == (rate is None):
        raise UsageError("a box has the bottleneck of a scenario, or a --rate", hint="give one of them")
    if file is not None:
        scenario = options.read_scenario(file, set_)
    else:
        keys: Any = {"duration": "1 s", "bottleneck": {"rate": _spaced(rate or ""), "aqm": {"kind": aqm}}}
        scenario = Scenario.from_keys(keys | {"flows": [{"cc": "cubic", "rtt": _spaced(rtt)}]})
        scenario = scenario.set_text(*map(options.pair_of, set_)) if set_ else scenario
    if duration is not None:
        scenario = scenario.set_text(("duration", _spaced(duration)))
    ends_s = scenario.facts["duration_s"] if duration is not None else None
    running = wire_box.WireBox(scenario, inside, outside, seed=seed)
    if not wire_box.become_punctual():
        talk.warning("no real-time priority (CAP_SYS_NICE): frames may leave late when the machine has other work")
    talk.note(f"carrying frames between {inside} and {outside}" + ("" if duration else "; Ctrl-C ends it"))
    counts = running.counts()
    before = counts
    try:
        for counts in running.run(ends_s):
            if counts["at_s"] - before["at_s"] >= _line_every_s:
                talk.note(_line(counts, before))
                before = counts
    except KeyboardInterrupt:
        counts = running.counts()
    if is_json:
        data.json(json.dumps(counts))
        return
    data.table(_flows(counts))
    data.sentence(_verdict(counts))


def _spaced(text: str) -> str:
    """A quantity as scenarios write it, also if there is no space before its unit."""
    return re.sub(r"^\s*([0-9.]+)\s*([A-Za-z/]+)\s*$", r"\1 \2", text)


def _line(counts: dict[str, Any], before: dict[str, Any]) -> str:
    """Rate, what waits, marks and drops of the last second."""
    way, past = counts["ways"][0], before["ways"][0]
    gone_s = counts["at_s"] - before["at_s"]
    rate = 8e-6 * (way["left_bytes"] - past["left_bytes"]) / gone_s
    marked, dropped = (way[key] - past[key] for key in ("marked", "dropped"))
    return (
        f"{counts['at_s']:.0f} s: {rate:.2f} Mbit/s, {way['waiting_packets']} packets wait, "
        f"{marked} marked, {dropped} dropped"
    )


def _flows(counts: dict[str, Any]) -> Table:
    rows = [
        (
            flow["flow"],
            f"{8e-6 * flow['bytes'] / counts['at_s']:.2f}",
            str(flow["packets"]),
            str(flow["marked"]),
            str(flow["dropped"]),
        )
        for flow in sorted(counts["ways"][0]["flows"], key=lambda flow: -flow["bytes"])
    ]
    return Table("Through the queue", ("Flow", "Mbit/s", "Packets", "Marked", "Dropped"), rows, words=1)


def _verdict(counts: dict[str, Any]) -> str:
    """How late frames left, and whether that may be trusted."""
    from shoal.wire_box import trusted_us

    late = [way["late_us"] for way in counts["ways"]]
    worst = max((each["p99"] or 0.0 for each in late), default=math.nan)
    words = f"Frames left late by {worst:.0f} us (P99; at most {max(each['max'] or 0.0 for each in late):.0f} us)."
    refused, unreadable = (sum(way[key] for way in counts["ways"]) for key in ("refused", "unreadable"))
    if refused:
        words += f" The interface had no room for {refused} of them: they are lost."
    if unreadable:
        words += f" {unreadable} were no packets and were thrown away."
    if worst > trusted_us:
        words += f" That is too late to be trusted: beyond {trusted_us:.0f} us."
    return words
