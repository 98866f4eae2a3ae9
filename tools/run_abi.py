"""The JSON beside a PTX file, which says how its kernels are launched."""

from __future__ import annotations

from pathlib import Path

from tilec.isa import TilecError
from tilec.launch.abi import Abi, KernelEntry


def described(path: Path) -> dict[str, KernelEntry]:
    """The kernels of a JSON file; none if it is another's."""
    try:
        abi = Abi.parse(path.read_text(encoding="utf-8"))
    except (KeyError, TypeError, ValueError, TilecError):
        return {}
    return {kernel.name: kernel for kernel in abi.kernels}
