"""What metrics, tables and figures read of a run, so that they need not know where results come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import polars as pl

    from shoal.contract import Bottleneck, GroupResult, Metrics, RunResult
    from shoal.scenario import Scenario
    from shoal.scenario_facts import ScenarioFacts


class RunRecord(Protocol):
    """A finished run; :class:`shoal.Result` is one. For what its parts are see there."""

    @property
    def data(self) -> RunResult:
        """The result object."""

    @property
    def values(self) -> Mapping[str, float]:
        """Expressions over the metrics whose numbers are known."""

    @property
    def seed(self) -> int:
        """Seed of all random streams of the run."""

    @property
    def groups(self) -> list[GroupResult]:
        """Flow groups."""

    @property
    def bottlenecks(self) -> list[Bottleneck]:
        """Monitored links."""

    @property
    def metrics(self) -> Metrics:
        """What is computed between flows."""

    @property
    def window(self) -> tuple[float, float]:
        """Start and end of the measurements, in s."""

    @property
    def scenario(self) -> Scenario:
        """The resolved scenario."""

    @property
    def facts(self) -> ScenarioFacts:
        """Facts of the scenario in base units."""

    @property
    def bin_s(self) -> float | None:
        """Bin of the time series in s."""

    @property
    def table_names(self) -> list[str]:
        """Names of the recorded tables."""

    @property
    def traced_flows(self) -> list[int]:
        """Numbers of the flows whose controllers were traced."""

    def table(self, name: str) -> pl.DataFrame:
        """Give a recorded table."""
