"""A new queue: its law, its keys, what Linux has for it, and its places in the lists of each room."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from shoal.errors import OutputError, UsageError

_AQM = "crates/core/aqm/src/laws"
_SCENARIO = "crates/lab/scenario/src/aqm"
_LINUX = "crates/lab/linux/src/disciplines"

_FILES = {
    "law.rs": _AQM + "/{module}.rs",
    "testing.rs": _AQM + "/{module}/testing.rs",
    "tests.rs": _AQM + "/{module}/tests.rs",
    "keys.rs": _SCENARIO + "/{module}.rs",
    "linux.rs": _LINUX + "/{module}.rs",
}
"""Templates, and where each goes."""

_LIST = _AQM + ".rs"
_FORMS = "crates/lab/scenario/tests/keys.rs"

_WORDS = """
abstract as async await become box break const continue crate do dyn else enum
extern false final fn for gen if impl in let loop macro match mod
move mut override priv pub ref return self static struct super trait true try
type typeof union unsafe unsized use virtual where while yield
"""
"""Words of Rust, which no module can be called."""

_BESIDE = ("bounds", "meaning", "place", "scheduler")
"""Modules that stand beside the laws."""


def new_queue(kind: str, *, where: Path) -> list[Path]:
    """Write the skeleton of a queue into the checkout that holds a folder.

    What is written compiles, passes its tests and runs in a scenario: a queue that marks above a threshold.

    Parameters
    ----------
    kind
        Its name in a scenario, in kebab-case, as in ``double-threshold``.
    where
        A folder of the checkout.

    Returns
    -------
    list[Path]
        New and changed files, relative to the checkout.

    Raises
    ------
    UsageError
        If this is not a checkout of shoal, or the name cannot be used.
    OutputError
        If a file cannot be written; then nothing has been changed.
    """
    root = _checkout(where)
    _refuse_name(kind, (root / _LIST).read_text(encoding="utf-8"))
    names = {"kind": kind, "module": kind.replace("-", "_"), "Law": kind.title().replace("-", "")}
    contents = {path.format(**names): _filled(template, names) for template, path in _FILES.items()} | _edited(
        root, names
    )
    for path in _FILES.values():
        taken = root / path.format(**names)
        if taken.exists():
            raise UsageError(f"{taken} exists", hint="remove it, or choose another name")
    _write(root, contents)
    return [Path(path) for path in contents]


def _checkout(where: Path) -> Path:
    for folder in [where.resolve(), *where.resolve().parents]:
        if (folder / _LIST).is_file() and (folder / _SCENARIO).is_dir() and (folder / _LINUX).is_dir():
            return folder
    raise UsageError(
        f"{where.resolve()} is not in a checkout of shoal",
        hint="a queue is written into the source: clone the repository and run this in it",
    )


def _refuse_name(kind: str, laws: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", kind):
        words = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", kind)
        better = "-".join(word.lower() for word in words).lstrip("-0123456789")
        raise UsageError(
            f"`{kind}` is not in kebab-case: lower-case letters, digits and single hyphens, a letter first",
            hint=f"as in `{better or 'double-threshold'}`",
        )
    module = kind.replace("-", "_")
    if module in _BESIDE or module in _WORDS.split():
        raise UsageError(f"no module can be called `{module}`", hint=f"choose another name, as in `{kind}-marker`")
    law = kind.title().replace("-", "")
    taken = {name for entry in re.findall(r'"([\w-]+)" => (\w+)\((\w+)\) in (\w+),', laws) for name in entry}
    if taken & {kind, law, law + "Config", module}:
        raise UsageError(f"there is a queue `{kind}` already", hint="`shoal list queues` shows all of them")


def _filled(template: str, names: dict[str, str]) -> str:
    text = (files("shoal.skeleton") / "templates" / f"{template}.txt").read_text(encoding="utf-8")
    for name, value in names.items():
        text = text.replace(f"@{name}@", value)
    return text


def _edited(root: Path, names: dict[str, str]) -> dict[str, str]:
    """The files that exist and name every law, with the new one."""
    kind, module, law = names["kind"], names["module"], names["Law"]
    laws = (root / _LIST).read_text(encoding="utf-8")
    laws = _with_line(_LIST, laws, "mod {};", module)
    laws = _with_line(_LIST, laws, "pub use {}::*;", module)
    margin = " " * 12
    entry = f"{margin}/// Marks ECT packets above a threshold.\n"
    entry += f'{margin}"{kind}" => {law}({law}Config) in {module},\n'
    edited = {_LIST: _before(_LIST, laws, "        }\n    };\n}\n", entry)}
    for folder in (_SCENARIO, _LINUX):
        path = folder + ".rs"
        edited[path] = _with_line(path, (root / path).read_text(encoding="utf-8"), "mod {};", module)
    forms = (root / _FORMS).read_text(encoding="utf-8")
    edited[_FORMS] = _before(_FORMS, forms, "];\n", f'    ("{kind}", &["threshold = \'20 packets\'"]),\n')
    return edited


def _with_line(path: str, text: str, form: str, module: str) -> str:
    """Text with one more of the lines of a form, which are sorted."""
    pattern = re.compile("^" + re.escape(form).replace(r"\{\}", r"(\w+)") + "\n", re.MULTILINE)
    found = list(pattern.finditer(text))
    if not found:
        raise UsageError(f"{path} has no line like `{form.format('...')}`", hint="is this checkout of another version?")
    later = next((line.start() for line in found if line[1] > module), found[-1].end())
    return text[:later] + form.format(module) + "\n" + text[later:]


def _before(path: str, text: str, anchor: str, addition: str) -> str:
    at = text.find(anchor)
    if at < 0:
        raise UsageError(f"{path} has no `{anchor.strip()}`", hint="is this checkout of another version?")
    return text[:at] + addition + text[at:]


def _write(root: Path, contents: dict[str, str]) -> None:
    """Write all files, or none: what was there is put back if one cannot be written."""
    before: dict[Path, bytes | None] = {}
    folders: list[Path] = []
    try:
        for name, text in contents.items():
            path = root / name
            if not path.parent.exists():
                path.parent.mkdir()
                folders.append(path.parent)
            before[path] = path.read_bytes() if path.exists() else None
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        for path, old in before.items():
            if old is None:
                path.unlink(missing_ok=True)
            else:
                path.write_bytes(old)
        for folder in folders:
            folder.rmdir()
        raise OutputError(f"{error.filename}: {error.strerror}", hint="nothing has been changed") from error
