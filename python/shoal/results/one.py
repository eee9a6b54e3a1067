"""The result of one run."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal._arguments import explained, in_words, misfit, shown
from shoal.errors import OutputError, UsageError
from shoal.files import new_folder, write_text, writing
from shoal.flow_lists import remember_lists
from shoal.laws import remember_laws
from shoal.notices import Notice
from shoal.results.recorded import InFiles, InMemory, NotRecorded, Recorded
from shoal.scenario import Scenario
from shoal.stats import single

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.figure import Figure

    from shoal import _native
    from shoal.contract import Bottleneck, CardResult, GroupResult, Metrics, PathResult, RunResult
    from shoal.explain import Explanation
    from shoal.scenario_facts import ScenarioFacts

schema_version = 1

# Columns of frames that hold numbers, or nothing where there is no such number.
_floats = (
    *("goodput_bps", "wire_bps", "cwnd_mean_packets", "alpha_mean", "srtt_mean_s"),
    *("start_s", "stop_s"),
)
_flow_columns = (
    *("marks_seen", "losses", "retransmissions", "timeouts", "reductions", "delivered_bytes"),
    *("start_s", "stop_s"),
)
# What records the tables that are not there unless they are asked for.
_no_flow = "no flow was traced: set {key} to the number of flows that shall be (`--trace {word}=N`)"
_no_controller = _no_flow.format(key="trace.controller_flows", word="controllers")
_remedies = {
    "controller": _no_controller,
    "events": f"{_no_controller}; marks and drops of all flows are counted in the table `queue`",
    "segments": _no_flow.format(key="trace.segment_flows", word="segments"),
    "packets": "set trace.packets = true and an output folder (`--trace packets --out DIR`)",
    "queue": 'set trace.series = "auto", or a time (`--trace series=10ms`)',
    "flows": 'set trace.series = "auto", or a time (`--trace series=10ms`)',
}


@explained
class Result:
    """What one run measured.

    Results come from :func:`shoal.run` and :meth:`load`.

    Attributes
    ----------
    json
        The result object of the contract, as text; see ``docs`` for its shape.
    """

    def __init__(
        self, json_text: str, *, recorded: Recorded | None = None, values: Mapping[str, float] | None = None
    ) -> None:
        self.json = json_text
        #: Expressions over the metrics whose numbers are known, so that no table has to be read for them.
        self.values: Mapping[str, float] = {} if values is None else values
        self._recorded: Recorded = NotRecorded() if recorded is None else recorded
        self._planned: Scenario | None = None

    @classmethod
    def of_run(cls, run: _native.Run) -> Result:
        """The result of a run of this process, with its tables in memory."""
        return cls(run.json, recorded=InMemory(run))

    @cached_property
    def data(self) -> RunResult:
        """The result object of the contract; its fields and their types are those of :mod:`shoal.contract`."""
        # Twice as fast as the standard library's reader, with the same numbers.
        from pydantic_core import from_json

        data: RunResult = from_json(self.json)
        return data

    @property
    def seed(self) -> int:
        """Seed of all random streams of the run."""
        return self.data["seed"]

    @property
    def version(self) -> str:
        """Version of shoal that made it."""
        return self.data["version"]

    @property
    def groups(self) -> list[GroupResult]:
        """Flow groups: rates in bit/s, times in s, windows in packets."""
        return list(self.data["groups"])

    @property
    def bottlenecks(self) -> list[Bottleneck]:
        """Monitored links: rates in bit/s, delays in s, queue in bytes and packets."""
        return list(self.data["bottlenecks"])

    @property
    def paths(self) -> list[PathResult]:
        """Links with impairments: the packets that each lost, duplicated, corrupted and reordered."""
        return list(self.data.get("paths", []))

    @property
    def cards(self) -> list[CardResult]:
        """Hosts whose network cards make packets wait: the packets, interrupts, segments and ring drops of each."""
        return list(self.data.get("cards", []))

    @property
    def metrics(self) -> Metrics:
        """Jain's index and the ratios of mean rates between groups."""
        return self.data["metrics"].copy()

    @property
    def notices(self) -> list[Notice]:
        """What a reader of the numbers has to know: starved groups, and notes of the scenario."""
        return [Notice.of(notice) for notice in self.data.get("notices", [])]

    def explain(self) -> list[Explanation]:
        """Say which questions the numbers raise, such as why there are no marks, each with the first cause found."""
        from shoal.explain import explanations

        return explanations(self.notices)

    @property
    def verdict(self) -> str:
        """Who gets what and who waits, in one sentence; empty if nothing can be said."""
        from shoal.verdict import verdict

        return verdict([self])

    @property
    def window(self) -> tuple[float, float]:
        """Start and end of the measurements, in s."""
        return self.data["window"]["start_s"], self.data["window"]["end_s"]

    @cached_property
    def scenario(self) -> Scenario:
        """The resolved scenario that was run."""
        return Scenario.from_resolved(self.data["scenario"])

    @cached_property
    def summary(self) -> dict[str, float | None]:
        """The numbers that most questions are about, with units in their names.

        ``utilisation``, ``queue_packets`` and ``delay_CLASS_QUANTILE_s`` are of the first monitored link;
        ``share_GROUP`` is the part of all wire rates, ``goodput_GROUP_bps`` the mean over the group's flows.
        Groups whose applications wait add ``exchange_GROUP_QUANTILE_s``, ``round_GROUP_QUANTILE_s``, ``on_time_GROUP``.
        ``rate_ratio_FIRST/SECOND`` is the mean rate of a flow of the first group over that of the second. Names of
        groups stand in these names as they are in the scenario, so not all of them are identifiers: columns of a
        frame are taken by their text, as in ``frame["rate_ratio_reno/dctcp"]``.
        """
        from shoal.metrics import summary

        return summary(self)

    def metric(self, expression: str) -> float | None:
        """Evaluate an expression over the metrics that ``shoal list metrics`` shows.

        Parameters
        ----------
        expression
            Such as ``queue_empty()``, ``rate_ratio('reno', 'dctcp')`` or ``delay_ms('all', 'p99') / 2``.

        Returns
        -------
        float or None
            In the unit that the name of the metric ends with; ``None`` if the run has no such number.

        Raises
        ------
        UndefinedError
            The arithmetic has no value, such as a division by zero.
        UsageError
            It is no such expression, or needs what the run did not record.

        Examples
        --------
        >>> import shoal
        >>> scenario = shoal.Scenario.named("step-single").override({"duration": "20 s"})
        >>> shoal.run(scenario).metric("rate_mbps('dctcp')") > 5
        True
        """
        from shoal.metrics import metric

        value = metric(self, expression)
        return None if math.isnan(value) else value

    @cached_property
    def table_names(self) -> list[str]:
        """Names of the recorded tables."""
        return self._recorded.names

    def coverage(self, name: str) -> str | None:
        """Say what a recorded table leaves out; ``None`` if it holds everything that it is declared to hold.

        ``controller``, ``events`` and ``segments`` hold rows of the traced flows only; the same sentence stands in the
        metadata of their Parquet files under ``coverage``.

        Raises
        ------
        UsageError
            The run did not record the table.
        """
        self._check_recorded(name)
        return self._recorded.coverage(name)

    @cached_property
    def facts(self) -> ScenarioFacts:
        """Facts of its scenario in base units, as :attr:`shoal.Scenario.facts` has them."""
        if self._planned is None:
            return self.scenario.facts
        # With the seed of the run, with which starts and pairs of hosts may be drawn; reading the scenario of the
        # result takes five times as long.
        return self._planned.set_text(("seed", str(self.seed))).facts

    def planned_as(self, scenario: Scenario) -> Result:
        """A result that knows what it was planned as: but for the seed, the scenario that it holds."""
        self._planned = scenario
        return self

    @property
    def bin_s(self) -> float | None:
        """Bin of the time series in s (``trace.series``); ``None`` if the run recorded none."""
        value = self.scenario.facts["series_s"]
        return None if value is None else float(value)

    @property
    def traced_flows(self) -> list[int]:
        """Numbers of the flows in the tables ``controller`` and ``events``, which ``trace.controller_flows`` chose."""
        return list(self.scenario.facts["traced"]["controller"])

    def table(self, name: str) -> pl.DataFrame:
        """Give a recorded table.

        Parameters
        ----------
        name
            ``queue``, ``flows``, ``controller``, ``events``, ``segments``, ``deliveries``, ``delay_distribution``,
            ``queue_distribution``, ``backlog_distribution`` or ``packets``. Units are in the names of the columns;
            times are seconds since the start.

        Raises
        ------
        UsageError
            The run did not record it. Of ``controller``, ``events`` and ``segments`` :meth:`coverage` says which flows
            are in them.
        """
        import polars as pl

        self._check_recorded(name)
        return self._recorded.frame(name).with_columns(pl.selectors.float().fill_nan(None))

    def _check_recorded(self, name: str) -> None:
        if name in self.table_names:
            return
        have = ", ".join(self.table_names) or "none"
        remedy = _remedies.get(name, "the scenario's [trace] section says what is recorded")
        raise UsageError(f"this run has no table `{name}`", hint=f"{remedy}; recorded: {have}")

    def to_polars(self) -> pl.DataFrame:
        """Give one row a flow: ``seed``, ``group``, ``cc``, rates in bit/s, windows in packets, times in s, counts."""
        import polars as pl

        # What is null in every row of a column is still a number.
        floats = dict.fromkeys(_floats, pl.Float64)
        return pl.DataFrame(self._rows(), infer_schema_length=None, schema_overrides=floats)

    def to_pandas(self) -> pd.DataFrame:
        """Give :meth:`to_polars` as a pandas frame; needs the extra ``pandas``."""
        try:
            import pandas as pd
        except ImportError:
            raise UsageError("pandas is not installed", hint="pip install 'shoal[pandas]'") from None
        frame = pd.DataFrame(self._rows())
        return frame.astype({name: "float64" for name in _floats if name in frame.columns})

    def _rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        first = 0
        for group in self.groups:
            # The list may be cut (`trace.flows`); numbers count all flows.
            for number, flow in enumerate(group["flows"], first):
                row: dict[str, Any] = {"seed": self.seed, "flow": number, "group": group["name"], "cc": group["cc"]}
                row |= {
                    "goodput_bps": flow["goodput_bps"],
                    "wire_bps": flow["wire_bps"],
                    "cwnd_mean_packets": flow["cwnd_packets"]["mean"],
                    "alpha_mean": flow["alpha"]["mean"],
                    "srtt_mean_s": flow["srtt_s"]["mean"],
                }
                fields: Mapping[str, object] = flow
                row |= {name: fields[name] for name in _flow_columns}
                rows.append(row)
            first += group["flow_count"]
        return rows

    def _damage(self) -> OutputError | None:
        """What is wrong with the text of this result."""
        from pydantic_core import from_json

        from shoal.contract import RunResult

        hint = "load what `shoal run --out` or `save` wrote, or run the scenario again"
        try:
            wrong = misfit(from_json(self.json), RunResult)
        except (ValueError, TypeError):
            return OutputError(f"{shown(self.json)} is not a result of shoal: it is no JSON", hint=hint)
        if wrong is None:
            return None
        label, part, kind = wrong
        return OutputError(f"this result is damaged: `{label}` is {shown(part)}, expected {in_words(kind)}", hint=hint)

    # Figures.

    def plot_rates(self) -> Figure:
        """Draw the rate of each flow group over time, in Mbit/s."""
        from shoal.plots import rates

        return rates.draw(self).figure

    def plot_windows(self) -> Figure:
        """Draw cwnd in packets and alpha over time, with marks and drops; needs ``trace.controller_flows``."""
        from shoal.plots import windows

        return windows.draw(self).figure

    def plot_queue(self) -> Figure:
        """Draw the queue over time in packets, with the thresholds of its law."""
        from shoal.plots import queue

        return queue.draw(self).figure

    def plot_path(self) -> Figure:
        """Draw rate, queueing delay and power of a link that changes, over time; needs ``trace.series``."""
        from shoal.plots import path

        return path.draw(self).figure

    def plot_deliveries(self) -> Figure:
        """Draw how long applications waited for responses, rounds and frames, each time and as a distribution."""
        from shoal.plots import deliveries

        return deliveries.draw(self).figure

    def plot_delay(self) -> Figure:
        """Draw density and distribution function of the queueing delay in ms, by class."""
        from shoal.plots import delay

        return delay.draw(self).figure

    def plot_throughput(self) -> Figure:
        """Draw the mean rate of a flow of each group as bars, in Mbit/s."""
        from shoal.plots import throughput

        return throughput.draw([[self]]).figure

    def plot_sequence(self, flow: int = 0, *, start_s: float | None = None, end_s: float | None = None) -> Figure:
        """Draw the packets between the two ends of a flow, time downwards; needs ``trace.segment_flows``.

        Shows four round trips around the first reduction in the measurement unless told otherwise; windows are noted
        if ``trace.controller_flows`` covers the flow.
        """
        from shoal.plots import sequence

        return sequence.draw(self, flow=flow, start_s=start_s, end_s=end_s).figure

    # On disk.

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write ``result.json``, ``scenario.toml`` and ``tables/*.parquet`` into a new folder.

        Raises
        ------
        OutputError
            The folder exists (unless ``force``) or cannot be written. Nothing half-written is left.
        """
        with new_folder(folder, force=force) as partial:
            self.write_into(partial)
        return Path(folder)

    def write_into(self, folder: Path) -> None:
        """Write the files of :meth:`save` into an existing folder."""
        with writing(folder):
            tables = folder / "tables"
            tables.mkdir(exist_ok=True)
            self._recorded.save(tables)
            self.scenario.write_into(folder)
            write_text(folder / "result.json", self.json)

    def without_tables(self) -> Result:
        """The result without the recorded tables, which take most of a run's memory."""
        return Result(self.json)

    def saved_in(self, folder: Path) -> Result:
        """Write the files of :meth:`save` into a new folder, and give the result that reads its tables from there."""
        folder.mkdir()
        self.write_into(folder)
        return Result(self.json, recorded=InFiles.of_folder(folder / "tables"))

    @classmethod
    def load(cls, folder: str | Path) -> Result:
        """Read what :meth:`save` wrote, or the file of a result alone.

        Raises
        ------
        OutputError
            There is no result, or one of another schema version.
        """
        path = Path(folder)
        if not path.is_file():
            path /= "result.json"
        folder = path.parent
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise OutputError(
                f"cannot read `{path}`: {error.strerror}", hint="name a folder that `shoal run --out` wrote"
            ) from error
        try:
            schema = json.loads(text)["schema"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise OutputError(f"`{path}` is not a result of shoal", hint="was it edited?") from None
        if schema != schema_version:
            raise OutputError(
                f"`{path}` has schema {schema}, this version reads {schema_version}",
                hint="run the scenario beside it again",
            )
        result = cls(text, recorded=InFiles.of_folder(folder / "tables"))
        if '"sha256"' in text:
            remember_lists(result.data["scenario"], folder)
        if "laws" in result.data["scenario"]:
            remember_laws(result.data["scenario"], folder)
        return result

    def __repr__(self) -> str:
        from shoal.metrics import quantity

        rates = [f"{group['name']} {quantity('wire_bps', single(group['wire_bps']['mean']))}" for group in self.groups]
        shown = [", ".join(rates)]
        if "utilisation" in self.summary:
            shown.append(f"utilisation {quantity('utilisation', single(self.summary['utilisation']))}")
        return f"<shoal.Result seed {self.seed}: {'; '.join(shown)}>"

    def _repr_html_(self) -> str:
        from shoal import notebook
        from shoal.metrics import quantity
        from shoal.pictures import picture_of_runs

        rows = [(name, quantity(name, single(value))) for name, value in self.summary.items()]
        title = notebook.heading(self.data["scenario"]["title"], f"seed {self.seed}")
        return title + notebook.note(self.verdict) + picture_of_runs([self]) + notebook.table(rows)
