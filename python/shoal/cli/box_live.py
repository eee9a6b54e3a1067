"""What a running box shows: a table that is written anew in a terminal, else a line a second."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.live import Live
from rich.text import Text

from shoal.cli.console import talk
from shoal.cli.layout import lines
from shoal.table import Table
from shoal.words import count_of

# So long is the time between two looks of the reader, in s.
_every_s = 1.0
# Flows that a table shows, those with the highest rates.
_most_flows = 10


class Display:
    """Shows the counts of a box once a second.

    Parameters
    ----------
    counts
        The counts when the box begins.
    live
        A part of the terminal that is written anew; none where there is no terminal.
    """

    def __init__(self, counts: dict[str, Any], live: Live | None) -> None:
        self._before = counts
        self._live = live

    def show(self, counts: dict[str, Any]) -> None:
        """Show what has happened since the last time, if that is a second ago."""
        if counts["at_s"] - self._before["at_s"] < _every_s:
            return
        if self._live is None:
            talk.note(line(counts, self._before))
        else:
            table = lines(flows(counts, self._before, _most_flows), talk.console.width)
            text = Text("\n").join([Text(line(counts, self._before)), *(Text(row.text) for row in table)])
            text.no_wrap = True
            self._live.update(text, refresh=True)
        self._before = counts


@contextmanager
def display(counts: dict[str, Any]) -> Iterator[Display]:
    """A display for as long as a box runs."""
    console = talk.console
    if talk.is_quiet or not console.is_terminal:
        yield Display(counts, None)
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield Display(counts, live)


def line(counts: dict[str, Any], before: dict[str, Any]) -> str:
    """Rate, what waits, marks and drops between two counts."""
    way, past = counts["ways"][0], before["ways"][0]
    gone_s = counts["at_s"] - before["at_s"]
    rate = 8e-6 * (way["left_bytes"] - past["left_bytes"]) / gone_s
    marked, dropped = (way[key] - past[key] for key in ("marked", "dropped"))
    return (
        f"{counts['at_s']:.0f} s: {rate:.2f} Mbit/s, {way['waiting_packets']} packets wait, "
        f"{marked} marked, {dropped} dropped"
    )


def flows(counts: dict[str, Any], before: dict[str, Any] | None = None, most: int | None = None) -> Table:
    """What went through the queue between two counts, or in all, those flows with the highest rates first."""
    past = {} if before is None else {flow["flow"]: flow for flow in before["ways"][0]["flows"]}
    gone_s = counts["at_s"] - (0.0 if before is None else before["at_s"])
    rows = []
    for flow in counts["ways"][0]["flows"]:
        earlier = past.get(flow["flow"], {})
        volume, *since = (flow[key] - earlier.get(key, 0) for key in ("bytes", "packets", "marked", "dropped"))
        if any((volume, *since)):
            rate = 8e-6 * volume / gone_s
            rows.append((rate, (flow["flow"], f"{rate:.2f}", *map(str, since))))
    rows.sort(key=lambda row: -row[0])
    shown = [cells for _, cells in rows[:most]]
    if (left_out := len(rows) - len(shown)) > 0:
        shown.append((f"and {count_of(left_out, 'other flow')}", "", "", "", ""))
    forgotten = counts["ways"][0]["forgotten"]
    if before is None and forgotten["flows"]:
        rate = 8e-6 * forgotten["bytes"] / gone_s
        gone = (str(forgotten[key]) for key in ("packets", "marked", "dropped"))
        shown.append((f"and {count_of(forgotten['flows'], 'silent flow')} before", f"{rate:.2f}", *gone))
    title = "Through the queue" if before is None else ""
    return Table(title, ("Flow", "Mbit/s", "Packets", "Marked", "Dropped"), shown, words=1)
