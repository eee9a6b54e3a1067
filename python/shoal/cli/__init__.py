"""The command line.

Data on stdout, talk on stderr, ``hint:`` after an error. ``shoal --help`` says what the exit codes mean; they are in
:class:`shoal.cli.app.ExitCode`.
"""

from shoal.cli.app import main

__all__ = ["main"]
