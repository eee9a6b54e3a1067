"""Files that cite an RFC or a file of the kernel for the first time without saying where it can be read.

Looks at the files that are named, else at every tracked Rust, C and Markdown file that is not generated.
The first mention of `RFC 8257` in the comments of a file (in Markdown: in its text) needs a URL of that RFC at
rfc-editor.org in the same block of comments, paragraph or row of a table. The first mention of a file of Linux, such as
`net/ipv4/tcp_dctcp.c` or `sch_pie.c`, needs a URL of that file in the tree of a fixed version, since the file changes
from version to version; so does a file of iproute2, such as `q_red.c`, and one of FreeBSD, such as
`sys/netinet/tcp_input.c`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from shoal_dev import ROOT, git_paths
from shoal_dev.pages import sources

HINT = (
    "put the URL behind the first mention, or a list of sources into the first comment; for Linux: "
    f"{sources.file_url('sch_pie.c')}"
)
# Pages that are generated.
EXEMPT = ("docs/reference/", "docs/records/validation/")

RFC = re.compile(r"\bRFC (\d{3,5})\b")
# A path in the tree of Linux, or a file whose name alone says that it is the kernel's networking or iproute2's `tc`.
KERNEL_FILE = re.compile(
    r"(?<![\w/.-])(?:(?:net|include|kernel|arch|drivers|Documentation|sys)/[\w./-]+\.(?:c|h|rst)"
    r"|(?:sch|tcp|q)_\w+\.c)\b"
)
# Places with versions that do not move.
FIXED_VERSION = re.compile(
    r"https://elixir\.bootlin\.com/linux/v[\d.]+/source/(?P<linux>[\w./-]+)"
    r"|https://git\.kernel\.org/pub/scm/network/iproute2/iproute2\.git/tree/(?P<iproute2>[\w./-]+)\?h=v[\d.]+"
    r"|https://cgit\.freebsd\.org/src/tree/(?P<freebsd>[\w./-]+)\?h=release/[\d.]+"
    r"|https://github\.com/[\w.-]+/[\w.-]+/blob/[0-9a-f]{40}/(?P<other>[\w./-]+)"
)


def blocks(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """First line and text of each block of comments; of each paragraph or row of a table in Markdown."""
    if path.suffix == ".md":
        yield from paragraphs(text)
    elif path.suffix == ".rs":
        yield from line_comments(text)
    else:
        for comment in re.finditer(r"/\*.*?\*/|//[^\n]*", text, re.DOTALL):
            yield text.count("\n", 0, comment.start()) + 1, re.sub(r"\n\s*\*?", " ", comment.group())


def line_comments(text: str) -> Iterator[tuple[int, str]]:
    """Blocks of `//`, `///` and `//!`; a comment behind code is a block of its own."""
    begun, lines = 0, []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        comment = re.match(r"\s*//[/!]?(.*)", line)
        if comment:
            begun = begun if lines else number
            lines.append(comment.group(1))
            continue
        if lines:
            yield begun, " ".join(lines)
            lines = []
        behind = re.search(r"[;,{})]\s+// (.*)", line)
        if behind:
            yield number, behind.group(1)


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Paragraphs and rows of tables; what stands in fences is code."""
    begun, lines, fenced = 0, [], False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.startswith("```"):
            fenced = not fenced
        if line.startswith("|") and not fenced:
            yield number, line
        elif line.strip() and not fenced and not line.startswith("```"):
            begun = begun if lines else number
            lines.append(line)
        elif lines:
            yield begun, " ".join(lines)
            lines = []


def problems_of(path: Path, own_files: set[str]) -> list[str]:
    """What a file cites for the first time without a URL; `own_files` are names of files of this project."""
    shown_path = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    messages, seen = [], set()
    for line, text in blocks(path, path.read_text(encoding="utf-8")):
        links = [next(filter(None, match.groups())) for match in FIXED_VERSION.finditer(text)]
        prose = re.sub(r"https?://[^\s)>\]]+", "", re.sub(r"\s+", " ", text))
        for number in RFC.findall(prose):
            url = sources.rfc_url(number)
            if number not in seen and not re.search(re.escape(url) + r"\b", text):
                messages.append(f"{shown_path}:{line}: RFC {number} without its URL: {url}#section-...")
            seen.add(number)
        for name in KERNEL_FILE.findall(prose):
            file = name.rsplit("/", 1)[-1]
            if file in seen or file in own_files:
                continue
            seen.add(file)
            if not any(link.rsplit("/", 1)[-1] == file for link in links):
                url = sources.file_url(name)
                messages.append(
                    f"{shown_path}:{line}: {name} without its URL in the tree of a fixed version"
                    + (f": {url}" if url else "")
                )
    return messages


def problems(words: list[str]) -> list[str]:
    """Every such mention, of the files that are named."""
    files = [ROOT / name for name in git_paths("ls-files") if (ROOT / name).exists()]
    own_files = {path.name for path in files}
    wanted = [Path(name).resolve() for name in words] or [
        path
        for path in files
        if path.suffix in {".rs", ".c", ".h", ".md"} and not path.relative_to(ROOT).as_posix().startswith(EXEMPT)
    ]
    return [problem for path in wanted for problem in problems_of(path, own_files)]
