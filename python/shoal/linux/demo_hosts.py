"""What the hosts of the demonstration do, each in a network namespace: bulk flows, and videos with deadlines.

`python -m shoal.linux.demo_hosts send|receive` reads what is to be done from the first line of its input, and ends with
its input, so that nothing is left of it when the demonstration is gone. A receiver prints a line for each frame.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
import threading
import time
from typing import Any

# When a frame was due, on the clock that all processes of a machine have in common, in ns.
_stamp = struct.Struct("!Q")


def listener(flow: dict[str, Any]) -> socket.socket:
    """A socket that waits for the flow; it echoes marks as the sender's control wants them."""
    listening = socket.create_server((flow["address"], flow["port"]))
    _control(listening, flow)
    return listening


def receive(flow: dict[str, Any], listening: socket.socket) -> None:
    """Take what comes; of a video, print when each frame was complete."""
    connection, _ = listening.accept()
    if "frame_bytes" not in flow:
        while connection.recv(1 << 18):
            pass
        return
    size = flow["frame_bytes"]
    with connection.makefile("rb") as frames:
        while len(frame := frames.read(size)) == size:
            took_s = 1e-9 * (time.monotonic_ns() - _stamp.unpack_from(frame)[0])
            _say(flow=flow["name"], took_s=took_s)


def send(flow: dict[str, Any]) -> None:
    """Send as much as the network takes, or a frame whenever it is due."""
    connection = socket.socket()
    _control(connection, flow)
    connection.connect((flow["address"], flow["port"]))
    if "frame_bytes" not in flow:
        while True:
            connection.sendall(bytes(1 << 16))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    filling = bytes(flow["frame_bytes"] - _stamp.size)
    every_ns = round(1e9 * flow["every_s"])
    due_ns = time.monotonic_ns()
    while True:
        time.sleep(max(0.0, 1e-9 * (due_ns - time.monotonic_ns())))
        # A frame that cannot be written yet gets old meanwhile, and so do those behind it.
        connection.sendall(_stamp.pack(due_ns) + filling)
        due_ns += every_ns


def _say(**what: object) -> None:
    # In one piece, since several threads do.
    os.write(1, json.dumps(what).encode() + b"\n")


def _control(end: socket.socket, flow: dict[str, Any]) -> None:
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, flow["control"].encode())


def main() -> None:
    """Do what the first line of the input says, until the input ends."""
    flows = json.loads(sys.stdin.readline())
    if sys.argv[1] == "receive":
        # All wait before anybody is told that they do.
        work: list[tuple[Any, tuple[Any, ...]]] = [(receive, (flow, listener(flow))) for flow in flows]
        _say(is_ready=True)
    else:
        work = [(send, (flow,)) for flow in flows]
    for function, arguments in work:
        threading.Thread(target=_guarded, args=(function, arguments), daemon=True).start()
    sys.stdin.read()
    os._exit(0)


def _guarded(function: Any, arguments: tuple[Any, ...]) -> None:
    """A flow that fails ends the process, whose last words say why."""
    try:
        function(*arguments)
    except OSError as error:
        print(f"{arguments[0]['name']}: {error}", file=sys.stderr, flush=True)
        os._exit(1)


if __name__ == "__main__":
    main()
