"""The picture of the page that moves, for the README: its frames come from a browser."""

import subprocess
import tempfile
from pathlib import Path

from PIL import Image

from shoal_dev import ROOT

_OUT = ROOT / "docs/img/page.gif"
_WIDTH_PX = 760
_COLOURS = 200
_FRAME_MS = 120


def main() -> int:
    """Write the file; returns the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        page = ROOT / "crates/front/web/page"
        subprocess.run(["node", "test/animation.mjs", folder], cwd=page, check=True)
        frames = [_frame(path) for path in sorted(Path(folder).glob("*.png"))]
    first, *others = frames
    first.save(_OUT, save_all=True, append_images=others, duration=_FRAME_MS, loop=0, optimize=True)
    print(f"{_OUT.relative_to(ROOT)}: {len(frames)} frames, {_OUT.stat().st_size} bytes")
    return 0


def _frame(path: Path) -> Image.Image:
    with Image.open(path) as picture:
        height = round(picture.height * _WIDTH_PX / picture.width)
        small = picture.convert("RGB").resize((_WIDTH_PX, height), Image.Resampling.LANCZOS)
    return small.quantize(_COLOURS, method=Image.Quantize.FASTOCTREE)
