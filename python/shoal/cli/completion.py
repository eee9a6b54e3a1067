"""What the shell completes: names of scenarios, papers and models, and scenario files."""

from __future__ import annotations

from pathlib import Path

from shoal.models import models
from shoal.shipped import papers, scenarios

Completed = list[tuple[str, str]]


def scenario_names(incomplete: str) -> Completed:
    """Ready-made scenarios, and files and folders from here."""
    return [*_named([(item.name, item.title) for item in scenarios()], incomplete), *_files(incomplete)]


def paper_names(incomplete: str) -> Completed:
    """Papers; behind a slash, the items of one."""
    paper, slash, _ = incomplete.partition("/")
    if not slash:
        return _named([(item.name, item.title) for item in papers()], incomplete)
    items = [
        path.stem for item in papers() if item.name == paper for path in sorted((item.path / "items").glob("*.toml"))
    ]
    return _named([(f"{paper}/{item}", "") for item in items], incomplete)


def model_names(incomplete: str) -> Completed:
    """Controllers, queues, stacks and applications."""
    return _named([(model.name, model.summary) for model in models()], incomplete)


def host_names(incomplete: str) -> Completed:
    """Presets of hosts."""
    return _named([(model.name, model.summary) for model in models() if model.kind == "host"], incomplete)


def figure_kinds(incomplete: str) -> Completed:
    """Kinds of figures."""
    from shoal.plots.kinds import kinds

    return _named([(name, kind.title) for name, kind in kinds.items()], incomplete)


def _named(known: Completed, incomplete: str) -> Completed:
    return [(name, text) for name, text in known if name.startswith(incomplete)]


def _files(incomplete: str) -> Completed:
    """Scenario files whose path begins so, and folders that may hold some."""
    folder = Path(incomplete) if incomplete.endswith("/") else Path(incomplete).parent
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return []
    paths = [(str(path), path) for path in entries if not path.name.startswith(".")]
    shown = [f"{name}/" if path.is_dir() else name for name, path in paths if path.is_dir() or path.suffix == ".toml"]
    return [(name, "") for name in shown if name.startswith(incomplete)]
