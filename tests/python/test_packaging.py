"""Metadata of an installed package."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_metadata() -> None:
    found = metadata.metadata("shoal")
    assert found["License-Expression"] == "Apache-2.0 OR MIT"
    assert set(found.get_all("License-File") or []) == {"LICENSE-APACHE", "LICENSE-MIT"}
    assert found["Requires-Python"] == ">=3.11"
    classifiers = set(found.get_all("Classifier") or [])
    assert {"Typing :: Typed", "Operating System :: POSIX :: Linux", "Programming Language :: Rust"} <= classifiers
    # With a licence expression, classifiers of licences are not allowed (PEP 639).
    assert not [text for text in classifiers if text.startswith("License ::")]
    # The body of the metadata; a field of them once the package importlib_metadata has been loaded, as Dask does.
    text = found.get_payload() or found["Description"]
    assert isinstance(text, str)
    assert text.startswith("# shoal\n")
    assert found["Description-Content-Type"].startswith("text/markdown")


def test_the_citation_names_this_version() -> None:
    lines = (ROOT / "CITATION.cff").read_text().splitlines()
    assert f"version: {metadata.version('shoal')}" in lines
