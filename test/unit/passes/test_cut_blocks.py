"""Programs whose blocks are cut give what they gave."""

from __future__ import annotations

import numpy as np
import pytest
import tilec
from tilec.isa import target
from tilec.mlir import ir, parse
from tilec.passes.cut_blocks import CutBlocks
from tilec.passes.pipeline import run_pipeline
from tilec.pipelines import pipeline

STEPS = 40
LOOP = """gpu.module @m [#nvvm.target<chip = "sm_80">] {{
  gpu.func @k(%a: memref<64xf32>, %n: index, %f: f32) kernel
      attributes {{known_block_size = array<i32: 1, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    {head} iter_args(%v0 = %f) -> (f32) {{
{body}
      scf.yield %v{steps} : f32
    }}
    memref.store %s, %a[%c0] : memref<64xf32>
    gpu.return
  }}
}}
"""
STEP = """      %b{at} = arith.constant {bound}.0 : f32
      %i{at} = arith.constant {place} : index
      %p{at} = arith.cmpf olt, %v{at}, %b{at} : f32
      %v{next} = scf.if %p{at} -> f32 {{
        %w{at} = arith.addf %v{at}, %b{at} : f32
        memref.store %w{at}, %a[%i{at}] : memref<64xf32>
        scf.yield %w{at} : f32
      }} else {{
        %w{at} = arith.subf %v{at}, %b{at} : f32
        scf.yield %w{at} : f32
      }}"""


def bound(at: int) -> int:
    """What a step compares with; steps go both ways."""
    return at * 7 % 11 + 1


def program() -> str:
    """A loop whose body is a chain of `scf.if`, which store in places of their own."""
    steps = [STEP.format(at=at, next=at + 1, bound=bound(at), place=at + 1) for at in range(STEPS)]
    head = "%s = scf.for %i = %c0 to %n step %c1"
    return LOOP.format(head=head, body="\n".join(steps), steps=STEPS)


def expected(rounds: int, start: float) -> np.ndarray:
    """The same by numpy."""
    memory = np.zeros(64, np.float32)
    value = np.float32(start)
    for _ in range(rounds):
        for at in range(STEPS):
            if value < bound(at):
                value += np.float32(bound(at))
                memory[at + 1] = value
            else:
                value -= np.float32(bound(at))
    memory[0] = value
    return memory


@pytest.mark.parametrize("piece", [1, 3, 8])
@pytest.mark.parametrize("opt_level", [0, 3])
def test_results_are_the_same(piece: int, opt_level: int) -> None:
    passes = pipeline(target("sm_80")).replaced(
        "tile-cut-blocks", CutBlocks(longest=4, piece=piece)
    )
    compiled = tilec.compile(program(), pipeline=passes, verify_each=True, opt_level=opt_level)
    found = np.zeros(64, np.float32)
    compiled.launch(found, 3, 2.5, grid=1, device="sim")
    np.testing.assert_array_equal(found, expected(3, 2.5))


def test_long_bodies_become_several_blocks() -> None:
    """Without the cut, nothing but loops and branches would end a block."""
    with ir.Context() as context:
        module = parse(program(), context)
        run_pipeline(module, "tile-cut-blocks{longest=4 piece=5}", verify_each=True)
        assert str(module).count("cf.br") >= STEPS // 5 - 1
