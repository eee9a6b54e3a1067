"""Items of papers with other hosts, on both planes beside each other."""

from __future__ import annotations

from pathlib import Path

from shoal.linux import Image
from shoal.papers import read_paper
from shoal.papers.reproduce import reproduce

PAPER = """
title = "Nothing published"
items = ["marks"]

[linux]
set = { "flows.*.stack" = "linux-6" }

[linux.items.marks]
"""
ITEM = """
title = "Marks"

[sweeps.one]
scenario = "scenario.toml"
metrics  = { queue = "queue_packets()" }

[[checks]]
claim = "T1"
what  = "there is a queue"
table = "one"
value = "queue"
min   = 0
"""
SCENARIO = """
duration = "8 s"
warmup = "3 s"
bottleneck = { rate = "100 Mbit/s", buffer = "400 packets", aqm = { kind = "step", threshold = "40 packets" } }
flows = [{ cc = "dctcp", stack = "linux-3.18", rtt = "5 ms" }]
"""


def test_a_host_replaces_the_own_one_on_both_planes(image: Image, tmp_path: Path) -> None:
    """At 100 Mbit/s and 5 ms segments have up to ten packets (1 ms of the rate), which the mean queue shows."""
    folder = tmp_path / "paper"
    (folder / "items").mkdir(parents=True)
    for name, text in (("paper.toml", PAPER), ("items/marks.toml", ITEM), ("scenario.toml", SCENARIO)):
        (folder / name).write_text(text, encoding="utf-8")
    paper = read_paper(folder)
    item = paper.item("marks", on_linux=True, with_hosts=True)
    done = reproduce(paper, item, image=image, hosts=["linux-6-gso"])
    kernel = f"linux-{image.release.removesuffix('-shoal')}"
    assert [outcome.reading.name for outcome in done.outcomes] == [
        "as-stated",
        "simulated-alike",
        "simulated-alike+linux-6-gso",
        kernel,
        f"{kernel}+linux-6-gso",
    ]
    queues = {outcome.reading.name: outcome.tables["one"].rows[0].values["queue"] for outcome in done.outcomes}
    print(queues)
    for plane in ("simulated-alike", kernel):
        assert abs(queues[plane] - queues[f"{plane}+linux-6-gso"]) > 0.02 * queues[plane]
    for host in ("", "+linux-6-gso"):
        ratio = queues[f"{kernel}{host}"] / queues[f"simulated-alike{host}"]
        assert 0.8 < ratio < 1.25
