"""The check of citations: what it asks for, and that it can fail."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RFC = "https://www.rfc-editor.org/rfc/rfc8257"
PIE = "https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_pie.c"


def check(*files: Path) -> tuple[int, str]:
    """Exit code of the check and what it says of the files."""
    command = [str(ROOT / "tools/shoal-dev"), "check", "citations", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_every_file_says_where_its_sources_can_be_read() -> None:
    assert check() == (0, "")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("url.rs", f"/// Echoes CE ([RFC 8257, section 3.2]({RFC}#section-3.2)).\nfn f() {{}}\n// RFC 8257 again.\n"),
        ("text.rs", 'const TEXT: &str = "RFC 8257";\n'),
        ("sources.rs", f"//! As the RFC 8257 demands.\n//!\n//! Sources: <{RFC}>\n"),
        ("kernel.rs", f"//! PIE (`net/sched/sch_pie.c`, <{PIE}>).\n\n// As sch_pie.c has it.\n"),
        ("own.c", "/* See sch_coupled.c, a file of this project. */\n"),
        ("block.c", f"/*\n * RFC 8257 section 3.2\n * ({RFC}#section-3.2).\n */\n"),
        ("table.md", f"| DCTCP | [RFC 8257]({RFC}) |\n"),
        ("code.md", "```\nRFC 8257\n```\n"),
    ],
)
def test_a_source_with_its_url_is_right(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text)
    assert check(file) == (0, "")


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("none.rs", "fn f() {}\n/// Echoes CE (RFC 8257).\nfn g() {}\n", "2: RFC 8257"),
        ("behind.rs", "let a = 1; // RFC 8257\n", "1: RFC 8257"),
        ("elsewhere.rs", f"// RFC 8257 says so.\nfn f() {{}}\n// {RFC}\n", "1: RFC 8257"),
        # 82570 is another RFC.
        ("longer.rs", f"// RFC 8257: {RFC}0\n", "1: RFC 8257"),
        ("split.c", "/*\n * The echo of RFC\n * 8257.\n */\n", "1: RFC 8257"),
        ("moving.rs", f"// sch_pie.c: {PIE.replace('v6.12', 'latest')}\n", "1: sch_pie.c"),
        ("other.rs", f"// net/sched/sch_red.c, not {PIE}\n", "1: net/sched/sch_red.c"),
        ("row.md", f"| DCTCP | RFC 8257 |\n| URL | {RFC} |\n", "1: RFC 8257"),
    ],
)
def test_a_source_without_its_url_is_named_with_its_place(tmp_path: Path, name: str, text: str, place: str) -> None:
    file = tmp_path / name
    file.write_text(text)
    code, said = check(file)
    assert code == 1
    assert f"{file}:{place} without its URL" in said
    assert "hint: " in said
    # It writes nothing.
    assert file.read_text() == text
