"""Output on a terminal: whole words, characters that it can show, no control sequences from data."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SMALL, Cli
from hypothesis import given
from hypothesis import strategies as st

from shoal.cli.layout import lines
from shoal.cli.terminal import escaped, harmless, shown
from shoal.linux import kernel
from shoal.papers.tally import Tally
from shoal.table import Table
from shoal.words import count_of

SHORT = ["--set", "duration=4 s", "--set", "warmup=1 s"]
GROUPS = Table(
    "",
    ("Group", "Controller", "Share", "Rate/flow", "Delay mean"),
    [("reno", "reno", "7.82 ± 0.13 %", "3.91 ± 0.07 Mbit/s", "1.00 ms"), ("dctcp", "dctcp-ikr", "9 %", "-", "-")],
    words=2,
)


def text(table: Table, width: int | None) -> list[str]:
    return [line.text for line in lines(table, width)]


def test_a_table_that_fits_stays_whole() -> None:
    whole = text(GROUPS, None)
    assert whole == [
        "Group  Controller          Share           Rate/flow  Delay mean",
        "reno   reno        7.82 ± 0.13 %  3.91 ± 0.07 Mbit/s     1.00 ms",
        "dctcp  dctcp-ikr             9 %                   -           -",
    ]
    assert text(GROUPS, len(whole[0])) == whole


def test_heads_wrap_before_a_table_is_split() -> None:
    # One column less than the table needs: the head "Delay mean" is broken, the numbers are not.
    assert text(GROUPS, 63) == [
        "                                                        Delay",
        "Group  Controller          Share           Rate/flow     mean",
        "reno   reno        7.82 ± 0.13 %  3.91 ± 0.07 Mbit/s  1.00 ms",
        "dctcp  dctcp-ikr             9 %                   -        -",
    ]


def test_a_wide_table_is_split_at_its_columns() -> None:
    assert text(GROUPS, 45) == [
        "Group  Controller          Share",
        "reno   reno        7.82 ± 0.13 %",
        "dctcp  dctcp-ikr             9 %",
        "",
        "Group  Controller           Rate/flow",
        "reno   reno        3.91 ± 0.07 Mbit/s",
        "dctcp  dctcp-ikr                    -",
        "",
        "Group  Controller  Delay mean",
        "reno   reno           1.00 ms",
        "dctcp  dctcp-ikr            -",
    ]


def test_prose_wraps_at_spaces() -> None:
    table = Table("", ("Name", ""), [("delay_ms(which, link=0)", "Queueing delay of all packets")], words=2)
    assert text(table, 36) == [
        "Name",
        "delay_ms(which,    Queueing delay of",
        "link=0)            all packets",
    ]


def test_prose_without_room_for_columns_becomes_paragraphs() -> None:
    table = Table("", ("Key", "Meaning"), [("aaaaaaaaaaaa", "bbbbbbbbbbbb c"), ("d", "")], words=2)
    assert text(table, 20) == ["aaaaaaaaaaaa", "  Meaning:", "  bbbbbbbbbbbb c", "d"]


_words = st.text(st.sampled_from("ab µ/_"), max_size=12)


@given(
    st.lists(st.tuples(_words, _words, _words, _words), min_size=1, max_size=3), st.integers(1, 2), st.integers(8, 60)
)
def test_no_word_is_broken_at_any_width(rows: list[tuple[str, ...]], words: int, width: int) -> None:
    cells = ["".join(cell.split()) for row in rows for cell in row]
    found = text(Table("", ("Head a", "Head/b", "c_d", "e"), rows, words=words), width)
    shown_words = {word for line in found for word in line.split()}
    for word in {word for row in rows[:] for cell in row[words:] for word in cell.split()}:
        assert word in shown_words, (word, found)
    assert "".join(cells).count("a") <= "".join(found).count("a")


COMMANDS = {
    "run": ["run", "small.toml", *SHORT, "--seeds", "3"],
    "sweep": ["sweep", "small.toml", *SHORT, "--axis", "bottleneck.buffer=3 BDP,4 BDP", "--seeds", "3"],
    "tune": [
        *("tune", "small.toml", *SHORT, "--key", "bottleneck.aqm.dctcp.threshold", "--unit", "packets", "--from", "10"),
        *("--to", "12", "--smallest", "--such-that", "utilisation() > 0.1 and queue_packets() > 0.5"),
    ],
    "several": ["run", "small.toml", "other.toml", *SHORT, "--seeds", "3"],
    "list": ["list"],
    "describe": ["describe", "dctcp"],
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_eighty_columns_break_no_word(inside: Cli, folder: Path, command: list[str]) -> None:
    (folder / "other.toml").write_text(SMALL.replace("Small", "Other"))
    wide = inside(*command, COLUMNS="400")
    narrow = inside(*command, COLUMNS="80")
    assert (wide.code, narrow.code) == (0, 0)
    assert max(map(len, narrow.out.splitlines())) <= 80
    # The same words: heads that are joined by a slash or an underscore may go on in the next line.
    pieces = re.compile(r"[^\s/_-]+")
    assert {piece.rstrip(":") for piece in pieces.findall(narrow.out)} <= {
        piece.rstrip(":") for piece in pieces.findall(wide.out)
    }
    # Numbers stay with their interval and their unit.
    assert narrow.out.count(" ± ") == wide.out.count(" ± ")


def test_controls_are_shown_and_not_sent(inside: Cli, folder: Path) -> None:
    title = r"\u001b]0;owned\u0007\u001b[31mred\u202e\u009b2J\rback"
    (folder / "evil.toml").write_text(SMALL.replace('"Small"', f'"{title}"'))
    for command in (
        ["run", "evil.toml", *SHORT],
        ["run", "evil.toml", *SHORT, "--json"],
        ["check", "evil.toml"],
        ["check", "evil.toml", "--resolved"],
        ["sweep", "evil.toml", *SHORT, "--axis", "seed=1,2"],
        ["check", "evil.toml", "--set", "bottleneck.rate=\x1b[31m"],
        ["run", "\x1b[31m.toml"],
        ["describe", "\x1b[31m"],
    ):
        done = inside(*command)
        for text_ in (done.out, done.err):
            assert not set(text_) & set("\x1b\x07\x9b\u202e\r"), command
    assert "\\u001b[31mred" in inside("run", "evil.toml", *SHORT).out
    found = json.loads(inside("run", "evil.toml", *SHORT, "--json").out)
    assert found["scenario"]["title"] == "\x1b]0;owned\x07\x1b[31mred\u202e\x9b2J\rback"


def test_terminals_without_other_characters(folder: Path, environment: dict[str, str]) -> None:
    (folder / "wide.toml").write_text(SMALL.replace('"Small"', '"Größe µ ± 水"'), encoding="utf-8")
    for arguments in (
        ["run", "wide.toml", *SHORT, "--seeds", "3"],
        ["run", "wide.toml", *SHORT, "--json"],
        ["--help"],
        ["run", "missing-±.toml"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "shoal", *arguments],
            cwd=folder,
            env={**environment, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
            capture_output=True,
            check=False,
        )
        assert b"Traceback" not in done.stderr
        assert (done.stdout + done.stderr).isascii()
        if "--seeds" in arguments:
            assert b" +/- " in done.stdout
            assert done.stdout.startswith(b"Groesse u +/- ?\n")
        if "--json" in arguments:
            assert json.loads(done.stdout)["scenario"]["title"] == "Größe µ ± 水"


def stream(encoding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding)


def test_what_a_stream_can_write_stays() -> None:
    assert shown("±…ö水", stream("utf-8")) == "±…ö水"
    assert shown("±…ö水", stream("latin-1")) == "±...ö?"
    assert shown("±…ö水", stream("ascii")) == "+/-...oe?"
    assert escaped('"±😀"', stream("latin-1")) == '"±\\ud83d\\ude00"'
    assert harmless("a\tb\nc\x1b\x7f") == "a\tb\nc\\u001b\\u007f"


def test_nothing_but_help_without_a_verb(inside: Cli) -> None:
    done = inside()
    assert (done.code, done.err) == (0, "")
    assert done.out == inside("--help").out
    assert "Usage: shoal" in done.out


@pytest.mark.parametrize("group", ["linux", "config", "new"])
def test_nothing_but_help_without_a_verb_of_a_group(inside: Cli, group: str) -> None:
    done = inside(group)
    assert (done.code, done.err) == (0, "")
    assert f"Usage: shoal {group}" in done.out


@pytest.mark.parametrize("version", ["x", "", "6.", "9", "6.12.x", "6.12.1.2", "../7.3", "7.3 ", "99999.1"])
def test_what_is_no_version_is_refused_before_anything_is_fetched(
    inside: Cli, folder: Path, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "fetch", None)
    done = inside("linux", "build", "--version", version)
    assert done.code == 2
    assert done.err.splitlines()[0] == f"error: `{version}` is not a kernel version"
    assert not (folder / "cache").exists()


def test_quiet_leaves_out_notes_but_no_warnings(inside: Cli) -> None:
    options = ["sweep", "small.toml", *SHORT, "--axis", "seed=1,2", "--metric", "x=fct_ms('dctcp')"]
    loud, quiet = inside(*options), inside("--quiet", *options)
    assert loud.err.startswith("note: ")
    assert quiet.err == ""
    assert loud.out == quiet.out
    assert inside("--quiet", *options, "--force", SHOAL_CACHE_DIR="/proc/nope").err.startswith("warning: ")
    assert inside("-q", "run", "missing").err.startswith("error: ")


def test_an_empty_terminal_size_is_no_width(inside: Cli) -> None:
    for columns in ("", "0", "-3", "wide"):
        assert inside("list", "papers", COLUMNS=columns).code == 0
    assert os.environ["COLUMNS"] == "wide"


DATAGRAMS = """
duration = "2 s"
[bottleneck]
rate = "10 Mbit/s"
buffer = "50 packets"
[[flows]]
name = "voice"
cc = "none"
rtt = "2 ms"
start = { uniform = ["0 ms", "2 ms"] }
app = { unresponsive = "20 Mbit/s" }
"""


@pytest.mark.parametrize("seeds", [[], ["--seeds", "2"]])
def test_lost_datagrams_are_losses(inside: Cli, folder: Path, seeds: list[str]) -> None:
    (folder / "datagrams.toml").write_text(DATAGRAMS)
    done = inside("run", "datagrams.toml", *seeds)
    head, row = (line.split() for line in done.out.splitlines() if line.startswith(("Group", "voice")))
    assert head[-4:] == ["Marks", "Losses", "Retrans.", "Timeouts"]
    # Of twice the rate of the link, half is lost in 1.8 s: 20 Mbit/s x 1.8 s / 1500 B / 2.
    losses = float(row[row.index("0", 4) + 1].replace(",", ""))
    assert losses == pytest.approx(1500, rel=0.05)
    assert row[-2:] == ["-", "-"]


def test_one_is_singular(inside: Cli, folder: Path) -> None:
    assert (count_of(0, "run"), count_of(1, "run"), count_of(2000, "run")) == ("0 runs", "1 run", "2,000 runs")
    (folder / "one.toml").write_text(DATAGRAMS)
    assert "(1 flow, 2 s)" in inside("check", "one.toml").out
    assert "1 point, 1 seed" in inside("sweep", "small.toml", *SHORT, "--axis", "seed=1").out
    assert "2 seeds" in inside("run", "small.toml", *SHORT, "--seeds", "2").out
    assert Tally().headline == "No claim of the paper was measured."
