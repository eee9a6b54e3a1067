"""A new congestion controller: its law, its keys, and its places in the lists of both rooms."""

from __future__ import annotations

import re
from pathlib import Path

from shoal.skeleton.source import Kind, before, checkout_of, filled, names_of, with_line, write_new

_CC = "crates/core/cc/src"
_OPTIONS = "crates/lab/scenario/src/schema/options"

_FILES = {"controller.rs": _CC + "/{module}.rs", "options.rs": _OPTIONS + "/{module}.rs"}
"""Templates, and where each goes."""

_LIST = _CC + "/lib.rs"
_DISPATCH = _CC + "/tests/dispatch.rs"

_CONTROLLER = Kind(
    word="controller",
    example="scalable-aimd",
    suffix="cc",
    rooms=(_LIST, _OPTIONS),
    beside=("any", "controller", "growth", "law", "lib", "presets", "sample", "testing", "tests", "window"),
)


def new_controller(name: str, *, where: Path) -> list[Path]:
    """Write the skeleton of a congestion controller into the checkout that holds a folder.

    What is written compiles, passes its tests and runs in a scenario: additive increase and multiplicative decrease.

    Parameters
    ----------
    name
        Its name in a scenario, in kebab-case, as in ``scalable-aimd``.
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
    root = checkout_of(where, _CONTROLLER)
    laws = (root / _LIST).read_text(encoding="utf-8")
    taken = set(re.findall(r"^(?:pub )?mod (\w+);", laws, re.MULTILINE))
    taken |= {part for entry in re.findall(r"^    (\w+)\((?:\w+::)?(\w+)\),$", laws, re.MULTILINE) for part in entry}
    names = names_of(name, _CONTROLLER, taken | _presets(root / _CC))
    new = {path.format(**names): filled(template, names) for template, path in _FILES.items()}
    return write_new(root, new, _edited(root, laws, names))


def _presets(sources: Path) -> set[str]:
    """Names of all presets."""
    texts = [path.read_text(encoding="utf-8") for path in sources.rglob("*.rs")]
    return {name for text in texts for name in re.findall(r'name: "([\w-]+)"', text)}


def _edited(root: Path, laws: str, names: dict[str, str]) -> dict[str, str]:
    """The files that exist and name every controller, with the new one."""
    module, law = names["module"], names["Law"]
    laws = with_line(_LIST, laws, "pub mod {};", module)
    entry = f"    /// Additive increase and multiplicative decrease.\n    {law}({module}::{law}Config),\n"
    laws = before(_LIST, laws, "}\n\n/// Every controller's presets", entry)
    laws = before(_LIST, laws, "];\n\n/// All presets", f"    {module}::PRESETS,\n")
    path = _OPTIONS + ".rs"
    options = with_line(path, (root / path).read_text(encoding="utf-8"), "mod {};", module)
    options = before(path, options, "}\n\n/// Policies as written.", f"    {law}({module}::{law}Options),\n")
    dispatch = (root / _DISPATCH).read_text(encoding="utf-8")
    arm = f"        CcConfig::{law}(config) => history(crate::Law::start(config, rules)),\n"
    dispatch = before(_DISPATCH, dispatch, "    }\n}\n\n#[test]\nfn any_controller_is_the_one_inside", arm)
    return {_LIST: laws, path: options, _DISPATCH: dispatch}
