"""A user's kernel module as a guest loads it, and which line of the source a place in it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from shoal.linux.elf import Elf, Section


@dataclass(frozen=True)
class Spot:
    """A place in a module.

    Attributes
    ----------
    function
        The function that has it.
    line
        File and line, as in ``my_cc.c:7``; the file alone if the line is not known.
    """

    function: str
    line: str


@dataclass(frozen=True)
class ModuleFile:
    """A module on disk.

    Attributes
    ----------
    name
        As the kernel calls it.
    source
        The C file, as the user named it.
    path
        What guests load.
    debug
        What it was made of, with debugging information.
    """

    name: str
    source: Path
    path: Path
    debug: Path

    @cached_property
    def elf(self) -> Elf:
        """The module with debugging information."""
        return Elf(self.debug)

    def in_function(self, function: str, offset: int) -> Spot | None:
        """The place so many bytes into a function."""
        symbol = self.elf.function(function)
        return self._spot(symbol[0], symbol[1] + offset, function) if symbol else None

    def before(self, function: str, offset: int) -> Spot | None:
        """The place of a call that returns so many bytes into a function.

        A call of a function that does not return may be the last of its function, and then another begins behind it.
        """
        if offset:
            return self.in_function(function, offset - 1)
        symbol = self.elf.function(function)
        last = symbol and self.elf.just_before(symbol[0], symbol[1])
        caller = last and self.elf.function_at(*last)
        if not last or not caller or not self.elf.is_behind_call(last[0], last[1] + 1):
            return None
        return self._spot(*last, caller.name)

    def at(self, distance: int) -> Spot | None:
        """The place so many bytes behind the address at which the kernel has put the module's code."""
        located = self.elf.locate(distance)
        if located is None:
            return None
        function = self.elf.function_at(*located)
        return self._spot(*located, function.name if function else "?")

    def line_with(self, word: str) -> str:
        """The first line of the source with a word, as a string or a name; the file alone without one."""
        lines = self._text.splitlines()
        for pattern in (rf'"{re.escape(word)}"', rf"(?<![\w\"]){re.escape(word)}(?![\w\"])"):
            for number, line in enumerate(lines, 1):
                if re.search(pattern, line):
                    return f"{self.source}:{number}"
        return str(self.source)

    def operation(self, name: str) -> Spot | None:
        """Where the function is that the source assigns to an operation, as in ``.enqueue = my_enqueue``."""
        match = re.search(rf"\.{name}\s*=\s*(\w+)", self._text)
        return self.definition(match[1]) if match else None

    def called_for(self, what: str) -> Spot | None:
        """Where the function is that loading (``init``) or unloading (``exit``) the module calls."""
        match = re.search(rf"\bmodule_{what}\s*\(\s*(\w+)\s*\)", self._text)
        return self.definition(match[1]) if match else None

    def definition(self, function: str) -> Spot:
        """Where a function begins: in the source if it is there, else where its code does."""
        pattern = re.compile(rf"^[A-Za-z_][^;={{}}()]*\b{re.escape(function)}\s*\([^;{{}}]*\{{", flags=re.M)
        if match := pattern.search(self._text):
            before = self._text[: match.start()]
            return Spot(function, f"{self.source}:{before.count(chr(10)) + 1}")
        return self.in_function(function, 0) or Spot(function, str(self.source))

    @property
    def _text(self) -> str:
        return self.source.read_text(encoding="utf-8", errors="replace")

    def _spot(self, section: Section, at: int, function: str) -> Spot:
        line = self.elf.line(section, at)
        if line is None:
            return Spot(function, str(self.source))
        file, number = line
        # Files of the source's folder were compiled without its name.
        inside = not file.startswith("/")
        return Spot(function, f"{self.source.parent / file if inside else file}:{number}")
