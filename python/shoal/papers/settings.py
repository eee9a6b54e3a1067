"""What items set otherwise than the paper's reading, read from the items themselves.

A paper has one reading: stacks, starts, lengths and queues that hold for every item unless the item changes them. Every
such change is listed with its reason, so that nothing can be set for a single figure unseen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal._toml import as_text
from shoal.errors import UsageError
from shoal.models import nearest
from shoal.papers.spec import Item, Paper, Search, Sweep
from shoal.scenario import Scenario
from shoal.table import Table

_flow_settings = ("stack", "initial_window", "cwnd_clamp", "start", "rtt", "delayed_ack", "sack")
_link_settings = ("rate", "delay", "buffer", "overhead")


@dataclass(frozen=True)
class Changed:
    """A setting of a sweep or search that differs from the paper's reading.

    Attributes
    ----------
    item, sweep
        Where it is set.
    setting
        Its name: ``stack``, ``start``, ``warmup``, ``aqm.threshold``, ...
    usual, actual
        The values in the paper's reading and here, as in a scenario file.
    why
        The sentence of the paper that demands it, or the reason; empty if nobody gave one.
    """

    item: str
    sweep: str
    setting: str
    usual: str
    actual: str
    why: str


def changed_settings(paper: Paper, items: Iterable[Item], *, in_part: bool = False) -> list[Changed]:
    """Everything that items change against the sweep that ``paper.toml`` calls its ``base``.

    Parameters
    ----------
    paper, items
        What is looked at.
    in_part
        Whether items may be smaller forms, whose points do not change everything that the item has a reason for.

    Raises
    ------
    UsageError
        ``because`` explains a setting that is not changed, or ``base`` names no sweep.
    """
    if paper.base is None:
        return []
    usual = _settings(paper, _base(paper))
    changes = []
    for item in items:
        used: set[str] = set()
        for sweep in _sweeps(item):
            reasons = {**item.because, **sweep.because}
            settings = _settings(paper, sweep)
            for setting in sorted(usual.keys() | settings.keys()):
                before, after = usual.get(setting, ()), settings.get(setting, ())
                if set(after) <= set(before) or _is_varied(setting, before, after):
                    continue
                keys = [key for key in reasons if setting == key or setting.startswith(f"{key}.")]
                used |= set(keys)
                why = " ".join(reasons[max(keys, key=len)].split()) if keys else ""
                changes.append(Changed(item.name, sweep.name, setting, _shown(before), _shown(after), why))
        given = {*item.because, *(key for sweep in _sweeps(item) for key in sweep.because)}
        if given - used and not in_part:
            stale = min(given - used)
            raise UsageError(
                f"{item.name}.toml: because explains `{stale}`, which is as in {paper.base}",
                hint=nearest(stale, sorted({change.setting for change in changes if change.item == item.name})),
            )
    return changes


def settings_table(changes: Sequence[Changed]) -> Table | None:
    """The changes as a table: one row for each item, setting and value, with the sweeps that it is about."""
    if not changes:
        return None
    sweeps: dict[tuple[str, str, str, str, str], list[str]] = {}
    for change in changes:
        key = (change.item, change.setting, change.usual, change.actual, change.why)
        sweeps.setdefault(key, []).append(change.sweep)
    rows = [
        (item, ", ".join(names), setting, usual, actual, why or "no reason given")
        for (item, setting, usual, actual, why), names in sweeps.items()
    ]
    return Table("", ("Item", "Sweeps", "Setting", "The paper's reading", "Here", "Why"), rows, words=6)


def _base(paper: Paper) -> Sweep | Search:
    name, _, sweep = (paper.base or "").partition("/")
    sweeps = {candidate.name: candidate for candidate in _sweeps(paper.item(name))}
    if sweep not in sweeps:
        raise UsageError(f"paper.toml: base = `{paper.base}` is not a sweep", hint=nearest(sweep, list(sweeps)))
    return sweeps[sweep]


def _sweeps(item: Item) -> Iterator[Sweep | Search]:
    yield from item.sweeps.values()
    yield from item.searches.values()


def _settings(paper: Paper, sweep: Sweep | Search) -> dict[str, tuple[str, ...]]:
    """The values that each setting takes over all points and flow groups, in the order in which they first appear."""
    seen: dict[str, dict[str, None]] = {}
    for scenario in sweep.scenarios(paper.reading(paper.chosen)):
        for name, value in _of_scenario(scenario):
            seen.setdefault(name, {})[value] = None
    return {name: tuple(values) for name, values in seen.items()}


def _of_scenario(scenario: Scenario) -> Iterator[tuple[str, str]]:
    resolved = scenario.resolved
    yield "duration", str(resolved["duration"])
    yield "warmup", str(resolved["warmup"])
    link: Mapping[str, Any] = resolved.get("bottleneck") or resolved.get("topology") or {}
    for name in _link_settings:
        if name in link:
            yield name, str(link[name])
    yield from _of_queue(link.get("aqm", {}))
    groups: Sequence[Mapping[str, Any]] = resolved["flows"]
    for group in groups:
        for name in _flow_settings:
            if name in group:
                yield name, as_text(group[name])


def _of_queue(aqm: dict[str, Any], prefix: str = "aqm") -> Iterator[tuple[str, str]]:
    for name, value in aqm.items():
        key = f"{prefix}.{name}"
        if isinstance(value, dict):
            yield from _of_queue(value, key)
        else:
            yield key, as_text(value)


def _is_varied(setting: str, before: tuple[str, ...], after: tuple[str, ...]) -> bool:
    """Whether a parameter of the queue is what one of both sweeps varies, or belongs to a queue of another kind."""
    return setting.startswith("aqm.") and setting != "aqm.kind" and (len(before) != 1 or len(after) != 1)


def _shown(values: tuple[str, ...]) -> str:
    if len(values) <= 3:
        return " / ".join(values) or "-"
    return f"varied: {values[0]} … {values[-1]}"
