"""The structure of the pages that reports consist of, for tests."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

from shoal.report import explore


class Page(HTMLParser):
    """The structure of a page: headings, figures, and where tables stand."""

    _empty = frozenset({"meta", "br", "link", "img", "hr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.headings: list[tuple[str, str]] = []
        self.drawings: list[dict[str, str | None]] = []
        self.ids: list[str] = []
        self.tables = 0
        self.loose: list[str] = []
        self.captions: list[str] = []
        self._open: list[tuple[str, dict[str, str | None]]] = []
        self._text: list[str] | None = None
        self.feed(text)
        assert not self._open, f"not closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if values.get("id"):
            self.ids.append(str(values["id"]))
        if tag in ("table", "svg"):
            self.tables += tag == "table"
            boxes = [own for _, own in self._open if "scroll" in (own.get("class") or "").split()]
            if not boxes or boxes[-1].get("tabindex") != "0" or not boxes[-1].get("aria-label"):
                self.loose.append(tag)
        if tag == "svg":
            self.drawings.append(values)
        if re.fullmatch(r"h[1-6]|figcaption", tag):
            self._text = []
        if tag not in self._empty:
            self._open.append((tag, values))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self._empty:
            self.handle_starttag(tag, attrs)
            self.handle_endtag(tag)

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag
        if self._text is not None and re.fullmatch(r"h[1-6]", tag):
            self.headings.append((tag, "".join(self._text).strip()))
            self._text = None
        elif self._text is not None and tag == "figcaption":
            self.captions.append("".join(self._text).strip())
            self._text = None


def check_page(path: Path) -> Page:
    """Check what every page must have."""
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    assert page.tables
    assert page.loose == [], "tables and figures stand in boxes that scroll, with a name, and take the focus"
    for drawing in page.drawings:
        assert drawing["role"] == "img"
        # More than a title: panels, axes, lines or rows.
        assert re.search(r"\. .*(over|shown:|rows:|Panel 1:)", str(drawing["aria-label"])), drawing["aria-label"]
    assert len(page.captions) == len(page.drawings)
    assert [id for id, count in Counter(page.ids).items() if count > 1] == []
    assert page.headings[0][0] == "h1"
    names = [name for tag, name in page.headings if tag in ("h1", "h2")]
    assert len(set(names)) == len(names), names
    for (_, before), (_, after) in zip(page.headings, page.headings[1:], strict=False):
        assert before.casefold() not in (after.casefold(), f"{after}s".casefold()), "a heading twice"
        assert before
        assert after
    assert not re.search(r"""(src|href)=["'](?!#|data:)""", text.replace("xmlns:xlink", ""))
    assert not re.search(r"https?:", re.sub(r'xmlns(:\w+)?="[^"]*"', "", text))
    # Data of interactive plots, and the one script that draws them; nothing else.
    scripts = re.findall(r"<script\b([^>]*)>(.*?)</script>", text, re.DOTALL)
    data = [body for attributes, body in scripts if attributes == ' type="application/json"']
    assert [body for attributes, body in scripts if not attributes] == ([explore.script()] if data else [])
    assert len(scripts) == text.count("<script") == len(data) + bool(data)
    style = text[text.index("<style>") : text.index("</style>")]
    # Folded parts are printed, and figures keep their size on a phone.
    assert "details::details-content" in style[style.index("@media print") :]
    assert "max-width: none" in style[style.index("@media (max-width") : style.index("@media print")]
    return page
