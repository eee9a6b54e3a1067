"""The page of a box: what the process that serves it answers, to whom, and what it tells the box."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from shown_box import MadeUpBox, scenario

from shoal.errors import OutputError
from shoal.linux import box_page
from shoal.linux.box_page import BoxPage, controls, news
from shoal.scenario import Scenario
from shoal.wire_box import trusted_us

PAGE = b"<!doctype html>\n<p>a page"
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BoxPage]:
    path = tmp_path / "box.html"
    path.write_bytes(PAGE)
    monkeypatch.setattr(box_page, "page_file", path)
    page = BoxPage(scenario(), "left and right", trusted_us=trusted_us)
    yield page
    page.close()


class Reader:
    """Somebody who asks the server of a page."""

    def __init__(self, page: BoxPage) -> None:
        _, _, self.host, self.token, _ = page.address.split("/")

    def ask(self, method: str, path: str, body: str | None = None, **headers: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self.host, timeout=10)
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def move(self, body: str, **headers: str) -> int:
        given = {"Origin": f"http://{self.host}"} | {"Content_Type": "application/json"} | headers
        return self.ask("POST", f"/{self.token}/move", body, **given)[0]

    def events(self) -> Iterator[dict[str, Any]]:
        connection = http.client.HTTPConnection(self.host, timeout=10)
        connection.request("GET", f"/{self.token}/events")
        answer = connection.getresponse()
        assert answer.getheader("Content-Type") == "text/event-stream"
        while line := answer.readline():
            if line.startswith(b"data: "):
                yield json.loads(line[6:])


def moves(page: BoxPage, box: Any, number: int) -> list[str]:
    """What the box says of so many moves."""
    said: list[str] = []
    end = time.monotonic() + 10
    while len(said) < number and time.monotonic() < end:
        said += page.move(box)
        time.sleep(0.01)
    return said


def test_the_page_is_for_whoever_has_the_whole_address(page: BoxPage) -> None:
    reader = Reader(page)
    assert reader.host.startswith("127.0.0.1:")
    assert reader.ask("GET", f"/{reader.token}/") == (200, PAGE)
    assert reader.ask("GET", f"/{reader.token}/", Host=f"localhost:{reader.host.split(':')[1]}") == (200, PAGE)
    for path in ("/", f"/{reader.token}", f"/{reader.token}/other", f"/{reader.token[:-1]}/", "/%c3%bc/", "//"):
        assert reader.ask("GET", path)[0] == 404, path
    # A name of somebody else's that leads to this machine, as another page could have it looked up.
    assert reader.ask("GET", f"/{reader.token}/", Host="example.org")[0] == 404
    assert reader.ask("GET", f"/{reader.token}/events", Host="example.org")[0] == 404
    # Nobody listens at the other addresses of this machine.
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.2", int(reader.host.split(":")[1])), timeout=5)


def test_only_the_page_itself_moves_something(page: BoxPage) -> None:
    reader, box = Reader(page), MadeUpBox()
    wanted = json.dumps({"key": "bottleneck.rate", "value": "20 Mbit/s"})
    assert reader.move(wanted, Origin="http://example.org") == 403
    assert reader.move(wanted, Origin="null") == 403
    assert reader.move(wanted, Content_Type="text/plain") == 403
    assert reader.move(wanted, Host="example.org") == 404
    assert reader.ask("POST", "/wrong/move", wanted, Origin=f"http://{reader.host}")[0] == 404
    for body in ("", "nothing", "[]", '{"key": "bottleneck.rate"}', "x" * 20_000):
        assert reader.move(body) == 400, body[:20]
    assert reader.move(wanted) == 204
    assert moves(page, box, 1) == ["moved: bottleneck.rate=20 Mbit/s"]
    assert box.moved == [("bottleneck.rate", "20 Mbit/s")]


def test_a_reader_hears_what_happens_and_a_later_one_what_was_moved(page: BoxPage) -> None:
    reader, box = Reader(page), MadeUpBox()
    events = reader.events()
    about = next(events)
    assert (about["type"], about["queue"]) == ("about", "dualpi2")
    box.steps = 1
    page.show(box, box.counts())
    said = next(events)
    assert (said["type"], said["bytes"], said["marked"], said["dropped"]) == ("news", 250_000, 4, 1)
    assert [flow["bytes"] for flow in said["flows"]] == [125_000, 125_000]
    assert said["delays"] == [[0.0009, 0.001, 20.0], [0.014, 0.015, 20.0]]
    # The last of several moves counts, what is no control of the page is none, and the box may refuse.
    for key, value in (
        ("bottleneck.aqm.target", "10 ms"),
        ("bottleneck.aqm.target", "5 ms"),
        ("flows[0].rtt", "13 ms"),
        ("bottleneck.buffer", "1 packets"),
    ):
        assert reader.move(json.dumps({"key": key, "value": value})) == 204
    time.sleep(0.2)
    assert moves(page, box, 3) == [
        "moved: bottleneck.aqm.target=5 ms",
        "not moved: flows[0].rtt=13 ms: not this number",
        "not moved: bottleneck.buffer=1 packets: `bottleneck.buffer` is no control of this page",
    ]
    assert [next(events)["error"] is None for _ in range(3)] == [True, False, False]
    later = {control["key"]: control["value"] for control in next(reader.events())["controls"]}
    assert (later["bottleneck.aqm.target"], later["flows[0].rtt"]) == (5.0, 20.0)


def test_news_that_nobody_takes_wait_and_delay_nobody(page: BoxPage) -> None:
    os.kill(page._server.pid, signal.SIGSTOP)
    try:
        box = MadeUpBox()
        began = time.monotonic()
        for _ in range(2000):
            box.steps += 1
            page.show(box, box.counts())
        assert time.monotonic() - began < 10
        assert page._delays[0], "what is not sent is kept"
    finally:
        os.kill(page._server.pid, signal.SIGCONT)


def test_the_server_ends_with_its_box(tmp_path: Path) -> None:
    path = tmp_path / "box.html"
    path.write_bytes(PAGE)
    code = f"import pathlib, shown_box; shown_box.box_page.page_file = pathlib.Path({str(path)!r}); shown_box.main()"
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=Path(__file__).parent, stdin=pipe, stdout=pipe, text=True
    ) as box:
        assert box.stdout is not None
        port = int(box.stdout.readline().split("/")[2].split(":")[1])
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        box.kill()
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
        except OSError:
            return
        time.sleep(0.05)
    pytest.fail("the server is still there")


def test_a_checkout_without_the_page_says_how_it_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(box_page, "page_file", tmp_path / "absent.html")
    with pytest.raises(OutputError, match="no page yet"):
        BoxPage(scenario(), "left and right", trusted_us=trusted_us)


def test_news_are_of_the_time_between_two_counts_and_of_few_flows() -> None:
    box = MadeUpBox()
    box.steps = 3
    before = box.counts()
    box.steps = 5
    counts = box.counts()
    late = counts["ways"][0]["flows"]
    late += [{"flow": f"flow {number}", "bytes": number, "marked": 0, "dropped": 0} for number in range(1, 15)]
    said = news(counts, before, [[], []])
    assert said["over_s"] == pytest.approx(0.2)
    assert (said["bytes"], said["marked"], said["dropped"]) == (500_000, 8, 2)
    assert [flow["bytes"] for flow in said["flows"]] == [250_000, 250_000, *range(14, 4, -1)]
    # Those that sent 1, 2, 3 and 4 bytes.
    assert said["others"] == {"flows": 4, "bytes": 10}
    assert said["late_us"] == 7.0


def test_a_box_that_nothing_has_left_is_not_said_to_be_in_time() -> None:
    counts = MadeUpBox().counts()
    counts["ways"] = [way | {"late_us": {"p99": None}} for way in counts["ways"]]
    assert news(counts, counts, [[], []])["late_us"] is None


def test_a_round_trip_has_the_delay_of_the_bottleneck_in_it() -> None:
    least = [controls(scenario(delay=delay))[1]["min"] for delay in ("5 ms", "5 us", "0 s")]
    assert least == [5.0, 0.0, 0.0]


def test_a_topology_has_a_page_without_controls() -> None:
    assert controls(Scenario.named("parking-lot")) == []


@pytest.mark.parametrize(
    ("bottleneck", "expected"),
    [
        (
            {},
            [("bottleneck.rate", "Mbit/s", 40.0), ("flows[0].rtt", "ms", 20.0), ("bottleneck.aqm.target", "ms", 15.0)],
        ),
        (
            {"rate": "500 kbit/s", "aqm": {"kind": "step", "threshold": "5 packets"}},
            [
                ("bottleneck.rate", "kbit/s", 500.0),
                ("flows[0].rtt", "ms", 20.0),
                ("bottleneck.aqm.threshold", "packets", 5.0),
            ],
        ),
        # Its limits are no parameters of a law, and RED takes no others while packets wait.
        ({"aqm": {"kind": "fifo"}}, [("bottleneck.rate", "Mbit/s", 40.0), ("flows[0].rtt", "ms", 20.0)]),
    ],
)
def test_controls_are_what_can_change(bottleneck: dict[str, object], expected: list[tuple[str, str, float]]) -> None:
    shown = controls(scenario(**bottleneck))
    assert [(control["key"], control["unit"], control["value"]) for control in shown] == expected
    for control in shown:
        low, value, high, step = (control[name] for name in ("min", "value", "max", "step"))
        assert low < value < high
        # The value is one that the slider can have.
        assert (value - low) / step == pytest.approx(round((value - low) / step))
        if control["unit"] == "packets":
            assert step >= 1
