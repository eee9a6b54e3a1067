"""In WebAssembly, where addresses have 32 bits, a scenario has the bytes that it has natively."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
from beginnings import FABRICS
from conftest import ROOT, run_in_node

import shoal
from shoal import _native
from shoal.errors import ScenarioError

FILES = [
    path
    for path in sorted([*ROOT.glob("scenarios/**/*.toml"), *ROOT.glob("papers/*/*.toml")])
    # The description of a paper is not a scenario.
    if path.name != "paper.toml"
]
# Runs that take longer than all others together: what their beginning does is enough here.
SHORTER = {ROOT / "scenarios" / name: overrides for name, overrides in FABRICS.items()} | {
    ROOT / "papers/deschepper-2015/open-loop.toml": {"duration": "0.2 s", "warmup": "0.1 s"},
}
# What both refuse, with places and remedies.
BROKEN = {
    "empty": "",
    "no-toml": "title = ",
    "wrong-unit": 'title = "x"\nduration = "3 packets"\n',
    "unknown-key": 'title = "x"\nduration = "3 s"\nbuffers = 3\n',
    # The simulator has no fq of that kernel.
    "not-simulated": (ROOT / "tests/python/errors/step.toml")
    .read_text(encoding="utf-8")
    .replace('cc = "dctcp"', 'cc = "dctcp"\nstack = "linux-3.18"\nhost = { pacing = "fq" }'),
}


def name_of(path: Path) -> str:
    folder = "" if path.parent.name == "scenarios" else f"{path.parent.name}-"
    return folder + path.stem


def native(name: str, text: str) -> dict[str, str]:
    """What `run.mjs` should write of a scenario file."""
    try:
        run = _native.Scenario(text, f"{name}.toml", []).run()
    except ScenarioError as error:
        return {f"{name}.error": str(error)}
    tables = {
        table: {column: checked(values) for column, values in columns.items()}
        for table, columns in run.tables().items()
    }
    return {f"{name}.json": run.json, f"{name}.tables": json.dumps(tables, separators=(",", ":"))}


def checked(values: np.ndarray | list[str]) -> str:
    """Checksum of the numbers of a column as 64-bit floating point, or of its words, a line each."""
    if isinstance(values, list):
        data = "".join(f"{word}\n" for word in values).encode()
    else:
        data = values.astype("<f8").tobytes()
    return hashlib.sha256(data).hexdigest()


def texts() -> dict[str, str]:
    """Scenario files by name; those that are shortened as the file that `shoal` writes of them."""
    found = {}
    for path in FILES:
        name = name_of(path)
        if overrides := SHORTER.get(path):
            found[name] = shoal.Scenario.from_file(path).override(overrides).to_toml()
        else:
            found[name] = path.read_text(encoding="utf-8")
    assert len(found) == len(FILES), "two files of one name"
    assert SHORTER.keys() <= set(FILES)
    return found


def as_files(given: dict[str, str]) -> dict[str, str]:
    return {f"{name}.toml": text for name, text in given.items()}


def test_every_shipped_scenario_has_the_native_bytes(module: Path, tmp_path: Path) -> None:
    files = texts()
    found = run_in_node(module, as_files(files), tmp_path)
    expected = {file: text for name, given in files.items() for file, text in native(name, given).items()}
    assert found.keys() == expected.keys()
    assert not [file for file, text in expected.items() if found[file] != text]
    print(f"{len(files)} scenarios: results and tables have the same bytes")


def test_what_is_refused_has_the_native_message(module: Path, tmp_path: Path) -> None:
    found = run_in_node(module, as_files(BROKEN), tmp_path)
    expected = {file: text for name, given in BROKEN.items() for file, text in native(name, given).items()}
    assert found == expected
    assert found.keys() == {f"{name}.error" for name in BROKEN}
