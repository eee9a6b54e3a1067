"""``shoal config``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from shoal.cli.console import data, talk
from shoal.cli.declare import argument, option
from shoal.cli.options import Fresh, Json, ScenarioFile, Set, Sizes, Workers, kept_runs, read_scenario
from shoal.cli.platform_options import listed, with_platform_options
from shoal.errors import UsageError, nearest
from shoal.files import make_parent, refuse_foreign, reserved, unwritable, write_text

if TYPE_CHECKING:
    from shoal.switch import Configuration, Port, Queue, Remark, Switch
    from shoal.switch.simulate import Experiment

app = typer.Typer(
    name="config",
    help="Configurations of switches and of tc: read into laws and scenarios, and written from scenarios.",
    no_args_is_help=True,
    add_completion=False,
)

_first_line = "# Made by `shoal config read`."
_File = Annotated[Path, argument("FILE", "A configuration of a platform, or commands of tc.")]
_PortSpeed = Annotated[
    str | None, option("--port-speed", "RATE", "Of the port, as in 100G; by default that of the ports in the file.")
]
_Recognised = Annotated[str | None, option("--platform", "NAME", f"{listed}; recognised by default.")]
_Platform = Annotated[str, option("--platform", "NAME", f"{listed}.")]
_OneQueue = Annotated[str | None, option("--queue", "N", "Only this queue, by its number or name.")]
_Index = Annotated[int, option("--queue", "N", "Number of the queue on the device; 0 by default.", min=0, max=63)]
_Port = Annotated[
    str | None,
    option("--port", "NAME", "The port whose queues the scenario has; by default the first that has a law."),
]
_Switch = Annotated[
    str | None, option("--switch", "NAME", "The device, of `shoal list switches`: its cells, and where it decides.")
]
_Cell = Annotated[int | None, option("--cell", "BYTES", "Packets occupy whole cells of this size.", min=1)]
_Buffer = Annotated[
    int | None, option("--buffer", "BYTES", "What the queue may hold, if the configuration does not say it.", min=1)
]
_Segment = Annotated[
    int | None,
    option("--segment-bytes", "BYTES", "Size of a segment, a unit of EOS; 208 if the device is not known.", min=1),
]
_Colour = Annotated[
    str | None,
    option(
        "--colour",
        "green|yellow|red",
        "The colour of the packets whose laws are read, or drop precedence 0, 1, 2 of EOS; green by default.",
    ),
]
_Rtt = Annotated[str, option("--rtt", "TIME", "Round trip of the scenario without queueing; 100us by default.")]
_Flows = Annotated[
    list[str] | None,
    option(
        "--flows",
        "CC[*COUNT][@QUEUE]",
        "A group of flows of the scenario, and the queue that they join; 'dctcp*4' and 'cubic*4' by default. "
        "Repeatable.",
    ),
]
_Host = Annotated[
    str | None, option("--host", "PRESET", "Hosts of the scenario; bursting ones by the port speed by default.")
]
_NotEct = Annotated[
    str,
    option(
        "--not-ect",
        "drop|pass",
        "What the law of marks does to other packets where the configuration leaves it to the platform; pass by "
        "default.",
    ),
]
_Scenario = Annotated[
    Path | None,
    option("--out", "FILE", "Write a scenario with DCTCP and CUBIC behind the queue, or behind all of a port."),
]
_Force = Annotated[bool, typer.Option("--force", help="Replace an older file of this command.")]
_Written = Annotated[Path | None, option("--out", "FILE", "Write it to a new file instead of printing it.")]


@app.command("read")
def read(
    file: _File,
    port_speed: _PortSpeed = None,
    platform: _Recognised = None,
    queue: _OneQueue = None,
    port_name: _Port = None,
    switch: _Switch = None,
    cell: _Cell = None,
    segment_bytes: _Segment = None,
    buffer: _Buffer = None,
    colour: _Colour = None,
    rtt: _Rtt = "100us",
    flows: _Flows = None,
    host: _Host = None,
    not_ect: _NotEct = "pass",
    out: _Scenario = None,
    force: _Force = False,
    json_: Json = False,
) -> None:
    """Say what a configuration does to packets, and make a scenario of it.

    Thresholds are shown as written, in bytes, and as waiting time at the speed of the port. Only statements about
    queues are read; nothing else of the file is kept or shown. Where queues of a port have different laws, and none is
    chosen, the scenario has all of them with their scheduler.

    [bold]Examples[/]

      shoal config read qos.json --port-speed 100G
      shoal config read running-config.txt --port-speed 25G --queue 3 --out queue3.toml
    """
    from shoal.scenario import Scenario
    from shoal.switch.checks import remarks
    from shoal.switch.several import scenario_of_queues
    from shoal.switch.simulate import chosen, groups_of

    opened = _opened(file, port_speed, platform, _device(switch, colour), cell, segment_bytes, buffer)
    configuration, port, device = opened
    experiment = replace(_experiment(opened, rtt, host, not_ect), groups=groups_of(flows))
    queues = chosen(configuration.queues, queue)
    scenario = None
    if out is not None:
        _refuse_scenario(out, force=force)
        scenario = scenario_of_queues(queues, experiment, file=file.name, port=port_name)
        # It is checked before anything is written.
        Scenario.from_toml(scenario, name=str(out))
    doubts = [remark for each in queues for remark in remarks(each, port)]
    noted = [*configuration.remarks_on(queues), *doubts, *experiment.remarks]
    _show(configuration, queues, noted, port, file=file, as_json=json_)
    if device.assumed:
        talk.note(f"assumed of {device.title}: {', '.join(device.assumed)}")
    if out is not None and scenario is not None:
        make_parent(out)
        with reserved(out):
            _refuse_scenario(out, force=force)
            _write(out, f"{_first_line}\n{scenario}")
        talk.note(f"wrote {out}; `shoal run {out}` runs it")


@app.command("judge")
def judge(
    file: _File,
    port_speed: _PortSpeed = None,
    platform: _Recognised = None,
    queue: _OneQueue = None,
    switch: _Switch = None,
    cell: _Cell = None,
    segment_bytes: _Segment = None,
    buffer: _Buffer = None,
    colour: _Colour = None,
    rtt: _Rtt = "100us",
    host: _Host = None,
    not_ect: _NotEct = "pass",
    json_: Json = False,
    workers: Workers = None,
    fresh: Fresh = False,
) -> None:
    """Say which queues of a configuration starve CUBIC, and which DCTCP; worst first.

    Each queue is simulated alone at the speed of its port: four DCTCP flows with four of CUBIC, which once do not ask
    for ECN and once do. What they get is shown as a part of a fair share, mean of three seeds.

    [bold]Examples[/]

      shoal config judge qos.json --port-speed 25G
      shoal config judge running-config.txt --port-speed 10G --rtt 200us --queue 3
    """
    from shoal.stats import single
    from shoal.switch.judging import judge as judged
    from shoal.switch.judging import judgement_json, judgement_table
    from shoal.switch.simulate import chosen
    from shoal.switch.tables import merged
    from shoal.words import rate

    opened = _opened(file, port_speed, platform, _device(switch, colour), cell, segment_bytes, buffer)
    experiment = _experiment(opened, rtt, host, not_ect)
    queues = chosen(opened.configuration.queues, queue)
    judgements = judged(queues, experiment, workers=workers, cache=kept_runs(fresh=fresh), progress=True)
    if json_:
        content = {"schema": 1, "file": str(file), "platform": opened.configuration.platform}
        data.json(json.dumps({**content, "queues": judgement_json(judgements)}, indent=2, allow_nan=False))
    else:
        data.heading(
            f"{file}: {opened.configuration.title}, each queue alone at "
            f"{rate(single(float(opened.port.rate_bps)))}, round trip {rtt}"
        )
        data.table(judgement_table(judgements))
        for text in dict.fromkeys(
            f"Queue {each.queue.name}, beside {each.beside}, {each.verdict}: {why}."
            for each in judgements
            for why in each.mechanisms
        ):
            data.sentence(text)
    noted = [*opened.configuration.remarks_on(queues), *dict.fromkeys(experiment.remarks)]
    _warn(merged(noted))


class _Opened(NamedTuple):
    """A configuration that was read, with the port and the device."""

    configuration: Configuration
    port: Port
    device: Switch


def _opened(
    file: Path,
    port_speed: str | None,
    platform: str | None,
    device: Switch,
    cell: int | None,
    segment_bytes: int | None,
    buffer: int | None,
) -> _Opened:
    from shoal.switch import Document, Port, find_platform, recognised
    from shoal.switch.amounts import USUAL_SEGMENT_BYTES, rate_of
    from shoal.switch.reading import read_config_text

    segment = segment_bytes or device.segment_bytes or USUAL_SEGMENT_BYTES
    cells = cell or device.cell_bytes or 1
    port = Port(rate_of(port_speed or "1G"), segment_bytes=segment, buffer_bytes=buffer, cell_bytes=cells)
    document = Document(str(file), read_config_text(file), port, device, segment_known=segment_bytes is not None)
    chosen = recognised(document) if platform is None else find_platform(platform)
    if port_speed is None:
        rates = sorted(chosen.stated_rates_bps(document))
        if len(rates) != 1:
            speeds = " and ".join(f"{rate / 1e9:g}" for rate in rates)
            what = f"its ports have {speeds} Gbit/s" if rates else "it does not have the speed of its ports"
            raise UsageError(f"`{file}`: {what}", hint="add --port-speed RATE, as in 100G")
        port = replace(port, rate_bps=rates[0])
        document = replace(document, port=port)
    return _Opened(chosen.read(document), port, device)


def _experiment(opened: _Opened, rtt: str, host: str | None, not_ect: str) -> Experiment:
    """What is run behind queues of a port, with the usual groups of flows."""
    from shoal.switch.amounts import seconds_of
    from shoal.switch.simulate import Experiment

    if not_ect not in ("drop", "pass"):
        raise UsageError(f"`--not-ect {not_ect}`", hint="drop or pass")
    port = opened.port
    usual = Experiment.groups
    return Experiment(port, seconds_of(rtt), usual, host, not_ect, port.buffer_bytes, where=opened.device.where)


@app.command("write")
@with_platform_options
def write(
    scenario: ScenarioFile,
    platform: _Platform,
    set_: Set = None,
    sizes: Sizes = None,
    queue: _Index = 0,
    switch: _Switch = None,
    cell: _Cell = None,
    out: _Written = None,
    platform_options: Mapping[str, object] = MappingProxyType({}),
) -> None:
    """Write the configuration of a scenario's queue for a platform.

    Thresholds are converted and rounded up; what was rounded is said. What the platform cannot express is refused, with
    the reason.

    [bold]Examples[/]

      shoal config write coexistence --platform nxos --nxos-non-ecn
      shoal config write step-single --platform sonic --queue 3 --port Ethernet0 --port Ethernet4
      shoal config write codel --platform tc --dev eth1
    """
    from shoal.switch import find_platform
    from shoal.switch.emit import write_configuration
    from shoal.switch.platforms import options_of

    writer = find_platform(platform)
    options = options_of(writer, platform_options)
    source = read_scenario(scenario, set_, sizes=sizes)
    _refuse_existing(out)
    text, remarks = write_configuration(source, writer, options, index=queue, cell_bytes=cell, switch=_device(switch))
    _warn(remarks)
    if out is None:
        data.text(text)
    else:
        make_parent(out)
        with reserved(out):
            _refuse_existing(out)
            _write(out, text)
        talk.note(f"wrote {out}")


def _device(name: str | None, colour: str | None = None) -> Switch:
    from shoal.switch import COLOURS, Switch, find_switch

    device = Switch() if name is None else find_switch(name)
    if colour is None:
        return device
    if colour not in COLOURS:
        raise UsageError(f"no packets are called `{colour}`", hint=nearest(colour, COLOURS))
    return replace(device, colour=colour)


def _show(
    configuration: Configuration,
    queues: Sequence[Queue],
    remarks: Sequence[Remark],
    port: Port,
    *,
    file: Path,
    as_json: bool,
) -> None:
    from shoal.stats import single
    from shoal.switch.as_json import configuration_json
    from shoal.switch.tables import answer_table, law_table, merged, service_table
    from shoal.words import rate

    if as_json:
        content = configuration_json(configuration, queues, remarks, port, file=str(file))
        data.json(json.dumps(content, indent=2, allow_nan=False))
    else:
        data.heading(f"{file}: {configuration.title}, ports of {rate(single(float(port.rate_bps)))}")
        for table in (law_table(queues, port), answer_table(queues), service_table(queues, port)):
            if table is not None:
                data.blank()
                data.table(table)
    _warn(merged(remarks))


def _warn(remarks: Sequence[tuple[str, str]]) -> None:
    for warning, hint in remarks:
        talk.warning(warning, hint=hint or None)


def _refuse_scenario(out: Path, *, force: bool) -> None:
    refuse_foreign(out, _is_ours, what="scenario of `shoal config read`", option="--out", force=force)


def _refuse_existing(out: Path | None) -> None:
    if out is not None and (out.exists() or out.is_symlink()):
        raise UsageError(f"`{out}` already exists", hint="choose another --out")


def _write(path: Path, text: str) -> None:
    try:
        write_text(path, text)
    except OSError as error:
        raise unwritable(path, error) from error


def _is_ours(path: Path) -> bool:
    return path.read_bytes().startswith(_first_line.encode())
