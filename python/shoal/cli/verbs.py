"""The verbs of the command line: a verb is imported when it is called, so that every other one costs nothing."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup


class Verb(NamedTuple):
    """Where a verb is.

    Attributes
    ----------
    module
        Its module in this package.
    member
        The function that carries it out, or the Typer of the verbs below it.
    help
        What lists of verbs say: the first sentence of its help (tests/python/test_cli.py compares both).
    """

    module: str
    member: str
    help: str


VERBS = {
    "run": Verb("run", "run", "Run scenarios and print who gets what rate at what delay."),
    "check": Verb("check", "check", "Check scenario files without running them."),
    "sweep": Verb("sweep", "sweep", "Run a scenario at many points, and print a table."),
    "merge": Verb("merge", "merge", "Put the parts of a sweep together that ran on machines which share nothing."),
    "tune": Verb(
        "tune",
        "tune",
        "Search for the end of the values that satisfy a condition, or for the values that serve goals best.",
    ),
    "advise": Verb(
        "advise",
        "advise",
        "Recommend a queue for a port, from what its traffic does behind each law that the port can have.",
    ),
    "evaluate": Verb(
        "evaluate", "evaluate", "Evaluate a queue as RFC 7928 asks, or a congestion control as RFC 9743 does."
    ),
    "hunt": Verb(
        "hunt", "hunt", "Search for scenarios in which a law does worst, and make each as small as it can be."
    ),
    "judge": Verb(
        "judge",
        "judge",
        "Judge a law by a score over short scenarios: for people a table, for programs JSON in and out.",
    ),
    "compare": Verb(
        "compare", "compare", "Run scenarios on the simulator and on the real Linux kernel, and say what differs."
    ),
    "reproduce": Verb(
        "reproduce",
        "reproduce",
        "Run published experiments; print published and measured values with verdicts; write figures and a report.",
    ),
    "conformance": Verb(
        "conformance",
        "conformance",
        "Play packet scripts (packetdrill's syntax) on our TCP models or on the real kernel.",
    ),
    "report": Verb("report", "report", "Make report and figures again from saved data; nothing is run."),
    "plot": Verb("plot", "plot", "Draw a single figure of saved results for a paper; without a kind, list the kinds."),
    "explain": Verb(
        "explain", "explain", "Say which questions a result raises, and the first cause of each that its numbers show."
    ),
    "pack": Verb("pack", "pack", "Pack results for artifact evaluation, or make packed ones again and compare."),
    "list": Verb(
        "list_",
        "list_",
        "List what exists: models of each kind, switches, ready-made scenarios and sweeps, papers, metrics.",
    ),
    "describe": Verb(
        "describe", "describe", "Describe a model: what it follows, its parameters with sources, its known differences."
    ),
    "page": Verb("page", "page", "Open the page with the simulator: two bottlenecks with the same traffic, live."),
    "schema": Verb(
        "schema", "schema", "Print the JSON Schema of the scenario file, or the reference of the recorded tables."
    ),
    "doctor": Verb("doctor", "doctor", "Say what this installation is and whether it works."),
    "cache": Verb(
        "cache", "app", "Say where finished runs are kept, how many, and how much room they take; clear them."
    ),
    "config": Verb(
        "config",
        "app",
        "Configurations of switches and of tc: read into laws and scenarios, and written from scenarios.",
    ),
    "linux": Verb("linux", "app", "The real Linux kernel in virtual time: what `shoal run --on linux` runs on."),
    "box": Verb(
        "box",
        "box",
        "Carry frames between two interfaces through a bottleneck, with the queue that the simulator has.",
    ),
    "demo": Verb(
        "demo",
        "demo",
        "Show a box on this machine alone: its own kernel sends through it between network namespaces.",
    ),
    "bpf": Verb(
        "bpf",
        "app",
        "Congestion controllers and markers as BPF programs in the kernel of this machine: no module, no reboot.",
    ),
    "new": Verb("new", "app", "A scenario or a law of your own, and skeletons of what can be added to shoal's source."),
}


class Verbs(TyperGroup):
    """The verbs as a group that knows them by name and sentence until one of them is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: TyperCommand(name=name, help=verb.help) for name, verb in VERBS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb that is called."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, loaded(name) if name in VERBS else command, rest


def loaded(name: str) -> Any:
    """A verb with its options."""
    verb = VERBS[name]
    member = getattr(import_module(f"shoal.cli.{verb.module}"), verb.member)
    if not isinstance(member, typer.Typer):
        single = typer.Typer(add_completion=False, rich_markup_mode="rich")
        single.command(name)(member)
        member = single
    return typer.main.get_command(member)
