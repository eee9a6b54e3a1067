# SPDX-License-Identifier: GPL-2.0-only
"""Two CUBIC flows and one DCTCP flow behind one RED queue with ECN, in ns-3: `pip install ns3==3.44.post0`."""

import time

from ns import ns

RATE, RTT_MS, END_S, WARMUP_S = "40Mbps", 10, 30, 3
BDP_PACKETS = 40e6 * 10e-3 / 8 / 1500
FLOWS = ["TcpCubic", "TcpCubic", "TcpDctcp"]


def text(value):
    """A value as ns-3 takes it."""
    return ns.StringValue(str(value))


for name, value in {
    "TcpSocket::SegmentSize": 1448,
    "TcpSocket::InitialCwnd": 10,
    "TcpSocket::SndBufSize": 1 << 22,
    "TcpSocket::RcvBufSize": 1 << 22,
    "TcpSocket::DelAckCount": 2,
    "RedQueueDisc::UseEcn": "true",
    "RedQueueDisc::UseHardDrop": "false",
    "RedQueueDisc::Gentle": "false",
    "RedQueueDisc::MeanPktSize": 1500,
    "RedQueueDisc::QW": 0.002,
    "RedQueueDisc::LInterm": 10,
    "RedQueueDisc::MinTh": 0.5 * BDP_PACKETS,
    "RedQueueDisc::MaxTh": 1.5 * BDP_PACKETS,
    "RedQueueDisc::MaxSize": f"{int(4 * BDP_PACKETS)}p",
    "RedQueueDisc::LinkBandwidth": RATE,
    "RedQueueDisc::LinkDelay": f"{RTT_MS / 2}ms",
}.items():
    ns.Config.SetDefault(f"ns3::{name}", text(value))

routers = ns.NodeContainer()
routers.Create(2)
senders = ns.NodeContainer()
senders.Create(len(FLOWS))
receivers = ns.NodeContainer()
receivers.Create(len(FLOWS))
everyone = ns.NodeContainer()
for group in (routers, senders, receivers):
    everyone.Add(group)
ns.InternetStackHelper().Install(everyone)
for i, cc in enumerate(FLOWS):
    for node in (senders.Get(i), receivers.Get(i)):
        kind = ns.TypeIdValue(ns.TypeId.LookupByName(f"ns3::{cc}"))
        ns.Config.Set(f"/NodeList/{node.GetId()}/$ns3::TcpL4Protocol/SocketType", kind)

access = ns.PointToPointHelper()
access.SetDeviceAttribute("DataRate", text("10Gbps"))
access.SetChannelAttribute("Delay", text(f"{RTT_MS / 4}ms"))
line = ns.PointToPointHelper()
line.SetDeviceAttribute("DataRate", text(RATE))
line.SetChannelAttribute("Delay", text("0ms"))
# All waiting packets are in the queue discipline.
line.SetQueue("ns3::DropTailQueue", "MaxSize", text("1p"))

addresses = ns.Ipv4AddressHelper()
addresses.SetBase(ns.Ipv4Address("10.0.0.0"), ns.Ipv4Mask("255.255.255.0"))
sinks = []
plain = ns.TrafficControlHelper()
plain.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", text("10000p"))
links = [(access, senders.Get(i), routers.Get(0)) for i in range(len(FLOWS))]
links += [(access, routers.Get(1), receivers.Get(i)) for i in range(len(FLOWS))]
places = []
for helper, a, b in links:
    devices = helper.Install(a, b)
    plain.Install(devices)
    places.append(addresses.Assign(devices).GetAddress(1))
    addresses.NewNetwork()
bottleneck = line.Install(routers.Get(0), routers.Get(1))
red = ns.TrafficControlHelper()
red.SetRootQueueDisc("ns3::RedQueueDisc")
queue = red.Install(bottleneck.Get(0)).Get(0)
addresses.Assign(bottleneck)
ns.Ipv4GlobalRoutingHelper.PopulateRoutingTables()

for i in range(len(FLOWS)):
    address = ns.InetSocketAddress(places[len(FLOWS) + i], 5000)
    sink = ns.PacketSinkHelper("ns3::TcpSocketFactory", address.ConvertTo()).Install(receivers.Get(i))
    sink.Start(ns.Seconds(0))
    sinks.append(sink.Get(0).GetObject[ns.PacketSink]())
    source = ns.BulkSendHelper("ns3::TcpSocketFactory", address.ConvertTo())
    source.SetAttribute("MaxBytes", ns.UintegerValue(0))
    source.Install(senders.Get(i)).Start(ns.Seconds(0))

begin = time.process_time()
ns.Simulator.Stop(ns.Seconds(WARMUP_S))
ns.Simulator.Run()
before = [sink.GetTotalRx() for sink in sinks]
ns.Simulator.Stop(ns.Seconds(END_S - WARMUP_S))
ns.Simulator.Run()
for cc, sink, first in zip(FLOWS, sinks, before, strict=True):
    print(f"{cc}: {(sink.GetTotalRx() - first) * 8 / (END_S - WARMUP_S) / 1e6:.2f} Mbit/s goodput")
stats = queue.GetStats()
print(f"marked {stats.nTotalMarkedPackets}, dropped {stats.nTotalDroppedPackets} since the start")
print(f"{time.process_time() - begin:.2f} s of CPU in the simulation")
