"""`shoal page`, with a page of a few bytes; the page itself is tested in a browser (`make test-page`)."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import pytest

from shoal.cli import page as command
from shoal.errors import OutputError

ROOT = Path(__file__).parents[2]
PAGE = "<!doctype html>\n<!-- Page of shoal: a short one. -->\n"


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page of the package."""
    path = tmp_path / "built" / "shoal.html"
    path.parent.mkdir()
    path.write_text(PAGE, encoding="utf-8")
    monkeypatch.setattr(command, "_page", path)
    return path


def test_a_copy_is_written_and_replaced_when_asked_to(built: Path, tmp_path: Path) -> None:
    copy = tmp_path / "new" / "copy.html"
    command.page(out=copy)
    assert copy.read_text(encoding="utf-8") == PAGE
    with pytest.raises(OutputError, match="already exists"):
        command.page(out=copy)
    built.write_text(PAGE + "newer\n", encoding="utf-8")
    command.page(out=copy, force=True)
    assert copy.read_text(encoding="utf-8") == PAGE + "newer\n"
    assert [path.name for path in copy.parent.iterdir()] == ["copy.html"]


@pytest.mark.usefixtures("built")
def test_another_file_is_not_replaced(tmp_path: Path) -> None:
    other = tmp_path / "mine.html"
    other.write_text("<!doctype html>\n<p>mine", encoding="utf-8")
    with pytest.raises(OutputError, match="is not a page of shoal"):
        command.page(out=other, force=True)
    assert other.read_text(encoding="utf-8") == "<!doctype html>\n<p>mine"
    with pytest.raises(OutputError, match="is not a regular file"):
        command.page(out=tmp_path, force=True)


@pytest.mark.parametrize("has_browser", [True, False])
def test_the_page_is_opened(
    built: Path, has_browser: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or has_browser)
    command.page()
    assert opened == [built.as_uri()]
    said = capsys.readouterr()
    assert said.out == f"{built.as_uri()}\n"
    assert ("no browser" in said.err) is not has_browser


def test_a_checkout_without_the_page_says_how_to_build_it(built: Path) -> None:
    built.unlink()
    with pytest.raises(OutputError, match="no page") as caught:
        command.page()
    assert "make page" in str(caught.value.hint)


def test_the_mark_is_that_of_the_template() -> None:
    template = (ROOT / "crates/front/web/page/src/page.html").read_bytes()
    assert template.startswith(command._mark)
