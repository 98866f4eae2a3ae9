"""A floating-point constant arrives in the PTX with the bits that the program gives it.

MLIR's LLVM and the one that generates code write constants differently, and where the second did
not understand the first, programs with 0.1 or an infinity would not compile.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
import tilec
from tilec.backend.constants import with_constants
from tilec.sim import launch

SPECIAL = {
    "f16": [0, 1, 0x3FF, 0x400, 0x2E66, 0x3C00, 0x7BFF, 0x7C00, 0x7C01, 0x7E00, 0x7FFF],
    "bf16": [0, 1, 0x7F, 0x80, 0x3DCD, 0x3F80, 0x7F7F, 0x7F80, 0x7F81, 0x7FC0, 0x7FFF],
    "f32": [0, 1, 0x7FFFFF, 0x800000, 0x3DCCCCCD, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000],
    "f64": [0, 1, 0x3FB999999999999A, 0x7FEFFFFFFFFFFFFF, 0x7FF << 52, (0x7FF << 52) + 1],
}


def constants(type_: str) -> list[int]:
    """Special numbers, their negatives, and numbers of random bits."""
    width = int(type_.lstrip("bf"))
    rng = random.Random(type_)
    positive = SPECIAL[type_]
    return [*positive, *(n | 1 << (width - 1) for n in positive)] + [
        rng.getrandbits(width) for _ in range(60)
    ]


@pytest.mark.parametrize("type_", SPECIAL)
def test_bits_stay(type_: str) -> None:
    bits = constants(type_)
    width = int(type_.lstrip("bf"))
    memory = f"memref<{len(bits)}x{type_}>"
    body = "\n".join(
        f"%v{n} = arith.constant {b:#0{width // 4 + 2}x} : {type_}\n"
        f"%i{n} = arith.constant {n} : index\n"
        f"memref.store %v{n}, %p[%i{n}] : {memory}"
        for n, b in enumerate(bits)
    )
    text = (
        f"gpu.module @m {{\ngpu.func @k(%p: {memory}) kernel "
        f"attributes {{known_block_size = array<i32: 1, 1, 1>}} {{\n{body}\ngpu.return\n}}\n}}\n"
    )
    got = np.zeros(len(bits), f"u{width // 8}")
    launch(tilec.compile(text).ptx, "k", 1, 1, [got])
    assert [hex(b) for b in got] == [hex(b) for b in bits]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("%1 = fmul float %0, 1.000000e-01", "%1 = fmul float %0, 0x3FB99999A0000000"),
        (
            "store <2 x half> splat (half +inf), ptr %1",
            "store <2 x half> splat (half 0xH7C00), ptr %1",
        ),
        ("%2 = fptrunc float 1.0e-01 to half", "%2 = fptrunc float 0x3FB99999A0000000 to half"),
        ("%3 = fadd double -inf, %2", "%3 = fadd double 0xFFF0000000000000, %2"),
        ('call void asm "float 1.5", "r"(i32 0)', 'call void asm "float 1.5", "r"(i32 0)'),
        ("declare float @llvm.fma.f32(float, float)", "declare float @llvm.fma.f32(float, float)"),
        ("br label %1", "br label %1"),
    ],
)
def test_lines(line: str, wanted: str) -> None:
    assert with_constants(f"{{\n{line}\n}}\n") == f"{{\n{wanted}\n}}\n"
