#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
#
# What all scripts here count on. In the kernel's own tree its defaults.sh stands in the same place; these scripts play
# with
# either.

sysctl -q net.ipv4.tcp_rmem="4096 540000 $((15*1024*1024))"
sysctl -q net.ipv4.tcp_wmem="4096 $((256*1024)) 4194304"
sysctl -q net.ipv4.tcp_timestamps=1 net.ipv4.tcp_sack=1 net.ipv4.tcp_dsack=1
sysctl -q net.ipv4.tcp_slow_start_after_idle=0
sysctl -q net.ipv4.tcp_ecn=0 net.ipv4.tcp_congestion_control=cubic
tc qdisc add dev tun0 root pfifo
