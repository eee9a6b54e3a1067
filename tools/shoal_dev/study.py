"""A study: what is measured for a page of docs/records, in one folder of studies/ whose study.py declares it."""

from __future__ import annotations

import datetime
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal_dev import ROOT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    import shoal
    from shoal.linux import Image

STUDIES = ROOT / "studies"
IMAGES = ROOT / "docs" / "img"
# Runs scenarios with their seeds on a plane.
Run = Callable[[Sequence[tuple["shoal.Scenario", int]]], "list[shoal.Result]"]


@dataclass(frozen=True)
class Cell:
    """A row of a recorded table that can be made again without the others.

    Attributes
    ----------
    section
        The heading of the section in which the table stands; empty above the first one.
    row
        The first cells of the row, which tell it from the others.
    measure
        Gives cells of the row by the titles of their columns. Those of a kernel are left out where there is none.
    cpu_s
        About what it takes, in CPU seconds.
    recorded
        What was recorded, where that is not a row of the study's page.
    """

    section: str
    row: tuple[str, ...]
    measure: Callable[[], Mapping[str, str]]
    cpu_s: float
    recorded: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class Study:
    """What is measured, and what the page says of it.

    Attributes
    ----------
    title
        The heading of the page.
    measure
        Yields the parts of the page: paragraphs and tables in Markdown, and figures. Its keyword arguments have
        defaults, which ``shoal-dev record NAME --set KEY=VALUE`` replaces.
    takes
        How long it takes, in words.
    about
        What follows on the line that says when and by what the page was written.
    needs
        What it takes beside the simulator: ``kernel``, or an extra of the package.
    page
        A page of docs/ of which the table is one block; a page of its own in docs/records/ if empty.
    caption
        What the figure shows; without one the figure is drawn, and the page refers to it by itself.
    cells
        The rows that can be made again one by one; without them all of the page is made again.
    of_a_machine
        Whether numbers are those of a machine: the page names the processor, and they are never compared.
    """

    title: str
    measure: Callable[..., Iterator[str | Figure]]
    takes: str
    about: str = ""
    needs: tuple[str, ...] = ()
    page: str = ""
    caption: str = ""
    cells: Callable[[], Iterable[Cell]] | None = None
    of_a_machine: bool = False


def names() -> list[str]:
    """The names of all studies."""
    return sorted(path.parent.name.replace("_", "-") for path in STUDIES.glob("*/study.py"))


def find(name: str) -> Study:
    """The study of a name.

    Raises
    ------
    SystemExit
        There is none.
    """
    if name not in names():
        sys.exit(f"error: there is no study `{name}`\nhint: there are {', '.join(names())}")
    study: Study = importlib.import_module(f"studies.{name.replace('-', '_')}.study").STUDY
    return study


def list_all() -> None:
    """Print every study with its title and what it takes."""
    for name in names():
        study = find(name)
        needs = f"; needs {', '.join(study.needs)}" if study.needs else ""
        print(f"{name:22} {study.title}: {study.takes}{needs}")


def page_of(name: str, study: Study) -> Path:
    """The page on which a study stands."""
    return ROOT / "docs" / (study.page or f"records/{name}.md")


def measured_on(study: Study) -> str:
    """Date and version, and the processor or the build of the kernel if numbers depend on it."""
    describe = subprocess.run(["git", "describe", "--always"], cwd=ROOT, capture_output=True, text=True, check=True)
    words = [f"{datetime.datetime.now(tz=datetime.UTC):%F}", f"shoal {describe.stdout.strip()}"]
    if study.of_a_machine and (
        model := re.search(r"^model name\s*: (.*)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    ):
        words.append(model[1])
    if "kernel" in study.needs:
        words.append(f"kernel {kernel_build()}")
    return ", ".join(words)


def parts(name: str, study: Study, options: Mapping[str, Any], *, draw: bool) -> Iterator[str]:
    """The parts of a page as text; figures are written into docs/img if they are to be drawn."""
    for part in study.measure(**options):
        if isinstance(part, str):
            yield part
            continue
        if draw:
            from shoal.plots.formats import to_png

            (IMAGES / f"{name}.png").write_bytes(to_png(part, dpi=200))
        if study.caption:
            yield f"![{study.caption}](../img/{name}.png)"


def record(name: str, words: Sequence[str] = (), *, only_print: bool = False) -> int:
    """Measure a study and put it where documentation has it; `words` are KEY=VALUE for its arguments."""
    study = find(name)
    if study.of_a_machine:
        refuse_slow_builds()
    options = options_of(study, words)
    if only_print:
        for part in parts(name, study, options, draw=False):
            print(part, end="\n\n", flush=True)
        return 0
    text = "\n\n".join(parts(name, study, options, draw=True))
    head = measured_on(study)
    path = page_of(name, study)
    if study.page:
        path.write_text(with_block(path, name, f"{head}.\n\n{text}"), encoding="utf-8")
        return 0
    about = f"; {study.about}" if study.about else ""
    written = f"{head}. Written by `tools/shoal-dev record {name}`{about}."
    path.write_text(f"# {study.title}\n\n{written}\n\n{text}\n", encoding="utf-8")
    return 0


def options_of(study: Study, words: Sequence[str]) -> dict[str, Any]:
    """The arguments of a measurement, each of the type that its default has."""
    defaults = study.measure.__kwdefaults__ or {}
    given = dict(word.partition("=")[::2] for word in words)
    if unknown := [key for key in given if key not in defaults]:
        sys.exit(f"error: the study has no argument `{unknown[0]}`\nhint: it has {', '.join(defaults) or 'none'}")
    return {key: type(defaults[key])(value) for key, value in given.items()}


def refuse_slow_builds() -> None:
    """End if the native module was built without optimisation: its times would mean nothing."""
    from shoal import _native

    if _native.build_profile() != "release":
        sys.exit("error: the native module was built without optimisation\nhint: make setup")


def with_block(path: Path, name: str, text: str) -> str:
    """The text of a page with another text between the two lines that name a study.

    Raises
    ------
    ValueError
        The page does not have both lines, in this order.
    """
    begin, end = (f"<!-- shoal-dev record {name}: {which} -->" for which in ("begin", "end"))
    head, opening, rest = path.read_text(encoding="utf-8").partition(begin)
    _, closing, tail = rest.partition(end)
    if not (opening and closing):
        raise ValueError(f"{path.name} lacks the lines `{begin}` and `{end}`")
    return f"{head}{begin}\n\n{text}\n\n{end}{tail}"


def in_own_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function of a study gives in a process of its own, so that no memory or time of another is counted."""
    code = (
        "import importlib, json, sys; module, name, arguments = json.loads(sys.argv[1]); "
        "print(json.dumps(getattr(importlib.import_module(module), name)(*arguments)))"
    )
    call = json.dumps([function.__module__, function.__name__, arguments])
    done = subprocess.run([sys.executable, "-c", code, call], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def simulated(*, tables: bool = False) -> Run:
    """Runs on the simulator, which the cache keeps; with their tables if these are looked at."""
    from shoal.runs.plane import simulator

    return partial(_on, simulator, tables)


def on_linux(image: Image | None = None, *, tables: bool = False) -> Run:
    """Runs on a kernel, by default on the one that ``shoal linux build`` made.

    Raises
    ------
    LinuxError
        There is none.
    """
    from shoal.runs.plane import Kernel, kernel_here

    return partial(_on, Kernel(image) if image else kernel_here(), tables)


def _on(plane: Any, tables: bool, jobs: Sequence[tuple[shoal.Scenario, int]]) -> list[shoal.Result]:
    from shoal.cache import default_folder
    from shoal.runs.cases import Case, run_cases

    cases = [Case(scenario, [seed], tables=tables, plane=plane) for scenario, seed in jobs]
    return [run for (run,) in run_cases(cases, cache=default_folder())]


def planes(*, tables: bool = False) -> dict[str, Run]:
    """The planes of this machine by the names that columns of tables have."""
    from shoal.linux import LinuxError

    both = {"simulator": simulated(tables=tables)}
    try:
        return both | {"Linux": on_linux(tables=tables)}
    except LinuxError:
        return both


def kernel() -> Image:
    """The kernel that ``shoal linux build`` made, looked for once.

    Raises
    ------
    LinuxError
        There is none.
    """
    from shoal.runs.plane import kernel_here

    return kernel_here().image


def kernel_release() -> str:
    """The release of that kernel."""
    return kernel().release


def kernel_build() -> str:
    """The build of that kernel: version, configuration and compiler, on all of which its random numbers depend."""
    return kernel().folder.name


def other_kernel(page: str) -> str:
    """The build of the kernel on which a page was recorded, if it names one and this machine has another one."""
    named = re.search(r", kernel (\S+)\.\s", page)
    return named[1] if named and has_kernel() and named[1] != kernel_build() else ""


# The program of the benchmarks; its words follow.
BENCHES = ("cargo", "run", "--release", "--quiet", "--package", "shoal-benches", "--")


def benches(*words: str) -> str:
    """What the program of the benchmarks prints."""
    return subprocess.run([*BENCHES, *words], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.rstrip()


# The last commit in which numbers of many pages have changed on purpose: receivers' round-trip times, ticks of
# timestamps, and timeouts behind probes. What was recorded before is no longer what the simulator gives, until it is
# recorded again.
RESULTS_CHANGED = "23b2b60a"


def is_outdated(page: str) -> bool:
    """Whether a page was recorded by a version before :data:`RESULTS_CHANGED`; true if history does not know it."""
    named = re.search(r"^[0-9-]+, shoal ([0-9a-f]{7,40})\b", page, re.MULTILINE)
    return bool(named) and not _has_change(named[1])


def is_outdated_file(path: Path) -> bool:
    """Whether a file that names no version was last committed before :data:`RESULTS_CHANGED`."""
    last = subprocess.run(
        ["git", "log", "-1", "--format=%H", "--", str(path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return not _has_change(last.stdout.strip() or "HEAD")


def _has_change(commit: str) -> bool:
    """Whether a commit comes after :data:`RESULTS_CHANGED`, or is it."""
    ancestry = ["git", "merge-base", "--is-ancestor", RESULTS_CHANGED, commit]
    return subprocess.run(ancestry, cwd=ROOT, capture_output=True, check=False).returncode == 0


def has_kernel() -> bool:
    """Whether there is one."""
    return "Linux" in planes()
