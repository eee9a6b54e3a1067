"""Real results of several kinds of runs against the list of fields that docs/reference/result.md is made from."""

from __future__ import annotations

import json
from pathlib import Path
from types import UnionType
from typing import Any, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

import pytest

import shoal
from shoal import _native, contract

ROOT = Path(__file__).parents[2]
FIELDS: dict[str, dict[str, Any]] = {field["path"]: field for field in json.loads(_native.result_fields())}
KINDS: dict[str, tuple[type, ...]] = {
    "number": (int, float),
    "integer": (int,),
    "text": (str,),
    "object": (dict,),
    "list": (list,),
    "any": (dict,),
}
# Between them these have every kind of application, several links, a link that changes, flows that are left out of the
# lists, and notices.
RUNS: dict[str, dict[str, object]] = {
    "coexistence": {"duration": "6 s", "warmup": "1 s"},
    "requests": {"duration": "2 s", "warmup": "0.5 s"},
    "web-pages": {"duration": "4 s", "warmup": "1 s"},
    "video": {"duration": "3 s", "warmup": "1 s"},
    "adaptive-video": {"duration": "3 s", "warmup": "1 s"},
    "unresponsive": {"duration": "7 s", "warmup": "1 s"},
    "web-search": {
        "duration": "1 s",
        "warmup": "0 s",
        "trace.flows": 1,
        "flows[0].start": {"load": 0.6, "until": "0.9 s"},
    },
    "incast-barrier": {},
    "two-classes": {"duration": "1 s", "warmup": "0.2 s"},
    # Hosts have cards.
    "parking-lot": {"duration": "2 s", "warmup": "1 s", "flows.*.host": "linux-6-10g"},
    # The link changes, and loses packets.
    "step-single": {
        "duration": "3 s",
        "warmup": "1 s",
        "bottleneck.schedule": {"changes": [{"at": "2 s", "rate": "5 Mbit/s"}]},
        "bottleneck.impairments": {"loss": 0.001},
    },
    # CUBIC is starved, so there is a notice.
    "coupled": {
        "duration": "8 s",
        "warmup": "3 s",
        "bottleneck.aqm": {
            "kind": "dual-red",
            "reno": {"min": "5 packets", "max": "15 packets", "max_probability": 0.1, "weight": 0.002},
            "dctcp": {"threshold": "60 packets"},
        },
    },
}
# Reasons that are written only where a packet had them: a law that marks where the buffer is full, or drops what it
# would have marked. Redirected packets need queue protection. The tests of the meters count them.
RARE = {
    *(f"bottlenecks[].marked_by.{reason}" for reason in ("buffer", "shared_buffer")),
    "bottlenecks[].dropped_by.coupled",
    "bottlenecks[].redirected",
}
# The same of queues for traffic classes.
RARE |= {path.replace("[].", "[].classes[].", 1) for path in RARE}


@pytest.fixture(scope="module")
def results() -> dict[str, dict[str, Any]]:
    return {
        name: shoal.run(shoal.Scenario.named(name).override({"trace.series": "off", **changes})).data
        for name, changes in RUNS.items()
    }


def problems(value: Any, path: str, seen: set[str]) -> list[str]:
    """What is written and not documented, documented and missing, or of another kind."""
    if path == "scenario":
        return []
    found = []
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict | list):
                found += problems(item, f"{path}[]", seen)
        return found
    if not isinstance(value, dict):
        return []
    if f"{path}.*" in FIELDS or path == "metrics.rate_ratio":
        return []
    inside = path + "." if path else ""
    for name, item in value.items():
        own = inside + name
        if own not in FIELDS:
            found.append(f"`{own}` is not documented")
            continue
        seen.add(own)
        field = FIELDS[own]
        if item is None:
            found += [] if field["may_be_null"] else [f"`{own}` is null"]
        elif not isinstance(item, KINDS[field["kind"]]) or isinstance(item, bool):
            found.append(f"`{own}` is {item!r}, not {field['kind']}")
        found += problems(item, own, seen)
    children = {other for other in FIELDS if other.startswith(inside) and "." not in other[len(inside) :]}
    missing = {other for other in children if "[" not in other[len(inside) :]} - {inside + name for name in value}
    return found + [f"`{other}` is missing" for other in sorted(missing) if not FIELDS[other]["may_be_absent"]]


def test_every_field_is_documented_and_there(results: dict[str, dict[str, Any]]) -> None:
    seen: set[str] = set()
    wrong = {name: problems(data, "", seen) for name, data in results.items()}
    assert {name: own for name, own in wrong.items() if own} == {}
    # Runs on Linux are elsewhere; everything else stood in one of these results.
    assert {path for path in FIELDS if not path.startswith("linux")} - seen == RARE


def test_the_walk_notices(results: dict[str, dict[str, Any]]) -> None:
    data = json.loads(json.dumps(results["coexistence"]))
    data["bottlenecks"][0]["colour"] = 1
    del data["groups"][0]["totals"]["losses"]
    data["seed"] = None
    data["groups"][0]["name"] = 3
    assert problems(data, "", set()) == [
        "`seed` is null",
        "`bottlenecks[].colour` is not documented",
        "`groups[].name` is 3, not text",
        "`groups[].totals.losses` is missing",
    ]


def test_quantities_have_units() -> None:
    for path, field in FIELDS.items():
        assert field["doc"].endswith("."), path
        if field["kind"] == "number" and path.rpartition(".")[2].endswith(("_s", "_bps", "_bytes", "_packets")):
            assert field["unit"], path
    assert FIELDS["groups[].flows[].goodput_bps"]["unit"] == "bit/s"
    assert FIELDS["bottlenecks[].delay_s.all.p99"]["unit"] == "s"


def test_the_page_has_every_field() -> None:
    page = (ROOT / "docs" / "reference" / "result.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == list(FIELDS)


PLAIN = {"number": float, "integer": int, "text": str}


def expected(kind: str, hint: Any) -> bool:
    """Whether a type hint is of a kind of the list of fields."""
    if kind in PLAIN:
        return bool(hint is PLAIN[kind])
    if kind == "list":
        return get_origin(hint) is list
    # The insides of a scenario are those of a scenario file.
    return hint is Any if kind == "any" else is_typeddict(hint) or get_origin(hint) is dict


def test_types_say_of_every_field_what_the_list_says() -> None:
    hints: dict[str, Any] = {"": contract.RunResult}
    for path, field in FIELDS.items():
        above, _, name = path.rpartition(".")
        hint = get_type_hints(hints[above], include_extras=True)[name]
        assert (get_origin(hint) is NotRequired) == field["may_be_absent"], path
        hint = get_args(hint)[0] if get_origin(hint) is NotRequired else hint
        options = set(get_args(hint)) if isinstance(hint, UnionType) else {hint}
        assert (type(None) in options) == field["may_be_null"], path
        (hint,) = options - {type(None)}
        assert expected(field["kind"], hint), path
        hints[f"{path}[]" if field["kind"] == "list" else path] = get_args(hint)[0] if field["kind"] == "list" else hint
    # And nothing more.
    declared = {name for name, kind in vars(contract).items() if is_typeddict(kind)}
    assert declared == {field["object"] for field in FIELDS.values()}
    for name in declared:
        fields = {path.rpartition(".")[2] for path, field in FIELDS.items() if field["object"] == name}
        assert set(get_type_hints(getattr(contract, name))) == fields, name
