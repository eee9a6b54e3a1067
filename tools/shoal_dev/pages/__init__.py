"""Everything in the repository that is generated, and the command that writes or checks it."""

from __future__ import annotations

import sys
from pathlib import Path

from shoal_dev import ROOT


def papers() -> dict[Path, str]:
    """The pages of what was kept of papers, by their paths."""
    from shoal_dev.pages import paper_hosts, paper_linux, paper_results

    writers = {"RESULTS": paper_results.page, "LINUX": paper_linux.page, "HOSTS": paper_hosts.page}
    return {
        data.with_suffix(".md"): writer(data.parent)
        for name, writer in writers.items()
        for data in sorted((ROOT / "papers").glob(f"*/{name}.csv"))
    }


def generate(which: str, *, check: bool) -> int:
    """Write what is generated, or say which files are stale; the exit code.

    Parameters
    ----------
    which
        ``all`` but what needs a kernel; ``reference``, ``papers``, or ``conformance``, which needs one.
    check
        Whether to write nothing.
    """
    from shoal_dev.pages import reference

    wanted: dict[Path, str] = {}
    present: set[Path] = set()
    if which in ("all", "reference"):
        wanted |= reference.pages()
        present = reference.present()
    if which in ("all", "papers"):
        wanted |= papers()
    if which == "conformance":
        from shoal_dev.pages import conformance

        wanted = conformance.pages()
    surplus = present - set(wanted)
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    stale += sorted(surplus)
    if check:
        for path in stale:
            print(f"error: {path.relative_to(ROOT)} is stale\nhint: make generate", file=sys.stderr)
        return int(bool(stale))
    for path in surplus:
        path.unlink()
    for path in stale:
        if path in wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[path], encoding="utf-8")
    print(f"generated: {len(wanted)} files, {len(stale)} changed")
    return 0


def keep(kind: str, paper: Path, results: list[Path]) -> int:
    """Keep reproductions in a paper's folder and write its page anew; the exit code."""
    from shoal_dev.pages import paper_hosts, paper_linux, paper_results

    module, name = {
        "results": (paper_results, "RESULTS.md"),
        "linux": (paper_linux, "LINUX.md"),
        "hosts": (paper_hosts, "HOSTS.md"),
    }[kind]
    for folder in results:
        module.keep(folder, paper)
    (paper / name).write_text(module.page(paper), encoding="utf-8")
    return 0
