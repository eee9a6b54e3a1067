"""Progress where nobody sees a bar."""

from __future__ import annotations

import re
import sys
import threading

import pytest

from shoal import progress
from shoal.progress import Bar


class Log:
    """Standard error that is a file, and tells when something was written."""

    def __init__(self) -> None:
        self.text = ""
        self.written = threading.Event()

    def write(self, text: str) -> int:
        self.text += text
        self.written.set()
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False


def logged(monkeypatch: pytest.MonkeyPatch) -> Log:
    """A log in place of standard error, from inside a test: pytest puts its own back between the phases."""
    log = Log()
    monkeypatch.setattr(sys, "stderr", log)
    return log


def test_a_log_has_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    log = logged(monkeypatch)
    threads = threading.active_count()
    with Bar("412 runs\x1b[31m", line_s=0.001) as bar:
        bar.update(0.25)
        assert log.written.wait(5)
    assert re.fullmatch(r"412 runs\?\[31m: (0|25)% after \d+ s", log.text.splitlines()[0])
    # It ends with the work.
    assert threading.active_count() == threads


def test_a_log_says_what_is_being_done(monkeypatch: pytest.MonkeyPatch) -> None:
    log = logged(monkeypatch)
    with Bar("kernel", line_s=0.001) as bar:
        bar.describe("compiling")
        log.written.clear()
        assert log.written.wait(5)
    assert re.fullmatch(r"compiling: 0% after \d+ s", log.text.splitlines()[-1])


def test_short_work_and_quiet_commands_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    log = logged(monkeypatch)
    with Bar("short") as bar:
        bar.update(1.0)
    assert log.text == ""
    monkeypatch.setattr(progress, "is_quiet", True)
    with Bar("quiet", line_s=0.001):
        assert not log.written.wait(0.05)
