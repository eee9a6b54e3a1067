"""Configurations that several tests read: minimal and of our own."""

from __future__ import annotations

from fractions import Fraction

from shoal.switch import Amount, Configuration, Document, Law, Port, Queue, Switch, Unit, read_configuration
from shoal.switch.amounts import whole_bytes
from shoal.switch.model import Action, Where

GBIT = 10**9


def read(
    text: str, *, platform: str | None = None, rate_bps: int = 100 * GBIT, switch: Switch | None = None
) -> Configuration:
    """Read a text as a file of a port."""
    return read_configuration(Document("text", text, Port(rate_bps), switch or Switch()), platform)


def only(text: str, **more: object) -> Queue:
    """The only queue of a text."""
    (queue,) = read(text, **more).queues  # type: ignore[arg-type]
    return queue


def said(configuration: Configuration) -> str:
    """All remarks."""
    return "\n".join(f"{remark} [{remark.hint}]" for remark in configuration.remarks)


def law(
    action: Action,
    least: Amount | int,
    most: Amount | int,
    pmax: Fraction | int = 1,
    weight: int | None = 0,
    where: Where = Where.DEQUEUE,
) -> Law:
    """A law; bare numbers are bytes."""
    ends = [whole_bytes(end) if isinstance(end, int) else end for end in (least, most)]
    return Law(action, ends[0], ends[1], Fraction(pmax), weight, where)


def amount(number: int, unit: Unit) -> Amount:
    """An amount."""
    return Amount(Fraction(number), unit)


SONIC_STEP = """{
  "WRED_PROFILE": {"DC_STEP": {"ecn": "ecn_green", "wred_green_enable": "false",
    "green_min_threshold": "98304", "green_max_threshold": "98304", "green_drop_probability": "100"}},
  "QUEUE": {"Ethernet0|1": {"wred_profile": "DC_STEP"}}
}"""

NXOS_DUAL = """policy-map type queuing OUT
  class type queuing c-out-8q-q3
    bandwidth remaining percent 50
    random-detect minimum-threshold 120 kbytes maximum-threshold 120 kbytes drop-probability 100 weight 0 ecn
    random-detect non-ecn minimum-threshold 600 kbytes maximum-threshold 900 kbytes drop-probability 20
  class type queuing c-out-8q-q7
    priority level 1
"""

EOS_DUAL = """interface Ethernet1
   uc-tx-queue 3
      bandwidth percent 30
      random-detect ecn minimum-threshold 500 segments maximum-threshold 500 segments max-mark-probability 100 weight 0
      random-detect drop minimum-threshold 800 kbytes maximum-threshold 1600 kbytes drop-probability 10 weight 0
"""

OPENCONFIG_STEP = """{"openconfig-qos:qos": {"queue-management-profiles": {"queue-management-profile": [
  {"name": "P", "wred": {"uniform": {"config": {"min-threshold": "64000", "max-threshold": "64000",
   "enable-ecn": true, "drop": false, "max-drop-probability-percent": 100, "weight": 0}}}}]}}}"""

TC_RED = (
    "tc qdisc add dev eth0 root handle 1: red limit 1000000 min 30000 max 30001 avpkt 1500 burst 20 "
    "probability 0.999999 bandwidth 100mbit ecn nodrop\n"
)

NVUE_STEP = """nv set qos congestion-control DC traffic-class 3 min-threshold 150000
nv set qos congestion-control DC traffic-class 3 max-threshold 150000
nv set qos congestion-control DC traffic-class 3 ecn enable
nv set interface swp1 qos congestion-control profile DC
"""

# The example of the guide for QFX switches, with a queue for the class.
JUNOS_ECN = """set class-of-service drop-profiles dp1 interpolate fill-level 30
set class-of-service drop-profiles dp1 interpolate fill-level 60
set class-of-service drop-profiles dp1 interpolate drop-probability 0
set class-of-service drop-profiles dp1 interpolate drop-probability 80
set class-of-service schedulers s1 transmit-rate percent 40
set class-of-service schedulers s1 drop-profile-map loss-priority any protocol any drop-profile dp1
set class-of-service schedulers s1 explicit-congestion-notification
set class-of-service forwarding-classes class RDMA queue-num 4
set class-of-service scheduler-maps sm1 forwarding-class RDMA scheduler s1
set class-of-service interfaces et-0/0/1 scheduler-map sm1
"""

# The fields of a profile that most tests change one or two of.
SONIC_PROFILE = {
    "ecn": "ecn_all",
    "wred_green_enable": "true",
    "green_min_threshold": "200000",
    "green_max_threshold": "400000",
    "green_drop_probability": "10",
}
