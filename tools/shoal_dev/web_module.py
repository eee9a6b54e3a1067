"""Builds the simulator for browsers: a WebAssembly module with its JavaScript.

Takes the installed Rust if it has the standard library of wasm32-unknown-unknown (`rustup target add
wasm32-unknown-unknown`). Else it fetches the compiler that Debian builds its browsers with, unpacks it into the user's
cache without installing anything, and builds the standard library from its source. The crate `bindings` of
crates/front/web then writes the JavaScript.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shoal.cache import default_folder
from shoal.linux.archive import Client, libraries_in, unpack
from shoal.linux.errors import LinuxError
from shoal_dev import ROOT

WEB = ROOT / "crates" / "front" / "web"
TARGET = "wasm32-unknown-unknown"
# The project needs this version of Rust at least.
MANIFEST = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
NEEDED = tuple(int(part) for part in MANIFEST["workspace"]["package"]["rust-version"].split("."))
# One unit of translation makes the module smaller and faster. It takes no notice of unwinding.
PROFILE = {
    "CARGO_PROFILE_RELEASE_LTO": "fat",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "1",
    "CARGO_PROFILE_RELEASE_DEBUG": "false",
    "CARGO_PROFILE_RELEASE_PANIC": "abort",
}
# What reads scenarios and laws and writes sentences runs once: there it is the size that counts.
SMALL = (
    *("shoal-scenario", "shoal-notices", "shoal-plugin", "shoal-law", "shoal-web"),
    *("serde_json", "toml", "toml_parser", "toml_datetime", "toml_writer", "winnow"),
)
# What the unpacked compiler is, beside its libraries: the archive of security updates has the newest one.
COMPILER, SOURCE = "rustc-web", "rust-web-src"


@dataclass(frozen=True)
class Toolchain:
    """How cargo builds for the target.

    Attributes
    ----------
    env
        What cargo finds in its environment besides that of this process.
    options
        Options of `cargo build`.
    """

    env: Mapping[str, str]
    options: Sequence[str]


def installed() -> Toolchain | None:
    """The installed Rust, if it has the target's standard library."""
    asked = ["rustc", "--print", "target-libdir", "--target", TARGET]
    done = subprocess.run(asked, check=False, capture_output=True, text=True)
    there = done.returncode == 0 and any(Path(done.stdout.strip()).glob("libstd-*.rlib"))
    return Toolchain(env={}, options=[]) if there else None


def unpacked() -> Toolchain:
    """The compiler of Debian's browsers in the user's cache, fetched if it is not there.

    Raises
    ------
    LinuxError
        If the machine has no such packages, or older ones than the project needs.
    """
    folder = default_folder() / "rust-web"
    root = folder / "root"
    if not (folder / "complete").exists():
        say(f"fetching {COMPILER} (160 MB) into {folder}")
        client = Client(archive="debian-security")
        newest = next(iter(client.versions(COMPILER)), "none")
        if tuple(int(part) for part in newest.split("+")[0].split(".") if part.isdigit()) < NEEDED:
            raise LinuxError(f"{COMPILER} is too old here: {newest}, needed: {'.'.join(map(str, NEEDED))}")
        libraries = [name for name in client.depends(COMPILER) if name.startswith("libstd-rust-web")]
        libraries += [name for library in tuple(libraries) for name in client.depends(library) if "rust-web" in name]
        llvm = {name for library in libraries for name in client.depends(library) if name.startswith("libllvm")}
        linkers = [f"lld-{name.removeprefix('libllvm')}" for name in llvm]
        unpack(dict.fromkeys([COMPILER, SOURCE, *libraries, *llvm, *linkers]), root, client)
        (folder / "complete").touch()
    linker = next((root / "usr" / "bin").glob("wasm-ld-*"))
    libraries_path = f"{root / 'usr' / 'lib'}:{libraries_in(root)}"
    return Toolchain(
        env={
            "RUSTC": str(root / "usr" / "bin" / "rustc"),
            # Cargo builds a standard library only for a compiler that lets it use what is not stable.
            "RUSTC_BOOTSTRAP": "1",
            "LD_LIBRARY_PATH": ":".join(filter(None, [libraries_path, os.environ.get("LD_LIBRARY_PATH")])),
            "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER": str(linker),
        },
        options=["-Zbuild-std=std,panic_abort"],
    )


def compile_for_web(package: str) -> Path:
    """Compile a crate for the target; returns the folder of its module."""
    toolchain = installed() or unpacked()
    target = ROOT / "target" / "web"
    say("building the module")
    cargo = ["cargo", "build", "--release", "--locked", "--quiet", "--package", package, "--lib"]
    cargo += [word for name in SMALL for word in ("--config", f'profile.release.package.{name}.opt-level="s"')]
    run(
        [*cargo, "--target", TARGET, *toolchain.options, "--target-dir", str(target)],
        env=PROFILE | dict(toolchain.env),
    )
    return target / TARGET / "release"


def build(folder: Path) -> None:
    """Build module and JavaScript into a folder."""
    built = compile_for_web("shoal-web")
    target = ROOT / "target" / "web"
    bindings = ["cargo", "run", "--release", "--locked", "--quiet", "--manifest-path", str(WEB / "bindings/Cargo.toml")]
    module = built / "shoal_web.wasm"
    folder.mkdir(parents=True, exist_ok=True)
    run([*bindings, "--target-dir", str(target / "bindings"), "--", str(module), str(folder)], env={})


def build_bottleneck(folder: Path) -> None:
    """Build the functions of crates/front/c, a link without a simulator, as `shoal.wasm` into a folder."""
    built = compile_for_web("shoal-c")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(built / "shoal.wasm", folder / "shoal.wasm")


def run(command: Sequence[str], *, env: Mapping[str, str]) -> None:
    """Run a command in the project, and end with it if it fails."""
    done = subprocess.run(command, check=False, cwd=ROOT, env=os.environ | dict(env))
    if done.returncode:
        raise SystemExit(done.returncode)


def say(what: str) -> None:
    """Print one line of progress."""
    print(what, file=sys.stderr, flush=True)


def main(folder: Path, *, bottleneck: bool = False) -> int:
    """Write shoal_bg.wasm, shoal.js and shoal.d.ts, or shoal.wasm, into a folder; about 5 minutes the first time."""
    try:
        (build_bottleneck if bottleneck else build)(folder)
    except LinuxError as error:
        print(f"error: {error}\nhint: rustup target add {TARGET} makes the installed Rust do it", file=sys.stderr)
        return 1
    return 0
