"""Sweeps: a scenario at many points, with the same seeds at each.

``values`` owns how axes are written, ``sampling`` how they make points, ``file`` reads sweep files, ``tables`` writes
what came out. ``kept`` is :func:`shoal.sweep`, which keeps every result. The runs themselves are :mod:`shoal.runs`.
"""

from shoal.sweeps.kept import Point, Sweep, short_names, sweep

__all__ = ["Point", "Sweep", "short_names", "sweep"]
