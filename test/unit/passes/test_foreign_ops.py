"""Ops of another dialect in a tile program: unknown ones are left alone, declared ones compiled."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import tilec
from tilec import sim
from tilec.dialects.semantics import LayoutRule, Scope, Semantics, Variation
from tilec.dialects.semantics.effects import reads
from tilec.dialects.tile.emit import emit
from tilec.dialects.tile.ops import ElementwiseOp
from tilec.frontend.contexts import new_context
from tilec.ir.mlir import ext, ir
from tilec.ir.ops import llvm
from tilec.passes import lowerings
from tilec.passes.analysis.cta_accesses import CtaAccess, Role, accesses_of
from tilec.passes.base import PassError
from tilec.passes.pipeline import run_pipeline
from tilec.pipelines import pipeline


class Toy(ext.Dialect, name="toy"):
    """A dialect of which tilec's sources know nothing."""


class FenceOp(Toy.Operation, name="fence"):
    """Says nothing of itself."""


class LookOp(Toy.Operation, name="look"):
    """Says nothing of itself, and gives a number that nobody uses."""

    memory: ext.Operand[Any]
    number: ext.Result[ir.IndexType]


class DoubleOp(Toy.Operation, name="double"):
    """A tile twice."""

    SEMANTICS = Semantics(
        scope=Scope.LANE, effects=(), varies=Variation.AS_OPERANDS, layouts=LayoutRule.JOINED
    )

    source: ext.Operand[Any]
    result: ext.Result[Any]


class TwiceOp(Toy.Operation, name="twice"):
    """A tile twice, by one who says nothing of it."""

    source: ext.Operand[Any]
    result: ext.Result[Any]


@pytest.fixture
def context() -> ir.Context:
    made = new_context()
    with made, ir.Location.unknown():
        Toy.load()
    return made


PROGRAM = """
gpu.module @m [#nvvm.target<chip = "sm_80">] {{
  gpu.func @k(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %n: index)
      kernel attributes {{known_block_size = array<i32: 64, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
{body}
    gpu.return
  }}
}}
"""
LOAD = '"tile.load"(%x, %c0, %c0) {masked} : (memref<?x?xf32>, index, index) -> tensor<32x32xf32>'
STORE = (
    '"tile.store"({value}, %y, %c0, %c0) {{masked}} : '
    "(tensor<32x32xf32>, memref<?x?xf32>, index, index) -> ()"
)


def _module(context: ir.Context, body: str) -> ir.Module:
    with context:
        return ir.Module.parse(PROGRAM.format(body=body))


def _names(module: ir.Module) -> list[str]:
    """The ops that touch memory or are of the toy dialect, in program order."""
    found: list[str] = []

    def look(op: ir.Operation) -> ir.WalkResult:
        if op.name.startswith("toy.") or op.name in ("tile.load", "tile.store", "scf.for"):
            found.append(op.name)
        return ir.WalkResult.ADVANCE

    module.operation.walk(look)
    return found


def _tile_passes() -> Sequence[object]:
    return pipeline(tilec.isa.target("sm_80")).tile


def test_unknown_ops_are_kept_where_they_stand(context: ir.Context) -> None:
    body = f"""
    "toy.fence"() : () -> ()
    %a = {LOAD}
    "toy.fence"() : () -> ()
    %s = "toy.look"(%x) : (memref<?x?xf32>) -> index
    scf.for %i = %c0 to %n step %c1 {{
      "toy.fence"() : () -> ()
      %t = "toy.look"(%x) : (memref<?x?xf32>) -> index
    }}
    {STORE.format(value="%a")}
    "toy.fence"() : () -> ()
    """
    module = _module(context, body)
    before = _names(module)
    run_pipeline(module, [*_tile_passes(), "tile-remove-dead", "cse", "canonicalize"])
    loads = [n for n in _names(module) if n == "tile.load"]
    assert loads
    assert [n for n in _names(module) if n.startswith("toy.") or n == "scf.for"] == [
        n for n in before if n.startswith("toy.") or n == "scf.for"
    ]
    kept = _names(module)
    assert kept[0] == "toy.fence"
    assert kept[-1] == "toy.fence"
    assert kept.index("tile.load") == 1


@pytest.mark.parametrize(
    "op", ['"toy.fence"() : () -> ()', '%s = "toy.look"(%x) : (memref<?x?xf32>) -> index']
)
def test_unknown_ops_are_refused_under_divergence(context: ir.Context, op: str) -> None:
    body = f"""
    %lane = gpu.lane_id
    %p = arith.cmpi ult, %lane, %c4 : index
    scf.if %p {{
      {op}
    }}
    """
    with pytest.raises(PassError, match=r"'toy\.\w+' op is executed by all warps of a cluster"):
        run_pipeline(_module(context, body), "tile-check-divergence")


def test_unknown_results_decide_nothing_for_a_warp(context: ir.Context) -> None:
    """What an unknown op gives may differ from lane to lane."""
    body = """
    %s = "toy.look"(%x) : (memref<?x?xf32>) -> index
    %p = arith.cmpi ult, %s, %c4 : index
    scf.if %p {
      gpu.barrier
    }
    """
    with pytest.raises(PassError, match=r"'gpu\.barrier' op is executed by whole warps"):
        run_pipeline(_module(context, body), "tile-check-divergence")


LOOP = """
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @k(%x: !M {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
              %y: memref<?x?xf32>, %n: index)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %z = arith.constant dense<0.0> : !C
    %r = scf.for %k = %c0 to %n step %c32 iter_args(%s = %z) -> (!C) {
      %a = "tile.load"(%x, %k, %c0) {masked} : (!M, index, index) -> !A
      %d = "tile.dot"(%a, %a, %s) : (!A, !A, !C) -> !C
      UNKNOWN
      scf.yield %d : !C
    }
    "tile.store"(%r, %y, %c0, %c0) {masked} : (!C, memref<?x?xf32>, index, index) -> ()
    gpu.return
  }
}
"""
TYPES = {"!A": "tensor<32x32xf16>", "!C": "tensor<32x32xf32>", "!M": "memref<?x?xf16>"}


@pytest.mark.parametrize(("unknown", "ahead"), [("", True), ('"toy.fence"() : () -> ()', False)])
def test_copies_do_not_pass_unknown_ops(context: ir.Context, unknown: str, ahead: bool) -> None:
    """What may write anything keeps the copies of later rounds after it."""
    text = LOOP.replace("UNKNOWN", unknown)
    for name, type_ in TYPES.items():
        text = text.replace(name, type_)
    with context:
        module = ir.Module.parse(text)
    run_pipeline(module, _tile_passes())
    assert ("pending = 1 : i64" in str(module)) == ahead


def test_undeclared_op_on_tiles_is_refused(context: ir.Context) -> None:
    body = f"""
    %a = {LOAD}
    %b = "toy.twice"(%a) : (tensor<32x32xf32>) -> tensor<32x32xf32>
    {STORE.format(value="%b")}
    """
    with pytest.raises(PassError, match=r"'toy\.twice' op takes no tiles without layouts"):
        run_pipeline(_module(context, body), _tile_passes())


def test_declared_op_compiles(context: ir.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowerings, "_FRAGMENTS", {})

    @lowerings.lowers_to_fragments(DoubleOp)
    def double(op, expansion):
        add = ir.StringAttr.get("arith.addf")
        each = expansion.values(op.operands[0])
        return [[emit(ElementwiseOp, [value, value], value.type, fn=add) for value in each]]

    body = f"""
    %a = {LOAD}
    %b = "toy.double"(%a) : (tensor<32x32xf32>) -> tensor<32x32xf32>
    {STORE.format(value="%b")}
    """
    compiled = tilec.compile(_module(context, body))
    x = np.random.default_rng(0).standard_normal((30, 31)).astype(np.float32)
    y = np.zeros_like(x)
    report = compiled.launch(x, y, 0, grid=1)
    assert isinstance(report, sim.Report)
    assert not report.findings
    np.testing.assert_array_equal(y, 2 * x)


def test_a_lowering_that_names_what_is_not_there_is_refused(
    context: ir.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MLIR's translation would end the process."""
    monkeypatch.setattr(lowerings, "_REGISTERS", {})

    @lowerings.lowers_to_registers(FenceOp)
    def fence(op, expansion):
        llvm.call(llvm.call_attributes("nobody", 0, convergent=True), (), None)
        return []

    module = _module(context, '"toy.fence"() : () -> ()')
    with pytest.raises(PassError, match="'nobody' does not reference a symbol"):
        tilec.compile(module, target="sm_80", emit="ptx")


class ReadOp(Toy.Operation, name="read"):
    """A tile from memory, at a place that its declaration says nothing of."""

    SEMANTICS = Semantics(scope=Scope.CTA, effects=(reads(0),), uniform=lambda op: [op.operands[1]])

    memory: ext.Operand[Any]
    row: ext.Operand[ir.IndexType]
    column: ext.Operand[ir.IndexType]
    tile: ext.Result[Any]


READ = '%t = "toy.read"(%x, {row}, %c0) : (memref<?x?xf32>, index, index) -> tensor<32x32xf32>'


def test_a_tile_that_another_op_reads_may_be_anywhere(context: ir.Context) -> None:
    """Only what reads one element is known to read it where the indices say."""
    module = _module(context, READ.format(row="%c0"))
    found: list[CtaAccess] = []

    def look(op: ir.Operation) -> ir.WalkResult:
        found.extend(accesses_of(op.opview, None) if op.name == "toy.read" else ())
        return ir.WalkResult.ADVANCE

    module.operation.walk(look)
    (access,) = found
    assert (access.role, access.indices, access.extents) == (Role.READ, (), ())


def test_what_must_be_uniform_is_asked_of_the_op(context: ir.Context) -> None:
    run_pipeline(_module(context, READ.format(row="%c4")), "tile-check-divergence")
    body = "%lane = gpu.lane_id\n" + READ.format(row="%lane")
    with pytest.raises(PassError, match=r"'toy\.read' op .* index 0 may differ between threads"):
        run_pipeline(_module(context, body), "tile-check-divergence")
