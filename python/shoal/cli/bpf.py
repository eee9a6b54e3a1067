"""``shoal bpf``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.console import data, talk
from shoal.cli.declare import argument, option
from shoal.table import Table

app = typer.Typer(
    name="bpf",
    help="Congestion controllers as BPF programs in the kernel of this machine: no module, no reboot.",
    no_args_is_help=True,
    add_completion=False,
)

Program = Annotated[str, argument("PROGRAM", "Name of a program: dctcp_ikr or dctcp_onesided.")]


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


@app.command("load")
def load(
    program: Program,
    set_: Annotated[
        list[str] | None,
        option("--set", "NAME=NUMBER", "A parameter of the program, as of the kernel module. Repeatable."),
    ] = None,
    pin: Annotated[
        bool, typer.Option("--pin", help="Leave it in the kernel until [cyan]shoal bpf unload[/] or a reboot.")
    ] = False,
    trace: Annotated[
        Path | None,
        option("--trace", "FILE", "Write each call of the congestion control into a new table (tabs between columns)."),
    ] = None,
    verifier_log: Annotated[
        Path | None, option("--verifier-log", "FILE", "Keep what the kernel's verifier says of each function.")
    ] = None,
    is_json: options.Json = False,
) -> None:
    """Load a congestion control into the running kernel, until this command ends.

    The kernel must be Linux 6.10 or newer and describe its own types (BTF), as those of the distributions do. The
    loader needs the capabilities CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN: run it as root, or give them to the loader's
    file once. Connections use the new control by [cyan]sysctl net.ipv4.tcp_congestion_control[/] or the socket option
    TCP_CONGESTION. After unloading those that have begun keep it until they end.

    The law is that of the kernel modules, line by line. Other than a module, a BPF program does not show alpha in
    [cyan]ss -ti[/], and connections without ECN run the kernel's own Reno.

    [bold]Examples[/]

      sudo shoal bpf load dctcp_ikr
      sudo shoal bpf load dctcp_ikr --set gain_shift=4 --set alpha_per_ack=0 --pin
      sudo shoal bpf load dctcp_onesided --trace calls.tsv
    """
    from shoal.errors import UsageError
    from shoal.linux import bpf, bpf_loader

    if pin and trace is not None:
        raise UsageError("--pin and --trace exclude each other", hint="a trace ends with the command that writes it")
    request: dict[str, Any] = {
        "verb": "load",
        "object": str(bpf.object_of(program)),
        "parameters": parameters_of(set_ or []),
        "pin": pin,
        "trace": str(trace.absolute()) if trace else None,
        "verifier_log": str(verifier_log.absolute()) if verifier_log else None,
    }

    def show_loaded(answer: dict[str, Any]) -> None:
        if is_json:
            data.json(json.dumps(answer))
        else:
            rows = [(each["name"], str(each["value"]), each["text"]) for each in answer["parameters"]]
            data.table(Table(f"{', '.join(answer['loaded'])}: loaded", ("Parameter", "Value", ""), rows, words=3))
        data.console.file.flush()
        if not pin:
            talk.note("loaded until this command ends (Ctrl-C)")

    if pin:
        answer = bpf_loader.ask(request)
        show_loaded(answer)
        talk.note(f"pinned at {answer['pinned']}")
        return
    answer = bpf_loader.hold(request, show_loaded)
    talk.note(f"unloaded {', '.join(answer['unloaded'])}; connections that have begun keep it until they end")
    if trace is not None:
        talk.note(f"{answer['traced']:,} calls in {trace}; {answer['lost']:,} had no room in the buffer")


@app.command("unload")
def unload(program: Program, is_json: options.Json = False) -> None:
    """Take a pinned congestion control out of the kernel.

    [bold]Example[/]

      sudo shoal bpf unload dctcp_ikr
    """
    from shoal.linux import bpf, bpf_loader

    bpf.object_of(program)
    answer = bpf_loader.ask({"verb": "unload", "program": program})
    if is_json:
        data.json(json.dumps(answer))
    else:
        data.text(f"unloaded {', '.join(answer['unloaded'])}; connections that have begun keep it until they end")


@app.command("show")
def show(is_json: options.Json = False) -> None:
    """List the congestion controls that are BPF programs in the running kernel, shoal's and others.

    Needs CAP_SYS_ADMIN, as listing what is loaded into the kernel does.

    [bold]Example[/]

      sudo shoal bpf show
    """
    from shoal.linux import bpf_loader

    answer = bpf_loader.ask({"verb": "show"})
    if is_json:
        data.json(json.dumps(answer))
        return
    if not answer["loaded"]:
        data.text("no congestion control in this kernel is a BPF program")
        return
    rows = [
        (each["name"], str(each["link"]), each["pinned"] or "no: it ends with the process that holds it")
        for each in answer["loaded"]
    ]
    data.table(Table("", ("Congestion control", "Link", "Pinned"), rows, words=3))


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
