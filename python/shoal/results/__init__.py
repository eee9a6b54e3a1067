"""What runs measured: of one run, and of the same scenario with several seeds."""

from shoal.results.one import Result, schema_version
from shoal.results.several import Results, Undefined, seed_folder

__all__ = ["Result", "Results", "Undefined", "schema_version", "seed_folder"]
