"""Scenarios: what to run."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from shoal import _native
from shoal._arguments import explained
from shoal._toml import read_toml, refuse_deep, toml_document, toml_value
from shoal.errors import OutputError, ScenarioError, UsageError
from shoal.flow_lists import given_lists, keep_lists, lists_in
from shoal.laws import given_laws, keep_laws, python_laws_of
from shoal.link_traces import traces_in
from shoal.python_laws import LawClass, is_law
from shoal.shipped import find_scenario, ready_made
from shoal.words import count_of

if TYPE_CHECKING:
    from shoal.scenario_facts import ScenarioFacts
    from shoal.scenario_keys import ScenarioKeys

# A scenario file is a few kilobytes; reading a device by accident must end.
_max_bytes = 1 << 20


@explained
@dataclass(frozen=True, repr=False)
class Scenario:
    """The description of an experiment, checked when it is made.

    Make one with :meth:`named`, :meth:`from_file` or :meth:`from_toml`; change it with :meth:`override`, which gives a
    new one.

    Attributes
    ----------
    text
        The scenario file, in TOML.
    name
        Where it comes from, for messages.
    overrides
        ``(dotted key, value in TOML)`` pairs that replace values of the text, in order.
    file_warnings
        How files that the text names were understood where their form leaves that open; :attr:`warnings` has them, too.

    Examples
    --------
    >>> import shoal
    >>> scenario = shoal.Scenario.from_toml('''
    ... duration = "20 s"
    ... bottleneck = { rate = "10 Mbit/s", aqm = { kind = "step", threshold = "20 packets" } }
    ... flows = [{ cc = "dctcp", rtt = "25 ms" }]
    ... ''')
    >>> scenario.override({"bottleneck.rate": "20 Mbit/s"}).resolved["bottleneck"]["rate"]
    '20 Mbit/s'
    """

    text: str
    name: str = "<scenario>"
    overrides: tuple[tuple[str, str], ...] = field(default=())
    file_warnings: tuple[str, ...] = ()
    # Text and overrides as the Rust side holds them, if it has read them already.
    _read_before: InitVar[_native.Scenario | None] = None

    def __post_init__(self, _read_before: _native.Scenario | None) -> None:
        if _read_before is not None:
            vars(self)["native"] = _read_before
        else:
            refuse_deep(self.text, self.name)
            _refuse_deep_overrides(self.overrides)
        _ = self.native

    @classmethod
    def from_file(cls, path: str | Path, *, laws: Sequence[LawClass | str | Path] = ()) -> Scenario:
        """Read a scenario file, or a ready-made scenario by its name, as the command line does.

        Parameters
        ----------
        path
            A file; if there is none of that name, the name of a ready-made scenario (see :meth:`named`).
        laws
            Laws of one's own that it names, as for :meth:`with_laws`.

        Raises
        ------
        OutputError
            There is neither, or the file cannot be read; the hint has the nearest name.
        ScenarioError
            It is not a scenario; the message shows every problem with its place.
        """
        return read_scenario(find_scenario(path), [pair for law in python_laws_of(laws) for pair in law.keys])

    @classmethod
    def named(cls, name: str) -> Scenario:
        """Give a ready-made scenario, whatever files the working directory holds.

        Parameters
        ----------
        name
            One of ``shoal list scenarios``, such as ``coexistence`` or ``compare/dctcp-step-10m``.

        Raises
        ------
        UsageError
            There is none of that name; the hint has the nearest.

        Examples
        --------
        >>> import shoal
        >>> shoal.Scenario.named("coexistence").resolved["bottleneck"]["rate"]
        '10 Mbit/s'
        """
        return read_scenario(ready_made(name).path)

    @classmethod
    def from_toml(cls, text: str, *, name: str = "<string>", laws: Sequence[LawClass | str | Path] = ()) -> Scenario:
        """Read a scenario from a text in TOML; ``name`` is for messages, and ``laws`` are as for :meth:`with_laws`."""
        return cls(text, name, tuple(pair for law in python_laws_of(laws) for pair in law.keys))

    @classmethod
    def from_keys(cls, keys: ScenarioKeys, *, name: str = "<scenario>") -> Scenario:
        """Make a scenario of its keys, as a file has them; a type checker sees a key that does not exist.

        Examples
        --------
        >>> import shoal
        >>> scenario = shoal.Scenario.from_keys({
        ...     "duration": "20 s",
        ...     "bottleneck": {"rate": "10 Mbit/s", "aqm": {"kind": "step", "threshold": "20 packets"}},
        ...     "flows": [{"cc": "dctcp", "rtt": "25 ms"}],
        ... })
        """
        return cls(toml_document(keys), name)

    @classmethod
    def from_resolved(cls, resolved: Mapping[str, Any], *, name: str = "<resolved scenario>") -> Scenario:
        """Make the scenario of a result's ``scenario`` object."""
        try:
            text = json.dumps(resolved)
        except (RecursionError, TypeError, ValueError):
            raise UsageError(
                f"{name} is too deep, or holds what is no text, number, list or dictionary",
                hint="give the `scenario` of a result",
            ) from None
        named = toml_document({"laws": resolved.get("laws", {}), "flows": resolved.get("flows", [])})
        lists, laws = given_lists(named, (), Path()), given_laws(named, (), Path())
        return cls(_native.json_to_toml(text, name, lists, laws), name)

    def with_laws(self, *laws: LawClass | str | Path) -> Scenario:
        """Let ``cc``, or a queue of the kind ``module``, name laws of one's own.

        Parameters
        ----------
        laws
            Classes of :class:`shoal.Controller` or :class:`shoal.Queue`, or Python files, which are run and whose
            classes are all taken.

        Raises
        ------
        ScenarioError
            One is no law, or its source cannot be read.
        OutputError
            A file cannot be read.
        """
        return self.set_text(*(pair for law in python_laws_of(laws) for pair in law.keys))

    def override(self, values: Mapping[str, object]) -> Scenario:
        """Replace values by dotted keys, as ``--set`` does; the order counts.

        Parameters
        ----------
        values
            Keys such as ``bottleneck.rate``, ``flows[0].cc``, ``flows.reno.cc`` or, for every group,
            ``flows.*.host``; values as in the file: ``"20 Mbit/s"``, numbers, booleans, lists, dictionaries. ``cc``
            takes a class of :class:`shoal.Controller`, too.
        """
        pairs: list[tuple[str, str]] = []
        for key, value in values.items():
            if is_law(value):
                (law,) = python_laws_of([cast("LawClass", value)])
                pairs += [*law.keys, (key, law.name)]
            else:
                pairs.append((key, toml_value(value, key)))
        return self.set_text(*pairs)

    def set_text(self, *overrides: tuple[str, str]) -> Scenario:
        """Replace values that are written as on the command line: TOML, or else a plain string."""
        for key, _ in overrides:
            if key.endswith(("schedule.trace", "schedule.opportunities")):
                held = "`rates` and `delays`" if key.endswith("trace") else "`opportunity_gaps`"
                raise UsageError(
                    f"`{key}` cannot be replaced: the file that a scenario names is read with the scenario",
                    hint=f"replace {held} of the schedule, or name another file in the scenario file",
                )
        _refuse_deep_overrides(overrides)
        # Reading the text again would give the same and take three times as long.
        changed = self.native.overridden(overrides, given_laws("", overrides, self.base))
        return Scenario(self.text, self.name, (*self.overrides, *overrides), self.file_warnings, changed)

    @cached_property
    def native(self) -> _native.Scenario:
        """The scenario as the Rust side holds it: read, checked and planned once."""
        lists = given_lists(self.text, self.overrides, self.base)
        laws = given_laws(self.text, self.overrides, self.base)
        return _native.Scenario(self.text, self.name, list(self.overrides), lists, laws)

    @property
    def base(self) -> Path:
        """The folder to which the files that the scenario names are relative."""
        return Path(self.name).parent

    @cached_property
    def resolved(self) -> ScenarioKeys:
        """The scenario with every default filled in; quantities in the units of the file."""
        resolved: ScenarioKeys = json.loads(self.native.json)
        return resolved

    @cached_property
    def facts(self) -> ScenarioFacts:
        """Base units: rates in bit/s, the bandwidth-delay product and thresholds in bytes, times in seconds."""
        facts: ScenarioFacts = json.loads(self.native.facts)
        return facts

    @property
    def warnings(self) -> list[str]:
        """What is doubtful but allowed, each with its place."""
        return [*self.file_warnings, *self.native.warnings]

    @property
    def notes(self) -> list[str]:
        """What the scenario does that its author may not expect, each with its place; results repeat it as notices."""
        return self.native.notes

    @cached_property
    def simulator_refuses(self) -> str:
        """What the simulator has no model of, with places and remedies; empty if it can run the scenario."""
        return self.native.simulator_refuses

    @property
    def title(self) -> str:
        """Title for reports."""
        return str(self.resolved["title"])

    @property
    def seed(self) -> int:
        """Seed of all random streams."""
        return int(self.resolved["seed"])

    def to_toml(self) -> str:
        """Write the resolved scenario as a scenario file."""
        return self.native.toml

    def write_into(self, folder: Path, name: str = "scenario.toml") -> None:
        """Write the scenario, and the lists of flows that it names, into a folder of results."""
        from shoal.files import write_text

        write_text(folder / name, self.to_toml())
        keep_lists(self.resolved, folder, self.base)
        keep_laws(self.resolved, folder, self.base)

    def __repr__(self) -> str:
        if "native" not in vars(self):  # it was refused, and a debugger shows it
            return f"<shoal.Scenario from {self.name}, refused>"
        changed = f", {count_of(len(self.overrides), 'value')} replaced" if self.overrides else ""
        return f"<shoal.Scenario `{self.title}` from {self.name}{changed}>"

    @property
    def hosts(self) -> str:
        """What the hosts of the flows are, in words: how they send and receive decides results as much as the queue."""
        groups: dict[str, list[str]] = {}
        for group in self.resolved["flows"]:
            host = group["host"]
            table: Mapping[str, object] = {"preset": host} if isinstance(host, str) else host
            changes = ", ".join(f"{key} = {value}" for key, value in table.items() if key != "preset")
            groups.setdefault(f"{table['preset']}{f' with {changes}' if changes else ''}", []).append(group["name"])
        if len(groups) == 1:
            return f"hosts {next(iter(groups))}"
        return "hosts " + "; ".join(f"{name} ({', '.join(members)})" for name, members in groups.items())

    def _repr_html_(self) -> str:
        from shoal import notebook
        from shoal.stats import single
        from shoal.words import milliseconds, number, rate

        facts = self.facts
        links = [
            (
                link["name"],
                rate(single(link["rate_bps"])),
                "-" if link["bdp_bytes"] is None else f"{number(single(link['bdp_bytes'] / 1e3))} kB",
                ", ".join(f"{line['label']} = {number(single(line['bytes'] / 1e3))} kB" for line in link["thresholds"]),
            )
            for link in facts["bottlenecks"]
        ]
        groups = [
            (
                fact["name"],
                group["cc"],
                group["stack"],
                str(fact["flows"]),
                milliseconds(single(fact["base_rtt_s"])),
            )
            for fact, group in zip(facts["groups"], self.resolved["flows"], strict=True)
        ]
        measured = f"measured from {facts['warmup_s']:g} s to {facts['duration_s']:g} s, {self.hosts}"
        return (
            notebook.heading(self.title, measured)
            + (notebook.table(links, heads=("Link", "Rate", "BDP", "Thresholds")) if links else "")
            + notebook.table(groups, heads=("Group", "Controller", "Stack", "Flows", "Base RTT"), words=3)
            + notebook.folded("The whole scenario, with every default", self.to_toml())
        )


def _refuse_deep_overrides(overrides: Iterable[tuple[str, str]]) -> None:
    for key, value in overrides:
        refuse_deep(f"{key} = {value}", "--set")


def read_traces(text: str, path: Path) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """What traces and lists of flows that a file names hold, as overrides of its text, and warnings of them."""
    entries, warnings = traces_in(text, path)
    return tuple((key, toml_value(value)) for key, value in (*entries, *lists_in(text, path))), tuple(warnings)


def is_sweep(text: str, name: object) -> bool:
    """Whether a file is a sweep and no scenario: it names a scenario; ``name`` is for messages."""
    try:
        return "scenario" in read_toml(text, name)
    except tomllib.TOMLDecodeError:
        return False


def read_scenario(path: Path, tables: Sequence[tuple[str, str]] = ()) -> Scenario:
    """The scenario of a file, with the values of further keys as texts in TOML.

    Raises
    ------
    OutputError
        The file cannot be read.
    ScenarioError
        It is not a scenario.
    UsageError
        It is a sweep.
    """
    text = read_text(path)
    traces, warnings = read_traces(text, path)
    try:
        return Scenario(text, str(path), (*traces, *tables), warnings)
    except ScenarioError:
        if is_sweep(text, path):
            raise UsageError(f"`{path}` is a sweep, and no scenario", hint=f"shoal sweep {path}") from None
        raise


def read_text(path: str | Path) -> str:
    """Read a small UTF-8 file.

    Raises
    ------
    OutputError
        It cannot be read.
    ScenarioError
        It is too large or no text.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(_max_bytes + 1)
    except OSError as error:
        raise OutputError(f"cannot read `{path}`: {error.strerror}", hint="name a file that you may read") from error
    if len(content) > _max_bytes:
        raise ScenarioError(
            f"error: `{path}` has more than {_max_bytes} bytes\n"
            "hint: a scenario file is a few kilobytes; is this the right file?\n"
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ScenarioError(
            f"error: `{path}` is not UTF-8 text (byte {error.start})\nhint: is this a scenario file?\n"
        ) from None
