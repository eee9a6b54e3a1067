"""Running scenarios."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import overload

from shoal._arguments import explained
from shoal.errors import UsageError
from shoal.files import is_capture, is_packet_trace, reserved_file
from shoal.parallel import checked_workers
from shoal.results import Result, Results
from shoal.runs.cases import Case, refuse_without_files, run_cases
from shoal.scenario import Scenario
from shoal.seeds import checked_seed, seed_list

# Each thread has tables of the whole network.
most_threads = 256


@overload
def run(
    scenario: Scenario | str | Path,
    *,
    seed: int | None = ...,
    seeds: None = ...,
    workers: int | None = ...,
    packets: str | Path | None = ...,
    pcap: str | Path | None = ...,
    pcap_payload: bool = ...,
    threads: int = ...,
    progress: Callable[[float], object] | None = ...,
) -> Result: ...
@overload
def run(
    scenario: Scenario | str | Path,
    *,
    seeds: int | Iterable[int],
    workers: int | None = ...,
    progress: Callable[[float], object] | None = ...,
) -> Results: ...
@explained
def run(
    scenario: Scenario | str | Path,
    *,
    seed: int | None = None,
    seeds: int | Iterable[int] | None = None,
    workers: int | None = None,
    packets: str | Path | None = None,
    pcap: str | Path | None = None,
    pcap_payload: bool = False,
    threads: int = 1,
    progress: Callable[[float], object] | None = None,
) -> Result | Results:
    """Run a scenario on the packet simulator.

    Parameters
    ----------
    scenario
        A scenario, or the path of a scenario file, or the name of a ready-made one.
    seed
        Replaces the seed of the scenario.
    seeds
        Several runs: the seeds, or how many, counted from the scenario's.
    workers
        Threads for several runs; all cores if not given. Results do not depend on it.
    packets
        Parquet file for every arrival, mark, drop and departure at the monitored links.
    pcap
        pcapng file with the headers of all packets that leave the monitored links or are dropped there, and of ACKs.
    pcap_payload
        Keep the payload in that file, too. It is all zeros, and makes the file many times as large.
    threads
        Threads for one run. The result does not depend on it. It pays for networks of hundreds of hosts; what cannot be
        divided is refused with the reason.
    progress
        Called about ten times a second with the finished fraction, 0 to 1.

    Returns
    -------
    Result or Results
        :class:`Results` if ``seeds`` is given.

    Raises
    ------
    ScenarioError
        The scenario is refused.
    UsageError
        The arguments do not go together.
    OutputError
        A file cannot be read or written.

    Examples
    --------
    >>> import shoal
    >>> scenario = shoal.Scenario.from_toml('''
    ... duration = "20 s"
    ... bottleneck = { rate = "10 Mbit/s", aqm = { kind = "step", threshold = "20 packets" } }
    ... flows = [{ cc = "dctcp", rtt = "25 ms" }]
    ... ''')
    >>> result = shoal.run(scenario, seed=1)
    >>> result.summary["utilisation"] > 0.9
    True
    """
    if not isinstance(scenario, Scenario):
        scenario = Scenario.from_file(scenario)
    checked_workers(workers)
    if seeds is not None:
        if threads != 1:
            raise UsageError("threads are for one run", hint="several seeds run at the same time: give workers instead")
        if seed is not None or packets is not None or pcap is not None:
            raise UsageError("seeds excludes seed, packets and pcap", hint="run single seeds for packet files")
        return run_cases([Case(scenario, seed_list(scenario, seeds))], workers=workers, progress=progress or False)[0]
    if pcap_payload and pcap is None:
        raise UsageError("pcap_payload says what a capture keeps, and there is none", hint="add pcap=PATH")
    if not 1 <= threads <= most_threads:
        raise UsageError(f"{threads} threads", hint=f"give a number from 1 to {most_threads}")
    if threads > 1 and (packets is not None or pcap is not None):
        raise UsageError(
            "packets are written in the order of all events, which one run on several threads does not have",
            hint="leave threads out, or leave packets and pcap out",
        )
    if seed is not None:
        seed = checked_seed(seed)
    refuse_without_files(scenario, packets, pcap)
    with ExitStack() as stack:
        if packets is not None:
            stack.enter_context(
                reserved_file(packets, is_packet_trace, what="table of shoal", option="file for packets")
            )
        if pcap is not None:
            stack.enter_context(reserved_file(pcap, is_capture, what="capture of shoal", option="file for pcap"))
        native = scenario.native.run(
            seed=seed,
            packets=packets,
            pcap=pcap,
            pcap_payload=pcap_payload,
            threads=threads,
            progress=progress,
        )
    return Result.of_run(native)
