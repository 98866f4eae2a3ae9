"""What the tests of tensor-core arithmetic share: the plain model, random operands, images."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import ml_dtypes
import numpy as np
import pytest
from tilec.isa import Mma, Operand, WmmaMma

VECTORS = Path(__file__).parents[4] / "shared" / "hw-vectors"


def load(name: str) -> ModuleType:
    """A module beside this file: the tests' folder is no package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def plain() -> ModuleType:
    """The plain model."""
    return load("plain_model")


@pytest.fixture(scope="session")
def vectors() -> Path:
    """The folder of vectors measured on hardware."""
    if not VECTORS.is_dir():
        pytest.skip("the hardware vectors are not here")
    return VECTORS


_NARROW = {
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
    elif type_ not in _NARROW:
        return rng.integers(0, 1 << (1 if type_ == "b1" else int(type_[1:])), size, dtype=np.uint64)
    elif mood == "any":
        # Exponents from all over the range, but no infinities and few overflows of the sum.
        kind = np.dtype(_NARROW[type_])
        span = {"f32": 60, "tf32": 60, "bf16": 60, "f64": 300, "f16": 12, "e5m2": 12, "e4m3": 6}
        scale = np.exp2(rng.integers(-span.get(type_, 1), span.get(type_, 1) + 1, size))
        bits = (rng.standard_normal(size) * scale).astype(kind).view(f"u{kind.itemsize}")
    elif mood == "tiny":
        kind = np.dtype(_NARROW[type_])
        top = {"f32": 1 << 25, "tf32": 1 << 25, "bf16": 1 << 9, "f16": 1 << 11, "f64": 1 << 54,
               "e5m2": 16, "e4m3": 16}  # fmt: skip
        width = 8 * kind.itemsize if type_[0] != "e" or type_[1:] in ("4m3", "5m2") else 0
        bits = rng.integers(0, top.get(type_, 4), size)
        if width:
            bits = bits | rng.integers(0, 2, size) << width - 1
        bits = np.where(rng.random(size) < 0.2, 0, bits)
    else:
        kind = np.dtype(_NARROW[type_])
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


@pytest.fixture(scope="session")
def tools() -> ModuleType:
    """This module: `random_bits`, `image`, `read_image`, `MOODS`."""
    return sys.modules[__name__]


def types_of(form: Mma | WmmaMma) -> tuple[str, str, str, str]:
    """Types of D, A, B and C."""
    return tuple(form.operand(name).type.name for name in "dabc")  # type: ignore[return-value]
