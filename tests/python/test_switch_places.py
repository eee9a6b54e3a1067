"""What a configuration says beside its laws: for which colour they are, and which interfaces have them."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import Cli
from switch_documents import SONIC_PROFILE, law, only, read, said

from shoal.switch import COLOURS, Configuration, Switch
from shoal.switch.amounts import whole_bytes
from shoal.switch.model import Action, Where

# A law of its own for each colour.
ENDS = dict(zip(COLOURS, ((1000, 2000), (3000, 4000), (5000, 6000)), strict=True))
OF_COLOUR = {
    f"{colour}_{end}_threshold": str(number)
    for colour, ends in ENDS.items()
    for end, number in zip(("min", "max"), ends, strict=True)
}
COLOURED = {
    "sonic": json.dumps(
        {
            "WRED_PROFILE": {
                "P": {
                    "ecn": "ecn_all",
                    **{f"wred_{colour}_enable": "true" for colour in COLOURS},
                    **{f"{colour}_drop_probability": "100" for colour in COLOURS},
                    **OF_COLOUR,
                }
            },
            "QUEUE": {"Ethernet0|3": {"wred_profile": "P"}},
        }
    ),
    "ecnconfig": "ecnconfig -p P "
    + " ".join(f"-{colour[0]}min {least} -{colour[0]}max {most}" for colour, (least, most) in ENDS.items()),
    "listing": "Profile: P\n-----\necn ecn_all\n"
    + "".join(f"{name}  {number}\n" for name, number in OF_COLOUR.items())
    + "".join(f"{colour}_drop_probability 100\n" for colour in COLOURS),
    "eos": "interface Ethernet1\n   uc-tx-queue 3\n"
    + "".join(
        f"      random-detect drop drop-precedence {precedence} minimum-threshold {least} bytes maximum-threshold "
        f"{most} bytes drop-probability 100\n"
        for precedence, (least, most) in enumerate(ENDS.values())
    ),
}


@pytest.mark.parametrize("form", COLOURED)
@pytest.mark.parametrize("colour", COLOURS)
def test_the_laws_of_a_colour_are_read(form: str, colour: str) -> None:
    """Each law is that of the colour that was asked for, and the others are named or said to differ."""
    configuration = read(COLOURED[form], switch=replace(Switch(), colour=colour))
    (queue,) = configuration.queues
    acting = queue.drop if form == "eos" else queue.mark
    assert acting is not None
    assert (acting.min, acting.max) == tuple(map(whole_bytes, ENDS[colour]))
    if form == "eos":
        others = [precedence for precedence, other in enumerate(COLOURS) if other != colour]
        for precedence in others:
            assert f"the law of drop precedence {precedence} in uc-tx-queue 3 is not read" in said(configuration)
            assert f"--colour {COLOURS[precedence]} reads it" in said(configuration)


def test_a_colour_on_the_command_line(cli: Cli, folder: Path) -> None:
    (folder / "p.txt").write_text(COLOURED["eos"], encoding="utf-8")
    done = cli("config", "read", "p.txt", "--port-speed", "10G", "--colour", "red", "--json")
    assert done.code == 0
    assert json.loads(done.out)["queues"][0]["laws"][0]["minimum"]["bytes"] == 5000
    wrong = cli("config", "judge", "p.txt", "--port-speed", "10G", "--colour", "rde")
    assert (wrong.code, wrong.err) == (2, "error: no packets are called `rde`\nhint: did you mean `red`?\n")


def test_a_law_for_other_colours_alone_is_said() -> None:
    profile = {
        "ecn": "ecn_yellow",
        "wred_yellow_enable": "true",
        "yellow_min_threshold": "1000",
        "yellow_max_threshold": "1000",
        "yellow_drop_probability": "100",
    }
    text = json.dumps({"WRED_PROFILE": {"P": profile}, "QUEUE": {"Ethernet0|3": {"wred_profile": "P"}}})
    assert only(text).laws == ()
    assert "`P` acts on yellow packets, not on green ones, which are read [--colour yellow reads" in said(read(text))
    assert only(text, switch=replace(Switch(), colour="yellow")).mark == law(Action.MARK, 1000, 1000)
    no_green = "ecnconfig -p P -rmin 400 -rmax 1234000 -rdrop 40"
    assert "set no threshold of `P` for green packets [--colour red reads those for red ones]" in said(read(no_green))
    assert "set one threshold of `P` for green packets [give both]" in said(read("ecnconfig -p P -gmin 400"))


def of_device(**fields: str) -> str:
    red = {key.replace("green", "red"): value for key, value in SONIC_PROFILE.items() if key.startswith("green")}
    profile = SONIC_PROFILE | {"wred_red_enable": "true", "ecn": "ecn_all"} | red | {"red_min_threshold": "7"}
    return json.dumps(
        {
            "DEVICE_METADATA": {"localhost": {"mac": "S3CRET", **fields}},
            "WRED_PROFILE": {"P": profile},
            "QUEUE": {"Ethernet0|3": {"wred_profile": "P"}},
        }
    )


def test_a_switch_that_queues_at_its_input_has_the_red_law() -> None:
    """The file's own word for it; the command line and another maker's name go before it."""
    voq = read(of_device(switch_type="voq"))
    (queue,) = voq.queues
    assert queue.mark is not None
    assert (queue.mark.min, queue.mark.where) == (whole_bytes(7), Where.ENQUEUE)
    assert "`switch_type` is voq: read as Broadcom" in said(voq)
    assert "S3CRET" not in said(voq)
    for text, switch in (
        (of_device(switch_type="npu"), None),
        (of_device(switch_type="voq", hwsku="Cisco-8101-T32"), None),
        (of_device(switch_type="voq"), Switch(name="other")),
    ):
        mark = only(text, switch=switch).mark
        assert mark is not None
        assert mark.min != whole_bytes(7)


def test_a_listing_that_says_no_more_than_thresholds() -> None:
    old = read("Profile: A\n--------\ngreen_max_threshold: 184320\ngreen_min_threshold: 184320\n")
    assert old.queues[0].unknown == "whether it marks or drops, which the listing does not say"
    assert "the listing does not say whether `A` marks or drops" in said(old)
    of_asics = "For namespace asic0:\n{0}For namespace asic1:\n{0}".format(COLOURED["listing"])
    assert [queue.name for queue in read(of_asics).queues] == ["P@asic0", "P@asic1"]


BROKEN = {
    "nxos": (
        "policy-map type queuing P\n  class type queuing c-out-8q-q3\n"
        "    random-detect minimum-threshold 150\n kbytes maximum-threshold 3000 kbytes\n"
        "        drop-probability 7\n        weight 2\n      ecn\n    bandwidth remaining\n      percent 30\n",
        (150_000, 3_000_000, Fraction(7, 100), 2),
    ),
    "eos": (
        "interface Ethernet1\n   uc-tx-queue 3\n      bandwidth percent 30\n"
        "      random-detect ecn minimum-threshold 150 kbytes\n maximum-threshold 3000\nkbytes max-mark-probability 7\n"
        "        weight 2\n",
        (150_000, 3_000_000, Fraction(7, 100), 2),
    ),
}


@pytest.mark.parametrize("platform", BROKEN)
def test_statements_that_a_terminal_has_broken(platform: str) -> None:
    text, (least, most, pmax, weight) = BROKEN[platform]
    mark = only(text).mark
    assert mark is not None
    assert (1000 * mark.min.number, 1000 * mark.max.number, mark.pmax, mark.weight) == (least, most, pmax, weight)
    assert only(text).scheduler.weight == 30  # type: ignore[union-attr]


def policies(system: str, *interfaces: tuple[str, str]) -> Configuration:
    step = "random-detect minimum-threshold {0} kbytes maximum-threshold {0} kbytes weight 0 ecn"
    text = "".join(
        f"policy-map type queuing {name}\n  class type queuing c-out-8q-q3\n    {step.format(number)}\n"
        for name, number in (("A", 10), ("B", 20), ("IN", 30))
    )
    text += f"system qos\n  {system}\n"
    text += "".join(f"interface {name}\n  {line}\n" for name, line in interfaces)
    return read(text)


def test_nxos_policies_have_their_interfaces() -> None:
    output, into = "service-policy type queuing output A", "service-policy type queuing input IN"
    configuration = policies(output, ("Ethernet1/1", into), ("Ethernet1/2", output.replace(" A", " B")))
    assert {queue.name: queue.ports for queue in configuration.queues} == {
        "A/c-out-8q-q3": (),
        "B/c-out-8q-q3": ("Ethernet1/2",),
    }
    assert "the policy `IN` is applied to what comes in: it is not read" in said(configuration)
    alone = policies(output)
    assert "nothing in this file has the policy `B`" in said(alone)
    assert "`A`" not in said(alone)


def test_eos_profiles_have_their_interfaces() -> None:
    queue = "   tx-queue 3\n      random-detect ecn minimum-threshold 9 kbytes maximum-threshold 9 kbytes weight 0\n"
    text = f"qos profile P\n{queue}!\nqos profile Q\n{queue.replace('9', '8')}!\n"
    text += "".join(f"interface Ethernet{number}\n   service-profile P\n!\n" for number in (1, 2))
    configuration = read(text)
    assert {queue.name: queue.ports for queue in configuration.queues} == {"3@P": ("Ethernet1", "Ethernet2"), "3@Q": ()}
    assert "no interface of this file has the profile `Q`" in said(configuration)
    assert "has the profile `P`" not in said(configuration)


def test_eos_marks_by_the_whole_buffer_are_not_read_in_silence() -> None:
    line = "qos random-detect ecn global-buffer minimum-threshold 2 mbytes maximum-threshold 4 mbytes weight 0\n"
    queue = "interface Ethernet1\n   uc-tx-queue 3\n      bandwidth percent 30\n"
    law_ = "      random-detect ecn minimum-threshold 9 kbytes maximum-threshold 9 kbytes weight 0\n"
    assert only(line + queue).unknown == "marks by how full the whole buffer is"
    assert only(line + queue + law_).mark is not None
    for text in (line + queue, line + queue + law_):
        assert "`ecn global-buffer` is not read" in said(read(text))


LEAVES = {"min-threshold": "9000", "max-threshold": "9000", "enable-ecn": True, "drop": True, "weight": "0"}
TREE = {
    "queue-management-profiles": {"queue-management-profile": [{"name": "P", "wred": {"uniform": {"state": LEAVES}}}]},
    "interfaces": {
        "interface": [
            {
                "interface-id": "e1",
                "output": {"queues": {"queue": [{"name": "3", "state": {"queue-management-profile": "P"}}]}},
            }
        ]
    },
}
PROFILE = "qos/queue-management-profiles/queue-management-profile[name=P]/wred/uniform/state"
BOUND = "qos/interfaces/interface[interface-id=e1]/output/queues/queue[name=3]/state"


def notified(*updates: tuple[str, object]) -> list[dict[str, object]]:
    return [
        {
            "source": "leaf1:6030",
            "time": "2026-01-01T00:00:00Z",
            "updates": [{"Path": path, "values": {path: value}} for path, value in updates],
        }
    ]


@pytest.mark.parametrize(
    "content",
    [
        {"openconfig-qos:qos": TREE},
        notified((PROFILE, LEAVES), (BOUND, {"queue-management-profile": "P"})),
        notified(*((f"/openconfig-qos:{PROFILE}/{leaf}", value) for leaf, value in LEAVES.items()),
                 (f"{BOUND}/queue-management-profile", "P")),
        notified(("openconfig-qos:qos", TREE)),
    ],
)  # fmt: skip
def test_telemetry_of_openconfig(content: object) -> None:
    """What a device has (``state``) in the forms of a tree and of gnmic."""
    configuration = read(json.dumps(content))
    (queue,) = configuration.queues
    assert (queue.name, queue.ports) == ("3", ("e1",))
    expected = law(Action.MARK, 9000, 9000, where=Where.UNKNOWN)
    assert queue.mark is not None
    assert queue.mark.same_curve(expected)
    assert queue.drop is not None
    assert "`P` is read from `state`" in said(configuration)


def test_bytes_that_tc_counts_are_said(cli: Cli) -> None:
    done = cli("config", "write", "fq-codel", "--platform", "tc")
    assert "quantum 1500" in done.out
    assert "a packet of 1500 B is 1514 B there, which is the kernel's own quantum" in " ".join(done.err.split())


@pytest.mark.parametrize("speed", ["100g-4", "forced 100gfull", "100000"])
@pytest.mark.parametrize("platform", ["eos", "nxos"])
def test_speeds_of_interfaces(platform: str, speed: str, cli: Cli, folder: Path) -> None:
    """They are the default of --port-speed, and another one is said; those of ports without queues do not count."""
    queue = "   uc-tx-queue 3\n      random-detect ecn minimum-threshold 9 kbytes maximum-threshold 9 kbytes weight 0\n"
    texts = {
        "eos": f"interface Ethernet1\n   speed {speed}\n{queue}!\n",
        "nxos": "policy-map type queuing P\n  class type queuing c-out-8q-q3\n    random-detect minimum-threshold 9 "
        "kbytes maximum-threshold 9 kbytes weight 0 ecn\ninterface Ethernet1/1\n"
        f"  speed {speed}\n  service-policy type queuing output P\n",
    }
    (folder / "c.txt").write_text(texts[platform], encoding="utf-8")
    done = cli("config", "read", "c.txt")
    assert (done.code, "ports of 100.000 Gbit/s" in done.out) == (0, True)
    assert "ports of this file have 100 Gbit/s" in said(read(texts[platform], rate_bps=25 * 10**9))
    assert "ports of this file" not in said(read(texts[platform]))
    other = texts[platform] + "interface Management1\n   speed 1000\n"
    assert "ports of this file" not in said(read(other))
