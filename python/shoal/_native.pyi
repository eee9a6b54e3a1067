"""The Rust half. Conversions only; `shoal` is the public interface."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Protocol, final, overload

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CODE_POINTS",
    "MAX_SEED",
    "Block",
    "Bottleneck",
    "Box",
    "Cancel",
    "Flow",
    "LinuxPlan",
    "Port",
    "Run",
    "Scenario",
    "Word",
    "__version__",
    "at_rates",
    "binned_shares",
    "box_record",
    "build_profile",
    "conformance_on_kernel",
    "conformance_on_model",
    "conformance_program",
    "explanations",
    "interrupt_thread",
    "jain",
    "json_to_toml",
    "law_interface",
    "law_model",
    "models",
    "order_statistics",
    "oscillation",
    "power",
    "python_law_model",
    "rate_ratio",
    "result_fields",
    "schema",
    "settled_from",
    "share_between",
    "tables_reference",
    "uncompressed",
    "verdict",
]

class _Law(Protocol):
    """What is known of a class in Python that is a law (`shoal.python_laws.PythonLaw`)."""

    @property
    def identity(self) -> bytes: ...
    @property
    def is_queue(self) -> bool: ...
    @property
    def description(self) -> str: ...
    @property
    def law(self) -> type: ...

_Laws = Sequence[tuple[str, tuple[str, str, bytes] | None, tuple[str, str, _Law | None] | None, tuple[str, str] | None]]

__version__: str
CODE_POINTS: dict[str, int]
MAX_SEED: int

@final
class Box:
    """A box: two interfaces, and what is between them."""

    def run_for(self, seconds: float) -> None: ...
    def change(self, words: str) -> None: ...
    def waits(self) -> tuple[list[float], list[float]]: ...
    def end_record(self) -> None: ...
    def counts(self) -> str: ...

@final
class Bottleneck:
    """A link with its queue."""

    def enqueue(self, now_ps: int, size: int, ecn: int, flow: int, handle: int) -> tuple[str, str | None]: ...
    def next(self, now_ps: int) -> tuple[int, int, int, int, int, int, bool, str | None]: ...
    def set_rate(self, now_ps: int, rate_bps: int) -> None: ...
    def set_delay(self, now_ps: int, delay_ps: int) -> None: ...
    @property
    def counters(self) -> list[int]: ...

@final
class Scenario:
    """A scenario that was read, checked and planned."""

    def __new__(
        cls,
        text: str,
        file_name: str,
        overrides: Sequence[tuple[str, str]],
        lists: Sequence[tuple[str, bytes, bytes, tuple[list[str], bytes, bytes] | None]] | None = None,
        laws: _Laws | None = None,
    ) -> Scenario: ...
    def overridden(
        self,
        overrides: Sequence[tuple[str, str]],
        laws: _Laws | None = None,
    ) -> Scenario: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def simulator_refuses(self) -> str: ...
    @property
    def packet_files(self) -> tuple[bool, bool]: ...
    def bottleneck(self, link: str | None = None, seed: int | None = None) -> Bottleneck: ...
    def wire_box(
        self,
        inside: str,
        outside: str,
        *,
        pcap: str | PathLike[str] | None = None,
        seed: int | None = None,
        namespace: str | PathLike[str] | None = None,
    ) -> Box: ...
    def replay_box(self, path: str) -> tuple[int, tuple[int, str, str] | None, tuple[float, int] | None]: ...
    @property
    def json(self) -> str: ...
    @property
    def toml(self) -> str: ...
    @property
    def facts(self) -> str: ...
    def run(
        self,
        *,
        seed: int | None = None,
        packets: str | PathLike[str] | None = None,
        pcap: str | PathLike[str] | None = None,
        pcap_payload: bool = False,
        threads: int = 1,
        progress: Callable[[float], object] | None = None,
        cancel: Cancel | None = None,
    ) -> Run: ...
    def linux_plan(self, kernel: str, *, seed: int | None = None, captures: bool = False) -> LinuxPlan: ...

@final
class LinuxPlan:
    """A scenario as the kernel of the guest runs it."""

    @property
    def config(self) -> str: ...
    @property
    def memory_mib(self) -> int: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def rules(self) -> list[tuple[str, str]]: ...
    @property
    def seed(self) -> int: ...
    def result(self, folder: str | PathLike[str]) -> Run: ...
    def capture(self, folder: str | PathLike[str], path: str | PathLike[str], *, payload: bool = False) -> None: ...

@final
class Cancel:
    """Ends the runs that hold it."""

    def __new__(cls) -> Cancel: ...
    def cancel(self) -> None: ...
    @property
    def cancelled(self) -> bool: ...

class Block:
    """The words that a law and its host exchange."""

@final
class Word:
    """An attribute that is a word."""

    @property
    def __name__(self) -> str: ...
    @overload
    def __get__(self, instance: None, owner: type | None = None, /) -> Word: ...
    @overload
    def __get__(self, instance: Block, owner: type | None = None, /) -> Any: ...
    def __set__(self, instance: Block, value: float | None, /) -> None: ...

@final
class Flow(Block):
    """A flow as its law sees it."""

    cwnd: Word
    ssthresh: Word
    cwnd_cnt: Word
    clamp: Word
    quantum: Word
    pacing_bytes_per_s: Word
    pacing_burst_packets: Word
    timer_ps: Word
    alpha: Word
    counting: Word
    slow_start_counting: Word
    slow_start_is_below: Word
    is_paced: Word
    now_ps: Word
    mss: Word
    in_flight: Word
    snd_una: Word
    snd_nxt: Word
    acked_packets: Word
    acked_bytes: Word
    delivered_packets: Word
    marked_packets: Word
    in_flight_before: Word
    delivered: Word
    delivered_ce: Word
    rtt_ps: Word
    srtt_ps: Word
    ts_val_us: Word
    ts_ecr_us: Word
    ece: Word
    duplicate: Word
    app_limited: Word
    in_cwr: Word
    already_reduced: Word
    idle_ps: Word
    packets: Word
    seed: Word
    prior_delivered: Word
    sample_delivered: Word
    interval_us: Word
    sample_rtt_us: Word
    losses: Word
    newly_delivered: Word
    sample_app_limited: Word
    is_ack_delayed: Word
    sent_in_flight: Word
    lost_since_sent: Word
    delivered_at_ps: Word
    lost: Word
    min_rtt_ps: Word
    recovery: Word
    departure_ps: Word
    is_app_limited: Word
    is_cwnd_limited: Word
    has_sack: Word
    begins_range: Word
    @property
    def in_slow_start(self) -> bool: ...
    @property
    def acked(self) -> int: ...
    def reno(self) -> None: ...
    def slow_start(self, acked: int) -> int: ...
    def linear(self, every: int, acked: int) -> None: ...
    def part(self, numerator: int, denominator: int) -> int: ...

@final
class Port(Block):
    """A port as the law of its queue sees it."""

    timer_ps: Word
    probability: Word
    average_bytes: Word
    draws: Word
    reason: Word
    now_ps: Word
    size: Word
    ecn: Word
    flow: Word
    sojourn_ps: Word
    waiting_packets: Word
    waiting_bytes: Word
    waiting_ect_packets: Word
    waiting_ect_bytes: Word
    oldest_ps: Word
    line_bps: Word
    limit_packets: Word
    limit_bytes: Word
    random_0: Word
    random_1: Word
    random_2: Word
    random_3: Word
    def draw(self) -> int: ...

@final
class Run:
    """A finished run."""

    @property
    def json(self) -> str: ...
    def kept(self, seed: int) -> tuple[str, int, bytes]: ...
    def tables(self) -> dict[str, dict[str, NDArray[np.float64 | np.uint32 | np.uint64] | list[str]]]: ...
    def coverage(self) -> dict[str, str]: ...
    def save_tables(self, folder: str | PathLike[str]) -> None: ...

def build_profile() -> str: ...
def schema() -> str: ...
def tables_reference() -> str: ...
def result_fields() -> str: ...
def interrupt_thread(thread: int) -> None: ...
def explanations(notices: str) -> str: ...
def verdict(share: str) -> str: ...
def models() -> str: ...
def law_model(name: str, content: bytes) -> str: ...
def python_law_model(name: str, law: _Law) -> str: ...
def law_interface() -> str: ...
def uncompressed(body: bytes) -> str: ...
def box_record(path: str) -> str: ...
def json_to_toml(
    text: str,
    name: str,
    lists: Sequence[tuple[str, bytes, bytes, tuple[list[str], bytes, bytes] | None]] | None = None,
    laws: _Laws | None = None,
) -> str: ...
def conformance_on_model(text: str, folder: str | PathLike[str]) -> str: ...
def conformance_program(text: str, folder: str | PathLike[str]) -> str: ...
def conformance_on_kernel(text: str, folder: str | PathLike[str], records: bytes) -> str: ...
def jain(rates: Sequence[float]) -> float | None: ...
def rate_ratio(first: float | None, second: float | None) -> float | None: ...
def order_statistics(values: Sequence[float]) -> str: ...
def settled_from(values: Sequence[float], target: float, within: float, smooth: int) -> int | None: ...
def at_rates(
    bins: Sequence[tuple[float, float, float]], bin_s: float, rates: Sequence[tuple[float, float]]
) -> list[tuple[float, float, float]]: ...
def power(throughput_bps: float, round_trip_s: float) -> float | None: ...
def oscillation(values: Sequence[float], least: float) -> tuple[float | None, float | None, float | None]: ...
def share_between(
    low: Sequence[int], high: Sequence[int], weight: Sequence[int], at_least: float, at_most: float
) -> float | None: ...
def binned_shares(
    low: Sequence[float], high: Sequence[float], weight: Sequence[float], edges: Sequence[float]
) -> list[float]: ...
