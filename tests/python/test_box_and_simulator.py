"""Flows of this machine's kernel through ``shoal box``, and the same scenario in the simulator.

The bounds were set before the first run: shares of two flows within 5 points, mean queueing delay within 15 %. The
first run of each case met them. A later one of two flows behind DualPI2 did not: 54 % for 46 %. The simulator's own
runs of this case have shares from 42 to 59 % by the seed (a standard deviation of 4.2 points), so that two single runs
say little of each other. Since then the bound of a share is 5 points around the mean of 20 seeds, and three standard
deviations of one run.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from statistics import fmean, median, stdev

import pytest
from boxed import HAS_TUNS

from shoal.linux.namespaces import Namespaces
from studies.box_on_the_wire.carrying import PORTS, QUEUES, SENDERS, carried, lateness, scenario, sender_of_frames
from studies.box_on_the_wire.study import simulated


@pytest.mark.parametrize("queue", list(QUEUES))
@pytest.mark.parametrize("controllers", SENDERS, ids=["one", "two"])
def test_kernels_through_the_box_and_the_simulator_agree(
    namespaces: Namespaces, queue: str, controllers: tuple[str, ...], tmp_path: Path
) -> None:
    case = scenario(queue, controllers)
    of_first, delays = simulated(case)
    bound = pytest.approx(fmean(of_first), abs=0.05 + 3 * stdev(of_first))
    print(f"simulated: share {fmean(of_first):.3f} ± {stdev(of_first):.3f}, delay {1e3 * fmean(delays):.2f} ms")
    runs = []
    # Other work may stop a sender for so long that it loses its share: where the first run is beyond the bound, the
    # median of three counts. (Once, with the machine busy, a single run had 34 % where 52.1 ± 3.3 % were simulated.)
    while not runs or (runs[0][0][0] != bound and len(runs) < 3):
        runs.append(carried(namespaces, case, controllers, tmp_path))
        print(f"{queue} {controllers}: share {runs[-1][0][0]:.3f}, mean queueing delay {1e3 * runs[-1][1]:.2f} ms")
    assert median(shares[0] for shares, _ in runs) == bound
    assert median(delay for _, delay in runs) == pytest.approx(fmean(delays), rel=0.15)


@pytest.mark.parametrize("port", list(PORTS))
def test_what_the_sender_of_full_frames_sends_is_carried_or_counted(
    namespaces: Namespaces, port: str, tmp_path: Path
) -> None:
    """How late frames leave is a matter of the machine, and of what else it does."""
    if not all(map(shutil.which, ("cc", "taskset"))):
        pytest.skip("the sender needs a compiler of C (`cc`) and `taskset`")
    if port == "TUN" and not HAS_TUNS:
        pytest.skip("no TUN devices here")
    load = lateness(namespaces, sender_of_frames(tmp_path), port, 50, 1)
    assert 0 < load.carried <= load.sent <= 50e6 / 8 / 1500 + 1
    assert load.carried + sum(load.way[lost] for lost in ("dropped", "missed", "refused")) >= load.sent
    assert 0 < load.cpu_s < 2
