"""The effect of hosts that hand over several segments at once, on the kernel.

Ready-made scenarios with `host = "ideal"` and with `host = "linux-6-gso"`, the same seeds.
"""

import statistics
from collections.abc import Iterator, Mapping

import shoal
from shoal_dev.study import Cell, Study, has_kernel, kernel_release, on_linux
from shoal_dev.tables import table

SEEDS = range(1, 6)
# Single flows over short and long paths, mixes in single and dual queues, and many flows with windows of a few packets.
SCENARIOS = (
    "step-single",
    "compare/dctcp-step-10m",
    "compare/dctcp-step-1g",
    "compare/cubic-fifo-100m-40ms",
    "compare/mix-dual-red-10m",
    "compare/mix-dualq-40m",
    "compare/cubic-dctcp-dualpi2-40m",
    "compare/dctcp-x8-step-1g-200us",
    "compare/dctcp-x60-step-200m",
    "compare/dctcp-x50-cubic-x50-dualpi2-100m",
)
QUANTITIES = ("utilisation", "mean queue, packets", "rate ratio", "marks", "drops")


def quantities(result: shoal.Result) -> dict[str, float | None]:
    """Metrics of the one bottleneck, and the rate of a flow of the first group over that of one of the second."""
    link = result.bottlenecks[0]
    rates = [group["wire_bps"]["mean"] for group in result.groups]
    values = (
        link["utilisation"],
        link["queue_packets"]["mean"],
        rates[0] / rates[1] if len(rates) > 1 else None,
        link["marked"],
        link["dropped"],
    )
    return dict(zip(QUANTITIES, values, strict=True))


def cell(ideal: list[float | None], linux: list[float | None]) -> str:
    """The means, and the mean of the pairs' differences with its standard error, in per cent of the first."""
    pairs = [(a, b) for a, b in zip(ideal, linux, strict=True) if a is not None and b is not None]
    if not pairs:
        return ""
    before, after = (statistics.fmean(column) for column in zip(*pairs, strict=True))
    if before == after == 0:
        return "0"
    text = f"{before:.4g} → {after:.4g}"
    if not before:
        return text
    apart = [100 * (b - a) / before for a, b in pairs]
    error = statistics.stdev(apart) / len(apart) ** 0.5
    return f"{text} ({statistics.fmean(apart):+.1f} ± {error:.1f} %)"


def row(name: str) -> Mapping[str, str]:
    """The cells of a scenario by the quantities."""
    runs = {}
    for host in ("ideal", "linux-6-gso"):
        scenario = shoal.Scenario.named(name)
        groups = range(len(scenario.resolved["flows"]))
        scenario = scenario.override({f"flows[{group}].host": host for group in groups})
        runs[host] = [quantities(run) for run in on_linux()([(scenario, seed) for seed in SEEDS])]
    return {key: cell(*([values[key] for values in of_host] for of_host in runs.values())) for key in QUANTITIES}


def measure() -> Iterator[str]:
    """One row a scenario."""
    yield f"""Linux {kernel_release()}; {len(SEEDS)} seeds; mean with `host = "ideal"` → mean with
`host = "linux-6-gso"` for all groups, and the mean of the pairs' differences with its standard error."""
    rows = [(f"`{name}`", *row(name).values()) for name in SCENARIOS]
    yield table(("scenario", *QUANTITIES), rows, "lr")


STUDY = Study(
    title="Hosts that hand over several segments at once",
    about="see [linux](../linux.md#hosts)",
    measure=measure,
    needs=("kernel",),
    takes="about ten minutes",
    cells=lambda: [
        Cell("", (f"`{name}`",), lambda name=name: row(name), cpu_s=20) for name in SCENARIOS if has_kernel()
    ],
)
