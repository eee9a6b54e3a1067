"""Packets a second through a link without a simulator around it."""

from collections.abc import Iterator

from shoal_dev.study import Study, benches


def measure() -> Iterator[str]:
    """Ten million packets through two queues."""
    yield (
        "Ten million packets of 1500 bytes, ECT(1) and ECT(0) in turns, at 110 % of a line of 100 Mbit/s, through "
        "`enqueue` and `next` of [`Bottleneck`](../../crates/core/bottleneck/README.md): three times each queue, in "
        "turns. Seconds are those of the thread's CPU."
    )
    yield benches("--link-alone")


STUDY = Study(
    title="Speed of a link alone",
    about="see [how to use one](../how-to/use-a-link-in-your-tests.md)",
    measure=measure,
    takes="some seconds, after a build",
    of_a_machine=True,
)
