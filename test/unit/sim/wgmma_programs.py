"""Programs around one `wgmma`, and where its operands lie, written down for these tests."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

DTYPES = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "s8": np.int8,
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "u8": np.uint8,
    "f32": np.float32, "s32": np.int32,
}  # fmt: skip
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "b1": 1}
MODES = {"none": 0, "128B": 1, "64B": 2, "32B": 3}
LINES = {"none": 1, "128B": 8, "64B": 4, "32B": 2}


@dataclass(frozen=True)
class Tile:
    """An operand in shared memory: rows along M or N, by K.

    Attributes:
        rows, k: extents; k in bytes.
        size: bytes of an element.
        swizzle: its swizzle.
        transposed: whether M or N is contiguous.
    """

    rows: int
    k: int
    size: int
    swizzle: str
    transposed: bool = False

    @property
    def offsets(self) -> tuple[int, int]:
        """Leading and stride byte offset of a tile that lies packed."""
        line = LINES[self.swizzle]
        if not self.transposed:
            return (16 * self.rows if line == 1 else 16), (128 if line == 1 else 128 * line)
        k = self.k // self.size
        if line == 1:
            return 128, 16 * k
        return k * 16 * line, 128 * line

    @property
    def bytes(self) -> int:
        """What it takes, whole lines counted."""
        line = 16 * LINES[self.swizzle]
        if not self.transposed:
            return self.rows * max(line, self.k)
        return -(-self.rows * self.size // line) * line * (self.k // self.size)

    def address(self, start: int, row: int, k: int) -> int:
        """Where byte `k` of a row lies (k an element, if it is transposed)."""
        line = LINES[self.swizzle]
        leading, stride = self.offsets
        if not self.transposed:
            off = row // 8 * stride + row % 8 * 16 * line + k % 16
            off += k // 16 * (leading if line == 1 else 16)
        else:
            in_chunk = 16 // self.size
            off = k % 8 * 16 * line + row % in_chunk * self.size
            if line == 1:
                off += row // in_chunk * stride + k // 8 * leading
            else:
                panel, chunk = divmod(row // in_chunk, line)
                off += panel * leading + chunk * 16 + k // 8 * stride
        at = start + off
        return at ^ ((at // 128 % line) * 16)

    def place(self, image: NDArray[np.uint8], start: int, data: NDArray[np.uint8]) -> None:
        """Put the rows, (rows, k), into an image of shared memory."""
        for row in range(self.rows):
            if self.transposed:
                for k in range(self.k // self.size):
                    at = self.address(start, row, k)
                    image[at : at + self.size] = data[row, k * self.size : (k + 1) * self.size]
            else:
                for k in range(0, self.k, 16):
                    at = self.address(start, row, k)
                    image[at : at + 16] = data[row, k : k + 16]

    def descriptor(self, start: int) -> int:
        """Its descriptor."""
        leading, stride = self.offsets
        return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | MODES[self.swizzle] << 62


def program(mnemonic: str, d_registers: int, *, a_registers: bool, tail: str, sparse: bool) -> str:
    """A kernel of 128 threads that copies an image of shared memory and executes one product.

    Args:
        mnemonic: the instruction.
        d_registers: registers of D, of 32 bits.
        a_registers: whether A is in registers.
        tail: the operands after the descriptors, `sp-meta` excepted.
        sparse: whether there is metadata.
    """
    d = "{" + ", ".join(f"%d{i}" for i in range(d_registers)) + "}"
    a = "{%a0, %a1, %a2, %a3}" if a_registers else "%rd5"
    meta = " %e, 0," if sparse else ""
    load = "\n".join(f" ld.global.b32 %d{i}, [%rd8+{512 * i}];" for i in range(d_registers))
    store = "\n".join(f" st.global.b32 [%rd9+{512 * i}], %d{i};" for i in range(d_registers))
    fragment = "\n".join(f" ld.global.b32 %a{i}, [%rd10+{512 * i}];" for i in range(4))
    return f""".version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 image[];
.visible .entry k(.param .u64 x, .param .u32 bytes, .param .u64 a, .param .u64 b, .param .u64 c,
                  .param .u64 d, .param .u64 f, .param .u64 m)
{{
 .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<12>;
 .reg .b32 %d<{d_registers}>; .reg .b32 %a<4>; .reg .b32 %e;
 ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [bytes]; ld.param.u64 %rd5, [a]; ld.param.u64 %rd6, [b];
 ld.param.u64 %rd8, [c]; ld.param.u64 %rd9, [d]; ld.param.u64 %rd10, [f]; ld.param.u64 %rd11, [m];
 mov.u32 %r2, %tid.x; mov.u32 %r3, image; shl.b32 %r4, %r2, 4;
 mul.wide.u32 %rd7, %r2, 4; add.s64 %rd8, %rd8, %rd7; add.s64 %rd9, %rd9, %rd7;
 add.s64 %rd10, %rd10, %rd7; add.s64 %rd11, %rd11, %rd7;
COPY:
 setp.ge.u32 %p1, %r4, %r1; @%p1 bra DONE;
 cvt.u64.u32 %rd2, %r4; add.s64 %rd2, %rd1, %rd2; add.u32 %r5, %r3, %r4;
 {{ .reg .b32 %w<4>; ld.global.v4.b32 {{%w0, %w1, %w2, %w3}}, [%rd2];
 st.shared.v4.b32 [%r5], {{%w0, %w1, %w2, %w3}}; }}
 add.u32 %r4, %r4, 2048; bra COPY;
DONE:
 fence.proxy.async.shared::cta;
 bar.sync 0;
{load}
{fragment if a_registers else ""}
 {"ld.global.b32 %e, [%rd11];" if sparse else ""}
 setp.ne.u32 %p2, %r1, 0;
 wgmma.fence.sync.aligned;
 {mnemonic} {d}, {a}, %rd6,{meta} {tail};
 wgmma.commit_group.sync.aligned;
 wgmma.wait_group.sync.aligned 0;
{store}
 ret;
}}
"""


def accumulator(t: int, i: int) -> tuple[int, int]:
    """Row and column of element i of D in thread t."""
    row = 16 * (t // 32) + t // 4 % 8 + (i // 2 % 2) * 8
    return row, i // 4 * 8 + t % 4 * 2 + i % 2


def fragment(per_register: int, t: int, i: int) -> tuple[int, int]:
    """Row and column, as stored, of element i of A in thread t."""
    register, inside = divmod(i, per_register)
    row = 16 * (t // 32) + t // 4 % 8 + register % 2 * 8
    return row, t % 4 * per_register + inside + register // 2 * 4 * per_register
