"""Kernel modules that a user wrote: compiled for a built kernel, with what they register and take."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, overload

from shoal import progress
from shoal.errors import ModuleWarning
from shoal.files import new_folder, write_text
from shoal.laws import law_path
from shoal.linux.commands import output
from shoal.linux.compiling import compile_module, is_empty
from shoal.linux.errors import LinuxError, ModuleError
from shoal.linux.images import Image
from shoal.linux.module_file import ModuleFile
from shoal.linux.places import cache, digest, filling_cache, locked
from shoal.linux.registered import Registered, registered_by
from shoal.linux.tools import build_environment
from shoal.linux.user_module import UserModule

if TYPE_CHECKING:
    from shoal.linux.images import Unbuilt
    from shoal.scenario import Scenario

# Changes with what is kept of a module, so that older ones are made again.
_layout = "1"


def user_module(source: str | Path, image: Image) -> UserModule:
    """Compile a module for a kernel, or find it compiled; warnings of the compiler are shown each time.

    Parameters
    ----------
    source
        A C file that registers a congestion control (``tcp_register_congestion_control``) or a queue discipline
        (``register_qdisc``). It may include files of its folder.
    image
        The kernel.

    Raises
    ------
    ModuleError
        It is no such file, does not compile, or registers nothing; the message shows the place.
    LinuxError
        The kernel's headers are gone.
    """
    source = Path(source)
    content = _read(source)
    name = _name_of(source)
    env = build_environment()
    compiler = output(["gcc", "--version"], env=env).splitlines()[0]
    source_folder = str(source.resolve().parent)
    folder = cache("user-modules", f"{name}-{digest(_layout, content, source_folder, image.folder.name, compiler)}")
    with locked("user-modules", "compiles a module"):
        if not _is_fresh(folder, source):
            progress.say(f"compiling {source} for Linux {image.release}")
            _build(folder, source, name, image, env, compiler)
    kept = json.loads((folder / "module.json").read_text(encoding="utf-8"))
    module = UserModule(
        file=_file_in(folder, name, source),
        controllers=tuple(kept["controllers"]),
        disciplines=tuple(kept["disciplines"]),
        parameters=kept["parameters"],
        warnings=kept["warnings"],
        digests=kept["digests"],
    )
    if module.warnings:
        warnings.warn(module.warnings.replace("\0", _prefix(source)), ModuleWarning, stacklevel=2)
    return module


@overload
def with_laws_of(scenario: Scenario, image: Image) -> Image: ...
@overload
def with_laws_of(scenario: Scenario, image: Image | Unbuilt) -> Image | Unbuilt: ...
def with_laws_of(scenario: Scenario, image: Image | Unbuilt) -> Image | Unbuilt:
    """A kernel with the modules of a scenario's laws.

    Raises
    ------
    ModuleError
        As for :func:`user_module`; or a module does not register what the scenario calls it, or two of them have a name
        in common.
    LinuxError
        There is no built kernel for which they could be compiled.
    """
    laws = {name: files["kernel"] for name, files in scenario.resolved.get("laws", {}).items() if "kernel" in files}
    if not laws:
        return image
    if not isinstance(image, Image):
        raise LinuxError("modules can be compiled for a built kernel alone", hint="run `shoal linux build` once")
    if image.modules:
        return image
    modules: dict[Path, UserModule] = {}
    for name, file in laws.items():
        path = law_path(file, scenario.base)
        # One file may have several laws.
        module = modules.setdefault(path, user_module(path, image))
        if not module.registers(name):
            raise _other_name(module, name)
    refuse_shared_names([*modules.values()])
    return replace(image, modules=tuple(modules.values()))


def _other_name(module: UserModule, name: str) -> ModuleError:
    names = (*module.controllers, *module.disciplines)
    known = ", ".join(f"`{other}`" for other in names)
    return ModuleError(
        f"{module.file.line_with(names[0])}: the module registers {known}, and the scenario calls it `{name}`",
        hint=f"write [laws.{names[0]}] in the scenario, or `{name}` in the module",
    )


def refuse_shared_names(modules: Sequence[UserModule]) -> None:
    """Refuse modules that have a name in common, or register the same.

    Raises
    ------
    ModuleError
        Two do.
    """
    for number, module in enumerate(modules):
        for other in modules[:number]:
            shared = {*module.controllers, *module.disciplines} & {*other.controllers, *other.disciplines}
            if module.file.name == other.file.name or shared:
                what = f"register `{min(shared)}`" if shared else f"are modules `{module.file.name}`"
                raise ModuleError(
                    f"{other.file.source} and {module.file.source} both {what}", hint="rename one of them"
                )


def _read(source: Path) -> bytes:
    try:
        content = source.read_bytes()
    except OSError as error:
        raise ModuleError(f"`{source}`: {error.strerror}", hint="name the C file of the module") from error
    if source.suffix != ".c" or b"\0" in content:
        raise ModuleError(f"`{source}` is no C source", hint="name a file that ends in .c")
    if is_empty(content.decode("utf-8", "replace")):
        raise ModuleError(
            f"{source}:1: this file has no code",
            hint="it must register a `tcp_congestion_ops` or a `Qdisc_ops`: see linux/examples/tcp_reno_again.c",
        )
    return content


def _name_of(source: Path) -> str:
    if not re.fullmatch(r"[A-Za-z][0-9A-Za-z_-]{0,54}", source.stem):
        raise ModuleError(
            f"`{source.name}` is no name for a module: the kernel calls it as its file is called",
            hint="use letters, digits, - and _, and begin with a letter",
        )
    return source.stem.replace("-", "_")


def _is_fresh(folder: Path, source: Path) -> bool:
    """Whether it is compiled from the present text of the files that it includes."""
    try:
        kept = json.loads((folder / "module.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return all(_sha256_of(source.parent / name) == value for name, value in kept["digests"]["includes"].items())


@filling_cache()
def _build(folder: Path, source: Path, name: str, image: Image, env: dict[str, str], compiler: str) -> None:
    if folder.exists():
        shutil.rmtree(folder)
    with new_folder(folder) as partial:
        compiled = compile_module(source, name, partial, image, env, _prefix(source))
        file = _file_in(partial, name, source)
        registered = registered_by(file, image)
        _refuse_nothing(registered, file)
        write_text(
            partial / "module.json",
            json.dumps(
                {
                    "controllers": registered.controllers,
                    "disciplines": registered.disciplines,
                    "parameters": file.elf.parameters(),
                    "warnings": compiled.warnings,
                    "digests": {
                        "source_sha256": _sha256_of(source),
                        "includes": {file: _sha256_of(source.parent / file) for file in compiled.includes},
                        "module_sha256": _sha256_of(partial / f"{name}.ko"),
                        "compiler": compiler,
                        "kernel": image.release,
                    },
                },
                indent=2,
            )
            + "\n",
        )


def _refuse_nothing(registered: Registered, file: ModuleFile) -> None:
    if registered.controllers or registered.disciplines:
        return
    asks = {"tcp_register_congestion_control", "register_qdisc"} & file.elf.wanted
    raise ModuleError(
        f"{file.source} registers neither a congestion control nor a queue discipline"
        + ("" if asks else ": it calls neither `tcp_register_congestion_control` nor `register_qdisc`"),
        hint="call one of them in the function of module_init(): see linux/examples/tcp_reno_again.c",
    )


def _file_in(folder: Path, name: str, source: Path) -> ModuleFile:
    return ModuleFile(name, source, folder / f"{name}.ko", folder / f"{name}.debug.ko")


def _prefix(source: Path) -> str:
    """What stands before the names of files in the source's folder."""
    return "" if str(source.parent) == "." else f"{source.parent}/"


def _sha256_of(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None
