"""How results are cited: which build made them, from which scenarios, and an entry for BibTeX.

Title, authors and year have one owner, ``CITATION.cff``; the version is that of the results.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from shoal import build
from shoal._native import __version__
from shoal.runs.store import digest_of
from shoal.scenario import Scenario

#: Authors, title and year of the program, for people who cite it and for repositories that read such files.
citation_file = Path(__file__).parent / "_data" / "CITATION.cff"


@dataclass(frozen=True)
class Card:
    """What a page of results says about how to cite them.

    Attributes
    ----------
    version
        The version of shoal that made the results.
    commit
        The commit of this build, unless the results are of another version or nobody knows it.
    scenarios
        Names of scenarios with what runs of each are found by.
    """

    version: str
    commit: str | None
    scenarios: tuple[tuple[str, str], ...]

    @property
    def rows(self) -> list[tuple[str, str]]:
        """What is said of the build and the scenarios, two columns."""
        rows = [("Version", f"shoal {self.version}")]
        if self.commit is not None:
            rows.append(("Commit of the build", self.commit))
        label = "SHA-256 of the resolved scenario"
        return [*rows, *((f"{label} {name}".rstrip(), digest) for name, digest in self.scenarios)]

    @property
    def bibtex(self) -> str:
        """An entry for BibTeX and biblatex."""
        citation = _citation()
        fields = {
            # Braces keep the name of a group from being taken apart as that of a person.
            "author": " and ".join(f"{{{author['name']}}}" for author in citation["authors"]),
            "title": citation["title"],
            "version": self.version,
            "year": str(citation["date-released"])[:4],
        }
        if url := citation.get("url") or citation.get("repository-code"):
            fields["url"] = url
        if self.commit is not None:
            fields["note"] = f"commit {self.commit}"
        width = max(map(len, fields))
        lines = [f"  {name:<{width}} = {{{text}}},\n" for name, text in fields.items()]
        return f"@software{{shoal-{self.version},\n{''.join(lines)}}}"


def card(scenarios: Iterable[tuple[str, Scenario]], *, versions: Iterable[str] = (__version__,)) -> Card:
    """The card of results.

    Parameters
    ----------
    scenarios
        Names of scenarios, which may be empty, and the scenarios; equal ones stand there once with all of their names.
    versions
        The versions of shoal that made the results.
    """
    names: dict[str, list[str]] = {}
    for name, scenario in scenarios:
        names.setdefault(scenario_digest(scenario), []).append(name)
    version = ", ".join(dict.fromkeys(versions))
    listed = tuple((", ".join(dict.fromkeys(filter(None, of))), digest) for digest, of in names.items())
    return Card(version, build.commit() if version == __version__ else None, listed)


def scenario_digest(scenario: Scenario) -> str:
    """What a scenario is known by: the key that its runs on the simulator have in the cache, beside the seed."""
    return digest_of(scenario.native.json).hex()


@cache
def _citation() -> Mapping[str, Any]:
    import yaml

    content: Mapping[str, Any] = yaml.safe_load(citation_file.read_text(encoding="utf-8"))
    return content
