"""Arrays with bytes around them that nobody may change: what is written behind an array is seen.

Machine code writes to numpy's arrays without numpy. While `guarded` holds, the simulator's modules
make theirs between two zones, which are looked at when asked.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

_ZONE = 4096
"""Bytes on each side of an array, a multiple of any alignment."""
_FILL = np.uint32(1)
"""What the zones hold: as a stamp of shared memory, of somebody who is in order with everybody."""
_NEW = ("zeros", "empty", "ones")
_COPIES = ("tile", "repeat", "array", "ascontiguousarray", "concatenate")
_MODULES = (
    "memory", "checks.shared", "checks.owners", "checks.whole_warps", "checks.clocks",
    "native.accesses", "native.control", "native.control_checks", "native.fragment_products",
    "native.global_checks", "native.matrix_loads", "native.pending", "native.products",
    "native.workers",
)  # fmt: skip
"""Modules of the simulator whose arrays machine code reads and writes. Those that it exchanges
with the registers are not among them: it takes only arrays that own their bytes."""


class Overrun(Exception):  # noqa: N818 (no error of the simulator's)
    """Something has been written outside an array."""


class Guards:
    """The arrays made so far, to be looked at."""

    def __init__(self) -> None:
        self._zones: list[tuple[np.ndarray, str]] = []

    def check(self) -> None:
        """Look at all zones.

        Raises:
            Overrun: naming the module that made the array.
        """
        for raw, module in self._zones:
            for zone in (raw[:_ZONE], raw[-_ZONE:]):
                if (zone.view(np.uint32) != _FILL).any():
                    raise Overrun(f"bytes outside an array of {module} have changed")

    def room(self, shape: Any, dtype: Any, module: str) -> np.ndarray:
        """An array of zeros between two zones."""
        kind = np.dtype(dtype)
        count = int(np.prod(shape, dtype=np.int64))
        size = count * kind.itemsize
        padded = size + -size % 4
        raw = np.zeros(padded + 2 * _ZONE + 64, np.uint8)
        start = -raw.ctypes.data % 64
        raw = raw[start : start + padded + 2 * _ZONE]
        for zone in (raw[:_ZONE], raw[-_ZONE:]):
            zone.view(np.uint32)[:] = _FILL
        self._zones.append((raw, module))
        return raw[_ZONE : _ZONE + size].view(kind).reshape(shape)


class _Numpy(ModuleType):
    """Numpy for a module, whose new arrays are guarded."""

    def __init__(self, guards: Guards, module: str) -> None:
        super().__init__("numpy")

        def new(name: str) -> Any:
            def make(shape: Any, dtype: Any = np.float64) -> np.ndarray:
                made = guards.room(shape, dtype, module)
                if name == "ones":
                    made[...] = 1
                elif name == "empty":  # anything
                    made.reshape(-1).view(np.uint8)[:] = 0xA5
                return made

            return make

        def copied(name: str) -> Any:
            def make(*given: Any, **options: Any) -> np.ndarray:
                found = getattr(np, name)(*given, **options)
                if name == "ascontiguousarray" and found is given[0]:
                    return found
                made = guards.room(found.shape, found.dtype, module)
                made[...] = found
                return made

            return make

        for name in _NEW:
            setattr(self, name, new(name))
        for name in _COPIES:
            setattr(self, name, copied(name))

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


@contextmanager
def guarded() -> Iterator[Guards]:
    """While this holds, arrays of the simulator's modules have zones around them."""
    guards = Guards()
    modules = [sys.modules[f"tilec.sim.{name}"] for name in _MODULES]
    for name, module in zip(_MODULES, modules, strict=True):
        vars(module)["np"] = _Numpy(guards, name)
    try:
        yield guards
    finally:
        for module in modules:
            vars(module)["np"] = np
