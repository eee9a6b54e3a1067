#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The modules on a distribution's kernel under QEMU: no KVM, no root, nothing installed.

Fetches what is missing (kernel with headers, busybox, QEMU) with apt-get into the cache of shoal, builds modules and
plugins
against the kernel and boots it with the machine's own root, read-only. In the guest smoke.py carries traffic and
fuzz_netlink.c configures at random. Anything that the kernel complains about on its console fails the test.

    python3 modules_qemu.py [--configurations N] [--seed N]
"""

from __future__ import annotations

import argparse
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Modules of the distribution that the guest needs; those that they depend on are loaded, too.
WANTED = (
    *("virtio_pci", "9p", "9pnet_virtio", "af_packet", "veth", "tcp_dctcp"),
    *("sch_tbf", "sch_htb", "sch_drr", "sch_hfsc", "sch_netem", "cls_matchall"),
)
OURS = ("sch_dualred", "sch_coupled", "sch_dualq_coupled", "tcp_dctcp_ikr", "tcp_dctcp_onesided", "tcp_reno_acks")
# The machine's own root, for the guest to read.
ROOT = (
    *("-fsdev", "local,id=host,path=/,security_model=none,readonly=on,multidevs=remap"),
    *("-device", "virtio-9p-pci,fsdev=host,mount_tag=host"),
)
# Messages of a kernel in which something is wrong, and "non-work-conserving" of schedulers.
COMPLAINTS = re.compile(
    r"WARNING:|BUG:|\bOops\b|divide error|general protection|Call Trace|non-work-conserving|"
    r"soft lockup|hung task|rcu: INFO"
    r"|Kernel panic|UBSAN|refcount_t|leaked|unregister_netdevice: waiting"
)
# The guest has the machine's root; folders that must be writable are in memory.
INIT = """#!/bin/sh
/bin/busybox mkdir -p /proc /sys /host
/bin/busybox mount -t proc proc /proc
for module in $(/bin/busybox cat /order); do /bin/busybox insmod /modules/$module || echo "cannot load $module"; done
/bin/busybox mount -t 9p -o trans=virtio,version=9p2000.L,cache=loose,ro,msize=262144 host /host || echo "no root"
/bin/busybox mount -t proc proc /host/proc
/bin/busybox mount -t sysfs sys /host/sys
/bin/busybox mount -t tmpfs tmp /host/run
/bin/busybox mount -t tmpfs tmp /host/tmp
/bin/busybox mkdir /host/run/netns
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp PYTHONDONTWRITEBYTECODE=1
/bin/busybox cp -r /test /host/run/test
cd /
/bin/busybox chroot /host {python} /run/test/smoke.py --modules /run/test --plugins /run/test --slowness 4
echo "smoke test: $?"
/bin/busybox chroot /host {python} /run/test/smoke.py --modules /run/test --load
/bin/busybox chroot /host /run/test/fuzz_netlink {configurations} {seed}
echo "fuzz: $?"
/bin/busybox reboot -f
"""


def run(*command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """Output of a command that must succeed."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def say(what: str) -> None:
    """Print one line of progress."""
    print(what, file=sys.stderr, flush=True)


class Packages:
    """Packages of the distribution, unpacked into the cache instead of installed."""

    def __init__(self) -> None:
        cache = os.environ.get("SHOAL_CACHE_DIR")
        self.folder = (Path(cache) if cache else Path.home() / ".cache" / "shoal") / "modules-qemu"
        self.root = self.folder / "root"
        self.root.mkdir(parents=True, exist_ok=True)

    def depends(self, package: str) -> list[str]:
        """Names in the Depends of a package's newest version."""
        record = run("apt-cache", "show", "--no-all-versions", package)
        line = re.search(r"^Depends: (.*)$", record, flags=re.M)
        return [entry.split()[0] for entry in line[1].split(",")] if line else []

    def missing_for(self, package: str) -> list[str]:
        """The package, and the packages that it depends on and that are not installed."""
        plan = run("apt-get", "install", "--simulate", "--no-install-recommends", package)
        return re.findall(r"^Inst (\S+)", plan, flags=re.M)

    def unpack(self, *packages: str) -> None:
        """Unpack packages that are not in the cache in the version of the archive."""
        for package in packages:
            wanted = run("apt-cache", "show", "--no-all-versions", package)
            version = re.search(r"^Version: (.*)$", wanted, flags=re.M)
            stamp = self.folder / f"{package}_{version[1] if version else ''}".replace(":", "%3a")
            if stamp.exists():
                continue
            say(f"fetching {package}")
            with tempfile.TemporaryDirectory(dir=self.folder) as place:
                run("apt-get", "download", "-q", package, cwd=Path(place))
                run("dpkg-deb", "-x", *Path(place).glob("*.deb"), self.root)
            stamp.touch()


def fetch_kernel(packages: Packages) -> str:
    """Kernel and headers of the distribution; returns the release."""
    image = next(name for name in packages.depends("linux-image-amd64") if name.startswith("linux-image-"))
    release = image.removeprefix("linux-image-").removesuffix("-unsigned")
    headers = f"linux-headers-{release}"
    needed = [name for name in packages.depends(headers) if name.startswith("linux-")]
    packages.unpack(image, headers, *needed, "busybox-static")
    # The headers name their other half by its place when installed.
    makefile = packages.root / "usr/src" / headers / "Makefile"
    text = makefile.read_text(encoding="utf-8")
    makefile.write_text(re.sub(r"include .*/usr/src/", f"include {packages.root}/usr/src/", text), encoding="utf-8")
    return release


def fetch_qemu(packages: Packages) -> tuple[list[str], dict[str, str]]:
    """Command and environment of qemu-system-x86_64: the machine's, else the distribution's."""
    if found := shutil.which("qemu-system-x86_64"):
        return [found], dict(os.environ)
    packages.unpack(*packages.missing_for("qemu-system-x86"))
    libraries = [str(packages.root / place / "x86_64-linux-gnu") for place in ("usr/lib", "lib")]
    folders = [f for name in ("qemu", "seabios") for f in ("-L", str(packages.root / "usr/share" / name))]
    command = [str(packages.root / "usr/bin/qemu-system-x86_64"), *folders]
    return command, dict(os.environ) | {"LD_LIBRARY_PATH": ":".join(libraries)}


def build(packages: Packages, release: str, place: Path) -> None:
    """Modules, plugins and the fuzzer, without a warning."""
    source = place / "source"
    shutil.copytree(HERE.parent, source, ignore=shutil.ignore_patterns("*.o", "*.ko", "*.cmd", "build"))
    headers = packages.root / "usr/src" / f"linux-headers-{release}"
    command = ("make", "-C", str(headers), f"M={source}", "CC=gcc", "W=1", "modules")
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0 or re.search(r"^.*\.[ch]:\d+.*(warning|error)", done.stdout + done.stderr, flags=re.M):
        sys.exit(f"the modules are not built without warnings:\n{done.stdout}{done.stderr}")
    run("make", "-s", "-C", source / "tc")
    test = place / "initrd" / "test"
    test.mkdir(parents=True)
    for name in OURS:
        shutil.copy(source / f"{name}.ko", test)
    for plugin in (source / "tc/build").glob("*.so"):
        shutil.copy(plugin, test)
    shutil.copy(HERE / "smoke.py", test)
    run("make", "-s", "-C", source / "tests", "build/fuzz_netlink")
    shutil.copy(source / "tests/build/fuzz_netlink", test)


def module_bytes(file: Path) -> bytes:
    """A module, without the compression that some distributions use."""
    return lzma.decompress(file.read_bytes()) if file.suffix == ".xz" else file.read_bytes()


def add_modules(modules: Path, initrd: Path, wanted: tuple[str, ...]) -> None:
    """The kernel's own modules, from the folder of a release, in an order in which they can be loaded."""
    files = {re.sub(r"\.ko.*", "", file.name).replace("-", "_"): file for file in modules.rglob("*.ko*")}
    (initrd / "modules").mkdir()
    order: list[str] = []

    def add(name: str) -> None:
        # A driver without a module file is built into the kernel.
        if name in order or name not in files:
            return
        image = module_bytes(files[name])
        depends = re.search(rb"\0depends=([^\0]*)\0", image)
        for other in (depends[1].decode() if depends else "").split(","):
            if other:
                add(other.replace("-", "_"))
        (initrd / "modules" / f"{name}.ko").write_bytes(image)
        order.append(name)

    for name in wanted:
        add(name)
    (initrd / "order").write_text("\n".join(f"{name}.ko" for name in order), encoding="ascii")


def archive(initrd: Path) -> bytes:
    """The folder as an archive that a kernel unpacks: "newc" of cpio.

    The format is in Documentation/driver-api/early-userspace/buffer-format.rst.
    """
    out = bytearray()

    def entry(name: str, mode: int, data: bytes) -> None:
        fields = (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        out.extend(b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0")
        out.extend(bytes(-len(out) % 4) + data)
        out.extend(bytes(-len(out) % 4))

    for path in sorted(initrd.rglob("*")):
        mode = 0o040755 if path.is_dir() else 0o100755
        entry(str(path.relative_to(initrd)), mode, b"" if path.is_dir() else path.read_bytes())
    entry("TRAILER!!!", 0, b"")
    return bytes(out)


def boot(
    qemu: list[str], env: dict[str, str], kernel: Path, initrd: Path, limit_s: float, devices: tuple[str, ...] = ROOT
) -> str:
    """Output of the guest on its console."""
    command = [
        *qemu,
        *("-accel", "tcg,thread=single", "-machine", "pc", "-cpu", "qemu64", "-m", "768", "-nographic", "-no-reboot"),
        *("-nic", "none", "-kernel", str(kernel), "-initrd", str(initrd)),
        *devices,
        # The kernel prints a warning for what is wrong, and stops at the first one.
        *("-append", "console=ttyS0 loglevel=5 panic=-1 oops=panic panic_on_warn=1"),
    ]
    said = b""
    process = subprocess.Popen(  # noqa: S603
        command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    end = time.monotonic() + limit_s
    console = process.stdout
    if console is None:
        sys.exit("no console")
    os.set_blocking(console.fileno(), False)
    try:
        while process.poll() is None:
            if time.monotonic() > end:
                process.kill()
                sys.exit(f"the guest has not ended after {limit_s:.0f} s; --limit gives it more")
            time.sleep(0.2)
            part = console.read() or b""
            sys.stderr.write(part.decode(errors="replace"))
            sys.stderr.flush()
            said += part
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    return (said + (console.read() or b"")).decode(errors="replace")


def main() -> None:
    """Run all steps in order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configurations", type=int, default=100_000, help="of the fuzzer (100000)")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(7), "big"), help="of the fuzzer")
    parser.add_argument("--limit", type=float, default=3600, help="seconds that the guest may take (3600)")
    arguments = parser.parse_args()
    if lacking := [tool for tool in ("apt-get", "dpkg-deb", "gcc", "make", "tc") if not shutil.which(tool)]:
        sys.exit(
            f"missing: {', '.join(lacking)}\nhint: on Debian or Ubuntu: sudo apt-get install apt dpkg gcc make iproute2"
        )
    packages = Packages()
    release = fetch_kernel(packages)
    qemu, env = fetch_qemu(packages)
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        initrd = place / "initrd"
        say(f"building against Linux {release}")
        build(packages, release, place)
        (initrd / "bin").mkdir()
        shutil.copy(packages.root / "bin/busybox", initrd / "bin/busybox")
        (initrd / "bin/sh").write_bytes((initrd / "bin/busybox").read_bytes())
        (initrd / "init").write_text(
            INIT.format(
                python=os.path.realpath(sys.executable), configurations=arguments.configurations, seed=arguments.seed
            ),
            encoding="ascii",
        )
        add_modules(packages.root / "lib/modules" / release, initrd, WANTED)
        (place / "initrd.cpio").write_bytes(archive(initrd))
        say(f"booting it; seed of the fuzzer: {arguments.seed}")
        said = boot(qemu, env, packages.root / f"boot/vmlinuz-{release}", place / "initrd.cpio", arguments.limit)
    if complaint := COMPLAINTS.search(said):
        line = next(line for line in said.splitlines() if complaint[0] in line)
        sys.exit(f"the kernel complains: {line.strip()}; seed {arguments.seed}")
    for wanted in ("loaded, configured, used, reset and unloaded", "smoke test: 0", "fuzz: 0"):
        if wanted not in said:
            sys.exit(f"the guest did not say: {wanted}; seed {arguments.seed}")
    print(f"modules on Linux {release}: smoke test and {arguments.configurations} configurations, no complaint")


if __name__ == "__main__":
    main()
