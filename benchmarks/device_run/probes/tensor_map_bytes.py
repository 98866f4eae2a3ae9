"""Where the driver puts each field of a tensor map. CUDA driver, "Tensor maps".

The driver makes maps on the host, so that nothing is launched: two maps that differ in one field
differ in the bits of that field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from tilec.sim.map_bytes import TYPES, Descriptor

from ..driver import Cuda
from ..tensor_maps import TYPE_CODES
from .answer import Row

_TILED: Mapping[str, Any] = {
    "type": "f16",
    "shape": [16, 64, 128],
    "strides": [128 * 128, 256, 2],
    "box": [1, 8, 16],
    "swizzle": "none",
    "promotion": 0,
}
_IM2COL: Mapping[str, Any] = {
    **_TILED,
    "shape": [4, 16, 16, 64],
    "strides": [2 * 64 * 256, 2 * 64 * 16, 2 * 64, 2],
    "box": None,
    "lower": [0, 0],
    "upper": [0, 0],
    "channels": 16,
    "pixels": 32,
}
# Values that differ in every bit that the field can have, and others that are told apart.
TILED: Mapping[str, tuple[Any, Any]] = {
    "type": ("i8", "i64"),
    "swizzle": ("none", "128B"),
    "fill": ("zeros", "nan"),
    "promotion": (0, 3),
    "box": ([1, 8, 8], [1, 8, 64]),
}
IM2COL: Mapping[str, tuple[Any, Any]] = {
    "lower": ([0, 0], [-1, 0]),
    "upper": ([0, 0], [-1, 0]),
    "channels": (8, 16),
    "pixels": (1, 1024),
    "promotion": (0, 3),
}
_BYTES = 1 << 20
"""Of the memory that maps describe, more than their arrays have."""


def probes(cuda: Cuda, target: str) -> Iterator[Row]:
    """A row for tiled maps as the simulator has them, and one for each field."""
    if target != "sm_90a":
        return
    address = cuda.alloc(_BYTES)

    def made(described: Mapping[str, Any]) -> bytes:
        return bytes(cuda.tensor_map(described, address))

    against = _differing(made(_TILED), _simulated(address))
    yield _row("a tiled map, against the simulator's", against)
    for kind, base, fields in (("tiled", _TILED, TILED), ("im2col", _IM2COL, IM2COL)):
        for name, (first, second) in fields.items():
            bits = _differing(made({**base, name: first}), made({**base, name: second}))
            yield _row(f"{name} of {kind} maps", bits)
    cuda.free(address)


def _simulated(address: int) -> bytes:
    """The tiled map as the simulator has it, which knows of no promotion."""
    return Descriptor(
        address,
        TYPES[TYPE_CODES[str(_TILED["type"])]],
        tuple(_TILED["shape"][::-1]),
        tuple(_TILED["strides"][-2::-1]),
        tuple(_TILED["box"][::-1]),
        (1, 1, 1),
    ).encode()


def _differing(first: bytes, second: bytes) -> list[int]:
    """The bits in which they differ, counted from the first byte's lowest."""
    differing = np.frombuffer(first, np.uint8) ^ np.frombuffer(second, np.uint8)
    return np.flatnonzero(np.unpackbits(differing, bitorder="little")).tolist()


def _row(question: str, bits: list[int]) -> Row:
    verdict = "no bit differs"
    if bits:
        words: dict[int, list[int]] = {}
        for bit in bits:
            words.setdefault(bit // 32 * 4, []).append(bit % 32)
        verdict = "; ".join(
            f"of the word at byte {byte:#04x} bits {', '.join(map(str, found))}"
            for byte, found in words.items()
        )
    return {
        "work": "probe",
        "question": question,
        "form": "cuTensorMapEncode",
        "verdict": verdict,
        "results": bits,
        "says": f"{question}: {verdict}",
    }
