"""The two planes side by side: the same scenarios on the simulator and on the real kernel, and what differs."""

from shoal.compare.comparison import Compared, Comparison, Quantity
from shoal.compare.run import compare
from shoal.compare.verdicts import Margin, Verdict

__all__ = ["Compared", "Comparison", "Margin", "Quantity", "Verdict", "compare"]
