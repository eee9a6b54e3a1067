"""Writers of configurations: what is emitted, what is rounded, and what is refused with its reason."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from switch_documents import GBIT, amount, law

import shoal
from shoal.linux.images import Unbuilt
from shoal.switch import Document, Port, Unit, find_platform, find_switch
from shoal.switch.from_scenario import queue_of_law, queues_of
from shoal.switch.model import Action, Buffer, Queue, Where
from shoal.switch.options import Options
from shoal.switch.plane import disciplines
from shoal.switch.platforms import options_of
from shoal.switch.platforms.eos import EosOptions
from shoal.switch.platforms.tc import TcOptions
from shoal.switch.simulate import Experiment, aqm_of
from shoal.switch.writing import Writing

MARK, DROP = Action.MARK, Action.DROP
STEP = law(MARK, 98304, 98304)
RAMP = law(MARK, 200000, 400000, Fraction(1, 10))
DROPS = law(DROP, 200000, 400000, Fraction(1, 10))


def queue(**laws: Any) -> Queue:
    return Queue(name="3", index=3, ports=("Ethernet0",), **laws)


def write(platform: str, *queues: Queue, **options: Any) -> str:
    return find_platform(platform).write(list(queues), writing(platform, **options))


def writing(platform: str, *, cell: int = 1, switch: str = "", **options: Any) -> Writing[Options]:
    known = {"switch": find_switch(switch)} if switch else {}
    return Writing(Port(100 * GBIT, cell_bytes=cell), options_of(find_platform(platform), options), **known)


def refusal(platform: str, one: Queue, **options: Any) -> tuple[str, str]:
    with pytest.raises(shoal.UsageError) as refused:
        write(platform, one, **options)
    return str(refused.value), refused.value.hint or ""


def sonic(one: Queue, **options: Any) -> dict[str, str]:
    found: dict[str, str] = json.loads(write("sonic", one, **options))["WRED_PROFILE"]["SHOAL"]
    return found


def test_sonic_same_law_for_both_classes() -> None:
    found = sonic(queue(mark=RAMP, drop=DROPS))
    green = {
        key: value for key, value in found.items() if "yellow" not in key and "red_" not in key.replace("wred_", "")
    }
    assert green == {
        "ecn": "ecn_all",
        "green_min_threshold": "200000",
        "green_max_threshold": "400000",
        "green_drop_probability": "10",
        "wred_green_enable": "true",
    }
    # All colours alike, so that DNX, which applies red, does the same.
    for colour in ("yellow", "red"):
        assert found[f"{colour}_min_threshold"] == "200000"
        assert found[f"wred_{colour}_enable"] == "true"


def test_sonic_marks_without_drops_and_drops_without_marks() -> None:
    marks = sonic(queue(mark=STEP))
    assert (marks["ecn"], marks["wred_green_enable"], marks["green_drop_probability"]) == ("ecn_all", "false", "100")
    drops = sonic(queue(drop=DROPS, drop_ect=DROPS))
    assert (drops["ecn"], drops["wred_green_enable"]) == ("ecn_none", "true")
    assert json.loads(write("sonic", queue())) == {"QUEUE": {"Ethernet0|3": {}}}


def test_sonic_refuses_two_laws_and_names_the_issue() -> None:
    dual = queue(mark=STEP, drop=DROPS)
    message, hint = refusal("sonic", dual)
    assert "sonic-swss#4718" in message
    assert "--platform nxos --nxos-non-ecn" in hint
    found = sonic(dual, has_ect_thresholds=True)
    assert (found["green_ect_min_threshold"], found["green_ect_max_threshold"]) == ("98304", "98304")
    assert (found["green_min_threshold"], found["green_max_threshold"]) == ("200000", "400000")


def test_everything_that_is_wrong_is_said_at_once() -> None:
    one = law(MARK, amount(50, Unit.MICROSECONDS), amount(80, Unit.MICROSECONDS), Fraction(1, 8), 9)
    message, hint = refusal("sonic", queue(mark=one))
    assert "weight 2^-9" in message
    assert "a threshold of 50 microseconds" in message
    assert "a probability of 12.5 %" in message
    # 50 us at 100 Gbit/s are 625 kB.
    assert "625000 B at this port" in hint
    assert "write max_probability = 0.12" in hint


@pytest.mark.parametrize("platform", ["sonic", "nxos", "openconfig"])
def test_times_and_fractions_of_percent_are_refused(platform: str) -> None:
    timed = law(MARK, amount(1, Unit.MILLISECONDS), amount(1, Unit.MILLISECONDS))
    other = law(DROP, amount(1, Unit.MILLISECONDS), amount(1, Unit.MILLISECONDS))
    assert "times are not written there" in refusal(platform, queue(mark=timed, drop=other))[0]
    ramp = law(MARK, 1000, 90000, Fraction(1, 1000))
    message, hint = refusal(platform, queue(mark=ramp, drop=law(DROP, 1000, 90000, Fraction(1, 1000))))
    assert "a probability of 0.1 %" in message
    assert "max_probability = 0.01" in hint


def test_thresholds_are_rounded_up_to_cells_and_both_values_are_said() -> None:
    options = writing("sonic", cell=254)
    text = find_platform("sonic").write([queue(mark=STEP)], options)
    # 98304 / 254 = 387.02 cells: 388 cells are 98552 bytes.
    assert '"green_min_threshold": "98552"' in text
    assert "98304 bytes becomes 98552 bytes, in multiples of 254 bytes" in [remark.text for remark in options.remarks]


def test_a_ramp_never_falls_into_one_cell() -> None:
    found = sonic(queue(mark=law(MARK, 1000, 1100, Fraction(1, 2))), cell=256)
    assert (found["green_min_threshold"], found["green_max_threshold"]) == ("1024", "1280")


def test_spectrum_rounds_to_64_cells_and_cisco_8000_has_no_steps() -> None:
    found = sonic(queue(mark=STEP), cell=144, switch="nvidia-spectrum2")
    # 64 cells of 144 bytes are 9216 bytes, eleven of them 101376.
    assert found["green_min_threshold"] == "101376"
    message, hint = refusal("openconfig", queue(mark=STEP, drop=law(DROP, 98304, 98304)), switch="cisco-8000")
    assert "rejects equal thresholds" in message
    assert "6144 bytes above" in hint
    ramp = law(MARK, 10000, 20000)
    text = write("openconfig", queue(mark=ramp), switch="cisco-8000")
    assert ('"min-threshold": "12288"' in text, '"max-threshold": "24576"' in text) == (True, True)


def test_ecnconfig_never_lets_the_minimum_pass_the_maximum() -> None:
    same = queue(mark=RAMP, drop=DROPS)
    raised = write("ecnconfig", same, current="1000:2000").splitlines()
    # The command itself writes the maximum first: 400000 >= 1000.
    assert raised[0] == "ecnconfig -p AZURE_LOSSLESS -gmin 200000 -gmax 400000 -gdrop 10"
    lowered = write("ecnconfig", same, current="1048576:2097152").splitlines()
    assert lowered == [
        "ecnconfig -p AZURE_LOSSLESS -gmin 200000",
        "ecnconfig -p AZURE_LOSSLESS -gmax 400000 -gdrop 10",
        "ecnconfig -q 3 on",
    ]
    options = writing("ecnconfig")
    find_platform("ecnconfig").write([same], options)
    assert any("--current MIN:MAX" in remark.hint for remark in options.remarks)
    assert any("must have ecn = ecn_all" in remark.text for remark in options.remarks)


def test_nxos_writes_dual_red_where_the_device_takes_it() -> None:
    dual = queue(mark=STEP, drop=law(DROP, 600000, 900000, Fraction(1, 5)))
    message, hint = refusal("nxos", dual)
    assert "random-detect non-ecn" in message
    assert "--nxos-non-ecn" in hint
    lines = [line.strip() for line in write("nxos", dual, has_non_ecn=True).splitlines()]
    assert lines == [
        "policy-map type queuing SHOAL",
        "class type queuing c-out-8q-q3",
        "random-detect minimum-threshold 98304 bytes maximum-threshold 98304 bytes drop-probability 100 weight 0 ecn",
        "random-detect non-ecn minimum-threshold 600000 bytes maximum-threshold 900000 bytes drop-probability 20",
        "system qos",
        "service-policy type queuing output SHOAL",
    ]


def test_nxos_cannot_mark_without_dropping() -> None:
    message, hint = refusal("nxos", queue(mark=STEP))
    assert "marks without drops" in message
    assert "--nxos-non-ecn" in hint


def test_eos_warns_where_the_law_of_drops_reaches_ect_packets() -> None:
    options = writing("eos")
    early = queue(mark=law(MARK, 100000, 300000, Fraction(1, 2)), drop=DROPS)
    find_platform("eos").write([early], options)
    assert any("begins below the end of the law of marks" in remark.text for remark in options.remarks)
    options = writing("eos")
    late = queue(mark=STEP, drop=law(DROP, 600000, 900000, Fraction(1, 5)))
    text = find_platform("eos").write([late], options)
    assert (
        "random-detect drop minimum-threshold 600000 bytes maximum-threshold 900000 bytes drop-probability 20" in text
    )
    assert any("ECT packets are dropped, too" in remark.text for remark in options.remarks)
    assert "1 milliseconds" in write(
        "eos", queue(mark=law(MARK, amount(1000, Unit.MICROSECONDS), amount(2, Unit.MILLISECONDS)))
    )


def test_laws_of_scenarios_in_the_normal_form() -> None:
    wred = {
        "kind": "wred",
        "mark": {"min": "100 kB", "max": "400 kB", "max_probability": 0.1},
        "drop": {"min": "50 us", "max": "20 packets"},
        "weight": 3,
        "decide": "enqueue",
    }
    found, remarks = queue_of_law(wred, index=2)
    assert not remarks
    assert found.mark == law(MARK, 100000, 400000, Fraction(1, 10), 3, Where.ENQUEUE)
    assert found.drop == law(DROP, amount(50, Unit.MICROSECONDS), amount(20, Unit.PACKETS), 1, 3, Where.ENQUEUE)
    assert found.drop_ect is None


def test_dual_red_of_the_first_paper_reaches_an_operator() -> None:
    (found,), remarks = queues_of(shoal.Scenario.named("coexistence"), index=1)
    assert found.mark is not None
    assert found.drop is not None
    # 0.67 BDP of 10 Mbit/s x 25 ms = 31250 bytes; 2^-9 is next to 0.002.
    assert float(found.mark.min.number) == pytest.approx(0.67 * 31250)
    assert (found.mark.weight, found.drop.weight) == (0, 9)
    assert any("2^-9" in remark.text for remark in remarks)
    text = find_platform("eos").write([found], Writing(Port(10**7), EosOptions()))
    assert "random-detect drop minimum-threshold 15625 bytes" in text
    assert "weight 9" in text


@pytest.mark.parametrize("name", ["codel", "coupled", "dualpi2", "dualq-coupled", "pie"])
def test_controllers_are_no_laws_of_thresholds(name: str) -> None:
    (found,), _ = queues_of(shoal.Scenario.named(name), index=0)
    for platform in ("sonic", "ecnconfig", "nxos", "eos", "openconfig"):
        with pytest.raises(shoal.UsageError, match="no law of thresholds"):
            write(platform, found)


# Laws that Linux has: their words are those of the Linux plane.
SAME_ON_LINUX: Mapping[str, Mapping[str, object]] = {
    "codel": {"bottleneck.aqm.limit": "1000 packets"},
    "fq-codel": {"bottleneck.aqm.memory_limit": "unlimited"},
    "dualpi2": {},
    "pie": {},
}


@pytest.mark.parametrize("name", SAME_ON_LINUX)
def test_tc_lines_are_those_of_the_linux_plane(name: str) -> None:
    scenario = shoal.Scenario.named(name).override(
        {f"flows.*.{key}": value for key, value in (("cc", "cubic"), ("stack", "linux-6"))} | dict(SAME_ON_LINUX[name])
    )
    (emitted,) = tc(scenario)
    (planned,) = disciplines(scenario)
    assert emitted == f"tc qdisc add dev eth0 root handle 10: {planned.words}"


def tc(scenario: shoal.Scenario, options: Writing[TcOptions] | None = None) -> list[str]:
    (found,), _ = queues_of(scenario, index=0)
    facts = scenario.facts["bottlenecks"][0]
    options = options or Writing(Port(facts["rate_bps"], mtu_bytes=facts["mtu_bytes"]), TcOptions(), scenario=scenario)
    return find_platform("tc").write([found], options).splitlines()


LINUX = """
duration = "1 s"
flows = [{ cc = "reno", rtt = "10 ms" }]
[bottleneck]
rate = "100 Mbit/s"
buffer = "400 kB"
[bottleneck.aqm]
"""


@pytest.mark.parametrize(
    "aqm",
    [
        'kind = "linux-red"\nmin = "15 kB"\nmax = "45 kB"\navpkt = "1500 B"\nprobability = 0.1\necn = true',
        'kind = "linux-red"\nmin = "15 kB"\nmax = "45 kB"\navpkt = "1500 B"\necn = true\nnodrop = true',
        'kind = "gred"\nnot_ect = { min = "15 kB", max = "45 kB", avpkt = "1500 B", burst = "20 packets" }\n'
        'ect = { min = "15 kB", max = "45 kB", avpkt = "1500 B", burst = "20 packets", ecn = true }',
        'kind = "fifo"',
    ],
)
def test_tc_red_and_gred_are_those_of_the_linux_plane(aqm: str) -> None:
    scenario = shoal.Scenario.from_toml(LINUX + aqm)
    planned = disciplines(scenario)
    assert planned
    assert tc(scenario) == [f"tc qdisc {one.verb} dev eth0 root handle 10: {one.words}" for one in planned]


def test_tc_golden_lines() -> None:
    # min / avpkt = 20 packets are the smallest burst, and give Wlog 1.
    assert tc(shoal.Scenario.from_toml(LINUX + 'kind = "step"\nthreshold = "30 kB"')) == [
        "tc qdisc add dev eth0 root handle 10: red limit 400000 min 30000 max 30000 avpkt 1500 burst 20 "
        "probability 0.999999 bandwidth 100000000bit ecn nodrop"
    ]
    # A step in time at departure is ce_threshold; 400 kB are 266 packets.
    assert tc(shoal.Scenario.from_toml(LINUX + 'kind = "step"\nthreshold = "500 us"\ndecide = "dequeue"')) == [
        "tc qdisc add dev eth0 root handle 10: codel limit 266 target 1000000000us interval 1000000000us noecn "
        "ce_threshold 500us"
    ]


def test_tc_says_what_is_only_nearly_the_same() -> None:
    scenario = shoal.Scenario.named("coexistence")
    options = Writing(Port(10**7), TcOptions(), scenario=scenario)
    lines = tc(scenario, options)
    assert [line.split()[2] for line in lines] == ["add", "change", "change"]
    texts = " ".join(remark.text for remark in options.remarks)
    assert "no weight 0" in texts
    assert "tc_index" in texts
    assert "each averages its own packets" in texts


def test_tc_refuses_weights_that_the_kernel_cannot_have() -> None:
    one = queue(
        mark=law(MARK, 8_000_000, 9_000_000, Fraction(1, 10), 9),
        drop=law(DROP, 8_000_000, 9_000_000, Fraction(1, 10), 9),
    )
    message, hint = refusal("tc", one)
    assert "no burst gives a weight of 2^-9" in message
    assert "4 MiB" in hint


def test_headroom_is_no_part_of_the_pool() -> None:
    """600 kB without 50 kB of headroom and the 100 kB that are reserved for one queue."""
    given = shoal.Scenario.named("port-memory").override({"bottleneck.aqm.headroom": "50 kB"})
    queues, _ = queues_of(given, index=0)
    assert [one.buffer.pool_bytes for one in queues if one.buffer is not None] == [450_000, 450_000]


def test_tc_bands() -> None:
    fifo = Queue(name="a", index=1)
    from shoal.switch.model import Scheduler, Serving

    queues = [
        Queue(name="w1", scheduler=Scheduler(Serving.WEIGHTED, weight=1)),
        Queue(name="s", scheduler=Scheduler(Serving.STRICT, priority=1)),
        Queue(name="w3", scheduler=Scheduler(Serving.WEIGHTED, weight=3)),
    ]
    lines = write("tc", *queues).splitlines()
    # The smallest quantum is at least a frame of 1514 bytes.
    assert lines[0] == "tc qdisc add dev eth0 root handle 1: ets bands 3 strict 1 quanta 1514 4542"
    assert [line.split("parent ")[1].split()[0] for line in lines[1:]] == ["1:1", "1:2", "1:3"]
    assert write("tc", fifo) == "tc qdisc add dev eth0 root handle 10: pfifo limit 1000\n"


@pytest.mark.parametrize(
    "aqm",
    [
        'kind = "codel"\necn = true',
        'kind = "pie"\necn = true',
        'kind = "dualpi2"\necn_mask = "any-ect"\ndecide = "enqueue"',
        'kind = "linux-red"\nmin = "15 kB"\nmax = "45 kB"\navpkt = "1500 B"\nburst = "20 packets"\necn = true',
    ],
)
def test_tc_lines_read_again_are_the_same_plan_for_linux(aqm: str) -> None:
    given = shoal.Scenario.from_toml(LINUX.replace("400 kB", "100 packets") + aqm)
    port = Port(10**8)
    (again,) = find_platform("tc").read(Document("lines", "\n".join(tc(given)), port)).queues
    assert again.exact is not None
    link = {key: value for key, value in given.resolved["bottleneck"].items() if key != "aqm"}
    read = given.override({"bottleneck": link | {"aqm": dict(again.exact)}})
    one, two = (which.native.linux_plan(Unbuilt().description).config for which in (given, read))
    assert one == two


def test_laws_of_configurations_in_scenarios() -> None:
    mixed = queue(mark=law(MARK, amount(100, Unit.PACKETS), amount(1, Unit.MBYTES), Fraction(7, 100), 3))
    experiment = Experiment(Port(100 * GBIT, cell_bytes=256), Fraction(1, 10**4), where=Where.ENQUEUE)
    # Both thresholds in the same unit: 100 packets of 1500 bytes.
    assert aqm_of(mixed, experiment) == {
        "kind": "wred",
        "mark": {"min": "150000 B", "max": "1000000 B", "max_probability": 0.07},
        "weight": 3,
        "decide": "dequeue",
        "cell": "256 B",
    }
    open_case = queue(mark=replace(STEP, where=Where.UNKNOWN), not_ect_known=False)
    assert aqm_of(open_case, experiment)["decide"] == "enqueue"
    unknown = replace(experiment, where=Where.UNKNOWN)
    assert aqm_of(open_case, unknown)["decide"] == "dequeue"
    assert "not known" in unknown.remarks[-1].text
    assert "drop" not in aqm_of(open_case, experiment)
    assert "drop" in aqm_of(open_case, replace(experiment, not_ect="drop"))
    assert aqm_of(queue(), experiment) == {"kind": "fifo"}
    with pytest.raises(shoal.UsageError, match="not known: a table of the platform"):
        aqm_of(queue(unknown="a table of the platform"), experiment)


@pytest.mark.parametrize(("rate_bps", "host"), [(10**9, "ideal"), (10**10, "linux-6-10g"), (10**11, "linux-6-100g")])
def test_hosts_burst_as_cards_of_that_speed_do(rate_bps: int, host: str) -> None:
    assert Experiment(Port(rate_bps), Fraction(1, 10**4)).host_preset == host


def test_nxos_limits_are_written_when_asked() -> None:
    one = queue(mark=RAMP, drop=DROPS, buffer=Buffer(limit=amount(900, Unit.KBYTES)))
    options = writing("nxos")
    assert "queue-limit" not in find_platform("nxos").write([one], options)
    assert any("`queue-limit 900 kbytes` is not written" in remark.text for remark in options.remarks)
    assert "    queue-limit 900 kbytes\n" in write("nxos", one, has_limit=True)


def test_tc_line_of_a_step_in_time_is_that_of_the_linux_plane() -> None:
    text = LINUX.replace("400 kB", "266 packets")
    step = 'kind = "step"\nthreshold = "500 us"\ndecide = "dequeue"'
    wred = 'kind = "wred"\nmark = { min = "500 us", max = "500 us" }'
    (planned,) = disciplines(shoal.Scenario.from_toml(text + wred))
    for law_of_scenario in (step, wred):
        assert tc(shoal.Scenario.from_toml(text + law_of_scenario)) == [
            f"tc qdisc add dev eth0 root handle 10: {planned.words}"
        ]


def test_a_maximum_beyond_every_buffer_keeps_its_slope() -> None:
    experiment = Experiment(Port(100 * GBIT), Fraction(1, 10**4))
    mark = aqm_of(queue(mark=law(MARK, 80000, 2**64 - 1, Fraction(1, 100))), experiment)["mark"]
    assert isinstance(mark, Mapping)
    assert mark["max"] == "1000000000000 B"
    # 0.01 / 2^64 a byte, up to 10^12 bytes.
    assert mark["max_probability"] == pytest.approx(0.01 / 2**64 * 1e12)
