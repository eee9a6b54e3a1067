"""A user's kernel module that was compiled: what it registers and takes, and what results say of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shoal.linux.module_file import ModuleFile


@dataclass(frozen=True)
class UserModule:
    """A compiled module.

    Attributes
    ----------
    file
        What guests load, and the source.
    controllers, disciplines
        Names of the congestion controls and of the queue disciplines that it registers.
    parameters
        Its parameters, with their types.
    warnings
        What the compiler said of it.
    digests
        What a result says of it: SHA-256 of the source, of files of the same folder that it includes and of the module,
        compiler and kernel.
    """

    file: ModuleFile
    controllers: tuple[str, ...]
    disciplines: tuple[str, ...]
    parameters: Mapping[str, str]
    warnings: str
    digests: Mapping[str, Any]

    @property
    def description(self) -> dict[str, Any]:
        """What plans and results need."""
        return {
            "name": self.file.name,
            "source": self.file.source.name,
            "controllers": list(self.controllers),
            "disciplines": list(self.disciplines),
            "parameters": dict(self.parameters),
            **self.digests,
        }

    def registers(self, name: str) -> bool:
        """Whether the kernel knows it by this name."""
        return name in self.controllers or name in self.disciplines
