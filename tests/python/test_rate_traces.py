"""Traces of rates and delays in the forms that measurements and emulators write, and tables of every kind."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
import pytest
from conftest import TABLES, Cli

import shoal
from shoal.rate_traces import Trace, read_trace
from shoal.sizes import read_sizes
from shoal.table_files import read_records

# 10 Mbit/s from the start on, 2.5 Mbit/s from 1.5 s on.
RATES = [["0 s", "10 Mbit/s"], ["1.5 s", "2.5 Mbit/s"]]
FROM_FIRST = "the times count from the first row on, `{}`"


def read(folder: Path, text: str) -> Trace:
    (folder / "path.csv").write_text(text, encoding="utf-8")
    return read_trace(folder / "path.csv")


@pytest.mark.parametrize(
    "text",
    [
        "time_s,rate_mbit_s\n0,10\n1.5,2.5\n",
        "time_s\trate_mbit_s\n0\t10\n1.5\t2.5\n",
        "time_s rate_mbit_s\n0 10\n1.5 2.5\n",
        "time_s;rate_mbit_s\n0;10\n1.5;2.5\n",
        '"time_s","rate_mbit_s"\n"0","10"\n"1.5","2.5"\n',
        "\ufefftime_ms,throughput_kbps\r\n0,10000\r\n1500,2500\r\n",
        "Time (s),Throughput (Mbps)\n0,10\n1.5,2.5\n",
        "timestamp [us], bandwidth [bit/s]\n0,1e7\n1.5e6,2.5e6\n",
        "elapsed_ns,Link rate (Gbit/s)\n0,.01\n1500000000,.0025\n",
        "rate_kbit_s,t_s\n10000,0\n2500,1.5\n",
        "time_s,capacity_MB/s\n0,1.25\n1.5,0.3125\n",
        "time_s,bw_kBps # from a paper\n\n0,1250\n# a comment\n1.5,312.5\n",
    ],
)
def test_heads_say_their_units(tmp_path: Path, text: str) -> None:
    """Each form holds the same two rates, and nothing is left open."""
    assert read(tmp_path, text) == Trace({"rates": RATES}, ())


@pytest.mark.parametrize("text", ["0 10\n1.5 2.5\n", "0\t10.0\n1.500\t2.5\n", "0,10\n1.5,2.5\n"])
def test_two_columns_of_numbers_are_those_of_pensieve(tmp_path: Path, text: str) -> None:
    note = "there are no names of columns: the two are taken as seconds and Mbit/s"
    assert read(tmp_path, text) == Trace({"rates": RATES}, (note,))


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        ("1517840000.1", "1517840001.6", "time_s"),
        ("1517840000100", "1517840001600", "time_ms"),
        ("15:33:20.1", "15:33:21.6", "time_s"),
        ("15:33:20,1", "15:33:21,6", "time;x"),
        ("23:59:59.5", "00:00:01", "timestamp"),
        ("2018-02-05 23:59:59.5", "2018-02-06 00:00:01", "datetime"),
        ("2018-02-05T23:59:59.5+01:00", "2018-02-05T23:00:01Z", "time"),
        ("2016/12/31 23:59:59", "2017/01/01 00:00:00.5", "date time"),
    ],
)
def test_times_of_day_count_from_the_first_row_on(tmp_path: Path, first: str, second: str, name: str) -> None:
    mark = ";" if "," in first else ","
    trace = read(tmp_path, f"{name.partition(';')[0]}{mark}rate_mbit_s\n{first}{mark}10\n{second}{mark}2.5\n")
    assert trace == Trace({"rates": RATES}, (FROM_FIRST.format(first),))


def test_a_whole_night_of_times_of_day(tmp_path: Path) -> None:
    """Two midnights are passed; each row is about 11 hours after the one before."""
    rows = "".join(f"{clock},1\n" for clock in ("18:00:00", "05:00:00", "16:59:00", "04:00:00"))
    times = [at for at, _ in read(tmp_path, f"time,rate_mbit_s\n{rows}").points["rates"]]
    assert times == ["0 s", "39600 s", "82740 s", "122400 s"]


def test_rates_and_delays_and_outages(tmp_path: Path) -> None:
    trace = read(tmp_path, "latency_us,time_ms,bitrate_mbps\n20000,0,DOWN\n5000,250,1\n")
    assert trace.points == {
        "delays": [["0 s", "20 ms"], ["0.25 s", "5 ms"]],
        "rates": [["0 s", "down"], ["0.25 s", "1 Mbit/s"]],
    }


def parquet(folder: Path, columns: dict[str, Sequence[object]]) -> Path:
    pl.DataFrame(columns, strict=False).write_parquet(folder / "table")
    return folder / "table"


def written(text: Callable[[dict[str, Sequence[object]]], str]) -> Callable[[Path, dict[str, Sequence[object]]], Path]:
    def write(folder: Path, columns: dict[str, Sequence[object]]) -> Path:
        (folder / "table").write_text(text(columns), encoding="utf-8")
        return folder / "table"

    return write


def rows_of(columns: dict[str, Sequence[object]]) -> list[dict[str, object]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


FORMS = {
    "CSV": written(lambda columns: pl.DataFrame(columns, strict=False).write_csv()),
    "Parquet": parquet,
    "JSON of columns": written(lambda columns: json.dumps(columns, indent=2)),
    "JSON of rows": written(lambda columns: json.dumps(rows_of(columns), indent=1)),
    "JSON by line": written(lambda columns: "".join(f"{json.dumps(row)}\n" for row in rows_of(columns))),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_kind_of_table_is_read_where_one_is_asked_for(tmp_path: Path, form: str) -> None:
    rates = FORMS[form](tmp_path, {"time_s": [0, 1.5], "rate_mbit_s": [10, 2.5]})
    assert read_trace(rates) == Trace({"rates": RATES}, ())
    sizes = FORMS[form](tmp_path, {"size": [1000, 3_000_000], "probability": [0.25, 1.0]})
    assert read_sizes(sizes).cdf == ((1000, 0.25), (3_000_000, 1.0))


def test_rows_of_json_without_names(tmp_path: Path) -> None:
    (tmp_path / "sizes.json").write_text("[[1000, 0.25], [3000000, 1]]", encoding="utf-8")
    assert read_sizes(tmp_path / "sizes.json").cdf == ((1000, 0.25), (3_000_000, 1.0))


def test_numbers_of_json_are_read_as_they_are_written(tmp_path: Path) -> None:
    """The nearest binary fraction would be another number of nanoseconds."""
    (tmp_path / "table").write_text('[{"time_s": 1517840000.123456789, "delay_ms": null}]', encoding="utf-8")
    assert [record.cells for record in read_records(tmp_path / "table", "")] == [
        ("time_s", "delay_ms"),
        ("1517840000.123456789", ""),
    ]


def test_dates_of_parquet(tmp_path: Path) -> None:
    times = pl.Series("time", ["2018-02-05 15:33:20.1", "2018-02-05 15:33:21.6"]).str.to_datetime()
    pl.DataFrame([times, pl.Series("rate_mbit_s", [10.0, 2.5])]).write_parquet(tmp_path / "table.parquet")
    assert read_trace(tmp_path / "table.parquet").points == {"rates": RATES}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"time_s": 0, "time_s": 1}]', "a name stands twice in one object"),
        ('{"a": 1', "begins as JSON and is none from its 8. letter on"),
        ("[1, 2]", "is JSON, but no table"),
        ("[]", "is JSON, but no table"),
        ("{}", "is JSON, but no table"),
        ("[" * 500, "more than 64 tables or lists inside each other"),
        (b"\xff\xfe0\x00", r"is not UTF-8 text \(byte 0\)"),
    ],
)
def test_what_is_no_table(tmp_path: Path, content: str | bytes, message: str) -> None:
    (tmp_path / "table").write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(shoal.ScenarioError, match=message) as caught:
        read_records(tmp_path / "table", "two columns")
    assert "\nhint: " in str(caught.value)


def test_a_device_is_not_read_for_ever() -> None:
    with pytest.raises(shoal.ScenarioError, match="more than 32 MiB"):
        read_trace("/dev/zero")


def test_milliseconds_since_1970_are_not_seconds(tmp_path: Path) -> None:
    with pytest.raises(shoal.ScenarioError, match=r"thousands of years after 1970(.|\n)*path.csv:1\n(.|\n)*`time_ms`"):
        read(tmp_path, "1517840000100 10\n1517840001600 2.5\n")


def test_how_a_trace_was_understood_is_said(folder: Path, cli: Cli) -> None:
    """A warning of the scenario, which its changes keep; the result is that of the same rates with a head."""
    text = (TABLES / "traced.toml").read_text(encoding="utf-8")
    (folder / "traced.toml").write_text(text, encoding="utf-8")
    results = []
    for rows in ("1517840000 10\n1517840000.5 5\n", "time_s,rate_mbit_s\n0,10\n0.5,5\n"):
        (folder / "path.csv").write_text(rows, encoding="utf-8")
        scenario = shoal.Scenario.from_file(folder / "traced.toml").override({"seed": 3})
        results.append(shoal.run(scenario).json)
        done = cli("run", "traced.toml", "--set", "seed=3", "--json")
        assert done.code == 0
        said = re.findall(r"warning: (.*)\n --> path.csv\n", done.err)
        is_open = rows.startswith("15")
        assert said == ([
            "there are no names of columns: the two are taken as seconds and Mbit/s",
            FROM_FIRST.format("1517840000"),
        ] if is_open else [])  # fmt: skip
        assert len(scenario.warnings) == len(said)
        # Sweeps and searches say it, too.
        swept = cli("sweep", "traced.toml", "--axis", "seed=1,2", "--dry-run")
        assert swept.code == 0, swept.err
        assert swept.err.count("warning: there are no names of columns") == is_open
    assert results[0] == results[1]
