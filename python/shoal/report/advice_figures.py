"""Figures of advice: what was tried, and what happens around the recommended law."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.plots.sizes import new_figure
from shoal.plots.style import Drawn, colour, legend_of_figure, logarithmic, logarithmic_if_wide, paper_style

if TYPE_CHECKING:
    from shoal.advise import Advice

_markers = "osD^vP*X"


def tried(advice: Advice) -> Drawn:
    """How unequal rates are over the delay of scalable packets, for each kind of law by its worst situation."""
    rows = [
        {
            "law": standing.candidate.family,
            "parameters": standing.candidate.name,
            "delay_ms": standing.judged.delay_s * 1e3,
            "unequal": standing.judged.unequal or 1.0,
            "meets": not standing.judged.missed,
        }
        for standing in advice.tried
    ]
    frame = pl.DataFrame(rows)
    with paper_style():
        figure = new_figure(3.2)
        axes = figure.subplots()
        for number, law in enumerate(dict.fromkeys(row["law"] for row in rows)):
            for meets, face in ((True, colour(number)), (False, "#ffffff")):
                points = frame.filter((pl.col("law") == law) & (pl.col("meets") == meets))
                label = str(law) if meets or frame.filter((pl.col("law") == law) & pl.col("meets")).is_empty() else None
                if points.is_empty():
                    continue
                axes.plot(
                    points["delay_ms"].to_numpy(), points["unequal"].to_numpy(), _markers[number % len(_markers)],
                    markeredgecolor=colour(number), markerfacecolor=face, markersize=5, label=label,
                )  # fmt: skip
        axes.set(xlabel="Delay of scalable packets, P99 [ms]", ylabel="Larger rate over smaller")
        logarithmic(axes.xaxis)
        logarithmic(axes.yaxis)
        legend_of_figure(figure, [axes], columnspacing=1.0, handletextpad=0.4)
    return Drawn(
        "tried", "What was tried in all situations, by the worst of them; filled: meets the goal", figure, frame
    )


def around(advice: Advice) -> Drawn:
    """Ratio of rates and delay when something is otherwise than was asked."""
    rows: list[dict[str, Any]] = [
        {
            "otherwise": change.what,
            "ratio": None if change.measured.ratio is None else change.measured.ratio.mean,
            "delay_ms": None if change.measured.scalable_p99_s is None else change.measured.scalable_p99_s.mean * 1e3,
            "meets": not change.judged.missed,
        }
        for change in advice.around
    ]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    with paper_style():
        figure = new_figure(0.6 + 0.24 * max(1, len(rows)))
        panels = figure.subplots(1, 2, sharey=True)
        heights = list(range(len(rows)))[::-1]
        for axes, column, words in (
            (panels[0], "ratio", "Rate, scalable over classic"),
            (panels[1], "delay_ms", "Delay of scalable packets, P99 [ms]"),
        ):
            for height, row in zip(heights, rows, strict=True):
                if row[column] is not None:
                    face = colour(0) if row["meets"] else "#ffffff"
                    axes.plot(
                        [row[column]], [height], "o", markeredgecolor=colour(0), markerfacecolor=face, markersize=4
                    )
            logarithmic_if_wide(axes.xaxis, [row[column] for row in rows if row[column]] or [1.0])
            axes.set_xlabel(words)
            axes.grid(axis="y", linewidth=0.3)
        panels[0].axvline(1.0, color="#777777", linewidth=0.8, linestyle=":")
        panels[0].set_yticks(heights, [row["otherwise"] for row in rows])
    return Drawn("around", "The recommended law if something is otherwise; filled: meets the goal", figure, frame)
