"""Many runs on the kernel: one a core, finished ones kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from shoal import _native
from shoal.cache import Cache, kept, simulator_hash
from shoal.linux.images import Image, find_image
from shoal.linux.plan import plan
from shoal.linux.running import run_on_linux
from shoal.parallel import run_all
from shoal.results import Result
from shoal.scenario import Scenario
from shoal.sweeps import progress_of


def run_jobs_on_linux(
    jobs: Sequence[tuple[Scenario, int]],
    *,
    image: Image | None = None,
    workers: int | None = None,
    cache: str | Path | None = None,
    progress: bool | Callable[[float], object] = False,
    label: str = "Running on Linux",
) -> list[Result]:
    """Run scenarios with seeds on the kernel and give the results in that order; equal jobs run once.

    Raises
    ------
    ScenarioError
        Linux cannot express one of them; nothing ran.
    """
    image = image or find_image()
    unique = list(dict.fromkeys(jobs))
    for scenario in dict.fromkeys(scenario for scenario, _ in unique):
        plan(scenario, image)
    _ = image.helpers
    with kept(cache) as store, progress_of(len(unique), progress, label) as on_done:
        tasks = (partial(kept_on_linux, scenario, seed, image, store) for scenario, seed in unique)
        results = dict(zip(unique, run_all(tasks, workers=workers, on_done=on_done), strict=True))
    return [results[job] for job in jobs]


def kept_on_linux(scenario: Scenario, seed: int, image: Image, store: Cache | None, cancel: _native.Cancel) -> Result:
    """A run on the kernel, from the cache if it was there before."""
    if store is None:
        return run_on_linux(scenario, seed=seed, image=image, cancel=cancel)
    # The records become measurements in the native module; the helpers are the guest's programs and modules.
    generator = image.iperf3.version if image.iperf3 else ""
    identity = (
        "linux",
        simulator_hash(),
        image.folder.name,
        image.helpers.name,
        generator,
        scenario.to_toml(),
        str(seed),
    )
    key = store.key_of(*identity)
    if (known := store.get(key)) is None:
        known = run_on_linux(scenario, seed=seed, image=image, cancel=cancel)
        store.put(key, known)
    return known
