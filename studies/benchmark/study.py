"""The benchmark of the simulator, as `make bench` prints it, with more runs."""

import subprocess
from collections.abc import Iterator

from shoal_dev import ROOT
from shoal_dev.study import Study


def measure(*, repeat: int = 7) -> Iterator[str]:
    """Best of some runs of each case."""
    command = ["cargo", "run", "--release", "--quiet", "--package", "shoal-benches", "--", "--repeat", str(repeat)]
    yield f"Best of {repeat} runs of each case."
    yield subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.rstrip()


STUDY = Study(
    title="Recorded benchmark",
    about="see [performance](../internals/performance.md)",
    measure=measure,
    takes="about five minutes",
    of_a_machine=True,
)
