"""What was read, as one JSON object (``shoal config read --json``). Additions keep the number of its schema."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from shoal.switch.amounts import Amount, Port
from shoal.switch.checks import answers
from shoal.switch.model import Buffer, Configuration, Law, Packets, Queue, Remark

_schema = 1


def configuration_json(
    configuration: Configuration, queues: Sequence[Queue], remarks: Iterable[Remark], port: Port, *, file: str
) -> dict[str, Any]:
    """A configuration at ports of one speed: sizes in bytes, times in s, rates in bit/s; ``None`` is not stated.

    Parameters
    ----------
    configuration
        What was read.
    queues
        The queues that were asked for.
    remarks
        What is doubtful about them.
    port
        The port that amounts are converted at.
    file
        Where it was read.
    """
    return {
        "schema": _schema,
        "file": file,
        "platform": configuration.platform,
        "port": {"rate_bps": port.rate_bps, "cell_bytes": port.cell_bytes},
        "queues": [_queue(queue, port) for queue in queues],
        "remarks": [
            {
                "text": remark.text,
                "hint": remark.hint or None,
                "queue": remark.queue or None,
                "line": remark.source.line if remark.source is not None else None,
            }
            for remark in remarks
        ],
    }


def _queue(queue: Queue, port: Port) -> dict[str, Any]:
    served, shaped = queue.scheduler, queue.shaping
    port_bps, port = port.rate_bps, queue.at(port)
    not_ect, above, compared = (answer for _, answer in answers(queue))
    return {
        "name": queue.name,
        "index": queue.index,
        "ports": list(queue.ports),
        "dscp": list(queue.dscp),
        "takes_all_other_dscp": queue.takes_rest,
        "served": None
        if served is None
        else {"kind": served.serving.value, "weight": served.weight, "priority": served.priority},
        "shape_bps": None if shaped is None else shaped.rate_bps,
        # The rate that lines above it leave, such as a shaper of tc.
        "line_bps": port.rate_bps if port.rate_bps < port_bps else None,
        "burst_bytes": None if shaped is None else shaped.burst_bytes,
        "buffer": None if queue.buffer is None else _buffer(queue.buffer, port),
        "laws": [_law(packets, law, port) for packets, law in queue.laws],
        "law_unknown": queue.unknown or None,
        # A law of its own, such as CoDel, as a scenario has it.
        "aqm": None if queue.exact is None else dict(queue.exact),
        "answers": {"not_ect": not_ect, "above_maximum": above, "compared": compared},
    }


def _buffer(buffer: Buffer, port: Port) -> dict[str, Any]:
    limit = buffer.limit.bytes_at(port) if buffer.limit is not None else None
    return {
        "reserved_bytes": buffer.reserved_bytes,
        "limit_bytes": None if limit is None else int(limit),
        "alpha": None if buffer.alpha is None else float(buffer.alpha),
        "pool_bytes": buffer.pool_bytes,
        "alone_bytes": buffer.tail_drop_bytes(port),
    }


def _law(packets: Packets, law: Law, port: Port) -> dict[str, Any]:
    return {
        "packets": packets.value,
        # Those that it is for, such as ECT(1), if it is not for all of them.
        "code_points": law.only or None,
        "does": law.action.value,
        "minimum": _amount(law.min, port),
        "maximum": _amount(law.max, port),
        # At a step the number that is written has no effect.
        "probability_at_maximum": None if law.is_step else float(law.pmax),
        "average_exponent": law.weight,
        "decides": law.where.value,
        "line": law.source.line if law.source is not None else None,
    }


def _amount(amount: Amount, port: Port) -> dict[str, Any]:
    """As written, in bytes as the device compares them, and as waiting time at the rate of the port."""
    return {
        "written": str(amount),
        "bytes": amount.whole_bytes_at(port),
        "time_s": _number(amount.seconds_at(port)),
    }


def _number(exact: Fraction | None) -> float | None:
    return None if exact is None else float(exact)
