"""Nothing of a configuration that is not about queues is ever shown, whatever is wrong with what is about queues.

A marker stands for a secret: it is put into every place that is not about queues, and every word about queues is broken
in turn. It must be in no error, remark, table, JSON or scenario.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest
from switch_documents import EOS_DUAL, GBIT, NXOS_DUAL, OPENCONFIG_STEP, SONIC_PROFILE, read

from shoal.errors import ShoalError
from shoal.switch import Port
from shoal.switch.as_json import configuration_json
from shoal.switch.simulate import Experiment, scenario_text
from shoal.switch.tables import answer_table, law_table, service_table

MARKER = "hunter2"
PORT = Port(10 * GBIT)
# Tables of a device that are not about queues; the name of a community is its secret.
OTHERS = {
    "TACPLUS": {"global": {"passkey": MARKER}},
    "SNMP_COMMUNITY": {MARKER: {"TYPE": "RO"}},
    "DEVICE_METADATA": {"localhost": {"hostname": MARKER, "platform": MARKER}},
    MARKER: {"QUEUE": MARKER},
}
QUEUES = {
    "WRED_PROFILE": {"P": SONIC_PROFILE},
    "SCHEDULER": {"s": {"type": "DWRR", "weight": "14", "pir": "1250000", "meter_type": "bytes"}},
    "BUFFER_POOL": {"b": {"size": "12000000", "type": "egress", "mode": "dynamic"}},
    "BUFFER_PROFILE": {"b": {"pool": "b", "size": "1518", "dynamic_th": "3"}},
    "BUFFER_QUEUE": {"Ethernet0|3": {"profile": "b"}},
    "QUEUE": {"Ethernet0|3": {"wred_profile": "P", "scheduler": "s"}},
    "PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "m", "tc_to_queue_map": "m", "pfc_enable": "3"}},
    "DSCP_TO_TC_MAP": {"m": {"8": "3"}},
    "TC_TO_QUEUE_MAP": {"m": {"3": "3"}},
}
TC = (
    "tc qdisc add dev eth0 root handle 1: ets bands 2 quanta 3000 3000",
    "tc qdisc replace dev eth0 parent 1:1 red limit 900000 min 30000 max 30001 avpkt 1500 burst 20 bandwidth 1gbit ecn",
    "tc qdisc add dev eth0 parent 1:2 fq_codel limit 1000",
    "tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dsfield 0x28 0xfc flowid 1:1",
)

# A tree with classes, and commands that follow on what stands there.
TC_TREE = (
    "sudo tc qdisc add dev eth0 root handle 1: htb default 20",
    "tc class add dev eth0 parent 1: classid 1:20 htb rate 100mbit ceil 1gbit",
    "tc qdisc add dev eth0 parent 1:20 handle 20: netem delay 1ms loss 1%",
    "tc qdisc replace dev eth0 parent 20: tbf rate 10mbit burst 32kb latency 5ms",
    "tc qdisc del dev eth0 parent 20:",
)
TC_SHOWN = (
    "qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x10 direct_packets_stat 0 direct_qlen 1000",
    "qdisc red 10: dev eth0 parent 1:10 limit 900000b min 30000b max 90000b ecn ewma 5 probability 0.1 Scell_log 12",
    "class htb 1:10 root leaf 10: prio 0 rate 30Mbit ceil 100Mbit burst 1593b cburst 1600b",
)
TC_JSON = [
    {"kind": "codel", "handle": "1:", "root": True, "dev": "eth0", "options": {"limit": 9, "target": 4999}},
    {"kind": "netem", "handle": "2:", "root": True, "dev": "eth1", "options": {"delay": {"delay": 0.1}, "limit": 9}},
]


NVUE = (
    "nv set qos congestion-control P traffic-class 3,4 min-threshold 40000",
    "nv set qos congestion-control P traffic-class 3,4 max-threshold 200000",
    "nv set qos congestion-control P traffic-class 3 probability 80",
    "sudo nv set qos congestion-control P traffic-class 3 red enable",
    "nv unset qos congestion-control P traffic-class 4 red",
    "nv set qos egress-scheduler default-global traffic-class 3 bw-percent 60",
    "nv set qos egress-shaper S traffic-class 3 max-rate 500000",
    "nv set qos mapping default-global dscp 10 switch-priority 3",
    "nv set qos advance-buffer-config default-global egress-lossy-buffer traffic-class 3 shared-alpha alpha_1_4",
    "nv set interface swp1-2 qos congestion-control profile P",
    "nv set interface swp1 link speed 100G",
)
NVUE_AROUND = f"nv set system aaa user {MARKER} password {MARKER}\nnv unset system {MARKER}\n# {MARKER}\n{MARKER}"
NVUE_YAML = """\
    qos:
      congestion-control:
        P:
          traffic-class:
            '3': {ecn: enable, min-threshold: 40000, max-threshold: 200000, probability: 80}
      egress-scheduler:
        default-global:
          traffic-class:
            '3':
              bw-percent: 60
"""


def of_nvue_yaml() -> Iterator[str]:
    secret = f"    system:\n      aaa: {{user: {{{MARKER}: {{password: {MARKER}}}}}}}  # {MARKER}\n"
    for lines in broken_lines(NVUE_YAML.splitlines()):
        text = "\n".join(lines)
        yield f"- header: {{{MARKER}: {MARKER}}}\n- set:\n{secret}{text}\n"
        yield f"- set:\n{text}\n{secret}      {MARKER}: &a {MARKER}\n      {MARKER}: *a\n"


JUNOS = (
    "set class-of-service drop-profiles dp1 interpolate fill-level [ 30 60 ] drop-probability [ 0 80 ]",
    "set class-of-service schedulers s1 transmit-rate percent 40",
    "set class-of-service schedulers s1 drop-profile-map loss-priority any protocol any drop-profile dp1",
    "set class-of-service schedulers s1 explicit-congestion-notification",
    "set class-of-service scheduler-maps sm1 forwarding-class RDMA scheduler s1",
    "set class-of-service forwarding-classes class RDMA queue-num 4",
    "set class-of-service classifiers dscp c forwarding-class RDMA loss-priority low code-points af11",
    "set class-of-service interfaces et-0/0/1 unit 0 classifiers dscp c",
    "set class-of-service interfaces et-0/0/1 scheduler-map sm1",
    "set interfaces et-0/0/1 speed 100g",
)
JUNOS_AROUND = f"""set system login user {MARKER} authentication encrypted-password "{MARKER}"
set snmp community {MARKER}
deactivate system login user {MARKER}
set interfaces et-0/0/1 description "{MARKER} {{ ; speed"
set interfaces et-0/0/1 unit 0 description {MARKER}
set firewall family inet filter {MARKER} term {MARKER} then forwarding-class {MARKER}
set groups {MARKER} system host-name {MARKER}
# {MARKER}"""
JUNOS_BLOCKS = """class-of-service {
    drop-profiles {
        dp1 {
            interpolate {
                fill-level [ 30 60 ];
                drop-probability [ 0 80 ];
            }
        }
    }
    interfaces {
        et-0/0/1 {
            scheduler-map sm1;
        }
    }
    scheduler-maps {
        sm1 {
            forwarding-class RDMA scheduler s1;
        }
    }
    schedulers {
        s1 {
            drop-profile-map loss-priority any protocol any drop-profile dp1;
            explicit-congestion-notification;
        }
    }
}"""


def of_junos_blocks() -> Iterator[str]:
    secret = f'system {{ login {{ user {MARKER} {{ authentication {{ encrypted-password "{MARKER} }}{{"; }} }} }} }}'
    secret += f"\n/* {MARKER} */ snmp {{ community {MARKER} {{ inactive: authorization {MARKER}; }} }} # {MARKER}\n"
    for lines in broken_lines(JUNOS_BLOCKS.splitlines()):
        text = "\n".join(lines)
        yield f"{secret}{text}\n{secret}"
        yield f"groups {{ {MARKER} {{ {secret} }} }}\n{text}\n{MARKER} {MARKER};\n"


def shown(text: str, platform: str | None) -> str:
    """Everything that is shown of a text: what was read in all forms, or the error."""
    try:
        configuration = read(text, platform=platform, rate_bps=PORT.rate_bps)
    except ShoalError as error:
        return f"{error} {error.hint}"
    queues = configuration.queues
    tables = [law_table(queues, PORT), answer_table(queues), service_table(queues, PORT)]
    parts = [str(configuration_json(configuration, queues, configuration.remarks, PORT, file="file"))]
    parts += [str(table.rows) for table in tables if table is not None]
    for queue in queues:
        try:
            parts.append(scenario_text(queue, Experiment(PORT, Fraction(1, 10_000)), title="title"))
        except ShoalError as error:
            parts.append(f"{error} {error.hint}")
    return "\n".join(parts)


def broken_tables(tables: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The tables with one value wrong, one field renamed, or one entry no object, each in turn."""
    for name, table in tables.items():
        yield {**tables, name: "text"}
        for key, entry in table.items():
            yield {**tables, name: {**table, key: []}}
            yield {**tables, name: {**table, f"{key}?": entry}}
            for field in entry:
                yield {**tables, name: {**table, key: {**entry, field: "-5x"}}}
                others = {known: value for known, value in entry.items() if known != field}
                yield {**tables, name: {**table, key: others}}
                yield {**tables, name: {**table, key: {**others, f"{field}s": entry[field]}}}


def doubled(text: str) -> str:
    """JSON in which a community, a table of others and a field about queues stand twice."""
    text = text.replace(f'"{MARKER}": {{"TYPE"', f'"{MARKER}": {{}}, "{MARKER}": {{"TYPE"')
    return text.replace('"TACPLUS"', f'"TACPLUS": {{"{MARKER}": 1}}, "TACPLUS"').replace('"ecn"', '"ecn": "x", "ecn"')


def of_sonic() -> Iterator[str]:
    for tables in (QUEUES, *broken_tables(QUEUES)):
        for content in ({**OTHERS, **tables}, {**tables, **OTHERS}):
            compact, long = json.dumps(content), json.dumps(content, indent=2)
            yield from (compact, long, doubled(compact), compact[:-1], compact[: len(compact) // 2], f"{compact},")


def of_openconfig() -> Iterator[str]:
    secrets = {"openconfig-system:system": {"aaa": {"password": MARKER}}, f"{MARKER}:{MARKER}": {MARKER: [MARKER]}}
    for find, replacement in (
        ("", ""), ('"64000"', '"x"'), ("enable-ecn", "enable_ecn"), ("true", '"maybe"'), ('"name": "P", ', ""),
        ('"weight": 0', '"weight": "-1"'), ("100", "1000"), ("uniform", "other"), ('"min-threshold": "64000", ', ""),
        ('"name": "P"', '"name": "P", "name": "P"'),
    ):  # fmt: skip
        content = json.loads(OPENCONFIG_STEP.replace(find, replacement, 1) if find else OPENCONFIG_STEP)
        for both in ({**secrets, **content}, {**content, **secrets}):
            compact = json.dumps(both)
            yield from (compact, json.dumps(both, indent=1), compact[:-1], compact.replace('"aaa"', '"aaa": 1, "aaa"'))


def of_tc_json() -> Iterator[str]:
    secrets = [{"user": MARKER, "password": MARKER}]
    for find, replacement in (("", ""), ('"limit"', '"limt"'), ("4999", '"x"'), ('"1:"', '"x"'), ("codel", "cake")):
        compact = json.dumps(TC_JSON).replace(find, replacement, 1) if find else json.dumps(TC_JSON)
        for text in (compact, json.dumps(json.loads(compact), indent=2)):
            yield from (text, f"{text}\n{json.dumps(secrets)}", json.dumps([*json.loads(text), *secrets]), text[:-1])
            yield f'{text}\nPASSWORD="{MARKER}"'
            yield text.replace('"dev"', f'"password": "{MARKER}", "dev"')
    yield from (json.dumps([{**entry, "x": MARKER} for entry in TC_JSON]) for _ in range(20))


def broken_lines(lines: list[str]) -> Iterator[list[str]]:
    """The lines with one word of one of them left out, garbled or doubled, each in turn."""
    yield lines
    for number, line in enumerate(lines):
        words = line.split(" ")
        for place, word in enumerate(words):
            for others in ([], [f"{word}x"], ["-1"], [word, word]):
                yield [*lines[:number], " ".join([*words[:place], *others, *words[place + 1 :]]), *lines[number + 1 :]]


def of_lines(queues: str, around: str, *endings: str) -> Iterator[str]:
    for lines in broken_lines(queues.splitlines()):
        for ending in endings or ("",):
            text = "\n".join(line + ending for line in lines)
            yield f"{around}\n{text}\n{around}\n"


NXOS_AROUND = f"username admin password 5 {MARKER}\nsnmp-server community {MARKER}\n! {MARKER}\nhostname {MARKER}"
EOS_AROUND = f"username admin secret sha512 {MARKER}\n! {MARKER}\ninterface Ethernet9\n   description {MARKER}"
SHELL_AROUND = f"# {MARKER}\ncurl -u admin:{MARKER} http://localhost\nPASSWORD={MARKER}"
COMMANDS = "\n".join((
    "ecnconfig -p P -gmin 1000 -gmax 2000 -gdrop 5 -ymin 1000 -ymax 2000", "sudo ecnconfig -q 3,4 on",
))  # fmt: skip
AFTER = ("", f" # {MARKER}", f"; curl -u admin:{MARKER} x", f" && export K={MARKER}", f" || echo {MARKER} | cat")


@pytest.mark.parametrize(
    ("platform", "texts"),
    [
        ("sonic", of_sonic),
        ("openconfig", of_openconfig),
        ("nxos", lambda: of_lines(NXOS_DUAL, NXOS_AROUND, "", f" ! {MARKER}")),
        ("eos", lambda: of_lines(EOS_DUAL, EOS_AROUND, "", f" ! {MARKER}")),
        ("tc", lambda: of_lines("\n".join(TC), SHELL_AROUND, *AFTER)),
        ("tc", lambda: of_lines("\n".join(TC_TREE), f"{SHELL_AROUND}\nexport P={MARKER} tc", *AFTER)),
        (
            "tc",
            lambda: of_lines("\n".join(TC_TREE).replace("tc ", f"K={MARKER} tc ").replace("sudo ", ""), SHELL_AROUND),
        ),
        ("tc", lambda: of_lines("\n".join(TC_SHOWN), f"$ export K={MARKER}\n{MARKER} qdisc", "")),
        ("tc", of_tc_json),
        ("nvue", lambda: of_lines("\n".join(NVUE), NVUE_AROUND, *AFTER)),
        ("nvue", of_nvue_yaml),
        ("junos", lambda: of_lines("\n".join(JUNOS), JUNOS_AROUND, "", f" # {MARKER}")),
        ("junos", of_junos_blocks),
        ("ecnconfig", lambda: of_lines(COMMANDS, SHELL_AROUND, *AFTER)),
    ],
)
def test_a_marker_outside_of_queues_is_never_shown(platform: str, texts: Callable[[], Iterator[str]]) -> None:
    tried = 0
    for text in texts():
        for name in (platform, None):
            output = shown(text, name)
            assert MARKER not in output, f"{text}\n\n{output}"
            tried += 1
    assert tried > 70


def test_what_is_about_queues_is_shown() -> None:
    """The test above would pass if nothing were ever shown."""
    assert "`-5x`" not in shown(json.dumps(QUEUES), "sonic")
    broken = {**QUEUES, "WRED_PROFILE": {"P": {**SONIC_PROFILE, "ecn": "ecn_some"}}}
    assert "`ecn_some` is not a mode of ECN" in shown(json.dumps(broken), "sonic")
    output = shown(f"{TC[1]} probability two; curl -u {MARKER}", "tc")
    assert re.search(r"1 \| tc qdisc replace dev eth0 .* probability two\n", output)
