"""Lists of flows in files: a row for each flow with its start, its size and its hosts.

A resolved scenario has the name of the file, the number of flows and their SHA-256; the flows themselves, which may be
millions, are given to the native module beside it, and are read again where that is made anew.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import shutil
import tomllib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal._toml import parsed, read_toml
from shoal.errors import OutputError, ScenarioError, refused_line
from shoal.words import count_of

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

_example = "a head `start_s,bytes` or `start_s,bytes,source,destination`, and a row for each flow"
# Picoseconds in the unit that the name of a column says.
_starts = {"start_s": 10**12, "start_ms": 10**9, "start_us": 10**6, "start_ns": 10**3, "start_ps": 1}
_sizes = ("bytes", "size_bytes")
_hosts = ("source", "destination")
_known = (*_starts, *_sizes, *_hosts)
_begin_bytes = 1 << 16
_latest_ps = 10**18
_most_bytes = 2**53
# HPCC's flow.txt (simulation/mix of its simulator): source, destination, priority, port, bytes and start in seconds.
_hpcc = r"^\s*(?<source>\d+)\s+(?<destination>\d+)\s+\d+\s+\d+\s+(?<bytes>\d+)\s+(?<start>\S+)\s*$"
# A connection matrix of htsim (connection_matrix.cpp of Broadcom/csg-htsim): its start is in picoseconds.
_htsim = (
    r"^\s*(?<source>\d+)->(?<destination>\d+)(?:\s+id\s+\d+)?\s+start\s+(?<start>\d+)\s+size\s+(?<bytes>\d+)"
    r"(?:\s+prio\s+\d+)?\s*$"
)
_htsim_head = re.compile(r"(Nodes|Connections|Triggers|Failures)\s+([0-9]+)")
# Lists that the native module has not been given yet, and small ones: longer ones are read again if need be.
_small = 1_000_000
_most_kept = 8


@dataclass(frozen=True, slots=True)
class FlowList:
    """The flows of a file, in the order of their starts; those at equal times in the order of the file.

    Attributes
    ----------
    path
        The file.
    starts_ps
        When each flow starts, in picoseconds.
    sizes_bytes
        What each flow transfers.
    hosts
        Names of hosts, with the place of each flow's source and destination among them; ``None`` if the file has none.
    """

    path: Path
    starts_ps: NDArray[np.uint64]
    sizes_bytes: NDArray[np.uint64]
    hosts: tuple[list[str], NDArray[np.uint32], NDArray[np.uint32]] | None

    @property
    def columns(self) -> tuple[bytes, bytes, tuple[list[str], bytes, bytes] | None]:
        """The columns as the native module takes them."""
        hosts = self.hosts and (self.hosts[0], _words(self.hosts[1], "<u4"), _words(self.hosts[2], "<u4"))
        return _words(self.starts_ps, "<u8"), _words(self.sizes_bytes, "<u8"), hosts

    @property
    def sha256(self) -> str:
        """A digest of the flows, whatever the form of the file."""
        import numpy as np

        digest = hashlib.sha256(f"shoal flows 1\n{len(self.starts_ps)}\n".encode())
        names, *ends = self.hosts or ([],)
        for column, dtype in ((self.starts_ps, "<u8"), (self.sizes_bytes, "<u8"), *((end, "<u4") for end in ends)):
            digest.update(np.ascontiguousarray(column, dtype=dtype).data)
        digest.update("\n".join(names).encode())
        return digest.hexdigest()


_kept: OrderedDict[str, FlowList] = OrderedDict()
_paths: dict[str, Path] = {}


def lists_in(text: str, file: Path) -> list[tuple[str, object]]:
    """Read the lists of flows that a scenario file names: dotted keys, and what stands there when they have been read.

    Parameters
    ----------
    text
        The scenario file; what is no TOML names none, and is refused elsewhere.
    file
        Where it is; the lists are relative to its folder.

    Raises
    ------
    OutputError
        A file cannot be read.
    ScenarioError
        A file is no list of flows; the message names the line.
    """
    entries: list[tuple[str, object]] = []
    for key, start in _named(text, ()):
        if "sha256" not in start:
            beside = file.parent / Path(start["list"]).name
            path = file.parent / start["list"]
            # A folder of results has copies of lists that were elsewhere.
            flows = read_flow_list(beside if beside.is_file() and not path.is_file() else path)
            digest = flows.sha256
            _keep(digest, flows)
            entries.append((key, {"list": start["list"], "flows": len(flows.starts_ps), "sha256": digest}))
    return entries


def list_files(text: str, file: Path) -> list[Path]:
    """The files of the lists of flows that a scenario file names."""
    return [file.parent / start["list"] for _, start in _named(text, ())]


def given_lists(text: str, overrides: Iterable[tuple[str, str]], base: Path) -> list[tuple[str, bytes, bytes, Any]]:
    """The lists that a scenario names by their SHA-256, as the native module takes them.

    Parameters
    ----------
    text
        The scenario.
    overrides
        What replaces values of it.
    base
        Folder to which its files are relative.

    Raises
    ------
    OutputError
        The file of a list is missing.
    ScenarioError
        It has changed.
    """
    wanted = {start["sha256"]: start for _, start in _named(text, tuple(overrides)) if "sha256" in start}
    return [(digest, *_flows_of(digest, start, base).columns) for digest, start in wanted.items()]


def keep_lists(resolved: Mapping[str, Any], folder: Path, base: Path) -> None:
    """Copy the lists of a resolved scenario into the folder where it is written, so that it can be run from there."""
    for group in resolved.get("flows", ()):
        start = group.get("start")
        if isinstance(start, dict) and "sha256" in start:
            source, target = _path_of(start, base), folder / Path(start["list"]).name
            if not target.exists():
                shutil.copyfile(source, target)


def remember_lists(resolved: Mapping[str, Any], folder: Path) -> None:
    """Note that the lists of a resolved scenario are in the folder of results that it is from."""
    for group in resolved.get("flows", ()):
        start = group.get("start")
        if isinstance(start, dict) and "sha256" in start and (path := folder / Path(start["list"]).name).is_file():
            _paths.setdefault(start["sha256"], path.absolute())


def read_flow_list(path: str | Path) -> FlowList:
    """Read a list of flows.

    A table has the columns ``start_s`` (or ``start_ms``, ``start_us``, ``start_ns``, ``start_ps``), ``bytes`` (or
    ``size_bytes``) and perhaps ``source`` and ``destination``: as CSV, as JSON with an object for each row, or as
    Parquet. Of published forms two are read, which say themselves what they are: HPCC's ``flow.txt`` and connection
    matrices of htsim; their hosts count from 0, which is ``h1``.

    Raises
    ------
    OutputError
        The file cannot be read.
    ScenarioError
        It is no list of flows; the message names the line.
    """
    import polars as pl

    path = Path(path)
    try:
        with path.open("rb") as file:
            begin = file.read(_begin_bytes)
        frame, rows = _frame(path, begin)
        read = frame.collect(engine="streaming")
    except OSError as error:
        hint = "start.list names a file relative to the scenario file"
        raise OutputError(f"cannot read the list of flows `{path}`: {error.strerror}", hint=hint) from error
    except pl.exceptions.PolarsError as error:
        what = str(error).partition("\n")[0]
        if isinstance(error, pl.exceptions.NoDataError):
            raise _refused(path, "the list has no flows") from None
        if "number of columns" in what or "ragged" in what or "more fields" in what:
            what = "a row has another number of values than the head"
        raise _refused(path, f"the list of flows cannot be read: {what}") from None
    return _checked(path, read, rows)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Where the rows of a text are: behind how many lines the first is, and how many rows the file says that it has."""

    head_lines: int | None
    count: int | None = None

    @property
    def skips_empty(self) -> bool:
        """Whether empty lines are no rows."""
        return self.count is not None

    def refused(self, path: Path, row: int, what: str, hint: str) -> ScenarioError:
        if self.head_lines is None:
            return _refused(path, f"row {row + 1}: {what}", hint)
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            rows = (
                (number, line)
                for number, line in enumerate(file, start=1)
                if number > self.head_lines and not line.startswith("#") and (line.strip() or not self.skips_empty)
            )
            number, line = next(itertools.islice(rows, row, None))
        return refused_line(path, number, line.rstrip("\n"), what, hint)


def _frame(path: Path, begin: bytes) -> tuple[pl.LazyFrame, _Rows]:
    """The columns ``start`` (picoseconds), ``bytes`` and perhaps hosts of a file; what is no number is null."""
    import polars as pl

    if begin.startswith(b"PAR1"):
        return _table(path, pl.scan_parquet(path)), _Rows(None)
    if begin.lstrip()[:1] in (b"{", b"["):
        is_by_line = begin.lstrip()[:1] == b"{"
        return _table(path, pl.scan_ndjson(path) if is_by_line else pl.read_json(path).lazy()), _Rows(None)
    try:
        lines = begin.decode("utf-8-sig", errors="strict" if len(begin) < _begin_bytes else "ignore").splitlines()
    except UnicodeDecodeError:
        raise _refused(path, "the list of flows is no text, JSON or Parquet") from None
    head = next((number for number, line in enumerate(lines) if line.strip() and not line.startswith("#")), None)
    if head is None:
        raise _refused(path, "the list has no flows")
    if lines[head].strip().isdecimal():
        return _matched(path, head + 1, _hpcc, 10**12), _Rows(head + 1, int(lines[head]))
    if _htsim_head.fullmatch(lines[head].strip()):
        return _connection_matrix(path, lines, head)
    return _csv(path, lines, head)


def _csv(path: Path, lines: list[str], head: int) -> tuple[pl.LazyFrame, _Rows]:
    line = lines[head]
    mark = next((mark for mark in (",", ";", "\t") if mark in line), ",")
    names = [name.strip().strip('"') for name in line.split(mark)]
    if (unknown := next((name for name in names if name not in _known), None)) is not None:
        what = f"the column `{unknown}` is not known"
        if re.fullmatch(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?", unknown, re.IGNORECASE):
            what = "the first row has numbers instead of names of columns"
        elif "->" in unknown:
            what = "a connection of htsim without the lines `Nodes N` and `Connections M` above it"
        raise refused_line(path, head + 1, line, what, f"write {_example}; names of columns say their units")
    return _table(path, _lines(path, head + 1, mark, names), names), _Rows(head + 1)


def _connection_matrix(path: Path, lines: list[str], head: int) -> tuple[pl.LazyFrame, _Rows]:
    counts: dict[str, int] = {}
    number = head
    while number < len(lines) and (match := _htsim_head.fullmatch(lines[number].strip())):
        counts[match[1]] = int(match[2])
        number += 1
    for kind in ("Triggers", "Failures"):
        if counts.get(kind):
            what = f"the matrix has {counts[kind]} {kind.lower()}, which are not read"
            raise refused_line(path, number, lines[number - 1], what, "give each connection a start of its own")
    if "Connections" not in counts:
        what = "the line `Connections M` is missing"
        raise refused_line(path, number, lines[number - 1], what, "write it, with the number of connections")
    return _matched(path, number, _htsim, 1), _Rows(number, counts["Connections"])


def _lines(path: Path, skipped: int, mark: str, names: list[str]) -> pl.LazyFrame:
    """The cells of a text as they are written."""
    import polars as pl

    return pl.scan_csv(
        path,
        has_header=False,
        skip_lines=skipped,
        separator=mark,
        new_columns=names,
        infer_schema=False,
        comment_prefix="#",
        quote_char=None if len(names) == 1 else '"',
    )


def _matched(path: Path, skipped: int, pattern: str, unit_ps: int) -> pl.LazyFrame:
    """The columns of lines that match a pattern; of others all are null."""
    import polars as pl

    lines = _lines(path, skipped, "\x01", ["line"]).filter(pl.col("line").str.strip_chars() != "")
    fields = lines.select(pl.col("line").str.extract_groups(pattern).alias("fields")).unnest("fields")
    host = {name: pl.lit("h") + (pl.col(name).cast(pl.Int64, strict=False) + 1).cast(pl.String) for name in _hosts}
    return fields.select(_picoseconds("start", pl.String(), unit_ps), _whole("bytes", pl.String()), **host)


def _table(path: Path, frame: pl.LazyFrame, names: list[str] | None = None) -> pl.LazyFrame:
    """The columns of a table."""
    import polars as pl

    schema = frame.collect_schema()
    names = names or schema.names()
    if (unknown := next((name for name in names if name not in _known), None)) is not None:
        raise _refused(path, f"the column `{unknown}` is not known")
    starts, sizes = [name for name in names if name in _starts], [name for name in names if name in _sizes]
    hosts = [name for name in names if name in _hosts]
    if len(starts) != 1 or len(sizes) != 1 or len(hosts) == 1 or len(set(names)) < len(names):
        raise _refused(path, f"the columns of the list are {', '.join(names)}")
    start, size = starts[0], sizes[0]
    return frame.select(
        _picoseconds(start, schema[start], _starts[start]),
        _whole(size, schema[size]),
        *(pl.col(host).cast(pl.String).str.strip_chars() for host in hosts),
    )


def _picoseconds(name: str, dtype: pl.DataType, unit_ps: int) -> pl.Expr:
    """A column of times; what is no time is null. Whole numbers are exact, others have 16 digits."""
    import polars as pl

    column = pl.col(name)
    if dtype == pl.String:
        column = column.str.strip_chars()
    fraction = (column.cast(pl.Float64, strict=False) * unit_ps).round().cast(pl.Int64, strict=False)
    if dtype == pl.String or dtype.is_integer():
        whole = column.cast(pl.Int64, strict=False)
        fraction = pl.when(whole.abs() <= _latest_ps // unit_ps).then(whole * unit_ps).otherwise(fraction)
    return fraction.alias("start")


def _whole(name: str, dtype: pl.DataType) -> pl.Expr:
    """A column of whole numbers; others are null."""
    import polars as pl

    column = pl.col(name)
    if dtype == pl.String:
        column = column.str.strip_chars()
    whole = column.cast(pl.Int64, strict=False)
    if dtype.is_float():
        whole = pl.when(column == column.round()).then(whole)
    return whole.alias("bytes")


def _checked(path: Path, frame: pl.DataFrame, rows: _Rows) -> FlowList:
    import numpy as np
    import polars as pl

    if frame.is_empty():
        raise _refused(path, "the list has no flows")
    has_hosts = "source" in frame.columns
    wrong: list[tuple[pl.Expr, str, str]] = [
        (pl.col("start").is_null(), "the start is no time", "write a number, in the unit of the column"),
        (pl.col("bytes").is_null(), "the size is no whole number of bytes", "write a whole number"),
        (pl.col("start") < 0, "the start is negative", "write times after the start of the run"),
        (pl.col("start") > _latest_ps, "the start is later than 1000000 s", "is the unit right?"),
        (pl.col("bytes") <= 0, "a transfer needs a size above 0", "remove the row"),
        (pl.col("bytes") > _most_bytes, "the size is more than 2^53 bytes", "is the unit right?"),
    ]
    if has_hosts:
        ends = [pl.col(host) for host in _hosts]
        wrong += [
            (pl.any_horizontal(end.is_null() | (end == "") for end in ends), "a host is missing", "name both hosts"),
            (ends[0] == ends[1], "the flow goes from a host to itself", "name two different hosts"),
        ]
    for mask, what, hint in wrong:
        if (row := frame.select(mask.fill_null(value=False).arg_true().first()).item()) is not None:
            if frame.row(row)[:2] == (None, None):
                form = f"write a flow as in the lines around it, or {_example}"
                raise rows.refused(path, row, "this is no flow", form)
            raise rows.refused(path, row, what, hint)
    if rows.count is not None and rows.count != len(frame):
        what = f"the file says that it has {count_of(rows.count, 'flow')}, and has {len(frame)}"
        raise _refused(path, what, "is it complete? correct the number")
    if not frame["start"].is_sorted():
        frame = frame.sort("start", maintain_order=True)
    hosts = None
    if has_hosts:
        names = sorted(set(frame["source"].unique()) | set(frame["destination"].unique()))
        places = [frame[host].cast(pl.Enum(names)).to_physical().cast(pl.UInt32).to_numpy() for host in _hosts]
        hosts = (names, places[0], places[1])
    # None is negative.
    starts, sizes = (frame[column].to_numpy().view(np.uint64) for column in ("start", "bytes"))
    return FlowList(path, starts, sizes, hosts)


def _words(column: NDArray[Any], dtype: str) -> bytes:
    import numpy as np

    return np.ascontiguousarray(column, dtype=dtype).tobytes()


def _refused(path: Path, what: str, hint: str = f"write {_example}") -> ScenarioError:
    return ScenarioError(f"error: {what}\n --> {path}\nhint: {hint}\n")


def _named(text: str, overrides: tuple[tuple[str, str], ...]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The starts of flow groups that name a list, with their dotted keys."""
    if "list" in text:
        try:
            groups = read_toml(text, "<scenario>").get("flows")
        except tomllib.TOMLDecodeError:
            groups = None
        for number, group in enumerate(groups if isinstance(groups, list) else []):
            start = group.get("start") if isinstance(group, dict) else None
            if isinstance(start, dict) and isinstance(start.get("list"), str):
                yield f"flows[{number}].start", start
    for key, value in overrides:
        if key.endswith(".start") and "sha256" in value:
            start = parsed(value)
            if isinstance(start, dict) and isinstance(start.get("list"), str):
                yield key, start


def _keep(digest: str, flows: FlowList) -> None:
    _paths[digest] = flows.path.absolute()
    _kept[digest] = flows
    while len(_kept) > _most_kept:
        _kept.popitem(last=False)


def _flows_of(digest: str, start: Mapping[str, Any], base: Path) -> FlowList:
    flows = _kept.pop(digest, None)
    if flows is None:
        flows = read_flow_list(_path_of(start, base))
        if flows.sha256 != digest:
            what = f"the list of flows has changed: it had {count_of(start['flows'], 'flow')} with another SHA-256"
            hint = "bring the file back, or name the list anew: start = { list = ... } without flows and sha256"
            raise _refused(flows.path, what, hint)
        _paths[digest] = flows.path.absolute()
    if len(flows.starts_ps) <= _small:
        _keep(digest, flows)
    return flows


def _path_of(start: Mapping[str, Any], base: Path) -> Path:
    """The file of a list: where it was read, beside the scenario, or in the working directory."""
    name = Path(start["list"])
    candidates = [_paths.get(start["sha256"]), base / name, base / name.name, name]
    path = next((path for path in candidates if path is not None and path.is_file()), None)
    if path is None:
        message = f"the list of flows `{name}` ({count_of(start['flows'], 'flow')}) is not in `{base}`"
        raise OutputError(message, hint="copy it there: a scenario names its list, and does not hold it")
    return path
