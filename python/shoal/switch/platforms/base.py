"""What every platform of switches is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Generic, TypeVar

from shoal.switch.model import Configuration, Queue
from shoal.switch.options import Options
from shoal.switch.reading import Document
from shoal.switch.writing import Writing

OptionsT = TypeVar("OptionsT", bound=Options)


class Platform(ABC, Generic[OptionsT]):
    """A kind of configuration: how its text is recognised, read and written.

    Attributes
    ----------
    name
        What the command line calls it.
    label
        What people call it, in a word.
    title
        What its text is.
    options
        What its writer can be told; the command line has these options.
    always_leads
        Whether its writer always says which packets go to which queue.
    comment
        How a line begins that the device passes over; empty if there is no such line.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    title: ClassVar[str]
    options: type[OptionsT]
    always_leads: ClassVar[bool] = False
    comment: ClassVar[str] = ""

    @abstractmethod
    def recognises(self, text: str) -> bool:
        """Whether a text looks like its configuration."""

    @abstractmethod
    def queues(self, document: Document) -> Sequence[Queue]:
        """The queues of a configuration; what is doubtful about them is noted in the document.

        Raises
        ------
        ScenarioError
            A statement about a queue cannot be understood; the message shows its line.
        """

    @abstractmethod
    def write(self, queues: Sequence[Queue], writing: Writing[OptionsT]) -> str:
        """The configuration of some queues; what is rounded or lost is noted in ``writing``.

        Raises
        ------
        UsageError
            The platform cannot express one of them; the message has the reasons.
        """

    def stated_rates_bps(self, document: Document) -> set[int]:
        """The speeds of the ports that have queues, in bit/s, as far as the configuration has them."""
        del document
        return set()

    @property
    def most_able(self) -> OptionsT:
        """The options for a device that can all that any device of the platform can."""
        return self.options()

    def read(self, document: Document) -> Configuration:
        """Read a configuration; see :meth:`queues`."""
        queues = tuple(self.queues(document))
        if document.undecided:
            queues = tuple(replace(queue, undecided=document.undecided[0]) for queue in queues)
        return Configuration(self.name, self.title, queues, tuple(document.remarks))
