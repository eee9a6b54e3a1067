"""A link alone, in Python and in C: golden traces (tests/bottleneck), and what is refused."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import shoal

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "bottleneck"
TRACES = sorted((FOLDER / "traces").iterdir())
# As in shoal.h.
VERDICTS = ("queued", "marked", "displaced", "dropped")
REASONS = ("buffer", "threshold", "early", "forced", "coupled", "sojourn", "shared_buffer")


def code(reason: str | None) -> int:
    return 255 if reason is None else REASONS.index(reason)


class Driver:
    """Does what the input of a trace says."""

    def __init__(self, scenario: str) -> None:
        self.link = shoal.Bottleneck(shoal.Scenario.from_toml(scenario), seed=1)
        self.heard: list[str] = []
        self.handle = 0

    def ask(self, now_ps: int) -> None:
        for event in self.link.events(now_ps):
            if isinstance(event, shoal.Arrived):
                words = (event.at_ps, event.handle, event.flow, event.size, event.ecn, int(event.is_marked))
                self.heard.append(" ".join(map(str, ("p", *words))))
            else:
                self.heard.append(" ".join(map(str, ("l", event.at_ps, event.handle, code(event.reason)))))

    def until(self, now_ps: int | None) -> None:
        while (wanted := self.link.next_ps) is not None and (now_ps is None or wanted < now_ps):
            self.ask(wanted)

    def packets(self, start: int, gap: int, count: int, size: int, ecn: str, flows: int) -> None:
        for n in range(count):
            now = start + n * gap
            self.until(now)
            given = self.link.enqueue(now, size, ecn=int(ecn[n % len(ecn)]), flow=n % flows, handle=self.handle)
            if given.verdict != "queued":
                self.heard.append(f"e {self.handle} {VERDICTS.index(given.verdict)} {code(given.reason)}")
            self.ask(now)
            self.handle += 1

    def change(self, word: str, at: int, value: int) -> None:
        self.until(at)
        try:
            (self.link.set_rate if word == "rate" else self.link.set_delay)(at, value)
        except shoal.ScenarioError:
            self.heard.append("f")
        self.ask(at)

    def drive(self, lines: Iterator[str]) -> str:
        for line in lines:
            match line.split():
                case ["packets", start, gap, count, size, ecn, flows]:
                    self.packets(int(start), int(gap), int(count), int(size), ecn, int(flows))
                case ["end"]:
                    self.until(None)
                case [word, at, value]:
                    self.change(word, int(at), int(value))
        counters = vars(self.link.counters).values()
        return "\n".join([*self.heard, " ".join(map(str, ("c", *counters)))]) + "\n"


def parts_of(trace: Path) -> tuple[str, Iterator[str], str]:
    text, _, output = trace.read_text(encoding="utf-8").partition("\noutput\n")
    head, _, instructions = text.partition("\ninput\n")
    return head.partition("\nscenario\n")[2], iter(instructions.splitlines()), output


@pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.stem)
def test_golden_traces(trace: Path) -> None:
    scenario, lines, output = parts_of(trace)
    assert Driver(scenario).drive(lines) == output


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the static and the shared library."""
    if shutil.which("cargo") is None:
        pytest.skip("cargo is missing: the C library cannot be built")
    profile = os.environ.get("PROFILE", "ci")
    built = subprocess.run(
        ["cargo", "build", "--quiet", "--locked", "--package", "shoal-c", "--profile", profile], cwd=ROOT, check=False
    )
    assert built.returncode == 0
    folder = tmp_path_factory.mktemp("libraries")
    for name in ("libshoal.a", "libshoal.so"):
        shutil.copyfile(ROOT / "target" / profile / name, folder / name)
    return folder


def compiled(libraries: Path, source: Path, program: Path, kind: str = "static") -> Path:
    """A program of C that is linked with the library."""
    compiler = shutil.which("cc") or pytest.skip("a C compiler is missing")
    linked = (
        [libraries / "libshoal.a", "-lpthread", "-ldl", "-lm"]
        if kind == "static"
        else [f"-L{libraries}", "-lshoal", f"-Wl,-rpath,{libraries}"]
    )
    warnings = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    include = ROOT / "crates" / "front" / "c" / "include"
    subprocess.run([compiler, *warnings, f"-I{include}", source, *linked, "-o", program], check=True)
    return program


@pytest.mark.parametrize("kind", ["static", "shared"])
def test_a_c_program_hears_the_same(libraries: Path, kind: str, tmp_path: Path) -> None:
    program = compiled(libraries, FOLDER / "drive.c", tmp_path / "drive", kind)
    for trace in TRACES:
        with trace.open("rb") as given:
            done = subprocess.run([program], stdin=given, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == parts_of(trace)[2], trace.name


def test_a_sender_in_c_gets_what_the_simulator_says(libraries: Path, tmp_path: Path) -> None:
    program = compiled(libraries, FOLDER / "dctcp.c", tmp_path / "dctcp")
    scenario = (FOLDER / "dctcp.toml").read_text(encoding="utf-8")
    done = subprocess.run([program, "1000", "5", "20"], input=scenario, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    sender = {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}
    result = shoal.run(shoal.Scenario.from_toml(scenario))
    queue, flow = result.bottlenecks[0], result.groups[0]["flows"][0]
    # 1500 bytes take 120 us, and then 1 ms.
    simulated = {
        "goodput_bps": flow["goodput_bps"],
        "marked": queue["marked"] / queue["arrived"],
        "delay_us": queue["delay_s"]["all"]["mean"] * 1e6 + 1120,
    }
    print(sender, simulated)
    assert sender["goodput_bps"] == pytest.approx(simulated["goodput_bps"], rel=0.01)
    assert sender["marked"] == pytest.approx(simulated["marked"], rel=0.15)
    assert sender["delay_us"] == pytest.approx(simulated["delay_us"], rel=0.05)


def test_the_header_has_the_numbers_of_the_words() -> None:
    header = (ROOT / "crates" / "front" / "c" / "include" / "shoal.h").read_text(encoding="utf-8")
    assert len(header.splitlines()) <= 150
    for number, reason in enumerate(REASONS):
        assert f"SHOAL_{reason.upper()} = {number}," in header


SCENARIO = """
duration = "1 s"
bottleneck = { rate = "12 Mbit/s", delay = "5 ms" }
flows = [{ cc = "reno", rtt = "20 ms" }]
"""


def test_next_ps_knows_of_a_packet_that_came() -> None:
    link = shoal.Bottleneck(shoal.Scenario.from_toml(SCENARIO))
    assert link.next_ps is None
    link.enqueue(0, 1500, handle=7)
    assert link.next_ps == 6_000_000_000
    link.set_delay(500, 0)
    assert link.next_ps == 1_000_000_000
    assert [event.handle for event in link.events(10**12)] == [7]
    assert link.next_ps is None


def test_link_of_one_thread_is_used_and_dropped_in_another() -> None:
    links = [shoal.Bottleneck(shoal.Scenario.from_toml(SCENARIO))]

    def use() -> None:
        links[0].enqueue(0, 1500, handle=7)
        arrived.extend(event.handle for event in links[0].events(10**12))
        del links[0]

    arrived: list[int] = []
    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    # What fails as an object is dropped is an unraisable exception, and pytest makes a failure of it.
    assert (arrived, links) == ([7], [])


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"now_ps": -1}, "now_ps is -1"),
        ({"size": 0}, "size is 0"),
        ({"size": 65536}, "size is 65536"),
        ({"ecn": 4}, "ecn is 4"),
        ({"handle": -1}, "handle is -1"),
        ({"flow": 2**32}, "flow is 4294967296"),
        ({"size": "large"}, "size"),
    ],
)
def test_numbers_outside_their_range_are_refused(numbers: dict[str, int], message: str) -> None:
    link = shoal.Bottleneck(shoal.Scenario.from_toml(SCENARIO))
    with pytest.raises(shoal.UsageError, match=message):
        link.enqueue(**{"now_ps": 0, "size": 1500} | numbers)
    assert link.counters.arrived == 0


def test_links_are_refused_with_a_remedy() -> None:
    scenario = shoal.Scenario.from_toml(SCENARIO)
    with pytest.raises(shoal.ScenarioError, match=r"no link botleneck; did you mean bottleneck\?"):
        shoal.Bottleneck(scenario, link="botleneck")
    with pytest.raises(shoal.ScenarioError, match=r"2\^62 ps"):
        shoal.Bottleneck(scenario).set_delay(0, 2**63)
