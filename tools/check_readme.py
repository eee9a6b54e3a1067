#!/usr/bin/env python3
"""Compare the output block of README.md with what `make run` printed, and run the README's Python example.

Results are deterministic, so the lines must be equal: `make run | tee FILE; tools/check_readme.py FILE`.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Print what differs; 1 if anything does."""
    readme = (ROOT / "README.md").read_text()
    printed = {line.rstrip() for line in Path(sys.argv[1]).read_text().splitlines()}
    block = re.search(r"^```text\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    example = re.search(r"^```python\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    if not block or not example:
        print("error: README.md has lost its output block or its Python example", file=sys.stderr)
        return 1
    stale = [line for line in block[1].splitlines() if line.rstrip() not in printed]
    for line in stale:
        print(f"error: README.md shows a line that `make run` does not print:\n  {line}", file=sys.stderr)
    if stale:
        print("hint: copy the table from the output of `make run`", file=sys.stderr)
        return 1
    done = subprocess.run([sys.executable, "-c", example[1]], cwd=ROOT, check=False, stdout=subprocess.DEVNULL)  # noqa: S603
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
