"""What ops, types and attributes give by the names that their classes declare."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tilec import dialects
from tilec.dialects.tile import ops
from tilec.dialects.tile.dialect import ByteType, FragType, LayoutAttr, SharedAttr, WmmaType
from tilec.dialects.tile.ops.base import TileOp
from tilec.ir.assembly import to_generic
from tilec.ir.mlir import ext, ir
from tilec.passes.base import walk

LIT = Path(__file__).parents[2] / "lit" / "dialect"
CLASSES = {
    value.OPERATION_NAME: value
    for value in vars(ops).values()
    if isinstance(value, type) and issubclass(value, TileOp)
}


@pytest.fixture(scope="module")
def context() -> Iterator[ir.Context]:
    with ir.Context() as context:
        dialects.load(context)
        yield context


@pytest.fixture(scope="module")
def found(context: ir.Context) -> Iterator[dict[str, list[ir.OpView]]]:
    """The ops of the lit tests of the dialect, by name; their modules live as long."""
    modules = [
        ir.Module.parse(to_generic(part).text, context)
        for path in sorted(LIT.glob("*.mlir"))
        if "invalid" not in path.name
        for part in path.read_text().split("// -----")
    ]
    by_name: dict[str, list[ir.OpView]] = {}
    for module in modules:
        for op in walk(module.operation):
            by_name.setdefault(op.name, []).append(op)
    yield by_name
    modules.clear()


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_operands_in_the_order_declared_are_all(
    name: str, found: dict[str, list[ir.OpView]]
) -> None:
    declared, _, results, _ = ext.partition_fields(CLASSES[name]._fields)
    seen = found.get(name, [])
    assert seen, "no lit test has one"
    for op in seen:
        named: list[ir.Value] = []
        for operand in declared:
            value = getattr(op, operand.name)
            if operand.variadicity is ext.Variadicity.single:
                named.append(value)
            else:
                assert isinstance(value, tuple)
                named += value
        assert named == list(op.operands)
        given: list[ir.Value] = []
        for result in results:
            value = getattr(op, result.name)
            given += value if isinstance(value, tuple) else (value,)
        assert given == list(op.results)


def test_a_group_between_operands(context: ir.Context) -> None:
    """As many as there are: none, one, several, with operands before and after them."""
    with context, ir.Location.unknown():
        i64 = ir.IntegerType.get_signless(64)
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            values = [
                ir.Operation.create(
                    "arith.constant",
                    results=[ir.IndexType.get() if n else i64],
                    attributes={"value": ir.IntegerAttr.get(ir.IndexType.get() if n else i64, n)},
                ).result
                for n in range(6)
            ]
            memref = ir.Operation.create(
                "memref.alloca",
                results=[ir.MemRefType.get([4] * 5, ir.F16Type.get())],
                attributes={"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0])},
            ).result
            tile = ir.RankedTensorType.get([4], ir.F16Type.get())
            for count in range(6):
                indices = values[:count]
                load = ir.Operation.create(
                    "tile.load", results=[tile], operands=[memref, *indices]
                ).opview
                assert load.source == memref
                assert load.indices == tuple(indices)
                store = ir.Operation.create(
                    "tile.store", operands=[load.tile, memref, *indices]
                ).opview
                assert (store.tile, store.target) == (load.tile, memref)
                assert store.indices == tuple(indices)


def test_parameters_of_types_and_attributes(context: ir.Context) -> None:
    with context:
        text = "m16n8k16 a f16"
        type_ = ir.Type.parse(f'!tile.frag<tensor<16x16xf16>, #tile.layout<"{text}">>')
        assert isinstance(type_, FragType)
        assert type_.tile == ir.Type.parse("tensor<16x16xf16>")
        assert isinstance(type_.tile, ir.RankedTensorType)
        assert isinstance(type_.layout, LayoutAttr)
        assert type_.layout.text.value == text
        shared = ir.Attribute.parse('#tile.shared<"32B">')
        assert isinstance(shared, SharedAttr)
        assert shared.swizzle.value == "32B"
        byte = ir.Type.parse("!tile.byte<f6E2M3FN>")
        assert isinstance(byte, ByteType)
        assert isinstance(byte.element, ir.Float6E2M3FNType)
        assert byte.element.width == 6
        wmma = ir.Type.parse('!tile.wmma<"m16n16k16 a row f16">')
        assert isinstance(wmma, WmmaType)
        assert wmma.operand.value == "m16n16k16 a row f16"
