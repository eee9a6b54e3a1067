"""Runs shipped scenarios once each, for `maturin build --pgo`: what a wheel is laid out for.

It runs in an environment of its own that has the wheel with counters in it.
"""

from __future__ import annotations

from pathlib import Path

import shoal

SCENARIOS = Path(__file__).parents[1] / "scenarios"
# Large networks wait for memory more than for instructions, and would take minutes.
LEFT_OUT = ("fabric-*", "leaf-spine-*")


def main() -> None:
    """Runs them, and says how many there were."""
    shipped = sorted(SCENARIOS.rglob("*.toml"))
    paths = [path for path in shipped if not any(path.match(pattern) for pattern in LEFT_OUT)]
    for path in paths:
        shoal.run(path)
    print(f"ran {len(paths)} scenarios")


if __name__ == "__main__":
    main()
