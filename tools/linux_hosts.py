#!/usr/bin/env python3
"""The effect of hosts that hand over several segments at once, in Markdown. Needs a kernel (`shoal linux build`).

Ready-made scenarios with `host = "ideal"` and with `host = "linux-6-gso"`, the same seeds. `make
linux-hosts-record` keeps the table.
"""

import statistics

from shoal.linux.jobs import run_jobs_on_linux

import shoal
from shoal.cache import default_folder
from shoal.linux import find_image

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
    """Both means, and the mean of the pairs' differences with its standard error, in per cent of the first."""
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


def main() -> None:
    """Print the table."""
    image = find_image()
    print(f"""Linux {image.release}; {len(SEEDS)} seeds; mean with `host = "ideal"` → mean with
`host = "linux-6-gso"` for all groups, and the mean of the pairs' differences with its standard error.
""")
    print("| scenario | " + " | ".join(QUANTITIES) + " |\n|---|" + "--:|" * len(QUANTITIES))
    for name in SCENARIOS:
        found = {}
        for host in ("ideal", "linux-6-gso"):
            scenario = shoal.Scenario.named(name)
            groups = range(len(scenario.resolved["flows"]))
            scenario = scenario.override({f"flows[{group}].host": host for group in groups})
            jobs = [(scenario, seed) for seed in SEEDS]
            found[host] = [quantities(run) for run in run_jobs_on_linux(jobs, image=image, cache=default_folder())]
        cells = [cell(*([row[key] for row in found[host]] for host in ("ideal", "linux-6-gso"))) for key in QUANTITIES]
        print(f"| `{name}` | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
