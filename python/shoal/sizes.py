"""Files with distributions of transfer sizes, in the forms in which measurements and traffic generators write them."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from shoal._toml import toml_value
from shoal.errors import ScenarioError
from shoal.scenario import Scenario, read_scenario
from shoal.table_files import Record, read_records
from shoal.words import count_of

_example = (
    "write a size and the part of the transfers up to it, as in `10000, 0.15` or `10 kB, 0.15`; `#` begins a comment"
)
_units = {"": 1.0, "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}
# The simulations for which files in ns-2's form were published count packets with so many bytes of payload (pFabric's
# CDF_dctcp.tcl; the same points stand in bytes in DCTCP_CDF.txt of HKUST-SING/TrafficGenerator).
_ns2_packet_bytes = 1460
# Sums of decimal fractions: the last point of published files may miss 1 by so much.
_nearly = 1e-6
# What a head may say of sizes that are not in bytes.
_unit_of_a_head = re.compile(
    r"(?<![A-Za-z])([kKMG]i?(B|bytes?|bits?)|[kmg]i?b|bits?|packets?|pkts?|segments?)(?![A-Za-z])"
)
# Means of files are rounded.
_same_mean = 0.01


@dataclass(frozen=True, slots=True)
class Sizes:
    """A distribution of transfer sizes that was read from a file.

    Attributes
    ----------
    cdf
        Points of the cumulative distribution: size in bytes, and probability of at most this size. Two points of one
        size are a jump.
    notes
        How the file was understood where its form leaves that open, and the mean size that follows.
    """

    cdf: tuple[tuple[int, float], ...]
    notes: tuple[str, ...]

    @property
    def table(self) -> dict[str, object]:
        """A value of ``[distributions]`` in a scenario file."""
        return {"cdf": [[f"{size} B", probability] for size, probability in self.cdf]}

    @property
    def mean_bytes(self) -> float:
        """Mean size in bytes: between two points sizes are equally likely."""
        pairs = itertools.pairwise([(0, 0.0), *self.cdf])
        return sum((high - low) * (size + before) / 2 for (before, low), (size, high) in pairs)


def scenario_with_sizes(
    path: Path, files: Mapping[str, Path], laws: Sequence[tuple[str, str]] = ()
) -> tuple[Scenario, list[str]]:
    """The scenario of a file with distributions of transfer sizes from other files written into it, and their notes.

    Its flows may name the distributions, and ``laws``, so the file is only checked together with them.
    """
    read = {name: read_sizes(file) for name, file in files.items()}
    tables = [(f"distributions.{name}", toml_value(sizes.table)) for name, sizes in read.items()]
    notes = [f"`{name}`: {note}" for name, sizes in read.items() for note in sizes.notes]
    return read_scenario(path, [*laws, *tables]), notes


def read_sizes(path: str | Path) -> Sizes:
    """Read points of a cumulative distribution, one a line: size (bytes, or with a unit) and probability.

    A first line of words is a head. Probabilities may be per cent. A first line with one number is the mean size; if
    it is the mean of the listed sizes alone, nothing lies between them. Three columns are ns-2's (packets, a number
    that it does not use, probability) or size, part of the transfers and probability.

    Raises
    ------
    OutputError
        The file cannot be read.
    ScenarioError
        It is not a distribution; the message names the line.
    """
    lines = _rows(path)
    mean_bytes = None
    if len(lines) > 1 and len(lines[0].cells) == 1 < len(lines[1].cells):
        mean_bytes = _size_bytes(lines.pop(0))
    if not lines:
        raise ScenarioError(f"error: the file holds no points\n --> {path}\nhint: {_example}\n")
    count = len(lines[0].cells)
    for line in lines:
        if len(line.cells) != count or count not in (2, 3):
            wanted = "a size and a probability" if count != 3 else "3 values as above"
            raise line.refused(f"expected {wanted}, found {len(line.cells)} values", _example)
    notes: list[str] = []
    unit_bytes = _unit_bytes(lines, notes) if count == 3 else 1
    points = _points(lines, unit_bytes, notes)
    sizes = Sizes(tuple(points), ())
    if mean_bytes is not None:
        sizes = _with_mean(sizes, mean_bytes * unit_bytes, notes)
    notes.append(f"{count_of(len(sizes.cdf), 'point')}, mean size {_shown(sizes.mean_bytes)}")
    return Sizes(sizes.cdf, tuple(notes))


def _rows(path: str | Path) -> list[Record]:
    """The rows with numbers; words above the first of them are a head."""
    records = read_records(path, _example)
    is_head = [not any(character.isdigit() for cell in record.cells for character in cell) for record in records]
    first = is_head.index(False) if False in is_head else len(records)
    for record in records[:first]:
        if (unit := _unit_of_a_head.search(" ".join(record.cells))) is not None:
            what = f"the head says that sizes are in `{unit[0]}`, which is not read"
            raise record.refused(what, "write the unit behind each size, as in `10 kB, 0.15`")
    return [replace(row, cells=tuple(filter(None, row.cells))) for row in records[first:]]


def _size_bytes(row: Record) -> float:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?(?:[eE]\+?[0-9]+)?)\s*([A-Za-z]*)", row.cells[0])
    if match is None or match[2] not in _units:
        raise row.refused(f"`{row.cells[0]}` is not a size", _example)
    return float(match[1]) * _units[match[2]]


def _number(row: Record, column: int, what: str) -> float:
    try:
        value = float(row.cells[column].removesuffix("%"))
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise row.refused(f"`{row.cells[column]}` is not {what}", "write a number from 0 to 1")
    return value


def _unit_bytes(lines: Sequence[Record], notes: list[str]) -> int:
    """What a size counts in a file of three columns, by what its second column is."""
    seconds = [_number(line, 1, "a number") for line in lines]
    sums = list(itertools.accumulate(seconds))
    lasts = [_number(line, 2, "a probability") for line in lines]
    if all(math.isclose(total, last, abs_tol=1e-3 * lasts[-1]) for total, last in zip(sums, lasts, strict=True)):
        return 1
    if set(seconds) == {1.0} and not any(re.search("[A-Za-z]", line.cells[0]) for line in lines):
        notes.append(f"three columns as ns-2 has them: sizes are taken as packets of {_ns2_packet_bytes} B")
        return _ns2_packet_bytes
    raise lines[0].refused(
        "three columns of which the second is neither 1 everywhere nor the part that the third adds up",
        "write two columns: a size and the part of the transfers up to it",
    )


def _points(lines: Sequence[Record], unit_bytes: int, notes: list[str]) -> list[tuple[int, float]]:
    """The points in bytes and parts of one; of a size that stands more than twice the first and the last."""
    values = [_number(line, -1, "a probability") for line in lines]
    last = values[-1]
    whole = 100.0 if lines[-1].cells[-1].endswith("%") or abs(last - 100) <= 100 * _nearly else 1.0
    if whole == 100.0 and not lines[-1].cells[-1].endswith("%"):
        notes.append("the last probability is 100: all are per cent")
    points: list[tuple[int, float]] = []
    for line, value in zip(lines, values, strict=True):
        if value > whole * (1 + _nearly):
            raise line.refused(f"`{line.cells[-1]}` is not a probability", "write a number from 0 to 1")
        size, probability = math.ceil(_size_bytes(line) * unit_bytes), min(value / whole, 1.0)
        if points and size < points[-1][0]:
            raise line.refused("the size is below the one before", "sizes rise from line to line")
        if points and probability < points[-1][1]:
            raise line.refused("the probability falls", "write cumulative probabilities, which only rise")
        if size == 0 and probability > 0:
            raise line.refused("transfers of 0 B", "give 0 B the probability 0, or remove the line")
        if len(points) > 1 and size == points[-1][0] == points[-2][0]:
            points.pop()
        points.append((size, probability))
    if abs(points[-1][1] - 1) > _nearly:
        what = f"the last probability is {last:g}, not {whole:g}"
        raise lines[-1].refused(what, "end with the largest size")
    points[-1] = (points[-1][0], 1.0)
    # A distribution begins at 0 B without being told.
    return points[1:] if points[0] == (0, 0.0) and len(points) > 1 else points


def _with_mean(sizes: Sizes, mean_bytes: float, notes: list[str]) -> Sizes:
    """The distribution with the mean that the file has in its first line: of the lines between points, or of steps."""
    if math.isclose(sizes.mean_bytes, mean_bytes, rel_tol=_same_mean):
        return sizes
    before, steps = 0.0, []
    for size, probability in sizes.cdf:
        steps += [(size, before), (size, probability)]
        before = probability
    stepped = Sizes(tuple(steps), ())
    if math.isclose(stepped.mean_bytes, mean_bytes, rel_tol=_same_mean):
        notes.append("the first line is the mean of the listed sizes alone, so no sizes lie between them")
        return stepped
    notes.append(
        f"the first line, {_shown(mean_bytes)}, is not the mean of the points, which is {_shown(sizes.mean_bytes)}"
    )
    return sizes


def _shown(size_bytes: float) -> str:
    """A size for people."""
    for factor, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size_bytes >= factor:
            return f"{size_bytes / factor:.4g} {unit}"
    return f"{size_bytes:.4g} B"
