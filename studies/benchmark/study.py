"""The benchmark of the simulator, as `make bench` prints it, with more runs."""

from collections.abc import Iterator

from shoal_dev.study import Study, benches


def measure(*, repeat: int = 7) -> Iterator[str]:
    """Best of some runs of each case."""
    yield f"Best of {repeat} runs of each case."
    yield benches("--repeat", str(repeat))


STUDY = Study(
    title="Recorded benchmark",
    about="see [performance](../internals/performance.md)",
    measure=measure,
    takes="about five minutes",
    of_a_machine=True,
)
