"""What packets of a short run say: segments that senders hand over, and packets in flight."""

from __future__ import annotations

import math
from collections.abc import Iterator

import polars as pl

import shoal
from shoal_dev import study
from studies.locked_flows.cases import CARD, PACKET_BITS, Variant

DURATION_S = 0.3
JOIN = "0.1 s"
FROM_S = 0.2
PAYLOAD_BYTES = 1448


def traced(variant: Variant) -> shoal.Result:
    """A short run of a variant with every packet at the hosts and every change of the controllers."""
    case = variant.case(join=JOIN)
    trace = {"segment_flows": case.flows, "controller_flows": case.flows}
    (result,) = study.simulated(tables=True)([(case.scenario(trace, DURATION_S), 1)])
    return result


def segments_per_s(variant: Variant) -> float:
    """Segments that all senders hand to their cards: packets that follow each other at the card's rate are divided."""
    sent = at_senders(traced(variant)).filter((pl.col("event") == "send") & (pl.col("payload") > 0))
    host = variant.case().host
    card = CARD * variant.case().rate_gbit_s if variant.segment_packets > 1 and not isinstance(host, str) else 0
    gap_ps = 1.02 * PACKET_BITS / card * 1e3 if card else 0.0
    return sum(math.ceil(packets / variant.segment_packets) for packets in _bursts(sent, gap_ps)) / (
        DURATION_S - FROM_S
    )


def at_senders(result: shoal.Result) -> pl.DataFrame:
    """What passed the senders after the start."""
    rows = result.table("segments").filter((pl.col("end") == "sender") & (pl.col("time_ps") >= FROM_S * 1e12))
    return rows.sort("time_ps", maintain_order=True)


def _bursts(sent: pl.DataFrame, gap_ps: float) -> Iterator[int]:
    for (_,), rows in sent.group_by("flow", maintain_order=True):
        is_new = rows["time_ps"].diff().fill_null(int(gap_ps) + 1) > gap_ps
        yield from rows.group_by(is_new.cum_sum().alias("burst")).len()["len"]


def in_flight(result: shoal.Result, flow: int) -> pl.DataFrame:
    """Packets in flight after each event at the sender of a flow, with the time in s."""
    rows = at_senders(result).filter(pl.col("flow") == flow)
    sent = pl.when(pl.col("event") == "send").then(pl.col("seq").cast(pl.Int64) + pl.col("payload"))
    acked = pl.when(pl.col("event") == "receive").then(pl.col("ack").cast(pl.Int64))
    return rows.select(
        time_s=pl.col("time_ps") / 1e12,
        packets=(sent.forward_fill() - acked.forward_fill()) / PAYLOAD_BYTES,
    ).drop_nulls()
