"""Writing into the source of a checkout: names of modules, lines of lists, and all files or none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from shoal.errors import OutputError, UsageError

_WORDS = """
abstract as async await become box break const continue crate do dyn else enum
extern false final fn for gen if impl in let loop macro match mod
move mut override priv pub ref return self static struct super trait true try
type typeof union unsafe unsized use virtual where while yield
"""
"""Words of Rust, which no module can be called."""


@dataclass(frozen=True)
class Kind:
    """What can be added.

    Attributes
    ----------
    word
        As in ``shoal new queue``.
    example
        A name that could be given.
    suffix
        What names that cannot be used get behind them in the hint.
    rooms
        Files and folders that a checkout has.
    beside
        Modules that stand beside those of this kind.
    """

    word: str
    example: str
    suffix: str
    rooms: tuple[str, ...]
    beside: tuple[str, ...]


def checkout_of(where: Path, kind: Kind) -> Path:
    """The checkout that holds a folder.

    Raises
    ------
    UsageError
        There is none.
    """
    for folder in [where.resolve(), *where.resolve().parents]:
        if all((folder / room).exists() for room in kind.rooms):
            return folder
    raise UsageError(
        f"{where.resolve()} is not in a checkout of shoal",
        hint=f"a {kind.word} is written into the source: clone the repository and run this in it",
    )


def names_of(name: str, kind: Kind, taken: set[str]) -> dict[str, str]:
    """The name in a scenario, of the module and of the law.

    Raises
    ------
    UsageError
        The name cannot be used, or is one of those taken.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        words = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)
        better = "-".join(word.lower() for word in words).lstrip("-0123456789")
        raise UsageError(
            f"`{name}` is not in kebab-case: lower-case letters, digits and single hyphens, a letter first",
            hint=f"as in `{better or kind.example}`",
        )
    module, law = name.replace("-", "_"), name.title().replace("-", "")
    if module in kind.beside or module in _WORDS.split():
        raise UsageError(
            f"no module can be called `{module}`", hint=f"choose another name, as in `{name}-{kind.suffix}`"
        )
    if taken & {name, law, law + "Config", module}:
        raise UsageError(
            f"there is a {kind.word} `{name}` already", hint=f"`shoal list {kind.word}s` shows all of them"
        )
    return {"kind": name, "module": module, "Law": law}


def filled(template: str, names: dict[str, str]) -> str:
    """A template with the names in it."""
    text = (files("shoal.skeleton") / "templates" / f"{template}.txt").read_text(encoding="utf-8")
    for name, value in names.items():
        text = text.replace(f"@{name}@", value)
    return text


def with_line(path: str, text: str, form: str, module: str) -> str:
    """Text with one more of the lines of a form, which are sorted; public and private modules are sorted together."""
    line = re.escape(form).replace(r"\{\}", r"(\w+)")
    line = re.sub(r"^(pub\\ )?mod\\ ", r"(?:pub )?mod ", line)
    # Attributes above a line belong to it.
    matches = list(re.finditer(rf"^(?:#\[[^\n]*\n)*{line}\n", text, re.MULTILINE))
    if not matches:
        raise UsageError(f"{path} has no line like `{form.format('...')}`", hint="is this checkout of another version?")
    later = next((match.start() for match in matches if match[1] > module), matches[-1].end())
    return text[:later] + form.format(module) + "\n" + text[later:]


def before(path: str, text: str, anchor: str, addition: str) -> str:
    """Text with an addition before the first anchor in it."""
    at = text.find(anchor)
    if at < 0:
        raise UsageError(f"{path} has no `{anchor.strip()}`", hint="is this checkout of another version?")
    return text[:at] + addition + text[at:]


def write_new(root: Path, new: dict[str, str], edited: dict[str, str]) -> list[Path]:
    """Write new and changed files, or none: what was there is put back if one cannot be written.

    Raises
    ------
    UsageError
        One of the new files exists.
    OutputError
        A file cannot be written.
    """
    for name in new:
        if (root / name).exists():
            raise UsageError(f"{root / name} exists", hint="remove it, or choose another name")
    was: dict[Path, bytes | None] = {}
    folders: list[Path] = []
    try:
        for name, text in (new | edited).items():
            path = root / name
            if not path.parent.exists():
                path.parent.mkdir()
                folders.append(path.parent)
            was[path] = path.read_bytes() if path.exists() else None
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        for path, old in was.items():
            if old is None:
                path.unlink(missing_ok=True)
            else:
                path.write_bytes(old)
        for folder in folders:
            folder.rmdir()
        raise OutputError(f"{error.filename}: {error.strerror}", hint="nothing has been changed") from error
    return [Path(name) for name in new | edited]
