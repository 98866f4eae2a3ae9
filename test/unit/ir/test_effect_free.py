"""What may be interned only computes, wherever it stands: so say the table of ops, and MLIR.

MLIR's own judge is its loop-invariant code motion: out of a loop that may not be entered it takes
only what has no effects and is defined for all operands.
"""

from __future__ import annotations

import pytest
from tilec.dialects.semantics import Scope
from tilec.dialects.semantics.upstream import upstream
from tilec.frontend.contexts import new_context
from tilec.ir.interning import EFFECT_FREE
from tilec.ir.mlir import ir, passmanager

BINARY = ["addi", "subi", "muli", "andi", "ori", "xori", "shli", "shrsi", "shrui"]
OF_LLVM = ["add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "intr.smin"]
OTHERS = {
    "arith.constant": '"arith.constant"() {value = 1 : i32} : () -> i32',
    "arith.cmpi": '"arith.cmpi"(%a, %b) {predicate = 1 : i64} : (i32, i32) -> i1',
    "arith.select": '"arith.select"(%c, %a, %b) : (i1, i32, i32) -> i32',
    "arith.index_cast": '"arith.index_cast"(%a) : (i32) -> index',
    "arith.index_castui": '"arith.index_castui"(%a) : (i32) -> index',
    "arith.extui": '"arith.extui"(%a) : (i32) -> i64',
    "arith.trunci": '"arith.trunci"(%a) : (i32) -> i16',
    "builtin.unrealized_conversion_cast": (
        '"builtin.unrealized_conversion_cast"(%a) : (i32) -> index'
    ),
    "llvm.addrspacecast": '"llvm.addrspacecast"(%p) : (!llvm.ptr) -> !llvm.ptr<1>',
    "llvm.bitcast": '"llvm.bitcast"(%a) : (i32) -> f32',
    "llvm.extractvalue": (
        '"llvm.extractvalue"(%s) {position = array<i64: 0>} : (!llvm.struct<(i32)>) -> i32'
    ),
    "llvm.getelementptr": (
        '"llvm.getelementptr"(%p, %a) {elem_type = i8, '
        "rawConstantIndices = array<i32: -2147483648>} : (!llvm.ptr, i32) -> !llvm.ptr"
    ),
    "llvm.icmp": '"llvm.icmp"(%a, %b) {predicate = 1 : i64} : (i32, i32) -> i1',
    "llvm.mlir.addressof": '"llvm.mlir.addressof"() {global_name = @g} : () -> !llvm.ptr',
    "llvm.mlir.constant": '"llvm.mlir.constant"() {value = 1 : i32} : () -> i32',
    "llvm.select": '"llvm.select"(%c, %a, %b) : (i1, i32, i32) -> i32',
    "llvm.trunc": '"llvm.trunc"(%a) : (i32) -> i16',
    "llvm.zext": '"llvm.zext"(%a) : (i32) -> i64',
}
SAMPLES = OTHERS | {
    name: f'"{name}"(%a, %b) : (i32, i32) -> i32'
    for name in (*(f"arith.{n}" for n in BINARY), *(f"llvm.{n}" for n in OF_LLVM))
}
PROGRAM = """
llvm.mlir.global internal @g() : i32
func.func @f(%a: i32, %b: i32, %c: i1, %p: !llvm.ptr, %s: !llvm.struct<(i32)>,
             %low: index, %high: index, %step: index) {{
  scf.for %i = %low to %high step %step {{
    %r = {op}
    "toy.use"(%i, %r) : (index, {result}) -> ()
  }}
  return
}}
"""


def is_taken_out(op: str) -> bool:
    """Whether MLIR takes an op out of a loop."""
    context = new_context()
    context.allow_unregistered_dialects = True
    result = op.rpartition("-> ")[2]
    with context:
        module = ir.Module.parse(PROGRAM.format(op=op, result=result))
        passmanager.PassManager.parse("builtin.module(func.func(loop-invariant-code-motion))").run(
            module.operation
        )
        loop = next(line for line in str(module).splitlines() if "scf.for" in line)
        name = op.split('"')[1]
        before, _, _ = str(module).partition(loop)
    return f" {name}" in before.partition("func.func")[2]


def test_there_is_a_sample_of_each() -> None:
    assert set(SAMPLES) == EFFECT_FREE


@pytest.mark.parametrize("name", sorted(EFFECT_FREE))
def test_it_only_computes(name: str) -> None:
    declared = upstream(name)
    assert declared is not None
    assert (declared.effects, declared.scope, declared.control) == ((), Scope.LANE, None)


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_it_may_stand_where_the_program_would_not_have_come(name: str) -> None:
    assert is_taken_out(SAMPLES[name])


@pytest.mark.parametrize(
    "op",
    [
        '"arith.divsi"(%a, %b) : (i32, i32) -> i32',
        '"arith.remui"(%a, %b) : (i32, i32) -> i32',
        '"llvm.load"(%p) : (!llvm.ptr) -> i32',
    ],
)
def test_what_may_not_stays(op: str) -> None:
    assert not is_taken_out(op)
