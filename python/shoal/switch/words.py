"""Reads words of command lines: numbers with units, percentages, weights, rates."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NoReturn

from shoal.models import nearest
from shoal.switch.amounts import Amount, Unit
from shoal.switch.reading import Document, Statement


class Words:
    """The words of a statement, taken one after the other."""

    def __init__(self, document: Document, statement: Statement, start: int, example: str) -> None:
        self.document = document
        self.statement = statement
        self.example = example
        self._rest = list(statement.words[start:])

    @property
    def next(self) -> str:
        """The next word; empty at the end."""
        return self._rest[0] if self._rest else ""

    def take(self, *words: str) -> bool:
        """Take the next word if it is one of these."""
        if self.next not in words or not self._rest:
            return False
        del self._rest[0]
        return True

    def any(self) -> str:
        """Take whatever comes next."""
        if not self._rest:
            self.refuse("the line ends too early")
        return self._rest.pop(0)

    def expect(self, word: str) -> None:
        """Take a word that must be there."""
        if not self.take(word):
            actual = f"`{self.next}`" if self._rest else "the end of the line"
            self.refuse(f"expected `{word}`, found {actual}")

    def whole(self, what: str, least: int, most: int) -> int:
        """A whole number in a range."""
        word = self.any()
        if not word.isdecimal() or not least <= int(word) <= most:
            self.refuse(f"`{word}` is not {what}", f"write a whole number from {least} to {most}")
        return int(word)

    def percent(self, what: str) -> Fraction:
        """A whole number of percent, as a probability."""
        return Fraction(self.whole(what, 0, 100), 100)

    def number(self) -> int:
        """A whole number."""
        word = self.any()
        if not word.isdecimal():
            self.refuse(f"`{word}` is not a whole number")
        return int(word)

    def unit(self, units: Mapping[str, Unit]) -> Unit:
        """A unit, which is never left out."""
        if not self._rest or self.next not in units:
            reason = f"`{self.next}` is not a unit" if self._rest else "the unit is missing"
            self.refuse(reason, nearest(self.next, list(units)))
        return units[self.any()]

    def amount(self, units: Mapping[str, Unit]) -> Amount:
        """A number and its unit."""
        number = self.number()
        return Amount(Fraction(number), self.unit(units))

    def end(self) -> None:
        """Nothing may follow."""
        if self._rest:
            self.refuse(f"`{self.next}` is not expected here")

    def refuse(self, what: str, hint: str = "") -> NoReturn:
        """Refuse the statement; one with a variable for that reason, whatever a number would have to be."""
        if any("$" in word for word in self.statement.words):
            what = "the line holds variables of a shell or a program"
            hint = "give the line as it is run, with numbers and names"
        self.document.refuse_statement(self.statement, what, hint or f"as in `{self.example}`")
