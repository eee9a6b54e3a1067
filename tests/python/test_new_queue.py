"""``shoal new queue`` in a copy of the source: what it writes and refuses, and that nothing is left half-written."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from shoal.errors import OutputError, UsageError
from shoal.skeleton import new_queue

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("crates/core/aqm/src/laws", "crates/lab/scenario/src/aqm", "crates/lab/linux/src/disciplines")
FORMS = "crates/lab/scenario/tests/keys.rs"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The part of the source that a queue is written into."""
    for room in ROOMS:
        shutil.copytree(ROOT / room, tmp_path / room)
        shutil.copy2(ROOT / f"{room}.rs", tmp_path / f"{room}.rs")
    (tmp_path / FORMS).parent.mkdir(parents=True)
    shutil.copy2(ROOT / FORMS, tmp_path / FORMS)
    return tmp_path


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_queue_is_six_files_and_its_tests(checkout: Path) -> None:
    before = contents(checkout)
    written = new_queue("my-red-2", where=checkout / ROOMS[1])
    after = contents(checkout)
    changed = {path.relative_to(checkout) for path in after if after[path] != before.get(path)}
    assert changed == set(written)
    code = {str(path) for path in written if not path.name.startswith(("tests", "testing", "keys"))}
    assert code == {
        f"{ROOMS[0]}/my_red_2.rs",
        f"{ROOMS[0]}.rs",
        f"{ROOMS[1]}/my_red_2.rs",
        f"{ROOMS[1]}.rs",
        f"{ROOMS[2]}/my_red_2.rs",
        f"{ROOMS[2]}.rs",
    }
    laws = (checkout / f"{ROOMS[0]}.rs").read_text()
    assert '            "my-red-2" => MyRed2(MyRed2Config) in my_red_2,\n' in laws
    for room in ROOMS:
        modules = [line for line in (checkout / f"{room}.rs").read_text().splitlines() if line.startswith("mod ")]
        assert "mod my_red_2;" in modules
        assert modules == sorted(modules)
    assert not any(b"@" in after[checkout / path] for path in written if "my_red_2" in str(path))


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("step", "there is a queue `step` already", "`shoal list queues` shows all of them"),
        ("dual-coupled", "there is a queue `dual-coupled` already", "`shoal list queues` shows all of them"),
        ("crate", "no module can be called `crate`", "choose another name, as in `crate-marker`"),
        ("place", "no module can be called `place`", "choose another name, as in `place-marker`"),
        *(
            (
                name,
                f"`{name}` is not in kebab-case: lower-case letters, digits and single hyphens, a letter first",
                hint,
            )
            for name, hint in [
                ("DoubleThreshold", "as in `double-threshold`"),
                ("double_threshold", "as in `double-threshold`"),
                ("a--b", "as in `a-b`"),
                ("../up", "as in `up`"),
                ("", "as in `double-threshold`"),
            ]
        ),
    ],
)
def test_names_that_cannot_be_used(checkout: Path, name: str, message: str, hint: str) -> None:
    before = contents(checkout)
    with pytest.raises(UsageError) as caught:
        new_queue(name, where=checkout)
    assert (str(caught.value), caught.value.hint) == (message, hint)
    assert contents(checkout) == before


def test_outside_of_a_checkout(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not in a checkout of shoal"):
        new_queue("mine", where=tmp_path)


def test_a_second_time(checkout: Path) -> None:
    new_queue("mine", where=checkout)
    before = contents(checkout)
    with pytest.raises(UsageError, match="there is a queue `mine` already"):
        new_queue("mine", where=checkout)
    assert contents(checkout) == before


def test_files_in_the_way_are_kept(checkout: Path) -> None:
    (checkout / ROOMS[2] / "mine.rs").write_text("// somebody's work\n")
    before = contents(checkout)
    with pytest.raises(UsageError, match=r"mine\.rs exists"):
        new_queue("mine", where=checkout)
    assert contents(checkout) == before


@pytest.mark.parametrize(
    ("room", "line"), [(ROOMS[0], "mod step;\n"), (ROOMS[1], "mod "), (ROOMS[0], "        }\n    };\n}\n")]
)
def test_a_source_of_another_version(checkout: Path, room: str, line: str) -> None:
    path = checkout / f"{room}.rs"
    text = path.read_text()
    path.write_text(text.replace("mod ", "pub(crate) mod ") if line.startswith("mod") else text.replace(line, "}\n"))
    before = contents(checkout)
    with pytest.raises(UsageError) as caught:
        new_queue("mine", where=checkout)
    assert caught.value.hint == "is this checkout of another version?"
    assert contents(checkout) == before


@pytest.mark.parametrize("failing", range(9))
def test_what_cannot_be_written_changes_nothing(checkout: Path, monkeypatch: pytest.MonkeyPatch, failing: int) -> None:
    """Whichever of the files fails, half of it being on the disk."""
    before = contents(checkout)
    write = Path.write_text
    calls = 0

    def full(path: Path, text: str, **options: str) -> int:
        nonlocal calls
        calls += 1
        if calls == failing + 1:
            write(path, text[:10], **options)
            raise OSError(28, "No space left on device", str(path))
        return write(path, text, **options)

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OutputError, match="No space left on device") as caught:
        new_queue("mine", where=checkout)
    assert caught.value.hint == "nothing has been changed"
    assert contents(checkout) == before
    assert not (checkout / ROOMS[0] / "mine").exists()


def test_the_walk_through_fits_the_source() -> None:
    """Without building it, which CI does with the whole tool."""
    command = [ROOT / "tools" / "shoal-dev", "check", "skeletons", "--no-build"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
