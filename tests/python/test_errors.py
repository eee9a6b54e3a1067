"""What the command line says to every kind of mistake: whole messages, byte for byte, and nothing else happens.

The cases are data: each `.txt` file in `errors` is a table of them, and each case is a test. A case is

    === its title
    > FILE                          a file beside small.toml; its lines follow
    > FILE: OTHER, text -> text     a file that is another one with a text replaced
    $ shoal COMMAND
    exit CODE
    what is said on stderr

To add one, write its heading and its command; to write what is said now into every case whose message differs, and then
read the change with `git diff`: UPDATE_EXPECT=1 pytest tests/python/test_errors.py
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import TABLES, Cli


@dataclass(frozen=True)
class Case:
    """A mistake: what is given, and what must be said."""

    table: Path
    text: str

    @property
    def title(self) -> str:
        return f"{self.table.stem}: {self.text.splitlines()[0]}"

    @property
    def given(self) -> str:
        found = re.match(r".*?^\$ shoal .*?\n", self.text, re.DOTALL | re.MULTILINE)
        assert found is not None, f"{self.title} has no command"
        return found[0]

    def write_files(self, folder: Path) -> list[str]:
        """Write the files of the case and give the words of its command."""
        _, *files = re.split(r"^> ", self.given, flags=re.MULTILINE)
        for file in files:
            head, _, content = file.partition("\n")
            name, _, change = head.partition(": ")
            if change:
                base, old, new = re.split(r", | -> ", change)
                content = (folder / base).read_text(encoding="utf-8")
                assert old in content, self.title
                content = content.replace(old, new)
            (folder / name).write_text(content.partition("$ shoal ")[0], encoding="utf-8")
        return shlex.split(self.given.rpartition("$ shoal ")[2])


CASES = [
    Case(table, text)
    for table in sorted(TABLES.glob("*.txt"))
    for text in table.read_text(encoding="utf-8").split("=== ")[1:]
]


@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_error(case: Case, folder: Path, inside: Cli) -> None:
    for base in TABLES.glob("*.toml"):
        shutil.copy(base, folder)
    words = case.write_files(folder)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = inside(*words)
    assert done.code > 1, "an internal error, or none"
    assert done.out == ""
    assert {path: path.read_bytes() for path in folder.iterdir() if path.name != "cache"} == before
    said = f"{case.given}exit {done.code}\n{done.err}\n"
    if os.environ.get("UPDATE_EXPECT"):
        table = case.table.read_text(encoding="utf-8")
        case.table.write_text(table.replace(f"=== {case.text}", f"=== {said}"), encoding="utf-8")
    else:
        assert said.rstrip() == case.text.rstrip()


def test_titles_are_unique() -> None:
    titles = [case.title for case in CASES]
    assert len(CASES) == len(set(titles)) > 50
