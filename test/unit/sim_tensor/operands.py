"""Random operands as matrices of bits, and their register images by the ISA's formulas."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
from tilec.isa import Mma, Operand, WmmaMma

NUMPY_TYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "tf32": np.float32,
    "f64": np.float64,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
}
_SPECIALS = {
    "f16": (0, 0x8000, 1, 0x8001, 0x03FF, 0x0400, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7C01, 0xFFFF),
    "bf16": (0, 0x8000, 1, 0x807F, 0x0080, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7F81, 0xFFFF),
    "f32": (0, 0x80000000, 1, 0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000,
            0xFF800000, 0x7F800001, 0xFFFFFFFF),
    "tf32": (0, 0x80000000, 0x1FFF, 0x80002000, 0x007FFFFF, 0x7F7FFFFF, 0x7F800000, 0xFF800000,
             0x7F800001, 0x7F802000),
    "e4m3": (0, 0x80, 1, 0x87, 0x08, 0x7E, 0xFE, 0x7F, 0xFF),
    "e5m2": (0, 0x80, 1, 0x83, 0x04, 0x7B, 0xFB, 0x7C, 0xFC, 0x7D, 0xFF),
    "ue8m0": (0, 1, 254, 255),
    "ue4m3": (0, 1, 8, 0x7E, 0x7F),
}  # fmt: skip
MOODS = ("near one", "any", "tiny", "specials")
"""Kinds of random operands, one a warp."""


def random_bits(
    rng: np.random.Generator, type_: str, size: tuple[int, ...], mood: str
) -> np.ndarray:
    """Random elements of a type as bits, uint64."""
    if type_ in ("ue8m0", "ue4m3"):
        low, high = {"ue8m0": (120, 135), "ue4m3": (0x20, 0x50)}[type_]
        if mood == "any":
            low, high = {"ue8m0": (0, 255), "ue4m3": (0, 0x7F)}[type_]
        bits = rng.integers(low, high, size)
    elif type_ not in NUMPY_TYPES:
        return rng.integers(0, 1 << (1 if type_ == "b1" else int(type_[1:])), size, dtype=np.uint64)
    elif mood == "any":
        # Exponents from all over the range, but no infinities and few overflows of the sum.
        kind = np.dtype(NUMPY_TYPES[type_])
        span = {"f32": 60, "tf32": 60, "bf16": 60, "f64": 300, "f16": 12, "e5m2": 12, "e4m3": 6}
        scale = np.exp2(rng.integers(-span.get(type_, 1), span.get(type_, 1) + 1, size))
        bits = (rng.standard_normal(size) * scale).astype(kind).view(f"u{kind.itemsize}")
    elif mood == "tiny":
        kind = np.dtype(NUMPY_TYPES[type_])
        top = {"f32": 1 << 25, "tf32": 1 << 25, "bf16": 1 << 9, "f16": 1 << 11, "f64": 1 << 54,
               "e5m2": 16, "e4m3": 16}  # fmt: skip
        width = 8 * kind.itemsize if type_[0] != "e" or type_[1:] in ("4m3", "5m2") else 0
        bits = rng.integers(0, top.get(type_, 4), size)
        if width:
            bits = bits | rng.integers(0, 2, size) << width - 1
        bits = np.where(rng.random(size) < 0.2, 0, bits)
    else:
        kind = np.dtype(NUMPY_TYPES[type_])
        bits = rng.standard_normal(size).astype(kind).view(f"u{kind.itemsize}")
    bits = bits.astype(np.uint64)
    if mood == "specials" and type_ in _SPECIALS:
        special = rng.choice(np.array(_SPECIALS[type_], dtype=np.uint64), size)
        bits = np.where(rng.random(size) < 0.04, special, bits)
    return bits


def image(operand: Operand, elements: dict[tuple[int, int], int]) -> np.ndarray:
    """Registers (registers, 32) with element i of a lane as `elements[lane, i]` says."""
    wide = operand.register.bits == 64
    words = np.zeros((operand.registers, 32), dtype=np.uint64)
    for (lane, i), bits in elements.items():
        register, inside = divmod(i, operand.per_register)
        words[register, lane] |= np.uint64(int(bits) << operand.container * inside + operand.shift)
    return words if wide else words.astype(np.uint32)


def read_image(operand: Operand, words: np.ndarray, lane: int, i: int) -> int:
    """Element i of a lane."""
    register, inside = divmod(int(i), operand.per_register)
    mask = (1 << operand.container) - 1
    return int(words[register, lane]) >> operand.container * inside & mask


def inputs(f: Mma | WmmaMma, rng: np.random.Generator, mood: str) -> dict[str, np.ndarray]:
    """Random matrices as bits: a as stored, b, c; codes of a sparse a; scale factors."""
    found = {}
    for name in "abc":
        o = f.operand(name)
        size = (getattr(f, "products", 1), o.rows, o.cols)
        found[name] = random_bits(rng, o.type.name, size, mood)
    if isinstance(f, Mma) and f.sparsity:
        legal = (0b0100, 0b1110) if f.sparsity.chunk == 2 else (4, 8, 12, 9, 13, 14)
        o = f.operand("e")
        found["e"] = rng.choice(legal, (o.rows, o.cols))
    if isinstance(f, Mma) and f.scaling:
        for name in ("sfa", "sfb"):
            o = f.operand(name)
            found[name] = random_bits(rng, o.type.name, (o.rows, o.cols), mood)
    return found


def registers(
    f: Mma, plain: ModuleType, values: Any, selectors: Any, rng: Any
) -> dict[str, np.ndarray]:
    """Register images of all operands, by the formulas of the ISA."""
    found = {}
    for name in "abc":
        o = f.operand(name)
        elements = {}
        for lane in range(32):
            for i in range(o.elements):
                place = element_place(f, plain, o, lane, i)
                elements[lane, i] = values[name][place]
        found[name] = image(o, elements)
    if "e" in values:
        found["e"] = metadata_image(f, plain, values["e"], selectors["selector"], rng)
    for side in "ab":
        if f"sf{side}" in values:
            found[f"sf{side}"] = scale_image(f, plain, side, values[f"sf{side}"], selectors, rng)
    return found


def element_place(f: Mma, plain: ModuleType, o: Operand, lane: int, i: int) -> tuple[int, int, int]:
    """(product, row, col) of element i."""
    if f.products == 4:
        return plain.quad_pair_place(o.name, o.type.name, o.major, lane, i)
    if o.name == "a":
        return 0, *plain.a_place(f.shape.m, o.per_register, lane, i)
    return 0, *(plain.b_place(o.per_register, lane, i) if o.name == "b" else plain.c_place(lane, i))


def metadata_image(f: Mma, plain: ModuleType, codes: Any, selector: int, rng: Any) -> np.ndarray:
    """Codes where the selector takes them from; noise elsewhere."""
    words = [int(w) for w in rng.integers(0, 1 << 32, 32)]
    bits = f.operand("a").container
    for (row, chunk), code in np.ndenumerate(codes):
        at = plain.metadata_place(bits, f.shape.k, f.sparsity.chunk, row, chunk, selector)
        lane, low = at
        words[lane] = words[lane] & ~(15 << low) | int(code) << low
    return np.array([words], dtype=np.uint32)


def scale_image(
    f: Mma, plain: ModuleType, side: str, scales: Any, selectors: Any, rng: Any
) -> np.ndarray:
    """Scale factors where the selectors take them from; noise elsewhere."""
    words = rng.integers(0, 256, (32, 4), dtype=np.uint8)
    ids = selectors[f"byte_id_{side}"], selectors[f"thread_id_{side}"]
    for (row, col), bits in np.ndenumerate(scales):
        if side == "a":
            lane, byte = plain.scale_a_place(row, col, *ids)
        else:
            lane, byte = plain.scale_b_place(col, row, *ids)
        words[lane, byte] = bits
    return words.view(np.uint32).reshape(1, 32)


def types_of(form: Mma | WmmaMma) -> tuple[str, str, str, str]:
    """Types of D, A, B and C."""
    return tuple(form.operand(name).type.name for name in "dabc")  # type: ignore[return-value]
