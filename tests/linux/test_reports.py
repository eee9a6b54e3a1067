"""The report of a run on the kernel says on which plane it ran."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import shoal
from shoal.linux import Image, run_on_linux
from shoal.report import Entry, write_report


def test_report_names_kernel_queue_and_what_differs(single: shoal.Scenario, image: Image, tmp_path: Path) -> None:
    scenario = single.override({"duration": "2 s", "warmup": "0 s", "flows.dctcp.stack": "linux-3.18"})
    result = run_on_linux(scenario, image=image)
    write_report([Entry("single", [result])], tmp_path, command="shoal run single.toml --on linux")
    page = unescape((tmp_path / "report.html").read_text(encoding="utf-8"))
    linux = result.data["linux"]
    assert linux["build"] == image.folder.name
    assert image.helpers.name == f"helpers-{linux['modules']}"
    said = [
        f"Linux {image.release} in virtual time, {image.mode} mode",
        linux["build"],
        linux["modules"],
        "r1: tc qdisc add dev b0 root handle 1: line rate 10000000bit overhead 0",
        "red, qth_min = qth_max = 30000",
        "net.ipv4.tcp_ecn=1",
        "the stack is that of Linux",
    ]
    assert [text for text in said if text not in page] == []


def test_report_of_the_simulator_has_no_such_part(single: shoal.Scenario, tmp_path: Path) -> None:
    result = shoal.run(single.override({"duration": "2 s", "warmup": "0 s"}))
    write_report([Entry("single", [result])], tmp_path, command="shoal run single.toml")
    assert "On the real kernel" not in (tmp_path / "report.html").read_text(encoding="utf-8")
