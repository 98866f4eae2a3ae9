"""The JSON beside a PTX file, which says how its kernels are launched."""

from __future__ import annotations

import json
from pathlib import Path

from tilec.isa import TilecError
from tilec.launch.abi import Abi, KernelEntry


def described(path: Path) -> dict[str, KernelEntry]:
    """The kernels of a JSON file; none if it is another's.

    Raises:
        TilecError: for one of tilec's that is not as its schema says.
        OSError: if it cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
        document = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(document, dict) or "kernels" not in document:
        return {}
    try:
        abi = Abi.parse(text)
    except TilecError as error:
        raise TilecError(f"{path}: {error}") from None
    return {kernel.name: kernel for kernel in abi.kernels}
