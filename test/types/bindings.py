"""What type checkers know of MLIR's bindings where tilec is installed: nothing of it is `Any`.

Checked by `.ci/typecheck`, not run.
"""

from typing import assert_type

from tilec.dialects.tile.dialect import FragType, LayoutAttr
from tilec.dialects.tile.ops import FillOp, LoadOp
from tilec.mlir import ext, ir, passmanager, rewrite, scf


def values(value: ir.Value, op: ir.OpView) -> None:
    assert_type(value.type, ir.Type)
    assert_type(value.owner, ir.OpView | ir.Block)
    assert_type(op.operands[0], ir.Value)
    assert_type(op.operands[1:], ir.OpOperandList)
    assert_type(op.attributes["form"], ir.Attribute)
    assert_type(op.attributes.get("form"), ir.Attribute | None)
    assert_type(op.operation.parent, ir.Operation | None)
    assert_type([use.owner for use in value.uses], list[ir.OpView])
    if isinstance(value.type, ir.MemRefType):
        assert_type(value.type.shape, list[int])
        assert_type(value.type.element_type, ir.Type)
        assert_type(value.type.get_strides_and_offset(), tuple[list[int], int])


def views(op: ir.OpView) -> None:
    if isinstance(op, scf.ForOp):
        assert_type(op.lowerBound, ir.Value)
        assert_type(op.body.arguments[0], ir.BlockArgument)


def modules(module: ir.Module) -> None:
    manager = passmanager.PassManager.parse("builtin.module(cse)", module.context)
    manager.run(module.operation)
    for op in module.body:
        assert_type(op, ir.OpView)
    patterns = rewrite.RewritePatternSet()
    assert_type(patterns.freeze(), rewrite.FrozenRewritePatternSet)


def tile_ops(load: LoadOp, fill: FillOp, type_: FragType, encoding: LayoutAttr) -> None:
    source: ir.Value = load.source
    assert_type(source.type, ir.Type)
    indices: list[ir.Value] = list(load.indices)
    assert_type(indices[0].owner, ir.OpView | ir.Block)
    result: ir.OpResult = fill.tile
    assert_type(result.owner, ir.OpView)
    assert_type(type_.tile, ir.RankedTensorType)
    assert_type(type_.layout, LayoutAttr)
    assert_type(encoding.text.value, str)


class Acme(ext.Dialect, name="acme"):
    """A dialect of one's own."""


class PairOp(Acme.Operation, name="pair"):
    first: ext.Operand[ir.IntegerType]
    text: ir.StringAttr


def own(op: PairOp) -> None:
    assert_type(op.text.value, str)
    assert_type(op.first.type, ir.Type)
    assert_type(PairOp.OPERATION_NAME, str)
