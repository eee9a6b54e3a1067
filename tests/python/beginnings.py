"""Fabrics of the benchmark, as short as tests can afford: what their first packets do."""

from __future__ import annotations

from collections.abc import Mapping

# Keys that are replaced, by the file below scenarios/.
FABRICS: Mapping[str, Mapping[str, object]] = {
    "bench/fabric-1k.toml": {"duration": "50 us"},
    "bench/fabric-8k.toml": {"duration": "20 us"},
    "bench/fabric-web.toml": {
        "duration": "1 ms",
        "flows[0].start": {"load": 0.25, "until": "1 ms"},
        "flows[1].start": {"load": 0.25, "until": "1 ms"},
    },
}
