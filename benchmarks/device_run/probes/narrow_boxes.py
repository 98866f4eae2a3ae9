"""Where the rows of a box lie that is narrower than its swizzle."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..driver import Cuda, DeviceError
from .answer import Row, answer
from .tensor_loads import BEFORE, Loads

ROWS, COLUMNS = 32, 128
SIZE = 8192
_LINES = {"128B": 128, "64B": 64, "32B": 32}
CASES = tuple(
    (swizzle, width)
    for swizzle, line in _LINES.items()
    for width in (16, 32, 48, 64, 96)
    if width < line
)
"""Swizzles, and bytes of a row of the box."""
_FORM = "cp.async.bulk.tensor.2d.shared::cluster.global"


def probes(cuda: Cuda, target: str) -> Iterator[Row]:
    """A row for each swizzle and width: the places of every element, and the bytes counted."""
    if target != "sm_90a":
        return
    array = np.arange(ROWS * COLUMNS, dtype=np.uint16).reshape(ROWS, COLUMNS)
    loads = Loads(cuda, array, SIZE)
    for swizzle, width in CASES:
        question = f"rows of {width} bytes of a box with swizzle {swizzle}"
        box = [ROWS, width // 2]
        described = {"type": "i16", "box": box, "swizzle": swizzle}
        try:
            held, completed = loads.load(described, (0, 0), ROWS * width)
        except DeviceError as error:
            says = f"{question}: the driver refuses the map: {error}"
            yield {"work": "probe", "question": question, "form": _FORM, "says": says}
            continue
        wanted = {
            label: laid_out(array, width, pitch, _LINES[swizzle])
            for label, pitch in (
                ("rows follow each other", width),
                ("a row takes a line of the swizzle", _LINES[swizzle]),
            )
        }
        found = held.view(np.uint16)
        given = {"box": box, "bytes of each chunk": places(found, array[:, : width // 2 : 8])}
        row = answer(question, _FORM, found, wanted, given)
        if not completed:
            row["says"] += f"; its phase did not complete after {ROWS * width} bytes"
        yield row | {"completed": completed}
    loads.close()


def places(held: np.ndarray, chunks: np.ndarray) -> list[list[int]]:
    """Where the first element of each chunk lies, in bytes, by row; -1 where it does not."""
    found = {int(one): 2 * at for at, one in enumerate(held)}
    return [[found.get(int(one), -1) for one in row] for row in chunks]


def laid_out(array: np.ndarray, width: int, pitch: int, line: int) -> np.ndarray:
    """Shared memory after the load, if so many bytes lie between rows of the box."""
    held = np.full(SIZE // 2, BEFORE & 0xFFFF, np.uint16)
    row, column = np.indices((ROWS, width // 2))
    at = row * pitch + 2 * column
    at ^= (at >> 7 & line // 16 - 1) << 4
    held[at // 2] = array[:, : width // 2]
    return held
