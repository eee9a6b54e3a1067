"""The output block of README.md beside what `make run` printed, and the README's Python example.

Results are deterministic, so the lines must be equal: `make run | tee FILE; tools/shoal-dev check readme FILE`.
"""

import re
import subprocess
import sys
from pathlib import Path

from shoal_dev import ROOT


def problems(words: list[str]) -> list[str]:
    """The lines that differ from those of a file, and what the example fails with."""
    readme = (ROOT / "README.md").read_text()
    printed = {line.rstrip() for line in Path(words[0]).read_text().splitlines()}
    block = re.search(r"^```text\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    example = re.search(r"^```python\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    if not block or not example:
        return ["README.md has lost its output block or its Python example"]
    stale = [line for line in block[1].splitlines() if line.rstrip() not in printed]
    done = subprocess.run([sys.executable, "-c", example[1]], cwd=ROOT, check=False, capture_output=True, text=True)
    return [
        *(f"README.md shows a line that `make run` does not print: {line}" for line in stale),
        *([f"README.md: the Python example fails: {done.stderr}"] if done.returncode else []),
    ]
