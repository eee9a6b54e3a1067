"""Tables as files for papers: LaTeX that is checked strictly, Markdown, CSV and Parquet, with units in the heads."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import polars as pl
import pytest
from conftest import Cli

import shoal
from shoal.stats import Estimate
from shoal.table import Table
from shoal.table_formats import FOLDER, frame, latex, markdown, save_tables
from shoal.tabulate import comparison_table, run_tables, totals_table
from shoal.words import Quantity, milliseconds, number, percent, rate, significant

RULES = {r"\toprule", r"\midrule", r"\bottomrule"}
# Every command that a table may hold; all are those of LaTeX itself, or of booktabs.
COMMANDS = {
    *("pm", "times", "mu", "le", "ge", "ldots", "textbackslash", "textasciitilde", "textasciicircum", "textless"),
    *("textgreater", "textbar", "textquotedbl", "textasciigrave"),
}


def parsed(text: str) -> list[list[str]]:
    """The cells of a table in LaTeX, the heads first; fails for whatever LaTeX would refuse."""
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    assert text.endswith("\n")
    assert all(line.isascii() or re.fullmatch(r"[^\x00-\x1f]*", line) for line in lines)
    begin = re.fullmatch(r"\\begin\{tabular\}\{([lr]+)\}", lines[0])
    assert begin is not None
    assert lines[-1] == r"\end{tabular}"
    assert [line for line in lines if line in RULES] == [r"\toprule", r"\midrule", r"\bottomrule"]
    assert (lines[1], lines[3], lines[-2]) == (r"\toprule", r"\midrule", r"\bottomrule")
    rows = [line for line in lines[1:-1] if line not in RULES]
    return [cells_of(row, len(begin[1])) for row in rows]


def cells_of(row: str, count: int) -> list[str]:
    assert row.endswith(r" \\")
    cells = re.split(r"(?<!\\)&", row.removesuffix(r"\\"))
    assert len(cells) == count
    for cell in cells:
        # What is escaped, and commands with or without empty braces, are taken out; nothing special may be left.
        plain = re.sub(r"\\[{}$&#%_]", "", cell)
        for command in re.findall(r"\\([A-Za-z]+)", plain):
            assert command in COMMANDS
        outside = plain.split("$")
        assert len(outside) % 2 == 1, f"formulas are not closed: {cell}"
        for words in outside[0::2]:
            assert not re.search(r"[\\{}$&#%_~^<>|\"]", re.sub(r"\\[a-z]+\{\}", "", words)), cell
        for formula in outside[1::2]:
            balanced = re.sub(r"\{[^{}]*\}", "", re.sub(r"\\(pm|times|mu|le|ge)\b", "", formula))
            assert re.fullmatch(r"[-+0-9.^ ]*", balanced), cell
    return [cell.strip() for cell in cells]


WORDS = Table("Words", ("Name", "Number"), [("a", number(Estimate(1.5, 0.25, 3)))])


LETTERS = '\\{}$&#%_~^<>|"`±\u00d7µ\u2212≤≥…'


@pytest.mark.parametrize("name", [*LETTERS, "50 % of $x_1 & <b>\\input{a}</b>", "é ü 漢"])
def test_every_letter_is_escaped(name: str) -> None:
    table = Table(f"Title of {name}", (f"Head {name}", "Number"), [(name, "1"), (f"a{name}b", "-")])
    heads, first, second = parsed(latex(table))
    assert heads[1] == "Number"
    assert first[1] == "$1$"
    assert second[1] == "--"


def test_a_title_is_a_comment_of_one_line() -> None:
    text = latex(Table("A title\n\\end{tabular}", ("a",), [("b",)]))
    assert text.startswith("% A title \\end{tabular}.\n")
    assert parsed(text) == [["a"], ["b"]]


def test_units_go_to_heads_of_columns() -> None:
    table = Table(
        "Groups",
        ("Group", "Share", "Rate", "Marks"),
        [
            (
                "reno",
                percent(Estimate(0.634, 0.03, 3)),
                rate(Estimate(6.28e6, 0.29e6, 3)),
                number(Estimate(1234, 5, 3)),
            ),
            ("dctcp", percent(Estimate(0.366, 0.03, 3)), rate(Estimate(3.6e6, 0.35e6, 3)), "-"),
        ],
    )
    assert parsed(latex(table)) == [
        ["Group", r"Share [\%]", "Rate [Mbit/s]", "Marks"],
        ["reno", r"$63.40 \pm 3.00$", r"$6.28 \pm 0.29$", r"$1{,}234.00 \pm 5.00$"],
        ["dctcp", r"$36.60 \pm 3.00$", r"$3.60 \pm 0.35$", "--"],
    ]
    assert markdown(table) == (
        "| Group | Share [%] | Rate [Mbit/s] | Marks |\n"
        "| --- | --: | --: | --: |\n"
        "| reno | 63.40 ± 3.00 | 6.28 ± 0.29 | 1,234.00 ± 5.00 |\n"
        "| dctcp | 36.60 ± 3.00 | 3.60 ± 0.35 | - |\n"
    )
    rows = frame(table)
    assert rows.columns == [
        *("Group", "Share [%]", "Share ci95 [%]", "Rate [Mbit/s]", "Rate ci95 [Mbit/s]", "Marks", "Marks ci95"),
    ]
    assert rows["Rate [Mbit/s]"].to_list() == pytest.approx([6.28, 3.6])
    assert rows["Marks"].to_list() == [1234, None]


def test_a_column_has_one_unit() -> None:
    """The one that most cells have; the same digits are shown in the new one."""
    cells = [milliseconds(Estimate(seconds, half, 3)) for seconds, half in ((2e-3, 1e-4), (812e-6, 3e-6), (0.5, None))]
    table = Table("Delays", ("Class", "P99"), [(str(index), cell) for index, cell in enumerate(cells)])
    assert parsed(latex(table))[1:] == [["0", r"$2.00 \pm 0.10$"], ["1", r"$0.8120 \pm 0.0030$"], ["2", "$500.00$"]]
    assert frame(table)["P99 [ms]"].to_list() == pytest.approx([2.0, 0.812, 500.0])
    fast = Table("Rates", ("Group", "Rate"), [("a", rate(Estimate(25e9, 1e6, 3))), ("b", rate(Estimate(2e9, 1e8, 3)))])
    mixed = Table("Rates", ("Group", "Rate"), [*fast.rows, ("c", rate(Estimate(9e8, None, 1)))])
    assert parsed(latex(fast))[0][1] == "Rate [Gbit/s]"
    assert parsed(latex(mixed))[3] == ["c", "$0.90000$"]


def test_units_go_to_heads_of_rows_where_columns_have_several() -> None:
    table = Table(
        "Comparison",
        ("", "one", "other_1"),
        [
            ("Rate", rate(Estimate(6e6, 1e5, 3)), rate(Estimate(3e6, None, 3))),
            ("Delay", milliseconds(Estimate(0.01, 0.001, 3)), ""),
            ("Jain's index", number(Estimate(0.9, 0.01, 3)), number(Estimate(1.0, None, 3))),
            ("Strange", "5 ms", "3 kB"),
        ],
    )
    assert parsed(latex(table)) == [
        ["", "one", r"other\_1"],
        ["Rate [Mbit/s]", r"$6.00 \pm 0.10$", "$3.00$"],
        ["Delay [ms]", r"$10.00 \pm 1.00$", ""],
        ["Jain's index", r"$0.90 \pm 0.01$", "$1.00$"],
        ["Strange", "5 ms", "3 kB"],
    ]
    rows = frame(table)
    assert rows.columns[:6] == ["name", "unit", "one", "one ci95", "one note", "other_1"]
    assert rows.columns[-1] == "other_1 note"
    assert rows["name"].to_list() == ["Rate", "Delay", "Jain's index", "Strange"]
    assert rows["unit"].to_list() == ["Mbit/s", "ms", None, None]
    assert rows["one"].to_list() == [6.0, 10.0, 0.9, None]
    assert rows["one note"].to_list() == [None, None, None, "5 ms"]


def test_swept_values_are_numbers_with_a_unit_and_names_stay_names() -> None:
    table = Table(
        "Points", ("threshold", "count", "jain"), [("5 packets", "1", "0.5"), ("10 packets", "2", "1")], words=2
    )
    rows = frame(table)
    assert rows["threshold [packets]"].to_list() == [5.0, 10.0]
    assert rows["count"].to_list() == ["1", "2"]
    assert parsed(latex(table))[1] == ["$5$", "1", "$0.5$"]
    several = Table("Points", ("size", "jain"), [("5 packets", "0.5"), ("1 BDP", "1")])
    assert frame(several)["size"].to_list() == ["5 packets", "1 BDP"]


def test_what_is_said_instead_of_a_number_is_kept() -> None:
    table = Table("Steps", ("At", "Settled"), [("1 s", "3.0 ms"), ("2 s", "not within 5 s"), ("3 s", "-")])
    rows = frame(table)
    assert rows["Settled [ms]"].to_list() == [3.0, None, None]
    assert rows["Settled note"].to_list() == [None, "not within 5 s", None]
    assert parsed(latex(table))[2] == ["$2$", "not within 5 s"]


def test_powers_of_ten() -> None:
    table = Table("Small", ("Name", "Value"), [("a", significant(Estimate(1.25e-5, 2e-6, 3))), ("b", "3e+09")])
    assert parsed(latex(table))[1:] == [
        ["a", r"$1.25 \times 10^{-5} \pm 2 \times 10^{-6}$"],
        ["b", r"$3 \times 10^{9}$"],
    ]


def test_a_quantity_is_a_text_that_knows_its_number() -> None:
    quantity = milliseconds(Estimate(1 / 300, 1e-4, 3))
    assert quantity == "3.33 ± 0.10 ms"
    assert isinstance(quantity, Quantity)
    assert quantity.estimate.mean == pytest.approx(10 / 3)
    again = pickle.loads(pickle.dumps(quantity))
    assert (again, again.estimate) == (quantity, quantity.estimate)


@pytest.mark.parametrize("rows", [[], [("a", "-")]])
def test_tables_without_numbers(rows: list[tuple[str, str]]) -> None:
    table = Table("Empty", ("Name", "Value"), rows)
    assert parsed(latex(table))[0] == ["Name", "Value"]
    assert frame(table).columns == ["Name", "Value"]
    assert frame(table).height == len(rows)


def test_files_are_named_by_titles(tmp_path: Path) -> None:
    tables = [
        Table("Queue at a/b; 3 packets came with a mark", ("a",), [("b",)]),
        Table("Queue at a b", ("a",), [("b",)]),
        Table("", ("a",), [("b",)]),
    ]
    save_tables(tables, tmp_path / FOLDER)
    names = {path.name for path in (tmp_path / FOLDER).iterdir()}
    stems = ("queue-at-a-b", "queue-at-a-b-2", "table")
    assert names == {f"{stem}.{kind}" for stem in stems for kind in ("csv", "md", "parquet", "tex")}


def test_every_table_of_a_run(result: shoal.Result) -> None:
    for table in (
        *run_tables([result]),
        totals_table([result]),
        comparison_table([("a", [result]), ("b_1", [result])]),
    ):
        heads, *rows = parsed(latex(table))
        assert len(rows) == len(table.rows)
        assert len(heads) == len(table.columns)
        assert frame(table).height == len(table.rows)


def test_run_writes_tables(inside: Cli, folder: Path) -> None:
    ran = inside("run", "small.toml", "--seeds", "2", "--out", "out", "--trace", "off")
    assert ran.code == 0, ran.err
    names = {path.name for path in (folder / "out" / FOLDER).iterdir()}
    assert {"flow-groups.tex", "queue-at-bottleneck.md", "totals.csv", "totals.parquet"} <= names
    for path in (folder / "out" / FOLDER).glob("*.tex"):
        parsed(path.read_text(encoding="utf-8"))
    rows = pl.read_csv(folder / "out" / FOLDER / "flow-groups.csv")
    summary = shoal.Results([shoal.Result.load(folder / f"out/seed-{seed}") for seed in (1, 2)]).summary
    goodput = summary["goodput_reno_bps"]
    assert goodput is not None
    assert goodput.half_width is not None
    assert rows["Goodput [Mbit/s]"][0] == pytest.approx(goodput.mean / 1e6)
    assert rows["Goodput ci95 [Mbit/s]"][0] == pytest.approx(goodput.half_width / 1e6)
    assert pl.read_parquet(folder / "out" / FOLDER / "flow-groups.parquet").columns == rows.columns


def test_comparison_and_sweep_write_tables(inside: Cli, folder: Path) -> None:
    (folder / "other.toml").write_text((folder / "small.toml").read_text(encoding="utf-8"), encoding="utf-8")
    ran = inside("run", "small.toml", "other.toml", "--out", "out", "--trace", "off", "--set", "duration='4 s'")
    assert ran.code == 0, ran.err
    heads, *rows = parsed((folder / "out" / FOLDER / "comparison.tex").read_text(encoding="utf-8"))
    assert heads == ["", "small", "other"]
    assert r"Utilisation [\%]" in [row[0] for row in rows]
    assert (folder / "out" / FOLDER / "other" / "flow-groups.tex").is_file()
    swept = inside(
        *("sweep", "small.toml", "--axis", "bottleneck.rate=5 Mbit/s,10 Mbit/s", "--set", "duration='4 s'"),
        *("--out", "swept", "--seeds", "2"),
    )
    assert swept.code == 0, swept.err
    heads, *rows = parsed((folder / "swept" / FOLDER / "points.tex").read_text(encoding="utf-8"))
    assert heads[:2] == ["rate [Mbit/s]", "utilisation"]
    assert [row[0] for row in rows] == ["$5$", "$10$"]
    assert any(r"\pm" in cell for row in rows for cell in row)
