"""Conformance scripts on the models, the lists of known differences, and `shoal conformance`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Cli

from shoal.conformance import Expectation, expectations, find_scripts, run_scripts, shipped_scripts
from shoal.errors import OutputError

OPEN = """
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 9999 <mss 1000,sackOK,nop,nop>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 9999
+0 accept(3, ..., ...) = 4
+0 write(4, ..., 1000) = 1000
+0 > P. 1:1001(1000) ack 1
"""


def script(folder: Path, text: str, name: str = "script.pkt") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_dctcp_scripts_on_the_models() -> None:
    verdicts = run_scripts(shipped_scripts())
    assert [v.script.name for v in verdicts if not v.ok] == []
    passed = [v for v in verdicts if v.outcome == "pass"]
    assert len(passed) >= 16
    # Each known difference belongs to a script of this project that exists.
    assert sum(v.expected is not None for v in verdicts) == 2


def test_known_differences_name_their_reason() -> None:
    for on in ("sim", "linux"):
        for name, entry in expectations(on).items():
            assert name.endswith(".pkt")
            assert entry.line > 0
            assert len(entry.why) > 20


def test_difference_is_shown_side_by_side(tmp_path: Path, cli: Cli) -> None:
    path = script(tmp_path, OPEN.replace("1:1001(1000)", "1:901(900)"))
    done = cli("conformance", str(path))
    assert done.code == 1
    assert "script.pkt:10: length" in done.err
    assert "wanted P. 1:901(900) ack 1" in done.err
    assert "seen [noecn] P. 1:1001(1000) ack 1" in done.err


def test_included_files_are_seen_from_the_script(tmp_path: Path) -> None:
    (tmp_path / "common").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "common" / "defaults.sh").write_text("sysctl -q net.ipv4.tcp_timestamps=0\n", encoding="utf-8")
    path = script(tmp_path / "tests", f"`../common/defaults.sh`\n{OPEN}")
    assert [verdict.outcome for verdict in run_scripts([path])] == ["pass"]


def test_listed_difference_must_still_be_there(tmp_path: Path) -> None:
    good, bad = script(tmp_path, OPEN, "good.pkt"), script(tmp_path, OPEN.replace("> P.", "> PE."), "bad.pkt")
    listed = {"good.pkt": Expectation(3, "is right"), "bad.pkt": Expectation(10, "has no ECN")}
    assert [v.ok for v in run_scripts([good, bad], known=listed)] == [False, True]
    listed["bad.pkt"] = Expectation(9, "elsewhere")
    assert [v.ok for v in run_scripts([bad], known=listed)] == [False]
    assert [v.ok for v in run_scripts([good, bad], known={})] == [True, False]


def test_json_is_the_same_twice(tmp_path: Path, cli: Cli) -> None:
    script(tmp_path, OPEN, "a.pkt")
    script(tmp_path, OPEN + "+0 < R 1:1(0) win 0\n", "b.pkt")
    script(tmp_path, "0 nothing", "c.pkt")
    first, second = (cli("conformance", str(tmp_path), "--json") for _ in range(2))
    assert first.out == second.out
    found = json.loads(first.out)
    assert found["counts"] == {"pass": 1, "pass in part": 1, "wrong": 1}
    assert [entry["verdict"] for entry in found["scripts"]] == ["pass", "pass", "wrong"]
    assert found["scripts"][1]["until"]["line"] == 11
    assert found["scripts"][2]["line"] == 1
    assert first.code == 3


@pytest.mark.parametrize(
    ("names", "message"),
    [(["none.pkt"], "there is no file or folder `none.pkt`"), (["."], "has no scripts")],
)
def test_places_without_scripts(
    names: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OutputError, match=message):
        find_scripts([Path(name) for name in names])


def test_list_of_differences_that_is_none(tmp_path: Path, cli: Cli) -> None:
    path = script(tmp_path, '["a.pkt"]\nline = 3\n', "list.toml")
    with pytest.raises(OutputError, match="not a list of known differences"):
        expectations("sim", path)
    done = cli("conformance", "--expected", str(tmp_path / "none.toml"))
    assert done.code == 4
    assert "none.toml" in done.err


def test_script_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "binary.pkt"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(OutputError, match="is not text"):
        run_scripts([path])


SCRIPTS = {
    "passes": OPEN,
    "differs": OPEN.replace("1:1001(1000)", "1:901(900)"),
    "typo": "x",
    "empty": "",
    "misspelt": "0 frobnicate(3) = 0\n",
    "parameter": f"`sysctl -q net.ipv4.tcp_nonsense=1`\n{OPEN}",
    "refused": "0 epoll_create(1) = 3\n",
}


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["typo"], 3),
        (["empty"], 3),
        (["refused"], 3),
        (["refused", "refused"], 3),
        (["passes"], 0),
        # What is refused beside what was played is counted, as the scripts of a kernel need it.
        (["refused", "passes"], 0),
        (["typo", "passes"], 3),
        # What means nothing anywhere is an error of the script, as on both planes, whatever was played beside it.
        (["misspelt", "passes"], 3),
        (["parameter", "passes"], 3),
        (["differs", "typo"], 1),
    ],
)
def test_the_exit_code_says_what_became_of_the_scripts(inside: Cli, folder: Path, names: list[str], code: int) -> None:
    for name in names:
        script(folder, SCRIPTS[name], f"{name}.pkt")
    assert inside("conformance", *(f"{name}.pkt" for name in names)).code == code


def test_typing_errors_are_counted_as_wrong_and_not_as_refused(inside: Cli, folder: Path) -> None:
    for name in ("misspelt", "parameter", "refused", "passes"):
        script(folder, SCRIPTS[name], f"{name}.pkt")
    done = inside("conformance", ".")
    assert done.code == 3
    assert "4 scripts on sim: 1 pass, 1 refused, 2 wrong" in done.out
    assert "misspelt.pkt:1: the call `frobnicate` is not known" in done.err
    assert "parameter.pkt:1: the parameter `tcp_nonsense` is not known" in done.err


@pytest.mark.parametrize(
    ("said", "outcome", "line", "reason"),
    [
        (
            "config line 2: init: cannot set net/ipv4/tcp_nonsense to `1`: No such file or directory",
            "wrong",
            7,
            "the kernel cannot set `net.ipv4.tcp_nonsense` to `1`: No such file or directory",
        ),
        ("config line 3: something else", "stopped", None, "the guest stopped: config line 3: something else"),
    ],
)
def test_what_stops_the_guest_of_a_script_is_its_verdict(
    said: str, outcome: str, line: int | None, reason: str
) -> None:
    from shoal.linux.conformance import _stopped
    from shoal.linux.errors import GuestError

    data = _stopped(GuestError(f"the guest stopped: {said}"), [0, 7, 8])
    assert (data["verdict"], data["line"], data["reason"]) == (outcome, line, reason)


@pytest.mark.parametrize(("differs", "code"), [(False, 6), (True, 1)])
def test_a_guest_that_stops_does_not_end_the_other_scripts(
    inside: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch, differs: bool, code: int
) -> None:
    import shoal.linux.conformance
    from shoal.linux.errors import GuestError

    def play(path: Path, _text: str, _cancel: object) -> dict[str, object]:
        if path.name == "b.pkt":
            return shoal.linux.conformance._stopped(GuestError("the guest's kernel crashed"), [])
        return {"verdict": "fail", "line": 1, "reason": "length"} if differs else {"verdict": "pass"}

    monkeypatch.setattr(shoal.linux.conformance, "player", lambda _kernel: play)
    for name in ("a.pkt", "b.pkt", "c.pkt"):
        script(folder, OPEN, name)
    done = inside("conformance", ".", "--on", "linux")
    assert done.code == code
    assert f"3 scripts on linux: {'2 fail' if differs else '2 pass'}, 1 stopped" in done.out
    assert "b.pkt: the guest's kernel crashed" in done.err
