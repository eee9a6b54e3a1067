"""The WebAssembly module, built once, and scenarios that it runs under node."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Behind this folder, whose conftest.py comes first.
sys.path.append(str(ROOT / "tests" / "python"))
MODULE = ROOT / "target" / "web" / "module"


@pytest.fixture(scope="session")
def module() -> Path:
    """Folder of the module; fails if it cannot be built."""
    subprocess.run([ROOT / "tools" / "shoal-dev", "web", MODULE], check=True)
    # node tells by this that the JavaScript is a module.
    (MODULE / "package.json").write_text('{"type": "module"}\n', encoding="utf-8")
    return MODULE


def run_in_node(module: Path, texts: Mapping[str, str], folder: Path) -> dict[str, str]:
    """What `run.mjs` writes of files with these names and texts, by the names of its own files."""
    node = shutil.which("node")
    assert node, "node is missing\nhint: on Debian or Ubuntu: sudo apt-get install nodejs"
    given, found = folder / "in", folder / "out"
    for place in (given, found):
        place.mkdir()
    for name, text in texts.items():
        (given / name).write_text(text, encoding="utf-8")
    script = Path(__file__).parent / "run.mjs"
    subprocess.run([node, script, module, given, found], check=True)
    return {path.name: path.read_text(encoding="utf-8") for path in found.iterdir()}
