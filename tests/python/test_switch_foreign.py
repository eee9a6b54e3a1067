"""Configurations of systems that are not read are refused by their names, and none that is read is taken for one."""

from __future__ import annotations

import pytest
from switch_documents import EOS_DUAL, JUNOS_ECN, NVUE_STEP, NXOS_DUAL, OPENCONFIG_STEP, SONIC_STEP, TC_RED, read

import shoal

# As the vendors' documents have them, shortened.
FOREIGN = {
    "Junos in XML or JSON": "<configuration><class-of-service><schedulers></schedulers></class-of-service>",
    "Nokia SR Linux": '{"srl_nokia-qos:qos": {"queue-management-profile": []}}',
    "Nokia SR OS": 'configure qos slope-policy "fabric"\n',
    "Cisco IOS XR": "policy-map OUT\n class RDMA\n  random-detect 100 us 200 us ecn\n !\n end-policy-map\n",
    "Dell OS10": "wred ecnprofile\n random-detect color green minimum-threshold 100 maximum-threshold 500\n"
    "policy-map type queuing Q\n class q3\n  random-detect ecnprofile\n",
    "Huawei VRP": "interface 100GE1/0/1\n qos queue 3 wred profile1\n",
    "H3C Comware": "qos wred queue table t1\n queue 5 drop-level 0 low-limit 100 high-limit 200\n",
    "Cisco IOS": "policy-map P\n class C\n  random-detect dscp-based\n  random-detect dscp 26 20 40 10\n",
    "SONiC's management framework": "qos wred-policy ROCE\n green minimum-threshold 2048 maximum-threshold 12480\n"
    "interface Eth1/1\n queue 3 wred-policy ROCE\n",
    "NVIDIA Onyx": "interface ethernet 1/1 traffic-class 3 congestion-control ecn minimum-absolute 150\n",
    "Aruba AOS-CX": "qos threshold-profile ecn\n queue 3 action ecn all threshold 40 percent\n",
    "VyOS": "set qos policy random-detect P bandwidth 1gbit\n",
    "traffic.conf or qos_features.conf of Cumulus Linux": "ecn_red.port_group_list = [ROCE_ECN]\n"
    "ecn_red.ROCE_ECN.egress_queue_list = [3]\n",
    "MikroTik RouterOS": "/queue type add name=red kind=red red-limit=60\n",
    "UCI of OpenWrt": "config queue 'eth1'\n\toption qdisc 'cake'\n\toption script 'piece_of_cake.qos'\n",
}


@pytest.mark.parametrize("system", FOREIGN)
def test_systems_that_are_not_read_are_refused_by_their_names(system: str) -> None:
    for text in (FOREIGN[system], f"! a comment\n\n{FOREIGN[system]}"):
        with pytest.raises(shoal.ScenarioError) as caught:
            read(text)
        assert f"`text` is a configuration of {system}, which is not read" in str(caught.value)
        assert "these are read, and --platform names them: " in str(caught.value)


@pytest.mark.parametrize(
    ("text", "system"),
    [
        # The commonest form of IOS: classes with shares, WRED with its defaults.
        ("policy-map OUT\n class VIDEO\n  bandwidth remaining percent 5\n  random-detect\n", "Cisco IOS"),
        ("policy-map OUT\n class VIDEO\n  random-detect default 20 ms 50 ms\n", "Cisco IOS XR"),
    ],
)
def test_other_forms_of_the_same_systems(text: str, system: str) -> None:
    with pytest.raises(shoal.ScenarioError, match=f"is a configuration of {system}, which is not read"):
        read(text)


@pytest.mark.parametrize("text", [NXOS_DUAL, EOS_DUAL, SONIC_STEP, OPENCONFIG_STEP, TC_RED, NVUE_STEP, JUNOS_ECN])
def test_what_is_read_is_not_taken_for_another(text: str) -> None:
    assert read(text).queues


def test_what_is_no_configuration_at_all() -> None:
    for text, words in (
        ("", "is empty"),
        (" \n\n", "is empty"),
        (NXOS_DUAL.encode("utf-16").decode("utf-8", errors="replace"), "is no text in UTF-8"),
        ("\0\1\2", "is no text in UTF-8"),
    ):
        with pytest.raises(shoal.ScenarioError, match=words):
            read(text)


@pytest.mark.parametrize(
    ("braces", "language", "hint"),
    [
        ('{{ define "qos" }}', "Go", "with the program that it belongs to"),
        ("{{- range .Queues }}", "Go", "with the program that it belongs to"),
        ("{{ queues }}", "Jinja", "sonic-cfggen"),
        ("{% if x %}{{ .x }}", "Jinja", "sonic-cfggen"),
    ],
)
def test_templates_are_refused_as_what_they_are(braces: str, language: str, hint: str) -> None:
    with pytest.raises(shoal.ScenarioError, match=f"this is a template of {language}, not a configuration") as refused:
        read(f"! comment\n{braces}\n{NXOS_DUAL}")
    assert "text:2" in str(refused.value)
    assert hint in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "nv set qos congestion-control P traffic-class $tc ecn enable\n",
        NXOS_DUAL.replace("120 kbytes", "$MIN kbytes", 1),
        EOS_DUAL.replace("500 segments", "${min} segments", 1),
    ],
)
def test_variables_are_said_to_be_such(text: str) -> None:
    with pytest.raises(shoal.ScenarioError, match="the line holds variables of a shell or a program"):
        read(text)
