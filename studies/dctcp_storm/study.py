"""Where one outage makes DCTCP retransmit without end, on the simulator and on three kernels.

A run is a storm if more than a tenth of the packets that its DCTCP flows sent were retransmissions, and more than a
thousand. Each row changes one thing of the base, which is `scenarios/dctcp-storm.toml`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from matplotlib.figure import Figure

import shoal
from shoal.linux import Image, find_image
from shoal.linux.places import cache
from shoal.plots.sizes import two_columns
from shoal.plots.style import colour, legend_of_figure, logarithmic, paper_style
from shoal_dev.study import Cell, Run, Study, kernel_release, on_linux, simulated
from shoal_dev.tables import table

SEEDS = range(1, 9)
CURE = {"flows.dctcp.cc_options.raises_prr_base_on_loss": True}
# More than this share of what was sent, and more than so many packets.
STORM_SHARE = 0.1
STORM_PACKETS = 1000


@dataclass(frozen=True)
class Change:
    """One thing that differs from the base.

    Attributes
    ----------
    what, value
        The row's first cells.
    keys
        Keys of the scenario that differ.
    kernels
        Whether kernels run it, too.
    """

    what: str
    value: str
    keys: Mapping[str, object] = field(default_factory=dict)
    kernels: bool = True


def outage(milliseconds: int) -> dict[str, object]:
    """An outage of this length at 2 s; a change to the same rate for none."""
    change = {"outage": f"{milliseconds} ms"} if milliseconds else {"rate": "30 Mbit/s"}
    return {"bottleneck.schedule": {"changes": [{"at": "2 s", **change}]}}


def buffer(packets: int) -> dict[str, object]:
    """A buffer of so many packets; 60 are 0.96 BDP of the base."""
    return {"bottleneck.buffer": f"{packets} packets"}


def random_loss(probability: float) -> dict[str, object]:
    """Packets lost at random, behind a buffer that loses none itself."""
    return {"bottleneck.impairments": {"loss": probability}, **buffer(300)}


BASE = "base"
CHANGES = (
    Change(BASE, "30 Mbit/s, 25 ms, 500 ms outage, CoDel threshold 1 ms, 60 packets"),
    *(Change("outage", f"{ms} ms", outage(ms)) for ms in (100, 200, 300, 400, 700, 1000, 2000)),
    *(
        Change(
            "rate, buffer in proportion", f"{rate} Mbit/s", {"bottleneck.rate": f"{rate} Mbit/s", **buffer(2 * rate)}
        )
        for rate in (3, 10, 100, 1000)
    ),
    *(
        Change("round trip, buffer in proportion", f"{ms} ms", {"flows.dctcp.rtt": f"{ms} ms", **buffer(60 * ms // 25)})
        for ms in (12, 50, 100)
    ),
    *(Change("threshold", f"{ms} ms", {"bottleneck.aqm.ce_threshold": f"{ms} ms"}) for ms in (0.2, 5, 10)),
    *(Change("buffer", f"{n} packets", {"bottleneck.buffer": f"{n} packets"}) for n in (30, 120, 300)),
    *(Change("flows", str(n), {"flows.dctcp.count": n}) for n in (2, 4, 10)),
    *(Change("random loss, 300 packets", f"{100 * p:g} %", random_loss(p)) for p in (0.001, 0.003, 0.01)),
    Change("random loss, 300 packets", "0.3 %, no outage", {**random_loss(0.003), **outage(0), "duration": "20 s"}),
    Change("queue", "step, K = 20", {"bottleneck.aqm": {"kind": "step", "threshold": "20 packets"}}),
    Change("queue", "DualPI2", {"bottleneck.aqm": {"kind": "dualpi2", "ecn_mask": "any-ect"}}),
    Change("queue", "tail drop, no marks", {"bottleneck.aqm": {"kind": "fifo"}}),
    Change("hosts", "linux-6-gso", {"flows.dctcp.host": "linux-6-gso"}),
    Change("hosts", "linux-6-10g", {"flows.dctcp.host": "linux-6-10g"}),
    Change("controller", "dctcp-ikr", {"flows.dctcp.cc": "dctcp-ikr"}),
    Change("controller", "dctcp-freebsd on Linux", {"flows.dctcp.cc": "dctcp-freebsd"}),
    *(
        Change("controller", f"{cc} on {stack}", {"flows.dctcp.cc": cc, "flows.dctcp.stack": stack}, kernels=False)
        for cc, stack in (
            ("dctcp-freebsd", "freebsd-2015"),
            ("dctcp-stanford", "linux-3.2"),
            ("dctcp-linux-3.18", "linux-3.18"),
        )
    ),
    Change("controller", "ecn-reno", {"flows.dctcp.cc": "ecn-reno"}),
    Change("controller", "cubic with ECN", {"flows.dctcp.cc": "cubic", "flows.dctcp.ecn": "on"}),
    Change("controller", "reno without ECN", {"flows.dctcp.cc": "reno"}),
)


def scenario_of(change: Change, more: Mapping[str, object] | None = None) -> shoal.Scenario:
    """The scenario of a row; `more` keys are those of a cure."""
    return shoal.Scenario.named("dctcp-storm").override({**change.keys, **(more or {})})


@dataclass(frozen=True)
class Outcome:
    """What the seeds of a row did on one plane."""

    storms: int
    runs: int
    most: int

    def __str__(self) -> str:
        """Storms of runs, and the most retransmissions of a run."""
        return f"{self.storms}/{self.runs}, {self.most:,}"


def outcome(results: Sequence[shoal.Result]) -> Outcome:
    """How many runs are storms, and the largest number of retransmissions."""
    storms, most = 0, 0
    for result in results:
        flows = [flow for group in result.data["groups"] for flow in group["flows"]]
        again = sum(flow["retransmissions"] for flow in flows)
        sent = sum(flow["data_packets"] for flow in flows) + again
        storms += again > STORM_PACKETS and again > STORM_SHARE * sent
        most = max(most, again)
    return Outcome(storms, len(results), most)


@dataclass(frozen=True)
class Column:
    """What a column of the map runs.

    Attributes
    ----------
    run, seeds
        The plane, and the seeds.
    cure
        Keys of the scenario that cure DCTCP.
    is_kernel
        Whether the plane is a kernel.
    """

    run: Run
    seeds: range
    cure: Mapping[str, object] = field(default_factory=dict)
    is_kernel: bool = False

    def __call__(self, change: Change) -> str:
        """The cell of a row; empty if there is nothing to run."""
        if (self.is_kernel and not change.kernels) or (self.cure and change.what == "controller"):
            return ""
        scenario = scenario_of(change, self.cure)
        try:
            return str(outcome(self.run([(scenario, seed) for seed in self.seeds])))
        except shoal.ScenarioError:  # A kernel without this queue.
            return "not there"


def simulator_columns() -> dict[str, Column]:
    """The columns of the simulator by their titles."""
    return {
        "simulator": Column(simulated(), SEEDS),
        "simulator with the cure": Column(simulated(), SEEDS, CURE),
    }


def kernel_columns(cured: str, seeds: int) -> dict[str, Column]:
    """The columns of kernels by their titles, with so many seeds."""
    images = {f"Linux {kernel_release()}": find_image(), "Linux 6.12": find_image("6.12")}
    if cured:
        patched = Image(cache("kernels", cured))
        if any(image.folder == patched.folder for image in images.values()):
            raise shoal.UsageError(
                f"{cured} is the default kernel, beside which it is to be compared",
                hint="`shoal linux build` makes the distribution's kernel the default again",
            )
        images["the same with the patch"] = patched
    return {title: Column(on_linux(image), range(1, 1 + seeds), is_kernel=True) for title, image in images.items()}


def measure(*, cured: str = "", linux_seeds: int = 8) -> Iterator[str | Figure]:
    """The map, and the figure. `cured`: name of a kernel built from a source tree with the patch."""
    columns = {**simulator_columns(), **kernel_columns(cured, linux_seeds)}
    rows = [[change.what, change.value, *(column(change) for column in columns.values())] for change in CHANGES]
    yield (
        "Each cell has the runs that are storms of all runs, and the most retransmissions of a run. A run is a storm "
        f"if more than {100 * STORM_SHARE:.0f} % of the packets that were sent, and more than {STORM_PACKETS:,}, were "
        f"retransmissions. Seeds 1 to {SEEDS[-1]} on the simulator, 1 to {linux_seeds} on kernels; the same seed "
        "begins the flow at the same time."
    )
    yield table(("changed", "to", *columns), rows, "llr")
    yield figure()


def figure() -> Figure:
    """Window and retransmissions over time, with and without the cure, on the simulator: the third seed."""
    run = simulated(tables=True)
    keys = {"trace.series": "20 ms", "duration": "6 s"}
    cases = {
        "as Linux has it": scenario_of(CHANGES[0], keys),
        "with the cure": scenario_of(CHANGES[0], {**keys, **CURE}),
    }
    with paper_style():
        drawn = Figure(figsize=(two_columns, 2.2))
        panels = drawn.subplots(1, 2, sharex=True)
        for index, (label, scenario) in enumerate(cases.items()):
            (result,) = run([(scenario, 3)])
            flows = result.table("flows")
            panels[0].plot(flows["time_s"], flows["cwnd_packets"], color=colour(index), linewidth=0.9, label=label)
            panels[1].plot(flows["time_s"], flows["goodput_bps"] / 1e6, color=colour(index), linewidth=0.9, label=label)
        panels[0].set_ylabel("Congestion window [packets]")
        logarithmic(panels[0].yaxis)
        panels[1].set_ylabel("Goodput [Mbit/s]")
        for axes in panels:
            axes.axvspan(2, 2.5, color="0.9", linewidth=0)
            axes.set(xlabel="Time [s]", xlim=(1, 6))
        legend_of_figure(drawn, list(panels), columns=2)
        return drawn


def cells() -> Iterator[Cell]:
    """The rows of the map, each with what the simulator does."""

    def simulator(change: Change) -> dict[str, str]:
        return {title: column(change) for title, column in simulator_columns().items()}

    for change in CHANGES:
        yield Cell("", (change.what, change.value), partial(simulator, change), cpu_s=2)


STUDY = Study(
    title="Where one outage makes DCTCP retransmit without end",
    about="[the finding](../findings/dctcp-storm/README.md) explains it",
    measure=measure,
    cells=cells,
    needs=("kernel",),
    takes="about twenty minutes; kernels 7.3 and 6.12, and for the last column one with the patch (`--set cured=NAME`)",
    caption="Window and goodput of a DCTCP flow through an outage of half a second, as Linux has it and with the cure",
)
