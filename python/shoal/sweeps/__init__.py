"""Sweeps: a scenario at many points, with the same seeds at each.

``values`` owns how axes are written, ``design`` and ``sampling`` how they make points, ``file`` reads sweep files.
``kept`` is :func:`shoal.sweep`, which keeps every result. What may have any number of points keeps numbers only:
``plan`` says what to run, ``record`` is what is left of a run, ``store`` keeps records on disk, ``work`` knows what is
missing, ``execute`` runs it, and ``rows`` holds the numbers.
"""

from shoal.sweeps.kept import Point, Sweep, short_names, sweep
from shoal.sweeps.values import as_text

__all__ = ["Point", "Sweep", "as_text", "short_names", "sweep"]
