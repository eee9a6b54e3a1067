"""``shoal advise``."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.exceptions import Exit

from shoal._toml import read_toml
from shoal.cli import options
from shoal.cli.console import data, talk
from shoal.cli.declare import argument, option
from shoal.cli.on_linux import find_linux
from shoal.cli.out import keep_command, results_in, say_written, this_command
from shoal.cli.platform_options import listed
from shoal.errors import UsageError
from shoal.models import nearest

if TYPE_CHECKING:
    from shoal.advise import Advice, Question
    from shoal.advise.joining import Joined
    from shoal.compare import Comparison
    from shoal.linux import Image

# Pairs of runs on the simulator and on the kernel.
_proof_seeds = 5

_Rtt = Annotated[
    list[str] | None,
    option("--rtt", "TIME", "Round trip without queueing, as in '100 us'. Repeatable: the first is the usual one."),
]


def advise(
    file: Annotated[
        Path | None, argument("[FILE]", "A TOML file with the answers: keys are the options without dashes.")
    ] = None,
    rate: Annotated[str | None, option("--rate", "RATE", "Speed of the port, as in '10 Gbit/s'.")] = None,
    rtt: _Rtt = None,
    buffer: Annotated[
        str | None,
        option("--buffer", "SIZE", "What may wait, as in '2 MB' or '1 ms'. Usual: 1 ms in a switch, 100 ms on Linux."),
    ] = None,
    device: Annotated[
        str | None,
        option("--device", "switch|linux", "Of the port; by default a switch if the round trip is at most 2 ms."),
    ] = None,
    hosts: Annotated[
        str | None,
        option(
            "--hosts",
            "PRESET",
            "One of `shoal list hosts`; by the speed of the port by default. `linux-6-gso` where offloads are off.",
        ),
    ] = None,
    flows: Annotated[int | None, option("--flows", "N", "Long flows at a time; 8 by default.")] = None,
    share: Annotated[
        float | None, option("--share", "PART", "Part of the flows that are scalable, 0 to 1; 0.5 by default.")
    ] = None,
    scalable: Annotated[str | None, option("--scalable", "CC", "Their controller; dctcp by default.")] = None,
    classic: Annotated[str | None, option("--classic", "CC", "That of the others; cubic by default.")] = None,
    untrusted: Annotated[
        bool | None, typer.Option("--untrusted/--trusted", help="Whether senders may ignore marks.")
    ] = None,
    incast: Annotated[
        int | None, option("--incast", "N", "Scalable senders that answer at once; none by default.")
    ] = None,
    response: Annotated[str | None, option("--response", "SIZE", "Size of such an answer; '32 kB' by default.")] = None,
    goal: Annotated[
        str | None, option("--goal", "GOAL", "balanced, fair, delay or throughput; balanced by default.")
    ] = None,
    separate: Annotated[
        bool | None,
        typer.Option(
            "--separate/--no-separate", help="Whether hosts can set a code point (DSCP) for a queue of its own."
        ),
    ] = None,
    platform: Annotated[
        list[str] | None,
        option("--platform", "NAME", f"Write the configuration for it: {listed}. Repeatable."),
    ] = None,
    prove: Annotated[
        bool,
        typer.Option(
            "--prove", help="Run the traffic as asked on the real kernel, too, and compare (see `shoal linux`)."
        ),
    ] = False,
    out: options.Out = None,
    figure_width: options.FigureWidth = None,
    force: options.Force = False,
    as_json: options.Json = False,
    workers: options.Workers = None,
    fresh: options.Fresh = False,
) -> None:
    """Recommend a queue for a port, from what its traffic does behind each law that the port can have.

    Laws and their parameters are tried in the traffic as asked; the best of each kind in other situations, too, and the
    recommended one with other parameters and other traffic. What is not said takes usual values, which are named. On a
    terminal the rate and the round trip are asked for.

    [bold]Examples[/]

      shoal advise --rate '25 Gbit/s' --rtt '50 us' --incast 32 --platform sonic --platform nxos
      shoal advise --rate '100 Mbit/s' --rtt '20 ms' --untrusted --platform tc --out results/gateway
      shoal advise port.toml --goal delay
    """
    given = _from_file(file) if file is not None else {}
    said = {
        "rate": rate, "rtt": rtt, "buffer": buffer, "device": device, "hosts": hosts, "flows": flows, "share": share,
        "scalable": scalable, "classic": classic, "untrusted": untrusted, "incast": incast, "response": response,
        "goal": goal, "separate": separate, "platform": platform,
    }  # fmt: skip
    given |= {key: value for key, value in said.items() if value is not None}
    _ask(given)
    platforms = _platforms(given.pop("platform", []))
    question = _question(given)
    from shoal.advise import Verdict
    from shoal.advise import advise as find
    from shoal.advise.joining import joining

    # That there is a kernel is known before anything runs.
    image = find_linux() if prove else None
    with results_in(out, force=force, figure_width=figure_width) as folder:
        advice = find(question, workers=workers, cache=options.kept_runs(fresh=fresh), progress=True)
        joined = joining(advice, workers=workers, cache=options.kept_runs(fresh=fresh), progress=True)
        configurations = _configurations(advice, platforms, workers=workers, fresh=fresh)
        proof = _proof(advice, image, workers=workers, fresh=fresh) if image is not None else None
        text = _as_json(advice, joined, configurations, proof)
        if folder is not None:
            from shoal.report.advice import write_advice

            write_advice(folder, advice, joined, configurations, text, command=this_command())
            keep_command(folder)
            if proof is not None and out is not None:
                from shoal.compare.write import write_into

                (folder / "proof").mkdir()
                write_into(proof, folder / "proof", command=this_command(), out=out / "proof")
    say_written(out)
    if as_json:
        data.json(text)
    else:
        _show(advice, joined, configurations, proof)
    if advice.verdict is Verdict.NONE:
        raise Exit(5)


# Keys of a file, and of what type they are.
_keys: dict[str, tuple[type, ...]] = {
    "rate": (str,),
    "rtt": (str, list),
    "buffer": (str,),
    "device": (str,),
    "hosts": (str,),
    "flows": (int,),
    "share": (float, int),
    "scalable": (str,),
    "classic": (str,),
    "untrusted": (bool,),
    "incast": (int,),
    "response": (str,),
    "goal": (str,),
    "separate": (bool,),
    "platform": (str, list),
}


def _from_file(file: Path) -> dict[str, Any]:
    from shoal.scenario import read_text

    try:
        table = read_toml(read_text(file), file)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"`{file}` is not TOML: {error}", hint='as in rate = "10 Gbit/s"') from None
    for key, value in table.items():
        if key not in _keys:
            raise UsageError(f"`{file}`: there is no key `{key}`", hint=nearest(key, list(_keys)))
        if not isinstance(value, _keys[key]) or (isinstance(value, bool) and bool not in _keys[key]):
            kinds = " or ".join(
                {str: "a text", list: "a list", int: "a whole number", float: "a number", bool: "true or false"}[kind]
                for kind in _keys[key]
            )
            raise UsageError(f"`{file}`: `{key}` is {value!r}", hint=f"it takes {kinds}")
    return table


def _ask(given: dict[str, Any]) -> None:
    """Ask for what must be known, if there is somebody to ask."""
    questions = (("rate", "Speed of the port", "10 Gbit/s"), ("rtt", "Round trip without queueing", "100 us"))
    for key, words, usual in questions:
        if given.get(key):
            continue
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise UsageError(
                f"the {words.lower()} is not known", hint=f"add --{key} '{usual}', or write {key} in a file"
            )
        given[key] = typer.prompt(words, default=usual, err=True)


def _question(given: Mapping[str, Any]) -> Question:
    from shoal.advise import Device, Goal, Question

    times = given["rtt"] if isinstance(given["rtt"], list) else [given["rtt"]]
    if not times or not all(isinstance(time, str) for time in times):
        raise UsageError(f"`rtt` is {times!r}", hint='times are texts, as in "100 us"')
    names = {"share": "scalable_share", "separate": "may_separate"}
    keys = {names.get(key, key): value for key, value in given.items() if key not in ("rtt", "untrusted")}
    if "goal" in keys:
        keys["goal"] = _one_of(Goal, "goal", keys["goal"])
    if "device" in keys:
        keys["device"] = _one_of(Device, "device", keys["device"])
    return Question(rtt=times[0], other_rtts=tuple(times[1:]), is_trusted=not given.get("untrusted", False), **keys)


def _one_of(kind: type[Any], what: str, word: str) -> Any:
    known = [str(member) for member in kind]
    if word not in known:
        raise UsageError(f"there is no {what} `{word}`", hint=nearest(word, known))
    return kind(word)


def _platforms(names: str | Sequence[str]) -> list[str]:
    from shoal.switch import find_platform

    return [find_platform(name).name for name in ([names] if isinstance(names, str) else names)]


def _configurations(
    advice: Advice, platforms: Sequence[str], *, workers: int | None, fresh: bool
) -> dict[str, tuple[str, list[str]]]:
    """For each platform its configuration, or why it has none; and what was rounded or is lost."""
    from shoal.advise.configuring import configuration

    cache = options.kept_runs(fresh=fresh)
    return {name: configuration(advice, name, workers=workers, cache=cache) for name in platforms}


def _show(
    advice: Advice,
    joined: Joined | None,
    configurations: Mapping[str, tuple[str, list[str]]],
    proof: Comparison | None,
) -> None:
    from shoal.advise import wording
    from shoal.advise.joining import sentence

    for line in wording.verdict(advice):
        data.sentence(line)
    data.blank()
    for table in (
        wording.ranking_table(advice),
        wording.situation_table(advice.recommended),
        wording.around_table(advice),
    ):
        data.table(table)
        data.blank()
    data.sentence(wording.fails(advice))
    if joined is not None:
        data.sentence(sentence(advice, joined))
    data.blank()
    data.heading("Taken for granted")
    for line in advice.question.assumptions:
        data.sentence(f"- {line}")
    data.heading("Not modelled")
    for line in wording.not_modelled(advice):
        data.sentence(f"- {line}")
    for name, (text, remarks) in configurations.items():
        data.blank()
        data.heading(f"For {name}")
        data.text(text)
        for remark in remarks:
            talk.warning(f"{name}: {remark}")
    if proof is not None:
        from shoal.compare.tables import head, verdicts

        for table in (verdicts(proof), head(proof)):
            data.blank()
            data.table(table)
    talk.note(f"{advice.screened} laws, {advice.runs} runs; the last measured {advice.length.measured_s:g} s each")


def _proof(advice: Advice, image: Image, *, workers: int | None, fresh: bool) -> Comparison:
    """The traffic as asked behind the recommended law on both planes, for a shorter time than decided."""
    from shoal.advise.advising import to_prove
    from shoal.compare import compare

    return compare(
        [("as-asked", to_prove(advice))],
        seeds=_proof_seeds,
        image=image,
        workers=workers,
        cache=options.kept_runs(fresh=fresh),
        progress=True,
    )


def _as_json(
    advice: Advice,
    joined: Joined | None,
    configurations: Mapping[str, tuple[str, list[str]]],
    proof: Comparison | None,
) -> str:
    from shoal.advise.contract import as_dict

    content = as_dict(advice)
    content["joining"] = None if joined is None else joined.to_dict()
    content["configurations"] = {
        name: {"text": text, "remarks": remarks} for name, (text, remarks) in configurations.items()
    }
    content["proof"] = None if proof is None else json.loads(proof.json)
    return json.dumps(content, indent=2, allow_nan=False) + "\n"
