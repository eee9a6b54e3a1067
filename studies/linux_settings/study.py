"""Effects of settings of the guest that a stock host does not have, each with its stock value in its turn."""

import re
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import shoal
from shoal.linux import Image
from shoal.linux.guest import guest_folder, run_guest
from shoal.linux.running import plan
from shoal_dev import ROOT
from shoal_dev.study import Cell, Study, has_kernel, kernel
from shoal_dev.tables import table

SEEDS = (1, 2, 3)
FOLDER = ROOT / "scenarios" / "compare"
# Two different flows, many small windows, full buffers, and short transfers.
SCENARIOS = ("mix-fq-codel-40m", "dctcp-x60-step-200m", "reno-cubic-fifo-10m", "transfers-dctcp-100m")


def sysctl(name: str, value: str) -> Callable[[str], str]:
    """Set it on every host, instead of what is there or beside it."""

    def change(config: str) -> str:
        path = name.replace(".", "/")
        config, count = re.subn(rf"^(sysctl \S+ {path}) .*$", rf"\1 {value}", config, flags=re.MULTILINE)
        if count:
            return config
        return re.sub(r"^(host ([sd]\d+))$", rf"\1\nsysctl \2 {path} {value}", config, flags=re.MULTILINE)

    return change


def without(line: str) -> Callable[[str], str]:
    """Leave a line out."""
    return lambda config: re.sub(rf"^{line}.*\n", "", config, flags=re.MULTILINE)


def read_at_once(config: str) -> str:
    """Receivers read every packet, not 64 KiB at a time."""
    return re.sub(r"^(flow (?:\S+ ){7})65536 ", r"\g<1>1 ", config, flags=re.MULTILINE)


@dataclass(frozen=True)
class Setting:
    """What the guest has, what a stock host has, and how the configuration becomes that."""

    here: str
    stock: str
    change: Callable[[str], str]


SETTINGS = (
    Setting(
        "`tcp_rmem` sized by the path", "4096 131072 33554432", sysctl("net.ipv4.tcp_rmem", "4096 131072 33554432")
    ),
    Setting("`tcp_wmem` sized by the path", "4096 16384 4194304", sysctl("net.ipv4.tcp_wmem", "4096 16384 4194304")),
    Setting("`tcp_mem` 1000000 pages", "by the size of memory", without("sysctl init net/ipv4/tcp_mem")),
    Setting("`tcp_no_metrics_save` 1", "0", sysctl("net.ipv4.tcp_no_metrics_save", "0")),
    Setting("bulk receivers read 64 KiB at a time", "each packet", read_at_once),
)


def measured(scenario: shoal.Scenario, image: Image, change: Callable[[str], str] | None) -> list[dict[str, float]]:
    """The numbers of one run a seed."""
    rows = []
    for seed in SEEDS:
        planned = plan(scenario, image, seed=seed)
        config = planned.config if change is None else change(planned.config)
        if change is not None and config == planned.config:
            return []
        with guest_folder() as folder:
            run_guest(config, image, folder, memory_mib=planned.memory_mib, seed=planned.seed)
            result = shoal.Result(planned.result(folder).json)
        link = result.bottlenecks[0]
        rates = [group["wire_bps"]["mean"] for group in result.groups]
        rows.append(
            {
                "queue": link["queue_packets"]["mean"],
                "marks": link["marked"],
                "drops": link["dropped"],
                "ratio": rates[0] / rates[-1],
            }
        )
    return rows


def cell(name: str, here: list[dict[str, float]], stock: list[dict[str, float]]) -> str:
    """Mean with the guest's setting, and the mean of the pairs' differences with its standard error."""
    values = [row[name] for row in here]
    mean = statistics.fmean(values)
    if not stock:
        return f"{mean:.4g}"
    apart = [b[name] - a[name] for a, b in zip(here, stock, strict=True)]
    if not any(apart):
        return "="
    error = statistics.stdev(apart) / len(apart) ** 0.5
    part = f" ({100 * statistics.fmean(apart) / mean:+.1f} %)" if mean else ""
    return f"{statistics.fmean(apart):+.3g} ± {error:.2g}{part}"


HEADS = ("mean queue", "marks", "drops", "rate ratio")


def rows(name: str, image: Image, settings: tuple[Setting, ...]) -> Iterator[tuple[str, ...]]:
    """The row of a scenario as it is, and one for each of some settings."""
    scenario = shoal.Scenario.from_file(FOLDER / f"{name}.toml")
    here = measured(scenario, image, None)
    yield ("as it is", "", *(cell(key, here, []) for key in here[0]))
    for setting in settings:
        stock = measured(scenario, image, setting.change)
        cells = [cell(key, here, stock) for key in here[0]] if stock else [""] * 4
        yield (setting.here, setting.stock, *cells)


def measure() -> Iterator[str]:
    """A table for each scenario."""
    image = kernel()
    yield f"""Linux {image.release}; {len(SEEDS)} seeds; means, and what the stock value adds to them (± standard
error of the pairs' differences; `=`: the same in every run; a row without numbers: the scenario has no such
setting)."""
    for name in SCENARIOS:
        yield f"## {name}"
        yield table(("setting here", "stock host", *HEADS), rows(name, image, SETTINGS), "llr")


def cells() -> Iterator[Cell]:
    """The row of each scenario as it is."""
    for name in SCENARIOS if has_kernel() else ():
        yield Cell(
            name,
            ("as it is",),
            lambda name=name: dict(zip(HEADS, next(rows(name, kernel(), ()))[2:], strict=True)),
            cpu_s=10,
        )


STUDY = Study(
    title="Settings of the guest",
    about="see [linux](../linux.md)",
    measure=measure,
    needs=("kernel",),
    takes="about ten minutes",
    cells=cells,
)
