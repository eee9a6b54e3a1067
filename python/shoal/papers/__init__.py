"""Reproduction of published experiments; README.md explains the files of a paper."""

from shoal.papers.spec import Item, Paper, Reading, read_paper

__all__ = ["Item", "Paper", "Reading", "read_paper"]
