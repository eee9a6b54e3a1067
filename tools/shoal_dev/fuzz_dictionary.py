"""Writes the dictionaries of the fuzz targets that read scenarios: every key, kind and word of the schema."""

from __future__ import annotations

import json
from collections.abc import Iterator

from shoal_dev import ROOT

FOLDER = ROOT / "fuzz" / "dictionaries"
# What the schema cannot say: units, nodes of the built-in topologies, sections.
COMMON = {
    *("BDP", "Mbit/s", "kB", "ms", "us", "packets", "per s", "unlimited", "off"),
    *("h1", "h2..h4", "leaf1", "spine1", "switch", "s1", "in1", "out1"),
}
OWN = {
    "scenario_toml": {
        *("[[flows]]", "[[topology.links]]", "[[topology.shared_buffers]]", "[bottleneck]", "[topology]", "[trace]"),
    },
    "scenario_override": {
        *("flows[0].", "flows.dctcp.", "topology.", "topology.links[0].", "bottleneck.aqm=", "trace."),
    },
}


def words(schema: object) -> Iterator[str]:
    """Names of keys and the values that they may have."""
    if isinstance(schema, dict):
        for key, inner in schema.items():
            if key == "properties":
                yield from inner
            if key == "const" and isinstance(inner, str):
                yield inner
            if key == "enum":
                yield from (word for word in inner if isinstance(word, str))
            yield from words(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from words(inner)


def main() -> None:
    """Write all dictionaries."""
    from shoal import _native

    known = {word for word in words(json.loads(_native.schema())) if word.isascii() and '"' not in word}
    for target, tokens in OWN.items():
        lines = [f'"{word}"\n' for word in sorted(known | COMMON | tokens)]
        (FOLDER / target).write_text("".join(lines), encoding="utf-8")
