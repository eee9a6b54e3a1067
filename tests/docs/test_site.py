"""The built site (`make site`): nothing in it comes from another host, and its parts are there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "target" / "site"
#: Attributes that make a browser load something, by element. Links to read are none of them.
LOADS = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
}
LOADS |= {"link": "href", "object": "data"}


class Loads(HTMLParser):
    """Collects what a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in LOADS and (place := given.get(LOADS[tag])):
            self.found.append(place)
        if style := given.get("style"):
            self.found += re.findall(r"url\(([^)]*)\)", style)


def loaded(page: str) -> list[str]:
    parser = Loads()
    parser.feed(page)
    return parser.found


@pytest.fixture(scope="module")
def pages() -> list[Path]:
    assert (SITE / "index.html").is_file(), "`make site` builds the site"
    # The simulator is one file whose own test watches what it asks for (make test-page).
    return [
        page for page in SITE.rglob("*.html") if page.name != "simulator-page.html" and page.parent.name != "_downloads"
    ]


def test_nothing_is_loaded_from_another_host(pages: list[Path]) -> None:
    count = 0
    for page in pages:
        for place in loaded(page.read_text(encoding="utf-8")):
            count += 1
            assert not re.match(r"(\w+:)?//", place), f"{page.relative_to(SITE)} loads {place}"
            if not place.startswith("data:"):
                assert (page.parent / re.split("[?#]", place)[0]).exists(), (
                    f"{page.relative_to(SITE)}: {place} is missing"
                )
    assert count > len(pages)
    for sheet in SITE.rglob("*.css"):
        for place in re.findall(r"(?:url\(|@import )\s*[\"']?([^)\"';]*)", sheet.read_text(encoding="utf-8")):
            assert not re.match(r"(https?:)?//", place), f"{sheet.relative_to(SITE)} loads {place}"


def test_what_would_be_loaded_is_found() -> None:
    page = '<link rel="stylesheet" href="//cdn/x.css"><a href="https://read"></a><p style="background: url(https://y)">'
    assert loaded(page + '<script src="https://z"></script>') == ["//cdn/x.css", "https://y", "https://z"]


def test_the_notebook_has_been_run() -> None:
    cells = json.loads((ROOT / "docs" / "tutorial.ipynb").read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] for cell in code), "the notebook is kept without outputs"
    page = (SITE / "docs" / "tutorial.html").read_text(encoding="utf-8")
    assert page.count('class="cell_output') == len(code)
    # Its two figures.
    assert len(re.findall(r'<img[^>]*src="[^"]*_images/', page)) == 2


def test_a_link_that_leads_nowhere_stops_the_build(tmp_path: Path) -> None:
    """In a copy of the pages: the page that a start links to is missing."""
    for folder in ("docs", "papers"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.ipynb"))
    for path in [*ROOT.glob("*.md"), *(ROOT / "tools").rglob("*.py")]:
        (tmp_path / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, tmp_path / path.relative_to(ROOT))
    page = tmp_path / "docs" / "simulator.md"
    page.write_text(page.read_text(encoding="utf-8") + "\n[nowhere](nowhere.md)\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "shoal_dev", "site", tmp_path / "out"],
        env=os.environ | {"PYTHONPATH": str(tmp_path / "tools")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode != 0
    assert "nowhere.md" in done.stderr


LINK = re.compile(r"\]\(([^)#\s:]+)(?:#[^)\s]*)?\)")


def test_every_page_is_within_three_clicks_of_the_start() -> None:
    """From the README of a repository host, and from the list of which the site's tree is made."""
    pages = {page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "site"}
    assert len(pages) > 40
    for start in (ROOT / "README.md", ROOT / "docs" / "README.md"):
        reached, border = {start}, [start]
        for _ in range(3):
            goals = [
                (page.parent / place).resolve()
                for page in border
                if page.suffix == ".md"
                for place in LINK.findall(page.read_text(encoding="utf-8"))
            ]
            border = [goal for goal in dict.fromkeys(goals) if goal.is_file() and goal not in reached]
            reached |= set(border)
        assert sorted(str(page.relative_to(ROOT)) for page in pages - reached) == []


def test_the_readme_leads_to_ten_places_at_most() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition("## More")[2]
    assert 3 <= len(LINK.findall(text)) <= 10


def test_links_of_pages_lead_to_files() -> None:
    """On a repository host, too, where no site is built."""
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "studies").rglob("*.md")]:
        if page.parent.name == "site" and page.name == "index.md":
            continue
        text = re.sub(r"^(```|~~~).*?^\1", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for place in LINK.findall(re.sub(r"`[^`\n]*`", "", text)):
            assert (page.parent / place).exists(), f"{page.relative_to(ROOT)}: {place}"
