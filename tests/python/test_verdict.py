"""The sentence that says who gets what: which groups it compares, and what it leaves out."""

from __future__ import annotations

import pytest
from conftest import SMALL

import shoal
from shoal.verdict import verdict

SHORT = {"duration": "3 s", "warmup": "1 s"}


def run(**keys: object) -> shoal.Result:
    return shoal.run(shoal.Scenario.from_toml(SMALL).override({**SHORT, **keys}))


def test_a_sentence_has_the_numbers_of_the_tables() -> None:
    result = shoal.run(shoal.Scenario.named("red-ecn").override({"duration": "40 s"}))
    dctcp, reno = (
        next(g["wire_bps"]["mean"] for g in result.groups if g["name"] == name) for name in ("dctcp", "reno")
    )
    wait_ms = 1e3 * result.bottlenecks[0]["delay_s"]["all"]["p50"]
    assert dctcp > 1.5 * reno
    assert (
        result.verdict
        == shoal.Results([result]).verdict
        == (
            f"A flow of dctcp gets {dctcp / reno:.1f} times as much as one of reno; half of the packets wait "
            f"{wait_ms:.1f} ms or less."
        )
    )


@pytest.mark.parametrize(
    ("keys", "wanted"),
    [
        # What joins later or leaves, or has little to send, is not compared.
        ({"flows.reno.start": "2 s"}, "A flow of dctcp gets "),
        ({"flows.reno.stop": "2 s"}, "A flow of dctcp gets "),
        ({"flows.reno.app": {"transfer": "20 kB"}}, "A flow of dctcp gets "),
    ],
)
def test_only_flows_that_always_have_data_are_compared(keys: dict[str, object], wanted: str) -> None:
    assert verdict([run(**keys)]).startswith(wanted)


def test_a_group_alone_has_the_link_to_itself() -> None:
    result = shoal.run(shoal.Scenario.named("step-single").override({"duration": "12 s"}))
    assert verdict([result]).startswith("dctcp has the link to itself; half of the packets wait ")


def test_delays_of_several_links_are_not_one() -> None:
    result = shoal.run(shoal.Scenario.named("parking-lot"))
    assert len(result.bottlenecks) > 1
    assert "wait" not in verdict([result])
