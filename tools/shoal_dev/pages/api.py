"""The reference page of the Python interface, made from the docstrings (numpydoc) of what `shoal` exports."""

import enum
import inspect
import re
import textwrap
import typing

import shoal
from shoal import _native

# In the order in which a reader needs them; a name that is exported and not listed fails the page.
CHAPTERS = {
    "Scenarios": ["Scenario"],
    "Laws of one's own": ["Controller", "Queue", "parameter", "Flow", "Port"],
    "A link alone": ["Bottleneck", "Enqueued", "Arrived", "Lost", "Counters"],
    "Running": ["run", "Result", "Results"],
    "Sweeping": ["sweep", "Sweep", "Point", "default_metrics"],
    "Searching": [
        *("tune", "Tuned", "Trial", "Side", "Phase", "Decision"),
        *("Condition", "Comparison", "Measured"),
        *("optimise", "Optimised", "FreeParameter", "Goal", "Direction", "Candidate", "Measurement", "Neighbour"),
        *("Judgement", "Standing", "Schedule"),
    ],
    "Evaluating": ["evaluate_queue", "evaluate_controller", "Evaluation"],
    "Hunting and judging": ["hunt", "Hunted", "Find", "judge", "Verdict", "Episode"],
    "Statistics": ["estimate", "Estimate"],
    "Models": ["models", "Model", "Parameter", "Difference", "Kind"],
    "Errors": [
        "ShoalError",
        "ScenarioError",
        "UsageError",
        "UndefinedError",
        "OutputError",
        "Cancelled",
        "CacheWarning",
    ],
}
INTRODUCTION = """# Python interface

Everything below is `shoal.NAME`. Arguments after `*` are given by name. Every error that the package raises for what it
is given derives from `shoal.ShoalError`. In a notebook, scenarios, results, sweeps and searches show themselves as
tables, the last three with a picture, and figures as pictures, without `%matplotlib inline`. The fields of a result's
`data` are listed in [result](result.md), with types in `shoal.contract`; its tables in [tables](tables.md), the keys of
a scenario in [scenario](scenario.md), and the metrics that expressions may use in [metrics](metrics.md).
"""
_width = 100


def page() -> str:
    """The whole page.

    Raises
    ------
    ValueError
        A name is exported and in no chapter, or in a chapter and not exported, or has no docstring.
    """
    listed = [name for names in CHAPTERS.values() for name in names]
    exported = [name for name in shoal.__all__ if name != "__version__"]
    if sorted(listed) != sorted(exported):
        apart = sorted(set(listed) ^ set(exported))
        raise ValueError(f"chapters of tools/shoal_dev/pages/api.py and shoal.__all__ differ in {apart}")
    parts = [INTRODUCTION]
    for title, names in CHAPTERS.items():
        parts.append(f"## {title}\n")
        parts += [entry(name, getattr(shoal, name)) for name in names]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts))


def entry(name: str, thing: object) -> str:
    """The text about a public name."""
    if typing.get_origin(thing) is typing.Literal:
        words = ", ".join(f"`{word}`" for word in typing.get_args(thing))
        return f"### `{name}`\n\nOne of the texts {words}.\n"
    parts = [f"### `{name}`\n"]
    if not inspect.isclass(thing):
        return "\n".join([*parts, signature(name, thing), document(name, thing)])
    if issubclass(thing, enum.Enum):
        rows = ", ".join(f"`{member.name}` (`{member.value!r}`)" for member in thing)
        return "\n".join([*parts, document(name, thing), f"Members: {rows}.\n"])
    # What only `shoal` itself uses is no parent that a reader could look up.
    parents = [base.__name__ for base in thing.__bases__ if base not in (object, _native.Block)]
    if parents:
        parts.append(f"A kind of {', '.join(f'`{parent}`' for parent in parents)}.\n")
    parts.append(document(name, thing))
    parts += [member(name, key, value) for key, value in members(thing)]
    return "\n".join(parts)


def members(kind: type) -> list[tuple[str, object]]:
    """Public methods and properties of a class, in the order of the source; fields stand in its docstring."""
    return [
        (key, value)
        for key, value in vars(kind).items()
        if not key.startswith("_")
        and (callable(value) or isinstance(value, property | classmethod | staticmethod) or is_cached_property(value))
    ]


def is_cached_property(value: object) -> bool:
    """Whether an attribute is computed once."""
    return type(value).__name__ == "cached_property"


def member(owner: str, name: str, value: object) -> str:
    """The text about a method or property."""
    title = f"#### `{owner}.{name}`\n"
    if isinstance(value, property) or is_cached_property(value):
        function = value.fget if isinstance(value, property) else value.func
        kind = inspect.signature(function).return_annotation
        return "\n".join([title, f"Property: `{kind}`.\n", document(f"{owner}.{name}", function)])
    bound = isinstance(value, classmethod | staticmethod)
    function = value.__func__ if bound else value
    return "\n".join(
        [title, signature(f"{owner}.{name}", function, method=True), document(f"{owner}.{name}", function)]
    )


def signature(name: str, function: object, *, method: bool = False) -> str:
    """The call as code, one argument a line if it is long."""
    parameters = list(inspect.signature(function).parameters.values())[1 if method else 0 :]
    result = inspect.signature(function).return_annotation
    words, starred = [], False
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            words.append("*")
            starred = True
        starred = starred or parameter.kind is parameter.VAR_POSITIONAL
        words.append(argument(parameter))
    tail = "" if result is inspect.Signature.empty else f" -> {result}"
    text = f"{name}({', '.join(words)}){tail}"
    if len(text) > _width:
        lines = "".join(f"    {word},\n" for word in words)
        text = f"{name}(\n{lines}){tail}"
    return f"```python\n{text}\n```\n"


def argument(parameter: inspect.Parameter) -> str:
    """An argument with its type and default as they stand in the source."""
    star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
    kind = "" if parameter.annotation is parameter.empty else f": {parameter.annotation}"
    default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
    return f"{star}{parameter.name}{kind}{default}"


def document(name: str, thing: object) -> str:
    """A docstring in numpydoc as Markdown.

    Raises
    ------
    ValueError
        There is none.
    """
    text = inspect.getdoc(thing)
    if not text:
        raise ValueError(f"`{name}` is public and has no docstring")
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", text, flags=re.M)
    written = [paragraphs(parts[0])]
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        if title == "Examples":
            written.append(f"Example:\n\n```python\n{body.strip()}\n```\n")
        else:
            written.append(f"{title}:\n\n{terms(body)}\n")
    return "\n".join(written)


def terms(body: str) -> str:
    """A list of a section's entries: a line with names, the lines under it with what they are."""
    entries = []
    for block in re.split(r"\n(?=\S)", body.strip()):
        head, _, rest = block.partition("\n")
        text = marked(" ".join(textwrap.dedent(rest).split()))
        names = ", ".join(f"`{word.strip()}`" for word in head.split(","))
        entries.append(f"- {names}" + (f": {text}" if text else ""))
    return "\n".join(entries) + "\n"


def paragraphs(text: str) -> str:
    """Running text."""
    return marked(text.strip()) + "\n"


def marked(text: str) -> str:
    """Roles and literals of docstrings as code."""
    return re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text).replace("``", "`")
