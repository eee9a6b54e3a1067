"""A box between network namespaces beside the simulator, and how late its frames leave."""

import os
import platform
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory

import shoal
from shoal.linux.namespaces import Namespaces
from shoal_dev.study import Study
from shoal_dev.tables import table
from studies.box_on_the_wire.carrying import (
    PORTS,
    QUEUES,
    SECONDS,
    SENDERS,
    WARMUP,
    Load,
    carried,
    lateness,
    scenario,
    sender_of_frames,
)

SEEDS = range(1, 21)
TITLES = {"step": "step at 20 packets", "dualpi2": "dualpi2", "cubic": "CUBIC", "reno": "Reno"}
RATES = (100, 400, 700, 1000, 1500)


def simulated(case: shoal.Scenario) -> tuple[list[float], list[float]]:
    """Shares of the first flow and mean queueing delays in s, a seed each."""
    results = [shoal.run(case, seed=seed).data for seed in SEEDS]
    rates = [[group["goodput_bps"]["mean"] or 0.0 for group in result["groups"]] for result in results]
    shares = [of_flows[0] / sum(of_flows) for of_flows in rates]
    return shares, [result["bottlenecks"][0]["delay_s"]["all"]["mean"] or 0.0 for result in results]


def measure(*, runs: int = 2, seconds: int = 5) -> Iterator[str]:
    """Shares and delays of both, and lateness by the rate at which frames come."""
    load, processors = os.getloadavg()[0], os.cpu_count()
    yield (
        f"Senders and receivers are those of Linux {platform.release()}, between namespaces (veth) on {processors} "
        f"processors, which had a load of {load:.0f} when the measurement began."
    )
    yield (
        f"Flows at 20 Mbit/s with a round trip of 30 ms and ECN, {SECONDS:g} s of which the first {WARMUP:g} s do not "
        f"count: {runs} runs of the box, and {len(SEEDS)} seeds of the simulator with the standard deviation of a run."
    )
    rows = []
    with Namespaces() as namespaces, TemporaryDirectory() as folder:
        for controllers in SENDERS:
            for queue in QUEUES:
                case = scenario(queue, controllers)
                of_box = [carried(namespaces, case, controllers, Path(folder)) for _ in range(runs)]
                shares, delays = simulated(case)
                rows.append(
                    (
                        TITLES[queue],
                        " and ".join(TITLES[name] for name in controllers),
                        ", ".join(f"{100 * of_flows[0]:.1f}" for of_flows, _ in of_box) + " %",
                        f"{100 * fmean(shares):.1f} ± {100 * stdev(shares):.1f} %",
                        ", ".join(f"{1e3 * delay:.2f}" for _, delay in of_box) + " ms",
                        f"{1e3 * fmean(delays):.2f} ± {1e3 * stdev(delays):.2f} ms",
                    )
                )
        program = sender_of_frames(Path(folder))
        late = [(port, mbps, lateness(namespaces, program, port, mbps, seconds)) for port in PORTS for mbps in RATES]
    heads = ("queue", "senders", "share of CUBIC, box", "simulator", "mean queueing delay, box", "simulator")
    yield table(heads, rows, "ll")
    yield (
        f"Frames with packets of 1500 bytes at a rate, {seconds} s each, through a faster link, on one processor "
        "of its own: how late they left. Bits are those of packets. The sender gives them straight to the interface "
        "(`frames.c` of the study), and nobody receives them. Lost are those that were not taken in time, those for "
        "which the interface had no room, and drops of the queue. What packets wait in a TUN device before the box "
        "takes them is not known, and not in its numbers. The CPU time has what the box waits awake."
    )
    heads = ("ports", "asked", "sent", "carried", "lost", "P50", "P99", "latest", "CPU a frame")
    yield table(heads, [_cells(*each) for each in late], "lr")


def _cells(port: str, mbps: int, load: Load) -> tuple[str, ...]:
    way = load.way
    lost = way["missed"], way["refused"], way["dropped"]
    return (
        port,
        f"{mbps} Mbit/s",
        f"{load.sent:,}",
        f"{load.carried:,}",
        ", ".join(f"{number:,}" for number in lost),
        *(f"{way['late_us'][name]:.0f} us" for name in ("p50", "p99", "max")),
        f"{1e6 * load.cpu_s / load.carried:.2f} us",
    )


STUDY = Study(
    title="A box on the wire beside the simulator",
    measure=measure,
    needs=("root", "cc"),
    takes="about seven minutes",
    page="how-to/put-a-box-on-the-wire.md",
    of_a_machine=True,
)
