"""How compilations grow: memory over many of them, time with the size of a program.

    python benchmarks/growth.py [--compilations 3000] [--largest 10000] [--json]

Memory is that of this process and of LLVM's, which is replaced from time to time, after a tenth of
the compilations and at the end; every program is another. Time is of the processor, of both
processes, so that a busy machine changes less; the exponent is the slope between the largest
program and one of a quarter.

What grows faster than in proportion is LLVM's: of chains of `scf.if`, 2,500 to 10,000 ops, its
CodeGenPrepare takes 0.010 to 0.10 s (exponent 1.7), and where all conditions are on one argument
InstCombine, which compares each with all before it, 0.005 to 0.10 s (2.1 to 2.4). No option of
either changes it; both took 0.2 s of a compilation of 0.9 s.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import tilec
from tilec.backend import codegen

KERNEL = """gpu.module @m [#nvvm.target<chip = "sm_80">] {{
  gpu.func @k(%a: memref<?xf32>, %n: index, %f: f32) kernel
      attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %c0 = arith.constant 0 : index
{body}
    gpu.return
  }}
}}
"""
TILES = """    %t = "tile.load"(%a, %c0) : (memref<?xf32>, index) -> tensor<{size}xf32>
    %s = arith.constant dense<{number}.0> : tensor<{size}xf32>
    %u = arith.addf %t, %s : tensor<{size}xf32>
    "tile.store"(%u, %a, %c0) : (tensor<{size}xf32>, memref<?xf32>, index) -> ()"""


def chain(operations: int, condition: Callable[[int], str]) -> str:
    """A chain of `scf.if`, each on what the one before gives, under conditions that all differ."""
    count = operations // 6
    lines = ["    %v0 = arith.addf %f, %f : f32"]
    for at in range(count):
        lines += [
            condition(at),
            f"    %v{at + 1} = scf.if %p{at} -> f32 {{",
            f"      %w{at} = arith.mulf %v{at}, %f : f32",
            f"      scf.yield %w{at} : f32",
            "    } else {",
            f"      scf.yield %v{at} : f32",
            "    }",
        ]
    lines.append(f"    memref.store %v{count}, %a[%c0] : memref<?xf32>")
    return KERNEL.format(body="\n".join(lines))


def on_the_last(at: int) -> str:
    """Whether what the `scf.if` before gives is less than a number."""
    return (
        f"    %i{at} = arith.constant {at}.0 : f32\n"
        f"    %p{at} = arith.cmpf olt, %v{at}, %i{at} : f32"
    )


def on_one_argument(at: int) -> str:
    """Whether the same argument is less than a number: LLVM compares all that is known of it."""
    return (
        f"    %i{at} = arith.constant {at} : index\n    %p{at} = arith.cmpi ult, %n, %i{at} : index"
    )


def straight(operations: int) -> str:
    """A row of operations, each on what the two before give."""
    lines = ["    %v0 = arith.addf %f, %f : f32", "    %v1 = arith.mulf %v0, %f : f32"]
    for at in range(2, operations):
        what = ("arith.addf", "arith.mulf", "arith.subf")[at % 3]
        lines.append(f"    %v{at} = {what} %v{at - 1}, %v{at - 2} : f32")
    lines.append(f"    memref.store %v{operations - 1}, %a[%c0] : memref<?xf32>")
    return KERNEL.format(body="\n".join(lines))


def accesses(operations: int) -> str:
    """Loads and stores one behind the other."""
    lines = []
    for at in range(operations // 3):
        lines += [
            f"    %i{at} = arith.constant {at} : index",
            f"    %v{at} = memref.load %a[%i{at}] : memref<?xf32>",
            f"    memref.store %v{at}, %a[%c0] : memref<?xf32>",
        ]
    return KERNEL.format(body="\n".join(lines))


PROGRAMS: dict[str, Callable[[int], str]] = {
    "scf.if, each on the last": partial(chain, condition=on_the_last),
    "scf.if, all on one argument": partial(chain, condition=on_one_argument),
    "arith in a row": straight,
    "loads and stores": accesses,
}


def resident(process: int | str = "self") -> int:
    """Bytes that a process has in memory."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def worker_time() -> float:
    """Seconds of the processor that LLVM's process has taken."""
    if not codegen._worker:
        return 0.0
    # What clock_getcpuclockid(3) makes of a process; Python has no name for it.
    return time.clock_gettime(~codegen._worker[0].process.pid << 3 | 2)


def memory(compilations: int) -> dict[str, float]:
    """Bytes that each compilation leaves in this process, and the most that LLVM's has."""
    start, largest = 0, 0
    first = max(1, compilations // 10)
    for number in range(compilations):
        size = (32, 64, 128, 256)[number % 4]
        body = TILES.format(number=number, size=size)
        assert tilec.compile(KERNEL.format(body=body)).ptx
        if number % 50 == 0 and codegen._worker:
            largest = max(largest, resident(codegen._worker[0].process.pid))
        if number + 1 == first:
            gc.collect()
            start = resident()
    gc.collect()
    each = (resident() - start) / max(1, compilations - first)
    return {"compilations": compilations, "bytes_each": each, "worker_bytes": largest}


class Seconds(NamedTuple):
    """Of the processor, for a compilation."""

    tilec: float
    llvm: float

    @property
    def total(self) -> float:
        """Both processes."""
        return self.tilec + self.llvm


def taken(text: str) -> Seconds:
    """What a compilation takes, the best of five."""
    found = []
    for _ in range(5):
        own, others = time.process_time(), worker_time()
        assert tilec.compile(text).ptx
        found.append(Seconds(time.process_time() - own, worker_time() - others))
    return min(found, key=lambda one: one.total)


def exponents(largest: int) -> dict[str, dict[str, float]]:
    """Of each kind of program, the time of the largest and the exponents of growth."""
    tilec.compile(straight(10))
    found = {}
    for name, make in PROGRAMS.items():
        small, large = taken(make(largest // 4)), taken(make(largest))

        def exponent(less: float, more: float) -> float:
            return math.log(more / less) / math.log(4)

        found[name] = {
            "operations": largest,
            "seconds": large.total,
            "exponent": exponent(small.total, large.total),
            "tilec_seconds": large.tilec,
            "tilec_exponent": exponent(small.tilec, large.tilec),
            "llvm_seconds": large.llvm,
            "llvm_exponent": exponent(small.llvm, large.llvm),
        }
    return found


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--compilations", type=int, default=3000)
    parser.add_argument("--largest", type=int, default=10_000, help="operations of a program")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    times = exponents(arguments.largest)
    left = memory(arguments.compilations)
    if arguments.json:
        print(json.dumps({"memory": left, "time": times}, indent=1))
        return
    for name, one in times.items():
        print(
            f"{name}: {one['operations']} ops in {one['seconds']:.2f} s, "
            f"exponent {one['exponent']:.2f}; of it LLVM's process {one['llvm_seconds']:.2f} s, "
            f"exponent {one['llvm_exponent']:.2f}, the other {one['tilec_exponent']:.2f}"
        )
    print(f"memory: {left['bytes_each'] / 1024:.1f} KB a compilation over {left['compilations']}")
    print(f"LLVM's process: {left['worker_bytes'] / 2**20:.0f} MB at most")


if __name__ == "__main__":
    main()
