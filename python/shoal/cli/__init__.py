"""The command line.

Data on stdout, talk on stderr, ``hint:`` after an error. Exit codes: 0 done, 1 internal error, 2 wrong usage,
3 scenario refused, 4 files cannot be read or written, 5 a published value is not reproduced (``--strict``) or no value
satisfies the condition of a search, 6 the Linux plane failed, 7 runs of a sweep failed or its cluster does not answer,
130 interrupted.
"""

from shoal.cli.app import main

__all__ = ["main"]
