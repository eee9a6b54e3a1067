"""Every command and block of code in the pages does what the page says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
from blocks import ROOT, BrokenBlockError, Counts, blocks, pages, try_page


@pytest.mark.parametrize("page", list(pages()), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_blocks_of_a_page(
    page: Path, tmp_path: Path, record_property: Callable[[str, dict[str, object]], None]
) -> None:
    # What a checkout has, as far as pages name it.
    (tmp_path / ".venv").symlink_to(ROOT / ".venv")
    counts = Counts()
    try_page(page, tmp_path, counts)
    record_property("blocks", asdict(counts))


def tried(tmp_path: Path, text: str) -> Counts:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    counts = Counts()
    try_page(page, tmp_path, counts)
    return counts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("```sh\nfalse\ntrue\n```\n", "exit code 1"),
        ("```sh\nshoal check coexistance\n```\n", "coexistance"),
        ("```python\nassert 1 == 2\n```\n", "AssertionError"),
        ('```toml\nduration = "1 s"\n```\n', "flows"),
        ("<!-- part of: dualpi2 -->\n\n```toml\nbottleneck.rate = 7\n```\n", "rate"),
        ("```rust\nfn main() {}\n```\n", "nobody tries a block of `rust`"),
        ("    indented\n", "nobody tries a block of `no language`"),
        ("<!-- not run: no -->\n\n```sh\nfalse\n```\n", "needs a reason"),
        ("<!-- not run: `shoal`: it takes an hour -->\n\n```sh\ntrue\n```\n", "no line begins with"),
        ("```sh\ntrue\ntc qdisc del dev nowhere root\n```\n", "would change the machine"),
        ("```sh\nsudo true\n```\n", "would change the machine"),
        ("```sh\necho one\n```\n\n<!-- shows: output -->\n\n```text\ntwo\n```\n", "prints\none"),
        ("```sh\necho a b c\n```\n\n<!-- shows: output -->\n\n```text\na ... d\n```\n", "prints\na b c"),
    ],
)
def test_what_is_wrong_is_found(tmp_path: Path, text: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UPDATE_EXPECT", raising=False)
    with pytest.raises(BrokenBlockError, match=message):
        tried(tmp_path, text)


def test_what_is_right_is_counted(tmp_path: Path) -> None:
    text = (
        "<!-- not run: `false`: it never succeeds here -->\n\n```sh\nfalse\necho a b c\n```\n\n"
        "<!-- shows: output -->\n\n```text\na ... c\n```\n\n"
        "<!-- part of: dualpi2 -->\n\n```toml\nbottleneck.rate = '7 Mbit/s'\n```\n\n"
        "<!-- not run: needs a machine with a kernel -->\n\n```sh\nfalse\n```\n"
    )
    counts = tried(tmp_path, text)
    assert (counts.run, counts.compared, counts.checked) == (1, 1, 1)
    assert counts.excused == ["page.md:3: `false`: it never succeeds here", "page.md:22: needs a machine with a kernel"]
    assert [block.language for block in blocks(tmp_path / "page.md")] == ["sh", "text", "toml", "sh"]
