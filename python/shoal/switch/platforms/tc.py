"""Commands of `tc`: for a law of Linux those of the Linux plane, for that of a switch the nearest discipline."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from shoal.errors import ScenarioError, UsageError
from shoal.switch.amounts import Amount, Port, amount_of_scenario, decimal, rounded_up
from shoal.switch.code_points import owners
from shoal.switch.model import Law, Queue, Serving, Where
from shoal.switch.options import DEVICE, Options, declared
from shoal.switch.plane import burst_for, disciplines, scenario_of
from shoal.switch.platforms import _tc_read
from shoal.switch.platforms._tc_commands import is_built
from shoal.switch.platforms._tc_show import is_shown
from shoal.switch.platforms.base import Platform
from shoal.switch.reading import Document
from shoal.switch.writing import Refusals, Writing, needs_drops_alike

# A command in a script, also with its words shortened, or a line of a file for `tc -batch`.
_command = re.compile(
    r"(?:(?:\btc|\$\{?TC\}?)\s+(?:-\S+\s+)*(?:q(?:disc)?|c(?:lass)?)|^\s*(?:qdisc|class))\s+"
    r"(?:a|add|r|repl|replace|c|change)\s+(?:\S+\s+)*?(?:dev|root|parent|handle)\b",
    flags=re.MULTILINE,
)
# Laws that Linux has as they are.
_same = ("linux-red", "gred", "codel", "fq-codel", "pie", "dualpi2", "fifo")
_modules = ("coupled", "dualq-coupled", "pi2", "open-loop")
# tc keeps the bandwidth, which counts while the queue is empty only, in 32 bits of bytes a second.
_largest_bandwidth = 34_000_000_000
# tc sends the probability in 32 bits, into which 1 does not fit.
_almost_one = 0.999999
# Beyond every wait, and within half of what CoDel's clock tells apart, 2^31 units of 1024 ns; as on the Linux plane.
_never = "1000 s"
_frame_bytes = 1514


@dataclass(frozen=True, kw_only=True)
class TcOptions(Options):
    """The network device."""

    device: str = declared("eth0", "--dev", "NAME", "Network device; eth0 by default.", name=DEVICE)


_Writing = Writing[TcOptions]


class Tc(Platform[TcOptions]):
    """Disciplines of Linux: one at the root of a device, or `ets` with one below each band."""

    name = "tc"
    label = "tc"
    title = "Linux tc"
    comment = "#"
    options = TcOptions
    always_leads = True

    def recognises(self, text: str) -> bool:
        """Look for a command about disciplines or classes, with or without its program, or for an output of `show`."""
        return bool(_command.search(text)) or is_shown(text) or is_built(text)

    def queues(self, document: Document) -> list[Queue]:
        """Read the disciplines of a script that have laws."""
        return _tc_read.queues(document)

    def write(self, queues: Sequence[Queue], writing: _Writing) -> str:
        """Write one discipline at the root, or `ets` with one below each band."""
        lines = _lines(queues[0], writing, "root", 10) if len(queues) == 1 else _bands(queues, writing)
        return "".join(f"{line}\n" for line in lines)


def _bands(queues: Sequence[Queue], writing: _Writing) -> list[str]:
    """`ets`: strict bands first, the higher priority before the lower, then those that share by weight."""
    served: dict[Serving, list[Queue]] = {Serving.STRICT: [], Serving.WEIGHTED: []}
    for queue in queues:
        served[queue.scheduler.serving if queue.scheduler else Serving.WEIGHTED].append(queue)
    strict = sorted(served[Serving.STRICT], key=lambda queue: -((queue.scheduler and queue.scheduler.priority) or 0))
    weighted = served[Serving.WEIGHTED]
    weights = [(queue.scheduler.weight if queue.scheduler else None) or 1 for queue in weighted]
    factor = ceil(_frame_bytes / min(weights)) if weights and min(weights) < _frame_bytes else 1
    words = f"bands {len(queues)}"
    words += f" strict {len(strict)}" if strict else ""
    words += " quanta " + " ".join(str(weight * factor) for weight in weights) if weights else ""
    lines = [f"tc qdisc add dev {writing.options.device} root handle 1: ets {words}"]
    for band, queue in enumerate([*strict, *weighted], start=1):
        lines += _lines(queue, writing, f"parent 1:{band}", 10 * band)
    return lines + _filters([*strict, *weighted], writing)


def _filters(bands: Sequence[Queue], writing: _Writing) -> list[str]:
    """Filters that lead packets to their bands by code point, of both versions of IP; the last takes all others."""
    if not owners(bands):
        for band, queue in enumerate(bands, start=1):
            writing.remark(queue, f"it is band {band}: a filter or the priority of packets must lead there")
        return []
    start = f"tc filter add dev {writing.options.device} parent 1: protocol"
    fields = {"ip": ("prio 1", "ip dsfield"), "ipv6": ("prio 2", "ip6 priority")}
    lines = [
        f"{start} {protocol} {priority} u32 match {field} {point << 2:#04x} 0xfc flowid 1:{band}"
        for band, queue in enumerate(bands, start=1)
        for point in queue.dscp
        for protocol, (priority, field) in fields.items()
    ]
    rest = [band for band, queue in enumerate(bands, start=1) if queue.takes_rest]
    return lines + [f"{start} all prio 3 matchall flowid 1:{band}" for band in rest]


def _lines(queue: Queue, writing: _Writing, attachment: str, handle: int) -> list[str]:
    aqm = _table(queue, writing)
    memory = _without_memory_limit(aqm, queue, writing)
    try:
        qdiscs = disciplines(scenario_of(aqm, link=_link(queue, writing), mtu_bytes=writing.port.mtu_bytes))
    except ScenarioError as error:
        first, *rest = str(error).splitlines()
        hint = next((line.removeprefix("hint: ") for line in rest if line.startswith("hint: ")), "")
        raise UsageError(f"tc cannot express this queue: {first.removeprefix('error: ')}", hint=hint) from None
    lines = []
    for qdisc in qdiscs:
        parent = attachment if qdisc.parent == "1:1" else f"parent {handle}:{qdisc.parent.partition(':')[2]}"
        major = handle + int(qdisc.handle) - 10
        words = _certain(qdisc.words)
        if memory:
            words = re.sub(r"\bmemory_limit [0-9]+", f"memory_limit {memory}", words)
        lines.append(f"tc qdisc {qdisc.verb} dev {writing.options.device} {parent} handle {major}: {words}")
    if aqm["kind"] == "fq-codel":
        writing.remark(
            queue,
            "tc counts link-layer headers, too, in `quantum` and in bytes that wait: on Ethernet a packet of 1500 B is "
            "1514 B there, which is the kernel's own quantum",
        )
    if aqm["kind"] == "gred":
        writing.remark(
            queue,
            "GRED takes the virtual queue from skb->tc_index, which no filter of Linux sets by the ECN field: 0 is "
            "that of packets that are not ECT",
            "on the Linux plane the line sets it; elsewhere use a queue of its own for DCTCP, by DSCP",
        )
    return lines


def _link(queue: Queue, writing: _Writing) -> dict[str, object]:
    """The bottleneck without its law, with the limit of the queue."""
    limit = queue.buffer.limit if queue.buffer is not None else None
    buffer = limit.in_scenario(writing.port) if limit is not None else None
    if writing.scenario is not None:
        link = {key: value for key, value in writing.scenario.resolved["bottleneck"].items() if key != "aqm"}
        is_one = writing.scenario.resolved["bottleneck"]["aqm"]["kind"] != "classes"
        return link if is_one else link | {"buffer": buffer or "unlimited"}
    return {"rate": f"{writing.port.rate_bps} bit/s", "buffer": buffer or "1000 packets"}


def _without_memory_limit(aqm: dict[str, object], queue: Queue, writing: _Writing) -> int:
    """The memory limit of fq_codel in bytes, which is taken out of the law; 0 without one.

    The plane refuses one that may act, because the kernel counts the memory of packets and a scenario their bytes.
    """
    text = str(aqm.get("memory_limit", "unlimited"))
    if aqm["kind"] != "fq-codel" or text == "unlimited":
        return 0
    limit = amount_of_scenario(text, bdp_bytes=None)
    aqm["memory_limit"] = "unlimited"
    writing.remark(queue, "memory_limit counts the memory of packets in the kernel, about twice their bytes")
    return int(limit.number) if limit is not None else 0


def _certain(words: str) -> str:
    """The words with a probability that tc can send."""
    return re.sub(r"\bprobability 1(\.0*)?(?= )", f"probability {_almost_one}", words)


def _table(queue: Queue, writing: _Writing) -> dict[str, object]:
    """The law of a scenario that Linux has."""
    kind = str(queue.exact["kind"]) if queue.exact is not None else ""
    if queue.exact is not None and kind in _same:
        return dict(queue.exact)
    refusals = Refusals(queue, "tc")
    if kind in _modules:
        refusals.add(
            f"`{kind}` is not part of Linux: it is a kernel module of this project or of its authors",
            'kind = "dualpi2", which Linux has since 6.17, or `shoal run --on linux`',
        )
    if queue.unknown:
        refusals.add(f"its law is not known ({queue.unknown})", "give the thresholds")
    refusals.settle()
    if not queue.laws:
        return {"kind": "fifo"}
    if (step := _sojourn(queue, writing)) is not None:
        return step
    return _red(queue, writing)


def _sojourn(queue: Queue, writing: _Writing) -> dict[str, object] | None:
    """A step of marks on the packet's own wait at departure is `ce_threshold`, below a CoDel that never acts."""
    mark = queue.mark
    if mark is None or queue.drop is not None or queue.drop_ect is not None:
        return None
    if not (mark.is_step and mark.min.unit.is_time and mark.where is not Where.ENQUEUE):
        return None
    limit = queue.buffer.limit.bytes_at(writing.port) if queue.buffer and queue.buffer.limit else None
    packets = int(limit // writing.port.mtu_bytes) if limit else 1000
    seconds = mark.min.seconds_at(writing.port) or Fraction(0)
    writing.remark(queue, "ce_threshold marks ECT packets that waited longer; the CoDel around it never acts")
    return {
        "kind": "codel",
        "limit": f"{max(1, packets)} packets",
        "target": _never,
        "interval": _never,
        "ce_threshold": f"{decimal(seconds * 10**6)} us",
    }


def _red(queue: Queue, writing: _Writing) -> dict[str, object]:
    """RED with marks, or GRED where packets that are not ECT have a law of their own."""
    mark, drop = queue.mark, queue.drop
    refusals = Refusals(queue, "tc")
    needs_drops_alike(queue, refusals)
    refusals.settle()
    if any(law.where is Where.DEQUEUE for _, law in queue.laws):
        writing.remark(queue, "RED of Linux decides when packets arrive, not when they leave")
    if mark is not None and drop is not None and not drop.same_curve(mark):
        parts = {"not_ect": _part(drop, queue, writing), "ect": _part(mark, queue, writing) | {"ecn": True}}
        exponents = {_wlog(law) for law in (mark, drop)}
        # With one weight the average can be that of the whole queue, as in switches; else each has its own.
        table: dict[str, object] = {"kind": "gred", "grio": len(exponents) == 1, **parts}
        if len(exponents) > 1:
            writing.remark(queue, "the laws have different weights, so each averages its own packets, not the queue")
        return table
    law = mark or drop
    if law is None:
        raise UsageError("tc cannot express this queue: it has no law", hint="give the thresholds")
    table = {"kind": "linux-red", **_part(law, queue, writing)}
    if mark is not None:
        table["ecn"] = True
        if drop is None:
            table["nodrop"] = True
    return table


def _wlog(law: Law) -> int:
    return max(1, law.weight or 0)


def _part(law: Law, queue: Queue, writing: _Writing) -> dict[str, object]:
    """RED's keys for a law."""
    port = writing.port
    least, most = _bytes(law.min, port, queue, writing), _bytes(law.max, port, queue, writing)
    limit = queue.buffer.limit.bytes_at(port) if queue.buffer and queue.buffer.limit else None
    table: dict[str, object] = {
        "limit": f"{rounded_up(limit, 1) if limit else max(4 * most, 1000 * port.mtu_bytes)} B",
        "min": f"{least} B",
        "max": f"{most} B",
        "avpkt": f"{port.mtu_bytes} B",
        "probability": min(float(law.pmax), _almost_one),
        "bandwidth": f"{min(port.rate_bps, _largest_bandwidth)} bit/s",
    }
    if not law.weight:
        writing.remark(
            queue,
            "tc has no weight 0: the average follows the queue by half of the difference at each packet (Wlog 1)",
            'kind = "step" on the Linux plane (`shoal run --on linux`) has Wlog 0, by other means than tc',
        )
    table["burst"] = f"{burst_for(table, _wlog(law))} packets"
    return table


def _bytes(amount: Amount, port: Port, queue: Queue, writing: _Writing) -> int:
    exact = amount.bytes_at(port)
    if exact is None:
        raise UsageError("a threshold in percent of an unknown buffer", hint="--buffer BYTES")
    if amount.unit.is_time:
        writing.remark(queue, f"{amount} becomes {rounded_up(exact, 1)} bytes at this rate: RED counts bytes")
    return rounded_up(exact, 1)
