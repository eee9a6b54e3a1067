"""Memory that a user's module leaves behind, on the kernel that `shoal linux build --find-leaks` makes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from user_modules import RENO, SHORT, line_of, with_fault, written

import shoal
from shoal.linux import Image, LinuxError, run_on_linux
from shoal.linux.errors import ModuleError

SCENARIO = """
duration = "3 s"
warmup = "1 s"
bottleneck = {{ rate = "10 Mbit/s", buffer = "30 packets"{aqm} }}
flows = [{{ name = "first", cc = "{cc}", rtt = "25 ms", count = 2 }}]
[laws]
{name}.kernel = "{file}"
"""
AQM = ', aqm = { kind = "module", name = "short" }'
TAKES = "	void *memory = kmalloc(100, GFP_ATOMIC);"


@pytest.fixture
def finding(image: Image) -> Image:
    """The kernel that finds leaks; without it these tests are skipped."""
    try:
        return image.finding_leaks()
    except LinuxError as error:
        pytest.skip(str(error))


def controlled(file: Path) -> shoal.Scenario:
    return shoal.Scenario.from_toml(SCENARIO.format(aqm="", cc="reno_again", name="reno_again", file=file))


def queue_text(file: Path) -> str:
    return SCENARIO.format(aqm=AQM, cc="reno", name="short", file=file)


def queued(file: Path) -> shoal.Scenario:
    return shoal.Scenario.from_toml(queue_text(file))


def test_modules_that_leave_nothing_run(finding: Image) -> None:
    for scenario in (controlled(RENO), queued(SHORT)):
        assert run_on_linux(scenario, image=finding).groups[0]["flows"][0]["delivered_bytes"] > 0


@pytest.mark.parametrize("is_freed", [True, False])
def test_memory_of_connections_is_freed_by_release_or_named(is_freed: bool, finding: Image, tmp_path: Path) -> None:
    text = RENO.read_text()
    functions = f"""static void again_take(struct sock *sk)
{{
{TAKES}

	memcpy(inet_csk_ca(sk), &memory, sizeof(memory));
}}

static void again_give(struct sock *sk)
{{
	void *memory;

	memcpy(&memory, inet_csk_ca(sk), sizeof(memory));
	{"kfree(memory)" if is_freed else "(void)memory"};
}}

static struct tcp_congestion_ops again __read_mostly = {{
	.init		= again_take,
	.release	= again_give,"""
    text = text.replace("static struct tcp_congestion_ops again __read_mostly = {", functions)
    path = written(tmp_path / "tcp_taking.c", text)
    if is_freed:
        run_on_linux(controlled(path), image=finding)
        return
    with pytest.raises(ModuleError) as caught:
        run_on_linux(controlled(path), image=finding)
    # Each of the two connections has 100 B, for which the kernel takes 128.
    place = rf"{path}:{line_of(path, 'kmalloc')}: 256 B that `again_take` allocated"
    assert re.search(place, str(caught.value)), caught.value


def test_the_command_names_the_line(finding: Image, tmp_path: Path) -> None:
    path = with_fault(
        tmp_path / "sch_taking.c",
        SHORT,
        "return qdisc_dequeue_head(sch);",
        "return kmalloc(10, GFP_ATOMIC) ? qdisc_dequeue_head(sch) : NULL;",
    )
    scenario = tmp_path / "queue.toml"
    scenario.write_text(queue_text(path))
    command = [sys.executable, "-m", "shoal", "run", str(scenario), "--on", "linux"]
    assert subprocess.run(command, capture_output=True, text=True, check=False).returncode == 0
    ended = subprocess.run([*command, "--find-leaks"], capture_output=True, text=True, check=False)
    assert ended.returncode == 6
    assert f"{path}:{line_of(path, 'kmalloc')}:" in ended.stderr
