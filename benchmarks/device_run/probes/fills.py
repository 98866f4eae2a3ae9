"""The NaN that a tensor load fills in, and what maps of tf32 and of flushed f32 do to elements."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..driver import Cuda
from .answer import Row, answer
from .tensor_loads import Loads

SIZE = 512
_SHAPE = (2, 4)
_FORM = "cp.async.bulk.tensor.2d.shared::cluster.global"
NANS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "f32.ftz": 32, "tf32": 32, "tf32.ftz": 32}
"""Bits of the types of a map that can be asked to fill in NaN."""
_EXPONENT = {"f16": 5, "bf16": 8, "f64": 11}
"""Bits of an exponent, where they are not the 8 of f32."""

BITS = np.array(
    [
        *(0x3F800000, 0x3F801000, 0x3F801FFF, 0x3F803000),
        *(0xBF801001, 0x00000001, 0x80012345, 0x7F800001),
    ],
    np.uint32,
)
"""Elements of f32: ties and near ties of tf32, subnormals of both signs, a NaN that signals."""
CONVERTED = ("f32.ftz", "tf32", "tf32.ftz")


def probes(cuda: Cuda, target: str) -> Iterator[Row]:
    """A row for each type that is filled in, and for each that may convert."""
    if target == "sm_90a":
        yield from _filled(cuda)
        yield from _converted(cuda)


def _filled(cuda: Cuda) -> Iterator[Row]:
    for name, bits in NANS.items():
        array = np.zeros((2, 128 // bits), f"u{bits // 8}")
        loads = Loads(cuda, array, SIZE)
        described = {"type": name, "box": list(array.shape), "swizzle": "none", "fill": "nan"}
        # The box begins below the array.
        held, _ = loads.load(described, (2, 0), array.nbytes)
        loads.close()
        got = held[: array.nbytes].view(array.dtype)
        wanted = {label: np.full_like(got, nan) for label, nan in nans(name, bits).items()}
        yield answer(f"NaN that is filled in, {name}", _FORM, got, wanted)


def nans(name: str, bits: int) -> dict[str, int]:
    """NaNs of a type that the hardware may take."""
    fraction = bits - 1 - _EXPONENT.get(name, 8)
    top = 1 << bits - 1
    found = {
        "every bit but the sign": top - 1,
        "every bit": 2 * top - 1,
        "quiet, without a payload": top - (1 << fraction - 1),
        "quiet and negative, without a payload": 2 * top - (1 << fraction - 1),
    }
    if name.startswith("tf32"):
        found["every bit of tf32 but the sign"] = (top - 1) & ~0x1FFF
    return found


def _converted(cuda: Cuda) -> Iterator[Row]:
    array = BITS.reshape(_SHAPE)
    for name in CONVERTED:
        loads = Loads(cuda, array, SIZE)
        held, _ = loads.load(
            {"type": name, "box": list(_SHAPE), "swizzle": "none"}, (0, 0), array.nbytes
        )
        loads.close()
        got = held[: array.nbytes].view(np.uint32)
        given = {"elements": [f"{int(one):08x}" for one in BITS]}
        yield answer(f"elements of a map of {name}", _FORM, got, conversions(BITS), given)


def conversions(bits: np.ndarray) -> dict[str, np.ndarray]:
    """What a load may make of f32, as bits; infinities and NaNs are not rounded."""
    number = bits & 0x7F800000 != 0x7F800000
    cut = np.uint32(0xFFFFE000)
    even = bits + np.uint32(0xFFF) + (bits >> 13 & 1)
    ways = {
        "unchanged": bits,
        "the low 13 bits cut": bits & cut,
        "rounded to tf32, ties to even": np.where(number, even, bits) & cut,
        "rounded to tf32, ties away from zero": np.where(number, bits + np.uint32(0x1000), bits)
        & cut,
    }
    subnormal = bits & 0x7F800000 == 0
    found = dict(ways)
    for label, made in ways.items():
        flushed = np.where(subnormal, bits & np.uint32(0x80000000), made)
        found[f"{label}, subnormals flushed"] = flushed
        quiet = np.where(number, flushed, flushed | np.uint32(0x400000))
        found[f"{label}, subnormals flushed, NaNs quiet"] = quiet
    return {label: made.astype(np.uint32) for label, made in found.items()}
