"""Devices as the kernel has them after the commands of a file: disciplines, their classes and their filters.

The rules are those of net/sched/sch_api.c (tc_modify_qdisc, tc_get_qdisc, tc_ctl_tclass) and net/sched/cls_api.c: a
discipline that takes the place of another one takes all below it away, one with the same kind and no handle changes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from shoal.switch.model import Scheduler, Serving
from shoal.switch.platforms import _tc_units as units
from shoal.switch.platforms._tc_bands import Bands, read_bands
from shoal.switch.platforms._tc_commands import INGRESS, ROOT, Command, label
from shoal.switch.platforms._tc_filters import Filters
from shoal.switch.reading import Document

# Their classes are bands, of which there are as many as the options say.
BANDS = ("prio", "ets", "pfifo_fast")
# They have one child, whatever the minor number of its parent is.
SINGLE = ("tbf", "netem", "red", "sfb")
# Their classes are added by commands.
WITH_CLASSES = ("htb", "hfsc", "drr", "qfq")
# A class for each queue of the network card.
CARDS = ("mq", "mqprio", "multiq", "taprio")
# A change of their options leaves those that it does not name as they are: tc sends only what is given.
_merging = ("codel", "fq_codel", "pie", "dualpi2", "gred", "cake", "fq", "fq_pie")
# Attributes of netem that a change without them leaves; all others are in one structure that tc always sends.
_kept = ("rate", "reorder", "corrupt", "slot")
_of_netem = (*_kept, "limit", "delay", "latency", "loss", "duplicate", "distribution", "gap", "ecn", "seed")
_unchangeable = ("htb",)
# The first handle that the kernel gives by itself.
_first_free = 0x8001 << 16


@dataclass
class Class:
    """A class of a discipline that has been added by a command."""

    command: Command
    number: int
    parent: int
    options: tuple[str, ...]

    @property
    def minor(self) -> int:
        """Its number below the discipline."""
        return self.number & 0xFFFF


@dataclass
class Discipline:
    """A queue discipline of a device.

    Attributes
    ----------
    command
        The command that made it, or changed it last.
    lines
        The options of each command that still count, the earliest first.
    bands
        Its bands, if its classes are that.
    classes, children
        Classes that have been added, and disciplines below classes, by minor number.
    filters
        Filters by the number of the class that they hang at, 0 for the discipline.
    """

    command: Command
    kind: str
    handle: int
    parent: int
    lines: list[tuple[str, ...]]
    bands: Bands | None = None
    classes: dict[int, Class] = field(default_factory=dict)
    children: dict[int, Discipline] = field(default_factory=dict)
    filters: dict[int, Filters] = field(default_factory=dict)

    @property
    def options(self) -> tuple[str, ...]:
        """Its options; of what stands twice the last counts."""
        return tuple(word for words in self.lines for word in words)

    def key(self, minor: int) -> int:
        """Under which number a child hangs: disciplines that have only one take any."""
        return 1 if self.kind in SINGLE else minor

    def below(self) -> Iterator[Discipline]:
        """It and all disciplines below it."""
        waiting = [self]
        while waiting:
            discipline = waiting.pop()
            yield discipline
            waiting += reversed(discipline.children.values())


class Device:
    """A network device with its disciplines by handle.

    Attributes
    ----------
    fragments
        Disciplines below handles that are not in the file.
    has_root
        Whether the file has a command for the root, so that it is more than a part of a script.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.root: Discipline | None = None
        self.by_handle: dict[int, Discipline] = {}
        self.fragments: dict[int, Discipline] = {}
        self.has_root = False

    def remove(self, discipline: Discipline) -> None:
        """Take a discipline with all below it away."""
        for each in discipline.below():
            if self.by_handle.get(each.handle) is each:
                del self.by_handle[each.handle]
        if discipline is self.root:
            self.root = None
            return
        above = self.by_handle.get(discipline.parent >> 16 << 16)
        if above is not None:
            above.children.pop(above.key(discipline.parent & 0xFFFF), None)
        self.fragments.pop(discipline.parent, None)

    def at(self, parent: int) -> Discipline | None:
        """The discipline below a class, or at the root."""
        if parent == ROOT:
            return self.root
        above = self.by_handle.get(parent >> 16 << 16)
        if above is None:
            return self.fragments.get(parent)
        return above.children.get(above.key(parent & 0xFFFF))

    def put(self, discipline: Discipline) -> None:
        """Put a discipline at its place, instead of what is there."""
        if (before := self.at(discipline.parent)) is not None:
            self.remove(before)
        if discipline.handle or discipline.parent == ROOT:
            self.by_handle[discipline.handle] = discipline
        above = self.by_handle.get(discipline.parent >> 16 << 16)
        if discipline.parent == ROOT:
            self.root = discipline
        elif above is None or above is discipline:
            self.fragments[discipline.parent] = discipline
        else:
            above.children[above.key(discipline.parent & 0xFFFF)] = discipline


class State:
    """The devices of a file, to which its commands are applied one after the other."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.devices: dict[str, Device] = {}
        # Why the kernel would not take commands, for a file of which nothing is left.
        self.refused: list[tuple[Command, str, str]] = []
        self._has_failed = False
        self._free = _first_free

    def apply(self, command: Command) -> None:
        """Do what a command does; one that the kernel refuses does nothing, and that is noted.

        Raises
        ------
        ScenarioError
            A command is none, or a second discipline gets a handle that is in use.
        """
        if command.is_alternative and not self._has_failed:
            self.document.remark("this command does nothing: that in front of `||` does not fail", line=command.line)
            return
        before = len(self.refused)
        self._do(command)
        self._has_failed = len(self.refused) > before

    def _do(self, command: Command) -> None:
        if not command.device:
            self.document.refuse_statement(command.statement, "the line names no device", "add `dev eth0`")
        # What hangs below ffff: is for arriving packets, too.
        is_arriving = command.parent is not None and command.parent != ROOT and command.parent >> 16 == INGRESS >> 16
        if is_arriving or command.kind in ("ingress", "clsact"):
            if command.verb != "delete":
                self.document.remark("what happens to arriving packets is not read", line=command.line)
            return
        device = self.devices.setdefault(command.device, Device(command.device))
        {"qdisc": self._qdisc, "class": self._class, "filter": self._filter}[command.subject](device, command)

    def _refuse(self, command: Command, reason: str, hint: str = "") -> None:
        self.refused.append((command, reason, hint))
        self.document.remark(f"the kernel refuses this line: {reason}", hint=hint, line=command.line)

    def _qdisc(self, device: Device, command: Command) -> None:
        if command.verb == "delete":
            self._delete(device, command)
            return
        if not command.kind:
            self.document.refuse_statement(
                command.statement, "the line names no discipline", "as in `tc qdisc add dev eth0 root codel`"
            )
        if command.parent is None and command.handle is not None:
            present = device.by_handle.get(command.handle)
            if present is None:
                self._refuse(command, f"there is no discipline {label(command.handle)}: to change one it must exist")
            else:
                self._change(device, present, command)
            return
        parent = ROOT if command.parent is None else command.parent
        device.has_root |= parent == ROOT
        if self._lacks_parent(device, command, parent):
            return
        present = device.at(parent)
        user = device.by_handle.get(command.handle) if command.handle else None
        if user is not None and user is not present:
            self.document.refuse_statement(
                command.statement,
                f"the handle {label(user.handle)}: is that of `{user.kind}` on line {user.command.line}",
                "give each discipline a handle of its own",
            )
        if present is None:
            self._create(device, command, parent)
        else:
            self._meet(device, present, command, parent)

    def _meet(self, device: Device, present: Discipline, command: Command, parent: int) -> None:
        """Do a command for a place where a discipline stands; without a handle another kind takes the place."""
        is_other = not command.handle and command.kind != present.kind
        if command.verb == "add" and is_other:
            self.document.remark(
                f"`{command.kind}` takes the place of `{present.kind}` (line {present.command.line}), as Linux has it "
                "since 6.6; before, it refused the line",
                hint="`replace` does so on every kernel",
                line=command.line,
            )
            self._create(device, command, parent)
        elif command.verb == "add":
            where = "root" if parent == ROOT else label(parent)
            self._refuse(
                command,
                f"`{present.kind}` stands at {where} already (line {present.command.line}), and stays",
                "`replace` puts another one there",
            )
        elif command.handle and command.handle != present.handle:
            if command.verb == "change":
                self._refuse(command, f"the handle of `{present.kind}` is {label(present.handle)}:")
            else:
                self._create(device, command, parent)
        elif is_other and command.verb != "link":
            # A change, too: the kernel cannot tell what is wanted.
            self._create(device, command, parent)
        else:
            self._change(device, present, command)

    def _lacks_parent(self, device: Device, command: Command, parent: int) -> bool:
        """Whether the parent does not exist on a device whose root is in the file; else a part of a script is read."""
        if parent == ROOT:
            return False
        above = device.by_handle.get(parent >> 16 << 16)
        if above is None:
            if not device.has_root:
                self.document.remark(f"what is above {label(parent)} is not in the file", line=command.line)
                return False
            self._refuse(command, f"there is no discipline {label(parent >> 16 << 16)}: on {device.name}")
            return True
        minor = parent & 0xFFFF
        known = above.kind in SINGLE or above.kind in CARDS
        if above.kind in WITH_CLASSES:
            if command.verb == "show" and minor not in above.classes:
                # Outputs of `tc qdisc show` have no classes.
                above.classes[minor] = Class(command, parent, above.handle, ())
            known = minor in above.classes
        elif above.bands is not None:
            known = 1 <= minor <= len(above.bands.served)
        if not known:
            self._refuse(command, f"`{above.kind}` {label(above.handle)}: has no class {label(parent)}")
        return not known

    def _create(self, device: Device, command: Command, parent: int) -> None:
        if command.verb in ("change", "link") and device.at(parent) is None:
            self._refuse(command, "there is no discipline to change", "`add` or `replace` makes one")
            return
        handle = command.handle
        if not handle and command.verb != "show":
            handle, self._free = self._free, self._free + (1 << 16)
        bands = read_bands(self.document, command) if command.kind in BANDS else None
        device.put(Discipline(command, command.kind, handle or 0, parent, [command.options], bands))

    def _change(self, device: Device, present: Discipline, command: Command) -> None:
        if command.verb == "add":
            self._refuse(command, f"the handle {label(present.handle)}: is in use")
        elif command.kind != present.kind:
            self._refuse(command, f"a `{present.kind}` cannot become a `{command.kind}` by a change")
        elif present.kind in _unchangeable and command.options:
            self._refuse(
                command,
                f"the options of `{present.kind}` cannot be changed",
                "delete it first; its classes can be changed",
            )
        elif present.kind == "fq_codel" and "flows" in command.options:
            self._refuse(command, "the number of `flows` of a fq_codel cannot be changed", "delete it first")
        else:
            if present.kind == "netem":
                present.lines = [_kept_of_netem(present.options)]
            elif present.kind not in _merging:
                present.lines.clear()
            present.lines.append(command.options)
            present.command = command
            if present.bands is not None:
                present.bands = read_bands(self.document, command)
                for minor in [minor for minor in present.children if minor > len(present.bands.served)]:
                    device.remove(present.children[minor])

    def _delete(self, device: Device, command: Command) -> None:
        if command.parent is None:
            self._refuse(command, "a discipline is deleted by its parent", "add `root`, or `parent 1:1`")
            return
        device.has_root |= command.parent == ROOT
        present = device.at(command.parent)
        if present is None:
            # Scripts clean up first; that there is nothing is no fault.
            return
        if command.handle and command.handle != present.handle:
            self._refuse(command, f"the handle of `{present.kind}` is {label(present.handle)}:")
        elif command.kind and command.kind != present.kind:
            self._refuse(command, f"`{present.kind}` stands there, not `{command.kind}`")
        else:
            device.remove(present)

    def _class(self, device: Device, command: Command) -> None:
        major = (command.handle or command.parent or 0) >> 16 << 16
        above = device.by_handle.get(major)
        if command.parent == ROOT and command.handle is None and device.root is not None:
            above = device.root
        if above is None:
            if not device.has_root:
                self.document.remark(f"what is above {label(major)}: is not in the file", line=command.line)
            else:
                self._refuse(command, f"there is no discipline {label(major)}: on {device.name}")
            return
        parent = command.parent if command.parent not in (None, ROOT) else None
        if parent is not None and command.handle is not None and parent >> 16 != command.handle >> 16:
            self._refuse(command, f"the class {label(command.handle)} cannot stand below {label(parent)}")
        elif (
            above.kind == "ets"
            and command.kind == "ets"
            and command.verb in ("change", "replace")
            and command.handle is not None
        ):
            self._quantum(above, command)
        elif above.kind not in WITH_CLASSES:
            self._refuse(command, f"`{above.kind}` {label(above.handle)}: takes no classes")
        elif command.verb == "delete":
            self._delete_class(device, above, command)
        else:
            self._add_class(above, command)

    def _quantum(self, ets: Discipline, command: Command) -> None:
        """Change the quantum of a band of `ets`."""
        quantum = units.size_bytes(command.options[1]) if len(command.options) == 2 else None
        band = ((command.handle or 0) & 0xFFFF) - 1
        served = list(ets.bands.served if ets.bands is not None else ())
        if quantum is None or not 0 <= band < len(served) or served[band].serving is not Serving.WEIGHTED:
            self._refuse(command, "only bands of `ets` that share have something to change: their quantum")
            return
        served[band] = Scheduler(Serving.WEIGHTED, weight=quantum)
        ets.bands = replace(ets.bands or read_bands(self.document, ets.command), served=tuple(served))

    def _add_class(self, above: Discipline, command: Command) -> None:
        if command.kind != above.kind:
            self._refuse(command, f"`{above.kind}` {label(above.handle)}: has no classes of kind `{command.kind}`")
            return
        minor = (command.handle or 0) & 0xFFFF
        if not minor:
            minor = next(number for number in range(0x8000, 0xFFFF) if number not in above.classes)
        present = above.classes.get(minor)
        number = above.handle | minor
        parent = above.handle if command.parent in (None, ROOT) else command.parent or 0
        if present is not None and command.verb == "add":
            self._refuse(
                command, f"the class {label(number)} exists already (line {present.command.line}), and stays",
                "`replace` or `change` gives it other numbers",
            )  # fmt: skip
        elif present is None and command.verb == "change":
            self._refuse(command, f"there is no class {label(number)} to change", "`add` or `replace` makes one")
        elif present is not None:
            present.options = command.options if above.kind == "htb" else (*present.options, *command.options)
            present.command = command
        elif parent & 0xFFFF and (parent & 0xFFFF) not in above.classes and above.kind == "hfsc":
            self._refuse(command, f"there is no class {label(parent)}")
        else:
            if parent & 0xFFFF and (parent & 0xFFFF) not in above.classes:
                self.document.remark(
                    f"there is no class {label(parent)}: {above.kind} puts this one at the top", line=command.line
                )
                parent = above.handle
            # A class that gets classes below it holds no packets any more.
            if (before := above.children.pop(parent & 0xFFFF, None)) is not None:
                self.document.remark(f"`{before.kind}` at {label(parent)} is gone: classes follow", line=command.line)
            above.classes[minor] = Class(command, number, parent, command.options)

    def _delete_class(self, device: Device, above: Discipline, command: Command) -> None:
        minor = (command.handle or 0) & 0xFFFF
        if minor not in above.classes:
            self._refuse(command, f"there is no class {label(command.handle or 0)}")
            return
        number = above.handle | minor
        if any(each.parent == number for each in above.classes.values()):
            self._refuse(command, f"the class {label(number)} has classes below it")
        elif any(rule.target == number for filters in above.filters.values() for rule in filters):
            self._refuse(command, f"a filter leads to the class {label(number)}", "delete the filter first")
        else:
            if minor in above.children:
                device.remove(above.children[minor])
            del above.classes[minor]
            above.filters.pop(minor, None)

    def _filter(self, device: Device, command: Command) -> None:
        parent = command.parent
        above = device.root if parent in (None, ROOT) else device.by_handle.get((parent or 0) >> 16 << 16)
        if above is None:
            if command.verb == "delete":
                return
            where = "" if parent in (None, ROOT) else f" {label((parent or 0) >> 16 << 16)}:"
            if device.root is None:
                self.document.remark("the discipline that this filter is for is not in the file", line=command.line)
            else:
                self._refuse(command, f"there is no discipline{where} on {device.name}")
            return
        minor = 0 if parent in (None, ROOT) else (parent or 0) & 0xFFFF
        filters = above.filters.setdefault(minor, Filters())
        if command.verb == "delete":
            filters.delete(command)
        elif reason := filters.add(self.document, command):
            self._refuse(command, reason)


def _kept_of_netem(words: tuple[str, ...]) -> tuple[str, ...]:
    """The options of a netem that a change does not touch."""
    kept: list[str] = []
    name = ""
    for word in words:
        name = word if word in _of_netem else name
        if name in _kept:
            kept.append(word)
    return tuple(kept)
