"""Set-ups about which people ask in public trackers, each with the question and the first cause that we give."""

from __future__ import annotations

from typing import NamedTuple


class Setup(NamedTuple):
    """A set-up that somebody reported, as a scenario.

    Attributes
    ----------
    source
        Where the like of it was asked.
    toml
        The scenario.
    kind
        Kind of the notice that raises the question.
    cause
        The first cause.
    """

    source: str
    toml: str
    kind: str
    cause: str | None


HEAD = """
duration = "20 s"
warmup = "5 s"
[bottleneck]
rate = "RATE"
buffer = "BUFFER"
aqm = AQM
LINK
"""


def scenario(aqm: str, *groups: str, link: str = "", buffer: str = "1000 packets", rate: str = "40 Mbit/s") -> str:
    """A dumbbell with a queue, and a flow for each set of keys."""
    head = HEAD.replace("RATE", rate).replace("BUFFER", buffer).replace("AQM", aqm).replace("LINK", link)
    return head + "".join(f'[[flows]]\nname = "{name}"\n{keys}\n' for name, keys in zip("ab", groups, strict=False))


STEP = '{ kind = "step", threshold = "20 packets" }'
RED = 'kind = "red", min = "20 packets", max = "60 packets", max_probability = 0.1, weight = 0.002'
DUALPI2 = '{ kind = "dualpi2" }'
DCTCP = 'cc = "dctcp"\nrtt = "10 ms"'
PRAGUE = 'cc = "prague-0.7"\nrtt = "10 ms"'
CUBIC = 'cc = "cubic"\nrtt = "10 ms"'

SETUPS = {
    "Prague against a server without accurate ECN": Setup(
        "https://github.com/L4STeam/linux/pull/19",
        scenario(DUALPI2, f'{PRAGUE}\nreceiver = {{ feedback = "classic" }}', CUBIC),
        "runs-as-reno",
        "runs-as-reno",
    ),
    "DCTCP switched on at hosts without ECN": Setup(
        "https://github.com/MysticFoxDE/WINDOWS-OPTIMIZATIONS/issues/9",
        scenario(STEP, f'{DCTCP}\necn = "off"'),
        "no-marks",
        "no-packet-with-ect",
    ),
    "ECN not enabled at the sockets": Setup(
        "https://github.com/FujiZ/ns-3/issues/3",
        scenario('{ kind = "codel", ecn = true }', f'{DCTCP}\necn = "off"', CUBIC),
        "runs-as-reno",
        "runs-as-reno",
    ),
    "a mobile operator that bleaches ECN behind the queue": Setup(
        "https://github.com/lynxthecat/cake-autorate/issues/194",
        scenario(STEP, DCTCP, link="impairments = { clear_ecn = true }"),
        "marks-not-seen",
        "ecn-cleared",
    ),
    "RED without the flag ecn": Setup(
        "https://github.com/FujiZ/ns-3/issues/5",
        scenario(f"{{ {RED} }}", DCTCP),
        "no-marks",
        "law-marks-nothing",
    ),
    "a queue of the driver, which only drops, in place of DualPI2": Setup(
        "https://github.com/L4STeam/linux/issues/25",
        scenario('{ kind = "fifo" }', PRAGUE, CUBIC, buffer="100 packets"),
        "no-marks",
        "law-marks-nothing",
    ),
    "marks for ECT(1) only, and DCTCP": Setup(
        "https://github.com/L4STeam/linux/issues/36",
        scenario('{ kind = "fq-codel", ecn = false, ce_threshold = "1 ms", ce_threshold_selector = "0x1/0x3" }', DCTCP),
        "no-marks",
        "other-codepoint",
    ),
    "DCTCP at DualPI2 as Linux has it": Setup(
        "https://github.com/L4STeam/linux/pull/8",
        scenario(DUALPI2, DCTCP, CUBIC),
        "dctcp-in-classic-queue",
        "dctcp-in-classic-queue",
    ),
    "a threshold that the buffer behind it does not reach": Setup(
        "https://github.com/snowzjx/ns3-load-balance/issues/5",
        scenario('{ kind = "step", threshold = "20 ms" }', DCTCP, buffer="50 packets"),
        "no-marks",
        "threshold-above-buffer",
    ),
    "a bottleneck somewhere else": Setup(
        "https://github.com/L4STeam/linux/issues/32",
        scenario(
            DUALPI2,
            PRAGUE,
            link='[topology]\nkind = "dumbbell"\naccess_rate = "20 Mbit/s"\naccess_buffer = "100 packets"',
        ),
        "no-marks",
        "narrower-elsewhere",
    ),
    "a receive window of 52 kB at 28 ms": Setup(
        "https://github.com/esnet/iperf/issues/481",
        scenario(STEP, 'cc = "dctcp"\nrtt = "28 ms"\nreceive_window = "53248 B"', rate="1 Gbit/s"),
        "link-not-full",
        "receive-window",
    ),
    "an application that sends too little for a queue": Setup(
        "https://github.com/hudra0/qosmate/issues/54",
        scenario(STEP, f'{DCTCP}\napp = {{ constant_rate = "5 Mbit/s" }}'),
        "no-marks",
        "application-limited",
    ),
    "batches of packets above a low threshold": Setup(
        "https://github.com/private-octopus/picoquic/pull/1959",
        scenario(
            '{ kind = "step", threshold = "3 packets" }',
            'cc = "dctcp"\nrtt = "400 us"\nhost = "linux-6-25g"',
            rate="10 Gbit/s",
        )
        .replace('"20 s"', '"600 ms"')
        .replace('"5 s"', '"200 ms"'),
        "link-not-full",
        "segments-above-threshold",
    ),
    "a threshold far below the bandwidth-delay product": Setup(
        "https://github.com/mozilla/neqo/pull/2914",
        scenario('{ kind = "step", threshold = "2 packets" }', 'cc = "ecn-reno"\nrtt = "100 ms"').replace(
            '"20 s"', '"60 s"'
        ),
        "link-not-full",
        "threshold-below-bdp",
    ),
    "classic senders without ECN where others are only marked": Setup(
        "https://github.com/NTAP/rfc8312bis/issues/95",
        scenario(
            f"{{ {RED}, ecn = true }}",
            DCTCP,
            'cc = "reno"\nrtt = "10 ms"',
        ).replace('"20 s"', '"40 s"'),
        "below-fair-share",
        "dropped-where-others-are-marked",
    ),
    "one step for DCTCP and for senders that halve": Setup(
        "https://github.com/private-octopus/picoquic/issues/1825",
        scenario(STEP, DCTCP, 'cc = "ecn-reno"\nrtt = "10 ms"').replace('"20 s"', '"40 s"'),
        "below-fair-share",
        "same-marks-other-answer",
    ),
    "round trips of 10 and 80 ms": Setup(
        "https://github.com/NTAP/rfc8312bis/issues/96",
        scenario(
            '{ kind = "fifo" }',
            'cc = "reno"\nrtt = "10 ms"',
            # Without a random time two flows keep one of many rhythms for good, and with seed 1, alone of eight, they
            # keep one in which shares have no cause that shoal names.
            'cc = "reno"\nrtt = "80 ms"\nstart = { uniform = ["0 s", "1 s"] }',
            buffer="100 packets",
        ).replace('duration = "20 s"', 'seed = 2\nduration = "60 s"'),
        "below-fair-share",
        "longer-round-trip",
    ),
}
