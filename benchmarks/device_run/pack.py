"""The folder that was packed: its files, and what they hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .trial import Trial


@dataclass(frozen=True)
class FormModule:
    """Kernels of instruction forms that share PTX.

    Attributes:
        name: of the module.
        version: its PTX version, major and minor.
        ptx: the text.
        trials: what its kernels are tried on.
    """

    name: str
    version: tuple[int, int]
    ptx: str
    trials: tuple[Trial, ...]


class Pack:
    """A folder that `pack_device.py` wrote.

    Args:
        folder: where it is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.about: dict[str, Any] = self.read("pack.json")

    def read(self, name: str) -> Any:
        """A JSON file of the pack."""
        return json.loads(self.text(name))

    def text(self, name: str) -> str:
        """A file of the pack."""
        return (self.folder / name).read_text(encoding="utf-8")

    @property
    def target(self) -> str:
        """What the kernels were compiled for."""
        return str(self.about["target"])

    def form_modules(self) -> Iterator[FormModule]:
        """Modules of instruction forms, in order."""
        for fields in self.read("forms.json"):
            major, minor = map(int, fields["ptx"].split("."))
            trials = tuple(map(Trial.of, fields["trials"]))
            text = self.text(f"forms/{fields['name']}.ptx")
            yield FormModule(fields["name"], (major, minor), text, trials)

    def kernels(self) -> list[dict[str, Any]]:
        """Kernels to time, as `device_pack.kernels` describes them."""
        found: list[dict[str, Any]] = self.read("kernels.json")
        return found
