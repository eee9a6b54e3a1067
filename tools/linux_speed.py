#!/usr/bin/env python3
"""CPU seconds of both planes on the same scenarios, in Markdown. Needs a kernel (`shoal linux build`)."""

import resource
from dataclasses import dataclass

import shoal
from shoal.linux import Image, find_image, run_on_linux
from shoal.linux.guest import guest_folder, run_guest
from shoal.linux.running import plan

STEP = """
title = "Speed"
duration = "{seconds} s"
warmup = "0 s"
seed = 1
trace = {{ series = "off" }}
[bottleneck]
rate = "{rate}"
buffer = "1000 packets"
aqm = {{ kind = "step", threshold = "{threshold} packets" }}
[[flows]]
cc = "dctcp"
rtt = "{rtt}"
host = "{host}"
{more}
"""
SECOND = '[[flows]]\ncc = "reno"\nrtt = "{rtt}"\n'

# CPU seconds of a guest that does nothing.
BOOT_S = 1.0


@dataclass(frozen=True)
class Case:
    """A scenario, and its targets: CPU seconds a simulated second at most, packets a CPU second at least."""

    name: str
    rate: str
    rtt: str
    threshold: int
    seconds: int
    host: str = "ideal"
    two: bool = False
    cpu_s: float | None = None
    packets: float | None = None


CASES = (
    Case("10 Mbit/s, 25 ms, 2 flows", "10 Mbit/s", "25 ms", 20, 120, two=True, cpu_s=0.03),
    Case("100 Mbit/s, 10 ms, 1 flow", "100 Mbit/s", "10 ms", 20, 30),
    Case("1 Gbit/s, 1 ms, 1 flow", "1 Gbit/s", "1 ms", 65, 10, packets=150e3),
    Case("10 Gbit/s, 1 ms, 1 flow", "10 Gbit/s", "1 ms", 300, 2),
    Case("the same, segments (linux-6-gso)", "10 Gbit/s", "1 ms", 300, 2, "linux-6-gso"),
    Case("the same, segments, GRO and interrupts (linux-6-25g)", "10 Gbit/s", "1 ms", 300, 2, "linux-6-25g"),
)


def verdict(value: float, *, below: float | None = None, above: float | None = None) -> str:
    """The target, and whether it is met."""
    if below is not None:
        return f"{below:g} {'met' if value <= below else 'MISSED'}"
    if above is not None:
        return f"{above:,.0f} {'met' if value >= above else 'MISSED'}"
    return ""


def cpu_s(of: int) -> float:
    """CPU seconds of this process, or of the children that it has waited for."""
    usage = resource.getrusage(of)
    return usage.ru_utime + usage.ru_stime


def guest_cpu_s(config: str, memory_mib: int, image: Image) -> float:
    """CPU seconds of one guest."""
    before = cpu_s(resource.RUSAGE_CHILDREN)
    with guest_folder() as folder:
        run_guest(config, image, folder, memory_mib=memory_mib)
    return cpu_s(resource.RUSAGE_CHILDREN) - before


def main() -> None:
    """Print the table."""
    image = find_image()
    _ = image.helpers
    first = plan(shoal.Scenario.from_toml(scenario(CASES[0])), image)
    hosts = "\n".join(line for line in first.config.splitlines() if line.split()[0] not in {"flow", "run"})
    setup = guest_cpu_s(hosts + "\nrun 1000000 1000000 0\n", first.memory_mib, image)
    boot = guest_cpu_s("module /sch_line.ko\nrun 1000000 1000000 0\n", first.memory_mib, image)
    count = hosts.count("\nhost ")
    print(f"Linux {image.release}, {image.mode} mode, beside the simulator. Flows: the guest's set-up is taken off.\n")
    print("| one guest | CPU s | target |")
    print("|---|--:|--:|")
    print(f"| boot to power-off | {boot:.3f} | {verdict(boot, below=BOOT_S)} |")
    print(f"| the same with a testbed of {count} hosts | {setup:.3f} | {verdict(setup, below=BOOT_S)} |\n")
    print(
        "| scenario | Linux: CPU s per simulated s | target | packets per CPU s | target "
        "| simulator: CPU s per simulated s | packets per CPU s |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|")
    for case in CASES:
        loaded = shoal.Scenario.from_toml(scenario(case))
        seconds = loaded.facts["duration_s"]
        before = cpu_s(resource.RUSAGE_CHILDREN)
        packets = run_on_linux(loaded, image=image).bottlenecks[0]["departed"]
        linux_s = cpu_s(resource.RUSAGE_CHILDREN) - before - setup
        before = cpu_s(resource.RUSAGE_SELF)
        simulated = shoal.run(loaded).bottlenecks[0]["departed"]
        sim_s = cpu_s(resource.RUSAGE_SELF) - before
        print(
            f"| {case.name} | {linux_s / seconds:.4f} | {verdict(linux_s / seconds, below=case.cpu_s)} "
            f"| {packets / linux_s:,.0f} | {verdict(packets / linux_s, above=case.packets)} "
            f"| {sim_s / seconds:.5f} | {simulated / sim_s:,.0f} |"
        )


def scenario(case: Case) -> str:
    """The scenario of a case."""
    more = SECOND.format(rtt=case.rtt) if case.two else ""
    return STEP.format(
        rate=case.rate, rtt=case.rtt, threshold=case.threshold, seconds=case.seconds, host=case.host, more=more
    )


if __name__ == "__main__":
    main()
