"""What is left of statements that later ones delete or deactivate, as NVUE and Junos have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from shoal.switch.reading import Statement

_Path = tuple[str, ...]


@dataclass
class Edits:
    """Statements in their order, each with the path of what it sets.

    A path that is deleted takes all that was set below it before; one that is not active takes all below it, whenever
    it was set.
    """

    _set: list[tuple[_Path, Statement]] = field(default_factory=list)
    _deleted: dict[_Path, int] = field(default_factory=dict)
    _inactive: dict[_Path, bool] = field(default_factory=dict)

    def set(self, path: Sequence[str], statement: Statement) -> None:
        """Note a statement that sets a path."""
        self._set.append((tuple(path), statement))

    def delete(self, path: Sequence[str]) -> None:
        """Take back what was set at a path or below it."""
        self._deleted[tuple(path)] = len(self._set)

    def deactivate(self, path: Sequence[str], *, is_inactive: bool = True) -> None:
        """Make a path inactive, or active again."""
        self._inactive[tuple(path)] = is_inactive

    def statements(self) -> Iterator[Statement]:
        """What is left."""
        for number, (path, statement) in enumerate(self._set):
            starts = [path[:length] for length in range(len(path) + 1)]
            if not any(self._deleted.get(start, 0) > number or self._inactive.get(start) for start in starts):
                yield statement
