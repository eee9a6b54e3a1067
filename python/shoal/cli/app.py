"""Puts the verbs together and turns errors into messages and exit codes."""

from __future__ import annotations

import os
import re
import sys
import warnings
from difflib import get_close_matches
from enum import IntEnum
from typing import Annotated, NoReturn, TextIO

import typer
from typer.exceptions import Abort, Exit, TyperException

from shoal import _process, progress
from shoal.errors import (
    CacheWarning,
    ClusterError,
    LawError,
    OutputError,
    OwnLawError,
    ScenarioError,
    ShoalError,
    StoreWarning,
    SweepFailedError,
    UsageError,
)

from .console import talk
from .terminal import prepare
from .verbs import Verbs


class ExitCode(IntEnum):
    """What the shell sees; see the package for the meanings."""

    OK = 0
    INTERNAL = 1
    USAGE = 2
    SCENARIO = 3
    FILES = 4
    NOT_REPRODUCED = 5
    LINUX = 6
    POINTS_FAILED = 7
    INTERRUPTED = 130


# The other errors of this package say that a plane failed.
_codes = {
    UsageError: ExitCode.USAGE,
    OutputError: ExitCode.FILES,
    LawError: ExitCode.INTERNAL,
    OwnLawError: ExitCode.SCENARIO,
    ClusterError: ExitCode.POINTS_FAILED,
    SweepFailedError: ExitCode.POINTS_FAILED,
}

_epilog = (
    "Exit codes: 0 done, 1 internal error (or something differs or fails that was asked about: conformance, "
    "doctor, pack --check, box --replay), 2 wrong usage, 3 scenario or script refused, or a law of one's own failed, "
    "4 files cannot be read or written, 5 a published value is not reproduced, a target is missed or nothing satisfies "
    "the condition, 6 the Linux plane failed, 7 runs of a sweep failed or its cluster does not answer, 129, 130 and "
    "143 ended by a hang-up, an interrupt and a termination (128 and the number of any other signal)."
)

app = typer.Typer(
    name="shoal",
    cls=Verbs,
    help="Runs DCTCP and ordinary TCP through one bottleneck.",
    epilog=_epilog,
    no_args_is_help=False,
    invoke_without_command=True,
    add_completion=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _version(value: bool) -> None:
    if value:
        from shoal.build import described

        print(f"shoal {described()}")
        raise Exit


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="No notes and no progress bars; results, warnings and errors as ever."),
    ] = False,
) -> None:
    talk.is_quiet = progress.is_quiet = quiet
    progress.say = talk.note
    if context.invoked_subcommand is None:
        print(context.get_help())


def main() -> NoReturn:
    """Run the command line."""
    _process.begin()
    prepare(sys.stdout, sys.stderr)
    # Figures are files: what a notebook or a desktop says about windows is not for commands, nor for their processes.
    os.environ["MPLBACKEND"] = "agg"
    try:
        _process.unwind_on_signals()
        code = guarded()
    except KeyboardInterrupt:  # outside of what is guarded
        talk.interrupted()
        code = ExitCode.INTERRUPTED
    _process.finish(code)


def guarded() -> int:
    """Run the command line and give its exit code; every error has become a message."""
    warnings.showwarning = _show_warning
    try:
        code = app(standalone_mode=False, prog_name="shoal")
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit) as error:
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise
        # The reader of our output has seen enough.
        _process.drop_output()
        return ExitCode.OK
    except (KeyboardInterrupt, Abort):
        talk.interrupted()
        return ExitCode.INTERRUPTED
    except TyperException as error:
        message = error.format_message()
        if not message:  # verbs below this one are missing, and it has shown its help
            return ExitCode.OK
        # The suggestion belongs into the hint.
        shown = re.sub(r"( \(Possible options: .*\)| Did you mean .*)$", "", message, flags=re.S)
        talk.error(shown, hint=_usage_hint(error, message))
        return ExitCode.USAGE
    except ScenarioError as error:
        talk.diagnostics(str(error))
        return ExitCode.SCENARIO
    except ShoalError as error:
        talk.error(str(error), hint=error.hint)
        return next((code for kind, code in _codes.items() if isinstance(error, kind)), ExitCode.LINUX)
    except OSError as error:
        talk.error(_describe(error))
        # What is left in the buffer cannot be written either (a full disk behind stdout).
        _process.drop_output()
        return ExitCode.FILES
    except Exception as error:
        talk.crash(error)
        return ExitCode.INTERNAL
    if code == ExitCode.INTERRUPTED:
        talk.interrupted()
    return int(code or 0)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    if issubclass(category, CacheWarning):
        talk.is_resumable = False
        talk.warning(
            str(message), hint="set SHOAL_CACHE_DIR to a folder that can be written, or add --no-cache to do without"
        )
    elif issubclass(category, StoreWarning):
        talk.warning(str(message), hint="`shoal cache clear` removes it")
    else:
        talk.warning(warnings.formatwarning(message, category, filename, lineno, line).rstrip())


def _describe(error: OSError) -> str:
    from shoal.files import is_full

    reason = error.strerror or str(error)
    # Of a copy the second name is the file that is written.
    name = (is_full(error) and error.filename2) or error.filename
    return f"`{name}`: {reason}" if name else reason


def _usage_hint(error: TyperException, message: str) -> str:
    if verb := re.search(r"Did you mean '([^']+)'", message):
        return f"did you mean `{verb[1]}`?"
    context = getattr(error, "ctx", None)
    if (option := getattr(error, "option_name", None)) and context is not None:
        known = [name for parameter in context.command.params for name in parameter.opts]
        if close := get_close_matches(option, known, n=1, cutoff=0.7):
            return f"did you mean `{close[0]}`?"
    path = context.command_path if context is not None else "shoal"
    return f"see `{path} --help`"
