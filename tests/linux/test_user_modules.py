"""Kernel modules that a user wrote, on the kernel: they run as its own do, and what they do wrong has a line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from user_modules import RENO, SHORT, line_of, with_fault, written

import shoal
from shoal.errors import ModuleWarning, ScenarioError
from shoal.linux import Image, Limits, plan, run_on_linux
from shoal.linux.errors import ModuleError
from shoal.linux.user_modules import with_laws_of

# Losses by an overflowing buffer, and two flows whose start the seed decides: every window matters to every packet.
CONTROLLER = """
duration = "6 s"
warmup = "1 s"
bottleneck = {{ rate = "10 Mbit/s", buffer = "30 packets" }}
flows = [{{ name = "first", cc = "{cc}", rtt = "25 ms", count = 2, start = {{ uniform = ["0 s", "1 s"] }} }}]
trace = {{ series = "100 ms", controller_flows = 1 }}
[laws]
{name}.kernel = "{file}"
"""
QUEUE = """
duration = "6 s"
warmup = "1 s"
flows = [{{ cc = "{cc}", rtt = "25 ms" }}]
trace = {{ series = "100 ms" }}
[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"
aqm = {aqm}
[laws]
short.kernel = "{file}"
"""
AQM = '{ kind = "module", name = "short", parameters = { limit = 30 } }'


def controlled(file: Path, *, cc: str = "reno_again", name: str = "reno_again") -> shoal.Scenario:
    return shoal.Scenario.from_toml(CONTROLLER.format(cc=cc, name=name, file=file))


def queued(file: Path, aqm: str = AQM, cc: str = "reno") -> shoal.Scenario:
    return shoal.Scenario.from_toml(QUEUE.format(aqm=aqm, file=file, cc=cc))


def test_reno_of_another_file_is_the_kernels_reno_byte_for_byte(image: Image) -> None:
    """The module is loaded in both runs: loading one changes the kernel's random numbers, as another build does."""
    texts = [run_on_linux(controlled(RENO, cc=cc), image=image).json for cc in ("reno", "reno_again")]
    assert texts[0] != texts[1]
    kernels, again = (json.loads(text.replace("reno_again", "reno")) for text in texts)
    for result in (kernels, again):
        # The kernel's own is described by policies of the model, which the module's are not.
        result["scenario"]["flows"][0].pop("cc_options", None)
    assert json.dumps(kernels) == json.dumps(again)
    assert sum(flow["losses"] for flow in kernels["groups"][0]["flows"]) > 10


def test_a_result_says_which_module_ran(image: Image) -> None:
    result = run_on_linux(controlled(RENO), image=image)
    scenario = controlled(RENO)
    (module,) = with_laws_of(scenario, image).modules
    (said,) = json.loads(result.json)["linux"]["laws"]
    assert said == {key: value for key, value in module.description.items() if key != "parameters"}
    assert json.loads(result.json)["scenario"]["laws"]["reno_again"]["kernel_sha256"] == said["source_sha256"]
    rules = dict(json.loads(result.json)["linux"]["rules"])
    assert said["module_sha256"] in rules["module `tcp_reno_again`"]


def test_a_queue_takes_parameters_and_options_and_is_the_kernels_fifo_without_a_threshold(image: Image) -> None:
    """At most `limit` packets wait, as in `pfifo`; a threshold marks a sender that asks for it and drops less."""
    module = run_on_linux(queued(SHORT), image=image)
    fifo = run_on_linux(queued(SHORT, '{ kind = "fifo" }').override({"bottleneck.buffer": "30 packets"}), image=image)
    (own,), (kernels,) = (json.loads(result.json)["bottlenecks"] for result in (module, fifo))
    assert own["dropped"] == kernels["dropped"] > 0
    assert own["queue_bytes"] == kernels["queue_bytes"]
    options = AQM.removesuffix(" }") + ", options = [{ attribute = 1, u32 = 10 }] }"
    marks = queued(SHORT, options).override({"flows[0].ecn": "on"})
    (marking,) = json.loads(run_on_linux(marks, image=image).json)["bottlenecks"]
    assert marking["marked"] > 0
    assert marking["dropped"] == 0


def test_parameters_of_a_controller_are_those_of_its_module(image: Image) -> None:
    scenario = controlled(RENO).override({"flows[0].cc_options": {"floor_packets": 4}})
    assert "\nload tcp_reno_again floor_packets=4\n" in plan(scenario, image).config
    wrong = controlled(RENO).override({"flows[0].cc_options": {"floor": 4}})
    with pytest.raises(ScenarioError, match=r"tcp_reno_again\.c has no parameter `floor`(.|\n)*it has: floor_packets"):
        plan(wrong, image)
    wrong = queued(SHORT, AQM.replace("limit =", "limits ="))
    with pytest.raises(ScenarioError, match=r"sch_short\.c has no parameter `limits`(.|\n)*it has: limit"):
        plan(wrong, image)


def test_the_simulator_refuses_kernel_modules_in_words() -> None:
    for scenario, what in ((controlled(RENO), "law `reno_again`"), (queued(SHORT), "queue `short`")):
        with pytest.raises(ScenarioError, match=f"the {what} is a kernel module, of which the simulator knows nothing"):
            shoal.run(scenario)


def test_another_name_than_the_scenarios_is_said_with_both(image: Image, tmp_path: Path) -> None:
    path = with_fault(tmp_path / "tcp_other.c", RENO, '"reno_again"', '"reno_other"')
    with pytest.raises(ModuleError) as caught:
        plan(controlled(path), image)
    place = f"{path}:{line_of(path, 'reno_other')}"
    assert str(caught.value) == f"{place}: the module registers `reno_other`, and the scenario calls it `reno_again`"


def test_an_error_of_the_compiler_ends_the_command_with_the_users_line(image: Image, tmp_path: Path) -> None:
    path = written(tmp_path / "tcp_wrong.c", RENO.read_text().replace("u32 half =", "u32 half = nonsense +"))
    scenario = written(tmp_path / "given.toml", CONTROLLER.format(cc="reno_again", name="reno_again", file=path.name))
    done = subprocess.run(
        [sys.executable, "-m", "shoal", "run", str(scenario), "--on", "linux"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (6, "")
    assert f"{path}:{line_of(path, 'nonsense')}:" in done.stderr


def test_a_null_pointer_is_an_error_with_line_and_call_trace(image: Image, tmp_path: Path) -> None:
    path = with_fault(
        tmp_path / "tcp_null.c",
        RENO,
        "u32 window = tcp_snd_cwnd(tp);",
        "u32 window = *(volatile u32 *)(acked / 9999UL);",
    )
    with pytest.raises(ModuleError) as caught:
        run_on_linux(controlled(path), image=image)
    said = str(caught.value)
    place = f"{path}:{line_of(path, 'volatile')}"
    assert re.match(rf"the guest's kernel crashed at [\d.]+ % of the scenario in `again_cong_avoid`, {place}: ", said)
    assert re.search(rf"\| again_cong_avoid\+0x\w+/0x\w+ \[tcp_null\]  {place}\n(.*\n)*.*\| tcp_ack\+0x", said)


def test_a_failed_check_of_the_module_is_an_error_with_its_line(image: Image, tmp_path: Path) -> None:
    path = with_fault(tmp_path / "tcp_bug.c", RENO, "return max(half", "BUG_ON(half > 2);\n\treturn max(half")
    with pytest.raises(ModuleError, match=rf"`again_ssthresh\S*`, {path}:{line_of(path, 'BUG_ON')}: BUG!"):
        run_on_linux(controlled(path), image=image)


@pytest.mark.parametrize("loop", ["while (READ_ONCE(half)) ;", "while (READ_ONCE(half)) cpu_relax();"])
def test_an_endless_loop_is_an_error_with_its_line(loop: str, image: Image, tmp_path: Path) -> None:
    """The second form waits as kernels do, and virtual time passes in it."""
    path = with_fault(tmp_path / "tcp_loop.c", RENO, "return max(half", f"{loop}\n\treturn max(half")
    with pytest.raises(ModuleError) as caught:
        run_on_linux(controlled(path), image=image, limits=Limits(module_s=2))
    said = str(caught.value)
    place = f"{path}:{line_of(path, 'READ_ONCE')}"
    assert f"`again_ssthresh`, {place}, does not return" in said
    assert re.search(rf"\| again_ssthresh \[tcp_loop\]  {place}\n(.*\n)*.*\| tcp_ack$", said, flags=re.M)


def test_a_loop_in_what_is_called_for_loading_is_an_error(image: Image, tmp_path: Path) -> None:
    path = with_fault(
        tmp_path / "tcp_late.c", RENO, "return tcp_register", "for (;;)\n\t\tcpu_relax();\n\treturn tcp_register"
    )
    with pytest.raises(
        ModuleError, match=rf"{path}:{line_of(path, 'static int __init')}, does not return: at its loading"
    ):
        plan(controlled(path), image)


def test_packets_that_a_queue_never_frees_are_counted(image: Image, tmp_path: Path) -> None:
    path = with_fault(tmp_path / "sch_leak.c", SHORT, "return qdisc_drop(skb, sch, to_free);", "return NET_XMIT_DROP;")
    with pytest.raises(ModuleError) as caught:
        run_on_linux(queued(path), image=image)
    place = f"{path}:{line_of(path, 'static int short_enqueue')}"
    assert re.match(rf"{place}: \d+ packets that `short_enqueue` accepted were neither given back", str(caught.value))


def test_a_queue_that_gives_nothing_although_packets_wait_is_an_error(image: Image, tmp_path: Path) -> None:
    path = with_fault(
        tmp_path / "sch_stuck.c",
        SHORT,
        "return qdisc_dequeue_head(sch);",
        "return sch->q.qlen > 9 ? NULL : qdisc_dequeue_head(sch);",
    )
    with pytest.raises(ModuleError) as caught:
        run_on_linux(queued(path), image=image)
    place = f"{path}:{line_of(path, 'static struct sk_buff *short_dequeue')}"
    assert re.match(rf"{place}: `short_dequeue` has given no packet in the last [\d.]+ s", str(caught.value))


def test_a_reference_that_stays_is_an_error(image: Image, tmp_path: Path) -> None:
    path = with_fault(tmp_path / "tcp_held.c", RENO, "u32 half = ", "u32 half = try_module_get(THIS_MODULE) * 0 + ")
    with pytest.raises(
        ModuleError, match=r"after the run the module cannot be unloaded: \d+ references to it are left"
    ):
        run_on_linux(controlled(path), image=image)


def test_warnings_of_the_kernel_are_shown_with_lines_and_the_result_is_complete(image: Image, tmp_path: Path) -> None:
    path = with_fault(tmp_path / "tcp_warn.c", RENO, "return max(half", "WARN_ON_ONCE(half);\n\treturn max(half")
    line = line_of(path, "WARN_ON")
    with pytest.warns(
        ModuleWarning, match=rf"the guest's kernel warned: tcp_warn\.c:{line} at again_ssthresh(.|\n)*{path}:{line}"
    ):
        result = run_on_linux(controlled(path), image=image)
    assert json.loads(result.json)["groups"][0]["flows"][0]["goodput_bps"] > 1e6


def test_a_file_on_the_command_line_is_compiled_and_loaded(image: Image, tmp_path: Path) -> None:
    text = CONTROLLER.format(cc="reno_again", name="reno_again", file="none.c")
    scenario = written(tmp_path / "given.toml", text[: text.index("[laws]")])
    command = [sys.executable, "-m", "shoal", "run", str(scenario), "--module", str(RENO), "--json"]
    done = subprocess.run([*command, "--on", "linux"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["linux"]["laws"][0]["controllers"] == ["reno_again"]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "add --on linux" in refused.stderr
