"""What a terminal can show: no text may steer it, and what it has no characters for is written otherwise."""

from __future__ import annotations

import codecs
import re
import sys
from typing import TextIO

# Controls (but tab and line feed), line separators, and marks that change the direction of what follows.
_steering = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_instead = str.maketrans(
    {
        "±": "+/-",
        "…": "...",
        "µ": "u",
        "μ": "u",
        "\u2013": "-",
        "\u2014": "-",
        "\u2212": "-",
        "\u00d7": "x",
        "·": "*",
        "≤": "<=",
        "≥": ">=",
        "≈": "~",
        "→": "->",
        "\u03b1": "alpha",
        "β": "beta",
        "“": '"',
        "”": '"',
        "„": '"',
        "\u2018": "'",
        "\u2019": "'",
        "ö": "oe",
        "ä": "ae",
        "ü": "ue",
        "ß": "ss",
        **dict.fromkeys("─━╴╶╸╺", "-"),
        **dict.fromkeys("│┃", "|"),
        **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯┏┓┗┛┡┩", "+"),
        **dict.fromkeys("•❱", "*"),
    }
)
_handler = "shoal-degrade"


def harmless(text: str) -> str:
    """Show control characters by their numbers, so that a title cannot steer the terminal."""
    return _steering.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def shown(text: str, stream: TextIO) -> str:
    """A text for people as a stream can write it."""
    text = harmless(text)
    if _can_write(text, stream):
        return text
    return "".join(
        part if _can_write(part, stream) else _degraded(part, stream) for part in re.findall(r"[\x00-\x7f]+|.", text)
    )


def escaped(text: str, stream: TextIO) -> str:
    """JSON as a stream can write it: the same content."""
    text = harmless(text)
    if _can_write(text, stream):
        return text
    return re.sub("[^\x00-\x7f]", lambda match: match[0] if _can_write(match[0], stream) else _units(match[0]), text)


def prepare(*streams: TextIO) -> None:
    """Let streams replace what they cannot write, also where others write into them."""
    codecs.register_error(_handler, _replace)
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=_handler)


def _replace(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    part = error.object[error.start : error.end]
    return "".join(plain if (plain := each.translate(_instead)).isascii() else "?" for each in part), error.end


def _degraded(character: str, stream: TextIO) -> str:
    instead = character.translate(_instead)
    return instead if _can_write(instead, stream) else "?"


def _units(character: str) -> str:
    data = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[at : at + 2].hex()}" for at in range(0, len(data), 2))


def _can_write(text: str, stream: TextIO) -> bool:
    try:
        text.encode(getattr(stream, "encoding", None) or sys.getdefaultencoding())
    except (UnicodeEncodeError, LookupError):
        return False
    return True
