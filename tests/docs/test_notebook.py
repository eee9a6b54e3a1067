"""What a notebook receives, run by a kernel of its own; the pictures themselves are tested with the package."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import nbclient
import nbformat
import pytest

ROOT = Path(__file__).parents[2]
PNG = b"\x89PNG\r\n"


def executed(cells: list[str], folder: Path) -> list[list[nbformat.NotebookNode]]:
    """The outputs of cells that a kernel has run."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    book.metadata["kernelspec"] = {"name": "python3", "language": "python", "display_name": "python3"}
    nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    return [cell.outputs for cell in book.cells]


def test_the_example_of_the_readme_shows_a_picture(tmp_path: Path) -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.DOTALL)
    assert block.rstrip().endswith("result.plot_queue()")
    ((printed, figure),) = executed([block], tmp_path)
    assert printed.text.startswith("A flow of reno gets ")
    assert base64.b64decode(figure.data["image/png"])[:6] == PNG


@pytest.mark.parametrize("is_inline", [False, True])
def test_a_notebook_shows_pictures(tmp_path: Path, is_inline: bool) -> None:
    """What a kernel sends to a notebook, with and without the setting of matplotlib that older guides name."""
    cells = [
        "%matplotlib inline" if is_inline else "1",
        "import shoal\nresult = shoal.run(shoal.Scenario.named('step-single').override({'duration': '11 s'}))",
        "result.plot_queue()",
        "result",
    ]
    _, _, (figure,), (table,) = executed(cells, tmp_path)
    assert base64.b64decode(figure.data["image/png"])[:6] == PNG
    assert "<table>" in table.data["text/html"]
    assert table.data["text/html"].count("src='data:image/png;base64,") == 1
