"""Every wrong input: place, remedy, exit code, nothing on stdout. Whole outputs."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import SMALL, Cli

USAGE, SCENARIO, FILES = 2, 3, 4


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["rnu"], USAGE, "error: No such command 'rnu'.\nhint: did you mean `run`?\n"),
        (["run"], USAGE, "error: Missing argument 'SCENARIO...'.\nhint: see `shoal run --help`\n"),
        (["run", "--sed", "3", "small.toml"], USAGE, "error: No such option: --sed\nhint: did you mean `--seed`?\n"),
        (
            ["run", "small.toml", "--seed", "1", "--seeds", "2"],
            USAGE,
            "error: --seed and --seeds exclude each other\nhint: set the first of several seeds with --set seed=N\n",
        ),
        (
            ["run", "small.toml", "--explain"],
            USAGE,
            "error: --explain shows what a scenario becomes on Linux\nhint: add --on linux\n",
        ),
        (
            ["run", "small.toml", "--set", "duration"],
            USAGE,
            "error: `--set duration` is not KEY=VALUE\nhint: as in --set bottleneck.rate='20 Mbit/s'\n",
        ),
        (
            ["run", "small.toml", "--trace", "controler=1"],
            USAGE,
            "error: `--trace controler=1`: there is no such trace\nhint: did you mean `controllers`?\n",
        ),
        (
            ["run", "small.toml", "--trace", "controllers"],
            USAGE,
            "error: `--trace controllers` is not complete\n"
            "hint: as in --trace series=100ms,controllers=2,segments=1,packets,pcap or --trace off\n",
        ),
        (
            ["run", "small.toml", "--trace", "packets"],
            USAGE,
            "error: the scenario has trace.packets = true, but there is no file to write to\n"
            "hint: give packets=PATH (on the command line: --out DIR), or set trace.packets = false\n",
        ),
        (["run", "small.toml", "small.toml"], USAGE, None),
        (["run", "small.toml", "--pcap", "x", "--seeds", "2"], USAGE, None),
        (["describe", "dctpc"], USAGE, "error: nothing is called `dctpc`\nhint: did you mean `dctcp`?\n"),
        (["list", "queue"], USAGE, "error: nothing called `queue` can be listed\nhint: did you mean `queues`?\n"),
        (["schema", "scenaro"], USAGE, "error: there is no schema of `scenaro`\nhint: did you mean `scenario`?\n"),
        (["reproduce", "nobody-1900/table-0"], USAGE, None),
        (
            ["reproduce", "deschepper-2015/dualq", "--full"],
            USAGE,
            "error: --full goes with --on linux and without --quick\nhint: the simulator runs all points anyway\n",
        ),
        (
            ["check", "missing/none.toml"],
            FILES,
            "error: there is no file `missing/none.toml`, and no ready-made scenario of that name\n"
            "hint: `shoal list scenarios` names those that are ready\n",
        ),
        (
            ["check", "."],
            FILES,
            "error: cannot read `.`: Is a directory\nhint: name a file that you may read\n",
        ),
        (
            ["report", "nothing"],
            FILES,
            "error: `nothing` holds no results\nhint: name a folder that `shoal run --out` wrote\n",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_message_and_code(cli: Cli, arguments: list[str], code: int, message: str | None) -> None:
    done = cli(*arguments)
    assert (done.code, done.out) == (code, "")
    if message is not None:
        assert done.err == message
    assert done.err.startswith("error: ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SMALL.replace("buffer", "bufer"), ["unknown key `bufer`", "--> bad.toml:7:1", "did you mean `buffer`?"]),
        ("", ["the scenario is empty"]),
        (SMALL.replace('"10 Mbit/s"', '"0 Mbit/s"'), ["--> bad.toml:6:8"]),
        (SMALL.replace('"10 Mbit/s"', '"-1 Mbit/s"'), ["--> bad.toml:6:8"]),
        (SMALL.replace('"10 Mbit/s"', '"10 ms"'), ["--> bad.toml:6:8", "units here"]),
        (SMALL.replace('"10 Mbit/s"', "nan"), ["--> bad.toml:6:8"]),
        (SMALL.replace('"12 s"', '"1000000000 s"'), ["--> bad.toml:2:"]),
        (SMALL.replace('cc = "reno"', 'cc = "rneo"'), ['unknown congestion controller "rneo"', 'did you mean "reno"?']),
        ("title = ", ["--> bad.toml:1:"]),
    ],
    ids=["unknown-key", "empty", "zero", "negative", "unit", "nan", "duration", "controller", "syntax"],
)
def test_bad_scenario(cli: Cli, folder: Path, text: str, expected: list[str]) -> None:
    (folder / "bad.toml").write_text(text, encoding="utf-8")
    done = cli("run", "bad.toml", "--out", "out")
    assert (done.code, done.out) == (SCENARIO, "")
    assert done.err.startswith("error: ")
    for part in expected:
        assert part in done.err
    assert not (folder / "out").exists()


def test_whole_diagnostic(cli: Cli) -> None:
    done = cli("check", "small.toml", "--set", "bottleneck.rat=20 Mbit/s")
    assert done.code == SCENARIO
    assert done.err == (
        "error: unknown key `rat`\n"
        " --> --set:1:12\n"
        "  |\n"
        "1 | bottleneck.rat=20 Mbit/s\n"
        "  |            ^^^\n"
        "hint: did you mean `rate`?\n"
    )


def test_not_a_scenario_file(cli: Cli, folder: Path) -> None:
    (folder / "binary.toml").write_bytes(b"\xff\xfe\x00\x01")
    done = cli("check", "binary.toml")
    assert done.code == SCENARIO
    assert done.err == "error: `binary.toml` is not UTF-8 text (byte 0)\nhint: is this a scenario file?\n"
    done = cli("check", "/dev/zero")
    assert done.code == SCENARIO
    assert "more than 1048576 bytes" in done.err


def test_existing_results_are_kept(cli: Cli, folder: Path) -> None:
    assert cli("run", "small.toml", "--out", "out").code == 0
    before = (folder / "out" / "result.json").read_bytes()
    done = cli("run", "small.toml", "--seed", "9", "--out", "out")
    assert (done.code, done.out) == (FILES, "")
    assert done.err == ("error: `out` already exists\nhint: choose another --out, or add --force to replace it\n")
    assert (folder / "out" / "result.json").read_bytes() == before
    assert cli("run", "small.toml", "--seed", "9", "--out", "out", "--force").code == 0
    assert (folder / "out" / "result.json").read_bytes() != before


def test_force_replaces_only_results(cli: Cli, folder: Path) -> None:
    (folder / "precious").mkdir()
    (folder / "precious" / "thesis.tex").touch()
    done = cli("run", "small.toml", "--out", "precious", "--force")
    assert done.code == FILES
    assert "holds no results of shoal" in done.err
    assert (folder / "precious" / "thesis.tex").exists()


def test_existing_capture_is_kept(cli: Cli, folder: Path) -> None:
    (folder / "x.pcapng").write_text("mine")
    done = cli("run", "small.toml", "--pcap", "x.pcapng")
    assert done.code == FILES
    assert (folder / "x.pcapng").read_text() == "mine"
