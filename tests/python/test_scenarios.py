"""Every scenario of the repository runs, shortened, and every packet is accounted for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NotRequired, get_origin, get_type_hints

import pytest
from beginnings import FABRICS
from conftest import Cli

import shoal
from shoal.scenario_facts import GroupFacts, LinkFacts, PathFacts, ScenarioFacts, ThresholdFacts, TracedFacts

FOLDER = Path(__file__).parents[2] / "scenarios"
FILES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.toml"))

LONGEST_S = 3.0
# Settings that a shortened run has to bring forward, and runs that are shortened further.
EARLIER: dict[str, Mapping[str, object]] = {
    "background.toml": {"flows[1].start": "1 s", "flows[1].stop": "2 s"},
    "unresponsive.toml": {"flows[2].start": "1 s", "flows[2].stop": "2 s"},
    "web-search.toml": {"flows[0].start": {"load": 0.6, "until": "1 s"}},
    **FABRICS,
}


def shortened(name: str) -> shoal.Scenario:
    scenario = shoal.Scenario.from_file(FOLDER / name)
    duration_s = min(scenario.facts["duration_s"], LONGEST_S)
    # Without a warm-up every packet is counted.
    return scenario.override({"duration": f"{duration_s:g} s", "warmup": "0 s"} | dict(EARLIER.get(name, {})))


@pytest.mark.parametrize("name", FILES)
def test_scenario_runs(name: str) -> None:
    scenario = shortened(name)
    result = shoal.run(scenario)
    end_s = scenario.facts["duration_s"]
    assert result.bottlenecks
    for link in result.bottlenecks:
        # Each packet that arrived has left, was dropped or waits.
        waiting = link["arrived"] - link["departed"] - link["dropped"]
        assert 0 <= waiting <= link["queue_packets"]["max"] + 1, link["name"]
        assert link["ect"]["arrived"] + link["not_ect"]["arrived"] == link["arrived"]
        assert (
            link["dropped"]
            == link["dropped_by"]["aqm"] + link["dropped_by"]["buffer"] + (link["dropped_by"]["shared_buffer"])
        )
        assert link["marked"] <= link["ect"]["arrived"]
        # A packet may still be in transmission at the end.
        assert link["departed_bytes"] * 8 <= link["rate_bps"] * end_s * link["utilisation"] + 8 * 65_535
        assert link["utilisation"] <= 1
    assert sum(link["departed"] for link in result.bottlenecks) > 100
    for group in result.groups:
        facts = next(facts for facts in scenario.facts["groups"] if facts["name"] == group["name"])
        assert group["flow_count"] == facts["flows"] > 0
        assert group["totals"]["delivered_bytes"] > 0, group["name"]
        assert group["goodput_bps"]["sum"] == pytest.approx(group["totals"]["delivered_bytes"] * 8 / end_s)
        check_waits(group, facts)


def check_waits(group: dict[str, Any], facts: dict[str, Any]) -> None:
    """What applications waited for is physically possible."""
    if "exchanges" in group:
        assert group["exchanges"]["count"] > 0
        assert group["exchanges"]["unfinished"] <= group["flow_count"]
        assert group["exchanges"]["time_s"]["min"] > facts["base_rtt_s"]
    if "rounds" in group:
        assert group["rounds"]["count"] > 0
        assert group["rounds"]["time_s"]["min"] > facts["base_rtt_s"]
    if "pages" in group:
        assert group["pages"]["count"] > 0
        assert group["pages"]["time_s"]["min"] >= group["exchanges"]["time_s"]["min"]
    if "frames" in group:
        frames = group["frames"]
        assert frames["due"] == frames["on_time"] + frames["late"] + frames["missing"] > 0
        assert frames["delay_s"]["min"] > facts["base_rtt_s"] / 2


def test_every_traffic_form_is_shown_by_some_scenario() -> None:
    apps = [group["app"] for name in FILES for group in shoal.Scenario.from_file(FOLDER / name).resolved["flows"]]
    forms = {next(iter(app)) if isinstance(app, dict) else app for app in apps}
    keys = {"transfer", "request", "page", "frame", "constant_rate", "unresponsive", "bulk"}
    assert keys <= forms | {key for app in apps if isinstance(app, dict) for key in app}


def test_queue_length_decides_about_video() -> None:
    """The point of the example: frames that are in time behind DualPI2 are late behind a plain buffer."""
    scenario = shortened("video.toml").override({"duration": "10 s", "warmup": "3 s"})
    dual = shoal.run(scenario).summary
    plain = shoal.run(scenario.override({"bottleneck.aqm": {"kind": "fifo"}})).summary
    for group in ("video-dctcp", "video-cubic"):
        assert dual[f"on_time_{group}"] > plain[f"on_time_{group}"] + 0.3  # type: ignore[operator]


def test_queue_length_decides_about_pages() -> None:
    """The point of the example: behind a plain buffer each of the ten objects in a row waits in its queue."""
    scenario = shoal.Scenario.from_file(FOLDER / "web-pages.toml").override({"duration": "20 s"})
    codel = shoal.run(scenario)
    plain = shoal.run(scenario.override({"bottleneck.aqm": {"kind": "fifo"}}))
    assert plain.metric("page_ms('web')") > 1.5 * codel.metric("page_ms('web')")
    # Sixty objects over six connections are at least ten exchanges in a row on one of them.
    for run in (codel, plain):
        assert run.metric("page_ms('web')") > 10 * 40


def test_background_traffic_gives_way() -> None:
    """The point of the example: beside NewReno LEDBAT gets next to nothing, but below its target it is an equal."""
    visit = {"warmup": "30 s", "duration": "45 s"}
    scenario = shoal.Scenario.from_file(FOLDER / "background.toml").override(visit)
    # Two packets in a round trip of 120 ms at least are 200 kbit/s of 10 Mbit/s, once NewReno has filled the buffer.
    assert shoal.run(scenario).metric("share('background')") < 0.1
    codel = shoal.run(scenario.override({"bottleneck.aqm": {"kind": "codel"}}))
    assert 0.35 < codel.metric("share('background')") < 0.65


def test_flows_through_two_queues_get_less_than_those_through_one() -> None:
    """The point of the example: both links are full, and flows that pass both are dropped by both."""
    run = shoal.run(shoal.Scenario.from_file(FOLDER / "two-queues.toml").override({"duration": "40 s"}))
    assert [link["name"] for link in run.bottlenecks] == ["pie", "codel"]
    assert all(link["utilisation"] > 0.9 and link["dropped"] > 0 for link in run.bottlenecks)
    for group in ("first-only", "second-only"):
        assert run.metric(f"rate_ratio('{group}', 'both')") > 1.1


def test_video_that_adapts_is_in_time_behind_two_queues() -> None:
    """The point of the example: what follows accurate marks gets a share beside bulk, in time; a plain buffer, none."""
    scenario = shortened("adaptive-video.toml").override({"duration": "30 s", "warmup": "10 s"})
    dual = shoal.run(scenario)
    assert dual.summary["on_time_video-prague"] > 0.999  # type: ignore[operator]
    assert dual.metric("rate_ratio('video-prague', 'bulk-prague')") > 0.6
    assert dual.metric("rate_ratio('video-prague', 'video-cubic')") > 1.5
    sizes = dual.groups[0]["frames"]["size_bytes"]
    assert 750 <= sizes["min"] < sizes["max"] <= 100_000, "150 kbit/s and 20 Mbit/s in 40 ms"
    plain = shoal.run(scenario.override({"bottleneck.aqm": {"kind": "fifo"}})).summary
    assert plain["on_time_video-prague"] == 0


def test_lost_tails_hold_up_the_block() -> None:
    """The point of the example: DCTCP's rounds take the time of their bytes, CUBIC's now and then 200 ms."""
    scenario = shortened("incast-barrier.toml")
    dctcp = shoal.run(scenario).summary
    cubic = shoal.run(scenario.override({"flows[0].cc": "cubic"})).summary
    # 8 x 32 kB at 1 Gbit/s.
    assert 2.048e-3 < dctcp["round_block_p50_s"] < dctcp["round_block_p99_s"] < 3e-3  # type: ignore[operator]
    assert cubic["round_block_p99_s"] > 0.2  # type: ignore[operator]


def test_waits_are_shown(cli: Cli, folder: Path) -> None:
    requests = ["run", str(FOLDER / "requests.toml"), "--set", "duration=5 s", "--set", "warmup=1 s"]
    done = cli(*requests, "--out", "out")
    assert done.code == 0, done.err
    assert "Exchanges and rounds" in done.out
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "Exchanges and rounds" in page
    assert "HTTP/1.1" in page, "the report describes the application"
    assert (folder / "out" / "figures" / "deliveries.png").stat().st_size > 10_000
    video = cli("run", str(FOLDER / "video.toml"), "--set", "duration=5 s", "--set", "warmup=1 s", "--seeds", "2")
    assert "On time" in video.out
    assert "Mean size" not in video.out
    adaptive = cli("run", str(FOLDER / "adaptive-video.toml"), "--set", "duration=5 s", "--set", "warmup=1 s")
    assert "Mean size" in adaptive.out
    assert "±" in video.out


def test_measures_of_waits() -> None:
    from shoal.metrics import metric

    result = shoal.run(shortened("incast-barrier.toml"))
    assert metric(result, "round_ms('block', 'p99')") == pytest.approx(1e3 * result.summary["round_block_p99_s"])
    assert metric(result, "exchange_ms('block')") < metric(result, "round_ms('block')")
    video = shoal.run(shortened("video.toml"))
    assert 0 < metric(video, "frames_on_time('video-dctcp')") <= 1
    assert metric(video, "stalled_s('video-dctcp')") >= 0
    with pytest.raises(shoal.UsageError, match="writes no frames"):
        metric(result, "frames_on_time('block')")
    with pytest.raises(shoal.UsageError, match="has no rounds"):
        metric(video, "round_ms('video-dctcp')")


def keys_of(kind: type) -> tuple[set[str], set[str]]:
    """The keys that a typed dictionary must have, and those that it may have."""
    hints = get_type_hints(kind, include_extras=True)
    optional = {key for key, hint in hints.items() if get_origin(hint) is NotRequired}
    return set(hints) - optional, optional


def test_facts_have_the_keys_of_their_types() -> None:
    for name in FILES:
        facts = shoal.Scenario.from_file(FOLDER / name).facts
        tables = [(ScenarioFacts, facts), (TracedFacts, facts["traced"])]
        tables += [(LinkFacts, link) for link in facts["bottlenecks"]]
        tables += [(ThresholdFacts, level) for link in facts["bottlenecks"] for level in link["thresholds"]]
        tables += [(GroupFacts, group) for group in facts["groups"]]
        tables += [(PathFacts, path) for group in facts["groups"] for path in group["paths"]]
        for kind, table in tables:
            required, optional = keys_of(kind)
            assert required <= set(table) <= required | optional, (name, kind)


def test_a_scenario_of_keys_is_that_of_its_text() -> None:
    # Defaults stay unsaid: what depends on them follows a change.
    scenario = shoal.Scenario.from_keys(
        {
            "duration": "10 s",
            "bottleneck": {"rate": "10 Mbit/s", "buffer": "1 BDP", "aqm": {"kind": "fifo"}},
            "flows": [{"cc": "cubic", "rtt": "10 ms"}],
        }
    )
    changed = scenario.override({"flows[0].cc": "reno"})
    assert changed.resolved["flows"][0]["name"] == "reno"
    assert changed.resolved == shoal.Scenario.from_toml(changed.to_toml()).resolved
