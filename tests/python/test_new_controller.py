"""``shoal new controller`` in a copy of the source: what it writes and refuses."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from shoal.errors import UsageError
from shoal.skeleton import new_controller

ROOT = Path(__file__).resolve().parents[2]
CC = "crates/core/cc/src"
OPTIONS = "crates/lab/scenario/src/schema/options"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The part of the source that a controller is written into."""
    for room in (CC, OPTIONS):
        shutil.copytree(ROOT / room, tmp_path / room)
    shutil.copy2(ROOT / f"{OPTIONS}.rs", tmp_path / f"{OPTIONS}.rs")
    return tmp_path


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("name", ["aimd", "my-aimd-2", "scalable", "zeta"])
def test_a_controller_is_four_files_and_its_place_in_a_test(checkout: Path, name: str) -> None:
    before = contents(checkout)
    written = new_controller(name, where=checkout / CC)
    after = contents(checkout)
    changed = {path.relative_to(checkout) for path in after if after[path] != before.get(path)}
    module, law = name.replace("-", "_"), name.title().replace("-", "")
    files = {f"{CC}/{module}.rs", f"{CC}/lib.rs", f"{OPTIONS}/{module}.rs", f"{OPTIONS}.rs"}
    files.add(f"{CC}/tests/dispatch.rs")
    assert f"CcConfig::{law}(config) => history(" in (checkout / CC / "tests" / "dispatch.rs").read_text()
    assert {str(path) for path in changed} == {str(path) for path in written} == files
    laws = (checkout / CC / "lib.rs").read_text()
    assert f"    {law}({module}::{law}Config),\n}}\n" in laws
    assert f"    {module}::PRESETS,\n];\n" in laws
    assert f"    {law}({module}::{law}Options),\n" in (checkout / f"{OPTIONS}.rs").read_text()
    assert not any(b"@" in after[checkout / path] for path in written)
    # Modules stay sorted, and attributes stay with theirs.
    for path in (checkout / CC / "lib.rs", checkout / f"{OPTIONS}.rs"):
        lines = [line.removeprefix("pub ") for line in path.read_text().splitlines()]
        modules = [line for line in lines if line.startswith("mod ")]
        assert modules == sorted(modules, key=lambda line: line.rstrip(";"))
    assert '#[cfg(any(test, feature = "testing"))]\npub mod testing;\n' in laws


@pytest.mark.parametrize("name", ["reno", "dctcp", "dctcp-ikr", "cubic"])
def test_names_that_are_taken(checkout: Path, name: str) -> None:
    before = contents(checkout)
    with pytest.raises(UsageError, match=f"there is a controller `{name}` already") as caught:
        new_controller(name, where=checkout)
    assert caught.value.hint == "`shoal list controllers` shows all of them"
    assert contents(checkout) == before


def test_a_module_that_stands_beside_the_laws(checkout: Path) -> None:
    with pytest.raises(UsageError, match="no module can be called `window`") as caught:
        new_controller("window", where=checkout)
    assert caught.value.hint == "choose another name, as in `window-cc`"


def test_outside_of_a_checkout(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not in a checkout of shoal") as caught:
        new_controller("mine", where=tmp_path)
    assert "a controller is written into the source" in (caught.value.hint or "")
