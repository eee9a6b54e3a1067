"""The Rust half. Conversions only; `shoal` is the public interface."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CODE_POINTS",
    "MAX_SEED",
    "Cancel",
    "LinuxPlan",
    "Run",
    "Scenario",
    "__version__",
    "at_rates",
    "binned_shares",
    "build_profile",
    "conformance_on_kernel",
    "conformance_on_model",
    "conformance_program",
    "explanations",
    "jain",
    "json_to_toml",
    "models",
    "order_statistics",
    "oscillation",
    "power",
    "rate_ratio",
    "result_fields",
    "schema",
    "settled_from",
    "share_between",
    "tables_reference",
    "uncompressed",
    "verdict",
]

__version__: str
CODE_POINTS: dict[str, int]
MAX_SEED: int

@final
class Scenario:
    """A scenario that was read, checked and planned."""

    def __new__(
        cls,
        text: str,
        file_name: str,
        overrides: Sequence[tuple[str, str]],
        lists: Sequence[tuple[str, bytes, bytes, tuple[list[str], bytes, bytes] | None]] | None = None,
        laws: Sequence[tuple[str, tuple[str, str, bytes] | None, tuple[str, str] | None]] | None = None,
    ) -> Scenario: ...
    def overridden(
        self,
        overrides: Sequence[tuple[str, str]],
        laws: Sequence[tuple[str, tuple[str, str, bytes] | None, tuple[str, str] | None]] | None = None,
    ) -> Scenario: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def simulator_refuses(self) -> str: ...
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
def explanations(notices: str) -> str: ...
def verdict(share: str) -> str: ...
def models() -> str: ...
def uncompressed(body: bytes) -> str: ...
def json_to_toml(
    text: str,
    name: str,
    lists: Sequence[tuple[str, bytes, bytes, tuple[list[str], bytes, bytes] | None]] | None = None,
    laws: Sequence[tuple[str, tuple[str, str, bytes] | None, tuple[str, str] | None]] | None = None,
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
