"""Building the kernel: source, configuration, image. What is finished is found again; what is half done goes on."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from shoal.files import new_folder, write_text
from shoal.linux.archive import Release, fetch, oldest, refuse_unknown, release_of
from shoal.linux.commands import output, stream
from shoal.linux.errors import LinuxError
from shoal.linux.images import features, leaks_fragment, leaks_suffix
from shoal.linux.places import cache, digest, files, filling_cache, locked, room_bytes
from shoal.linux.tools import build_environment
from shoal.parallel import default_workers

# Lines that make prints for a build of the fragment: only the progress bar depends on it.
_build_lines = 1090
# Measured for 7.3: lists and package 0.3 GB, its source 1.9 GB, what is compiled 0.13 GB.
source_bytes = 2_300_000_000
compiled_bytes = 200_000_000
# Without these there is no virtual time, no testbed, or no determinism.
_required = ("UML_TIME_TRAVEL_SUPPORT", "HOSTFS", "NET_NS", "VETH", "NET_SCH_NETEM", "NET_SCH_RED", "MODULES")
_forbidden = ("UML_RANDOM", "HW_RANDOM", "SMP")

Say = Callable[[str], object]
Progress = Callable[[float], object]


@filling_cache()
def build(
    *,
    version: str | None = None,
    source: Path | None = None,
    find_leaks: bool = False,
    jobs: int | None = None,
    say: Say,
    progress: Progress,
) -> Path:
    """Build a kernel, or find it built; gives the folder of the image.

    With ``find_leaks`` it is one that tells what memory a module leaves behind, which a run has to ask for.

    Raises
    ------
    LinuxError
        Something is missing, does not fit, or failed; says what to do.
    """
    # What is refused is refused before anything is fetched, or waited for.
    release = release_of(version) if source is None else None
    name, tree = (release.version, cache("sources", release.version)) if release else _own_tree(source or Path())
    _check_room(name, tree)
    if release:
        refuse_unknown(release)
    env = build_environment()
    fragment = files("kernel", ["uml.config"])[0].read_bytes()
    with locked("build", "builds a kernel", say=say):
        if release:
            _fetch_tree(release, tree, say)
        toolchain = (
            output(["gcc", "--version"], env=env).splitlines()[0] + output(["ld", "--version"], env=env).splitlines()[0]
        )
        key = f"{name}-{digest(name, str(tree) if source else '', fragment, toolchain)}"
        if find_leaks:
            key += leaks_suffix()
            fragment += leaks_fragment()
        target = cache("kernels", key)
        if not (target / "kernel.json").exists():
            folder = cache("trees", key)
            _configure(tree, folder, fragment, env, say)
            _compile(tree, folder, env, jobs, say, progress)
            _install(folder, target, name)
        if not find_leaks:
            write_text(cache("default-kernel"), key + "\n")
    return target


def _check_room(name: str, tree: Path) -> None:
    """Refuse a build for which there is no room; a kernel that is there takes none."""
    if any(cache("kernels").glob(f"{name}-*/kernel.json")):
        return
    need, free = compiled_bytes + (0 if tree.exists() else source_bytes), room_bytes(cache())
    if free < need:
        raise LinuxError(
            f"the disk of `{cache()}` has {free / 1e9:.1f} GB left; building this kernel takes {need / 1e9:.1f} GB",
            hint="make room there, or set SHOAL_CACHE_DIR to a folder of another disk",
        )


def _own_tree(source: Path) -> tuple[str, Path]:
    source = source.resolve()
    try:
        text = (source / "Makefile").read_text(encoding="utf-8")
    except OSError as error:
        raise LinuxError(
            f"`{source}` is not a kernel tree: {error.strerror}", hint="name the folder with the Makefile"
        ) from error
    number = [re.search(rf"^{part} = ?(\d*)$", text, flags=re.M) for part in ("VERSION", "PATCHLEVEL", "SUBLEVEL")]
    if not all(number) or not (source / "arch/um").is_dir():
        raise LinuxError(f"`{source}` is not a kernel tree with user-mode Linux", hint="name an unpacked kernel source")
    major, minor, patch = (int(match[1]) for match in number if match)
    if (major, minor) < oldest:
        raise LinuxError(
            f"`{source}` is Linux {major}.{minor}.{patch}",
            hint=f"kernels from {'.'.join(map(str, oldest))} on are supported",
        )
    if (source / ".config").exists():
        raise LinuxError(f"`{source}` was built in place", hint="run `make mrproper` there, or name a clean tree")
    return f"{major}.{minor}.{patch}", source


def _fetch_tree(release: Release, tree: Path, say: Say) -> None:
    if not tree.exists():
        say(f"fetching {release.package} {release.version}")
        package = fetch(release)
        say(f"unpacking {package.name}")
        with new_folder(tree) as partial:
            _unpack(package, partial)


def _unpack(package: Path, into: Path) -> None:
    """The package holds one compressed archive; nothing is written twice."""
    script = (
        'set -e; dpkg-deb --fsys-tarfile "$1" | tar -x -O --wildcards "./usr/src/linux-source-*.tar.*" '
        '| xz -d -T0 | tar -x --strip-components=1 -C "$2"; test -e "$2/Makefile"'
    )
    output(["bash", "-o", "pipefail", "-c", script, "unpack", package, into])
    # This architecture has no choice of HZ; at its 100 a jiffy of TCP would be 10 ms.
    kconfig = into / "arch/um/Kconfig"
    text = kconfig.read_text(encoding="utf-8")
    changed = re.sub(r"(\nconfig HZ\n\tint\n\tdefault) 100\n", r"\1 1000\n", text)
    if changed == text and "default 1000" not in text:
        raise LinuxError("arch/um/Kconfig has no `config HZ` that we know", hint="use a version that `--version` names")
    kconfig.write_text(changed, encoding="utf-8")


def _configure(tree: Path, folder: Path, fragment: bytes, env: dict[str, str], say: Say) -> None:
    if (folder / ".config").exists():
        return
    say("configuring")
    folder.mkdir(parents=True, exist_ok=True)
    wanted = folder / "wanted.config"
    wanted.write_bytes(fragment)
    output(["make", "-s", "-C", tree, "ARCH=um", f"O={folder}", f"KCONFIG_ALLCONFIG={wanted}", "allnoconfig"], env=env)
    config = (folder / ".config").read_text(encoding="utf-8")
    required = (*_required, "MEM_ALLOC_PROFILING") if fragment.endswith(leaks_fragment()) else _required
    absent = [name for name in required if f"CONFIG_{name}=y" not in config]
    unwanted = [name for name in _forbidden if f"CONFIG_{name}=y" in config]
    if absent or unwanted or "CONFIG_HZ=1000" not in config:
        (folder / ".config").unlink()
        raise LinuxError(
            f"this kernel cannot be configured as needed: without {', '.join(absent) or '-'}, "
            f"with {', '.join(unwanted) or '-'}, HZ {'1000' if 'CONFIG_HZ=1000' in config else 'not 1000'}",
            hint="with --source: set the default of `config HZ` in arch/um/Kconfig to 1000; kernels from 6.12 on",
        )


def _compile(tree: Path, folder: Path, env: dict[str, str], jobs: int | None, say: Say, progress: Progress) -> None:
    say("compiling (5 to 11 minutes of CPU time, once)")
    lines = 0
    done = len(list(folder.rglob("*.o")))

    def count(_: str) -> None:
        nonlocal lines
        lines += 1
        progress(min(0.99, (done + lines) / _build_lines))

    command: list[str | Path] = [
        "make",
        "-C",
        tree,
        "ARCH=um",
        f"O={folder}",
        f"-j{jobs or default_workers()}",
    ]
    stream([*command, "linux", "modules"], env=env, log=folder / "build.log", on_line=count)
    progress(1.0)


def _install(folder: Path, target: Path, version: str) -> None:
    config = (folder / ".config").read_text(encoding="utf-8")
    release = (folder / "include/config/kernel.release").read_text(encoding="utf-8").strip()
    controllers, disciplines = features(config)
    with new_folder(target) as partial:
        image = partial / "linux"
        shutil.copyfile(folder / "linux", image)
        image.chmod(0o755)
        subprocess.run(["strip", str(image)], check=True)  # noqa: S603, S607
        help_text = subprocess.run([str(image), "--help"], capture_output=True, text=True, check=False).stdout  # noqa: S603
        # The first four are what a plan must know.
        built = {
            "release": release,
            "controllers": controllers,
            "disciplines": disciplines,
            "mode": "seccomp" if "seccomp=" in help_text else "ptrace",
            "version": version,
            "tree": str(folder),
        }
        write_text(partial / "kernel.json", json.dumps(built, indent=2) + "\n")
