"""Many runs on the kernel: one a core, finished ones kept."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from shoal import _native
from shoal.cache import Cache, recalled
from shoal.jobs import Finish, Job, run_each, unchanged
from shoal.linux.images import Image, find_image
from shoal.linux.running import plan, run_on_linux
from shoal.parallel import Progress
from shoal.results import Result
from shoal.scenario import Scenario


def run_jobs_on_linux(
    jobs: Sequence[Job],
    *,
    image: Image | None = None,
    workers: int | None = None,
    cache: str | Path | None = None,
    progress: Progress = False,
    label: str = "Running on Linux",
    finish: Finish = unchanged,
) -> list[Result]:
    """Run scenarios with seeds on the kernel and give the results in that order; equal jobs run once.

    Raises
    ------
    ScenarioError
        Linux cannot express one of them; nothing ran.
    """
    image = image or find_image()
    for scenario in dict.fromkeys(scenario for scenario, _ in jobs):
        plan(scenario, image)
    _ = image.helpers
    task = partial(kept_on_linux, image)
    return run_each(jobs, task, workers=workers, cache=cache, progress=progress, label=label, finish=finish)


def kept_on_linux(image: Image, scenario: Scenario, seed: int, store: Cache | None, cancel: _native.Cancel) -> Result:
    """A run on the kernel, from the cache if it was there before."""
    run = partial(run_on_linux, scenario, seed=seed, image=image, cancel=cancel)
    # The helpers are the guest's programs and modules.
    generator = image.iperf3.version if image.iperf3 else ""
    return recalled(store, scenario, seed, run, plane=("linux", image.folder.name, image.helpers.name, generator))
