"""Configurations that are known by sight and not read: whoever gives one is told so by its name."""

from __future__ import annotations

import re

# Those that have words of a platform that is read are tried before it, all others after all platforms.
_alike: tuple[tuple[str, str], ...] = (
    ("Nokia SR Linux", r"srl_nokia|^\s*set /\s*qos\s|^\s*queue-template\s"),
    ("Dell OS10", r"OS10|^\s*wred \S+\s*$|^\s*random-detect color (green|yellow|red)\b"),
)
_others: tuple[tuple[str, str], ...] = (
    ("Junos in XML or JSON", r"<class-of-service>|\"class-of-service\"\s*:"),
    ("Nokia SR OS", r"^\s*(/?configure )?qos slope-policy\b|^\s*slope-policy\s"),
    ("Cisco IOS XR", r"IOS XR|^\s*end-policy-map\s*$|^\s*random-detect (default )?\d+ \S+ \d+ (ms|us|bytes|packets)\b"),
    ("H3C Comware", r"^\s*qos wred (queue )?(table|apply)\b|^\s*queue \d+ (drop-level \d+ )?low-limit"),
    ("Huawei VRP", r"^\s*ecn buffer-size\b|^\s*qos (queue \d+ )?wred \S+|^\s*color (green|yellow|red) low-limit"),
    (
        "Cisco IOS",
        r"^\s*random-detect (dscp|precedence|exp)(-based|\s+\S+\s+\d+)"
        r"|^policy-map (?!type )\S+\s*\n\s+class [\s\S]*?^\s+(bandwidth|priority|shape|fair-queue|random-detect)\b",
    ),
    ("SONiC's management framework", r"^\s*qos (wred-policy|scheduler-policy|map (dscp|dot1p)-tc)\s"),
    ("NVIDIA Onyx", r"\btraffic-class \d+ (congestion-control|dcb ets)\s|^\s*dcb priority-flow-control\s"),
    ("Aruba AOS-CX", r"^\s*(qos (schedule|queue|threshold)-profile|apply qos)\s"),
    ("VyOS", r"^\s*set (qos policy|traffic-policy)\s"),
    ("traffic.conf or qos_features.conf of Cumulus Linux", r"^\s*(traffic|ecn_red|ecn|scheduling)\.\S+\s*=\s"),
    ("MikroTik RouterOS", r"^\s*/queue (simple|tree|type|interface)\b"),
    ("UCI of OpenWrt", r"^\s*config (queue|interface) ['\"]?\w+['\"]?\s*$[\s\S]*?^\s*option (qdisc|script|download) "),
)


def what_else(text: str, *, is_alike: bool) -> str:
    """What a text is that is not read, as the end of a sentence; empty if it is nothing that is known.

    Parameters
    ----------
    text
        The content of a file.
    is_alike
        Whether to look for systems that could be taken for one that is read, or for all others.
    """
    if not text.strip():
        return "is empty"
    if "\0" in text:
        return "is no text in UTF-8 (a file with two bytes for each letter is UTF-16)"
    systems = _alike if is_alike else _others
    system = next((known for known, words in systems if re.search(words, text, re.MULTILINE)), "")
    return f"is a configuration of {system}, which is not read" if system else ""
