"""The walk-throughs docs/internals/add-a-queue.md, -controller.md and -metric.md, followed in a copy of the source.

Writes both skeletons, builds and tests them, replaces the queue by the example of its page and adds the metrics of
theirs, builds, tests and runs all. With `--no-build` only that they fit into the tree is seen, which takes seconds.
The copy is target/skeletons, where the last one can be looked at.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from shoal_dev import ROOT

PAGES = ROOT / "docs" / "internals"
PAGE, CONTROLLER_PAGE, METRIC_PAGE = (PAGES / f"add-a-{name}.md" for name in ("queue", "controller", "metric"))
# The profile of CI, whose libraries are built already.
TEST = ("cargo", "test", "--quiet", "--profile", "ci")
# The crates in which skeletons have tests, and those behind them, which know the queue and are only read at first.
OWN = ("shoal-aqm", "shoal-cc", "shoal-scenario")
BEHIND = ("shoal-linux", "shoal-measure")
COMMAND = r"^shoal (new %s ([\w-]+))$"
BLOCK = re.compile(r"^`([\w./-]+)`([^\n]*):\n\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def problems(words: list[str]) -> list[str]:
    """What stands in the way of somebody who follows the pages."""
    with_tests = "--no-build" not in words
    page = PAGE.read_text(encoding="utf-8")
    command = re.search(COMMAND % "queue", page, re.MULTILINE)
    controller = re.search(COMMAND % "controller", CONTROLLER_PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    blocks, metric_page = BLOCK.findall(page), METRIC_PAGE.read_text(encoding="utf-8")
    metrics, sweep = BLOCK.findall(metric_page), re.search(r"^shoal (sweep .*)$", metric_page, re.MULTILINE)
    if command is None or controller is None or sweep is None or min(len(blocks), len(metrics)) < 2:
        return [f"{PAGE}, {CONTROLLER_PAGE} or {METRIC_PAGE} has lost its command or files"]
    with tempfile.TemporaryDirectory(prefix="shoal-skeletons-") as folder:
        copy = ROOT / "target" / "skeletons" if with_tests else Path(folder)
        shutil.rmtree(copy, ignore_errors=True)
        copy_of_tree(copy)
        environment = os.environ | {"PYTHONPATH": str(ROOT / "python"), "CARGO_TARGET_DIR": str(copy / "target")}
        if with_tests:
            copy_of_libraries(copy)
        for skeleton in (command[1], controller[1]):
            run([sys.executable, "-m", "shoal", *skeleton.split()], copy, environment)
        build(copy, environment, with_tests=with_tests, tested=OWN)
        for path, where, _, text in (*blocks, *metrics):
            apply(copy / path, where, text)
        build(copy, environment, with_tests=with_tests, tested=(*OWN, *BEHIND))
        if not with_tests:
            return []
        package_environment = build_package(copy, environment)
        # What is looked at later is the source; what was built of it has gigabytes.
        shutil.rmtree(copy / "target")
        scenario = next(path for path, _, kind, _ in blocks if kind == "toml")
        declared = [name for _, _, _, text in metrics for name in re.findall(r'^@declare\("(\w+)"', text, re.MULTILINE)]
        return [
            *simulate(copy, command[2], controller[2], scenario, package_environment),
            *measure(copy, declared, sweep[1], package_environment),
        ]


def copy_of_tree(copy: Path) -> None:
    """Copy what is tracked or could be."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
    for name in filter(None, names):
        # Links stay links: those of the package lead to folders of the repository.
        if (ROOT / name).is_file() or (ROOT / name).is_symlink():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name, follow_symlinks=False)


def copy_of_libraries(copy: Path) -> None:
    """Copy what is built already, if anything is: the copy changes it, and must not change that of this tree.

    Cargo knows crates by their place in the workspace and their files by their times. In one folder it would take the
    crates of the copy for those of this tree, whose files are older.
    """
    built = ROOT / "target" / "ci"
    if built.is_dir():
        shutil.copytree(built, copy / "target" / "ci", ignore=shutil.ignore_patterns("incremental", "examples"))


def apply(path: Path, where: str, text: str) -> None:
    """Write a file of the page, replace one line, or add some."""
    if not where:
        path.write_text(text, encoding="utf-8")
        return
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if where == ", new lines at its end":
        lines += ["\n"] * (2 if path.suffix == ".py" else 1) + [text]
    else:
        edit = re.fullmatch(r", (the line with|the line before|new lines behind) `(.*)`", where)
        if edit is None:
            raise SystemExit(f"error: {path.name}: not understood: {where}")
        at = [n for n, line in enumerate(lines) if edit[2] in line]
        if len(at) != 1:
            raise SystemExit(f"error: {path} has {len(at)} lines with {edit[2]}, not one")
        match edit[1]:
            case "the line with":
                lines[at[0]] = text
            case "the line before":
                lines[at[0] - 1] = text
            case _:
                lines.insert(at[0] + 1, text)
    path.write_text("".join(lines), encoding="utf-8")


def build(copy: Path, environment: dict[str, str], *, with_tests: bool, tested: Sequence[str]) -> None:
    """Check the format, and test what the crates say of the new law and controller."""
    run(["cargo", "fmt", "--all", "--check"], copy, environment)
    if with_tests:
        run([*TEST, "--lib", "--test", "keys", *packages(tested)], copy, environment)
        if read := [name for name in BEHIND if name not in tested]:
            run(["cargo", "check", "--quiet", "--profile", "ci", "--tests", *packages(read)], copy, environment)


def packages(names: Sequence[str]) -> list[str]:
    """The words that name packages to cargo."""
    return [word for name in names for word in ("-p", name)]


def build_package(copy: Path, environment: dict[str, str]) -> dict[str, str]:
    """Build the package in the copy, and renew what is generated; gives the environment in which it runs."""
    run(["cargo", "build", "--quiet", "--profile", "ci", "-p", "shoal-native"], copy, environment)
    library = Path(environment["CARGO_TARGET_DIR"]) / "ci" / "lib_native.so"
    shutil.copy2(library, copy / "python" / "shoal" / "_native.abi3.so")
    package_environment = environment | {"PYTHONPATH": str(copy / "python")}
    dev = package_environment | {
        "PYTHONPATH": os.pathsep.join((package_environment["PYTHONPATH"], str(copy / "tools")))
    }
    run([sys.executable, "-m", "shoal_dev", "generate", "reference"], copy, dev)
    renewed = environment | {"INSTA_UPDATE": "always"}
    # With all packages, so that what their tests were built of serves.
    run([*TEST, "--test", "result_contract", *packages((*OWN, *BEHIND))], copy, renewed)
    return package_environment


def measure(copy: Path, declared: list[str], command: str, environment: dict[str, str]) -> list[str]:
    """The metrics that are not listed or have no value in the page's sweep on the copy."""
    listed = json.loads(run([sys.executable, "-m", "shoal", "list", "metrics", "--json"], copy, environment))["metrics"]
    missing = set(declared) - {metric["name"].partition("(")[0] for metric in listed}
    words = [sys.executable, "-m", "shoal", *shlex.split(command), "--json", "--no-cache"]
    for point in json.loads(run(words, copy, environment))["points"]:
        means = {name: value and value["mean"] for name, value in point["metrics"].items()}
        print(f"{point['values']}: {means}")
        missing |= {name for name in declared if not any(call.startswith(name) and v for call, v in means.items())}
    return [f"{name}: not listed, or nothing was measured" for name in sorted(missing)]


def simulate(copy: Path, queue: str, controller: str, scenario: str, environment: dict[str, str]) -> list[str]:
    """The controllers, of the page's scenario and the new one, with which nothing is marked or delivered."""
    apart = []
    for cc in ("dctcp", controller):
        command = [sys.executable, "-m", "shoal", "run", scenario, "--set", f"flows[0].cc={cc}", "--json"]
        result = json.loads(run(command, copy, environment))
        bottleneck, group = result["bottlenecks"][0], result["groups"][0]
        counts = f"{bottleneck['arrived']} packets, {bottleneck['marked']} marked, {bottleneck['dropped']} dropped"
        print(f"{cc} behind {queue}: {counts}")
        if not (bottleneck["marked"] if cc == "dctcp" else group["totals"]["reductions"]):
            apart.append(f"`{cc}` and `{queue}` have not met")
    return apart


def run(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    """Run a command in the copy; ends with its output if it fails."""
    done = subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"error: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout
