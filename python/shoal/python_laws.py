"""Laws of one's own that are classes in Python: the same occasions and the same words as those of WebAssembly modules.

No scenario ever makes shoal run a class: a program hands it over, or a command names its file.
"""

from __future__ import annotations

import inspect
import itertools
import json
import linecache
import math
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from operator import methodcaller
from pathlib import Path
from typing import Any, ClassVar

from shoal import _native
from shoal._arguments import explained
from shoal.errors import ScenarioError, UsageError, nearest

_page = "docs/how-to/write-your-own-law.md shows what a law has to be"
_mutable = (list, dict, set, bytearray)
_numbers = itertools.count()


@dataclass(frozen=True)
class LawParameter:
    """A number that a scenario gives a law, as :func:`parameter` declares it."""

    default: float
    least: float
    most: float
    text: str
    unit: str
    whole: bool


@explained
def parameter(default: float, *, least: float, most: float, text: str = "", unit: str = "", whole: bool = False) -> Any:
    """Declare a parameter of a law: a key of ``cc_options``, and an attribute of each object with its value.

    Parameters
    ----------
    default
        Its value unless the scenario gives one.
    least, most
        The smallest and the largest value.
    text
        One sentence for users.
    unit
        Unit of its values; nothing for plain numbers.
    whole
        Whether only whole numbers are values, which the attribute then is.

    Raises
    ------
    UsageError
        A bound is no number.

    Examples
    --------
    >>> import shoal
    >>> class Gentle(shoal.Controller):
    ...     part = shoal.parameter(0.8, least=0.1, most=0.95, text="What is left of the window after a loss.")
    ...
    ...     def on_growth(self, flow):
    ...         flow.reno()
    ...
    ...     def on_loss(self, flow):
    ...         flow.ssthresh = max(int(flow.cwnd * self.part), 2)
    """
    if not all(math.isfinite(value) for value in (default, least, most)):
        raise UsageError("a parameter of a law has finite numbers", hint="as in shoal.parameter(0.5, least=0, most=1)")
    return LawParameter(default, least, most, text, unit, whole)


class _Law:
    @classmethod
    def _start(cls, values: list[float]) -> _Law:
        """The law of a new flow or queue, with these values of its parameters, which its ``__init__`` can read."""
        law = cls.__new__(cls)
        for (name, known), value in zip(_parameters(cls).items(), values, strict=False):
            vars(law)[name] = int(value) if known.whole else value
        methodcaller("__init__")(law)
        return law


class Controller(_Law):
    """A congestion control of one's own: each flow has an object of the class.

    A class has at least ``on_growth`` and ``on_loss``. Each method gets the flow (:class:`shoal.Flow`), reads what the
    host says and sets its answers there: ``flow.cwnd``, ``flow.ssthresh`` and so on. What else there is, from
    ``on_ack`` to ``on_timer``, is in docs/reference/own-laws.md. The first paragraph of the docstring is the law's
    summary.

    Attributes
    ----------
    ecn
        How it uses ECN: ``"classic"``, ``"dctcp"`` with its echo of every mark, ``"l4s"`` with accurate ECN.
    grows_in_cwr
        Whether ``on_growth`` is called in CWR, too.
    sends_cwr
        Whether the endpoint announces a reduction for ECN with CWR.

    Examples
    --------
    >>> import shoal
    >>> class Halving(shoal.Controller):
    ...     'Grows as Reno, and halves its window on a loss.'
    ...
    ...     def on_growth(self, flow):
    ...         flow.reno()
    ...
    ...     def on_loss(self, flow):
    ...         flow.ssthresh = max(flow.cwnd // 2, 2)
    >>> scenario = shoal.Scenario.named("coexistence").override({"flows[0].cc": Halving})
    >>> shoal.run(scenario).groups[0]["cc"]
    'Halving'
    """

    ecn: ClassVar[str] = "classic"
    grows_in_cwr: ClassVar[bool] = False
    sends_cwr: ClassVar[bool] = True


class Queue(_Law):
    """The law of a queue of one's own: each queue has an object of the class.

    A class has ``on_arrival`` or ``on_departure``, which return ``self.PASS``, ``self.MARK`` or ``self.DROP``; nothing
    is ``PASS``. Each method gets the port (:class:`shoal.Port`) with the packet and what waits. What else there is,
    from ``on_overflow`` to ``on_timer``, is in docs/reference/own-laws.md. A scenario names the class as
    ``aqm = { kind = "module", name = "Mine" }``.

    Examples
    --------
    >>> import shoal
    >>> class Step(shoal.Queue):
    ...     'Marks above a threshold.'
    ...
    ...     threshold = shoal.parameter(20, least=1, most=1000, whole=True, unit="packets")
    ...
    ...     def on_arrival(self, port):
    ...         return self.MARK if port.waiting_packets >= self.threshold else self.PASS
    >>> scenario = shoal.Scenario.named("step-single").with_laws(Step)
    >>> own = scenario.override({"bottleneck.aqm": {"kind": "module", "name": "Step"}})
    >>> shoal.run(own).bottlenecks[0]["marked"] > 0
    True
    """

    PASS: ClassVar[int] = 0
    MARK: ClassVar[int] = 1
    DROP: ClassVar[int] = 2


#: The class of a law.
LawClass = type[Controller] | type[Queue]
# What is no law itself.
_bases: tuple[type, ...] = (_Law, Controller, Queue, object)


@dataclass(frozen=True, eq=False)
class PythonLaw:
    """A class that has been looked at, as the native module takes it.

    Attributes
    ----------
    name
        The class, and what ``cc`` says.
    file
        The name of its file.
    sha256
        SHA-256 of that file, and of the files of its base classes if these are others.
    texts
        The contents of these files by their names.
    law
        The class itself.
    is_queue
        Whether it is the law of a queue, and no controller.
    identity
        Tells the class from all others of this process, those of the same text too.
    description
        What it says of itself, as modules do, in JSON.
    """

    name: str
    file: str
    sha256: str
    texts: dict[str, bytes]
    law: LawClass
    identity: bytes
    is_queue: bool
    description: str

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """What a scenario says of it, as ``--set`` has it."""
        return (f"laws.{self.name}.python", json.dumps(self.file)), (f"laws.{self.name}.python_sha256", self.sha256)

    def write_into(self, folder: Path) -> None:
        """Write copies of its files into a folder of results, unless they are there."""
        for file, content in self.texts.items():
            if not (folder / file).exists():
                (folder / file).write_bytes(content)


# Classes that a program handed over, by name and SHA-256; and those of the files that the command names, by name.
_known: dict[tuple[str, str], PythonLaw] = {}
_given: dict[str, PythonLaw] = {}
# The contents of files that were run here, by the name of the module.
_contents: dict[str, tuple[str, bytes]] = {}


def are_there() -> bool:
    """Whether this process may run a class."""
    return bool(_known)


def given() -> dict[str, PythonLaw]:
    """The laws of the files that the command names."""
    return _given


def give(files: dict[Path, bytes]) -> None:
    """Let these files, and no others, be those that the command names; they are run.

    Raises
    ------
    ScenarioError
        A file cannot be run, or has no law.
    UsageError
        Two files have a law of the same name.
    """
    _given.clear()
    for path, content in files.items():
        for law in laws_in(path, content):
            before = _given.setdefault(law.name, law)
            if before is not law:
                raise UsageError(
                    f"both `{before.file}` and `{path}` have a law `{law.name}`", hint="give one another name"
                )


def find(name: str, digest: str | None) -> PythonLaw | None:
    """The law of this name: with this SHA-256 if a program handed that over, else what the command names."""
    return (_known.get((name, digest)) if digest else None) or _given.get(name)


def laws_in(path: Path, content: bytes) -> list[PythonLaw]:
    """Run a file and give the laws that it defines.

    Raises
    ------
    ScenarioError
        It cannot be run, or has no law.
    """
    module = _run(path, content)
    classes = [
        value
        for name, value in vars(module).items()
        if is_law(value) and value.__module__ == module.__name__ and name == value.__name__ and not name.startswith("_")
    ]
    if not classes:
        raise _refused(f"`{path}` defines no law", "a law is a class of shoal.Controller or shoal.Queue; " + _page)
    return [law_of(each) for each in classes]


def is_law(value: object) -> bool:
    """Whether a value is the class of a law."""
    return isinstance(value, type) and issubclass(value, _Law) and value not in _bases


def law_of(law: LawClass) -> PythonLaw:
    """Look at a class and keep it, so that scenarios may name it.

    Raises
    ------
    UsageError
        It is no law.
    ScenarioError
        Something about it cannot be, or its source cannot be read.
    """
    if not is_law(law):
        raise UsageError(f"{law!r} is no law", hint="a law is a class of shoal.Controller or shoal.Queue")
    texts: dict[str, bytes] = {}
    for part in law.__mro__:
        if part not in _bases and part.__module__.partition(".")[0] not in sys.stdlib_module_names:
            _check(law, part)
            file, content = _source(part)
            texts.setdefault(file, content)
    description = _description(law)
    digest = sha256(b"\0".join(texts.values())).hexdigest()
    known = _known.get((law.__name__, digest))
    if known is None or known.law is not law:
        identity = f"{digest} {next(_numbers)}".encode()
        known = PythonLaw(
            law.__name__, next(iter(texts)), digest, texts, law, identity, issubclass(law, Queue), description
        )
        _known[law.__name__, digest] = known
    return known


def _run(path: Path, content: bytes) -> types.ModuleType:
    """The module of a file, which is run once."""
    name = f"shoal_law_{sha256(str(path).encode() + content).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    module = types.ModuleType(name)
    module.__file__ = str(path)
    _contents[name] = path.name, content
    sys.modules[name] = module
    # At the end: a neighbour that is called like a module of Python must not take its place.
    if (folder := str(path.parent.resolve())) not in sys.path:
        sys.path.append(folder)
    try:
        exec(compile(content, str(path), "exec"), vars(module))  # noqa: S102 - the user has named the file for this
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        line = error.lineno if isinstance(error, SyntaxError) else _line(error, str(path))
        where = f", line {line}" if line else ""
        what = error.msg if isinstance(error, SyntaxError) else error
        raise _refused(f"`{path}`{where}: {type(error).__name__}: {what}", "mend the file") from error
    return module


def _line(error: BaseException, file: str) -> int | None:
    """The last line of a file in which an error was."""
    line, step = None, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == file:
            line = step.tb_lineno
        step = step.tb_next
    return line


def _source(part: type) -> tuple[str, bytes]:
    """The name of the file of a class and its content; in a notebook, the text of its cell."""
    if (content := _contents.get(part.__module__)) is not None:
        return content
    path = getattr(sys.modules.get(part.__module__), "__file__", None)
    if path is not None and Path(path).is_file():
        return Path(path).name, Path(path).read_bytes()
    for function in _functions(part):
        if lines := linecache.getlines(function.__code__.co_filename):
            return f"{part.__name__}.py", "".join(lines).encode()
    raise _refused(
        f"the source of the law `{part.__name__}` cannot be read", "write it into a file, so that results can name it"
    )


def _functions(part: type) -> Iterator[types.FunctionType]:
    for value in vars(part).values():
        function = getattr(value, "__func__", value)
        if isinstance(function, types.FunctionType):
            yield function


def _check(law: type, part: type) -> None:
    """Refuse what lets results depend on more than the text of a law, and names that nobody calls."""
    name = law.__name__
    calls = [call for call, _ in _interface()["queue" if issubclass(law, Queue) else "controller"]["calls"]]
    for function in _functions(part):
        if outer := [free for free in function.__code__.co_freevars if free != "__class__"]:
            raise _refused(
                f"`{name}.{function.__name__}` uses `{outer[0]}` of the function around its class, "
                "which no result would show",
                "make it a parameter of the law: shoal.parameter",
            )
    for attribute, value in vars(part).items():
        if isinstance(value, _mutable) and not attribute.startswith("__"):
            raise _refused(
                f"`{name}.{attribute}` would be shared by all flows and runs, so that results depend on their order",
                f"write self.{attribute} = ... in __init__, or make it a tuple if it never changes",
            )
        if attribute.startswith("on_") and attribute not in calls:
            raise _refused(f"`{name}.{attribute}` is called on no occasion", nearest(attribute, calls))
        if attribute in calls and not callable(value):
            raise _refused(f"`{name}.{attribute}` is no method", "leave it out, and the host does what it says there")
    if not name.isascii():
        raise _refused(f"`{name}` cannot be the name of a law in a scenario", "use letters without accents")


def _description(law: type[_Law]) -> str:
    """What a class says of itself, as a module does."""
    documented = inspect.cleandoc(law.__doc__ or "").partition("\n\n")[0] if law.__doc__ else ""
    flags = ("ecn", "grows_in_cwr", "sends_cwr") if issubclass(law, Controller) else ()
    return json.dumps(
        {
            "abi": _interface()["abi"],
            "kind": "queue" if issubclass(law, Queue) else "controller",
            "summary": " ".join(documented.split()),
            **{flag: getattr(law, flag) for flag in flags},
            "parameters": [{"name": name, **vars(known)} for name, known in _parameters(law).items()],
        }
    )


def _parameters(law: type[_Law]) -> dict[str, LawParameter]:
    """The parameters of a class, those of its base classes first."""
    known: dict[str, LawParameter] = {}
    for part in reversed(law.__mro__):
        for name, value in vars(part).items():
            if isinstance(value, LawParameter):
                known[name] = value
            else:
                known.pop(name, None)
    return known


@cache
def _interface() -> dict[str, Any]:
    interface: dict[str, Any] = json.loads(_native.law_interface())
    return interface


def _refused(what: str, hint: str) -> ScenarioError:
    return ScenarioError(f"error: {what}\nhint: {hint}\n")
