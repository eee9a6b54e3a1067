#!/usr/bin/env python3
"""Python as cargo-zigbuild calls it for `python -m ziglang`, the linker of `make wheel`.

zig reads no `-u NAME`, by which rustc has the linker keep the counters of a build for a profile, but `-Wl,-u,NAME`.
"""

import os
import sys

words = sys.argv[1:]
if "-u" in words:
    option = words.index("-u")
    words[option : option + 2] = [f"-Wl,-u,{words[option + 1]}"]
os.execv(sys.executable, [sys.executable, *words])  # noqa: S606 - there is no text that a shell would read
