"""``shoal bpf``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.console import data, talk
from shoal.cli.declare import argument, option
from shoal.linux.marking_bias import ROWS
from shoal.table import Table

app = typer.Typer(
    name="bpf",
    help="Congestion controllers and markers as BPF programs in the kernel of this machine: no module, no reboot.",
    no_args_is_help=True,
    add_completion=False,
)

Program = Annotated[
    str,
    argument(
        "PROGRAM",
        "Name of a program: dctcp_ikr or dctcp_onesided (congestion controls); mark_step, mark_coupled or "
        "mark_dualred (markers).",
    ),
]
Device = Annotated[str | None, option("--device", "NAME", "The network interface of a marker.")]


def bias() -> str:
    """What marking before enqueueing does otherwise, as help shows it."""
    laws: dict[str, list[str]] = {}
    for law, rate, change, at_departure, before in ROWS:
        laws.setdefault(law, []).append(f"  {rate}: {change}; {at_departure} and {before}")
    lines = "\n\n".join("\n".join((f"{law}:", *rows)) for law, rows in laws.items())
    return (
        "What a marker does otherwise than a queue that marks at departure, as docs/records/marking-before-enqueue.md "
        "has it from the simulator. By rate: the change of the mean delay with its 95 % confidence; DCTCP's share at "
        f"departure, and before enqueueing.\n\n{lines}"
    )


@app.command("build")
def build() -> None:
    """Compile the programs and their loader on this machine, once; later calls find them.

    Needs clang, cargo (Rust 1.85 or newer), gcc, make, pkg-config and the headers of libbpf, libelf and zlib, but no
    root; what is missing is named with its package. Cargo fetches the loader's libraries (libbpf-rs) from its registry
    the first time. The result lies in the user's cache folder.

    [bold]Example[/]

      shoal bpf build
    """
    from shoal.linux import bpf

    folder = bpf.build(say=talk.note)
    talk.note(f"ready: {', '.join(bpf.programs())}, and their loader")
    data.text(str(folder))


@app.command("load", epilog=bias())
def load(
    program: Program,
    device: Device = None,
    set_: Annotated[
        list[str] | None,
        option("--set", "NAME=NUMBER", "A parameter of the program, as of the kernel module. Repeatable."),
    ] = None,
    pin: Annotated[
        bool, typer.Option("--pin", help="Leave it in the kernel until [cyan]shoal bpf unload[/] or a reboot.")
    ] = False,
    trace: Annotated[
        Path | None,
        option("--trace", "FILE", "Write each call, or packet of a marker, into a new table (tabs between columns)."),
    ] = None,
    verifier_log: Annotated[
        Path | None, option("--verifier-log", "FILE", "Keep what the kernel's verifier says of each function.")
    ] = None,
    is_json: options.Json = False,
) -> None:
    """Load a congestion control or a marker into the running kernel, until this command ends.

    The kernel must be Linux 6.10 or newer and describe its own types (BTF), as those of the distributions do. The
    loader needs the capabilities CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN: run it as root, or give them to the loader's
    file once. Connections use the new control by [cyan]sysctl net.ipv4.tcp_congestion_control[/] or the socket option
    TCP_CONGESTION. After unloading those that have begun keep it until they end.

    The law is that of the kernel modules, line by line. Other than a module, a BPF program does not show alpha in
    [cyan]ss -ti[/], and connections without ECN run the kernel's own Reno.

    A marker sees each packet on the egress of a network interface, before its queue, and decides by the time that the
    packet which left last had waited there: mark_step marks ECT packets above a threshold; mark_coupled marks them with
    a probability, and drops others with its square; mark_dualred is a step for ECT packets and RED for others. It needs
    a queue that waits: a shaper ([cyan]tbf[/], [cyan]htb[/]) or a slow device. An aggregate (GSO) is one decision; of
    what a shaper cuts before it sends, as [cyan]tbf[/] does above its burst, no wait is known. With several queues of a
    device it is the last packet of any.

    [bold]Examples[/]

      sudo shoal bpf load dctcp_ikr
      sudo shoal bpf load dctcp_ikr --set gain_shift=4 --set alpha_per_ack=0 --pin
      sudo shoal bpf load dctcp_onesided --trace calls.tsv
      sudo shoal bpf load mark_coupled --device eth0 --set saturation_us=100000
    """
    from shoal.errors import UsageError
    from shoal.linux import bpf, bpf_loader

    if pin and trace is not None:
        raise UsageError("--pin and --trace exclude each other", hint="a trace ends with the command that writes it")
    request: dict[str, Any] = {
        "verb": "load",
        "object": str(bpf.object_of(program)),
        "device": device,
        "parameters": parameters_of(set_ or []),
        "pin": pin,
        "trace": str(trace.absolute()) if trace else None,
        "verifier_log": str(verifier_log.absolute()) if verifier_log else None,
    }
    bpf.check_device(program, device)
    if pin:
        answer = bpf_loader.ask(request)
        show_loaded(answer, is_json=is_json)
        talk.note(f"pinned at {answer['pinned']}")
        return

    def on_ready(answer: dict[str, Any]) -> None:
        show_loaded(answer, is_json=is_json)
        talk.note("loaded until this command ends (Ctrl-C)")

    show_unloaded(bpf_loader.hold(request, on_ready), device, trace)


def show_loaded(answer: dict[str, Any], *, is_json: bool) -> None:
    """Print what is loaded, at once."""
    if is_json:
        data.json(json.dumps(answer))
    else:
        rows = [(each["name"], str(each["value"]), each["text"]) for each in answer["parameters"]]
        data.table(Table(f"{', '.join(answer['loaded'])}: loaded", ("Parameter", "Value", ""), rows, words=3))
    data.console.file.flush()


def show_unloaded(answer: dict[str, Any], device: str | None, trace: Path | None) -> None:
    """Say what was unloaded, and what was counted and traced meanwhile."""
    names = ", ".join(answer["unloaded"])
    if counts := answer["counts"]:
        talk.note(f"unloaded {names} from {device}: {said_of(counts)}")
    else:
        talk.note(f"unloaded {names}; connections that have begun keep it until they end")
    if trace is not None:
        talk.note(f"{answer['traced']:,} rows in {trace}; {answer['lost']:,} had no room in the buffer")


def said_of(counts: dict[str, int]) -> str:
    """What a marker has counted, and what it did not see."""
    waiting = counts["packets"] - counts["dropped"] - counts["left"]
    text = (
        f"{counts['packets']:,} packets, {counts['marked']:,} marked, {counts['dropped']:,} dropped; "
        f"{counts['left']:,} were seen to leave the queue, {waiting:,} were dropped there, wait or left unseen"
    )
    if counts["unseen"]:
        text += (
            f"; {counts['unseen']:,} left that had not come in this shape: give the shaper a burst above the largest "
            "aggregate, or set gso_max_segs 1"
        )
    if counts["unkept"]:
        text += f"; the kernel had no room for the arrival of {counts['unkept']:,}, which left unseen"
    if counts["missed"]:
        text += f"; the kernel did not call the programs {counts['missed']:,} times"
    return text


@app.command("unload")
def unload(program: Program, device: Device = None, is_json: options.Json = False) -> None:
    """Take a pinned congestion control or marker out of the kernel.

    [bold]Examples[/]

      sudo shoal bpf unload dctcp_ikr
      sudo shoal bpf unload mark_step --device eth0
    """
    from shoal.linux import bpf, bpf_loader

    bpf.object_of(program)
    bpf.check_device(program, device)
    answer = bpf_loader.ask({"verb": "unload", "program": program, "device": device})
    if is_json:
        data.json(json.dumps(answer))
    elif device:
        data.text(f"unloaded {program} from {device}")
    else:
        data.text(f"unloaded {', '.join(answer['unloaded'])}; connections that have begun keep it until they end")


@app.command("show")
def show(is_json: options.Json = False) -> None:
    """List the congestion controls that are BPF programs in the running kernel, shoal's and others, and the markers.

    Parameters are as they are in the kernel. Needs CAP_SYS_ADMIN, as listing what is loaded into the kernel does.

    [bold]Example[/]

      sudo shoal bpf show
    """
    from shoal.linux import bpf_loader

    answer = bpf_loader.ask({"verb": "show"})
    if is_json:
        data.json(json.dumps(answer))
        return
    if not answer["loaded"] and not answer["markers"]:
        data.text("no congestion control in this kernel is a BPF program, and no marker is loaded")
        return
    # A number may be another interface in another network namespace, and the kernel does not tell the namespace.
    rows = [
        (
            f"{each['name']}, interface {each['interface']}" if "interface" in each else each["name"],
            str(each["link"]),
            each["pinned"] or "no: it ends with the process that holds it",
        )
        for each in (*answer["loaded"], *answer["markers"])
    ]
    data.table(Table("", ("Program", "Link", "Pinned"), rows, words=3))
    for each in (*answer["loaded"], *answer["markers"]):
        values = ", ".join(f"{value['name']}={value['value']}" for value in each["parameters"])
        data.text(f"{each['name']}: {values or 'not one of shoal, parameters unknown'}")


def parameters_of(texts: list[str]) -> dict[str, int]:
    """Parameters as they were written, by name.

    Raises
    ------
    UsageError
        A text is not a name and a number.
    """
    from shoal.errors import UsageError

    values = {}
    for text in texts:
        name, _, number = text.partition("=")
        if not number.isascii() or not number.isdecimal() or int(number) >= 2**32:
            raise UsageError(f"--set {text}: not a name and a number", hint="as in --set gain_shift=4")
        values[name] = int(number)
    return values
