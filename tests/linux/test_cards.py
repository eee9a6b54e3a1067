"""Network cards of hosts: moderated interrupts, packets merged on arrival, segments paced by TCP or by fq."""

from __future__ import annotations

import itertools
import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pytest

import shoal
from shoal.errors import ScenarioError
from shoal.linux import GuestError, Image, run_on_linux
from shoal.linux.guest import guest_folder, run_guest
from shoal.linux.running import plan

ROOT = 0xFFFFFFFF
PSH, CWR = 0x08, 0x80
CE = 3
HEADERS = 52
MSS = 1448

PATH = """
title = "One flow through a marking queue"
duration = "20 ms"
warmup = "0 ms"
bottleneck.rate = "1 Gbit/s"
bottleneck.buffer = "400 packets"
bottleneck.overhead = "38 B"
bottleneck.aqm = { kind = "step", threshold = "40 packets" }
flows = [{ cc = "dctcp", rtt = "200 us" }]
"""
# One packet of 1538 B at 1 Gbit/s.
PACKET_NS = 12304
# The delay of the path of the data, half of the RTT, lies between the queue and the card of the receiver.
FORWARD_NS = 100_000


@dataclass(frozen=True)
class Seen:
    """An IPv4 packet or merged segment at a device."""

    time_ns: int
    data: bytes

    @property
    def payload(self) -> int:
        """Bytes of TCP payload."""
        return len(self.data) - 20 - (self.data[32] >> 4) * 4

    @property
    def ecn(self) -> int:
        """ECN codepoint."""
        return self.data[1] & 3

    @property
    def flags(self) -> int:
        """TCP flags."""
        return self.data[33]

    @property
    def sequence(self) -> int:
        """Sequence number."""
        return int.from_bytes(self.data[24:28], "big")

    @property
    def acknowledged(self) -> bytes:
        """What must be equal in merged packets: the ACK number and the options."""
        return self.data[28:32] + self.data[40 : 20 + (self.data[32] >> 4) * 4]


def path(host: str) -> shoal.Scenario:
    """The path, with this value of the key `host`."""
    return shoal.Scenario.from_toml(PATH.replace('rtt = "200 us"', f'rtt = "200 us", host = {host}'))


def guest(image: Image, scenario: shoal.Scenario, taps: Sequence[str], *settings: str) -> list[list[Seen]]:
    """What arrived at each tap, `HOST DEVICE`, in a guest with these settings after those of the plan."""
    planned = plan(scenario, image, captures=True)
    lines = planned.config.splitlines()
    lines = [line for line in lines if not line.startswith("capture ")]
    first = next(number for number, line in enumerate(lines) if line.startswith("show "))
    lines[first:first] = [*settings, *(f"capture {tap} {number}" for number, tap in enumerate(taps, 1))]
    module = "module /sch_coalesce.ko"
    config = "\n".join(lines if module in lines else [module, *lines]) + "\n"
    with guest_folder() as folder:
        run_guest(config, image, folder, memory_mib=planned.memory_mib, seed=planned.seed)
        data = (folder / "packets.bin").read_bytes()
    found: dict[int, list[Seen]] = {number: [] for number in range(len(taps) + 1)}
    (origin,) = struct.unpack_from("=Q", data, 0)
    at = 8
    while at < len(data):
        time_ns, _, _, _, _, _, size, _, event, _, _, link = struct.unpack_from("=QQIIIIHHBBBB", data, at)
        if event == 6:
            found[link].append(Seen(time_ns - origin, data[at + 40 : at + 40 + size]))
        at += 40 + (size + 7) // 8 * 8
    return [found[number] for number in range(1, len(taps) + 1)]


def coalesce(router: str, wait_ns: int, frames: int = 0, ring: int = 0, parent: int = ROOT) -> str:
    """The interrupt moderation in front of the host behind a router's port (linux/testbed/sch_coalesce.h)."""
    options = struct.pack("=HHQHHIHHI", 12, 1, wait_ns, 8, 2, frames, 8, 3, ring)
    return f"qdisc {router} {parent} {30 << 16} coalesce {options.hex()}"


def interrupts(times: Iterable[int], wait_ns: int, frames: int) -> list[list[int]]:
    """Times of arrival by interrupt, which comes a time after the first packet, or with the last of a number."""
    held: list[list[int]] = []
    for time in times:
        if not held or time >= held[-1][0] + wait_ns or (frames and len(held[-1]) == frames):
            held.append([])
        held[-1].append(time)
    return held


def raised(times: Sequence[int], wait_ns: int, frames: int) -> int:
    """Time of the interrupt for packets that arrived then."""
    return times[-1] if frames and len(times) == frames else times[0] + wait_ns


@pytest.mark.parametrize(
    ("wait_ns", "frames"),
    [
        (50_000, 0),
        (50_000, 4),
        (50_000, 5),
        (1000, 64),
        # The packet that arrives at the very end of the wait begins the next one.
        (5 * PACKET_NS, 0),
    ],
)
def test_packets_wait_for_the_interrupt(wait_ns: int, frames: int, image: Image) -> None:
    """Without merging, so that every packet shows its own time."""
    host = f'{{ preset = "ideal", interrupt_delay = "{wait_ns} ns", interrupt_packets = {frames} }}'
    before, after = guest(image, path(host), ["r2 b0", "d0 e0"])
    held = interrupts([packet.time_ns + FORWARD_NS for packet in before], wait_ns, frames)
    wanted = [raised(times, wait_ns, frames) for times in held for _ in times]
    # Those that the end of the run left in the card, or on the way to it, are missing.
    assert len(wanted) - max(map(len, held)) - FORWARD_NS // PACKET_NS - 1 <= len(after) <= len(wanted)
    assert [packet.time_ns for packet in after] == wanted[: len(after)]
    assert [packet.data for packet in after] == [with_ttl(packet.data) for packet in before[: len(after)]]
    # A busy line sends a packet every 12.3 us: 5 arrive within 50 us, and interrupts of 4 and of 5 packets come first.
    full = {(50_000, 0): 5, (50_000, 4): 4, (50_000, 5): 5, (1000, 64): 1, (5 * PACKET_NS, 0): 5}
    assert max(map(len, held)) == full[wait_ns, frames]
    assert len(after) > 1000


def with_ttl(data: bytes) -> bytes:
    """A packet after the node before the host has forwarded it: a lower TTL, and another checksum (RFC 1624)."""
    changed = bytearray(data)
    changed[8] -= 1
    total = int.from_bytes(changed[10:12], "big") + 0x100
    changed[10:12] = (total + (total >> 16) & 0xFFFF).to_bytes(2, "big")
    return bytes(changed)


def test_ring_drops_what_it_has_no_place_for(image: Image) -> None:
    """Five packets come in 50 us and the ring takes three; the sender repeats the others."""
    host = '{ preset = "ideal", interrupt_delay = "50 us", ring_packets = 3 }'
    before, after = guest(image, path(host), ["r2 b0", "d0 e0"])
    held = interrupts([packet.time_ns + FORWARD_NS for packet in before], 50_000, 0)
    wanted = [times[0] + 50_000 for times in held for _ in times[:3]]
    assert max(map(len, held)) > 3
    assert [packet.time_ns for packet in after] == wanted[: len(after)]
    assert len(after) > 100


def test_pure_delay_before_the_card_comes_first(image: Image) -> None:
    """Applications that are timed at the receiver have their forward delay there: netem is then the root."""
    delay_ns, wait_ns = 30_000, 50_000
    # `struct tc_netem_qopt` with a limit, and TCA_NETEM_LATENCY64.
    options = struct.pack("=6IHHQ", 0, 1_000_000, 0, 0, 0, 0, 12, 10, delay_ns)
    netem = f"qdisc r2 e0 {ROOT} {20 << 16} netem {options.hex()}"
    moderation = coalesce("r2 e0", wait_ns, parent=20 << 16 | 1)
    before, after = guest(image, path('"ideal"'), ["r2 b0", "d0 e0"], netem, moderation)
    held = interrupts([packet.time_ns + delay_ns for packet in before], wait_ns, 0)
    wanted = [raised(times, wait_ns, 0) for times in held for _ in times]
    assert [packet.time_ns for packet in after] == wanted[: len(after)]
    assert len(after) > 1000


def merged(packets: Sequence[Seen], limit: int) -> list[tuple[int, int, bool]]:
    """Payload, codepoint and PSH of the segments that GRO makes of packets that one interrupt delivers.

    Rules of `tcp_gro_receive` and `skb_gro_receive`: the next bytes, the same ACK number, options, codepoint and flags
    but PSH; a packet with PSH, or with less than the first, is the last; `limit` packets are the most.
    """
    runs: list[list[Seen]] = []
    closed = True
    for packet in packets:
        if not closed:
            first, last = runs[-1][0], runs[-1][-1]
            joins = (
                packet.sequence == last.sequence + last.payload
                and packet.acknowledged == first.acknowledged
                and packet.ecn == first.ecn
                and (packet.flags ^ first.flags) & ~PSH == 0
                and packet.payload <= first.payload
                and len(runs[-1]) < limit
            )
        if closed or not joins:
            runs.append([])
        runs[-1].append(packet)
        closed = packet.payload < runs[-1][0].payload or packet.flags & PSH != 0 or not packet.payload
    return [(sum(p.payload for p in run), run[0].ecn, any(p.flags & PSH for p in run)) for run in runs]


FAST = {"bottleneck.rate": "10 Gbit/s", "duration": "10 ms", "bottleneck.aqm.threshold": "65 packets"}
SLOW_TO_MARK = {**FAST, "bottleneck.aqm.threshold": "300 packets"}


@pytest.mark.parametrize(
    ("preset", "changes", "wait_ns", "limit"),
    [
        # 40 packets in 50 us of 10 Gbit/s; runs end where the marks change.
        ("ideal", FAST, 50_000, 64),
        # 97 packets, more than a poll of 64 takes, and than a segment of 64 KiB has: 52 + 45 x 1448 = 65212 B.
        ("ideal", SLOW_TO_MARK, 120_000, 64),
        ("ideal", FAST, 50_000, 8),
        # Segments of the sender end with PSH.
        ("linux-6-gso", FAST, 50_000, 64),
    ],
    ids=["marks", "polls", "small", "PSH"],
)
def test_merged_segments_follow_the_rules_of_gro(
    preset: str, changes: dict[str, str], wait_ns: int, limit: int, image: Image
) -> None:
    """Segments at the receiver against those that the packets before its card make, one by one."""
    keys = f'interrupt_delay = "{wait_ns} ns", coalescing = "gro", coalesced_packets = {limit}'
    scenario = path(f'{{ preset = "{preset}", {keys} }}').override(changes)
    before, after, acks = guest(image, scenario, ["r2 b0", "d0 e0", "s0 e0"])
    held = interrupts([packet.time_ns + FORWARD_NS for packet in before], wait_ns, 0)
    packets = iter(before)
    wanted = [
        (times[0] + wait_ns, *segment)
        for times in held
        for segment in merged(list(itertools.islice(packets, len(times))), min(limit, 45))
    ]
    found = [(seen.time_ns, seen.payload, seen.ecn, seen.flags & PSH != 0) for seen in after]
    assert found == wanted[: len(found)]
    assert len(wanted) - len(found) <= 10
    largest = max(seen.payload for seen in after)
    if preset == "ideal":
        assert largest == min(limit, 45, max(map(len, held))) * MSS
        # A sender of single packets sets PSH only now and then; every second segment of a stock one has it.
        assert sum(seen.flags & PSH > 0 for seen in after) < len(after) / 10
    else:
        assert sum(seen.flags & PSH > 0 for seen in after) > len(after) / 5
    assert any(seen.ecn == CE and seen.payload > MSS for seen in after)
    # At most an ACK for each segment; segments that come while the application has the socket share one
    # (tcp_backlog_ack_defer). A receiver of single packets acknowledges every second one.
    assert len(held) - 2 <= len(acks) <= len(after) + 10
    assert len(acks) < len(before) / 4


def arrivals_at_once(seen: Sequence[Seen]) -> list[tuple[int, int]]:
    """Times at which data arrived, and their payload."""
    data = [packet for packet in seen if packet.payload]
    groups = itertools.groupby(data, key=lambda packet: packet.time_ns)
    return [(time, sum(packet.payload for packet in packets)) for time, packets in groups]


@pytest.mark.parametrize("how", ["fq", "internal"])
def test_paced_segments_are_apart_by_their_size_over_the_rate(how: str, image: Image) -> None:
    """ACKs that a moderated card delivers together release several segments: at once, or paced."""
    # 8 packets a segment; 15 ACKs of 2 packets in each interrupt.
    moderation = coalesce("r1 e0", 300_000)
    more = {"fq": [f"qdisc s0 e0 {ROOT} {40 << 16} fq -"], "internal": []}[how]
    changes = {"duration": "60 ms", "bottleneck.buffer": "1000 packets", "bottleneck.aqm.threshold": "100 packets"}
    (plain,), (paced,) = (
        guest(image, path(f"{{ gso_max_segs = 8{key} }}").override(changes), ["r1 e0"], moderation, *lines)
        for key, lines in (("", []), (', pacing = "internal"' if how == "internal" else "", more))
    )
    late = 30_000_000
    plain_runs, paced_runs = ([run for run in arrivals_at_once(seen) if run[0] > late] for seen in (plain, paced))
    # Without pacing the segments of an interrupt come at one instant, with it each on its own.
    assert max(payload for _, payload in plain_runs) >= 16 * MSS
    assert max(payload for _, payload in paced_runs) <= 8 * MSS
    # Behind a line of 1 Gbit/s the rate is 1.2 windows per RTT (tcp_pacing_ca_ratio): at most 1.2 x 1448/1538 Gbit/s.
    # A late segment takes half of the next gap at most (`tcp_update_skb_after_send`).
    gaps = sorted(after[0] - before[0] for before, after in itertools.pairwise(paced_runs) if before[1] == 8 * MSS)
    at_least = 8 * MSS * 8 / 1.2e9 * 1e9 / 2
    assert gaps
    assert gaps[len(gaps) // 20] >= 0.9 * at_least


def test_sockets_know_what_their_card_has_not_sent(image: Image) -> None:
    """A card of the bottleneck's rate has the only queue; TCP small queues bound it, but not for ideal hosts."""
    access = f'{PATH}topology = {{ kind = "dumbbell", access_rate = "1 Gbit/s" }}\n'
    scenario = shoal.Scenario.from_toml(access).override({"duration": "100 ms"})
    lines = {}
    for host in ("ideal", "linux-6-gso"):
        result = run_on_linux(scenario.override({"flows[0].host": host}), image=image)
        shown = [text for name, program, text in result.data["linux"]["shown"] if (name, program) == ("h0", "ss -tin")]
        lines[host] = re.search(r"rtt (\d+) us, minrtt (\d+) us, pacing_rate (\d+) bps", shown[0])
    found = lines["linux-6-gso"]
    assert found
    rtt_us, min_rtt_us, rate_bps = map(int, found.groups())
    # What waits, in bytes of memory: a packet has 1448 B of payload and little more (`tcp_small_queue_check`: the limit
    # is a 1024th of what the rate sends in a second, and the segment that exceeds it leaves).
    waiting = (rtt_us - min_rtt_us) * 1000 / PACKET_NS * MSS
    limit = rate_bps / 8 / 1024
    assert 0.85 * limit <= waiting <= limit + 1.2 * 45 * MSS
    ideal = lines["ideal"]
    assert ideal
    assert int(ideal[1]) > 5 * rtt_us


def test_results_show_what_the_kernel_has(image: Image) -> None:
    result = run_on_linux(path('"linux-6-gso"'), image=image)
    shown = [tuple(line) for line in result.data["linux"]["shown"]]
    for host in ("s0", "d0"):
        of_host = [(program, text) for name, program, text in shown if name == host]
        sizes = (
            "gso_max_size 65536 gso_max_segs 65535 gro_max_size 65536 gso_ipv4_max_size 65536 gro_ipv4_max_size 65536"
        )
        assert ("ip -d link", sizes) in of_host
        offloads = [text for program, text in of_host if program == "ethtool -k"]
        assert [text.count(": off") for text in offloads] == [3]
        # Defaults that nobody set (net/ipv4/tcp_ipv4.c, tcp_sk_init).
        defaults = (
            "tcp_min_tso_segs = 2",
            "tcp_tso_rtt_log = 9",
            "tcp_tso_win_divisor = 3",
            "tcp_pacing_ca_ratio = 120",
        )
        for setting in ("tcp_ecn = 1", *defaults):
            assert ("sysctl", f"net.ipv4.{setting}") in of_host
    socket = [text for name, program, text in shown if (name, program) == ("s0", "ss -tin")]
    assert len(socket) == 1
    assert "mss 1448" in socket[0]
    assert "pacing_rate" in socket[0]
    assert any(program == "tc -s qdisc" and text.startswith("qdisc netem 14:") for _, program, text in shown)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("nic s0 e0 gso_max_size 600000", "gso_max_size: too big gso_max_size"),
        ("nic s0 e0 rx-usecs 5", "a network card has no `rx-usecs`"),
        ("sysctl s0 net/ipv4/tcp_min_tso_segs 0", "cannot set net/ipv4/tcp_min_tso_segs to `0`"),
        # The kernel keeps the number, and not the text.
        ("sysctl s0 net/ipv4/tcp_min_tso_segs 03", "net/ipv4/tcp_min_tso_segs is `3` after it was set to `03`"),
    ],
)
def test_settings_without_effect_end_the_run(setting: str, said: str, image: Image) -> None:
    with pytest.raises(GuestError) as error:
        guest(image, path('"linux-6-gso"'), [], setting)
    assert said in str(error.value)
    assert "line " in str(error.value)


@pytest.mark.parametrize("preset", ["linux-6-10g", "linux-6-25g", "linux-6-100g"])
def test_presets_merge_and_are_repeatable(preset: str, image: Image) -> None:
    scenario = path(f'"{preset}"').override({**FAST, "bottleneck.rate": "10 Gbit/s"})
    once, again = (run_on_linux(scenario, image=image) for _ in range(2))
    assert once.json == again.json
    # Both hosts have offloads that merge, and a segment of several packets has one ACK.
    merging = [text for _, program, text in once.data["linux"]["shown"] if program == "ethtool -k"]
    assert [text.split(", ")[-1] for text in merging] == ["generic-receive-offload: on"] * 2
    flow = once.groups[0]["flows"][0]
    assert flow["acks_per_packet"] is not None
    assert flow["acks_per_packet"] < 0.3


def test_what_the_kernel_cannot_do_is_refused_with_its_place(image: Image) -> None:
    with pytest.raises(ScenarioError, match=r"(?s)host: .*linux-3\.2-1g.*hint: write a preset of linux-6"):
        run_on_linux(path('"linux-3.2-1g"'), image=image)
    busy = path('{ preset = "linux-6-10g", cpu_per_packet = "200 ns" }')
    with pytest.raises(ScenarioError, match=r"(?s)host\.cpu_per_packet.*processors cost no time"):
        run_on_linux(busy, image=image)


def test_every_card_of_many_hosts_sends_from_the_first_packet_on(image: Image) -> None:
    """The kernel sees the carriers of 100 devices a second; what is sent before is lost, also a SYN and its ECN."""
    scenario = shoal.Scenario.named("compare/dctcp-x60-step-200m").override(
        {"flows.*.host": "linux-6-10g", "duration": "5 s", "warmup": "3 s"}
    )
    measured, simulated = run_on_linux(scenario, image=image), shoal.run(scenario)
    # Sixty hosts on each side: a lost SYN was repeated without ECN in 11 flows.
    assert measured.bottlenecks[0]["not_ect"]["arrived"] == 0
    marked = [run.bottlenecks[0]["marked"] for run in (measured, simulated)]
    assert marked[0] == pytest.approx(marked[1], rel=0.02)
