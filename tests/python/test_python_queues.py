"""Laws of queues in Python: the results of shoal's own, and what is said of what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Cli

import shoal
from shoal.errors import OwnLawError, ScenarioError

_text = """
duration = "8 s"
seed = 2
bottleneck = { rate = "20 Mbit/s", buffer = "100 packets", aqm = { kind = "fifo" } }
flows = [
    { cc = "dctcp", rtt = "20 ms", count = 2 },
    { cc = "cubic", ecn = "off", rtt = "30 ms", count = 2 },
    { cc = "reno", rtt = "20 ms", app = { on = "300 ms", off = "200 ms" } },
]
"""


class Sojourn(shoal.Queue):
    """A step on the time that a packet waited."""

    threshold_us = shoal.parameter(1000, least=1, most=1e6, unit="us", text="Longest wait without a mark.")

    def on_departure(self, port: shoal.Port) -> int:
        if port.sojourn_ps <= self.threshold_us * 1e6:
            return self.PASS
        port.reason = 1
        return self.MARK if port.ecn else self.DROP


class Backlog(shoal.Queue):
    """A step on what waits when a packet arrives."""

    threshold = shoal.parameter(20, least=1, most=1000, whole=True, unit="packets")

    def on_arrival(self, port: shoal.Port) -> int | None:
        if port.waiting_packets < self.threshold:
            return None
        port.reason = 1
        return self.MARK


class Lottery(shoal.Queue):
    """Drops a packet of a hundred."""

    def on_arrival(self, port: shoal.Port) -> int:
        return self.DROP if port.draw() < 2**64 // 100 else self.PASS


def _measured(law: type[shoal.Queue] | None, **aqm: object) -> object:
    scenario = shoal.Scenario.from_toml(_text)
    if law is not None:
        scenario = scenario.with_laws(law)
        aqm |= {"kind": "module", "name": law.__name__}
    result = shoal.run(scenario.override({"bottleneck.aqm": aqm}))
    return result.groups, result.bottlenecks


def test_steps_in_python_give_the_bytes_of_those_in_shoal() -> None:
    step = {"kind": "step", "decide": "dequeue", "threshold": "2 ms", "drop_threshold": "2 ms"}
    own = _measured(Sojourn, parameters={"threshold_us": 2000})
    assert own == _measured(None, **step)
    # The check is one: another threshold gives other results.
    assert own != _measured(Sojourn, parameters={"threshold_us": 1000})
    assert _measured(Backlog) == _measured(None, kind="step", threshold="20 packets")


def test_random_draws_are_those_of_the_scenario() -> None:
    assert _measured(Lottery) == _measured(Lottery)
    first = shoal.Scenario.from_toml(_text).with_laws(Lottery)
    first = first.override({"bottleneck.aqm": {"kind": "module", "name": "Lottery"}})
    dropped = [shoal.run(first, seed=seed).bottlenecks[0]["dropped_by"]["aqm"] for seed in (1, 2)]
    assert dropped[0] != dropped[1]


def test_a_file_is_named_by_the_command(folder: Path, inside: Cli) -> None:
    text = "import shoal\n\nclass Half(shoal.Queue):\n    def on_arrival(self, port):\n        LINE\n"
    (folder / "half.py").write_text(text.replace("LINE", "return port.now_ps % 2"), encoding="utf-8")
    (folder / "half.toml").write_text(
        _text.replace('{ kind = "fifo" }', '{ kind = "module", name = "Half" }'), encoding="utf-8"
    )
    assert inside("run", "half.toml").code == 3
    done = inside("run", "half.toml", "--python", "half.py", "--out", "kept")
    assert done.code == 0, done.err
    assert (folder / "kept" / "half.py").is_file()
    assert "(queue)" in inside("describe", "half.py").out
    (folder / "half.py").write_text(text.replace("LINE", "return 'drop'"), encoding="utf-8")
    failed = inside("run", "half.toml", "--python", "half.py")
    assert failed.code == 3
    assert "`on_arrival` returned 'drop', and is asked for PASS, MARK or DROP" in failed.err


class Broken(shoal.Queue):
    """Fails."""

    def on_arrival(self, port: shoal.Port) -> None:
        port.waiting_packets = 0


class Greedy(shoal.Queue):
    """Draws too often."""

    def on_arrival(self, port: shoal.Port) -> None:
        for _ in range(5):
            port.draw()


def test_a_failure_names_the_link_and_the_line() -> None:
    for law, message in (
        (Broken, "AttributeError: `waiting_packets` is what the host says; a law sets timer_ps, probability"),
        (Greedy, "ValueError: a call has 4 random draws"),
    ):
        with pytest.raises(OwnLawError, match=message) as caught:
            _measured(law)
        assert str(caught.value).startswith(f"the law `{law.__name__}` of ")
        assert "test_python_queues.py, line" in str(caught.value)


def test_a_queue_is_no_controller_and_a_controller_no_queue() -> None:
    with pytest.raises(ScenarioError, match="is no controller"):
        shoal.Scenario.from_toml(_text).override({"flows[0].cc": Backlog})
    with pytest.raises(ScenarioError, match="is called on no occasion"):
        shoal.Scenario.from_toml(_text).with_laws(
            type("Typo", (Backlog,), {"on_growth": lambda _self, _port: None, "__module__": __name__})
        )
