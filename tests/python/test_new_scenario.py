"""``shoal new scenario``: what it writes, asks and refuses."""

from __future__ import annotations

import errno
import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shoal import Scenario, _native
from shoal.cli import new_scenario as command
from shoal.errors import OutputError, ScenarioError, UsageError
from shoal.skeleton.scenario import SCHEMA_NAME, Draft, queue_kinds, required_keys, scenario_text, starting_values

COMMENTED = re.compile(r"^#([a-z_.]+ = .*)$")


def written(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def test_values_are_those_of_the_scenario_with_the_name_of_the_queue() -> None:
    """And not of another one whose name comes first: DCTCP would be in the classic queue."""
    assert starting_values("dualpi2")["bottleneck.aqm.ecn_mask"] == "any-ect"


@pytest.mark.parametrize("queue", queue_kinds())
def test_a_file_for_every_queue_is_accepted_as_are_the_defaults_that_it_shows(queue: str) -> None:
    text = scenario_text(Draft(queue=queue, law=starting_values(queue)))
    scenario = Scenario.from_toml(text)
    assert scenario.resolved["bottleneck"]["aqm"]["kind"] == queue
    assert set(required_keys(queue)) <= set(starting_values(queue))
    lines = text.splitlines()
    law = lines.index("[bottleneck.aqm]")
    tried = 0
    for number, line in enumerate(lines):
        match = COMMENTED.match(line)
        if match is None or match[1].endswith("..."):
            continue
        with_it = "\n".join([*lines[:number], match[1], *lines[number + 1 :]])
        # A default changes nothing but what it stands for.
        assert Scenario.from_toml(with_it).resolved == scenario.resolved, line
        tried += number > law
    assert tried >= 3, "at least what is shown of the flows"


def test_what_is_given_is_what_the_scenario_has(tmp_path: Path) -> None:
    file = tmp_path / "below" / "mine.toml"
    command.scenario(
        file,
        rate="100 Mbit/s",
        rtt="5 ms",
        flows=["cubic*4", "dctcp", "cubic"],
        queue="step",
        set_=["bottleneck.aqm.threshold=7 packets"],
        duration="12 s",
        yes=True,
    )
    scenario = Scenario.from_file(file).resolved
    assert scenario["bottleneck"]["rate"] == "100 Mbit/s"
    assert scenario["bottleneck"]["aqm"]["threshold"] == "7 packets"
    assert scenario["duration"] == "12 s"
    assert [(group["name"], group["cc"], group["count"], group["rtt"]) for group in scenario["flows"]] == [
        ("cubic-1", "cubic", 4, "5 ms"),
        ("dctcp", "dctcp", 1, "5 ms"),
        ("cubic-2", "cubic", 1, "5 ms"),
    ]
    assert written(file.parent)[SCHEMA_NAME] == _native.schema()
    assert file.read_text(encoding="utf-8").startswith(f"#:schema {SCHEMA_NAME}\n")


def test_files_of_others_stay(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    command.scenario(file, yes=True)
    with pytest.raises(OutputError, match="already exists"):
        command.scenario(file, yes=True)
    command.scenario(file, rate="1 Gbit/s", yes=True, force=True)
    assert 'rate = "1 Gbit/s"' in file.read_text(encoding="utf-8")
    file.write_text("duration = '1 s'\n", encoding="utf-8")
    (tmp_path / SCHEMA_NAME).write_text("{}", encoding="utf-8")
    before = written(tmp_path)
    with pytest.raises(OutputError, match="is not a scenario of"):
        command.scenario(file, yes=True, force=True)
    assert written(tmp_path) == before
    command.scenario(tmp_path / "other.toml", yes=True)
    assert written(tmp_path)[SCHEMA_NAME] == "{}"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"rate": "10"}, ScenarioError, "has no unit"),
        ({"queue": "dualpi"}, UsageError, "there is no queue `dualpi`"),
        ({"flows": ["cubic*0"]}, UsageError, "is no group of flows"),
        ({"flows": ["cubbic"]}, ScenarioError, "cubbic"),
        ({"set_": ["bottleneck.rate=1 Mbit/s"]}, UsageError, "is not bottleneck.aqm.KEY=VALUE"),
        ({"set_": ["bottleneck.aqm.targett=1 ms"]}, ScenarioError, "targett"),
    ],
)
def test_bad_answers_write_nothing(
    tmp_path: Path, options: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        command.scenario(tmp_path / "mine.toml", yes=True, **options)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = command.write_text

    def fails(path: Path, text: str) -> None:
        if path.name == "mine.toml":
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, text)

    monkeypatch.setattr(command, "write_text", fails)
    with pytest.raises(OutputError, match="is full"):
        command.scenario(tmp_path / "mine.toml", yes=True)
    assert list(tmp_path.iterdir()) == []


def dialogue(folder: Path, answers: list[tuple[str, str]], *options: str) -> tuple[int, str]:
    """Run the command at a terminal; each answer is given once its question has been asked."""
    # The terminal is the controlling one, so that Ctrl-C reaches the command, even if the tests ignore it.
    command = ["setsid", "--ctty", "env", "--default-signal=INT", sys.executable, "-m", "shoal", "new", "scenario"]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*command, "mine.toml", *options], cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    seen = ""
    asked = waited = 0
    answer = ""
    deadline = time.monotonic() + 120
    try:
        while time.monotonic() < deadline:
            if answers and answers[0][0] in seen[asked:]:
                asked = len(seen)
                answer = answers.pop(0)[1]
                os.write(ours, answer.encode())
            if select.select([ours], [], [], 0.1)[0]:
                waited = 0
                try:
                    seen += os.read(ours, 4096).decode()
                except OSError:  # the other end is closed
                    break
            else:
                waited += 1
                # A signal just before the interpreter reads is seen when the reading ends: whoever waits presses again.
                if answer == "\x03" and waited % 10 == 0:
                    os.write(ours, answer.encode())
        code = process.wait(timeout=10)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert answers == [], seen
    return code, seen


def test_questions_are_asked_again_until_the_answer_is_one(tmp_path: Path) -> None:
    code, seen = dialogue(
        tmp_path,
        [
            ("Rate of the bottleneck", "100\n"),
            ("Rate of the bottleneck", "100 Mbit/s\n"),
            ("Round-trip time", "\n"),
            ("Flows", "cubic*3, dctcp\n"),
            ("Queue", "stepp\n"),
            ("Queue", "step\n"),
            ("threshold", "9 packets\n"),
        ],
        "--duration",
        "5 s",
    )
    assert code == 0, seen
    assert "has no unit" in seen
    assert "did you mean `step`?" in seen
    assert "Duration" not in seen
    scenario = Scenario.from_file(tmp_path / "mine.toml").resolved
    assert scenario["bottleneck"]["rate"] == "100 Mbit/s"
    assert scenario["bottleneck"]["aqm"]["threshold"] == "9 packets"
    assert [group["count"] for group in scenario["flows"]] == [3, 1]


def test_an_interrupt_writes_nothing(tmp_path: Path) -> None:
    code, seen = dialogue(tmp_path, [("Rate of the bottleneck", "\n"), ("Round-trip time", "\x03")])
    assert code == 130, seen
    assert "interrupted" in seen
    assert list(tmp_path.iterdir()) == []
