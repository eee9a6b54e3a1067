"""The process that serves the page of a box: to this machine alone, and to whoever has its whole address.

It is a process of its own so that a slow reader never delays a frame, and ends with the box. Another web page, which
can send requests to this machine too, gets nothing: the address has a part that it cannot guess, `Host` has to be this
machine, and a move has to come from the page itself.
"""

from __future__ import annotations

import json
import os
import queue
import secrets
import socket
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from shoal.linux.box_page import longest

# News that wait for a reader before the reader counts as gone.
_patience = 100
_longest_move = 10_000


class Hub:
    """What the box tells, for all readers.

    Parameters
    ----------
    box
        The connection to the box.
    about
        What the box is, which every reader hears first.
    """

    def __init__(self, box: socket.socket, about: dict[str, Any]) -> None:
        self._box = box
        self._about = about
        self._readers: set[queue.Queue[str | None]] = set()
        self._lock = threading.Lock()

    def listen(self) -> None:
        """Tell readers what the box says, until it is gone."""
        while message := self._box.recv(longest):
            said = json.loads(message)
            with self._lock:
                if said["type"] == "moved" and said["error"] is None:
                    self._note(said["key"], said["value"])
                for reader in list(self._readers):
                    try:
                        reader.put_nowait(message.decode())
                    except queue.Full:
                        self._readers.discard(reader)

    def reader(self) -> queue.Queue[str | None]:
        """A new reader, who hears first what the box is."""
        reader: queue.Queue[str | None] = queue.Queue(_patience)
        with self._lock:
            reader.put_nowait(json.dumps(self._about))
            self._readers.add(reader)
        return reader

    def hears(self, reader: queue.Queue[str | None]) -> bool:
        """Whether somebody is still told."""
        with self._lock:
            return reader in self._readers

    def leave(self, reader: queue.Queue[str | None]) -> None:
        """A reader is gone."""
        with self._lock:
            self._readers.discard(reader)

    def move(self, key: str, value: str) -> None:
        """A reader wants another value of a key."""
        self._box.send(json.dumps({"key": key, "value": value}).encode())

    def _note(self, key: str, value: str) -> None:
        for control in self._about["controls"]:
            if control["key"] == key:
                control["value"] = float(value.split(maxsplit=1)[0])


class Server(ThreadingHTTPServer):
    """Serves a page on this machine.

    Parameters
    ----------
    hub
        What the page hears, and what hears the page.
    page
        The page.
    """

    def __init__(self, hub: Hub, page: bytes) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.hub = hub
        self.page = page
        #: The part of the address that nobody guesses.
        self.token = secrets.token_urlsafe(16)


class Handler(BaseHTTPRequestHandler):
    """What answers requests below `/token/`."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        """The page, or what happens in the box."""
        match self._asked():
            case "":
                self._answer(HTTPStatus.OK, "text/html; charset=utf-8", self.server.page)
            case "events":
                self._events()
            case _:
                self._refuse(HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        """A control was moved."""
        if self._asked() != "move":
            return self._refuse(HTTPStatus.NOT_FOUND)
        is_ours = self.headers.get("Origin") in {f"http://{host}" for host in self._hosts()}
        if not is_ours or self.headers.get("Content-Type") != "application/json":
            return self._refuse(HTTPStatus.FORBIDDEN)
        try:
            length = int(self.headers["Content-Length"])
            if not 0 < length <= _longest_move:
                raise ValueError(length)
            move = json.loads(self.rfile.read(length))
            key, value = str(move["key"]), str(move["value"])
        except (KeyError, TypeError, ValueError):
            return self._refuse(HTTPStatus.BAD_REQUEST)
        self.server.hub.move(key, value)
        return self._answer(HTTPStatus.NO_CONTENT)

    def _hosts(self) -> set[str]:
        port = self.server.server_address[1]
        return {f"127.0.0.1:{port}", f"localhost:{port}"}

    def _asked(self) -> str | None:
        """What is asked for, if whoever asks may ask."""
        _, _, rest = self.path.partition("/")
        given, slash, asked = rest.partition("/")
        is_known = secrets.compare_digest(given.encode(), self.server.token.encode()) and bool(slash)
        return asked if is_known and self.headers.get("Host") in self._hosts() else None

    def _events(self) -> None:
        self._begin(HTTPStatus.OK, "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        reader = self.server.hub.reader()
        try:
            while self.server.hub.hears(reader):
                try:
                    self.wfile.write(f"data: {reader.get(timeout=5)}\n\n".encode())
                except queue.Empty:
                    self.wfile.write(b":\n\n")  # says nothing, and shows whether somebody is there
        except OSError:
            pass
        finally:
            self.server.hub.leave(reader)
        self.close_connection = True

    def _begin(self, status: HTTPStatus, kind: str | None = None) -> None:
        self.send_response(status)
        if kind is not None:
            self.send_header("Content-Type", kind)
        for name, value in (
            ("Cache-Control", "no-store"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
        ):
            self.send_header(name, value)

    def _answer(self, status: HTTPStatus, kind: str | None = None, content: bytes = b"") -> None:
        self._begin(status, kind)
        if status != HTTPStatus.NO_CONTENT:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _refuse(self, status: HTTPStatus) -> None:
        # What was sent with the request is not read.
        self.close_connection = True
        self._answer(status, "text/plain; charset=utf-8", f"{status.phrase}\n".encode())

    def log_message(self, format: str, *arguments: object) -> None:
        """Requests are nobody's business but the reader's."""


def main() -> None:
    """Serve a page for the box at the other end of a connection, which is inherited."""
    box = socket.socket(fileno=int(sys.argv[1]))
    hub = Hub(box, json.loads(box.recv(longest)))
    server = Server(hub, Path(sys.argv[2]).read_bytes())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    box.send(json.dumps({"address": f"http://127.0.0.1:{server.server_address[1]}/{server.token}/"}).encode())
    try:
        hub.listen()
    finally:
        # Readers keep threads that wait for news; without a box there are none.
        os._exit(0)


if __name__ == "__main__":
    main()
