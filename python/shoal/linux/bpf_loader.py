"""Asking the loader of BPF programs: a request in JSON, and lines of JSON back."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shoal.linux.bpf import built, loader
from shoal.linux.errors import LinuxError

# So long may the loader take to unload what it holds.
_patience_s = 10.0

Answer = dict[str, Any]


def ask(request: Answer) -> Answer:
    """The answer to a request that is carried out at once.

    Raises
    ------
    LinuxError
        The loader or the kernel refuses; says what to do.
    """
    done = subprocess.run(_command(request), capture_output=True, text=True, check=False)  # noqa: S603
    return _answer(done.stdout, done.stderr)


def hold(request: Answer, on_ready: Callable[[Answer], object]) -> Answer:
    """Carry out a request that lasts until this process is interrupted; gives what the loader said at its end.

    Parameters
    ----------
    request
        A request to load without pinning.
    on_ready
        Told what is loaded.

    Raises
    ------
    LinuxError
        The loader or the kernel refuses; says what to do.
    """
    child = subprocess.Popen(  # noqa: S603
        _command(request), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0
    )
    assert child.stdout is not None  # noqa: S101
    try:
        on_ready(_answer(child.stdout.readline(), ""))
        child.wait()
    except KeyboardInterrupt:
        # The way to end it.
        pass
    finally:
        if child.poll() is None:
            child.terminate()
        said, complaint = child.communicate(timeout=_patience_s)
    return _answer(said, complaint)


def _command(request: Answer) -> list[str | Path]:
    return [built() / loader, json.dumps(request)]


def _answer(said: str, complaint: str) -> Answer:
    try:
        answer: Answer = json.loads(said)
    except ValueError:
        text = (said + complaint).strip() or "it ended without a word"
        raise LinuxError(f"`{loader}` failed: {text}", hint="is it of this version? shoal bpf build") from None
    if "error" in answer:
        raise LinuxError(str(answer["error"]), hint=str(answer.get("hint") or "") or None)
    return answer
