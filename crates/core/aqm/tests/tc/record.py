#!/usr/bin/env python3
"""Records what the installed tc sends to the kernel for `tc qdisc add ... red`: the vectors of tests/tc_vectors.rs.

Runs tc under strace in a fresh user and network namespace, so it needs neither root nor the sch_red module, and prints
one line a command: the arguments, then Wlog, Plog, Scell_log, max_P and the idle table, or the first word group of
tc's error.

    tests/tc/record.py > tests/tc/vectors.tsv
"""

import re
import subprocess

COMMANDS = [
    # The RED line of the testbed of De Schepper et al. 2015.
    "limit 1600000 min 120000 max 360000 avpkt 1000 burst 220 ecn bandwidth 40Mbit",
    # Mininet-HiFi DCTCP, and its probability.
    "limit 1000000 min 30000 max 35000 avpkt 1500 burst 20 bandwidth 100Mbit probability 1 ecn",
    # tc's own defaults.
    "limit 400000 avpkt 1000",
    "limit 1000000 min 30000 avpkt 1500",
    "limit 60KB min 15KB max 45KB burst 20 avpkt 1000 bandwidth 10Mbit probability 0.4",
    "limit 1000000 min 30000 max 90000 avpkt 1500 burst 55 bandwidth 10Mbit probability 0.1 adaptive ecn",
    # The CS244 study: min = K, max = K + 1 packets.
    *(
        f"limit 1000000 min {1500 * k} max {1500 * (k + 1)} avpkt 1500 burst {k + 1} "
        "bandwidth 100Mbit probability 1 ecn"
        for k in (1, 2, 3, 5, 10, 20, 40, 50, 51, 52, 53, 54, 55, 65, 94, 95, 200)
    ),
    # Transmission times that are no whole number of ticks (64 ns), or of microseconds, or tiny.
    "limit 1000000 min 30000 max 90000 avpkt 1000 burst 55 bandwidth 33Mbit",
    "limit 1000000 min 30000 max 90000 avpkt 1500 burst 55 bandwidth 700Mbit",
    "limit 1000000 min 30000 max 90000 avpkt 1500 burst 55 bandwidth 1Gbit",
    "limit 9000000 min 97500 max 300000 avpkt 1500 burst 100 bandwidth 10Gbit",
    "limit 9000000 min 97500 max 300000 avpkt 500 burst 300 bandwidth 30Gbit",
    # Refusals.
    "limit 1000000 min 30000 max 90000 avpkt 1000 burst 10 bandwidth 10Mbit",
    "limit 1000000 min 30000 max 30000 avpkt 1000 burst 55 bandwidth 10Mbit",
    "limit 1000000 min 30000 max 90000 avpkt 1000 burst 55 bandwidth 10Mbit probability 0.00001",
    "limit 1000000 min 1500 max 9000 avpkt 1500 burst 2 bandwidth 10Mbit",
]


def unescape(text: str) -> bytes:
    return bytes(int(pair, 16) for pair in re.findall(r"\\x([0-9a-f]{2})", text))


def attributes(data: bytes) -> dict[int, bytes]:
    found = {}
    while len(data) >= 4:
        length, kind = int.from_bytes(data[:2], "little"), int.from_bytes(data[2:4], "little")
        found[kind] = data[4:length]
        data = data[(length + 3) & ~3 :]
    return found


def record(arguments: str) -> str:
    trace = ["strace", "-f", "-e", "trace=sendmsg", "-xx", "-v", "-s", "4096"]
    command = ["unshare", "-rn", *trace, "tc", "qdisc", "add", "dev", "lo", "root", "red", *arguments.split()]
    stderr = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    match = re.search(r'nla_type=TCA_OPTIONS\}, "((?:\\x[0-9a-f]{2})+)"', stderr)
    if match is None:
        errors = [line for line in stderr.splitlines() if "RED:" in line or "tc_red" in line]
        return f"{arguments}\trefused: {errors[-1]}"
    options = attributes(unescape(match.group(1)))
    # struct tc_red_qopt: limit, qth_min, qth_max, then bytes Wlog, Plog, Scell_log, flags.
    parameters = options[1]
    limit, low, high = (int.from_bytes(parameters[i : i + 4], "little") for i in (0, 4, 8))
    wlog, plog, scell_log = parameters[12:15]
    max_p = int.from_bytes(options[3], "little")
    return f"{arguments}\t{limit} {low} {high} {wlog} {plog} {scell_log} {max_p}\t{options[2].hex()}"


def main() -> None:
    version = subprocess.run(["tc", "-V"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"# Recorded by tests/tc/record.py with {version}.")
    for arguments in COMMANDS:
        print(record(arguments))


if __name__ == "__main__":
    main()
