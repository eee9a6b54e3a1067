"""The Rust half. Conversions only; `shoal` is the public interface."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "MAX_SEED",
    "Cancel",
    "Checked",
    "Run",
    "__version__",
    "binned_shares",
    "build_profile",
    "check",
    "conformance_on_kernel",
    "conformance_on_model",
    "conformance_program",
    "ideal_fct_s",
    "jain",
    "json_to_toml",
    "linux_capture",
    "linux_plan",
    "linux_result",
    "models",
    "order_statistics",
    "oscillation",
    "rate_ratio",
    "result_fields",
    "run",
    "schema",
    "settled_from",
    "share_between",
    "tables_reference",
]

__version__: str
MAX_SEED: int

@final
class Checked:
    """A scenario that was read and found right."""

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
    def tables(self) -> dict[str, dict[str, NDArray[np.float64 | np.uint32 | np.uint64] | list[str]]]: ...
    def coverage(self) -> dict[str, str]: ...
    def save_tables(self, folder: str | PathLike[str]) -> None: ...

def build_profile() -> str: ...
def schema() -> str: ...
def tables_reference() -> str: ...
def result_fields() -> str: ...
def models() -> str: ...
def check(text: str, file_name: str, overrides: Sequence[tuple[str, str]]) -> Checked: ...
def json_to_toml(text: str, name: str) -> str: ...
def run(
    text: str,
    file_name: str,
    overrides: Sequence[tuple[str, str]],
    *,
    seed: int | None = None,
    packets: str | PathLike[str] | None = None,
    pcap: str | PathLike[str] | None = None,
    pcap_payload: bool = False,
    progress: Callable[[float], object] | None = None,
    cancel: Cancel | None = None,
) -> Run: ...
def linux_plan(
    text: str,
    file_name: str,
    overrides: Sequence[tuple[str, str]],
    kernel: str,
    *,
    seed: int | None = None,
    captures: bool = False,
) -> str: ...
def linux_capture(
    text: str,
    file_name: str,
    overrides: Sequence[tuple[str, str]],
    kernel: str,
    folder: str | PathLike[str],
    path: str | PathLike[str],
    *,
    payload: bool = False,
    seed: int | None = None,
) -> None: ...
def linux_result(
    text: str,
    file_name: str,
    overrides: Sequence[tuple[str, str]],
    kernel: str,
    folder: str | PathLike[str],
    *,
    seed: int | None = None,
) -> Run: ...
def conformance_on_model(text: str, folder: str | PathLike[str]) -> str: ...
def conformance_program(text: str, folder: str | PathLike[str]) -> str: ...
def conformance_on_kernel(text: str, folder: str | PathLike[str], records: bytes) -> str: ...
def jain(rates: Sequence[float]) -> float | None: ...
def rate_ratio(first: float | None, second: float | None) -> float | None: ...
def order_statistics(values: Sequence[float]) -> str: ...
def ideal_fct_s(wire_bytes: int, rate_bps: float, base_rtt_s: float) -> float | None: ...
def settled_from(values: Sequence[float], target: float, within: float, smooth: int) -> int | None: ...
def oscillation(values: Sequence[float], least: float) -> tuple[float | None, float | None, float | None]: ...
def share_between(
    low: Sequence[int], high: Sequence[int], weight: Sequence[int], at_least: float, at_most: float
) -> float | None: ...
def binned_shares(
    low: Sequence[float], high: Sequence[float], weight: Sequence[float], edges: Sequence[float]
) -> list[float]: ...
