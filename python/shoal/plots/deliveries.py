"""How long applications waited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.plots.sizes import row_of_panels
from shoal.plots.style import Drawn, colour, dash, legend_above, logarithmic, paper_style, shade_warmup

if TYPE_CHECKING:
    from shoal.run_record import RunRecord

_words = {"exchange": "responses", "round": "rounds", "frame": "frames"}
# More points than this only blacken the figure.
_points = 4000


def draw(result: RunRecord) -> Drawn:
    """Each response, round and frame over time (left), and the distribution function of those measured (right)."""
    start_s, end_s = result.window
    rows = result.table("deliveries").filter(pl.col("took_s") > 0)
    kinds = [kind for kind in _words if kind in set(rows["kind"].unique())]
    data = rows.with_columns(measured=pl.col("time_s") - pl.col("took_s") >= start_s)
    with paper_style():
        panels = row_of_panels(2, 2.5, ratios=(3, 2))
        over_time, cumulative = panels.axes
        shade_warmup(over_time, start_s)
        curve = 0
        for group in result.groups:
            for kind in kinds:
                deliveries = data.filter((pl.col("group") == group["name"]) & (pl.col("kind") == kind))
                if not deliveries.height:
                    continue
                label = f"{group['name']}: {_words[kind]}"
                shown = deliveries.gather_every(-(-deliveries.height // _points))
                over_time.plot(
                    shown["time_s"], shown["took_s"] * 1e3, ".", markersize=2, color=colour(curve), rasterized=True
                )
                times = np.sort(deliveries.filter(pl.col("measured"))["took_s"].to_numpy()) * 1e3
                cumulative.step(
                    times,
                    np.arange(1, len(times) + 1) / max(len(times), 1),
                    where="post",
                    color=colour(curve),
                    linestyle=dash(curve),
                    label=label,
                )
                curve += 1
        facts = result.scenario.facts["groups"]
        for index, deadline in enumerate(sorted({1e3 * fact["deadline_s"] for fact in facts if fact["deadline_s"]})):
            for axes, line in ((over_time, over_time.axhline), (cumulative, cumulative.axvline)):
                name = "deadline" if axes is cumulative and not index else None
                line(deadline, color="#555555", linewidth=0.8, linestyle=":", label=name)
        over_time.set(xlabel="Time [s]", ylabel="Waited [ms]", xlim=(0, end_s))
        cumulative.set(xlabel="Waited [ms]", ylabel="Fraction", ylim=(0, 1.02))
        logarithmic(over_time.yaxis)
        logarithmic(cumulative.xaxis)
        legend_above(cumulative, columns=2)
    title = "How long applications waited: each time, and the distribution function"
    return Drawn("deliveries", title, panels.figure, data)
