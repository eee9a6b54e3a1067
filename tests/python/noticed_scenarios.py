"""Scenarios whose runs have a notice on both planes."""

# A second DCTCP flow that stays at a tenth for as long as both send.
LOCKED = """
duration = "2 s"
warmup = "1.5 s"
[bottleneck]
rate = "10 Gbit/s"
buffer = "unlimited"
bdp_rtt = "300 us"
aqm = { kind = "step", threshold = "90 packets" }
[[flows]]
name = "first"
cc = "dctcp"
rtt = "300 us"
host = "linux-6-25g"
[[flows]]
name = "joins"
cc = "dctcp"
rtt = "300 us"
host = "linux-6-25g"
start = "0.5 s"
"""
# A window of thousands of packets after a timeout that is undone while the queue marks.
STORM = """
duration = "6 s"
warmup = "1 s"
seed = 1
[bottleneck]
rate = "30 Mbit/s"
buffer = "60 packets"
delay = "5 ms"
aqm = { kind = "codel", ecn = true, ce_threshold = "1 ms" }
schedule = { changes = [ { at = "2 s", outage = "500 ms" } ] }
[[flows]]
name = "a"
cc = "dctcp"
rtt = "25 ms"
start = { uniform = ["0 s", "300 ms"] }
"""
