"""The process of a command: its standard streams and its signals, from the first import to the last line.

This module is imported before everything else, and imports next to nothing: only an earlier interrupt is Python's.
"""

from __future__ import annotations

import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

# So long may a command that was interrupted take to remove what is half-written; a signal after that ends it at once.
_patience_s = 5.0
# What ends a process unless it does something about it: from a terminal, a batch system, or a limit of resources.
_ends = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGALRM,
    signal.SIGXCPU,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
# Empty files that are ours alone while this process lives: its locks, which are removed if it ends at once.
locks: set[str] = set()
# When it was interrupted, or had done its work.
_ended_s: list[float] = []


def is_command() -> bool:
    """Whether this process is the command line, and not a program that uses the package."""
    program: str = getattr(sys, "argv", [""])[0]
    if program == "-m":  # the module is being looked for
        arguments = sys.orig_argv
        return arguments[arguments.index("-m") + 1 :][:1] == ["shoal"]
    return os.path.basename(program) == "shoal"


def begin() -> None:
    """Open the standard streams that are closed, and end at once when a signal comes before there is anything to do."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest number that is free is given: else a file of results would become the output.
            os.open(os.devnull, os.O_RDONLY if descriptor == 0 else os.O_WRONLY)
    # A stream that was closed is `None`, whatever its type says.
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)
    _handle(_at_once)


def unwind_on_signals() -> None:
    """Let the first signal unwind the command, so that nothing half-written is left; further ones do nothing then."""
    _handle(_unwind)


def finish(code: int) -> NoReturn:
    """End the process; a signal does not disturb it any more, nor a reader of its output who has gone."""
    _ended_s.append(time.monotonic())
    try:
        sys.stdout.flush()
    except OSError:
        drop_output()
    raise SystemExit(code)


def drop_output() -> None:
    """Write what is left to write to stdout nowhere: the interpreter's flush at its end must not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _handle(handler: signal._HANDLER) -> None:
    for number in _ends:
        # What the shell or `nohup` has switched off stays so.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _at_once(number: int, _frame: object) -> NoReturn:
    try:
        os.write(2, b"error: interrupted\n")
    finally:
        _leave(128 + number)


def _leave(code: int) -> NoReturn:
    """End without unwinding anything."""
    try:
        for path in list(locks):
            try:  # noqa: SIM105 - `contextlib` takes as long to import as everything else here
                os.unlink(path)
            except OSError:
                pass
    finally:
        os._exit(code)


def _unwind(number: int, _frame: object) -> None:
    if _ended_s:
        if time.monotonic() - _ended_s[0] > _patience_s:
            _leave(128 + number)
        return
    _ended_s.append(time.monotonic())
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)
