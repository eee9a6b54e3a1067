"""What a user's module did wrong in a guest, read from its console and shown with lines of the source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from shoal.linux.errors import ModuleError
from shoal.linux.module_file import ModuleFile, Spot

# A function in a call trace of the kernel, with the module that it belongs to.
_frame = re.compile(r"(?P<function>[\w.]+)\+0x(?P<offset>[0-9a-f]+)/0x[0-9a-f]+(?: \[(?P<module>\w+)\])?")
# What a kernel that finds leaks says of each place at which memory was allocated and is not freed.
_leak = re.compile(
    r"(?P<file>\S+):(?P<line>\d+) module (?P<module>\w+) func:(?P<function>\w+) has (?P<bytes>\d+) allocated"
)
_stamp = re.compile(r"^(?:<\d>)?\[ *\d+\.\d+\] ?")
_most_frames = 24
# Virtual time for which a queue may keep all of its packets back, as one that shapes does.
_longest_refusal_s = 1.0
_console_level_of_information = 7


def preparation() -> list[str]:
    """Instructions before a module is loaded: panics show who called, and the console what the kernel says."""
    return ["module /backtrace.ko", f"write init kernel/printk {_console_level_of_information}"]


def crashed(console: Iterable[str], modules: Sequence[ModuleFile], where: str) -> ModuleError | None:
    """The error of a kernel that panicked with a module at fault; nothing if none was on its stack."""
    lines = [_stamp.sub("", line) for line in console]
    begin = next((at for at, line in enumerate(lines) if _begins_fault(line)), 0)
    panic = next((line for line in lines if "Kernel panic - not syncing: " in line), None)
    frames = _frames(lines[begin:])
    spots = [spot for frame, is_call in frames if (spot := _spot(frame, modules, is_call=is_call))]
    if panic is None or not spots:
        return None
    spot = spots[0]
    # The kernel's own words for a failed BUG_ON().
    bug = next((f" ({line})" for line in lines[begin:] if line.startswith("BUG: ")), "")
    reason = panic.partition("not syncing: ")[2] + bug
    if "Segfault" in reason or "fault at" in reason or "user memory" in reason:
        reason += " (it reads or writes at an address at which nothing is, as a null pointer)"
    return ModuleError(
        f"the guest's kernel crashed at {where} in `{spot.function}`, {spot.line}: {reason}\n{_trace(frames, modules)}",
        hint="the scenario and seed reproduce this exactly",
    )


def hung(trace: Sequence[tuple[str, Spot | None]], where: str, seconds: float) -> ModuleError:
    """The error of a module that does not return; the trace begins where it is, with what is known of lines."""
    spot = next(spot for _, spot in trace if spot)
    lines = (f"  | {text}{f'  {spot.line}' if spot else ''}" for text, spot in trace[:_most_frames])
    return ModuleError(
        f"`{spot.function}`, {spot.line}, does not return: at {where} it took {seconds:.0f} s of processor time; last "
        "it was at\n" + "\n".join(lines),
        hint="the scenario and seed reproduce this exactly; if it only takes long, raise `module_s` in Python's Limits",
    )


def stopped(said: str, modules: Sequence[ModuleFile]) -> ModuleError | None:
    """The error of a guest that ended because a module could not be loaded or unloaded."""
    match = re.search(r"module (\w+): (.*)$", said)
    module = match and next((module for module in modules if module.name == match[1]), None)
    if not match or not module:
        return None
    what = match[2]
    init, leave = module.called_for("init"), module.called_for("exit")
    if what.startswith("loading failed"):
        where = f"{init.line}: " if init else ""
        reason = what.removeprefix("loading failed: ")
        # What a function of module_init() answers with EEXIST is EBUSY to who loads it, as EEXIST is about modules.
        taken = reason in ("File exists", "Device or resource busy")
        return ModuleError(
            f"{where}`{module.source}` cannot be loaded: {reason}",
            hint="the kernel has a congestion control or queue discipline of this name already" if taken else None,
        )
    where = f"{leave.line}: " if leave else f"{module.source}: there is no function of module_exit(): "
    hint = "is `.owner = THIS_MODULE`, and does each try_module_get() have its module_put()?"
    return ModuleError(f"{where}after the run the module cannot be unloaded: {what}", hint=hint)


def left_behind(heard: Sequence[str], console: Iterable[str], modules: Sequence[ModuleFile]) -> ModuleError | None:
    """The error of a queue that gave its packets neither back nor free, or of memory that is left."""
    lines = [_stamp.sub("", line) for line in console]
    for line in lines:
        if match := re.match(r"shoal-line: (.+) has given nothing for (\d+) ns although (\d+) packets wait", line):
            frame = _frame.match(match[1])
            spot = frame and _definition(frame, modules)
            seconds = int(match[2]) / 1e9
            if spot and seconds > _longest_refusal_s:
                return ModuleError(
                    f"{spot.line}: `{spot.function}` has given no packet in the last {seconds:.3g} s of virtual time, "
                    f"although {match[3]} packets wait",
                    hint="a discipline must give a packet when it is asked and has some (sch->q.qlen), or set a "
                    "qdisc_watchdog for when it will",
                )
    leaks = [match for line in lines if (match := _leak.match(line))]
    places = "\n".join(
        f"  | {module.source.parent / at['file']}:{at['line']}: {at['bytes']} B that `{at['function']}` allocated"
        for module in modules
        for at in leaks
        if at["module"] == module.name
    )
    if places:
        return ModuleError(
            f"memory of the module is not freed after all queues and connections are gone:\n{places}",
            hint="what a control allocates its .release frees, and what a discipline allocates its .destroy",
        )
    held = next((int(line.split()[1]) for line in heard if line.startswith("held ")), 0)
    if not held:
        return None
    for module in modules:
        if spot := module.operation("enqueue"):
            return ModuleError(
                f"{spot.line}: {held} packets that `{spot.function}` accepted were neither given back nor freed",
                hint="qdisc_drop() frees a packet that is dropped; .reset and .destroy free those that wait",
            )
    return ModuleError(f"{held} packets were neither given back by a queue nor freed")


def kernel_warnings(console: Iterable[str], modules: Sequence[ModuleFile]) -> list[str]:
    """What WARN_ON() and its relatives said during a run, each with its call trace."""
    lines = [_stamp.sub("", line) for line in console]
    starts = [at for at, line in enumerate(lines) if line.startswith("WARNING: ")]
    texts = []
    for at, end in pairwise([*starts, len(lines)]):
        frames = _frames(lines[at + 1 : end])
        texts.append(
            f"the guest's kernel warned: {lines[at].removeprefix('WARNING: ')}\n{_trace(frames, modules)}".rstrip()
        )
    return texts


def _begins_fault(line: str) -> bool:
    return line.startswith(("RIP: ", "BUG: ", "Kernel panic"))


def _frames(lines: Iterable[str]) -> list[tuple[re.Match[str], bool]]:
    """Functions of a fault and of the call trace after it, and whether each is the place of a call."""
    frames: list[tuple[re.Match[str], bool]] = []
    for line in lines:
        if line.startswith("RIP: ") and (match := _frame.search(line)):
            frames.append((match, False))
        elif line.startswith("[<") or line.lstrip().startswith("[<"):
            # The beginning of a function of the kernel is its address, kept on the stack.
            if (match := _frame.search(line)) and (match["offset"] != "0" or match["module"]):
                frames.append((match, True))
        elif line.startswith("---[ end trace") or (line.startswith("Stack:") and frames and frames[-1][1]):
            break
    return frames


def _spot(frame: re.Match[str], modules: Sequence[ModuleFile], *, is_call: bool) -> Spot | None:
    module = next((module for module in modules if module.name == frame["module"]), None)
    # What a trace has of a call is where it returns to.
    offset = int(frame["offset"], 16)
    if module is None:
        return None
    return (module.before if is_call else module.in_function)(frame["function"], offset)


def _definition(frame: re.Match[str], modules: Sequence[ModuleFile]) -> Spot | None:
    module = next((module for module in modules if module.name == frame["module"]), None)
    return module.definition(frame["function"]) if module else None


def _trace(frames: Sequence[tuple[re.Match[str], bool]], modules: Sequence[ModuleFile]) -> str:
    lines = []
    for frame, is_call in frames[:_most_frames]:
        spot = _spot(frame, modules, is_call=is_call)
        lines.append(f"  | {frame[0]}{f'  {spot.line}' if spot else ''}")
    return "\n".join(lines)
