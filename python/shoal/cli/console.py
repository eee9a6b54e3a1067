"""Data on stdout, talk on stderr."""

from __future__ import annotations

import os
import shutil
import sys
import traceback
from contextlib import suppress

from rich.console import Console
from rich.text import Text

from shoal.cli.layout import lines, wrapped
from shoal.cli.terminal import escaped, shown
from shoal.table import Table

# Columns of prose, where no terminal says how wide it is; tables of numbers are as wide as they are.
_default_width = 140


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to whoever writes what a reader means who has gone."""
        raise  # noqa: PLE0704


class Data:
    """What was asked for."""

    def __init__(self) -> None:
        self._console: Console | None = None

    @property
    def console(self) -> Console:
        """The console behind stdout, as it is now."""
        if self._console is None or self._console.file is not sys.stdout:
            self._console = _Console(file=sys.stdout, width=self._limit or _default_width, highlight=False)
        return self._console

    @property
    def _limit(self) -> int | None:
        """Columns of the terminal; ``COLUMNS`` stands in for one."""
        columns = os.environ.get("COLUMNS", "")
        if columns.isdecimal() and int(columns):
            return int(columns)
        return shutil.get_terminal_size().columns if sys.stdout.isatty() else None

    def text(self, text: str) -> None:
        """Print a text for people."""
        text = shown(text, sys.stdout)
        sys.stdout.write(text if text.endswith("\n") else text + "\n")

    def sentence(self, text: str) -> None:
        """Print prose, which wraps where the terminal ends."""
        for line in wrapped(shown(text, sys.stdout), self._limit):
            sys.stdout.write(line + "\n")

    def json(self, text: str) -> None:
        """Print JSON: what the terminal cannot show is escaped, so that the content stays the same."""
        text = escaped(text, sys.stdout)
        sys.stdout.write(text if text.endswith("\n") else text + "\n")

    def json_part(self, text: str) -> None:
        """Print a part of a JSON object that is too large to be held as a whole."""
        sys.stdout.write(escaped(text, sys.stdout))

    def heading(self, text: str) -> None:
        """Print a line that stands out."""
        for line in wrapped(shown(text, sys.stdout), self._limit):
            self.console.print(Text(line, style="bold"), soft_wrap=True)

    def table(self, table: Table) -> None:
        """Print a table."""
        if table.title:
            self.heading(table.title)
        plain = Table(
            "",
            tuple(shown(head, sys.stdout) for head in table.columns),
            [tuple(shown(cell.replace("\n", " "), sys.stdout) for cell in row) for row in table.rows],
            words=table.words,
        )
        is_prose = plain.words >= len(plain.columns)
        for line in lines(plain, self._limit or (_default_width if is_prose else None)):
            self.console.print(Text(line.text, style="bold" if line.is_head else ""), soft_wrap=True)

    def pairs(self, pairs: list[tuple[str, str]]) -> None:
        """Print names and values, two columns."""
        self.table(Table("", ("", ""), pairs, words=2))

    def blank(self) -> None:
        """Print an empty line."""
        self.console.print()


class Talk:
    """What is no data: notes, warnings, errors and progress, on stderr."""

    def __init__(self) -> None:
        self.is_resumable = False
        """What is done is kept: after an interrupt the same command goes on."""
        self.is_quiet = False
        """Notes and progress are left out; warnings and errors are not."""
        self._said: set[str] = set()

    def interrupted(self) -> None:
        """Say that the work was not finished, and how to go on."""
        self.error("interrupted", hint="the same command goes on where it was" if self.is_resumable else None)

    @property
    def console(self) -> Console:
        """The console behind stderr, as it is now."""
        return _Console(file=sys.stderr, highlight=False, soft_wrap=True)

    def _print(self, text: Text) -> None:
        # Nobody may be listening: that is no reason to lose results.
        with suppress(OSError):
            self.console.print(text)

    def note(self, text: str) -> None:
        """Say what was done."""
        if not self.is_quiet:
            self._print(Text(shown(text, sys.stderr)))

    def warning(self, text: str, *, hint: str | None = None) -> None:
        """Say what did not go as it should, though the results are right; once."""
        if text in self._said:
            return
        self._said.add(text)
        self._print(Text.assemble(("warning: ", "bold yellow"), shown(text, sys.stderr)))
        if hint:
            self._print(Text.assemble(("hint: ", "bold cyan"), shown(hint, sys.stderr)))

    def error(self, message: str, *, hint: str | None = None) -> None:
        """Say what is wrong and what would be right."""
        self._print(Text.assemble(("error: ", "bold red"), shown(message.rstrip(), sys.stderr)))
        if hint:
            self._print(Text.assemble(("hint: ", "bold cyan"), shown(hint, sys.stderr)))

    def diagnostics(self, text: str) -> None:
        """Show rendered diagnostics."""
        styles = {"error:": "bold red", "warning:": "bold yellow", "note:": "bold blue", "hint:": "bold cyan"}
        for line in shown(text, sys.stderr).rstrip("\n").split("\n"):
            word = line.split(" ", 1)[0]
            styled = Text(line)
            if word in styles:
                styled.stylize(styles[word], 0, len(word))
            self._print(styled)

    def crash(self, error: BaseException) -> None:
        """Show an error of shoal itself."""
        from shoal.build import described

        with suppress(OSError):
            traceback.print_exception(error, file=sys.stderr)
        self.error(
            f"internal error: {error!r}",
            hint=f"this is a defect of shoal {described()}: please report it with the command and the scenario",
        )


data = Data()
talk = Talk()
