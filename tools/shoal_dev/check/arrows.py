"""Dependencies between rooms that are not allowed, with their paths. ARCHITECTURE.md shows what is.

With `--write` the allowed arrows are written there.

Reads the manifests only (dependencies, dev- and build-dependencies of every workspace member), so it needs nothing
but Python. Development dependencies may additionally use the crate's own dependencies, `proptest` and `insta`.
"""

import ast
import re
import tomllib
from pathlib import Path

from shoal_dev import ROOT

HINT = "ARCHITECTURE.md shows the allowed arrows"
CORE = {"units", "packet", "cc", "aqm", "tcp", "host", "netem", "bottleneck"}
# What both planes share.
LAB = {"scenario", "trace", "measure", "notices"}
# room -> rooms it may use. ARCHITECTURE.md shows this table.
ALLOWED = {
    "units": set(),
    "packet": {"units"},
    "cc": {"units"},
    # What laws from files and whoever runs them say to each other.
    "law": {"units", "cc"},
    "aqm": {"units", "packet"},
    "tcp": {"units", "packet", "cc"},
    # What a receiving host does to packets.
    "host": {"units", "packet"},
    # What a path does to packets.
    "netem": {"units", "packet"},
    # A link: a queue, a transmitter, and the way to the other end.
    "bottleneck": {"units", "packet", "aqm", "netem"},
    # Derive macros; uses no room.
    "derive": set(),
    "scenario": {"derive", "units", "cc", "aqm", "tcp", "host", "netem", "bottleneck"},
    "trace": {"units", "packet"},
    "measure": {"units", "packet", "scenario", "trace"},
    # Notices in results, the same on both planes.
    "notices": {"units", "tcp", "scenario", "measure"},
    "plugin": {"units", "packet", "aqm", "cc", "law"},
    "sim": CORE | LAB,
    # Like `scenario`, it uses only the configurations of the laws.
    "linux": CORE | LAB,
    # A bottleneck between two network interfaces; the scenario's link is given to it.
    "box": {"units", "packet", "aqm", "netem", "bottleneck", "trace", "measure"},
    # Plays scripts against the endpoints; the kernel's side is text and bytes.
    "conformance": {"units", "packet", "cc", "tcp"},
    "native": CORE | LAB | {"law", "plugin", "sim", "linux", "conformance", "box"},
    # A link alone, for C and WebAssembly.
    "c": {"units", "packet", "aqm", "bottleneck", "scenario"},
    # The simulator in a browser.
    "web": CORE | LAB | {"law", "plugin", "sim"},
    # Never shipped: may use anything.
    "benches": {"units", "packet", "cc", "aqm", "tcp", "bottleneck", "scenario", "trace", "sim"},
    "tests": CORE | LAB | {"law", "plugin", "sim", "conformance", "box"},
}
# `scenario` may use of the laws only their configurations, presets and descriptions; these run a law.
LAWS = {
    "AnyQueue", "Queue", "Verdict", "Dequeued", "Backlog",
    "AnyController", "CongestionControl", "AckSample", "Signal", "Window", "Reduction",
    "Sender", "Receiver", "Output", "CaState", "Counters",
    "Netem", "LossState", "Prandom", "Correlated",
    "Port", "Bottleneck",
}  # fmt: skip
# Libraries that core may use: pure arithmetic only.
CORE_LIBRARIES = {"libm", "rand_core", "rand_xoshiro"}


def manifests() -> list[Path]:
    """Manifests of all workspace members."""
    members = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["members"]
    return [path for member in members for path in sorted(ROOT.glob(f"{member}/Cargo.toml"))]


def room_of(package: str) -> str:
    """The room of a package, by its name."""
    return package.removeprefix("shoal-")


def check_manifest(path: Path) -> list[str]:
    """Arrows that a manifest draws and may not."""
    manifest = tomllib.loads(path.read_text())
    room = room_of(manifest["package"]["name"])
    where = path.relative_to(ROOT)
    if room not in ALLOWED:
        return [f"{where}: room `{room}` is not in {Path(__file__).name}; decide its arrows first"]
    problems = []
    for section in ("dependencies", "build-dependencies", "dev-dependencies"):
        for package in manifest.get(section, {}):
            target = room_of(package)
            if target in ALLOWED and target != room and target not in ALLOWED[room]:
                problems.append(f"{where}: {room} -> {target} is not an allowed arrow ([{section}])")
            is_ours = package.startswith("shoal-")
            if section == "dependencies" and room in CORE and not is_ours and package not in CORE_LIBRARIES:
                problems.append(f"{where}: core may use {sorted(CORE_LIBRARIES)} only, not `{package}`")
    return problems


def check_map() -> list[str]:
    """The map of rooms in ARCHITECTURE.md names every crate of the house."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    rooms = text.partition("## Rooms")[2].partition("##")[0]
    named = set(re.findall(r"^\s*(?:crates/)?(?:\w+/)*(\w+)/ ", rooms, re.MULTILINE))
    problems = []
    for path in manifests():
        folder = path.parent
        if folder.is_relative_to(ROOT / "crates") and folder.name not in named:
            problems.append(f"ARCHITECTURE.md: the map of rooms does not name {folder.relative_to(ROOT)}")
    return problems


def arrows() -> str:
    """The allowed arrows as ARCHITECTURE.md shows them."""
    width = max(map(len, ALLOWED))
    lines = [
        f"{room:{width}} -> {', '.join(name for name in ALLOWED if name in uses)}"
        for room, uses in ALLOWED.items()
        if uses
    ]
    return "```\n" + "\n".join(lines) + "\n```\n"


def check_arrows_shown(*, write: bool) -> list[str]:
    """The arrows in ARCHITECTURE.md are those of the table."""
    path = ROOT / "ARCHITECTURE.md"
    text = path.read_text()
    before, block, after = re.split(r"(?<=\n)(```\n[^`]*-> [^`]*```\n)", text, maxsplit=1)
    if block == arrows():
        return []
    if write:
        path.write_text(before + arrows() + after)
        return []
    return ["ARCHITECTURE.md: the arrows are others; run `shoal-dev check arrows --write`"]


def check_scenario_names() -> list[str]:
    """`scenario` configures the laws but never runs one."""
    problems = []
    for path in sorted((ROOT / "crates/lab/scenario/src").rglob("*.rs")):
        source = re.sub(r"//.*", "", path.read_text())
        for uses in re.findall(r"\bshoal_(?:cc|aqm|tcp|netem|bottleneck)::(\{[^}]*\}|\w+)", source):
            for name in LAWS.intersection(re.findall(r"\w+", uses)):
                problems.append(f"{path.relative_to(ROOT)}: scenario may not use the law `{name}`")
    return problems


def check_python() -> list[str]:
    """`python/shoal` reaches the Rust side through `shoal._native` only; `cli` and `pack` use `shoal.papers`.

    Archives start shoal itself, so that their results are made as a reader makes them.
    """
    problems = []
    for path in sorted((ROOT / "python").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            above = not {"papers", "cli", "pack"}.intersection(path.relative_to(ROOT / "python/shoal").parts)
            if above and any(name == "shoal.papers" or name.startswith("shoal.papers.") for name in names):
                problems.append(
                    f"{path.relative_to(ROOT)}:{node.lineno}: only papers/, cli/ and pack/ may use shoal.papers"
                )
            for name in names:
                if name in {"ctypes", "cffi", "subprocess"} and not {"linux", "pack"}.intersection(path.parts):
                    problems.append(f"{path.relative_to(ROOT)}:{node.lineno}: `{name}` bypasses shoal._native")
    return problems


def problems(words: list[str]) -> list[str]:
    """What is wrong."""
    manifest_problems = [problem for path in manifests() for problem in check_manifest(path)]
    map_problems = check_map() + check_arrows_shown(write="--write" in words)
    return manifest_problems + map_problems + check_scenario_names() + check_python()
