"""Programs for sm_90a whose results are known, and what mutants of the passes make of them.

    python test/unit/validation/hopper.py -o test/unit/validation/hopper_mutants.json [FUNCTION …]

tries each change of functions of the passes of Hopper, keeps those that miscompile a program, and
says of each whether the validator names the first pass that leaves other IR.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.interpret import arithmetic_of, interpret
from tilec.ir.mlir import ir
from tilec.isa import target
from tilec.passes.pipeline import run_pipeline
from tilec.pipelines import pipeline
from tilec.report.diagnostics import Source
from tilec.validation.launches import launch
from tilec.validation.plans import Plan

if __package__:
    from . import bench
else:
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import bench

FUNCTIONS = (
    "hopper.rings:Specialised._begin",
    "hopper.rings:Specialised._produce",
    "hopper.rings:Specialised._all_rounds",
    "hopper.rings:Specialised._rounds",
    "hopper.rings:Specialised._consume",
    "hopper.rings:Specialised._next",
    "hopper.ring_parts:Part.barrier",
    "hopper.box_copies:load_boxes",
    "hopper.box_copies:panel_boxes",
    "hopper.box_copies:boxes_of",
    "hopper.box_stores:store_boxes",
    "hopper.box_stores:_await_copies",
    "hopper.persistent_grid:walk_tiles",
    "hopper.persistent_grid:_places",
    "hopper.rotated_loops:RotatedLoop.run",
    "fragments.warpgroup_products:_Matrix.indices",
    "fragments.warpgroup_products:_Matrix.__init__",
    "fragments.warpgroup_products:WarpgroupProducts._begun",
    "fragments.warpgroup_products:WarpgroupProducts._awaited",
    "fragments.warpgroup_products:WarpgroupProducts._instructions",
    "fragments.warpgroup_products:WarpgroupProducts._first",
    "stage_wgmma:_Stage._copied",
    "stage_wgmma:_Stage._rewrite",
    "order_proxies:_Fences._op",
)
"""Functions of `tilec.passes` that write what is special about Hopper."""
_MAP = "memref<?x?xf16, strided<[?, 1]>>"
_PROMISES = "tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>"
_READ = f"{_MAP} {{{_PROMISES}}}"
_WRITTEN = f"{_MAP} {{llvm.noalias, {_PROMISES}, tile.sizes = array<i64: 1, 8>}}"
PRODUCT = f"""
gpu.module @m [#nvvm.target<chip = "sm_90a">] {{
  gpu.func @k(%a: {_READ}, %b: {_READ}, %c: {_WRITTEN})
      kernel attributes {{known_block_size = array<i32: 256, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %c128 : index
    %row = arith.muli %y, %c128 : index
    %depth = memref.dim %a, %c1 : {_MAP}
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %sums = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (tensor<128x128xf32>) {{
      %ta = tile.load %a[%row, %k] masked : {_MAP} -> tensor<128x64xf16>
      %tb = tile.load %b[%col, %k] masked transposed : {_MAP} -> tensor<64x128xf16>
      %next = tile.dot %ta, %tb, %sum
          : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
      scf.yield %next : tensor<128x128xf32>
    }}
    %result = arith.truncf %sums : tensor<128x128xf32> to tensor<128x128xf16>
    tile.store %result, %c[%row, %col] masked : tensor<128x128xf16>, {_MAP}
    gpu.return
  }}
}}
"""
CHAIN = f"""
gpu.module @m [#nvvm.target<chip = "sm_90a">] {{
  gpu.func @k(%q: {_READ}, %k: {_READ}, %v: {_READ}, %o: {_WRITTEN})
      kernel attributes {{known_block_size = array<i32: 256, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %x = gpu.block_id x
    %row = arith.muli %x, %c128 : index
    %depth = memref.dim %k, %c0 : {_MAP}
    %tq = tile.load %q[%row, %c0] masked : {_MAP} -> tensor<128x64xf16>
    %none = arith.constant dense<0.0> : tensor<128x64xf32>
    %sums = scf.for %n = %c0 to %depth step %c64 iter_args(%sum = %none) -> (tensor<128x64xf32>) {{
      %tk = tile.load %k[%n, %c0] masked transposed : {_MAP} -> tensor<64x64xf16>
      %s = tile.dot %tq, %tk, %none
          : tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>
      %p = arith.truncf %s : tensor<128x64xf32> to tensor<128x64xf16>
      %tv = tile.load %v[%n, %c0] masked : {_MAP} -> tensor<64x64xf16>
      %next = tile.dot %p, %tv, %sum
          : tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>
      scf.yield %next : tensor<128x64xf32>
    }}
    %result = arith.truncf %sums : tensor<128x64xf32> to tensor<128x64xf16>
    tile.store %result, %o[%row, %c0] masked : tensor<128x64xf16>, {_MAP}
    gpu.return
  }}
}}
"""


def _numbers(rows: int, cols: int, seed: int, most: int = 3) -> Any:
    values = np.random.default_rng(seed).integers(-most, most + 1, (rows, cols))
    return values.astype(np.float16)


@cache
def programs() -> list[Any]:
    """The programs."""
    a, b = _numbers(136, 328, 0), _numbers(200, 328, 1)
    q, k, v = _numbers(136, 64, 2, 1), _numbers(264, 64, 3, 1), _numbers(264, 64, 4, 1)
    wide = [x.astype(np.float64) for x in (a, b, q, k, v)]
    products = wide[0] @ wide[1].T, wide[2] @ wide[3].T @ wide[4]
    given = (PRODUCT, (a, b), (2, 2, 1)), (CHAIN, (q, k, v), (2, 1, 1))
    return [
        Known(text, [*inputs, np.zeros(result.shape, np.float16)], result, grid)
        for (text, inputs, grid), result in zip(given, products, strict=True)
    ]


class Known:
    """A program whose last argument is its result, and what must be there."""

    def __init__(
        self, text: str, arguments: list[Any], expected: Any, grid: tuple[int, int, int]
    ) -> None:
        self.text, self.arguments, self.expected, self.grid = text, arguments, expected, grid
        self.passes = tuple(map(str, pipeline(target("sm_90a")).tile))
        module, left = parse(Source("-", text), new_context()), []
        for one in self.passes:
            run_pipeline(module, one)
            left.append(module.operation.get_asm(print_generic_op_form=True))
        self.left = tuple(left)
        assert self.is_right(module)

    def is_right(self, module: ir.Module) -> bool:
        """Whether what the passes left computes what numpy does, and does nothing undefined."""
        function, hardware = bench.arrays.kernel_of(module), arithmetic_of("f64")
        plan = Plan(tuple(a.shape for a in self.arguments), (0,) * 4, self.grid, 0)
        grid, added = launch(function, plan)
        values = [*self.arguments, *(int(one) for one in added)]
        given = bench.arrays.views(function, values, hardware)
        done = interpret(function, given, hardware, grid=grid, target="sm_90a", limit=40_000)
        at = len(self.arguments) - 1
        seen = bench.arrays.contents(given[at], done.memories[at])
        return not done.findings and np.array_equal(seen, self.expected)

    def judge(self) -> Any:
        """A verdict as of `bench.judge`; None of what is right."""
        module, mutated = parse(Source("-", self.text), new_context()), ""
        for one, left in zip(self.passes, self.left, strict=True):
            run_pipeline(module, one)
            if not mutated and module.operation.get_asm(print_generic_op_form=True) != left:
                mutated = one
        if not mutated or self.is_right(module):
            return None
        return bench.Verdict(re.split("[{]", mutated)[0], bench.validated(self))


def miscompiled(mutant: Any, programs: list[Any]) -> Any:
    """The verdict on the first program that a mutant miscompiles; None if other checks catch it."""
    for program in programs:
        try:
            with bench.mutation.applied(mutant):
                verdict = program.judge()
        except Exception:  # a mutant that crashes, or that verifiers refuse
            return None
        if verdict is not None:
            return verdict
    return None


def main() -> None:
    """Try mutants."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("functions", nargs="*", default=FUNCTIONS)
    parser.add_argument("-o", dest="output", required=True)
    parser.add_argument("--each", type=int, default=1000, help="mutants of a function, drawn")
    arguments = parser.parse_args()
    known, found, tried = programs(), [], 0
    bench.miscompiled = miscompiled
    for function in arguments.functions:
        name = f"tilec.passes.{function}"
        changes = bench.mutation.mutants(name)
        random.Random(0).shuffle(changes)
        for place, old, new in changes[: arguments.each]:
            mutant = bench.mutation.Mutant(0, name, place, old, new)
            tried += 1
            verdict = bench.apart(mutant, known)
            if verdict is None:
                continue
            found.append({**mutant._asdict(), **verdict._asdict()})
            agrees = "named" if verdict.mutated == verdict.named else "NOT NAMED"
            print(agrees, verdict, *mutant, flush=True)
            Path(arguments.output).write_text(json.dumps(found, indent=1) + "\n")
    named = sum(one["mutated"] == one["named"] for one in found)
    print(f"{tried} mutants, {len(found)} miscompile, of {named} the pass is named")


if __name__ == "__main__":
    main()
