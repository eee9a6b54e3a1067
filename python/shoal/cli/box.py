"""``shoal box``."""

from __future__ import annotations

import json
import re
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Exit

from shoal.cli import options
from shoal.cli.completion import scenario_names
from shoal.cli.console import data, talk
from shoal.cli.declare import argument, option
from shoal.words import count_of

if TYPE_CHECKING:
    from shoal.linux.box_page import BoxPage
    from shoal.linux.demo import Hosts
    from shoal.scenario import Scenario
    from shoal.wire_box import WireBox


_Inside = Annotated[
    str | None,
    option("--in", "IF", "Interface whose frames pass the queue, on the senders' side; [cyan]tun:NAME[/] makes one."),
]
_Outside = Annotated[
    str | None,
    option("--out", "IF", "Interface at which they leave, on the receivers' side; [cyan]tun:NAME[/] makes one."),
]
_Rate = Annotated[
    str | None, option("--rate", "RATE", "Rate of the bottleneck, e.g. [cyan]40Mbit/s[/]; without a scenario.")
]
_Queue = Annotated[str, option("--aqm", "KIND", "Its queue, e.g. [cyan]dualpi2[/]; without a scenario.")]
_RoundTrip = Annotated[
    str, option("--rtt", "TIME", "Round trip that the box adds to that of the network; without a scenario.")
]
_Duration = Annotated[str | None, option("--duration", "TIME", "End after this time; without it, Ctrl-C ends the box.")]
_Seed = Annotated[int | None, option("--seed", "N", "Seed of what is random; that of the scenario if left out.")]
_Record = Annotated[
    Path | None,
    option("--pcap", "FILE", "Write the headers of all frames, and what was decided about each, as pcapng."),
]
_Replay = Annotated[
    Path | None,
    option("--replay", "FILE", "Take the decisions of such a file again, and compare; no interface is needed."),
]
Page = Annotated[
    bool,
    typer.Option("--page", help="Serve a page to this machine that shows the box live, and on which it is changed."),
]


def box(
    file: Annotated[
        Path | None, argument("[SCENARIO]", "Scenario file, or name.", autocompletion=scenario_names)
    ] = None,
    inside: _Inside = None,
    outside: _Outside = None,
    rate: _Rate = None,
    aqm: _Queue = "fifo",
    rtt: _RoundTrip = "20 ms",
    set_: options.Set = None,
    duration: _Duration = None,
    seed: _Seed = None,
    pcap: _Record = None,
    replay: _Replay = None,
    page: Page = False,
    is_json: options.Json = False,
) -> None:
    """Carry frames between two interfaces through a bottleneck, with the queue that the simulator has.

    What comes in at the one interface waits in the queue of the scenario's bottleneck and leaves at the other; what
    comes back only waits for the rest of the round trip of the scenario's first flows. CE is set where the law marks,
    in IPv4, IPv6, below VLAN tags, and in the outer header of tunnels; nothing else of a frame changes. Rate schedules,
    delays and impairments are those of the scenario; its flows are not run, since hosts bring theirs.

    A machine with one interface has TUN devices instead, two of them, which the box makes and which go with it: what is
    routed into the one comes out of the other, and this machine forwards it from there. No interface is named like
    [cyan]tun:NAME[/], since names have no colon.

    Opening interfaces needs CAP_NET_RAW, making TUN devices CAP_NET_ADMIN. Nothing about interfaces changes, however
    the box ends. At the end it says how late frames left: where the 99th percentile is beyond 100 us, rates and delays
    are not to be trusted.

    The page (--page) is served to this machine alone, at an address that is printed. It shows rates, queueing delays,
    marks and drops, and moves the rate, the round trip, and the target or threshold of the queue while the box runs.

    A record (--pcap) holds the scenario and its seed, the headers of all frames that came, when, and what was decided
    about each, and when the box was changed on its page. A replay brings the same frames to the link of the simulator
    at the same times: marks, drops and times of departure are the same to the last digit, or the first frame that
    differs is named and the exit code is 1. What a killed box has left of a record is compared up to where it breaks
    off, which a warning says.

    [bold]Examples[/]

      sudo shoal box --in eth0 --out eth1 --rate 40Mbit/s --aqm dualpi2 --pcap record.pcapng
      shoal box --replay record.pcapng
      sudo shoal box mobile.toml --in eth0 --out eth1 --duration '60 s'
      sudo shoal box --in tun:shoal0 --out tun:shoal1 --rate 40Mbit/s
    """
    from shoal.cli.box_live import flows
    from shoal.errors import UsageError

    if replay is not None:
        _replay(replay, is_json=is_json)
        return
    if inside is None or outside is None:
        raise UsageError(
            "a box is between two interfaces", hint="name them: --in IF --out IF, or --in tun:NAME --out tun:NAME"
        )
    scenario = _scenario(file, rate, aqm, rtt, [*(set_ or []), *([] if duration is None else [_ends(duration)])])
    ends_s = scenario.facts["duration_s"] if duration is not None else None
    counts = carry(scenario, (inside, outside), ends_s, seed=seed, pcap=pcap, page=page)
    if is_json:
        data.json(json.dumps(counts))
        return
    data.table(flows(counts))
    data.sentence(verdict(counts))


def _scenario(file: Path | None, rate: str | None, aqm: str, rtt: str, changes: list[str]) -> Scenario:
    """The scenario of a file, or one of a rate, a queue and a round trip."""
    from shoal.errors import UsageError
    from shoal.scenario import Scenario

    if (file is None) == (rate is None):
        raise UsageError("a box has the bottleneck of a scenario, or a --rate", hint="give one of them")
    if file is not None:
        return options.read_scenario(file, changes)
    keys: Any = {"duration": "1 s", "bottleneck": {"rate": spaced(rate or ""), "aqm": {"kind": aqm}}}
    scenario = Scenario.from_keys(keys | {"flows": [{"cc": "cubic", "rtt": spaced(rtt)}]})
    return scenario.set_text(*map(options.pair_of, changes)) if changes else scenario


def carry(
    scenario: Scenario,
    interfaces: tuple[str, str],
    ends_s: float | None,
    *,
    seed: int | None = None,
    pcap: Path | None = None,
    page: bool = False,
    namespace: Path | None = None,
    hosts: Hosts | None = None,
) -> dict[str, Any]:
    """Carry frames until the time is up or somebody interrupts, and give the counts.

    Hosts of a demonstration begin to send when the box is there, and name its flows.
    """
    from shoal.cli.box_live import display
    from shoal.files import is_capture, reserved_file
    from shoal.linux.box_page import BoxPage
    from shoal.wire_box import WireBox, become_punctual, trusted_us, tun_prefix

    with ExitStack() as record:
        if pcap is not None:
            record.enter_context(reserved_file(pcap, is_capture, what="capture of shoal", option="--pcap"))
        running = WireBox(scenario, *interfaces, seed=seed, pcap=pcap, namespace=namespace)
        record.callback(running.close)
        shows = BoxPage(scenario, " and ".join(interfaces), trusted_us=trusted_us) if page else None
        if shows is not None:
            record.callback(shows.close)
            talk.note(f"the page: {shows.address}")
        if not become_punctual():
            talk.warning("no real-time priority (CAP_SYS_NICE): frames may leave late when the machine has other work")
        ends = "" if ends_s is not None else "; Ctrl-C ends it"
        if interfaces[0].startswith(tun_prefix):
            talk.note("packets come when both devices are up, and something is routed into one of them")
            talk.note("how late packets leave is known without what they wait in a device before the box takes them")
        talk.note(f"carrying frames between {interfaces[0]} and {interfaces[1]}{ends}")
        if hosts is not None:
            hosts.send()
        counts = _named(running.counts(), hosts)
        with display(counts) as shown:
            try:
                for numbers in running.run(ends_s):
                    counts = _named(numbers, hosts)
                    shown.show(counts)
                    if shows is not None:
                        _show(shows, running, counts, hosts)
            except KeyboardInterrupt:
                counts = _named(running.counts(), hosts)
    if pcap is not None:
        talk.note(f"wrote {pcap}")
    return counts


def _named(counts: dict[str, Any], hosts: Hosts | None) -> dict[str, Any]:
    """The counts with the names of the flows, if there are hosts that know them."""
    if hosts is not None:
        hosts.look()
        for way in counts["ways"]:
            for flow in way["flows"]:
                flow["flow"] = hosts.label(flow["flow"])
    return counts


def _show(page: BoxPage, box: WireBox, counts: dict[str, Any], hosts: Hosts | None) -> None:
    """Show the counts on the page, and do what its readers want."""
    videos = {} if hosts is None else {name: asdict(video) for name, video in hosts.videos.items()}
    page.show(box, counts, videos)
    for said in page.move(box):
        talk.note(said)


def _ends(duration: str) -> str:
    """The change of a scenario that gives it this duration."""
    return f"duration={spaced(duration)}"


def _replay(record: Path, *, is_json: bool) -> None:
    """Say whether a record's decisions are taken again, frame by frame."""
    from shoal import wire_box

    replayed = wire_box.replay(record)
    first = replayed.difference
    if replayed.cut is not None:
        talk.warning(
            f"the record breaks off: its last whole frame came at {replayed.cut.at_s:.6f} s, with "
            f"{count_of(replayed.cut.inside, 'frame')} inside the box that cannot be compared"
        )
    if is_json:
        parts = {
            name: None if part is None else asdict(part)
            for name, part in (("difference", first), ("cut", replayed.cut))
        }
        data.json(json.dumps({"frames": replayed.frames, **parts}))
    elif first is None:
        data.sentence(f"{count_of(replayed.frames, 'frame')}: the same decisions, and the same times of departure.")
    else:
        data.sentence(f"Frame {first.number} differs, after {replayed.frames} that do not.")
        data.pairs([("Record", first.recorded), ("Replay", first.decided)])
    if first is not None:
        raise Exit(1)


def spaced(text: str) -> str:
    """A quantity as scenarios write it, also if there is no space before its unit."""
    return re.sub(r"^\s*([0-9.]+)\s*([A-Za-z/]+)\s*$", r"\1 \2", text)


def verdict(counts: dict[str, Any]) -> str:
    """How late frames left, and whether that may be trusted."""
    from shoal.wire_box import trusted_us

    late = [way["late_us"] for way in counts["ways"] if way["late_us"]["p99"] is not None]
    worst = max((each["p99"] for each in late), default=0.0)
    words = "No frame has left: nothing was carried."
    if late:
        words = f"Frames left late by {worst:.0f} us (P99; at most {max(each['max'] for each in late):.0f} us)."
    keys = ("refused", "missed", "unreadable")
    refused, missed, unreadable = (sum(way[key] for way in counts["ways"]) for key in keys)
    if refused:
        words += f" The interface was down or had no room for {refused} of them: they are lost."
    if missed:
        words += f" {missed} came faster than the box took them, and are lost: no queue has seen them."
    if unreadable:
        words += f" {unreadable} were no packets and were thrown away."
    if worst > trusted_us:
        words += f" That is too late to be trusted: beyond {trusted_us:.0f} us."
    return words
