"""Names and options of platforms in commands: added when a command is used, because to load platforms takes time."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from shoal.cli.declare import option


class NamesPlatforms(TyperCommand):
    """A command whose help has the names of all platforms in the place of ``{platforms}``."""

    _params: list[Any]
    _is_complete = False

    # The library sets the attribute; it is asked for the first time when the command is parsed or its help is made.
    @property
    def params(self) -> list[Any]:
        """The parameters, with what platforms add."""
        if not self._is_complete:
            self._is_complete = True
            self._complete()
        return self._params

    @params.setter
    def params(self, params: list[Any]) -> None:
        self._params = params

    def _complete(self) -> None:
        from shoal.switch.platforms import NAMES

        for parameter in self._params:
            if getattr(parameter, "help", None):
                parameter.help = parameter.help.replace("{platforms}", f"{', '.join(NAMES[:-1])} or {NAMES[-1]}")


class TakesPlatformOptions(NamesPlatforms):
    """A command that has the options of all platforms as well; those that are given are in ``context.obj``."""

    def _complete(self) -> None:
        super()._complete()
        # The file that is written stays last.
        self._params[-1:-1] = _parameters()

    def invoke(self, ctx: Any) -> Any:
        """Run the command without the options that it does not name."""
        from shoal.switch.platforms import declared_options

        values = {name: ctx.params.pop(name) for name in declared_options()}
        ctx.obj = {name: value for name, value in values.items() if value}
        return super().invoke(ctx)


def _parameters() -> list[Any]:
    """The options of all platforms, as the library makes them of a function's signature."""
    from shoal.switch.platforms import declared_options

    def command() -> None:
        pass

    parameters = []
    for name, (each, labels) in declared_options().items():
        words = f"{each.help} For {' and '.join(filter(None, [', '.join(labels[:-1]), labels[-1]]))}."
        kind: Any = Annotated[bool, typer.Option(each.flag, help=words)]
        if each.value:
            kind = Annotated[
                list[str] | None if each.is_repeatable else str | None, option(each.flag, each.value, words)
            ]
        default = None if each.value else False
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind))
    vars(command)["__signature__"] = inspect.Signature(parameters)
    app = typer.Typer(add_completion=False)
    app.command()(command)
    return list(typer.main.get_command(app).params)
