#!/usr/bin/env python3
"""CPU seconds of both planes on the same scenarios, in Markdown. Needs a kernel (`shoal linux build`)."""

import resource

import shoal
from shoal.linux import Image, find_image, run_on_linux
from shoal.linux.guest import guest_folder, run_guest
from shoal.linux.plan import Plan, plan

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
{more}
"""
SECOND = '[[flows]]\ncc = "reno"\nrtt = "{rtt}"\n'

# Name, rate, rtt, threshold, simulated seconds, a second flow.
CASES = (
    ("10 Mbit/s, 25 ms, 2 flows", "10 Mbit/s", "25 ms", 20, 120, True),
    ("100 Mbit/s, 10 ms, 1 flow", "100 Mbit/s", "10 ms", 20, 30, False),
    ("1 Gbit/s, 1 ms, 1 flow", "1 Gbit/s", "1 ms", 65, 10, False),
    ("10 Gbit/s, 1 ms, 1 flow", "10 Gbit/s", "1 ms", 300, 2, False),
)


def cpu_s(of: int) -> float:
    """CPU seconds of this process, or of the children that it has waited for."""
    usage = resource.getrusage(of)
    return usage.ru_utime + usage.ru_stime


def guest_cpu_s(planned: Plan, image: Image) -> float:
    """CPU seconds of one guest."""
    before = cpu_s(resource.RUSAGE_CHILDREN)
    with guest_folder() as folder:
        run_guest(planned, image, folder)
    return cpu_s(resource.RUSAGE_CHILDREN) - before


def main() -> None:
    """Print the table."""
    image = find_image()
    _ = image.helpers
    first = plan(shoal.Scenario.from_toml(scenario(*CASES[0])), image)
    bare = Plan("module /sch_line.ko\nrun 1000000 1000000 0\n", (), (), first.memory_mib, 1)
    hosts = "\n".join(line for line in first.config.splitlines() if line.split()[0] not in {"flow", "run"})
    built = Plan(hosts + "\nrun 1000000 1000000 0\n", (), (), first.memory_mib, 1)
    setup = guest_cpu_s(built, image)
    print(f"Linux {image.release}, {image.mode} mode. Boot to power-off: {guest_cpu_s(bare, image):.3f} CPU s;")
    print(f"with {hosts.count(chr(10) + 'host ')} hosts: {setup:.3f} CPU s.\n")
    print("| scenario | Linux: CPU s per simulated s | packets per CPU s | simulator: the same | |")
    print("|---|--:|--:|--:|--:|")
    for case in CASES:
        loaded = shoal.Scenario.from_toml(scenario(*case))
        seconds = loaded.facts["duration_s"]
        linux_s = guest_cpu_s(plan(loaded, image), image) - setup
        packets = run_on_linux(loaded, image=image).bottlenecks[0]["departed"]
        before = cpu_s(resource.RUSAGE_SELF)
        simulated = shoal.run(loaded).bottlenecks[0]["departed"]
        sim_s = cpu_s(resource.RUSAGE_SELF) - before
        print(
            f"| {case[0]} | {linux_s / seconds:.4f} | {packets / linux_s:,.0f} "
            f"| {sim_s / seconds:.5f} | {simulated / sim_s:,.0f} |"
        )


def scenario(_: str, rate: str, rtt: str, threshold: int, seconds: int, two: bool) -> str:
    """The scenario of a case."""
    more = SECOND.format(rtt=rtt) if two else ""
    return STEP.format(rate=rate, rtt=rtt, threshold=threshold, seconds=seconds, more=more)


if __name__ == "__main__":
    main()
