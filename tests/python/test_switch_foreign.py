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
