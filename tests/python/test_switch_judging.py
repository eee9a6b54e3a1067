"""Which queues starve whom: worst first, with the law and the mechanism."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import Cli
from switch_documents import GBIT, read

from shoal.stats import single
from shoal.switch import Port, Queue
from shoal.switch.judging import Judgement, judge, judgement_table
from shoal.switch.simulate import Experiment

# Queue 3: CUBIC is dropped where DCTCP is marked. Queue 4: its drops begin far above the marks. Queue 7: nothing but
# the buffer, which holds both alike. Queue 5: thresholds that the configuration does not have.
QUEUES = """policy-map type queuing OUT
  class type queuing c-out-8q-q3
    random-detect minimum-threshold 120 kbytes maximum-threshold 120 kbytes drop-probability 100 weight 0 ecn
  class type queuing c-out-8q-q4
    random-detect minimum-threshold 120 kbytes maximum-threshold 120 kbytes drop-probability 100 weight 0 ecn
    random-detect non-ecn minimum-threshold 600 kbytes maximum-threshold 900 kbytes drop-probability 20
  class type queuing c-out-8q-q5
    random-detect threshold burst-optimized
  class type queuing c-out-8q-q7
    priority level 1
"""


@pytest.fixture(scope="module")
def judgements() -> list[Judgement]:
    port = Port(10 * GBIT)
    return judge(read(QUEUES, rate_bps=port.rate_bps).queues, Experiment(port, Fraction(1, 10_000)), workers=2)


def test_who_is_starved_behind_which_law(judgements: list[Judgement]) -> None:
    verdicts = {(each.queue.index, each.has_ecn): each.verdict for each in judgements}
    assert verdicts == {
        (3, False): "starves CUBIC",  # a loss halves its window where DCTCP loses half of alpha
        (3, True): "starves CUBIC",  # and so does a mark
        (4, False): "starves DCTCP",  # marks hold it at 120 kB, CUBIC fills the queue up to 600
        (4, True): "starves CUBIC",  # CUBIC is marked, too
        (5, False): "not judged",
        (5, True): "not judged",
        (7, False): "both get half of a fair share or more",
        (7, True): "both get half of a fair share or more",
    }
    # Shares of the link: four flows of each kind, so both parts are 200 % together where the link is busy.
    for each in judgements:
        if not each.unknown:
            parts = [part.mean for part in each.parts.values() if part is not None]
            assert sum(parts) == pytest.approx(2.0, abs=0.06)
            assert bool(each.mechanisms) is ("starves" in each.verdict)


def test_the_worst_comes_first_and_what_is_not_known_last(judgements: list[Judgement]) -> None:
    parts = [each.least[1] for each in judgements if not each.unknown]
    assert parts == sorted(parts)
    assert [bool(each.unknown) for each in judgements] == [False] * 6 + [True] * 2
    rows = judgement_table(judgements).rows
    assert rows[-1][:3] == ("c-out-8q-q5", "CUBIC with ECN", "not judged")
    assert "the law of queue c-out-8q-q5 is not known" in rows[-1][3]
    assert rows[-1][4:] == ("-", "-", "-", "-")


@pytest.mark.parametrize(
    ("cubic", "verdict"),
    [(0.0999, "starves CUBIC"), (0.1, "squeezes CUBIC"), (0.4999, "squeezes CUBIC"), (0.5, "both get half of")],
)
def test_borders_of_the_verdicts(cubic: float, verdict: str) -> None:
    parts = {"dctcp": single(2 - cubic), "cubic": single(cubic)}
    assert Judgement(Queue("q"), False, parts).verdict.startswith(verdict)
    swapped = {"dctcp": single(cubic), "cubic": single(2 - cubic)}
    assert Judgement(Queue("q"), False, swapped).verdict.startswith(verdict.replace("CUBIC", "DCTCP"))


def test_command_line(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "nexus.txt").write_text(QUEUES, encoding="utf-8")
    words = ("config", "judge", str(tmp_path / "nexus.txt"), "--port-speed", "10G", "--queue", "3")
    done = cli(*words)
    assert done.code == 0, done.err
    assert "starves CUBIC" in done.out
    assert "such a loss leaves a flow" in " ".join(done.out.split())
    again = json.loads(cli(*words, "--json").out)
    assert {each["verdict"] for each in again["queues"]} == {"starves CUBIC"}
    assert again["queues"][0]["parts_of_a_fair_share"]["cubic"]["n"] == 3
    refused = cli("config", "judge", str(tmp_path / "nexus.txt"), "--port-speed", "10G", "--queue", "9")
    assert refused.code == 2


def test_why_cubic_starves_where_both_are_marked() -> None:
    """A ramp marks both kinds alike; what a mark costs each of them is the reason."""
    law = "random-detect minimum-threshold 250 kbytes maximum-threshold 1000 kbytes drop-probability 10 weight 0 ecn"
    text = f"policy-map type queuing P\n  class type queuing c-out-8q-q3\n    {law}\n"
    port = Port(10 * GBIT, buffer_bytes=2_000_000)
    # With a round trip of 100 us CUBIC's window is at its smallest, which is another reason.
    experiment = Experiment(port, Fraction(3, 10_000), buffer_bytes=2_000_000)
    marked = next(each for each in judge(read(text, rate_bps=port.rate_bps).queues, experiment) if each.has_ecn)
    assert marked.verdict == "starves CUBIC"
    (mechanism,) = marked.mechanisms
    assert re.fullmatch(
        r"[0-9.]+ % of its packets are marked and [0-9.]+ % of those of dctcp, which answers in proportion where this "
        r"group reduces its window as for a loss \([0-9]+ times\)",
        mechanism,
    )
