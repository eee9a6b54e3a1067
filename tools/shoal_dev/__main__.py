"""The command line of the developers' program."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shoal_dev import ROOT, check

Parsers = Any


def main() -> int:
    """Run a command; the exit code is 1 if something is wrong."""
    parser = argparse.ArgumentParser(prog="shoal-dev", description="The program of shoal's developers.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (add_check, add_generate, add_keep, add_record, add_recheck, add_bench, add_mutants, add_house):
        add(commands)
    add_builds(commands)
    options = parser.parse_args()
    run: Callable[[argparse.Namespace], int] = options.run
    return run(options) or 0


def add_check(commands: Parsers) -> None:
    """`check`: what is wrong with the repository."""
    command = commands.add_parser("check", help="say what is wrong with the repository")
    command.add_argument("name", nargs="?", choices=check.ALL, help=f"by default {', '.join(check.QUICK)}")
    command.add_argument("words", nargs=argparse.REMAINDER, help="what the check is about, such as files")
    command.set_defaults(run=lambda options: check.check(options.name, options.words))


def add_generate(commands: Parsers) -> None:
    """`generate`: pages and types that are made from the program and from what was kept of papers."""
    command = commands.add_parser("generate", help="write what is generated")
    command.add_argument("which", nargs="?", default="all", choices=("all", "reference", "papers", "conformance"))
    command.add_argument("--check", action="store_true", help="fail if something is stale, write nothing")

    def run(options: argparse.Namespace) -> int:
        from shoal_dev.pages import generate

        return generate(options.which, check=options.check)

    command.set_defaults(run=run)


def add_keep(commands: Parsers) -> None:
    """`keep`: reproductions of a paper go into its folder."""
    command = commands.add_parser("keep", help="keep reproductions in the folder of their paper")
    command.add_argument("kind", choices=("results", "linux", "hosts"), help="all of a paper; on Linux; with --host")
    command.add_argument("paper", type=Path, help="such as papers/kato-2015")
    command.add_argument("results", type=Path, nargs="+", help="folders that `shoal reproduce --out` wrote")

    def run(options: argparse.Namespace) -> int:
        from shoal_dev.pages import keep

        return keep(options.kind, options.paper, options.results)

    command.set_defaults(run=run)


def add_record(commands: Parsers) -> None:
    """`record`: measure a study and write its page."""
    command = commands.add_parser("record", help="measure a study and write its page in docs/records")
    command.add_argument("name", help="a folder of studies/; without one they are listed", nargs="?")
    command.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="an argument of the measurement"
    )
    command.add_argument("--print", action="store_true", dest="only_print", help="print the page, write nothing")

    def run(options: argparse.Namespace) -> int:
        from shoal_dev import study

        if options.name is None:
            study.list_all()
            return 0
        return study.record(options.name, options.set, only_print=options.only_print)

    command.set_defaults(run=run)


def add_recheck(commands: Parsers) -> None:
    """`recheck`: a sample of recorded rows is made again."""
    command = commands.add_parser("recheck", help="make rows of recorded tables again and compare them")
    command.add_argument("name", nargs="?", help="a study; by default all")
    command.add_argument("--cells", type=int, default=6, metavar="N", help="rows of the sample; 0: all")
    command.add_argument("--cpu-s", type=float, default=0, metavar="S", help="CPU seconds of the sample, about")
    command.add_argument("--seed", type=int, help="which sample; by default that of today")

    def run(options: argparse.Namespace) -> int:
        from shoal_dev.recheck import recheck

        return recheck(options.name, count=options.cells, seed=options.seed, cpu_s=options.cpu_s)

    command.set_defaults(run=run)


def add_bench(commands: Parsers) -> None:
    """`bench`: the benchmark table, or a race."""
    command = commands.add_parser("bench", help="print the benchmark table")
    command.add_argument("words", nargs=argparse.REMAINDER, help="of shoal-benches, such as --race PROGRAM")

    def run(options: argparse.Namespace) -> int:
        from shoal_dev.study import BENCHES

        return subprocess.run([*BENCHES, *options.words], cwd=ROOT, check=False).returncode

    command.set_defaults(run=run)


def add_mutants(commands: Parsers) -> None:
    """`mutants`: changes of the source that no test sees."""
    command = commands.add_parser("mutants", help="change the source a little, and say which changes no test sees")
    command.add_argument("--room", action="append", help="only this one; may be repeated")
    command.add_argument("--count", type=int, default=10)
    command.add_argument("--seed", type=int)
    command.add_argument("--list", action="store_true", dest="only_list", help="show what would be tried")

    def run(options: argparse.Namespace) -> int:
        from shoal_dev import mutants

        return mutants.main(only=options.room, count=options.count, seed=options.seed, only_list=options.only_list)

    command.set_defaults(run=run)


def add_house(commands: Parsers) -> None:
    """`house`: sizes of the source and sums of its results."""
    command = commands.add_parser("house", help="measure the source and sum up its results, as JSON")
    command.add_argument("--against", type=Path, metavar="BEFORE", help="an earlier output; print the changes since")
    command.add_argument("--no-results", action="store_true", help="leave out the sums, which need many runs")

    def run(options: argparse.Namespace) -> int:
        from shoal_dev import house

        return house.main(against=options.against, with_results=not options.no_results)

    command.set_defaults(run=run)


def add_builds(commands: Parsers) -> None:
    """`site`, `web`, `web-bottleneck`, `laws`, `fuzz-dictionary`: what is built beside the package."""

    def site(options: argparse.Namespace) -> int:
        from shoal_dev.site import build

        return build(options.folder.resolve())

    def web(options: argparse.Namespace) -> int:
        from shoal_dev.web_module import main as build

        return build(options.folder)

    def bottleneck(options: argparse.Namespace) -> int:
        from shoal_dev.web_module import main as build

        return build(options.folder, bottleneck=True)

    def laws(options: argparse.Namespace) -> int:
        from shoal_dev.law_modules import main as build

        return build(options.folder)

    def dictionary(_: argparse.Namespace) -> None:
        from shoal_dev.fuzz_dictionary import main as write

        write()

    for name, run, about in (
        ("site", site, "build the documentation site into a folder"),
        ("web", web, "build the simulator for browsers into a folder"),
        ("web-bottleneck", bottleneck, "build a link alone as a WebAssembly module into a folder"),
        ("laws", laws, "build the laws of crates/core/law/examples as modules into a folder"),
    ):
        command = commands.add_parser(name, help=about)
        command.add_argument("folder", type=Path)
        command.set_defaults(run=run)

    def animation(_: argparse.Namespace) -> int:
        from shoal_dev.animation import main as take

        return take()

    commands.add_parser("animation", help="take the moving picture of the README anew").set_defaults(run=animation)
    commands.add_parser("fuzz-dictionary", help="renew fuzz/dictionaries").set_defaults(run=dictionary)


if __name__ == "__main__":
    sys.exit(main())
