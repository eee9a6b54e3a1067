"""Flows sorted by a hash: of the headers, as a router has it, and not of the sender's socket."""

from __future__ import annotations

import pytest
from planes import both

from shoal.linux import Image

OUTAGE = """
title = "An outage for one flow behind fq-codel"
duration = "12 s"
warmup = "2 s"
bottleneck = {{ rate = "30 Mbit/s", buffer = "300 packets", aqm = {{ kind = "fq-codel" }}, \
schedule = {{ changes = [{{ at = "6 s", outage = "500 ms" }}] }} }}
flows = [{{ cc = "{cc}", rtt = "25 ms", host = "{host}" }}]
trace = {{ series = "20 ms" }}
"""


@pytest.mark.parametrize("host", ["ideal", "linux-6-gso"])
@pytest.mark.parametrize("cc", ["dctcp", "cubic"])
def test_retransmission_waits_behind_the_packets_before_it(cc: str, host: str, image: Image) -> None:
    """TCP draws its socket's hash anew at each timeout: sorted by it, the retransmission would overtake 80 packets.

    Then the sender cannot see that its timeout was spurious, and repeats them all.
    """
    simulator, linux = both(OUTAGE.format(cc=cc, host=host), image)
    for result in (simulator, linux):
        flow = result.groups[0]["flows"][0]
        assert flow["timeouts"] == 1
        assert flow["retransmissions"] < 15
        # The window before the timeout is back 100 ms after the outage; 4 packets where it is not.
        columns = result.table("flows").columns
        cwnd = {
            round(row[columns.index("time_s")], 3): row[columns.index("cwnd_packets")]
            for row in result.table("flows").rows()
        }
        assert cwnd[6.6] > 0.9 * cwnd[5.9]
