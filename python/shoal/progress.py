"""Progress bars on stderr, only where somebody sees them."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

# Set by `--quiet`.
is_quiet = False

# Leaves room for the bar in 80 columns.
_label_width = 32


class Bar:
    """A bar that is there only if stderr is a terminal, and gone when the work is done."""

    def __init__(self, label: str) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=is_quiet or not sys.stderr.isatty(),
        )
        shown = label if len(label) <= _label_width else label[: _label_width - 3] + "..."
        # A title may hold anything; here it must not steer the terminal.
        shown = "".join(character if character.isprintable() else "?" for character in shown)
        self._task = self._progress.add_task(shown, total=1.0)

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def update(self, fraction: float) -> None:
        """Show the finished fraction, 0 to 1."""
        self._progress.update(self._task, completed=fraction)
