"""Conformance scripts on the real kernel: the kernel's own, and ours for DCTCP."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from shoal.conformance import Verdict, run_scripts, selftests, shipped_scripts
from shoal.errors import OutputError
from shoal.linux import Image


def bad(verdicts: list[Verdict]) -> list[str]:
    return [json.dumps(verdict.to_dict()) for verdict in verdicts if not verdict.ok]


def test_dctcp_scripts_pass(image: Image) -> None:
    verdicts = run_scripts(shipped_scripts(), on="linux")
    assert bad(verdicts) == []
    assert {verdict.outcome for verdict in verdicts} == {"pass"}


def test_the_kernels_own_scripts_pass(image: Image) -> None:
    try:
        scripts = selftests((image.tree / "source").resolve())
    except OutputError as error:
        pytest.skip(f"left out: {error}")
    verdicts = run_scripts(scripts, on="linux")
    assert bad(verdicts) == []
    counts = Counter(verdict.outcome for verdict in verdicts)
    if image.release.startswith("7.3"):
        assert counts["pass"] >= 160
        assert counts["refused"] <= 4
    # The same on our models: what differs is listed.
    assert bad(run_scripts(scripts, on="sim")) == []


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
    # A SYN comes in and its answer goes out, then an ACK comes in, then nothing.
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


def test_same_bytes_alone_and_at_once(image: Image) -> None:
    scripts = [path for path in shipped_scripts() if "echo" in path.name]
    alone = [verdict.to_dict() for verdict in run_scripts(scripts, on="linux", workers=1)]
    at_once = [verdict.to_dict() for verdict in run_scripts(scripts, on="linux", workers=2)]
    assert alone == at_once
