"""What hunts must find, and must not. Rooms are smaller here, so that a test takes seconds; how-to/hunt.md has all.

Nothing tells a search where to begin: what is fixed only leaves out queues, loads or bottlenecks in a row.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import shoal
from shoal.hunting.noise import with_noise
from shoal.metrics import metric

STILL = {"path.kind": "still"}
NO_LOAD = {"flows.load.kind": "none"}


def ratio(find: shoal.Find) -> float:
    """The larger rate of a flow over the smaller one."""
    first, second = (group["wire_bps"]["mean"] or 0.0 for group in shoal.run(find.scenario).groups)
    return max(first, second) / max(1.0, min(first, second))


def test_dctcp_starves_reno_in_one_queue_that_marks() -> None:
    room = STILL | NO_LOAD | {"bottleneck.aqm.kind": "red", "bottleneck.aqm.ecn": "true"}
    finds = shoal.hunt(
        "dctcp", fix=room, vary={"flows.other.cc": "reno,ecn-reno"}, runs=2000, finds=6, workers=1, seed=2
    ).finds
    starved = [find for find in finds if find.cause.groups == ("other",) and ratio(find) >= 10]
    answers = {"same-marks-other-answer", "dropped-where-others-are-marked", "red-lock-out"}
    assert {find.cause.mechanism for find in starved} & answers


def test_ect0_is_in_the_wrong_queue_of_a_dualpi2() -> None:
    """DCTCP and classic ECN are both ECT(0): no mask has each in the queue that it needs."""
    room = STILL | NO_LOAD | {"bottleneck.aqm.kind": "dualpi2", "flows.other.cc": "ecn-reno"}
    finds = shoal.hunt("dctcp", fix=room, runs=1000, finds=8, workers=1).finds
    # Marks of the scalable law for a sender that halves, or a scalable sender among those that the classic law drops.
    wrong = {"same-marks-other-answer", "dctcp-in-classic-queue"}
    assert {find.cause.mechanism for find in finds} & wrong


def test_red_locks_out_who_does_not_ask_for_marks() -> None:
    # The searches with seeds 4 to 8 end at shares of 0.20, 0.26, 0.009, 0.19 and 0.063.
    room = STILL | NO_LOAD | {"bottleneck.aqm.kind": "red", "flows.other.cc": "ecn-reno"}
    finds = shoal.hunt("reno", fix=room | {"bottleneck.aqm.ecn": "true"}, runs=3000, finds=4, workers=1, seed=6).finds
    reasons = ("red-lock-out", "dropped-where-others-are-marked")
    locked = next(find for find in finds if find.cause.mechanism in reasons)
    assert locked.cause.groups == ("law",)
    assert locked.estimate.mean < 0.1
    # The average is above the maximum, where packets that cannot be marked are dropped, every one of them.
    dropped_by = shoal.run(locked.scenario).bottlenecks[0]["dropped_by"]
    assert dropped_by["forced"] > dropped_by["early"]


def test_a_long_flow_starves_in_a_row_of_bottlenecks() -> None:
    row = {"path.kind": "several-bottlenecks", "bottleneck.aqm.kind": "step", "flows.other.cc": "dctcp"}
    finds = shoal.hunt("dctcp", fix=row | NO_LOAD, runs=500, finds=4, workers=1).finds
    assert any(find.cause.mechanism == "several-queues" and find.cause.groups == ("law",) for find in finds)


def test_bursts_of_a_low_rate_hit_the_timeout_of_reno() -> None:
    """Kuzmanovic and Knightly (2003, https://doi.org/10.1145/863955.863966): bursts in the rhythm of the timeout."""
    alone = STILL | {"flows.other.cc": "none", "flows.load.kind": "bursts", "bottleneck.aqm.kind": "red"}
    finds = shoal.hunt("reno", fix=alone, runs=6000, finds=4, workers=1).finds
    attacks = []
    for find in finds:
        result = shoal.run(find.scenario)
        load_bps = result.groups[1]["wire_bps"]["sum"] or 0.0
        timeouts = metric(result, "count('law', 'timeouts')")
        # What the bursts take is a part of the link; the flow that they leave the rest to waits for its timeouts.
        if load_bps < 0.35 * result.bottlenecks[0]["rate_bps"] and timeouts >= 10:
            attacks.append(find)
    assert attacks
    assert attacks[0].estimate.mean < 0.1


def itself(duration: str, warmup: str) -> shoal.Scenario:
    group = '[[flows]]\nname = "{}"\ncc = "dctcp"\nrtt = "20 ms"\nstart = {{ uniform = ["0 s", "0.1 s"] }}\n'
    return shoal.Scenario.from_toml(
        f'title = "DCTCP beside itself"\nduration = "{duration}"\nwarmup = "{warmup}"\n'
        '[bottleneck]\nrate = "10 Mbit/s"\nbuffer = "500 packets"\naqm = { kind = "step", threshold = "20 packets" }\n'
        + group.format("law")
        + group.format("other")
    )


VARIED = {
    "bottleneck.rate": "10..50:log Mbit/s",
    "bottleneck.aqm.threshold": "20..60:log:whole packets",
    "flows.*.rtt": "2..20:log ms",
}
#: Shares of 1.3 and 1: the smaller has 2 / 2.3 of a fair share.
FAIR = 2 / 2.3


def test_dctcp_is_fair_to_itself() -> None:
    """RFC 8257 (https://www.rfc-editor.org/rfc/rfc8257) beside itself at equal round trips: at most 1.3 to 1."""
    base = itself("60 s", "20 s")
    hunted = shoal.hunt(base=base, vary=VARIED, beyond=FAIR, runs=200, workers=1)
    assert hunted.finds == []
    # Packets keep a beat where nothing is random, and a little random traffic ends that.
    assert hunted.vanished > 0
    assert "not beside 1 % of random traffic" in hunted.rejected
    # This search of another law finds what it looks for.
    mixed = base.override({"flows.other.cc": "reno"})
    assert shoal.hunt(base=mixed, vary=VARIED, beyond=FAIR, runs=64, finds=1, workers=1).finds


def test_a_beat_of_dctcp_ends_with_a_little_random_traffic() -> None:
    """Nothing is random there but the starts, and seven packets take a round trip: docs/how-to/hunt.md."""
    changes = {"bottleneck.rate": "24 Mbit/s", "bottleneck.aqm.threshold": "43 packets", "flows.*.rtt": "3.5 ms"}
    scenario = itself("60 s", "20 s").override(changes)
    assert metric(shoal.run(scenario), "least_share()") == pytest.approx(10 / 12, abs=0.01)
    assert metric(shoal.run(with_noise(scenario)), "least_share()") > 0.95


#: The laws in C that `shoal new law` begins with, and CUBIC: unchanged they give the bytes of those that are built in.
SHIPPED = Path(shoal.__file__).parent / "_data" / "law"
SOURCES = {
    "reno": SHIPPED / "reno.c",
    "dctcp": SHIPPED / "dctcp.c",
    "cubic": Path(__file__).with_name("cubic.c"),
}
CUBIC = '{ cc = "cubic", cc_options = { hystart = false } }'
needs_clang = pytest.mark.skipif(not shutil.which("clang") or not shutil.which("wasm-ld"), reason="no clang and lld")


def hunted_beside(
    name: str, reference: str, folder: Path, before: str = "", after: str = "", **more: object
) -> shoal.Hunted:
    """Hunt a law with a line replaced for scenarios in which it is unlike the one that is built in."""
    text = SOURCES[name].read_text(encoding="utf-8")
    assert not before or text.count(before) == 1
    source, module = folder / "law.c", folder / "law.wasm"
    source.write_text(text.replace(before, after) if before else text, encoding="utf-8")
    command = ["clang", "--target=wasm32", "-O2", "-Wall", "-nostdlib", "-Wl,--no-entry", f"-I{SHIPPED}"]
    subprocess.run([*command, "-o", str(module), str(source)], check=True)
    ecn = "off" if reference in ("reno", CUBIC) else "on"
    law = f'{{ cc = "file:{module}", ecn = "{ecn}" }}'
    return shoal.hunt(law, unlike=reference, fix=STILL | NO_LOAD, runs=64, finds=2, workers=1, **more)  # type: ignore[arg-type]


@needs_clang
@pytest.mark.parametrize(("name", "reference"), [("reno", "ecn-reno"), ("dctcp", "dctcp"), ("cubic", CUBIC)])
def test_a_law_is_not_unlike_itself(name: str, reference: str, folder: Path) -> None:
    """Not by a thousandth of a margin: both give the same bytes."""
    assert hunted_beside(name, reference, folder, beyond=0.001).finds == []


# Nothing is said of the bug but the file of the law that has it.
@needs_clang
@pytest.mark.parametrize(
    ("name", "reference", "before", "after", "seen"),
    [
        # The origin of the cubic is the window after a cut, and not the one before.
        (
            "cubic",
            CUBIC,
            "origin = last_max <= cwnd ? cwnd : last_max;",
            "origin = cwnd, time_to_origin = 0;",
            "less: (mean queue|queueing delay mean).* cwnd mean of law",
        ),
        # The gain multiplies the fraction of marks twice.
        ("dctcp", "dctcp", "<< shift), 1024)", "<< 2 * shift), 1024)", "more: marks.* reductions of law"),
        # Reductions are not announced, so that the receiver goes on echoing.
        (
            "reno",
            "ecn-reno",
            'has it.\\" }',
            'has it.\\", \\"sends_cwr\\": false }',
            "cwnd mean of law: 2 packets .* was still reduced",
        ),
        # Reductions are announced and not made.
        (
            "reno",
            "ecn-reno",
            "/* A loss, or",
            "SHOAL_CALL(on_ecn)\n{\n\tshoal.ssthresh = shoal.cwnd;\n\treturn 0;\n}\n\n/* A loss, or",
            "more: marks.* cwnd mean of law",
        ),
        # Slow start goes on above its threshold.
        (
            "reno",
            "reno",
            "shoal_reno();",
            "shoal.cwnd = shoal_min(shoal.cwnd + shoal_acked(), shoal.clamp);",
            "retransmissions of law: .* most of them were sent again by law",
        ),
    ],
    ids=["origin", "gain-twice", "no-cwr", "no-cut", "slow-start"],
)
def test_a_seeded_bug_is_seen_beside_the_law_without_it(
    name: str, reference: str, before: str, after: str, seen: str, folder: Path
) -> None:
    hunted = hunted_beside(name, reference, folder, before, after)
    assert hunted.finds[0].estimate.mean > 3
    assert [find for find in hunted.finds if re.search(seen, f"{find.mechanism}; {find.sentence}")], hunted.json
