"""Where a sparse product looks for the second half of B's lines, which are shorter than it reads.

Each chunk of shared memory holds its own number. Rows of A pick one column of each of the four
chunks that the instruction reads along K, so that D says which chunks these were.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np

from ..driver import Cuda
from .answer import Row, answer
from .base_offsets import CHUNK, SWIZZLES, chunk_numbers
from .ptx import Probe, copied_in, module, rows_of_accumulator

IMAGE = 8192
LEADING, STRIDE = 1024, 2048
"""Byte offsets of the descriptor, which no place that is meant has otherwise."""
_FORM = "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16"
_ROWS = 4
_HALF = 32
"""Bytes of B along K that a line of the narrowest swizzle has."""
# Row r of A stores a one for column 8 r: by PTX ISA 9.7.15.5.2 in this thread and register.
_PICKS = ((0, 0), (6, 0), (8, 2), (14, 2))
_CODES = 0x44444444
"""Metadata: of each four columns the first two are stored."""


def program() -> str:
    """PTX of a kernel that multiplies once; B's start is counted from the image."""
    a, d = [f"%a{n}" for n in range(4)], [f"%d{n}" for n in range(4)]
    body = [
        f".shared .align 1024 .b8 image[{IMAGE}];",
        f".reg .f32 {', '.join(d)};",
        ".reg .b64 %p, %of_b;",
        f".reg .b32 %lane, %at, %word, %row, %col, %codes, {', '.join(a)};",
        ".reg .pred %picks;",
        "mov.u32 %lane, %tid.x;",
        *copied_in("image", IMAGE, "given"),
        *(f"mov.b32 {one}, 0;" for one in a),
    ]
    for thread, register in _PICKS:
        body += [f"setp.eq.u32 %picks, %lane, {thread};", f"@%picks mov.b32 %a{register}, 0x3C00;"]
    body += [
        f"mov.b32 %codes, {_CODES};",
        "ld.param.u32 %at, [low];",
        "mov.u32 %word, image;",
        "shr.u32 %word, %word, 4;",
        "add.u32 %at, %at, %word;",
        "ld.param.u32 %word, [high];",
        "mov.b64 %of_b, {%at, %word};",
        "fence.proxy.async.shared::cta;",
        "bar.sync 0;",
        "wgmma.fence.sync.aligned;",
        f"{_FORM} {{{', '.join(d)}}}, {{{', '.join(a)}}}, %of_b, %codes, 0, 0, 1, 1, 0;",
        "wgmma.commit_group.sync.aligned;",
        "wgmma.wait_group.sync.aligned 0;",
        *rows_of_accumulator(),
        "mad.lo.u32 %row, %row, 8, %col;",
        "ld.param.u64 %p, [out];",
        "mad.wide.u32 %p, %row, 4, %p;",
    ]
    for place, at in zip(d, (0, 4, 256, 260), strict=True):
        body.append(f"st.global.f32 [%p+{at}], {place};")
    return module([".u64 given", ".u32 low", ".u32 high", ".u64 out"], body, "8.2")


def probes(cuda: Cuda, target: str) -> Iterator[Row]:
    """A row for each swizzle; the answer for lines of 64 and 128 bytes is known."""
    if target != "sm_90a":
        return
    probe = Probe(cuda, program())
    image = probe.given(chunk_numbers(IMAGE))
    d = np.zeros((64, 8), np.float32)
    out = probe.given(d)
    for name, (code, width) in SWIZZLES.items():
        low, high = LEADING // CHUNK << 16, STRIDE // CHUNK | code << 30
        probe.launch(1, [image, ctypes.c_uint32(low), ctypes.c_uint32(high), out])
        got = probe.result(out, d)[:_ROWS].T.astype(np.uint32)
        wanted = {label: chunks(width, further) for label, further in PLACES.items()}
        if width * CHUNK > _HALF:
            wanted = {"in its line": chunks(width, 0)}
        yield answer(f"the 64 bytes of sparse B along K, swizzle {name}", _FORM, got, wanted)
    probe.close()


PLACES = {
    "the second half a leading offset on": LEADING,
    "the second half a stride offset on": STRIDE,
    "the second half eight lines on": 256,
    "the second half in the next line": 32,
    "the second half where the first is": 0,
}
"""Bytes from the first half of a line of 32 bytes to the second, by hypothesis."""


def chunks(width: int, further: int) -> np.ndarray:
    """Numbers of the chunks that are read, (columns of B, chunks along K)."""
    columns, along = np.indices((8, 4))
    line = CHUNK * width
    at = columns * line + along % width * CHUNK + along // width * further
    return np.asarray((at ^ ((at >> 7) & (width - 1)) << 4) // CHUNK, np.uint32)
