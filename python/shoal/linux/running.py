"""Scenarios on the kernel."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from shoal import _native
from shoal.files import is_capture, reserved_file
from shoal.linux.guest import guest_folder, run_guest
from shoal.linux.images import Image, Unbuilt, find_image
from shoal.linux.limits import Limits
from shoal.linux.user_modules import with_laws_of
from shoal.results import Result
from shoal.scenario import Scenario
from shoal.seeds import checked_seed


def plan(
    scenario: Scenario, image: Image | Unbuilt, *, seed: int | None = None, captures: bool = False
) -> _native.LinuxPlan:
    """Say what a scenario becomes on a kernel; with ``captures`` packets are captured even if it does not ask for that.

    Raises
    ------
    ScenarioError
        The message lists everything that Linux cannot express, and why.
    """
    image = with_laws_of(scenario, image)
    return scenario.native.linux_plan(image.description, seed=seed, captures=captures)


def run_on_linux(
    scenario: Scenario,
    *,
    seed: int | None = None,
    image: Image | None = None,
    pcap: str | Path | None = None,
    pcap_payload: bool = False,
    progress: Callable[[float], object] | None = None,
    cancel: _native.Cancel | None = None,
    limits: Limits | None = None,
) -> Result:
    """Run a scenario once on the real kernel in virtual time.

    Parameters
    ----------
    scenario
        What to run.
    seed
        Replaces the seed of the scenario.
    image
        The kernel; that of ``shoal linux build`` if not given.
    pcap
        File for the packets, as pcapng: what the monitored links send, and what senders receive.
    pcap_payload
        Keep whole packets in that file, not their headers alone.
    progress
        Called with the finished fraction, 0 to 1.
    cancel
        Lets another thread end it.
    limits
        How long the guest may take; those of the image if not given.

    Raises
    ------
    ScenarioError
        Linux cannot express the scenario; the message lists everything.
    LinuxError
        There is no kernel.
    GuestError
        The guest failed, or took too long.
    OutputError
        The file cannot be written, or is no capture of shoal.
    """
    nothing = nullcontext()
    with nothing if pcap is None else reserved_file(pcap, is_capture, what="capture of shoal", option="file for pcap"):
        finished = finished_on_linux(
            scenario,
            image or find_image(),
            seed=seed,
            pcap=pcap,
            pcap_payload=pcap_payload,
            progress=progress,
            cancel=cancel,
            limits=limits,
        )
    return Result.of_run(finished)


def finished_on_linux(
    scenario: Scenario,
    image: Image,
    *,
    seed: int | None = None,
    pcap: str | Path | None = None,
    pcap_payload: bool = False,
    progress: Callable[[float], object] | None = None,
    cancel: _native.Cancel | None = None,
    limits: Limits | None = None,
) -> _native.Run:
    """:func:`run_on_linux`, with the run as the Rust side holds it."""
    if seed is not None:
        seed = checked_seed(seed)
    image = with_laws_of(scenario, image)
    planned = plan(scenario, image, seed=seed, captures=pcap is not None)
    with guest_folder() as folder:
        run_guest(
            planned.config,
            image,
            folder,
            memory_mib=planned.memory_mib,
            seed=planned.seed,
            progress=progress,
            cancel=cancel,
            limits=limits,
            modules=tuple(module.file for module in image.modules),
        )
        finished = planned.result(folder)
        if pcap is not None:
            planned.capture(folder, Path(pcap), payload=pcap_payload)
    return finished
