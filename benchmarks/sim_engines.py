"""Instructions that the simulator executes in a second, by numpy and by machine code.

    python benchmarks/sim_engines.py [--rounds N] [--json]

Kernels of one loop, for 8 warps and for 512, without checks and with them: arithmetic, shared and
global memory that each thread has for itself, tiles staged from global through shared memory into
registers, and warps whose lanes take 8 paths. Each is launched with two numbers of turns; the
rate is that of the turns which one has more than the other, so that reading and binding do not
count, which are given apart. Times are CPU time, the least of some rounds in turns, since what else
the machine does only adds to them. Bits and counts of both engines are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import asdict
from typing import Any

import numpy as np
from tilec.sim import Report, launch
from tilec.sim.native import choice

THREADS = 256
HEAD = """
.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 out, .param .u32 n, .param .u64 in)
{
.reg .pred %p<9>; .reg .f32 %f<9>; .reg .b32 %r<39>; .reg .b64 %d<9>;
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
again:
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
KERNELS = {
    "arithmetic": (4 * ARITHMETIC, 200, 1000),
    "memory": (4 * MEMORY, 40, 160),
    "staged": (2 * STAGED, 40, 160),
    "divergent": (PATHS + "path8:", 20, 80),
}
"""Body of the loop, and its turns in the short and in the long launch."""


def run(name: str, turns: int, ctas: int, *, checks: bool) -> tuple[float, bytes, Report]:
    """CPU seconds of a launch, and what came of it."""
    tile = np.arange(ctas * THREADS, dtype=np.uint32)
    out, text = np.zeros(ctas * THREADS, np.uint32), HEAD + KERNELS[name][0] + TAIL
    start = time.process_time()
    report = launch(text, "k", ctas, THREADS, [out, np.uint32(turns), tile], checks=checks)
    return time.process_time() - start, out.tobytes(), report


def compare(name: str, ctas: int, rounds: int, *, checks: bool) -> dict[str, Any]:
    """Warp instructions a second by engine, and the seconds that a launch takes beside."""
    times: dict[tuple[str, int], list[float]] = {}
    results: dict[int, tuple[bytes, dict[str, Any]]] = {}
    counts: dict[int, int] = {}
    for _ in range(rounds):
        for which in choice.ENGINES:
            os.environ[choice.VARIABLE] = which
            for turns in KERNELS[name][1:]:
                seconds, bits, report = run(name, turns, ctas, checks=checks)
                found = bits, asdict(report)
                assert results.setdefault(turns, found) == found, f"{name}: engines differ"
                counts[turns] = report.warp_instructions
                times.setdefault((which, turns), []).append(seconds)
    _, few, many = KERNELS[name]
    rates = {}
    for which in choice.ENGINES:
        short, long = min(times[which, few]), min(times[which, many])
        each = (long - short) / (counts[many] - counts[few])
        rates[which] = {"rate": 1 / each, "beside": short - each * counts[few]}
    return rates


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--json", action="store_true", help="print one object")
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = [
        {
            "kernel": name, "warps": ctas * THREADS // 32, "checks": checks,
            **compare(name, ctas, arguments.rounds, checks=checks),
        }
        for checks in (False, True) for name in KERNELS for ctas in (1, 64)
    ]  # fmt: skip
    if arguments.json:
        print(json.dumps(rows))
        return
    print(f"{'':26}{'million warp instructions/s':^34}{'ms beside':^18}")
    print(
        f"{'kernel':12}{'warps':>6}{'checks':>8}"
        + f"{'numpy':>10}{'native':>10}{'ratio':>8}{'numpy':>10}{'native':>10}"
    )
    for row in rows:
        numpy_, native = row["numpy"], row["native"]
        line = f"{row['kernel']:12}{row['warps']:6}{'yes' if row['checks'] else 'no':>8}"
        line += f"{numpy_['rate'] / 1e6:10.2f}{native['rate'] / 1e6:10.2f}"
        line += f"{native['rate'] / numpy_['rate']:8.1f}"
        line += f"{numpy_['beside'] * 1e3:10.1f}{native['beside'] * 1e3:10.1f}"
        print(line)


if __name__ == "__main__":
    main()
