"""Arithmetic in paper files and on the command line: numbers, names, operators, calls of listed functions."""

from __future__ import annotations

import ast
import inspect
import math
import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from shoal.errors import UsageError
from shoal.models import nearest

Functions = Mapping[str, Callable[..., Any]]

_binary: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_compare: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
mathematics: Functions = {
    "sqrt": math.sqrt,
    "log": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "abs": abs,
    "min": min,
    "max": max,
    "round": round,
}


def evaluate(text: str, names: Mapping[str, Any] | None = None, functions: Functions | None = None) -> Any:
    """Evaluate an expression; a division by zero or a missing number gives NaN.

    Raises
    ------
    UsageError
        The text is no such expression, or uses a name that does not exist.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise UsageError(
            f"`{text}` is no expression: {error.msg}", hint="as in 0.048 / m, or rate_ratio('reno', 'dctcp')"
        ) from None
    try:
        return _Evaluation(text, names or {}, {**mathematics, **(functions or {})}).of(tree.body)
    except (ZeroDivisionError, OverflowError):
        return math.nan
    except (TypeError, ValueError) as error:
        raise UsageError(f"`{text}` cannot be computed: {error}") from None


def number(value: object, names: Mapping[str, Any] | None = None, functions: Functions | None = None) -> float:
    """A number, or a text that computes to one."""
    result = evaluate(value, names, functions) if isinstance(value, str) else value
    if isinstance(result, bool) or not isinstance(result, int | float):
        raise UsageError(f"`{value}` is not a number")
    return float(result)


def check(text: str, names: Collection[str], functions: Functions) -> None:
    """Refuse an expression that :func:`evaluate` would refuse, as far as that shows without values.

    Raises
    ------
    UsageError
        The text is no expression, or uses a name, function or argument that does not exist.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise UsageError(
            f"`{text}` is no expression: {error.msg}", hint="as in 0.048 / m, or rate_ratio('reno', 'dctcp')"
        ) from None
    known = {**mathematics, **functions}
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords):
                if name not in known:
                    raise UsageError(f"`{text}`: there is no function `{name}`", hint=nearest(name, list(known)))
                _check_arguments(text, name, known[name], len(arguments), [keyword.arg for keyword in keywords])
            case ast.Name(id=name) if node not in called and name not in names:
                if name in known:
                    raise UsageError(f"`{text}`: `{name}` is a function", hint=f"write `{name}()`")
                raise UsageError(f"`{text}`: there is no `{name}`", hint=nearest(name, [*names, *known]))


def _check_arguments(
    text: str, name: str, function: Callable[..., Any], count: int, keywords: Sequence[str | None]
) -> None:
    try:
        signature = inspect.signature(function)
        signature.bind(*[None] * count, **{keyword: None for keyword in keywords if keyword is not None})
    except ValueError:
        return  # some built-in functions have no signature
    except TypeError as error:
        raise UsageError(f"`{text}`: `{name}` {error}", hint=f"it is {name}{signature}") from None


def fill(template: str, names: Mapping[str, Any], functions: Functions | None = None, *, only: bool = False) -> str:
    """Replace ``{expression}`` and ``{expression:format}`` in a text; numbers take their shortest exact form.

    With ``only``, braces in which none of the names stands are left as they are.
    """

    def replace(match: re.Match[str]) -> str:
        if only and not set(re.findall(r"[A-Za-z_]\w*", match["expression"])) & set(names):
            return match[0]
        value = evaluate(match["expression"], names, functions or {})
        if match["format"]:
            return format(value, match["format"])
        return plain(value) if isinstance(value, int | float) else str(value)

    return re.sub(r"\{(?P<expression>[^{}:]+)(?::(?P<format>[^{}]+))?\}", replace, template)


def filled(value: Any, names: Mapping[str, Any], *, only: bool = False) -> Any:
    """Fill every text in a value; one that is nothing but an expression becomes a number. For ``only`` see ``fill``."""
    if isinstance(value, str):
        text = fill(value, names, only=only)
        whole = value.startswith("{") and value.endswith("}") and value.count("{") == 1
        if whole and ":" not in value and text != value:
            number_ = float(text)
            return int(number_) if math.isfinite(number_) and number_ == int(number_) else number_
        return text
    if isinstance(value, list):
        return [filled(item, names, only=only) for item in value]
    if isinstance(value, dict):
        return {key: filled(item, names, only=only) for key, item in value.items()}
    return value


def plain(value: float) -> str:
    """A decimal without exponent, as quantities in scenario files are written; 12 significant digits."""
    rounded = float(f"{value:.12g}")
    if rounded == int(rounded):
        return str(int(rounded))
    return f"{rounded:.15f}".rstrip("0")


class _Evaluation:
    def __init__(self, text: str, names: Mapping[str, Any], functions: Functions) -> None:
        self._text = text
        self._names = names
        self._functions = functions

    def of(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=int() | float() | str() as value):
                return value
            case ast.Name(id=name):
                if name not in self._names:
                    raise UsageError(f"`{self._text}`: there is no `{name}`", hint=nearest(name, list(self._names)))
                value = self._names[name]
                return math.nan if value is None else value
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.of(operand)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.of(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _binary:
                return _binary[type(op)](self.of(left), self.of(right))
            case ast.BoolOp(op=ast.And(), values=values):
                return all(self.of(value) for value in values)
            case ast.BoolOp(op=ast.Or(), values=values):
                return any(self.of(value) for value in values)
            case ast.Compare(left=first, ops=[op], comparators=[second]) if type(op) in _compare:
                return _compare[type(op)](self.of(first), self.of(second))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords):
                if name not in self._functions:
                    known = list(self._functions)
                    raise UsageError(f"`{self._text}`: there is no function `{name}`", hint=nearest(name, known))
                given = {keyword.arg: self.of(keyword.value) for keyword in keywords if keyword.arg is not None}
                return self._functions[name](*(self.of(argument) for argument in arguments), **given)
        raise UsageError(
            f"`{self._text}`: `{ast.unparse(node)}` is not allowed here",
            hint="numbers, names, + - * / **, comparisons, and the functions of papers/README.md",
        )
