"""A law of one's own in a file: in C for WebAssembly, in Python, or in C for the Linux kernel.

None of them needs a checkout of shoal's source; C needs a compiler.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path

from shoal.errors import UsageError
from shoal.files import unwritable, write_text
from shoal.models import find_controller

_data = Path(__file__).resolve().parent.parent / "_data"
_laws = _data / "law"
# Its functions are called `again`.
_module_in_c = _data / "linux" / "examples" / "tcp_reno_again.c"

_makefile = """\
NAME.wasm: NAME.c HEADER
\tclang --target=wasm32 -O2 -Wall -nostdlib -Wl,--no-entry -o $@ $<

test: NAME.wasm
\tpython3 -m unittest -v

.PHONY: test
"""

_scenario = """\
# Two flows of the law beside two of CUBIC behind PIE.
title    = "NAME beside CUBIC"
duration = "20 s"

[bottleneck]
rate   = "40 Mbit/s"
buffer = "200 packets"
aqm    = { kind = "pie", ecn = true }

[[flows]]
cc    = "CC"
name  = "NAME"
rtt   = "20 ms"
count = 2

[[flows]]
cc    = "cubic"
name  = "cubic"
rtt   = "20 ms"
count = 2
"""

_scenario_of_queue = """\
# Two flows of DCTCP and two of CUBIC behind the queue.
title    = "DCTCP and CUBIC behind NAME"
duration = "20 s"

[bottleneck]
rate   = "40 Mbit/s"
buffer = "200 packets"
aqm    = { kind = "module", name = "file:NAME.wasm" }

[[flows]]
cc    = "dctcp"
rtt   = "20 ms"
count = 2

[[flows]]
cc    = "cubic"
rtt   = "20 ms"
count = 2
"""

_laws_of_kernel = """
[laws.NAME]
kernel = "tcp_MODULE.c"
"""

_test = '''\
"""What NAME has to do: fill a link alone, and live beside CUBIC."""

import unittest
from pathlib import Path

import shoal

HERE = Path(__file__).parent
SCENARIO = shoal.Scenario.from_file(HERE / "NAME.toml"LAWS)


class Law(unittest.TestCase):
    def test_it_fills_a_link_alone(self):
        alone = SCENARIO.override({"flows.cubic.cc": "CC"})
        self.assertGreater(shoal.run(alone).bottlenecks[0]["utilisation"], 0.9)

    def test_it_lives_beside_cubic(self):
        own, cubic = shoal.run(SCENARIO).groups
        self.assertGreater(own["wire_bps"]["mean"], cubic["wire_bps"]["mean"] / 5)


if __name__ == "__main__":
    unittest.main()
'''


_test_of_queue = '''\
"""What NAME has to do: keep the queue shorter than the buffer does, and the link busy."""

import unittest
from pathlib import Path

import shoal

SCENARIO = shoal.Scenario.from_file(Path(__file__).with_name("NAME.toml"))


class Queue(unittest.TestCase):
    def test_it_keeps_the_queue_short_and_the_link_busy(self):
        own = shoal.run(SCENARIO)
        fifo = shoal.run(SCENARIO.override({"bottleneck.aqm": {"kind": "fifo"}}))
        self.assertLess(own.metric("delay_ms(quantile='p99')"), fifo.metric("delay_ms(quantile='p99')") / 2)
        self.assertGreater(own.bottlenecks[0]["utilisation"], 0.8)


if __name__ == "__main__":
    unittest.main()
'''


_test_on_kernel = '''\
"""What NAME has to do on Linux: fill a link alone. Needs the kernel of `shoal linux build`."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

RUN = [sys.executable, "-m", "shoal", "run", "NAME.toml", "--on", "linux", "--set", "flows.cubic.cc=NAME", "--json"]


class Law(unittest.TestCase):
    def test_it_fills_a_link_alone(self):
        done = subprocess.run(RUN, cwd=Path(__file__).parent, capture_output=True, text=True)
        if "shoal linux build" in done.stderr:
            self.skipTest("there is no kernel: shoal linux build")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(json.loads(done.stdout)["bottlenecks"][0]["utilisation"], 0.9)


if __name__ == "__main__":
    unittest.main()
'''


class Language(StrEnum):
    """What a law is written in."""

    WASM = "wasm"
    PYTHON = "python"
    KERNEL = "kernel"


class Like(StrEnum):
    """Laws with which one may begin."""

    RENO = "reno"
    DCTCP = "dctcp"
    CUBIC = "cubic"
    STEP = "step"
    CODEL = "codel"


def new_law(name: str, where: Path, *, language: Language = Language.WASM, like: Like = Like.RENO) -> list[Path]:
    """Write a law with a scenario and a test into a new folder; the files that were written.

    Parameters
    ----------
    name
        The law, in kebab-case, and the folder.
    where
        Where the folder is made.
    language
        What it is written in.
    like
        The law to begin with.

    Raises
    ------
    UsageError
        The name is none, or is taken, or there is no such law in this language.
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
    texts = _texts[language](name, like)
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise unwritable(folder, error, option="NAME") from error
    for file, text in texts.items():
        write_text(folder / file, text)
    return [folder / file for file in texts]


def _in_c(name: str, like: Like) -> Mapping[str, str]:
    is_queue = like in (Like.STEP, Like.CODEL)
    header = "shoal_queue.h" if is_queue else "shoal_law.h"
    scenario, test = (_scenario_of_queue, _test_of_queue) if is_queue else (_scenario, _test)
    cc = f"file:{name}.wasm"
    return {
        f"{name}.c": _begun(f"{like}.c", like, Language.WASM),
        header: (_laws / header).read_text(encoding="utf-8"),
        "Makefile": _makefile.replace("NAME", name).replace("HEADER", header),
        f"{name}.toml": _filled(scenario, name, cc),
        f"test_{_module(name)}.py": _filled(test, name, cc),
    }


def _in_python(name: str, like: Like) -> Mapping[str, str]:
    title = "".join(part.capitalize() for part in name.split("-"))
    text = _begun(f"{like}.py", like, Language.PYTHON)
    return {
        f"{_module(name)}.py": text.replace(f"class {like.capitalize()}(", f"class {title}("),
        f"{name}.toml": _filled(_scenario, name, title),
        f"test_{_module(name)}.py": _filled(_test, name, title, laws=f', laws=[HERE / "{_module(name)}.py"]'),
    }


def _for_the_kernel(name: str, like: Like) -> Mapping[str, str]:
    if like is not Like.RENO:
        raise _not_there(like, Language.KERNEL)
    file = f"tcp_{_module(name)}.c"
    text = (
        _module_in_c.read_text(encoding="utf-8").replace(_module_in_c.name, file).replace('"reno_again"', f'"{name}"')
    )
    return {
        file: re.sub(r"\bagain(_|\b)", rf"{_module(name)}\1", text),
        f"{name}.toml": _filled(_scenario + _laws_of_kernel, name, name),
        f"test_{_module(name)}.py": _filled(_test_on_kernel, name, name),
    }


_texts: dict[Language, Callable[[str, Like], Mapping[str, str]]] = {
    Language.WASM: _in_c,
    Language.PYTHON: _in_python,
    Language.KERNEL: _for_the_kernel,
}


def _begun(file: str, like: Like, language: Language) -> str:
    """The text of a law to begin with."""
    path = _laws / file
    if not path.is_file():
        raise _not_there(like, language)
    return path.read_text(encoding="utf-8")


def _not_there(like: Like, language: Language) -> UsageError:
    return UsageError(f"there is no `{like}` to begin with for --{language}", hint="--like reno is there for all")


def _filled(text: str, name: str, cc: str, *, laws: str = "") -> str:
    return text.replace("LAWS", laws).replace("MODULE", _module(name)).replace("NAME", name).replace("CC", cc)


def _module(name: str) -> str:
    """The name where hyphens are not allowed."""
    return name.replace("-", "_")
