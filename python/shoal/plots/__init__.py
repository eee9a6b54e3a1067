"""Figures, one module each, in one style.

Every ``draw`` gives a :class:`~shoal.plots.style.Drawn`: the figure and exactly the data in it.
"""

from shoal.plots.formats import save
from shoal.plots.style import Drawn

__all__ = ["Drawn", "save"]
