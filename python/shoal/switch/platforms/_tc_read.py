"""Reads `tc`: the disciplines that are there after the commands of a file, or those that `tc ... show` printed.

The commands are replayed as the kernel takes them (:mod:`~shoal.switch.platforms._tc_state`); each leaf of the state is
a queue, with what stands above it and the code points that lead to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NoReturn

from shoal.models import nearest
from shoal.switch.amounts import Amount, Unit, whole_bytes
from shoal.switch.model import Buffer, Line, Queue, Remark, Scheduler
from shoal.switch.platforms import _tc_lines as lines
from shoal.switch.platforms._tc_commands import Command, commands_of, label, refuse_built
from shoal.switch.platforms._tc_filters import reads_ipv6_only
from shoal.switch.platforms._tc_laws import LAWS, RED_EXAMPLE, TXQUEUELEN, UNMODELLED, Node, Options, gred
from shoal.switch.platforms._tc_show import is_shown, shown
from shoal.switch.platforms._tc_state import BANDS, CARDS, SINGLE, WITH_CLASSES, Device, Discipline, State
from shoal.switch.platforms._tc_tree import DIRECT, Key, Leaf, Tree, Undecided, branches, schedulers
from shoal.switch.reading import Document


def queues(document: Document) -> list[Queue]:
    """The queues of a script, or of an output of `tc`.

    Raises
    ------
    ScenarioError
        tc would refuse a line, or a line holds variables of a shell, or no queue has a model; the message shows it.
    """
    state = State(document)
    is_stored = is_shown(document.text)
    for command in shown(document) if is_stored else commands_of(document):
        state.apply(command)
    if is_stored:
        _say_filters(document, state)
    readers = [_Reader(document, device, is_stored) for device in state.devices.values()]
    queues = [queue for reader in readers for queue in reader.queues()]
    if len(queues) == sum(reader.without_model for reader in readers):
        _refuse_nothing(document, state)
    # Outputs begin with `lo`, which has none.
    return [queue for queue in queues if not queue.name.endswith(" noqueue")]


def _say_filters(document: Document, state: State) -> None:
    if any(device.root is not None and (device.root.bands or device.root.classes) for device in state.devices.values()):
        document.remark(
            "filters are not in what `tc qdisc show` prints: code points are those without any",
            hint="`tc filter show dev NAME` shows whether there are some",
        )


def _refuse_nothing(document: Document, state: State) -> NoReturn:
    """Refuse a file without a queue that has a model, with the reason of what there is."""
    for device in state.devices.values():
        for root in [device.root, *device.fragments.values()]:
            for discipline in root.below() if root is not None else ():
                kind, statement = discipline.kind, discipline.command.statement
                if kind in CARDS and not discipline.children:
                    document.refuse_statement(
                        statement, _of_card(kind), "add its children, as `tc qdisc show` has them"
                    )
                if kind not in (*LAWS, *CARDS, *BANDS, *SINGLE, *WITH_CLASSES):
                    hint = f"these have a model: {', '.join(LAWS)}, gred"
                    document.refuse_statement(statement, _no_model(kind), hint)
    if not state.devices:
        refuse_built(document)
    if state.refused:
        command, reason, hint = state.refused[0]
        document.refuse_statement(command.statement, f"the kernel refuses this line: {reason}", hint or "see `man tc`")
    document.refuse(
        1, "no queue discipline that has a law", f"lines such as `tc qdisc add dev eth0 root {RED_EXAMPLE}`",
    )  # fmt: skip


def _of_card(kind: str) -> str:
    return f"what the queues of `{kind}` are is not in the file: net.core.default_qdisc is their default"


def _no_model(kind: str) -> str:
    what = f": {UNMODELLED[kind]}" if kind in UNMODELLED else ""
    return f"`{kind}` has no model{what}"


class _Reader:
    """The queues of a device.

    Attributes
    ----------
    without_model
        How many of them have no model.
    """

    def __init__(self, document: Document, device: Device, is_stored: bool) -> None:
        self.document, self.device, self.is_stored = document, device, is_stored
        self.tree = Tree(document, device)
        self.undecided = Undecided()
        self.without_model = 0
        is_ipv6 = reads_ipv6_only(list(self.tree.filters()))
        self.ways = self.tree.reached(self.undecided, is_ipv6=is_ipv6)
        if not is_ipv6 and len(self.tree.leaves) > 1 and self.tree.reached(Undecided(), is_ipv6=True) != self.ways:
            document.remark(
                "packets of IPv6 join other queues than those of IPv4 with the same code point: code points are those "
                "of IPv4",
                line=self._line,
            )

    @property
    def _line(self) -> int:
        return self.device.root.command.line if self.device.root is not None else 0

    def queues(self) -> Iterator[Queue]:
        """The queues, in the order of the tree."""
        wanted = {way for way, _ in self.ways.values()}
        leaves = [leaf for leaf in self.tree.leaves if leaf.minor != DIRECT or leaf.key in wanted]
        leaves = self._of_cards(leaves)
        used = [leaf for leaf in leaves if leaf.key in wanted] or leaves
        minors = Counter(leaf.way[-1][1] for leaf in leaves if leaf.way)
        reason = self._reason(leaves, used)
        points = self._points(leaves)
        served: dict[int, dict[int, Scheduler]] = {}
        below = branches(used)
        for leaf in leaves:
            queue = replace(self._queue(leaf), lines=leaf.lines)
            if leaf.way:
                minor = leaf.way[-1][1]
                choosing = [step for step in leaf.way if len(below.get(id(step[0]), ())) > 1] or leaf.way
                scheduler, number = choosing[-1]
                if id(scheduler) not in served:
                    served[id(scheduler)] = schedulers(scheduler)
                queue = replace(
                    queue,
                    index=minor if minors[minor] == 1 and minor != DIRECT else None,
                    scheduler=served[id(scheduler)].get(number),
                    undecided=reason,
                )
                if len(leaves) > 1:
                    queue = replace(queue, dscp=points[leaf.key][0], takes_rest=points[leaf.key][1])
            yield queue

    def _of_cards(self, leaves: Sequence[Leaf]) -> list[Leaf]:
        """The leaves, of equal ones below the queues of a card only the first."""
        kinds: dict[object, list[Leaf]] = {}
        for leaf in leaves:
            is_card = any(scheduler.kind in CARDS for scheduler, _ in leaf.way)
            key = (leaf.discipline.kind, leaf.discipline.options) if is_card else id(leaf)
            kinds.setdefault(key, []).append(leaf)
        for alike in kinds.values():
            if len(alike) > 1:
                self.document.remark(
                    f"{len(alike)} queues of the card have the same `{alike[0].discipline.kind}`: a hash spreads flows "
                    "over them, one stands for all",
                    line=alike[0].discipline.command.line,
                )
        return [alike[0] for alike in kinds.values()]

    def _reason(self, leaves: Sequence[Leaf], used: Sequence[Leaf]) -> Remark | None:
        """Why it is not said, or cannot be simulated, which packets join which queue; ``None`` if it can."""
        if len(leaves) < 2 and self.ways:
            return None

        def remark(text: str, command: Command, hint: str = "") -> Remark:
            one_alone = "--queue NAME makes a scenario of one queue alone"
            return Remark(text, f"{hint}; {one_alone}" if hint else one_alone, self.document.source(command.line))

        if rules := self.undecided.rules:
            return remark(f"`{rules[0].command.kind}` {rules[0].points.reason}", rules[0].command)
        for leaf in leaves:
            for scheduler, _ in leaf.way:
                if scheduler.kind in CARDS and len(leaves) > 1:
                    return remark("a hash spreads flows over the queues of the card, which differ", scheduler.command)
        below = branches(used)
        for leaf in used:
            choosing = [scheduler for scheduler, _ in leaf.way if len(below[id(scheduler)]) > 1]
            if len(choosing) > 1:
                text = f"`{choosing[1].kind}` below `{choosing[0].kind}`: a scenario has one scheduler"
                return remark(text, choosing[1].command)
        known = {leaf.key for leaf in leaves}
        root = self.device.root
        if root is not None and not any(way in known for way, _ in self.ways.values()):
            text = f"no filter and no default leads packets to a class: `{root.kind}` drops all"
            return remark(text, root.command, "add filters, or a default")
        return None

    def _points(self, leaves: Sequence[Leaf]) -> dict[Key, tuple[tuple[int, ...], bool]]:
        """The code points of each leaf, and whether it takes all others.

        All others are what comes to a leaf without a look at the code point; without such the most of them.
        """
        points: dict[Key, list[int]] = {leaf.key: [] for leaf in leaves}
        others: Counter[Key] = Counter()
        for point, (way, by_point) in self.ways.items():
            if way in points:
                points[way].append(point)
                others[way] += 64 * 64 if not by_point else 1
        is_complete = sum(map(len, points.values())) == len(self.ways) == 64
        rest = max(others, key=lambda way: others[way]) if others and is_complete else None
        return {way: (() if way == rest else tuple(each), way == rest) for way, each in points.items()}

    def _queue(self, leaf: Leaf) -> Queue:
        """A leaf as a queue, without what is above it."""
        discipline = leaf.discipline
        command = discipline.command
        if leaf.minor is not None:
            number = label(discipline.handle) if leaf.minor == DIRECT else label(discipline.handle | leaf.minor)
            self.document.remark(
                f"classes without a discipline hold packets first in, first out: {TXQUEUELEN}, which is the default "
                "length of a device's queue",
                hint="`ip link show` shows qlen",
            )
            kind = "direct" if leaf.minor == DIRECT else "pfifo"
            return self._first_in_first_out(
                f"{self.device.name} {number} {kind}", command, Amount(Fraction(TXQUEUELEN), Unit.PACKETS)
            )
        if leaf.limit is not None:
            size, unit = leaf.limit
            limit = whole_bytes(size) if unit == "bytes" else Amount(Fraction(size), Unit.PACKETS)
            return self._first_in_first_out(f"{self._name(discipline)} {discipline.kind}", command, limit)
        if discipline.kind == "gred":
            return self._gred(discipline)
        if discipline.kind in LAWS:
            return self._law(discipline)
        return self._unknown(discipline)

    def _name(self, discipline: Discipline) -> str:
        has_own = discipline.command.handle is not None and discipline.handle
        return f"{self.device.name} {label(discipline.handle if has_own else discipline.parent)}".strip()

    def _node(self, discipline: Discipline, words: tuple[str, ...]) -> Node:
        command = discipline.command
        return Node(
            command.line, self.device.name, self._name(discipline), discipline.kind, words, command.statement.words,
            self.is_stored,
        )  # fmt: skip

    def _first_in_first_out(self, name: str, command: Command, limit: Amount) -> Queue:
        return Queue(
            name=name, ports=(self.device.name,), exact={"kind": "fifo"}, buffer=Buffer(limit=limit),
            source=self.document.source(command.line),
        )  # fmt: skip

    def _law(self, discipline: Discipline) -> Queue:
        options = Options(self.document, self._node(discipline, discipline.options))
        queue = LAWS[discipline.kind](options)
        if discipline.children:
            child = next(iter(discipline.children.values()))
            text = f"`{child.kind}` below `{discipline.kind}`, which decides about packets before"
            if child.kind not in ("pfifo", "bfifo"):
                return replace(queue, unknown=text)
            self.document.remark(f"{text}, is read as its queue: its limit is that of {discipline.kind}")
        return queue

    def _gred(self, discipline: Discipline) -> Queue:
        """GRED, which has a line for its table and one for each virtual queue."""
        if self.is_stored:
            options = Options(self.document, self._node(discipline, ()))
            return options.queue(unknown="outputs of `tc qdisc show` are not read for gred: give its commands")
        setup = [words for words in discipline.lines if "setup" in words] or [()]
        parts = [words for words in discipline.lines if "setup" not in words]
        table = tuple(word for word in setup[-1] if word != "setup")
        readers = [Options(self.document, self._node(discipline, words)) for words in (table, *parts)]
        return gred(readers[0], readers[1:])

    def _unknown(self, discipline: Discipline) -> Queue:
        kind, command = discipline.kind, discipline.command
        self.without_model += 1
        if kind in CARDS:
            reason = _of_card(kind)
        else:
            reason = _no_model(kind)
            hint = "" if kind in UNMODELLED else nearest(kind, [*LAWS, "gred", "prio", "ets", "htb", "tbf", "netem"])
            if kind != "noqueue":
                self.document.remark(f"`{kind}` is not read: {reason}", hint=hint, line=command.line)
        queue = Queue(
            name=f"{self._name(discipline)} {kind}", ports=(self.device.name,), unknown=reason,
            source=self.document.source(command.line),
        )  # fmt: skip
        rate = lines.cake_rate(discipline.options) if kind == "cake" else None
        return replace(queue, lines=(Line(queue.name, rate_bps=rate),)) if rate else queue
