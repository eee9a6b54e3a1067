"""SONiC's CONFIG_DB: WRED_PROFILE, QUEUE, SCHEDULER and buffers of queues.

It is loaded with `sonic-cfggen -j FILE --write-to-db` or `config load`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shoal.errors import UsageError
from shoal.switch.amounts import Unit
from shoal.switch.code_points import owners
from shoal.switch.model import Law, Queue, Serving
from shoal.switch.options import POOL, HasLimit, HasMap, HasPorts, HasProfile, Options, declared
from shoal.switch.platforms import _sonic_fields as fields
from shoal.switch.platforms import _sonic_read
from shoal.switch.platforms._sonic_redis import Commands
from shoal.switch.platforms._sonic_tables import Tables
from shoal.switch.platforms.base import Platform
from shoal.switch.presets import COLOURS
from shoal.switch.reading import Document
from shoal.switch.writing import (
    Refusals,
    Writing,
    decides,
    exponent_of_alpha,
    fitted,
    needs_drops_alike,
    needs_thresholds,
    no_weight,
    percent,
)

_units = {Unit.BYTES: "bytes"}
_label = "SONiC"


@dataclass(frozen=True, kw_only=True)
class SonicOptions(HasMap, HasLimit, HasPorts, HasProfile):
    """Profiles and maps of ports, the device's pool, and what is proposed."""

    has_ect_thresholds: bool = declared(
        False, "--sonic-ect-thresholds", "",
        "Write thresholds of ECT packets alone: a proposal, in no released SONiC.",
    )  # fmt: skip
    pool: str = declared(
        "egress_lossy_pool", "--pool", "NAME", "The device's pool, for --with-limit; egress_lossy_pool by default.",
        name=POOL,
    )  # fmt: skip


_Writing = Writing[SonicOptions]


class Sonic(Platform[SonicOptions]):
    """SONiC, whose orchagent takes laws from a database."""

    name = "sonic"
    label = _label
    title = "SONiC CONFIG_DB"
    options = SonicOptions

    def recognises(self, text: str) -> bool:
        """Look for the name of a table about queues."""
        names = (f'"{name}{end}' for name in fields.TABLES for end in ('"', "|"))
        return any(name in text for name in names) or Commands.are_in(text)

    def stated_rates_bps(self, document: Document) -> set[int]:
        """Read the speeds of ports."""
        return _sonic_read.stated_rates_bps(Tables(document))

    def queues(self, document: Document) -> list[Queue]:
        """Read a file of CONFIG_DB."""
        return _sonic_read.queues(document)

    def write(self, queues: Sequence[Queue], writing: _Writing) -> str:
        """Write tables of CONFIG_DB."""
        names = ("WRED_PROFILE", "QUEUE", "SCHEDULER", "BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_QUEUE")
        tables: dict[str, dict[str, Any]] = {name: {} for name in names}
        for queue in queues:
            _add(tables, queue, writing, len(queues))
        if writing.options.has_map:
            tables |= _maps(queues, writing)
        return json.dumps({name: table for name, table in tables.items() if table}, indent=2) + "\n"


def _add(tables: dict[str, dict[str, Any]], queue: Queue, writing: _Writing, queues: int) -> None:
    options = writing.options
    profile = wred_profile(queue, writing, has_ect_thresholds=options.has_ect_thresholds)
    entry: dict[str, str] = {}
    if profile is not None:
        name = options.profile_of(queue, queues)
        if tables["WRED_PROFILE"].setdefault(name, profile) != profile:
            name = f"{name}_{queue.index}"
            tables["WRED_PROFILE"][name] = profile
        entry["wred_profile"] = name
    ports = queue.ports or options.ports
    scheduler = _scheduler(queue, writing)
    if scheduler is not None:
        # The community template calls those of the device scheduler.0 and so on, and all queues of all ports have them.
        name = f"{options.profile}_SCHEDULER_{queue.index or 0}"
        if tables["SCHEDULER"].setdefault(name, scheduler) != scheduler:
            name = f"{name}.{ports[0]}"
            tables["SCHEDULER"][name] = scheduler
        entry["scheduler"] = name
    buffer = _buffer(tables, queue, writing)
    for port in ports:
        key = f"{port}|{queue.index or 0}"
        tables["QUEUE"][key] = entry
        if buffer:
            tables["BUFFER_QUEUE"][key] = {"profile": buffer}


def _maps(queues: Sequence[Queue], writing: _Writing) -> dict[str, dict[str, Any]]:
    """Code points to traffic classes, which have the numbers of their queues."""
    queue_of = owners(queues)
    numbers = {point: queue.index or 0 for point, queue in queue_of.items()}
    if beyond := [number for number in numbers.values() if number > fields.LARGEST_CLASS]:
        raise UsageError(
            f"{_label} has no traffic class for queue {beyond[0]}", hint=f"--queue 0 to {fields.LARGEST_CLASS}"
        )
    name = writing.options.profile
    ports = dict.fromkeys(port for queue in queues for port in queue.ports or writing.options.ports)
    return {
        "DSCP_TO_TC_MAP": {name: {str(point): str(number) for point, number in numbers.items()}},
        "TC_TO_QUEUE_MAP": {name: {str(number): str(number) for number in sorted(set(numbers.values()))}},
        "PORT_QOS_MAP": {port: {"dscp_to_tc_map": name, "tc_to_queue_map": name} for port in ports},
    }


def wred_profile(queue: Queue, writing: Writing[Options], *, has_ect_thresholds: bool = False) -> dict[str, str] | None:
    """The fields of a profile, all colours alike; ``None`` if the queue has no law.

    ``has_ect_thresholds`` allows those of ECT packets alone.

    Raises
    ------
    UsageError
        SONiC cannot express it.
    """
    refusals = Refusals(queue, _label)
    needs_thresholds(queue, refusals)
    needs_drops_alike(queue, refusals)
    mark, drop = queue.mark, queue.drop
    common = mark or drop
    profile: dict[str, str] | None = None
    if common is not None:
        for _, law in queue.laws:
            no_weight(law, refusals, "orchagent always sets weight 0")
        law = fitted(common, writing, queue, refusals, _units)
        profile = {"ecn": "ecn_none" if mark is None else "ecn_all"}
        if mark is not None and drop is not None and not drop.same_curve(mark):
            if has_ect_thresholds:
                drop_law = fitted(drop, writing, queue, refusals, _units)
                profile |= _law_fields(drop_law, refusals, (fields.MIN, fields.MAX, fields.PROBABILITY))
                profile |= _law_fields(law, refusals, (fields.ECT_MIN, fields.ECT_MAX, fields.ECT_PROBABILITY))
                writing.remark(
                    queue,
                    "thresholds of ECT packets alone are proposals (sonic-swss#4718, #4719, sonic-buildimage#28164, "
                    "SONiC#2433): no released SONiC takes them",
                )
            else:
                refusals.add(
                    "ECT packets and others have different laws, which a profile has no fields for (sonic-swss#4718)",
                    "--platform nxos --nxos-non-ecn or --platform eos, which have; or a queue of its own for DCTCP, by "
                    "DSCP",
                )
        else:
            profile |= _law_fields(law, refusals, (fields.MIN, fields.MAX, fields.PROBABILITY))
        profile |= {fields.ENABLE.format(colour): "false" if drop is None else "true" for colour in COLOURS}
        if mark is not None and drop is None:
            writing.remark(
                queue,
                "marks without dropping (wred_*_enable is false): some SAIs do not mark then either "
                "(sonic-buildimage#4545)",
                "look at the counter of marked packets on the device",
            )
        for amount in (law.min, law.max):
            if amount.unit is Unit.BYTES and amount.number > fields.LARGEST_THRESHOLD:
                refusals.add(f"a threshold of {amount}: orchagent reads at most 2^31 - 1", "write less than 2 GiB")
    refusals.settle()
    decides(queue, writing)
    return profile


def _law_fields(law: Law, refusals: Refusals, patterns: tuple[str, str, str]) -> dict[str, str]:
    values = (law.min.number, law.max.number, percent(law, refusals))
    return {
        pattern.format(colour): str(value)
        for colour in COLOURS
        for pattern, value in zip(patterns, values, strict=True)
    }


def _scheduler(queue: Queue, writing: Writing[Options]) -> dict[str, str] | None:
    if queue.scheduler is None and queue.shaping is None:
        return None
    entry = {"type": "DWRR", "weight": "1"}
    if queue.scheduler is not None and queue.scheduler.serving is Serving.STRICT:
        entry = {"type": "STRICT"}
        if queue.scheduler.priority is not None:
            writing.remark(queue, "a priority is not written: of several strict queues the higher index goes first")
    elif queue.scheduler is not None and queue.scheduler.weight is not None:
        entry["weight"] = str(min(100, max(1, queue.scheduler.weight)))
        if not 1 <= queue.scheduler.weight <= 100:
            writing.remark(queue, f"the weight {queue.scheduler.weight} becomes {entry['weight']}: 1 to 100 there")
    if queue.shaping is not None:
        rate = str(-(-queue.shaping.rate_bps // 8))
        # The model of the database wants a committed rate with every peak rate.
        entry |= {"meter_type": "bytes", "cir": rate, "pir": rate}
        if queue.shaping.burst_bytes is not None:
            entry |= {"cbs": str(queue.shaping.burst_bytes), "pbs": str(queue.shaping.burst_bytes)}
    return entry


def _buffer(tables: dict[str, dict[str, Any]], queue: Queue, writing: _Writing) -> str:
    buffer = queue.buffer
    if buffer is None:
        return ""
    is_of_device = bool(buffer.pool and buffer.profile)
    if not is_of_device and not writing.options.has_limit:
        writing.remark(
            queue,
            "what it may hold is not written: the names and sizes of pools are those of the device",
            "--with-limit writes it, for the pool --pool NAME",
        )
        return ""
    profile = buffer.profile or f"{writing.options.profile}_BUFFER_{queue.index or 0}"
    entry = {"pool": buffer.pool or writing.options.pool, "size": str(buffer.reserved_bytes)}
    if buffer.alpha is not None:
        entry["dynamic_th"] = str(exponent_of_alpha(buffer.alpha, -8, 7, queue, writing))
    elif buffer.limit is not None:
        limit = buffer.limit.whole_bytes_at(writing.port)
        entry["static_th"] = str(limit)
    tables["BUFFER_PROFILE"][profile] = entry
    if not is_of_device:
        writing.remark(
            queue, f"the pool `{writing.options.pool}` is to be one of the device, whose size is not written"
        )
    elif buffer.pool_bytes is not None:
        mode = "static" if buffer.alpha is None else "dynamic"
        tables["BUFFER_POOL"][buffer.pool] = {"type": "egress", "mode": mode, "size": str(buffer.pool_bytes)}
    return profile
