#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The BPF programs on kernels of Debian, as they are packaged, under QEMU: no KVM, no root, nothing installed.

Boots each kernel with an archive in memory that has what transfers.py and markers.py need, and runs them there.
Anything that the kernel complains about on its console fails the test. Needs qemu-system-x86_64, iproute2, and what
`shoal bpf build` needs.

    stock_kernels.py [--kernel 6.12|7.3] [--script transfers|markers] [--console FOLDER] [SCENARIO ...]
"""

from __future__ import annotations

import argparse
import os
import py_compile
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from shoal.linux.archive import Release, fetch
from shoal.linux.commands import output

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "modules/tests")]

from modules_qemu import COMPLAINTS, add_modules, archive, boot, say  # noqa: E402
from prepared import prepare  # noqa: E402

# Packages with the kernel and its modules, by series; the source of the real kernel's plane is of the same versions.
KERNELS = {
    "6.12": (
        Release(
            "6.12.107-1",
            "linux-image-6.12.107+deb13-cloud-amd64",
            "trixie",
            "04434ff520f860423eafe4203d986a35682ce73c2f71baa39e988ca0da93ac91",
        ),
    ),
    "7.3": (
        Release(
            "7.3.4-1~bpo13+1",
            "linux-binary-7.3.4+deb13-cloud-amd64",
            "trixie-backports",
            "c4fbc8e404958693b28825474c20742d70594d65ca58aea7be6a279c81eb6fa0",
        ),
        Release(
            "7.3.4-1~bpo13+1",
            "linux-modules-7.3.4+deb13-cloud-amd64",
            "trixie-backports",
            "359f04c363b7d3c5f9ce999ccb7351e00cc8eec0a30d6bc1cda37734987fc43d",
        ),
    ),
}
WANTED = ("veth", "sch_tbf", "sch_htb", "sch_ingress", "cls_bpf")
# Without cmpxchg16b: where the kernel uses it without a lock prefix, in its allocator, QEMU 7.2 was seen to leave
# addresses in the flags, and the guest fell over at random places.
PROCESSOR = ("-cpu", "qemu64,-cx16")
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /run
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mount -t tmpfs tmp /tmp
/bin/busybox mount -t tmpfs run /run
/bin/busybox mkdir -p /run/netns
for module in $(/bin/busybox cat /order); do /bin/busybox insmod /modules/$module || echo "cannot load $module"; done
export PATH=/bin HOME=/tmp PYTHONHOME=/python PYTHONUNBUFFERED=1
/bin/python3 -S /test/{script}.py /test {names}
echo "{script}: $?"
/bin/busybox reboot -f
"""


# What runs in a guest, with the programs that replay its traces.
SCRIPTS = {
    "transfers": ("replay_trace", "replay_operations"),
    "markers": ("replay_mark_step", "replay_mark_coupled", "replay_mark_dualred"),
}


def add_program(initrd: Path, program: str | Path, target: str) -> None:
    """A program of this machine with the libraries that it loads."""
    copy = initrd / target
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(program).resolve(), copy)
    add_libraries(initrd, copy)


def add_libraries(initrd: Path, program: Path) -> None:
    """The libraries that a program loads, at the same places as here."""
    done = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)  # noqa: S603, S607
    for library in re.findall(r"(/\S+) \(0x", done.stdout):
        copy = initrd / library.removeprefix("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, copy)


def add_python(initrd: Path) -> None:
    """The Python that runs this, with the modules that the scripts import, compiled."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    add_program(initrd, sys.executable, "bin/python3")
    code = (
        "import sys, encodings.ascii, encodings.latin_1, encodings.idna, random, locale\n"
        f"sys.path.insert(0, {str(HERE)!r}); import markers, transfers\n"
        "print(*(m.__file__ for m in sys.modules.values() if getattr(m, '__file__', None)), sep='\\n')"
    )
    library = Path(os.__file__).parent
    for file in map(Path, output([sys.executable, "-I", "-S", "-c", code]).splitlines()):
        if not file.is_relative_to(library):
            continue
        target = initrd / "python/lib" / version / file.relative_to(library)
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".py":
            mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
            py_compile.compile(str(file), cfile=str(target.with_suffix(".pyc")), doraise=True, invalidation_mode=mode)
        else:
            add_program(initrd, file, str(target.relative_to(initrd)))


def fetch_kernel(series: str, root: Path) -> Path:
    """Unpack a kernel and its modules; gives the folder of the modules."""
    for release in KERNELS[series]:
        output(["dpkg-deb", "-x", fetch(release), root])
    return next(root.glob("usr/lib/modules/*"))


def run(series: str, script: str, names: list[str], console: Path | None, limit_s: float) -> None:
    """Boot a kernel and run a script in it."""
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        initrd = place / "initrd"
        (initrd / "test").mkdir(parents=True)
        modules = fetch_kernel(series, place)
        release = modules.name
        prepare(initrd / "test")
        for name in SCRIPTS:
            shutil.copy(HERE / f"{name}.py", initrd / "test")
        for program in ("busybox", "ip", "tc"):
            add_program(initrd, shutil.which(program) or program, f"bin/{program}")
        for goal in ("sh", "cat", "nsenter"):
            (initrd / "bin" / goal).symlink_to("busybox")
        for name in ("shoal-bpf", *SCRIPTS[script]):
            add_libraries(initrd, initrd / "test" / name)
        add_python(initrd)
        add_modules(modules, initrd, WANTED)
        (initrd / "init").write_text(INIT.format(script=script, names=" ".join(names)), encoding="ascii")
        (place / "initrd.cpio").write_bytes(archive(initrd))
        say(f"booting Linux {release}, {(place / 'initrd.cpio').stat().st_size / 1e6:.0f} MB in memory")
        qemu = [shutil.which("qemu-system-x86_64") or ""]
        kernel = next(place.glob(f"boot/vmlinuz-{release}"), modules / "vmlinuz")
        said = boot(qemu, dict(os.environ), kernel, place / "initrd.cpio", limit_s, PROCESSOR)
    if console:
        (console / f"linux-{series}-{script}.txt").write_text(said, encoding="utf-8")
    if complaint := COMPLAINTS.search(said):
        line = next(line for line in said.splitlines() if complaint[0] in line)
        sys.exit(f"the kernel complains: {line.strip()}")
    if f"{script}: 0" not in said:
        sys.exit(f"{script}.py failed on Linux {release}")
    print(next(line.strip() for line in said.splitlines() if "scenarios agree" in line))


def main() -> None:
    """Run the kernels of the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", choices=KERNELS, action="append", help="series of the kernel (all)")
    parser.add_argument("--console", type=Path, metavar="FOLDER", help="keep what the guests print, verifier included")
    parser.add_argument("--limit", type=float, default=1800, help="seconds that a guest may take (1800)")
    parser.add_argument("--script", choices=SCRIPTS, action="append", help="what runs in the guests (all)")
    parser.add_argument("scenarios", nargs="*", help="of that script (all)")
    arguments = parser.parse_args()
    needed = ("qemu-system-x86_64", "busybox", "ip", "tc", "ldd", "dpkg-deb", "apt-get")
    if lacking := [tool for tool in needed if not shutil.which(tool)]:
        packages = "qemu-system-x86 busybox-static iproute2 libc-bin"
        sys.exit(f"missing: {', '.join(lacking)}\nhint: on Debian or Ubuntu: sudo apt-get install {packages}")
    for series in arguments.kernel or KERNELS:
        for script in arguments.script or SCRIPTS:
            run(series, script, arguments.scenarios, arguments.console, arguments.limit)


if __name__ == "__main__":
    main()
