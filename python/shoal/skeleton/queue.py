"""A new queue: its law, its keys, what Linux has for it, and its places in the lists of each room."""

from __future__ import annotations

import re
from pathlib import Path

from shoal.skeleton.source import Kind, before, checkout_of, filled, names_of, with_line, write_new

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

_QUEUE = Kind(
    word="queue",
    example="double-threshold",
    suffix="marker",
    rooms=(_LIST, _SCENARIO, _LINUX),
    beside=("bounds", "meaning", "place", "scheduler"),
)


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
    root = checkout_of(where, _QUEUE)
    laws = (root / _LIST).read_text(encoding="utf-8")
    entries = re.findall(r'"([\w-]+)" => (\w+)\((\w+)\) in (\w+),', laws)
    names = names_of(kind, _QUEUE, {name for entry in entries for name in entry})
    new = {path.format(**names): filled(template, names) for template, path in _FILES.items()}
    return write_new(root, new, _edited(root, laws, names))


def _edited(root: Path, laws: str, names: dict[str, str]) -> dict[str, str]:
    """The files that exist and name every law, with the new one."""
    kind, module, law = names["kind"], names["module"], names["Law"]
    laws = with_line(_LIST, laws, "mod {};", module)
    laws = with_line(_LIST, laws, "pub use {}::*;", module)
    margin = " " * 12
    entry = f"{margin}/// Marks ECT packets above a threshold.\n"
    entry += f'{margin}"{kind}" => {law}({law}Config) in {module},\n'
    edited = {_LIST: before(_LIST, laws, "        }\n    };\n}\n", entry)}
    for folder in (_SCENARIO, _LINUX):
        path = folder + ".rs"
        edited[path] = with_line(path, (root / path).read_text(encoding="utf-8"), "mod {};", module)
    forms = (root / _FORMS).read_text(encoding="utf-8")
    edited[_FORMS] = before(_FORMS, forms, "];\n", f'    ("{kind}", &["threshold = \'20 packets\'"]),\n')
    return edited
