"""Kernels of one loop, by which the simulator's speed is measured: PTX for any revision of it.

Each takes an array of a word a thread that it writes, the number of turns, and an array of a word a
thread that it may read.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

THREADS = 256
"""Threads of a CTA: 8 warps."""
HEAD = """
.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 out, .param .u32 n, .param .u64 in)
{
.reg .pred %p<9>; .reg .f32 %f<29>; .reg .b32 %r<39>; .reg .b64 %d<9>;
.shared .align 16 .b8 words[4096];
ld.param.u64 %d1, [out]; ld.param.u32 %r9, [n];
mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r4, %r3, 256, %r2;
mul.wide.u32 %d2, %r4, 4; add.u64 %d3, %d1, %d2;
cvt.rn.f32.u32 %f1, %r4; mov.f32 %f2, 0f3F000000; mov.f32 %f3, 0f3F800000;
mov.u32 %r5, 0; mov.u32 %r6, %r4; and.b32 %r30, %r2, 7;
shl.b32 %r20, %r2, 2; mov.u32 %r21, words; add.u32 %r22, %r21, %r20;
shl.b32 %r23, %r2, 4; add.u32 %r24, %r21, %r23; shl.b32 %r23, %r2, 3; add.u32 %r25, %r21, %r23;
and.b32 %r23, %r4, 0xFFFFFFC0; and.b32 %r26, %r2, 63; add.u32 %r23, %r23, %r26;
mul.wide.u32 %d4, %r23, 4; and.b64 %d4, %d4, -16; ld.param.u64 %d5, [in]; add.u64 %d5, %d5, %d4;
"""
TAIL = """
add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r9;
@%p1 bra again;
cvt.rzi.u32.f32 %r7, %f1; add.u32 %r6, %r6, %r7;
st.global.u32 [%d3], %r6;
ret;
}
"""
ARITHMETIC = """
fma.rn.f32 %f1, %f1, %f2, %f3; mul.f32 %f4, %f1, %f2; add.f32 %f5, %f4, %f3;
mad.lo.s32 %r6, %r6, 3, %r5; xor.b32 %r10, %r6, %r4;
shl.b32 %r11, %r10, 3; shr.u32 %r12, %r10, 5; or.b32 %r6, %r11, %r12;
"""
MEMORY = """
st.shared.u32 [%r22], %r6; ld.shared.u32 %r10, [%r22]; add.u32 %r6, %r10, 5;
ld.global.u32 %r11, [%d3]; xor.b32 %r6, %r6, %r11; st.global.u32 [%d3], %r6;
"""
STAGED = """
bar.sync 0; ld.global.v4.u32 {%r11, %r12, %r13, %r14}, [%d5];
st.shared.v4.u32 [%r24], {%r11, %r12, %r13, %r14}; bar.sync 0;
ld.shared.u32 %r15, [%r22]; ld.shared.v2.u32 {%r16, %r17}, [%r25]; ld.shared.u32 %r18, [%r21];
add.u32 %r6, %r6, %r15; xor.b32 %r6, %r6, %r16; add.u32 %r6, %r6, %r17; xor.b32 %r6, %r6, %r18;
"""
PATH = "fma.rn.f32 %f1, %f1, %f2, %f3; mad.lo.s32 %r6, %r6, 3, %r5; xor.b32 %r6, %r6, %r4;"
PATHS = "".join(
    f"path{i}: setp.ne.u32 %p2, %r30, {i};\n@%p2 bra path{i + 1};\n" + 6 * PATH for i in range(8)
)
FRAGMENTS = "".join(
    f"mad.lo.u32 %r{n}, %r4, {2 * n + 1}, {n}; and.b32 %r{n}, %r{n}, 0x03FF83FF; "
    f"or.b32 %r{n}, %r{n}, 0x38003400;\n"
    for n in range(10, 16)
) + "".join(f"mov.f32 %f{n}, 0f00000000;\n" for n in range(10, 26))
"""Elements of A and of B between 1/4 and 1, and sums of 0."""
MMA = "".join(
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    f"{{{sums}}}, {{%r10, %r11, %r12, %r13}}, {{%r14, %r15}}, {{{sums}}};\n"
    for first in range(10, 26, 4)
    for sums in [", ".join(f"%f{n}" for n in range(first, first + 4))]
)
SUM = "add.f32 %f1, %f10, %f25;"
KERNELS: dict[str, tuple[str, str, str, int, int]] = {
    "arithmetic": ("", 4 * ARITHMETIC, "", 200, 1000),
    "memory": ("", 4 * MEMORY, "", 40, 160),
    "staged": ("", 2 * STAGED, "", 40, 160),
    "divergent": ("", PATHS + "path8:", "", 20, 80),
    "mma": (FRAGMENTS, 2 * MMA, SUM, 20, 80),
}
"""What comes before the loop, the loop's body, what comes after, and the turns of a short and of a
long launch."""


def text(name: str) -> str:
    """The PTX of a kernel."""
    before, body, after, *_ = KERNELS[name]
    return f"{HEAD}{before}again:\n{body}{TAIL.replace('bra again;', 'bra again;' + after)}"


def run(launch: Callable[..., object], name: str, turns: int, ctas: int, **mode: object) -> object:
    """Launch a kernel; the report and the bytes that it has written.

    Args:
        launch: the simulator's function.
        name: the kernel.
        turns: of its loop.
        ctas: CTAs of the grid, of 8 warps.
        mode: further arguments of the launch.
    """
    words = np.arange(ctas * THREADS, dtype=np.uint32)
    out = np.zeros(ctas * THREADS, np.uint32)
    report = launch(text(name), "k", ctas, THREADS, [out, np.uint32(turns), words], **mode)
    return report, out.tobytes()
