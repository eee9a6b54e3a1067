"""What was done with the blocks of all pages, said once at the end, whichever worker did it."""

from __future__ import annotations

import pytest
from blocks import Counts


@pytest.hookimpl
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many blocks were tried, and why the others were not."""
    total, pages = Counts(), 0
    for report in terminalreporter.getreports("passed"):
        for name, counts in report.user_properties:
            if name == "blocks":
                total, pages = total + Counts(**counts), pages + 1
    if pages:
        terminalreporter.write_line(f"Blocks of {pages} pages: {total}")
