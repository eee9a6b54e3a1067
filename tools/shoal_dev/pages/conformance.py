"""Which conformance scripts play where. Needs a kernel (`shoal linux build`).

What packetdrill itself says of each script was measured outside the project and lies in packetdrill.csv beside the
page, with this player's verdict beside it; everything else on the page is played anew.
"""

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from shoal.conformance import Verdict, run_scripts, selftests, shipped_scripts
from shoal.linux import find_image
from shoal_dev import ROOT

FOLDER = ROOT / "docs" / "records" / "validation"
PAGE = FOLDER / "conformance.md"
MEASURED = FOLDER / "packetdrill.csv"
# How the names of the kernel's scripts for accurate ECN (RFC 9768) begin.
ACCURATE = "tcp_accecn_"
SETS = {"shoal": "ours", "kernel": "the kernel's own", "packetdrill": "packetdrill's own"}

# What a script needs that the models do not have, by the reason of its refusal; and whether it will come.
NEEDS = (
    (
        "TCP Fast Open",
        r"TCP_FASTOPEN|data in a SYN|this form of `sendto`",
        "Data in the SYN, and cookies (RFC 7413). Left out: it saves a round trip, and changes no queue.",
    ),
    (
        "writing in pieces",
        r"TCP_NODELAY|TCP_CORK|this form of `(send|sendmsg|write)`",
        "Nagle's algorithm, corks and ends of records. Left out: our applications hand over whole transfers.",
    ),
    (
        "sockets' buffers and windows that close",
        r"small send buffers|SO_RCVBUF|tcp_shrink_window|during a script|rwnd_limited",
        "Buffers of a size that matters, window probes, windows that shrink. Could come with hosts.",
    ),
    (
        "how connections end",
        r"resets|closes|without ACK|TCP_USER_TIMEOUT|tcp_rto_max_ms",
        "Resets, FIN of both sides, limits of retransmission. Left out: a transfer ends when its data has arrived.",
    ),
    (
        "calls of sockets",
        r"`(epoll_create|read|ioctl)`|/bin/rm|is not known|`accept` that waits|IP_FREEBIND|SO_MARK|last_data_recv|grep",
        "Nothing that another host can see. Left out.",
    ),
    (
        "other packets and devices",
        r"MTU|icmp|discipline fq",
        "Jumbo frames, IPv6, pacing by fq. The last to come with hosts.",
    ),
)


_head = """\
# Which conformance scripts play where

Written by `tools/shoal-dev generate conformance` from scripts played on Linux {release} and on the models; see
[conformance](../../conformance.md).

## packetdrill and this player, on the same kernel

[packetdrill](https://github.com/google/packetdrill) (commit 2c4001c) ran each script in a guest of its own with the
kernel that this player uses (Linux 7.3.4), its clock in virtual time. A script that fails for time with packetdrill's
tolerance of 4 ms had a second try with 14 ms, as the kernel's own tests have on slow machines. Verdicts script by
script: [packetdrill.csv](packetdrill.csv), of 2026-11-22.

| scripts | number | both pass | both fail | **one passes, one fails** | refused here | not run by packetdrill |
|---|--:|--:|--:|--:|--:|--:|"""
_middle = """
Both name the same line of a script that fails, but for {names}:
a call that blocks is judged where it begins here, and there where a packet differs before it ends; an assertion by its
own line here, and by that of its block there.

## What the models do not have

| | scripts | pass | pass in part | known difference | refused |
|---|--:|--:|--:|--:|--:|"""


def pages() -> dict[Path, str]:
    """The page, as the players say it now."""
    image = find_image()
    scripts = {"shoal": shipped_scripts(), "kernel": selftests((image.tree / "source").resolve())}
    played = {(name, on): run_scripts(paths, on=on) for name, paths in scripts.items() for on in ("linux", "sim")}
    unlisted = [verdict.to_dict() for verdicts in played.values() for verdict in verdicts if not verdict.ok]
    if unlisted:
        raise SystemExit("\n".join(map(str, unlisted)))
    return {PAGE: page(played, image.release)}


def page(played: Mapping[tuple[str, str], Sequence[Verdict]], release: str) -> str:
    """The page in Markdown, from verdicts by set of scripts and plane."""
    measured = list(csv.DictReader(MEASURED.open(encoding="utf-8")))
    check_measured(measured, played)
    lines = [_head.format(release=release)]
    for name, title in SETS.items():
        rows = [row for row in measured if row["set"] == name]
        counts = Counter((row["packetdrill"], row["shoal"]) for row in rows)
        refused = sum(count for (_, here), count in counts.items() if here == "refused")
        unlike = counts["pass", "fail"] + counts["fail", "pass"]
        both, neither = counts["pass", "pass"], counts["fail", "fail"]
        # Scripts that were written after packetdrill had run the others.
        later = sum(row["packetdrill"] == "" for row in rows)
        lines.append(f"| {title} | {len(rows)} | {both} | {neither} | **{unlike}** | {refused} | {later} |")
    other = [
        row
        for row in measured
        if row["packetdrill"] == row["shoal"] == "fail" and row["packetdrill_line"] != row["shoal_line"]
    ]
    names = ", ".join(f"`{row['script']}` ({row['packetdrill_line']}, {row['shoal_line']})" for row in other)
    lines.append(_middle.format(names=names))
    for on, where in (("linux", "on Linux"), ("sim", "on the models")):
        accurate = [verdict for verdict in played["kernel", on] if verdict.script.name.startswith(ACCURATE)]
        lines += [
            outcomes(f"{SETS['kernel']}, {where}", played["kernel", on]),
            outcomes(f"those of them for accurate ECN, {where}", accurate),
            outcomes(f"{SETS['shoal']}, {where}", played["shoal", on]),
        ]
    lines += [
        "",
        "What the scripts of the kernel need that the models refuse:",
        "",
        "| needs | scripts | |",
        "|---|--:|---|",
    ]
    refusals = [str(verdict.data["reason"]) for verdict in played["kernel", "sim"] if verdict.outcome == "refused"]
    counts = Counter(need(reason) for reason in refusals)
    lines += [f"| {name} | {counts[name]} | {what} |" for name, _, what in NEEDS]
    return "\n".join(lines) + "\n"


def outcomes(title: str, verdicts: Sequence[Verdict]) -> str:
    """The row of a table that counts verdicts."""
    counts = Counter(kind(verdict) for verdict in verdicts)
    cells = " | ".join(str(counts[each]) for each in ("pass", "in part", "known", "refused"))
    return f"| {title} | {counts.total()} | {cells} |"


def need(reason: str) -> str:
    """What a refusal's reason stands for."""
    for name, pattern, _ in NEEDS:
        if re.search(pattern, reason):
            return name
    raise SystemExit(f"no need of the list has the reason: {reason}")


def kind(verdict: Verdict) -> str:
    """A verdict, as the table counts them."""
    if verdict.expected is not None and verdict.ok:
        return "known"
    return "in part" if verdict.outcome == "pass" and verdict.data.get("until") else str(verdict.outcome)


def check_measured(measured: Sequence[Mapping[str, str]], played: Mapping[tuple[str, str], Sequence[Verdict]]) -> None:
    """The kept verdicts of this player are those of today, for scripts that are at hand."""
    kept = {(row["set"], Path(row["script"]).name): (row["shoal"], row["shoal_line"]) for row in measured}
    for group in ("shoal", "kernel"):
        for verdict in played[group, "linux"]:
            line = "" if verdict.outcome == "pass" else str(verdict.data["line"])
            name = verdict.script.name
            if kept.get((group, name)) != (verdict.outcome, line):
                raise SystemExit(f"{MEASURED.name} has not for {name}: {verdict.outcome} {line}")
