"""Files with distributions of transfer sizes, as measurements and traffic generators write them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path

from shoal._toml import toml_value
from shoal.errors import ScenarioError, refused_line
from shoal.scenario import Scenario, read_text, read_traces

_example = (
    "write a size and the part of the transfers up to it, as in `10000, 0.15` or `10 kB, 0.15`; `#` begins a comment"
)


def scenario_with_sizes(path: Path, files: Mapping[str, Path]) -> Scenario:
    """The scenario of a file with distributions of transfer sizes from other files written into it.

    Its flows may name the distributions, so the file is only checked together with them.
    """
    tables = {f"distributions.{name}": read_sizes(file) for name, file in files.items()}
    text = read_text(path)
    return Scenario(text, str(path), (*read_traces(text, path), *((k, toml_value(v)) for k, v in tables.items())))


def read_sizes(path: str | Path) -> dict[str, object]:
    """Read points of a cumulative distribution, one a line: size (bytes, or with a unit) and probability.

    The result is a value of ``[distributions]`` in a scenario file. A first line of words is a head.

    Raises
    ------
    OutputError
        The file cannot be read.
    ScenarioError
        It is not a distribution; the message names the line.
    """
    points: list[tuple[str, float]] = []
    last_bytes, last_probability, last_line = 0.0, 0.0, 0
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        cells = [
            cell for cell in (re.split(r"\s*[,;\t]\s*", text) if re.search("[,;\t]", text) else text.split()) if cell
        ]
        if not points and not any(character.isdigit() for character in text):
            continue
        if len(cells) != 2:
            raise refused_line(
                path, number, line, f"expected a size and a probability, found {len(cells)} values", _example
            )
        size, bytes_ = _size(path, number, line, cells[0])
        probability = _probability(path, number, line, cells[1])
        if points and bytes_ <= last_bytes:
            raise refused_line(
                path, number, line, "the size is not above the one before", "sizes rise from line to line"
            )
        if probability < last_probability:
            raise refused_line(
                path, number, line, "the probability falls", "write cumulative probabilities, which only rise"
            )
        points.append((size, probability))
        last_bytes, last_probability, last_line = bytes_, probability, number
    if not points:
        raise ScenarioError(f"error: the file holds no points\n --> {path}\nhint: {_example}\n")
    if last_probability != 1:
        raise refused_line(
            path, last_line, None, f"the last probability is {last_probability:g}, not 1", "end with the largest size"
        )
    return {"cdf": [[size, probability] for size, probability in points]}


def _size(path: str | Path, number: int, line: str, cell: str) -> tuple[str, float]:
    units = {"": 1.0, "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?(?:[eE]\+?[0-9]+)?)\s*([A-Za-z]*)", cell)
    if match is None or match[2] not in units:
        raise refused_line(path, number, line, f"`{cell}` is not a size", _example)
    bytes_ = float(match[1]) * units[match[2]]
    if bytes_ != int(bytes_) or bytes_ < 1:
        raise refused_line(path, number, line, f"`{cell}` is not a whole number of bytes", _example)
    return f"{int(bytes_)} B", bytes_


def _probability(path: str | Path, number: int, line: str, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise refused_line(path, number, line, f"`{cell}` is not a probability", "write a number from 0 to 1")
    return value
