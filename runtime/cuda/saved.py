"""The memory of arrays on a GPU, kept, to be put back as it was."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext, suppress
from typing import Any, NamedTuple, Self

from .device import gpu
from .errors import CudaError
from .memory import Array
from .views import View, view


class _Copy(NamedTuple):
    """A stretch of memory and a copy of it."""

    pointer: int
    held: Array


class SavedArrays:
    """Copies of arrays on one GPU, made when it is created; behind a `with` all is put back.

    Args:
        arrays: by the names that messages call them.
        sizes: the bytes of an element of each.
        stream: handle of the stream on which they are copied, and put back.
    """

    def __init__(
        self, arrays: Mapping[str, Any], sizes: Mapping[str, int], stream: int = 0
    ) -> None:
        self._stream = stream
        self._copies: list[_Copy] = []
        for name, value in arrays.items():
            seen = view(value, f"argument '{name}'", stream)
            first, count = _span(seen)
            if count and seen.device >= 0:
                held = Array((count * sizes[name],), "uint8", seen.device)
                start = seen.pointer + first * sizes[name]
                held.device.call("cuMemcpyDtoDAsync", held.pointer, start, held.nbytes, stream)
                self._copies.append(_Copy(start, held))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # After a fault there is no memory left to put back; what is raised says why.
        with nullcontext() if kind is None else suppress(CudaError):
            self.restore()
            self.close()

    def restore(self) -> None:
        """Put all of it back, by the stream."""
        for pointer, held in self._copies:
            held.device.call("cuMemcpyDtoDAsync", pointer, held.pointer, held.nbytes, self._stream)

    def close(self) -> None:
        """Give the copies' memory back, when what was launched has ended."""
        for _, held in self._copies:
            gpu(held.device.ordinal).synchronize()
            held.close()
        self._copies.clear()


def _span(seen: View) -> tuple[int, int]:
    """The first element of an array's memory, counted from where it begins, and how many."""
    if 0 in seen.shape:
        return 0, 0
    steps = [(extent - 1) * step for extent, step in zip(seen.shape, seen.strides, strict=True)]
    first = sum(step for step in steps if step < 0)
    return first, 1 + sum(map(abs, steps))
