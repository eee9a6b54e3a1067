"""Reports: one self-contained HTML file, and beside it every figure with its data."""

from shoal.report.build import Entry, load_entries, write_report

__all__ = ["Entry", "load_entries", "write_report"]
