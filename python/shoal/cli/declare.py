"""How the options and arguments of verbs are declared: a name, what stands for the value, a sentence."""

from __future__ import annotations

from typing import Any

import typer


def option(names: str | tuple[str, ...], value: str, help: str, **more: Any) -> Any:
    """An option with a value, of which help does not show the default: its sentence says what happens without it."""
    flags = (names,) if isinstance(names, str) else names
    return typer.Option(*flags, metavar=value, help=help, show_default=False, **more)


def argument(value: str, help: str, **more: Any) -> Any:
    """An argument of which help does not show the default."""
    return typer.Argument(metavar=value, help=help, show_default=False, **more)
