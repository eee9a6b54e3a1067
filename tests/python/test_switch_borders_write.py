"""The normal form, scenarios of ports and writers at their borders: worked cases by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from switch_documents import GBIT, amount, law

import shoal
from shoal.switch import Amount, Port, Queue, Unit, find_platform, find_switch, switches
from shoal.switch.amounts import amount_of_scenario, decimal, rate_of, seconds_of
from shoal.switch.checks import remarks
from shoal.switch.code_points import code_point, code_points, in_ranges, owners
from shoal.switch.emit import write_configuration
from shoal.switch.from_scenario import queue_of_law, queues_of
from shoal.switch.model import Action, Buffer, Scheduler, Serving, Shaping, Where
from shoal.switch.platforms import PLATFORMS, declared_options, options_of
from shoal.switch.several import scenario_of_queues
from shoal.switch.simulate import Experiment, Group, groups_of, scenario_text
from shoal.switch.writing import Writing

MARK, DROP = Action.MARK, Action.DROP
STEP, DROPS = law(MARK, 30000, 30000), law(DROP, 30000, 30000)
RTT_S = Fraction(1, 10**4)


def write(platform: str, *queues: Queue, cell: int = 1, switch: str = "", **options: Any) -> tuple[str, str]:
    """What is written, and the remarks."""
    writer = find_platform(platform)
    known = {"switch": find_switch(switch)} if switch else {}
    writing = Writing(Port(100 * GBIT, cell_bytes=cell), options_of(writer, options), **known)
    return writer.write(queues, writing), "\n".join(f"{remark} [{remark.hint}]" for remark in writing.remarks)


def queue(index: int = 3, **more: Any) -> Queue:
    return Queue(name=str(index), index=index, ports=("Ethernet0",), **more)


def scenario_of(*queues: Queue, **more: Any) -> tuple[Mapping[str, Any], Experiment]:
    """A resolved scenario of a port with 10 Gbit/s and 100 us, and what was assumed."""
    experiment = Experiment(Port(10 * GBIT), RTT_S, **more)
    text = scenario_of_queues(queues, experiment, file="f")
    return shoal.Scenario.from_toml(text).resolved, experiment


def classes(*queues: Queue, **more: Any) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = scenario_of(*queues, **more)[0]["bottleneck"]["aqm"]["queues"]
    return found


def groups(*numbers: int) -> tuple[Group, ...]:
    return tuple(Group("cubic", 1, str(number)) for number in numbers)


def strict(index: int, priority: int | None = None) -> Queue:
    return queue(index, mark=STEP, scheduler=Scheduler(Serving.STRICT, priority=priority))


def test_of_strict_queues_the_higher_priority_goes_first_and_then_the_higher_number() -> None:
    """A scenario lists strict queues in the order in which they are served, and weighted ones behind them."""
    weighted = queue(7, mark=STEP, scheduler=Scheduler(Serving.WEIGHTED, weight=5))
    found = classes(weighted, strict(1, 2), strict(2, 9), strict(3, 1), groups=groups(1, 2, 3, 7))
    assert [one["name"] for one in found] == ["2", "1", "3", "7"]
    found = classes(strict(0), strict(2), strict(1), groups=groups(0, 1, 2))
    assert [one["name"] for one in found] == ["2", "1", "0"]
    # A priority of 0 is one, and not the number of the queue: 0 is served behind 1.
    found = classes(strict(5, 0), strict(1, 1), groups=groups(1, 5))
    assert [one["name"] for one in found] == ["1", "5"]


@pytest.mark.parametrize("number", [0, 1, 7])
def test_two_queues_with_a_number_are_never_mixed(number: int) -> None:
    first, second = queue(number, mark=STEP), replace(queue(number, mark=DROPS), name="other", ports=("Ethernet0",))
    with pytest.raises(shoal.UsageError, match=f"several queues with the number {number}: {number}, other"):
        scenario_of(first, second)


def test_queues_with_the_same_law_are_one_unless_a_map_tells_them_apart() -> None:
    first, second = queue(1, mark=STEP), queue(2, mark=STEP)
    for points, kind in ((((), ()), "wred"), (((5,), ()), "wred"), (((0,), (5,)), "classes")):
        both = (replace(one, dscp=dscp) for one, dscp in zip((first, second), points, strict=True))
        assert scenario_of(*both)[0]["bottleneck"]["aqm"]["kind"] == kind, points


def test_flows_that_use_ecn_join_the_first_queue_that_marks() -> None:
    """DCTCP and ECN-Reno use ECN, CUBIC does not and joins the queue of code point 0."""
    marking, other = queue(5, mark=STEP, dscp=(10, 12)), queue(1, drop=DROPS, drop_ect=DROPS, dscp=(0, 8))
    controllers = ("dctcp", "cubic", "ecn-reno")
    resolved, experiment = scenario_of(marking, other, groups=tuple(Group(name, 1) for name in controllers))
    assert {flow["cc"]: flow["dscp"] for flow in resolved["flows"]} == {"dctcp": 10, "ecn-reno": 10, "cubic": 0}
    assert any("cubic in queue 1; dctcp, ecn-reno in queue 5" in remark.text for remark in experiment.remarks)


def test_code_points_without_a_map_are_class_selectors() -> None:
    dropping = queue(4, drop=DROPS, drop_ect=DROPS)
    resolved, experiment = scenario_of(queue(2, mark=STEP), dropping, groups=groups(2, 4))
    # The queues are the first and the second by number: CS0 and CS1.
    assert {one["name"]: one["dscp"] for one in resolved["bottleneck"]["aqm"]["queues"]} == {"2": [0], "4": [8]}
    assert any("0 for queue 2, 8 for queue 4" in remark.text for remark in experiment.remarks)


def shared(index: int, reserved: int, pool: str = "p", size: int | None = 500_000) -> Queue:
    return queue(index, mark=STEP, buffer=Buffer(reserved, alpha=Fraction(2), pool_bytes=size, pool=pool))


def test_memory_is_the_pool_and_all_that_is_reserved() -> None:
    resolved, _ = scenario_of(shared(1, 1000), shared(2, 20_000), groups=groups(1, 2))
    assert resolved["bottleneck"]["aqm"]["memory"] == "521000 B"
    # Queues of two pools share nothing: each has alpha / (1 + alpha) of its pool as a limit of its own.
    resolved, experiment = scenario_of(shared(1, 1000), shared(2, 0, "q", 900_000), groups=groups(1, 2))
    limits = {one["name"]: one["buffer"] for one in resolved["bottleneck"]["aqm"]["queues"]}
    assert limits == {"1": "334333 B", "2": "600000 B"}
    assert any("of the pools p, q" in remark.text for remark in experiment.remarks)


def test_a_queue_with_a_fixed_limit_beside_shared_memory_keeps_it() -> None:
    fixed = queue(2, mark=STEP, buffer=Buffer(limit=amount(64000, Unit.BYTES)))
    one, two = classes(shared(1, 1000), fixed, groups=groups(1, 2))
    assert (one["alpha"], one["reserved"], two["alpha"], two["buffer"]) == (2.0, "1000 B", 1000.0, "64000 B")


def test_weights_of_a_scenario_end_at_10000_and_shapes_at_the_port() -> None:
    heavy = queue(1, mark=STEP, scheduler=Scheduler(Serving.WEIGHTED, weight=10_001))
    light = queue(2, mark=STEP, scheduler=Scheduler(Serving.WEIGHTED, weight=10_000), shaping=Shaping(10 * GBIT, 1))
    slow = queue(4, mark=STEP, shaping=Shaping(10 * GBIT - 1, 1))
    resolved, experiment = scenario_of(heavy, light, slow, groups=groups(1, 2, 4))
    one, two, four = resolved["bottleneck"]["aqm"]["queues"]
    assert (one["weight"], two["weight"], four["weight"]) == (10_000, 9_999, 1)
    assert [remark.text for remark in experiment.remarks if "the weights" in remark.text] == [
        "the weights 10001:10000:1 become 10000:9999:1: a scenario has at most 10000"
    ]
    # A shape as fast as the port has no effect; a bucket holds at least a packet.
    assert (two.get("shape"), four["shape"], four["burst"]) == (None, "9999999999 bit/s", "1500 B")


def test_what_is_not_said_of_the_buffer_is_four_products_or_twice_the_maximum() -> None:
    """10 Gbit/s x 100 us = 125 kB: four of them are 500 kB, as docs/records/known-configurations.md says."""
    resolved, experiment = scenario_of(queue(mark=law(MARK, 1000, 200_000)))
    assert resolved["bottleneck"]["buffer"] == "500000 B"
    assert any("500000 bytes are assumed" in remark.text for remark in experiment.remarks)
    resolved, _ = scenario_of(queue(mark=law(MARK, 1000, 250_001)))
    assert resolved["bottleneck"]["buffer"] == "500002 B"
    resolved, _ = scenario_of(queue(mark=STEP, buffer=Buffer(1500, limit=amount(9000, Unit.BYTES))))
    assert resolved["bottleneck"]["buffer"] == "10500 B"
    resolved, _ = scenario_of(queue(mark=STEP), buffer_bytes=77_000)
    assert resolved["bottleneck"]["buffer"] == "77000 B"


@pytest.mark.parametrize(("rtt", "duration", "warmup"), [("100us", "1 s", "250 ms"), ("1ms", "2 s", "500 ms")])
def test_scenarios_last_2000_round_trips_and_at_least_a_second(rtt: str, duration: str, warmup: str) -> None:
    text = scenario_text(queue(mark=STEP), Experiment(Port(10 * GBIT), seconds_of(rtt)), title="t")
    resolved = shoal.Scenario.from_toml(text).resolved
    assert (resolved["duration"], resolved["warmup"]) == (duration, warmup)


@pytest.mark.parametrize(
    ("rate_bps", "host"),
    [(GBIT, "ideal"), (GBIT + 1, "linux-6-10g"), (10 * GBIT, "linux-6-10g"), (10 * GBIT + 1, "linux-6-25g"),
     (25 * GBIT, "linux-6-25g"), (25 * GBIT + 1, "linux-6-100g")],
)  # fmt: skip
def test_hosts_follow_the_rate_of_the_port(rate_bps: int, host: str) -> None:
    assert Experiment(Port(rate_bps), RTT_S).host_preset == host


def test_groups_of_flows() -> None:
    assert groups_of(None) == (Group("dctcp", 4), Group("cubic", 4))
    assert groups_of(["reno, dctcp*2@3"]) == (Group("reno", 1), Group("dctcp", 2, "3"))
    for wrong in ("cubic*0", "*3", "cubic*", "cubic@"):
        with pytest.raises(shoal.UsageError, match="not a group"):
            groups_of([wrong])


@pytest.mark.parametrize(
    ("number", "unit", "expected"),
    [(3, Unit.MBYTES, 3_000_000), (3, Unit.KBYTES, 3000), (2, Unit.PACKETS, 3000), (2, Unit.SEGMENTS, 416),
     (5, Unit.PERCENT, 500), (8, Unit.NANOSECONDS, 10), (8, Unit.MICROSECONDS, 10_000), (8, Unit.MILLISECONDS, 10**7)],
)  # fmt: skip
def test_amounts_in_bytes(number: int, unit: Unit, expected: int) -> None:
    """At 10 Gbit/s 8 us are 10 kB; 5 % are of a buffer of 10 kB."""
    port = Port(10 * GBIT, buffer_bytes=10_000)
    assert amount(number, unit).bytes_at(port) == expected
    assert amount(number, unit).seconds_at(port) == Fraction(expected * 8, 10 * GBIT)


def test_amounts_of_scenarios_and_rates() -> None:
    for text, expected in (("2 KiB", 2048), ("2 MB", 2_000_000), ("0.5 BDP", 500)):
        assert amount_of_scenario(text, bdp_bytes=1000) == amount(expected, Unit.BYTES)
    assert amount_of_scenario("1500 ns", bdp_bytes=None) == amount(1500, Unit.NANOSECONDS)
    assert amount_of_scenario("0.5 s", bdp_bytes=None) == amount(500, Unit.MILLISECONDS)
    assert amount_of_scenario("unlimited", bdp_bytes=None) is None
    assert amount_of_scenario("3 packets", bdp_bytes=None) == amount(3, Unit.PACKETS)
    assert [rate_of(text) for text in ("1", "2k", "3 Mbit/s", "2.5G", "1T")] == [1, 2000, 3 * 10**6, 25 * 10**8, 10**12]
    for wrong in ("0.5", "0", "G"):
        with pytest.raises(shoal.UsageError, match="not the rate"):
            rate_of(wrong)
    assert (decimal(Fraction(1, 8)), decimal(Fraction(1, 3))) == ("0.125", "0.3333333333")
    half = Amount(Fraction(1, 2), Unit.PACKETS)
    assert (half.in_scenario(Port(GBIT)), amount(2, Unit.PACKETS).in_scenario(Port(GBIT))) == ("750 B", "2 packets")


def test_code_points_by_name_and_in_lists() -> None:
    """The class selectors are multiples of 8; the digits of assured forwarding are a class and twice a precedence."""
    assert [code_point(f"CS{level}") for level in range(8)] == [0, 8, 16, 24, 32, 40, 48, 56]
    assert [code_point(name) for name in ("af11", "af13", "AF42", "ef", "default")] == [10, 14, 36, 46, 0]
    assert (code_point("va"), code_point("63"), code_point("64"), code_point("af14")) == (44, 63, None, None)
    assert code_points(["8-10,af11", "ef"]) == (8, 9, 10, 46)
    assert code_points(["10-9"]) is None
    assert in_ranges((1, 2, 3, 5, 7, 8)) == "1-3,5,7-8"


def test_owners_of_code_points() -> None:
    some, rest = queue(1, dscp=(5,)), queue(2, takes_rest=True)
    found = owners([some, rest])
    assert (found[5].index, found[0].index, found[63].index, len(found)) == (1, 2, 2, 64)
    assert list(owners([some])) == [5]
    with pytest.raises(shoal.UsageError, match="both take"):
        owners([rest, queue(3, takes_rest=True)])
    with pytest.raises(shoal.UsageError, match="code point 5 belongs to two"):
        owners([some, queue(3, dscp=(5,))])


def said_of(one: Queue, port: Port | None = None) -> str:
    return "\n".join(remark.text for remark in remarks(one, port or Port(GBIT)))


def test_doubts_begin_where_a_law_does_not_act() -> None:
    """A queue that overflows at the minimum never acts; one that does at the maximum acts in full."""
    ramp = law(MARK, 3000, 9000, Fraction(1, 2))
    for limit, never, incomplete in (
        (3000, True, False),
        (3001, False, True),
        (8999, False, True),
        (9000, False, False),
    ):
        text = said_of(queue(mark=ramp, buffer=Buffer(limit=amount(limit, Unit.BYTES))))
        assert ("never acts" in text, "never completed" in text) == (never, incomplete), limit


def test_doubts_about_short_ramps_jumps_and_averages() -> None:
    """A ramp is at least a packet long, or 500 cells of hardware that counts cells: 128000 bytes of cells of 256."""
    for most, port, is_short in (
        (2499, Port(GBIT), True),
        (2500, Port(GBIT), False),
        (128_999, Port(GBIT, cell_bytes=256), True),
        (129_000, Port(GBIT, cell_bytes=256), False),
    ):
        text = said_of(queue(mark=law(MARK, 1000, most)), port)
        assert ("acts like a step" in text) is is_short, most
    assert "jumps from 98 % to 100 %" in said_of(queue(mark=law(MARK, 1000, 9000, Fraction(98, 100))))
    assert "jumps" not in said_of(queue(mark=law(MARK, 1000, 9000, Fraction(99, 100))))
    assert "follow an average (weight 2^-3)" in said_of(queue(mark=law(MARK, 9, 9, weight=3)))
    assert "average" not in said_of(queue(mark=STEP))
    overlap = queue(mark=law(MARK, 1000, 9000), drop_ect=law(DROP, 8999, 20000))
    assert "drops ECT packets, too" in said_of(overlap)


def test_a_ramp_keeps_its_ends_apart_where_both_are_in_one_cell() -> None:
    """1030 and 1100 bytes are both five cells of 256: the maximum goes to the sixth, 1536."""
    text, said = write("sonic", queue(mark=law(MARK, 1030, 1100, Fraction(1, 2))), cell=256)
    profile = json.loads(text)["WRED_PROFILE"]["SHOAL"]
    ends = profile["green_min_threshold"], profile["green_max_threshold"], profile["green_drop_probability"]
    assert ends == ("1280", "1536", "50")
    assert "1100 bytes becomes 1536 bytes, in multiples of 256 bytes" in said
    step = json.loads(write("sonic", queue(mark=law(MARK, 1030, 1030)), cell=256)[0])["WRED_PROFILE"]["SHOAL"]
    assert (step["green_min_threshold"], step["green_max_threshold"]) == ("1280", "1280")


def test_thresholds_are_whole_cells_and_whole_steps_of_the_device() -> None:
    """A device with steps of 6144 bytes and cells of 256 has 6144 = 24 cells; with cells of 1000, 768000."""
    cisco = next(switch for switch in switches() if switch.threshold_bytes == 6144)
    ramp = law(MARK, 6144, 6145, Fraction(1, 2))
    for cell, ends in ((256, ("6144", "12288")), (1000, ("768000", "1536000"))):
        text, _ = write("openconfig", queue(mark=ramp), cell=cell, switch=cisco.name)
        leaves = json.loads(text)["openconfig-qos:qos"]["queue-management-profiles"]["queue-management-profile"][0]
        config = leaves["wred"]["uniform"]["config"]
        assert (config["min-threshold"], config["max-threshold"]) == ends


def test_json_is_written_for_people_to_read() -> None:
    for platform, second in (("sonic", '  "WRED_PROFILE": {'), ("openconfig", '  "openconfig-qos:qos": {')):
        text = write(platform, queue(mark=STEP))[0]
        assert (text.splitlines()[1], text[-2:]) == (second, "}\n")


def test_percent_and_weights_at_their_ends() -> None:
    spectrum = next(switch.name for switch in switches() if switch.largest_weight == 11)
    eleven = queue(mark=law(MARK, 1000, 9000, Fraction(1, 100), 11))
    assert '"weight": 11' in write("openconfig", eleven, switch=spectrum)[0]
    with pytest.raises(shoal.UsageError, match=r"weight of 2\^-12: the largest exponent is 11"):
        write("openconfig", queue(mark=law(MARK, 1000, 9000, Fraction(1, 100), 12)), switch=spectrum)
    zero = queue(mark=law(MARK, 1000, 9000, 0), drop=law(DROP, 1000, 9000, 0))
    assert "drop-probability 0 weight 0 ecn" in write("nxos", zero)[0]
    with pytest.raises(shoal.UsageError, match="a probability of 0 %"):
        write("eos", queue(mark=law(MARK, 1000, 9000, 0)))
    # A step has no probability: that of the law does not matter.
    step = queue(mark=law(MARK, 9000, 9000, Fraction(1, 1000)))
    assert "max-mark-probability 100" in write("eos", step)[0]


def test_where_a_device_decides_is_said_if_the_scenario_decides_elsewhere() -> None:
    arriving = law(MARK, 9000, 9000, where=Where.ENQUEUE)
    assert "decides about marks at enqueue, the device at dequeue" in write("sonic", queue(mark=arriving))[1]
    assert "decides about marks" not in write("sonic", queue(mark=STEP))[1]
    assert "decides about marks" not in write("sonic", queue(mark=arriving), switch="broadcom-dnx")[1]


def test_sonic_schedulers_and_buffers() -> None:
    """1001 bit/s are 125.125 bytes a second, rounded up; weights are 1 to 100."""
    weighted = queue(3, scheduler=Scheduler(Serving.WEIGHTED, weight=101), shaping=Shaping(1001, 9000))
    tables = json.loads(write("sonic", weighted)[0])
    assert tables["SCHEDULER"]["SHOAL_SCHEDULER_3"] == {
        "type": "DWRR", "weight": "100", "meter_type": "bytes", "cir": "126", "pir": "126", "cbs": "9000",
        "pbs": "9000",
    }  # fmt: skip
    assert "the weight 101 becomes 100" in write("sonic", weighted)[1]
    assert "becomes" not in write("sonic", queue(scheduler=Scheduler(Serving.WEIGHTED, weight=100)))[1]
    assert json.loads(write("sonic", strict(3))[0])["SCHEDULER"]["SHOAL_SCHEDULER_3"] == {"type": "STRICT"}
    own = queue(3, buffer=Buffer(1500, limit=amount(1001, Unit.BYTES)))
    text, said = write("sonic", own)
    assert ("BUFFER_PROFILE" in text, "--with-limit" in said) == (False, True)
    tables = json.loads(write("sonic", own, cell=100, has_limit=True, pool="mine")[0])
    assert tables["BUFFER_PROFILE"] == {"SHOAL_BUFFER_3": {"pool": "mine", "size": "1500", "static_th": "1100"}}
    assert tables["BUFFER_QUEUE"] == {"Ethernet0|3": {"profile": "SHOAL_BUFFER_3"}}


@pytest.mark.parametrize(("alpha", "sonic", "nxos"), [(1, 0, 7), (8, 3, 10), (16, 4, 10), (Fraction(1, 512), -8, 0)])
def test_alpha_is_a_power_of_two_within_the_range_of_a_device(alpha: Fraction, sonic: int, nxos: int) -> None:
    """SONiC has 2^-8 to 2^7, NX-OS 2^-7 to 2^3 with indices from 0."""
    one = queue(3, buffer=Buffer(alpha=Fraction(alpha)))
    profile = json.loads(write("sonic", one, has_limit=True)[0])["BUFFER_PROFILE"]["SHOAL_BUFFER_3"]
    assert profile["dynamic_th"] == str(sonic)
    assert f"    queue-limit dynamic {nxos}\n" in write("nxos", one, has_limit=True)[0]
    for platform, exponent in (("sonic", sonic), ("nxos", nxos - 7)):
        said = write(platform, one, has_limit=True)[1]
        assert ("powers of two there" in said) is (Fraction(2) ** exponent != alpha), platform


def test_sonic_maps_have_eight_classes() -> None:
    tables = json.loads(write("sonic", queue(7, dscp=(46, 8)), queue(1, takes_rest=True), has_map=True)[0])
    assert tables["TC_TO_QUEUE_MAP"] == {"SHOAL": {"1": "1", "7": "7"}}
    points = tables["DSCP_TO_TC_MAP"]["SHOAL"]
    assert (points["8"], points["46"], points["0"], points["63"], len(points)) == ("7", "7", "1", "1", 64)
    assert tables["PORT_QOS_MAP"] == {"Ethernet0": {"dscp_to_tc_map": "SHOAL", "tc_to_queue_map": "SHOAL"}}
    with pytest.raises(shoal.UsageError, match="no traffic class for queue 8"):
        write("sonic", queue(8, dscp=(1,)), has_map=True)


def test_sonic_thresholds_end_at_31_bits() -> None:
    write("sonic", queue(mark=law(MARK, 9, 2**31 - 1)))
    with pytest.raises(shoal.UsageError, match="at most 2"):
        write("sonic", queue(mark=law(MARK, 9, 2**31)))


def test_ecnconfig_takes_two_steps_only_below_the_present_minimum() -> None:
    """The maximum is written first: it may be as low as the present minimum, and not lower."""
    for most, steps in ((5000, 1), (4999, 2)):
        text, _ = write("ecnconfig", queue(mark=law(MARK, 1000, most)), current="5000:9000")
        assert sum("-p AZURE_LOSSLESS" in line for line in text.splitlines()) == steps
    # Of an unknown profile the community's is assumed, with a minimum of 1 MiB.
    assert "1048576 and 2097152 bytes" in write("ecnconfig", queue(mark=law(MARK, 1000, 2**20)))[1]
    assert "ecnconfig -q" not in write("ecnconfig", queue(mark=STEP), profile="DC")[0]


def test_nxos_levels_shapes_and_classes() -> None:
    seven, unsaid = (replace(one, drop=DROPS) for one in (strict(3, 7), strict(5)))
    text = write("nxos", seven, queue(0, shaping=Shaping(2_500_000)), unsaid)[0]
    lines = [line.strip() for line in text.splitlines()]
    # Priority 8 is level 1, and one that is not said, too.
    assert lines.index("priority level 2") > lines.index("class type queuing c-out-8q-q3")
    assert lines.index("priority level 1") > lines.index("class type queuing c-out-8q-q5")
    assert lines.index("shape min 0 kbps max 2500 kbps") > lines.index("class type queuing c-out-8q-q-default")


def test_nxos_shapes_are_in_the_largest_unit_in_which_they_are_whole() -> None:
    for rate_bps, words in ((3 * GBIT, "3 gbps"), (1500 * 10**6, "1500 mbps"), (1001, "2 kbps")):
        assert f"max {words}" in write("nxos", queue(shaping=Shaping(rate_bps)))[0]


def test_nxos_maps_put_classes_into_groups_of_their_queues() -> None:
    text = write("nxos", queue(5, dscp=(8, 9, 46)), queue(1, takes_rest=True), has_map=True)[0]
    assert text.startswith("class-map type qos match-any SHOAL_Q5\n  match dscp 8-9,46\npolicy-map type qos SHOAL_IN\n")
    assert "  class SHOAL_Q5\n    set qos-group 5\n  class class-default\n    set qos-group 1\n" in text


def test_eos_rates_and_maps() -> None:
    text = write("eos", queue(5, dscp=(46,), shaping=Shaping(1001)), strict(1), has_map=True)[0]
    assert text.startswith("qos map dscp 46 to traffic-class 5\nqos map traffic-class 5 to uc-tx-queue 5\n")
    assert "shape rate 2 kbps" in text
    assert "   uc-tx-queue 1\n      priority strict\n" in text


@pytest.mark.parametrize(("drops", "nearby"), [(30000, "tells none apart"), (29999, "below the end of the law")])
def test_eos_drops_reach_ect_packets_that_are_not_marked_yet(drops: int, nearby: str) -> None:
    one = queue(mark=STEP, drop=law(DROP, drops, 90000, Fraction(1, 2)))
    assert nearby in write("eos", one)[1]


def test_tc_bands_are_strict_first_and_have_quanta_of_a_frame() -> None:
    """The smallest weight is a frame of 1514 bytes or more: 3 x 505 = 1515; 1514 needs no factor."""
    weighted = [queue(n, scheduler=Scheduler(Serving.WEIGHTED, weight=weight)) for n, weight in ((1, 3), (2, 4))]
    first = write("tc", *weighted, strict(4, -2), strict(5, -1))[0].splitlines()
    assert first[0].endswith("ets bands 4 strict 2 quanta 1515 2020")
    # Band 1 is the queue with the higher priority: -1 before -2.
    named = write("tc", weighted[0], strict(4, -2), strict(5, -1))[1]
    assert "queue 5: it is band 1" in named
    assert "queue 4: it is band 2" in named
    # A band of which nothing is said has weight 1.
    unsaid = write("tc", weighted[0], queue(6))[0].splitlines()
    assert unsaid[0].endswith("quanta 4542 1514")
    large = [replace(one, scheduler=Scheduler(Serving.WEIGHTED, weight=1514 * n)) for n, one in enumerate(weighted, 1)]
    assert write("tc", *large)[0].splitlines()[0].endswith("quanta 1514 3028")


def test_tc_filters_have_the_code_point_above_the_ecn_field() -> None:
    """46 is 0xb8 in the field; the queue that takes the rest has one filter for all protocols."""
    text = write("tc", queue(1, dscp=(46,)), queue(2, takes_rest=True))[0]
    assert [line.partition("parent 1: ")[2] for line in text.splitlines() if " filter " in line] == [
        "protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc flowid 1:1",
        "protocol ipv6 prio 2 u32 match ip6 priority 0xb8 0xfc flowid 1:1",
        "protocol all prio 3 matchall flowid 1:2",
    ]


def test_tc_steps_in_time_are_ce_threshold_where_they_are_decided_at_departure() -> None:
    timed = amount(50, Unit.MICROSECONDS)
    leaving = queue(mark=law(MARK, timed, timed), buffer=Buffer(limit=amount(4500, Unit.BYTES)))
    text = write("tc", leaving)[0]
    assert "codel limit 3 " in text
    assert "ce_threshold 50us" in text
    arriving = queue(mark=law(MARK, timed, timed, where=Where.ENQUEUE))
    # 50 us at 100 Gbit/s are 625000 bytes.
    text, said = write("tc", arriving)
    assert " red " in text
    assert "50 microseconds becomes 625000 bytes at this rate" in said


def test_tc_red_has_room_for_four_maxima_or_1000_packets() -> None:
    for most, limit in ((375_000, 1_500_000), (375_001, 1_500_004)):
        text = write("tc", queue(mark=law(MARK, 100_000, most), drop=law(DROP, 100_000, most)))[0]
        assert f"red limit {limit} min 100000 max {most} " in text


def test_queues_of_classes_are_numbered_from_the_last_and_share_in_percent() -> None:
    """Weights 1, 2 and 4 are 14.3, 28.6 and 57.1 %: 14, 29 and 57; the first of three queues from number 2 on has 4."""
    fifo = {"kind": "fifo"}
    entries = [{"name": str(n), "dscp": [n], "weight": n, "aqm": fifo} for n in (1, 2)]
    entries.append({"name": "r", "weight": 4, "buffer": "9 kB", "aqm": fifo})
    link = {"rate": "100 Mbit/s", "buffer": "400 kB", "aqm": {"kind": "classes", "queues": entries}}
    queues, lost = queues_of(shoal.Scenario.named("step-single").override({"bottleneck": link}), index=2)
    assert [one.index for one in queues] == [4, 3, 2]
    assert [one.scheduler and one.scheduler.weight for one in queues] == [14, 29, 57]
    assert [(one.dscp, one.takes_rest) for one in queues] == [((1,), False), ((2,), False), ((), True)]
    assert [remark.text for remark in lost] == ["the weights 1:2:4 become 14:29:57: whole percent"]
    limits = [one.buffer.limit.bytes_at(Port(10**8)) for one in queues if one.buffer and one.buffer.limit]
    assert limits == [400_000, 400_000, 9000]


def test_weights_that_are_whole_percent_stay_without_a_word() -> None:
    """3 and 1 are 75 and 25 %; a strict queue has no part in it."""
    fifo = {"kind": "fifo"}
    entries = [{"name": "s", "dscp": [1], "priority": "strict", "aqm": fifo}]
    entries += [{"name": "w", "dscp": [2], "weight": 3, "aqm": fifo}, {"name": "r", "aqm": fifo}]
    link = {"rate": "100 Mbit/s", "buffer": "400 kB", "aqm": {"kind": "classes", "queues": entries}}
    queues, lost = queues_of(shoal.Scenario.named("step-single").override({"bottleneck": link}), index=0)
    assert [one.scheduler for one in queues] == [
        Scheduler(Serving.STRICT), Scheduler(Serving.WEIGHTED, weight=75), Scheduler(Serving.WEIGHTED, weight=25),
    ]  # fmt: skip
    assert lost == []


def test_laws_of_scenarios_with_what_they_leave_out() -> None:
    red = {"kind": "red", "min": "10 kB", "max": "30 kB", "max_probability": 0.1, "weight": 0.002}
    plain, lost = queue_of_law(red, index=1)
    # 2^-9 is 0.00195, next to 0.002.
    assert plain.drop == plain.drop_ect == law(DROP, 10_000, 30_000, Fraction(1, 10), 9, Where.ENQUEUE)
    assert "2^-9" in lost[0].text
    marks, _ = queue_of_law(red | {"ecn": True}, index=1)
    assert (marks.mark is not None, marks.drop is not None, marks.drop_ect) == (True, True, None)
    with pytest.raises(shoal.UsageError, match="second ramp"):
        queue_of_law(red | {"gentle": True}, index=1)
    step, _ = queue_of_law({"kind": "step", "threshold": "9 kB", "drop_threshold": "20 kB"}, index=1)
    assert step.mark == law(MARK, 9000, 9000, where=Where.ENQUEUE)
    assert step.drop == law(DROP, 20_000, 20_000, where=Where.ENQUEUE)
    linux = {"kind": "linux-red", "min": "30 kB", "avpkt": "1000 B", "ecn": True, "harddrop": True}
    found, _ = queue_of_law(linux, index=1)
    # Without max the model has three times min, without probability 0.02.
    assert found.mark is not None
    assert (found.mark.min.number, found.mark.max.number, found.mark.pmax) == (30_000, 90_000, Fraction(1, 50))
    assert found.drop_ect is not None
    assert found.drop_ect.min == found.mark.max


def test_each_option_is_declared_once() -> None:
    """Platforms that share an option declare the same; what a platform lacks is refused by its name."""
    declared: dict[str, object] = {}
    for platform in PLATFORMS:
        for name, declaration in platform.options.declarations().items():
            assert declared.setdefault(declaration.flag, (name, declaration)) == (name, declaration)
    assert len(declared) == len(declared_options())
    for platform in PLATFORMS:
        for name, (declaration, labels) in declared_options().items():
            if platform.label not in labels:
                with pytest.raises(shoal.UsageError, match=f"`{declaration.flag}` is no option of {platform.name}"):
                    options_of(platform, {name: "1:2"})


def test_numbers_are_written_as_they_are_unless_cells_are_known() -> None:
    """30001 bytes are whole bytes, 118 cells of 256 bytes (30208), and 31 of 1000."""
    given = shoal.Scenario.named("step-single").override({"bottleneck.aqm.threshold": "30001 B"})
    platform = find_platform("openconfig")
    known = find_switch("broadcom-trident3")
    for more, expected in (({}, 30001), ({"switch": known}, 30208), ({"switch": known, "cell_bytes": 1000}, 31000)):
        text, said = write_configuration(given, platform, platform.options(), index=2, **more)  # type: ignore[arg-type]
        assert f'"min-threshold": "{expected}"' in text
        assert '"name": "2"' in text
        assert any("marks above its threshold" in line for line, _ in said)


def test_memory_that_cannot_be_written_is_said() -> None:
    queues = "bottleneck.aqm.queues"
    given = shoal.Scenario.named("port-memory").override(
        {f"{queues}.scalable.aqm": {"kind": "fifo"}, f"{queues}.rest.aqm": {"kind": "fifo"}}
    )
    for name, is_lost in (("eos", True), ("openconfig", True), ("nxos", False), ("sonic", False)):
        platform = find_platform(name)
        _, said = write_configuration(given, platform, platform.options())
        assert any("that queues share is not written" in text for text, _ in said) is is_lost, name


def test_what_leads_to_a_queue_is_said_unless_it_is_written() -> None:
    given = shoal.Scenario.named("two-classes").override(
        {"bottleneck.aqm.queues.scalable.aqm": {"kind": "fifo"}, "bottleneck.aqm.queues.rest.aqm": {"kind": "fifo"}}
    )
    for name, not_written, with_map in (("nxos", True, True), ("openconfig", True, False), ("tc", False, False)):
        platform = find_platform(name)
        _, said = write_configuration(given, platform, platform.options())
        hints = [hint for text, hint in said if "go to this queue is not written" in text]
        assert (bool(hints), any("--with-map" in hint for hint in hints)) == (not_written, with_map), name
