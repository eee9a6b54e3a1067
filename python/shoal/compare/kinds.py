"""Kinds of quantities: what they move with, and the margin within which a difference does not matter."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from shoal.compare.verdicts import Margin
from shoal.results import Result


class Family(StrEnum):
    """Quantities that move together: where one differs, so do others."""

    RATES = "rates"
    DELAY = "queue and delay"
    SIGNALS = "marks and drops"
    FEEDBACK = "feedback"
    WINDOWS = "windows"
    COMPLETION = "completion times"


class Per(StrEnum):
    """What the absolute part of a margin is counted in."""

    UNIT = ""
    """In the quantity's own unit."""
    PACKET_TIME = "packet times"
    """Transmissions of a packet at the bottleneck."""
    FAIR_RATE = "of the fair rate"
    """Shares of the bottleneck's rate over the number of flows."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Quantities that are judged alike.

    Attributes
    ----------
    title
        In the plural, for the table of margins.
    family
        What they move with.
    share
        Relative part of the margin: of the mean on Linux.
    absolute
        Absolute part, added to it.
    per
        What the absolute part is counted in.
    reason
        Why a difference of that size does not matter.
    """

    title: str
    family: Family
    share: float
    absolute: float
    per: Per
    reason: str

    def margin(self, result: Result) -> Margin:
        """In the quantity's unit, for runs like this one."""
        link = result.scenario.facts["bottlenecks"][0]
        unit = {
            Per.UNIT: 1.0,
            Per.PACKET_TIME: 8 * link["mtu_bytes"] / link["rate_bps"],
            Per.FAIR_RATE: _mean_rate_bps(result) / sum(group["flow_count"] for group in result.groups),
        }[self.per]
        return Margin(self.share, self.absolute * unit)


def _mean_rate_bps(result: Result) -> float:
    """The mean rate of the first monitored link, which may change."""
    link = result.bottlenecks[0]
    return link["history"]["mean_rate_bps"] if "history" in link else link["rate_bps"]


#: Margins that were set anew after first runs had been seen.
changed = (
    "three were changed after first runs: of mean delays from one packet time to a half, of mean windows from 0.5 to "
    "0.1 packet, of rates from 0.1 % of the line to 1 % of the fair rate beside the 5 %"
)

# The margins, set before anything was measured with them, but for those above. The base is 5 %: queue laws, and
# settings of one, that people choose between differ by tens of per cent, so that such a difference changes no choice.
kinds = {
    "utilisation": Kind(
        "utilisation", Family.RATES, 0.0, 0.005, Per.UNIT,
        "half a per cent of the line: laws that underuse a link lose whole per cents",
    ),
    "ratio": Kind("rate ratios", Family.RATES, 0.05, 0.0, Per.UNIT, "the base"),
    "rate": Kind(
        "rates of flows", Family.RATES, 0.05, 0.01, Per.FAIR_RATE,
        "the base; whether a starved flow gets a hundredth of its fair rate more or less is the same starvation",
    ),
    "queue": Kind(
        "mean queues", Family.DELAY, 0.05, 0.5, Per.UNIT,
        "the base; half a packet is what a packet that just comes or just goes makes",
    ),
    "queue-quantile": Kind(
        "quantiles of queues", Family.DELAY, 0.05, 1.0, Per.UNIT, "the base; these are whole packets"
    ),
    "delay": Kind(
        "mean delays, smoothed RTT", Family.DELAY, 0.05, 0.5, Per.PACKET_TIME, "the base; half a packet, as mean queues"
    ),
    "delay-quantile": Kind(
        "quantiles of delays", Family.DELAY, 0.05, 1.0, Per.PACKET_TIME, "the base; one packet, as quantiles of queues"
    ),
    "marks": Kind(
        "marks", Family.SIGNALS, 0.05, 5.0, Per.UNIT,
        "the base: DCTCP's window goes with the reciprocal of the marked share; one round of marks at an edge "
        "of the measurement",
    ),
    "drops": Kind(
        "drops", Family.SIGNALS, 0.10, 5.0, Per.UNIT,
        "twice the base: Reno's window goes with the root of the reciprocal, so 10 % of the drops are 5 % of the "
        "window; one overflow at an edge of the measurement",
    ),
    "alpha": Kind(
        "alpha", Family.SIGNALS, 0.05, 4 / 1024, Per.UNIT, "the base; the kernel shows it in units of 1/1024"
    ),
    "acks": Kind(
        "ACKs per data packet", Family.FEEDBACK, 0.0, 0.02, Per.UNIT,
        "one ACK in fifty packets: quick ACKs for a whole flow are 0.5",
    ),
    "retransmissions": Kind(
        "retransmissions", Family.FEEDBACK, 0.10, 5.0, Per.UNIT, "as drops, which they repair"
    ),
    "timeouts": Kind(
        "timeouts", Family.FEEDBACK, 0.20, 2.0, Per.UNIT,
        "four times the base: a timeout takes the loss of several packets of one window, so it goes with a power of "
        "the drops; one timeout and its repetition",
    ),
    "window": Kind(
        "mean windows", Family.WINDOWS, 0.05, 0.1, Per.UNIT, "the base; one packet more in a tenth of the time"
    ),
    "window-quantile": Kind(
        "quantiles of windows", Family.WINDOWS, 0.05, 1.0, Per.UNIT, "the base; these are whole packets"
    ),
    "reductions": Kind(
        "reductions", Family.WINDOWS, 0.10, 5.0, Per.UNIT,
        "as drops; that of one round at an edge of the measurement",
    ),
    "completion": Kind(
        "completion times: mean, P50, P90", Family.COMPLETION, 0.05, 1.0, Per.PACKET_TIME, "the base; one packet"
    ),
    "completion-tail": Kind(
        "completion times: P99", Family.COMPLETION, 0.10, 1.0, Per.PACKET_TIME,
        "twice the base: what comes late waits for the repair of drops; one packet",
    ),
}  # fmt: skip
