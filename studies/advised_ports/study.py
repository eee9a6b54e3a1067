"""What `shoal advise` recommends for eight ports: evidence, configurations, and whether Linux loads them.

With `--set folder=FOLDER` results go there, and a port that has results in it is not asked again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal import Scenario
from shoal.errors import ShoalError
from shoal.stats import single
from shoal.words import milliseconds
from shoal_dev.study import Study
from shoal_dev.tables import table

_SWITCHES = ("sonic", "nxos", "eos", "openconfig")


@dataclass(frozen=True)
class Port:
    """A port that is asked about."""

    name: str
    rate: str
    rtt: str
    incast: int = 0

    @property
    def arguments(self) -> list[str]:
        """What `shoal advise` is given."""
        words = ["--rate", self.rate, "--rtt", self.rtt]
        if self.incast:
            platforms = [word for name in _SWITCHES for word in ("--platform", name)]
            return [*words, "--incast", str(self.incast), *platforms]
        return [*words, "--untrusted", "--platform", "tc"]

    @property
    def title(self) -> str:
        """What the table calls it."""
        network = f"data centre, incast of {self.incast}" if self.incast else "access, senders not trusted"
        return f"{self.rate}, {self.rtt}: {network}"


PORTS = (
    Port("1g", "1 Gbit/s", "200 us", incast=16),
    Port("10g", "10 Gbit/s", "100 us", incast=16),
    Port("25g", "25 Gbit/s", "50 us", incast=32),
    Port("100g", "100 Gbit/s", "50 us", incast=32),
    Port("access-10m", "10 Mbit/s", "20 ms"),
    Port("access-40m", "40 Mbit/s", "20 ms"),
    Port("access-100m", "100 Mbit/s", "20 ms"),
    Port("access-1000m", "1 Gbit/s", "20 ms"),
)


def asked(port: Port, folder: Path) -> dict[str, Any]:
    """The advice for a port, which stays in a folder."""
    answer, took = folder / port.name, folder / f"{port.name}.took.json"
    if not took.exists():
        start_s, before = time.monotonic(), os.times()
        command = ["shoal", "advise", *port.arguments, "--fresh", "--force", "--out", str(answer)]
        done = subprocess.run(
            [str(Path(sys.executable).with_name("shoal")), *command[1:]],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        # Nothing meets the goal: an answer, too.
        if done.returncode not in (0, 5):
            raise SystemExit(f"{' '.join(command)}: {done.stderr}")
        after = os.times()
        cpu_s = after.children_user - before.children_user + after.children_system - before.children_system
        took.write_text(json.dumps({"wall_s": time.monotonic() - start_s, "cpu_s": cpu_s}), encoding="utf-8")
    advice: dict[str, Any] = json.loads((answer / "advice.json").read_text(encoding="utf-8"))
    return advice | json.loads(took.read_text(encoding="utf-8"))


def law(candidate: dict[str, Any]) -> str:
    """A law with its parameters."""
    return candidate["law"] + ": " + ", ".join(f"{key} {value}" for key, value in candidate["parameters"].items())


def number(value: dict[str, Any] | None, form: str = "{:.2f}", factor: float = 1.0) -> str:
    """A mean."""
    return "-" if value is None else form.format(value["mean"] * factor)


def delay(value: dict[str, Any] | None) -> str:
    """A mean time."""
    return "-" if value is None else milliseconds(single(value["mean"]))


def ratio(unequal: float | None) -> str:
    """How much more one kind of flow gets."""
    return "-" if unequal is None else f"{unequal:.2f}"


def summary(port: Port, advice: dict[str, Any]) -> tuple[str, ...]:
    """The row of a port."""
    best = advice["recommended"]
    mix = best["situations"][0]
    judged = best["judged"]
    fails = [change["what"] for change in advice["around"] if change["judged"]["missed"]]
    busy = "-" if judged["utilisation"] is None else f"{judged['utilisation']:.1%}"
    return (
        port.title,
        f"**{advice['verdict']}**: {law(best)}",
        number(mix["ratio"]),
        delay(mix["scalable_p99_s"]),
        delay(mix["classic_p99_s"]),
        f"{ratio(judged['unequal'])} times, {busy} busy",
        "; ".join(judged["missed"]) or "nothing",
        "; ".join(fails) or "none of what was tried",
        f"{advice['runs']} in {advice['wall_s']:.0f} s",
    )


def ranking(advice: dict[str, Any]) -> str:
    """The best of each kind, by its worst situation."""
    rows = []
    for candidate in advice["ranking"]:
        judged = candidate["judged"]
        times = [
            "-" if judged[key] is None else milliseconds(single(judged[key]))
            for key in ("scalable_p99_s", "classic_p99_s", "incast_p99_s")
        ]
        busy = "-" if judged["utilisation"] is None else f"{judged['utilisation']:.1%}"
        missed = "; ".join(judged["missed"]) or "nothing"
        rows.append((law(candidate), ratio(judged["unequal"]), busy, *times, missed))
    heads = ("law", "most unequal", "least busy", "scalable P99", "classic P99", "incast P99", "misses")
    return table(heads, rows, "lrrrrrl")


def loaded(folder: Path, text: str) -> str:
    """Whether the real `tc` and the real kernel make the queue of the scenario of some lines."""
    from shoal.linux import LinuxError, find_image, plan, tc

    try:
        image = find_image()
    except LinuxError as error:
        return f"Not loaded: {error}."
    try:
        made = tc.load(tc.lines_of(text), image)
        planned = tc.configured(tc.as_planned(plan(Scenario.from_file(folder / "scenario.toml"), image).config), image)
    except ShoalError as error:
        return f"**Refused**: {error}"
    same = "the same options as the Linux plane's own" if made.queues == planned else "**other options than expected**"
    return f"Loaded by Linux {image.release} with {made.tc.split(' ')[0]}: {same}. It shows `{made.shown.strip()}`"


def configurations(port: Port, folder: Path) -> list[str]:
    """The configurations of a port."""
    lines: list[str] = []
    for path in sorted((folder / port.name).glob("*.txt")):
        if path.stem == "command":
            continue
        text = path.read_text(encoding="utf-8").strip()
        if text.startswith("cannot be expressed"):
            lines += [f"- **{path.stem}** {text.splitlines()[0]}", ""]
            continue
        if len(text.splitlines()) > 60:
            lines += [f"- **{path.stem}**: {len(text.splitlines())} lines, written by the command above", ""]
            continue
        lines += [f"**{path.stem}**", "", "<!-- not run: a fragment for a device, which no tool here executes -->", ""]
        lines += ["```text", text, "```", ""]
        if path.stem == "tc":
            lines += [loaded(folder / port.name, text), ""]
    return lines


HEADS = ("port", "recommended", "scalable/classic rate", "scalable P99", "classic P99", "worst situation", "misses")
HEADS += ("does not hold with", "runs")


def measure(*, folder: str = "") -> Iterator[str]:
    """A row a port, and a section for each."""
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(folder or temporary)
        root.mkdir(parents=True, exist_ok=True)
        answers = {port: asked(port, root) for port in PORTS}
        yield f"Wall time on {os.cpu_count()} cores, nothing cached. The goal is `balanced`: {goal(answers)}"
        yield table(HEADS, [summary(port, advice) for port, advice in answers.items()], "llrrrlllr")
        yield "Rates and delays are those of the traffic as asked: four flows of each kind."
        for port, advice in answers.items():
            words = " ".join(f"'{word}'" if " " in word else word for word in port.arguments)
            yield f"## {port.title}\n\n<!-- not run: two minutes on two processors -->"
            yield f"```sh\nshoal advise {words}\n```"
            yield "\n\n".join(advice["answer"])
            yield ranking(advice)
            yield "Assumed: " + "; ".join(advice["assumptions"]) + ". Not modelled:"
            yield "\n".join(f"- {omission}" for omission in advice["not_modelled"])
            yield "\n".join(configurations(port, root)).rstrip()


def goal(answers: dict[Port, dict[str, Any]]) -> str:
    """What the goal asks for, in the words of the command."""
    line = next(line for advice in answers.values() for line in advice["answer"] if line.startswith("Goal "))
    return line.partition(": ")[2]


STUDY = Study(
    title="Advice for eight ports",
    about="[how to ask](../how-to/ask-for-advice.md)",
    measure=measure,
    needs=("kernel",),
    takes="about six minutes",
    of_a_machine=True,
)
