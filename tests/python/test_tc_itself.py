"""The real `tc` reads the lines that are written, and sends to the kernel what the Linux plane sends.

A library loaded into `tc` notes its netlink messages. No kernel needs the disciplines, because what it answers does not
matter, and the namespace of the test has no device but `lo`.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import shoal
from shoal.linux.images import Unbuilt
from shoal.scenario_keys import BottleneckAqm
from shoal.switch import Port, find_platform
from shoal.switch.from_scenario import queues_of
from shoal.switch.platforms.tc import TcOptions
from shoal.switch.writing import Writing

NOTES = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	ssize_t (*next)(int, const struct msghdr *, int) = dlsym(RTLD_NEXT, "sendmsg");
	FILE *out = fopen(getenv("NETLINK_NOTES"), "a");

	for (size_t i = 0; out && i < message->msg_iovlen; i++)
		for (size_t at = 0; at < message->msg_iov[i].iov_len; at++)
			fprintf(out, "%02x", ((unsigned char *)message->msg_iov[i].iov_base)[at]);
	if (out) {
		fputc('\n', out);
		fclose(out);
	}
	return next(fd, message, flags);
}
"""
RTM_NEWQDISC = 36
TCA_KIND, TCA_OPTIONS = 1, 2

LAWS: dict[str, BottleneckAqm] = {
    "red": {"kind": "linux-red", "min": "15 kB", "max": "45 kB", "avpkt": "1500 B", "probability": 0.1, "ecn": True},
    "red-nodrop": {"kind": "linux-red", "min": "15 kB", "max": "60 kB", "avpkt": "1000 B", "ecn": True, "nodrop": True},
    "red-harddrop": {
        "kind": "linux-red",
        "min": "9 kB",
        "max": "60 kB",
        "avpkt": "1000 B",
        "ecn": True,
        "harddrop": True,
    },
    "codel": {"kind": "codel", "limit": "500 packets", "ecn": True, "ce_threshold": "1 ms"},
    "fq-codel": {
        "kind": "fq-codel",
        "limit": "500 packets",
        "flows": 64,
        "quantum": "1500 B",
        "memory_limit": "unlimited",
    },
    "pie": {"kind": "pie", "limit": "500 packets", "alpha": 3, "beta": 21, "tupdate": "16 ms", "ecn": True},
    "fifo": {"kind": "fifo"},
}


def scenario(aqm: BottleneckAqm) -> shoal.Scenario:
    return shoal.Scenario.from_keys(
        {
            "duration": "1 s",
            "flows": [{"cc": "reno", "rtt": "10 ms"}],
            "bottleneck": {"rate": "100 Mbit/s", "buffer": "400 kB", "aqm": aqm},
        }
    )


def lines_of(one: shoal.Scenario) -> list[str]:
    """The commands for `lo`."""
    (queue,), _ = queues_of(one, index=0)
    return find_platform("tc").write([queue], Writing(Port(10**8), TcOptions(device="lo"), scenario=one)).splitlines()


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library, where everything that it needs is there."""
    tc = shutil.which("tc", path="/usr/sbin:/sbin:/usr/bin:/bin")
    compiler = shutil.which("gcc") or shutil.which("cc")
    if tc is None or compiler is None:
        pytest.skip("left out: this machine has no tc or no C compiler")
    folder = tmp_path_factory.mktemp("notes")
    (folder / "notes.c").write_text(NOTES, encoding="utf-8")
    library = folder / "notes.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, folder / "notes.c", "-ldl"], check=True)
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode:
        pytest.skip("left out: this machine gives no namespaces of users")
    return library


def sent(line: str, notes: Path) -> tuple[str, dict[int, bytes]]:
    """Kind and options that tc sends for a command."""
    record = notes.with_name("record")
    record.unlink(missing_ok=True)
    done = subprocess.run(
        ["unshare", "-rn", "env", f"LD_PRELOAD={notes}", f"NETLINK_NOTES={record}", *line.split()],
        capture_output=True,
        text=True,
        check=False,
    )
    messages = [bytes.fromhex(text) for text in record.read_text().splitlines()] if record.exists() else []
    for message in messages:
        length, kind = struct.unpack_from("=IH", message)
        if kind == RTM_NEWQDISC:
            attributes = dict(parts(message[16 + 20 : length]))
            name = attributes[TCA_KIND].rstrip(b"\0").decode()
            options = attributes[TCA_OPTIONS]
            return name, {0: options} if name in ("pfifo", "bfifo") else dict(parts(options))
    raise AssertionError(f"tc does not read `{line}`: {done.stderr}")


def parts(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Attributes: length, kind, payload, padded to four bytes."""
    while data:
        length, kind = struct.unpack_from("=HH", data)
        yield kind & 0x3FFF, data[4:length]
        data = data[(length + 3) // 4 * 4 :]


def planned(one: shoal.Scenario) -> list[tuple[str, dict[int, bytes]]]:
    """Kind and options that the Linux plane sends for the bottleneck."""
    config = one.native.linux_plan(Unbuilt().description).config
    found = []
    for words in (line.split() for line in config.splitlines() if line.startswith("qdisc ")):
        kind, content = words[5], words[6]
        if kind in ("line", "netem"):
            continue
        data = b"" if content == "-" else bytes.fromhex(content)
        found.append((kind, {0: data} if kind in ("pfifo", "bfifo") else dict(parts(data))))
    return found


@pytest.mark.parametrize("name", LAWS)
def test_tc_sends_what_the_linux_plane_sends(name: str, notes: Path) -> None:
    one = scenario(LAWS[name])
    kind, options = sent(lines_of(one)[0], notes)
    ((own_kind, own),) = planned(one)[:1]
    assert kind == own_kind
    assert options == own


def test_tc_refuses_what_is_no_line_of_its(notes: Path) -> None:
    with pytest.raises(AssertionError, match="does not read"):
        sent(lines_of(scenario(LAWS["red"]))[0].replace(" ecn", " enc"), notes)
