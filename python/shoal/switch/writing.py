"""What writers share: refusals with their reasons, and rounding to what hardware counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import lcm, log2
from typing import Generic, TypeVar

from shoal.errors import UsageError
from shoal.scenario import Scenario
from shoal.switch.amounts import Amount, Port, Unit, decimal, rounded_up, whole_bytes
from shoal.switch.model import Law, Queue, Remark, Serving, Where
from shoal.switch.options import Options
from shoal.switch.presets import Switch

OptionsT_co = TypeVar("OptionsT_co", bound=Options, covariant=True)


@dataclass(frozen=True)
class Writing(Generic[OptionsT_co]):
    """What a writer needs beside the queues.

    Attributes
    ----------
    port
        What amounts are converted with; its cells are those that thresholds are rounded to.
    options
        What the platform was told.
    switch
        What is known of the device.
    scenario
        Where the queues are from; ``None`` if they were read.
    remarks
        What was rounded or is lost; grows while writing.
    """

    port: Port
    options: OptionsT_co
    switch: Switch = field(default_factory=Switch)
    scenario: Scenario | None = None
    remarks: list[Remark] = field(default_factory=list)

    def remark(self, queue: Queue, text: str, hint: str = "") -> None:
        """Note what was rounded or is lost, once."""
        remark = Remark(text, hint, queue=queue.name)
        if remark not in self.remarks:
            self.remarks.append(remark)


class Refusals:
    """Everything about a queue that a platform cannot express, so that all of it is said at once."""

    def __init__(self, queue: Queue, title: str) -> None:
        self.queue = queue
        self.title = title
        self._reasons: list[tuple[str, str]] = []

    def add(self, reason: str, hint: str) -> None:
        """Note a reason."""
        if (reason, hint) not in self._reasons:
            self._reasons.append((reason, hint))

    def settle(self) -> None:
        """Raise if there are any."""
        if not self._reasons:
            return
        reasons = "; ".join(reason for reason, _ in self._reasons)
        hints = "; ".join(dict.fromkeys(hint for _, hint in self._reasons))
        raise UsageError(f"{self.title} cannot express this queue: {reasons}", hint=hints)


def shares(queues: Sequence[Queue], writing: Writing[Options]) -> Mapping[str, int]:
    """Weights of queues, by their names, as whole percent of the port: at least 1, and 100 in all at most."""
    weights = {
        queue.name: max(1, queue.scheduler.weight or 1)
        for queue in queues
        if queue.scheduler is not None and queue.scheduler.serving is Serving.WEIGHTED
    }
    total = sum(weights.values())
    if total <= 100:
        return weights
    parts = {name: max(1, weight * 100 // total) for name, weight in weights.items()}
    if any(part * total != 100 * weights[name] for name, part in parts.items()):
        before, after = (":".join(map(str, each.values())) for each in (weights, parts))
        writing.remark(queues[0], f"the weights {before} become {after} percent of the port")
    return parts


def needs_thresholds(queue: Queue, refusals: Refusals) -> None:
    """Refuse a queue whose law has no thresholds."""
    if queue.unknown:
        refusals.add(f"its law is not known ({queue.unknown})", "give the thresholds")
    kind = str(queue.exact["kind"]) if queue.exact is not None else ""
    if not queue.laws and kind not in ("", "fifo"):
        refusals.add(f"`{kind}` is no law of thresholds", '--platform tc, where Linux has it; or kind = "wred"')


def needs_drops_alike(queue: Queue, refusals: Refusals) -> None:
    """Refuse laws of drops that tell ECT packets from others, or drop ECT packets beside marks."""
    drop, drop_ect = queue.drop, queue.drop_ect
    if queue.mark is not None and drop_ect is not None:
        refusals.add("a law that drops ECT packets beside the one that marks them", "leave drop_ect out")
    elif queue.mark is None and drop is not None and drop_ect is None:
        refusals.add("a law that drops only packets that are not ECT", "add a law that marks the others")
    elif queue.mark is None and drop_ect is not None and not drop_ect.same_curve(drop):
        refusals.add("a law that drops ECT packets and not the others alike", "give both the same law")


def thresholds(law: Law, words: Mapping[Unit, str]) -> str:
    """The two thresholds as command lines have them."""
    ends = [f"{end.number} {words.get(end.unit, 'bytes')}" for end in (law.min, law.max)]
    return f"minimum-threshold {ends[0]} maximum-threshold {ends[1]}"


def fitted(law: Law, writing: Writing[Options], queue: Queue, refusals: Refusals, units: Mapping[Unit, str]) -> Law:
    """The law with thresholds that the platform can write: in its units, whole, and in whole cells.

    Thresholds are rounded up, so that K is never smaller than asked. A ramp keeps its two ends apart.
    """
    port = queue.at(writing.port)
    least, most = (_in_units(amount, port, units, refusals) for amount in (law.min, law.max))
    if least is None or most is None:
        return law
    switch = writing.switch
    step = lcm(port.cell_bytes * switch.threshold_cells, switch.threshold_bytes)
    if step > 1 and not least.unit.is_time and Unit.BYTES in units:
        least, most = (_in_steps(amount, step, port) for amount in (least, most))
    if least == most and law.min != law.max:
        most = (
            whole_bytes(int(least.number) + step) if most.unit is Unit.BYTES else replace(most, number=least.number + 1)
        )
    if least == most and not switch.has_steps:
        refusals.add(
            f"{switch.title} rejects equal thresholds", f"write a maximum at least {step} bytes above the minimum"
        )
    for before, after in ((law.min, least), (law.max, most)):
        if before.bytes_at(port) != after.bytes_at(port):
            what = "percent of the buffer" if after.unit is Unit.PERCENT else after.unit.value
            is_whole = step == 1 or after.unit is not Unit.BYTES
            writing.remark(
                queue, f"{before} becomes {after}, in {f'whole {what}' if is_whole else f'multiples of {step} bytes'}"
            )
    return replace(law, min=least, max=most)


def _in_units(amount: Amount, port: Port, units: Mapping[Unit, str], refusals: Refusals) -> Amount | None:
    if amount.unit in units and amount.number.denominator == 1:
        return amount
    if amount.unit.is_time:
        seconds = amount.seconds_at(port) or Fraction(0)
        for unit, per_second in ((Unit.MILLISECONDS, 10**3), (Unit.MICROSECONDS, 10**6)):
            if unit in units and (seconds * per_second).denominator == 1:
                return Amount(seconds * per_second, unit)
        known = [name for unit, name in units.items() if unit.is_time]
        refusals.add(
            f"a threshold of {amount}: times are not written there"
            if not known
            else f"a threshold of {amount} is not in whole {' or '.join(known)}",
            f"write it in bytes: {decimal(rounded(amount, port))} B at this port",
        )
        return None
    exact = amount.rounded_to(Unit.BYTES if Unit.BYTES in units else next(iter(units)), port)
    if exact is None:
        refusals.add("a threshold in percent of an unknown buffer", "--buffer BYTES")
    return exact


def rounded(amount: Amount, port: Port) -> Fraction:
    """Whole bytes of an amount."""
    return Fraction(rounded_up(amount.bytes_at(port) or 0, 1))


def _in_steps(amount: Amount, step: int, port: Port) -> Amount:
    """The amount as it is if it is whole steps, else the next whole step in bytes."""
    exact = amount.bytes_at(port) or Fraction(0)
    return amount if exact % step == 0 else whole_bytes(rounded_up(exact, step))


def percent(law: Law, refusals: Refusals, *, least: int = 0) -> int:
    """The probability in whole percent, which is all that switches have; that of a step has no effect."""
    if law.is_step:
        return 100
    exact = law.pmax * 100
    if exact.denominator != 1 or exact < least:
        nearest = max(least, 1, round(exact))
        refusals.add(
            f"a probability of {decimal(exact)} %: only whole percent are written there",
            f"write max_probability = {nearest / 100:g}",
        )
        return nearest
    return int(exact)


def no_weight(law: Law, refusals: Refusals, what: str) -> None:
    """Refuse an average where there is none."""
    if law.weight:
        refusals.add(f"an average (weight 2^-{law.weight}): {what}", "write weight = 0")


def weight_of(law: Law, writing: Writing[Options], refusals: Refusals) -> int | None:
    """The exponent of the average that the device has."""
    if law.weight is not None and law.weight > writing.switch.largest_weight:
        refusals.add(
            f"a weight of 2^-{law.weight}: the largest exponent is {writing.switch.largest_weight}",
            f"write weight = {writing.switch.largest_weight} or less",
        )
    return law.weight


def exponent_of_alpha(alpha: Fraction, least: int, most: int, queue: Queue, writing: Writing[Options]) -> int:
    """The power of two that a device has for the alpha of a dynamic threshold, within its range."""
    exponent = min(most, max(least, round(log2(alpha))))
    if Fraction(2) ** exponent != alpha:
        writing.remark(queue, f"alpha {float(alpha):g} becomes {float(Fraction(2) ** exponent):g}: powers of two there")
    return exponent


def decides(queue: Queue, writing: Writing[Options]) -> None:
    """Say where the device decides, if the scenario decides elsewhere: no configuration has this."""
    wheres = {law.where for _, law in queue.laws if law.action.value == "mark"} - {Where.UNKNOWN}
    other = writing.switch.where
    if wheres and other is not Where.UNKNOWN and other not in wheres:
        (where,) = wheres
        writing.remark(
            queue,
            f"the scenario decides about marks at {where.value}, the device at {other.value}",
            f'decide = "{other.value}" in a law of kind "wred" simulates this',
        )
