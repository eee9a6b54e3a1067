"""Builds the documentation site from the Markdown of the repository; warnings are errors.

The pages stay where they are and read well on a repository host, too. They are copied with their folders, so that links
between them stay as they are; what they link to beside pages, such as a source file, goes along as a download.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from sphinx.cmd.build import build_main

from shoal_dev import ROOT
from shoal_dev.pages.reference import pages_of_models

SITE = ROOT / "docs" / "site"
SIMULATOR = ROOT / "python" / "shoal" / "_data" / "page" / "shoal.html"
PATTERNS = ("*.md", "docs/**/*.md", "docs/**/*.ipynb", "docs/img/*", "papers/**/*.md", "papers/**/*.png")
# Explains the folder itself, to those who work on the site.
LEFT_OUT = {SITE / "README.md"}
LINK = re.compile(r"\[(?P<text>[^][]*(?:\[[^]]*\][^][]*)*)\]\((?P<place>[^)#\s:]+)(?P<anchor>#[^)\s]*)?\)")
FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
MARK = "<!-- simulator -->"
TREE = "<!-- tree -->"
# The list of all pages, which reads well on a repository host; a section becomes a part of the site's tree.
LIST = ROOT / "docs" / "README.md"


def build(target: Path) -> int:
    """Copy the pages and let Sphinx build them."""
    sources = sorted({path for pattern in PATTERNS for path in ROOT.glob(pattern)} - LEFT_OUT)
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder)
        pages = {path for path in sources if path.suffix == ".md"}
        for path in sources:
            copy(path, stage)
        for page in sorted(pages):
            staged = stage / page.relative_to(ROOT)
            staged.write_text(linked(page, staged.read_text(encoding="utf-8"), pages, stage), encoding="utf-8")
        for name, text in pages_of_models().items():
            (stage / "docs" / "reference" / name).parent.mkdir(exist_ok=True)
            (stage / "docs" / "reference" / name).write_text(text, encoding="utf-8")
        # The site's own beginning stands at the top.
        begin = (stage / "docs" / "site" / "index.md").read_text(encoding="utf-8")
        (stage / "docs" / "site" / "index.md").unlink()
        (stage / "index.md").write_text(begin.replace(TREE, trees()), encoding="utf-8")
        mark_leaves(stage)
        with_simulator(stage)
        shutil.rmtree(target, ignore_errors=True)
        quiet = [
            "--fail-on-warning",
            "--keep-going",
            "--quiet",
            "--conf-dir",
            str(SITE),
            "--doctree-dir",
            f"{folder}/.trees",
        ]
        code = build_main([*quiet, "--builder", "html", str(stage), str(target)])
    if code == 0:
        print(f"site: {len(pages)} pages in {target}")
    return code


def trees() -> str:
    """The tree of the site, from the sections of the list of all pages."""
    parts = []
    for section in LIST.read_text(encoding="utf-8").split("\n## ")[1:]:
        caption, _, text = section.partition("\n")
        pages = [(LIST.parent / match["place"]).resolve().relative_to(ROOT) for match in LINK.finditer(text)]
        names = "\n".join(str(page.with_suffix("")) for page in pages)
        parts.append(f"```{{toctree}}\n:caption: {caption}\n:maxdepth: 1\n\n{names}\n```\n")
    return "\n".join(parts)


def copy(path: Path, stage: Path) -> None:
    """Copy a file of the repository to its place."""
    target = stage / path.relative_to(ROOT)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)


def linked(page: Path, text: str, pages: set[Path], stage: Path) -> str:
    """The text of a page with links that lead somewhere in the site; blocks of code stay as they are."""

    def link(match: re.Match[str]) -> str:
        goal = (page.parent / match["place"]).resolve()
        if goal in pages:
            return match[0]
        if goal.is_dir():
            readme = goal / "README.md"
            return f"[{match['text']}]({match['place'].rstrip('/')}/README.md)" if readme in pages else match["text"]
        if goal.is_file() and goal.is_relative_to(ROOT):
            staged = stage / goal.relative_to(ROOT)
            if not staged.exists():
                copy(goal, stage)
                # The page of a room, which no pattern names: its links lead somewhere, too.
                if goal.suffix == ".md":
                    staged.write_text(linked(goal, staged.read_text(encoding="utf-8"), pages, stage), encoding="utf-8")
            # A file has no headings to lead to.
            return f"[{match['text']}]({match['place']})"
        return match[0]  # Sphinx refuses it.

    parts, begin = [], 0
    for fence in FENCE.finditer(text):
        parts += [LINK.sub(link, text[begin : fence.start()]), fence[0]]
        begin = fence.end()
    return "".join([*parts, LINK.sub(link, text[begin:])])


def mark_leaves(stage: Path) -> None:
    """Tell Sphinx that the tree of pages lacks some on purpose: other pages lead to them, as to those of models."""
    listed = set(re.split(r"[\s<>]+", (stage / "index.md").read_text(encoding="utf-8")))
    for page in stage.rglob("*.md"):
        if page != stage / "index.md" and str(page.relative_to(stage).with_suffix("")) not in listed:
            page.write_text("---\norphan: true\n---\n\n" + page.read_text(encoding="utf-8"), encoding="utf-8")


def with_simulator(stage: Path) -> None:
    """Put the built simulator into its page, or say that it is not there."""
    page = stage / "docs" / "simulator.md"
    text = page.read_text(encoding="utf-8")
    if MARK not in text:
        raise SystemExit(f"error: docs/simulator.md lacks {MARK}")
    if SIMULATOR.is_file():
        shutil.copyfile(SIMULATOR, stage / "docs" / "shoal.html")
        shown = (
            "{download}`Save the simulator <shoal.html>` or use it here:\n\n"
            '<iframe src="simulator-page.html" title="The simulator" class="simulator"></iframe>\n'
        )
        extra = stage / "_extra" / "docs"
        extra.mkdir(parents=True)
        shutil.copyfile(SIMULATOR, extra / "simulator-page.html")
    else:
        shown = "This site was built without the simulator; `make page site` builds it with it."
        (stage / "_extra").mkdir()
    page.write_text(text.replace(MARK, shown), encoding="utf-8")
