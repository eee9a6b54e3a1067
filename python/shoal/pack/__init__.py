"""Archives for artifact evaluation: results, what made them, and a command that makes them again and compares."""

from shoal.pack.check import Checked, check, make_again, other_packages
from shoal.pack.folder import PackedResults, read_folders
from shoal.pack.lock import check_wheel
from shoal.pack.write import check_target, entry_of, is_artifact, write_artifact

__all__ = [
    "Checked",
    "PackedResults",
    "check",
    "check_target",
    "check_wheel",
    "entry_of",
    "is_artifact",
    "make_again",
    "other_packages",
    "read_folders",
    "write_artifact",
]
