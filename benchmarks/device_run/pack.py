"""The folder that was packed: its files, and what they hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .trial import Trial

ABOUT = "pack.json"
"""What a pack is for, and which version made it."""


@dataclass(frozen=True)
class FormModule:
    """Kernels of instruction forms that share PTX.

    Attributes:
        name: of the module.
        version: its PTX version, major and minor.
        ptx: the text.
        trials: what its kernels are tried on.
        cubin: what it is assembled to, if that is in the pack.
    """

    name: str
    version: tuple[int, int]
    ptx: str
    trials: tuple[Trial, ...]
    cubin: bytes | None = None


class Pack:
    """A folder that `pack_device.py` wrote.

    Args:
        folder: where it is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.about: dict[str, Any] = self.read(ABOUT)

    def read(self, name: str) -> Any:
        """A JSON file of the pack."""
        return json.loads(self.text(name))

    def assembled(self, name: str) -> bytes | None:
        """What a file of PTX is assembled to; None if that is not in the pack."""
        path = (self.folder / name).with_suffix(".cubin")
        return path.read_bytes() if path.exists() else None

    def text(self, name: str) -> str:
        """A file of the pack."""
        return (self.folder / name).read_text(encoding="utf-8")

    @property
    def target(self) -> str:
        """What the kernels were compiled for."""
        return str(self.about["target"])

    @cached_property
    def _forms(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.read("forms.json")
        return found

    def form_modules(self) -> Iterator[FormModule]:
        """Modules of instruction forms, in order."""
        for fields in self._forms:
            major, minor = map(int, fields["ptx"].split("."))
            trials = tuple(map(Trial.of, fields["trials"]))
            file = f"forms/{fields['name']}.ptx"
            text, cubin = self.text(file), self.assembled(file)
            yield FormModule(fields["name"], (major, minor), text, trials, cubin)

    def kernels(self) -> list[dict[str, Any]]:
        """Kernels to time, as `device_pack.kernels` describes them."""
        found: list[dict[str, Any]] = self.read("kernels.json")
        return found
