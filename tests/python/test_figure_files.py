"""Figures as files for papers: formats, fonts, widths, and the same bytes each time."""

from __future__ import annotations

import re
import struct
import zlib
from pathlib import Path

import pytest
from conftest import Cli

import shoal
from shoal.errors import UsageError
from shoal.plots import Drawn, delay, queue, rates, save
from shoal.plots.formats import formats, to_svg, written
from shoal.plots.sizes import figures_of_width, one_column, read_width, row_of_panels, two_columns
from shoal.plots.style import colour, dash, marker

PNG = b"\x89PNG\r\n\x1a\n"


def png_chunk(image: bytes, kind: bytes) -> bytes:
    """The content of the first chunk of a kind in a PNG file."""
    at = image.index(kind)
    (size,) = struct.unpack(">I", image[at - 4 : at])
    return image[at + 4 : at + 4 + size]


def test_series_with_one_colour_have_other_markers_and_lines() -> None:
    series = range(40)
    assert len({colour(number) for number in series}) < len(series)
    assert len({(colour(number), marker(number)) for number in series}) == len(series)
    assert len({(colour(number), dash(number)) for number in series}) == len(series)


def inches_of(figure: bytes, kind: str) -> float:
    """How wide a file says that its figure is."""
    if kind == "png":
        (pixels,) = struct.unpack(">I", png_chunk(figure, b"IHDR")[:4])
        return float(pixels) / 300
    pattern = rb'<svg[^>]* width="([0-9.]+)pt"' if kind == "svg" else rb"/MediaBox \[ 0 0 ([0-9.]+) "
    match = re.search(pattern, figure)
    assert match is not None
    return float(match[1]) / 72


def texts_of_pdf(figure: bytes) -> bytes:
    """What the streams of a PDF hold, unpacked."""
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", figure, re.S)
    return b"".join(zlib.decompress(stream) for stream in streams if stream[:1] == b"x")


@pytest.mark.parametrize(
    ("text", "inches"),
    [
        ("3.5in", 3.5),
        ("3.5 in", 3.5),
        ("8.89cm", 3.5),
        ("88.9 mm", 3.5),
        ("252.945pt", 3.5),
        ("7in", 7.0),
        (" 2.0in ", 2),
    ],
)
def test_widths_are_read(text: str, inches: float) -> None:
    assert read_width(text) == pytest.approx(inches)


@pytest.mark.parametrize("text", ["", "3.5", "in", "3.5 inches", "-3in", "1e3mm", "3,5in", "3.5in in", "nan in"])
def test_what_is_no_width(text: str) -> None:
    with pytest.raises(UsageError, match="is no width of a figure") as error:
        read_width(text)
    assert "3.5in for one column" in str(error.value.hint)


@pytest.mark.parametrize("text", ["0in", "1.9in", "41in", "5000mm"])
def test_widths_that_no_figure_can_have(text: str) -> None:
    with pytest.raises(UsageError, match="cannot be"):
        read_width(text)


@pytest.mark.parametrize("kind", formats)
@pytest.mark.parametrize("width", [one_column, 5.0, two_columns])
def test_files_are_as_wide_as_asked(result: shoal.Result, kind: str, width: float) -> None:
    with figures_of_width(width):
        drawn = rates.draw(result)
    assert inches_of(written(drawn.figure, kind), kind) == pytest.approx(width, abs=0.005)


@pytest.mark.parametrize("kind", formats)
def test_figures_are_for_two_columns_unless_asked(result: shoal.Result, kind: str) -> None:
    assert inches_of(written(rates.draw(result).figure, kind), kind) == pytest.approx(two_columns, abs=0.005)


def test_letters_of_svg_are_text(result: shoal.Result) -> None:
    svg = written(queue.draw(result).figure, "svg").decode()
    assert ">Time [s]</text>" in svg
    families = set(re.findall(r"font-family: ([^;\"]+)", svg))
    assert families == {"'DejaVu Sans', 'Bitstream Vera Sans', 'Verdana', 'Arial', 'Helvetica', sans-serif"}


def test_letters_of_pages_are_outlines(result: shoal.Result) -> None:
    assert "<text" not in to_svg(queue.draw(result).figure)


def test_fonts_of_pdf_are_true_type(result: shoal.Result) -> None:
    pdf = written(queue.draw(result).figure, "pdf")
    plain = pdf + texts_of_pdf(pdf)
    assert b"/CIDFontType2" in plain
    assert b"/FontFile2" in plain
    assert b"/Type3" not in plain
    assert b"CreationDate" not in plain
    assert b"Matplotlib" not in plain


def test_png_has_300_dots_an_inch(result: shoal.Result) -> None:
    png = written(queue.draw(result).figure, "png")
    assert png.startswith(PNG)
    across, up, unit = struct.unpack(">IIB", png_chunk(png, b"pHYs"))
    assert (across, up, unit) == (11811, 11811, 1)


def test_a_figure_saved_by_hand_has_the_settings_of_the_style(result: shoal.Result, tmp_path: Path) -> None:
    figure = result.plot_queue()
    figure.savefig(tmp_path / "queue.svg")
    figure.savefig(tmp_path / "queue.pdf")
    assert b"</text>" in (tmp_path / "queue.svg").read_bytes()
    assert b"/CIDFontType2" in (tmp_path / "queue.pdf").read_bytes()


@pytest.mark.parametrize("kind", formats)
def test_the_bytes_are_the_same_twice(result: shoal.Result, kind: str) -> None:
    figures = [queue.draw(result).figure for _ in range(2)]
    first = written(figures[0], kind)
    assert first == written(figures[1], kind)
    # The order in which formats are written changes nothing.
    for other in formats:
        written(figures[1], other)
    assert first == written(figures[1], kind)


def test_panels_that_have_no_room_stand_one_below_the_other(result: shoal.Result) -> None:
    wide = delay.draw(result)
    with figures_of_width(one_column):
        narrow = delay.draw(result)
    assert [axes.get_subplotspec().rowspan.start for axes in wide.figure.axes] == [0, 0]
    assert [axes.get_subplotspec().rowspan.start for axes in narrow.figure.axes] == [0, 1]
    assert narrow.data.equals(wide.data)
    assert narrow.figure.get_figheight() == 2 * wide.figure.get_figheight()


def test_notes_say_where_panels_are(result: shoal.Result) -> None:
    assert "Left: mean and range" in queue.draw(result).note
    with figures_of_width(one_column):
        assert "Above: mean and range" in queue.draw(result).note


@pytest.mark.parametrize(("count", "is_column"), [(1, False), (2, True), (3, True)])
def test_edges_of_rows_of_panels(count: int, is_column: bool) -> None:
    with figures_of_width(one_column):
        panels = row_of_panels(count, 2.0)
    assert panels.is_column is is_column
    assert len(panels.left) == len(panels.right) == count
    row = row_of_panels(count, 2.0)
    assert (row.left, row.right) == (row.axes[:1], row.axes[-1:])


def test_legends_fit_into_narrow_figures(result: shoal.Result) -> None:
    with figures_of_width(2.0):
        figure = rates.draw(result).figure
    (legend,) = [axes.get_legend() for axes in figure.axes]
    assert legend.get_window_extent().width <= figure.bbox.width


def test_every_figure_is_written_in_every_format(result: shoal.Result, tmp_path: Path) -> None:
    drawn: Drawn = rates.draw(result)
    save(drawn, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("rates.csv", "rates.parquet", "rates.pdf", "rates.png", "rates.svg"),
    ]


def test_width_on_the_command_line(inside: Cli, folder: Path) -> None:
    ran = inside("run", "small.toml", "--out", "out", "--figure-width", "88.9mm", "--trace", "series=1s")
    assert ran.code == 0, ran.err
    for kind in formats:
        assert inches_of((folder / f"out/figures/rates.{kind}").read_bytes(), kind) == pytest.approx(3.5, abs=0.005)
    page = (folder / "out/report.html").read_text(encoding="utf-8")
    assert "width:252pt" in page
    again = inside("report", "out")
    assert again.code == 0, again.err
    assert inches_of((folder / "out/figures/rates.pdf").read_bytes(), "pdf") == pytest.approx(two_columns, abs=0.005)


@pytest.mark.parametrize(
    ("options", "error", "hint"),
    [
        (("--figure-width", "3.5in"), "--figure-width is about figures, and none is written", "add --out DIR"),
        (("--figure-width", "wide", "--out", "out"), "`wide` is no width of a figure", "such as 3.5in for one column"),
        (("--figure-width", "1mm", "--out", "out"), "a figure cannot be 1mm wide", "from 2in to 40in"),
    ],
)
def test_widths_that_are_refused(inside: Cli, folder: Path, options: tuple[str, ...], error: str, hint: str) -> None:
    ran = inside("run", "small.toml", *options)
    assert ran.code == 2
    assert error in ran.err
    assert hint in ran.err
    assert not (folder / "out").exists()
