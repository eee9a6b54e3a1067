"""What a notebook receives, run by a kernel of its own; the pictures themselves are tested with the package."""

from __future__ import annotations

import base64
from pathlib import Path

import nbclient
import nbformat
import pytest

PNG = b"\x89PNG\r\n"


@pytest.mark.parametrize("is_inline", [False, True])
def test_a_notebook_shows_pictures(tmp_path: Path, is_inline: bool) -> None:
    """What a kernel sends to a notebook, with and without the setting of matplotlib that older guides name."""
    cells = [
        "%matplotlib inline" if is_inline else "1",
        "import shoal\nresult = shoal.run(shoal.Scenario.named('step-single').override({'duration': '11 s'}))",
        "result.plot_queue()",
        "result",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    book.metadata["kernelspec"] = {"name": "python3", "language": "python", "display_name": "python3"}
    nbclient.NotebookClient(book, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    (figure,) = book.cells[2].outputs
    assert base64.b64decode(figure.data["image/png"])[:6] == PNG
    (table,) = book.cells[3].outputs
    assert "<table>" in table.data["text/html"]
    assert table.data["text/html"].count("src='data:image/png;base64,") == 1
