"""Arithmetic in paper files and on the command line: numbers, names, operators, calls of listed functions."""

from __future__ import annotations

import ast
import inspect
import math
import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from shoal._arguments import parameters_of, unknown, wrong_call
from shoal.errors import UsageError
from shoal.models import nearest

Functions = Mapping[str, Callable[..., Any]]

# Whole numbers stay within the range of floating point, so that no operation takes long or much memory.
_most_bits = 1024
# Rounding to more places than a floating-point number has makes no difference, and to 10**9 of them takes for ever.
_most_digits = 400
_most_characters = 100_000

_formats = re.compile(r"[<>^]?[+ ]?,?[0-9]{0,2}(\.[0-9]{1,2})?[defg%]?")


class UndefinedError(UsageError):
    """Arithmetic that has no value: a division by zero, a number beyond floating point, the root of a negative number.

    Attributes
    ----------
    text
        The expression.
    reason
        Why it has no value.
    """

    def __init__(self, text: str, reason: str, *, hint: str | None = None) -> None:
        super().__init__(f"`{text}` is undefined: {reason}", hint=hint)
        self.text = text
        self.reason = reason


class _NoValueError(ArithmeticError):
    """What :class:`UndefinedError` says, before the whole expression is known."""


def _power(base: float, exponent: float) -> float:
    if isinstance(base, int) and isinstance(exponent, int) and exponent > 0:
        # |base| >= 2^(bits - 1), so this is a lower bound of the bits of the result: nothing too large is computed.
        if max(0, base.bit_length() - 1) * exponent > _most_bits:
            raise _NoValueError("the number is too large")
        return int(base**exponent)
    value = base**exponent
    if isinstance(value, complex):
        raise _NoValueError("a negative number has no such power")
    return float(value)


def _round(value: float, digits: int = 0) -> float:
    if not isinstance(digits, int) or abs(digits) > _most_digits:
        raise _NoValueError(f"numbers are rounded to at most {_most_digits} places")
    return round(value, digits) if digits else round(value)


_binary: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: _power,
}
_compare: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
# How many numbers those take that do not take one, at least and at most.
_numbers = {"min": (2, 100), "max": (2, 100), "log": (1, 2), "round": (1, 2)}
mathematics: Functions = {
    "sqrt": math.sqrt,
    "log": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "abs": abs,
    "min": min,
    "max": max,
    "round": _round,
}


def evaluate(
    text: str,
    names: Mapping[str, Any] | None = None,
    functions: Functions | None = None,
    *,
    gaps: bool = False,
) -> Any:
    """Evaluate an expression; what is computed from a missing number is NaN.

    Parameters
    ----------
    text
        The expression.
    names
        Values of its names; ``None`` is a missing number.
    functions
        What it may call, beside :data:`mathematics`.
    gaps
        NaN where the arithmetic has no value, as curves and tables need it; an error otherwise.

    Raises
    ------
    UndefinedError
        The arithmetic has no value, such as a division by zero, and ``gaps`` is not given.
    UsageError
        The text is no such expression, or uses a name that does not exist.
    """
    tree = parsed(text)
    try:
        return _step(text)(names or {}, functions or {})
    except UndefinedError:
        if gaps:
            return math.nan
        raise
    except ArithmeticError as error:
        if gaps:
            return math.nan
        raise UndefinedError(text, _reason(error), hint=_given(tree, names or {})) from None
    except (TypeError, ValueError):
        raise UsageError(f"`{text}` cannot be computed", hint="`shoal list metrics` shows what takes what") from None
    except RecursionError:
        raise UsageError(f"`{_shortened(text)}` is nested too deeply", hint="write a shorter expression") from None


# A sweep evaluates the same few expressions for each of its runs. Trees are not changed by anybody.
@lru_cache(maxsize=256)
def parsed(
    text: str, *, what: str = "expression", example: str = "as in 0.048 / m, or rate_ratio('reno', 'dctcp')"
) -> ast.expr:
    """Read an expression; ``what`` and ``example`` are for messages.

    Raises
    ------
    UsageError
        It is none.
    """
    article = "an" if what[0] in "aeiou" else "a"
    if len(text) > _most_characters:
        raise UsageError(f"`{_shortened(text)}` is too long for {article} {what}", hint=example)
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise UsageError(f"`{_shortened(text)}` is not {article} {what}: {error.msg}", hint=example) from None
    except (RecursionError, MemoryError):
        raise UsageError(f"`{_shortened(text)}` is nested too deeply", hint="write a shorter expression") from None
    except ValueError as error:  # a null character
        raise UsageError(f"{_shortened(text)!r} is not {article} {what}: {error}", hint=example) from None


def _shortened(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]} ..."


def _reason(error: ArithmeticError) -> str:
    match error:
        case ZeroDivisionError():
            return "division by zero"
        case OverflowError():
            return "the number is too large"
    return str(error)


def _given(tree: ast.expr, names: Mapping[str, Any]) -> str | None:
    """The numbers that an expression was computed from."""
    used = dict.fromkeys(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    given = [f"{name} = {names[name]:.12g}" for name in used if isinstance(names.get(name), int | float)]
    return f"it was computed with {', '.join(given)}" if given else None


def number(value: object, names: Mapping[str, Any] | None = None, functions: Functions | None = None) -> float:
    """A number, or a text that computes to one; NaN where the arithmetic has no value, so that a curve has a gap."""
    result = evaluate(value, names, functions, gaps=True) if isinstance(value, str) else value
    if isinstance(result, bool) or not isinstance(result, int | float):
        raise UsageError(f"`{value}` is not a number")
    try:
        return float(result)
    except OverflowError:
        return math.nan


def check(text: str, names: Collection[str], functions: Mapping[str, Callable[..., Any] | None]) -> None:
    """Refuse an expression that :func:`evaluate` would refuse, as far as that shows without values.

    Parameters
    ----------
    text
        The expression.
    names
        What has a value.
    functions
        What it may call; ``None`` for one whose arguments somebody else looks at.

    Raises
    ------
    UsageError
        The text is not an expression, or uses a name, function or argument that does not exist.
    """
    tree = parsed(text)
    known = {**mathematics, **functions}
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for name, arguments, keywords in calls_in(text):
        if name not in known:
            raise UsageError(f"`{text}`: there is no function `{name}`", hint=nearest(name, list(known)))
        if name not in functions:
            _refuse_mathematics(text, name, arguments, keywords)
        elif (function := functions[name]) is not None:
            wrong = wrong_call(name, parameters_of(function), arguments, keywords)
            if wrong is not None:
                raise UsageError(f"`{text}`: {wrong}", hint=f"it is {name}{inspect.signature(function)}")
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) if node not in called and name not in names:
                if name in known:
                    raise UsageError(f"`{text}`: `{name}` is a function", hint=f"write `{name}()`")
                raise UsageError(f"`{text}`: there is no `{name}`", hint=nearest(name, [*names, *known]))
    try:
        _check_constants(text, tree)
    except RecursionError:
        raise UsageError(f"`{_shortened(text)}` is nested too deeply", hint="write a shorter expression") from None


def _check_constants(text: str, node: ast.AST) -> None:
    """Refuse arithmetic on written numbers alone that has no value: it has none in any run."""
    if (
        isinstance(node, ast.expr)
        and not isinstance(node, ast.Name)
        and not any(isinstance(part, ast.Name) and part.id not in mathematics for part in ast.walk(node))
    ):
        try:
            evaluate(ast.unparse(node))
        except UndefinedError as error:
            raise UndefinedError(
                text, error.reason, hint="correct the expression: no run can give it a value"
            ) from None
        return
    for part in ast.iter_child_nodes(node):
        _check_constants(text, part)


def calls_in(text: str) -> list[tuple[str, list[Any], dict[str, Any]]]:
    """What an expression calls: names, and arguments without and with a name; what names decide is ``unknown``."""
    calls = []
    for node in ast.walk(parsed(text)):
        match node:
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords):
                named = {keyword.arg: _written(keyword.value) for keyword in keywords if keyword.arg is not None}
                calls.append((name, [_written(argument) for argument in arguments], named))
    return calls


def _written(node: ast.expr) -> Any:
    """A value that is written out, or computed from numbers alone."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name) and node.id in ("true", "false"):
        return node.id == "true"
    if not any(isinstance(part, ast.Name) and part.id not in mathematics for part in ast.walk(node)):
        return evaluate(ast.unparse(node))
    return unknown


def _refuse_mathematics(text: str, name: str, values: Sequence[Any], given: Mapping[str, Any]) -> None:
    """Refuse what a mathematical function does not take: texts, and too many or too few numbers."""
    least, most = _numbers.get(name, (1, 1))
    is_number = all(value is unknown or isinstance(value, int | float) for value in values)
    if given or not is_number or not least <= len(values) <= most:
        wanted = "one number" if most == 1 else f"{least} or more numbers" if most > 2 else f"{least} or {most} numbers"
        raise UsageError(f"`{text}`: `{name}` takes {wanted}", hint=f"as in {name}({', '.join('xyz'[:least])})")


def fill(
    template: str,
    names: Mapping[str, Any],
    functions: Functions | None = None,
    *,
    only: bool = False,
    missing: str | None = None,
) -> str:
    """Replace ``{expression}`` and ``{expression:format}`` in a text; numbers take their shortest exact form.

    With ``only``, braces in which none of the names stands are left as they are. ``missing`` stands for an expression
    without a value, as sentences about a table need it; without it that is an error.
    """

    def replace(match: re.Match[str]) -> str:
        if only and not set(re.findall(r"[A-Za-z_]\w*", match["expression"])) & set(names):
            return match[0]
        value = evaluate(match["expression"], names, functions or {}, gaps=missing is not None)
        if isinstance(value, float) and math.isnan(value) and missing is not None:
            return missing
        if isinstance(value, float) and not math.isfinite(value):
            reason = "a number is missing" if math.isnan(value) else "the number is too large"
            raise UndefinedError(match["expression"], reason, hint=_given(parsed(match["expression"]), names))
        if match["format"]:
            if _formats.fullmatch(match["format"]) is None:
                raise UsageError(f"`{match[0]}` has no format of a number", hint="as in {K:.3g} or {K:.0f}")
            try:
                return format(value, match["format"])
            except ValueError as error:
                raise UsageError(f"`{match[0]}`: {error}", hint="as in {K:.3g} or {K:.0f}") from None
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
    """A decimal without exponent, as quantities in scenario files are written; 12 significant digits.

    Raises
    ------
    UsageError
        The value is not a finite number.
    """
    if not math.isfinite(value):
        raise UsageError(f"{value} is not a value for a scenario", hint="write a finite number")
    rounded = float(f"{value:.12g}")
    if rounded == int(rounded):
        return str(int(rounded))
    # The shortest text of the number: with a fixed number of places, 41.8642 would be 41.864199999999997.
    return f"{Decimal(repr(rounded)):f}"


# A part of an expression: computes its value from names and functions.
_Step = Callable[[Mapping[str, Any], Functions], Any]


# A sweep evaluates the same few expressions for each of its runs: walking their trees would take as long as the rest.
@lru_cache(maxsize=256)
def _step(text: str) -> _Step:
    """What computes an expression."""
    return _Steps(text).of(parsed(text))


class _Steps:
    def __init__(self, text: str) -> None:
        self._text = text

    def of(self, node: ast.expr) -> _Step:
        match node:
            case ast.Constant(value=int() | float() | str() as value):
                constant = _finite(value)
                return lambda _names, _functions: constant
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords):
                return self._call(name, arguments, keywords)
            case ast.Name(id=name):
                return self._name(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                number = self._number(operand)
                return lambda names, functions: -number(names, functions)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                step = self.of(operand)
                return lambda names, functions: not step(names, functions)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _binary:
                return self._binary(_binary[type(op)], left, right)
            case ast.BoolOp(op=op, values=values):
                steps = [self.of(value) for value in values]
                joined = all if isinstance(op, ast.And) else any
                return lambda names, functions: joined(step(names, functions) for step in steps)
            case ast.Compare(left=first, ops=[op], comparators=[second]) if type(op) in _compare:
                return self._comparison(_compare[type(op)], first, second)
        raise UsageError(
            f"`{self._text}`: `{ast.unparse(node)}` is not allowed here",
            hint="numbers, names, + - * / **, comparisons, and the functions that `shoal list metrics` shows",
        )

    def _name(self, name: str) -> _Step:
        def step(names: Mapping[str, Any], _functions: Functions) -> Any:
            if name not in names:
                raise UsageError(f"`{self._text}`: there is no `{name}`", hint=nearest(name, list(names)))
            value = names[name]
            return math.nan if value is None else value

        return step

    def _binary(self, operation: Callable[[Any, Any], Any], left: ast.expr, right: ast.expr) -> _Step:
        left_step, right_step = self._number(left), self._number(right)

        def step(names: Mapping[str, Any], functions: Functions) -> Any:
            first, second = left_step(names, functions), right_step(names, functions)
            return _finite(operation(first, second), first, second)

        return step

    def _comparison(self, compared: Callable[[Any, Any], Any], left: ast.expr, right: ast.expr) -> _Step:
        left_step, right_step = self.of(left), self.of(right)

        def step(names: Mapping[str, Any], functions: Functions) -> Any:
            first, second = left_step(names, functions), right_step(names, functions)
            if isinstance(first, str) != isinstance(second, str):
                raise UsageError(
                    f"`{self._text}`: a text is compared with a number", hint="compare numbers with numbers"
                )
            return compared(first, second)

        return step

    def _call(self, name: str, arguments: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> _Step:
        positional = [self.of(argument) for argument in arguments]
        named = {keyword.arg: self.of(keyword.value) for keyword in keywords if keyword.arg is not None}

        def step(names: Mapping[str, Any], functions: Functions) -> Any:
            function = functions.get(name)
            if function is None and name not in mathematics:
                known = [*mathematics, *functions]
                raise UsageError(f"`{self._text}`: there is no function `{name}`", hint=nearest(name, known))
            given = {key: value(names, functions) for key, value in named.items()} if named else {}
            values = [value(names, functions) for value in positional] if positional else []
            if function is None:
                _refuse_mathematics(self._text, name, values, given)
                return _mathematics(name, values)
            return function(*values, **given)

        return step

    def _number(self, node: ast.expr) -> _Step:
        operand = self.of(node)

        def step(names: Mapping[str, Any], functions: Functions) -> Any:
            value = operand(names, functions)
            if not isinstance(value, int | float):
                raise UsageError(f"`{self._text}`: `{ast.unparse(node)}` is not a number")
            return value

        return step


def _mathematics(name: str, values: Sequence[Any]) -> Any:
    if any(isinstance(value, float) and math.isnan(value) for value in values):
        return math.nan
    try:
        return mathematics[name](*values)
    except ValueError as error:  # the root or logarithm of a number that has none
        raise _NoValueError(f"{name}: {error}") from None


def _finite(value: Any, *operands: float) -> Any:
    """Refuse what left the range of numbers here; what was missing before stays missing."""
    if isinstance(value, int) and abs(value).bit_length() > _most_bits:
        raise _NoValueError("the number is too large")
    if isinstance(value, float) and not math.isfinite(value) and all(math.isfinite(operand) for operand in operands):
        raise _NoValueError("the number is too large")
    return value
