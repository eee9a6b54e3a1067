"""Both planes side by side: the same scenarios on the simulator and on the real kernel, and what differs."""

from shoal.compare.comparison import Compared, Comparison, Quantity, Verdict
from shoal.compare.run import compare

__all__ = ["Compared", "Comparison", "Quantity", "Verdict", "compare"]
