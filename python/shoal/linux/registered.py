"""What a user's module registers: asked of the kernel itself, by loading it once in a guest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from shoal.linux.faults import preparation
from shoal.linux.guest import guest_folder, run_guest
from shoal.linux.images import Image
from shoal.linux.module_file import ModuleFile

# Words of one line of the guest's configuration.
_words_of_a_line = 100
_memory_mib = 64


@dataclass(frozen=True)
class Registered:
    """Names that the kernel knows after a module was loaded, and did not know before.

    Attributes
    ----------
    controllers
        Congestion controls.
    disciplines
        Queue disciplines.
    """

    controllers: tuple[str, ...]
    disciplines: tuple[str, ...]


def registered_by(file: ModuleFile, image: Image) -> Registered:
    """Load a module in a guest, see what becomes known by that, and unload it.

    The kernel lists its congestion controls. It does not list its queue disciplines, but says whether it knows one by a
    name; the names that are tried are the short words in the module's writable data, where operations are.

    Raises
    ------
    ModuleError
        The module cannot be loaded or unloaded, crashes the kernel, or hangs.
    """
    words = file.elf.writable_words() if "register_qdisc" in file.elf.wanted else []
    asked = list(_lines(words))
    config = "\n".join([*preparation(), *asked, f"load {file.name}", *asked, "halt", ""])
    with guest_folder() as root:
        heard = run_guest(config, image, root, memory_mib=_memory_mib, modules=(file,))
    loaded = heard.index(f"loading {file.name}")
    before, after = (_known(part) for part in (heard[:loaded], heard[loaded:]))
    return Registered(*(tuple(sorted(names - known)) for names, known in zip(after, before, strict=True)))


def _lines(words: list[str]) -> Iterable[str]:
    for at in range(0, max(1, len(words)), _words_of_a_line):
        yield " ".join(["known", *words[at : at + _words_of_a_line]])


def _known(heard: list[str]) -> tuple[set[str], set[str]]:
    """Names of controllers and of disciplines in what the guest said."""
    controllers = {name for line in heard if line.startswith("controllers ") for name in line.split()[1:]}
    disciplines = {line.split()[1] for line in heard if line.startswith("discipline ")}
    return controllers, disciplines
