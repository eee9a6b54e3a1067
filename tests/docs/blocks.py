"""Blocks of code in the pages: what each is, and how it is tried.

Markers are HTML comments before a block, which no reader of the page sees:

``<!-- not run: REASON -->``
    The block is not tried.
``<!-- blocks not run: REASON -->``
    No block of the page is tried from here on.
``<!-- not run: `COMMAND`: REASON -->``
    Lines of the block that begin with this command are not.
``<!-- file: NAME -->``
    The block is written to a file for the blocks behind it. A scenario is checked, too.
``<!-- part of: SCENARIO -->``
    The TOML block replaces keys of this shipped scenario.
``<!-- shows: output -->``
    The block of text is what the block before it prints; ``...`` stands for anything.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]
_comment = re.compile(r"<!--\s*(.*?)\s*-->", re.DOTALL)
_limit_s = 300
# Commands that change the network or the kernel of whoever runs the tests.
_of_machine = re.compile(r"\s*(sudo|tc|ip|sysctl|modprobe|insmod|iptables|nft|ethtool)\s")


class BrokenBlockError(AssertionError):
    """A block that is not what it says, with its place."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code of a page."""

    page: Path
    line: int
    language: str
    text: str
    markers: tuple[str, ...]

    @property
    def place(self) -> str:
        """Where it stands, for messages."""
        return f"{self.page.name}:{self.line}"

    def marker(self, name: str) -> list[str]:
        """What the markers of a name say."""
        return [marker.partition(":")[2].strip() for marker in self.markers if marker.partition(":")[0] == name]


@dataclass(slots=True)
class Counts:
    """What was done with blocks, and why some were not run."""

    run: int = 0
    compared: int = 0
    checked: int = 0
    excused: list[str] = field(default_factory=list)

    def __add__(self, other: Counts) -> Counts:
        """Give the counts of both."""
        return Counts(
            self.run + other.run,
            self.compared + other.compared,
            self.checked + other.checked,
            [*self.excused, *other.excused],
        )

    def __str__(self) -> str:
        """One line, then a line for each excuse."""
        head = f"{self.run} run, {self.compared} outputs compared, {self.checked} scenarios checked, "
        return head + "\n".join([f"{len(self.excused)} not run", *(f"  {excuse}" for excuse in self.excused)])


def blocks(page: Path) -> list[Block]:
    """The blocks of a page with their markers."""
    found = []
    markers: list[str] = []
    for token in MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8")):
        if token.type == "html_block":
            markers += [match[1] for match in _comment.finditer(token.content)]
        elif token.type in ("fence", "code_block"):
            line = (token.map or [0])[0] + 1
            found.append(Block(page, line, token.info.strip(), token.content, tuple(markers)))
            markers = []
    return found


def try_page(page: Path, folder: Path, counts: Counts) -> None:
    """Try the blocks of a page in order, in a folder of their own.

    Raises
    ------
    BrokenBlockError
        A block fails, shows what is not so, or is of a kind that nobody tries and has no excuse.
    """
    output = ""
    whole_page: str | None = None
    stale: list[tuple[Block, str]] = []
    for block in blocks(page):
        whole_page = next(iter(block.marker("blocks not run")), whole_page)
        excuse = next((text for text in block.marker("not run") if not text.startswith("`")), whole_page)
        if excuse is not None:
            if len(excuse.split()) < 3:
                raise BrokenBlockError(f"{block.place}: `not run` needs a reason")
            counts.excused.append(f"{block.place}: {excuse}")
        elif block.language == "sh":
            output = _run_commands(block, folder, counts)
        elif block.language == "python":
            output = _run(block, [sys.executable, "-c", block.text], folder)
            counts.run += 1
        elif block.language == "toml":
            _check_scenario(block, folder)
            counts.checked += 1
        elif block.language == "json" and block.marker("file"):
            # The blocks behind it read the file.
            json.loads(block.text)
            (folder / block.marker("file")[0]).write_text(block.text, encoding="utf-8")
        elif block.language == "text" and block.marker("shows") == ["output"]:
            if not _shows(block, output):
                stale.append((block, output))
            counts.compared += 1
        else:
            raise BrokenBlockError(
                f"{block.place}: nobody tries a block of `{block.language or 'no language'}`: mark it with a reason"
            )
    if stale and os.environ.get("UPDATE_EXPECT"):
        _update(page, stale)
    elif stale:
        block, output = stale[0]
        raise BrokenBlockError(
            f"{block.place}: what is before it prints\n{output}\nnot\n{block.text}\n"
            "`UPDATE_EXPECT=1 make test-docs` writes what is printed into the page"
        )


def _run_commands(block: Block, folder: Path, counts: Counts) -> str:
    lines = block.text.splitlines()
    for text in block.marker("not run"):
        match = re.fullmatch(r"`([^`]+)`: (.+)", text, re.DOTALL)
        kept = [line for line in lines if match and not line.startswith(match[1])]
        if match is None or len(kept) == len(lines):
            raise BrokenBlockError(f"{block.place}: no line begins with what `{text}` leaves out")
        lines = kept
        counts.excused.append(f"{block.place}: `{match[1]}`: {match[2]}")
    if (command := next((line for line in lines if _of_machine.match(line)), None)) is not None:
        raise BrokenBlockError(
            f"{block.place}: `{command}` would change the machine on which it is tried: show it as text"
        )
    output = _run(block, ["bash", "-e", "-o", "pipefail", "-c", "\n".join(lines)], folder)
    counts.run += 1
    return output


def _run(block: Block, command: list[str], folder: Path) -> str:
    """Run a command as a reader would, with the environment of the project; gives what it prints on stdout."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(Path(__file__).parent),
        "SHOAL_CACHE_DIR": str(folder / ".cache"),
        "MPLBACKEND": "Agg",
        # As wide as a block of a page may be.
        "COLUMNS": "120",
        "NO_COLOR": "1",
    }
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_limit_s,
        check=False,
    )
    if done.returncode != 0:
        raise BrokenBlockError(f"{block.place}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def _check_scenario(block: Block, folder: Path) -> None:
    parts, files = block.marker("part of"), block.marker("file")
    if parts:
        script = (
            "import json, sys; from blocks import replaced; from shoal import Scenario\n"
            "Scenario.from_resolved(replaced(Scenario.named(sys.argv[1]).resolved, json.loads(sys.argv[2])))"
        )
        _run(block, [sys.executable, "-c", script, parts[0], json.dumps(tomllib.loads(block.text))], folder)
        return
    name = files[0] if files else f"{block.page.stem}-{block.line}.toml"
    (folder / name).write_text(block.text, encoding="utf-8")
    _run(block, ["shoal", "check", name], folder)


def replaced(scenario: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """A scenario with the keys of a part; a table that names its kind is replaced as a whole."""
    own = {
        key: replaced(scenario[key], value)
        if isinstance(value, dict) and isinstance(scenario.get(key), dict) and "kind" not in value
        else value
        for key, value in part.items()
    }
    return {**scenario, **own}


def _shows(block: Block, output: str) -> bool:
    pattern = ".*?".join(re.escape(part) for part in _trimmed(block.text).split("..."))
    return re.fullmatch(pattern, _trimmed(output), re.DOTALL) is not None


def _update(page: Path, stale: list[tuple[Block, str]]) -> None:
    """Write what is printed into the page, from its end on so that lines keep their numbers."""
    lines = page.read_text(encoding="utf-8").splitlines(keepends=True)
    for block, output in reversed(stale):
        end = block.line + block.text.count("\n")
        lines[block.line : end] = [line + "\n" for line in _trimmed(output).splitlines()]
    page.write_text("".join(lines), encoding="utf-8")


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def pages() -> Iterator[Path]:
    """Pages whose blocks are tried: those that people read; records of measurements have none."""
    yield ROOT / "README.md"
    yield from sorted((ROOT / "docs").glob("*.md"))
    for folder in ("how-to", "explanation", "internals"):
        yield from sorted((ROOT / "docs" / folder).glob("*.md"))
    yield from sorted((ROOT / "docs" / "findings").rglob("*.md"))
