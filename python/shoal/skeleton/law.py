"""A law of one's own in a file: it needs no checkout of shoal's source, but a compiler for WebAssembly."""

from __future__ import annotations

import re
from pathlib import Path

from shoal.errors import UsageError
from shoal.files import unwritable, write_text
from shoal.models import find_controller

_laws = Path(__file__).resolve().parent.parent / "_data" / "law"

_makefile = """\
NAME.wasm: NAME.c shoal_law.h
\tclang --target=wasm32 -O2 -Wall -nostdlib -Wl,--no-entry -o $@ $<

test: NAME.wasm
\tpython3 -m unittest -v

.PHONY: test
"""

_scenario = """\
# Two flows of the law beside two of CUBIC behind PIE. `shoal describe NAME.wasm` lists the law's parameters.
title    = "NAME beside CUBIC"
duration = "20 s"

[bottleneck]
rate   = "40 Mbit/s"
buffer = "200 packets"
aqm    = { kind = "pie", ecn = true }

[[flows]]
cc    = "file:NAME.wasm"
name  = "NAME"
rtt   = "20 ms"
count = 2

[[flows]]
cc    = "cubic"
rtt   = "20 ms"
count = 2
"""

_test = '''\
"""What NAME has to do: fill a link alone, and live beside CUBIC."""

import unittest
from pathlib import Path

import shoal

SCENARIO = shoal.Scenario.from_file(Path(__file__).with_name("NAME.toml"))


class Law(unittest.TestCase):
    def test_it_fills_a_link_alone(self):
        alone = SCENARIO.override({"flows.cubic.cc": "file:NAME.wasm"})
        self.assertGreater(shoal.run(alone).bottlenecks[0]["utilisation"], 0.9)

    def test_it_lives_beside_cubic(self):
        own, cubic = shoal.run(SCENARIO).groups
        self.assertGreater(own["wire_bps"]["mean"], cubic["wire_bps"]["mean"] / 5)


if __name__ == "__main__":
    unittest.main()
'''


def new_law(name: str, where: Path, *, like: str = "reno") -> list[Path]:
    """Write a law in C with its header, a scenario and a test into a new folder; the files that were written.

    Parameters
    ----------
    name
        The law, in kebab-case, and the folder.
    where
        Where the folder is made.
    like
        The law to begin with: ``reno`` or ``dctcp``.

    Raises
    ------
    UsageError
        The name is none, or is taken.
    OutputError
        The folder cannot be written.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise UsageError(f"`{name}` is no name of a law", hint="small letters, digits and hyphens, such as my-law")
    if find_controller(name) is not None:
        raise UsageError(f"shoal has a controller `{name}` itself", hint="give the law another name")
    folder = where / name
    if folder.exists():
        raise UsageError(f"`{folder}` exists", hint="give the law another name, or remove the folder")
    texts = {
        f"{name}.c": (_laws / f"{like}.c").read_text(encoding="utf-8"),
        "shoal_law.h": (_laws / "shoal_law.h").read_text(encoding="utf-8"),
        "Makefile": _makefile.replace("NAME", name),
        f"{name}.toml": _scenario.replace("NAME", name),
        f"test_{name.replace('-', '_')}.py": _test.replace("NAME", name),
    }
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise unwritable(folder, error, option="NAME") from error
    for file, text in texts.items():
        write_text(folder / file, text)
    return [folder / file for file in texts]
