"""Progress on stderr: a bar on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

# Set by `--quiet`.
is_quiet = False


def _nothing(_: str) -> None:
    """Say nothing: only the command line has somebody who waits."""


# What takes a while without anybody having asked for it is said here; the command line prints it.
say: Callable[[str], object] = _nothing

# Leaves room for the bar in 80 columns.
_label_width = 32


# Seconds between lines where there is no terminal: a log shows that the work goes on, and stays short.
_line_s = 10.0


class Bar:
    """A bar on a terminal, gone when the work is done; elsewhere a line every ten seconds, none for shorter work.

    Parameters
    ----------
    label
        What is done.
    line_s
        Seconds between lines where stderr is no terminal.
    """

    def __init__(self, label: str, *, line_s: float = _line_s) -> None:
        is_terminal = sys.stderr.isatty()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=is_quiet or not is_terminal,
        )
        self._label, shown = _labels(label)
        self._task = self._progress.add_task(shown, total=1.0)
        self._fraction = 0.0
        self._line_s = line_s
        self._is_done = threading.Event()
        self._lines = None if is_quiet or is_terminal else threading.Thread(target=self._write_lines, daemon=True)

    def __enter__(self) -> Bar:
        self._progress.start()
        if self._lines is not None:
            self._lines.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()
        self._is_done.set()
        if self._lines is not None:
            self._lines.join()

    def describe(self, text: str) -> None:
        """Show what is being done from now on."""
        self._label, shown = _labels(text)
        self._progress.update(self._task, description=shown)

    def update(self, fraction: float) -> None:
        """Show the finished fraction, 0 to 1."""
        self._fraction = fraction
        self._progress.update(self._task, completed=fraction)

    def _write_lines(self) -> None:
        start_s = time.monotonic()
        while not self._is_done.wait(self._line_s):
            elapsed_s = time.monotonic() - start_s
            print(f"{self._label}: {self._fraction:.0%} after {elapsed_s:.0f} s", file=sys.stderr, flush=True)


def _labels(text: str) -> tuple[str, str]:
    """What is done, in full and as there is room for it beside a bar."""
    # A title may hold anything; here it must not steer the terminal.
    label = "".join(character if character.isprintable() else "?" for character in text)
    return label, label if len(label) <= _label_width else label[: _label_width - 3] + "..."
