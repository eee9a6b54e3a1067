"""Builds the laws of crates/core/law/examples as modules of WebAssembly, as whoever writes a law in Rust does."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from shoal.linux.errors import LinuxError
from shoal_dev import ROOT
from shoal_dev.web_module import PROFILE, TARGET, installed, run, say, unpacked


def build(folder: Path) -> list[Path]:
    """Build the modules into a folder; their files.

    Raises
    ------
    LinuxError
        If the machine has no compiler for the target.
    """
    toolchain = installed() or unpacked()
    target = ROOT / "target" / "web"
    say("building laws as modules")
    cargo = ["cargo", "build", "--release", "--locked", "--quiet", "--package", "shoal-law", "--examples"]
    run(
        [*cargo, "--target", TARGET, *toolchain.options, "--target-dir", str(target)],
        env=PROFILE | {"CARGO_PROFILE_RELEASE_STRIP": "symbols"} | dict(toolchain.env),
    )
    folder.mkdir(parents=True, exist_ok=True)
    examples = sorted((ROOT / "crates" / "core" / "law" / "examples").glob("*.rs"))
    built = [target / TARGET / "release" / "examples" / f"{example.stem}.wasm" for example in examples]
    return [Path(shutil.copy(module, folder)) for module in built]


def main(folder: Path) -> int:
    """Write the modules into a folder."""
    try:
        build(folder)
    except LinuxError as error:
        print(f"error: {error}\nhint: rustup target add {TARGET} makes the installed Rust do it", file=sys.stderr)
        return 1
    return 0
