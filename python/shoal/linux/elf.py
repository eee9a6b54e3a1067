"""What a compiled kernel module holds: sections and symbols of a 64-bit ELF file, as far as they are needed here."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from shoal.linux.commands import output
from shoal.linux.errors import LinuxError

# Flags of sections, and kinds and indices of symbols (ELF-64 Object File Format).
_writable, _allocated, _code = 1, 2, 4
_symbol_table, _no_bits = 2, 8
_undefined = 0
_first_reserved_index = 0xFF00
_function = 2


_longest_call = 7


def ends_with_call(code: bytes) -> bool:
    """Whether the last of seven bytes ends a call: of a distance (e8), or through a register or memory (ff /2)."""
    through = (code[at] == 0xFF and code[at + 1] >> 3 & 7 == 2 for at in range(_longest_call - 1))
    return code[2] == 0xE8 or any(through)


@dataclass(frozen=True)
class Section:
    """A section: its name, kind and flags, where it is in the file, and how it is aligned."""

    name: str
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    alignment: int


@dataclass(frozen=True)
class Symbol:
    """A symbol: its name, section (0 if it is not defined here), place in that section, size, and kind."""

    name: str
    section: int
    value: int
    size: int
    kind: int


class Elf:
    """A relocatable file, as modules are.

    Parameters
    ----------
    path
        Where it lies.

    Raises
    ------
    LinuxError
        It is no 64-bit ELF file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = path.read_bytes()
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise LinuxError(f"`{path}` is no module of a 64-bit kernel")

    @cached_property
    def sections(self) -> list[Section]:
        """All sections, in the order of the file."""
        (start,) = struct.unpack_from("<Q", self.data, 40)
        size, count, names = struct.unpack_from("<HHH", self.data, 58)
        raw = [struct.unpack_from("<IIQQQQIIQQ", self.data, start + size * number) for number in range(count)]
        at = raw[names][4]
        return [Section(self._text(at + row[0]), row[1], row[2], row[4], row[5], row[6], row[8]) for row in raw]

    @cached_property
    def symbols(self) -> list[Symbol]:
        """All symbols with a name."""
        table = next((section for section in self.sections if section.kind == _symbol_table), None)
        if table is None:
            return []
        names = self.sections[table.link].offset
        rows = (struct.unpack_from("<IBBHQQ", self.data, table.offset + at) for at in range(0, table.size, 24))
        symbols = (Symbol(self._text(names + row[0]), row[3], row[4], row[5], row[1] & 15) for row in rows)
        return [symbol for symbol in symbols if symbol.name]

    @property
    def wanted(self) -> frozenset[str]:
        """Names that the kernel has to supply."""
        return frozenset(symbol.name for symbol in self.symbols if symbol.section == _undefined)

    def writable_words(self) -> list[str]:
        """Short words in data that the kernel may write, in which operations with names are."""
        words: dict[str, None] = {}
        for section in self.sections:
            if section.kind != _no_bits and section.flags & _allocated and section.flags & _writable:
                data = self.data[section.offset : section.offset + section.size]
                for word in re.findall(rb"[0-9A-Za-z_.+-]{1,15}(?=\0)", data):
                    words[word.decode("ascii")] = None
        return list(words)

    def function(self, name: str) -> tuple[Section, int, int] | None:
        """Section, place and size of a function of this module."""
        for symbol in self.symbols:
            if symbol.name == name and symbol.kind == _function and 0 < symbol.section < _first_reserved_index:
                return self.sections[symbol.section], symbol.value, symbol.size
        return None

    @cached_property
    def _layout(self) -> list[tuple[int, Section]]:
        """Where the kernel puts the code: the sections one after the other, without those of the start.

        That is ``layout_sections`` of kernel/module/main.c
        (https://elixir.bootlin.com/linux/v6.12/source/kernel/module/main.c).
        """
        layout, end = [], 0
        for section in self.sections:
            if section.flags & _code and section.flags & _allocated and not section.name.startswith(".init"):
                start = -(-end // max(1, section.alignment)) * max(1, section.alignment)
                layout.append((start, section))
                end = start + section.size
        return layout

    def locate(self, distance: int) -> tuple[Section, int] | None:
        """Section and place of code that lies so many bytes behind the first."""
        for start, section in self._layout:
            if start <= distance < start + section.size:
                return section, distance - start
        return None

    def just_before(self, section: Section, at: int) -> tuple[Section, int] | None:
        """The place of the byte of code before one, which may be in the section before."""
        start = next((start for start, other in self._layout if other is section), None)
        return None if start is None else self.locate(start + at - 1)

    def function_at(self, section: Section, at: int) -> Symbol | None:
        """The function that has this place."""
        number = self.sections.index(section)
        inside = (
            symbol
            for symbol in self.symbols
            if symbol.section == number and symbol.kind == _function and symbol.value <= at < symbol.value + symbol.size
        )
        return next(inside, None)

    def is_behind_call(self, section: Section, at: int) -> bool:
        """Whether a call ends before a place."""
        end = section.offset + at
        return at >= _longest_call and ends_with_call(self.data[end - _longest_call : end])

    def line(self, section: Section, at: int) -> tuple[str, int] | None:
        """File and line of code, if the module was compiled with ``-g``.

        Of functions that are inlined into each other it is the innermost that is not the kernel's: files of the user's
        folder have relative names.
        """
        said = output(["addr2line", "-i", "-e", self.path, "-j", section.name, hex(at)])
        origins = re.findall(r"^(\S.*):([1-9]\d*)(?: \(discriminator \d+\))?$", said, flags=re.M)
        users = [origin for origin in origins if not origin[0].startswith("/")]
        file, line = next(iter([*users, *origins]), ("", "0"))
        return (file.removeprefix("./"), int(line)) if file else None

    def _text(self, at: int) -> str:
        return self.data[at : self.data.index(b"\0", at)].decode("utf-8", "replace")

    def parameters(self) -> dict[str, str]:
        """The parameters of the module and their types, as ``modinfo -p`` shows them."""
        info = next((section for section in self.sections if section.name == ".modinfo"), None)
        if info is None:
            return {}
        entries = self.data[info.offset : info.offset + info.size].decode("utf-8", "replace").split("\0")
        types = (entry.removeprefix("parmtype=").partition(":") for entry in entries if entry.startswith("parmtype="))
        return {name: kind for name, _, kind in types}
