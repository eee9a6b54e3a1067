"""The modules that are shipped as examples of a user's own, and copies of them with faults."""

from __future__ import annotations

from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "linux" / "examples"
RENO = EXAMPLES / "tcp_reno_again.c"
SHORT = EXAMPLES / "sch_short.c"


def written(path: Path, text: str) -> Path:
    """The file, with this text."""
    path.write_text(text)
    return path


def line_of(path: Path, word: str) -> int:
    """The number of the first line with a word."""
    return next(number for number, line in enumerate(path.read_text().splitlines(), 1) if word in line)


def with_fault(path: Path, example: Path, before: str, after: str) -> Path:
    """A copy of an example in which some code stands instead of other code."""
    text = example.read_text()
    assert text.count(before) == 1, before
    return written(path, text.replace(before, after))
