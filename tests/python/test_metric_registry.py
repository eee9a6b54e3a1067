"""A metric is declared once, and everything that shows, compares or computes metrics has it."""

from __future__ import annotations

import pytest

import shoal
from shoal.cli.list_ import list_
from shoal.compare.kinds import kinds
from shoal.compare.quantities import measures
from shoal.metrics import Recorded, Unit, default_metrics, metric, metrics, quantity, recording, registry, unit_of
from shoal.stats import single
from shoal.tabulate import comparison_table, totals
from shoal_dev.pages import reference


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A metric of a queue that the result has and no metric uses: everything below comes from this declaration."""
    monkeypatch.setattr(registry, "metrics", metrics)
    before = dict(metrics)

    @registry.declare(
        *("busy_packets", "Long queue", Unit.PACKETS),
        needs=Recorded.DISTRIBUTIONS,
        summary="busy_packets",
        swept=(("busy_packets", ""),),
        tabled=True,
        compared="queue-quantile",
    )
    def busy_packets(result: shoal.Result, link: int = 0) -> float | None:
        """Queue that is not exceeded in 95 % of the time."""
        return result.bottlenecks[link]["queue_packets"]["p95"]

    yield
    for name in set(metrics) - set(before):
        del metrics[name]


@pytest.mark.usefixtures("declared")
def test_one_declaration_is_enough(result: shoal.Result, capsys: pytest.CaptureFixture[str]) -> None:
    p95 = result.bottlenecks[0]["queue_packets"]["p95"]
    assert p95
    text = f"{p95:.2f} packets"
    assert metric(result, "busy_packets() / 2") == p95 / 2
    assert result.metric("busy_packets()") == p95
    assert registry.summary(result)["busy_packets"] == p95
    assert dict(totals([result]))["Long queue"] == text
    assert ("Long queue", text) in comparison_table([("a", [result])]).rows
    assert default_metrics(result.scenario)["busy_packets"] == "busy_packets()"
    assert recording(result.scenario, ["busy_packets()"]) == {"trace.distributions": True}
    (measure,) = [one for one in measures(result) if one.name == "busy_packets"]
    assert (measure.title, measure.unit, measure.get(result)) == ("long queue", "packets", p95)
    list_("metrics")
    assert "Queue that is not exceeded in 95 % of the time." in " ".join(capsys.readouterr().out.split())
    row = "| `busy_packets(link=0)` | packets | Queue that is not exceeded in 95 % of the time. | distributions |"
    assert row in reference.metrics_page()


def test_two_metrics_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two metrics are called jain"):
        registry.declare("jain", "Again", Unit.RATIO)(lambda result: 1.0)


def test_declarations_are_complete() -> None:
    for name, one in metrics.items():
        assert one.name == name
        assert one.doc.endswith("."), name
        assert one.title[:1].isupper(), name
        assert one.compared is None or one.compared in kinds, name
        # A name that ends with a unit has that unit. Summaries call two counts what expressions call the fractions.
        assert name in ("marked", "dropped") or unit_of(name) is one.unit, name


def test_numbers_of_a_summary_have_the_units_of_their_metrics() -> None:
    shown = {
        "queue_packets": "3.00 packets",
        "marked": "3 packets",
        "share_reno": "300.00 %",
        # A group may be called as a unit is.
        "share_one_s": "300.00 %",
        "on_time_video": "300.00 %",
        "delay_ect_p99_s": "3.00 s",
        "goodput_a_bps": "0.0 kbit/s",
        "rate_ratio_a/b": "3.0000",
        "jain": "3.0000",
        # Of columns that somebody named after a metric.
        "queue_empty": "300.00 %",
        "cuts_per_s": "3.0000",
        "a_mbps": "3.00 Mbit/s",
        "a_ms": "3.00 ms",
    }
    assert {name: quantity(name, single(3.0)) for name in shown} == shown
