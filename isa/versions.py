"""PTX ISA versions, as the `.version` directive writes them."""

from __future__ import annotations

from typing import NamedTuple

from .errors import TilecError


class PtxVersion(NamedTuple):
    """A PTX ISA version; ordered by release."""

    major: int
    minor: int

    @classmethod
    def parse(cls, text: str) -> PtxVersion:
        """Read `7.0`.

        Raises:
            TilecError: for anything but two decimal numbers joined by a dot.
        """
        major, dot, minor = text.partition(".")
        if not (dot and major.isdecimal() and minor.isdecimal()):
            raise TilecError(f"PTX version '{text}' is not of the form MAJOR.MINOR, as in 7.0")
        return cls(int(major), int(minor))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"

    @property
    def llvm_feature(self) -> str:
        """The NVPTX subtarget feature that selects this version, as in `+ptx70`."""
        return f"+ptx{self.major}{self.minor}"
