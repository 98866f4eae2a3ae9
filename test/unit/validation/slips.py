"""Passes that change what a program means, for tests; each does so in one way; and a program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from tilec.ir.mlir import ir
from tilec.isa import target
from tilec.passes.base import Pass, walk
from tilec.pipelines import pipeline

PROGRAM = """
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @k(%a: memref<?x?xf16> {tile.aligned = 16 : i64, tile.sizes = array<i64: 1, 8>,
                                   tile.strides = array<i64: 8, 1>},
              %b: memref<?x?xf16> {tile.aligned = 16 : i64, tile.sizes = array<i64: 1, 8>,
                                   tile.strides = array<i64: 8, 1>},
              %c: memref<?x?xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %i = arith.constant 0 : index
    %step = arith.constant 32 : index
    %end = arith.constant 96 : index
    %z = arith.constant dense<0.0> : tensor<32x64xf32>
    %s = scf.for %k = %i to %end step %step iter_args(%acc = %z) -> tensor<32x64xf32> {
      %x = tile.load %a[%i, %k] masked : memref<?x?xf16> -> tensor<32x32xf16>
      %y = tile.load %b[%k, %i] masked : memref<?x?xf16> -> tensor<32x64xf16>
      %d = tile.dot %x, %y, %acc : tensor<32x32xf16>, tensor<32x64xf16>, tensor<32x64xf32>
      scf.yield %d : tensor<32x64xf32>
    }
    %w = tile.load %c[%i, %i] masked : memref<?x?xf32> -> tensor<32x64xf32>
    %e = arith.subf %s, %w : tensor<32x64xf32>
    %f = arith.addf %e, %s : tensor<32x64xf32>
    tile.store %f, %c[%i, %i] masked : tensor<32x64xf32>, memref<?x?xf32>
    gpu.return
  }
}
"""
"""What slips are made in."""
PASSES = tuple(map(str, pipeline(target("sm_80")).tile))
"""The passes of its target."""


def named(module: Any, name: str) -> list[Any]:
    """The ops of a name."""
    return [op.operation for op in walk(module.operation) if op.operation.name == name]


def exchange(module: Any) -> None:
    """Exchange the operands of every difference."""
    for op in named(module, "arith.subf"):
        first, second = op.operands
        op.operands[0], op.operands[1] = second, first


def drop_store(module: Any) -> None:
    """Lose the last store."""
    named(module, "tile.store")[-1].erase()


def drop_barriers(module: Any) -> None:
    """Lose every barrier."""
    for op in named(module, "gpu.barrier"):
        op.erase()


def drop_wait(module: Any) -> None:
    """Wait for no copy."""
    for op in named(module, "tile.async_wait"):
        op.erase()


def share_places(module: Any) -> None:
    """Put every buffer in one place."""
    with module.context:
        for op in named(module, "tile.alloc_shared"):
            op.attributes["offset"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)


def shorten_loop(module: Any) -> None:
    """Leave out the first round of every loop."""
    for op in named(module, "scf.for"):
        with module.context, ir.Location.unknown(), ir.InsertionPoint(op):
            lower, _, step = list(op.operands)[:3]
            made = ir.Operation.create("arith.addi", results=[lower.type], operands=[lower, step])
            op.operands[0] = made.results[0]


def other_constant(module: Any) -> None:
    """Add one to a float."""
    for op in named(module, "arith.constant"):
        value = op.attributes["value"]
        if isinstance(value, ir.DenseElementsAttr) and "f32" in str(value.type):
            with module.context, ir.Location.unknown():
                one = ir.FloatAttr.get(ir.F32Type.get(), 1.0)
                op.attributes["value"] = ir.DenseElementsAttr.get_splat(value.type, one)


def regroup(module: Any) -> None:
    """Nothing that matters: a + b as b + a."""
    for op in named(module, "arith.addf"):
        first, second = op.operands
        op.operands[0], op.operands[1] = second, first


def slip(act: Callable[[Any], None]) -> Pass:
    """A pass that does that."""

    @dataclass(frozen=True)
    class Slip(Pass):
        """A slip."""

        name: ClassVar[str] = f"test-{act.__name__.replace('_', '-')}"

        def apply(self, module: Any) -> None:
            act(module)

    return Slip()


def with_slip(act: Callable[[Any], None], behind: str) -> list[str | Pass]:
    """The passes with a slip after one of them."""
    at = PASSES.index(behind) + 1
    return [*PASSES[:at], slip(act), *PASSES[at:]]
