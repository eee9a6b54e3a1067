"""Compiling a user's kernel module, and what compiler and linker say of it in words about the user's own file."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from shoal.linux.commands import failure, output
from shoal.linux.errors import LinuxError, ModuleError
from shoal.linux.images import Image
from shoal.linux.places import cache

# The link to the folder of the source, in the folder where it is compiled.
_link = "user"
_most_lines = 60
# The linker's words: those of Linux 6.12, and of 7.3.
_undefined = re.compile(r"^ERROR: modpost: .*?[\"'](\w+)[\"'] (?:\[\S+\] )?undefined!", flags=re.M)
_reserved = re.compile(r"^ERROR: modpost: .*GPL-incompatible module .*uses GPL-only symbol '(\w+)'", flags=re.M)


@dataclass(frozen=True)
class Compiled:
    """What was seen when a module was compiled.

    Attributes
    ----------
    warnings
        What the compiler said; a zero byte stands before names of files in the source's folder.
    includes
        Files that the source includes, relative to its folder.
    """

    warnings: str
    includes: tuple[str, ...]


def compile_module(source: Path, name: str, folder: Path, image: Image, env: dict[str, str], prefix: str) -> Compiled:
    """Compile a module into a folder: ``NAME.ko`` for guests, and ``NAME.debug.ko`` that knows its lines.

    Raises
    ------
    ModuleError
        The message is the compiler's, with the user's own path.
    LinuxError
        The kernel's headers are gone.
    """
    tree = _tree_of(image)
    (folder / _link).symlink_to(source.resolve().parent)
    # The compiler sees the user's file where it is, and so finds what it includes.
    (folder / f"{name}.c").write_text(f'#include "{_link}/{source.name}"\n', encoding="utf-8")
    # The last of the options comes first. Neither the module nor what the kernel says of it depends on places.
    flags = [f"-ffile-prefix-map={before}={after}" for before, after in _places(folder)]
    kbuild = f"obj-m := {name}.o\nccflags-y := -g {' '.join(flags)}\n"
    (folder / "Kbuild").write_text(kbuild, encoding="utf-8")
    command = ["make", "-s", "-C", str(tree), "ARCH=um", f"M={folder}", "modules"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603
    said = _translated(done.stdout + done.stderr, folder, name)
    if done.returncode:
        raise _error(said, source, name, image, prefix) or failure(command, said.splitlines(), done.returncode)
    built = folder / f"{name}.ko"
    debug = built.rename(folder / f"{name}.debug.ko")
    output(["objcopy", "--strip-debug", "--remove-section=.note.gnu.build-id", debug, built], env=env)
    includes = _includes(folder, name, source)
    for path in folder.iterdir():
        if path not in (built, debug):
            path.unlink() if path.is_symlink() or path.is_file() else shutil.rmtree(path)
    return Compiled(said.strip(), includes)


def is_empty(text: str) -> bool:
    """Whether a source has nothing but blanks and comments."""
    return not re.sub(r"/\*.*?(?:\*/|\Z)|//[^\n]*", "", text, flags=re.S).strip()


def _tree_of(image: Image) -> Path:
    """The tree that the kernel was built in, with its headers."""
    tree = image.tree
    needed = ("Module.symvers", "System.map", "include/generated/autoconf.h", "scripts/mod/modpost", "Makefile")
    absent = [name for name in needed if not (tree / name).exists()]
    if not absent:
        including = re.search(r"^include (/\S+)", (tree / "Makefile").read_text(encoding="utf-8"), flags=re.M)
        absent = [including[1]] if including and not Path(including[1]).exists() else []
    if absent:
        raise LinuxError(
            f"modules cannot be compiled for Linux {image.release}: of its tree `{tree}` there is no {absent[0]}",
            hint=f"run `shoal linux build` again, which fetches the source and compiles it (kept in {cache()})",
        )
    return tree


def _places(folder: Path) -> list[tuple[str, str]]:
    return [(str(folder), "."), (f"{folder}/{_link}/", ""), (f"{_link}/", "")]


def _translated(said: str, folder: Path, name: str) -> str:
    """Messages about the user's files: a zero byte stands where their folder is named, and nothing is said of ours."""
    ours = rf"(?:{re.escape(str(folder))}/|\./)?"
    said = re.sub(rf"(^|[\s'\"(]){ours}{_link}/", "\\1\0", said, flags=re.M)
    said = re.sub(rf"^In file included from {ours}{name}\.c:\d+:\n", "", said, flags=re.M)
    said = re.sub(rf",\n +from {ours}{name}\.c:\d+:\n", ":\n", said)
    kept = [line for line in said.splitlines() if not re.match(r"make(\[\d+\])?: ", line)]
    return "\n".join(kept)


def _error(said: str, source: Path, name: str, image: Image, prefix: str) -> LinuxError | None:
    """What went wrong; the compiler's words with the user's path, or the linker's explained."""
    problems = _linking_problems(said, source, name, image, prefix)
    if problems:
        return ModuleError("\n".join(problems))
    lines = said.replace("\0", prefix).splitlines()
    if not any(": error: " in line or "fatal error: " in line for line in lines):
        return None
    more = len(lines) - _most_lines
    shown = [*lines[:_most_lines], f"... and {more} more lines"] if more > 0 else lines
    return ModuleError("\n".join([f"{source} does not compile for Linux {image.release}:", *shown]))


def _linking_problems(said: str, source: Path, name: str, image: Image, prefix: str) -> list[str]:
    text = source.read_text(encoding="utf-8", errors="replace").splitlines()
    problems = []
    for symbol in dict.fromkeys(_undefined.findall(said)):
        uses = (number for number, line in enumerate(text, 1) if re.search(rf"\b{symbol}\b", line))
        where = next((f"{source}:{number}" for number in uses), str(source))
        problems.append(f"{where}: `{symbol}` {_why_missing(symbol, image)}")
    if re.search(r"^ERROR: modpost: .*missing MODULE_LICENSE\(\)", said, flags=re.M):
        problems.append(
            f'{source}:{max(1, len(text))}: the module names no licence: add MODULE_LICENSE("GPL"), or what fits; the '
            "kernel gives most of its functions to modules of the GPL alone"
        )
    for symbol in _reserved.findall(said):
        number = next((number for number, line in enumerate(text, 1) if re.search(rf"\b{symbol}\b", line)), 1)
        problems.append(
            f"{source}:{number}: the kernel gives `{symbol}` to modules of the GPL alone, see MODULE_LICENSE"
        )
    return problems


def _why_missing(symbol: str, image: Image) -> str:
    known = re.search(
        rf"^[0-9a-f]+ [A-Za-z] {symbol}$", (image.tree / "System.map").read_text(encoding="ascii"), flags=re.M
    )
    if known:
        return f"belongs to Linux {image.release}, which does not export it to modules"
    return f"is not in Linux {image.release} as configured here (linux/kernel/uml.config), nor in this file"


def _includes(folder: Path, name: str, source: Path) -> tuple[str, ...]:
    """What else of the user's the compiler has read, by the list that Kbuild keeps of it."""
    recorded = (folder / f".{name}.o.cmd").read_text(encoding="utf-8")
    pattern = rf"(?:^|\s)(?:{re.escape(str(folder))}/|\./)?{_link}/(\S+)"
    names = dict.fromkeys(re.findall(pattern, recorded, flags=re.M))
    return tuple(name for name in names if name != source.name)
