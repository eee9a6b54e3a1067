"""Panels of a paper's figure that show a queue over time."""

from __future__ import annotations

import polars as pl
from matplotlib.axes import Axes

from shoal import expression
from shoal.errors import UsageError
from shoal.models import nearest
from shoal.papers.cells import Points
from shoal.papers.panels import Traces
from shoal.plots.style import colour


def queue_over_time(panel: Traces, axes: Axes, points: Points) -> pl.DataFrame:
    """A column of the recorded queue, one line a run: bins of the time series, as wide as ``trace.series`` says."""
    runs = [(name, *run) for name in panel.sweeps for run in points[name]]
    shown = [run for run in runs if panel.where is None or expression.evaluate(panel.where, run[1])]
    frames = []
    for number, (name, point, result) in enumerate(shown):
        table = result.table("queue")
        if panel.y not in table.columns:
            raise UsageError(f"the queue has no column `{panel.y}`", hint=nearest(panel.y, table.columns))
        start_s, end_s = panel.time or (0.0, result.window[1])
        rows = table.filter((pl.col("link") == table["link"][0]) & pl.col("time_s").is_between(start_s, end_s))
        text = expression.fill(panel.series_label, point) if panel.series_label else name
        label = None if len(shown) == 1 else text
        axes.plot(rows["time_s"], rows[panel.y], color=colour(number), linewidth=0.7, label=label)
        axes.set_xlim(start_s, end_s)
        frames.append(rows.select(pl.lit(text).alias("series"), x="time_s", y=pl.col(panel.y).cast(pl.Float64)))
    axes.set_ylim(bottom=0)
    return pl.concat(frames).with_columns(source=pl.lit("measured")) if frames else pl.DataFrame()
