#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What transfers.py and markers.py need, compiled into a folder: programs, their loader, paths that mark, replays.

prepared.py FOLDER
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from shoal.linux import bpf
from shoal.linux.commands import output

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[2]
# By name: threshold in bytes, and which packets are lost, of a queue of 4 Mbit/s.
PATHS = {
    "marks": (30000, "0"),
    "drops": (20000, "(n) % 131 == 0"),
    "loses": (20000, "(n) % 3 == 0"),
    "fails": (10**7, "(n) > 60 && (ms) < 1000"),
}


def prepare(folder: Path) -> None:
    """Compile everything into a folder that is there."""
    for file in bpf.build(say=print).iterdir():
        shutil.copy2(file, folder)
    for name, (threshold, lost) in PATHS.items():
        options = ("-DRATE=500", f"-DTHRESHOLD={threshold}", f"-DLOST(n,ms)=({lost})")
        bpf.compile_program(HERE / "virtual_queue.bpf.c", folder / f"virtual_queue-{name}.bpf.o", *options)
    bpf.compile_program(HERE / "law_vectors.bpf.c", folder / "law_vectors.bpf.o")
    checked = ("-O1", "-g", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-static-libubsan")
    warned = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-unused-function")
    command = ("cargo", "build", "--quiet", "--profile", "ci", "-p", "shoal-cc", "--example", "replay_operations")
    output([*command, "--manifest-path", PROJECT / "Cargo.toml"])
    shutil.copy2(PROJECT / "target/ci/examples/replay_operations", folder)
    compiler = ["gcc", "-std=gnu11", *checked, *warned]
    output([*compiler, "-o", folder / "replay_trace", HERE / "replay_trace.c"])
    output([*compiler, "-o", folder / "arithmetic", HERE / "arithmetic.c"])
    for name in bpf.markers():
        header = f'-DMARKER="../{name}.h"'
        output([*compiler, header, "-o", folder / f"replay_{name}", HERE / "replay_marker.c"])


if __name__ == "__main__":
    prepare(Path(sys.argv[1]))
