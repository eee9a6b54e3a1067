"""CPU seconds of both planes on the same scenarios."""

import resource
from collections.abc import Iterator
from dataclasses import dataclass

import shoal
from shoal.linux import Image, run_on_linux
from shoal.linux.guest import guest_folder, run_guest
from shoal.linux.running import plan
from shoal_dev.study import Study, kernel
from shoal_dev.tables import table

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

    @property
    def scenario(self) -> shoal.Scenario:
        """What runs on both planes."""
        flows = [{"cc": "dctcp", "rtt": self.rtt, "host": self.host}]
        return shoal.Scenario.from_keys(
            {
                "title": "Speed",
                "duration": f"{self.seconds} s",
                "warmup": "0 s",
                "seed": 1,
                "trace": {"series": "off"},
                "bottleneck": {
                    "rate": self.rate,
                    "buffer": "1000 packets",
                    "aqm": {"kind": "step", "threshold": f"{self.threshold} packets"},
                },
                "flows": [*flows, {"cc": "reno", "rtt": self.rtt}] if self.two else flows,
            }
        )


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


def measure() -> Iterator[str]:
    """What a guest takes by itself, and the cases on both planes."""
    image = kernel()
    _ = image.helpers
    first = plan(CASES[0].scenario, image)
    hosts = "\n".join(line for line in first.config.splitlines() if line.split()[0] not in {"flow", "run"})
    setup = guest_cpu_s(hosts + "\nrun 1000000 1000000 0\n", first.memory_mib, image)
    boot = guest_cpu_s("module /sch_line.ko\nrun 1000000 1000000 0\n", first.memory_mib, image)
    count = hosts.count("\nhost ")
    yield f"Linux {image.release}, {image.mode} mode, beside the simulator. Flows: the guest's set-up is taken off."
    guests = {"boot to power-off": boot, f"the same with a testbed of {count} hosts": setup}
    yield table(
        ("one guest", "CPU s", "target"),
        [(name, f"{used:.3f}", verdict(used, below=BOOT_S)) for name, used in guests.items()],
        "lr",
    )
    heads = ("Linux: CPU s per simulated s", "target", "packets per CPU s", "target")
    heads += ("simulator: CPU s per simulated s", "packets per CPU s")
    yield table(("scenario", *heads), [row(case, image, setup) for case in CASES], "lr")


def row(case: Case, image: Image, setup_s: float) -> tuple[str, ...]:
    """A case on both planes."""
    scenario = case.scenario
    seconds = scenario.facts["duration_s"]
    before = cpu_s(resource.RUSAGE_CHILDREN)
    packets = run_on_linux(scenario, image=image).bottlenecks[0]["departed"]
    linux_s = cpu_s(resource.RUSAGE_CHILDREN) - before - setup_s
    before = cpu_s(resource.RUSAGE_SELF)
    simulated = shoal.run(scenario).bottlenecks[0]["departed"]
    sim_s = cpu_s(resource.RUSAGE_SELF) - before
    return (
        case.name,
        *(f"{linux_s / seconds:.4f}", verdict(linux_s / seconds, below=case.cpu_s)),
        *(f"{packets / linux_s:,.0f}", verdict(packets / linux_s, above=case.packets)),
        *(f"{sim_s / seconds:.5f}", f"{simulated / sim_s:,.0f}"),
    )


STUDY = Study(
    title="Recorded speed of the real kernel",
    about="see [linux](../linux.md)",
    measure=measure,
    needs=("kernel",),
    takes="about five minutes",
    of_a_machine=True,
)
