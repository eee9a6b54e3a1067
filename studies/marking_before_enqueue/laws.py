"""Laws that mark by the time that packets have waited, at departure or before enqueueing.

A BPF program on egress sees a packet before the queue does. It can mark by the wait of the packet that left last; a
queue that marks at departure knows the wait of the packet itself.
"""

from __future__ import annotations

import shoal

# One more than the largest draw.
ONE = 1 << 64
PS_PER_US = 1_000_000


class Waits(shoal.Queue):
    """What the laws have in common: which wait a decision is about."""

    before = shoal.parameter(0, least=0, most=1, whole=True)

    def __init__(self) -> None:
        self.last_ps = 0

    def on_arrival(self, port: shoal.Port) -> int:
        """Decide by the wait of the packet that left last."""
        return self.decide(port, self.last_ps) if self.before else self.PASS

    def on_departure(self, port: shoal.Port) -> int:
        """Decide by the packet's own wait."""
        self.last_ps = port.sojourn_ps
        return self.PASS if self.before else self.decide(port, port.sojourn_ps)

    def decide(self, port: shoal.Port, wait_ps: int) -> int:
        """The law."""
        raise NotImplementedError


class StepByTime(Waits):
    """Marks ECT packets above a threshold."""

    threshold_us = shoal.parameter(5000, least=1, most=10**7, whole=True, unit="us")

    def decide(self, port: shoal.Port, wait_ps: int) -> int:
        """A step."""
        return self.MARK if port.ecn and wait_ps > self.threshold_us * PS_PER_US else self.PASS


class CoupledByTime(Waits):
    """Marks ECT packets with p, drops others with (p / k)^2; p is the wait over the saturation."""

    saturation_us = shoal.parameter(200_000, least=1, most=10**7, whole=True, unit="us")
    coupling = shoal.parameter(1.63, least=0.1, most=100.0)

    def decide(self, port: shoal.Port, wait_ps: int) -> int:
        """Linear in the wait for one class, quadratic for the other one."""
        p = wait_ps / (self.saturation_us * PS_PER_US)
        if port.ecn:
            return self.MARK if port.draw() < p * ONE else self.PASS
        least = p / self.coupling * ONE
        return self.DROP if port.draw() < least and port.draw() < least else self.PASS


class DualRedByTime(Waits):
    """A step for ECT packets, RED with independent decisions for others, both by the wait."""

    threshold_us = shoal.parameter(16_750, least=1, most=10**7, whole=True, unit="us")
    min_us = shoal.parameter(12_500, least=1, most=10**7, whole=True, unit="us")
    max_us = shoal.parameter(37_500, least=1, most=10**7, whole=True, unit="us")

    def __init__(self) -> None:
        super().__init__()
        self.average_us = 0.0

    def decide(self, port: shoal.Port, wait_ps: int) -> int:
        """The average has a weight of 0.002 at each decision, the probability at max_us is 0.1, and one above."""
        wait_us = wait_ps / PS_PER_US
        self.average_us += 0.002 * (wait_us - self.average_us)
        if port.ecn:
            return self.MARK if wait_us > self.threshold_us else self.PASS
        if self.average_us > self.max_us:
            return self.DROP
        p = 0.1 * (self.average_us - self.min_us) / (self.max_us - self.min_us)
        return self.DROP if p > 0 and port.draw() < p * ONE else self.PASS
