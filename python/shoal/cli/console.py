"""Data on stdout, talk on stderr."""

from __future__ import annotations

import os
import sys
import traceback

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from shoal import _native
from shoal.tabulate import Table

# Wide enough for every table where no terminal says how wide it is.
_default_width = 140


class Data:
    """What was asked for."""

    def __init__(self) -> None:
        self._console: Console | None = None

    @property
    def console(self) -> Console:
        """The console behind stdout, as it is now."""
        if self._console is None or self._console.file is not sys.stdout:
            width = None if sys.stdout.isatty() else int(os.environ.get("COLUMNS") or _default_width)
            self._console = Console(file=sys.stdout, width=width, highlight=False, soft_wrap=False)
        return self._console

    def text(self, text: str) -> None:
        """Print a text as it is."""
        sys.stdout.write(text if text.endswith("\n") else text + "\n")

    def heading(self, text: str) -> None:
        """Print a line that stands out."""
        self.console.print(Text(text, style="bold"))

    def table(self, table: Table) -> None:
        """Print a table."""
        rich = RichTable(title=table.title or None, title_justify="left", title_style="bold", box=None, pad_edge=False)
        for index, column in enumerate(table.columns):
            rich.add_column(Text(column), justify="left" if index < table.words else "right", overflow="fold")
        for row in table.rows:
            rich.add_row(*(Text(cell) for cell in row))
        self.console.print(rich)

    def pairs(self, pairs: list[tuple[str, str]]) -> None:
        """Print names and values, two columns."""
        rich = RichTable(box=None, pad_edge=False, show_header=False)
        rich.add_column(style="bold")
        rich.add_column()
        for name, value in pairs:
            rich.add_row(Text(name), Text(value))
        self.console.print(rich)

    def blank(self) -> None:
        """Print an empty line."""
        self.console.print()


class Talk:
    """Everything else."""

    def __init__(self) -> None:
        self.is_resumable = False
        """What is done is kept: after an interrupt the same command goes on."""

    def interrupted(self) -> None:
        """Say that the work was not finished, and how to go on."""
        self.error("interrupted", hint="the same command goes on where it was" if self.is_resumable else None)

    @property
    def console(self) -> Console:
        """The console behind stderr, as it is now."""
        return Console(file=sys.stderr, highlight=False, soft_wrap=True)

    def note(self, text: str) -> None:
        """Say what was done."""
        self.console.print(Text(text))

    def error(self, message: str, *, hint: str | None = None) -> None:
        """Say what is wrong and what would be right."""
        self.console.print(Text.assemble(("error: ", "bold red"), message.rstrip()))
        if hint:
            self.console.print(Text.assemble(("hint: ", "bold cyan"), hint))

    def diagnostics(self, text: str) -> None:
        """Show rendered diagnostics."""
        styles = {"error:": "bold red", "warning:": "bold yellow", "note:": "bold blue", "hint:": "bold cyan"}
        for line in text.rstrip("\n").split("\n"):
            word = line.split(" ", 1)[0]
            shown = Text(line)
            if word in styles:
                shown.stylize(styles[word], 0, len(word))
            self.console.print(shown)

    def crash(self, error: BaseException) -> None:
        """Show an error of shoal itself."""
        traceback.print_exception(error, file=sys.stderr)
        self.error(
            f"internal error: {error!r}",
            hint=f"this is a defect of shoal {_native.__version__}: please report it with the command and the scenario",
        )


data = Data()
talk = Talk()
