"""Where a hunt looks: its axes, and how points become scenarios: the whole space, or keys of a given scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from shoal._toml import toml_file
from shoal.errors import UsageError
from shoal.hunting.axes import Axis, Point, new_axis
from shoal.hunting.bench import Make
from shoal.hunting.law import Law
from shoal.hunting.space import axes_of, full_s, keys_of, short_s
from shoal.scenario import Scenario


@dataclass(frozen=True)
class Room:
    """Where a hunt looks.

    Attributes
    ----------
    axes
        All of them.
    make
        The scenario of a point, short or long.
    file
        Its scenario file, with a seed.
    unlike
        It makes the scenario with another law in the place of the hunted one; ``None`` if nobody asked for that.
    """

    axes: tuple[Axis, ...]
    make: Make
    file: Callable[[Point, bool, int], str]
    unlike: Make | None = None


def room_of(
    law: Law | None,
    base: Scenario | str | Path | None,
    vary: Mapping[str, str],
    fix: Mapping[str, str],
    unlike: Law | None = None,
) -> Room:
    """The room of a law, or around a scenario.

    Raises
    ------
    UsageError
        An axis is none, or there is nothing to hunt.
    """
    both = next((key for key in vary if key in fix), None)
    if both is not None:
        raise UsageError(f"`{both}` is to be varied and fixed", hint="leave one of them out")
    if base is not None:
        return _around(law, base if isinstance(base, Scenario) else Scenario.from_file(base), vary, fix, unlike)
    if law is None:
        raise UsageError("nothing is hunted", hint="name a law, or a base scenario and what varies in it")
    known = {axis.key: axis for axis in axes_of(law)}
    for key, text in vary.items():
        known[key] = known[key].narrowed(text) if key in known else new_axis(key, text)
    for key, text in fix.items():
        if key in known:
            known[key] = known[key].fixed(text)
    extra = [axis for axis in known.values() if axis.key in vary and axis.key not in {a.key for a in axes_of(law)}]
    fixed = [(key, text) for key, text in fix.items() if key not in known]
    axes = tuple(known.values())

    def make_with(hunted: Law) -> Make:
        def make(point: Point, full: bool) -> Scenario:
            keys = keys_of(point, hunted, axes, full_s if full else short_s(point))
            return _changed(Scenario.from_toml(toml_file(keys), name="hunt"), extra, point, fixed)

        return make

    make = make_with(law)

    def file(point: Point, full: bool, seed: int) -> str:
        if extra or fixed:
            return make(point, full).set_text(("seed", str(seed))).to_toml()
        keys = keys_of(point, law, axes, full_s if full else short_s(point))
        return toml_file({**keys, "seed": seed})

    # It has the name of the hunted law, by which axes say where that one stands, and the keys of the other one.
    return Room(axes, make, file, make_with(replace(law, table=unlike.table)) if unlike is not None else None)


def _around(
    law: Law | None, base: Scenario, vary: Mapping[str, str], fix: Mapping[str, str], unlike: Law | None
) -> Room:
    """A base scenario, of which some keys vary."""
    if not vary:
        raise UsageError("a base is given, and nothing varies", hint="as in --vary bottleneck.rate='2..50 Mbit/s'")
    axes = tuple(new_axis(key, text) for key, text in vary.items())
    fixed = list(fix.items())

    def make_with(hunted: Law | None) -> Make:
        scenario = base if hunted is None else _with_law(base, hunted)
        return lambda point, _full: _changed(scenario, axes, point, fixed)

    make = make_with(law)

    def file(point: Point, full: bool, seed: int) -> str:
        return make(point, full).set_text(("seed", str(seed))).to_toml()

    return Room(axes, make, file, make_with(unlike) if unlike is not None else None)


def _with_law(base: Scenario, law: Law) -> Scenario:
    """The law in the first group, or in that which is called so, or at the bottleneck."""
    names = [group["name"] for group in base.facts["groups"]]
    group = "law" if "law" in names else names[0]
    keys = {f"flows.{group}.{key}": value for key, value in law.table.items()}
    return base.override(keys if law.is_controller else {"bottleneck.aqm": dict(law.table)})


def _changed(scenario: Scenario, axes: Sequence[Axis], point: Point, fixed: Sequence[tuple[str, str]]) -> Scenario:
    """A scenario with further keys of a point, and those that are the same everywhere."""
    pairs = [*fixed, *((axis.key, axis.text(point[axis.key])) for axis in axes)]
    return scenario.set_text(*pairs) if pairs else scenario
