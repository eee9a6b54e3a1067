"""A kernel image with the helpers that belong to it."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from shoal import progress
from shoal.files import new_folder
from shoal.linux.archive import release_of
from shoal.linux.commands import output
from shoal.linux.errors import LinuxError
from shoal.linux.limits import Limits
from shoal.linux.places import cache, digest, files, filling_cache, locked, sources
from shoal.linux.programs import Program
from shoal.linux.tools import build_environment
from shoal.linux.user_module import UserModule

_module_files = ("*.c", "*.h", "law/*.h", "uapi/*.h", "Kbuild")


@dataclass(frozen=True)
class Image:
    """A built kernel in the cache.

    Attributes
    ----------
    folder
        Where it lies.
    iperf3
        Drives bulk flows instead of the guest's own sender and receiver.
    limits
        How long its guests may take.
    modules
        Modules of the user that its guests load.
    """

    folder: Path
    iperf3: Program | None = None
    limits: Limits = field(default_factory=Limits)
    modules: tuple[UserModule, ...] = ()

    @property
    def linux(self) -> Path:
        """The kernel."""
        return self.folder / "linux"

    @cached_property
    def description(self) -> str:
        """JSON that plans and results need: the kernel with our modules."""
        build: dict[str, Any] = {"build": self.folder.name, "modules": self._helpers_digest}
        build["user_modules"] = [module.description for module in self.modules]
        return _description(json.loads((self.folder / "kernel.json").read_text(encoding="utf-8")) | build, self.iperf3)

    @property
    def finds_leaks(self) -> bool:
        """Whether it tells what memory a module leaves behind."""
        return self.folder.name.endswith(leaks_suffix())

    def finding_leaks(self) -> Image:
        """Give the same kernel as ``shoal linux build --find-leaks`` makes it.

        Raises
        ------
        LinuxError
            It did not.
        """
        folder = self.folder.with_name(self.folder.name + leaks_suffix())
        if not (folder / "kernel.json").exists():
            raise LinuxError(
                f"there is no kernel that finds leaks for {self.folder.name} yet",
                hint="run `shoal linux build --find-leaks` once (about 10 minutes)",
            )
        return replace(self, folder=folder)

    @property
    def mode(self) -> str:
        """``seccomp`` or ``ptrace``; part of an experiment's identity."""
        return str(json.loads(self.description)["mode"])

    @property
    def tree(self) -> Path:
        """The configured and built tree: modules are built against it."""
        return Path(json.loads(self.description)["tree"])

    @property
    def release(self) -> str:
        """``uname -r`` in the guest."""
        return str(json.loads(self.description)["release"])

    @property
    def disciplines(self) -> list[str]:
        """Queue disciplines that are built in, without our modules."""
        return list(json.loads((self.folder / "kernel.json").read_text(encoding="utf-8"))["disciplines"])

    @cached_property
    def _helpers_digest(self) -> str:
        ours = [
            *files("guest", ["*.c", "*.h"]),
            *files("host", ["*.c"]),
            *files("testbed", _module_files),
            *files("modules", _module_files),
        ]
        return digest(*(source.read_bytes() for source in ours))

    @cached_property
    def helpers(self) -> Path:
        """Folder with ``init``, ``launch``, the shim and the modules, built if our sources have changed."""
        folder = self.folder / f"helpers-{self._helpers_digest}"
        if not folder.exists():
            with locked("helpers", "builds the guest's programs and modules"):
                if not folder.exists():
                    progress.say(f"building the guest's programs and modules for Linux {self.release}: seconds, once")
                    _build_helpers(folder, self.tree)
        return folder


@dataclass(frozen=True)
class Unbuilt:
    """The kernel that ``shoal linux build`` would make: enough to translate a scenario, but nothing that runs.

    Attributes
    ----------
    release
        The version that would be built.
    iperf3
        As for :class:`Image`.
    """

    release: str = field(default_factory=lambda: release_of(None).version)
    iperf3: Program | None = None

    @cached_property
    def description(self) -> str:
        """JSON that plans need: what the configuration asks for, with our modules."""
        (fragment,) = files("kernel", ["uml.config"])
        controllers, disciplines = features(fragment.read_text(encoding="utf-8"))
        built = {"release": self.release, "controllers": controllers, "disciplines": disciplines}
        return _description(built | {"mode": "seccomp or ptrace"}, self.iperf3)


def _description(built: dict[str, Any], iperf3: Program | None) -> str:
    """A kernel with our modules, as JSON."""
    ours = {
        "controllers": [*built["controllers"], *_registered("tcp_*.c", r'\.name\s*= "(\w+)"')],
        "disciplines": [*built["disciplines"], *_registered("sch_*.c", r'\.id\s*= "(\w+)"')],
        "generator": iperf3.version if iperf3 else None,
    }
    return json.dumps(built | ours)


def leaks_fragment() -> bytes:
    """What a kernel that finds leaks has in its configuration beside the rest."""
    return files("kernel", ["leaks.config"])[0].read_bytes()


def leaks_suffix() -> str:
    """The end of the name of a kernel that finds leaks."""
    return f"-leaks-{digest(leaks_fragment())}"


def features(config: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the congestion controls and of the queue disciplines that a configuration builds in."""
    controllers = {"reno"} | {name.lower() for name in re.findall(r"^CONFIG_TCP_CONG_(\w+)=y$", config, flags=re.M)}
    disciplines = {"pfifo", "bfifo"} | {
        name.lower() for name in re.findall(r"^CONFIG_NET_SCH_(\w+)=y$", config, flags=re.M)
    }
    return tuple(sorted(controllers - {"advanced"})), tuple(sorted(disciplines))


def _registered(pattern: str, assignment: str) -> list[str]:
    """Names under which our modules are known to the kernel; one module may have several."""
    texts = [source.read_text(encoding="utf-8") for source in files("modules", [pattern])]
    return [name for text in texts for name in re.findall(assignment, text)]


def find_image(version: str | None = None) -> Image:
    """The kernel that ``shoal linux build`` made last.

    Parameters
    ----------
    version
        Beginning of a version: the newest such kernel in the cache instead.

    Raises
    ------
    LinuxError
        There is none.
    """
    if version is not None:
        return _find_version(version)
    try:
        key = cache("default-kernel").read_text(encoding="utf-8").strip()
    except OSError:
        key = ""
    folder = cache("kernels", key)
    if not key or not (folder / "kernel.json").exists():
        raise LinuxError(
            "there is no kernel for the Linux plane yet",
            hint="run `shoal linux build` once (about 10 minutes), or `shoal linux doctor` to see what it needs",
        )
    return Image(folder)


def _find_version(version: str) -> Image:
    built = (Image(path.parent) for path in cache("kernels").glob("*/kernel.json"))
    folders = sorted(image.folder for image in built if not image.finds_leaks)
    matching = [folder for folder in folders if folder.name.startswith(version)]
    if not matching:
        names = ", ".join(folder.name for folder in folders) or "none"
        raise LinuxError(
            f"no kernel {version} is built; there are: {names}", hint=f"shoal linux build --version {version}"
        )
    return Image(matching[-1])


@filling_cache()
def _build_helpers(target: Path, tree: Path) -> None:
    env = build_environment()
    if not (tree / "Module.symvers").exists():
        raise LinuxError(f"the kernel's tree `{tree}` is gone", hint="run `shoal linux build` again")
    compile_ = ["gcc", "-O2", "-Wall", "-Wextra", "-Wno-missing-field-initializers"]
    with new_folder(target) as partial:
        output([*compile_, "-static", "-s", "-o", partial / "init", *files("guest", ["*.c"])], env=env)
        output([*compile_, "-s", "-o", partial / "launch", *files("host", ["launch.c"])], env=env)
        shim = files("host", ["seeded_random.c", "whole_registers.c"])
        output([*compile_, "-s", "-shared", "-fPIC", "-o", partial / "seeded_random.so", *shim], env=env)
        for name in ("testbed", "modules"):
            folder = partial / name
            for source in files(name, _module_files):
                copy = folder / source.relative_to(sources / name)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, copy)
            output(["make", "-s", "-C", tree, "ARCH=um", f"M={folder}", "modules"], env=env)
            for module in sorted(folder.glob("*.ko")):
                module.rename(partial / module.name)
            shutil.rmtree(folder)
