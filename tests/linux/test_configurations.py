"""Emitted `tc` lines on the kernel: read again, they are the same queue there.

That the real `tc` sends for these lines what the plane sends is in tests/python/test_tc_itself.py.
"""

from __future__ import annotations

import pytest
from test_queues import scenario

from shoal.linux import Image, run_on_linux
from shoal.switch import Document, Port, find_platform
from shoal.switch.from_scenario import queues_of
from shoal.switch.platforms.tc import TcOptions
from shoal.switch.writing import Writing


@pytest.mark.parametrize("name", ["codel", "codel-ecn", "pie", "pie-ecn", "gred", "dualpi2", "dualpi2-enqueue"])
def test_lines_read_again_are_the_same_queue(name: str, image: Image) -> None:
    given = scenario(name, buffer="100 packets", seconds=4)
    facts = given.facts["bottlenecks"][0]
    port = Port(facts["rate_bps"], mtu_bytes=facts["mtu_bytes"])
    (queue,), _ = queues_of(given, index=0)
    lines = find_platform("tc").write([queue], Writing(port, TcOptions(), scenario=given))
    (again,) = find_platform("tc").read(Document("lines", lines, port)).queues
    assert again.exact is not None
    link = {key: value for key, value in given.resolved["bottleneck"].items() if key != "aqm"}
    read = given.override({"bottleneck": link | {"aqm": dict(again.exact)}})
    one, two = (run_on_linux(which, image=image) for which in (given, read))
    assert one.bottlenecks == two.bottlenecks
    assert one.groups == two.groups
