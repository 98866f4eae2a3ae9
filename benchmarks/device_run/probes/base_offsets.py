"""What the base offset of a descriptor does to the swizzle. PTX ISA 9.7.15.5.1.1.

Each chunk of shared memory holds its own number, and B picks the first element of both chunks of a
row of A, so that D says which chunks the instruction read.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np

from ..driver import Cuda
from .answer import Row, answer
from .ptx import Probe, copied_in, module, rows_of_accumulator

CHUNK = 16
IMAGE = 16384
SWIZZLES = {"128B": (1, 8), "64B": (2, 4), "32B": (3, 2)}
"""By name the code of a descriptor, and the chunks of a line."""
_B = 256
"""Bytes of B, 16 by 8, in two columns of chunks."""
_ONES = (0, 128 + CHUNK)
"""Where B has ones: k = 0 of column 0, k = 8 of column 1."""
_FORM = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"


def program() -> str:
    """PTX of a kernel that multiplies once; A's start is counted from the image."""
    d = [f"%d{n}" for n in range(4)]
    body = [
        f".shared .align 1024 .b8 a[{IMAGE}];",
        f".shared .align 128 .b8 b[{_B}];",
        f".reg .f32 {', '.join(d)};",
        ".reg .b64 %p, %of_a, %of_b, %base;",
        ".reg .b32 %lane, %at, %word, %row, %col;",
        ".reg .b16 %one;",
        ".reg .pred %first;",
        "mov.u32 %lane, %tid.x;",
        *copied_in("a", IMAGE, "image"),
        "setp.eq.u32 %first, %lane, 0;",
        "mov.u32 %at, b;",
        "shl.b32 %word, %lane, 1;",
        "add.u32 %at, %at, %word;",
        "mov.b16 %one, 0;",
        "st.shared.b16 [%at], %one;",
        "bar.sync 0;",
        "mov.b16 %one, 0x3C00;",
        *(f"@%first st.shared.b16 [b+{at}], %one;" for at in _ONES),
        "ld.param.u32 %at, [low];",
        "mov.u32 %word, a;",
        "shr.u32 %word, %word, 4;",
        "add.u32 %at, %at, %word;",
        "ld.param.u32 %word, [high];",
        "mov.b64 %of_a, {%at, %word};",
        "mov.u32 %at, b;",
        "shr.u32 %at, %at, 4;",
        "cvt.u64.u32 %base, %at;",
        # A leading byte offset of 128 between its two chunks along K, and no swizzle.
        f"or.b64 %of_b, %base, {8 << 16 | 8 << 32};",
        "fence.proxy.async.shared::cta;",
        "bar.sync 0;",
        "wgmma.fence.sync.aligned;",
        f"{_FORM} {{{', '.join(d)}}}, %of_a, %of_b, 0, 1, 1, 0, 0;",
        "wgmma.commit_group.sync.aligned;",
        "wgmma.wait_group.sync.aligned 0;",
        *rows_of_accumulator(),
        "mad.lo.u32 %row, %row, 8, %col;",
        "ld.param.u64 %p, [out];",
        "mad.wide.u32 %p, %row, 4, %p;",
    ]
    for register, at in zip(d, (0, 4, 256, 260), strict=True):
        body.append(f"st.global.f32 [%p+{at}], {register};")
    return module([".u64 image", ".u32 low", ".u32 high", ".u64 out"], body)


def probes(cuda: Cuda, target: str) -> Iterator[Row]:
    """A row for each swizzle; where matrices begin at their pattern, and at each line of it."""
    if target != "sm_90a":
        return
    probe = Probe(cuda, program())
    image = probe.given(chunk_numbers(IMAGE))
    d = np.zeros((64, 8), np.float32)
    out = probe.given(d)
    for name, (code, width) in SWIZZLES.items():
        cases = [(128 * at, base) for at in (0, 1, 3, 6) for base in range(8)]
        got = []
        for start, base in cases:
            low, high = start // CHUNK | 1 << 16, 8 * width | base << 17 | code << 30
            probe.launch(1, [image, ctypes.c_uint32(low), ctypes.c_uint32(high), out])
            got.append(probe.result(out, d)[:, :2].astype(np.uint32))
        wanted = {
            label: np.stack([chunks(width, *case, label) for case in cases]) for label in EFFECTS
        }
        given = {"start and base offset": cases}
        yield answer(
            f"base offset of a descriptor, swizzle {name}", _FORM, np.stack(got), wanted, given
        )
    probe.close()


def chunk_numbers(size: int) -> np.ndarray:
    """So many bytes of f16, at most 32 KiB, each of which is the number of its chunk."""
    return np.repeat(np.arange(size // CHUNK), CHUNK // 2).astype(np.float16)


EFFECTS = {
    "none": lambda line, base: line + 0 * base,
    "subtracted from the number of a line": lambda line, base: line - base,
    "added to the number of a line": lambda line, base: line + base,
    "exclusive or with the number of a line": lambda line, base: line ^ base,
}
"""What the hypotheses take for the number of a line in the swizzle's pattern."""


def chunks(width: int, start: int, base: int, effect: str) -> np.ndarray:
    """Numbers of the chunks that are read, (rows, 2), of a matrix with lines of `width` chunks."""
    rows, along = np.indices((64, 2))
    at = start + (rows // 8) * 8 * CHUNK * width + rows % 8 * CHUNK * width + CHUNK * along
    line = EFFECTS[effect](at >> 7, base)
    return np.asarray((at ^ (line & width - 1) << 4) // CHUNK, np.uint32)
