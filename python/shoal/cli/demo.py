"""``shoal demo``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.console import data, talk
from shoal.cli.declare import option

if TYPE_CHECKING:
    from shoal.linux.demo import Hosts
    from shoal.scenario import Scenario


def demo(
    seconds: Annotated[
        float | None, option("--seconds", "N", "End after so many seconds; without it, Ctrl-C ends it.", min=1)
    ] = None,
    rate: Annotated[str, option("--rate", "RATE", "Rate of the bottleneck, e.g. [cyan]40Mbit/s[/].")] = "40Mbit/s",
    aqm: Annotated[
        str | None,
        option("--aqm", "KIND", "Its queue; DualPI2 if the kernel has a scalable control, else fair queueing."),
    ] = None,
    no_page: Annotated[bool, typer.Option("--no-page", help="Serve no page; the table is shown all the same.")] = False,
    is_json: options.Json = False,
) -> None:
    """Show a box on this machine alone: its own kernel sends through it between network namespaces.

    Two bulk flows and two videos share a bottleneck with a round trip of 20 ms: one of each over DCTCP, if the kernel
    has it (`sudo shoal bpf load dctcp_ikr`, in another terminal, gives it one), else over CUBIC with ECN, and one of
    each over CUBIC without. A video has a frame of 20 kB every 40 ms,
    which is of use if it is complete 50 ms after it was due. The page shows what each gets, how long packets wait, and
    which frames are late; its sliders move the bottleneck while everything goes on.

    Needs root (CAP_SYS_ADMIN, CAP_NET_ADMIN and CAP_NET_RAW) and `ip`. The namespaces and what runs in them are removed
    at the end; what is left of one that was killed, at the start of the next.

    [bold]Examples[/]

      sudo shoal demo
      sudo shoal demo --aqm fifo --seconds 20 --no-page
    """
    from shoal.cli.box import carry, verdict
    from shoal.cli.box_live import flows
    from shoal.linux.demo import Hosts, scalable_controls
    from shoal.linux.namespaces import Namespaces

    with Namespaces() as namespaces, Hosts(namespaces) as hosts:
        scenario = _scenario(hosts, rate, aqm)
        link: Any = scenario.resolved["bottleneck"]
        said = f"{hosts.name} and CUBIC without ECN, a bulk flow and a video of each, behind {link['aqm']['kind']}"
        talk.note(f"{said} at {link['rate']}")
        if hosts.control not in scalable_controls:
            talk.note(
                "the kernel has no DCTCP; it has one while `sudo shoal bpf load dctcp_ikr` runs in another terminal"
            )
        ends = ("left", "right")
        counts = carry(scenario, ends, seconds, page=not no_page, namespace=namespaces.box, hosts=hosts)
    videos = {name: {"of": video.of, "late": video.late} for name, video in hosts.videos.items()}
    if is_json:
        data.json(json.dumps(counts | {"control": hosts.control, "videos": videos}))
        return
    data.table(flows(counts))
    for name, video in videos.items():
        data.sentence(f"{name[0].upper()}{name[1:]}: {video['late']} of {video['of']} frames late.")
    data.sentence(verdict(counts))


def _scenario(hosts: Hosts, rate: str, aqm: str | None) -> Scenario:
    """The bottleneck, with half of the round trip on the way there."""
    from shoal.cli.box import spaced
    from shoal.linux.demo import queue
    from shoal.scenario import Scenario

    law: Any = queue(hosts.control) if aqm is None else {"kind": aqm}
    if law == {"kind": "dualpi2"}:
        law = queue("dctcp")
    link: Any = {"rate": spaced(rate), "delay": "10 ms", "buffer": "1000 packets", "aqm": law}
    return Scenario.from_keys({"duration": "1 s", "bottleneck": link, "flows": [{"cc": "cubic", "rtt": "20 ms"}]})
