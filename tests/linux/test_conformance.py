"""Conformance scripts on the real kernel: the kernel's own, and this project's for DCTCP."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path

import pytest

from shoal.conformance import Verdict, run_scripts, selftests, shipped_scripts
from shoal.errors import OutputError
from shoal.linux import Image

TOOLS = Path(__file__).parents[2] / "tools"


def bad(verdicts: list[Verdict]) -> list[str]:
    return [json.dumps(verdict.to_dict()) for verdict in verdicts if not verdict.ok]


def test_dctcp_scripts_pass(image: Image) -> None:
    verdicts = run_scripts(shipped_scripts(), on="linux")
    assert bad(verdicts) == []
    assert {verdict.outcome for verdict in verdicts} == {"pass"}


def test_the_kernels_own_scripts_have_the_verdicts_of_the_page(image: Image) -> None:
    try:
        scripts = selftests((image.tree / "source").resolve())
    except OutputError as error:
        pytest.skip(f"left out: {error}")
    if not image.release.startswith("7.3"):
        for on in ("linux", "sim"):
            assert bad(run_scripts(scripts, on=on)) == []
        return
    # It plays them on both planes, with those of this project: each verdict must be the expected one, and that of the
    # page and packetdrill.csv.
    done = subprocess.run(
        [TOOLS / "shoal-dev", "generate", "conformance", "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_no_verdict_differs_from_that_of_packetdrill() -> None:
    with (TOOLS.parent / "docs" / "records" / "validation" / "packetdrill.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 300
    assert [row for row in rows if {row["packetdrill"], row["shoal"]} == {"pass", "fail"}] == []


def test_wrong_expectations_are_found_on_the_kernel(image: Image, tmp_path: Path) -> None:
    right = next(path for path in shipped_scripts() if path.name == "dctcp_one_cut_a_window.pkt")
    text = right.read_text(encoding="utf-8")
    (tmp_path / "defaults.sh").write_text((right.parent / "defaults.sh").read_text(encoding="utf-8"), encoding="utf-8")
    changes = {
        "flags": (" PW. 10001:15001", " P. 10001:15001"),
        "ECN bits": ("[ect0] SE.", "[noecn] SE."),
        "TCP options": ("mss 1460", "mss 1459"),
        "length": ("P. 15001:17001(2000)", "P. 15001:16001(1000)"),
        "wrong time": ("   +0 > [ect0] P. 1:10001", "  +.1 > [ect0] P. 1:10001"),
        "an assertion does not hold": ("dctcp_alpha == 933", "dctcp_alpha == 934"),
        "returned something else": ("10000) = 10000", "10000) = 9999"),
    }
    scripts = []
    for what, (old, new) in changes.items():
        assert old in text, what
        path = tmp_path / f"{what}.pkt"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        scripts.append(path)
    for verdict in run_scripts(scripts, on="linux", known={}):
        assert verdict.outcome == "fail", verdict
        assert verdict.script.stem in verdict.data["reason"], verdict


def test_counters_are_compared(image: Image, tmp_path: Path) -> None:
    # A SYN arrives and is answered, then an ACK arrives, and nothing more.
    text = """0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 `nstat -n`
+0 < S 0:0(0) win 9999 <mss 1000>
+0 > S. 0:0(0) ack 1 <...>
+0 `nstat -s | grep TcpOutSegs | grep -q " 1 "`
+.1 < . 1:1(0) ack 1 win 9999
+0 `nstat | grep TcpInSegs | grep -q " 2 "`
+0 `nstat | grep TcpInSegs | grep -q " 1 "`
"""
    path = tmp_path / "counters.pkt"
    path.write_text(text, encoding="utf-8")
    (verdict,) = run_scripts([path], on="linux", known={})
    assert verdict.outcome == "fail"
    assert verdict.data["line"] == 10
    assert (verdict.data["wanted"], verdict.data["seen"]) == ("1", "0")


LISTEN = """0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 9999 <mss 1000>
+0 > S. 0:0(0) ack 1 <...>
"""

# Errors of this player that packetdrill's own scripts have shown (docs/conformance.md).
FOUND = {
    "a check after a call that blocked has the descriptor that the call gave": LISTEN
    + """+.1...0.300 accept(3, ..., ...) = 4
+.2 < . 1:1(0) ack 1 win 9999
+.005 %{ assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd }%
""",
    "a SYN that comes again is not that of the next connection": """0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
+0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
+0 > S 0:0(0) <...>
+1.05 socket(..., SOCK_STREAM, IPPROTO_TCP) = 4
+0 fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK) = 0
+0 connect(4, ..., ...) = -1 EINPROGRESS (Operation now in progress)
+0 > S 0:0(0) <...>
+.1 < S. 0:0(0) ack 1 win 9999 <mss 1000>
+0 > . 1:1(0) ack 1
""",
    "calls on a socket that connects begin no other connection": """`sysctl -q net.ipv4.tcp_fastopen=1`
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
+0 sendto(3, ..., 0, MSG_FASTOPEN, AF_UNSPEC, ...) = -1 EOPNOTSUPP (Operation not supported)
+0 sendto(3, ..., 1000, MSG_FASTOPEN, ..., ...) = -1 EINPROGRESS (Operation now in progress)
+0 > S 0:0(0) <...>
+.01 sendto(3, ..., 1000, MSG_FASTOPEN, ..., ...) = -1 EALREADY (Operation already in progress)
+.01 < S. 0:0(0) ack 1 win 9999 <mss 1000>
+0 > . 1:1(0) ack 1
""",
}


@pytest.mark.parametrize("what", FOUND)
def test_what_packetdrill_plays_is_played_alike(image: Image, tmp_path: Path, what: str) -> None:
    path = tmp_path / "script.pkt"
    path.write_text(FOUND[what], encoding="utf-8")
    assert bad(run_scripts([path], on="linux", known={})) == []


def test_part_of_the_payload_and_then_nothing(image: Image, tmp_path: Path) -> None:
    path = tmp_path / "script.pkt"
    text = "+.1 < . 1:1(0) ack 1 win 9999\n+0 accept(3, ..., ...) = 4\n+0 write(4, ..., 1000) = 1000\n"
    path.write_text(f"{LISTEN}{text}+0 > P. 1:2001(2000) ack 1\n", encoding="utf-8")
    (verdict,) = run_scripts([path], on="linux", known={})
    assert (verdict.outcome, verdict.data["line"]) == ("fail", 9)


def test_same_bytes_alone_and_at_once(image: Image) -> None:
    scripts = [path for path in shipped_scripts() if "echo" in path.name]
    alone = [verdict.to_dict() for verdict in run_scripts(scripts, on="linux", workers=1)]
    at_once = [verdict.to_dict() for verdict in run_scripts(scripts, on="linux", workers=2)]
    assert alone == at_once


def test_a_parameter_that_the_kernel_does_not_take_ends_its_script_alone(image: Image, tmp_path: Path) -> None:
    texts = {
        "a.pkt": f"\n`sysctl -q net.ipv4.tcp_nonsense=1`\n{LISTEN}",
        "b.pkt": LISTEN,
        "c.pkt": f"{LISTEN}+0 `sysctl -q net.ipv4.tcp_ecn=many`\n",
        "d.pkt": f"`sysctl -e net.ipv4.tcp_nonsense=1`\n{LISTEN}",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    verdicts = run_scripts([tmp_path / name for name in texts], on="linux", known={})
    assert [(verdict.outcome, verdict.data.get("line")) for verdict in verdicts] == [
        ("wrong", 2),
        ("pass", None),
        ("wrong", 6),
        ("pass", None),
    ]
    assert verdicts[0].data["reason"].startswith("the kernel cannot set `net.ipv4.tcp_nonsense` to `1`: No such file")
    assert "`net.ipv4.tcp_ecn` to `many`" in verdicts[2].data["reason"]
