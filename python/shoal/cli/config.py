"""``shoal config``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.console import data, talk
from shoal.cli.declare import argument, option
from shoal.cli.options import Json, ScenarioFile, Set, Sizes, read_scenario
from shoal.errors import UsageError
from shoal.files import refuse_foreign, unwritable, write_text

if TYPE_CHECKING:
    from shoal.switch import Switch

app = typer.Typer(
    name="config",
    help="Configurations of switches and of tc: read into laws and scenarios, and written from scenarios.",
    no_args_is_help=True,
    add_completion=False,
)

_first_line = "# Made by `shoal config read`."
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


@app.command("read")
def read(
    file: Annotated[Path, argument("FILE", "A configuration: CONFIG_DB, NX-OS, EOS, OpenConfig, commands of tc.")],
    port_speed: Annotated[str, option("--port-speed", "RATE", "Of the port, as in 100G.")],
    platform: Annotated[
        str | None,
        option("--platform", "NAME", "sonic, ecnconfig, nxos, eos, openconfig or tc; recognised by default."),
    ] = None,
    queue: Annotated[str | None, option("--queue", "N", "Only this queue, by its number or name.")] = None,
    port_name: Annotated[
        str | None,
        option("--port", "NAME", "The port whose queues the scenario has; by default the first that has a law."),
    ] = None,
    switch: _Switch = None,
    cell: _Cell = None,
    segment_bytes: _Segment = None,
    buffer: _Buffer = None,
    rtt: Annotated[
        str, option("--rtt", "TIME", "Round trip of the scenario without queueing; 100us by default.")
    ] = "100us",
    flows: Annotated[
        list[str] | None,
        option(
            "--flows",
            "CC[*COUNT][@QUEUE]",
            "A group of flows of the scenario, and the queue that they join; 'dctcp*4' and 'cubic*4' by default. "
            "Repeatable.",
        ),
    ] = None,
    host: Annotated[
        str | None, option("--host", "PRESET", "Hosts of the scenario; bursting ones by the port speed by default.")
    ] = None,
    not_ect: Annotated[
        str,
        option(
            "--not-ect",
            "drop|pass",
            "What the law of marks does to other packets where the configuration leaves it to the platform; pass by "
            "default.",
        ),
    ] = "pass",
    out: Annotated[
        Path | None,
        option("--out", "FILE", "Write a scenario with DCTCP and CUBIC behind the queue, or behind all of a port."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an older file of this command.")] = False,
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
    from shoal.switch import Document, Port, read_configuration
    from shoal.switch.amounts import USUAL_SEGMENT_BYTES, rate_of, seconds_of
    from shoal.switch.as_json import configuration_json
    from shoal.switch.checks import remarks
    from shoal.switch.reading import read_config_text
    from shoal.switch.several import scenario_of_queues
    from shoal.switch.simulate import Experiment, chosen, groups_of
    from shoal.switch.tables import answer_table, law_table, merged, service_table

    if not_ect not in ("drop", "pass"):
        raise UsageError(f"`--not-ect {not_ect}`", hint="drop or pass")
    device = _device(switch)
    port = Port(
        rate_of(port_speed),
        segment_bytes=segment_bytes or device.segment_bytes or USUAL_SEGMENT_BYTES,
        buffer_bytes=buffer,
        cell_bytes=cell or device.cell_bytes or 1,
    )
    experiment = Experiment(
        port,
        seconds_of(rtt),
        groups=groups_of(flows),
        host=host,
        not_ect=not_ect,
        buffer_bytes=buffer,
        where=device.where,
    )
    text = read_config_text(file)
    found = read_configuration(
        Document(str(file), text, port, device, segment_known=segment_bytes is not None), platform
    )
    queues = chosen(found.queues, queue)
    scenario = None
    if out is not None:
        refuse_foreign(out, _is_ours, what="scenario of `shoal config read`", option="--out", force=force)
        scenario = scenario_of_queues(queues, experiment, file=file.name, port=port_name)
        # It is checked before anything is written.
        Scenario.from_toml(scenario, name=str(out))
    names = {one.name for one in queues}
    own = [remark for remark in found.remarks if not remark.queue or remark.queue in names]
    of_queues = [remark for one in queues for remark in remarks(one, port)]
    said = [*own, *of_queues, *experiment.remarks]
    if json_:
        data.json(json.dumps(configuration_json(found, queues, said, port, file=str(file)), indent=2, allow_nan=False))
    else:
        data.heading(f"{file}: {found.title}, ports of {_gbit(port.rate_bps)}")
        for table in (law_table(queues, port), answer_table(queues), service_table(queues, port)):
            if table is not None:
                data.blank()
                data.table(table)
    for warning, hint in merged(said):
        talk.warning(warning, hint=hint or None)
    if device.assumed:
        talk.note(f"assumed of {device.title}: {', '.join(device.assumed)}")
    if out is not None and scenario is not None:
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            write_text(out, f"{_first_line}\n{scenario}")
        except OSError as error:
            raise unwritable(out, error) from error
        talk.note(f"wrote {out}; `shoal run {out}` runs it")


@app.command("write")
def write(
    scenario: ScenarioFile,
    platform: Annotated[str, option("--platform", "NAME", "sonic, ecnconfig, nxos, eos, openconfig or tc.")],
    set_: Set = None,
    sizes: Sizes = None,
    queue: Annotated[
        int, option("--queue", "N", "Number of the queue on the device; 0 by default.", min=0, max=63)
    ] = 0,
    ports: Annotated[
        list[str] | None, option("--port", "NAME", "A port that gets it, Ethernet0 by default. Repeatable.")
    ] = None,
    profile: Annotated[str, option("--profile", "NAME", "Name of the profile or policy; SHOAL by default.")] = "SHOAL",
    device: Annotated[str, option("--dev", "NAME", "Network device, for tc; eth0 by default.")] = "eth0",
    switch: _Switch = None,
    cell: _Cell = None,
    nxos_non_ecn: Annotated[
        bool, typer.Option("--nxos-non-ecn", help="The device takes `random-detect non-ecn`: two laws (NX-OS).")
    ] = False,
    sonic_ect: Annotated[
        bool,
        typer.Option(
            "--sonic-ect-thresholds", help="Write thresholds of ECT packets alone: a proposal, in no released SONiC."
        ),
    ] = False,
    with_limit: Annotated[
        bool,
        typer.Option(
            "--with-limit", help="Write what queues may hold, as limits or dynamic thresholds (NX-OS, SONiC)."
        ),
    ] = False,
    pool: Annotated[
        str, option("--pool", "NAME", "The device's pool, for --with-limit on SONiC; egress_lossy_pool by default.")
    ] = "egress_lossy_pool",
    with_map: Annotated[
        bool,
        typer.Option(
            "--with-map",
            help="Write which code points go to which queue: a map for the whole device (SONiC, NX-OS, EOS).",
        ),
    ] = False,
    current: Annotated[
        str | None,
        option("--current", "MIN:MAX", "Thresholds in bytes that the profile has now, for the order of ecnconfig."),
    ] = None,
    out: Annotated[Path | None, option("--out", "FILE", "Write it to a new file instead of printing it.")] = None,
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

    chosen = find_platform(platform)
    given = read_scenario(scenario, set_, sizes=sizes)
    if out is not None and (out.exists() or out.is_symlink()):
        raise UsageError(f"`{out}` already exists", hint="choose another --out")
    text, remarks = write_configuration(
        given,
        chosen,
        index=queue,
        cell_bytes=cell,
        switch=_device(switch),
        ports=ports or ("Ethernet0",),
        profile=profile,
        device=device,
        has_non_ecn=nxos_non_ecn,
        has_ect_thresholds=sonic_ect,
        has_limit=with_limit,
        pool=pool,
        has_map=with_map,
        current=_current(current),
    )
    for warning, hint in remarks:
        talk.warning(warning, hint=hint or None)
    if out is None:
        data.text(text)
        return
    try:
        write_text(out, text)
    except OSError as error:
        raise unwritable(out, error) from error
    talk.note(f"wrote {out}")


def _device(name: str | None) -> Switch:
    from shoal.switch import Switch, find_switch

    return Switch() if name is None else find_switch(name)


def _gbit(rate_bps: int) -> str:
    from shoal.stats import single
    from shoal.words import rate

    return rate(single(float(rate_bps)))


def _current(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    least, colon, most = text.partition(":")
    if not (colon and least.isdecimal() and most.isdecimal() and int(least) <= int(most)):
        raise UsageError(f"`--current {text}` is not MIN:MAX", hint="two numbers of bytes, as in 1048576:2097152")
    return int(least), int(most)


def _is_ours(path: Path) -> bool:
    return path.read_bytes().startswith(_first_line.encode())
